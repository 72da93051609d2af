"""What exact facts refute: the claims in which a number, date, time or amount is another in the passages.

Figures speak every language, and no later judgement can clear what they refute.
"""

from __future__ import annotations

from collections.abc import Sequence

from groundwire.core.claim import Claim, Support
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.span import Span
from groundwire.detectors.lexical_features import look
from groundwire.detectors.lexical_verdict import Judging
from groundwire.text.claims import cut
from groundwire.text.overlap import Context


def refuted(interaction: Interaction, grading: Grading) -> tuple[Claim, ...]:
    """The claims that an exact fact of the passages contradicts, each with that fact as its evidence."""
    context = Context([passage.text for passage in interaction.contexts])
    seen = look(interaction.answer, cut(interaction.answer), interaction.question, context, {})
    claims = Judging(interaction, context, seen, grading).claims_by_facts()
    return tuple(claim for claim in claims if claim.support is Support.CONTRADICTED)


def upheld(claims: Sequence[Claim], refuted: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims with those that were refuted in place of whatever is said of the same words."""
    kept = [
        claim
        for claim in claims
        if claim.support is Support.CONTRADICTED or not any(_overlap(claim.span, r.span) for r in refuted)
    ]
    known = {claim.span for claim in kept}
    return tuple(sorted([*kept, *(r for r in refuted if r.span not in known)], key=lambda claim: claim.span))


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
