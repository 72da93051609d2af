"""A claim beside the cells of the documents' tables: "North's revenue was 120", where the cell has 145.

A figure is held against a cell where the claim names one row and one column, or one row and a figure of one
column alone. It differs only where it is another cell's of that row or column, and no table or sentence bears
it out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from groundwire.core.cached import cached_property
from groundwire.core.span import Span
from groundwire.detectors.lexical_figures import Looked
from groundwire.detectors.lexical_tables import IN_CELLS, At, Table
from groundwire.text import facts
from groundwire.text.called import Called, Names, Stems, stems
from groundwire.text.facts import Checked, Fact, Kind, Status
from groundwire.text.grid import grids
from groundwire.text.overlap import Context, Match


@dataclass(frozen=True, kw_only=True, slots=True)
class Celled:
    """A figure of a claim beside the cell that it is said of: the cell's figure, and where that stands."""

    fact: Fact
    cell: Fact
    where: Match
    agrees: bool


class Cells:
    """The cells of the documents' tables, worked through once for all claims of an answer."""

    def __init__(self, context: Context, question: str) -> None:
        self._context = context
        self._asked = stems(question) if self.tables else ()

    @cached_property
    def tables(self) -> Sequence[Table]:
        return [
            Table(self._context, number, grid)
            for number, passage in enumerate(self._context.passages)
            for grid in grids(passage.text)
        ]

    def read(self, text: str, found: Sequence[Fact], above: Sequence[str]) -> list[Reading]:
        """A claim of the exact facts ``found`` beside each table of which it names a row or a column.

        ``above`` are the statements that it may go on from.
        """
        if not self.tables:
            return []
        stated = [fact for fact in found if not fact.soft and fact.kind in IN_CELLS]
        said, before = stems(text), [*map(stems, above), self._asked]
        read = (Reading(self._context, table, text, (said, before), stated) for table in self.tables)
        return [one for one in read if one.rows or one.columns]

    def told(self, read: Sequence[Reading], looked: Sequence[Looked]) -> tuple[Celled, ...]:
        """What a claim says of the cells of the tables that it was read beside."""
        own = {id(fact) for fact, checked, _ in looked if checked.derived is not None}
        agreeing: dict[int, list[Celled]] = defaultdict(list)
        differing: dict[int, Celled] = {}
        for reading in read:
            for one in reading.told():
                if one.agrees:
                    agreeing[id(one.fact)].append(one)
                elif id(one.fact) not in own and not self._told_elsewhere(one, reading, read):
                    differing.setdefault(id(one.fact), one)
        right = [
            some[0] for some in agreeing.values() if len(some) == len(_ends(some[0].fact)) or len(read) > 1
        ]
        return (*right, *(one for key, one in differing.items() if key not in agreeing))

    def _told_elsewhere(self, one: Celled, reading: Reading, read: Sequence[Reading]) -> bool:
        """Whether a sentence beside the tables, or another table's row that is named, has the figure, too."""
        mine = {stem for stem, _ in reading.said}
        for equal in islice(self._context.known.equal(one.fact), _LOOKED_AT):
            where = self._context.place_of(equal)
            if where is None:
                continue
            others = (other for other in read if other is not reading and id(equal) in other.table.at)
            if any(other.table.at[id(equal)][0] == row.number for other in others for row in other.rows):
                return True
            inside = any(id(equal) in table.at for table in self.tables)
            if not inside and len(mine.intersection(self._context.sentence(where).stems)) >= _SAID:
                return True
        return False


class Reading:
    """A claim read beside one table."""

    def __init__(
        self,
        context: Context,
        table: Table,
        text: str,
        said: tuple[Stems, Sequence[Stems]],
        found: Sequence[Fact],
    ) -> None:
        """``said`` are the names that the claim may use, and those of what it may go on from."""
        self.table, self.text, self.known = table, text, context.known
        self.said, self.before = said
        self.rows, self.columns = table.rows.called(self.said), table.columns.called(self.said)
        self.rows, self.columns = _apart_from(found, self.rows), _apart_from(found, self.columns)
        named = [*self.rows, *self.columns]
        mine = [fact for fact in found if not any(one.span.overlaps(fact.span) for one in named)]
        self.found = [end for fact in mine for end in _ends(fact)]
        self._whole = {id(end): fact for fact in mine for end in _ends(fact)}

    def in_their_row(self) -> Iterator[Fact]:
        """The figures of the claim that stand in the one row that it names."""
        rows = {one.number for one in self.rows}
        for fact in self.found if len(rows) == 1 else ():
            if any(row in rows for row, _ in self._places[id(fact)]):
                yield self._whole[id(fact)]

    @cached_property
    def _places(self) -> dict[int, set[At]]:
        """By its identity, the cells that each figure of the claim stands in."""
        return {id(fact): self._stands(fact) for fact in self.found}

    def told(self) -> Iterator[Celled]:
        """Each figure of the claim that the table has, beside the cell that it is clearly said of."""
        stands = self._places
        inside = [fact for fact in self.found if stands[id(fact)]]
        rows, columns = self._paired(self.rows, inside), self._paired(self.columns, inside)
        before = next(iter(_if_one(self._named_before(self.table.rows))), None)
        held: list[tuple[Fact, At, bool]] = []
        for fact in inside:
            row, sure = rows.get(id(fact), (None, False))
            column, sure_column = columns.get(id(fact), (None, False))
            alone = sure or len(inside) == 1
            sure = row is not None and not self._is_loose(fact, strict=sure or sure_column)
            row = before if row is None and not self.rows else row
            if column is None and not self.columns:
                column, goes_on = self._column_before(fact) if self.table.is_series else (None, False)
                if column is not None:
                    tense = _AT_OTHER_TIMES.search(self.text)
                    sure = row is not None and (goes_on or (sure and alone and not tense))
            if column is None:
                column = self._only_column(row, stands[id(fact)])
            if row is not None and column is not None:
                held.append((fact, (row, column), sure))
        yield from self._compared(held, stands)

    def _column_before(self, fact: Fact) -> tuple[int | None, bool]:
        """The column that was named before the claim, and whether a figure goes with one of two.

        As in "28 to 24", where the question names two years.
        """
        ends, told = _ends(self._whole[id(fact)]), self._named_before(self.table.columns)
        if len(ends) == len(told) > 1:
            return told[[end is fact for end in ends].index(True)], True
        return (told[0] if len(told) == 1 else None), False

    def _only_column(self, row: int | None, there: set[At]) -> int | None:
        """The column that the figure stands in, where the claim names the row alone, and it is not there."""
        across = {column for _, column in there}
        if self.columns or len(self.rows) != 1 or len(across) > 1 or any(at[0] == row for at in there):
            return None
        return across.pop()

    def _compared(
        self, held: Sequence[tuple[Fact, At, bool]], stands: dict[int, set[At]]
    ) -> Iterator[Celled]:
        places = {id(fact): at for fact, at, _ in held}
        for fact, at, sure in held:
            there = stands[id(fact)]
            cell = self.table.figures.get(at, ())
            if at in there:
                same = next(one for one in cell if facts.agree(fact, one))
                yield Celled(fact=self._whole[id(fact)], cell=same, where=self.table.where(same), agrees=True)
                continue
            other = next((at2 for at2 in sorted(there) if at2[0] == at[0] or at2[1] == at[1]), None)
            stating = [one for one in self.found if at in stands[id(one)]]
            if not sure or other is None or not all(places.get(id(one)) in there for one in stating):
                continue
            if other[0] == at[0] and not self.table.is_series and not self.columns:
                continue
            mine = next(one for one in self.table.figures[other] if facts.agree(fact, one))
            if self._counts_otherwise(fact, at) or not (
                self.table.is_value(other) and self.table.is_value(at)
            ):
                continue
            theirs = next((one for one in cell if (one.kind, one.unit) == (mine.kind, mine.unit)), None)
            alone = {(one.kind, one.span) for one in cell if one.kind is mine.kind}
            if theirs is not None and len(alone) == 1 and (not theirs.unit or facts.comparable(fact, theirs)):
                yield Celled(
                    fact=self._whole[id(fact)], cell=theirs, where=self.table.where(theirs), agrees=False
                )

    def _counts_otherwise(self, fact: Fact, at: At) -> bool:
        """Whether what a figure counts is what another row or column is called: "three cards"."""
        names = f"{self.table.name(at[0])} {self.table.head(at[1])}"
        told = fact.counted - {stem for stem, _ in stems(names)}
        return any(self.table.rows.have(stem) or self.table.columns.have(stem) for stem in told)

    def _stands(self, fact: Fact) -> set[At]:
        equal = islice(self.known.equal(fact), _LOOKED_AT)
        return {self.table.at[id(one)] for one in equal if id(one) in self.table.at}

    def cells(self) -> list[list[Fact]]:
        """The figures of the cells that the claim names by their rows and columns, column by column."""
        rows = list(dict.fromkeys(one.number for one in self.rows))
        rows = rows or _if_one(self._named_before(self.table.rows))
        columns = list(dict.fromkeys(one.number for one in self.columns))
        if not columns and len(self.table.grid.columns) <= _FEW_COLUMNS:
            columns = list(range(len(self.table.grid.columns)))
        columns = columns or _if_one(self._named_before(self.table.columns))
        if not rows or len(rows) * len(columns) > _FEW_CELLS:
            return []
        named = [[self.table.figures.get((row, column), [])[-1:] for row in rows] for column in columns]
        return [[fact for some in cells for fact in some] for cells in named]

    def _named_before(self, names: Names) -> list[int]:
        """The rows, or columns, that were named last before the claim."""
        told = ([one.number for one in names.called(said)] for said in self.before)
        return list(dict.fromkeys(next(filter(None, told), [])))

    def _paired(self, called: Sequence[Called], found: Sequence[Fact]) -> dict[int, tuple[int, bool]]:
        """By its identity, what each figure is said of: the only one that is named, or that goes with it.

        And whether that is so whatever the words between: one goes with each.
        """
        numbers = {one.number for one in called}
        if len(numbers) == 1:
            first = called[0]
            meant = [
                fact
                for fact in found
                if first.span.start < fact.span.start or self._clause(first) == self._clause(fact)
            ]
            return dict.fromkeys(map(id, meant), (first.number, False))
        marks = sorted([(fact.span.start, 0) for fact in found] + [(one.span.start, 1) for one in called])
        changes = sum(a != b for (_, a), (_, b) in pairwise(marks))
        told: dict[int, tuple[int, bool]] = {}
        if numbers and len(found) == len(called) and changes in (1, len(marks) - 1):
            pairs = zip(map(id, found), called, strict=True)
            told = {fact: (one.number, True) for fact, one in pairs}
        for clause in self.clauses if numbers else ():
            here = {one.number for one in called if one.span.overlaps(clause)}
            if len(here) == 1:
                number = here.pop()
                meant = [fact for fact in found if fact.span.overlaps(clause)]
                told.update((id(fact), (number, len(meant) == 1)) for fact in meant)
        return told

    def _clause(self, one: Called | Fact) -> Span | None:
        return next((clause for clause in self.clauses if clause.overlaps(one.span)), None)

    @cached_property
    def clauses(self) -> list[Span]:
        ends = [0, *(mark.end() for mark in _JOINS.finditer(self.text)), len(self.text)]
        return [Span(a, b) for a, b in pairwise(ends) if a < b]

    def _is_loose(self, fact: Fact, *, strict: bool) -> bool:
        """Whether a figure is only compared with, or a difference: "up from 98", "rose by 12".

        Or is so small that it may count anything. One that goes with its own name, ``strict``ly, may be what
        something rose from.
        """
        clause = self._clause(fact)
        called = (*self.rows, *self.columns)
        named = len(self.found) == 1 or (clause and any(one.span.overlaps(clause) for one in called))
        if not (named or strict) or (not fact.unit and fact.text.isalpha()) or _TOGETHER.search(self.text):
            return True
        if strict:
            return _HELD_AGAINST.search(self.text, 0, fact.span.start) is not None
        before = _COMPARED.search(self.text, 0, fact.span.start) or _MORE.search(self.text)
        return before is not None or _EARLIER.match(self.text, fact.span.end) is not None


def _apart_from(found: Sequence[Fact], called: Sequence[Called]) -> list[Called]:
    """Names that are no unit of a figure: the "minutes" of "50 minutes"."""
    figures = [fact.span for fact in found]
    return [
        one
        for one in called
        if not any(
            span.overlaps(one.span) and not (one.span.start <= span.start and span.end <= one.span.end)
            for span in figures
        )
    ]


def _if_one(numbers: list[int]) -> list[int]:
    return numbers if len(numbers) == 1 else []


def _ends(fact: Fact) -> Sequence[Fact]:
    """Both figures of "from 98 to 120"; opening hours are one."""
    return fact.once(_apart)


def _apart(fact: Fact) -> Sequence[Fact]:
    return fact.ends() if fact.highs and fact.kind is not Kind.TIME else (fact,)


def with_cells(looked: Sequence[Looked], told: Sequence[Celled]) -> tuple[Looked, ...]:
    """The figures, of which those that cells bear out are found, whatever stands around others."""
    right = {id(one.fact): one for one in told if one.agrees}
    return tuple(
        (fact, Checked(status=Status.FOUND, nearest=right[id(fact)].cell), right[id(fact)].where)
        if id(fact) in right and checked.status is not Status.FOUND
        else (fact, checked, at)
        for fact, checked, at in looked
    )


_LOOKED_AT, _SAID, _FEW_COLUMNS, _FEW_CELLS = 48, 2, 3, 12
_JOINS = re.compile(r"[,;()]\s|\s[–—-]\s|\s(?:and|while|but|whereas|though|although|than|against|versus)\s")
_HELD_AGAINST = re.compile(r"\b(?:than|against|versus|vs\.?|compared (?:with|to)|by) (?:\W|[A-Z]{3} )?\Z")
_TOGETHER = re.compile(r"\b(?:together|combined|altogether|jointly)\b", re.IGNORECASE)
_MORE = re.compile(r"\b(?:extra|plus|additional|further|beyond|if|would)\b", re.IGNORECASE)
_COMPARED = re.compile(
    r"\b(?:from|than|against|versus|vs\.?|by|(?:compared|comparison) (?:with|to)|"
    r"(?:increase|rise|growth|gain|decline|drop|fall|decrease|reduction|difference|gap|change|jump|loss) of|"
    r"(?:lines?|limits?|thresholds?) of|before|after|between|over|above|below|under|the previous|last year's)"
    r" (?:the |a |an |about |around |roughly |some |nearly |almost |just )*[^\w\s]{0,4}(?:[A-Z]{3} )?\Z"
)
_AT_OTHER_TIMES = re.compile(
    r"\b(?:before|earlier|previous\w*|prior|last|ago|then|had|from|since|still|already|until|later|next|"
    r"between|after|compared|than|against|instead)\b",
    re.IGNORECASE,
)
_EARLIER = re.compile(
    r"[\w %]{0,20}? ?(?:in |for )?(?:the |a )?(?:year |quarter |month |period |season )?"
    r"(?:before|earlier|previously|previous|prior|ago|higher|lower|more|less|fewer|points)\b"
)
