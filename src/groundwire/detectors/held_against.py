"""A model's verdict held against what can't be talked to: exact facts, and a detector that asks no model.

Facts bind, for a figure is another or it is not. A second detector only raises a doubt: it errs, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from groundwire.core.claim import Claim, kind_of
from groundwire.core.detector import Detector
from groundwire.core.grading import Grading
from groundwire.core.verdict import Abstention, DetectorSpec, Outcome, Recommendation, Verdict
from groundwire.detectors.cascade import exact


class _Grades(Protocol):
    @property
    def grading(self) -> Grading: ...
    @property
    def spec(self) -> DetectorSpec: ...


def refutation(detector: _Grades, refuted: Sequence[Claim]) -> Verdict:
    """The verdict that exact facts alone come to."""
    return Verdict.graded(
        _worst(refuted), detector.grading, claims=tuple(refuted), reason=_why(refuted), detector=detector.spec
    )


def facts(outcome: Verdict, refuted: Sequence[Claim], detector: _Grades) -> Verdict:
    """The verdict, in which no claim that facts refute is cleared."""
    claims = exact.upheld(outcome.claims, refuted)
    worst = _worst(refuted)
    if outcome.score >= worst or claims == outcome.claims:
        return replace(outcome, claims=claims, kind=kind_of(claims))
    raised = replace(outcome, claims=claims, kind=kind_of(claims), raw=worst, reason=_why(refuted))
    return raised.regraded(detector.grading, score=worst)


def other(outcome: Verdict, second: Outcome, detector: Detector, doubt: float) -> Verdict:
    """The verdict with what ``second``, another detector's outcome, makes of it, where that matters.

    Only an answer that passes can be doubted: what is flagged is looked at anyway.
    """
    if outcome.hallucinated:
        return outcome
    if isinstance(second, Abstention):
        return _noted(outcome, f"{detector.name!r} could not be asked for a second opinion: {second.why}.")
    if second.score < doubt:
        return outcome
    note = f"{detector.name!r} strongly disagrees ({second.score:.2f}): have it reviewed."
    return replace(_noted(outcome, note), recommendation=Recommendation.REVIEW)


def _noted(outcome: Verdict, note: str) -> Verdict:
    return replace(outcome, reason=f"{outcome.reason} {note}".strip())


def _worst(refuted: Sequence[Claim]) -> float:
    return max(claim.score or 0.0 for claim in refuted)


def _why(refuted: Sequence[Claim]) -> str:
    return f"The documents say otherwise: {refuted[0].reason}."
