"""Which words of one text are in another: passages prepared once, and looked up by stem.

Everything here is about words alone. What exact facts say is ``facts``' business, and what an overlap
means for an answer is the detectors'.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain

from groundwire.core.cached import cached_property
from groundwire.core.span import Span
from groundwire.text import abroad, facts, flags, language, sentences, tokens
from groundwire.text.facts import Fact, Known
from groundwire.text.flags import Flag
from groundwire.text.headed import with_units
from groundwire.text.remembered import Remembered
from groundwire.text.worded import Worded, in_language, pairs, placeless, word


@dataclass(frozen=True)
class Prepared:
    """One passage, worked through once: its sentences as words, and where each stem stands."""

    text: str
    sentences: tuple[Span, ...]
    worded: tuple[Worded, ...]

    @cached_property
    def size(self) -> int:
        """How many words."""
        return sum([len(sentence.folded) for sentence in self.worded])

    @property
    def language(self) -> str | None:
        """The language it is written in, where that can be told."""
        return self._languages[0]

    @property
    def plainly(self) -> str | None:
        """English or which other, told by more than names: "Rio de Janeiro, Los Angeles" is no Spanish."""
        return self._languages[1]

    @cached_property
    def _languages(self) -> tuple[str | None, str | None]:
        heard = language.Heard(language.small(self.text))
        return heard.language(least=_TELLS), heard.language(least=_TELLS_PLAINLY, english=True)

    @cached_property
    def content(self) -> frozenset[tuple[str, str]]:
        """Each content word, folded, and its stem."""
        return frozenset((s.folded[i], s.stems[i]) for s in self.worded for i in s.content)

    @cached_property
    def short(self) -> int:
        """How many sentences are short, as the rows of a table are."""
        return sum([len(sentence.folded) <= _SHORT for sentence in self.worded])

    @cached_property
    def folded(self) -> frozenset[str]:
        return frozenset().union(*(sentence.folded for sentence in self.worded))

    @cached_property
    def postings(self) -> dict[str, list[int]]:
        """Content stem -> the sentences it stands in, ascending."""
        found: dict[str, list[int]] = {}
        for i, sentence in enumerate(self.worded):
            stems = sentence.stems
            for stem in {stems[j] for j in sentence.content}:
                if stem in found:
                    found[stem].append(i)
                else:
                    found[stem] = [i]
        return found

    @cached_property
    def pairs(self) -> frozenset[str]:
        """Stems that stand side by side in a sentence, function words included; see ``pairs``."""
        return frozenset().union(*(pairs(sentence.stems) for sentence in self.worded))

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

    @cached_property
    def figures(self) -> tuple[tuple[Fact, ...], ...]:
        """The exact facts of each sentence; those of a table once more with the unit that heads them."""
        by_sentence = [list(found) for found in self.facts]
        for i, fact in with_units(self.text, self.facts):
            by_sentence[i].append(fact)
        return tuple(map(tuple, by_sentence))

    @cached_property
    def flags(self) -> tuple[tuple[Flag, int], ...]:
        """The yes-and-no entries of its records, each with the sentence that it begins in."""
        return tuple((flag, self.sentence_at(flag.span.start)) for flag in flags.find(self.text))

    def sentence_at(self, place: int) -> int:
        """The number of the sentence that has the character at ``place``, or else of the one before it."""
        return max(0, bisect_right(self._begin, place) - 1)

    @cached_property
    def _begin(self) -> list[int]:
        return [span.start for span in self.sentences]


_SHORT = 6
# So many function words of one language tell it, as a short passage has them.
_TELLS, _TELLS_PLAINLY = 2, 3


def prepare(text: str) -> Prepared:
    """The passage worked through; the same text is worked through once while it is remembered."""
    return _PASSAGES.of(text)


def forget() -> None:
    """Empty the memory of prepared passages, for measurements."""
    _PASSAGES.forget()


def _prepared(text: str) -> Prepared:
    spans = tuple(sentences.split(text))
    return Prepared(
        text=text,
        sentences=spans,
        worded=tuple([placeless(said) for said in (span.of(text) for span in spans)]),
    )


# In characters of passages; a prepared passage takes about a hundred times its text in bytes.
_PASSAGES = Remembered(_prepared, most=1_000_000)


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
        self.starts = list(accumulate((len(p.sentences) for p in self.passages), initial=0))
        self.size = sum(passage.size for passage in self.passages)
        """How many words."""
        self._heaviest = math.log(self.starts[-1] + 1.5)
        self._places: dict[str, list[int]] = {}
        numbered = zip(self.starts, self.passages, strict=False)
        # Passages that don't bear on an answer are left empty: nothing is looked for in these.
        self._said = [(start, passage) for start, passage in numbered if passage.sentences]
        self._merged = len(self._said) > _FEW_PASSAGES
        if self._merged:
            for start, passage in self._said:
                for stem, places in passage.postings.items():
                    self._places.setdefault(stem, []).extend([start + s for s in places])

    def places(self, stem: str) -> Sequence[int]:
        """The sentences with a content stem, numbered through all passages."""
        known = self._places.get(stem)
        if known is None and not self._merged:
            known = [start + s for start, passage in self._said for s in passage.postings.get(stem, ())]
            self._places[stem] = known
        return known or ()

    @cached_property
    def language(self) -> str | None:
        """The language that most of the passages' words are in, where that can be told."""
        told: Counter[str] = Counter()
        left = self.size
        for passage in sorted(self.passages, key=lambda one: -one.size):
            first, second, *_ = *sorted(told.values(), reverse=True), 0, 0
            if first > second + left:
                break
            left -= passage.size
            if passage.plainly is not None:
                told[passage.plainly] += passage.size
        return min(told, key=lambda spoken: (-told[spoken], spoken), default=None)

    def word(self, text: str) -> Worded:
        """The words of ``text``, as they are to be looked up here.

        In another language than English, words without content are told by that language, and a word that no
        passage has stands under the stem of one that its language inflects from the same.
        """
        worded, spoken = word(text), self.language
        if spoken not in abroad.EMPTY or language.guess(language.small(text), least=_TELLS) == "English":
            return worded
        worded = in_language(worded, text, spoken)
        inflected = {
            stem: self._inflected.get(abroad.stem(folded, spoken), stem)
            for folded, stem in zip(worded.folded, worded.stems, strict=True)
            if not self.places(stem)
        }
        return replace(
            worded,
            stems=tuple([inflected.get(stem, stem) for stem in worded.stems]),
            negated=frozenset([inflected.get(stem, stem) for stem in worded.negated]),
        )

    @cached_property
    def _inflected(self) -> dict[str, str]:
        """By a word's stem in the passages' language, the stem that they have it under."""
        spoken, found = self.language or "", dict[str, str]()
        for folded, stem in frozenset().union(*(passage.content for passage in self.passages)):
            inflected = abroad.stem(folded, spoken)
            found[inflected] = min(stem, found.get(inflected, stem))
        return found

    def weight(self, stem: str) -> float:
        """Inverse document frequency over the context's sentences: near 0 where every one has the stem."""
        places = self.places(stem)
        return self._heaviest - math.log(len(places) + 0.5) if places else self._heaviest

    @cached_property
    def spelled(self) -> Container[str]:
        """Every word of the passages, folded."""
        return _Any([passage.folded for _, passage in self._said])

    @cached_property
    def pairs(self) -> Container[str]:
        return _Any([passage.pairs for _, passage in self._said])

    @cached_property
    def flags(self) -> dict[str, list[tuple[Flag, Match]]]:
        """What records answer with yes, no or nothing, by the stems of what is asked, whole and short."""
        found: dict[str, list[tuple[Flag, Match]]] = {}
        for p, passage in enumerate(self.passages):
            for flag, sentence in passage.flags:
                for name in {flag.key, flag.short}:
                    found.setdefault(name, []).append((flag, Match(p, sentence, 0.0)))
        return found

    def sentence(self, match: Match) -> Worded:
        """The words of a matched sentence, by the language of its passage."""
        passage = self.passages[match.passage]
        worded, spoken = passage.worded[match.sentence], passage.plainly or self.language
        if spoken not in abroad.EMPTY:
            return worded
        return in_language(worded, passage.sentences[match.sentence].of(passage.text), spoken)

    def figures_of(self, match: Match) -> tuple[Fact, ...]:
        """The exact facts of a matched sentence, and those of a table's row with the units above it."""
        return self.passages[match.passage].figures[match.sentence]

    def facts_of(self, match: Match) -> Sequence[Fact]:
        """The exact facts of a matched sentence."""
        return self.passages[match.passage].facts[match.sentence]

    def facts(self) -> Iterator[Fact]:
        """The exact facts of all passages."""
        return (fact for passage in self.passages for found in passage.figures for fact in found)

    # Reading the facts of a long context is a fifth of all work: only done for an answer that has some.
    @cached_property
    def known(self) -> Known:
        """These facts, arranged to be looked up."""
        return Known(self.facts())

    def place_of(self, fact: Fact) -> Match | None:
        """The sentence that one of the passages' own facts stands in; None for any other fact."""
        return self._stands.get(id(fact))

    @cached_property
    def _stands(self) -> dict[int, Match]:
        return {
            id(fact): Match(p, i, 0.0)
            for p, passage in enumerate(self.passages)
            for i, found in enumerate(passage.figures)
            for fact in found
        }

    def match_at(self, passage: int, place: int) -> Match:
        """The sentence of a passage that has the character at ``place``, or else the one before it."""
        return Match(passage, self.passages[passage].sentence_at(place), 0.0)

    def window(self, match: Match, before: int, after: int) -> Sequence[Worded]:
        """A matched sentence with some of its neighbours."""
        worded = self.passages[match.passage].worded
        return worded[max(0, match.sentence - before) : match.sentence + 1 + after]

    def foreign(self, said: Iterable[str]) -> bool:
        """Whether what is said is in one language, and most passages are in others.

        Never where the passages have half of the words, for then they can be compared, whatever they are; nor
        where a single statement is in a passage's language: nothing goes unread for what stands beside it.
        """
        said = list(said)
        each = [language.small(text) for text in said]
        spoken = language.guess(chain.from_iterable(each), least=_TELLS)
        if spoken is None:
            return False
        if any(passage.language == spoken for passage in self.passages):  # mostly told by the first one
            return False
        theirs = [passage.language for passage in self.passages if passage.language is not None]
        if any(language.guess(words, least=_TELLS) in theirs for words in each):
            return False
        words = [word for text in said for word in language.spoken(text)]
        content = [word for word in words if word[0].isalpha() and word not in tokens.STOP_WORDS]
        return (
            len(theirs) > len(self.passages) / 2
            and sum(w in self.spelled for w in content) < len(content) / 2
        )

    def best(self, weights: dict[str, float], limit: int = 5) -> list[Match]:
        """The sentences that share the most weight with ``weights``, best first.

        Ties go to the shorter sentence, then by its words, so that the order of the passages decides
        nothing.
        """
        scores: dict[int, float] = {}
        for stem, weight in weights.items():
            places = self.places(stem)
            if len(places) <= _TOO_COMMON:
                for place in places:
                    scores[place] = scores.get(place, 0.0) + weight
        if len(scores) > limit:
            least = sorted(scores.values(), reverse=True)[limit - 1] - _TIE
            scores = {place: weight for place, weight in scores.items() if weight >= least}
        shortest = self._shortest
        ranked = sorted(scores.items(), key=lambda item: (-round(item[1], 9), shortest[item[0]]))[:limit]
        return [Match(*self.at(place), weight) for place, weight in ranked]

    def best_passage(self, weights: dict[str, float]) -> float:
        """The most weight that one passage has of ``weights``."""
        items = weights.items()
        shares = (sum([w for stem, w in items if stem in p.postings]) for _, p in self._said)
        return max(shares, default=0.0)

    @cached_property
    def _shortest(self) -> list[int]:
        """Where each sentence comes among all of them, the shorter first, then by words; the same are equal.

        Ordered once: many claims may each share a word with as many sentences.
        """
        said = [worded.folded for passage in self.passages for worded in passage.worded]
        order = {one: i for i, one in enumerate(sorted(set(said), key=lambda one: (len(one), one)))}
        return [order[one] for one in said]

    def at(self, place: int) -> tuple[int, int]:
        """The passage and the sentence in it that ``places`` numbers so."""
        p = bisect_right(self.starts, place) - 1
        return p, place - self.starts[p]


class _Any(Container[str]):
    """Several sets as one: looked through where they are few, united where they are many."""

    def __init__(self, sets: Sequence[frozenset[str]]) -> None:
        self._sets = sets if len(sets) <= _FEW_PASSAGES else [frozenset().union(*sets)]

    def __contains__(self, item: object) -> bool:
        for one in self._sets:  # noqa: SIM110 - this is asked a hundred times an answer: any() is half as fast
            if item in one:
                return True
        return False


# Up to so many passages, looking a word up in each is less work than merging them.
_FEW_PASSAGES = 24
_TIE = 1e-9
# A stem in more sentences than this tells none of them from the others.
_TOO_COMMON = 2_000
