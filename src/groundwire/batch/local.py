"""The local engine: units on the cores of this machine, in processes that load the model once each."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing.connection import wait as wait_for
from multiprocessing.synchronize import Event

from groundwire.batch.job import GUARD, Desk, FileDesk, Job
from groundwire.batch.work import Done, Task, do
from groundwire.core.cores import usable_cores
from groundwire.core.errors import ConfigurationError

_AHEAD = 2  # units given out for each process, so that none waits for its next


@dataclass(frozen=True, kw_only=True)
class Local:
    """So many ``processes``; as many as there are cores where none are named, and no process for one alone.

    Together they keep as many cores busy as there are: where there are fewer processes than cores, encoders
    read on more threads. Processes are started anew and not forked, so a script that runs a batch needs the
    usual ``if __name__ == "__main__":``.
    """

    processes: int | None = None

    def __post_init__(self) -> None:
        if self.processes is not None and (type(self.processes) is not int or self.processes < 1):
            raise ConfigurationError(f"processes: expected a whole number from 1 on, not {self.processes!r}")

    @contextlib.contextmanager
    def opened(self, desk_folder: str) -> Iterator[Desk]:
        """What its processes share, until it ends."""
        yield FileDesk(folder=desk_folder)

    def run(self, job: Job, tasks: Iterator[Task]) -> Generator[Done, None, None]:
        """Do every unit, yielding each as it is done. Closed early, it stops what is being done."""
        cores = usable_cores()
        processes = self.processes or cores
        job = replace(job, threads=max(1, cores // processes))
        if processes == 1:
            return (do(job, task) for task in tasks)
        return _Pool(job, processes).run(tasks)


class _Pool:
    """A pool that outlives a process that dies, and finds out which unit it dies of."""

    def __init__(self, job: Job, processes: int) -> None:
        self._job, self._processes = job, processes
        self._context = multiprocessing.get_context("spawn")
        self._begun = self._context.Event()
        self._pool: ProcessPoolExecutor | None = None
        self._out: dict[Future[Done], Task] = {}
        self._suspects: deque[Task] = deque()

    def run(self, tasks: Iterator[Task]) -> Generator[Done, None, None]:
        try:
            while True:
                self._fill(tasks)
                if not (self._out or self._suspects):
                    return
                finished, _ = wait(self._out, return_when=FIRST_COMPLETED)
                yield from self._taken(finished)
        finally:
            self._stop()

    def _fill(self, tasks: Iterator[Task]) -> None:
        """Give out units. Those that were out when a process died go one by one: then it is known whose."""
        if self._suspects:
            if not self._out:
                self._submit(self._suspects.popleft())
            return
        room = self._processes * _AHEAD
        while not self._suspects and len(self._out) < room and (task := next(tasks, None)) is not None:
            self._submit(task)

    def _submit(self, task: Task) -> None:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._processes, mp_context=self._context, initializer=_begin, initargs=(self._begun,)
            )
        try:
            self._out[self._pool.submit(do, self._job, task)] = task
        except BrokenProcessPool:  # one of its processes died since it was looked at
            self._suspect([task, *self._out.values()])

    def _taken(self, finished: set[Future[Done]]) -> Iterator[Done]:
        for future in finished:
            task = self._out.pop(future)
            try:
                yield future.result()
            except BrokenProcessPool:
                if not self._begun.is_set():
                    raise ConfigurationError(
                        f"no process could be started, for what stands above; {GUARD}"
                    ) from None
                yield from self._died(task)
                return

    def _died(self, task: Task) -> Iterator[Done]:
        if not self._out:
            self._stop()
            reason = "its process died; perhaps it had no memory left: try fewer processes, or smaller units"
            yield Done(unit=task.unit.number, failure=f"{task.input.source.shown}: {reason}")
            return
        self._suspect([task, *self._out.values()])

    def _suspect(self, tasks: list[Task]) -> None:
        self._suspects.extend(sorted(tasks, key=lambda one: one.unit.number))
        self._stop()

    def _stop(self) -> None:
        if self._pool is not None:
            processes = list((self._pool._processes or {}).values())  # noqa: SLF001 - it has no way to stop one
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()
            for process in processes:
                process.join()
        self._pool, self._out = None, {}


def _begin(begun: Event) -> None:
    """What a process of the pool does first."""
    begun.set()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int, end: Callable[[int], None] = os._exit) -> None:
    """Not outlive a parent that was killed: nobody would take the unit, and the next run does it again."""
    wait_for([sentinel])
    end(1)
