"""A property that is worked out once, without the lock that Python 3.11's has.

That one is held by the whole class, while any thread works out the property of any object: two answers could
not be read at the same time, and a process that forks meanwhile leaves its child waiting for ever.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801 - it stands where Python's own would
    """``functools.cached_property``; two threads that ask at once may both work it out, and find the same."""

    def __init__(self, func: Callable[[Any], T]) -> None:
        super().__init__(func)
        self.lock = nullcontext()
