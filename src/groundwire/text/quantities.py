"""Quantities of figures: bare numbers, measures, percentages and amounts of money, with what bounds them."""

from __future__ import annotations

import re

from groundwire.core.span import Span
from groundwire.text import beside, keyed
from groundwire.text.cased import Cased
from groundwire.text.fact import Fact, Kind
from groundwire.text.figures import Figure, Shape
from groundwire.text.units import BOUNDS, HEDGES, MONEY, Unit


def read(cased: Cased, figure: Figure) -> Fact:
    """The quantity that a figure is, with its unit or currency, its sign and its bound."""
    start, end, values = figure.start, figure.end, figure.values
    money = None if figure.spoken else beside.currency(cased, start)
    magnitude = beside.magnitude(cased, end, money=money is not None)
    if magnitude is not None:
        times, end = magnitude
        values = tuple([value * times for value in values])
    if cased.lowered[start - 1 : start] in ("-", "−") and cased.head(start, 2)[:-1] in ("", " ", "("):
        start, values = start - 1, tuple(-value for value in values)
    counts = None if figure.shape in (Shape.TIMES, Shape.ORDINAL) else beside.unit(cased, end)
    unit, stop = (money[0], end) if money else counts or (keyed.unit(cased.text, start), end)
    if unit is not None and unit.dimension in _SIGNED:
        below = _BELOW.match(cased.lowered, stop)
        if cased.head(start).endswith(_MINUS):
            start, values = start - len(_MINUS), tuple(-value for value in values)
        elif below is not None:
            stop, values = below.end(), tuple(-value for value in values)
    if money:
        start = money[1]
    if unit is None or unit.dimension in (*MONEY, "percent"):
        values = _either_way(cased, start, stop if unit else end, values)
    words = cased.head(start).rstrip("$€£ ").split()[-4:]
    return Fact(
        kind=_kind(unit),
        span=Span(start, stop if unit else cased.past_ordinal(end)),
        source=cased.text,
        values=tuple([value * unit.factor + unit.offset for value in values]) if unit else values,
        numbers=values,
        measure=unit,
        bound=_bound(words),
        hedged=_hedges(words, cased.lowered[start - 1 : start]),
        label=_label(cased, start) if unit is None else "",
        soft=figure.shape is Shape.ARTICLE or (figure.shape is Shape.VAGUE and unit is None),
    )


def _either_way(cased: Cased, start: int, end: int, values: tuple[float, ...]) -> tuple[float, ...]:
    """The readings of "down 6.8%" and "a loss of 3 million", which a table may have with a minus."""
    lower = _LOWER.search(cased.head(start, _HEAD)) or _LESS.match(cased.lowered, end)
    return (*values, *(-value for value in values)) if lower and values[0] > 0 else values


_HEAD = 40
_LOWER = re.compile(
    r"\b(?:down|minus|f[ae]ll(?:en|s|ing)?|drop(?:s|ped|ping)?|declin(?:es?|ed|ing)|decreas(?:es?|ed|ing)"
    r"|shr[aiu]nk|lost|contracted|reduc(?:ed|tion)|loss|discount|deduction|deficit|negative|outflows?)"
    r"(?: by| of)?(?: (?:only|just|about|around|some|roughly|nearly|almost))?[ (]?\Z"
)
_LESS = re.compile(r" (?:lower|less|down|fewer|decline|decrease|drop|fall|loss|discount|reduction)\b")
_SIGNED = frozenset({"temperature", "degrees"})
_MINUS = "minus "
_BELOW = re.compile(r" below (?:zero|freezing)\b")
# Words between a bound and its figure: "at least the first 3".
_FILLERS = frozenset({"of", "the", "a", "an", "about"})


def _kind(unit: Unit | None) -> Kind:
    if unit is None:
        return Kind.NUMBER
    if unit.dimension in MONEY:
        return Kind.MONEY
    return Kind.PERCENT if unit.dimension.startswith("percent") else Kind.MEASURE


def _bound(words: list[str]) -> int:
    while words and words[-1] in _FILLERS:
        words = words[:-1]
    for n in (3, 2, 1):
        bound = BOUNDS.get(" ".join(words[-n:]))
        if bound is not None:
            return bound
    return 0


def _hedges(words: list[str], before: str) -> bool:
    return before in ("~", "≈") or (
        bool(words) and (words[-1].rstrip(".") in HEDGES or words[-1] in ("~", "≈"))
    )


def _label(cased: Cased, start: int) -> str:
    """The name right before a bare number: "Terminal 2", "Form 1040"."""
    words = cased.text[max(0, start - 20) : start].rstrip(" #(").split()
    return words[-1].lower() if words and words[-1].isalpha() and words[-1][0].isupper() else ""
