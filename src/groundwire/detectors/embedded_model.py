"""The fitted part of the embedded detector: what the encoder reads and what the words tell, weighed together.

Logistic regressions, read from JSON. Fitting lives in the top-level ``training/``; nothing here reads text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from groundwire.core.plan import ReadClaim
from groundwire.core.span import Span
from groundwire.detectors.lexical_features import Answer
from groundwire.detectors.lexical_model import Weighed

CLAIM_FIGURES = ("words and facts", "worst word", "words told")
ANSWER_FIGURES = ("words and facts", "worst word")
WORD_FIGURES = ("word", "words beside it", "worst word", "words and facts")


@dataclass(frozen=True, kw_only=True)
class Logistic:
    """A probability from weighed figures: ``1 / (1 + exp(-(bias + weights · figures)))``."""

    figures: tuple[str, ...]
    weights: tuple[float, ...]
    bias: float

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Logistic:
        """From the form that ``training/embedded.py`` writes."""
        return cls(figures=tuple(data["figures"]), weights=tuple(data["weights"]), bias=data["bias"])

    def __call__(self, figures: Sequence[float]) -> float:
        margin = self.bias + sum(w * x for w, x in zip(self.weights, figures, strict=True))
        return 1 / (1 + math.exp(-max(-40.0, min(40.0, margin))))


@dataclass(frozen=True, kw_only=True)
class Stack:
    """All that was fitted on top of the encoder: what a claim's figures say, and what an answer's do.

    All are regressions on answers that the encoder never saw, which is what calibrates them (Platt, 1999).
    ``sure`` is the probability from which on a word of a flagged claim is named unsupported.
    """

    claim: Logistic
    answer: Logistic
    word: Logistic
    sure: float
    version: str

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Stack:
        """From the form that ``training/embedded.py`` writes."""
        return cls(
            claim=Logistic.read(data["claim"]),
            answer=Logistic.read(data["answer"]),
            word=Logistic.read(data["word"]),
            sure=data["sure"],
            version=data["version"],
        )

    def weigh(self, lexical: Weighed, read: Mapping[int, ReadClaim]) -> Weighed:
        """Weigh what the words tell beside the readings of claims, by the number of each that was read."""
        if not read:
            return lexical
        odds = tuple(
            self.claim(claim_figures(known, read[i])) if i in read else known
            for i, known in enumerate(lexical.odds)
        )
        raw = self.answer(answer_figures(lexical.raw, read.values()))
        return Weighed(odds=odds, least=lexical.least, raw=raw, score=raw)

    def words(self, odds: float, claim: ReadClaim) -> list[float]:
        """How likely each word of a claim is unsupported; ``odds`` are the claim's lexical ones."""
        return [self.word(figures) for figures in word_figures(odds, claim)]


def to_read(answer: Answer, lexical: Weighed) -> tuple[int, ...]:
    """The numbers of the claims that are worth reading: the most suspicious two, and whichever is not safe.

    A claim that needs no weighing is never read. On the sources that the weights were fitted on, leaving out
    the others halved what is read, and no figure was worse for it (training/README.md).
    """
    open_ = [i for i, seen in enumerate(answer.claims) if seen.settled is None]
    first = sorted(open_, key=lambda i: -lexical.odds[i])[:_ALWAYS_READ]
    return tuple(i for i in open_ if i in first or lexical.odds[i] >= _SAFE)


_ALWAYS_READ, _SAFE = 2, 0.05


def claim_figures(odds: float, claim: ReadClaim) -> tuple[float, ...]:
    """The figures of one claim, as ``CLAIM_FIGURES`` names them; ``odds`` are the lexical ones."""
    return (logit(odds), logit(_worst(claim)), math.log1p(_told(_words(claim))))


def answer_figures(lexical: float, read: Iterable[ReadClaim]) -> tuple[float, ...]:
    """The figures of an answer, as ``ANSWER_FIGURES`` names them; ``lexical`` is the lexical raw score."""
    return (logit(lexical), logit(max(map(_worst, read))))


def word_figures(odds: float, claim: ReadClaim) -> list[tuple[float, ...]]:
    """The figures of each word, as ``WORD_FIGURES`` names them; ``odds`` are the claim's lexical ones.

    People mark phrases, and so a word is read with the two on either side of it.
    """
    read = [logit(p) for p in _words(claim)]
    beside = [read[max(0, i - _BESIDE) : i + _BESIDE + 1] for i in range(len(read))]
    whole = (max(read, default=0.0), logit(odds))
    return [(own, sum(near) / len(near), *whole) for own, near in zip(read, beside, strict=True)]


_BESIDE = 2


def _worst(claim: ReadClaim) -> float:
    """Of a claim without words that can be read one by one, that of the whole."""
    return max(_words(claim), default=1 - claim.reading.supported)


def _words(claim: ReadClaim) -> list[float]:
    return [1 - word.reading.supported for word in claim.words]


def _told(words: Sequence[float]) -> float:
    """How many words are read as not supported: from .3 on a little, from .7 on fully."""
    return sum(min(1.0, max(0.0, (p - 0.3) / 0.4)) for p in words)


def logit(probability: float) -> float:
    """Log-odds, bounded: no single figure decides alone."""
    p = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(p / (1 - p))


_LEAST = 1e-3


def unsupported_words(claim: ReadClaim, likely: Sequence[float], least: float) -> list[Span]:
    """The words that are ``likely`` unsupported, joined where at most one other word stands between them.

    The likeliest alone where none reaches ``least``.
    """
    flagged = [i for i, p in enumerate(likely) if p >= least]
    if not flagged and claim.words:
        flagged = [max(range(len(likely)), key=likely.__getitem__)]
    runs: list[Span] = []
    last = -_REACH - 1
    for i in flagged:
        span = claim.words[i].span
        if runs and i - last <= _REACH:
            runs[-1] = Span(runs[-1].start, span.end)
        else:
            runs.append(span)
        last = i
    return runs


# Words so far apart are one stretch: one unflagged word between them is bridged.
_REACH = 2


@cache
def load() -> Stack:
    """The fitted weights that ship with the package; read once."""
    source = resources.files("groundwire.detectors") / "data" / "embedded.json"
    return Stack.read(json.loads(source.read_text(encoding="utf-8")))
