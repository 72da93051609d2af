"""The same for applications that still have their engines told of a CallbackManager.

LlamaIndex's callbacks tell less than its instrumentation: nothing of custom engines, agents and workflows,
and of a chat engine only what it searches and synthesizes. What they tell is put into ``capture``'s words.
An exception in a callback would break the application's query, so none leaves here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from llama_index.core.callbacks.schema import CBEventType, EventPayload

from groundwire.llama_index.handler import Judging
from groundwire.llama_index.spans import Kind

_KINDS = {
    CBEventType.QUERY: Kind.QUERY,
    CBEventType.SYNTHESIZE: Kind.SYNTHESIS,
    CBEventType.RETRIEVE: Kind.RETRIEVER,
    CBEventType.RERANKING: Kind.SIFT,
    CBEventType.LLM: Kind.MODEL,
}


class GroundwireCallbackHandler(Judging, BaseCallbackHandler):
    """Tells, for every query of the engines that its manager is given to, whether the nodes support it.

    As GroundwireHandler, which sees more and needs no manager: prefer that one. Of a chat engine it judges
    what the engine's query engine or synthesizer answered; of custom query engines, agents and workflows it
    hears nothing but the queries inside of them. The arguments are those of GroundwireHandler.

    >>> Settings.callback_manager = CallbackManager([GroundwireCallbackHandler()])  # doctest: +SKIP
    """

    event_starts_to_ignore = (CBEventType.EXCEPTION,)  # which has no end
    event_ends_to_ignore = ()

    def on_event_start(
        self,
        event_type: CBEventType,
        payload: dict[str, Any] | None = None,
        event_id: str = "",
        parent_id: str = "",
        **_: Any,
    ) -> str:
        """Note that a part of a query has started."""
        kind = _KINDS.get(event_type)
        capture = self._capture
        capture.guard("an event", lambda: capture.begin(event_id, kind, _arguments(payload or {}), parent_id))
        return event_id

    def on_event_end(
        self,
        event_type: CBEventType,
        payload: dict[str, Any] | None = None,
        event_id: str = "",
        **_: Any,
    ) -> None:
        """Note that a part of a query has ended, which the outermost one does with the answer."""
        del event_type
        told = payload or {}
        capture = self._capture
        # Of an exception only the innermost event is told; the others end without a word.
        if told.keys() & {EventPayload.RESPONSE, EventPayload.NODES}:
            result = told.get(EventPayload.RESPONSE, told.get(EventPayload.NODES))
            capture.guard("an answer", lambda: capture.leave(event_id, None, result))
        else:
            capture.guard("an event", lambda: capture.drop(event_id, None, None))

    def start_trace(self, trace_id: str | None = None) -> None:
        """Nothing: traces are shared by queries that run at once, and events tell enough."""

    def end_trace(self, trace_id: str | None = None, trace_map: dict[str, list[str]] | None = None) -> None:
        """Nothing: see start_trace."""


def _arguments(payload: Mapping[str, Any]) -> dict[str, Any]:
    """What an event tells at its start, under the names that the calls themselves have for it."""
    asked = payload.get(EventPayload.QUERY_STR)
    return {
        "str_or_query_bundle": asked,
        "query": asked,
        "nodes": payload.get(EventPayload.NODES),
        "messages": payload.get(EventPayload.MESSAGES),
        "prompt": payload.get(EventPayload.PROMPT),
    }
