"""Exact facts in a text, and whether another text bears them out.

A fact is a number, measure, percentage, amount of money, date, time of day or code: something that is
either the same or not, however it is written. ``numerals`` reads the figures, ``units`` holds the tables;
what a mismatch says about a whole answer belongs to the detectors.

English is read in full; month names, units, bounds and number words of German, French, Spanish, Italian
and Portuguese are known too, and in part those of Dutch.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from operator import eq, itemgetter

from groundwire.core.cached import cached_property
from groundwire.text import conversion
from groundwire.text.agreement import HEDGED, agree, comparable, end_to_end, keys_of, rounding, rounds, same
from groundwire.text.fact import Fact, Kind
from groundwire.text.hours import Hours, of_more_days, on_other_days
from groundwire.text.numerals import read
from groundwire.text.steps import Derived

__all__ = ["Checked", "Fact", "Kind", "Known", "Status", "agree", "check", "comparable", "extract"]

_LOOKED_AT = 48
# Which share of its digits a telephone number has of another that it was meant to be.
_DIALLED_ALIKE = 0.6
# By so many words around it must a differing fact fit better than an equal one.
_MORE_SHARED = 3


class Status(StrEnum):
    """How a text bears on a fact."""

    FOUND = "found"
    DIFFERS = "differs"
    ABSENT = "absent"


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """What became of a fact.

    ``nearest`` is the fact that was found, or the one that differs; ``affinity`` in [0, 1] is the share of
    the words around the checked fact that stand around that one too, ``shared`` how many those are.
    ``derived`` tells how a figure that is found nowhere follows from others.
    """

    status: Status
    nearest: Fact | None = None
    affinity: float = 0.0
    shared: int = 0
    derived: Derived | None = None


def extract(text: str) -> list[Fact]:
    """The exact facts of ``text``, ordered and disjoint. Linear in its length."""
    return read(text)


class Known:
    """The facts of the contexts, arranged so that one look-up takes no longer for more of them."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.facts = list(facts)
        self._exact: dict[tuple[str, object], list[Fact]] = defaultdict(list)
        self._sorted: dict[str, list[tuple[float, int]]] = {}
        values: dict[str, list[tuple[float, int]]] = defaultdict(list)
        for i, fact in enumerate(self.facts):
            for key in keys_of(fact):
                self._exact[key].append(fact)
            for value in (*fact.values, *fact.highs):
                values[fact.unit].append((value, i))
        for unit, pairs in values.items():
            self._sorted[unit] = sorted(pairs)

    def equal(self, fact: Fact) -> Iterator[Fact]:
        """The known facts that say the same as ``fact``, either end of a range being enough.

        "6 May" says the same as "the 6th" where May is spoken of.
        """
        for key in keys_of(fact):
            yield from (other for other in self._exact.get(key, ()) if same(fact, other))
        if fact.hedged:
            yield from (self._within(fact, HEDGED))
        elif cut := rounding(fact):
            yield from (other for other in self._within(fact, cut) if rounds(fact, other, cut))
        yield from self._converted(fact)
        if fact.kind is Kind.DATE:
            yield from (
                self._days[day] for _, month, day in fact.dates if month in self._months and day in self._days
            )

    @cached_property
    def _months(self) -> frozenset[int]:
        return frozenset(month for fact in self.facts for _, month, _ in fact.dates if month)

    @cached_property
    def _days(self) -> dict[int, Fact]:
        """The days that only an ordinal tells: "on the 6th"."""
        return {int(fact.values[0]): fact for fact in reversed(self.facts) if fact.is_day}

    @cached_property
    def hours(self) -> Hours:
        """The hours among them, by the days of the week."""
        return Hours(self.facts)

    def has(self, fact: Fact) -> bool:
        """Whether any known fact says the same."""
        return next(self.equal(fact), None) is not None

    def misdialled(self, fact: Fact) -> Fact | None:
        """Of another telephone number, the known one that it is but for a few digits, or for their order."""
        if not fact.is_phone:
            return None
        last = fact.dialled[::-1]
        alike = [(sum(map(eq, last, other.dialled[::-1])), other) for other in self._phones]
        share, nearest = max(alike, key=itemgetter(0), default=(0, None))
        return nearest if share >= _DIALLED_ALIKE * len(last) else None

    @cached_property
    def _phones(self) -> list[Fact]:
        return [fact for fact in self.facts if fact.is_phone]

    def has_part(self, fact: Fact, part: Fact, at: int) -> bool:
        """Whether a part of a fact is said, and not of other days of the week.

        The first end of a range is none's second: "8 to 20" is not borne out by "8 to 18" and "20 to 22".
        """
        return any(
            not on_other_days(fact, other) and (not other.highs or agree(part, other.ends()[at]))
            for other in self.equal(part)
        )

    def _within(self, fact: Fact, share: float) -> Iterator[Fact]:
        for value in fact.values:
            for other in self._around(fact.unit, value, share * abs(value)):
                if end_to_end(fact, other, share):
                    yield other

    def _converted(self, fact: Fact) -> Iterator[Fact]:
        if fact.kind is Kind.MEASURE:
            for value in fact.values:
                near = self._around(fact.unit, value, conversion.reach(fact, value))
                yield from (other for other in near if conversion.converts(fact, other))

    def _around(self, unit: str, value: float, reach: float) -> Iterator[Fact]:
        pairs = self._sorted.get(unit, [])
        first, last = (value - reach, -1), (value + reach, len(self.facts))
        return (self.facts[i] for _, i in pairs[bisect_left(pairs, first) : bisect_right(pairs, last)])


def check(fact: Fact, known: Known | Sequence[Fact], *, near: Iterable[Fact] | None = None) -> Checked:
    """Whether ``known`` says the same as ``fact``, says something else in its place, or says nothing.

    FOUND where the same is said, of the same days of the week, best where the surrounding words agree.
    DIFFERS where a fact of the same kind has a different value and its surroundings agree clearly better
    than those of any equal one, or where the equal ones are only said of other days: ``nearest`` is then one
    of those, if nothing else is said of these. ``near`` are the facts to look for a difference in (all of
    them if left out): a caller that knows which sentences speak of the same thing names theirs, so that the
    work stays bounded.
    """
    known = known if isinstance(known, Known) else Known(known)
    equals = list(islice(known.equal(fact), _LOOKED_AT))
    same_days = [other for other in equals if not on_other_days(fact, other)]
    equal = _closest(fact, same_days or equals)
    apart = fact.ends() if fact.highs else fact.parts()
    if equal.nearest is None and apart and all(map(known.has_part, (fact, fact), apart, (0, -1))):
        return Checked(status=Status.FOUND)
    if equal.nearest is None and (meant := known.misdialled(fact)) is not None:
        return Checked(status=Status.DIFFERS, nearest=meant, affinity=1.0, shared=1)
    near = known.facts if near is None else near
    others = (other for other in _rivals(fact, near) if not on_other_days(fact, other))
    # Of what days a fact is said matters beside equal ones alone; else nobody looks at more than these.
    rivals = list(others if equals and fact.days else islice(others, _LOOKED_AT))
    said = _of_the_days(fact, known, equals, [] if same_days else rivals)
    if said.nearest is not None:
        return replace(said, status=Status.DIFFERS)
    if equal.nearest is not None and len(fact.around) < equal.shared + _MORE_SHARED:
        return equal
    rival = _closest(fact, rivals)
    if rival.nearest is None or not _speaks_of_thesame(fact, rival) or _one_of_many(fact, rival, rivals):
        rival = Checked(status=Status.ABSENT)
    if equal.nearest is None:
        return replace(rival, status=Status.DIFFERS if rival.nearest else Status.ABSENT)
    return replace(rival, status=Status.DIFFERS) if _outweighs(fact, rival, equal) else equal


def _of_the_days(fact: Fact, known: Known, equals: Sequence[Fact], rivals: Sequence[Fact]) -> Checked:
    """What is said of its days of the week, where the ``equals`` are only said of others; else nothing."""
    other = known.hours.otherwise(fact, equals)
    if other is not None:
        return _closest(fact, [other])
    # "9:00" is only said of Monday: what is said of Saturday is the other one.
    rival = _closest(fact, [other for other in rivals if equals and fact.days & other.days])
    return rival if rival.nearest is not None or not of_more_days(fact, equals) else _closest(fact, equals)


def misplaced(
    fact: Fact, known: Known, *, row: Sequence[Fact], others: Sequence[Fact], keys: frozenset[str]
) -> Fact | None:
    """The fact of ``row`` that ``fact`` stands for, when ``fact`` itself is only said of something else.

    ``row`` are the facts of the one sentence or table row that has ``keys``, stems of the claim's, and
    ``others`` the claim's other facts. None where the same is said near one of the keys too, or where not
    exactly one fact of the row is left that could be the one meant.
    """
    if fact.soft or fact.kind in (Kind.CODE, Kind.NUMBER) or any(agree(fact, other) for other in row):
        return None
    if any(not keys.isdisjoint(equal.around) for equal in islice(known.equal(fact), _LOOKED_AT)):
        return None
    rivals = [other for other in _rivals(fact, row) if not other.in_heading]
    left = [other for other in rivals if not any(agree(mine, other) for mine in others)]
    return left[0] if len(left) == 1 else None


def _closest(fact: Fact, others: Iterable[Fact]) -> Checked:
    """The one whose surroundings agree best; the first of equals, so that the result is determined."""
    best = Checked(status=Status.FOUND)
    mine = fact.around
    for other in islice(others, _LOOKED_AT):
        shared = len(mine & other.around)
        if best.nearest is None or shared > best.shared:
            share = shared / len(mine) if mine else 0.0
            best = Checked(status=Status.FOUND, nearest=other, affinity=share, shared=shared)
    return best


def _rivals(fact: Fact, others: Iterable[Fact]) -> Iterator[Fact]:
    return (o for o in others if comparable(fact, o) and not agree(fact, o) and not o.is_stamp)


def _speaks_of_thesame(fact: Fact, rival: Checked) -> bool:
    assert rival.nearest is not None
    if fact.kind is rival.nearest.kind is Kind.NUMBER and not _counts_thesame(fact, rival.nearest):
        return False
    if fact.text in rival.nearest.before or fact.text in rival.nearest.after:
        return False
    if len(fact.around) <= 1:
        return rival.shared == len(fact.around) == 1
    return rival.shared >= 2 and rival.affinity >= 0.5


def _one_of_many(fact: Fact, rival: Checked, rivals: Sequence[Fact]) -> bool:
    """Whether as many facts fit as only a list of like things has: none of them is the one meant."""
    mine = fact.around
    alike = {other.text for other in rivals[:_LOOKED_AT] if len(mine & other.around) >= rival.shared - 1}
    return len(alike) >= _MANY


_MANY = 4


def _outweighs(fact: Fact, rival: Checked, equal: Checked) -> bool:
    """Whether the equal fact is about something else, and the differing one about this."""
    if rival.nearest is not None and rival.nearest.in_heading:
        return False
    if fact.kind is Kind.NUMBER and equal.nearest is not None and fact.counted & equal.nearest.counted:
        return False
    return (
        rival.nearest is not None
        and rival.shared >= equal.shared + _MORE_SHARED
        and rival.shared >= 2 * equal.shared + 1
        and rival.affinity >= 0.6
    )


def _counts_thesame(fact: Fact, other: Fact) -> bool:
    if fact.label or other.label:
        return fact.label == other.label
    if fact.counted and other.counted:
        return bool(fact.counted & other.counted)
    return bool(fact.around & other.around) and fact.before.split()[-1:] == other.before.split()[-1:]
