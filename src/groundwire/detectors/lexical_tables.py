"""A table of a passage, as its cells: their figures, and the names of its rows and columns."""

from __future__ import annotations

import re

from groundwire.core.cached import cached_property
from groundwire.text.called import Names
from groundwire.text.facts import Fact, Kind
from groundwire.text.grid import Grid
from groundwire.text.overlap import Context, Match

At = tuple[int, int]
"""A cell: the numbers of its row and of its column of values."""

IN_CELLS = frozenset([Kind.NUMBER, Kind.MEASURE, Kind.PERCENT, Kind.MONEY, Kind.TIME])
"""The kinds of figures that are looked for in cells."""


class Table:
    """A table of a passage: its figures by cell, and the names of its rows and columns."""

    def __init__(self, context: Context, passage: int, grid: Grid) -> None:
        self._text, self._passage, self.grid = context.passages[passage].text, passage, grid
        self._context = context

    @cached_property
    def rows(self) -> Names:
        words = [
            " ".join(cell.of(self._text) for cell in row if _A_NAME.fullmatch(cell.of(self._text)))
            for row in self.grid.rows
        ]
        above = f"{self.grid.title.of(self._text)} {self.grid.heads[self.grid.label].of(self._text)}"
        return Names([self.grid.named(i).of(self._text) for i in range(len(words))], words, above=above)

    @cached_property
    def columns(self) -> Names:
        return Names([self.grid.heads[column].of(self._text) for column in self.grid.columns])

    @cached_property
    def figures(self) -> dict[At, list[Fact]]:
        """The figures of each cell, as they stand and with their unit."""
        found = sorted(
            (fact for some in self._context.passages[self._passage].figures for fact in some),
            key=lambda fact: fact.span.start,
        )
        cells: dict[At, list[Fact]] = {}
        at = 0
        for i, row in enumerate(self.grid.rows):
            for column in self.grid.columns:
                cell = row[column]
                while at < len(found) and found[at].span.start < cell.start:
                    at += 1
                while at < len(found) and found[at].span.end <= cell.end:
                    cells.setdefault((i, column - self.grid.label - 1), []).append(found[at])
                    at += 1
        return cells

    @cached_property
    def at(self) -> dict[int, At]:
        """Where each of its figures stands, by the figure's identity."""
        return {id(fact): at for at, found in self.figures.items() for fact in found}

    def is_value(self, at: At) -> bool:
        """Whether a cell has its figure and hardly a word more."""
        cell = self.grid.rows[at[0]][self.grid.columns[at[1]]].of(self._text)
        return len(_WORD.findall(cell)) <= 1 and len(cell.split()) <= _VALUES

    @cached_property
    def is_series(self) -> bool:
        """Whether its columns are one measure at several times."""
        return all(_A_TIME.search(self.head(column)) for column in range(len(self.grid.columns)))

    def value(self, at: At) -> Fact | None:
        """The one figure of a cell; None where it has none, or several."""
        found = [fact for fact in self.figures.get(at, ()) if fact.kind in IN_CELLS and not fact.highs]
        return found[0] if len({fact.span for fact in found}) == 1 else None

    def signed(self, fact: Fact) -> float:
        """The value of a cell's figure, which is below zero in brackets."""
        end = fact.span.end
        in_brackets = (
            self._text[fact.span.start - 1 : fact.span.start] == "(" and self._text[end : end + 1] == ")"
        )
        return -fact.values[0] if in_brackets else fact.values[0]

    def name(self, row: int) -> str:
        return self.grid.named(row).of(self._text)

    def head(self, column: int) -> str:
        return self.grid.heads[self.grid.columns[column]].of(self._text)

    def is_total(self, row: int) -> bool:
        return _TOTAL.search(self.name(row)) is not None

    def said(self, at: At) -> str:
        """What a cell says, in small letters."""
        return self.grid.rows[at[0]][self.grid.columns[at[1]]].of(self._text).lower()

    def row(self, number: int) -> Match:
        """Where a row stands."""
        return self._context.match_at(self._passage, self.grid.rows[number][0].start)

    def where(self, fact: Fact) -> Match:
        return self._context.match_at(self._passage, fact.span.start)


_TOTAL = re.compile(
    r"\b(?:total|sum|overall|all|group|net|average|mean|median|gesamt|summe)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_VALUES = 3
_A_TIME = re.compile(r"(?<![^\W_])(?:(?:19|20)\d\d|FY ?\d\d|[QH][1-4])(?![^\W_])", re.IGNORECASE)
_A_NAME = re.compile(r"[^\W\d_a-z][^\W\d_]+(?:[ -][^\W\d_]+)?")
