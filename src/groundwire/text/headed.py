"""Figures of a table whose unit stands above them: "Height (m)", "Revenue, EUR million", "in thousands of $".

A cell then says only "142.6". It is read as it stands, and once more with what its column or its row, or else
the table's corner, the line above it or a note in the same text, says that it is in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from groundwire.core.span import Span
from groundwire.text.fact import Fact, Kind
from groundwire.text.grid import Grid, grids
from groundwire.text.numerals import read
from groundwire.text.units import UNITS


def with_units(text: str, found: Sequence[Sequence[Fact]]) -> Iterator[tuple[int, Fact]]:
    """The figures of tables once more with the units above or before them, each with its sentence's number.

    ``found`` are the figures of each sentence of ``text``.
    """
    tables = grids(text)
    cells = iter([cell for grid in tables for cell in _united(text, grid)])
    cell = next(cells, None)
    for number, facts in enumerate(found):
        for fact in facts:
            while cell is not None and cell[0].end <= fact.span.start:
                cell = next(cells, None)
            if cell is None:
                return
            span, own, unit = cell
            bare = fact.kind is Kind.NUMBER and not (fact.highs or fact.label)
            given = own if fact.is_bare_year else unit
            if given and span.start <= fact.span.start and (bare or fact.is_bare_year):
                one = _with(fact, given)
                if one is not None:
                    yield number, one


def _united(text: str, grid: Grid) -> Iterator[tuple[Span, str, str]]:
    """The cells of a table's values in order, the unit of the column of each, and the one that it is in."""
    columns = [_unit(head.of(text)) for head in grid.heads]
    named = [_measure(_unit(grid.named(number).of(text))) for number in range(len(grid.rows))]
    all_in = _all_in(grid.heads[0].of(text)) or _titled(grid.title.of(text)) or _noted(text)
    units = [head.of(text).strip().lower() in _UNITS for head in grid.heads]
    for number, row in enumerate(grid.rows):
        here = next((cell.of(text) for cell, is_unit in zip(row, units, strict=True) if is_unit), "")
        here = here or named[number]
        for column in grid.columns:
            yield row[column], columns[column], columns[column] or here or all_in


def _unit(head: str) -> str:
    """The unit that a column's head names, "" where it names none."""
    found = _IN_BRACKETS.search(head) or _AFTER_COMMA.search(head)
    if found:
        unit = found[1].split(",")[0].strip()
        return "" if unit[:1].isdigit() else unit
    last = _LAST.search(head)
    return last[1] if last else ""


def _measure(unit: str) -> str:
    """What is surely a unit: in brackets, a row has other things, too."""
    return unit if _amounts(unit) or _MEASURED.match(unit) else ""


def _all_in(corner: str) -> str:
    """The currency and magnitude of a table that has them in its first head: "EUR m", "in $ thousands"."""
    parts = [corner, *_PARTS.split(corner)]
    return next((unit for part in parts if (unit := _amounts(part.strip(" *_()")))), "")


def _amounts(said: str) -> str:
    found = _CORNER.fullmatch(said)
    if found is None:
        return ""
    return f"{found['sign'] or found['of']} {found['so_many'] or found['many'] or ''}".strip()


def _titled(title: str) -> str:
    """The unit that the line above a table ends with: "Output, GWh", "Prices in EUR per night"."""
    parts = [part.strip(" *_()") for part in _PARTS.split(title)[1:]]
    amounts = next((unit for part in parts if (unit := _amounts(part))), "")
    if amounts:
        return amounts
    measured = next((part for part in parts if _MEASURED.match(part)), "")
    within = _WITHIN.search(title)
    return measured or (within[1] if within else "")


def _noted(text: str) -> str:
    """The currency and magnitude that a text says all its amounts are in."""
    found = _NOTE.search(text)
    if found is None:
        return ""
    currency = found["sign"] or found["of"]
    return f"{currency} {found['so_many'] or found['many']}"


def _with(fact: Fact, unit: str) -> Fact | None:
    """The figure with a unit, at its own place; None where that makes no figure with a unit."""
    money = _CURRENCY.match(unit)
    written = f"{fact.text} {unit}"
    if money:
        sign, many = money[1], _MAGNITUDES.get(money[2], "")
        written = f"{fact.text} {many} {sign}" if sign[-3:].islower() else f"{sign} {fact.text} {many}"
    said = read(written.strip())
    if not said or not (said[0].unit or said[0].values[:1] != fact.values[:1]) or said[0].highs:
        return None
    return replace(said[0], span=fact.span, source=fact.source)


_UNITS = frozenset(["unit", "units", "einheit", "unité", "unidad"])
_IN_BRACKETS = re.compile(r"[(\[](?:in )?([^()\[\]]{1,40})[)\]]\W*\Z")
_AFTER_COMMA = re.compile(r", (?:in )?([^,]{1,20}?)\W*\Z")
_PARTS = re.compile(r"[,()\[\]:]")
_SIGNS = r"[$€£¥₹]|(?:US|AU|CA)\$|EUR|USD|GBP|CHF|SEK|NOK|DKK|JPY|CAD|AUD|INR|PLN"
_MAGNITUDES = {
    written: word
    for word, forms in (
        ("thousand", "thousand thousands 000 000s k"),
        ("million", "million millions m mn mio"),
        ("billion", "billion billions bn"),
    )
    for written in forms.split()
}
_MANY = "|".join(sorted(_MAGNITUDES, key=len, reverse=True))
_CURRENCIES = r"(?:US |U\.S\. )?dollars?|euros?|pounds?"
_CURRENCY = re.compile(rf"({_SIGNS}|{_CURRENCIES})\s*['’]?(?:({_MANY})\b)?")
_CORNER = re.compile(
    rf"(?:in |amounts in )?(?:(?P<sign>{_SIGNS}) ?['’]?(?P<so_many>{_MANY})?"
    rf"|(?P<many>{_MANY})\.? (?:of )?(?P<of>{_SIGNS}|{_CURRENCIES}))",
    re.IGNORECASE,
)
_NOTE = re.compile(
    rf"\b(?:in|amounts:?) (?:(?P<sign>{_SIGNS}) ?(?P<so_many>{_MANY})\b"
    rf"|(?P<many>thousands|millions|billions) of (?P<of>{_SIGNS}|{_CURRENCIES})(?!\w))"
)
_WITHIN = re.compile(rf"\bin ((?:{_SIGNS})(?: (?:{_MANY}))?)\b")
_LAST = re.compile(rf"(%|\b(?:{_SIGNS})\b)(?: p\.a\.)?\Z")
_MEASURES = sorted((name for name in UNITS if len(name) > 1 or name == "%"), key=len, reverse=True)
_MEASURED = re.compile(
    rf"(?:in )?(?:(?:{'|'.join(map(re.escape, _MEASURES))})(?:(?: ?/| per | of ).*)?\Z"
    r"|(?:thousand|million|billion)s?(?!\w))",
    re.IGNORECASE,
)
