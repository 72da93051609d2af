"""What is judged: a question, the passages retrieved for it, and the answer given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from groundwire.core.errors import InputError


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """One retrieved text, as the answering model saw it.

    ``score`` is the retriever's own, in whatever unit it has. Raises InputError, naming the field, for a text
    that is none and metadata that is no mapping.
    """

    text: str
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    score: float | None = None

    def __post_init__(self) -> None:
        _require_text("a passage's text", self.text)
        object.__setattr__(self, "metadata", _metadata("a passage's metadata", self.metadata))

    def __hash__(self) -> int:
        return hash((self.text, self.id))


class Role(StrEnum):
    """Who spoke in an earlier turn."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One earlier message of the conversation. Raises InputError for a role that is none."""

    role: Role
    text: str

    def __post_init__(self) -> None:
        _require_text("a turn's text", self.text)
        if self.role not in list(Role):
            raise InputError(f"a turn's role must be one of {', '.join(Role)}, not {shown(self.role)}")
        object.__setattr__(self, "role", Role(self.role))


@dataclass(frozen=True, init=False)
class Interaction:
    """A question, its contexts and the answer to judge.

    ``contexts`` takes one str, one Passage, or an iterable of either and keeps a tuple of Passages;
    None and blank passages mean that nothing was retrieved. ``history`` is earlier turns, oldest first.
    ``id`` is what the outcome is found by; left out, or empty, the outcome gets one of its own. Raises
    InputError, naming the field, for anything that is not text.
    """

    question: str
    contexts: tuple[Passage, ...]
    answer: str
    history: tuple[Turn, ...]
    id: str | None
    metadata: Mapping[str, Any]

    def __init__(
        self,
        *,
        answer: str,
        contexts: str | Passage | Iterable[str | Passage] | None = None,
        question: str | None = None,
        history: Iterable[Turn] = (),
        id: str | None = None,  # noqa: A002 - the field's name on the wire and in every framework
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        _require_text("answer", answer)
        if question is not None:
            _require_text("question", question)
        if not (id is None or isinstance(id, str)):
            raise InputError(f"id must be a str, not {shown(id)}; give its text: str(id)")
        keep = object.__setattr__  # the class is frozen: only its constructor may set fields
        keep(self, "answer", answer)
        keep(self, "contexts", _passages(contexts))
        keep(self, "question", question or "")
        keep(self, "history", _turns(history))
        keep(self, "id", id)
        keep(self, "metadata", _metadata("metadata", metadata))

    def __hash__(self) -> int:
        return hash((self.question, self.contexts, self.answer, self.id))

    @property
    def has_context(self) -> bool:
        """Whether any passage holds something to judge against."""
        return any(passage.text.strip() for passage in self.contexts)


def _passages(contexts: str | Passage | Iterable[str | Passage] | None) -> tuple[Passage, ...]:
    if contexts is None:
        return ()
    if isinstance(contexts, str | Passage):
        return (_passage(contexts, where="contexts"),)
    # One document of a framework is iterable as well, over its fields, and a table over its columns' names.
    other = any(hasattr(contexts, name) for name in ("page_content", "get_content", "columns"))
    if other or isinstance(contexts, bytes | Mapping) or not isinstance(contexts, Iterable):
        raise _not_text("contexts", contexts)
    return tuple(
        item if isinstance(item, Passage) else _passage(item, where=f"contexts[{i}]")
        for i, item in enumerate(contexts)
    )


def _passage(item: str | Passage, *, where: str) -> Passage:
    if isinstance(item, Passage):
        return item
    _require_text(where, item)
    return Passage(text=item)


def _turns(history: Iterable[Turn] | None) -> tuple[Turn, ...]:
    if history is None:
        return ()
    if isinstance(history, str | bytes | Mapping) or not isinstance(history, Iterable):
        raise InputError(f"history must be a list of Turns, not {shown(history)}")
    turns = tuple(history)
    for i, turn in enumerate(turns):
        if not isinstance(turn, Turn):
            raise InputError(
                f"history[{i}] must be a Turn, not {shown(turn)}; "
                "give its role and its text: Turn(role=Role.USER, text=...)"
            )
    return turns


def _metadata(name: str, given: object) -> dict[str, Any]:
    if not (given is None or isinstance(given, Mapping)):
        raise InputError(f"{name} must be a mapping, not {type(given).__name__}")
    return dict(given or {})


def _require_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise _not_text(name, value)


_TEXT_KEYS = ("page_content", "text", "content")
_KEYS_OF = {  # those under which frameworks keep an answer and a question, beside much else
    "answer": ("answer", "result", "output", "response", "text", "content"),
    "question": ("question", "query", "input", "text", "content"),
}
# What a document, a node, a table, a response and a message of the frameworks have, and how to have its text.
_TEXT_OF = {
    "page_content": "Passage(text=document.page_content, metadata=document.metadata)",
    "get_content": "Passage(text=node.get_content(), metadata=node.metadata)",
    "source_nodes": "str(response)",
    "columns": "its column of texts, as a list of str",
    "text": "message.text",
    "read_text": "path.read_text()",
}


def _not_text(name: str, value: object) -> InputError:
    expected = "a str, a Passage or a list of them" if name == "contexts" else "a str"
    if value is None:
        what = "answer to judge was given" if name == "answer" else "text was given"
        return InputError(f"{name} is None: no {what}; expected {expected}")
    return InputError(f"{name} must be {expected}, not {shown(value)}{_hint(name, value)}")


def _hint(name: str, value: object) -> str:
    """Where the text of a value is, if it is of a kind that is often given in place of one."""
    if isinstance(value, bytes):
        return "; decode it first"
    if isinstance(value, Mapping):
        return _hint_of_keys(name, value)
    if isinstance(value, list | tuple) and value:
        first = value[0]
        if name in _KEYS_OF and isinstance(first, Mapping) and "type" in first:  # the blocks of a message
            return f"; give its text: {_TEXT_OF['text']}"
        return _hint(name, first)  # a document with its score, as searches return them
    for attribute, text in _TEXT_OF.items():
        if hasattr(value, attribute):
            return f"; give its text: {text}"
    return ""


def _hint_of_keys(name: str, given: Mapping[Any, Any]) -> str:
    keys = _KEYS_OF.get(name, _TEXT_KEYS)
    if key := next((key for key in keys if isinstance(given.get(key), str)), None):
        if name in _KEYS_OF:
            return f"; give its text: result[{key!r}]"
        return f"; give its text: document[{key!r}], or Passage(text=document[{key!r}], ...)"
    if name == "answer" and "messages" in given:  # what an agent or a graph returns
        return "; give its text: result['messages'][-1].text"
    return ""


_SHOWN = 400  # characters of it are looked at


def shown(value: object) -> str:
    """The kind of a value and how it begins, for a message that says what is wrong with it."""
    text, kind = f"{' '.join(repr(value)[:_SHOWN].split()):.60}", type(value).__name__
    text += "…" if len(text) == 60 else ""
    return text if text.startswith(kind) else f"{kind} {text}"
