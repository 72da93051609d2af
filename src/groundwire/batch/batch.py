"""A batch: a plan, what is done of it, and an engine that does the rest. It may be stopped at any moment."""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from groundwire.batch import plan as plans
from groundwire.batch.folders import STATE, LocalFolder, folder
from groundwire.batch.forecast import Forecast, forecast
from groundwire.batch.job import Desk, Job, Recipe, checker_of, recipe_of, require_begun
from groundwire.batch.parts import BESIDE, FORMATS, Parts, is_part
from groundwire.batch.places import find, shown
from groundwire.batch.plan import Plan, Unit
from groundwire.batch.stats import Stats, total
from groundwire.batch.summary import Summary, summary_of, write
from groundwire.batch.work import Done, Task, rows_again
from groundwire.core import verdict
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.plain import plain
from groundwire.core.verdict import AbstentionReason
from groundwire.identity import identity, weights
from groundwire.judge.judge import Judge
from groundwire.tables import Columns, Format

OVER_BUDGET = frozenset({str(AbstentionReason.OVER_BUDGET)})
PASSING = frozenset(map(str, verdict.PASSING))
_SUMMARY = (f"{STATE}/summary.json", f"{STATE}/summary.html")
_WRITTEN = ("", STATE, BESIDE)  # folders of the outcomes that are written to


class Engine(Protocol):
    """Whoever has units done: ``Local`` or ``Ray``."""

    def opened(self, desk_folder: str) -> contextlib.AbstractContextManager[Desk]: ...

    def run(self, job: Job, tasks: Iterator[Task]) -> Generator[Done, None, None]: ...


class Batch:
    """Tables to judge, and the folder for the outcomes: a part for each unit, one row for each row.

    ``inputs`` are paths, folders, globs and fsspec URLs, ``out`` a folder or such a URL. ``checker`` is a
    detector's name, settings as ``Checker.from_config`` takes them, or a function of a module that builds a
    checker. ``to`` is the format of parts, by default that of the first input. ``unit_rows`` is how many rows
    make a unit, ``full`` adds the whole outcome to every row. ``state`` is a folder of this machine for what
    a judge replied and spent; by default it is beside the outcomes.

    A folder that was begun is gone on with: it must have been begun with the same input and the same checker,
    else ConfigurationError says in what they differ. ``overwrite`` begins anew. Used in a ``with`` statement,
    for the time of which the folder is nobody else's.
    """

    def __init__(
        self,
        inputs: Iterable[str],
        out: str,
        *,
        checker: str | Path | Recipe,
        columns: Columns | None = None,
        kind: Format | None = None,
        to: Format | str | None = None,
        unit_rows: int | None = None,
        full: bool = False,
        overwrite: bool = False,
        state: str | None = None,
    ) -> None:
        if unit_rows is not None and (type(unit_rows) is not int or unit_rows < 1):
            raise ConfigurationError(f"unit_rows: expected a whole number from 1 on, not {unit_rows!r}")
        if to is not None and to not in FORMATS:
            raise ConfigurationError(f"to: expected parquet, jsonl or csv, not {str(to)!r}")
        require_begun()
        self.recipe = recipe_of(checker)
        self.checker = checker_of(self.recipe)
        self.folder = folder(str(out))
        self._inputs, self._columns, self._kind = list(map(str, inputs)), columns, kind
        self._to, self._unit_rows, self._full = to, unit_rows, full
        self._overwrite, self._state = overwrite, state
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        sources = find(self._inputs, outside=self.folder.name)
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.folder.claimed())
            self.plan = self._planned(sources)
            self.parts = Parts(
                self.folder,
                form=Format(self.plan.made_by["written as"]),
                fingerprint=self.plan.fingerprint,
                full=self._full,
            )
            self.folder.sweep(*_WRITTEN)
            self.done = self.parts.done(unit.number for unit in self.plan.units)
            self._desk_folder = stack.enter_context(self._place_of_desk())
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    @property
    def left(self) -> list[Unit]:
        """The units that have no part yet."""
        return [unit for unit in self.plan.units if unit.number not in self.done]

    def forecast(self, *, retry_errors: bool = False) -> Forecast:
        """What ``run`` would take of the judge's models. None of them is asked."""
        judge, reasons = self.checker.judge, _again(retry_errors=retry_errors)
        again = {number: _abstained(stats, reasons) for number, stats in self.done.items()}
        return forecast(
            self.plan,
            [unit for unit in self.plan.units if again.get(unit.number) != 0],
            self.checker.detector,
            prices=getattr(judge, "priced", {}),
            limits=getattr(judge, "limits", None),
            again=again,
            read_again=lambda unit: rows_again(self.parts, self._task(unit, again=reasons)),
        )

    def run(
        self,
        engine: Engine,
        *,
        retry_errors: bool = False,
        on_done: Callable[[Done], None] | None = None,
    ) -> Summary:
        """Do what is left, and write the summary. ``on_done`` hears of every unit as it is done.

        ``retry_errors`` judges rows again that could not be judged for a reason that may have passed. Where
        the judge's budget is reached, nothing further is begun; a later run with a larger one goes on. The
        same where no outcome can be written, for the disk is full. Raises what makes judging impossible,
        after the summary of what is done until then is written.
        """
        failures: dict[int, str] = {}
        taken: dict[int, Stats] = {}
        stopped: list[str] = []
        started, ended = time.perf_counter(), False
        self.folder.delete(_SUMMARY)  # that of an earlier run would be taken for this one's
        try:
            with engine.opened(self._desk_folder) as desk:
                job = Job(
                    recipe=self.recipe,
                    parts=self.parts,
                    desk=desk,
                    key=uuid.uuid4().hex,  # limits may be others than in an earlier run of this process
                )
                tasks = self._tasks(desk, _again(retry_errors=retry_errors), stopped)
                with contextlib.closing(engine.run(job, tasks)) as finished:
                    for one in finished:
                        if one.stats is None:
                            failures[one.unit] = one.failure
                            stopped += [one.stop] if one.stop else []
                        else:
                            self.done[one.unit] = taken[one.unit] = one.stats
                        if on_done is not None:
                            on_done(one)
            ended = True
        finally:
            self.folder.sweep(*_WRITTEN)
            if not ended:  # a part may be there that nobody has told of
                self.done |= self.parts.done(unit.number for unit in self.left)
            summary = summary_of(
                self.plan,
                self.done,
                now=total(taken.values()),
                seconds=time.perf_counter() - started,
                failures=failures,
                stopped=stopped[0] if stopped else "" if ended else "it was interrupted",
            )
            # Where there is no room for it, what it would say is returned.
            with contextlib.suppress(OSError) if stopped else contextlib.nullcontext():
                for name, content in zip(_SUMMARY, write(summary), strict=False):
                    self.folder.write(name, content)
                    summary = replace(summary, written=(*summary.written, name))
        return summary

    def _tasks(self, desk: Desk, again: frozenset[str], stopped: list[str]) -> Iterator[Task]:
        """The units to do, until the budget is reached or the disk is full: the rest is not begun."""
        judge = self.checker.judge
        budget = judge.limits.budget if isinstance(judge, Judge) else None
        ledger = desk.ledger() if budget else None
        for unit in self.plan.units:
            if stopped:
                return
            known = self.done.get(unit.number)
            if known is not None and not _abstained(known, again):
                continue
            if budget and ledger and (shortage := budget.shortage(ledger.spent(), calls=1)):
                stopped.append(f"the job's budget is reached: {shortage}")
                return
            yield self._task(unit, again=None if known is None else again)

    def _task(self, unit: Unit, *, again: frozenset[str] | None) -> Task:
        return Task(unit=unit, input=self.plan.inputs[unit.input], again=again)

    def _planned(self, sources: list[Any]) -> Plan:
        made_by = self._made_by()
        old = plans.kept(self.folder) if not self._overwrite else None
        if old is None:
            self._clear()
            plan = plans.make(
                sources,
                made_by=made_by,
                columns=self._columns,
                kind=self._kind,
                unit_rows=self._unit_rows
                or unit_rows_for(self.checker.detector, judged=isinstance(self.checker.judge, Judge)),
            )
            if plan.made_by["written as"] is None:
                plan = self._written_as_first(plan)
            self.folder.write(plans.PLACE, plan.to_json())
            return plan
        if made_by["written as"] is None:
            made_by = {**made_by, "written as": old.made_by["written as"]}
        if told := plans.differences(old, made_by, sources):
            raise ConfigurationError(
                f"{shown(self.folder.name)!r} holds the outcomes of another run: {'; '.join(told)}. Name "
                "another folder, or --overwrite it to begin anew"
            )
        return plans.bound(old, sources)

    def _made_by(self) -> dict[str, Any]:
        """What decides about the outcomes and their form, as JSON."""
        settings = {} if callable(self.recipe) else self.recipe.get("judge") or {}
        models = {key: settings.get(key) for key in ("models", "embeddings", "parameters")}
        columns = asdict(self._columns) if self._columns else {}
        made_by = {
            **identity(self.checker),
            "weights": weights(self.checker.detector),
            # Hashed: a parameter of a model may be a key.
            "judge": _digest(models) if any(models.values()) else None,
            "columns": {part: name for part, name in columns.items() if name is not None},
            "format": self._kind and str(self._kind),
            "written as": self._to and str(self._to),
            "full": self._full,
        }
        plain: dict[str, Any] = json.loads(json.dumps(made_by))
        return plain

    def _written_as_first(self, plan: Plan) -> Plan:
        first = plan.inputs[0].form.kind
        form = first if first in FORMATS else Format.CSV if first is Format.TSV else Format.JSONL
        return replace(plan, made_by={**plan.made_by, "written as": str(form)})

    def _clear(self) -> None:
        """Make room for a new plan. Only what a batch has written is deleted, and only when told."""
        there = self.folder.names() - {STATE}
        ours = set(filter(is_part, there))
        others = there - ours
        if not self._overwrite and (ours or others):
            raise ConfigurationError(
                f"{shown(self.folder.name)!r} is not empty, and no batch was begun in it: name another "
                "folder, or --overwrite to write beside what is there"
            )
        self.folder.delete(ours)
        self.folder.delete(f"{BESIDE}/{name}" for name in self.folder.names(BESIDE))
        self.folder.delete((*_SUMMARY, plans.PLACE))
        if isinstance(self.folder, LocalFolder):
            self.folder.delete(f"{STATE}/spent.sqlite{end}" for end in ("", "-wal", "-shm"))

    @contextlib.contextmanager
    def _place_of_desk(self) -> Iterator[str]:
        if self._state is not None:
            yield self._state
        elif isinstance(self.folder, LocalFolder):
            yield str((self.folder.path / STATE).absolute())
        else:
            with tempfile.TemporaryDirectory(prefix="groundwire-") as place:
                yield place


def unit_rows_for(detector: Detector, *, judged: bool) -> int:
    """Units that take minutes: few of them are lost with a process, and beginning one costs nothing.

    ``judged`` says that there is a judge to ask.
    """
    if detector.needs_judge or (detector.takes_model and judged):
        return 200
    return 1_000 if detector.needs_encoder else 10_000


def _again(*, retry_errors: bool) -> frozenset[str]:
    return PASSING if retry_errors else OVER_BUDGET


def _abstained(stats: Stats, reasons: frozenset[str]) -> int:
    """How many rows could not be judged for one of these reasons."""
    return sum(count for why, count in stats.abstentions.items() if why in reasons)


def _digest(value: Mapping[str, Any]) -> str:
    whole = json.dumps(plain(value), sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()[:16]
