"""Taking turns with a host's threads, which wait for the interpreter while a detector computes in Python.

Python gives it to a thread that waits after 5 ms. An event loop waits so each time that it comes back from
the network, and a request comes back many times.
"""

from __future__ import annotations

import threading
from time import perf_counter, sleep

_TURN = 0.002  # seconds; a sleep of none takes some .0001 where another thread may wake
_TURNS = threading.local()


def give_way() -> None:
    """Let threads that wait go first, if there are others and this one has computed for a while."""
    now = perf_counter()
    if now - getattr(_TURNS, "began", 0.0) < _TURN or threading.active_count() == 1:
        return
    sleep(0)
    _TURNS.began = perf_counter()
