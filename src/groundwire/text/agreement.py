"""When two exact facts are the same, however they are written, and when one stands in the other's place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from groundwire.text import conversion, shorthand
from groundwire.text.clock import as_hours
from groundwire.text.fact import Fact, Kind
from groundwire.text.units import MAGNITUDES, UNITS

# What a rounding may be away from when it says "about".
HEDGED = 0.05
_SAME = 1e-6


_TIMED = (Kind.TIME, Kind.NUMBER)
_DURATIONS = frozenset({"time", "months"})
_DEGREES = frozenset({"degrees", "temperature"})
_POUNDS, _STERLING = UNITS["pounds"], UNITS["£"]
_WEIGHED = re.compile(r"\b(?:weigh\w*|weight)\b(?:(?!\b(?:and|but|costs?)\b)[^,;]){0,40}\Z", re.IGNORECASE)


def comparable(fact: Fact, other: Fact) -> bool:  # noqa: PLR0911 - a return for each kind
    """Whether the two could stand in each other's place: one of them would then be wrong."""
    if other.soft or fact.soft:
        return False
    fact, other = _in_one_sense(fact, other)
    if fact.kind is not other.kind:
        # The same figure with another unit: "15 %" where the document has "15 EUR".
        return bool(fact.unit and other.unit) and bool(set(fact.numbers) & set(other.numbers))
    if fact.kind is Kind.DATE:
        return _same_depth(fact, other)
    if fact.is_phone or other.is_phone:
        return fact.is_phone and other.is_phone
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


def _in_one_sense(fact: Fact, other: Fact) -> tuple[Fact, Fact]:
    """Two facts as times, as money or in full, where one is and the other may be; else as they are.

    "9-17" beside a weekday is hours of the day, and beside "£50" pounds are no weight.
    """
    fact, other = shorthand.alike(fact, other)
    if fact.kind in _TIMED and other.kind in _TIMED:
        hours = as_hours(fact)
        if hours.kind is Kind.TIME and (others := as_hours(other)).kind is Kind.TIME:
            return hours, others
    if _STERLING in (fact.measure, other.measure):
        return _as_money(fact), _as_money(other)
    return fact, other


def _as_money(fact: Fact) -> Fact:
    """Pounds as money; any other fact, and what something weighs, as it is."""
    if fact.unit != _POUNDS.dimension or fact.measure != _POUNDS:
        return fact
    if not fact.text.lower().endswith(("pound", "pounds")) or _WEIGHED.search(fact.before):
        return fact
    half = len(fact.values)
    values, highs = fact.numbers[:half], fact.numbers[half:]
    return replace(fact, kind=Kind.MONEY, measure=_STERLING, values=values, highs=highs)


def _within_bound(fact: Fact, other: Fact) -> bool:
    """Whether a plain figure keeps to the bound that the other sets: 131 is "more than 130"."""
    if fact.unit != other.unit:
        return fact.unit in _DURATIONS and other.unit in _DURATIONS
    return any((value - limit) * other.bound >= 0 for value in fact.values for limit in other.values)


def _same_depth(fact: Fact, other: Fact) -> bool:
    return any(bool(a[2]) == bool(b[2]) and bool(a[1]) == bool(b[1]) for a in fact.dates for b in other.dates)


def agree(fact: Fact, other: Fact) -> bool:
    """Whether two facts say the same, roundings and conversions allowed."""
    theirs = keys_of(other)
    if any(key in theirs for key in keys_of(fact)) and same(fact, other):
        return True
    if fact.unit == other.unit:
        share = HEDGED if fact.hedged else _SAME
        if end_to_end(fact, other, share) or conversion.converts(fact, other):
            return True
        if (cut := rounding(fact)) and rounds(fact, other, cut):
            return True
        inside = other.highs and not fact.highs and fact.hedged
        return bool(inside) and any(
            low <= value <= high for low in other.values for high in other.highs for value in fact.values
        )
    return False


def keys_of(fact: Fact) -> Sequence[tuple[str, object]]:
    """Where a fact is looked up. A figure without unit answers to any unit: tables put units in a header."""
    return fact.once(_keys_of)


def _keys_of(fact: Fact) -> list[tuple[str, object]]:
    short = [(full.unit, round_off(full.values[0])) for full in shorthand.in_full(fact)]
    if fact.is_phone:
        return [("phone", fact.dialled[-_LOCAL:])]
    if fact.kind is Kind.CODE:
        return [("code", fact.code), *short]
    if fact.kind is Kind.DATE:
        keys: list[tuple[str, object]] = [("day", (m, d)) for _, m, d in fact.dates if m or d]
        keys += [("century", century) for y, _, _ in fact.dates if y for century in _centuries(y)]
        keys += [("raw", float(fact.text))] if fact.may_count else []
        return keys + [("year", y) for y, _, _ in fact.dates if y]
    if fact.is_century:
        return [("century", int(fact.values[0]))]
    keys = [(fact.unit, round_off(value)) for value in (*fact.values, *fact.highs)]
    if not fact.is_compound:
        keys += [("raw", round_off(value)) for value in fact.numbers]
    keys += short
    if not fact.unit:
        keys += [("year", int(value)) for value in fact.values if 1500 <= value < 2100]
    if (hours := as_hours(fact)) is not fact:
        keys += [(hours.unit, value) for value in (*hours.values, *hours.highs)]
    if (money := _as_money(fact)) is not fact:
        keys += [(money.unit, round_off(value)) for value in (*money.values, *money.highs)]
    return keys


def same(fact: Fact, other: Fact) -> bool:
    """Whether two facts that share a key say the same."""
    fact, other = shorthand.alike(fact, other)
    if fact.is_phone and other.is_phone:
        return _same_line(fact.dialled, other.dialled)
    if fact.kind is Kind.CODE or other.kind is Kind.CODE:
        return fact.kind is other.kind
    if fact.kind is Kind.DATE or other.kind is Kind.DATE:
        return _same_date(fact, other)
    fact, other = _in_one_sense(fact, other)
    if fact.unit and other.unit and fact.unit != other.unit and not {fact.unit, other.unit} <= _DEGREES:
        return False
    if fact.unit != other.unit:
        return not fact.highs or bool(set(map(round_off, fact.numbers)) <= set(map(round_off, other.numbers)))
    return end_to_end(fact, other, _SAME)


def _same_line(dialled: str, other: str) -> bool:
    """Whether two telephone numbers are one, but for the country's code that one of them leaves out."""
    short, long = sorted((dialled, other), key=len)
    return long.endswith(short) and len(long) - len(short) <= _COUNTRY


# The last digits of a telephone number, and the most that a country's code has.
_LOCAL, _COUNTRY = 8, 3


def _same_date(fact: Fact, other: Fact) -> bool:
    if fact.is_century:
        return any(y and int(fact.values[0]) in _centuries(y) for y, _, _ in other.dates)
    if other.is_century:
        return False
    if fact.kind is not Kind.DATE or other.kind is not Kind.DATE:
        years = {y for y, _, _ in fact.dates} | {y for y, _, _ in other.dates}
        return any(value in years for one in (fact, other) for value in (*one.values, *one.numbers))
    return any(
        (not m or (m, d) == (m2, d2) or (not d and m == m2)) and (not y or not y2 or y == y2)
        for y, m, d in fact.dates
        for y2, m2, d2 in other.dates
    )


def _centuries(year: int) -> set[int]:
    """The century of a year; of 1900, as people count, the one that it begins, too."""
    return {(year - 1) // 100 + 1, year // 100 + 1}


def end_to_end(fact: Fact, other: Fact, share: float) -> bool:
    """Whether every end of ``fact`` is an end of ``other``; a single figure may be either end of a range.

    "2 hours" says what "2 hours 30 minutes" does, roughly; "2 hours 45 minutes" says neither.
    """
    ends = (*other.values, *other.highs)
    if fact.is_compound:
        return _any_near(fact.values[:1], other.values[:1] if other.is_compound else ends, share)
    if not fact.highs:
        return _any_near(fact.values, ends, share)
    if not other.highs:
        return False
    return _any_near(fact.values, other.values, share) and _any_near(fact.highs, other.highs, share)


def rounding(fact: Fact) -> float:
    """By which share a figure in thousands or more may have been rounded: half of the last digit of "1.17bn".

    0 where it has no decimals, or no such word.
    """
    if fact.kind not in (Kind.MONEY, Kind.NUMBER) or fact.highs or abs(fact.values[0]) < _THOUSANDS:
        return 0.0
    many = max((MAGNITUDES.get(word, 1.0) for word in _WORDS.findall(fact.text.lower())), default=1.0)
    places = conversion.decimals(fact.text, fact.numbers[0] / many)
    return 0.5 * 10.0**-places * many / abs(fact.values[0]) if places and many > 1 else 0.0


def rounds(fact: Fact, other: Fact, cut: float) -> bool:
    """Whether the figure is the other one, rounded by at most this share.

    Of "90,925 thousand" only in the likeliest reading: "90.9 thousand" is the rounding of another. It is
    that of "90.925 thousand", which has the same mark.
    """
    readings = 1 if _mark(fact) != _mark(other) else None
    return _any_near(fact.values, (*other.values[:readings], *other.highs[:readings]), cut)


def _mark(fact: Fact) -> str:
    """The first point or comma between two digits."""
    found = _MARK.search(fact.text)
    return found[1] if found else ""


_MARK = re.compile(r"\d([.,])\d")


_THOUSANDS = 1_000
_WORDS = re.compile(r"[^\W\d_]+")


def _any_near(mine: Sequence[float], others: Sequence[float], share: float) -> bool:
    near: Callable[[float, float], bool] = lambda a, b: abs(a - b) <= share * max(abs(a), abs(b)) + 1e-9  # noqa: E731
    return any(near(a, b) for a in mine for b in others)


def round_off(value: float) -> float:
    """A float as a key: nine significant digits, so that 0.1 + 0.2 is 0.3; of a whole number all."""
    if value % 1 == 0 and -_EXACT < value < _EXACT:
        return value
    return float(f"{value:.9g}")


_EXACT = 1e15
