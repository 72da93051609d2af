"""What oracles say of an answer: claims with a support each, in one form, whoever says it.

Asking them is in ``claim_reader`` and ``oracles``; what their opinions come to together, in ``reduction``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from groundwire.core.claim import Claim, Evidence, Support
from groundwire.core.plan import Failed
from groundwire.core.span import Span


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One claim as one oracle said it.

    ``span`` is where it stands in the answer, or None: the words that it quoted, or, if ``guessed``, those
    that it shares most with. A support of UNVERIFIED is one that was said and can't be believed.
    ``confidence`` is in that support, from 0 to 1; None is not told.
    """

    oracle: str
    statement: str
    support: Support
    confidence: float | None = None
    span: Span | None = None
    words: tuple[Span, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""
    guessed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinion:
    """All that one oracle said of an answer, or why it said nothing."""

    oracle: str
    said: tuple[Said, ...] = ()
    trouble: Failed | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Heard:
    """The opinions that one request, or one detector, came to; and input tokens that asking so has saved."""

    opinions: tuple[Opinion, ...]
    saved: int = 0


def of_claim(oracle: str, claim: Claim) -> Said:
    """A detector's claim as an oracle's."""
    confidence = None
    if claim.score is not None:
        confidence = claim.score if claim.support.flagged else 1 - claim.score
    return Said(
        oracle=oracle,
        statement=claim.statement or claim.text,
        support=claim.support,
        confidence=confidence,
        span=claim.span if len(claim.span) else None,
        words=() if claim.words == (claim.span,) else claim.words,
        evidence=claim.evidence,
        reason=claim.reason,
    )


def placed(said: Said, span: Span | None) -> Said:
    """The same claim at a place in the answer that was guessed, unless it has one."""
    return said if span is None or said.span is not None else replace(said, span=span, guessed=True)
