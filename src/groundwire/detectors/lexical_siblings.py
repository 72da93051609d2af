"""What a claim says of one thing that the documents say of its sibling: one plan's price for another.

Passages, or sections of one, are about siblings where each has a name at its head that the other has not and
they speak of the same in many of the same words. Only what stands in siblings alone is told: never what a
text about the claim's own subject has too, or one that names it, or one of which nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice, pairwise

from groundwire.core.span import Span
from groundwire.detectors.lexical_figures import Looked
from groundwire.detectors.lexical_subjects import CARRIED_OVER, EVERY, OTHER, Named, Subjects, are_one
from groundwire.text import clauses, facts
from groundwire.text.fact import Fact, Kind
from groundwire.text.facts import Status
from groundwire.text.forms import NEGATIONS
from groundwire.text.overlap import Match
from groundwire.text.worded import word


@dataclass(frozen=True, kw_only=True, slots=True)
class Borrowed:
    """What a claim says in ``words`` that is another's: whose, and of whom it says it.

    ``nearest`` is the figure that its own subject has in that place, if it has one. ``where`` is that one's
    sentence, or else the one that has what is borrowed.
    """

    words: Span
    fact: Fact | None
    nearest: Fact | None
    whose: str
    of: str
    where: Match


@dataclass(frozen=True, kw_only=True, slots=True)
class Apart:
    """The ``passages`` without siblings of what a claim is about, one of which has in ``where`` what it says.

    ``whose`` that is, and ``of`` whom the claim says it.
    """

    passages: tuple[str, ...]
    whose: str
    of: str
    where: Match


class Siblings(Subjects):
    """What claims say of one of the documents' subjects that is another's."""

    def apart(self, text: str, above: Sequence[str]) -> Apart | None:
        """The passages without siblings of the one subject that the claim ``text`` is about.

        ``above`` are the statements before it, last one first. None where these passages, too, have what a
        sibling's sentence has of the claim's words, or where it is about none or several.
        """
        if not self._by_name or CARRIED_OVER.search(text):
            return None
        named = self._about(text)
        loosely = bool(named) or _GOES_ON.search(text) is not None
        if not named and not OTHER.search(text):
            named = next(filter(None, map(self._named, [*above, self.question])), {})
        if not are_one(named):
            return None
        who, own = named.keys(), self._stems_of(named.keys())
        w = self.context.word(text)
        lacking = {w.stems[i] for i in w.content if w.words[i].text.casefold() not in self._by_name} - own
        lacking -= {stem for stem in self.context.word(self.question).stems if stem[0].isdigit()}
        for match in self._sentences_with(sorted(lacking)):
            home = self._at(match)
            found = lacking.intersection(self.context.sentence(match).stems)
            tells = len(found) >= _TELLING or any(stem[0].isdigit() for stem in found)
            if home is None or home in who or not tells or not lacking.isdisjoint(self._subjects[home].head):
                continue
            if self._mentions(text, home, who):
                continue
            said = [set(self.context.places(stem)) for stem in found]
            homes = _all_known(self._number(*self.context.at(place)) for place in set.intersection(*said))
            if self._foreign(homes, who, text, loosely=loosely):
                whose, of = self._told_apart(home, who)
                without = self._without_siblings(who, text, loosely)
                return Apart(passages=without, whose=whose, of=of, where=match)
        return None

    def _without_siblings(self, who: AbstractSet[int], text: str, loosely: bool) -> tuple[str, ...]:
        left = [passage.text for passage in self.context.passages]
        for number, subject in reversed(list(enumerate(self._subjects))):
            if number not in who and self._foreign({number}, who, text, loosely=loosely):
                span, known = subject.section.span, left[subject.passage]
                left[subject.passage] = known[: span.start] + known[span.end :]
        return tuple(left)

    def borrowed(self, text: str, looked: Sequence[Looked], before: str) -> Borrowed | None:
        """The first thing that the claim ``text``, which follows on ``before``, says of the wrong sibling."""
        if not self._by_name or CARRIED_OVER.search(text):
            return None
        named = self._about(text) or self._everyone(text) or self._gone_on(text, before)
        if not named:
            return None
        stated = [fact for fact, _, _ in looked if not fact.soft]
        for fact, checked, _ in looked if len(looked) <= _MANY else ():
            if fact.soft or checked.status is not Status.FOUND or checked.derived is not None:
                continue
            if (found := self._figure(text, fact, stated, named)) is not None:
                return found
        return self._words(text, named)

    def _figure(self, text: str, fact: Fact, stated: Sequence[Fact], named: Named) -> Borrowed | None:
        """A figure that only siblings have of those of whom it is said, if the claim has none of theirs."""
        equal = list(islice(self.context.known.equal(fact), _LOOKED_AT))
        homes = _all_known(map(self._home, equal))
        if not homes or len(equal) == _LOOKED_AT or self._is_no_statement(text, fact):
            return None
        who = self._said_of(text, fact, named, homes)
        if not who or not self._foreign(homes, who, text):
            return None
        home = self._first(homes)
        there = next(one for one in equal if self._home(one) == home)
        own = [one for number in who for one in self._subjects[number].facts if facts.comparable(fact, one)]
        told = any(facts.agree(mine, one) for mine in stated if mine is not fact for one in own)
        counts = fact.kind is not Kind.NUMBER or _count_the_same(fact, there)
        nearest = _in_its_place(there, own)
        place = self.context.place_of(nearest or there)
        if told or not counts or place is None:
            return None
        whose, of = self._told_apart(home, who)
        return Borrowed(words=fact.span, fact=fact, nearest=nearest, whose=whose, of=of, where=place)

    def _is_no_statement(self, text: str, fact: Fact) -> bool:
        """Whether a figure is a name or the asker's own, or denied, supposed or held against another."""
        if fact.text.casefold() in self._by_name or self.given.has(fact):
            return True
        at = fact.span.start
        return _denies(text, fact) or _HELD_AGAINST.search(text[max(0, at - _NEAR) : at]) is not None

    def is_of_another(self, text: str, where: Match) -> bool:
        """Whether a sentence is about a sibling of the one that the claim ``text`` names."""
        home, who = self._at(where), self._named(text).keys()
        return home is not None and bool(who) and self._foreign({home}, who, text)

    def _said_of(self, text: str, fact: Fact, named: Named, homes: AbstractSet[int]) -> AbstractSet[int]:
        """Of whom a figure is said: the one named before it in its clause, or else all that the claim names.

        None where some of these have it, unless it is said of all of them.
        """
        start, clause = _clause(text, fact.span)
        head = clause[: fact.span.start - start]
        if OTHER.search(text) and not self._named(head):
            return frozenset()
        if self._is_of_all(text[: start + len(clause)]):
            return named.keys() - homes
        who: AbstractSet[int] = named.keys()
        if not are_one(named):
            here, there = self._named(head), self._named(clause)
            if not there and not _COMPARES.search(text, 0, fact.span.start):
                here = there = self._named(text[: fact.span.start])
            if here and are_one(there):
                who = here.keys()
        return who if who.isdisjoint(homes) else frozenset()

    def _is_of_all(self, text: str) -> bool:
        """Whether a text says of both or all what it ends with, and names none after that but all at once."""
        last = next(reversed(list(EVERY.finditer(text))), None)
        if last is None or _BOTH_AND.match(text, last.start()):
            return False
        before = _BEFORE.search(text, 0, last.start())
        if before and before[1].casefold() not in self._by_name.keys() | _OF:
            return False
        first, rest = _cut(text[last.end() :])
        return not self._named(rest) and not are_one(self._named(first))

    def _words(self, text: str, named: Named) -> Borrowed | None:
        """What a claim says over again of a sentence about a sibling, in words that its own subject lacks."""
        for start, stretch in self._stretches(text):
            said = self._named(stretch) or named
            of_all = self._is_of_all(stretch)
            if not (of_all or are_one(said)):
                continue
            w = self.context.word(stretch)
            told = [w.stems[i] for i in w.content if w.words[i].text.casefold() not in self._by_name]
            told = list(dict.fromkeys(told))
            for match in self._sentences_with(told):
                home = self._at(match)
                who = said.keys() - {home} if of_all else said.keys()
                if home is None or home in who or not who:
                    continue
                sentence, own = self.context.sentence(match), self._stems_of(who)
                shared = [stem for stem in told if stem in sentence.stems]
                lacking = [stem for stem in shared if stem not in own]
                if len(lacking) < max(_LEAST, _MOST * len(shared)) or len(shared) < _HALF * len(told):
                    continue
                if bool(sentence.negated) != bool(w.negated):
                    continue
                if self._foreign(self._homes_of(lacking), who, text):
                    whose, of = self._told_apart(home, who)
                    words = Span(start, start + len(stretch.rstrip()))
                    return Borrowed(words=words, fact=None, nearest=None, whose=whose, of=of, where=match)
        return None

    def _homes_of(self, stems: Sequence[str]) -> AbstractSet[int]:
        """The subjects that have some words; none where one stands where nothing is known of a subject."""
        if any(len(self.context.places(stem)) > _LOOKED_AT for stem in stems):
            return frozenset()
        places = {self.context.at(place) for stem in stems for place in self.context.places(stem)}
        return _all_known(self._number(*place) for place in places)

    def _stretches(self, text: str) -> Iterator[tuple[int, str]]:
        """A claim cut before each clause, but the first, that names a subject."""
        starts = [start for start, clause in _clauses(text) if self._named(clause)]
        starts = starts[1:] if starts and EVERY.search(text, 0, starts[0]) is None else starts
        for a, b in pairwise([0, *starts, len(text)]):
            yield a, text[a:b]

    def _stems_of(self, who: AbstractSet[int]) -> AbstractSet[str]:
        return frozenset().union(*(self._subjects[number].stems for number in who))

    def _sentences_with(self, stems: Sequence[str]) -> Sequence[Match]:
        return self.context.best({stem: self.context.weight(stem) for stem in stems})


def _cut(text: str) -> tuple[str, str]:
    """A text's first words, as many as name two or three things, and the rest."""
    words = text.split()
    return " ".join(words[:_NAMING]), " ".join(words[_NAMING:])


def _denies(text: str, fact: Fact) -> bool:
    """Whether a claim has a "no" or a "not" before a figure, or in its clause."""
    start, clause = _clause(text, fact.span)
    return not NEGATIONS.isdisjoint(word(text[: start + len(clause)]).folded)


def _all_known(numbers: Iterable[int | None]) -> AbstractSet[int]:
    """The subjects; none where one isn't known."""
    found = frozenset(numbers)
    return frozenset(number for number in found if number is not None) if None not in found else frozenset()


def _in_its_place(there: Fact, own: Sequence[Fact]) -> Fact | None:
    """The one figure of a subject's own that stands among the same words as its sibling's."""
    if there.kind is Kind.NUMBER:
        own = [one for one in own if _count_the_same(there, one)]
    shared = [((len(there.around & one.around), _last(one) == _last(there)), one) for one in own]
    most = max((count for count, _ in shared), default=(0, False))
    found = [one for count, one in shared if count == most and most[0]]
    return found[0] if len(found) == 1 else None


def _count_the_same(fact: Fact, other: Fact) -> bool:
    """Whether what one number counts is spoken of around the other: "410 members", "Members: 410"."""
    return bool((fact.counted or fact.around) & other.around)


def _last(fact: Fact) -> str:
    return fact.before.rstrip(" :").rpartition(" ")[2].casefold()


def _clauses(text: str) -> Iterator[tuple[int, str]]:
    """The clauses of a claim, and where each begins."""
    at = 0
    for clause in clauses.cut(text):
        at = text.index(clause, at)
        yield at, clause
        at += len(clause)


def _clause(text: str, span: Span) -> tuple[int, str]:
    return next((one for one in _clauses(text) if one[0] + len(one[1]) >= span.end), (0, text))


_COMPARES = re.compile(r"\b(?:than|while|whereas|unlike|against|compar\w+|versus|vs|but|as)\b", re.IGNORECASE)
# The word right before "both": an object's own, or one that the subjects may follow on.
_BEFORE = re.compile(r"(?<![\w-])([\w-]+) +\Z")
_OF = frozenset("for on with in at of by to are were is was have had they which that yes no".split())  # noqa: SIM905
_BOTH_AND = re.compile(r"both(?: [a-z]+){1,3} and ", re.IGNORECASE)
# What a figure is compared with, mostly another's: "up from 21", "more than 8 GB", "if 8 GB is too little".
_HELD_AGAINST = re.compile(
    r"\b(?:from|than|against|versus|vs|unlike|compared|instead|rather|previous|earlier|after|if|above|below|"
    r"over|under|beyond|exceeds?|"
    r"als|gegen|gegenüber|statt|von|wenn|falls|über|unter|nach|que|contre|de|si|plutôt|"
    r"contra|en lugar|após|depois|invece|di|da|dopo|se|dan|tegen|van|boven|onder)\b(?:\W+\w+){0,3}\W*\Z",
    re.IGNORECASE,
)
_LOOKED_AT, _MANY, _NAMING, _NEAR = 48, 24, 8, 80
_LEAST, _MOST, _HALF = 3, 0.7, 0.5
_TELLING = 2  # words
_GOES_ON = re.compile(r"\b(?:it|its|he|she|him|his|hers?|they|them|their)\b", re.IGNORECASE)
