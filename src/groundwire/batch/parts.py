"""Parts: the file of each unit's outcomes, which says by itself whose it is and what is in it.

In Parquet that stands in the footer; CSV and JSON lines have a small file beside them, written after them,
which also tells how long they are.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, Self

from groundwire.batch import columns
from groundwire.batch.folders import STATE, Folder, RemoteFolder
from groundwire.batch.stats import Stats
from groundwire.core.cells import cell
from groundwire.core.errors import ConfigurationError
from groundwire.tables import Format
from groundwire.tables.delimited import hold_large_cells

FORMATS = (Format.PARQUET, Format.JSONL, Format.CSV)
BESIDE = f"{STATE}/parts"
_KEY = b"groundwire"
_LOT = 5_000  # rows of a part that are held before they are written
_AT_ONCE = 16  # looks at parts that lie elsewhere
_NAME = re.compile(rf"part-\d{{8,}}\.(?:{'|'.join(FORMATS)})")


def is_part(name: str) -> bool:
    """Whether a file is called as parts are; other programs call theirs ``part-`` and something else."""
    return _NAME.fullmatch(name) is not None


class Parts:
    """The parts of a folder, by the number of their unit. Safe to pickle.

    ``fingerprint`` tells what made them, and made of what: parts of another are as if they weren't there.
    """

    def __init__(self, folder: Folder, *, form: Format, fingerprint: str, full: bool) -> None:
        if form not in FORMATS:
            raise ConfigurationError(f"outcomes are written as parquet, jsonl or csv, not {str(form)!r}")
        if form is Format.PARQUET:
            columns.arrow()  # says what to install where it is missing
        self.folder, self.form, self.fingerprint, self.full = folder, form, fingerprint, full

    def name(self, unit: int) -> str:
        """The file of a unit. Sorted by name, the rows are in the order of the input."""
        return f"part-{unit:08d}.{self.form}"

    def write(self, unit: int, rows: Iterable[Mapping[str, Any]], stats: Callable[[], Stats]) -> Stats:
        """Write a part, whole or not at all; ``stats`` is asked when all rows have passed."""
        name = self.name(unit)
        beside = None if self.form is Format.PARQUET else f"{BESIDE}/{name}.json"
        with self.folder.writing(name) as path:
            with _WRITERS[self.form](path, full=self.full) as writer:
                for cells in rows:
                    writer.add(cells)
                counted = stats()
                told = {"groundwire": "batch", "fingerprint": self.fingerprint, "unit": unit}
                told |= counted.to_dict()
                writer.finish(json.dumps(told).encode())
            told["bytes"] = path.stat().st_size
            if beside:  # what it tells is of the part that this one is about to replace
                self.folder.delete([beside])
        if beside:
            self.folder.write(beside, json.dumps(told).encode())
        return counted

    def done(self, units: Iterable[int]) -> dict[int, Stats]:
        """Of these units, those that are done, and what was counted in them."""
        present = self.folder.names()
        beside = {} if self.form is Format.PARQUET else self.folder.names(BESIDE)
        wanted = [
            unit
            for unit in units
            if self.name(unit) in present
            and (self.form is Format.PARQUET or f"{self.name(unit)}.json" in beside)
        ]
        if isinstance(self.folder, RemoteFolder):
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                found = list(pool.map(self._stats, wanted))
        else:
            found = list(map(self._stats, wanted))
        return {unit: stats for unit, stats in zip(wanted, found, strict=True) if stats is not None}

    def rows(self, unit: int) -> Iterator[dict[str, Any]]:
        """The rows of a part, as they were given to ``write``."""
        with self.folder.open(self.name(unit)) as stream:
            yield from _READERS[self.form](stream)

    def _stats(self, unit: int) -> Stats | None:
        try:
            data = json.loads(self._told(unit))
            if data.pop("groundwire") != "batch" or data.pop("fingerprint") != self.fingerprint:
                return None
            if data.pop("bytes", None) not in (None, self.folder.size(self.name(unit))):
                return None
            return Stats.from_dict(data) if data.pop("unit") == unit else None
        except (OSError, ValueError, LookupError, TypeError):  # cut off, or somebody else's: as if not there
            return None

    def _told(self, unit: int) -> bytes:
        name = self.name(unit)
        if self.form is not Format.PARQUET:
            with self.folder.open(f"{BESIDE}/{name}.json") as stream:
                return stream.read()
        with self.folder.open(name) as stream:
            metadata = import_module("pyarrow.parquet").read_metadata(stream).metadata or {}
        told: bytes = metadata[_KEY]
        return told


class _Writer(Protocol):
    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def add(self, cells: Mapping[str, Any]) -> None: ...

    def finish(self, told: bytes) -> None: ...


class _Parquet:
    def __init__(self, path: Path, *, full: bool) -> None:
        pa, types = columns.arrow(), columns.types()
        self._names = columns.names(full=full)
        self._schema = pa.schema([(name, types[name]) for name in self._names])
        self._writer = import_module("pyarrow.parquet").ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Mapping[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def add(self, cells: Mapping[str, Any]) -> None:
        self._rows.append(cells)
        if len(self._rows) >= _LOT:
            self._flush()

    def finish(self, told: bytes) -> None:
        self._flush()
        self._writer.add_key_value_metadata({_KEY: told})

    def _flush(self) -> None:
        if self._rows:
            pa = columns.arrow()
            arrays = [
                pa.array([row[name] for row in self._rows], type=self._schema.field(name).type)
                for name in self._names
            ]
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
            self._rows = []


class _Lines:
    def __init__(self, path: Path, *, full: bool) -> None:
        del full
        self._file = path.open("w", encoding="utf-8", newline="\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, cells: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(cells, ensure_ascii=False, allow_nan=False) + "\n")

    def finish(self, told: bytes) -> None:
        """Nothing: what is told stands in a file of its own."""


class _Csv(_Lines):
    def __init__(self, path: Path, *, full: bool) -> None:
        self._names = columns.names(full=full)
        self._file = path.open("w", encoding="utf-8", newline="")
        self._writer = csv.writer(self._file)
        self._writer.writerow(self._names)

    def add(self, cells: Mapping[str, Any]) -> None:
        given = {**cells, "spans": json.dumps(cells["spans"])}
        self._writer.writerow([cell(given[name]) for name in self._names])


def _parquet_rows(stream: Any) -> Iterator[dict[str, Any]]:
    for batch in import_module("pyarrow.parquet").ParquetFile(stream).iter_batches():
        yield from batch.to_pylist()


def _json_rows(stream: Any) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, stream)


def _csv_rows(stream: Any) -> Iterator[dict[str, Any]]:
    hold_large_cells()  # of --full
    lines = (line.decode("utf-8") for line in stream)
    for row in csv.DictReader(lines):
        yield {name: _cell(name, text) for name, text in row.items()}


def _cell(name: str, text: str) -> Any:
    if name == "spans":
        return json.loads(text)
    if name in ("status", "id", "file"):
        return text
    if not text:
        return None
    if name == "hallucinated":
        return text == "True"
    if name in ("line", "label", "calls", "input_tokens", "output_tokens"):
        return int(text)
    return float(text) if name in ("score", "threshold", "cost") else text


_WRITERS: Mapping[Format, Callable[..., _Writer]] = {
    Format.PARQUET: _Parquet,
    Format.JSONL: _Lines,
    Format.CSV: _Csv,
}
_READERS: Mapping[Format, Callable[[Any], Iterator[dict[str, Any]]]] = {
    Format.PARQUET: _parquet_rows,
    Format.JSONL: _json_rows,
    Format.CSV: _csv_rows,
}
