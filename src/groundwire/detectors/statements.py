"""What the methods that compare texts have in common: statements and sentences with their places.

How alike two texts are is each method's own business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from groundwire.core.claim import Claim, Evidence, Support
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.span import Span
from groundwire.core.verdict import Abstention, AbstentionReason
from groundwire.detectors import settings
from groundwire.text import sentences


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """One sentence of the passage at index ``passage``."""

    passage: int
    span: Span
    text: str

    def cited(self, interaction: Interaction) -> Evidence:
        return Evidence.cite(interaction, self.passage, self.span)


def passage_sentences(interaction: Interaction) -> list[Sentence]:
    """The sentences of all passages, in order."""
    return [
        Sentence(passage=i, span=span, text=span.of(passage.text))
        for i, passage in enumerate(interaction.contexts)
        for span in sentences.split(passage.text)
    ]


def no_ground(interaction: Interaction, spans: Sequence[Span], detector: Detector) -> Abstention | None:
    """Why there is nothing to judge, if so: no statement in the answer, or no passage with a text."""
    if not spans:
        return detector.abstain(AbstentionReason.NO_CLAIMS, "the answer states nothing that can be checked")
    if not interaction.has_context:
        return detector.abstain(AbstentionReason.NO_CONTEXT, "there is no passage to judge the answer by")
    return None


def scored(interaction: Interaction, span: Span, score: float, grading: Grading, **fields: Any) -> Claim:
    """A claim with a score of its own, unsupported from the threshold on. ``words`` are kept if it is."""
    flagged = score >= grading.threshold
    return Claim(
        text=span.of(interaction.answer),
        span=span,
        support=Support.UNSUPPORTED if flagged else Support.SUPPORTED,
        score=score,
        **(fields if flagged else {**fields, "words": ()}),
    )


def unverified(interaction: Interaction, span: Span, reason: str) -> Claim:
    """A claim that could not be compared."""
    return Claim(
        text=span.of(interaction.answer), span=span, support=Support.UNVERIFIED, score=None, reason=reason
    )


def aggregation_problems(detector: Any) -> list[str]:
    """Have a detector's aggregation read, which settings give by its name; what is wrong with it."""
    try:
        object.__setattr__(detector, "aggregation", settings.aggregation(detector.aggregation))
    except ConfigurationError as error:
        return list(error.problems)
    return []


def share(some: int, of: int, noun: str) -> str:
    """So many of so many, in words: "1 of 3 claims", "all 3 claims", "the one claim"."""
    if some < of:
        return f"{some} of {of} {noun}s"
    return f"all {of} {noun}s" if of != 1 else f"the one {noun}"


def weighed(whole: float, share: float, claims: float) -> float:
    """``share`` of the score from the whole answer, the rest from its claims."""
    return min(1.0, share * whole + (1 - share) * claims)
