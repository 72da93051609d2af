"""The token detector: which words of the answer the passages have, counted and nothing more.

Only the plan and its readings live here. The formulas are in ``text.ngrams``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar

from groundwire.core.aggregation import Aggregation, LengthWeighted
from groundwire.core.claim import Claim, Support
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Plan
from groundwire.core.score import score_problems
from groundwire.core.span import Span
from groundwire.core.verdict import AbstentionReason, DetectorSpec, Outcome, Verdict
from groundwire.detectors import settings
from groundwire.detectors.statements import (
    Sentence,
    aggregation_problems,
    no_ground,
    passage_sentences,
    scored,
    share,
    weighed,
)
from groundwire.text import tokens
from groundwire.text.claims import cut
from groundwire.text.ngrams import Tokens, bleu, rouge_l, rouge_n


class Measure(StrEnum):
    """What is counted. Each is read as a hallucination score: 1 minus the overlap, or the share that is new.

    The precisions are shares of the answer that the passages have; the recalls are shares of the passages
    that the answer has, which tell how much it leaves out rather than what it adds.
    """

    NOVELTY = "novelty"
    BLEU = "bleu"
    ROUGE_1_PRECISION = "rouge-1 precision"
    ROUGE_1_RECALL = "rouge-1 recall"
    ROUGE_2_PRECISION = "rouge-2 precision"
    ROUGE_2_RECALL = "rouge-2 recall"
    ROUGE_L_PRECISION = "rouge-l precision"
    ROUGE_L_RECALL = "rouge-l recall"


@dataclass(frozen=True, kw_only=True)
class TokenOverlap(Detector):
    """Scores by the overlap of tokens between answer and passages. Offline; asks nothing of models.

    ``measure`` says which overlap. NOVELTY is the share of content tokens (no stop words) that no passage
    has; the new words are marked. BLEU is its n-gram precision up to 4, over the references together, without
    the brevity penalty: passages are longer than any answer. ROUGE-n and ROUGE-L count all tokens. Each claim
    is compared with the passages' sentences, of which the best counts (for NOVELTY and BLEU all); the whole
    answer with all passages as one text. The answer's score takes a share of ``whole`` from the latter and
    the rest from the claims by ``aggregation``.

    ``tokenizer`` makes tokens of a text, such as a model's own ``tokenize`` or ``encode``; None is words,
    folded, and reduced to their English stems unless ``stem`` is off. ``stop_words`` replaces the built-in
    English list. An answer of fewer than ``shortest`` content tokens is not judged.

    Sources: BLEU (Papineni et al., 2002), ROUGE (Lin, 2004), and the share of new words as a baseline of
    grounding. Assumes that a supported answer uses the passages' words. Known failures: paraphrase looks
    unsupported, and what is false in the passages' own words ("not", swapped names, digits that stand
    elsewhere) looks supported; an answer in another language than the passages is all new.

    Raises ConfigurationError naming every parameter that can't work.
    """

    name: ClassVar[str] = "token"
    version: ClassVar[str] = "1"

    # Near the best F1 of NOVELTY on RAGTruth's QA answers; the other measures need thresholds of their own.
    grading: Grading = Grading(threshold=0.25)
    measure: Measure | str = Measure.NOVELTY
    whole: float = 0.5
    aggregation: Aggregation = field(default_factory=LengthWeighted)
    tokenizer: Callable[[str], Iterable[Hashable]] | None = None
    stop_words: Collection[str] | None = None
    stem: bool = True
    shortest: int = 1

    def __post_init__(self) -> None:
        problems = settings.choice_problems(self, "measure", Measure) + score_problems(whole=self.whole)
        problems += aggregation_problems(self)
        if self.tokenizer is not None and not callable(self.tokenizer):
            told = type(self.tokenizer).__qualname__
            problems.append(f"tokenizer must be a function from a text to its tokens, not {told}")
        if isinstance(self.stop_words, str):
            problems.append("stop_words must be a collection of words, not one str")
        elif self.stop_words is not None:
            object.__setattr__(self, "stop_words", tuple(sorted(set(map(tokens.fold, self.stop_words)))))
        if type(self.shortest) is not int or self.shortest < 1:
            problems.append(f"shortest must be a whole number from 1 on, not {self.shortest!r}")
        if problems:
            raise ConfigurationError(*problems)

    @property
    def spec(self) -> DetectorSpec:
        """The name, version and parameters; a tokenizer by its name, for its repr differs from run to run."""
        spec = super().spec
        if self.tokenizer is None:
            return spec
        named = self.tokenizer if hasattr(self.tokenizer, "__qualname__") else type(self.tokenizer)
        told = f"{named.__module__}.{named.__qualname__}"
        return replace(spec, parameters={**spec.parameters, "tokenizer": told})

    def load(self) -> None:
        """Import the stemmer."""
        tokens.stem("loading")

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        """Judge by counting; asks nothing of anybody."""
        return self._judged(interaction)
        yield ()  # a plan is a generator, also where there is nothing to ask

    def measures(self, interaction: Interaction) -> Mapping[Measure, float]:
        """Every measure of the whole answer, each as a hallucination score from 0 to 1.

        Raises ValueError for an answer, or for passages, without a token.
        """
        page = _Page(self, interaction)
        if not page.answer.all or not page.context.all:
            raise ValueError("there is nothing to measure: the answer or the passages have no token")
        return {measure: page.whole(measure) for measure in Measure}

    def counted(self, text: str) -> Counted:
        """The tokens of a text as this detector counts them."""
        if self.tokenizer is not None:
            made = tuple(self.tokenizer(text))
            return Counted(all=made, content=tuple(i for i, token in enumerate(made) if self._tells(token)))
        folded = [tokens.fold(word.text) for word in tokens.words(text)]
        content = tuple(i for i, word in enumerate(folded) if self._tells(word))
        return Counted(all=tuple(map(tokens.stem, folded)) if self.stem else tuple(folded), content=content)

    def _tells(self, token: Hashable) -> bool:
        if not isinstance(token, str):
            return True
        stop_words = tokens.STOP_WORDS if self.stop_words is None else self.stop_words
        return any(map(str.isalnum, token)) and tokens.fold(token) not in stop_words

    def _judged(self, interaction: Interaction) -> Outcome:
        spans = cut(interaction.answer)
        if refused := no_ground(interaction, spans, self):
            return refused
        page = _Page(self, interaction)
        length = len(page.answer.content)
        if length < self.shortest:
            detail = f"the answer has {length} content tokens, fewer than shortest={self.shortest}"
            return self.abstain(AbstentionReason.NO_CLAIMS, detail)
        if not page.context.all:
            detail = "no passage has a word to compare with"
            return self.abstain(AbstentionReason.NO_CONTEXT, detail)
        claims = [page.claim(span) for span in spans]
        by_claims = self.aggregation(claims)
        assert by_claims is not None, "every claim that is counted has a score"
        whole = page.whole(Measure(self.measure))
        score = weighed(whole, self.whole, by_claims)
        return Verdict.graded(
            score,
            self.grading,
            raw=score,
            claims=tuple(claims),
            reason=f"By {self.measure}: {whole:.2f} as a whole, {by_claims:.2f} over "
            f"{share(len(claims), len(claims), 'claim')}.",
            detector=self.spec,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """The tokens of a text, and at which of them it says something."""

    all: tuple[Hashable, ...]
    content: tuple[int, ...]

    @property
    def telling(self) -> list[Hashable]:
        return [self.all[i] for i in self.content]


class _Page:
    """One interaction, counted once."""

    def __init__(self, detector: TokenOverlap, interaction: Interaction) -> None:
        self._detector = detector
        self._interaction = interaction
        self.answer = detector.counted(interaction.answer)
        self._passages = [detector.counted(passage.text) for passage in interaction.contexts]
        self.context = Counted(all=tuple(t for p in self._passages for t in p.all), content=())
        self._has = frozenset(self.context.all)
        counted = [(sentence, detector.counted(sentence.text)) for sentence in passage_sentences(interaction)]
        self._sentences = [(sentence, made) for sentence, made in counted if made.all]

    def whole(self, measure: Measure) -> float:
        """The answer against all passages."""
        if measure is Measure.NOVELTY:
            return self._novelty(self.answer)
        if measure is Measure.BLEU:
            return _bleu(self.answer.all, [passage.all for passage in self._passages])
        return _rouge(measure, self.answer.all, self.context.all)

    def claim(self, span: Span) -> Claim:
        made = self._detector.counted(span.of(self._interaction.answer))
        if not made.content:
            return Claim(
                text=span.of(self._interaction.answer),
                span=span,
                support=Support.INFERRED,
                score=0.0,
                reason="no word that could be looked up",
            )
        score, nearest = self._scored(made)
        return scored(
            self._interaction,
            span,
            score,
            self._detector.grading,
            words=self._new_words(span),
            evidence=(nearest.cited(self._interaction),) if nearest else (),
            reason=f"{self._detector.measure} {score:.2f}",
        )

    def _scored(self, made: Counted) -> tuple[float, Sentence | None]:
        measure = Measure(self._detector.measure)
        if measure in (Measure.NOVELTY, Measure.BLEU):
            told = set(made.telling)
            shared, i = max((len(told.intersection(s.all)), -i) for i, (_, s) in enumerate(self._sentences))
            nearest = self._sentences[-i][0] if shared else None
            if measure is Measure.NOVELTY:
                return self._novelty(made), nearest
            return _bleu(made.all, [s.all for _, s in self._sentences]), nearest
        score, i = min((_rouge(measure, made.all, s.all), i) for i, (_, s) in enumerate(self._sentences))
        return score, self._sentences[i][0] if score < 1 else None

    def _novelty(self, made: Counted) -> float:
        return (
            sum(token not in self._has for token in made.telling) / len(made.content) if made.content else 0.0
        )

    def _new_words(self, span: Span) -> tuple[Span, ...]:
        """The words that are nowhere in the passages; none where a tokenizer doesn't tell their places."""
        if self._detector.tokenizer is not None or self._detector.measure is not Measure.NOVELTY:
            return ()
        words = tokens.words(span.of(self._interaction.answer))
        made = self._detector.counted(span.of(self._interaction.answer))
        return tuple(words[i].span.shifted(span.start) for i in made.content if made.all[i] not in self._has)


def _bleu(candidate: Tokens, references: Sequence[Tokens]) -> float:
    return _distance(bleu(candidate, references, brevity=False))


def _rouge(measure: Measure, candidate: Tokens, reference: Tokens) -> float:
    """One ROUGE measure. A text shorter than the n-gram is measured by its own length."""
    _, kind, side = measure.replace("-", " ").split()
    if kind == "l":
        found = rouge_l(candidate, reference)
    else:
        found = rouge_n(candidate, reference, min(int(kind), len(candidate), len(reference)))
    return _distance(found.precision if side == "precision" else found.recall)


def _distance(overlap: float) -> float:
    return min(1.0, max(0.0, 1.0 - overlap))
