"""Judging what a guest room has captured, keeping the records, and telling whoever wants to know.

A room hands over what it saw and goes on; everything else happens here, on other threads unless it was asked
for inline. No framework is known here.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import UUID

from groundwire.checker import Checker, default_checker
from groundwire.core.fork import renew_after_fork
from groundwire.core.interaction import Interaction
from groundwire.core.keeper import Keeper, keep
from groundwire.core.secrets import Traced
from groundwire.core.sink import Marks, Sink, Sinks, Told, settled_sinks
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome
from groundwire.host.background import Background, OverdueError
from groundwire.host.judging import failure
from groundwire.host.record import Record
from groundwire.judge.isolation import isolated
from groundwire.policy import AbstainedError

_LOG = logging.getLogger(__name__)
_GRACE = 1.0  # seconds that a check may take beyond its own limit before its thread is given up


class Mode(StrEnum):
    """When answers are judged: BACKGROUND on threads of their own, INLINE before the host's run goes on."""

    BACKGROUND = "background"
    INLINE = "inline"


@dataclass(frozen=True, kw_only=True)
class Stats:
    """How many answers were captured, got an outcome, were dropped because too many waited, and wait.

    ``degraded`` are those that a fallback judged, while the judge's model was unavailable.
    """

    captured: int
    judged: int
    dropped: int
    pending: int
    degraded: int = 0


@dataclass(frozen=True, kw_only=True)
class Observed:
    """One answer as a room saw it. ``problem`` says why it can't be judged, None that it can.

    ``trace_id`` is another id under which its record may be asked for. ``deliver`` takes the outcome to a
    trace; it may wait, but must not raise. ``marks`` are what the sinks said of where it is traced.
    """

    run_id: UUID
    trace_id: UUID
    interaction: Interaction | None
    problem: AbstentionReason | None = None
    detail: str = ""
    deliver: Callable[[Outcome], None] | None = None
    marks: Marks | None = None

    @property
    def ids(self) -> tuple[UUID, ...]:
        """What its record may be asked for by."""
        return (self.run_id,) if self.run_id == self.trace_id else (self.run_id, self.trace_id)


class Observer:
    """Judges what it is shown. Safe to share between threads; never raises into the host.

    ``checker`` is the default checker if left out. ``monitor``, the checker's own if left out, keeps every
    record; ``sinks``, the checker's own and ``default_sinks`` if left out, are told of it. ``on_outcome``
    gets every record, on the thread that judged it, or on the host's own where there was no room to judge;
    what it raises is logged. The latest ``keep`` records are kept. A detector that asks a model is given up
    some time after its checker's timeout; any other may keep a thread, and the interpreter's exit, for as
    long as it computes.
    """

    def __init__(
        self,
        checker: Checker | None,
        on_outcome: Callable[[Record], None] | None,
        *,
        mode: Mode | str,
        workers: int,
        max_pending: int,
        keep: int,
        monitor: Keeper | None = None,
        sinks: Sequence[Sink] | None = None,
        default_sinks: Sequence[Sink] = (),
    ) -> None:
        if keep < 0:
            raise ValueError(f"keep must be at least 0, not {keep!r}")
        # Loaded here, not by the first answer: a process that forks while a thread of it imports or loads
        # leaves its child with locks that nobody will ever open.
        checker = checker or default_checker()
        checker.detector.load()
        # Kept here and not by the checker, which is not asked about every answer, and may be given up.
        self._monitor = checker.monitor if monitor is None else monitor
        self.sinks: Sinks = settled_sinks(sinks, checker.sinks, default_sinks)
        self._checker = checker.unwatched(self.sinks)
        self._on_outcome = on_outcome
        self._mode = Mode(mode)
        # Only models keep one waiting: whatever computes is stopped by nothing, and a watch on it costs.
        limit = self._checker.policy.timeout if self._checker.detector.needs_judge else None
        self._background = Background(
            workers=workers,
            max_pending=max_pending,
            timeout=None if limit is None else limit + _GRACE,
        )
        self._keep = keep
        self._records: deque[tuple[Observed, Record]] = deque()
        self._by_id: dict[UUID, Record] = {}
        self._waiting: dict[UUID, int] = {}
        self._captured = self._judged = self._degraded = 0
        self._told: set[str] = set()
        self.after_fork()
        renew_after_fork(self)
        self.sinks.watch("answers", self)
        if hasattr(self._monitor, "stats"):
            self.sinks.watch("monitor", self._monitor)

    def after_fork(self) -> None:
        """Begin anew in a forked child, in which whoever held the lock does not exist."""
        self._changed = threading.Condition()
        self._waiting.clear()

    # -- watching ----------------------------------------------------------------------------------------

    def observe(self, seen: Observed) -> None:
        """Have an answer judged, now or soon."""
        if seen.problem is AbstentionReason.NO_CONTEXT:
            self._say_once(
                "no context",
                "groundwire could not judge the answer of run %s: %s. The next ones are only recorded",
                seen.run_id,
                seen.detail,
            )
        with self._changed:
            self._captured += 1
            for key in seen.ids:
                self._waiting[key] = self._waiting.get(key, 0) + 1
        if self._mode is Mode.INLINE and not self._background.closed:
            self._settle(seen, self._attempt(seen))
        elif not self._background.submit(
            lambda: self._judge(seen), lambda result: self._settle(seen, result)
        ):
            why = (
                "the handler was closed"
                if self._background.closed
                else "too many answers waited to be judged"
            )
            dropped = Abstention(why=AbstentionReason.OVER_BUDGET, detail=why)
            self._tell(seen, self._keep_record(seen, dropped, judged=False))

    def _judge(self, seen: Observed) -> Outcome:
        if seen.problem is not None or seen.interaction is None:
            why = seen.problem or AbstentionReason.NO_CLAIMS
            return Abstention(why=why, detail=seen.detail)
        interaction = seen.interaction
        try:
            return isolated(lambda: self._checker.check(interaction))
        except AbstainedError as error:  # a policy for callers; here nobody is there to catch it
            return error.abstention

    def _attempt(self, seen: Observed) -> Outcome | Exception:
        try:
            return self._judge(seen)
        except Exception as error:  # rule 5: the host is waiting
            return error

    def _settle(self, seen: Observed, result: Outcome | Exception) -> None:
        outcome = self._failed(result) if isinstance(result, Exception) else result
        self._tell(seen, self._keep_record(seen, outcome, judged=True))

    def _tell(self, seen: Observed, record: Record) -> None:
        keep(self._monitor, record.interaction, record.outcome, run_id=record.run_id)
        if self.sinks:
            told = Told(interaction=record.interaction, outcome=record.outcome, run_id=record.run_id)
            self.sinks.tell(told, seen.marks)
        if self._on_outcome is not None:
            try:
                self._on_outcome(record)
            except Exception as error:  # the next outcome must still be told
                self._complain("on_outcome failed", error)
        if seen.deliver is not None:
            try:
                seen.deliver(record.outcome)
            except Exception as error:  # a trace that can't be written costs no verdict
                self._complain("an outcome could not be put on its trace", error)

    def _failed(self, error: Exception) -> Abstention:
        if isinstance(error, OverdueError):
            return Abstention(why=AbstentionReason.TIMEOUT, detail=f"not judged in time: {error}")
        self._complain("judging failed", error)
        return failure(error)

    def _keep_record(self, seen: Observed, outcome: Outcome, *, judged: bool) -> Record:
        if outcome.id is None:
            outcome = replace(outcome, id=str(seen.run_id))
        record = Record(run_id=seen.run_id, interaction=seen.interaction, outcome=outcome)
        with self._changed:
            self._judged += judged
            self._degraded += outcome.degraded is not None
            self._records.append((seen, record))
            for key in seen.ids:
                self._by_id[key] = record
                if self._waiting.get(key, 0) > 1:
                    self._waiting[key] -= 1
                else:
                    self._waiting.pop(key, None)
            while len(self._records) > self._keep:
                self._forget(*self._records.popleft())
            self._changed.notify_all()
        return record

    def _forget(self, seen: Observed, record: Record) -> None:
        for key in seen.ids:
            if self._by_id.get(key) is record:  # a later record may have taken its place
                del self._by_id[key]

    # -- asking ------------------------------------------------------------------------------------------

    @property
    def outcomes(self) -> list[Record]:
        """The latest records, in the order in which they were judged."""
        with self._changed:
            return [record for _, record in self._records]

    def result(self, run_id: UUID, timeout: float | None = None) -> Record | None:
        """The latest record of a run, waiting for it while it is judged; None when there is none."""
        with self._changed:
            self._changed.wait_for(lambda: run_id not in self._waiting, timeout)
            return self._by_id.get(run_id) if run_id not in self._waiting else None

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything observed has its outcome. False when ``timeout`` seconds were not enough."""
        return self._background.flush(timeout)

    def close(self, timeout: float | None = None) -> bool:
        """Take no more answers, and flush; what has not begun when time runs out is told as TIMEOUT."""
        return self._background.close(timeout)

    @property
    def judged_by(self) -> tuple[object, ...]:
        """The detector, and the model that it asks."""
        return self._checker.detector.spec, getattr(self._checker.judge, "model", None)

    @property
    def stats(self) -> Stats:
        return Stats(
            captured=self._captured,
            judged=self._judged,
            dropped=self._background.dropped,
            pending=self._background.pending,
            degraded=self._degraded,
        )

    def _complain(self, what: str, error: Exception) -> None:
        # Once a kind at WARNING; the error's own words may hold what was judged, so they stay at DEBUG.
        name = type(error).__name__
        unharmed = "%s (%s); the application is unharmed, and others go on"
        self._say_once(f"{what}/{name}", unharmed, what, name)
        _LOG.debug("%s\n%s", what, Traced(error))

    def _say_once(self, kind: str, message: str, *arguments: object) -> None:
        if kind not in self._told:
            self._told.add(kind)
            _LOG.warning(message, *arguments)
