"""The comparison as one self-contained page, and as Markdown, JSON and plots beside it.

The page loads nothing: its policy names its style and its script by their hashes, and every text that came
from data is escaped. It looks like the report of ``groundwire check``, whose style it begins with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from groundwire.bench import charts, table
from groundwire.core import whole
from groundwire.core.errors import MissingExtraError
from groundwire.core.span import Span
from groundwire.report.segments import cut
from groundwire.report.visible import escaped, visible

try:
    from markupsafe import Markup

    from groundwire.report.page import asset, filled, policy
except ImportError as error:
    raise MissingExtraError("the report of a comparison", package="jinja2", extra="bench") from error

_LONGEST = 1_600  # characters of an answer that a mistake shows
_STEPS = 10

_SHARES = ("accuracy", "precision", "recall", "f1", "span_f1")
_DETAILS = (
    ("average_precision", "average precision"),
    ("precision_at_recall", "precision at recall .8"),
    ("best_f1", "F1 at the best cut"),
    ("balanced_accuracy", "balanced accuracy"),
    ("specificity", "specificity"),
    ("brier", "Brier"),
    ("span_precision", "span precision"),
    ("span_recall", "span recall"),
    ("span_f1", "span F1"),
    ("sentence_precision", "sentence precision"),
    ("sentence_recall", "sentence recall"),
    ("sentence_f1", "sentence F1"),
)


def write_all(folder: Path, report: Mapping[str, Any], *, plots: str | None = None) -> list[Path]:
    """Write report.html, report.md and report.json, and each plot as ``plots``: "svg" or "png"; the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "report.html": render(report),
        "report.md": table.markdown(report),
        "report.json": escaped(json.dumps(report, ensure_ascii=False, allow_nan=False, indent=1)) + "\n",
    }
    written = []
    for name, text in texts.items():
        written.append(folder / name)
        whole.write(written[-1], text)
    for name, svg in charts.plots(report).items() if plots else ():
        drawn = charts.alone(svg, report)
        written.append(folder / f"{name}.{plots}")
        whole.write(written[-1], charts.png(drawn) if plots == "png" else drawn)
    return written


def render(report: Mapping[str, Any]) -> str:
    """The page as text."""
    ours = files("groundwire.bench")
    style = asset("page.css") + ours.joinpath("page.css").read_text(encoding="utf-8")
    script = ours.joinpath("page.js").read_text(encoding="utf-8")
    return filled(
        ours.joinpath("page.html.j2").read_text(encoding="utf-8"),
        report=report,
        style=style,
        script=script,
        policy=policy(style, script),
        wholes=[_whole(report, where) for where in report["cards"]],
        methods=[{**one, "colour": charts.colour(report, one["name"])} for one in report["methods"]],
        time=Markup(charts.cost(report)),  # noqa: S704 - drawn here, with every name escaped
        cost=Markup(charts.cost(report, "cost") if charts.priced(report) else ""),  # noqa: S704 - as above
        heat=_heat(report),
        leads=_leads(report),
        mistakes=list(_mistakes(report)),
        sweeps=Markup(_sweeps(report)),  # noqa: S704 - JSON without any bracket of markup
    )


def _whole(report: Mapping[str, Any], where: str) -> dict[str, Any]:
    cards = report["cards"][where]
    told = report["sets"].get(where)
    shortcuts = [one["name"] for one in report["methods"] if one["shortcut"]]
    rivals = [figure["value"] for name in shortcuts if (figure := cards[name]["figures"].get("auroc"))]
    rival = max(rivals, default=None)
    drawn = charts.of_set(report, where) if told else {}
    return {
        "name": where,
        "told": told,
        "rows": [_row(report, cards, one, rival) for one in report["methods"]],
        "details": [
            (title, [table.figure(cards[one["name"]]["figures"].get(name)) for one in report["methods"]])
            for name, title in _DETAILS
        ],
        "bounds": table.bounds(cards),
        "plots": {name: Markup(svg) for name, svg in drawn.items()},  # noqa: S704 - as above
        "sweep": bool(told) and any(one["sweep"] for one in told["drawn"].values()),
    }


def _row(
    report: Mapping[str, Any], cards: Mapping[str, Any], one: Mapping[str, Any], rival: float | None
) -> dict[str, Any]:
    card = cards[one["name"]]
    figures, spent = card["figures"], card["spent"]
    auroc = figures.get("auroc")
    drawn = charts.whisker(report, one["name"], auroc, None if one["shortcut"] else rival) if auroc else ""
    return {
        **one,
        "colour": charts.colour(report, one["name"]),
        "auroc": auroc,
        "whisker": Markup(drawn),  # noqa: S704 - as above
        "shares": [(name, figures.get(name)) for name in _SHARES],
        "best": {
            name
            for name in ("auroc", *_SHARES)
            if not one["shortcut"] and _leads_in(report, cards, one["name"], name)
        },
        "ece": card["ece"],
        "chance_ece": card["chance_ece"],
        "coverage": f"{card['coverage']:.0%}",
        "abstained": ", ".join(f"{why} {count}" for why, count in card["abstained"].items()),
        "calls": table.number(spent["calls"]),
        "cost": table.money(spent["cost"], spent["calls"]),
        "p50": table.seconds(spent["seconds_p50"]),
        "p95": table.seconds(spent["seconds_p95"]),
    }


def _leads_in(report: Mapping[str, Any], cards: Mapping[str, Any], name: str, measure: str) -> bool:
    mine = cards[name]["figures"].get(measure)
    others = [
        figure["value"]
        for one in report["methods"]
        if not one["shortcut"] and (figure := cards[one["name"]]["figures"].get(measure))
    ]
    return mine is not None and len(others) > 1 and mine["value"] >= max(others)


def _heat(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """AUROC by set, and by each of its tasks and models, as rows of a heat map."""
    rows = []
    for name, told in report["sets"].items():
        figures = {method: card["figures"].get("auroc") for method, card in report["cards"][name].items()}
        rows.append(
            {"name": name, "by": "", "answers": told["answers"], "cells": _heat_cells(report, figures)}
        )
        for part in report["slices"]:
            inside = {method: found["auroc"] for method, found in part["figures"].items() if found}
            if part["set"] == name and inside:
                cells = _heat_cells(report, inside)
                rows.append({**{key: part[key] for key in ("name", "by", "answers")}, "cells": cells})
    return rows


def _heat_cells(
    report: Mapping[str, Any], figures: Mapping[str, Any]
) -> list[tuple[str, Mapping[str, float] | None]]:
    cells = []
    for one in report["methods"]:
        if one["name"] != "always flag":
            figure = figures[one["name"]]
            step = 0 if figure is None else round((figure["value"] - 0.5) * 2 * _STEPS)
            cells.append((f"h{min(_STEPS, max(0, step))}", figure))
    return cells


def _leads(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = []
    shortcut = {one["name"]: one["shortcut"] for one in report["methods"]}
    for one in report["leads"]:
        for measure, title in (("auroc", "AUROC"), ("f1", "F1")):
            found = one.get(measure)
            if not found:
                continue
            ahead = found["value"] >= 0
            low, high = (found["low"], found["high"]) if ahead else (-found["high"], -found["low"])
            rows.append(
                {
                    "ahead": one["first"] if ahead else one["second"],
                    "behind": one["second"] if ahead else one["first"],
                    "measure": title,
                    "lead": f"{abs(found['value']):.3f}",
                    "interval": f"[{low:.3f}, {high:.3f}]",
                    "p": f"{found['p']:.3f}",
                    "sure": found["p"] < 0.05,
                    "beaten": shortcut[one["first"] if ahead else one["second"]],
                }
            )
    return rows


def _mistakes(report: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for method, kinds in report["worst"].items():
        for kind, title in (("missed", "Missed"), ("alarmed", "False alarm")):
            for one in kinds[kind]:
                yield {
                    **one,
                    "method": method,
                    "kind": kind,
                    "title": title,
                    "pieces": list(_pieces(one["answer"], one["marked"] or (), one["flagged"])),
                    "left_out": max(0, len(one["answer"]) - _LONGEST),
                    "contexts": [visible(text) for text in one["contexts"]],
                    "colour": charts.colour(report, method),
                }


def _pieces(
    answer: str, marked: Sequence[Sequence[int]], flagged: Sequence[Sequence[int]]
) -> Iterator[tuple[str, str]]:
    """The answer's start, cut where marks begin and end, and the class of each piece."""
    marks = [(Span(*span), "marked") for span in marked] + [(Span(*span), "flagged") for span in flagged]
    within = Span(0, min(_LONGEST, len(answer)))
    for segment in cut(answer, marks, within=within):
        yield visible(segment.text), " ".join(dict.fromkeys(segment.marks))


def _sweeps(report: Mapping[str, Any]) -> str:
    told = {
        name: {
            method: {"cuts": one["sweep"], "threshold": one["threshold"]}
            for method, one in told["drawn"].items()
            if one["sweep"]
        }
        for name, told in report["sets"].items()
    }
    text = json.dumps(told, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
