"""Whether a figure follows from others: a sum, difference, product, share or conversion.

Only from figures of the same claim that the documents bear out, or from two that the claim names, so that
chance has little to work with.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations, islice, permutations

from groundwire.text.fact import Fact, Kind

_CONVERTED = 0.03
_SAME = 1e-4
_LOOKED_AT = 7
_LEAST = 10
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
    if fact.kind is Kind.TIME or fact.highs or not fact.numbers or abs(fact.numbers[0]) < _LEAST:
        return False
    return any(_near(fact.numbers[0], result) for result in _worked_out(fact, others))


def adds_up(fact: Fact, others: Sequence[Fact], *, said: AbstractSet[str], told: bool) -> bool:
    """Whether ``fact`` is the sum or the difference of two of ``others``, or the sum of all of them.

    ``said`` are the stems of what says so. Unless it is ``told`` that something is added up, it has to name
    each of the two by a word that does not stand beside the other. Single digits are left out.
    """
    if fact.kind in _NEVER_ADDED or fact.highs or not fact.values or abs(fact.numbers[0]) < _LEAST:
        return False
    alike = [o for o in others if o.kind is fact.kind and o.unit == fact.unit and o.values and not o.highs]
    alike = list({other.values[0]: other for other in alike[:_LOOKED_AT]}.values())
    mine = fact.values[0]
    for a, b in combinations(alike, 2):
        x, y = a.values[0], b.values[0]
        named = bool(said & (a.around - b.around)) and bool(said & (b.around - a.around))
        if (told or named) and (_near(mine, x + y) or _near(mine, abs(x - y))):
            return True
    return told and len(alike) > 2 and _near(mine, sum(other.values[0] for other in alike))


_NEVER_ADDED = (Kind.DATE, Kind.CODE, Kind.TIME, Kind.PERCENT)


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
