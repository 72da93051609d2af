"""From records to rows: an Interaction each, or the reason why there is none."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, BinaryIO
from uuid import UUID

from groundwire.core.errors import InputError
from groundwire.core.interaction import Interaction, Passage, Turn, shown
from groundwire.core.verdict import Abstention, AbstentionReason
from groundwire.tables.columns import Columns, cell
from groundwire.tables.errors import TableError
from groundwire.tables.labels import label_of
from groundwire.tables.printed import spelled
from groundwire.tables.record import Record
from groundwire.tables.records import Format, records
from groundwire.tables.turns import asked, turns

_LOOK_AHEAD = 32  # records whose columns are known before the first one is judged
_TEXT_KEYS = ("text", "page_content", "content", "chunk", "passage", "document", "document.content")
# Where an object has its text in another one: of LlamaIndex, OpenInference, Bedrock, and LangChain's dumpd.
_HOLDERS = ("node", "document", "content", "kwargs")
_BY_COLUMN = (
    "it holds one object that has a whole column under each name: write an object for each row instead; "
    "pandas does so with to_json(path, orient='records', lines=True)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One row. ``interaction`` is None when it can't be judged, and ``problem`` says why.

    ``place`` is where it stands, for messages; ``id`` is the row's own, or the table's name and line.
    ``label`` is 1 for an answer known to be hallucinated, 0 for one known to be grounded, None where nothing
    readable is known; ``unlabelled`` says what can't be read of one that is there. ``cells`` is all that the
    row holds, by column; None where it can't be read.
    """

    table: str
    line: int
    place: str
    id: str
    interaction: Interaction | None
    problem: str = ""
    label: int | None = None
    unlabelled: str = ""
    cells: Mapping[str, Any] | None = None

    def unreadable(self) -> Abstention:
        """The outcome of a row that has no interaction; one that is in no file has no line to name."""
        detail = f"{self.place}: {self.problem}" if self.line else self.problem
        return Abstention(why=AbstentionReason.UNREADABLE_INPUT, detail=detail, id=self.id)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table that is being read. ``columns`` says which column each part of the first row came from.

    ``candidates`` are the names under which each part is looked for in every row, the best first.
    ``empty`` says that it holds no row at all, not even one that can't be read.
    """

    name: str
    columns: Mapping[str, str]
    empty: bool
    rows: Iterator[Row]
    candidates: Mapping[str, tuple[str, ...]]


def read(
    stream: BinaryIO, *, name: str = "", columns: Columns | None = None, kind: Format | None = None
) -> Table:
    """Read a table of answers. Rows come in the file's order, each as it is asked for.

    ``name`` is what the file is called: its ending tells the format unless ``kind`` does. Raises
    TableError at once when the file is no table or lacks a column; a row that can't be read is a Row.
    """
    return table_of(_records(stream, name, kind), name=name, columns=columns)


def table_of(given: Iterable[Record], *, name: str = "", columns: Columns | None = None) -> Table:
    """``read`` for whoever has the records already."""
    head, source = _looked_ahead(_told(given, name))
    cells = [record.cells for record in head if record.cells is not None]
    try:
        candidates = (columns or Columns()).candidates(itertools.chain.from_iterable(cells), cells)
    except TableError as error:
        raise _named(name, str(error)) from error
    first: Mapping[str, Any] = cells[0] if cells else {}
    if len(head) == 1 and _by_column(first, candidates):
        raise _named(name, _BY_COLUMN)
    used = {kind: cell(first, candidates, kind)[0] for kind in candidates}
    return Table(
        name=name,
        columns={kind: column for kind, column in used.items() if column is not None},
        empty=not head,
        rows=rows_of(itertools.chain(head, source), table=name, candidates=candidates),
        candidates=candidates,
    )


def _by_column(cells: Mapping[str, Any], candidates: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether the only row of a table is the whole of one, as a frame's to_json and to_dict write it."""
    answers, contexts = (cell(cells, candidates, kind)[1] for kind in ("answer", "context"))
    if isinstance(answers, Mapping) and isinstance(contexts, Mapping):
        return list(answers) == list(contexts)
    return isinstance(answers, list) and isinstance(contexts, list) and len(answers) == len(contexts)


def _records(stream: BinaryIO, name: str, kind: Format | None) -> Iterator[Record]:
    # Not before the first is asked for: what is wrong with the file is told there.
    yield from records(stream, name=name, kind=kind)


def _told(given: Iterable[Record], name: str) -> Iterator[Record]:
    """The same records; what is wrong with the file is said with its name."""
    try:
        yield from given
    except TableError as error:
        raise _named(name, str(error)) from error
    except OSError as error:
        raise _named(name, f"the file can't be read on: {error}") from error


def _looked_ahead(source: Iterator[Record]) -> tuple[list[Record], Iterator[Record]]:
    """The first records and the rest. Where a file breaks off among the first, they are kept."""
    head: list[Record] = []
    try:
        head.extend(itertools.islice(source, _LOOK_AHEAD))
    except TableError as error:
        if not head:
            raise
        return head, _broken(error)
    return head, source


def _broken(error: TableError) -> Iterator[Record]:
    yield from ()
    raise error


def _named(name: str, problem: str) -> TableError:
    return TableError(f"{name}: {problem}" if name else problem)


def rows_of(
    source: Iterable[Record], *, table: str, candidates: Mapping[str, tuple[str, ...]]
) -> Iterator[Row]:
    """The row of each record, its parts looked for under these names."""
    for record in source:
        place = f"{table}:{record.line}" if table else record.place
        if record.cells is None:
            yield Row(
                table=table,
                line=record.line,
                place=record.place,
                id=place,
                interaction=None,
                problem=record.problem,
            )
            continue
        cells = record.cells
        _, given = cell(cells, candidates, "id")
        name = _id(given) or place
        label, unlabelled = _label(*cell(cells, candidates, "label"))
        problem, interaction = "", None
        try:
            interaction = _interaction(name, cells, candidates)
        except InputError as error:
            problem = str(error)
        yield Row(
            table=table,
            line=record.line,
            place=record.place,
            id=name,
            interaction=interaction,
            problem=problem,
            label=label,
            unlabelled=unlabelled,
            cells=cells,
        )


def _interaction(
    name: str, cells: Mapping[str, Any], candidates: Mapping[str, tuple[str, ...]]
) -> Interaction:
    column, answer = cell(cells, candidates, "answer")
    if column is None:
        named = candidates["answer"] if len(candidates["answer"]) == 1 else ("answer",)
        raise InputError(f"the row has no answer: it has no column {named[0]!r}")
    question, earlier = asked(cell(cells, candidates, "question")[1])
    return Interaction(
        answer=answer,
        question=question,
        contexts=_contexts(cell(cells, candidates, "context")[1]),
        history=[*_history(cells, candidates), *earlier],
        id=name,
    )


def _history(cells: Mapping[str, Any], candidates: Mapping[str, tuple[str, ...]]) -> Sequence[Turn]:
    """The turns before the question. A column that nobody named may hold a history of another kind."""
    column, value = cell(cells, candidates, "history")
    return turns(value, where=column or "history", guessed=len(candidates["history"]) > 1)


def _contexts(value: Any) -> Any:
    """What Interaction takes as contexts; what it refuses is passed on, so that it says why."""
    if isinstance(value, str):
        value = _listed(value)
    if isinstance(value, Mapping):
        return _passage(value, where="context")
    if isinstance(value, list | tuple):
        return [
            _passage(item, where=f"contexts[{i}]") if isinstance(item, Mapping) else item
            for i, item in enumerate(value)
        ]
    return value


def _listed(text: str) -> Any:
    """The list that a cell spells out, as JSON or as Python prints one; any other text is itself.

    A list of anything but texts and passages is a text too: a context may well be JSON data. A null among
    them stays, so that it is refused here as it is where lists are lists.
    """
    inside = text.strip()
    if not inside.startswith(("[", "(")) or not inside.endswith(("]", ")")):
        return text
    value = spelled(inside, nan=lambda _: None)  # which is how pandas keeps a null
    fits = isinstance(value, list) and all(
        item is None
        or isinstance(item, str)
        or (isinstance(item, Mapping) and _text_key(_opened(item)) is not None)
        for item in value
    )
    return value if fits else text


def _opened(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object that has the text, where it is inside of another."""
    if _text_key(item) is None:
        for name in _HOLDERS:
            inner = item.get(name)
            if isinstance(inner, Mapping) and _text_key(inner) is not None:
                return {"score": item.get("score"), "metadata": item.get("metadata"), **inner}
    return item


def _text_key(item: Mapping[str, Any]) -> str | None:
    return next((key for key in _TEXT_KEYS if isinstance(item.get(key), str)), None)


def _passage(item: Mapping[str, Any], *, where: str) -> Passage:
    item = _opened(item)
    key = _text_key(item)
    if key is None:
        for name in _TEXT_KEYS:
            if name in item:
                raise InputError(f"{where} has no text: {name!r} must be a str, not {shown(item[name])}")
        keys = ", ".join(map(repr, item)) or "nothing"
        raise InputError(f"{where} has no text: expected one of {', '.join(_TEXT_KEYS)}, found {keys:.200}")
    metadata = item.get("metadata")
    known = dict(metadata) if isinstance(metadata, Mapping) else {}
    beside = {name: value for name, value in item.items() if name not in (key, "id", "score", "metadata")}
    score = item.get("score")
    return Passage(
        text=item[key],
        id=None if item.get("id") is None else str(item["id"]),
        metadata=beside | known,
        score=_score(score),
    )


def _score(value: Any) -> float | None:
    """A retriever's score; None for what is no number that a float holds."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _id(value: Any) -> str:
    """A row's own id as text; "" for none. Whole numbers beside a null are floats where pandas wrote them."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, str | int | float | Decimal | UUID) else ""


def _label(column: str | None, value: Any) -> tuple[int | None, str]:
    try:
        label = label_of(value, under=column or "")
    except ValueError as error:
        return None, str(error)
    return label if label is None else int(label), ""
