"""What one call of a checked engine is judged on: its question, its nodes, its history, its answer.

Each call has a capture of its own, so nothing here has to find out which span belongs to which; it hears of
spans through a handler that is installed once and tells only the calls that they stand in. Nothing is judged
here.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Self
from uuid import uuid4

from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index_instrumentation import get_dispatcher

from groundwire.core.interaction import Interaction, Passage
from groundwire.core.secrets import Traced
from groundwire.core.verdict import Abstention, AbstentionReason
from groundwire.llama_index import units, values
from groundwire.llama_index.capture import Capture
from groundwire.llama_index.hearing import Spans
from groundwire.llama_index.spans import Part

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What to judge; ``abstention`` is there when it can't be, and says why."""

    interaction: Interaction
    abstention: Abstention | None = None


class Call(Capture):
    """Watches one call of an engine, made inside of it as a context manager."""

    def __init__(self) -> None:
        super().__init__(lambda _: None)
        self.id = uuid4().hex
        self._part: Part | None = None

    def __enter__(self) -> Self:
        _listen()
        self._token = _CALLS.set((*_CALLS.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _CALLS.reset(self._token)

    def _answered(self, part: Part, result: Any) -> None:
        self._part = part
        if isinstance(result, StreamingAgentChatResponse) and not part.written:
            # Its model is only told when its writer reads it, which may be after this call.
            with self._lock:
                self._streams[id(result)] = part, result

    def found(self, response: Any) -> list[Passage]:
        """The passages behind this call's ``response``."""
        own = self._part
        return values.passages(values.nodes(response)) if own is None else units.contexts(own, response)

    def read(
        self, asked: str, response: Any, answer: str | None, found: list[Passage] | None = None
    ) -> Reading:
        """What was asked, found and answered in this call, which has returned ``response``."""
        try:
            return self._read(asked, response, answer, self.found(response) if found is None else found)
        except Exception as error:  # the answer is there and paid for: what can't be read is said beside it
            _LOG.warning("a checked engine's response could not be read (%s)", type(error).__name__)
            _LOG.debug("not read\n%s", Traced(error))
            detail = f"a {type(response).__name__} could not be read: {type(error).__name__}"
            why = AbstentionReason.UNREADABLE_INPUT
            return Reading(
                interaction=Interaction(question=asked, answer="", id=self.id),
                abstention=Abstention(why=why, detail=detail, id=self.id),
            )

    def _read(self, asked: str, response: Any, answer: str | None, found: list[Passage]) -> Reading:
        why, detail = units.problem(self._part, answer, found, response)
        return Reading(
            interaction=units.interaction(
                self._part, asked, found, units.claimed(self._part, answer, response), self.id
            ),
            abstention=None if why is None else Abstention(why=why, detail=detail, id=self.id),
        )


_CALLS: ContextVar[tuple[Call, ...]] = ContextVar("groundwire_calls", default=())


_TO_CALLS = Spans(_CALLS.get)  # one call may be part of another


def _listen() -> None:
    handlers = get_dispatcher().span_handlers
    if not any(handler is _TO_CALLS for handler in handlers):
        handlers.append(_TO_CALLS)
