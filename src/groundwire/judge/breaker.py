"""A breaker: a model that keeps failing is left alone for a while, and asked again with one call.

Clocks and locks, but no threads and no models. What is done in its place is the checker's policy.

Source: M. Nygard, Release It! (2007): the circuit breaker, closed, open and half-open.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import StrEnum

from groundwire.core.errors import ConfigurationError
from groundwire.core.fork import renew_after_fork

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Breaker:
    """When a judge's model counts as unavailable, and for how long.

    It does after ``failures`` failed requests in a row, or, where ``rate`` is set, once that share (above 0,
    up to 1) of the latest ``window`` requests failed. A request fails when its call raised, retries and all,
    or had no reply in time; what the server calls a mistake of the request (400, 413, 422) tells nothing.
    For ``cooldown`` seconds nothing is asked, then one request; its reply closes the breaker, its failure
    begins the wait anew. Raises ConfigurationError naming every mistake.
    """

    failures: int = 5
    rate: float | None = None
    window: int = 20
    cooldown: float = 30.0

    def __post_init__(self) -> None:
        problems = [
            f"breaker.{name}: expected a whole number from 1 on, not {value!r}"
            for name, value in (("failures", self.failures), ("window", self.window))
            if type(value) is not int or value < 1
        ]
        if self.rate is not None and not (_number(self.rate) and 0 < self.rate <= 1):
            problems.append(f"breaker.rate: expected a share above 0, up to 1, not {self.rate!r}")
        if not (_number(self.cooldown) and 0 <= self.cooldown < float("inf")):
            problems.append(f"breaker.cooldown: expected seconds from 0 on, not {self.cooldown!r}")
        if problems:
            raise ConfigurationError(*problems)


class Status(StrEnum):
    """CLOSED: requests go through. OPEN: none does. PROBING: one is out, and decides."""

    CLOSED = "closed"
    OPEN = "open"
    PROBING = "probing"


@dataclass(frozen=True, kw_only=True)
class BreakerStats:
    """One model's breaker: how it stands, how often it opened, and how many requests it has refused."""

    status: Status = Status.CLOSED
    opened: int = 0
    refused: int = 0
    failures_in_a_row: int = 0


class Circuit:
    """One model's breaker at work. Safe to share between threads; None as its breaker lets everything pass.

    Who enters is known by itself, so that what comes back from a call that was given up counts once, as the
    failure that it was for whoever waited.
    """

    def __init__(
        self, breaker: Breaker | None, name: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._breaker = breaker
        self._name = name
        self._clock = clock
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew: the calls that were out, and whoever held the lock, are the parent's."""
        self._lock = threading.Lock()
        self._out: set[Hashable] = set()
        self._probe: Hashable | None = None
        self._opened_at: float | None = None
        self._in_a_row = self._opened = self._refused = 0
        self._last = ""
        self._latest: deque[bool] = deque(maxlen=self._breaker.window if self._breaker else 0)

    @property
    def stats(self) -> BreakerStats:
        with self._lock:
            closed = Status.CLOSED if self._opened_at is None else Status.OPEN
            return BreakerStats(
                status=closed if self._probe is None else Status.PROBING,
                opened=self._opened,
                refused=self._refused,
                failures_in_a_row=self._in_a_row,
            )

    def enter(self, who: Hashable) -> str:
        """Let a request go through, which then has to ``leave``; or say why it may not."""
        if self._breaker is None:
            return ""
        with self._lock:
            if self._opened_at is None:
                self._out.add(who)
                return ""
            left = self._opened_at + self._breaker.cooldown - self._clock()
            if left <= 0 and self._probe is None:
                self._probe = who
                self._out.add(who)
                return ""
            self._refused += 1
            again = "one request is trying it again" if left <= 0 else f"it is tried again in {left:.0f} s"
            return f"the model {self._name!r} kept failing (last: {self._last}); {again}"

    def leave(self, who: Hashable, *, failure: str | None) -> None:
        """A request that entered has its reply, or has failed with what ``failure`` names."""
        with self._lock:
            if self._breaker is None or who not in self._out:
                return  # whoever waited for it has given up, and said so
            self._out.discard(who)
            probed = who is self._probe
            if probed:
                self._probe = None
            if failure is not None:
                self._fail(self._breaker, failure, probed=probed)
            elif probed:
                self._close()
            elif self._opened_at is None:
                self._in_a_row = 0
                self._latest.append(False)

    def forget(self, who: Hashable) -> None:
        """A request that entered tells nothing: nobody waited, or it was not made after all."""
        with self._lock:
            self._out.discard(who)
            if who is self._probe:
                self._probe = None

    def _fail(self, breaker: Breaker, failure: str, *, probed: bool) -> None:
        self._last = failure
        if probed:
            self._opened_at = self._clock()
        if self._opened_at is not None:
            return
        self._in_a_row += 1
        self._latest.append(True)
        full = len(self._latest) == breaker.window
        often = breaker.rate is not None and full and sum(self._latest) >= breaker.rate * breaker.window
        if self._in_a_row >= breaker.failures or often:
            self._opened_at = self._clock()
            self._opened += 1
            _LOG.warning(
                "the judge's model %r kept failing (last: %s) and is not asked for %g seconds",
                self._name,
                failure,
                breaker.cooldown,
            )

    def _close(self) -> None:
        self._opened_at = None
        self._in_a_row = 0
        self._latest.clear()
        _LOG.warning("the judge's model %r replies again", self._name)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
