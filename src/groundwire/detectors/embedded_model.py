"""The fitted part of the embedded detector: what the encoder reads and what the words tell, weighed together.

Logistic regressions, read from JSON. Fitting lives in the top-level ``training/``; nothing here reads text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from groundwire.core.plan import ReadClaim, Reading, ReadWord
from groundwire.core.span import Span
from groundwire.detectors import lexical_model
from groundwire.detectors.lexical_model import Weighed, logit
from groundwire.detectors.lexical_seen import Answer

ASKED_CLAIM_FIGURES = ("words and facts", "reading")
ASKED_ANSWER_FIGURES = (
    "words and facts",
    "worst reading",
    "two worst readings",
    "freely worded",
    "worst reading, freely worded",
)
DIGEST_FIGURES = (
    "words and facts",
    "worst reading of what is suspected",
    "two worst readings",
    "freely worded",
)
CLAIM_FIGURES = ("words and facts", "words and facts in sight", "reading in sight", "in sight")
ANSWER_FIGURES = (
    "words and facts",
    "words and facts in sight",
    "worst reading in sight",
    "in sight",
    "freely worded",
    "words and facts, freely worded",
    "worst reading in sight, freely worded",
)
BRIEF_FIGURES = ("words and facts", "reading")
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
class Weighing:
    """What the figures of a claim say, and those of an answer."""

    claim: Logistic
    answer: Logistic

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Weighing:
        """From the form that ``training/embedded.py`` writes."""
        return cls(claim=Logistic.read(data["claim"]), answer=Logistic.read(data["answer"]))


@dataclass(frozen=True, kw_only=True)
class Stack:
    """All that was fitted on top of the encoder: for answers to a question, and for other texts.

    All are regressions on answers that the encoder never saw, which is what calibrates them (Platt, 1999).
    A ``digest`` as a whole has one of its own, and so has a ``brief`` answer. ``sure`` is the probability
    from which on a word of a flagged claim is named unsupported.
    """

    asked: Weighing
    unasked: Weighing
    digest: Logistic
    brief: Logistic
    word: Logistic
    sure: float
    version: str

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Stack:
        """From the form that ``training/embedded.py`` writes."""
        return cls(
            asked=Weighing.read(data["asked"]),
            unasked=Weighing.read(data["unasked"]),
            digest=Logistic.read(data["digest"]),
            brief=Logistic.read(data["brief"]),
            word=Logistic.read(data["word"]),
            sure=data["sure"],
            version=data["version"],
        )

    def weigh(self, lexical: Weighed, answer: Answer, read: Mapping[int, ReadClaim]) -> Weighed:
        """Weigh what the words tell beside the readings of claims, by the number of each that was read."""
        if not read:
            return lexical
        if is_brief(answer):
            raw = self.brief(brief_figures(lexical, read, answer))
            return Weighed(odds=(raw,), least=lexical_model.least(answer, raw), raw=raw, score=raw)
        fitted = self.asked if answer.asked else self.unasked
        odds = tuple(
            fitted.claim(claim_figures(known, read[i], answer)) if i in read else known
            for i, known in enumerate(lexical.odds)
        )
        if is_digest(answer, lexical):
            raw = self.digest(digest_figures(lexical, read, answer))
        else:
            raw = fitted.answer(answer_figures(lexical, read.values(), answer))
        return Weighed(odds=odds, least=lexical_model.least(answer, raw), raw=raw, score=raw)

    def words(self, odds: float, claim: ReadClaim) -> list[float]:
        """How likely each word of a claim is unsupported; ``odds`` are the claim's lexical ones."""
        return [self.word(figures) for figures in word_figures(odds, claim)]


def in_other_words(lexical: Weighed, answer: Answer, read: Mapping[int, ReadClaim]) -> Weighed:
    """What words tell beside the readings of claims, in another language than English.

    The encoder learnt English alone. What it makes of the worst word still tells something, of the whole
    claim little, and a score near neither end says so. Fitted as ``lexical_model.in_other_words`` is.
    """
    if not read:
        return lexical_model.in_other_words(lexical, answer)
    worst = {i: worst_word(claim.words) for i, claim in read.items()}
    odds = tuple(
        _ABROAD((logit(known), worst[i])) if i in worst else known for i, known in enumerate(lexical.odds)
    )
    raw = _ABROAD((logit(lexical.raw), max(worst.values())))
    least = tuple(seen.least for seen in answer.claims)
    return Weighed(odds=odds, least=least, raw=raw, score=raw)


def worst_word(words: Iterable[ReadWord]) -> float:
    """The log-odds that the worst of these words is not supported; of none, those of what is nearly sure."""
    return max((_against(word.reading) for word in words), default=_NEARLY_SURE)


_NEARLY_SURE = -3.0
_ABROAD = Logistic(figures=("words and facts", "worst word"), weights=(0.22, 0.32), bias=-1.39)


def is_digest(answer: Answer, lexical: Weighed) -> bool:
    """Whether a text tells over, in words of its own, a context of which less than half is in sight.

    It answers no question. In such a text a word that the context doesn't have tells little, and what is read
    of its claims more.
    """
    return not answer.asked and answer.words > _SHOWN / _HALF and freely_worded(lexical.odds) > 0


def is_brief(answer: Answer) -> bool:
    """Whether a question is answered in a few words.

    That the documents have them is no safety, for they may say them of something else; and mostly the
    encoder takes so little for more suspicious than it is.
    """
    return answer.asked and len(answer.claims) == 1 and answer.claims[0].brief


def to_read(answer: Answer, lexical: Weighed) -> tuple[int, ...]:
    """The numbers of the claims that are worth reading: the most suspicious ones, and whichever is in doubt.

    Of a short context, of which half is in sight, that words were found is no safety, and all are. A claim
    that needs no weighing is never read, but for a brief answer. What answers a question keeps to what was
    asked, and bears being read, as a digest does. Of what tells a long text over in that text's words a part
    is seen beside each claim, and the worst of many readings is mostly a mistake: the fewer are read, the
    better such texts are told apart (training/README.md).
    """
    if is_brief(answer):
        return (0,)
    bears_it = answer.asked or is_digest(answer, lexical)
    return _first(answer, lexical, _READ) if bears_it else suspected(answer, lexical)


def suspected(answer: Answer, lexical: Weighed) -> tuple[int, ...]:
    """The numbers of the claim that words suspect most, and of those in doubt; of few claims, all."""
    return _first(answer, lexical, 1)


def _first(answer: Answer, lexical: Weighed, most: int) -> tuple[int, ...]:
    open_ = [i for i, seen in enumerate(answer.claims) if seen.settled is None]
    if in_sight(answer) >= _HALF or len(open_) <= _FEW:
        return tuple(open_)
    first = sorted(open_, key=lambda i: -lexical.odds[i])[:most]
    return tuple(i for i in open_ if i in first or lexical.odds[i] >= _DOUBTED)


_READ, _DOUBTED, _HALF, _FEW = 4, 0.3, 0.5, 3


def but_for(claim: ReadClaim, known: Sequence[Span]) -> ReadClaim:
    """The reading of a claim but for words that are ``known`` to hold.

    The encoder doesn't reckon: "three" hours and 180 minutes are no match to it. Where one of these is the
    worst word, it is what the whole was doubted for, and the worst of the others is read in its place.
    """
    left = tuple(word for word in claim.words if not any(word.span.overlaps(span) for span in known))
    if len(left) == len(claim.words):
        return claim
    worst_left = min((word.reading for word in left), key=_support, default=_HOLDS)
    worst = min((word.reading for word in claim.words), key=_support)
    whole = claim.reading if worst == worst_left else worst_left
    return replace(claim, reading=whole, words=left)


def _support(reading: Reading) -> float:
    return reading.supported


_HOLDS = Reading(supported=1.0, unsupported=0.0, contradicted=0.0)


def in_sight(answer: Answer) -> float:
    """How much of the context the encoder is shown beside a claim, as it learnt to read, from 0 to 1.

    What it was not shown it can't have read, and what it was taught by is longer than a sentence or two. The
    more is in sight, the more its reading tells, and the less it tells that words were found.
    """
    return min(1.0, _SHOWN / max(1, answer.words)) * _as_taught(answer)


def _as_taught(answer: Answer) -> float:
    """How near the context comes to the length that the encoder was taught by, from 0 to 1.

    Beside a sentence or two, it takes what doesn't stand there word for word for suspicious.
    """
    return min(1.0, answer.words / _TAUGHT)


_SHOWN, _TAUGHT = 120, 40  # words


def _heard(answer: Answer) -> float:
    """How much of a reading counts for an answer to a question: half beside ten words, all from 40 on."""
    return math.sqrt(_as_taught(answer))


def claim_figures(odds: float, claim: ReadClaim, answer: Answer) -> tuple[float, ...]:
    """The figures of one claim; ``odds`` are the lexical ones.

    As ``ASKED_CLAIM_FIGURES`` names them where a question is answered, and else as ``CLAIM_FIGURES`` does.
    """
    known, against = logit(odds), _against(claim.reading)
    return (known, against * _heard(answer)) if answer.asked else _by_sight(known, against, answer)


def answer_figures(lexical: Weighed, read: Iterable[ReadClaim], answer: Answer) -> tuple[float, ...]:
    """The figures of an answer; ``lexical`` is what words tell.

    As ``ASKED_ANSWER_FIGURES`` names them where a question is answered, and else as ``ANSWER_FIGURES`` does.
    """
    known, freely = logit(lexical.raw), freely_worded(lexical.odds)
    worst, both = _worst(_against(claim.reading) for claim in read)
    if answer.asked:
        heard = worst * _heard(answer)
        return known, heard, both * _heard(answer), freely, freely * heard
    _, known_in_sight, against, seen = _by_sight(known, worst, answer)
    return known, known_in_sight, against, seen, freely, freely * known, freely * against


def brief_figures(lexical: Weighed, read: Mapping[int, ReadClaim], answer: Answer) -> tuple[float, ...]:
    """The figures of a brief answer, as ``BRIEF_FIGURES`` names them."""
    return logit(lexical.raw), _against(read[0].reading) * _heard(answer)


def digest_figures(lexical: Weighed, read: Mapping[int, ReadClaim], answer: Answer) -> tuple[float, ...]:
    """The figures of a digest, as ``DIGEST_FIGURES`` names them; ``read`` has claims by their numbers."""
    against = {i: _against(claim.reading) for i, claim in read.items()}
    of_suspected, _ = _worst(against[i] for i in suspected(answer, lexical))
    _, both = _worst(against.values())
    return logit(lexical.raw), of_suspected, both, freely_worded(lexical.odds)


def _worst(readings: Iterable[float]) -> tuple[float, float]:
    """The worst reading, and the mean of the two worst; of one, that."""
    first, *others = sorted(readings, reverse=True)
    return first, (first + (others[0] if others else first)) / 2


def freely_worded(odds: Sequence[float]) -> float:
    """How freely an answer is worded: the mean of its claims' lexical log-odds, beside what is usual.

    In an answer that is all in other words than the documents', a word that they don't have tells little, and
    what is read tells more. One claim alone tells nothing of it: 0.
    """
    if not odds:
        return 0.0
    mean = sum(max(_LEAST, logit(p)) for p in odds) / len(odds)
    return (mean - _USUAL) * (1 - 1 / len(odds))


_LEAST, _USUAL = -6.0, -2.4


def _by_sight(known: float, against: float, answer: Answer) -> tuple[float, ...]:
    seen = in_sight(answer)
    return (known, known * seen, against * seen, seen)


def word_figures(odds: float, claim: ReadClaim) -> list[tuple[float, ...]]:
    """The figures of each word, as ``WORD_FIGURES`` names them; ``odds`` are the claim's lexical ones.

    People mark phrases, and so a word is read with the two on either side of it.
    """
    read = [_against(word.reading) for word in claim.words]
    beside = [read[max(0, i - _BESIDE) : i + _BESIDE + 1] for i in range(len(read))]
    whole = (max(read, default=0.0), logit(odds))
    return [(own, sum(near) / len(near), *whole) for own, near in zip(read, beside, strict=True)]


_BESIDE = 2


def _against(reading: Reading) -> float:
    """The log-odds that it is not supported."""
    return logit(1 - reading.supported)


def unsupported_words(claim: ReadClaim, likely: Sequence[float], least: float) -> list[Span]:
    """The words that are ``likely`` unsupported, joined where at most one other word stands between them."""
    flagged = [i for i, p in enumerate(likely) if p >= least]
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
