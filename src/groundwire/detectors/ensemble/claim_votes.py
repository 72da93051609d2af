"""Merged claims put to the vote: each with its support, its score, its votes, and why.

Which claims are the same has been settled in ``reduction``, how votes count in ``resolution``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from groundwire.core.aggregation import Aggregation
from groundwire.core.claim import LABELS, Claim, Evidence, Support, Vote
from groundwire.core.interaction import Interaction
from groundwire.core.span import Span, union
from groundwire.detectors.ensemble.opinions import Said
from groundwire.detectors.ensemble.places import Places
from groundwire.detectors.ensemble.reduction import Merged, usable
from groundwire.detectors.ensemble.resolution import GROUNDED, Decided, Resolution

_MOST_EVIDENCE = 4
_NOWHERE = Span(0, 0)


@dataclass(frozen=True, kw_only=True)
class Ballot:
    """An answer's merged claims, and the rule by which votes are read.

    ``ungrounded`` says that inferred claims count as unsupported.
    """

    interaction: Interaction
    places: Places
    merged: tuple[Merged, ...]
    resolution: Resolution
    ungrounded: bool = False

    def claims(self) -> list[Claim]:
        """Every claim as it was voted, and every sentence that nobody spoke of, unverified."""
        return self._claims(())

    def turned(self, oracles: Sequence[str], *, against: bool) -> list[Claim]:
        """The claims if all of these oracles voted on each as is worst for it, or best, and wholly sure."""
        polls = [[Vote(oracle=name, support=label, confidence=1.0) for name in oracles] for label in LABELS]
        extreme = max if against else min
        return [
            extreme(options, key=lambda claim: claim.score or 0.0)
            for options in zip(*map(self._claims, polls), strict=True)
        ]

    def _claims(self, also: Sequence[Vote]) -> list[Claim]:
        spans = [one.span for one in self.merged if one.span]
        silent = [
            Claim(
                text=span.of(self.interaction.answer),
                span=span,
                support=Support.UNVERIFIED,
                reason="No oracle said anything of this.",
            )
            for span in self.places.left_out(spans)
        ]
        voted = [self._claim(one, also) for one in self.merged]
        return sorted([*voted, *silent], key=lambda one: (not one.located, one.span, one.statement))

    def unverified(self) -> bool:
        """Whether anything got no vote that can be used."""
        return any(claim.support is Support.UNVERIFIED for claim in self.claims())

    def unanimous(self, sure: float) -> bool:
        """Whether all votes on each claim are the same, and all of them at least as sure."""
        for one in self.merged:
            votes = usable(one.votes()).values()
            if len({vote.support for vote in votes}) != 1:
                return False
            if any(vote.confidence is None or vote.confidence < sure for vote in votes):
                return False
        return True

    def _claim(self, one: Merged, also: Sequence[Vote]) -> Claim:
        heard = one.votes()
        votes = [
            Vote(oracle=name, support=said.support, confidence=said.confidence)
            for name, said in sorted(heard.items())
        ]
        counted = [vote for vote in [*votes, *also] if vote.support is not Support.UNVERIFIED]
        span = one.span or _NOWHERE
        plain = Claim(
            text=span.of(self.interaction.answer),
            span=span,
            support=Support.UNVERIFIED,
            statement=one.statement,
            votes=tuple(map(self._read, votes)),
            reason="No oracle's vote on this can be used: none showed the words that support it.",
        )
        if not counted:
            return plain
        grounded = GROUNDED - {Support.INFERRED} if self.ungrounded else GROUNDED
        decided = self.resolution(counted, grounded)
        agreeing = [said for said in heard.values() if said.support is decided.support]
        support = Support.UNSUPPORTED if self._demoted(decided.support) else decided.support
        return replace(
            plain,
            support=support,
            score=decided.score,
            words=_words(agreeing, span) if support.flagged else (),
            evidence=_evidence(agreeing),
            reason=_why(decided, agreeing, len(usable(heard)), demoted=support is not decided.support)
            + ("" if plain.located else " It matches no words of the answer."),
        )

    def _read(self, vote: Vote) -> Vote:
        return replace(vote, support=Support.UNSUPPORTED) if self._demoted(vote.support) else vote

    def _demoted(self, support: Support) -> bool:
        return self.ungrounded and support is Support.INFERRED


def would_change(ballot: Ballot, oracles: Sequence[str], aggregation: Aggregation, threshold: float) -> bool:
    """Whether the answer's verdict would turn if all of these oracles voted against it, wholly sure.

    By whatever label turns a claim: beside one "inferred", another outvotes an "unsupported" where a
    "supported" would not.
    """
    score = aggregation(ballot.claims())
    flagged = score is not None and score >= threshold
    turned = aggregation(ballot.turned(oracles, against=not flagged))
    return score is None or turned is None or (turned >= threshold) != flagged


def reason(claims: Sequence[Claim], *, heard: int, asked: int) -> str:
    """Why the answer got its score, in a sentence or two."""
    flagged = [claim for claim in claims if claim.support.flagged]
    told = f"Supported: all of {len(claims)} claims."
    if flagged:
        worst = max(flagged, key=lambda claim: (claim.score or 0.0, -claim.span.start))
        told = f"Not supported: {len(flagged)} of {len(claims)} claims. “{worst.shown}”: {worst.reason}"
    return told if heard == asked else f"{told} Only {heard} of {asked} opinions could be heard."


def _words(agreeing: Sequence[Said], span: Span) -> tuple[Span, ...]:
    """The words that those who agree name at fault, as far as they are the claim's."""
    return union(
        Span(max(word.start, span.start), min(word.end, span.end))
        for one in agreeing
        for word in one.words
        if word.start < span.end and span.start < word.end
    )


def _evidence(agreeing: Sequence[Said]) -> tuple[Evidence, ...]:
    found = {evidence for one in agreeing for evidence in one.evidence}
    return tuple(sorted(found, key=lambda one: (one.passage, one.span))[:_MOST_EVIDENCE])


def _why(decided: Decided, agreeing: Sequence[Said], voted: int, *, demoted: bool) -> str:
    told = f"{decided.support} by {len(agreeing)} of {voted} votes"
    if demoted:
        told += ", which counts as unsupported here"
    said = sorted({one.reason for one in agreeing if one.reason})
    return f"{told}: {said[0]}" if said else f"{told}."
