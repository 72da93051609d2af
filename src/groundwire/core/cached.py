"""A property that is worked out once, without the lock that Python 3.11's has.

That one is held by the whole class, while any thread works out the property of any object: two answers could
not be read at the same time, and a process that forks meanwhile leaves its child waiting for ever.
"""

from __future__ import annotations

import functools
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801 - it stands where Python's own would
    """``functools.cached_property``; two threads that ask at once may both work it out, and find the same."""

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | T:
        if instance is None:
            return self
        assert self.attrname is not None, "a class names what stands in its body"
        made: T = instance.__dict__.setdefault(self.attrname, self.func(instance))
        return made
