"""Tables as cells: each with the label of its row and the head of its column.

A table's rows are lines with bars; what is written otherwise gets them in ``columns``. What a cell's figure
means is for ``headed``, and what a claim says of it for the detectors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from groundwire.core.span import Span
from groundwire.text.layout import RULE, Line, lines
from groundwire.text.remembered import Remembered


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: the ``heads`` of its columns, its ``rows``, and the line above it, empty where there is none.

    All rows have as many cells as there are heads; the one numbered ``label`` names the row.
    """

    title: Span
    heads: tuple[Span, ...]
    rows: tuple[tuple[Span, ...], ...]
    label: int

    @property
    def columns(self) -> range:
        """The numbers of the columns of values."""
        return range(self.label + 1, len(self.heads))

    def named(self, row: int) -> Span:
        """What names a row: "Net total" stands where other rows have their numbers."""
        return self.rows[row][self.label] or self.rows[row][0]


def grids(text: str) -> tuple[Grid, ...]:
    """The tables of ``text`` that have heads, in order."""
    return _GRIDS.of(text) if "|" in text else ()


def _read(text: str) -> tuple[Grid, ...]:
    return tuple(grid for block in _blocks(text) if (grid := _grid(text, block)) is not None)


_GRIDS = Remembered(_read, most=1_000_000)


def _blocks(text: str) -> Iterator[list[Line]]:
    """The line above each table, and its rows.

    HTML leaves blank lines between rows; a rule below one of them begins another table with it.
    """
    above, rows = Line("", 0), list[Line]()
    for line in lines(text):
        if "|" in line.text:
            if len(rows) > 1 and _is_rule(line):
                yield [above, *rows[:-1]]
                above, rows = Line("", 0), rows[-1:]
            rows.append(line)
        elif line.text:
            if rows:
                yield [above, *rows]
            above, rows = line, []
    if rows:
        yield [above, *rows]


def _is_rule(line: Line) -> bool:
    return RULE.fullmatch(line.text) is not None


def _grid(text: str, block: Sequence[Line]) -> Grid | None:
    """A table with a head, and at least one row as wide."""
    title, *body = block
    framed = all(line.text.startswith("|") for line in body)
    split = [_cells(line, framed=framed) for line in body if not _is_rule(line)]
    heads = split[0] if split else []
    rows = [tuple(row) for row in split[1:] if len(row) == len(heads)]
    ruled = any(map(_is_rule, body[1:2]))
    if len(heads) < _LEAST_COLUMNS or not rows or not (ruled or _are_heads(text, heads)):
        return None
    numbers = [row[0].of(text).strip(".") for row in rows]
    numbered = len(heads) > _LEAST_COLUMNS and numbers[:2] == ["1", "2"]
    above = Span(title.start, title.start + len(title.text))
    return Grid(title=above, heads=tuple(heads), rows=tuple(rows), label=int(numbered))


_LEAST_COLUMNS = 2


def _are_heads(text: str, cells: Sequence[Span]) -> bool:
    """Whether a first row heads columns where no rule tells: it has words and years, and no other figures."""
    said = [cell.of(text) for cell in cells]
    return not any(_VALUE.fullmatch(one) and not _YEAR.fullmatch(one) for one in said)


def _cells(line: Line, *, framed: bool) -> list[Span]:
    """The cells of a row, without the blanks around them; in a frame, it begins with a bar."""
    row = line.text
    start = int(framed)
    end = len(row) - 1 if framed and len(row) > 1 and row.endswith("|") else len(row)
    found: list[Span] = []
    at = start
    for piece in row[start:end].split("|"):
        inner = piece.strip()
        begin = line.start + at + len(piece) - len(piece.lstrip()) if inner else line.start + at
        found.append(Span(begin, begin + len(inner)))
        at += len(piece) + 1
    return found


_VALUE = re.compile(r"[-+−(]?[$€£]?\d[\d.,:%]*\)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
