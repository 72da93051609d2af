"""Shares: percentages, fractions in words ("two thirds") and ratios ("two in five"), and what they are of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from groundwire.core.span import Span
from groundwire.text import conversion
from groundwire.text.fact import Fact, Kind
from groundwire.text.steps import Result, Step, rounding

# A third is 33 or 33.3 percent.
_POINTS = 0.7
_RATIO = re.compile(r" (?:in|out of)(?: every)? ")
_CENT, _FEW = 100.0, 4


def fraction(fact: Fact) -> bool:
    """Whether a figure is a part of one: "a quarter", "two in five", "3/4", and not the price "0.75"."""
    if fact.kind is not Kind.NUMBER or fact.highs or not 0 < fact.values[0] < 1:
        return False
    return "." not in fact.text and "," not in fact.text


def decimal(fact: Fact) -> bool:
    """Whether a figure is a share written as a decimal: the 0.934 of "accuracy = 0.934"."""
    if fact.kind is not Kind.NUMBER or fact.highs or not 0 < fact.values[0] < 1:
        return False
    return conversion.decimals(fact.text, fact.values[0]) > 1


def as_decimal(fact: Fact, others: Sequence[Fact]) -> Iterator[Result]:
    """The percentages that a share written as a decimal says over again."""
    if decimal(fact):
        for other in others:
            if other.kind is Kind.PERCENT and not other.highs:
                yield Result(Step.SHARE, other.values[0] / _CENT, (other,), "{0}", rounding(fact))


def left_of_all(others: Sequence[Fact]) -> Iterator[Result]:
    """What percentages leave of all, one of them or two."""
    found = [other for other in others if other.unit == "percent" and not other.highs][:_FEW]
    yield from (_left(one) for one in found)
    yield from (_left(one, other) for one, other in combinations(found, 2))


def _left(*some: Fact) -> Result:
    value = _CENT - sum(one.values[0] for one in some)
    return Result(Step.DIFFERENCE, value, some, "100 % − {0}" if len(some) == 1 else "100 % − {0} − {1}")


def ratios(facts: Sequence[Fact]) -> list[Fact]:
    """What neighbouring figures say together: "one in five" is a fifth."""
    return [ratio for a, b in pairwise(facts) if (ratio := _ratio(a, b)) is not None]


def _ratio(a: Fact, b: Fact) -> Fact | None:
    if a.source is not b.source or not a.kind is b.kind is Kind.NUMBER or a.highs or b.highs:
        return None
    x, y = a.values[0], b.values[0]
    if not 0 < x < y or not _RATIO.fullmatch(a.source[a.span.end : b.span.start]):
        return None
    return replace(a, span=Span(a.span.start, b.span.end), values=(x / y,), numbers=(x / y,), soft=False)


def stated_as(fact: Fact, ratio: Fact, others: Sequence[Fact]) -> Iterator[Result]:
    """The shares that a fraction or ratio, of which ``fact`` is a figure or all, says over again."""
    value = fact.values[0]
    for other in others:
        if other.kind is Kind.PERCENT and abs(_CENT * ratio.values[0] - other.values[0]) <= _POINTS:
            yield Result(Step.SHARE, value, (other,), "{0}")
        if fraction(other) and abs(ratio.values[0] - other.values[0]) <= 1e-6:
            yield Result(Step.SHARE, value, (other,), "{0}")
    for less, more in _pairs(others):
        if abs(ratio.values[0] - less.values[0] / more.values[0]) <= 1e-3:
            yield Result(Step.SHARE, value, (less, more), "{0} of {1}")


def percentages(
    fact: Fact, others: Sequence[Fact], cues: frozenset[Step], *, alone: bool
) -> Iterator[Result]:
    """Which share one figure is of another, or by which it changed; ``alone`` where there are no more."""
    slack = rounding(fact)
    for other in others:
        if fraction(other):
            yield Result(Step.SHARE, _CENT * other.values[0], (other,), "{0}", max(slack, _POINTS / 2))
        if decimal(other):
            yield Result(Step.SHARE, _CENT * other.values[0], (other,), "{0}", slack)
    for less, more in _pairs(others):
        low, high = less.values[0], more.values[0]
        if Step.DIFFERENCE in cues:
            if less.source is not more.source:  # nothing tells which came first
                continue
            first, last = (less, more) if less.span.start < more.span.start else (more, less)
            change = _CENT * (high - low) / first.values[0]
            yield Result(Step.SHARE, change, (first, last), "from {0} to {1}", slack)
            continue
        yield Result(Step.SHARE, _CENT * low / high, (less, more), "{0} of {1}", slack)
        if alone:
            yield Result(Step.SHARE, _CENT * low / (low + high), (less, more), "{0} and {1}", slack)
            yield Result(Step.SHARE, _CENT * high / (low + high), (less, more), "{0} and {1}", slack)


def _pairs(others: Sequence[Fact]) -> Iterator[tuple[Fact, Fact]]:
    counts = [o for o in others if o.kind in (Kind.NUMBER, Kind.MEASURE, Kind.MONEY)]
    counts = [o for o in counts if not o.highs and not o.soft and o.values[0] >= 1]
    for a, b in combinations(counts, 2):
        if a.kind is b.kind and a.unit == b.unit and a.values[0] != b.values[0]:
            yield (a, b) if a.values[0] < b.values[0] else (b, a)
