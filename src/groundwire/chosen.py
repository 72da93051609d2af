"""Which detector is meant, and whether a judge has the models that it asks."""

from __future__ import annotations

from groundwire import detectors
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.grading import Grading
from groundwire.judge.drivers import NoBackend


def meant(detector: Detector | str | None) -> Detector:
    """The detector that was given or named. Raises ConfigurationError for anything else."""
    if detector is None or isinstance(detector, str):
        named: Detector = detectors.get(detector or detectors.DEFAULT)()
        return named
    if isinstance(detector, Detector):
        if not isinstance(detector.grading, Grading):
            raise ConfigurationError(
                f"the {detector.name!r} detector's grading must be a Grading, such as "
                f"Grading(threshold=0.4), not {type(detector.grading).__qualname__}"
            )
        return detector
    raise ConfigurationError(
        f"detector must be a Detector or a registered name, not {detector!r:.60}: "
        + (
            "an instance, such as Lexical(), and not its class"
            if isinstance(detector, type)
            else 'a model judges in Checker("judge", judge=Judge(model))'
        )
    )


def standing_in(given: Detector | str | None) -> Detector | None:
    """The detector that judges in another's place. Raises ConfigurationError where it needs a model."""
    if given is None:
        return None
    detector = meant(given).beside(None)
    if detector.needs_judge:
        raise ConfigurationError(
            f"fallback: the {detector.name!r} detector asks a model, and is to judge when there is none: "
            "name one that asks none, such as 'embedded' or 'lexical', or None"
        )
    return detector


def require_models(detector: Detector, judge: object | None) -> None:
    """Raise ConfigurationError where the judge, or settings of one, lacks what the detector asks."""
    given = ("model" if detector.needs_model else "", "embeddings=..." if detector.needs_embeddings else "")
    wanted = f"judge=Judge({', '.join(filter(None, given))})"
    found = "none was given" if judge is None or isinstance(judge, NoBackend) else "the judge has none"
    problems = [
        f"the {detector.name!r} detector asks {kind}, and {found}: pass {wanted}"
        for kind in detector.lacking(judge)
    ]
    problems += [
        f"the {detector.name!r} detector asks the model {one!r}, and the judge has none of that name: "
        f"pass judge=Judge(model, models={{{one!r}: ...}})"
        for one in sorted(detector.models - set(getattr(judge, "models", detector.models)))
    ]
    if problems:
        raise ConfigurationError(*problems)
