"""What judging ends in: a Verdict, or an Abstention that says why there is none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar

from groundwire.core.claim import Claim, Kind, Support, kind_of
from groundwire.core.grading import WORDING, Grading, Level, Wording
from groundwire.core.plain import plain
from groundwire.core.score import check_score, shown
from groundwire.core.span import Span, union


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What an outcome cost: model calls, tokens, wall-clock seconds, money (None where a price isn't known).

    ``cached_tokens`` are those of the input that the provider read from its cache, as it told.
    ``saved_tokens`` are input tokens that asking for each reading by itself would have sent on top; they were
    not spent. See ``ClaimEnsemble`` for how they are measured.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost: float | None = None
    cached_tokens: int = 0
    saved_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            seconds=self.seconds + other.seconds,
            cost=total_cost((self.calls, self.cost), (other.calls, other.cost)),
            cached_tokens=self.cached_tokens + other.cached_tokens,
            saved_tokens=self.saved_tokens + other.saved_tokens,
        )


def total_cost(*parts: tuple[int, float | None]) -> float | None:
    """What parts of so many calls cost together; None where calls of one have no price, or none has any."""
    if any(calls and cost is None for calls, cost in parts):
        return None
    known = [cost for _, cost in parts if cost is not None]
    return sum(known) if known else None


@dataclass(frozen=True, kw_only=True, slots=True)
class DetectorSpec:
    """Which detector with which parameters made an outcome; enough to make it again."""

    name: str
    version: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.name, self.version))

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that change with the name, the version or any parameter.

        The same for a spec that was read from a stored outcome.
        """
        whole = json.dumps([self.name, self.version, plain(self.parameters)], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()[:16]


class AbstentionReason(StrEnum):
    """Why no verdict could be given.

    NO_CONTEXT: there was no passage to judge against. NO_CLAIMS: the answer states nothing that could be
    checked, or none could be read. PARTIAL_ANSWER: a stream was not read to its end. TIMEOUT: it took too
    long. MODEL_FAILED, UNREADABLE_REPLY: a call to the judge's model failed, or its reply could not be read.
    UNAVAILABLE: that model keeps failing. OVER_BUDGET: a budget is spent, too many answers wait, or the text
    is too large. NOT_SAMPLED: the checker is switched off. UNREADABLE_INPUT: a row of a table, or what an
    evaluator was given, can't be read.
    """

    NO_CONTEXT = "NO_CONTEXT"
    NO_CLAIMS = "NO_CLAIMS"
    UNREADABLE_INPUT = "UNREADABLE_INPUT"
    UNREADABLE_REPLY = "UNREADABLE_REPLY"
    MODEL_FAILED = "MODEL_FAILED"
    TIMEOUT = "TIMEOUT"
    UNAVAILABLE = "UNAVAILABLE"
    OVER_BUDGET = "OVER_BUDGET"
    NOT_SAMPLED = "NOT_SAMPLED"
    PARTIAL_ANSWER = "PARTIAL_ANSWER"


PASSING = frozenset(
    (
        AbstentionReason.MODEL_FAILED,
        AbstentionReason.UNAVAILABLE,
        AbstentionReason.TIMEOUT,
        AbstentionReason.UNREADABLE_REPLY,
        AbstentionReason.OVER_BUDGET,
        AbstentionReason.NOT_SAMPLED,
    )
)
"""Reasons that may be otherwise another time. The others follow from the answer itself."""


class Recommendation(StrEnum):
    """What a detector would have done about an answer.

    RETURN it; RETRIEVE more and answer again; have a person REVIEW it, because nobody was sure.
    """

    RETURN = "return"
    RETRIEVE = "retrieve"
    REVIEW = "review"


class Step(StrEnum):
    """What a part of a detector did with an answer.

    A stage of a cascade ACCEPTED or FLAGGED it, or left it UNDECIDED, for the next stage if there is one; an
    oracle of an ensemble was HEARD. Either ABSTAINED, or was SPARED because it was not needed.
    """

    ACCEPTED = "accepted"
    FLAGGED = "flagged"
    UNDECIDED = "undecided"
    HEARD = "heard"
    ABSTAINED = "abstained"
    SPARED = "spared"


@dataclass(frozen=True, kw_only=True)
class StageReport:
    """One stage of a cascade or oracle of an ensemble: what it did, its own score, and why it had none."""

    stage: str
    step: Step
    score: float | None = None
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Route:
    """The way of an answer through the parts of a detector.

    ``decided`` is the stage whose verdict it is. ``spared`` is what the parts that were not needed would
    have taken at least: calls of models, and an estimate of the tokens sent with them.
    """

    decided: str
    stages: tuple[StageReport, ...]
    spared: Usage = Usage()


@dataclass(frozen=True, kw_only=True)
class Degraded:
    """A verdict that takes the place of another: which detector should have judged, and why it did not."""

    detector: DetectorSpec
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A judged answer.

    ``score`` goes from 0, fully grounded, to 1, hallucinated; calibrated, it is a probability. ``raw`` is the
    detector's own figure before calibration, or None. The answer counts as hallucinated from ``threshold``
    on. ``kind`` is the sort of hallucination. Like ``spans`` it is there also below the threshold; it is None
    where nothing was found, and for methods that can't tell one kind from another.

    ``recommendation`` is what to do about the answer, from methods that say so, and ``route`` its way through
    a cascade or an ensemble. ``degraded`` is set where another detector should have judged and its model was
    unavailable; threshold and level are then this detector's own.

    Raises ValueError when the level contradicts the threshold, or when a claim that nobody could verify would
    pass as grounded.
    """

    score: float
    threshold: float
    level: Level
    detector: DetectorSpec
    raw: float | None = None
    wording: Wording = WORDING[Level.LOW]
    claims: tuple[Claim, ...] = ()
    kind: Kind | None = None
    reason: str = ""
    usage: Usage = Usage()
    id: str | None = None
    recommendation: Recommendation | None = None
    route: Route | None = None
    degraded: Degraded | None = None

    def __post_init__(self) -> None:
        for name in ("score", "threshold"):
            object.__setattr__(self, name, check_score(name, getattr(self, name)))
        if (self.level is Level.LOW and self.hallucinated) or (
            self.level is Level.HIGH and not self.hallucinated
        ):
            raise ValueError(
                f"level {self.level} denies a score of {self.score:g} at threshold {self.threshold:g}"
            )
        if not self.hallucinated and any(c.support is Support.UNVERIFIED for c in self.claims):
            raise ValueError("an answer with an unverified claim can't be grounded: abstain instead")

    @classmethod
    def graded(cls, score: float, grading: Grading, **fields: Any) -> Verdict:
        """A verdict read by ``grading``; unless one is given, its kind comes from its claims."""
        level = grading.level(score)
        fields.setdefault("kind", kind_of(fields.get("claims", ())))
        return cls(
            score=score,
            threshold=grading.threshold,
            level=level,
            wording=grading.words(level),
            **fields,
        )

    def regraded(self, grading: Grading, *, score: float | None = None) -> Verdict:
        """The same judgement read by another threshold, other levels and other words.

        Where ``grading`` has no words of its own for a level that stays the same, the words stay, too.
        ``score``, if one is given, takes the place of this one; ``raw`` is the caller's to set. What is now
        flagged and was not is no longer recommended to be returned, and the other way round; a review stays.
        """
        score = self.score if score is None else score
        level = grading.level(score)
        words = self.wording if level is self.level else grading.words(level)
        found = replace(
            self,
            score=score,
            threshold=grading.threshold,
            level=level,
            wording=grading.wording.get(level, words),
        )
        advice = self.recommendation
        if advice in (None, Recommendation.REVIEW) or found.hallucinated is self.hallucinated:
            return found
        advice = Recommendation.RETRIEVE if found.hallucinated else Recommendation.RETURN
        return replace(found, recommendation=advice)

    @property
    def hallucinated(self) -> bool:
        return self.score >= self.threshold

    @property
    def grounded(self) -> bool:
        return not self.hallucinated

    @property
    def spans(self) -> tuple[Span, ...]:
        """The unsupported words of the answer: ordered, disjoint."""
        return union(word for claim in self.claims for word in claim.words)

    def __str__(self) -> str:
        """The label, the score and why: what `print` shows."""
        why = self.reason or self.wording.title
        return f"{self.wording.label} {shown(self.score, self.threshold)}: {why}"

    def to_dict(self) -> dict[str, Any]:
        """The versioned, JSON-safe form that is put on answers and traces."""
        from groundwire.core import wire  # noqa: PLC0415 - wire encodes verdicts, so it imports this module

        return wire.encode(self)

    def _repr_html_(self) -> str:
        return _card(self)


@dataclass(frozen=True, kw_only=True)
class Abstention:
    """No verdict, and why. Its score, level and hallucinated are None: never a number, never clean.

    ``grounded`` is False, so a gate that asks ``if outcome.grounded`` stays shut.
    """

    why: AbstentionReason
    detail: str = ""
    detector: DetectorSpec | None = None
    usage: Usage = Usage()
    id: str | None = None
    recommendation: Recommendation | None = None
    route: Route | None = None

    score: ClassVar[None] = None
    raw: ClassVar[None] = None
    threshold: ClassVar[None] = None
    level: ClassVar[None] = None
    hallucinated: ClassVar[None] = None
    grounded: ClassVar[bool] = False
    degraded: ClassVar[None] = None
    claims: ClassVar[tuple[Claim, ...]] = ()
    kind: ClassVar[None] = None
    spans: ClassVar[tuple[Span, ...]] = ()

    @property
    def reason(self) -> str:
        return f"{self.why}: {self.detail}" if self.detail else str(self.why)

    def __str__(self) -> str:
        """That there is no verdict, and why: what `print` shows."""
        return f"NOT JUDGED {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """The versioned, JSON-safe form that is put on answers and traces."""
        from groundwire.core import wire  # noqa: PLC0415 - wire encodes abstentions, so it imports this module

        return wire.encode(self)

    def _repr_html_(self) -> str:
        return _card(self)


Outcome = Verdict | Abstention


def _card(outcome: Outcome) -> str:
    """What a notebook shows. It asks the object itself, so this is the one place where core looks up."""
    from groundwire.report import notebook  # noqa: PLC0415 - only where something is shown

    return notebook.card(outcome)


def reread(verdict: Verdict, grading: Grading, *, score: float | None = None) -> Outcome:
    """The verdict as ``grading`` reads it; an abstention where that would hide a claim nobody verified."""
    unverified = sum(claim.support is Support.UNVERIFIED for claim in verdict.claims)
    if unverified and (verdict.score if score is None else score) < grading.threshold:
        detail = (
            f"{unverified} of {len(verdict.claims)} claims could not be verified, and the others alone "
            f"do not reach the threshold of {grading.threshold:g}"
        )
        return Abstention(
            why=AbstentionReason.UNREADABLE_REPLY,
            detail=detail,
            detector=verdict.detector,
            usage=verdict.usage,
            recommendation=verdict.recommendation,
            route=verdict.route,
        )
    return verdict.regraded(grading, score=score)


def explained(own: Verdict, read: Outcome) -> Outcome:
    """A verdict that was read otherwise than by its detector, and says so where its reason would deny it."""
    if not isinstance(read, Verdict) or not own.reason or _standing(own) == _standing(read):
        return read
    stop = "" if own.reason.endswith((".", "!", "?", "…", ".”", "!”", "?”")) else "."
    told = f"But at the threshold of {read.threshold:.4g}, a score of {read.score:.4g} {_standing(read)}."
    return replace(read, reason=f"{own.reason}{stop} {told}")


def _standing(verdict: Verdict) -> str:
    if verdict.hallucinated:
        return "is flagged"
    return "is not flagged" if verdict.level is Level.LOW else "is in doubt"
