"""A bounded queue of work with threads of its own, for judging off the host's path.

Whoever submits never waits and never sees an exception. Work runs in an empty context, so that nothing of
the host's run is inherited. What the work is, nobody here knows.

No executor of the standard library is used: the garbage collector may end a stream in the midst of anything,
also while its very thread holds the lock that all executors share, and work that is submitted then would wait
for that lock for ever. The lock here is reentrant.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Any, TypeVar

from groundwire.core.fork import renew_after_fork
from groundwire.core.leaving import before_threads_are_lost, no_farewell
from groundwire.core.secrets import Traced

_LOG = logging.getLogger(__name__)
_COMPLAIN_EVERY = 60.0  # seconds between two warnings that the queue is full
_LINGER = 1.0  # seconds that an idle thread waits for more before it ends
_LOOK_UP = 0.05  # seconds between two looks of an idle thread whether the interpreter ends
_MOST_SPARE = 8  # threads beside the workers, while these wait for others
_FAREWELL = 10.0  # seconds that a process which would end without its threads waits for them
_LAST_WORD = 1.0  # seconds beyond, in which what is given up is told
_MAX_STUCK = 16  # abandoned threads that may still be stuck before no more are risked

T = TypeVar("T")


class OverdueError(Exception):
    """What ``done`` gets of work that was not finished in time."""


class Background:
    """Performs work on ``workers`` threads and hands each result on.

    At most ``max_pending`` pieces of work are unfinished; the newest beyond that are dropped and counted.
    Work that takes more than ``timeout`` seconds is given up, and its thread no longer keeps anything
    waiting. A normal exit of the interpreter waits for all that is pending. In the child of a fork the queue
    is empty: what was pending belongs to the parent. Raises ValueError for limits below 1.
    """

    def __init__(self, *, workers: int = 2, max_pending: int = 1000, timeout: float | None = None) -> None:
        for name, value in (("workers", workers), ("max_pending", max_pending)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, not {value!r}")
        self._workers = workers
        self._max_pending = max_pending
        self._timeout = timeout
        self._dropped = 0
        self._complained = -_COMPLAIN_EVERY
        self._closed = False
        self._given_up = False
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew: in a forked child the parent's threads, and whoever held the lock, don't exist."""
        self._changed = threading.Condition()
        self._waiting: deque[tuple[Callable[[], Any], Callable[[Any], None]]] = deque()
        self._threads = self._idle = 0
        self._pending = 0
        self._stuck = 0
        self._performing: set[int] = set()  # the threads that are in the midst of a piece
        self._flushing = 0  # of these, those that wait for the others

    @property
    def pending(self) -> int:
        """How many pieces of work are not finished."""
        return self._pending

    @property
    def closed(self) -> bool:
        """Whether no more work is taken."""
        return self._closed

    @property
    def dropped(self) -> int:
        """How many pieces of work found no room."""
        return self._dropped

    def submit(self, work: Callable[[], T], done: Callable[[T | Exception], None]) -> bool:
        """Have ``work`` performed and its result, or exception, handed to ``done``; False if dropped."""
        with self._changed:
            if self._closed or self._pending >= self._max_pending:
                self._drop()
                return False
            self._pending += 1
            self._waiting.append((work, done))
            if self._hands():
                return True
            # The interpreter is on its way out and starts no more threads: the calling one does it, and
            # nothing is lost.
            work, done = self._waiting.pop()
        Context().run(self._perform, work, done)
        return True

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until nothing is pending. False when ``timeout`` seconds were not enough.

        What is called from inside of a piece, as by ``done``, does not wait for that piece, nor for others
        that wait in the same way. Another thread works instead of its own; where so many wait that there is
        none left, it is False at once.
        """
        with self._changed:
            if threading.get_ident() not in self._performing:
                return self._changed.wait_for(lambda: self._pending == 0, timeout)
            self._flushing += 1
            try:
                self._hands()
                self._changed.wait_for(lambda: self._is_alone() or self._is_stalled(), timeout)
                return self._is_alone()
            finally:
                self._flushing -= 1

    def _is_alone(self) -> bool:
        """Whether all that is pending are pieces that wait for others."""
        return self._pending <= self._flushing

    def _is_stalled(self) -> bool:
        """Whether what waits is performed by nobody: each thread waits for others."""
        return bool(self._waiting) and self._flushing >= self._threads

    def _most(self) -> int:
        return self._workers + min(self._flushing, _MOST_SPARE)

    def close(self, timeout: float | None = None) -> bool:
        """Take no more work, and flush. What has not begun when time runs out is given up: OverdueError.

        Closing twice is no mistake.
        """
        with self._changed:
            self._closed = True
        done = self.flush(timeout)
        self._given_up = not done
        with self._changed:
            self._changed.notify_all()
        return done

    def _hands(self) -> bool:
        """Have somebody look at what waits; False where nobody is there, and nobody can come."""
        self._changed.notify_all()
        if self._idle < len(self._waiting) and self._threads < self._most():
            self._threads += 1
            try:
                # No daemon: the interpreter joins these before anything they may need is torn down.
                threading.Thread(target=self._work, name="groundwire").start()
            except RuntimeError:
                self._threads -= 1
                return self._threads > 0
            before_threads_are_lost(self._farewell)
        return True

    def _farewell(self) -> None:
        if not self.close(_FAREWELL):
            self.flush(_LAST_WORD)

    def _work(self) -> None:
        while (taken := self._take()) is not None:
            work, done = taken
            try:
                Context().run(self._perform, work, done)
            except (
                BaseException
            ):  # such as SystemExit, which is for the work's own thread and not for this one
                _LOG.warning("work asked its thread to end; it goes on with the next\n%s", Traced())

    def _take(self) -> tuple[Callable[[], Any], Callable[[Any], None]] | None:
        """The next work; None when there was none for a while, or will be none, which ends the thread."""
        with self._changed:
            until = time.monotonic() + _LINGER
            self._idle += 1
            try:
                while not self._waiting or self._threads > self._most():
                    ends = self._closed or not threading.main_thread().is_alive() or self._waiting
                    if ends or time.monotonic() >= until:
                        self._threads -= 1
                        if not self._threads:
                            no_farewell(self._farewell)
                        return None
                    self._changed.wait(_LOOK_UP)
                return self._waiting.popleft()
            finally:
                self._idle -= 1

    def _drop(self) -> None:
        self._dropped += 1
        now = time.monotonic()
        if now - self._complained >= _COMPLAIN_EVERY:
            self._complained = now
            if self._closed:
                _LOG.warning("answers still come after close(): %d were dropped so far", self._dropped)
                return
            _LOG.warning(
                "%d answers wait to be judged and no more fit: %d were dropped so far; raise max_pending or "
                "workers, or use a faster detector",
                self._pending,
                self._dropped,
            )

    def _perform(self, work: Callable[[], T], done: Callable[[T | Exception], None]) -> None:
        self._performing.add(threading.get_ident())
        try:
            done(self._result(work))
        except Exception:  # rule 5: what is done with one result must not cost the next one
            _LOG.warning("a result could not be handed on\n%s", Traced())
        finally:
            with self._changed:
                self._performing.discard(threading.get_ident())
                self._pending -= 1
                self._changed.notify_all()

    def _result(self, work: Callable[[], T]) -> T | Exception:
        if self._given_up:
            return OverdueError("it had not begun when the queue was closed")
        if self._timeout is None:
            return _attempt(work)
        with self._changed:
            if self._stuck >= _MAX_STUCK:
                return OverdueError(f"{self._stuck} earlier ones are still stuck: this one was not tried")
        results: list[T | Exception] = []
        over, given_up = threading.Event(), threading.Event()

        def attempt() -> None:
            try:
                results.append(Context().run(_attempt, work))
            finally:
                with self._changed:
                    over.set()
                    self._stuck -= given_up.is_set()

        try:
            # A daemon: work that never returns must keep neither a worker nor the interpreter's exit.
            threading.Thread(target=attempt, name="groundwire-attempt", daemon=True).start()
        except RuntimeError:  # the system, or an ending interpreter, has no thread to give
            attempt()
        over.wait(self._timeout)
        with self._changed:
            if over.is_set():
                return results[0]
            given_up.set()
            self._stuck += 1
        return OverdueError(f"it was given up after {self._timeout:g} seconds")


def _attempt(work: Callable[[], T]) -> T | Exception:
    try:
        return work()
    except Exception as error:  # handed on as a value: the work is not ours, and neither is its failure
        return error
