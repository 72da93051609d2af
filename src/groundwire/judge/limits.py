"""What a judge may take: how often it tries, how fast it asks, how much it spends in a period.

Clocks and locks, but no threads and no models. What one check may take is in ``core.budget``.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from groundwire.core.budget import Budget
from groundwire.core.errors import ConfigurationError
from groundwire.core.fork import renew_after_fork
from groundwire.core.verdict import Usage

_MINUTE = 60.0
LONGEST_WAIT = 60.0
"""Seconds that are waited before another attempt, at most."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on a judge's calls, over everything it is asked, in this process.

    ``retries`` is how often a call that was throttled, or that a server failed (a status of 500 or more), is
    made again; every other failure is final. Most clients retry by themselves, so the default is 0: give
    this a number and switch the client's own off. The first wait is a random time up to ``backoff`` seconds,
    each further one up to twice as much, none longer than a minute. A server's ``Retry-After`` comes before
    it; one of more than a minute is final. ``requests_per_minute`` and ``tokens_per_minute`` hold calls back;
    the time that they wait is not part of a call's timeout. ``budget`` is for each ``period`` of seconds,
    which begins with the first call; what has no room in it is not asked and abstains with OVER_BUDGET.
    Raises ConfigurationError naming every mistake.
    """

    retries: int = 0
    backoff: float = 1.0
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    budget: Budget | None = None
    period: float = 86_400.0

    def __post_init__(self) -> None:
        problems = []
        if type(self.retries) is not int or self.retries < 0:
            problems.append(f"limits.retries: expected a whole number from 0 on, not {self.retries!r}")
        if not isinstance(self.backoff, int | float) or not 0 <= self.backoff <= LONGEST_WAIT:
            problems.append(f"limits.backoff: expected seconds from 0 to 60, not {self.backoff!r}")
        for name in ("requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                problems.append(f"limits.{name}: expected a whole number from 1 on, not {value!r}")
        if self.budget is not None and not isinstance(self.budget, Budget):
            problems.append(f"limits.budget: expected a Budget, not {type(self.budget).__name__}")
        if not isinstance(self.period, int | float) or not self.period > 0:
            problems.append(f"limits.period: expected seconds above 0, not {self.period!r}")
        if problems:
            raise ConfigurationError(*problems)

    def wait_before(self, attempt: int, *, asked: float = 0.0) -> float:
        """Seconds before the second attempt, the third and so on: random, so that not all come at once.

        No fewer than the server ``asked`` for, which must be no more than LONGEST_WAIT.
        """
        own = random.uniform(0.0, min(self.backoff * 2.0 ** (attempt - 2), LONGEST_WAIT))  # noqa: S311 - no secret
        return min(asked + own, LONGEST_WAIT)


class Paced(Protocol):
    """Whoever says how long to wait before using so much: a Pace, or one that processes share."""

    def take(self, amount: int = 1, *, within: float = math.inf) -> float: ...


class Purse(Protocol):
    """Whoever has room for calls, or none: an Allowance, or one that processes share."""

    def claim(self) -> str: ...

    def give_back(self) -> None: ...

    def settle(self, usage: Usage) -> None: ...


class Pace:
    """Never more than ``per_minute`` within any minute, in the order in which room was asked for.

    LangChain's own limiter knows requests but not tokens, and only LangChain's models.
    """

    def __init__(self, per_minute: int | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = per_minute
        self._clock = clock
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew: whoever held the lock is not in the child."""
        self._lock = threading.Lock()
        self._taken: deque[tuple[float, int]] = deque()  # when, how much; when may lie ahead
        self._sum = 0

    def take(self, amount: int = 1, *, within: float = math.inf) -> float:
        """The seconds to wait before using ``amount``, which counts from now on.

        It does not where they are not fewer than ``within``: who can't wait so long uses nothing. More than a
        minute's worth at once waits for a minute of its own.
        """
        if self._limit is None:
            return 0.0
        with self._lock:
            now = self._clock()
            at = max(now, self._taken[-1][0]) if self._taken else now
            past, left = 0, self._sum
            for freed, used in self._taken:
                if freed > at - _MINUTE and left + amount <= self._limit:
                    break
                past, left = past + 1, left - used
                at = max(at, freed + _MINUTE)
            if at - now < within:
                for _ in range(past):
                    self._taken.popleft()
                self._taken.append((at, amount))
                self._sum = left + amount
            return at - now


class Allowance:
    """A budget that is renewed every ``period`` seconds, shared by every thread."""

    def __init__(
        self, budget: Budget | None, *, period: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._budget = budget
        self._period = period
        self._clock = clock
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew: whoever held the lock is not in the child, and its budget is its own."""
        self._lock = threading.Lock()
        self._spent = Usage(cost=0.0)
        self._began: float | None = None

    def claim(self) -> str:
        """Room for one call, which counts from now on; or why there is none."""
        if self._budget is None:
            return ""
        with self._lock:
            now = self._clock()
            if self._began is None or now - self._began >= self._period:
                self._began, self._spent = now, Usage(cost=0.0)
            shortage = self._budget.shortage(self._spent, calls=1)
            if not shortage:
                self._spent += Usage(calls=1, cost=0.0)  # what it costs is told when it is settled
            return shortage

    def give_back(self) -> None:
        """A call that was claimed is not made."""
        with self._lock:
            self._spent = replace(self._spent, calls=self._spent.calls - 1)

    def settle(self, usage: Usage) -> None:
        """What a call that was claimed has used beside itself: tokens and money."""
        with self._lock:
            self._spent += Usage(
                input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cost=usage.cost
            )
