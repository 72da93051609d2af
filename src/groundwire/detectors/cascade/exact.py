"""What exact facts refute: the claims in which a number, date, time or amount is another in the passages.

Figures speak every language, and no later judgement can clear what they refute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groundwire.core.claim import Claim, Support
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.span import union
from groundwire.detectors.as_read import AsRead
from groundwire.detectors.lexical_features import look
from groundwire.detectors.lexical_verdict import Judging
from groundwire.text.overlap import Context


def refuted(interaction: Interaction, grading: Grading) -> tuple[Claim, ...]:
    """The claims that an exact fact of the passages contradicts, each with that fact as its evidence."""
    read = AsRead.of(interaction)
    context = Context([passage.text for passage in read.interaction.contexts])
    seen = look(read.interaction.answer, read.claims, read.interaction.question, context, {})
    claims = Judging(read.interaction, context, seen, grading).claims_by_facts()
    return tuple(read.claim(claim) for claim in claims if claim.support is Support.CONTRADICTED)


def upheld(claims: Sequence[Claim], refuted: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims with those that were refuted in place of whatever clears the same words.

    What is flagged besides stays flagged.
    """
    bound = {claim.span: claim for claim in refuted}
    kept = []
    for claim in claims:
        if claim.support is Support.UNSUPPORTED and claim.span in bound:
            bound[claim.span] = _both(bound[claim.span], claim)
        elif claim.support.flagged or not any(claim.span.overlaps(span) for span in bound):
            kept.append(claim)
    known = {claim.span for claim in kept}
    every = [*kept, *(claim for span, claim in bound.items() if span not in known)]
    return tuple(sorted(every, key=lambda claim: (not claim.located, claim.span)))


def _both(refuted: Claim, flagged: Claim) -> Claim:
    """A refuted claim with the words that somebody flagged beside those that facts refute."""
    score = max(refuted.score or 0.0, flagged.score or 0.0)
    return replace(refuted, score=score, words=union((*refuted.words, *flagged.words)), votes=flagged.votes)
