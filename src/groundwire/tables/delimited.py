"""CSV and its like, as spreadsheets and programs write it: what stands above, beside and below a table."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from groundwire.tables.errors import TableError
from groundwire.tables.record import UNDECODED, Record, require_one_of_each
from groundwire.tables.window import LARGEST

# A blank line, a row of empty cells, or Excel's first line.
_SEPARATOR = re.compile(r'[\s,;|]*|sep=([^\w"\s]|\t)\s*', re.IGNORECASE)


def delimited(text: Iterator[str], delimiter: str | None, *, above: int = 0) -> Iterator[Record]:
    """The rows of a table from its lines. Rows of empty cells at its end are none.

    ``above`` lines below the header are left out of the text, and count.
    """
    over_header, reader = csv_reader(text, delimiter)
    if reader is None:
        return
    try:
        header = next(reader)
    except csv.Error as error:
        raise TableError(f"the header in line {over_header + 1} is not CSV: {error}") from error
    above += over_header
    header = _named(header)
    require_one_of_each([name for name in header if name is not None])
    empty: list[tuple[int, list[str]]] = []  # rows if another follows; at the end, what a spreadsheet leaves
    while True:
        line = above + reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "unexpected end" in str(error):
                raise TableError(
                    f"a quote that opens in line {line} is never closed; nothing after it can be read"
                ) from error
            if too_large(error):
                raise TableError(
                    f"a cell that begins in line {line} has more than {LARGEST:,} characters: perhaps its "
                    "quote is never closed; nothing after it can be read"
                ) from error
            record = Record(line=line, problem=f"not CSV: {error}")
        else:
            if is_empty(cells):
                empty += [(line, cells)] if cells else []
                continue
            record = _row(line, header, cells)
        yield from (_row(at, header, blank) for at, blank in empty)
        empty = []
        yield record


def text_lines(text: TextIO, *, above: int = 0) -> Iterator[str]:
    """The lines of a CSV file. Raises TableError at one that is longer than any cell may be.

    ``above`` lines are left out of the text, and count.
    """
    line = above
    while held := text.readline(LARGEST + 1):
        line += 1
        if len(held) > LARGEST:
            raise TableError(
                f"line {line} has more than {LARGEST:,} characters; nothing from there on is read"
            )
        yield held


def csv_reader(text: Iterator[str], delimiter: str | None) -> tuple[int, Any]:
    """How many lines stand above the header, and a reader that begins with it; None where there is none."""
    hold_large_cells()
    above, first = 0, next(text, "")
    while first and (told := _SEPARATOR.fullmatch(first)):
        delimiter = told[1] or delimiter
        above, first = above + 1, next(text, "")
    if not first:
        return above, None
    delimiter = delimiter or max(",;\t|", key=first.count)
    return above, csv.reader(itertools.chain([first], text), delimiter=delimiter, strict=True)


def hold_large_cells() -> None:
    """Let the readers of CSV take cells of up to ``LARGEST``: contexts outgrow their 128 KiB.

    It is set for the whole process, and only ever made larger.
    """
    if csv.field_size_limit() < LARGEST:
        csv.field_size_limit(LARGEST)


def too_large(error: csv.Error) -> bool:
    """Whether a reader of CSV gave up on a cell for its size."""
    return "field larger than" in str(error)


def is_empty(cells: Sequence[str]) -> bool:
    """Whether a row of CSV has nothing in any of its cells."""
    return not any(cell.strip() for cell in cells)


def _named(header: Sequence[str]) -> list[str | None]:
    """The names of the columns; None for each that has none, where they are several.

    Spreadsheets save columns that were once used. One alone is what pandas makes of an index.
    """
    if sum(not name.strip() for name in header) < 2:
        return list(header)
    return [name if name.strip() else None for name in header]


def _row(line: int, header: list[str | None], cells: list[str]) -> Record:
    # Excel leaves out the ends of some rows.
    if len(cells) < len(header) and all(name is None for name in header[len(cells) :]):
        cells = cells + [""] * (len(header) - len(cells))
    if len(cells) != len(header):
        noun = "cell" if len(cells) == 1 else "cells"
        return Record(line=line, problem=f"{len(cells)} {noun}, where the header has {len(header)}")
    if [cells[0].removeprefix("\ufeff"), *cells[1:]] == [name or "" for name in header]:
        return Record(line=line, problem="the header once more, as where files were joined: no row")
    if any(UNDECODED.search(cell) for cell in cells):
        return Record(line=line, problem="not UTF-8: save the table as UTF-8 (Excel calls it CSV UTF-8)")
    return Record(line=line, cells=_by_name(header, cells))


def _by_name(header: list[str | None], cells: list[str]) -> dict[str, str]:
    return {name: cell for name, cell in zip(header, cells, strict=True) if name is not None}
