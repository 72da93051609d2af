"""Exact facts in a text, and whether another text bears them out.

A fact is a number, measure, percentage, amount of money, date, time of day or code: something that is
either the same or not, however it is written. ``numerals`` reads the figures, ``units`` holds the tables;
what a mismatch says about a whole answer belongs to the detectors.

English is read in full; month names, units, bounds and number words of German, French, Spanish, Italian
and Portuguese are known too, and in part those of Dutch.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import islice

from groundwire.text import conversion
from groundwire.text.fact import Fact, Kind
from groundwire.text.numerals import read
from groundwire.text.steps import Derived
from groundwire.text.units import CLOCK

__all__ = ["Checked", "Fact", "Kind", "Known", "Status", "check", "extract"]

# What a rounding may be away from when it says "about".
_HEDGED = 0.05
_SAME = 1e-6
_LOOKED_AT = 48
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
            for key in _keys(fact):
                self._exact[key].append(fact)
            for value in (*fact.values, *fact.highs):
                values[fact.unit].append((value, i))
        for unit, pairs in values.items():
            self._sorted[unit] = sorted(pairs)

    def equal(self, fact: Fact) -> Iterator[Fact]:
        """The known facts that say the same as ``fact``, either end of a range being enough."""
        for key in _keys(fact):
            yield from (other for other in self._exact.get(key, ()) if _same(fact, other))
        if fact.hedged:
            yield from (self._within(fact, _HEDGED))
        yield from self._converted(fact)

    def on(self, day: int) -> Sequence[Fact]:
        """The hours that are said of a day of the week, Monday being 0."""
        return self._hours.get(day, ())

    def counts_days(self, fact: Fact) -> bool:
        """Whether a fact tells on how many days there are hours: both ends of "five days a week"."""
        number = _days_a_week(fact)
        return number > 0 and number == len(self._hours)

    @cached_property
    def _hours(self) -> dict[int, list[Fact]]:
        found: dict[int, list[Fact]] = defaultdict(list)
        for fact in self.facts:
            if fact.kind is Kind.TIME and fact.highs:
                for day in fact.days:
                    found[day].append(fact)
        return found

    def has(self, fact: Fact) -> bool:
        """Whether any known fact says the same."""
        return next(self.equal(fact), None) is not None

    def _within(self, fact: Fact, share: float) -> Iterator[Fact]:
        for value in fact.values:
            for other in self._around(fact.unit, value, share * abs(value)):
                if _end_to_end(fact, other, share):
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
    than those of any equal one, or where the equal ones are only said of other days. ``near`` are the facts
    to look for a difference in (all of them if left out): a caller that knows which sentences speak of the
    same thing names theirs, so that the work stays bounded.
    """
    known = known if isinstance(known, Known) else Known(known)
    equals = list(islice(known.equal(fact), _LOOKED_AT))
    same_days = [other for other in equals if not _on_other_days(fact, other)]
    equal = _closest(fact, same_days or equals)
    if equal.nearest is None and fact.highs and all(map(known.has, fact.ends())):
        return Checked(status=Status.FOUND)
    if (other := _on_another_day(fact, equals, known)) is not None:
        return replace(_closest(fact, [other]), status=Status.DIFFERS)
    near = known.facts if near is None else near
    rivals = [other for other in _rivals(fact, near) if not _on_other_days(fact, other)]
    if equals and not same_days:
        # "9:00" is only said of Monday: what is said of Saturday is the other one.
        rival = _closest(fact, [other for other in rivals if fact.days & other.days])
        return equal if rival.nearest is None else replace(rival, status=Status.DIFFERS)
    if equal.nearest is not None and len(fact.around) < equal.shared + _MORE_SHARED:
        return equal
    rival = _closest(fact, rivals)
    if rival.nearest is None or not _speaks_of_the_same(fact, rival) or _one_of_many(fact, rival, rivals):
        rival = Checked(status=Status.ABSENT)
    if equal.nearest is None:
        return replace(rival, status=Status.DIFFERS if rival.nearest else Status.ABSENT)
    return replace(rival, status=Status.DIFFERS) if _outweighs(fact, rival, equal) else equal


def _on_other_days(fact: Fact, other: Fact) -> bool:
    """Whether the two are said of different days of the week."""
    return bool(fact.days and other.days) and fact.days.isdisjoint(other.days)


def _days_a_week(fact: Fact) -> int:
    """The number of "five days a week", of which both "five days" and "a week" are facts; 0 for others."""
    if fact.unit != "time":
        return 0
    days = _SO_MANY_DAYS.search(fact.text if _A_WEEK.match(fact.after) else fact.before)
    return _NUMBERS.get(days[1].lower(), 0) if days else 0


_A_WEEK = re.compile(r"\s*(?:a|per|each|every) week\b")
_SO_MANY_DAYS = re.compile(r"\b(\w+) days?\s?\Z")
_NUMBERS = {
    written: number
    for number, word in enumerate(("one", "two", "three", "four", "five", "six", "seven"), start=1)
    for written in (word, str(number))
}


def _on_another_day(fact: Fact, equals: Sequence[Fact], known: Known) -> Fact | None:
    """Other hours of a day that hours are said of: "Monday to Sunday, 9 to 5" where Sunday has 10 to 4.

    None where the same hours are said of all these days, or of none in particular, where a day has more
    hours than one, or where the statement allows for exceptions ("with longer hours on Friday").
    """
    if fact.kind is not Kind.TIME or not fact.highs or not equals or not all(other.days for other in equals):
        return None
    if _EXCEPTS.search(fact.before) or _EXCEPTS.search(fact.after):
        return None
    for day in sorted(fact.days.difference(*(other.days for other in equals))):
        hours = known.on(day)
        if hours and all(agree(hours[0], other) for other in hours[1:]):
            return hours[0]
    return None


_EXCEPTS = re.compile(
    r"\b(?:except|but|while|extend\w*|longer|shorter|later|earlier|reduced|var(?:y|ies|ying)|different|most"
    r"|usually|generally|typically|often|some|and until)\b",
    re.IGNORECASE,
)


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
    left = [o for o in row if comparable(fact, o) and not any(agree(mine, o) for mine in others)]
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
    return (other for other in others if comparable(fact, other) and not agree(fact, other))


_DURATIONS = frozenset({"time", "months"})
_DEGREES = frozenset({"degrees", "temperature"})


def comparable(fact: Fact, other: Fact) -> bool:  # noqa: PLR0911 - a return for each kind
    """Whether the two could stand in each other's place: one of them would then be wrong."""
    if other.soft or fact.soft:
        return False
    if Kind.TIME in (fact.kind, other.kind):
        fact, other = _as_hours(fact), _as_hours(other)
    if fact.kind is not other.kind:
        # The same figure with another unit: "15 %" where the document has "15 EUR".
        return bool(fact.unit and other.unit) and bool(set(fact.numbers) & set(other.numbers))
    if fact.kind is Kind.DATE:
        return _same_depth(fact, other)
    if fact.kind is Kind.CODE:
        before = fact.before.split()[-1:]
        return bool(before) and before == other.before.split()[-1:]
    if fact.bound == 0 and other.bound and _within_bound(fact, other):
        return False
    if fact.unit in _DURATIONS:
        # "5 days a week" and "two hours a week" are two facts; "30 hours" for "30 minutes" is one, wrong.
        if fact.measure == other.measure:
            return True
        swapped = set(fact.numbers) & set(other.numbers) or (fact.bound and fact.bound == other.bound)
        restated = fact.around and fact.around <= other.around
        return other.unit in _DURATIONS and bool(swapped or restated)
    return fact.unit == other.unit or {fact.unit, other.unit} <= _DEGREES


def _within_bound(fact: Fact, other: Fact) -> bool:
    """Whether a plain figure keeps to the bound that the other sets: 131 is "more than 130"."""
    if fact.unit != other.unit:
        return fact.unit in _DURATIONS and other.unit in _DURATIONS
    return any((value - limit) * other.bound >= 0 for value in fact.values for limit in other.values)


def _same_depth(fact: Fact, other: Fact) -> bool:
    return any(bool(a[2]) == bool(b[2]) and bool(a[1]) == bool(b[1]) for a in fact.dates for b in other.dates)


def agree(fact: Fact, other: Fact) -> bool:
    """Whether two facts say the same, roundings and conversions allowed."""
    if any(key in _keys(other) for key in _keys(fact)) and _same(fact, other):
        return True
    if fact.unit == other.unit:
        share = _HEDGED if fact.hedged else _SAME
        if _end_to_end(fact, other, share) or conversion.converts(fact, other):
            return True
        inside = other.highs and not fact.highs and fact.hedged
        return bool(inside) and any(
            low <= value <= high for low in other.values for high in other.highs for value in fact.values
        )
    return False


def _speaks_of_the_same(fact: Fact, rival: Checked) -> bool:
    assert rival.nearest is not None
    if fact.kind is Kind.NUMBER and not _counts_the_same(fact, rival.nearest):
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
    if fact.kind is Kind.NUMBER and equal.nearest is not None and fact.counted & equal.nearest.counted:
        return False
    return (
        rival.nearest is not None
        and rival.shared >= equal.shared + _MORE_SHARED
        and rival.shared >= 2 * equal.shared + 1
        and rival.affinity >= 0.6
    )


def _counts_the_same(fact: Fact, other: Fact) -> bool:
    if fact.label or other.label:
        return fact.label == other.label
    if fact.counted and other.counted:
        return bool(fact.counted & other.counted)
    return bool(fact.around & other.around) and fact.before.split()[-1:] == other.before.split()[-1:]


def _keys(fact: Fact) -> list[tuple[str, object]]:
    """Where a fact is looked up. A figure without unit answers to any unit: tables put units in a header."""
    if fact.kind is Kind.CODE:
        return [("code", fact.code)]
    if fact.kind is Kind.DATE:
        keys: list[tuple[str, object]] = [("day", (m, d)) for _, m, d in fact.dates if m or d]
        return keys + [("year", y) for y, _, _ in fact.dates if y]
    keys = [(fact.unit, round_off(value)) for value in (*fact.values, *fact.highs)]
    keys += [("raw", round_off(value)) for value in fact.numbers]
    if not fact.unit:
        keys += [("year", int(value)) for value in fact.values if 1500 <= value < 2100]
    if (hours := _as_hours(fact)) is not fact:
        keys += [(hours.unit, value) for value in (*hours.values, *hours.highs)]
    return keys


def _as_hours(fact: Fact) -> Fact:
    """A bare range beside a weekday as hours of the day: "Saturday 9-13"; any other fact as it is."""
    if fact.kind is not Kind.NUMBER or not fact.highs:
        return fact
    hours = all(0 <= value <= _HOURS and value % 1 == 0 for value in (*fact.values, *fact.highs))
    if not hours or not fact.days:
        return fact
    values, highs = ([60 * value for value in ends] for ends in (fact.values, fact.highs))
    return replace(fact, kind=Kind.TIME, measure=CLOCK, values=tuple(values), highs=tuple(highs))


_HOURS = 24


def _same(fact: Fact, other: Fact) -> bool:
    """Whether two facts that share a key say the same."""
    if fact.kind is Kind.CODE or other.kind is Kind.CODE:
        return fact.kind is other.kind
    if fact.kind is Kind.DATE or other.kind is Kind.DATE:
        return _same_date(fact, other)
    if Kind.TIME in (fact.kind, other.kind):
        fact, other = _as_hours(fact), _as_hours(other)
    if fact.unit and other.unit and fact.unit != other.unit and not {fact.unit, other.unit} <= _DEGREES:
        return False
    if fact.unit != other.unit:
        return not fact.highs or bool(set(map(round_off, fact.numbers)) <= set(map(round_off, other.numbers)))
    return _end_to_end(fact, other, _SAME)


def _same_date(fact: Fact, other: Fact) -> bool:
    if fact.kind is not Kind.DATE or other.kind is not Kind.DATE:
        years = {y for y, _, _ in fact.dates} | {y for y, _, _ in other.dates}
        return any(value in years for value in (*fact.values, *other.values))
    return any(
        (not m or (m, d) == (m2, d2) or (not d and m == m2)) and (not y or not y2 or y == y2)
        for y, m, d in fact.dates
        for y2, m2, d2 in other.dates
    )


def _end_to_end(fact: Fact, other: Fact, share: float) -> bool:
    """Whether every end of ``fact`` is an end of ``other``; a single figure may be either end of a range."""
    ends = (*other.values, *other.highs)
    if not fact.highs:
        return _any_near(fact.values, ends, share)
    if not other.highs:
        return False
    return _any_near(fact.values, other.values, share) and _any_near(fact.highs, other.highs, share)


def _any_near(mine: Sequence[float], others: Sequence[float], share: float) -> bool:
    near: Callable[[float, float], bool] = lambda a, b: abs(a - b) <= share * max(abs(a), abs(b)) + 1e-9  # noqa: E731
    return any(near(a, b) for a in mine for b in others)


def round_off(value: float) -> float:
    """A float as a key: nine significant digits, so that 0.1 + 0.2 is 0.3."""
    # Most figures are whole numbers that have no more digits, and writing them down takes long.
    if value % 1 == 0 and -_NINE_DIGITS < value < _NINE_DIGITS:
        return value
    return float(f"{value:.9g}")


_NINE_DIGITS = 1e9
