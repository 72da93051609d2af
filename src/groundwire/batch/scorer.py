"""A Scorer: judges the batches of somebody else's engine, whether that is Ray Data, Spark, Dask or pandas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from groundwire.batch import columns as cols
from groundwire.batch.job import Recipe, checker_of, recipe_of
from groundwire.batch.work import judged
from groundwire.checker import Checker
from groundwire.core.errors import InputError
from groundwire.tables import Columns, Row, rows_of
from groundwire.tables.record import Record, require_one_of_each
from groundwire.tables.records import arrow_cells

ADDED = {
    "status": "hallucination_status",
    "score": "hallucination_score",
    "threshold": "hallucination_threshold",
    "hallucinated": "hallucinated",
    "level": "hallucination_level",
    "reason": "hallucination_reason",
    "spans": "hallucination_spans",
    "abstention": "hallucination_abstention",
    "error": "hallucination_error",
}
"""The columns that are added to a batch, by what they are called in the parts of ``groundwire batch``."""


@dataclass(eq=False)
class Scorer:
    """Takes a batch and returns the same kind with the outcomes' columns added: one row for each row.

    A batch is a pyarrow Table or RecordBatch, a pandas DataFrame, or a dict of columns. ``checker`` is a
    detector's name, settings as ``Checker.from_config`` takes them, or a function of a module that builds a
    checker; the model is loaded with the first batch, once for each Scorer, and doesn't travel when it is
    pickled. ``columns`` are found by their usual names. A row that can't be read or judged has an error and
    no score. Raises ConfigurationError for settings that can't work, TableError for a batch without an answer
    or a context, or with two columns of one name, InputError for one that has a column of ours, or is of
    another kind.
    """

    checker: str | Path | Recipe = "embedded"
    columns: Columns = field(default_factory=Columns)

    def __post_init__(self) -> None:
        self.checker = recipe_of(self.checker)
        self._loaded: Checker | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"checker": self.checker, "columns": self.columns}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._loaded = None

    def __call__(self, batch: Any) -> Any:
        """The batch with the outcomes of its rows."""
        if isinstance(batch, Mapping):
            return self._of_dict(batch)
        kind = type(batch)
        root = kind.__module__.partition(".")[0]
        if root == "pandas" and hasattr(batch, "columns"):
            return self._of_frame(batch)
        if root == "pyarrow" and hasattr(batch, "to_pylist"):
            return self._of_arrow(batch)
        raise InputError(
            f"a batch must be a pyarrow Table, a pandas DataFrame or a dict of columns, not {kind.__name__}"
        )

    def arrow_iter(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Each pyarrow RecordBatch with its outcomes, for Spark's ``mapInArrow``."""
        return map(self, batches)

    def schema(self, given: Any) -> Any:
        """The schema that batches of a pyarrow schema have when they come back."""
        types = cols.types()
        for name, added in ADDED.items():
            given = given.append(cols.arrow().field(added, types[name]))
        return given

    def _of_arrow(self, batch: Any) -> Any:
        pa, types = cols.arrow(), cols.types()
        told = self._told(batch.schema.names, arrow_cells(batch))
        for name, added in ADDED.items():
            batch = batch.append_column(added, pa.array(told[name], type=types[name]))
        return batch

    def _of_frame(self, frame: Any) -> Any:
        pandas = import_module("pandas")
        names = [str(name) for name in frame.columns]
        require_one_of_each(names)  # before pandas leaves one out
        told = self._told(names, frame.to_dict("records"))
        made = {
            # What was not judged is <NA>: a plain column of bools would have to call it False.
            added: pandas.array(told[name], dtype="boolean" if name == "hallucinated" else _DTYPES[name])
            for name, added in ADDED.items()
        }
        return frame.assign(**made)

    def _of_dict(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        numpy = import_module("numpy")
        names = list(batch)
        told = self._told(
            names, [dict(zip(names, one, strict=True)) for one in zip(*batch.values(), strict=True)]
        )
        made = {}
        for name, added in ADDED.items():
            if name in ("score", "threshold"):
                made[added] = numpy.array(told[name], dtype=float)  # None becomes NaN
                continue
            made[added] = numpy.empty(len(told[name]), dtype=object)
            made[added][:] = told[name]
        return {**batch, **made}

    def _told(self, names: list[str], rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
        if taken := [added for added in ADDED.values() if added in names]:
            raise InputError(f"the batch has a column {taken[0]!r} already: drop it, or rename it, before")
        require_one_of_each(names)
        told: dict[str, list[Any]] = {name: [] for name in ADDED}
        candidates = self.columns.candidates(names)
        if not rows:
            return told
        if self._loaded is None:
            assert not isinstance(self.checker, str | Path)
            self._loaded = checker_of(self.checker)
        records = (Record(line=0, cells=_cells(row)) for row in rows)
        read: Iterator[Row] = rows_of(records, table="", candidates=candidates)
        for _, outcome in judged(self._loaded, read):
            cells = cols.of_outcome(outcome, full=False)
            for name, values in told.items():
                values.append(cells[name])
        return told


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with lists in place of arrays, which is how frames and batches hold them."""
    return {str(name): _listed(value) for name, value in row.items()}


def _listed(value: Any) -> Any:
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        value = value.tolist()
    if type(value).__module__.partition(".")[0] == "pandas" and not isinstance(value, str):
        return None if type(value).__name__ in ("NAType", "NaTType") else value
    return [_listed(one) for one in value] if isinstance(value, list | tuple) else value


_DTYPES = dict.fromkeys(ADDED, "object") | {"score": "float64", "threshold": "float64"}
