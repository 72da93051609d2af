"""What the demos show: each answer with its verdict, a summary, an HTML page. No framework is known here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.console import Console
from rich.rule import Rule

from examples.handbook.prepared import Prepared
from groundwire.host.record import Record
from groundwire.report import Entry, Tally, page, terminal

console = Console(highlight=False, markup=False, emoji=False)

_HOW_TO_READ = (
    "Each answer stands below with groundwire's verdict: the level and the score, from 0 (grounded) to 1 "
    "(hallucinated), then Q, the question; A, the answer, with its unsupported words marked; and why. "
    "✗ stands before a statement that is not supported, ! before one that is in doubt. "
    '"labelled" is what a person says of the answer; the detector doesn\'t see it.'
)


class Report:
    """Prints records as they are added, unless it is quiet, and sums them up at its close."""

    def __init__(self, *, title: str, quiet: bool) -> None:
        self._title = title
        self._quiet = quiet
        self._entries: list[Entry] = []
        self._tally = Tally()

    def begin(self, what: str) -> None:
        """Say what is about to be shown, and how to read it."""
        if not self._quiet:
            console.print(f"{what}\n\n{_HOW_TO_READ}\n")

    def add(self, records: Iterable[Record], known: Mapping[str, Prepared]) -> None:
        """Show records, with the labels of those whose questions are known."""
        for record in records:
            entry = _entry(record, known)
            self._entries.append(entry)
            self._tally.add(entry)
            if not self._quiet:
                console.print(terminal.Block(entry=entry, full=False))

    def close(self, html: Path, *, seconds: float, detector: str) -> None:
        """Print the summary and write the page."""
        console.print(Rule("All answers"))
        console.print(terminal.summary(self._tally, seconds=seconds, detector=detector))
        html.parent.mkdir(parents=True, exist_ok=True)
        written = page.write(html, self._entries, title=self._title)
        console.print(f"\nHTML report: {written.resolve()}", soft_wrap=True)


def question_of(record: Record) -> str:
    """What was asked."""
    return record.interaction.question if record.interaction else ""


def _entry(record: Record, known: Mapping[str, Prepared]) -> Entry:
    one = known.get(question_of(record))
    return Entry(
        interaction=record.interaction,
        outcome=record.outcome,
        name=one.id if one else "",
        label=None if one is None else int(not one.grounded),
    )
