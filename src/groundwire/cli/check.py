"""``groundwire check``: from files to verdicts, in order and in bounded memory."""

from __future__ import annotations

import contextlib
import itertools
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from groundwire import config
from groundwire.checker import Checker
from groundwire.cli.outputs import Output, Unlabelled, build, tell_estimate
from groundwire.core.errors import ConfigurationError
from groundwire.core.verdict import Abstention, AbstentionReason
from groundwire.detectors.catalogue import METHODS
from groundwire.judge.dry_run import estimate
from groundwire.progress import track
from groundwire.report import Entry, Group, Tally
from groundwire.tables import Columns, Format, Row, Table, TableError, read

ALL_GROUNDED = 0
HALLUCINATED = 1
COULD_NOT_RUN = 2
NOT_ALL_JUDGED = 3
INTERRUPTED = 130

_AT_ONCE = 32  # rows read ahead: the requests of so many go to a model together


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What was asked for on the command line, under the names of its options."""

    files: tuple[str, ...]
    kind: Format | None = None
    columns: Columns = field(default_factory=Columns)
    limit: int | None = None
    threshold: float | None = None
    detector: str | None = None
    model: str | None = None
    config: str | None = None
    dry_run: bool = False
    output: str = "text"
    html: str | None = None
    show_all: bool = False
    quiet: bool = False


def check(options: CheckOptions) -> int:
    """Judge every row of every file and return the exit code.

    Whatever can be wrong with options, settings and columns is raised before the first row is judged.
    """
    checker = None if options.dry_run else build_checker(options)
    with contextlib.ExitStack() as stack:
        tables = [_open(name, options, stack) for name in _each_once(options.files)]
        if checker is None:
            return dry_run(options, tables)
        output = build(options, checker.detector.name, tables)
        return _run(options, checker, tables, output)


def dry_run(options: CheckOptions, tables: list[Table]) -> int:
    """Tell what judging these rows would take at least; unreadable rows are left out.

    No model is asked, and none is built: that would need its packages and credentials.
    """
    settings = settings_of(options)
    detector = settings.build_detector().beside(settings.judge)
    settings.build_grading(detector.grading)
    rows = itertools.islice(itertools.chain.from_iterable(table.rows for table in tables), options.limit)
    interactions = track(row.interaction for row in rows if row.interaction is not None)
    prices = settings.judge.priced() if settings.judge else {}
    told = estimate(detector, interactions, prices=prices)
    tell_estimate(told, method=METHODS.get(detector.name), json=options.output != "text")
    return ALL_GROUNDED


def build_checker(options: CheckOptions) -> Checker:
    """The checker of the settings file, with the options in place of what it says."""
    return Checker.from_config(complete_settings(options).model_dump(**config.JUDGING))


def complete_settings(options: CheckOptions) -> config.Settings:
    """The settings that a checker can be built from. Raises ConfigurationError where a model isn't named."""
    settings = settings_of(options)
    detector = settings.build_detector()
    if missing := detector.lacking(settings.judge):
        raise ConfigurationError(
            *(
                f"the {detector.name!r} detector asks {kind}, and none is named: {_NAMED[kind]}"
                for kind in missing
            )
        )
    return settings


_NAMED = {
    "a language model": "--model bedrock:MODEL_ID, or a judge in the file of --config",
    "an embedding model": "set judge.embeddings in the file of --config",
}


def settings_of(options: CheckOptions) -> config.Settings:
    """The settings of the file, with the options in place of what it says."""
    settings = config.load(options.config) if options.config else config.Settings()
    given: dict[str, Any] = settings.model_dump(**config.JUDGING)
    # What can't be judged is told by the exit code; raising would hide the rows that follow.
    given["on_abstention"] = "return"
    if options.detector or (options.model and not options.config):
        given["detector"] = options.detector or "judge"
    if options.threshold is not None:
        given["threshold"] = options.threshold
    if options.model:
        given["judge"] = {**(given.get("judge") or {}), "model": options.model}
        if not (detector := config.load(given).build_detector()).takes_model:
            raise ConfigurationError(
                f"--model has nothing to answer: the {detector.name!r} detector asks no model; "
                "use --detector judge"
            )
    return config.load(given)


def judged(checker: Checker, rows: Iterable[Row]) -> Iterator[tuple[Row, Entry]]:
    """Each row with its outcome, in order. A row that can't be read is an abstention that says why."""
    for group in _grouped(rows):
        outcomes = checker.check_many(row.interaction for row in group if row.interaction is not None)
        for row in group:
            outcome = _unreadable(row) if row.interaction is None else next(outcomes)
            yield row, Entry(interaction=row.interaction, outcome=outcome, name=row.id, label=row.label)


def _grouped(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows in groups of ``_AT_ONCE``; what a file still holds before it breaks off is one, too."""
    group: list[Row] = []
    try:
        for row in rows:
            group.append(row)
            if len(group) == _AT_ONCE:
                yield group
                group = []
    except TableError:
        yield group
        raise
    yield group


def exit_code(tally: Tally) -> int:
    """1 when anything is hallucinated, else 3 when anything could not be judged, else 0."""
    if tally[Group.HALLUCINATED]:
        return HALLUCINATED
    return NOT_ALL_JUDGED if tally[Group.NOT_JUDGED] else ALL_GROUNDED


def _run(options: CheckOptions, checker: Checker, tables: list[Table], output: Output) -> int:
    tally, started, complete = Tally(), time.perf_counter(), False
    unlabelled = Unlabelled()
    rows = itertools.islice(itertools.chain.from_iterable(table.rows for table in tables), options.limit)
    entries = judged(checker, rows)
    # Rows that appear on the same terminal show progress themselves.
    if options.quiet or options.output != "text" or not sys.stdout.isatty():
        entries = track(entries)
    try:
        for row, entry in entries:
            tally.add(entry)
            output.add(row, entry)
            unlabelled.add(row)
        complete = True
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:
        raise  # nobody is left to read a summary
    except BaseException:
        # What was judged until then is kept, and says that it isn't all.
        if tally.answers:
            output.finish(tally, seconds=time.perf_counter() - started, complete=False)
        raise
    output.finish(tally, seconds=time.perf_counter() - started, complete=complete)
    unlabelled.tell()
    return exit_code(tally) if complete else INTERRUPTED


def _unreadable(row: Row) -> Abstention:
    return Abstention(
        why=AbstentionReason.UNREADABLE_INPUT, detail=f"line {row.line}: {row.problem}", id=row.id
    )


def _each_once(files: tuple[str, ...]) -> tuple[str, ...]:
    if files.count("-") > 1:
        raise ConfigurationError("standard input (-) can be read only once")
    return files


def _open(name: str, options: CheckOptions, stack: contextlib.ExitStack) -> Table:
    shown = "stdin" if name == "-" else name
    stream = sys.stdin.buffer if name == "-" else Path(name).open("rb")  # noqa: SIM115 - the stack closes it
    stack.enter_context(stream)
    table = read(stream, name=shown, columns=options.columns, kind=options.kind)
    if table.empty:
        raise TableError(f"{shown}: nothing to check: it holds no row")
    if name == "-" or not Path(name).is_file():  # a pipe, which can be read only once
        return table
    stream.close()  # there may be more files than a process may have open
    return replace(table, rows=_rows(name, options))


def _rows(name: str, options: CheckOptions) -> Iterator[Row]:
    with Path(name).open("rb") as stream:
        yield from read(stream, name=name, columns=options.columns, kind=options.kind).rows
