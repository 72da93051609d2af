"""The Ray engine: units as tasks of a cluster, or of this machine where no cluster is named.

Tasks and not Ray Data: a unit reads its piece and writes its part by itself, so nothing is passed between
processes but counts. Parts must go to a place that every machine can write to.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from groundwire.batch.job import Desk, FileDesk, Job
from groundwire.batch.work import Done, Task, do
from groundwire.core.errors import ConfigurationError, GroundwireError, MissingExtraError
from groundwire.judge.stores import Store

_AHEAD = 2
_LOOK = 1.0  # seconds between two looks at what has begun
_STARTS = 60.0  # seconds that a busy machine may take to start one process


class StarvedError(GroundwireError, RuntimeError):
    """No task could begin: others hold the cluster's processors, or it can't start a process."""


@dataclass(frozen=True, kw_only=True)
class Ray:
    """A Ray cluster at ``address``; one on this machine where that is None and none has been started.

    Each task takes ``num_cpus`` of a machine, and encoders in it read on as many threads. A task whose
    machine or process dies is done again, ``retries`` times at most. Where none begins for ``patience``
    seconds and none is being done, StarvedError names what the cluster has to offer. Nothing phones home:
    Ray's usage statistics are switched off where this starts it.
    """

    address: str | None = None
    num_cpus: float = 1.0
    retries: int = 3
    patience: float = 120.0

    def __post_init__(self) -> None:
        problems = [
            f"{name}: expected a number above 0, not {value!r}"
            for name, value in (("num_cpus", self.num_cpus), ("patience", self.patience))
            if not isinstance(value, int | float) or not value > 0
        ]
        if type(self.retries) is not int or self.retries < 0:
            problems.append(f"retries: expected a whole number from 0 on, not {self.retries!r}")
        if problems:
            raise ConfigurationError(*problems)

    @contextlib.contextmanager
    def opened(self, desk_folder: str) -> Iterator[Desk]:
        """Connected to the cluster, with an actor that its tasks share, until it ends.

        Raises ConfigurationError where no machine of the cluster has as many processors as a task takes.
        """
        ray = _ray()
        mine = not ray.is_initialized()
        if mine:
            os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
            options: dict[str, Any] = {}
            if self.address is None and "RAY_ADDRESS" not in os.environ:  # it is started here, for us alone
                options = {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
            ray.init(address=self.address, log_to_driver=False, configure_logging=False, **options)
        try:
            self._require_room(ray)
            desk = ActorDesk(actor=_desk_actor(ray, desk_folder))
            try:
                _begun(ray, desk.actor)
                yield desk
            finally:
                ray.kill(desk.actor)
        finally:
            if mine:
                ray.shutdown()

    def run(self, job: Job, tasks: Iterator[Task]) -> Generator[Done, None, None]:
        """Do every unit, yielding each as it is done. Closed early, it stops what is being done."""
        ray = _ray()
        job = replace(job, threads=max(1, int(self.num_cpus)))
        given = ray.put(job)  # once, and not with every task
        room = max(1, int(_cpus(ray) / self.num_cpus))
        work = ray.remote(num_cpus=self.num_cpus, max_retries=self.retries)(_work)
        out: dict[Any, Task] = {}
        watch = _Watch(_at(job), self.patience)
        try:
            while True:
                while len(out) < room * _AHEAD and (task := next(tasks, None)) is not None:
                    out[work.remote(given, task)] = task
                if not out:
                    return
                finished, _ = ray.wait(list(out), num_returns=1, timeout=_LOOK)
                for reference in finished:
                    task = out.pop(reference)
                    watch.finished()
                    yield _result(ray, reference, task)
                if not finished:
                    watch.look(ray, self.num_cpus)
        finally:
            for reference in out:
                ray.cancel(reference, force=True)

    def _require_room(self, ray: Any) -> None:
        sizes = [node["Resources"].get("CPU", 0.0) for node in ray.nodes() if node["Alive"]]
        if max(sizes, default=0.0) < self.num_cpus:
            raise ConfigurationError(
                f"a task takes {self.num_cpus:g} processors, and the largest machine of the cluster has "
                f"{max(sizes, default=0.0):g}: --num-cpus with a smaller number"
            )


@dataclass(frozen=True, kw_only=True)
class ActorDesk:
    """The desk of a cluster: an actor beside the driver, which has the two files."""

    actor: Any

    def ledger(self) -> Any:
        return _Asking(self.actor)

    def store(self) -> Store:
        return _Remote(self.actor)


class _Desk:
    """The actor. Calls come one at a time."""

    def __init__(self, folder: str) -> None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        desk = FileDesk(folder=folder)
        self._ledger, self._store = desk.ledger(), desk.store()
        self._begun: set[int] = set()

    def take(self, what: str, amount: int, limit: int, within: float) -> float:
        return self._ledger.take(what, amount, limit, within)

    def claim(self, budget: Any) -> str:
        return self._ledger.claim(budget)

    def add(self, spent: Mapping[str, Any]) -> None:
        self._ledger.add(**spent)

    def spent(self) -> Any:
        return self._ledger.spent()

    def get(self, key: str) -> bytes | None:
        return self._store.get(key)

    def put(self, entries: Mapping[str, bytes]) -> None:
        self._store.put(entries)

    def size(self) -> int:
        return len(self._store)

    def begin(self, unit: int) -> None:
        self._begun.add(unit)  # once, however often its process dies

    def begun(self) -> int:
        return len(self._begun)


class _Asking:
    """A ledger that is an actor."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def take(self, what: str, amount: int, limit: int, within: float) -> float:
        return float(_ray().get(self._actor.take.remote(what, amount, limit, within)))

    def claim(self, budget: Any) -> str:
        return str(_ray().get(self._actor.claim.remote(budget)))

    def add(self, **spent: Any) -> None:
        _ray().get(self._actor.add.remote(spent))

    def spent(self) -> Any:
        return _ray().get(self._actor.spent.remote())


class _Remote:
    """A store that is an actor. Where it can't be reached, an OSError says so, as a file's would."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def __len__(self) -> int:
        return int(self._asked(self._actor.size.remote()))

    def get(self, key: str) -> bytes | None:
        value: bytes | None = self._asked(self._actor.get.remote(key))
        return value

    def put(self, entries: Mapping[str, bytes]) -> None:
        self._asked(self._actor.put.remote(dict(entries)))

    @staticmethod
    def _asked(reference: Any) -> Any:
        ray = _ray()
        try:
            return ray.get(reference)
        except ray.exceptions.RayError as error:
            raise OSError(f"the job's store of replies can't be reached: {error!s:.200}") from error


class _Watch:
    """Sees that tasks begin. Ray itself waits without a word while others hold the processors."""

    def __init__(self, desk: ActorDesk, patience: float) -> None:
        self._actor = desk.actor
        self._patience, self._done, self._since = patience, 0, time.monotonic()

    def finished(self) -> None:
        self._done += 1
        self._since = time.monotonic()

    def look(self, ray: Any, num_cpus: float) -> None:
        """Raise StarvedError if nothing has begun, and nothing is being done, for too long."""
        waited = time.monotonic() - self._since
        if waited >= self._patience and _begun(ray, self._actor) <= self._done:  # else a unit takes its time
            raise _starved(ray, num_cpus, waited)


def _begun(ray: Any, actor: Any) -> int:
    """How many units have begun. Raises StarvedError where the desk itself doesn't answer."""
    try:
        return int(ray.get(actor.begun.remote(), timeout=_STARTS))
    except ray.exceptions.GetTimeoutError:
        raise StarvedError(
            f"the process that counts for all tasks did not answer within {_STARTS:.0f} seconds, though it "
            "takes no processor: the machine that this runs on is too busy, or out of memory. What is done "
            "is kept, and the same command goes on"
        ) from None


def _starved(ray: Any, num_cpus: float, waited: float) -> StarvedError:
    free, there = ray.available_resources().get("CPU", 0.0), _cpus(ray)
    return StarvedError(
        f"no task has begun for {waited:.0f} seconds: each takes {num_cpus:g} processors, and of {there:g} "
        f"in the cluster {free:g} are free. Stop what holds them, or name fewer with --num-cpus. What is "
        "done is kept, and the same command goes on"
    )


def _work(job: Job, task: Task) -> Done:
    """What a task does."""
    _at(job).actor.begin.remote(task.unit.number)
    return do(job, task)


def _at(job: Job) -> ActorDesk:
    """The desk that ``opened`` has given."""
    if not isinstance(job.desk, ActorDesk):
        raise TypeError(f"a job for Ray has the desk that Ray opened, not {type(job.desk).__name__}")
    return job.desk


def _result(ray: Any, reference: Any, task: Task) -> Done:
    try:
        done: Done = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, GroundwireError):
            raise cause from None
        raise
    except ray.exceptions.RayError as error:  # its process or machine died, and died again
        why = f"{type(error).__name__}: its process died, as often as it was tried again"
        return Done(unit=task.unit.number, failure=f"{task.input.source.shown}: {why}")
    return done


def _desk_actor(ray: Any, folder: str) -> Any:
    # Beside the driver, whose disk has the files; it takes no processor, so nothing can starve it.
    near = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy(
        node_id=ray.get_runtime_context().get_node_id(), soft=True
    )
    return ray.remote(num_cpus=0, scheduling_strategy=near)(_Desk).remote(folder)


def _cpus(ray: Any) -> float:
    return float(ray.cluster_resources().get("CPU", 1.0))


def _ray() -> Any:
    try:
        return import_module("ray")
    except ImportError as error:
        raise MissingExtraError("the Ray engine", package="ray", extra="ray") from error
