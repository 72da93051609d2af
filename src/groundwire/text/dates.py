"""Dates of figures: "2025-03-12", "12 March 2025", "March 12th", "FY24", "the 2013 cup".

A date may be less than a day: 0 stands for the year, the month or the day that it doesn't say.
"""

from __future__ import annotations

import re
from dataclasses import replace

from groundwire.core.span import Span
from groundwire.text import beside, keyed
from groundwire.text.cased import Cased
from groundwire.text.fact import Fact, Kind
from groundwire.text.figures import Figure, Shape
from groundwire.text.units import MONTHS


def in_digits(cased: Cased, figure: Figure) -> Fact | None:
    """The date of a figure that is all of it, as in "2025-03-12", "12/3/25" and "2026-08"."""
    if figure.shape is Shape.ISO_MONTH:
        return _month_of_year(cased, figure)
    digits = cased.lowered[figure.start : figure.end]
    a, b, c = (int(part) for part in re.split(r"[-/.]", digits))
    if figure.shape is Shape.ISO:
        readings = [(a, b, c)]
    else:
        year = c if c >= 100 else 2000 + c if c < 70 else 1900 + c
        american = "/" in digits and a != b
        readings = [(year, b, a), (year, a, b)] if american else [(year, b, a)]
    dates = tuple((y, m, d) for y, m, d in readings if 1 <= m <= 12 and 1 <= d <= 31)
    return _dated(cased, figure.start, figure.end, *dates) if dates else None


def among_words(cased: Cased, figure: Figure) -> Fact | None:
    """The date of a figure that is its day or its year, with the month where one stands beside it."""
    if (fiscal := _fiscal(cased, figure)) is not None:
        return fiscal
    start, end = figure.start, figure.end
    value = figure.values[0]
    if not value.is_integer() or not 1 <= value < 2100 or (end - start > 4 and not figure.spoken):
        return None
    number = int(value)
    if number <= 31 and cased.following(end) in MONTHS:
        after = _MONTH_AFTER.match(cased.lowered, end)
        if after is not None and after["month"] in MONTHS:
            stop = after.end() if after["year"] else after.end("month")
            return _dated(cased, start, stop, (int(after["year"] or 0), MONTHS[after["month"]], number))
    head = cased.head(start, 18)
    before = _MONTH_BEFORE.search(head) if head[-1:] in (" ", "\u00a0") else None
    if before is not None and before["month"] in MONTHS:
        begin = start - len(head) + before.start()
        return _month_first(cased, begin, end, MONTHS[before["month"]], number)
    return _year(cased, start, end, number) if end - start == 4 and number >= 1500 else None


_CENTURY = 100
_FISCAL = re.compile(r"\bfy[ '’]?\Z")
_MONTH_AFTER = re.compile(
    r"(?:st|nd|rd|th|\.|º)?[ \u00a0-](?:of |de |d['’])?(?P<month>[^\W\d_]{3,10})\b\.?"
    r"(?:,?[ -](?:de |of )?(?P<year>\d{4})\b)?"
)
_MONTH_BEFORE = re.compile(r"(?<![^\W_])(?P<month>[^\W\d_]{3,10})\.?[ \u00a0](?:the |of |de )?\Z")
# The season of 2009-10; "2009 - 10 people" and "2009-11" are none.
_UNTIL_YEAR = re.compile(r"(?:-|–|/| -- )(?P<year>\d\d)(?![\w/-]|[.,:]\d| ?%)")
_ONE = re.compile(r" (?:cup|quarter|day|week|month)\b")
_YEAR_AFTER = re.compile(r"(?:st|nd|rd|th)?,?[ ](?P<year>\d{4})\b")


def _dated(cased: Cased, start: int, end: int, *dates: tuple[int, int, int], soft: bool = False) -> Fact:
    return Fact(kind=Kind.DATE, span=Span(start, end), source=cased.text, dates=dates, soft=soft)


def _month_of_year(cased: Cased, figure: Figure) -> Fact:
    """A month as in "2026-08"; "2009-10" may be a season, too."""
    year, month = (int(part) for part in cased.lowered[figure.start : figure.end].split("-"))
    season = [(year, 0, 0), (year + 1, 0, 0)] if (year + 1) % _CENTURY == month else []
    return _dated(cased, figure.start, figure.end, *season, (year, month, 0))


def _fiscal(cased: Cased, figure: Figure) -> Fact | None:
    """The year of "FY2024" and "FY24", perhaps with the next: "FY2024/25"."""
    head = _FISCAL.search(cased.head(figure.start, 4))
    if head is None:
        return None
    digits = cased.lowered[figure.start : figure.end]
    if not digits.isdigit() or len(digits) not in (2, 4):
        return None
    number = int(digits) if len(digits) == 4 else 2000 + int(digits)
    date = _year(cased, figure.start, figure.end, number)
    return date and replace(date, span=Span(figure.start - len(head.group()), date.span.end))


def _month_first(cased: Cased, begin: int, end: int, month: int, number: int) -> Fact | None:
    if number >= 1500:
        return _dated(cased, begin, end, (number, month, 0))
    if number > 31:
        return None
    year = _YEAR_AFTER.match(cased.lowered, end)
    stop = year.end() if year else cased.past_ordinal(end)
    return _dated(cased, begin, stop, (int(year["year"]) if year else 0, month, number))


def _year(cased: Cased, start: int, end: int, number: int) -> Fact | None:
    """A bare number between 1500 and 2100 is a year, unless what stands beside it says otherwise."""
    if cased.lowered[end : end + 1] == "s":
        return _dated(cased, start, end + 1, (number, 0, 0), soft=True)
    if (
        beside.currency(cased, start) is not None
        or keyed.unit(cased.text, start)
        or (beside.unit(cased, end) is not None and not _of_one(cased, start, end))
        or beside.is_multiplied(cased, end)
    ):
        return None
    until = _UNTIL_YEAR.match(cased.lowered, end)
    if until is not None:
        last = number - number % _CENTURY + int(until["year"])
        if last == number + 1:
            return _dated(cased, start, until.end(), (number, 0, 0), (last, 0, 0))
    return _dated(cased, start, end, (number, 0, 0))


def _of_one(cased: Cased, start: int, end: int) -> bool:
    """Whether one thing of a year follows it: "the 2013 cup", not "2013 cups"."""
    return cased.head(start, 4) == "the " and _ONE.match(cased.lowered, end) is not None
