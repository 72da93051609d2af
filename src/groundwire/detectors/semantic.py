"""The semantic detector: how far the answer's sentences are from those of the passages, by embeddings.

Only the plan lives here. Which embedding model it is, the judge knows; the cosines are in ``vectors``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from groundwire.core.aggregation import Aggregation, AnyUnsupported
from groundwire.core.claim import Claim, Support
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Failed, Plan
from groundwire.core.score import score_problems
from groundwire.core.span import Span
from groundwire.core.verdict import AbstentionReason, Outcome, Verdict
from groundwire.detectors.statements import (
    Sentence,
    aggregation_problems,
    no_ground,
    passage_sentences,
    scored,
    share,
    unverified,
    weighed,
)
from groundwire.detectors.vectors import Vectors, embed
from groundwire.text.claims import cut


@dataclass(frozen=True, kw_only=True)
class Semantic(Detector):
    """Scores each claim by 1 minus the cosine to the nearest sentence of the passages, which is its evidence.

    The answer's score takes a share of ``whole`` from the whole answer against all passages read as one
    text, and the rest from the claims by ``aggregation``. Every distinct text is embedded once, in one
    request; a share of 0 leaves the two whole texts out of it. No language model is asked, so that
    ``Judge(embeddings=...)`` is enough; a checker whose judge has no embeddings is refused.

    Source: sentence embeddings compared by cosine (Reimers and Gurevych, 2019, arXiv:1908.10084). Assumes
    that texts which say the same are near one another. Known failures: what is near is on the same subject
    and need not say the same, so changed numbers, names and negations pass; where cosines lie differs from
    model to model, so the threshold has to be set for yours; and a whole context longer than the model reads
    is cut or refused by it.

    Checks that would embed more than ``max_texts`` texts are not made. Raises ConfigurationError naming every
    parameter that can't work.
    """

    name: ClassVar[str] = "semantic"
    version: ClassVar[str] = "1"

    aggregation: Aggregation = field(default_factory=AnyUnsupported)
    whole: float = 0.0
    max_texts: int = 2_000

    def __post_init__(self) -> None:
        problems = aggregation_problems(self)
        problems += score_problems(whole=self.whole)
        if type(self.max_texts) is not int or self.max_texts < 2:
            problems.append(f"max_texts must be a whole number from 2 on, not {self.max_texts!r}")
        if problems:
            raise ConfigurationError(*problems)

    @property
    def needs_embeddings(self) -> bool:
        return True

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        spans = cut(interaction.answer)
        if refused := no_ground(interaction, spans, self):
            return refused
        nearby = passage_sentences(interaction)
        context = "\n\n".join(passage.text for passage in interaction.contexts)
        wholes = [interaction.answer, context] if self.whole else []
        texts = [*(span.of(interaction.answer) for span in spans), *(s.text for s in nearby), *wholes]
        if len(set(texts)) > self.max_texts:
            detail = f"there are {len(set(texts))} texts to embed, more than max_texts={self.max_texts}"
            return self.abstain(AbstentionReason.OVER_BUDGET, detail)
        vectors = yield from embed(texts)
        if isinstance(vectors, Failed):
            return self.abstain(vectors.reason, vectors.detail)
        if not all(map(vectors.known, wholes)):
            return self.abstain(
                AbstentionReason.MODEL_FAILED, "the embedding model has no vector for the whole"
            )
        apart = 1.0 - float(vectors.cosines([wholes[0]], [wholes[1]])[0, 0]) if wholes else 0.0
        return self._outcome(self._claims(interaction, spans, nearby, vectors), min(1.0, apart))

    def _claims(
        self, interaction: Interaction, spans: Sequence[Span], nearby: Sequence[Sentence], vectors: Vectors
    ) -> list[Claim]:
        nearby = [sentence for sentence in nearby if vectors.known(sentence.text)]
        claims = []
        for span in spans:
            text = span.of(interaction.answer)
            if not nearby or not vectors.known(text):
                claims.append(unverified(interaction, span, "The embedding model has no vector to compare."))
                continue
            cosines = vectors.cosines([text], [sentence.text for sentence in nearby])[0]
            best = int(cosines.argmax())
            score = min(1.0, max(0.0, 1.0 - float(cosines[best])))
            claims.append(
                scored(
                    interaction,
                    span,
                    score,
                    self.grading,
                    evidence=(nearby[best].cited(interaction),),
                    reason=f"{score:.2f} away from the nearest sentence",
                )
            )
        return claims

    def _outcome(self, claims: Sequence[Claim], apart: float) -> Outcome:
        by_claims = self.aggregation(claims)
        score = None if by_claims is None else weighed(apart, self.whole, by_claims)
        missing = sum(claim.support is Support.UNVERIFIED for claim in claims)
        if score is None or (missing and score < self.grading.threshold):
            detail = (
                f"the embedding model has no vector for {share(missing, len(claims), 'claim')}, "
                "or none for the passages"
            )
            return self.abstain(AbstentionReason.MODEL_FAILED, detail)
        farthest = max(claim.score for claim in claims if claim.score is not None)
        which = f"The farthest of {len(claims)} claims" if len(claims) > 1 else "The one claim"
        told = [f"{which} is {farthest:.2f} away from the passages' sentences"]
        if self.whole:
            told.append(f"the whole answer is {apart:.2f} away from the passages")
        return Verdict.graded(
            score,
            self.grading,
            raw=score,
            claims=tuple(claims),
            reason="; ".join(told) + ".",
            detector=self.spec,
        )
