"""What a tool found, where a model inside of it made its words of that.

An agent's state shows what such a tool said, and not what it said that from: a RAG chain as a tool, or
another agent, may have made it up. So the documents travel on the tool's message, and are the evidence.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import fields
from typing import Any, Self, TypeVar
from uuid import UUID, uuid4

from langchain_core.messages import ToolMessage
from langchain_core.tracers.context import register_configure_hook

from groundwire.core.interaction import Passage
from groundwire.core.plain import plain
from groundwire.langchain import contexts
from groundwire.langchain.capture import Capture, Captured
from groundwire.langchain.declared import UNIT
from groundwire.langchain.tree import Kind, Unit

_KEY = "groundwire"
_FIELDS = [field.name for field in fields(Passage)]
T = TypeVar("T")


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

    def noted(self, result: T) -> T:
        """The tool's message with what was found on it, where a model stood in between; else as it is."""
        if self._found is None or not isinstance(result, ToolMessage):
            return result
        if [passage.text for passage in self._found] == [result.text]:
            return result
        found = [{name: getattr(passage, name) for name in _FIELDS} for passage in self._found]
        return result.model_copy(
            update={"response_metadata": {**result.response_metadata, _KEY: plain(found)}}
        )

    def _start(
        self, kind: Kind, inputs: Any, run_id: UUID, parent_run_id: UUID | None, *declared: Any
    ) -> None:
        known = self._runs.known(parent_run_id)
        super()._start(kind, inputs, run_id, parent_run_id if known else self._call, *declared)

    def _read(self, unit: Unit) -> Captured | None:
        if unit.models:
            self._found = contexts.brought(unit)
        return None


_INSIDE: ContextVar[Inside | None] = ContextVar("groundwire_inside", default=None)
register_configure_hook(_INSIDE, inheritable=True)


def found(message: ToolMessage) -> list[Passage] | None:
    """What was noted on a tool's message; None where no model stood in between."""
    noted = message.response_metadata.get(_KEY)
    return None if noted is None else [Passage(**passage) for passage in noted]
