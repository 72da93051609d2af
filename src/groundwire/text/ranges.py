"""Neighbouring facts that are one: ranges, compounds, and figures that share a unit."""

from __future__ import annotations

import re
from dataclasses import replace

from groundwire.core.span import Span
from groundwire.text import clock
from groundwire.text.fact import Fact, Kind
from groundwire.text.units import MAGNITUDES

_JOINER = re.compile(
    r"\.?[ ]?(?:-|–|—|−|to|through|until|till|bis|à|hasta|tot|alle|às|and|und|et|y|en|or|oder|ou|o)[ ]?"
    r"(?:about )?[$€£+]?"
)
_TIMES = re.compile(r"[ ]?(?:×|x|by|\*)[ ]?")
_AND = frozenset({"and", "und", "et", "y", "en"})
_OR = frozenset({"or", "oder", "ou", "o"})
_BETWEEN = ("between", "zwischen", "entre", "tussen", "from", "von", "de")
_BY = re.compile(
    r"\b(?:by|(?:rise|increase|gain|growth|jump|drop|fall|decline|decrease|reduction|cut) of)"
    r"(?: (?:about|around|roughly|approximately|nearly|almost|some|just|a|an))* \Z"
)
_AND_A = " and a "
_PARTS = frozenset({"half", "quarter"})
_TIMES_OF = frozenset({"time", "months"})
_COMPOUND_GAPS = frozenset({" ", " and ", ", ", ""})
_HOURS = 24
_COMPOUNDED = frozenset({"time", "months", "length", "mass"})
_LONGEST_GAP = 14
_HEAD = 32


def append(facts: list[Fact], fact: Fact, lowered: str) -> None:
    """Add a fact to those before it, joining what belongs together."""
    if facts:
        last = facts[-1]
        gap = lowered[last.span.end : fact.span.start]
        if len(gap) < _LONGEST_GAP:
            if _TIMES.fullmatch(gap):
                _share_backwards(facts, fact, lowered)
            else:
                head = lowered[max(0, last.span.start - _HEAD) : last.span.start]
                joined = _join(last, fact, gap, head)
                if joined is not None:
                    facts[-1:] = joined
                    return
    facts.append(fact)


def _share_backwards(facts: list[Fact], fact: Fact, lowered: str) -> None:
    """In "55 × 40 × 23 cm" every figure is in centimetres."""
    end = fact.span.start
    for i in range(len(facts) - 1, -1, -1):
        left = facts[i]
        if not _TIMES.fullmatch(lowered[left.span.end : end]) or left.kind is not Kind.NUMBER:
            return
        if fact.kind is not Kind.MEASURE or not left.values or left.highs:
            return
        facts[i] = _with_unit(left, fact)
        end = left.span.start


def _join(left: Fact, right: Fact, gap: str, head: str) -> list[Fact] | None:
    compound = _compound(left, right, gap)
    if compound is not None:
        return [compound]
    if gap == "" and right.kind is Kind.NUMBER and right.values and right.values[0] < 0 and not left.highs:
        # "23-32": the hyphen is no minus
        right = replace(
            right, values=tuple(-v for v in right.values), numbers=tuple(-v for v in right.numbers)
        )
        gap = "-"
    if _JOINER.fullmatch(gap) is None:
        return None
    if right.kind is Kind.DATE:
        return _dates(left, right)
    word = gap.strip(" .")
    if word in _OR or (word in _AND and not head.rstrip().endswith(_BETWEEN)):
        return _share_unit(left, right)
    if word == "to" and _BY.search(head):
        return None  # "fell by 3 million to 21 million": by how much, and to what
    return _range(left, right)


def _compound(left: Fact, right: Fact, gap: str) -> Fact | None:
    """In "2 hours 30 minutes" the parts add up, as in "an hour and a half"; "2 hours" still names it."""
    if gap == _AND_A and right.text.lower() in _PARTS and left.unit in _TIMES_OF and not left.highs:
        assert left.measure is not None
        value = left.values[0] + right.values[0] * left.measure.factor
        numbers = (left.numbers[0] + right.values[0],)
        span = Span(left.span.start, right.span.end)
        return replace(left, span=span, values=(value,), numbers=numbers, soft=False)
    if not (left.kind is right.kind is Kind.MEASURE) or left.unit != right.unit or gap not in _COMPOUND_GAPS:
        return None
    if left.unit not in _COMPOUNDED or left.system != right.system or left.highs or right.highs:
        return None
    if left.measure is None or right.measure is None or left.measure.factor <= right.measure.factor:
        return None
    first = left.values[0]
    if abs(right.values[0]) >= abs(left.measure.factor):
        return None
    return replace(left, span=Span(left.span.start, right.span.end), values=(first + right.values[0], first))


def _dates(left: Fact, right: Fact) -> list[Fact] | None:
    if left.kind is Kind.NUMBER and not left.highs and _is_day(left):
        dates = tuple((y, m, int(left.values[0])) for y, m, d in right.dates if m and d)
        if not dates:
            return None
        return [replace(left, kind=Kind.DATE, dates=dates, values=(), numbers=()), right]
    if left.kind is Kind.DATE:
        years = [y for y, _, _ in right.dates if y]
        if years and all(m and not y for y, m, _ in left.dates):
            left = replace(left, dates=tuple((years[0], m, d) for _, m, d in left.dates))
        return [left, right]
    return None


def _is_day(fact: Fact) -> bool:
    return (
        fact.measure is None
        and len(fact.values) == 1
        and 1 <= fact.values[0] <= 31
        and fact.values[0].is_integer()
    )


def _share_unit(left: Fact, right: Fact) -> list[Fact] | None:
    """In "two or three days" the first figure has the second's unit."""
    if left.kind is not Kind.NUMBER or left.soft or left.highs or not left.values:
        return None
    if right.measure is None or right.kind is Kind.TIME:
        return None
    return [_with_unit(left, right), right]


def _with_unit(left: Fact, right: Fact) -> Fact:
    unit = right.measure
    assert unit is not None
    values = tuple(number * unit.factor + unit.offset for number in left.numbers)
    return replace(left, kind=right.kind, measure=unit, values=values, label="")


def _range(left: Fact, right: Fact) -> list[Fact] | None:
    if left.highs or right.highs or not left.values or not right.values:
        return None
    if right.kind is Kind.TIME and left.kind is Kind.NUMBER:
        hour = left.values[0]
        if not (hour.is_integer() and 0 <= hour <= _HOURS):
            return None
        left = replace(left, kind=Kind.TIME, measure=right.measure, values=clock.minutes(int(hour), 0, None))
    elif left.kind is Kind.NUMBER and right.measure is not None:
        left = _with_unit(left, right)
    elif right.kind is Kind.NUMBER and (left.kind is Kind.MONEY or _keyed(left)):
        right = _with_unit(right, left)
    if left.unit != right.unit:
        return None
    left = _as_many(left, right)
    return [
        replace(
            left,
            span=Span(left.span.start, right.span.end),
            highs=right.values,
            numbers=(*left.numbers, *right.numbers),
            soft=False,
        )
    ]


def _keyed(fact: Fact) -> bool:
    """Whether its unit stands before it, in the name of a setting: "days: 3-5"."""
    return fact.kind is Kind.MEASURE and fact.text[-1:].isdigit()


def _as_many(left: Fact, right: Fact) -> Fact:
    """The left end of a range with the right one's magnitude: "318-324 million" are millions."""
    many = [MAGNITUDES.get(word, 1.0) for word in _WORDS.findall(right.text.lower())]
    times = max(many, default=1.0)
    own = any(word in MAGNITUDES for word in _WORDS.findall(left.text.lower()))
    if own or left.values[0] * times > right.values[0]:
        return left
    values, numbers = (tuple(value * times for value in side) for side in (left.values, left.numbers))
    return replace(left, values=values, numbers=numbers)


_WORDS = re.compile(r"[^\W\d_]+")
