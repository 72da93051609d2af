"""What every room's handler can be asked: its records, whether they are complete, and how many there were.

How a room hears of answers is its own affair.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Protocol, Self

from groundwire.checker import Checker, checker_problems
from groundwire.core.callables import callable_problems
from groundwire.core.errors import ConfigurationError
from groundwire.core.keeper import Keeper, keeper_problems
from groundwire.core.one_process import OfOneProcess
from groundwire.core.sink import Sink, sink_problems
from groundwire.host.observer import Mode, Observer, Stats
from groundwire.host.record import Record


class Flushable(Protocol):
    """Whatever sends outcomes on, and can be waited for."""

    def flush(self, timeout: float | None = None) -> bool: ...


class Watching(OfOneProcess):
    """A handler that has answers judged by its ``observer`` and sends the outcomes on to its sinks.

    Models are copied together with their handlers; what a handler has heard is not to be split.
    """

    _observer: Observer

    def _watch(
        self,
        checker: Checker | None,
        on_outcome: Callable[[Record], None] | None,
        *,
        mode: Mode | str,
        max_pending: int,
        workers: int,
        keep: int,
        monitor: Keeper | None,
        sinks: Sequence[Sink] | None,
        default_sinks: Sequence[Sink] = (),
        problems: Sequence[str] = (),
        **limits: int,
    ) -> None:
        """Begin to observe. Raises ConfigurationError, naming every mistake at once.

        Those in ``limits`` too, and the ``problems`` that the room found with what is its own.
        """
        problems = [*checker_problems(checker), *problems]
        if on_outcome is not None:
            problems += callable_problems("on_outcome", on_outcome, "Record")
        if mode not in list(Mode):
            problems.append(f"mode must be one of {', '.join(repr(str(m)) for m in Mode)}, not {mode!r}")
        problems += [*keeper_problems(monitor), *sink_problems(sinks)]
        for name, value in {"max_pending": max_pending, "workers": workers, "keep": keep, **limits}.items():
            least = 0 if name == "keep" else 1
            if not isinstance(value, int) or value < least:
                problems.append(f"{name} must be a whole number from {least} on, not {value!r}")
        if problems:
            raise ConfigurationError(*problems)
        self._observer = Observer(
            checker,
            on_outcome,
            mode=mode,
            workers=workers,
            max_pending=max_pending,
            keep=keep,
            monitor=monitor,
            sinks=sinks,
            default_sinks=default_sinks,
        )

    def _senders(self) -> Iterable[Flushable]:
        """The sinks that outcomes were sent to."""
        return (self._observer.sinks,)

    @property
    def outcomes(self) -> list[Record]:
        """The latest records, in the order in which they were judged."""
        return self._observer.outcomes

    @property
    def stats(self) -> Stats:
        """How many answers were captured, judged, dropped, and are pending."""
        return self._observer.stats

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every answer so far is judged and sent to its trace; False when time ran out.

        In ``on_outcome`` it waits for all others, and is False at once where too many wait in this way.
        """
        return self._finish(self._observer.flush, timeout)

    def close(self, timeout: float | None = None) -> bool:
        """Judge no more answers, and flush; those not begun when time runs out abstain with TIMEOUT.

        For a server that is told to stop: the interpreter's own exit waits for everything that is pending.
        """
        return self._finish(self._observer.close, timeout)

    def _finish(self, finish: Callable[[float | None], bool], timeout: float | None) -> bool:
        deadline = None if timeout is None else time.monotonic() + timeout
        done = finish(timeout)
        for sender in self._senders():
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            done = sender.flush(left) and done
        return done

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave once everything is judged."""
        self.flush()
