"""Which column holds the question, the history, the context, the answer, the id and the label.

People who keep RAG runs call them many names; the usual ones are recognised, and any can be named.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from groundwire.tables.errors import TableError

# In order of preference, where a table has several. What says that it was retrieved or generated comes first:
# beside it, "context" and "answer" are what the authors of a test set hold to be right.
_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "query", "user_input", "user_query", "input", "prompt"),
    "history": ("history", "chat_history", "conversation_history"),
    "context": (
        "retrieved_contexts",
        "retrieved_context",
        "retrieval_context",
        "contexts",
        "context",
        "retrieved_documents",
        "retrieved_docs",
        "source_documents",
        "documents",
        "docs",
        "passages",
        "chunks",
        "sources",
        "knowledge",
    ),
    "answer": (
        "actual_output",
        "generated_answer",
        "model_answer",
        "answer",
        "response",
        "output",
        "generation",
        "prediction",
        "completion",
        "result",
    ),
    "id": ("id", "row_id", "example_id", "run_id"),
    "label": ("label",),
}
_REQUIRED = ("context", "answer")
_BETWEEN_WORDS = re.compile(r"[\s_-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """The names of the columns; None looks for the usual names.

    A name may lead into nested objects, as ``outputs.answer`` does, also where a cell holds them as JSON.
    ``option`` is what names one on the command line, as messages tell.
    """

    option: ClassVar[str] = "--{}"

    question: str | None = None
    history: str | None = None
    context: str | None = None
    answer: str | None = None
    id: str | None = None
    label: str | None = None

    @property
    def elsewhere(self) -> str | None:
        """The name of a column that holds none of these parts, though it may be called like one."""
        return None

    def candidates(
        self, present: Iterable[str], rows: Sequence[Mapping[str, Any]] = ()
    ) -> dict[str, tuple[str, ...]]:
        """For each kind of column, the names to look under in each row, the best first.

        ``present`` are the names that the file has, and ``rows`` some of its rows, which tell what is in
        nested objects. Raises TableError when none of them will do, naming them and the flag that helps; all
        that is missing is named at once.
        """
        known = list(dict.fromkeys(present))
        chosen = {field.name: self._names(field.name, known) for field in fields(self)}
        problems = [problem for kind in chosen if (problem := self._problem(kind, chosen[kind], known, rows))]
        if problems and known:
            have = ", ".join(map(repr, known))
            raise TableError(f"{'; '.join(problems)}. The columns are {have}")
        return chosen

    def _names(self, kind: str, known: list[str]) -> tuple[str, ...]:
        named: str | None = getattr(self, kind)
        if named is not None:
            return (named,)
        taken = {getattr(self, field.name) for field in fields(self)}
        usual = spelled(_SYNONYMS[kind], [name for name in known if name not in taken])
        return tuple(name for name in usual if name != self.elsewhere)

    def _problem(
        self, kind: str, names: tuple[str, ...], known: list[str], rows: Sequence[Mapping[str, Any]]
    ) -> str:
        if any(name in known for name in names):
            return ""
        if getattr(self, kind) is not None:
            nested = names[0].partition(".")[0] in known
            there = _instead(names[0], rows) if nested else ""
            if nested and not there:
                return ""
            return f"no column is called {names[0]!r} ({self.option.format(kind)}){there}"
        if kind not in _REQUIRED:
            return ""
        return f"no column looks like the {kind}: name it with {self.option.format(kind)}"


def spelled(names: Sequence[str], present: Sequence[str]) -> tuple[str, ...]:
    """The names as a file writes them: case, blanks, hyphens and underscores don't matter."""
    written = {_plain(name): name for name in reversed(present)}
    return tuple(written.get(_plain(name), name) for name in names)


def cell(
    cells: Mapping[str, Any], candidates: Mapping[str, tuple[str, ...]], kind: str
) -> tuple[str | None, Any]:
    """The name and value of the row's column of a kind: the first that isn't null, else the first there is.

    An empty text is a value. The answer is the first there is even if null: an application that gave none
    must not be judged by what another column holds. NaN, which is how pandas keeps a null, is given as None.
    """
    null: str | None = None
    for name in candidates[kind]:
        there, value = _at(cells, name)
        if there and (value is not None or kind == "answer"):
            return name, value
        if there and null is None:
            null = name
    return null, None


def _at(cells: Mapping[str, Any], name: str) -> tuple[bool, Any]:
    if name in cells:
        return True, _without_nan(cells[name])
    if "." not in name:
        return False, None
    value: Any = cells
    for part in name.split("."):
        value = _object(value)
        if not isinstance(value, Mapping) or part not in value:
            return False, None
        value = value[part]
    return True, _without_nan(value)


def _object(value: Any) -> Any:
    """The object that a cell holds as JSON, as exports of traces to CSV do; anything else is itself."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _instead(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """What rows hold where a name that leads into nested objects ends for want of its next part.

    "" if one of them has it, or if none can tell, for where it leads is null.
    """
    parts, found, deepest = name.split("."), dict[str, None](), 0
    for cells in rows:
        if _at(cells, name)[0]:
            return ""
        value: Any = cells
        depth = 0
        while isinstance(value, Mapping) and parts[depth] in value:
            value, depth = _object(value[parts[depth]]), depth + 1
        if depth < max(deepest, 1) or _without_nan(value) is None:
            continue
        found = found if depth == deepest else {}
        deepest = depth
        found |= dict.fromkeys(map(repr, value) if isinstance(value, Mapping) else ["no object"])
    there = ", ".join(found) or "no key"
    return f": {'.'.join(parts[:deepest])!r} has {there:.300}" if deepest else ""


def _without_nan(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _plain(name: str) -> str:
    return _BETWEEN_WORDS.sub("", name.lower())
