"""Taking turns with a host's threads, which wait for the interpreter while a detector computes in Python.

Python gives it to a thread that waits after 5 ms. An event loop waits so each time that it comes back from
the network, and a request comes back many times.
"""

from __future__ import annotations

import time


def give_way() -> None:
    """Let a thread that waits go first. Costs a microsecond where none does: once a claim or a fact, say."""
    time.sleep(0)
