"""The handler that LlamaIndex calls with each span, for all captures that listen at that moment.

What a span means is decided in ``capture``. Nothing leaves here: each capture guards what it does with it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler
from pydantic import PrivateAttr

if TYPE_CHECKING:
    from groundwire.llama_index.capture import Capture


class Spans(BaseSpanHandler[BaseSpan]):
    """Tells each span to the captures that ``listening`` returns.

    It keeps no spans of its own, for the base class keeps all that ever ended.
    """

    _listening: Callable[[], Iterable[Capture]] = PrivateAttr()

    def __init__(self, listening: Callable[[], Iterable[Capture]]) -> None:
        super().__init__()
        self._listening = listening

    @classmethod
    def class_name(cls) -> str:
        return "GroundwireSpanHandler"

    def span_enter(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        parent_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        for one in self._listening():
            one.guard("a span", partial(one.enter, id_, bound_args, instance, parent_id, tags))

    def span_exit(
        self, id_: str, bound_args: Any, instance: Any = None, result: Any = None, **_: Any
    ) -> None:
        del bound_args
        for one in self._listening():
            one.guard("an answer", partial(one.leave, id_, instance, result))
            one.settle()

    def span_drop(self, id_: str, bound_args: Any, instance: Any = None, err: Any = None, **_: Any) -> None:
        del bound_args
        for one in self._listening():
            one.guard("a failed span", partial(one.drop, id_, instance, err))
            one.settle()

    def new_span(self, *_: Any, **__: Any) -> None:
        """Nothing: see span_enter."""

    def prepare_to_exit_span(self, *_: Any, **__: Any) -> None:
        """Nothing: see span_exit."""

    def prepare_to_drop_span(self, *_: Any, **__: Any) -> None:
        """Nothing: see span_drop."""
