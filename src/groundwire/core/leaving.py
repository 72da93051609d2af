"""What has to be done before a process ends: by an exit, or as a worker of ``multiprocessing`` or of Celery.

A worker of ``multiprocessing`` is ended by the operating system once its own finalizers are through; until
Python 3.14 it says none of ``atexit``'s farewells. One of Celery is ended so at once, after a signal of
Celery's own. Only the register lives here; what a farewell is, each thing knows itself.
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from typing import Any

_IN_WORKERS: dict[Callable[[], None], Any] = {}
_IN_CELERY: dict[Callable[[], None], Callable[..., None]] = {}


def before_exit(farewell: Callable[[], None]) -> None:
    """Call ``farewell`` when this process ends. It must not mind being called twice."""
    atexit.register(farewell)
    if _is_worker():
        util = sys.modules["multiprocessing.util"]
        _IN_WORKERS[farewell] = util.Finalize(None, farewell, exitpriority=0)
    if (signal := _celerys_signal()) is not None and farewell not in _IN_CELERY:
        _IN_CELERY[farewell] = heard = lambda **_: farewell()
        signal.connect(heard, weak=False)


def no_farewell(farewell: Callable[[], None]) -> None:
    """Take back what ``before_exit`` was told."""
    atexit.unregister(farewell)
    if (finalizer := _IN_WORKERS.pop(farewell, None)) is not None:
        finalizer.cancel()
    if (heard := _IN_CELERY.pop(farewell, None)) is not None and (signal := _celerys_signal()) is not None:
        signal.disconnect(heard)


def is_past_farewell() -> bool:
    """Whether a worker only waits for its last threads: what these leave to another thread is never done."""
    return _is_worker() and not threading.main_thread().is_alive()


def _is_worker() -> bool:
    # Looked up: whoever was started by it has it, and nobody else need load it.
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _celerys_signal() -> Any:
    """What tells a worker process of Celery's that it ends; None where Celery is not in use."""
    return getattr(sys.modules.get("celery.signals"), "worker_process_shutdown", None)
