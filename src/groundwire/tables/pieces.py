"""Where a file can be cut, so that each piece of it is read by itself and gives the rows that it has there.

Where the cuts are depends on the file and on the size that is wished for, and on nothing else. JSON lines are
cut behind line ends and CSV behind rows, both found by one pass over the file; Parquet behind rows that its
footer tells of. What is inside gzip, in UTF-16 or a JSON array is read from its beginning: one piece.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, BinaryIO

import numpy as np

from groundwire.tables.delimited import csv_reader, is_empty, text_lines, too_large
from groundwire.tables.errors import TableError
from groundwire.tables.record import Record
from groundwire.tables.records import Form, Format, arrow_cells, parquet_file, plain_records, records

_BLOCK = 1 << 22
_BATCH = 256
_NEWLINE = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A part of a file: its bytes from ``begin`` to ``end``, or of Parquet, its row groups.

    ``rows`` is how many it has: exactly in Parquet, at most elsewhere, for blank lines count,
    None where that isn't known. ``above`` is how many lines (in Parquet, rows) of the file don't appear to
    whoever reads the piece. ``head`` is the bytes of a header that is read before it. ``skip`` is how many
    rows of its first row group belong to earlier pieces.
    """

    rows: int | None = None
    above: int = 0
    begin: int = 0
    end: int | None = None
    head: int = 0
    skip: int = 0


def cut(stream: BinaryIO, form: Form, *, rows: int) -> Iterator[Piece]:
    """The pieces of a file, in order, of ``rows`` rows each as far as it can be cut.

    Raises TableError for a file that isn't what its form says.
    """
    if form.packed:
        return iter([Piece()])
    match form.kind:
        case Format.PARQUET:
            return _row_groups(parquet_file(stream), rows)
        case Format.JSONL:
            return _lines(stream, rows)
        case Format.CSV | Format.TSV:
            return _csv_rows(stream, rows, "\t" if form.kind is Format.TSV else None)
        case _:
            return iter([Piece()])


def read_piece(
    stream: BinaryIO, piece: Piece, form: Form, *, columns: Mapping[str, tuple[str, ...]] | None = None
) -> Iterator[Record]:
    """The records of a piece, each with its line in the whole file.

    ``columns`` are the names that are looked under; of Parquet, nothing else is read. Raises TableError where
    the file is damaged.
    """
    if form.kind is Format.PARQUET and not form.packed:
        return _of_row_groups(stream, piece, columns)
    if piece == Piece():
        return records(stream, kind=form.kind)
    raw: Any = _Part(stream, piece)
    part = io.BufferedReader(raw, buffer_size=1 << 16)
    return plain_records(part, form.kind, above=piece.above)


def _lines(stream: BinaryIO, rows: int) -> Iterator[Piece]:
    begin = above = at = held = 0
    last = b"\n"
    while block := stream.read(_BLOCK):
        ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == _NEWLINE)
        for nth in range(rows - held - 1, len(ends), rows):
            end = at + int(ends[nth]) + 1
            yield Piece(rows=rows, above=above, begin=begin, end=end)
            begin, above = end, above + rows
        held = (held + len(ends)) % rows
        at += len(block)
        last = block[-1:]
    if at > begin:
        yield Piece(rows=held + (last != b"\n"), above=above, begin=begin, end=at)


def _csv_rows(stream: BinaryIO, rows: int, delimiter: str | None) -> Iterator[Piece]:
    read = 0

    def counted() -> Iterator[str]:
        nonlocal read
        # As in reading: a line may end with a carriage return alone, and bytes that are no UTF-8 are kept.
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
        for line in text_lines(text):
            read += len(line.encode("utf-8", "surrogateescape"))
            yield (
                line.removeprefix("\ufeff") if read == len(line.encode("utf-8", "surrogateescape")) else line
            )

    above, reader = csv_reader(counted(), delimiter)
    if reader is None or _step(reader) is None:
        yield Piece()
        return
    head, header_lines = read, above + reader.line_num
    begin, before, count, full = head, header_lines, 0, 0
    try:
        while (row := _step(reader)) is not None:
            count += 1
            if is_empty(row):  # not the last of a piece: at the end of what is read, such a row is none
                continue
            full = count
            if count >= rows:
                yield Piece(rows=count, above=before - header_lines, begin=begin, end=read, head=head)
                begin, before, count, full = read, above + reader.line_num, 0, 0
    except TableError:  # nothing after it can be read, as whoever reads this piece is told
        yield Piece(rows=count + 1, above=before - header_lines, begin=begin, head=head)
        return
    if full:
        yield Piece(rows=full, above=before - header_lines, begin=begin, end=read, head=head)


def _step(reader: Any) -> list[str] | None:
    """Go past one row, readable or not; None at the end. Raises TableError where no row can follow."""
    csv_error = import_module("csv").Error
    try:
        cells: list[str] = next(reader)
    except StopIteration:
        return None
    except csv_error as error:
        if too_large(error):
            raise TableError(str(error)) from error
        return [str(error)]
    return cells


def _row_groups(file: Any, rows: int) -> Iterator[Piece]:
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    above = begin = held = 0
    for i, size in enumerate(sizes):
        if held and held + size > rows:
            yield Piece(rows=held, above=above, begin=begin, end=i)
            above, begin, held = above + held, i, 0
        if size <= rows:
            held += size
            continue
        for skip in range(0, size, rows):
            yield Piece(rows=min(rows, size - skip), above=above + skip, begin=i, end=i + 1, skip=skip)
        above, begin = above + size, i + 1
    if held:
        yield Piece(rows=held, above=above, begin=begin, end=len(sizes))


def _of_row_groups(
    stream: BinaryIO, piece: Piece, columns: Mapping[str, tuple[str, ...]] | None
) -> Iterator[Record]:
    file = parquet_file(stream)
    wanted = _wanted(file.schema_arrow.names, columns)
    groups = list(range(piece.begin, piece.end or file.metadata.num_row_groups))
    size = sum(file.metadata.row_group(i).num_rows for i in groups)
    rows = size - piece.skip if piece.rows is None else piece.rows
    return _sliced(file, groups, wanted, piece, rows)


def _sliced(
    file: Any, groups: list[int], wanted: list[str] | None, piece: Piece, rows: int
) -> Iterator[Record]:
    arrow_error = import_module("pyarrow").ArrowException
    passed, first, last = 0, piece.skip, piece.skip + rows
    try:
        for batch in file.iter_batches(batch_size=_BATCH, row_groups=groups, columns=wanted):
            begin, end = max(first - passed, 0), min(last - passed, batch.num_rows)
            if begin < end:
                line = piece.above + (passed + begin - first)
                for number, cells in enumerate(arrow_cells(batch.slice(begin, end - begin)), start=line + 1):
                    yield Record(line=number, cells=cells, counted="row")
            passed += batch.num_rows
            if passed >= last:
                return
    except (arrow_error, OSError) as error:
        raise TableError(f"the file is damaged: {error}") from error


def _wanted(present: list[str], columns: Mapping[str, tuple[str, ...]] | None) -> list[str] | None:
    if columns is None:
        return None
    names = set(itertools.chain.from_iterable(columns.values()))
    tops = {name.partition(".")[0] for name in names} | names
    return [name for name in present if name in tops]


class _Part(io.RawIOBase):
    """Ranges of a stream, one after the other, as a stream."""

    def __init__(self, stream: BinaryIO, piece: Piece) -> None:
        self._stream = stream
        ranges = [(0, piece.head), (piece.begin, piece.end)] if piece.head else [(piece.begin, piece.end)]
        self._left: list[tuple[int, int | None]] = list(ranges)
        self._at = -1

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while self._left:
            begin, end = self._left[0]
            if self._at < 0:
                self._at = self._stream.seek(begin)
            size = len(buffer) if end is None else min(len(buffer), end - self._at)
            if data := self._stream.read(size) if size else b"":
                buffer[: len(data)] = data
                self._at += len(data)
                return len(data)
            if end is not None and self._at < end:
                raise TableError("the file is shorter than it was when the work was planned")
            self._left.pop(0)
            self._at = -1
        return 0
