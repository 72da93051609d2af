"""Texts worked through once: what was made of the latest ones, bounded by their characters."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from groundwire.core.fork import renew_after_fork

T = TypeVar("T")


class Remembered(Generic[T]):
    """What ``make`` makes of texts, kept for the latest ones of up to ``most`` characters in all.

    A text of more than a quarter of that is made anew each time. Safe to use from many threads.
    """

    def __init__(self, make: Callable[[str], T], *, most: int) -> None:
        self._make = make
        self._most = most
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew in a forked child, in which whoever held the lock does not exist."""
        self._lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        """Begin with nothing, as measurements need it."""
        with self._lock:
            self._made: OrderedDict[str, T] = OrderedDict()
            self._filled = 0

    def of(self, text: str) -> T:
        """What is made of ``text``; the same text is worked through once while it is remembered."""
        with self._lock:
            known = self._made.get(text)
            if known is not None:
                self._made.move_to_end(text)
                return known
        made = self._make(text)
        if len(text) <= self._most // 4:
            self._keep(text, made)
        return made

    def _keep(self, text: str, made: T) -> None:
        with self._lock:
            if text in self._made:
                return
            self._made[text] = made
            self._filled += len(text) + _BESIDES
            while self._filled > self._most:
                oldest, _ = self._made.popitem(last=False)
                self._filled -= len(oldest) + _BESIDES


# What is made of a text without characters would take so many.
_BESIDES = 200
