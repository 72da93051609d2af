"""What has locks or threads begins anew in the child of a fork, where their holders don't exist.

Only the register lives here; what beginning anew means, each thing knows itself.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Renewable(Protocol):
    """Something with locks or threads that a forked child must not take over."""

    def after_fork(self) -> None: ...


_RENEWED: weakref.WeakSet[Renewable] = weakref.WeakSet()


def renew_after_fork(thing: Renewable) -> None:
    """Call ``thing.after_fork()`` in every child of a fork, for as long as it lives."""
    _RENEWED.add(thing)


def _renew() -> None:
    for thing in list(_RENEWED):
        thing.after_fork()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_renew)
