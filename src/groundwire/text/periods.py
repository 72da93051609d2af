"""The time between two dates or two times of day, and what a date or time becomes some time later."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import combinations

from groundwire.text.fact import Fact, Kind

_DAY, _MINUTE = 86_400.0, 60.0
_CLOCK, _HALF_DAY = 1440, 720
# Any year will do where none is said; this one is no leap year.
_SOME_YEAR = 2001


def between(fact: Fact, facts: Sequence[Fact]) -> Iterator[tuple[float, tuple[Fact, ...]]]:
    """The times between every two of some dates or times, in the base unit of the duration ``fact``."""
    if is_age(fact):
        for a, b in combinations([one for one in facts if one.dates], 2):
            yield from (
                (years * (fact.measure.factor if fact.measure else 1), (a, b)) for years in _ages(a, b)
            )
    elif fact.unit == "months":
        for a, b in combinations([one for one in facts if one.dates], 2):
            yield from ((months, (a, b)) for months in _months(a, b))
    if fact.unit == "time":
        for a, b in combinations([one for one in facts if one.dates], 2):
            yield from ((days * _DAY, (a, b)) for days in _days(a, b))
        clocks = [one for one in facts if one.kind is Kind.TIME]
        for one in clocks:
            if one.highs:
                yield from ((minutes * _MINUTE, (one,)) for minutes in _minutes(one.values, one.highs))
        for a, b in combinations([one for one in clocks if not one.highs], 2):
            yield from ((minutes * _MINUTE, (a, b)) for minutes in _minutes(a.values, b.values))


def is_age(fact: Fact) -> bool:
    """Whether it tells how old somebody is: "35 years old", "aged 35"."""
    if fact.highs or not fact.values:
        return False
    if fact.kind is Kind.NUMBER:
        return _AGED.search(fact.before) is not None
    return fact.unit == "months" and (_OLD.match(fact.after) or _AGED.search(fact.before)) is not None


def is_birth(fact: Fact) -> bool:
    """Whether it is the date of somebody's birth."""
    return fact.kind is Kind.DATE and _BORN.search(fact.before) is not None


# A share may be traded "at 35".
_AGED = re.compile(
    r"\b(?:aged?(?: of)?|(?:died|dies|death|retire[sd]?|married|marries)\b[^.;]{0,30} at) \Z", re.IGNORECASE
)
_OLD = re.compile(r"[ -](?:old|of age)\b", re.IGNORECASE)
_BORN = re.compile(r"\b(?:born|birth|geboren|née?|nacid[oa]|nat[oa])\b[^.;\d]{0,30}\Z", re.IGNORECASE)


def _ages(a: Fact, b: Fact) -> Iterable[float]:
    """How old somebody was at the later date: a year less before the birthday, or without it."""
    for first in a.dates:
        for last in b.dates:
            (y1, m1, d1), (y2, m2, d2) = sorted((first, last))
            if not y1:
                continue
            if not (m1 and m2) or (m1 == m2 and not (d1 and d2)):
                yield from (y2 - y1, y2 - y1 - 1)
            else:
                yield y2 - y1 - ((m2, d2) < (m1, d1))


def moved(fact: Fact, facts: Sequence[Fact]) -> Iterator[tuple[Fact, ...]]:
    """The dates or times with durations that give the date, the year or the time of day that ``fact`` is."""
    lengths = [one for one in facts if one.unit in ("months", "time") and one.values and not one.highs]
    for other in facts:
        if other.kind is not fact.kind or other.highs:
            continue
        for length in lengths:
            if fact.kind is Kind.DATE and _is_later(fact, other, length):
                yield other, length
            if fact.kind is Kind.TIME and length.unit == "time" and _minutes_apart(fact, other, length):
                yield other, length


def _months(a: Fact, b: Fact) -> Iterable[float]:
    for y1, m1, d1 in a.dates:
        for y2, m2, d2 in b.dates:
            if y1 and y2:
                yield 12.0 * abs(y2 - y1)
            if m1 and m2 and bool(y1) == bool(y2):
                months = float(abs(12 * (y2 - y1) + m2 - m1))
                if d1 == d2:
                    yield months
                elif d1 and d2:
                    yield from _inclusive((y1, m1, d1), (y2, m2, d2))


def _inclusive(one: tuple[int, int, int], other: tuple[int, int, int]) -> Iterable[float]:
    """The months from the first to the last day of them: from 1 March to 31 May are three."""
    try:
        first, last = sorted(date(year or _SOME_YEAR, month, day) for year, month, day in (one, other))
    except ValueError:
        return
    after = last + timedelta(days=1)
    if after.day == first.day:
        yield float(12 * (after.year - first.year) + after.month - first.month)


def _days(a: Fact, b: Fact) -> Iterable[float]:
    """The days from one to the other, the last of them counted or not."""
    for y1, m1, d1 in a.dates:
        for y2, m2, d2 in b.dates:
            if m1 and d1 and m2 and d2:
                apart = _apart((y1 or y2, m1, d1), (y2 or y1, m2, d2))
                yield from () if apart is None else (float(apart), float(apart + 1))


def _apart(first: tuple[int, int, int], second: tuple[int, int, int]) -> int | None:
    """The days between two dates, of any year where it isn't said; None for a "30 February"."""
    try:
        one, other = (date(year or _SOME_YEAR, month, day) for year, month, day in (first, second))
    except ValueError:
        return None
    return abs((one - other).days)


def _minutes(first: Sequence[float], second: Sequence[float]) -> Iterable[float]:
    """From one to the other; "9:00" is one of the morning beside a time that has a single reading."""
    if len(first) != len(second) or len(first) == 1:
        yield (second[0] - first[0]) % _CLOCK
    else:
        yield (second[0] - first[0]) % _HALF_DAY


def _is_later(fact: Fact, other: Fact, length: Fact) -> bool:
    """Whether one is the other and so many years, months or days, or before it by as many."""
    if length.unit == "months":
        return _years_apart(fact, other, length) or _months_apart(fact, other, length)
    days = length.values[0] / _DAY
    return days >= 1 and any(
        days == _apart((y1 or y2, m1, d1), (y2 or y1, m2, d2))
        for y1, m1, d1 in fact.dates
        for y2, m2, d2 in other.dates
        if m1 and d1 and m2 and d2
    )


def _months_apart(fact: Fact, other: Fact, length: Fact) -> bool:
    return any(
        bool(m1 and d1 and m2)
        and d1 == d2
        and abs(12 * (y1 - y2 if y1 and y2 else 0) + m1 - m2) == length.values[0]
        for y1, m1, d1 in fact.dates
        for y2, m2, d2 in other.dates
    )


def _years_apart(fact: Fact, other: Fact, length: Fact) -> bool:
    years = length.values[0] / 12
    return any(
        not m and bool(y2) and abs(y - y2) == years for y, m, _ in fact.dates for y2, _, _ in other.dates
    )


def _minutes_apart(fact: Fact, other: Fact, length: Fact) -> bool:
    apart = length.values[0] / _MINUTE
    return any(
        (a - b - apart) % _CLOCK == 0 or (b - a - apart) % _CLOCK == 0
        for a in fact.values
        for b in other.values
    )
