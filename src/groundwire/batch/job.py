"""A job: everything that a process needs to do a unit of it, as values that travel between processes."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from groundwire import config
from groundwire.batch.parts import Parts
from groundwire.batch.shared import Ledger, SharedPace, SharedPurse
from groundwire.checker import Checker
from groundwire.core.errors import ConfigurationError
from groundwire.judge.judge import Judge
from groundwire.judge.memory import Memory, MemoryMode
from groundwire.judge.stores import InFile, Store

_OFF = MemoryMode.OFF
REMEMBERED = 100_000_000  # replies that a job keeps: all of them

Recipe = Mapping[str, Any] | Callable[[], Checker]
"""Settings as ``Checker.from_config`` takes them, or a function of a module that builds the checker."""


GUARD = (
    'a script that runs a batch needs `if __name__ == "__main__":` around what it does, for each of its '
    "processes begins by reading the script"
)


class Desk(Protocol):
    """What the processes of a job share where a judge is asked: its limits and what it replied."""

    def ledger(self) -> Any:
        """Whoever has ``take``, ``claim`` and ``add`` as a Ledger has."""
        ...

    def store(self) -> Store: ...


@dataclass(frozen=True, kw_only=True)
class FileDesk:
    """The desk of one machine: two SQLite files, which any number of processes open."""

    folder: str

    def ledger(self) -> Ledger:
        return Ledger(Path(self.folder) / "spent.sqlite")

    def store(self) -> Store:
        return InFile(Path(self.folder) / "replies.sqlite", REMEMBERED, read_only=False)


@dataclass(frozen=True, kw_only=True)
class Job:
    """How each unit is judged and where its part goes.

    ``threads`` is how many cores a process may keep busy. ``key`` tells it from every other job, also in the
    same process.
    """

    recipe: Recipe
    parts: Parts
    threads: int = 1
    desk: Desk
    key: str


def checker_of(recipe: Recipe, *, desk: Desk | None = None) -> Checker:
    """The checker of a recipe. Abstentions are returned whatever its policy says: here all rows are wanted.

    With a ``desk``, its judge keeps to limits that all processes share, and remembers what any was told.
    """
    checker = recipe() if callable(recipe) else Checker.from_config({**recipe, "on_abstention": "return"})
    if not isinstance(checker, Checker):
        raise ConfigurationError(f"the recipe must build a Checker, not {type(checker).__name__}")
    if desk is not None and isinstance(checker.judge, Judge):
        _share(checker.judge, desk, remember=not _remembers(recipe) and checker.judge.memory.mode is _OFF)
    return checker.alone()  # what its model can't judge now is judged again, and by no other detector


def recipe_of(given: str | Path | Recipe) -> Recipe:
    """The recipe that a detector's name, a settings file, settings or a function stand for.

    Raises ConfigurationError naming every mistake in settings, and for what can't travel between processes.
    """
    if isinstance(given, Checker) or not (callable(given) or isinstance(given, str | Path | Mapping)):
        raise ConfigurationError(
            f"a {type(given).__name__} can't travel between processes: give a detector's name, settings, or "
            "a function of a module that builds the checker"
        )
    if callable(given):
        return given
    if isinstance(given, str) and not Path(given).suffix:
        given = {"detector": given}
    return config.load(given).without_monitor()


def require_begun() -> None:
    """Raises ConfigurationError in a process that still reads the script by which it was started."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):  # as multiprocessing itself asks
        raise ConfigurationError(GUARD)


def loaded(job: Job) -> Checker:
    """The checker of a job in this process: built, and its model loaded, once."""
    with _LOCK:
        if job.key not in _CHECKERS:
            _CHECKERS.clear()  # a process has one job at a time
            checker = checker_of(job.recipe, desk=job.desk)
            if checker.detector.needs_encoder:
                _bound(job.threads)
            checker.detector.load()
            _CHECKERS[job.key] = checker
        return _CHECKERS[job.key]


def _bound(threads: int) -> None:
    """Have encoders keep so many cores busy: what runs beside this process has the others."""
    from groundwire.local.backend import embedded  # noqa: PLC0415 - numpy and more, for those who encode

    embedded().use_threads(threads)
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read by PyTorch, which is loaded after this if at all


def _share(judge: Judge, desk: Desk, *, remember: bool) -> None:
    ledger, limits = desk.ledger(), judge.limits
    judge.share(
        requests=SharedPace(ledger, "requests", limits.requests_per_minute),
        tokens=SharedPace(ledger, "tokens", limits.tokens_per_minute),
        allowance=SharedPurse(ledger, limits.budget),
    )
    if remember:
        judge.memory = Memory(store=desk.store())


def _remembers(recipe: Recipe) -> bool:
    """Whether its settings say how it remembers."""
    return not callable(recipe) and (recipe.get("judge") or {}).get("memory") is not None


_LOCK = threading.Lock()
_CHECKERS: dict[str, Checker] = {}
