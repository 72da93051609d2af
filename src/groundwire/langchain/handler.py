"""The callback handler: captures answers where they are given, has them judged, and shows the outcomes.

It only joins the parts: what an answer is says ``capture``, when it is judged ``groundwire.host.observer``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol, Self
from uuid import UUID

from groundwire.checker import Checker
from groundwire.core.errors import InputError
from groundwire.core.keeper import Keeper
from groundwire.core.sink import Sink
from groundwire.core.verdict import Outcome
from groundwire.host.observer import Mode, Observed
from groundwire.host.record import Record
from groundwire.host.watching import Flushable, Watching
from groundwire.judge.isolation import JUDGING
from groundwire.langchain.capture import Capture, Captured
from groundwire.langchain.declared import key_problems
from groundwire.langchain.tree import Run, as_id
from groundwire.tracing.langsmith import LangSmithSink, RunAddress, is_inside, locate

_LOG = logging.getLogger(__name__)


class RunSink(Protocol):
    """Where outcomes of LangSmith's runs are sent; groundwire.tracing.langsmith.LangSmithSink is one."""

    def send(self, address: RunAddress, outcome: Outcome) -> None: ...

    def flush(self, timeout: float | None = None) -> bool: ...


class GroundwireCallbackHandler(Watching, Capture):
    """Tells, for every answer of the chains it is given to, whether the retrieved documents support it.

    It only observes: it never gates, delays or breaks a run. ``checker`` is the default one if left out;
    ``on_outcome`` gets each Record as it comes. In the mode "background" answers are judged on ``workers``
    threads, and those beyond ``max_pending`` waiting ones are dropped and counted; "inline" judges before the
    run goes on, which holds an event loop for as long as it takes. The latest ``keep`` records are kept.
    ``monitor``, the checker's own if left out, keeps all of them in a database; ``sinks``, likewise, are told
    of them: metrics, scores in Langfuse, Phoenix or MLflow. Where LangSmith traces a run,
    its outcome goes there as feedback, unless ``langsmith`` is False. The keys and ``max_runs`` are those of
    Capture. Raises ConfigurationError, naming every mistake at once.

    >>> handler = GroundwireCallbackHandler()
    >>> chain.invoke(question, config={"callbacks": [handler]})  # doctest: +SKIP
    >>> handler.flush()
    True
    >>> for record in handler.outcomes:
    ...     print(record.outcome.score, record.outcome.level)
    """

    def __init__(
        self,
        checker: Checker | None = None,
        on_outcome: Callable[[Record], None] | None = None,
        *,
        mode: Mode | str = Mode.BACKGROUND,
        langsmith: bool | RunSink = True,
        max_pending: int = 1000,
        workers: int = 2,
        keep: int = 1000,
        monitor: Keeper | None = None,
        sinks: Sequence[Sink] | None = None,
        max_runs: int = 10_000,
        question_key: str | None = None,
        context_key: str | None = None,
        answer_key: str | None = None,
    ) -> None:
        keys = {"question_key": question_key, "context_key": context_key, "answer_key": answer_key}
        self._watch(
            checker,
            on_outcome,
            mode=mode,
            max_pending=max_pending,
            workers=workers,
            keep=keep,
            monitor=monitor,
            sinks=sinks,
            max_runs=max_runs,
            problems=[*_sink_problems(langsmith), *key_problems(keys)],
        )
        super().__init__(self._answered, max_runs=max_runs, **keys)
        self._traced = langsmith is not False
        self._sink: RunSink | None = None if isinstance(langsmith, bool) else langsmith
        self._sink_lock = threading.RLock()  # a stream may be collected, and so end, while this is held

    def result(self, run_id: UUID | str, timeout: float | None = None) -> Record | None:
        """The record of a run, by its own id or by that of its topmost run; waits while it is being judged.

        Of several answers in one topmost run, the latest. None for a run without an answer, and when
        ``timeout`` seconds were not enough. Raises InputError for what is no run's id.
        """
        if not isinstance(run_id, UUID | str):
            raise InputError(f"run_id must be a run's UUID or the text of its id, not {run_id!r:.60}")
        return self._observer.result(as_id(run_id), timeout)

    def _senders(self) -> Iterable[Flushable]:
        return (*super()._senders(), *(() if self._sink is None else (self._sink,)))

    # -- for the whole process ---------------------------------------------------------------------------

    def install(self) -> Self:
        """Hear every LangChain run of this process, in every thread, without being named in any config.

        The handler installed last is the one that hears; runs that already go on are not heard.
        """
        _PROCESS.install(self)
        return self

    def uninstall(self) -> None:
        """Hear only the runs whose config names this handler. Without effect if it is not installed."""
        _PROCESS.uninstall(self)

    # -- capturing ---------------------------------------------------------------------------------------

    def begun(self, run: Run) -> None:
        """Note where a run is traced: at its own start, and at that of what it starts."""
        if self._traced:
            self._follow(run)
        if self._observer.sinks.finding:
            self.ending(run)
            if run.parent is not None:  # by now every tracer has heard of it, whatever their order
                self.ending(run.parent)

    def ending(self, run: Run) -> None:
        """Note where a run is traced, while its tracer still has it."""
        run.places = self._observer.sinks.find(run.id, run.places)

    def _follow(self, run: Run) -> None:
        parent = run.parent
        if parent is None or parent.trace is None:
            run.trace = run.trace or _Trace(locate(run.id, run.id, _when(run)))
            return
        run.trace = parent.trace
        if not run.trace.sure and is_inside(parent.id):
            address = locate(run.id, run.id, _when(run))
            run.trace.address, run.trace.sure = address or run.trace.address, address is not None

    def _answered(self, captured: Captured) -> None:
        self._observer.observe(
            Observed(
                run_id=captured.run_id,
                trace_id=captured.trace_id,
                interaction=captured.interaction,
                problem=captured.problem,
                detail=captured.detail,
                deliver=self._deliverer(captured),
                marks=self._observer.sinks.locate(captured.run_id, captured.started, captured.places),
            )
        )

    def unheard(self, run_id: UUID) -> None:
        self.warn_once(
            "unheard",
            "run %s found documents and gave an answer, and no model was heard, so groundwire judges nothing "
            "there: tag the step that answers 'groundwire:answer'. This is said once",
            run_id,
        )

    def _deliverer(self, captured: Captured) -> Callable[[Outcome], None] | None:
        """How the outcome reaches the run's trace."""
        if captured.trace is None or captured.trace.address is None:
            return None
        address = replace(captured.trace.address, run_id=captured.run_id, started=captured.started)
        with self._sink_lock:
            sink = self._sink = self._sink or LangSmithSink()
        return lambda outcome: sink.send(address, outcome)


def _sink_problems(langsmith: object) -> list[str]:
    if isinstance(langsmith, bool):
        return []
    if not isinstance(langsmith, type) and all(hasattr(langsmith, name) for name in ("send", "flush")):
        return []
    hint = "the project is the one that LangSmith traces to, such as LANGSMITH_PROJECT names"
    return [f"langsmith must be True, False or a LangSmithSink(), not {langsmith!r}: {hint}"]


@dataclass(slots=True)
class _Trace:
    """Where LangSmith has the runs of one trace.

    The context that the topmost run starts in tells, unless that run was given a tracer of its own, which is
    seen from inside alone; then it is ``sure``. The context that it ends in may be another's: who reads a
    stream need not be who began it.
    """

    address: RunAddress | None
    sure: bool = False


def _when(run: Run) -> datetime:
    return datetime.fromtimestamp(run.time, UTC)


class _Process:
    """Looks like a context variable to LangChain's hooks, and is one value for all threads.

    A real context variable that is set in the main thread is empty in every other one.
    """

    def __init__(self) -> None:
        self._handler: GroundwireCallbackHandler | None = None
        self._lock = threading.Lock()
        self._hooked = False

    def get(self) -> GroundwireCallbackHandler | None:
        return None if JUDGING.get() else self._handler

    def install(self, handler: GroundwireCallbackHandler) -> None:
        from langchain_core.tracers.context import register_configure_hook  # noqa: PLC0415 - slow to import

        with self._lock:
            if not self._hooked:
                register_configure_hook(self, inheritable=True)  # type: ignore[arg-type]  # only get() is used
                self._hooked = True
            self._handler = handler

    def uninstall(self, handler: GroundwireCallbackHandler) -> None:
        with self._lock:
            if self._handler is handler:
                self._handler = None


_PROCESS = _Process()
