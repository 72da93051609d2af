"""Whether a tuning fits the checker that is to read by it: whose scores it was fitted to, and whose they are.

What a tuning means is in ``core.tuned``, and its files in ``tuned_file``, which takes longer to load.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from groundwire import prompts
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.plain import plain
from groundwire.core.plan import Backend
from groundwire.core.tuned import Origin, Tuned
from groundwire.detectors.catalogue import METHODS

# Said in every message, and part of every message's form.
_SHARED_PROMPTS = ("frame", "examples", "retry")


def origin_of(detector: Detector, judge: Backend | None = None) -> Origin:
    """Whose scores these are: the detector, its parameters, its prompts, and the models that answer it."""
    medium, high = detector.grading.cuts
    said = {
        name: prompts.get(name).version
        for one in members(detector)
        for name in (*_prompts(one), *(_SHARED_PROMPTS if one.needs_model else ()))
    }
    asked = judge if detector.needs_judge else None
    named: Mapping[str, str] = getattr(asked, "named", {})
    return Origin(
        detector=detector.name,
        version=detector.version,
        parameters=plain(detector.spec.parameters),
        cuts=(medium, detector.grading.threshold, high),
        parts=dict(
            sorted({one.name: one.version for one in members(detector) if one is not detector}.items())
        ),
        prompts=dict(sorted(said.items())),
        model=getattr(asked, "model", "") if detector.needs_model else "",
        embeddings=getattr(asked, "embedding_model", "") if detector.needs_embeddings else "",
        models={name: named[name] for name in sorted(detector.models) if name in named},
    )


def members(detector: Detector) -> Iterator[Detector]:
    """The detector, and every detector among its parameters, however deep."""
    yield detector
    yield from _inside(detector)


def require_fit(tuned: Tuned | None, detector: Detector, judge: Backend | None = None) -> None:
    """Raises ConfigurationError, naming all that differs, where ``tuned`` was fitted to something else."""
    differences = tuned.origin.differences(origin_of(detector, judge)) if tuned else ()
    if differences:
        raise ConfigurationError(
            *(f"tuned: {one}" for one in differences),
            "the tuning reads the scores of something else, where they mean something else: run groundwire "
            "tune again, or remove 'tuned'",
        )


def _prompts(detector: Detector) -> tuple[str, ...]:
    return METHODS[detector.name].prompts if detector.name in METHODS else ()


def _inside(value: Any) -> Iterator[Detector]:
    for one in fields(value):
        yield from _within(getattr(value, one.name))


def _within(value: Any) -> Iterator[Detector]:
    if isinstance(value, Detector):
        yield from members(value)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _within(one)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _inside(value)
