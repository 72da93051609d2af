"""Times of day of figures: "9:30", "5 pm", "17 Uhr", "at 4.47 on Thursday morning".

Those that are all in words are found by ``clock``.
"""

from __future__ import annotations

import re

from groundwire.core.span import Span
from groundwire.text import clock
from groundwire.text.cased import Cased
from groundwire.text.fact import Fact, Kind
from groundwire.text.figures import Figure, Shape
from groundwire.text.units import CLOCK


def read(cased: Cased, figure: Figure) -> Fact | None:
    """The time of day that a figure is, by its colon or by the words around it."""
    start, end = figure.start, figure.end
    if figure.shape is Shape.SPOKEN_CLOCK:
        return _timed(cased, start, end, figure.values)
    mark = None
    if cased.following(end)[:1] in ("a", "p", "o", "u"):
        mark = _MERIDIEM.match(cased.lowered, end) or _O_CLOCK.match(cased.lowered, end)
    shown = figure.shape is Shape.CLOCK
    part = _part_of_day(cased, start, end) if shown or _DOTTED.fullmatch(cased.lowered, start, end) else ""
    if mark is None and not shown and not part:
        return None
    hours, minutes = _hours_and_minutes(cased, figure)
    if hours > 24 or minutes > 59:
        return None
    half = mark.group(1) if mark is not None and mark.re is _MERIDIEM else None
    if half is None and part and hours <= _NOON:
        half = "a" if part == "morning" else "p"
    if half is None and cased.lowered[start] == "0":
        values: tuple[float, ...] = (60.0 * hours + minutes,)  # "09:00" is on a clock of 24 hours
    else:
        values = clock.minutes(hours, minutes, half)
    return _timed(cased, start, mark.end() if mark else end, values)


_NOON = 12
_MERIDIEM = re.compile(r"\s?([ap])(?:\.\s?m\.?|m\b)")
_O_CLOCK = re.compile(r"\s?(?:o['’]clock|uhr\b)")
_AT = re.compile(r"\b(?:at|by|from|until|till|to|before|after|since|about|around) \Z")
_DOTTED = re.compile(r"\d\d?\.\d\d")
# "At 4.47 on Thursday morning" is a time; shares may have closed at 4.47 on Thursday.
_PART_OF_DAY = re.compile(
    r" (?:on |the )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|yesterday|today|tomorrow|this|that"
    r"|in the) (?P<part>morning|afternoon|evening)\b"
)


def _timed(cased: Cased, start: int, end: int, values: tuple[float, ...]) -> Fact:
    return Fact(kind=Kind.TIME, span=Span(start, end), source=cased.text, values=values, measure=CLOCK)


def _part_of_day(cased: Cased, start: int, end: int) -> str:
    """The "morning" of "at 4.47 on Thursday morning"; "" where none is named."""
    part = _PART_OF_DAY.match(cased.lowered, end) if _AT.search(cased.head(start, 8)) else None
    return part["part"] if part else ""


def _hours_and_minutes(cased: Cased, figure: Figure) -> tuple[int, int]:
    if figure.spoken:
        return int(figure.values[0]), 0
    parts = [int(part) for part in re.split(r"[:h.,]", cased.lowered[figure.start : figure.end])]
    return parts[0], parts[1] if len(parts) > 1 else 0
