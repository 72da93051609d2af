"""What a tool found, where a model inside of it made its words of that.

An agent's state shows what such a tool said, and not what it said that from: a RAG chain as a tool, or
another agent, may have made it up. So the documents travel on the tool's message, and are the evidence.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import fields, is_dataclass, replace
from typing import Any, Self, TypeVar, cast
from uuid import UUID, uuid4

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tracers.context import register_configure_hook

from groundwire.core.errors import InputError
from groundwire.core.interaction import Passage
from groundwire.core.plain import plain
from groundwire.langchain import chat
from groundwire.langchain.capture import Capture, Captured
from groundwire.langchain.declared import UNIT
from groundwire.langchain.sources import Sources
from groundwire.langchain.told import Told
from groundwire.langchain.tools import Tools, hands_over
from groundwire.langchain.tree import Kind, Unit

_KEY = "groundwire_found"
T = TypeVar("T")
_DIGITS = 19  # of a number of 64 bits, which is what checkpoints keep
_FIELDS = [field.name for field in fields(Passage)]


class Inside(Capture):
    """Hears what runs in a ``with`` block, which is one call of a tool, and takes note of what it found."""

    def __init__(self) -> None:
        super().__init__(lambda _: None)
        self._call = uuid4()
        self._found: list[Passage] | None = None
        self.on_chain_start(None, None, run_id=self._call, tags=[UNIT])

    def __enter__(self) -> Self:
        self._token = _INSIDE.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _INSIDE.reset(self._token)
        self.on_chain_end(None, run_id=self._call)

    def noted(self, result: T, state: Any) -> T:
        """What the tool returned, with what was found on its messages, where that isn't what they say.

        A model stood in between, or it has handed over to another agent and found nothing.

        They are the result itself, or stand in the update of a Command, or in a list; all else is as it was,
        and so is what an update repeats of the agent's ``state``.
        """
        found = [] if self._found is None and hands_over(result) else self._found
        if found is None:
            return result
        there = {message.id for message in chat.tool_messages(state)} - {None}
        return cast(T, _noted(result, found, there))

    def _start(
        self, kind: Kind, inputs: Any, run_id: UUID, event: Mapping[str, Any], serialized: Any = None
    ) -> None:
        if not self._runs.known(event.get("parent_run_id")):
            event = {**event, "parent_run_id": self._call}
        super()._start(kind, inputs, run_id, event, serialized)

    def _read(self, unit: Unit) -> Captured | None:
        sources = Sources(unit)
        if unit.models or any(map(sources.made, unit.retrievals)):
            self._found = []  # what can't be read is no evidence
            self._found = Tools(sources, Told(unit)).brought()
        return None


def _noted(result: Any, found: list[Passage], there: Container[str | None]) -> Any:
    if isinstance(result, list):
        return [_noted(one, found, there) for one in result]
    if isinstance(result, ToolMessage):
        return result if result.id in there else _with_found(result, found)
    update = getattr(result, "update", None)
    if not is_dataclass(result) or not isinstance(update, Mapping):  # by its form: langgraph is an extra
        return result
    # No other form than these two: a tuple is one message, and what overwrites a state stands for itself.
    if not isinstance(held := update.get("messages"), ToolMessage | list):
        return result
    return replace(cast(Any, result), update={**update, "messages": _noted(held, found, there)})


def form_noted(messages: Iterable[BaseMessage], tools: Iterable[Any]) -> list[BaseMessage]:
    """What a model returned, with nothing found on messages that seem to be from a tool and are from none.

    They are from the form of a structured response: that it was filled in, or what was wrong with it.
    """
    names = {getattr(tool, "name", None) for tool in tools}
    return [
        _with_found(message, [])
        if isinstance(message, ToolMessage) and message.name not in names
        else message
        for message in messages
    ]


def _with_found(message: ToolMessage, found: list[Passage]) -> ToolMessage:
    if [passage.text for passage in found] == [message.text]:
        return message
    return message.model_copy(
        update={"response_metadata": {**message.response_metadata, _KEY: written(found)}}
    )


def written(found: Iterable[Passage]) -> Any:
    """Passages in a form that any checkpoint can keep, whatever stands in their metadata."""
    return [_written(passage) for passage in found]


def _written(passage: Passage) -> Any:
    try:
        told = json.dumps(plain({name: getattr(passage, name) for name in _FIELDS}))
    except Exception:  # rule 5, as of all that a host hands over: what can't be written costs the metadata
        told = json.dumps(plain({"text": passage.text, "id": passage.id}))
    return json.loads(told, parse_int=lambda digits: int(digits) if len(digits) < _DIGITS else digits)


_INSIDE: ContextVar[Inside | None] = ContextVar("groundwire_inside", default=None)
register_configure_hook(_INSIDE, inheritable=True)


def found(message: ToolMessage) -> list[Passage] | None:
    """What was noted on a tool's message; None where no model stood in between.

    What can't be read there was written by another version, or by somebody else, and is no evidence.
    """
    noted = message.response_metadata.get(_KEY)
    return None if noted is None else read(noted)


def read(noted: Any) -> list[Passage]:
    """The passages that were ``written``; none where they can't be read."""
    listed = noted if isinstance(noted, list) else []
    with suppress(TypeError, InputError):
        return [Passage(**{name: one[name] for name in _FIELDS if name in one}) for one in listed]
    return []


def answered_in(messages: Iterable[BaseMessage], tools: Iterable[Any]) -> bool:
    """Whether a model has answered in one of the ``tools`` that the messages are from."""
    names = {getattr(tool, "name", None) for tool in tools}
    told = (message for message in messages if isinstance(message, ToolMessage) and message.name in names)
    return any(found(message) is not None for message in told)
