"""A bounded mailbox with threads of its own, for letters that a remote service may not take at once.

Whoever posts never waits. A letter that can't be delivered yet is tried again later while others go on; one
that can't be delivered at all is counted, and losses are logged once a minute. Nothing about any service, or
about verdicts, may live here.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from groundwire.core.fork import renew_after_fork
from groundwire.core.leaving import before_exit, is_past_farewell, no_farewell
from groundwire.core.secrets import Traced

_LOG = logging.getLogger(__name__)
_LINGER = 1.0  # seconds that an idle thread waits for more before it ends
_COMPLAIN_EVERY = 60.0  # seconds between two warnings of a kind
_AGAIN_LATER = frozenset({408, 425, 429})
_FAREWELL = 5.0  # seconds that a normal exit of the process waits for what is still pending

T = TypeVar("T")


class TryLaterError(Exception):
    """Raised by a deliverer when the same letter may be taken later; its cause says why not now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """What became of the letters: delivered, failed for good, dropped because the box was full, waiting."""

    delivered: int = 0
    failed: int = 0
    dropped: int = 0
    pending: int = 0


@dataclass(order=True, slots=True)
class _Letter(Generic[T]):
    due: float
    number: int
    content: T = field(compare=False)
    attempts: int = field(compare=False, default=0)


class Outbox(Generic[T]):
    """Hands letters to ``deliver`` on threads of its own, in the order in which they fall due.

    At most ``threads`` deliver at a time. There are as many attempts as ``waits``, the seconds before each.
    ``deliver`` raises TryLaterError to have a letter back; any other exception loses it. At most ``capacity``
    letters wait. ``what`` names them in the log.
    """

    def __init__(
        self,
        deliver: Callable[[T], None],
        *,
        what: str,
        threads: int = 1,
        capacity: int = 1000,
        waits: tuple[float, ...] = (1.0, 1.0, 2.0, 4.0, 8.0),
    ) -> None:
        self._deliver = deliver
        self._what = what
        self._most_threads = threads
        self._capacity = capacity
        self._waits = waits
        self._numbers = itertools.count()
        self._delivered = self._failed = self._dropped = 0
        self._complaints: dict[str, float] = {}
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin empty: what waits, and the threads that would deliver it, belong to the parent."""
        self._changed = threading.Condition()
        self._letters: list[_Letter[T]] = []
        self._in_hand = 0
        self._threads: set[threading.Thread] = set()
        self._gave_up = self._says_farewell = False
        self._told = self._losses()

    def post(self, content: T) -> None:
        """Put a letter in the box; when the box is full it is dropped and counted."""
        with self._changed:
            if self._pending() >= self._capacity:
                self._dropped += 1
                if self._may_complain("dropped"):
                    _LOG.warning(
                        "%s: %d are waiting and no more fit; %d were dropped so far",
                        self._what,
                        self._capacity,
                        self._dropped,
                    )
                return
            self._shelve(_Letter(due=0, number=next(self._numbers), content=content))
            self._ensure_threads()
            self._changed.notify_all()
        if is_past_farewell() and threading.current_thread() not in self._threads:
            self._farewell()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until nothing is pending; letters put off are tried at once.

        False when time ran out, or at once where the system has no thread to give that would deliver them.
        """
        with self._changed:
            now = time.monotonic()
            for letter in self._letters:
                letter.due = min(letter.due, now)
            heapq.heapify(self._letters)
            self._ensure_threads()
            self._changed.notify_all()
            self._changed.wait_for(lambda: not (self._pending() and self._threads), timeout)
            return not self._pending()

    @property
    def counts(self) -> Counts:
        with self._changed:
            return Counts(
                delivered=self._delivered,
                failed=self._failed,
                dropped=self._dropped,
                pending=self._pending(),
            )

    def _pending(self) -> int:
        return len(self._letters) + self._in_hand

    def _ensure_threads(self) -> None:
        # A thread lives only while there is work, so that an outbox nobody uses can be collected.
        while len(self._threads) < min(self._most_threads, self._pending()):
            if not self._says_farewell:
                self._says_farewell = True
                before_exit(self._farewell)
            thread = threading.Thread(target=self._work, name="groundwire-outbox", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system has none to give: there are others, or the next post asks
                return
            self._threads.add(thread)

    def _farewell(self) -> None:
        if not self._gave_up and not self.flush(_FAREWELL):
            self._gave_up = True  # no exit waits for every one of what still comes
            _LOG.warning(
                "%s: %d were not delivered before the process ended", self._what, self.counts.pending
            )
        with self._changed:
            lost = self._losses()
            untold, self._told = lost != self._told, lost
        if untold:  # those of the last minute
            _LOG.warning("%s: in all, %d failed and %d were dropped", self._what, *lost.values())

    def _work(self) -> None:
        while (letter := self._take()) is not None:
            try:
                self._deliver(letter.content)
            except TryLaterError as error:
                self._put_off(letter, error.__cause__ or error)
            except BaseException as error:  # whatever a letter met, the next one must still go out
                self._lose(error)
            else:
                with self._changed:
                    self._delivered += 1
            finally:
                with self._changed:
                    self._in_hand -= 1
                    self._changed.notify_all()

    def _take(self) -> _Letter[T] | None:
        """The next letter once it is due; None when none came for a while, which ends the thread."""
        with self._changed:
            while True:
                if not self._letters:
                    if not self._changed.wait_for(lambda: self._letters, _LINGER):
                        self._threads.discard(threading.current_thread())
                        if not self._threads:
                            self._says_farewell = False
                            no_farewell(self._farewell)
                        return None
                    continue
                early = self._letters[0].due - time.monotonic()
                if early <= 0:
                    self._in_hand += 1
                    return heapq.heappop(self._letters)
                self._changed.wait(early)

    def _put_off(self, letter: _Letter[T], why: BaseException) -> None:
        if letter.attempts >= len(self._waits):
            self._lose(why)
            return
        with self._changed:
            self._shelve(letter)

    def _shelve(self, letter: _Letter[T]) -> None:
        letter.due = time.monotonic() + self._waits[letter.attempts]
        letter.attempts += 1
        heapq.heappush(self._letters, letter)

    def _lose(self, why: BaseException) -> None:
        with self._changed:
            self._failed += 1
            failed, tell = self._failed, self._may_complain("failed")
        if tell:
            _LOG.warning(
                "%s: one could not be delivered (%s); %d failed so far", self._what, _brief(why), failed
            )
        _LOG.debug("%s: not delivered\n%s", self._what, Traced(why))

    def _may_complain(self, kind: str) -> bool:
        now = time.monotonic()
        last = self._complaints.get(kind)
        if last is not None and now - last < _COMPLAIN_EVERY:
            return False
        self._complaints[kind] = now
        self._told |= {kind: self._losses()[kind]}
        return True

    def _losses(self) -> dict[str, int]:
        return {"failed": self._failed, "dropped": self._dropped}


def may_pass(error: BaseException) -> bool:
    """Whether an HTTP status says that the same request may succeed later: no time, no capacity."""
    status = http_status(error)
    return status is not None and (status >= 500 or status in _AGAIN_LATER)


def _brief(error: BaseException) -> str:
    # A service's own words may echo what was sent to it, so only the kind and the HTTP status are told.
    status = http_status(error)
    return type(error).__name__ if status is None else f"{type(error).__name__}, HTTP {status}"


def http_status(error: BaseException) -> int | None:
    """The HTTP status that an error, or what led to it, was raised for."""
    seen: BaseException | None = error
    while seen is not None:
        status = getattr(getattr(seen, "response", None), "status_code", None)
        if isinstance(status, int):
            return status
        seen = seen.__cause__ or seen.__context__
    return None
