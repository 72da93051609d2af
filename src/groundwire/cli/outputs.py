"""The forms in which ``groundwire check`` gives its results: text, JSON, JSON lines and an HTML page."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn, Protocol

from rich.console import Console
from rich.text import Text

from groundwire import __version__
from groundwire.cli.plain import PlainStream
from groundwire.cli.writable import require_writable
from groundwire.core import wire
from groundwire.core.plain import plain
from groundwire.detectors.catalogue import Method
from groundwire.judge.dry_run import Estimate
from groundwire.report import Entry, Group, Tally, terminal
from groundwire.report.visible import escaped, visible
from groundwire.tables import Row, Table

_PIPED_WIDTH = 100


class Output(Protocol):
    """Takes each row as it is judged, then the whole. ``complete`` is False when it was cut short."""

    def add(self, row: Row, entry: Entry) -> None: ...

    def finish(self, tally: Tally, *, seconds: float, complete: bool) -> None: ...


def build(given: argparse.Namespace, detector: str, tables: Sequence[Table]) -> Output:
    """The outputs that were asked for. Raises before anything is judged if one of them can't be made."""
    page = [HtmlPage(given, detector)] if given.html else []
    if given.output == "json":
        return All(JsonObject(quiet=given.quiet, tables=tables), *page)
    if given.output == "jsonl":
        return All(JsonLines(quiet=given.quiet, detector=detector), *page)
    return All(Blocks(given, detector, tables), *page)


class All:
    """Several outputs as one."""

    def __init__(self, *outputs: Output) -> None:
        self._outputs = outputs

    def add(self, row: Row, entry: Entry) -> None:
        for output in self._outputs:
            output.add(row, entry)

    def finish(self, tally: Tally, *, seconds: float, complete: bool) -> None:
        for output in self._outputs:
            output.finish(tally, seconds=seconds, complete=complete)


class Blocks:
    """For people: what needs a look in full, the rest in a line each, and a summary."""

    def __init__(self, given: argparse.Namespace, detector: str, tables: Sequence[Table]) -> None:
        self._console = console(stderr=False)
        self._given, self._detector, self._tables = given, detector, tables

    def add(self, row: Row, entry: Entry) -> None:
        del row
        if self._given.quiet:
            return
        full = self._given.all
        if full or entry.group is not Group.GROUNDED:
            self._console.print(terminal.Block(entry=entry, full=full))
        else:
            self._console.print(terminal.Line(entry=entry))

    def finish(self, tally: Tally, *, seconds: float, complete: bool) -> None:
        if not self._given.quiet:
            self._console.rule(style="dim")
        self._console.print(terminal.summary(tally, seconds=seconds, detector=self._detector))
        if not complete:
            self._console.print("Stopped before the end: these are not all rows.", style="bold yellow")
        elif not self._given.quiet and (columns := _columns(self._tables)):
            self._console.print(f"columns: {columns}", style="dim")


class JsonObject:
    """One JSON object, written as rows are judged: ``results``, then ``summary``."""

    def __init__(self, *, quiet: bool, tables: Sequence[Table]) -> None:
        self._quiet, self._tables, self._any = quiet, tables, False

    def add(self, row: Row, entry: Entry) -> None:
        if self._quiet:
            return
        sys.stdout.write(("," if self._any else self._opening()) + "\n" + _json(result(row, entry)))
        self._any = True

    def finish(self, tally: Tally, *, seconds: float, complete: bool) -> None:
        whole = {
            **tally.to_dict(),
            "seconds": round(seconds, 3),
            "complete": complete,
            "columns": {table.name: dict(table.columns) for table in self._tables},
        }
        sys.stdout.write(("" if self._any else self._opening()) + f'\n], "summary": {_json(whole)}}}\n')

    def _opening(self) -> str:
        return f'{{"version": {wire.VERSION}, "groundwire": {_json(__version__)}, "results": ['


class JsonLines:
    """One JSON object a line on stdout; the summary goes to stderr."""

    def __init__(self, *, quiet: bool, detector: str) -> None:
        self._quiet, self._detector = quiet, detector

    def add(self, row: Row, entry: Entry) -> None:
        sys.stdout.write(_json(result(row, entry)) + "\n")
        sys.stdout.flush()  # a line is whole, and is there, whatever becomes of the process

    def finish(self, tally: Tally, *, seconds: float, complete: bool) -> None:
        if self._quiet and complete:
            return
        errors = console(stderr=True)
        errors.print(terminal.summary(tally, seconds=seconds, detector=self._detector))
        if not complete:
            errors.print("Stopped before the end: these are not all rows.", style="bold yellow")


class HtmlPage:
    """A page of all rows, written at the end. It holds every row in memory until then."""

    def __init__(self, given: argparse.Namespace, detector: str) -> None:
        from groundwire.report import page  # noqa: PLC0415 - needs the extra 'report', and says so when missing

        self._page = page
        self._path = Path(given.html or "")
        require_writable("--html", str(self._path), read=[*given.files, given.config])
        self._given, self._detector = given, detector
        self._entries: list[Entry] = []

    def add(self, row: Row, entry: Entry) -> None:
        del row
        self._entries.append(entry)

    def finish(self, tally: Tally, *, seconds: float, complete: bool) -> None:
        del tally, seconds
        files = ", ".join("stdin" if name == "-" else Path(name).name for name in self._given.files)
        when = datetime.now().astimezone().strftime("%d %B %Y, %H:%M")
        partly = "" if complete else ", stopped before the end"
        self._page.write(self._path, self._entries, title=files, note=f"{when}{partly}")
        if not self._given.quiet:
            console(stderr=True).print(f"HTML report: {self._path}", soft_wrap=True)


def tell_estimate(estimate: Estimate, *, method: Method | None, json: bool) -> None:
    """What judging would take at least, and the ``method``'s cost for one answer; or all as a JSON object."""
    if json:
        sys.stdout.write(_json({"dry_run": asdict(estimate)}) + "\n")
        return
    lines = [f"{estimate.answers:,} answers would take at least:"]
    if estimate.calls or not estimate.embedding_calls:
        lines.append(f"  {estimate.calls:,} calls of the model")
        lines.append(
            f"  {estimate.input_tokens:,} tokens to it, {estimate.output_tokens:,} from it (estimated)"
        )
    if estimate.embedding_calls:
        calls, tokens = estimate.embedding_calls, estimate.embedding_tokens
        lines.append(f"  {calls:,} calls of the embedding model, {tokens:,} tokens to it (estimated)")
    if estimate.calls:
        money = "unknown: give a price for the model" if estimate.cost is None else f"{estimate.cost:,.4f}"
        lines.append(f"  cost: {money}")
        lines += _beyond(estimate, method)
    console(stderr=False).print("\n".join([*lines, "Nothing was asked."]), soft_wrap=True)


def _beyond(estimate: Estimate, method: Method | None) -> list[str]:
    """What comes on top of the calls that could be counted, as far as the method's shape tells it."""
    if method is None:
        return ["What it asks after a first reply, and what it asks twice, is not counted."]
    lines = [f"The method takes {method.cost} for an answer."]
    if (whole := method.calls * estimate.asking) > estimate.calls:
        lines.append(f"So with what it asks after a first reply it is about {whole:,} calls in all.")
        lines.append(
            "Tokens and cost above are those of the first calls alone; what is asked twice is extra."
        )
    else:
        lines.append("What it asks twice is not counted.")
    return lines


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        # rich would exit with 1, which here says that an answer is hallucinated.
        raise BrokenPipeError

    def render_str(self, text: str, **options: Any) -> Text:
        # Whatever is printed as a text may have come out of a table: a name of a row, a file, a column.
        return super().render_str(visible(text), **options)


def console(*, stderr: bool) -> Console:
    """A console that no text commands, nor marks up, and that is wide enough where there is no terminal."""
    stream: Any = PlainStream(sys.stderr if stderr else sys.stdout)
    made = _Console(file=stream, stderr=stderr, highlight=False, markup=False, emoji=False)
    told = "COLUMNS" in made._environ  # noqa: SLF001 - what rich itself has read
    if not made.width or not (made.is_terminal or told):
        made.width = _PIPED_WIDTH
    return made


class Unlabelled:
    """Labels that can't be read, whose rows count as unlabelled: how many, and the first of them."""

    def __init__(self) -> None:
        self._first: Row | None = None
        self._count = 0

    def add(self, row: Row) -> None:
        if row.unlabelled:
            self._first = self._first or row
            self._count += 1

    def tell(self) -> None:
        """Say so on stderr; nothing where all could be read."""
        if self._first is None:
            return
        more = f"it and {self._count - 1:,} more count" if self._count > 1 else "it counts"
        place = f"{self._first.table} {self._first.place}"
        console(stderr=True).print(f"{place}: {self._first.unlabelled}; {more} as unlabelled", soft_wrap=True)


def result(row: Row, entry: Entry) -> dict[str, Any]:
    """The wire form of a row's outcome, with where the row stands."""
    place = {"file": plain(row.table), "line": row.line, "label": row.label}
    return {"row": place, **wire.encode(entry.outcome)}


def _json(value: Any) -> str:
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return escaped(json.dumps(value, ensure_ascii=not unicode, allow_nan=False))


def _columns(tables: Sequence[Table]) -> str:
    """Which columns were taken; of tables that differ in them, each time of the first."""
    told: dict[str, str] = {}
    for table in tables:
        taken = ", ".join(f"{kind} from {column!r}" for kind, column in table.columns.items())
        told.setdefault(taken, table.name)
    if len(told) == 1:
        return next(iter(told))
    return "; ".join(f"{columns} ({name})" for columns, name in told.items())
