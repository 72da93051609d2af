"""What ``groundwire monitor`` prints. Every text from outside passes through ``visible``, as elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from groundwire.cli.outputs import console
from groundwire.report import Entry, terminal
from groundwire.report.visible import escaped, one_line

if TYPE_CHECKING:
    from groundwire.monitor import (
        Agreement,
        Comparison,
        Feedback,
        Figures,
        Group,
        Kept,
        Line,
        Pattern,
        Rate,
        Standing,
    )

_BAR = 20
_LEVELS = {"low": "green", "medium": "yellow", "high": "red"}


def say_json(value: Any) -> None:
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    sys.stdout.write(escaped(json.dumps(value, ensure_ascii=not unicode, allow_nan=False)) + "\n")


def hint(text: str) -> None:
    """A remark, on stderr: stdout is for what was asked."""
    console(stderr=True).print(one_line(text), style="dim", soft_wrap=True)


def figures(told: Figures, agreement: Sequence[Agreement]) -> None:
    """The figures of the kept answers, a line each."""
    out = console(stderr=False)
    if not told.answers:
        out.print("Nothing is kept that meets this.")
        return
    grid = _grid()
    period = (
        ""
        if told.first is None or told.last is None
        else f"{told.first:%Y-%m-%d %H:%M} to {told.last:%Y-%m-%d %H:%M} UTC"
    )
    grid.add_row(
        Text(f"{told.answers:,}", style="bold"), Text("answers kept", style="bold"), Text(period, style="dim")
    )
    if told.sampled < told.answers:
        grid.add_row(
            f"{told.sampled:,}", "of them by chance", Text("the figures up to costs are theirs", style="dim")
        )
    _rate_row(grid, told.detection, "hallucinated", "of the judged", style="red")
    _rate_row(
        grid,
        told.abstained,
        "not judged",
        ", ".join(f"{k} {n:,}" for k, n in told.abstentions.items()),
        style="magenta",
    )
    for level, style in _LEVELS.items():
        if count := told.levels.get(level):
            grid.add_row(Text(f"{count:,}", style=style), Text(f"level {level}", style=style), "")
    for kind, count in told.kinds.items():
        grid.add_row(f"{count:,}", Text(one_line(kind)), Text("kind", style="dim"))
    if told.median is not None and told.p95 is not None:
        grid.add_row(
            f"{told.median:.2f} s",
            "to judge",
            Text(f"median; 95 of 100 within {told.p95:.2f} s", style="dim"),
        )
    for row in _spent(told):
        grid.add_row(*row)
    for row in _quality(told):
        grid.add_row(*row)
    for one in agreement[:5]:
        chance = "undefined" if one.kappa is None else f"{one.kappa:.2f}"
        who = f"{one_line(one.first)} and {one_line(one.second)} agree on {one.agreed:,} of {one.answers:,}"
        grid.add_row(chance, "kappa", Text(who, style="dim"))
    out.print(grid)


def _spent(told: Figures) -> Iterator[tuple[str, str, Text]]:
    if told.calls:
        yield f"{told.calls:,}", "model calls", Text(f"{told.tokens:,} tokens", style="dim")
        if told.cost is None:
            yield "?", "cost", Text("no price is known", style="dim")
        else:
            note = f"of the {told.priced:,} answers with a price"
            yield f"{told.cost:,.4f}", "cost", Text(note, style="dim")


def _quality(told: Figures) -> Iterator[tuple[str, str, Text]]:
    quality = told.quality
    if not quality.reviewed:
        yield "0", "reviewed", Text("groundwire monitor next --reviewer NAME begins", style="dim")
        return
    notes = [f"{quality.undecided:,} undecided"] if quality.undecided else []
    notes += [f"{quality.waiting:,} drawn and not reviewed yet"] if quality.waiting else []
    yield f"{quality.reviewed:,}", "reviewed", Text(", ".join(notes), style="dim")
    for name, value, basis in (
        ("precision", quality.precision, quality.precision_basis),
        ("recall", quality.recall, quality.recall_basis),
    ):
        if value is None:
            yield "?", name, Text(basis, style="dim")
        else:
            yield f"{value.value:.3f}", name, Text(f"{_between(value, 3)}, from {basis}", style="dim")


def groups(name: str, found: Sequence[Group]) -> None:
    """A line for each time, or each value of a tag."""
    out = console(stderr=False)
    out.print()
    if not found:
        out.print(f"No answer that chance chose has the tag {one_line(name)}.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(one_line(name), overflow="fold")
    for title in ("answers", "hallucinated", "95 % interval"):
        table.add_column(title, justify="right")
    table.add_column("")
    table.add_column("not judged", justify="right")
    for group in found:
        share, rest = group.detection, group.abstained
        table.add_row(
            one_line(group.name),
            f"{group.answers:,}",
            "-" if share is None else f"{share.value:.1%}",
            "" if share is None else _between(share, 1, percent=True),
            Text("█" * round(_BAR * share.value) if share else "", style="red"),
            "-" if rest is None or not rest.count else f"{rest.value:.1%}",
        )
    out.print(table)


def patterns(found: Sequence[Pattern], *, decided: int) -> None:
    out = console(stderr=False)
    out.print()
    if not decided:
        out.print("No reviewer has decided about an answer yet, so that no error of the detector is known.")
    elif not found:
        out.print("The detector's errors have nothing in common that chance does not explain.")
    for one in found:
        text = Text(f"{one.error}s", style="bold")
        text.append(f"  {one_line(one.name)}: {one.here.count} of {one.here.of} ({one.here.value:.0%})")
        text.append(f", elsewhere {one.elsewhere.value:.0%}; p {one.p:.1g}", style="dim")
        out.print(text)


def line(one: Line) -> None:
    """One answer in a line."""
    out = console(stderr=False)
    score = "-" if one.score is None else f"{one.score:.2f}"
    text = Text(f"{one.id}  {one.at:%Y-%m-%d %H:%M}  ", style="dim")
    style = _LEVELS.get(str(one.level), "magenta")
    text.append(f"{score:>5} {one.level or one.abstention or '':<8}", style=style)
    text.append(f" {'✓' if one.reviews else ' '} {one_line(one.question or one.answer)[: out.width]}")
    text.no_wrap, text.overflow = True, "ellipsis"
    out.print(text)


def answer(kept: Kept, said: Sequence[Feedback]) -> None:
    """One answer in full, its tags, and what was said about it."""
    out = console(stderr=False)
    entry = Entry(interaction=kept.interaction, outcome=kept.outcome, name=kept.id)
    out.print(terminal.Block(entry=entry, full=True))
    about = [f"{name}={value}" for name, value in kept.tags]
    about += [f"action={kept.action}"] if kept.action else []
    out.print(Text(f"  {kept.at:%Y-%m-%d %H:%M:%S} UTC  {one_line(', '.join(about))}", style="dim"))
    for one in said:
        text = Text(f"  {one_line(one.reviewer)}: {one.opinion}", style="bold")
        truth = {True: ", hallucinated", False: ", grounded", None: ""}[one.hallucinated]
        text.append(f"{truth}  {one_line(one.note)}", style="not bold")
        out.print(text)


def comparison(told: Comparison) -> None:
    out = console(stderr=False)
    if told.before is None or told.after is None or told.p is None or told.score is None:
        out.print("No question was answered, judged, and kept by chance, on both sides.")
        return
    grid = _grid()
    grid.add_row(f"{told.pairs:,}", "questions", Text("answered on both sides", style="dim"))
    for name, value in (("before", told.before), ("after", told.after)):
        grid.add_row(
            f"{value.value:.1%}", name, Text(f"hallucinated, {_between(value, 1, percent=True)}", style="dim")
        )
    grid.add_row(f"{told.better:,}", "better", Text("flagged before, and no longer", style="dim"))
    grid.add_row(f"{told.worse:,}", "worse", Text(f"flagged only now; p {told.p:.2g} (McNemar)", style="dim"))
    grid.add_row(
        f"{told.score:+.3f}", "mean score", Text(f"p {told.score_p:.2g} (paired permutation)", style="dim")
    )
    out.print(grid)


def drift(told: Standing) -> None:
    out = console(stderr=False)
    if not told.has_reference:
        out.print("There are too few answers for a reference yet.")
    elif not told.windows:
        out.print("There are too few answers since the reference to compare with it yet.")
    elif not told.up:
        out.print("Nothing drifts now; it did before:" if told.alarms else "Nothing drifts.")
    if told.windows and told.p is None:
        out.print("Too few of the latest answers, or of the reference, are judged to compare their scores.")
    for alarm in told.alarms:
        out.print(
            Text(f"{alarm.at:%Y-%m-%d %H:%M} UTC  answer {alarm.row:,}: {alarm.message}", style="red"),
            soft_wrap=True,
        )


def _rate_row(grid: Table, value: Rate | None, name: str, note: str, *, style: str) -> None:
    if value is not None and (value.count or name == "hallucinated"):
        told = f"{value.value:.1%}, {_between(value, 1, percent=True)}" + (f"; {note}" if note else "")
        grid.add_row(Text(f"{value.count:,}", style=style), Text(name, style=style), Text(told, style="dim"))


def _between(value: Rate, digits: int, *, percent: bool = False) -> str:
    form = f".{digits}%" if percent else f".{digits}f"
    return f"{value.low:{form}} to {value.high:{form}}"


def _grid() -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    return grid
