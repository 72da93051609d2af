"""Rows of values that only commas part: "M8,1200,34" is a bolt, its price and how many there are."""

from __future__ import annotations

import re

from groundwire.text.units import MONEY_CODES


def parts_by_commas(lowered: str, at: int) -> bool:
    """Whether the commas around a figure of a lower-case text part values, and none is within a number.

    They are where a name stands among three or more values, or where no number is written so: thousands come
    in threes, after at most three digits, and a decimal comma stands once.
    """
    start = max(0, at - _FAR)
    head, tail = _HEAD.search(lowered[start:at]), _TAIL.match(lowered[at : at + _FAR])
    fields = f"{head.group() if head else ''}{tail.group() if tail else ''}".split(",")
    figures = [field for field in fields if not _is_name(field)]
    if len(figures) < len(fields):
        return len(fields) > _PAIR or _LONG.fullmatch(figures[-1]) is not None if figures else False
    if len(fields) == _PAIR:
        return all(map(_LONG.fullmatch, fields))
    return len(fields) > _PAIR and _GROUPED.fullmatch(",".join(fields)) is None


def _is_name(field: str) -> bool:
    """Whether it names something: "m8" and "income", not the amount "eur1"."""
    return _NAME.fullmatch(field) is not None and field.rstrip("0123456789") not in MONEY_CODES


_FAR, _PAIR = 80, 2
_HEAD = re.compile(r"(?<![\w.,])[\w.,]*\Z")
_TAIL = re.compile(r"[\w.,]*\w")
_NAME = re.compile(r"[^\W\d]\w*")
_LONG = re.compile(r"\d{4,}")
# In India, two digits part lakhs and crores.
_GROUPED = re.compile(r"[^\d,]*[1-9]\d{0,2}(?:(?:,\d{3})+|(?:,\d{2})+,\d{3})(?:\.\d+)?[^\d,]*")
