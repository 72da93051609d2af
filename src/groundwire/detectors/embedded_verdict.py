"""From readings to claims: which words, on what evidence, why, and when to be less sure.

What exact facts say stands in ``lexical_verdict`` and goes first. Weighing belongs to ``embedded_model``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from groundwire.core.claim import Claim, Evidence, Support
from groundwire.core.grading import Grading
from groundwire.core.plan import ReadClaim
from groundwire.core.span import Span, union
from groundwire.detectors import embedded_model
from groundwire.detectors.lexical_features import CLAIM_FEATURES, Seen
from groundwire.detectors.lexical_model import Weighed
from groundwire.detectors.lexical_verdict import Judging
from groundwire.detectors.opening import Opened
from groundwire.text import language


class ReadJudging(Judging):
    """One answer's readings on their way to a verdict."""

    def __init__(
        self, opened: Opened, grading: Grading, scores: Sequence[float], read: Sequence[ReadClaim]
    ) -> None:
        super().__init__(opened.interaction, opened.context, opened.seen, grading, scores)
        self._read = {seen.span: claim for seen, claim in zip(opened.seen.claims, read, strict=True)}

    def _unsupported(self, seen: Seen, score: float) -> Claim:
        read = self._read[seen.span]
        words = self._words(seen, read)
        shown = _quoted(words[0].of(self.interaction.answer)) if words else "this"
        more = f" and {len(words) - 1} more" if len(words) > 1 else ""
        if self._contradicts(seen, read):
            return self._claim(
                seen,
                Support.CONTRADICTED,
                score,
                words=words,
                evidence=self._nearest(seen, read),
                reason=f"{shown}{more} is not what the document says",
            )
        reason = f"not in the documents: {shown}{more}"
        if not (seen.missing or seen.lacking):
            reason = f"the documents do not say this together: {shown}{more}"
        return self._claim(seen, Support.UNSUPPORTED, score, words=words, reason=reason)

    def _contradicts(self, seen: Seen, read: ReadClaim) -> bool:
        """Whether a sentence speaks of the same, and otherwise."""
        spoken_of = bool(seen.matches) and seen.features[_BEST_WINDOW] >= _SPOKEN_OF
        return spoken_of and read.reading.contradicted > read.reading.unsupported

    def _supported(self, seen: Seen, score: float) -> Claim:
        claim = super()._supported(seen, score)
        if seen.verbatim or seen.declines:
            return claim
        read = self._read[seen.span]
        evidence = claim.evidence or self._nearest(seen, read)
        if len(seen.missing) >= _SAID_OTHERWISE * max(1, len(seen.worded.content)):
            reason = "follows from the documents, in other words"
            return replace(claim, support=Support.INFERRED, evidence=evidence, reason=reason)
        return replace(claim, evidence=evidence)

    def _words(self, seen: Seen, read: ReadClaim) -> tuple[Span, ...]:
        """The words read as unsupported, and the exact facts that no passage has."""
        lacking = [fact.span.shifted(seen.span.start) for fact in seen.lacking]
        named = embedded_model.unsupported_words(read, embedded_model.load().word)
        return union([*named, *lacking])

    def _nearest(self, seen: Seen, read: ReadClaim) -> tuple[Evidence, ...]:
        """The sentence that shares most with the claim; else what the encoder read first."""
        if seen.matches:
            return (self._cite(seen.matches[0]),)
        return tuple(Evidence.cite(self.interaction, passage, span) for passage, span in read.evidence[:1])


# A supported claim of which this share of its words is in no passage says it in other words.
_SAID_OTHERWISE = 0.4
# A sentence with this share of the claim's words, weighed by their rarity, speaks of the same.
_SPOKEN_OF = 0.5
_BEST_WINDOW = CLAIM_FEATURES.index("best_window")


def _quoted(words: str) -> str:
    return f"“{' '.join(words.split())[:60]}”"


@dataclass(frozen=True, kw_only=True, slots=True)
class Caution:
    """Text unlike what the detector was calibrated on: its score moves towards one half, and it says why."""

    said: str

    def applied(self, weighed: Weighed) -> Weighed:
        """Half the log-odds: a probability of .9 is .75, and .5 stays."""
        z = embedded_model.logit(weighed.score) / 2
        return replace(weighed, score=1 / (1 + math.exp(-z)))


def caution(opened: Opened) -> Caution | None:
    """Why to be less sure of an answer, or None."""
    unlike = []
    spoken = language.guess(f for claim in opened.seen.claims for f in claim.worded.folded)
    if spoken not in (None, "English"):
        unlike.append(f"the answer is in {spoken}")
    if sum(passage.size for passage in opened.context.passages) > _LONG_CONTEXT:
        unlike.append(f"the passages have more than {_LONG_CONTEXT:,} words")
    if "```" in opened.interaction.answer:
        unlike.append("the answer holds code")
    if not unlike:
        return None
    return Caution(said=f"Less sure than usual: {' and '.join(unlike)}.")


# Far more than any context that it was fitted or calibrated on.
_LONG_CONTEXT = 10_000
