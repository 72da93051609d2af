"""``groundwire check``: from files to verdicts, in order and in bounded memory."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from groundwire import config
from groundwire.checker import Checker
from groundwire.cli.arguments import add_command, add_judging, add_table, columns_of, count
from groundwire.cli.exits import ALL_GROUNDED, DONE, HALLUCINATED, INTERRUPTED, NOT_ALL_JUDGED
from groundwire.cli.outputs import Output, Unlabelled, build, tell_estimate
from groundwire.cli.settings import complete_settings, settings_of
from groundwire.core.errors import ConfigurationError
from groundwire.detectors.catalogue import METHODS
from groundwire.judge.dry_run import estimate
from groundwire.progress import track
from groundwire.report import Entry, Group, Tally
from groundwire.tables import Row, Table, TableError, read

_AT_ONCE = 32  # rows read ahead: the requests of so many go to a model together

_DESCRIPTION = """\
Judge a table of answers against the context each was given, one row an answer.

Tables are JSON lines, a JSON array, CSV, TSV or Parquet, each also gzip'd. Columns with the
usual names are found (question, query, user_input; context, contexts, retrieved_contexts,
documents; answer, response, output; ...). A context is a text, a list of texts, or a list of
objects with a text, page_content or content, and perhaps an id, metadata and a score.
A row that can't be read is named by its line and counts as not judged; the rest is judged.
"""
_EXAMPLES = """\
examples:
  groundwire check runs.jsonl                what needs a look in full, the rest in a line each
  groundwire check runs.csv --answer reply --context docs --question asked
  groundwire check runs.jsonl.gz --html report.html --quiet
  groundwire check runs.parquet --jsonl > verdicts.jsonl
  cat runs.jsonl | groundwire check - --json | jq .summary
  groundwire check runs.jsonl --detector judge --model bedrock:MODEL_ID

exit codes:
  0    every answer is grounded
  1    at least one answer is hallucinated: its score reaches the threshold
  2    could not run: options, settings or a file are wrong, or a file holds no row
  3    nothing is hallucinated, but at least one row could not be judged
  130  stopped by Ctrl-C; what was printed until then is complete
  141  whoever read the output went away

1 wins over 3, so a pipeline that fails on 1 alone lets unjudged rows pass; failing on any code but 0
does not. Full documentation: docs/cli.md
"""


def add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser of the whole."""
    parser = add_command(
        commands,
        "check",
        check,
        about="judge a table of answers",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a table, or - for standard input")
    table = add_table(parser)
    table.add_argument("--limit", type=count, metavar="N", help="judge the first N rows")
    add_judging(parser)
    output = parser.add_argument_group("output")
    kinds = output.add_mutually_exclusive_group()
    for kind, what in (("json", "print one JSON object"), ("jsonl", "print one JSON object a row")):
        kinds.add_argument(f"--{kind}", dest="output", action="store_const", const=kind, help=what)
    output.add_argument(
        "--html", metavar="PATH", help="write a self-contained page too (needs groundwire[report])"
    )
    output.add_argument("--all", action="store_true", help="show grounded answers in full too")
    output.add_argument("-q", "--quiet", action="store_true", help="print no rows, only the summary")


def check(given: argparse.Namespace) -> int:
    """Judge every row of every file and return the exit code.

    Whatever can be wrong with options, settings and columns is raised before the first row is judged.
    """
    if given.files.count("-") > 1:
        raise ConfigurationError("standard input (-) can be read only once")
    named = {name: getattr(given, name) for name in ("detector", "model", "threshold")}
    settings = (settings_of if given.dry_run else complete_settings)(given.config, **named)
    checker = None if given.dry_run else Checker.from_config(settings.without_monitor())
    with contextlib.ExitStack() as stack:
        tables = [_open(name, given, stack) for name in given.files]
        rows = itertools.islice(itertools.chain.from_iterable(table.rows for table in tables), given.limit)
        if checker is None:
            return _dry_run(settings, rows, json=given.output is not None)
        return _run(checker, rows, build(given, checker.detector.name, tables), progress=_progress(given))


def _dry_run(settings: config.Settings, rows: Iterable[Row], *, json: bool) -> int:
    """Tell what judging these rows would take at least; unreadable rows are left out.

    No model is asked, and none is built: that would need its packages and credentials.
    """
    detector = settings.build_detector().beside(settings.judge)
    settings.build_grading(detector.grading)
    interactions = track(row.interaction for row in rows if row.interaction is not None)
    prices = settings.judge.priced() if settings.judge else {}
    told = estimate(detector, interactions, prices=prices)
    tell_estimate(told, method=METHODS.get(detector.name), json=json)
    return DONE


def _progress(given: argparse.Namespace) -> bool:
    """Whether to draw it: rows that appear on the same terminal show it themselves."""
    return bool(given.quiet or given.output or not sys.stdout.isatty())


def judged(checker: Checker, rows: Iterable[Row]) -> Iterator[tuple[Row, Entry]]:
    """Each row with its outcome, in order. A row that can't be read is an abstention that says why."""
    for group in _grouped(rows):
        outcomes = checker.check_many(row.interaction for row in group if row.interaction is not None)
        for row in group:
            outcome = row.unreadable() if row.interaction is None else next(outcomes)
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


def _run(checker: Checker, rows: Iterable[Row], output: Output, *, progress: bool) -> int:
    tally, started, complete = Tally(), time.perf_counter(), False
    unlabelled = Unlabelled()
    entries = judged(checker, rows)
    try:
        for row, entry in track(entries) if progress else entries:
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
    if not complete:
        return INTERRUPTED
    if tally[Group.HALLUCINATED]:
        return HALLUCINATED
    return NOT_ALL_JUDGED if tally[Group.NOT_JUDGED] else ALL_GROUNDED


def _open(name: str, given: argparse.Namespace, stack: contextlib.ExitStack) -> Table:
    shown = "stdin" if name == "-" else name
    stream = sys.stdin.buffer if name == "-" else Path(name).open("rb")  # noqa: SIM115 - the stack closes it
    stack.enter_context(stream)
    table = _table(stream, shown, given)
    if name == "-" or not Path(name).is_file():  # a pipe, which can be read only once
        return table
    stream.close()  # there may be more files than a process may have open
    return replace(table, rows=_rows(name, given))


def _rows(name: str, given: argparse.Namespace) -> Iterator[Row]:
    with Path(name).open("rb") as stream:
        yield from _table(stream, name, given).rows


def _table(stream: BinaryIO, name: str, given: argparse.Namespace) -> Table:
    table = read(stream, name=name, columns=columns_of(given), kind=given.format)
    if table.empty:
        raise TableError(f"{name}: nothing to check: it holds no row")
    return table
