"""What is given to tuning, and whether it can be tuned by: labels, judged examples, checkers, options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from groundwire.bench.examples import UNLABELLED, Example, both_ways, overlap, shared
from groundwire.bench.runs import Judged
from groundwire.bench.tuning import calibrating, stacking
from groundwire.bench.tuning.errors import TuningError
from groundwire.bench.tuning.guarantee import enough, require_enough
from groundwire.bench.tuning.rows import OWN, RULES, folds
from groundwire.bench.tuning.targets import Measure, Target
from groundwire.checker import Checker
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError, MissingExtraError
from groundwire.core.grading import Grading
from groundwire.core.plain import plain
from groundwire.core.tuned import Tuned
from groundwire.core.verdict import Abstention, Outcome, Verdict, reread
from groundwire.detectors.cascade.cascade import Cascade

AUTO = "auto"
_OF_BANDS = (Measure.F1, Measure.COST, Measure.PRECISION, Measure.RECALL)
LEAST_PARTS = 3  # of cross-validation around cross-validation


def require_labels(examples: Sequence[Example], target: Target, *, stack: bool = False) -> None:
    """Raises TuningError where these labels can't be tuned by whatever is said of the answers.

    To be asked before anything is judged, which may take long and cost money. A ``stack`` takes more for a
    promise: a third of the labels choose its combination.
    """
    labelled = [one for one in examples if one.label is not None]
    if not labelled:
        raise TuningError(
            f"none of {len(examples)} answers has a label, so there is nothing to tune by. {UNLABELLED}"
        )
    labels = np.array([one.label for one in labelled], dtype=np.bool_)
    groups = np.array([one.group for one in labelled], dtype=np.str_)
    folds(labels, groups, least=LEAST_PARTS)
    if not target.guaranteed:
        return
    require_enough(target, labels, groups)
    left = ~folds(labels, groups, most=3)[0]
    if stack and not enough(target, labels[left], groups[left]):
        raise TuningError(
            f"target {target}: these labels are too few for a stack, where a third of them choose the "
            "combination and promise nothing: label half as many again, or tune one detector"
        )


def require_options(
    detectors: Sequence[Detector],
    target: Target,
    *,
    calibration: str = AUTO,
    aggregation: str = AUTO,
    combination: str = AUTO,
) -> None:
    """Raises TuningError where these detectors can't be tuned for that, or an option is none.

    Several detectors are a stack. To be asked before anything is judged, as ``require_labels`` is.
    """
    one_of("calibration", calibration, calibrating.KINDS)
    one_of("aggregation", aggregation, (OWN, *RULES))
    one_of("combination", combination, stacking.KINDS)
    cascade = len(detectors) == 1 and isinstance(detectors[0], Cascade)
    if cascade and target.measure not in _OF_BANDS:
        raise TuningError(
            f"target {target}: bands are fitted for f1, precision>=..., recall>=... or cost<=... calls; for "
            "anything else, tune one detector or a stack"
        )
    if target.measure is Measure.COST and not cascade:
        name = detectors[0].name if len(detectors) == 1 else "a stack"
        raise TuningError(
            f"target {target}: {name} makes the same calls whatever its threshold: a cost is for a cascade "
            "(--detector cascade, or tune_cascade)"
        )


def labelled_by(judged: Iterable[Judged], checker: Checker) -> tuple[list[Judged], Counter[str]]:
    """Those with a label that were judged; and why the others with a label were not."""
    spec = checker.detector.spec
    expected = (spec.name, spec.version, plain(spec.parameters))
    kept: list[Judged] = []
    missing: Counter[str] = Counter()
    for one in judged:
        if one.example.label is None:
            continue
        if not isinstance(one.outcome, Verdict):
            missing[str(one.outcome.why)] += 1
            continue
        made = one.outcome.detector
        if (made.name, made.version, plain(made.parameters)) != expected:
            raise TuningError(
                f"{one.example.id}: judged by {made.name!r} with other parameters or in another version than "
                f"the checker's {spec.name!r}: judge the examples with this very checker"
            )
        kept.append(one)
    if not kept:
        why = f": all {missing.total()} with a label abstained ({told(missing)})" if missing else ""
        raise TuningError(f"there is no labelled answer that was judged{why}")
    return kept, missing


def in_production(
    said: Sequence[list[Judged]], current: Tuned | Grading | None, missing: Counter[str]
) -> tuple[list[list[Judged]], list[Verdict]]:
    """What each detector said of the answers that production judged, and what production makes of them.

    Production is the first of the detectors, its scores read by ``current``; None as it reads them itself.
    Answers that it could not judge so are counted in ``missing``.
    """
    read = [_read(one.outcome, current) for one in said[0]]
    kept = [i for i, outcome in enumerate(read) if isinstance(outcome, Verdict)]
    missing.update(str(outcome.why) for outcome in read if isinstance(outcome, Abstention))
    return [[one[i] for i in kept] for one in said], [one for one in read if isinstance(one, Verdict)]


def _read(own: Outcome, current: Tuned | Grading | None) -> Outcome:
    assert isinstance(own, Verdict), "only verdicts are labelled_by"
    if current is None:
        return own
    return current.read(own) if isinstance(current, Tuned) else reread(own, current)


def require_equal_weights(labelled: Sequence[Judged], what: str) -> None:
    """Raises TuningError where answers stand for more than others, which ``what`` can't weigh."""
    if len({one.example.weight for one in labelled}) > 1:
        raise TuningError(f"{what}: it takes answers that were all drawn alike, such as a random sample")


def judged_by_all(judged: list[list[Judged]], names: Sequence[str]) -> list[list[Judged]]:
    """What each member said of the examples that all of them judged.

    An abstention stays with the first member that abstained, so that it is counted once.
    """
    ids = [[one.example.id for one in said] for said in judged]
    for name, one in zip(names, ids, strict=True):
        if one != ids[0]:
            raise TuningError(f"{name} and {names[0]} judged different examples: judge the same with both")
    kept: list[list[Judged]] = [[] for _ in judged]
    for each in zip(*judged, strict=True):
        silent = [m for m, one in enumerate(each) if not isinstance(one.outcome, Verdict)]
        for m, one in enumerate(each):
            if not silent or m == silent[0]:
                kept[m].append(one)
    return kept


def repeated(labelled: Sequence[Example]) -> Iterator[str]:
    """Warnings where sources share a passage, so that none is held out, and where labels contradict."""
    found = overlap({"": labelled})
    if parted := found.parted[""]:
        yield (
            f"{shared(parted)}: if these are one document, what is held out is not new, and intervals are "
            "too narrow. Give its answers one group"
        )
    if disagreeing := found.disagreeing[""]:
        yield f"{both_ways(disagreeing)}: one of the labels is wrong, and no threshold fits both"


def told(missing: Counter[str]) -> str:
    """Why answers were not judged, the commonest reason first."""
    return ", ".join(f"{count} {reason}" for reason, count in missing.most_common())


def one_of(what: str, given: str, known: Sequence[str]) -> tuple[str, ...]:
    """The kinds to choose from."""
    if given != AUTO and given not in known:
        raise TuningError(f"{what} {given!r}: expected one of {', '.join((AUTO, *known))}")
    return tuple(known) if given == AUTO else (given,)


def require_own_reading(checker: Checker) -> None:
    """Raises ConfigurationError for a checker whose outcomes are not its detector's own."""
    if checker.policy.tuned is not None or checker.policy.grading is not None:
        raise ConfigurationError(
            "tuning fits the threshold: give a checker whose policy has neither 'grading' nor 'tuned'"
        )


def require_learning() -> None:
    """Raises MissingExtraError where scikit-learn is not installed."""
    try:
        import sklearn  # noqa: F401, PLC0415 - wanted here alone, and slow to load
    except ImportError as error:
        raise MissingExtraError("tuning", package="scikit-learn", extra="bench") from error
