"""The handler: captures answers where they are given, has them judged, and shows the outcomes.

It only joins the parts: what an answer is says ``capture``, when it is judged ``groundwire.host.observer``.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from llama_index.core.workflow import StopEvent
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import Dispatcher

from groundwire.checker import Checker
from groundwire.core.errors import ConfigurationError
from groundwire.core.keeper import Keeper
from groundwire.core.sink import Sink
from groundwire.host.observer import Mode, Observed
from groundwire.host.record import Record
from groundwire.host.watching import Watching
from groundwire.llama_index.capture import Capture, Captured
from groundwire.llama_index.hearing import Spans
from groundwire.tracing.otel import OpenTelemetrySink

_LOG = logging.getLogger(__name__)


class Judging(Watching):
    """Has what a room captured judged, finds records by the response they are about, and tells traces.

    The part that both handlers share.
    """

    def __init__(
        self,
        checker: Checker | None = None,
        on_outcome: Callable[[Record], None] | None = None,
        *,
        mode: Mode | str = Mode.BACKGROUND,
        sinks: Sequence[Sink] | None = None,
        max_pending: int = 1000,
        workers: int = 2,
        keep: int = 1000,
        monitor: Keeper | None = None,
        max_spans: int = 10_000,
    ) -> None:
        self._watch(
            checker,
            on_outcome,
            mode=mode,
            max_pending=max_pending,
            workers=workers,
            keep=keep,
            monitor=monitor,
            sinks=sinks,
            default_sinks=(OpenTelemetrySink(),),
            max_spans=max_spans,
        )
        self._responses = _Responses()
        self._capture = Capture(self._answered, max_spans=max_spans, mark=self._observer.sinks.locate)

    def result(self, answered: Any, timeout: float | None = None) -> Record | None:
        """The record of a response, as the application got it; waits while it is being judged.

        Takes a run's id, too: its own, or that of the topmost span around it, of whose answers the latest
        counts. None for what was not captured, and when ``timeout`` seconds were not enough.
        """
        run_id = answered if isinstance(answered, UUID) else self._responses.run_id(answered)
        return None if run_id is None else self._observer.result(run_id, timeout)

    def close(self, timeout: float | None = None) -> bool:
        """Judge no more answers, and flush; those not begun when time runs out abstain with TIMEOUT.

        What a workflow's tools have asked so far is judged, though the workflow goes on.
        """
        self._capture.hand_over()
        return super().close(timeout)

    @property
    def live_spans(self) -> int:
        """How many calls have started and not ended."""
        return self._capture.live_spans

    @property
    def evicted_spans(self) -> int:
        """How many calls were given up because too many were open at a time."""
        return self._capture.evicted_spans

    def _answered(self, captured: Captured) -> None:
        self._responses.add(captured.response, captured.run_id)
        self._observer.observe(
            Observed(
                run_id=captured.run_id,
                trace_id=captured.trace_id,
                interaction=captured.interaction,
                problem=captured.problem,
                detail=captured.detail,
                marks=captured.where,
            )
        )


_ENDING: set[Capture] = set()
"""Those that hear no more than what goes on."""

# It stays: to take it out while its dispatcher goes through the list would skip another handler.
_TO_ENDING = Spans(lambda: tuple(_ENDING))


class GroundwireHandler(Judging):
    """Tells, for every answer of the LlamaIndex engines of this process, whether the nodes support it.

    It only observes: it never gates, delays or breaks a call. ``checker`` is the default one if left out;
    ``on_outcome`` gets each Record as it comes. In the mode "background" answers are judged on ``workers``
    threads, and those beyond ``max_pending`` waiting ones are dropped and counted; "inline" judges before the
    call returns, which holds an event loop for as long as it takes. The latest ``keep`` records are kept;
    ``monitor``, the checker's own if left out, keeps all of them in a database. ``sinks`` are told of them:
    OpenTelemetry and the checker's own if left out, nobody if empty. ``max_spans`` is how many
    calls are followed at once. Raises ConfigurationError, naming every mistake at once.

    >>> handler = GroundwireHandler().install()  # doctest: +SKIP
    >>> response = query_engine.query("What does a second bag cost?")  # doctest: +SKIP
    >>> handler.result(response).outcome.level  # doctest: +SKIP
    """

    _installed: tuple[Dispatcher, ...] = ()

    def install(self, dispatcher: Dispatcher | None = None) -> Self:
        """Hear every call of this process, in every thread; calls that already go on are not heard.

        With a ``dispatcher``, such as ``get_dispatcher("my_package")``, only those that go through it.
        Installing twice is no mistake. Other handlers hear as before; the log says so where one of them
        judges by the same detector. Raises ConfigurationError for anything else than a dispatcher.
        """
        heard = get_dispatcher() if dispatcher is None else dispatcher
        if not isinstance(heard, Dispatcher):
            hint = f"get_dispatcher({heard!r})" if isinstance(heard, str) else 'get_dispatcher("my_package")'
            raise ConfigurationError(f"install() takes a dispatcher, not {heard!r}: pass {hint}, or nothing")
        _ENDING.discard(self._capture)
        self._capture.end(None)
        spans = self._capture.span_handler
        if not any(handler is spans for handler in heard.span_handlers):
            # First, so that a tracer's span is still current when ours ends, whenever it was installed.
            heard.span_handlers.insert(0, spans)
            self._installed = (*self._installed, heard)
            self._warn_of_others(heard)
        return self

    def _warn_of_others(self, heard: Dispatcher) -> None:
        _INSTALLED.add(self)
        alike = sum(self._judges_as(one, heard) for one in list(_INSTALLED))
        if alike > 1:
            _LOG.warning(
                "%d handlers that judge by the same detector are installed, and each of them judges every "
                "answer: if this code has run before, as in a notebook or a Streamlit script, uninstall() "
                "the earlier handler, or make and install it once",
                alike,
            )

    def _judges_as(self, other: GroundwireHandler, heard: Dispatcher) -> bool:
        if self._observer.judged_by != other._observer.judged_by:
            return False
        spans = other._capture.span_handler
        return any(handler is spans for handler in heard.span_handlers)

    def uninstall(self) -> None:
        """Hear of no new calls; those that go on are heard to their end. Without effect if not installed."""
        spans, capture = self._capture.span_handler, self._capture
        goes_on = bool(self._installed and capture.live_spans)
        if goes_on:
            _ENDING.add(capture)
            capture.end(partial(_ENDING.discard, capture))
        for dispatcher in self._installed:
            # By identity: LlamaIndex's handlers compare by value.
            held = dispatcher.span_handlers
            takes_over = goes_on and not any(handler is _TO_ENDING for handler in held)
            held[:] = [
                _TO_ENDING if handler is spans else handler
                for handler in held
                if handler is not spans or takes_over
            ]
        self._installed = ()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave once everything is judged, and hear nothing more."""
        self.uninstall()
        super().__exit__(kind, error, trace)


_INSTALLED: weakref.WeakSet[GroundwireHandler] = weakref.WeakSet()


class _Responses:
    """Which run gave a response: by identity, for as long as the application keeps it.

    Responses compare by value, so two equal ones would be one as keys.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], UUID]] = {}
        self._lock = threading.RLock()  # a response may be collected while this thread adds another

    def add(self, response: Any, run_id: UUID) -> None:
        # An agent's caller awaits what its StopEvent holds.
        held = response.result if isinstance(response, StopEvent) else None
        for one in (response, held):
            key = id(one)

            def forget(gone: weakref.ref[Any], key: int = key) -> None:
                with self._lock:
                    if key in self._known and self._known[key][0] is gone:
                        del self._known[key]

            try:
                reference = weakref.ref(one, forget)
            except TypeError:  # a plain text or None, which is nobody's in particular
                continue
            with self._lock:
                self._known[key] = reference, run_id

    def run_id(self, response: Any) -> UUID | None:
        with self._lock:
            reference, run_id = self._known.get(id(response), (None, None))
        return run_id if reference is not None and reference() is response else None
