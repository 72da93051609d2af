"""Reading figures as facts: the order in which a figure is tried as a code, a date, a time and a quantity.

Where the digits stand is found by ``figures``; each reading of one figure is a module of its own; which
neighbours are one fact is decided by ``ranges``; comparing facts is ``facts``' task.
"""

from __future__ import annotations

from groundwire.text import codes, dates, figures, labels, quantities, ranges, times
from groundwire.text.cased import Cased, both
from groundwire.text.fact import Fact
from groundwire.text.figures import Figure, Shape


def read(text: str) -> list[Fact]:
    """Every exact fact of ``text``, ordered and disjoint."""
    cased = both(text)
    facts: list[Fact] = []
    labelled = -1  # where the last "Passage 2" ended
    for figure in figures.find(cased.lowered):
        end = facts[-1].span.end if facts else 0
        if figure.start < end:
            continue
        fact = None if figure.spoken else codes.read(cased, figure)
        if fact is None and not figure.spoken and labels.is_label(cased, figure, labelled):
            labelled = figure.end
            continue
        fact = fact or _said(cased, figure)
        if fact is not None and fact.span.start >= end:
            ranges.append(facts, fact, cased.lowered)
    return facts


_IN_DIGITS = (Shape.ISO, Shape.ISO_MONTH, Shape.SLASHED)
_MAYBE_DATED = (Shape.PLAIN, Shape.ORDINAL)
_MAYBE_TIMED = (Shape.CLOCK, Shape.SPOKEN_CLOCK, Shape.PLAIN, Shape.SPOKEN)
_UNNUMBERED = (*_IN_DIGITS, Shape.CLOCK, Shape.CODE, Shape.PHONE, Shape.SPOKEN_CLOCK, Shape.QUARTER)


def _said(cased: Cased, figure: Figure) -> Fact | None:
    """The date, the time of day or the quantity that a figure is; none of a "13/45/2024" or a "99:99"."""
    if figure.shape in _IN_DIGITS:
        return dates.in_digits(cased, figure)
    fact = None
    if figure.shape in _MAYBE_DATED:
        fact = dates.among_words(cased, figure)
    if fact is None and figure.shape in _MAYBE_TIMED:
        fact = times.read(cased, figure)
    if fact is None and figure.shape not in _UNNUMBERED:
        fact = quantities.read(cased, figure)
    return fact
