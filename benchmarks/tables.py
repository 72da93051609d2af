"""The figures laid out for people: one function a table. Nothing is measured here."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from rich import box
from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from benchmarks.costs import FLAT
from benchmarks.judged import CORRECTNESS, SHORTCUTS, Judged
from benchmarks.quality import Card, Found, Weakness
from groundwire.core.tuned import Figure

NOTHING = "-"
_READING = (
    "Answer length and novel words count in the direction that suits them. After a slash: the figure if all "
    "that was not judged had been judged wrong, to all right."
)


def by_task(cards: Mapping[str, Mapping[str, Card]]) -> Table:
    """Every figure of every method, task by task."""
    table = _table(
        "RAGTruth, sources held out; 'all' gives each task the same weight (its test split's mix)",
        *(
            "task",
            "method",
            "n",
            "bad",
            "judged",
            "AUROC",
            "F1 at its threshold",
            "F1 at the best cut",
            "cut",
        ),
        *("span F1 (characters)", "ECE", "ECE by chance"),
    )
    for task, by_method in cards.items():
        for name, card in by_method.items():
            table.add_row(
                *(task, name, str(card.answers), _share(card.bad), coverage(card)),
                *(_bounded(card.auroc, card.auroc_bounds), _bounded(card.f1, card.f1_bounds)),
                *(shown(card.best_f1), _number(card.best_cut), shown(card.span_f1)),
                *(_number(card.ece), _number(card.chance_ece)),
            )
        table.add_section()
    return table


def calibration(cards: Mapping[str, Card]) -> Group:
    """Mean score against the rate of hallucinated answers, bin by bin."""
    shown_tables = []
    for name, card in cards.items():
        table = _table(
            f"Reliability of {name} on RAGTruth, all tasks alike",
            *("scores", "answers", "share", "mean score", "hallucinated", "gap"),
        )
        for one in card.reliability:
            table.add_row(
                f"{one.low:.2f} to {one.high:.2f}",
                *(str(one.answers), _share(one.share), _number(one.score), _number(one.rate)),
                f"{one.rate - one.score:+.3f}",
            )
        shown_tables.append(table)
    return Group(*shown_tables)


def marked(found: Mapping[str, Sequence[Found]]) -> Table:
    """What of each kind of stretch that people marked was found."""
    table = _table(
        "Stretches that people marked in RAGTruth's answers; found: a flagged word touches it",
        *("label", "detector", "marked", "found", "of its characters"),
    )
    for name, kinds in found.items():
        for one in kinds:
            table.add_row(
                escape(one.label), name, str(one.marked), _share(one.touched), _share(one.characters)
            )
    return table


def sets(cards: Mapping[str, Mapping[str, Card]], title: str) -> Table:
    """Each set with every method; shortcuts in their better direction."""
    table = _table(
        f"{title}\n{_READING}",
        *("set", "method", "n", "bad", "judged", "AUROC", "F1 at its threshold", "F1 at the best cut"),
        *("span F1 (characters)", "ECE"),
    )
    for name, by_method in cards.items():
        for method, card in by_method.items():
            table.add_row(
                *(name, method, str(card.answers), _share(card.bad), coverage(card)),
                *(_bounded(card.auroc, card.auroc_bounds), _bounded(card.f1, card.f1_bounds)),
                *(shown(card.best_f1), shown(card.span_f1), _number(card.ece)),
            )
        table.add_section()
    return table


def leads(figures: Mapping[str, Mapping[str, Figure | None]], mine: str) -> Table:
    """How far one detector is ahead of the others, on the same answers."""
    others = list(next(iter(figures.values()), {}))
    table = _table(
        f"AUROC of {mine} minus that of another, paired on the answers that both judged", "set", *others
    )
    for where, by_name in figures.items():
        table.add_row(where, *(shown(by_name[other]) for other in others))
    return table if others else Table(show_header=False, box=None)


def weaknesses(found: Iterable[Weakness], name: str) -> Group:
    """Where a detector fails, with its worst misses."""
    table = _table(
        f"Where {name} fails, by kind of answer (all sets together)",
        *("kind", "n", "bad", "not judged", "AUROC", "bad ones flagged", "good ones flagged"),
    )
    examples: list[Text] = []
    for one in found:
        table.add_row(
            *(one.kind, str(one.answers), str(one.bad), str(one.abstained), shown(one.auroc)),
            *(_share(one.caught), _share(one.alarms)),
        )
        examples.extend(_example(one.kind, "missed", miss) for miss in one.missed)
        examples.extend(_example(one.kind, "false alarm", miss) for miss in one.alarmed)
    return Group(table, Text("Its worst misses\n", style="bold"), *examples)


def _example(kind: str, what: str, one: Judged) -> Text:
    row = one.row
    marks = "; ".join(span["text"] for span in row["spans"])
    lines = [
        f"{kind}: {what}, score {one.score or 0:.2f}, {row['id']}",
        f"  question  {_clipped(row['question'] or '-')}",
        f"  answer    {_clipped(row['answer'], 400)}",
    ]
    if marks:
        lines.append(f"  marked    {_clipped(marks)}")
    return Text("\n".join(lines) + "\n")


def speed(spent: Mapping[str, Any]) -> Table:
    """Times of single checks and of batches; ratios to the first detector."""
    table = _table(
        f"One core, {spent['context_tokens']} tokens of context, {spent['answer_tokens']} of answer",
        *("detector", "passages", "checks", "a second", "p50 ms", "p95 ms", "a second of processor"),
        *("p50 ms", "p95 ms", "time, to the first's"),
    )
    names = list(spent["checks"])
    for name in names:
        for kind in ("cold", "warm", "batch"):
            times = np.array(spent["checks"][name][kind])
            first = np.array(spent["checks"][names[0]][kind])
            clock, processor = times.T
            table.add_row(
                *(name, _PASSAGES[kind], str(len(times)) if kind != "batch" else "all at once"),
                *(f"{1 / clock.mean():.1f}", *_percentiles(clock, kind)),
                *(f"{1 / processor.mean():.1f}", *_percentiles(processor, kind)),
                f"{processor.mean() / first[:, 1].mean():.1f} x",
            )
    return table


_PASSAGES = {"cold": "never seen", "warm": "seen before", "batch": "never seen, check_many"}


def _percentiles(seconds: Any, kind: str) -> tuple[str, str]:
    if kind == "batch":
        return NOTHING, NOTHING
    return tuple(f"{1e3 * value:.0f}" for value in np.percentile(seconds, [50, 95]))  # type: ignore[return-value]


def start(
    started: Mapping[str, Mapping[str, tuple[float, float]]], room: Mapping[str, Mapping[str, Any]]
) -> Table:
    """Fresh processes and room on disk."""
    table = _table(
        "A fresh process: ms (of which processor); and the room on disk",
        *(
            "detector",
            "import",
            "load",
            "first answer",
            "weights MB",
            "added install MB",
            "of which",
        ),
    )
    for name, parts in started.items():
        added = room[name]["added_install_mb"]
        table.add_row(
            name,
            *(_both(parts[part]) for part in ("import", "load", "first")),
            *(f"{room[name]['weights_mb']:.1f}", f"{sum(added.values()):.1f}"),
            ", ".join(f"{package} {size:.1f}" for package, size in added.items()) or NOTHING,
        )
    return table


def _both(seconds: tuple[float, float]) -> str:
    clock, processor = seconds
    return f"{1e3 * clock:.0f} ({1e3 * processor:.0f})"


def memory(over: Mapping[str, Mapping[str, Any]]) -> Table:
    """Resident memory as interactions go by."""
    table = _table("Resident memory, MB, over interactions of all sizes", "interactions", *over)
    for at in range(len(next(iter(over.values()))["marks"])):
        done = next(iter(over.values()))["marks"][at][0]
        table.add_row(f"{done:,}", *(f"{one['marks'][at][1]:.0f}" for one in over.values()))
    table.add_section()
    table.add_row("peak", *(f"{one['peak_mb']:.0f}" for one in over.values()))
    table.add_row("growth", *(_growth(one) for one in over.values()))
    table.add_row("a second", *(f"{one['marks'][-1][0] / one['seconds']:.1f}" for one in over.values()))
    return table


def grown(one: Mapping[str, Any]) -> float:
    """The share by which memory grew after the first tenth of the interactions."""
    first, last = one["marks"][1][1], one["marks"][-1][1]
    return float(last / first - 1)


def _growth(one: Mapping[str, Any]) -> str:
    return f"{grown(one):+.1%} after the first tenth: {'flat' if grown(one) < FLAT else 'NOT FLAT'}"


def long(measured: Mapping[str, Mapping[str, Any]]) -> Table:
    """One check against a very long context."""
    table = _table(
        "One very long passage",
        *("detector", "words", "seconds", "of processor", "MB before", "MB after", "MB at most"),
    )
    for name, one in measured.items():
        table.add_row(
            *(name, f"{one['words']:,}", f"{one['seconds']:.2f}", f"{one['processor_seconds']:.2f}"),
            *(f"{one[part]:.0f}" for part in ("before_mb", "after_mb", "peak_mb")),
        )
    return table


def to_reach(record: Mapping[str, Any], names: Sequence[str]) -> Table:
    """What was to be reached, beside what was."""
    table = _table("To reach", "", "reach", "then aim at", *names)
    measured = {name: [*_reached(record, name)] for name in names}
    for at, (what, reach, aim) in enumerate(_AIMS):
        table.add_row(what, reach, aim, *(measured[name][at] for name in names))
    return table


_AIMS = (
    ("RAGTruth answer F1, official mix, at its own threshold", ".75", ".792"),
    ("the same at the best cut on these labels (an upper bound)", "", ""),
    ("AUROC, official mix", ".87", ".90"),
    ("span F1 (characters), official mix", ".48", ".589"),
    ("calibration error, 15 bins (what chance alone gives)", ".05", ".02"),
    ("multi-turn RAG with human grades: AUROC", ".83", ".90"),
    ("other sets: AUROC above every shortcut", "each", ""),
    ("a second, one core (p95 ms); of the clock", "10 (200)", "30"),
    ("the same of processor time", "10 (200)", "30"),
    ("weights MB / added install MB / import and load s (of processor)", "30 / 60 / .5", ""),
)


def _reached(record: Mapping[str, Any], name: str) -> Iterable[str]:
    yield from _quality_reached(record["quality"], name) if "quality" in record else [NOTHING] * 7
    yield from _speed_reached(record["speed"], name) if "speed" in record else [NOTHING] * 3


def _quality_reached(found: Mapping[str, Any], name: str) -> Iterable[str]:
    card: Card = found["ragtruth"]["all"][name]
    yield from (shown(card.f1), shown(card.best_f1), shown(card.auroc), shown(card.span_f1))
    yield f"{_number(card.ece)} ({_number(card.chance_ece)})"
    yield "not measured: no such rows here"
    others = {where: by_method for where, by_method in found["sets"].items() if where not in CORRECTNESS}
    lost = [where for where, by_method in others.items() if not _beats_shortcuts(by_method, name)]
    yield f"{len(others) - len(lost)} of {len(others)}" + (f", not {', '.join(lost)}" if lost else "")


def _beats_shortcuts(cards: Mapping[str, Card], name: str) -> bool:
    reached = cards[name].auroc
    shortcuts = [figure.value for other in SHORTCUTS if (figure := cards[other.name].auroc)]
    return reached is not None and all(reached.value > value for value in shortcuts)


def _speed_reached(found: Mapping[str, Any], name: str) -> Iterable[str]:
    times = np.array(found["checks"]["checks"][name]["cold"])
    for seconds in times.T:
        yield f"{1 / seconds.mean():.1f} ({1e3 * np.percentile(seconds, 95):.0f})"
    room = found["room"][name]
    started = found["start"][name]
    clock, processor = (started["import"][i] + started["load"][i] for i in (0, 1))
    added = sum(room["added_install_mb"].values())
    yield f"{room['weights_mb']:.1f} / {added:.1f} / {clock:.2f} ({processor:.2f})"


def coverage(card: Card) -> str:
    """The share of answers that were judged, and why the others were not."""
    reasons = ", ".join(f"{escape(why)} {count}" for why, count in card.abstained.items())
    return f"{card.coverage:.1%}" + (f" ({reasons})" if reasons else "")


def shown(figure: Figure | None) -> str:
    # A bracket would be read as markup.
    return NOTHING if figure is None else escape(str(figure))


def _bounded(figure: Figure | None, bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return shown(figure)
    return f"{shown(figure)} / {bounds[0]:.3f} to {bounds[1]:.3f}"


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"


def _share(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.0%}"


def _clipped(text: str, most: int = 200) -> str:
    return textwrap.shorten(text, most, placeholder=" ...")


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for at, column in enumerate(columns):
        table.add_column(column, justify="left" if at == 0 else "right", overflow="fold")
    return table
