"""One unit, from its rows to its part. This is what every engine has done, wherever it has it done."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from groundwire.batch import columns
from groundwire.batch.job import Job, loaded
from groundwire.batch.parts import Parts
from groundwire.batch.places import opened
from groundwire.batch.plan import Input, Unit
from groundwire.batch.stats import Counting, Stats
from groundwire.checker import Checker
from groundwire.core.errors import ConfigurationError, EncoderError, MissingExtraError
from groundwire.core.secrets import without_secrets
from groundwire.core.verdict import AbstentionReason, Outcome
from groundwire.host.judging import judged as judged_one
from groundwire.judge.judge import Judge
from groundwire.policy import AbstainedError
from groundwire.tables import Row, TableError, rows_of
from groundwire.tables.pieces import read_piece

AT_ONCE = 32  # rows whose requests go out together
# A file that may not grow is as a full disk is to every unit. Windows has no quotas.
_NO_ROOM = {errno.ENOSPC, errno.EROFS, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_UNREADABLE = str(AbstentionReason.UNREADABLE_REPLY)


@dataclass(frozen=True, kw_only=True)
class Task:
    """A unit and the file that it is a piece of: what travels to a process.

    ``again`` are the reasons of abstentions for which a row of a part that is there is judged once more; None
    where the whole unit is judged.
    """

    unit: Unit
    input: Input
    again: frozenset[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Done:
    """What became of a unit: what was counted in it, or why it has no part.

    ``stop`` says why no other unit would fare better.
    """

    unit: int
    stats: Stats | None = None
    failure: str = ""
    stop: str = ""


def do(job: Job, task: Task) -> Done:
    """Judge a unit and write its part. What is wrong with its file, or with the place of parts, is told.

    Raises ConfigurationError, EncoderError or MissingExtraError where nothing could be judged at all.
    """
    try:
        checker = loaded(job)
        stats = _again(job, task, checker) if task.again is not None else _anew(job, task, checker)
    except (ConfigurationError, EncoderError, MissingExtraError):
        raise
    except (TableError, OSError) as error:
        if why := _no_room(error):
            stop = f"outcomes can't be written: {why}"
            return Done(unit=task.unit.number, failure=f"{task.input.source.shown}: its {stop}", stop=stop)
        return Done(unit=task.unit.number, failure=_said(task, error))
    return Done(unit=task.unit.number, stats=stats)


def _anew(job: Job, task: Task, checker: Checker) -> Stats:
    counting, started, unlabelled = Counting(), time.perf_counter(), 0

    def cells() -> Iterator[Mapping[str, Any]]:
        nonlocal unlabelled
        for row, outcome in judged(checker, rows(task)):
            counting.add(outcome)
            unlabelled += bool(row.unlabelled)
            yield columns.of_row(row, outcome, full=job.parts.full)

    def stats() -> Stats:
        return replace(counting.stats(time.perf_counter() - started), unlabelled=unlabelled)

    return job.parts.write(task.unit.number, cells(), stats)


def _again(job: Job, task: Task, checker: Checker) -> Stats:
    """The part once more, its rows that abstained for one of the reasons judged again, the others kept."""
    number, again = task.unit.number, task.again or frozenset()
    before = job.parts.done([number])[number]
    old = list(job.parts.rows(number))
    read = _again_of(old, task)
    counting, started = Counting(), time.perf_counter()
    unread = [n for n in read if old[n]["abstention"] == _UNREADABLE]
    with _asked_anew(checker):
        anew = dict(zip(unread, judged(checker, (read[n] for n in unread)), strict=True))
    others = judged(checker, (row for n, row in read.items() if n not in anew))

    def cells() -> Iterator[Mapping[str, Any]]:
        for n, kept in enumerate(old):
            if kept["abstention"] not in again:
                counting.add_cells(kept)
                yield kept
                continue
            row, outcome = anew[n] if n in anew else next(others)
            counting.add(outcome)
            yield columns.of_row(row, outcome, full=job.parts.full)

    def stats() -> Stats:
        spent = replace(before, rows=0, groups={}, abstentions={}, bins=Stats().bins, seconds=0.0)
        return spent + counting.stats(before.seconds + time.perf_counter() - started)

    return job.parts.write(number, cells(), stats)


def judged(checker: Checker, given: Iterable[Row]) -> Iterator[tuple[Row, Outcome]]:
    """Each row with its outcome, in order, none left out. What breaks a detector is its row's abstention."""
    source = iter(given)
    while group := list(itertools.islice(source, AT_ONCE)):
        outcomes = iter(_outcomes(checker, [row for row in group if row.interaction is not None]))
        for row in group:
            yield row, row.unreadable() if row.interaction is None else next(outcomes)


def _outcomes(checker: Checker, group: list[Row]) -> list[Outcome]:
    interactions = [row.interaction for row in group if row.interaction is not None]
    outcomes: list[Outcome] = []
    try:
        for outcome in checker.check_many(interactions, batch=AT_ONCE):
            outcomes.append(outcome)  # noqa: PERF402 - those before the one that raises are kept
    except (ConfigurationError, EncoderError, MissingExtraError):
        raise
    except Exception:
        # One of them breaks the detector, or its policy raises: which one, only judging each alone can tell.
        for interaction in interactions[len(outcomes) :]:
            try:
                outcomes.append(judged_one(checker, interaction))
            except AbstainedError as error:
                outcomes.append(error.abstention)
    return outcomes


def rows(task: Task) -> Iterator[Row]:
    """The rows of a unit, as its file has them."""
    known = task.input
    with opened(known.source.name) as stream:
        records = read_piece(stream, task.unit.piece, known.form, columns=known.candidates)
        yield from rows_of(records, table=known.source.shown, candidates=known.candidates)


def rows_again(parts: Parts, task: Task) -> Iterable[Row]:
    """The rows of a unit that are judged once more, as its file has them."""
    return _again_of(parts.rows(task.unit.number), task).values()


def _again_of(old: Iterable[Mapping[str, Any]], task: Task) -> dict[int, Row]:
    """The rows whose outcome in a part is one to try again, by where they stand in it."""
    again = task.again or frozenset()
    chosen = {n for n, cells in enumerate(old) if cells["abstention"] in again}
    read = {n: row for n, row in enumerate(rows(task)) if n in chosen}
    if len(read) != len(chosen):
        raise TableError("it has fewer rows than when it was judged")
    return read


@contextlib.contextmanager
def _asked_anew(checker: Checker) -> Iterator[None]:
    """For as long as it lasts, no reply of before is recalled: it would be the one that can't be read."""
    judge = checker.judge
    if not isinstance(judge, Judge):
        yield
        return
    kept, judge.memory = judge.memory, judge.memory.afresh()
    try:
        yield
    finally:
        judge.memory = kept


def _no_room(error: Exception) -> str:
    """Why nothing can be written any more; "" where that is not what went wrong."""
    number = getattr(error, "errno", None)
    return os.strerror(number).lower() if number in _NO_ROOM else ""


def _said(task: Task, error: Exception) -> str:
    what: object = error
    if isinstance(error, OSError) and error.strerror:
        what = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return f"{task.input.source.shown}: {without_secrets(str(what))}"
