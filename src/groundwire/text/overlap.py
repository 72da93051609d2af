"""Which words of one text are in another: passages prepared once, and looked up by stem.

Everything here is about words alone. What exact facts say is ``facts``' business, and what an overlap
means for an answer is the detectors'.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from groundwire.core.span import Span
from groundwire.text import facts, sentences, tokens
from groundwire.text.facts import Fact

# "false" and "null" are how a record says no.
NEGATIONS = frozenset(
    [
        "not",
        "no",
        "never",
        "none",
        "nor",
        "nothing",
        "neither",
        "cannot",
        "without",
        "nobody",
        "nowhere",
        "false",
        "null",
        "isn't",
        "aren't",
        "wasn't",
        "weren't",
        "don't",
        "doesn't",
        "didn't",
        "won't",
        "wouldn't",
        "can't",
        "couldn't",
        "shouldn't",
        "hasn't",
        "haven't",
        "hadn't",
        "mustn't",
        "needn't",
        "ain't",
        "nicht",
        "kein",
        "keine",
        "keinen",
        "keiner",
        "nie",
        "non",
        "pas",
        "jamais",
        "aucun",
        "aucune",
        "nunca",
        "não",
        "ningún",
        "mai",
        "nessun",
    ]
)


@dataclass(frozen=True, slots=True)
class Worded:
    """A stretch of text as words: folded forms and stems side by side, and which of them carry content.

    ``negated`` are the content stems that a "not" or the like is about: the one after it, or else before.
    """

    words: tuple[tokens.Word, ...]
    folded: tuple[str, ...]
    stems: tuple[str, ...]
    content: tuple[int, ...]
    negated: frozenset[str]


def word(text: str) -> Worded:
    """The words of ``text``; a content word is no function word, and no negation."""
    found = tuple(tokens.words(text))
    forms = [_forms.get(w[0]) or _form(w[0]) for w in found]
    folded = tuple([f[0] for f in forms])
    stems = tuple([f[1] for f in forms])
    content = tuple([i for i, f in enumerate(forms) if f[2]])
    negated = frozenset() if NEGATIONS.isdisjoint(folded) else _negated(folded, stems, content)
    return Worded(words=found, folded=folded, stems=stems, content=content, negated=negated)


def _negated(folded: Sequence[str], stems: Sequence[str], content: Sequence[int]) -> frozenset[str]:
    found: list[str] = []
    for i, form in enumerate(folded):
        if form in NEGATIONS:
            found += [stems[j] for j in content if i < j <= i + _REACH][:1] or [
                stems[j] for j in content if j < i
            ][-1:]
    return frozenset(found)


def _form(text: str) -> tuple[str, str, bool]:
    folded = tokens.fold(text)
    form = (folded, tokens.stem(folded), folded not in _EMPTY)
    if len(_forms) >= _FORMS:
        _forms.clear()
    _forms[text] = form
    return form


# How many words a negation reaches over to the word that it is about.
_REACH = 4
_EMPTY = tokens.STOP_WORDS | NEGATIONS
# A word is written the same way again and again: its forms are looked up, not worked out. Plain dict
# operations are atomic, and a form that two threads work out is the same form.
_FORMS = 1 << 17
_forms: dict[str, tuple[str, str, bool]] = {}


@dataclass(frozen=True)
class Prepared:
    """One passage, worked through once: its sentences as words, and where each stem stands."""

    text: str
    sentences: tuple[Span, ...]
    worded: tuple[Worded, ...]

    @cached_property
    def folded(self) -> frozenset[str]:
        return frozenset(f for sentence in self.worded for f in sentence.folded)

    @cached_property
    def postings(self) -> dict[str, tuple[int, ...]]:
        """Content stem -> the sentences it stands in, ascending."""
        found: dict[str, list[int]] = {}
        for i, sentence in enumerate(self.worded):
            stems = sentence.stems
            for stem in {stems[j] for j in sentence.content}:
                found.setdefault(stem, []).append(i)
        return {stem: tuple(places) for stem, places in found.items()}

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Stems that stand side by side in a sentence, function words included."""
        return frozenset(pair for s in self.worded for pair in zip(s.stems, s.stems[1:], strict=False))

    @cached_property
    def triples(self) -> frozenset[tuple[str, str, str]]:
        return frozenset(t for s in self.worded for t in zip(s.stems, s.stems[1:], s.stems[2:], strict=False))

    @cached_property
    def facts(self) -> tuple[tuple[Fact, ...], ...]:
        """The exact facts of each sentence."""
        by_sentence: list[list[Fact]] = [[] for _ in self.sentences]
        i = 0
        for fact in facts.extract(self.text):
            while i + 1 < len(self.sentences) and self.sentences[i].end <= fact.span.start:
                i += 1
            if by_sentence:
                by_sentence[i].append(fact)
        return tuple(map(tuple, by_sentence))


def prepare(text: str) -> Prepared:
    """The passage worked through; the same text is worked through once while it is remembered."""
    with _lock:
        known = _remembered.get(text)
        if known is not None:
            _remembered.move_to_end(text)
            return known
    spans = tuple(sentences.split(text))
    made = Prepared(text=text, sentences=spans, worded=tuple(word(text[s.start : s.end]) for s in spans))
    if len(text) <= _REMEMBERED_TEXT // 4:
        _remember(made)
    return made


def _remember(made: Prepared) -> None:
    global _size  # noqa: PLW0603 - the memory is one for the process, as the passages are
    with _lock:
        if made.text in _remembered:
            return
        _remembered[made.text] = made
        _size += len(made.text) + _ENTRY
        while _size > _REMEMBERED_TEXT:
            text, _ = _remembered.popitem(last=False)
            _size -= len(text) + _ENTRY


def forget() -> None:
    """Empty the memory of prepared passages, for measurements."""
    global _size  # noqa: PLW0603
    with _lock:
        _remembered.clear()
        _size = 0


# In characters of passages; a prepared passage takes about a hundred times its text in bytes.
_REMEMBERED_TEXT = 1_000_000
_ENTRY = 200
_remembered: OrderedDict[str, Prepared] = OrderedDict()
_size = 0
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Match:
    """A context sentence and the weight of the stems it shares with a claim."""

    passage: int
    sentence: int
    weight: float


class Context:
    """All passages of one interaction, seen together. Nothing here depends on their order."""

    def __init__(self, passages: Sequence[str]) -> None:
        self.passages = tuple(map(prepare, passages))
        self.sentences = sum(len(p.sentences) for p in self.passages)
        self._heaviest = math.log(self.sentences + 1.5)

    def weight(self, stem: str) -> float:
        """Inverse document frequency over the context's sentences: near 0 where every one has the stem."""
        places = self.places(stem)
        return self._heaviest - math.log(places + 0.5) if places else self._heaviest

    def places(self, stem: str) -> int:
        return sum(len(p.postings.get(stem, ())) for p in self.passages)

    def has(self, stem: str) -> bool:
        return any(stem in p.postings for p in self.passages)

    def spells(self, folded: str) -> bool:
        return any(folded in p.folded for p in self.passages)

    def best(self, weights: dict[str, float], limit: int = 5) -> list[Match]:
        """The sentences that share the most weight with ``weights``, best first.

        Among equals the longer text wins nothing: ties are broken by the sentence's own words, so that
        the order of the passages decides nothing.
        """
        scores: dict[tuple[int, int], float] = {}
        for p, passage in enumerate(self.passages):
            postings = passage.postings
            for stem, weight in weights.items():
                places = postings.get(stem, ())
                if len(places) <= _TOO_COMMON:
                    for s in places:
                        scores[p, s] = scores.get((p, s), 0.0) + weight
        if not scores:
            return []
        top = sorted(scores.items(), key=self._rank)[:limit]
        return [Match(p, s, weight) for (p, s), weight in top]

    def _rank(self, item: tuple[tuple[int, int], float]) -> tuple[float, int, str]:
        (p, s), weight = item
        sentence = self.passages[p].worded[s]
        text = " ".join(sentence.folded[:12])
        return (-round(weight, 9), len(sentence.stems), text)


# A stem in more sentences than this of one passage tells none of them from the others.
_TOO_COMMON = 2_000
