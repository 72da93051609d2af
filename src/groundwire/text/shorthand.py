"""What a figure with one letter for its unit may mean: the "5m" of a timeout, the "5m" of a size."""

from __future__ import annotations

import re
from dataclasses import replace

from groundwire.text.fact import Fact, Kind
from groundwire.text.units import UNITS

_SHORT = re.compile(r"(\d+(?:\.\d+)?)([kmgtdw])", re.IGNORECASE)
_MEANT = {"k": ("kb",), "m": ("minutes", "mb"), "g": ("gb",), "t": ("tb",), "d": ("days",), "w": ("weeks",)}


def in_full(fact: Fact) -> tuple[Fact, ...]:
    """What it may mean in settings, beside what it says: "90d" are 90 days. Mostly nothing."""
    may_be = not fact.highs and fact.text[-1:].lower() in _MEANT
    found = _SHORT.fullmatch(fact.text) if may_be else None
    if found is None:
        return ()
    number = float(found[1])
    measures = [UNITS[name] for name in _MEANT[found[2].lower()]]
    return tuple(
        replace(
            fact,
            kind=Kind.MEASURE,
            code="",
            measure=measure,
            numbers=(number,),
            values=(number * measure.factor,),
        )
        for measure in measures
    )


def alike(fact: Fact, other: Fact) -> tuple[Fact, Fact]:
    """Two facts in one unit, where one is written in short and may mean what the other measures."""
    if fact.unit == other.unit:
        return fact, other
    fact = next((full for full in in_full(fact) if full.unit == other.unit), fact)
    other = next((full for full in in_full(other) if full.unit == fact.unit), other)
    return fact, other
