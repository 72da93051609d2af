"""Work done by a few threads: pieces taken in turn, within a bound that holds for the whole process.

What the pieces are is none of this module's business. There is no pool: threads begin with the work and end
with it, so nothing idles, nothing outlives a fork, and work goes on while the interpreter is on its way out.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from groundwire.core.cores import usable_cores
from groundwire.core.fork import renew_after_fork

P = TypeVar("P")


class Deadline:
    """How long work may go on: for ``timeout`` seconds (None is for ever), or until nobody wants it."""

    def __init__(self, timeout: float | None = None) -> None:
        self._end = None if timeout is None else time.monotonic() + timeout
        self._unwanted = False

    def drop(self) -> None:
        """End it now: nobody waits for the work any more."""
        self._unwanted = True

    def left(self) -> float | None:
        """The seconds that are left, 0 or more; None for no end."""
        if self._unwanted:
            return 0.0
        return None if self._end is None else max(0.0, self._end - time.monotonic())


class Hands:
    """At most ``threads`` pieces of work in hand at once, whoever asks and however many do."""

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be at least 1, not {threads!r}")
        self.threads = threads or min(_FEW, usable_cores())
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew: in a forked child, whoever had work in hand does not exist."""
        self._free = threading.BoundedSemaphore(self.threads)

    def work(
        self,
        take: Callable[[], P | None],
        do: Callable[[P], None],
        *,
        pieces: int,
        deadline: Deadline,
    ) -> None:
        """``do`` all that ``take`` gives, from this thread and others, until it gives None or time is up.

        Both must be safe to call from several threads; what they raise is raised here. ``pieces`` is about
        how many there are, so that no thread begins in vain.
        """
        free, raised = self._free, []

        def go_on() -> None:
            try:
                while deadline.left() != 0 and (piece := take()) is not None:
                    if _taken(free, deadline):
                        try:
                            do(piece)
                        finally:
                            free.release()
            except BaseException as error:  # raised again below, by the thread that has somebody above it
                deadline.drop()
                raised.append(error)

        others = [begun(go_on) for _ in range(min(self.threads, pieces) - 1)]
        go_on()
        for thread in others:
            if thread is not None:
                thread.join()
        if raised:
            raise raised[0]


def _taken(free: threading.Semaphore, deadline: Deadline) -> bool:
    """Wait for a free hand; False when time is up first."""
    while (left := deadline.left()) != 0:
        if free.acquire(timeout=_LONG if left is None else min(left, _LONG)):
            return True
    return False


def begun(work: Callable[[], None]) -> threading.Thread | None:
    """A thread that does ``work``, or None where the system, or an ending interpreter, has none to give."""
    thread = threading.Thread(target=work, name="groundwire-local", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread


_FEW = 2
_LONG = 1.0  # seconds between two looks at whether anybody still waits
