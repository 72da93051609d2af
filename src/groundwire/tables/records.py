"""From the bytes of a file to records: one mapping from column to cell for each row, with its line.

Which column means what is not known here. Files are read as they are consumed, whatever their size.
"""

from __future__ import annotations

import codecs
import io
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from typing import Any, BinaryIO, TextIO

from groundwire.core.errors import MissingExtraError
from groundwire.tables.delimited import delimited, text_lines
from groundwire.tables.errors import TableError
from groundwire.tables.record import UNDECODED, Record, Unheld, require_one_of_each
from groundwire.tables.unpacked import HEAD, unpacked
from groundwire.tables.window import LARGEST, Window


class Format(StrEnum):
    """The kinds of table that can be read, each also inside gzip."""

    JSONL = "jsonl"
    JSON = "json"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"


_SUFFIXES = {
    "csv": Format.CSV,
    "tsv": Format.TSV,
    "tab": Format.TSV,
    "parquet": Format.PARQUET,
    "pq": Format.PARQUET,
}
_JSON_SUFFIXES = ("jsonl", "ndjson", "json")
_OTHERS = (  # what is given for a table and is none, by its first bytes
    (b"PK\x03\x04", "an Excel workbook, or another zip archive: save the sheet as CSV (UTF-8)"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook: save the sheet as CSV (UTF-8)"),
    (b"BZh", "packed with bzip2: unpack it, or pack it with gzip"),
    (b"\xfd7zXZ\x00", "packed with xz: unpack it, or pack it with gzip"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd: unpack it, or pack it with gzip"),
)
_BINARY = "binary data, and no table: expected JSON lines, a JSON array, CSV, TSV or Parquet"


def records(stream: BinaryIO, *, name: str = "", kind: Format | None = None) -> Iterator[Record]:
    """Every record of a stream, in order. Gzip is recognised by its first bytes.

    The format is ``kind``, else what the ending of ``name`` says, else what the first bytes look like.
    Raises TableError for a file that is no table at all, and MissingExtraError for Parquet without pyarrow.
    """
    plain, _ = unpacked(stream)
    return plain_records(plain, _kind(plain, name, kind))


def plain_records(plain: io.BufferedReader, kind: Format, *, above: int = 0) -> Iterator[Record]:
    """``records`` of a stream that is neither inside gzip nor in UTF-16.

    ``above`` lines of the file, before its first row, are left out of the stream, and count.
    """
    match kind:
        case Format.JSONL:
            return _json_lines(plain, above)
        case Format.JSON:
            return _json_values(_text(plain))
        case Format.CSV | Format.TSV:
            lines = text_lines(_text(plain, newline=""), above=above)
            return delimited(lines, "\t" if kind is Format.TSV else None, above=above)
        case Format.PARQUET:
            return _parquet(plain)


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """The format of a file. ``packed``: inside gzip or UTF-16, so that it is read from its beginning only."""

    kind: Format
    packed: bool


def form(stream: BinaryIO, *, name: str = "", kind: Format | None = None) -> Form:
    """The form of a file that begins where the stream stands, found as ``records`` finds it."""
    plain, packed = unpacked(stream)
    return Form(kind=_kind(plain, name, kind), packed=packed)


def _kind(plain: io.BufferedReader, name: str, kind: Format | None) -> Format:
    kind = kind or _told_by(name) or _sniffed(plain, otherwise=_expected_by(name))
    if kind is not Format.PARQUET and (what := _no_text(plain.peek(HEAD)[:HEAD])):
        raise TableError(f"the file is {what}")
    return kind


def _no_text(head: bytes) -> str:
    """What a file is that begins so and holds no text. Empty where it may: a bad row is told as a row."""
    for begins, what in _OTHERS:
        if head.startswith(begins):
            return what
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # which lets the last character be cut off
    except UnicodeDecodeError:
        return _BINARY if b"\0" in head else ""
    return ""


def _told_by(name: str) -> Format | None:
    return _SUFFIXES.get(_suffix(name))


def _expected_by(name: str) -> Format:
    # JSON names are believed only so far: arrays are kept as .jsonl and lines as .json too often.
    return Format.JSONL if _suffix(name) in _JSON_SUFFIXES else Format.CSV


def _suffix(name: str) -> str:
    return name.lower().removesuffix(".gz").rpartition(".")[2]


def _sniffed(stream: io.BufferedReader, *, otherwise: Format) -> Format:
    head = stream.peek(HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"PAR1"):
        return Format.PARQUET
    if head.startswith(b"["):
        return Format.JSON
    if head.startswith(b"{"):
        return Format.JSON if _opens_over_lines(head) else Format.JSONL
    return otherwise


def _opens_over_lines(head: bytes) -> bool:
    """Whether an object that begins here goes on in the next line, as in indented JSON."""
    first = head.partition(b"\n")[0].rstrip()
    return first in (b"{", b"{}") or first.endswith((b",", b"[", b"{"))


def _text(stream: io.BufferedReader, newline: str | None = None) -> TextIO:
    return io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline=newline)


def _json_lines(stream: BinaryIO, above: int) -> Iterator[Record]:
    for line, raw in _lines(stream, above):
        if len(raw) > LARGEST:
            yield Record(line=line, problem=f"a line of more than {LARGEST:,} bytes, which is not read")
            continue
        if not raw.strip():
            continue
        try:
            yield _object(line, json.loads(raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8")))
        except UnicodeDecodeError as error:
            yield Record(
                line=line,
                problem=f"not UTF-8: byte 0x{raw[error.start]:02x} at position {error.start + 1}",
            )
        except json.JSONDecodeError as error:
            yield Record(line=line, problem=f"not JSON: {error.msg} at column {error.colno}")
        except (ValueError, RecursionError) as error:  # a number too long to read; brackets nested too deep
            yield Record(line=line, problem=f"not JSON that can be read: {error}")


def _lines(stream: BinaryIO, above: int) -> Iterator[tuple[int, bytes]]:
    """Each line with its number; of one that is longer than ``LARGEST``, no more than shows that it is."""
    line = above
    while raw := stream.readline(LARGEST + 1):
        line += 1
        yield line, raw
        while len(raw) > LARGEST and not raw.endswith(b"\n"):
            raw = stream.readline(LARGEST + 1)


def _object(line: int, value: Any) -> Record:
    if not isinstance(value, Mapping):
        return Record(line=line, problem=f"a row must be a JSON object, not {type(value).__name__}")
    return Record(line=line, cells=value)


def _json_values(text: TextIO) -> Iterator[Record]:
    """Each item of one array, or each value of a file of objects that span lines.

    Past a mistake nothing says where the next item begins, so there reading ends, with a TableError: how many
    rows are lost is not known.
    """
    window, row = Window(text), 0
    in_array = window.next() == "["
    window.drop(int(in_array))
    while (character := window.next()) and not (in_array and character == "]"):
        line = window.line
        try:
            value, source = window.take()
        except (ValueError, RecursionError) as error:
            what = str(getattr(error, "msg", error)).removesuffix(" starting at")
            raise TableError(f"line {line} is not JSON: {what}; nothing after it can be read") from error
        row += 1
        yield replace(_decoded(row, value, source), counted="row")
    if in_array and not character:
        raise TableError(f"the array is never closed: the file is cut off at line {window.line}")
    window.drop(1)
    if in_array and window.next():
        raise TableError(f"line {window.line} has more after the end of the array, which can't be read")


def _decoded(row: int, value: Any, source: str) -> Record:
    return Record(line=row, problem="not UTF-8") if UNDECODED.search(source) else _object(row, value)


def _parquet(stream: io.BufferedReader) -> Iterator[Record]:
    # Parquet is read from its end, which a pipe or a compressed file can't offer.
    file = parquet_file(stream if _is_plain_file(stream) else io.BytesIO(stream.read()))
    return _parquet_rows(file)


def parquet_file(seekable: Any) -> Any:
    """The file as pyarrow has it. Raises TableError where it is none, MissingExtraError without pyarrow."""
    try:
        parquet = import_module("pyarrow.parquet")
        arrow_error = import_module("pyarrow").ArrowException
    except ImportError as error:
        raise MissingExtraError("reading Parquet", package="pyarrow", extra="parquet") from error
    try:
        file = parquet.ParquetFile(seekable)
    except (arrow_error, OSError) as error:
        raise TableError(f"not a Parquet file: {error}") from error
    require_one_of_each(file.schema_arrow.names)
    return file


def arrow_cells(batch: Any) -> list[dict[str, Any]]:
    """The rows of an Arrow table or batch, by column; what Python can't hold of one is Unheld."""
    try:
        rows: list[dict[str, Any]] = batch.to_pylist()
    except (ValueError, OverflowError):  # text that is no UTF-8; a time before or after all of Python's
        names, columns = batch.schema.names, [_cells(column) for column in batch.columns]
        return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]
    return rows


def _cells(column: Any) -> list[Any]:
    try:
        held: list[Any] = column.to_pylist()
    except (ValueError, OverflowError):
        return [_held(value) for value in column]
    return held


def _held(value: Any) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError) as error:
        return Unheld(str(error))


def _is_plain_file(stream: io.BufferedReader) -> bool:
    return isinstance(stream.raw, io.FileIO) and stream.seekable()


def _parquet_rows(file: Any) -> Iterator[Record]:
    arrow_error = import_module("pyarrow").ArrowException
    rows = itertools.chain.from_iterable(arrow_cells(batch) for batch in file.iter_batches(batch_size=64))
    try:
        for number, cells in enumerate(rows, start=1):
            yield Record(line=number, cells=cells, counted="row")
    except arrow_error as error:
        raise TableError(f"the file is damaged: {error}") from error
