"""Taking turns with a host's threads, which wait for the interpreter while a detector computes in Python.

Python gives it to a thread that waits after 5 ms. An event loop waits so each time that it comes back from
the network, and a request comes back many times.
"""

from __future__ import annotations

import threading
import time


def give_way() -> None:
    """Let a thread that waits go first. Costs a microsecond where there is no other: once a claim, say."""
    if threading.active_count() > 1:
        time.sleep(0)
