"""What the documents are about, by name: which of these subjects a claim names, and which are siblings."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from groundwire.core.cached import cached_property
from groundwire.text import subjects
from groundwire.text.fact import Fact
from groundwire.text.facts import Known
from groundwire.text.overlap import Context, Match
from groundwire.text.subjects import Section
from groundwire.text.tokens import stem

Named = Mapping[int, AbstractSet[str]]
"""Subjects by their number, with the names that a text calls each."""


@dataclass(frozen=True)
class Subject:
    """A section of a passage, and the names of what it is about.

    ``plain`` are words that the passages write small, as those of a title that is a topic ("Support"): in
    what is no title, none of these is a name.
    """

    passage: int
    section: Section
    names: AbstractSet[str]
    plain: AbstractSet[str]
    context: Context

    @cached_property
    def unlike_words(self) -> AbstractSet[str]:
        """Its names that are no word in any form: no "Returns" where one "can return" what one bought."""
        return frozenset(name for name in self.names if self.plain.isdisjoint((name, stem(name))))

    @cached_property
    def sentences(self) -> range:
        passage, span = self.context.passages[self.passage], self.section.span
        first, last = passage.sentence_at(span.start), passage.sentence_at(span.end - 1)
        begins = not passage.sentences or passage.sentences[first].start >= span.start
        return range(first if begins else first + 1, min(last + 1, len(passage.sentences)))

    @cached_property
    def head(self) -> frozenset[str]:
        """The stems of its head."""
        return frozenset(self.context.word(self.section.head).stems)

    @cached_property
    def stems(self) -> frozenset[str]:
        worded = self.context.passages[self.passage].worded
        return frozenset(worded[i].stems[j] for i in self.sentences for j in worded[i].content)

    @cached_property
    def facts(self) -> Sequence[Fact]:
        figures = self.context.passages[self.passage].figures
        return [fact for i in self.sentences for fact in figures[i] if not fact.soft]

    @cached_property
    def mentions(self) -> frozenset[str]:
        return subjects.mentioned(self.section.span.of(self.context.passages[self.passage].text))


class Subjects:
    """The subjects of the documents, worked through once for all claims of an answer."""

    def __init__(self, context: Context, question: str, given: Known) -> None:
        """``given`` are the question's facts."""
        self.context, self.question, self.given = context, question, given
        self._known: dict[tuple[int, int, bool], bool] = {}
        self._read: dict[str, Named] = {}
        self._may_name: dict[str, frozenset[str]] = {}

    def _first(self, numbers: AbstractSet[int]) -> int:
        """The one that comes first by its head, whatever the order of the passages."""
        return min(numbers, key=lambda number: (self._subjects[number].section.head, number))

    def _told_apart(self, home: int, who: AbstractSet[int]) -> tuple[str, str]:
        """What a reason calls a sibling and the one that a claim is about."""
        one, other = self._subjects[home].section, self._subjects[self._first(who)].section
        return one.title_beside(other), other.title_beside(one)

    def _foreign(
        self, homes: AbstractSet[int], who: AbstractSet[int], text: str, *, loosely: bool = False
    ) -> bool:
        """Whether all ``homes`` are siblings of those of whom a claim ``text`` says something.

        And the claim names them as those ``homes`` don't, and none of these unless by its name.
        """
        mentioned, named = self._words_of(text), self._named(text)
        for number in who:
            names = self._subjects[number].names
            for home in homes:
                other = self._subjects[home]
                calls = names - other.section.names
                calls = calls & mentioned if named else calls
                alike = self._alike(home, number, loosely)
                if not calls or not calls.isdisjoint(other.mentions) or not alike:
                    return False
        return bool(homes)

    def _alike(self, one: int, other: int, loosely: bool) -> bool:
        """Whether two subjects are siblings; ``loosely``, whether they may be."""
        key = (min(one, other), max(one, other), loosely)
        if key not in self._known:
            a, b = self._subjects[one], self._subjects[other]
            shared = len(a.stems & b.stems) / max(1, min(len(a.stems), len(b.stems)))
            built_alike = a.section.is_built_like(b.section)
            one_has, other_has = (a.names, b.names) if built_alike else (a.unlike_words, b.unlike_words)
            told = one_has - b.names and other_has - a.names
            self._known[key] = bool(told) and shared >= _least_shared(a.section, b.section, loosely)
        return self._known[key]

    def _named(self, text: str) -> Named:
        """The subjects that a text names, but for those that another of them has all the same names of."""
        if text not in self._read:
            self._read[text] = self._names_in(text)
        return self._read[text]

    def _words_of(self, text: str) -> frozenset[str]:
        """All that may be a name in a text: a claim is looked at beside each section."""
        if text not in self._may_name:
            self._may_name[text] = subjects.mentioned(text)
        return self._may_name[text]

    def _names_in(self, text: str) -> Named:
        lowered = text.casefold()
        if not any(word in lowered for word in self._tell):
            return {}
        found: dict[int, set[str]] = {}
        for name in subjects.named(text) & self._by_name.keys():
            for number in self._by_name[name]:
                found.setdefault(number, set()).add(name)
        if len(found) > _MANY:
            return {}
        return {
            number: names
            for number, names in found.items()
            if not any(names < others for others in found.values())
        }

    def _about(self, text: str) -> Named:
        """The subjects that a claim names but to set another off from them: "unlike Pro"."""
        return self._named(_SET_OFF.sub(" ", text))

    def _mentions(self, text: str, other: int, who: AbstractSet[int]) -> bool:
        """Whether a claim about some calls another by a name of its own, be it written small."""
        own = frozenset().union(*(self._subjects[number].names for number in who))
        return not self._words_of(_SET_OFF.sub(" ", text)).isdisjoint(self._subjects[other].names - own)

    def _gone_on(self, text: str, before: str) -> Named:
        """Whom a claim without a name goes on about: the only one that the statement before names.

        Or, for the first one, the question.
        """
        if OTHER.search(text) or (before and not _PRONOUN.match(text)):
            return {}
        named = self._named(before or self.question)
        return named if are_one(named) else {}

    def _everyone(self, text: str) -> Named:
        """All subjects, of a claim that names none and is about as many as there are: "both", "all three"."""
        every = EVERY.search(text)
        if every is None or len(self._subjects) != _COUNTS[every[1].lower()]:
            return {}
        return {number: subject.names for number, subject in enumerate(self._subjects)}

    def _home(self, fact: Fact) -> int | None:
        at = self.context.place_of(fact)
        return None if at is None else self._at(at)

    def _at(self, match: Match) -> int | None:
        return self._number(match.passage, match.sentence)

    def _number(self, passage: int, sentence: int) -> int | None:
        """The subject that a sentence belongs to; None where it has no name."""
        numbers, starts = self._starts.get(passage, ((), ()))
        at = bisect_right(starts, self.context.passages[passage].sentences[sentence].start) - 1
        number = numbers[max(0, at)] if numbers else None
        return number if number is not None and self._subjects[number].names else None

    @cached_property
    def _subjects(self) -> Sequence[Subject]:
        found = [
            (number, section)
            for number, passage in enumerate(self.context.passages)
            for section in subjects.sections(passage.text)
        ]
        plain = frozenset().union(*(section.lowered for _, section in found))
        return [
            Subject(
                passage=number,
                section=section,
                names=section.names - (frozenset() if section.titled else plain),
                plain=plain,
                context=self.context,
            )
            for number, section in found
        ]

    @cached_property
    def _starts(self) -> Mapping[int, tuple[Sequence[int], Sequence[int]]]:
        """By passage, the numbers of its subjects and where they begin."""
        found: dict[int, tuple[list[int], list[int]]] = {}
        for number, subject in enumerate(self._subjects):
            numbers, starts = found.setdefault(subject.passage, ([], []))
            numbers.append(number)
            starts.append(subject.section.span.start)
        return found

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[int]]:
        """The subjects by each name that not all of them have."""
        found: dict[str, list[int]] = {}
        named = [number for number, subject in enumerate(self._subjects) if subject.names]
        for number in named:
            for name in self._subjects[number].names:
                found.setdefault(name, []).append(number)
        return {name: numbers for name, numbers in found.items() if len(numbers) < len(named)}

    @cached_property
    def _tell(self) -> frozenset[str]:
        """The last word of each name: a text without any of them names nobody."""
        return frozenset(name.rpartition(" ")[2] for name in self._by_name)


def _least_shared(one: Section, other: Section, loosely: bool) -> float:
    """The share of their words that two sections about siblings have in common.

    Their heads are of one build, or nothing but names.
    """
    if one.is_built_like(other):
        return _LITTLE if loosely else _MUCH
    return _SOME if one.is_name and other.is_name else math.inf


def are_one(named: Named) -> bool:
    """Whether a text calls all that it names by the same names: parts of what is said of one subject."""
    return len(set(map(frozenset, named.values()))) == 1


_COUNTS = {"both": 2, "all two": 2, "all three": 3, "all four": 4, "all five": 5}
EVERY = re.compile(rf"\b({'|'.join(_COUNTS)})\b", re.IGNORECASE)
# What may be about one that is not named.
OTHER = re.compile(
    r"\b(?:others?|another|neither|only|next|rivals?|former|latter|cheaper|"
    r"dearer|smaller|larger|bigger|older|newer|lower|higher|shorter|longer|faster|slower|"
    r"ander\w+|nur|autres?|seulement|seule?|otr[oa]s?|solo|altr[oaie]|outr[oa]s?|só|alleen)\b",
    re.IGNORECASE,
)
# What is said to be as in another: an amendment leaves the deposit of the lease.
CARRIED_OVER = re.compile(
    r"\b(?:unchanged|as (?:it was|they were|before)|(?:stay|remain)(?:s|ed) (?:at|as|the same)|still)\b",
    re.IGNORECASE,
)
# With a figure, it is said of the other, too: "compared with 4 hours for".
_SET_OFF = re.compile(
    r"\b(?:unlike|instead of|rather than|as opposed to|in contrast to|compared (?:with|to))\b"
    r"(?![^,;.]{0,60}\d)(?: [\w'’.-]+){1,4}",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"(?:It|Its|It's|He|His|She|Her|They|Their|This|That)\b")
_MANY = 24
_MUCH, _SOME, _LITTLE = 0.3, 0.2, 0.05
