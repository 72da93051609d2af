"""The columns that an outcome becomes in a table, whoever asks for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from groundwire.core import wire
from groundwire.core.errors import MissingExtraError
from groundwire.core.plain import plain
from groundwire.core.verdict import Abstention, Outcome
from groundwire.tables import Row

PLACE = ("id", "file", "line", "label")
OUTCOME = (
    "status",
    "score",
    "threshold",
    "hallucinated",
    "level",
    "reason",
    "spans",
    "abstention",
    "error",
    "calls",
    "input_tokens",
    "output_tokens",
    "cost",
)
FULL = "outcome"


def of_outcome(outcome: Outcome, *, full: bool) -> dict[str, Any]:
    """The cells of an outcome. ``error`` is null in the rows that were judged, and in no other."""
    abstained = isinstance(outcome, Abstention)
    cells = {
        "status": "abstained" if abstained else "checked",
        "score": outcome.score,
        "threshold": outcome.threshold,
        "hallucinated": outcome.hallucinated,
        "level": None if outcome.level is None else str(outcome.level),
        "reason": None if abstained else plain(outcome.reason),
        "spans": [{"start": span.start, "end": span.end} for span in outcome.spans],
        "abstention": str(outcome.why) if isinstance(outcome, Abstention) else None,
        "error": plain(outcome.reason) if abstained else None,
        "calls": outcome.usage.calls,
        "input_tokens": outcome.usage.input_tokens,
        "output_tokens": outcome.usage.output_tokens,
        "cost": outcome.usage.cost,
    }
    if full:
        cells[FULL] = json.dumps(wire.encode(outcome), ensure_ascii=False, allow_nan=False)
    return cells


def of_row(row: Row, outcome: Outcome, *, full: bool) -> dict[str, Any]:
    """The cells of a row of a table: where it stands, and its outcome."""
    place = {
        "id": plain(row.id),
        "file": plain(row.table),
        "line": row.line,
        "label": row.label,
    }
    return place | of_outcome(outcome, full=full)


def names(*, full: bool) -> tuple[str, ...]:
    """The columns of a part, in order."""
    return (*PLACE, *OUTCOME, FULL) if full else (*PLACE, *OUTCOME)


def types() -> Mapping[str, Any]:
    """The Arrow type of every column. Raises MissingExtraError without pyarrow."""
    pa = arrow()
    text, whole = pa.string(), pa.int64()
    return {
        "id": text,
        "file": text,
        "line": whole,
        "label": pa.int8(),
        "status": text,
        "score": pa.float64(),
        "threshold": pa.float64(),
        "hallucinated": pa.bool_(),
        "level": text,
        "reason": text,
        "spans": pa.list_(pa.struct([("start", pa.int32()), ("end", pa.int32())])),
        "abstention": text,
        "error": text,
        "calls": whole,
        "input_tokens": whole,
        "output_tokens": whole,
        "cost": pa.float64(),
        FULL: text,
    }


def arrow() -> Any:
    """The module pyarrow. Raises MissingExtraError without it."""
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise MissingExtraError("Parquet and Arrow", package="pyarrow", extra="parquet") from error
