"""Calls with a deadline, on a bounded number of threads that never keep the interpreter alive.

A client's own read timeout starts anew with every byte it is sent, so a reply that trickles in never times
out; only a clock of ours ends the wait. What is called, and what its answer means, is none of this module's
business.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from typing import Generic, TypeVar

from groundwire.core.fork import renew_after_fork

T = TypeVar("T")


class NotMadeError(TimeoutError):
    """A call that waited for its turn and was not made: by then it would have been of no use."""


class StuckError(TimeoutError):
    """A call that was not made, since earlier ones that never came back have all the threads there are."""


class Call(Generic[T]):
    """One call, of no use past ``until`` (on the monotonic clock; None is always of use).

    ``asked`` is when it was asked for, ``began`` when its time began to run: None while it waits for its
    turn. ``over`` is set once nobody waits for it any more, or what it asks for is there.
    """

    def __init__(self, work: Callable[[], T], until: float | None) -> None:
        self.work = work
        self.until = until
        self.asked = time.monotonic()
        # What was raised is kept as a value: a future's own exception is logged when nobody asks for it.
        self.done: Future[T | BaseException] = Future()
        self.began: float | None = None
        self.over = threading.Event()


class Calls(Generic[T]):
    """Makes calls, at most ``limit`` at a time, each given ``seconds`` from when it begins.

    A thread can't be stopped, so a call past its deadline is abandoned: its thread gives its place to the
    next call and ends when the call does. There are never more than twice ``limit`` threads, and none when
    nothing is asked; while all of them are out with abandoned calls, new ones are refused at once. In the
    child of a fork nothing is out: the calls that were belong to the parent.
    """

    def __init__(self, *, limit: int, seconds: float) -> None:
        self.limit = limit
        self.seconds = seconds
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew: in a forked child the parent's threads, and whoever held the lock, don't exist."""
        self._lock = threading.Lock()
        self._waiting: deque[Call[T]] = deque()
        self._running: set[Call[T]] = set()
        self._abandoned: set[Call[T]] = set()
        self._here = threading.local()

    def submit(self, work: Callable[[], T], *, until: float | None = None) -> Call[T]:
        """Begin a call as soon as there is room; one that is of no use by then never begins."""
        call = Call(work, until)
        with self._lock:
            self._waiting.append(call)
            self._fill()
        return call

    def result(self, call: Call[T]) -> T:
        """What the call returns. TimeoutError when its time is up."""
        for seconds in self._waits(call):
            wait((call.done,), timeout=seconds)
        return self._outcome(call)

    async def aresult(self, call: Call[T]) -> T:
        """``result`` for callers on an event loop."""
        done = asyncio.wrap_future(call.done)
        try:
            for seconds in self._waits(call):
                await asyncio.wait((done,), timeout=seconds)
        finally:
            done.cancel()  # a call that ends later must not look for an event loop that has gone
        return self._outcome(call)

    def abandon(self, call: Call[T]) -> None:
        """Stop caring for a call. One that has not begun never will; one that is done is left alone."""
        call.done.cancel()
        call.over.set()
        with self._lock:
            if call in self._running:
                self._running.remove(call)
                self._abandoned.add(call)
            self._fill()

    def had_time(self, call: Call[T]) -> bool:
        """Whether a call without a result had all of its own time for one, or most of what it was given."""
        began = call.began  # read once: the thread that makes the call may begin to rest meanwhile
        return began is not None and time.monotonic() - began >= min(self.seconds, began - call.asked)

    def here(self) -> Call[T]:
        """The call that this thread makes."""
        call: Call[T] = self._here.call
        return call

    def pause(self, seconds: float) -> None:
        """Have the call on this thread wait for its turn; only after that its own time begins to run.

        NotMadeError where it would be of no use by then, or has been abandoned meanwhile.
        """
        call = self.here()
        if call.until is not None and time.monotonic() + seconds >= call.until:
            raise NotMadeError("the time given to the whole check would run out before the call's turn")
        if seconds <= 0:
            return
        with self.resting():
            gone = call.over.wait(seconds)
        if gone:
            raise NotMadeError("nobody waits for this call any more")

    @contextlib.contextmanager
    def resting(self) -> Iterator[None]:
        """Inside, the own time of the call on this thread does not run."""
        call = self.here()
        call.began = None
        try:
            yield
        finally:
            call.began = time.monotonic()

    def _waits(self, call: Call[T]) -> Iterator[float]:
        """How long to wait next, until the call is done or its time is up."""
        while not call.done.done():
            now = time.monotonic()
            left = (call.began or now) + self.seconds - now
            if call.until is not None:
                left = min(left, call.until - now)
            if left <= 0:
                self.abandon(call)
                return
            yield min(left, _LONGEST_WAIT)

    def _outcome(self, call: Call[T]) -> T:
        if call.done.done() and not call.done.cancelled():
            value = call.done.result()
            if isinstance(value, BaseException):
                raise value
            return value
        if call.until is not None and time.monotonic() >= call.until:
            told = "the time given to the whole check ran out before "
            if call.done.cancelled():  # which a call that has begun can't be
                told += (
                    f"it was this call's turn, behind others: {self.limit} are out at once (max_concurrency)"
                )
                raise TimeoutError(told)
            raise TimeoutError(told + "the model replied")
        raise TimeoutError(f"the model did not reply within {self.seconds:g} seconds")

    def _fill(self) -> None:
        """Begin what there is room for; the lock is held."""
        while call := self._next():
            try:
                threading.Thread(target=self._run, args=(call,), name="groundwire-judge", daemon=True).start()
            except RuntimeError as error:  # the system has no thread left to give
                self._running.discard(call)
                call.done.set_result(TimeoutError(f"no thread could be started for this call: {error}"))

    def _next(self) -> Call[T] | None:
        """The next call that may begin; those that never may are told so. The lock is held."""
        while self._waiting:
            free = 2 * self.limit - len(self._abandoned)
            if free > 0 and len(self._running) >= min(self.limit, free):
                return None
            call = self._waiting.popleft()
            if call.until is not None and time.monotonic() >= call.until:
                call.done.cancel()
            if not call.done.set_running_or_notify_cancel():
                continue
            if free > 0:
                self._running.add(call)
                return call
            call.done.set_result(StuckError(f"{len(self._abandoned)} earlier calls never came back"))
        return None

    def _run(self, first: Call[T]) -> None:
        """Make one call after the other, until there is none or a call was abandoned in the meantime."""
        call: Call[T] | None = first
        while call is not None:
            self._here.call = call
            call.began = time.monotonic()
            value: T | BaseException
            try:
                value = call.work()
            except BaseException as error:  # raised again for whoever waits; this thread has nobody above it
                value = error
            # The place is given away before the result is: who has the result may look for a place at once.
            with self._lock:
                kept = call in self._running
                self._running.discard(call)
                self._abandoned.discard(call)
                following = self._next() if kept else None
                if not kept:
                    self._fill()
            call.done.set_result(value)
            call = following


_LONGEST_WAIT = 3600.0
