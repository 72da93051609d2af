"""Reading what a model returned: its text, the calls that it asks for, and all that it says.

As in ``values``, each function takes any value at all and says nothing where it finds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from groundwire.langchain import chat, values
from groundwire.langchain.tree import Run


def model_text(value: Any) -> str | None:
    """The text of a model's result; None when it has none yet, empty when it only called tools."""
    generations = getattr(value, "generations", None)
    if not generations or not generations[0]:
        return None
    first = generations[0][0]
    message = getattr(first, "message", None)
    return str(first.text) if message is None else chat.text(message)


def calls_tools(value: Any) -> bool:
    """Whether a model's result asks for tools to be called."""
    return bool(_tool_calls(value))


def calls(value: Any) -> Iterator[str]:
    """The ids of the tool calls that a model's result asks for."""
    return (identity for call in _tool_calls(value) if (identity := call.get("id")))


def model_words(value: Any) -> Iterator[str]:
    """All that a model's result says: its text, and what it gives to tools, or fills a structure with."""
    yield model_text(value) or ""
    yield from _given(_tool_calls(value))


def words(message: BaseMessage) -> Iterator[str]:
    """All that a model's message says, likewise."""
    yield chat.text(message) or ""
    yield from _given(getattr(message, "tool_calls", None) or ())


def message_id(value: Any) -> str | None:
    """The id of the message that a model's result is."""
    return getattr(_message(value), "id", None)


def _given(tool_calls: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for call in tool_calls:
        yield from values.texts(call.get("args"))


def said_in(models: Iterable[Run]) -> Iterable[str]:
    """All that these models have said, each text once."""
    return dict.fromkeys(words for model in models for words in model_words(model.outputs))


def calls_by_tool(value: Any) -> Iterator[tuple[str, str]]:
    """The names of the tools that a model's result asks for, with the ids of the calls."""
    return ((call["name"], identity) for call in _tool_calls(value) if (identity := call.get("id")))


def _tool_calls(value: Any) -> Sequence[Mapping[str, Any]]:
    return getattr(_message(value), "tool_calls", None) or ()


def _message(value: Any) -> BaseMessage | None:
    generations = getattr(value, "generations", None)
    if not generations or not generations[0]:
        return None
    return getattr(generations[0][0], "message", None)
