"""What an event loop waits for, done on threads of our own.

Not on the loop's default ones: whatever else a host leaves to those, such as looking up an address, would
wait until we are through.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar
from weakref import WeakKeyDictionary

from groundwire.core.fork import renew_after_fork

T = TypeVar("T")


async def aside(work: Callable[..., T], *given: object) -> T:
    """What ``work`` returns, in the context of whoever awaits it. A loop's threads end with the loop."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_POOLS.of(loop), copy_context().run, work, *given)


class _Pools:
    """The threads of each event loop."""

    def __init__(self) -> None:
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew: a child that goes on with its parent's loop would wait for threads that don't exist."""
        self._of: WeakKeyDictionary[asyncio.AbstractEventLoop, ThreadPoolExecutor] = WeakKeyDictionary()

    def of(self, loop: asyncio.AbstractEventLoop) -> ThreadPoolExecutor:
        if (pool := self._of.get(loop)) is None:
            pool = self._of[loop] = ThreadPoolExecutor(thread_name_prefix="groundwire")
        return pool


_POOLS = _Pools()
