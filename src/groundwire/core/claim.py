"""A checkable statement of the answer, and the words of a passage that bear on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from groundwire.core.interaction import Interaction
from groundwire.core.score import check_score
from groundwire.core.span import Span


class Support(StrEnum):
    """How the passages bear on a claim.

    UNVERIFIED says that the claim could not be judged. It is neither support nor a hallucination, and
    no verdict with an unverified claim is ever grounded.
    """

    SUPPORTED = "supported"
    INFERRED = "inferred"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    UNVERIFIED = "unverified"

    @property
    def flagged(self) -> bool:
        return self in (Support.UNSUPPORTED, Support.CONTRADICTED)

    @property
    def severity(self) -> int:
        """0 for SUPPORTED up to 3 for CONTRADICTED; -1 for UNVERIFIED, which is no judgement."""
        return LABELS.index(self) if self in LABELS else -1


LABELS = (Support.SUPPORTED, Support.INFERRED, Support.UNSUPPORTED, Support.CONTRADICTED)
"""The judgements on a claim, from the mildest to the most severe."""


class Kind(StrEnum):
    """What sort of hallucination an answer is.

    CONTEXT_CONFLICTING: it says other things than the passages, or things they don't say. IRRELEVANT: it
    does not answer what was asked. PARTIALLY_CORRECT: some of it is supported, and some is not.
    """

    CONTEXT_CONFLICTING = "context-conflicting"
    IRRELEVANT = "irrelevant"
    PARTIALLY_CORRECT = "partially correct"


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """A quote: the characters ``span`` of the passage at index ``passage`` of the contexts."""

    passage: int
    span: Span
    quote: str

    def __post_init__(self) -> None:
        if len(self.quote) != len(self.span):
            raise ValueError(f"a quote of {len(self.quote)} characters can't fill {self.span}")
        if self.passage < 0:
            raise ValueError(f"passages are numbered from 0 on, not {self.passage}")

    @classmethod
    def cite(cls, interaction: Interaction, passage: int, span: Span) -> Evidence:
        """Quote ``span`` of a passage. Raises ValueError when it reaches past that passage."""
        return cls(passage=passage, span=span, quote=span.of(interaction.contexts[passage].text))


@dataclass(frozen=True, kw_only=True, slots=True)
class Vote:
    """What one of several oracles said of a claim, and how sure it was from 0 to 1, or None.

    UNVERIFIED is a vote that could not be used, and takes no part.
    """

    oracle: str
    support: Support
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.confidence is not None:
            object.__setattr__(self, "confidence", check_score("a vote's confidence", self.confidence))


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One statement of the answer.

    ``score`` is its hallucination score in [0, 1], or None when it is UNVERIFIED. ``words`` are the
    unsupported words, inside ``span``; a flagged claim that names none means all of its words.
    ``reason`` says in a few words why, for a reader.

    ``statement`` is the claim in the words of whoever took the answer apart, where it was taken apart by a
    model; a claim with a statement and an empty span matches no words of the answer, and is not ``located``.
    ``votes`` are what several oracles said of it.
    """

    text: str
    span: Span
    support: Support
    score: float | None = None
    evidence: tuple[Evidence, ...] = ()
    words: tuple[Span, ...] = ()
    reason: str = ""
    statement: str = ""
    votes: tuple[Vote, ...] = ()

    def __post_init__(self) -> None:
        if len(self.text) != len(self.span):
            raise ValueError(f"a claim of {len(self.text)} characters can't fill {self.span}")
        if (self.score is None) != (self.support is Support.UNVERIFIED):
            raise ValueError("a claim has a score unless it is unverified, and then it has none")
        if self.score is not None:
            object.__setattr__(self, "score", check_score("a claim's score", self.score))
        if self.words and not self.support.flagged:
            raise ValueError(f"a claim that is {self.support} has no unsupported words")
        if any(word.start < self.span.start or word.end > self.span.end for word in self.words):
            raise ValueError("unsupported words must lie inside their claim")
        if self.support.flagged and not self.words:
            object.__setattr__(self, "words", (self.span,))

    @property
    def located(self) -> bool:
        """Whether it stands in the answer: False for a statement that matches no words of it."""
        return bool(len(self.span)) or not self.statement

    @property
    def shown(self) -> str:
        """What to show of it: its words of the answer, or its statement where it has none."""
        return self.text or self.statement

    @property
    def disagreement(self) -> float | None:
        """The share of usable votes for another support than the claim's; None where nobody voted."""
        usable = [vote for vote in self.votes if vote.support is not Support.UNVERIFIED]
        if not usable:
            return None
        return sum(vote.support is not self.support for vote in usable) / len(usable)


def kind_of(claims: Iterable[Claim]) -> Kind | None:
    """The sort of hallucination that claims tell of; None when none of them is flagged."""
    supports = {claim.support for claim in claims}
    if not any(support.flagged for support in supports):
        return None
    backed = supports & {Support.SUPPORTED, Support.INFERRED}
    return Kind.PARTIALLY_CORRECT if backed else Kind.CONTEXT_CONFLICTING
