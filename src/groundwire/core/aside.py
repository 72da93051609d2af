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

T = TypeVar("T")


async def aside(work: Callable[..., T], *given: object) -> T:
    """What ``work`` returns, in the context of whoever awaits it. A loop's threads end with the loop."""
    loop = asyncio.get_running_loop()
    if (pool := _POOLS.get(loop)) is None:
        pool = _POOLS[loop] = ThreadPoolExecutor(thread_name_prefix="groundwire")
    return await loop.run_in_executor(pool, copy_context().run, work, *given)


_POOLS: WeakKeyDictionary[asyncio.AbstractEventLoop, ThreadPoolExecutor] = WeakKeyDictionary()
