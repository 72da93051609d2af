"""Figures of a table whose unit stands above them: "Height (m)", "Revenue, EUR million", "in thousands of $".

A cell then says only "142.6". It is read as it stands, and once more with what its column, or else a note in
the same text, says that it is in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from groundwire.core.span import Span
from groundwire.text.fact import Fact, Kind
from groundwire.text.numerals import read


def with_units(
    text: str, rows: Sequence[Span], found: Sequence[Sequence[Fact]]
) -> Iterator[tuple[int, Fact]]:
    """The figures of ``rows`` once more with the units above them, each with the number of its row.

    ``rows`` are the sentences of ``text``, of which those that begin with a bar are a table's, and ``found``
    the figures of each.
    """
    note: str | None = None
    own: list[str] = []
    units: list[str] = []
    inside = False
    for number, row in enumerate(rows):
        if text[row.start] != "|":
            inside = False
            continue
        if not inside:
            inside = True
            note = _noted(text) if note is None else note
            cells = row.of(text).split("|")
            all_in = _all_in(cells[1]) or note
            own = [_unit(cell) for cell in cells]
            units = [unit or all_in for unit in own]
        for fact in found[number]:
            if (fact.kind is Kind.NUMBER and not (fact.highs or fact.label)) or fact.is_bare_year:
                column = text.count("|", row.start, fact.span.start)
                given = own if fact.is_bare_year else units
                unit = given[column] if column < len(given) else ""
                if unit and (one := _with(fact, unit)) is not None:
                    yield number, one


def _unit(head: str) -> str:
    """The unit that a column's head names, "" where it names none."""
    found = _IN_BRACKETS.search(head) or _AFTER_COMMA.search(head)
    return found[1].strip() if found else ""


def _all_in(corner: str) -> str:
    """The currency and magnitude of a table that has them in its first head: "EUR m", "in $ thousands"."""
    found = _CORNER.fullmatch(corner.strip(" *_()"))
    if found is None:
        return ""
    return f"{found['sign'] or found['of']} {found['so_many'] or found['many'] or ''}".strip()


def _noted(text: str) -> str:
    """The currency and magnitude that a text says all its amounts are in."""
    found = _NOTE.search(text)
    if found is None:
        return ""
    currency = found["sign"] or found["of"]
    return f"{currency} {found['so_many'] or found['many']}"


def _with(fact: Fact, unit: str) -> Fact | None:
    """The figure with a unit, at its own place; None where that makes no figure with a unit."""
    money = _CURRENCY.fullmatch(unit)
    written = f"{money[1]} {fact.text} {_MAGNITUDES.get(money[2], '')}" if money else f"{fact.text} {unit}"
    said = read(written.strip())
    if len(said) != 1 or not said[0].unit:
        return None
    return replace(said[0], span=fact.span, source=fact.source)


_IN_BRACKETS = re.compile(r"[(\[](?:in )?([^()\[\]]{1,20})[)\]]\W*\Z")
_AFTER_COMMA = re.compile(r", (?:in )?([^,]{1,20}?)\W*\Z")
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
_CURRENCY = re.compile(rf"({_SIGNS}|euros?|dollars?|pounds?)\s*({_MANY})?")
_CORNER = re.compile(
    rf"(?:in |amounts in )?(?:(?P<sign>{_SIGNS}) ?['’]?(?P<so_many>{_MANY})?"
    rf"|(?P<many>{_MANY})\.? (?:of )?(?P<of>{_SIGNS}))",
    re.IGNORECASE,
)
_NOTE = re.compile(
    rf"\b(?:in|amounts:?) (?:(?P<sign>{_SIGNS}) ?(?P<so_many>{_MANY})\b"
    rf"|(?P<many>thousands|millions|billions) of (?P<of>{_SIGNS}|euros?|dollars?|pounds?)(?!\w))"
)
