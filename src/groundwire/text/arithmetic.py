"""Whether a figure follows from others: a sum, difference, product, share or conversion.

Only from figures of the same claim that the documents bear out, so that chance has little to work with.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, permutations

from groundwire.text.fact import Fact, Kind

_CONVERTED = 0.03
_SAME = 1e-4
_LOOKED_AT = 7
_LARGEST_FACTOR = 20


def follows(fact: Fact, others: Sequence[Fact]) -> bool:
    """Whether ``fact`` is a conversion of one of ``others``, or worked out from two or three of them.

    Single digits are never taken as worked out: too many sums make one.
    """
    if not fact.values or fact.kind in (Kind.DATE, Kind.CODE):
        return False
    others = [other for other in others if other.values and other.kind is not Kind.DATE][-_LOOKED_AT:]
    if any(_converts(fact, other) for other in others):
        return True
    if fact.kind is Kind.TIME or fact.highs or not fact.numbers or abs(fact.numbers[0]) < 10:
        return False
    return any(_near(fact.numbers[0], result) for result in _worked_out(fact, others))


def is_factor(fact: Fact) -> bool:
    """Whether a fact is a small whole number by itself."""
    return fact.kind is Kind.NUMBER and not fact.highs and 1 < fact.values[0] <= _LARGEST_FACTOR


def _converts(fact: Fact, other: Fact) -> bool:
    if fact.unit != other.unit or fact.system == other.system:
        return False
    # A degree or two, and the like, is lost when a temperature is converted and rounded.
    slack = 1.5 if fact.unit == "temperature" else 0.0
    mine, theirs = (*fact.values, *fact.highs), (*other.values, *other.highs)
    return any(abs(a - b) <= _CONVERTED * abs(b) + slack for a in mine for b in theirs)


def _worked_out(fact: Fact, others: Sequence[Fact]) -> list[float]:
    alike = [other for other in others if other.unit == fact.unit]
    results: list[float] = []
    for a, b in permutations(alike, 2):
        results += [a.values[0] + b.values[0], a.values[0] - b.values[0]]
    for a, b in permutations(others, 2):
        if a.unit == fact.unit and b.kind is Kind.PERCENT and a.kind is not Kind.PERCENT:
            share = a.values[0] * b.values[0] / 100
            results += [share, a.values[0] - share, a.values[0] + share]
        if a.unit == fact.unit and b.kind is Kind.NUMBER:
            results.append(a.values[0] * b.values[0])
            results += [
                a.values[0] * b.values[0] * c.values[0]
                for c in islice(others, _LOOKED_AT)
                if c.kind is Kind.NUMBER and c is not b and c is not a
            ]
    factor = fact.measure.factor if fact.measure else 1.0
    return [result / factor for result in results]


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= _SAME * max(abs(a), abs(b))
