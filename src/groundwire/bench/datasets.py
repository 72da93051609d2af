"""From files to labelled examples: tables under any column names, and the layouts that datasets come in.

Nothing is downloaded. A row that can't be read is an error that names its line: a measurement that silently
leaves rows out measures something else.
"""

from __future__ import annotations

import ast
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from groundwire.bench.examples import Example, gathered, marked
from groundwire.bench.layouts import load_layout
from groundwire.core.errors import InputError
from groundwire.core.span import Span
from groundwire.tables import Columns, Format, Row, Table, TableError, read
from groundwire.tables.columns import cell, spelled

_TABLE = ("question", "history", "context", "answer", "id", "label")
# The usual names of what only labelled answers have; dots lead into nested objects.
_BESIDE: Mapping[str, tuple[str, ...]] = {
    "spans": ("spans", "unsupported_spans", "hallucinated_spans"),
    "group": ("group", "source_id", "document_id", "doc_id", "meta.source_id"),
    "task": ("task", "task_type"),
    "model": ("model", "model_name", "generator", "meta.model"),
}


def load(
    path: str | Path, *, layout: str | None = None, columns: Mapping[str, str] | None = None
) -> list[Example]:
    """The labelled answers of a file, in its order.

    A table (JSON lines, JSON, CSV, TSV, Parquet; any of them gzip'd) needs a context and an answer;
    ``columns`` names its columns where they are not the usual ones: ``question``, ``history``, ``context``,
    ``answer``, ``id``, ``label``, ``spans``, ``group``, ``task``, ``model``, each to a name that may lead
    into nested objects (``meta.source_id``). A label is 1 or 0, or a word such as hallucinated or grounded;
    empty is unlabelled. In a column that asks whether the answer is grounded (``faithful``, ``is_correct``),
    1 and yes say that it is. Spans are ``{"start", "end"}`` objects or pairs of character offsets into the
    answer; a ``"text"`` beside them must be what stands there. Where there is no label, marked words make
    one; an empty list makes one only in a file that has no column of labels. No spans in a hallucinated
    answer, or in the whole file, say that nobody marked words, and not that there are none; in a file with
    marked words a grounded answer has none to mark. ``layout`` reads a dataset as its authors distribute
    it, see ``groundwire.bench.layouts``. Raises TableError naming the lines that can't be read, and what is
    wrong.
    """
    if layout is not None:
        return load_layout(layout, Path(path), columns=columns)
    with Path(path).open("rb") as stream:
        return read_table(stream, name=str(path), columns=columns)


def read_table(stream: BinaryIO, *, name: str, columns: Mapping[str, str] | None = None) -> list[Example]:
    """The labelled answers of a table that is open, read as ``load`` reads a file called ``name``."""
    named = _named(columns)
    return _examples(read(stream, name=name, columns=_Parts(named)), named)


def examples_of(
    name: str, rows: Sequence[Mapping[str, Any]], *, columns: Mapping[str, str] | None = None
) -> list[Example]:
    """The labelled answers of rows that are at hand, read as ``load`` reads a file called ``name``."""
    named = _named(columns)
    lines = "\n".join(json.dumps(row, default=str) for row in rows).encode()
    table = read(io.BytesIO(lines), name=name, columns=_Parts(named), kind=Format.JSONL)
    return _examples(table, named)


def _named(columns: Mapping[str, str] | None) -> dict[str, str]:
    named = dict(columns or {})
    unknown = sorted(set(named) - {*_TABLE, *_BESIDE})
    if unknown:
        known = ", ".join((*_TABLE, *_BESIDE))
        raise TableError(f"columns: no part of an example is called {unknown[0]!r}: expected one of {known}")
    return named


class _Parts(Columns):
    """Named by the one option of the commands that read labelled answers."""

    option = "--columns {}=COLUMN"
    _spans: str | None

    def __init__(self, named: Mapping[str, str]) -> None:
        super().__init__(**{part: column for part, column in named.items() if part in _TABLE})
        object.__setattr__(self, "_spans", named.get("spans"))

    @property
    def elsewhere(self) -> str | None:
        return self._spans


def _examples(table: Table, named: Mapping[str, str]) -> list[Example]:
    rows = list(table.rows)
    if not rows:
        raise TableError(f"{table.name}: it holds no row")
    _require_named(table.name, rows, {kind: column for kind, column in named.items() if kind in _BESIDE})
    present = list(dict.fromkeys(column for row in rows for column in row.cells or ()))
    beside = {kind: (named[kind],) if kind in named else spelled(_BESIDE[kind], present) for kind in _BESIDE}
    examples = gathered(table.name, (_attempt(row, beside) for row in rows))
    labels = any(cell(row.cells or {}, table.candidates, "label")[0] is not None for row in rows)
    return marked(examples if labels else _labelled_by_marks(examples))


def _labelled_by_marks(examples: list[Example]) -> list[Example]:
    """Where marked words are all that labels an answer, one whose list of them is empty is grounded."""
    if not any(one.spans for one in examples):
        return examples
    return [replace(one, label=False) if one.spans == () else one for one in examples]


def _require_named(path: str, rows: Sequence[Row], named: Mapping[str, str]) -> None:
    for kind, name in named.items():
        if all(cell(row.cells, {kind: (name,)}, kind)[0] is None for row in rows if row.cells is not None):
            raise TableError(f"{path}: no column is called {name!r} ({_Parts.option.format(kind)})")


def _attempt(row: Row, beside: Mapping[str, tuple[str, ...]]) -> Example | str:
    if row.interaction is None or row.cells is None or row.unlabelled:
        return f"{row.place}: {row.problem or row.unlabelled}"
    found = {kind: cell(row.cells, beside, kind)[1] for kind in beside}
    try:
        spans = spans_of(found["spans"], row.interaction.answer)
        if spans and row.label == 0:
            return f"{row.place}: it is labelled grounded, and words of it are marked as unsupported"
        return Example(
            id=row.id,
            interaction=row.interaction,
            label=True if spans else None if row.label is None else bool(row.label),
            spans=spans,
            group=_text(found["group"]),
            task=_text(found["task"]),
            model=_text(found["model"]),
        )
    except (InputError, ValueError) as error:
        return f"{row.place}: {error}"


def spans_of(value: Any, answer: str) -> tuple[Span, ...] | None:
    """Spans of an answer from ``{"start", "end"}`` objects or pairs; None for None.

    A list of these may be text: JSON, or what pandas writes for a list.
    """
    if isinstance(value, str):
        value = _listed(value) if value.strip() else None
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise InputError(f"the spans must be a list, not {value!r:.40}")
    return tuple(_span(item, answer) for item in value)


def _listed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        try:
            return ast.literal_eval(text.strip())  # reads literals and runs nothing
        except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
            raise ValueError(f"the spans are no JSON: {text!r:.40}") from error


def _span(item: Any, answer: str) -> Span:
    pair = (item.get("start"), item.get("end")) if isinstance(item, Mapping) else item
    match pair:  # whole numbers beside a null are floats where pandas wrote them
        case [int() | float() as start, int() | float() as end] if start % 1 == end % 1 == 0:
            span = Span(int(start), int(end))
            _require_text(item.get("text") if isinstance(item, Mapping) else None, span, answer)
            return span
    raise ValueError(
        f"a span must be {{'start': ..., 'end': ...}} or a pair of whole numbers, not {item!r:.60}"
    )


def _require_text(told: Any, span: Span, answer: str) -> None:
    """Raises ValueError where a span's own text, if any, is not what it spans, however that is spaced."""
    there = answer[span.start : span.end]
    if isinstance(told, str) and told.strip() and span.end <= len(answer) and told.split() != there.split():
        raise ValueError(
            f"a span from {span.start} to {span.end} is told to be {told!r:.40}, and there stands "
            f"{there!r:.40}: offsets must count characters, and not bytes, UTF-16 units or tokens"
        )


def _text(value: Any) -> str:
    return "" if value is None else str(value)
