"""The first embedded detector: words and exact facts, weighed by a small fitted model.

Here is the order of things. What is looked at lives in ``lexical_features``, the fitted weights in
``lexical_model``, and how figures become claims in ``lexical_verdict``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from groundwire.core.claim import Claim, Support
from groundwire.core.detector import Detector
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Plan
from groundwire.core.span import Span
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome, Verdict
from groundwire.detectors import lexical_model
from groundwire.detectors.lexical_features import HARMLESS, look
from groundwire.detectors.lexical_verdict import Judging, summary
from groundwire.text import claims as claim_text
from groundwire.text import refusal, tokens
from groundwire.text.overlap import Context


@dataclass(frozen=True, kw_only=True)
class Lexical(Detector):
    """Judges by word overlap, rare words and names, exact facts and negation. Offline, in milliseconds.

    Each claim is compared with its best sentence, its best passage and all passages together; boosted
    trees weigh the figures (Friedman, 2001), fitted on RAGTruth (Niu et al., 2024) and calibrated on
    sources that were not used for fitting. A number, date, time or amount that differs from the one the
    documents give in the same place is a contradiction whatever the trees say.

    Assumes that a supported answer mostly uses the documents' words. Known failures: free paraphrase in
    other words looks unsupported, swapped roles ("A paid B") and invented claims made of the documents'
    own words look supported, and a claim that something is not mentioned is believed.
    """

    name: ClassVar[str] = "lexical"
    version: ClassVar[str] = "1"

    # Near the best F1 on the sources that it was calibrated on; see training/README.md.
    grading: Grading = Grading(threshold=0.4)

    def load(self) -> None:
        """Read the fitted model and import the stemmer."""
        lexical_model.load()
        tokens.stem("loading")

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        """Judge by words and exact facts; asks nothing of anybody."""
        return self._judged(interaction)
        yield ()  # a plan is a generator, also where there is nothing to ask

    def _judged(self, interaction: Interaction) -> Outcome:
        if not interaction.has_context:
            return self._abstain(AbstentionReason.NO_CONTEXT, "no passage holds any text to judge against")
        spans = claim_text.cut(interaction.answer)
        if not spans:
            return self._abstain(
                AbstentionReason.NO_CLAIMS, "the answer states nothing that could be checked"
            )
        if refusal.is_refusal([span.of(interaction.answer) for span in spans]):
            return self._declined(interaction, spans)
        context = Context([passage.text for passage in interaction.contexts])
        weights = lexical_model.load().telling
        seen = look(interaction.answer, spans, interaction.question, context, weights)
        if not any(claim.checkable for claim in seen.claims):
            return self._abstain(
                AbstentionReason.NO_CLAIMS, "the answer has no word or figure that could be looked up"
            )
        judging = Judging(interaction, context, seen, self.grading)
        if context.foreign(folded for claim in seen.claims for folded in claim.worded.folded):
            return self._across_languages(judging.claims_by_facts())
        return self._verdict(judging.claims(), raw=judging.raw)

    def _across_languages(self, claims: tuple[Claim, ...]) -> Outcome:
        """Facts speak every language: they can refute an answer, or bear it out if each claim has some."""
        unread = sum(claim.support is Support.UNVERIFIED for claim in claims)
        if unread and not any(claim.support.flagged for claim in claims):
            return self._abstain(
                AbstentionReason.NO_CLAIMS,
                f"answer and passages are in different languages, and {unread} of {len(claims)} statements "
                "have no figure to compare: use a judge that reads both",
            )
        return self._verdict(claims, raw=None)

    def _verdict(self, claims: tuple[Claim, ...], *, raw: float | None) -> Verdict:
        return Verdict.graded(
            max(claim.score or 0.0 for claim in claims),
            self.grading,
            raw=raw,
            detector=self.spec,
            reason=summary(claims),
            claims=claims,
        )

    def _abstain(self, why: AbstentionReason, detail: str) -> Abstention:
        return Abstention(why=why, detail=detail, detector=self.spec)

    def _declined(self, interaction: Interaction, spans: Sequence[Span]) -> Verdict:
        # Below the MEDIUM cut of any grading: who declines has said nothing that could be wrong.
        score = min(HARMLESS, self.grading.cuts[0] / 2)
        claims = [
            Claim(
                text=span.of(interaction.answer),
                span=span,
                support=Support.SUPPORTED,
                score=score,
                reason="declines to answer",
            )
            for span in spans
        ]
        return Verdict.graded(
            score,
            self.grading,
            raw=score,
            detector=self.spec,
            reason="The answer declines to answer, and claims nothing.",
            claims=tuple(claims),
        )
