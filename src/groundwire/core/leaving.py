"""What has to be done before a process ends: by an ordinary exit, or as a worker of ``multiprocessing``.

Such a worker is ended by the operating system once its own finalizers are through; until Python 3.14 it says
none of ``atexit``'s farewells. Only the register lives here; what a farewell is, each thing knows itself.
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from typing import Any

_IN_WORKERS: dict[Callable[[], None], Any] = {}


def before_exit(farewell: Callable[[], None]) -> None:
    """Call ``farewell`` when this process ends. It must not mind being called twice."""
    atexit.register(farewell)
    if _is_worker():
        util = sys.modules["multiprocessing.util"]
        _IN_WORKERS[farewell] = util.Finalize(None, farewell, exitpriority=0)


def no_farewell(farewell: Callable[[], None]) -> None:
    """Take back what ``before_exit`` was told."""
    atexit.unregister(farewell)
    if (finalizer := _IN_WORKERS.pop(farewell, None)) is not None:
        finalizer.cancel()


def is_past_farewell() -> bool:
    """Whether a worker only waits for its last threads: what these leave to another thread is never done."""
    return _is_worker() and not threading.main_thread().is_alive()


def _is_worker() -> bool:
    # Looked up: whoever was started by it has it, and nobody else need load it.
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None
