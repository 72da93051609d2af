"""The stochastic detector: what a model says each time it is asked is trusted more than what it doesn't.

Only the plan and the three ways of comparing live here. What is said to the model is in ``prompts``; cosines
are in ``vectors``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import fmean, pstdev
from types import MappingProxyType
from typing import ClassVar

from groundwire.core.aggregation import Aggregation, AnyUnsupported
from groundwire.core.claim import Claim
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Completed, Failed, Plan, together
from groundwire.core.span import Span
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome, Verdict
from groundwire.detectors import settings
from groundwire.detectors.asking import (
    Ask,
    PromptDetector,
    ask,
    ask_each,
    listed,
    no_examples,
    not_warm,
    whole_numbers,
)
from groundwire.detectors.statements import aggregation_problems, scored, share, unverified
from groundwire.detectors.vectors import embed
from groundwire.prompts.forms import AgreedEntry
from groundwire.prompts.replies import UnreadableError, read_entries, without_thoughts
from groundwire.prompts.schemas import entries_schema
from groundwire.text import sentences, tokens
from groundwire.text.claims import cut

Against = Mapping[int, Sequence[float]]
"""For each claim, by its index, how far each new answer speaks against it, from 0 to 1."""


class Comparison(StrEnum):
    """How a claim is compared with the new answers."""

    EMBEDDING = "embedding"
    NGRAM = "n-gram"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, kw_only=True)
class Stochastic(PromptDetector):
    """Answers the question again from the same passages, ``samples`` times; a claim's score is the mean.

    ``comparison`` says how far a new answer speaks against a claim:

    * EMBEDDING: 1 minus the cosine to its nearest sentence (BERTScore's matching, sentence by sentence). One
      request embeds every distinct sentence once; the judge needs ``embeddings``.
    * NGRAM: no further call. A unigram model with add-one smoothing is made of the new answers and the one
      that is judged; a claim's mean surprise over its content words is put on a line from 0, what a word has
      that each of the N new answers says once, too (N + 1 times in all), to 1, what a word has that nobody
      else says. A claim without content words surprises nobody.
    * CONTRADICTION: the model says whether the new answer agrees (0), contradicts (1) or is silent (1/2); one
      more call for each new answer and every 40 claims, equal answers taken once.

    Calls are made at ``temperature``, which has to be above 0. To ask the model of the application itself,
    give the judge the same one. A question is needed. New answers that are empty or were cut off are left
    out, down to two. Where a comparison is missing, an answer is flagged or not judged.

    Source: SelfCheckGPT (Manakul et al., 2023, arXiv:2303.08896). Assumes that a model invents something else
    each time. Known failures: what it gets wrong every time looks sure, an answer in which it chose one of
    many right ones looks invented, and new answers that decline speak against everything.

    Raises ConfigurationError naming every parameter that can't work.
    """

    name: ClassVar[str] = "stochastic"
    version: ClassVar[str] = "2"
    uses: ClassVar[tuple[str, ...]] = ("stochastic", "stochastic_agreement")

    comparison: Comparison | str = Comparison.EMBEDDING
    samples: int = 5
    temperature: float = 1.0
    aggregation: Aggregation = field(default_factory=AnyUnsupported)
    max_claims: int = 400

    def problems(self) -> list[str]:
        problems = super().problems() + no_examples(self) + whole_numbers(self, samples=2, max_claims=1)
        problems += settings.choice_problems(self, "comparison", Comparison) + not_warm(self.temperature)
        problems += aggregation_problems(self)
        return problems

    @property
    def needs_embeddings(self) -> bool:
        return self.comparison is Comparison.EMBEDDING

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        if refused := self.refusal(interaction):
            return refused
        spans = cut(interaction.answer)
        again = yield from ask(self._answering(interaction))
        if isinstance(again, Failed):
            return self.failed(again, what="the question could not be answered again")
        texts = [span.of(interaction.answer) for span in spans]
        if self.comparison is Comparison.NGRAM:
            return self._outcome(interaction, spans, _surprise(texts, interaction.answer, again), None, again)
        if self.comparison is Comparison.EMBEDDING:
            against, trouble = yield from _distances(texts, again)
        else:
            against, trouble = yield from self._verdicts(interaction, texts, again)
        return self._outcome(interaction, spans, against, trouble, again)

    def refusal(self, interaction: Interaction) -> Abstention | None:
        if refused := super().refusal(interaction):
            return refused
        if not interaction.question.strip():
            detail = "there is no question, and so none that could be answered again"
            return self.abstain(AbstentionReason.UNREADABLE_INPUT, detail)
        if self.comparison is Comparison.NGRAM and not any(_content(interaction.answer)):
            return self.abstain(AbstentionReason.NO_CLAIMS, "the answer has no content word to count")
        if (claims := len(cut(interaction.answer))) > self.max_claims:
            detail = f"the answer makes {claims} claims, more than max_claims={self.max_claims}"
            return self.abstain(AbstentionReason.OVER_BUDGET, detail)
        return None

    def _answering(self, interaction: Interaction) -> Ask[Sequence[str]]:
        return Ask(
            message=self.message("stochastic", self.material(interaction)),
            read=_answers,
            samples=self.samples,
            temperature=self.temperature,
        )

    def _verdicts(
        self, interaction: Interaction, texts: Sequence[str], again: Sequence[str]
    ) -> Plan[tuple[Against, Failed | None]]:
        """What the model says of each claim beside each distinct new answer, all asked at once."""
        counted = Counter(again)
        ids = range(1, len(texts) + 1)
        judged = yield from together(
            [
                ask_each(ids, self._asking(interaction, texts, answer), per_call=_PER_CALL)
                for answer in counted
            ]
        )
        against: dict[int, list[float]] = {}
        for times, (found, _) in zip(counted.values(), judged, strict=True):
            for i, entry in found.items():
                against.setdefault(i - 1, []).extend([_AGAINST[entry.verdict]] * times)
        return against, next((trouble for _, trouble in judged if trouble), None)

    def _asking(
        self, interaction: Interaction, texts: Sequence[str], answer: str
    ) -> Callable[[Sequence[int]], Ask[Mapping[int, AgreedEntry]]]:
        def asking(ids: Sequence[int]) -> Ask[Mapping[int, AgreedEntry]]:
            quotes = {
                **self.material(interaction),
                "text": [("text", answer)],
                "statements": [("statements", listed({i: texts[i - 1] for i in ids}))],
            }
            return Ask(
                message=self.message("stochastic_agreement", quotes),
                read=lambda reply: read_entries(reply.texts[0], AgreedEntry, key="statements"),
                schema=entries_schema(AgreedEntry, key="statements"),
            )

        return asking

    def _outcome(
        self,
        interaction: Interaction,
        spans: Sequence[Span],
        against: Against,
        trouble: Failed | None,
        again: Sequence[str],
    ) -> Outcome:
        claims = [self._claim(interaction, span, against.get(i, ())) for i, span in enumerate(spans)]
        score = self.aggregation(claims)
        if trouble and (score is None or score < self.grading.threshold):
            by_all = len(again) if self.comparison is Comparison.CONTRADICTION else 1
            missing = sum(len(against.get(i, ())) < by_all for i in range(len(claims)))
            what = f"{share(missing, len(claims), 'claim')} could not be compared with all new answers"
            return self.failed(trouble, what=what)
        assert score is not None, "without trouble every claim is compared"
        compared = len(again) if self.comparison is Comparison.NGRAM else max(map(len, against.values()))
        told = f"{score:.2f} against it over {compared} new answers"
        if self.comparison is not Comparison.NGRAM:  # which takes all new answers together
            told += f", with a spread of {fmean(map(pstdev, against.values())):.2f}"
        if len(set(again)) == 1:
            told += "; they are all the same, so either the model is sure or its temperature was not raised"
        return Verdict.graded(
            score, self.grading, raw=score, claims=tuple(claims), reason=f"{told}.", detector=self.spec
        )

    def _claim(self, interaction: Interaction, span: Span, figures: Sequence[float]) -> Claim:
        if not figures:
            return unverified(interaction, span, "It could not be compared with the new answers.")
        score = min(1.0, fmean(figures))
        reason = f"{score:.2f} against it"
        if self.comparison is not Comparison.NGRAM:
            reason += f" over {len(figures)} new answers, with a spread of {pstdev(figures):.2f}"
        return scored(interaction, span, score, self.grading, reason=reason)


def _answers(reply: Completed) -> Sequence[str]:
    """The new answers that are whole, without thoughts. Fewer than two say nothing of how they differ."""
    spoken = [text for text in map(without_thoughts, reply.whole) if text.strip()]
    if len(spoken) < _FEWEST:
        raise UnreadableError(f"{len(spoken)} of {len(reply.texts)} new answers say anything")
    return spoken


def _distances(texts: Sequence[str], again: Sequence[str]) -> Plan[tuple[Against, Failed | None]]:
    """How far each text is from the nearest sentence of each new answer, by cosines."""
    said = [[span.of(answer) for span in sentences.split(answer)] for answer in again]
    vectors = yield from embed([*texts, *(sentence for one in said for sentence in one)])
    if isinstance(vectors, Failed):
        return {}, vectors
    known = [[sentence for sentence in one if vectors.known(sentence)] for one in said]
    against = {
        i: [1.0 - min(1.0, max(0.0, float(vectors.cosines([text], one).max()))) for one in known if one]
        for i, text in enumerate(texts)
        if vectors.known(text) and any(known)
    }
    return against, _NO_VECTOR if len(against) < len(texts) else None


def _surprise(texts: Sequence[str], answer: str, again: Sequence[str]) -> Against:
    """How surprising each text's content words are to a unigram model of all answers, from 0 to 1."""
    counts = Counter(word for text in (answer, *again) for word in _content(text))
    # The model's size is the same for every word, and drops out of the line between the two ends.
    expected, alone = math.log(len(again) + 2), math.log(2)

    def surprise(text: str) -> float:
        found = [expected - math.log(max(1, counts[word]) + 1) for word in _content(text)]
        return min(1.0, max(0.0, fmean(found) / (expected - alone))) if found else 0.0

    return {i: [surprise(text)] for i, text in enumerate(texts)}


def _content(text: str) -> Iterator[str]:
    for word in tokens.words(text):
        folded = tokens.fold(word.text)
        if folded not in tokens.STOP_WORDS:
            yield tokens.stem(folded)


_AGAINST: Mapping[str, float] = MappingProxyType({"agrees": 0.0, "silent": 0.5, "contradicts": 1.0})
_FEWEST = 2
_PER_CALL = 40  # claims; a longer reply may not be finished
_NO_VECTOR = Failed(
    reason=AbstentionReason.MODEL_FAILED, detail="the embedding model gave a vector of zeros for them"
)
