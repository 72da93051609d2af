"""A tuning: how the scores of one detector are to be read, fitted to somebody's labels.

The value, its laws and what it was made with. ``bench.tuning`` fits it, ``groundwire.tuned_file`` writes and
reads it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from groundwire.core.aggregation import Aggregation
from groundwire.core.calibration import Calibration
from groundwire.core.grading import Grading
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome, Verdict, reread


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Whose scores a tuning reads. Scores of anything else are other figures, and mean something else.

    ``parameters`` are plain values, as JSON has them. ``cuts`` are the detector's own medium, threshold and
    high, which some detectors' scores depend on. ``parts`` are the versions of the detectors that it is made
    of, ``prompts`` those of what is said to a model; ``model`` and ``embeddings`` name the models that
    answer, "" where none is asked, and ``models`` the judge's further ones that are asked.
    """

    detector: str
    version: str
    parameters: Mapping[str, Any]
    cuts: tuple[float, float, float]
    parts: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    model: str = ""
    embeddings: str = ""
    models: Mapping[str, str] = field(default_factory=dict)

    def differences(self, now: Origin) -> list[str]:
        """What is not the same in ``now``, each in words; nothing where this tuning fits."""
        if self.detector != now.detector:
            return [f"detector {self.detector!r} then, {now.detector!r} now"]
        return [
            f"{name} {_told(then)} then, {_told(there)} now"
            for name, then, there in self._compared(now)
            if then != there
        ]

    def _compared(self, now: Origin) -> Iterator[tuple[str, Any, Any]]:
        yield "version", self.version, now.version
        yield from _by_name("parameter", self.parameters, now.parameters)
        yield "the detector's own cuts", list(self.cuts), list(now.cuts)
        yield from _by_name("version of the part", self.parts, now.parts)
        yield from _by_name("prompt", self.prompts, now.prompts)
        yield "model", self.model, now.model
        yield "embedding model", self.embeddings, now.embeddings
        if self.models:  # a tuning from before they were kept knows none
            yield from _by_name("further model", self.models, now.models)


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The labelled answers that a tuning was fitted to; ``fingerprint`` changes with any of them.

    ``contents`` are short hashes of their texts, by which whoever has an answer can tell whether it was among
    them; empty in files from before these were kept.
    """

    fingerprint: str
    answers: int
    hallucinated: int
    groups: int
    not_judged: int = 0
    contents: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A measured value and the middle 95 % of it over resampled sources; NaN where it means nothing.

    A value whose interval would mean nothing has ``math.nan`` for both of its ends.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        value = f"{self.value:.3f}"
        return value if math.isnan(self.low) else f"{value} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """How to read the scores of ``origin``.

    A verdict's score, or what ``aggregation`` makes of its claims, is mapped by ``calibration`` and read by
    ``grading``, whose cuts are on the calibrated side. ``promise`` is what is guaranteed of the threshold, ""
    where nothing is; ``held_out`` what was measured on answers that took no part; ``warnings`` what whoever
    uses it has to know.
    """

    origin: Origin
    grading: Grading
    target: str
    labels: Labels
    calibration: Calibration | None = None
    aggregation: Aggregation | None = None
    promise: str = ""
    held_out: Mapping[str, Figure] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that change with anything that decides how a score is read."""
        grading = self.grading
        whole = [self.origin, self.calibration, self.aggregation, grading.threshold, grading.cuts]
        told = json.dumps(whole, sort_keys=True, default=_plain)
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def figure(self, verdict: Verdict) -> float | None:
        """What is calibrated: the detector's score, or the claims' by the rule; None without claims."""
        return verdict.score if self.aggregation is None else self.aggregation(verdict.claims)

    def read(self, verdict: Verdict) -> Outcome:
        """The verdict as this tuning reads it.

        Claims and their words stay as the detector marked them; the reason says so where the tuning decides
        otherwise. Its detector's parameters gain the tuning's fingerprint: another reading is another method.
        An abstention where there are no claims to aggregate.
        """
        figure = self.figure(verdict)
        detector = replace(
            verdict.detector, parameters={**verdict.detector.parameters, "tuned": self.fingerprint}
        )
        if figure is None:
            detail = "its tuning adds up the scores of claims, and this verdict has none"
            return Abstention(why=AbstentionReason.NO_CLAIMS, detail=detail, detector=detector)
        own = self.calibration is None and self.aggregation is None
        score = figure if self.calibration is None else self.calibration(figure)
        told = replace(verdict, raw=verdict.raw if own else figure, detector=detector)
        found = reread(told, self.grading, score=score)
        if isinstance(found, Verdict) and found.hallucinated is not verdict.hallucinated:
            return replace(found, reason=f"{verdict.reason} {self._otherwise(found)}".strip())
        return found

    def _otherwise(self, found: Verdict) -> str:
        if found.hallucinated:
            return f"Flagged by its tuning: {found.score:.3g} reaches the threshold of {found.threshold:.3g}."
        return (
            f"Not flagged by its tuning: {found.score:.3g} is below the threshold of {found.threshold:.3g}."
        )


def _by_name(
    what: str, then: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[str, object, object]]:
    for name in [*then, *(name for name in now if name not in then)]:
        yield f"{what} {name!r}", then.get(name, _ABSENT), now.get(name, _ABSENT)


_ABSENT = object()
_SHORT = 60  # characters of a value that a message repeats


def _told(value: object) -> str:
    if value is _ABSENT:
        return "absent"
    shown = repr(value)
    return shown if len(shown) <= _SHORT else f"{shown[:_SHORT]}…"


def _plain(value: Any) -> Any:
    told = {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, Origin) and not value.models:
        del told["models"]  # as before there were any, so that a tuning of then has its fingerprint
    return {"kind": type(value).__name__, **told}
