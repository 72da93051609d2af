"""What has to be done before a process ends: by an exit, or as a worker of ``multiprocessing`` or of Celery.

A worker of ``multiprocessing`` is ended by the operating system once its own finalizers are through; until
Python 3.14 it says none of ``atexit``'s farewells. One of Celery is ended so at once, after a signal of
Celery's own, and waits for none of its threads. Only the register lives here; what a farewell is, each thing
knows itself.
"""

from __future__ import annotations

import atexit
import logging
import sys
import threading
from collections.abc import Callable
from typing import Any

from groundwire.core.secrets import Traced

_LOG = logging.getLogger(__name__)
_IN_WORKERS: dict[Callable[[], None], Any] = {}

# Of Celery's workers, in the order in which they are said; sets that keep an order.
_WITH_THREADS: dict[Callable[[], None], None] = {}
_IN_THE_END: dict[Callable[[], None], None] = {}
_heard_by_celery = False


def before_exit(farewell: Callable[[], None]) -> None:
    """Call ``farewell`` when this process ends. It must not mind being called twice."""
    atexit.register(farewell)
    if _is_worker():
        util = sys.modules["multiprocessing.util"]
        _IN_WORKERS[farewell] = util.Finalize(None, farewell, exitpriority=0)
    if _is_heard_by_celery():
        _IN_THE_END[farewell] = None


def before_threads_are_lost(farewell: Callable[[], None]) -> None:
    """Call ``farewell`` where a process ends without its threads, before all that ``before_exit`` was told.

    Only Celery's workers do; any other exit waits for threads that are no daemons.
    """
    if _is_heard_by_celery():
        _WITH_THREADS[farewell] = None


def no_farewell(farewell: Callable[[], None]) -> None:
    """Take back what was told."""
    atexit.unregister(farewell)
    if (finalizer := _IN_WORKERS.pop(farewell, None)) is not None:
        finalizer.cancel()
    _WITH_THREADS.pop(farewell, None)
    _IN_THE_END.pop(farewell, None)


def is_past_farewell() -> bool:
    """Whether a worker only waits for its last threads: what these leave to another thread is never done."""
    return _is_worker() and not threading.main_thread().is_alive()


def _is_worker() -> bool:
    # Looked up: whoever was started by it has it, and nobody else need load it.
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _is_heard_by_celery() -> bool:
    """Whether Celery is in use, and tells when one of its worker processes ends."""
    global _heard_by_celery  # noqa: PLW0603 - Celery's register has a lock that must not be asked for often
    signal = getattr(sys.modules.get("celery.signals"), "worker_process_shutdown", None)
    if signal is not None and not _heard_by_celery:
        _heard_by_celery = True
        signal.connect(_end_in_celery, weak=False)
    return _heard_by_celery


def _end_in_celery(**_: Any) -> None:
    for farewells in (_WITH_THREADS, _IN_THE_END):
        for farewell in list(farewells):
            try:
                farewell()
            except Exception:  # the others must still be said
                _LOG.warning("a worker of Celery could not take its leave in order\n%s", Traced())
