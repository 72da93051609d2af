"""The comparison table, for a terminal and in Markdown: one row a method, in the shape of published ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table

from groundwire.bench.report import whole_of
from groundwire.report.visible import one_line

NOTHING = "-"
HEADER = (
    *("method", "AUROC", "accuracy", "precision", "recall", "F1", "span F1", "ECE"),
    *("judged", "calls", "cost", "p50 s", "p95 s", "points at"),
)
_ENDLESS = 100_000
_READING = (
    "Square brackets hold the middle 95 % over resampled sources. Shortcuts count in the direction that "
    "suits them. Accuracy, precision, recall and F1 are at a method's own threshold, spans by characters; "
    "calls, cost and seconds are of one answer. ECE is the calibration error; in brackets, what as many "
    "answers show by chance where every score is exactly right."
)


def rows(cards: Mapping[str, Any], methods: Sequence[Mapping[str, Any]]) -> Iterable[list[str]]:
    """The cells under HEADER, as text."""
    for one in methods:
        card = cards[one["name"]]
        figures, spent = card["figures"], card["spent"]
        yield [
            one["name"] + (" (shortcut)" if one["shortcut"] else ""),
            figure(figures.get("auroc")),
            *(share(figures.get(name)) for name in ("accuracy", "precision", "recall")),
            figure(figures.get("f1")),
            share(figures.get("span_f1")),
            NOTHING if card["ece"] is None else f"{card['ece']:.3f} ({card['chance_ece']:.3f})",
            coverage(card),
            *(number(spent["calls"]), money(spent["cost"], spent["calls"])),
            *(seconds(spent["seconds_p50"]), seconds(spent["seconds_p95"])),
            one["locates"] or NOTHING,
        ]


def markdown(report: Mapping[str, Any]) -> str:
    """The whole report as Markdown: what is known in short, the table of each set, and what they hold."""
    lines = [f"# {_cell(report['title'])}", "", _circumstances(report), ""]
    lines += [f"- {_cell(line)}" for line in (*report["summary"], *report["notes"])]
    for where, cards in report["cards"].items():
        lines += ["", f"## {_cell(where)}", "", *_markdown_table(HEADER, rows(cards, report["methods"]))]
        lines += [line for line in [bounds(cards)] if line]
    if report["slices"]:
        names = [one["name"] for one in report["methods"]]
        lines += ["", "## AUROC by task and by generating model", ""]
        lines += _markdown_table(
            ("set", "part", "answers", "hallucinated", *names),
            (
                [
                    *(part["set"], f"{part['by']} {part['name']}", str(part["answers"])),
                    f"{part['bad']:.0%}",
                    *(figure(part["figures"][name]["auroc"]) for name in names),
                ]
                for part in report["slices"]
                if any(part["figures"].values())
            ),
        )
    lines += [
        "",
        "## Paired tests",
        "",
        *_markdown_table(("first", "second", "measure", "lead", "p"), _leads(report)),
    ]
    lines += ["", _READING, ""]
    return "\n".join(lines)


@dataclass(frozen=True)
class Columns:
    """A table in parts that fit the terminal, one below the other, each with the first column."""

    title: str
    header: Sequence[str]
    body: Sequence[Sequence[str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        endless = options.update(width=_ENDLESS)
        shown = [0]
        for at in range(1, len(self.header)):
            wider = console.measure(self._part([*shown, at]), options=endless).maximum > options.max_width
            if len(shown) > 1 and wider:
                yield self._part(shown)
                shown = [0]
            shown.append(at)
        yield self._part(shown)

    def _part(self, wanted: Sequence[int]) -> Table:
        title = self.title if 1 in wanted else None
        table = Table(
            title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
        )
        for at in wanted:
            table.add_column(self.header[at], justify="right" if at else "left", overflow="fold")
        for row in self.body:
            table.add_row(*(one_line(row[at]) for at in wanted))
        return table


def terminal(report: Mapping[str, Any]) -> list[Columns | str]:
    """What a terminal shows: the table over all sets, one of AUROC by set, and the summary."""
    where, cards = whole_of(report)
    shown: list[Columns | str] = [Columns(where, HEADER, list(rows(cards, report["methods"])))]
    if len(report["sets"]) > 1:
        names = [one["name"] for one in report["methods"]]
        by_set = [
            [name, str(told["answers"]), f"{told['hallucinated'] / told['answers']:.0%}"]
            + [figure(report["cards"][name][method]["figures"].get("auroc")) for method in names]
            for name, told in report["sets"].items()
        ]
        shown.append(Columns("AUROC by set", ("set", "answers", "hallucinated", *names), by_set))
    told = [line for line in [bounds(cards)] if line]
    return [*shown, "\n".join(map(one_line, [*report["summary"], *told, *report["notes"]])), _READING]


def bounds(cards: Mapping[str, Any]) -> str:
    """What leaving abstentions out may hide, of the methods that abstained."""
    return " ".join(
        f"{name}, had all it left out been judged wrong, or right: "
        + ", ".join(
            f"{'AUROC' if measure == 'auroc' else 'F1'} {low:.3f} to {high:.3f}"
            for measure, (low, high) in card["bounds"].items()
        )
        + "."
        for name, card in cards.items()
        if card["bounds"]
    )


def figure(value: Mapping[str, float] | None) -> str:
    """A figure with its interval."""
    if value is None:
        return NOTHING
    return f"{value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"


def share(value: Mapping[str, float] | None) -> str:
    """A figure without its interval."""
    return NOTHING if value is None else f"{value['value']:.3f}"


def coverage(card: Mapping[str, Any]) -> str:
    """The share that was judged, and why the rest was not."""
    reasons = ", ".join(f"{why} {count}" for why, count in card["abstained"].items())
    return f"{card['coverage']:.0%}" + (f" ({reasons})" if reasons else "")


def number(value: float) -> str:
    """A small number, without needless zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def money(cost: float | None, calls: float) -> str:
    """The cost of an answer; nothing is paid where nothing is asked."""
    if not calls:
        return "0"
    return "unknown" if cost is None else f"{cost:.4g}"


def seconds(value: float) -> str:
    """Seconds, as finely as they matter."""
    return f"{value:.3f}" if value < 1 else f"{value:.1f}"


def _leads(report: Mapping[str, Any]) -> Iterable[list[str]]:
    for one in report["leads"]:
        for measure, name in (("auroc", "AUROC"), ("f1", "F1")):
            if found := one.get(measure):
                yield [one["first"], one["second"], name, figure(found), f"{found['p']:.3f}"]


def _circumstances(report: Mapping[str, Any]) -> str:
    sets = ", ".join(
        f"{_cell(name)} ({told['answers']:,} answers, "
        f"{told['hallucinated'] / told['answers']:.0%} hallucinated)"
        for name, told in report["sets"].items()
    )
    return f"{report['when']}, groundwire {report['groundwire']}. {sets}."


def _markdown_table(header: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    return [
        "| " + " | ".join(map(_cell, header)) + " |",
        "|" + " --- |" * len(header),
        *("| " + " | ".join(map(_cell, row)) + " |" for row in body),
    ]


def _cell(text: str) -> str:
    return one_line(text).replace("|", "\\|").replace("<", "&lt;")
