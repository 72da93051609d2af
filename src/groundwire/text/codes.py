"""Figures that are part of a name: flight numbers, models, versions, telephone numbers.

What only numbers a part of a text is found by ``labels``.
"""

from __future__ import annotations

import re

from groundwire.core.span import Span
from groundwire.text.cased import Cased
from groundwire.text.fact import PHONE, Fact, Kind
from groundwire.text.figures import Figure, Shape
from groundwire.text.units import BINARY, MAGNITUDES, MONEY_CODES, UNITS


def read(cased: Cased, figure: Figure) -> Fact | None:
    """The code that a figure is, or is in: it is stuck to letters that are no unit."""
    start, end = figure.start, figure.end
    if figure.shape in (Shape.CODE, Shape.PHONE, Shape.QUARTER):
        return _whole(cased, figure)
    before = cased.lowered[start - 1] if start else " "
    if figure.shape is Shape.CLOCK and _DATED.search(cased.head(start, 4)):
        return None
    if "a" <= before <= "z" or before == "-":
        head = _TOKEN_HEAD.search(cased.head(start, 24))
        if head is not None and _names_something(cased, head.group(), start):
            begin, end = start - len(head.group()), max(end, _tail_end(cased, start))
            return _code(cased, begin, end, cased.lowered[begin:end])
    if figure.shape is Shape.PLAIN and "a" <= cased.lowered[end : end + 1] <= "z":
        tail = _TOKEN_TAIL.match(cased.lowered, end)
        if tail is not None and not _is_known_tail(tail.group()):
            return _code(cased, start, tail.end(), cased.lowered[start : tail.end()])
    return None


def _whole(cased: Cased, figure: Figure) -> Fact:
    """The code that is written as no figure is: a version, a telephone number, a quarter."""
    start, end = figure.start, figure.end
    if figure.shape is Shape.QUARTER:  # as if it were written "Q3"
        return _code(cased, start, end, f"q{figure.values[0]:g}")
    if figure.shape is Shape.PHONE:
        dialled = "".join(filter(str.isdigit, cased.text[start:end].replace("(0)", "")))
        return _code(cased, start, end, PHONE + dialled.lstrip("0"))
    digits = "".join(c for c in cased.text[start:end] if c.isdigit() or c in "./").rstrip(".")
    return _code(cased, start - bool(_VERSION.search(cased.head(start, 2))), end, digits)


_TOKEN_TAIL = re.compile(r"[a-z0-9]+(?:[-/.][a-z0-9]+)*")
_TOKEN_HEAD = re.compile(r"[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9]))*-?\Z")
_VERSION = re.compile(r"(?:\A|[^\w.-])v\Z")  # as in v5.1.0, which is 5.1.0
_DATED = re.compile(r"-\d\dt\Z")  # as in 2025-03-12T22:41
_KNOWN_TAILS = frozenset({"st", "nd", "rd", "th", "s", "x", "am", "pm", "a", "p", "o", "f", "c", "h"})


def _code(cased: Cased, start: int, end: int, code: str) -> Fact:
    return Fact(kind=Kind.CODE, span=Span(start, end), source=cased.text, code=code)


def _names_something(cased: Cased, head: str, end: int) -> bool:
    """Whether letters before a figure make one name with it: "SK123" and "COVID-19", not "mid-1990"."""
    if not any(c.isalpha() for c in head) or head in MONEY_CODES or head == "fy":
        return False
    return head[-1] != "-" or cased.text[end - 2].isupper()


def _tail_end(cased: Cased, at: int) -> int:
    tail = _TOKEN_TAIL.match(cased.lowered, at)
    return tail.end() if tail else at


def _is_known_tail(tail: str) -> bool:
    first = re.split(r"[-/.]", tail, maxsplit=1)[0]
    known = (UNITS, BINARY, MAGNITUDES, _KNOWN_TAILS)
    return any(first in names for names in known) or tail == "km/h"
