"""One quantity in two units: whether a converted figure is right as far as its digits say, and what is right.

"3.1 miles" says that it is rounded to a tenth: 5 km are 3.107, so it is right, and 3.2 is not. A last 0 or 5
may be the rounding of whoever converted ("450 g" for a pound, "175 °C" for 350 °F).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from groundwire.text.fact import Fact, Kind

# What a last 0 or 5 may have rounded away, and what a figure of one digit may.
_ROUNDED = 0.03
_ONE_DIGIT = 0.08
# Nobody converts 200 °C to 392 °F in a recipe: ovens are set in steps. In degrees Celsius.
_OVEN_STEP = 4.5
WIDEST = _ONE_DIGIT
"""No figure differs by a larger share from what it was converted from; temperatures aside."""
_BINARY = 1.024
_DECIMALS = re.compile(r"\d[.,](\d+)(?=\D*$)")


def converts(fact: Fact, other: Fact) -> bool:
    """Whether ``fact`` says in its own unit what ``other`` says in another one.

    Equal within the rounding that the digits of ``fact`` state. A figure may be either end of a range, and a
    range has both ends. Units of one system are converted exactly, so that only decimals are a rounding.
    """
    if fact.kind is not Kind.MEASURE or other.kind is not Kind.MEASURE:
        return False
    if fact.unit != other.unit or fact.measure == other.measure:
        return False
    ends = (*other.values, *other.highs)
    if not fact.highs:
        return _any_right(fact, fact.values, ends, other)
    if not other.highs:
        return False
    return _any_right(fact, fact.values, other.values, other) and _any_right(
        fact, fact.highs, other.highs, other
    )


def beside(left: Fact, right: Fact, gap: str) -> bool:
    """Whether the second of two neighbours says the first over again in another unit: "5 km (3.1 miles)"."""
    if left.kind is not Kind.MEASURE or left.unit != right.unit or left.measure == right.measure:
        return False
    return not (left.soft or right.soft or left.highs or right.highs) and bool(_APPOSED.fullmatch(gap))


_APPOSED = re.compile(
    r"\s?(?:\(|=|/|,? or|,? i\.e\.,?|,? that is,?)\s?"
    r"(?:(?:about|around|approximately|roughly|ca\.?|or) |[~≈])?"
)


def reach(fact: Fact, value: float) -> float:
    """How far from one of its values, in the base unit, may lie what a fact was converted from."""
    return _OVEN_STEP + 1 if fact.unit == "temperature" else WIDEST * abs(value) / (1 - WIDEST) + 1e-9


def restated(other: Fact, fact: Fact) -> str:
    """``other`` in the unit of ``fact``, with one digit more where it would else be too coarse: "3.1".

    Empty where the two don't measure the same quantity, or are written in one unit.
    """
    unit = fact.measure
    if unit is None or fact.kind is not Kind.MEASURE or not other.values or other.highs:
        return ""
    if fact.unit != other.unit or fact.measure == other.measure or fact.is_compound:
        return ""
    number = (other.values[0] - unit.offset) / unit.factor
    if abs(number - round(number)) < 1e-6 or abs(number) >= _MANY:
        return f"{round(number):,}"
    return f"{number:.1f}" if abs(number) >= 1 else f"{number:.2g}"


_MANY = 100


def _any_right(fact: Fact, mine: Sequence[float], theirs: Sequence[float], other: Fact) -> bool:
    return any(_right(fact, value, there, other) for value in mine for there in theirs)


def _right(fact: Fact, mine: float, theirs: float, other: Fact) -> bool:
    unit = fact.measure
    assert unit is not None
    written = (mine - unit.offset) / unit.factor
    if fact.is_compound:
        return abs(mine - theirs) <= 0.01 * abs(mine)  # "5 ft 11 in" is as exact as its smaller part
    source = (theirs - unit.offset) / unit.factor
    if fact.unit == "data" and any(abs(written - source * _BINARY**k) <= 0.5 for k in (-2, -1, 1, 2)):
        return True
    return abs(written - source) <= _slack(fact, written, exact=fact.system == other.system) + 1e-9


def _slack(fact: Fact, number: float, *, exact: bool) -> float:
    """How far a written number may be from what was converted, in its own unit."""
    half = 0.5 * 10.0 ** -decimals(fact.text, number)
    if exact:
        return half if half < 0.5 else 0.0
    assert fact.measure is not None
    if fact.unit == "temperature":
        return max(half, min(_granule(number) / 2, _OVEN_STEP / fact.measure.factor))
    return max(min(half, _ONE_DIGIT * abs(number)), min(_granule(number) / 2, _ROUNDED * abs(number)))


def decimals(text: str, number: float) -> int:
    """How many digits stand after the decimal mark of a written number, zeros included; 0 for words."""
    found = _DECIMALS.search(text)
    if found is None or (len(found[1]) == _GROUP and float(number).is_integer()):
        return 0
    return min(len(found[1]), _MOST_DECIMALS)


_GROUP, _MOST_DECIMALS = 3, 9


def _granule(number: float) -> float:
    """The step that a number seems to be rounded to: 10 for 450, 5 for 175, 1 for 7, 0.1 for 3.1."""
    if number == 0:
        return 0.0
    digits, exponent = Decimal(f"{abs(number):.9g}").normalize().as_tuple()[1:]
    assert isinstance(exponent, int)
    return float((5 if digits[-1] == 5 and len(digits) > 1 else 1) * 10.0**exponent)
