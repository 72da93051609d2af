"""Hides what a judge does from every other handler of LlamaIndex's instrumentation, where that is asked for.

A dispatcher tells all of its handlers of every call in the process. A judge that is a LlamaIndex model makes
such calls; ours look away, and tracers that heed OpenTelemetry's own switch do, too. The rest need this.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import Dispatcher

from groundwire.judge.isolation import JUDGING


class _NotWhileJudging(list[Any]):
    """A list of handlers that is empty for whoever goes through it inside of a judge's call."""

    def __iter__(self) -> Iterator[Any]:
        return iter(()) if JUDGING.get() else super().__iter__()


def hide_judge(dispatcher: Dispatcher | None = None) -> None:
    """Let no handler of ``dispatcher``, the root if left out, hear of judges' calls; also those added later.

    Doing it twice is no mistake.
    """
    heard = dispatcher or get_dispatcher()
    if not isinstance(heard.event_handlers, _NotWhileJudging):
        heard.event_handlers = _NotWhileJudging(heard.event_handlers)
    if not isinstance(heard.span_handlers, _NotWhileJudging):
        heard.span_handlers = _NotWhileJudging(heard.span_handlers)


def show_judge(dispatcher: Dispatcher | None = None) -> None:
    """Undo ``hide_judge``."""
    heard = dispatcher or get_dispatcher()
    heard.event_handlers = list(heard.event_handlers)
    heard.span_handlers = list(heard.span_handlers)
