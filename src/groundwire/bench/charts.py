"""The plots of a comparison as SVG: drawn by hand, so that they scale, print and take the page's colours.

Colours are classes: the page styles them for light and dark, a plot on its own carries its own style. A
method keeps its colour in every plot; shortcuts are grey and dashed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

from groundwire.core.errors import MissingExtraError
from groundwire.report.drawing import QUARTERS, Plane, bars, svg, text, tick
from groundwire.report.visible import one_line

Report = Mapping[str, Any]
WIDTH, HEIGHT = 380, 320
_PLANE = Plane(width=WIDTH, height=HEIGHT, left=40, right=12, top=14, bottom=40)
_x, _y = _PLANE.x, _PLANE.y
_FEW = 10  # answers of a bin from which on a line through it says more than chance
_WIDE = 6.8  # of a character of a label
_BESIDE, _ABOVE, _LISTED = 24, 44, 50  # characters of a name beside a dot, above its scores, in a legend
_Label = tuple[float, float, float]  # how far down it stands, where it begins and ends
COLOURS = ("#1f5fbf", "#c2571a", "#1b7f5c", "#8a4fc1", "#b3387f", "#8a6d00", "#0f7f95", "#5d6066")
_STYLE = (
    "text{font:11.5px system-ui,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',Arial,sans-serif;fill:#55585d}"
    ".axis,.grid{stroke:#d9d9d4;fill:none}.guide{stroke:#a7aaae;stroke-dasharray:2 3;fill:none}"
    ".line{fill:none;stroke-width:2;stroke-linejoin:round}.label{font-weight:600;fill:#1c1d1f;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".grounded{fill:#3c9a5c}.hallucinated{fill:#d9534a}.cut{stroke:#1c1d1f;stroke-dasharray:3 3}"
    ".shortcut .line{stroke-width:1.5;stroke-dasharray:4 3}"
    + "".join(
        f".s{at} .line,.s{at}.line,.s{at} .whisker{{stroke:{colour}}}.s{at} .dot{{fill:{colour}}}"
        for at, colour in enumerate(COLOURS)
    )
    + ".g0 .line,.g0 .whisker{stroke:#8b8e93}.g0 .dot{fill:#8b8e93}"
    ".g1 .line,.g1 .whisker{stroke:#b2b4b8}.g1 .dot{fill:#b2b4b8}"
    ".g2 .line,.g2 .whisker{stroke:#c9cbce}.g2 .dot{fill:#c9cbce}.whisker{stroke-width:1.5}"
)


def colour(report: Report, name: str) -> str:
    """The classes of a method: its colour, and whether it is a shortcut."""
    alike = [one["name"] for one in report["methods"] if one["shortcut"] == _method(report, name)["shortcut"]]
    if _method(report, name)["shortcut"]:
        return f"g{alike.index(name) % 3} shortcut"
    return f"s{alike.index(name) % len(COLOURS)}"


def plots(report: Report) -> dict[str, str]:
    """Every plot under a name that is fit for a file: those of each set, and what quality costs."""
    found: dict[str, str] = {}
    for at, name in enumerate(report["sets"]):
        file = "".join(c if c.isalnum() else "-" for c in name).strip("-") or f"set-{at}"
        if f"{file}-roc" in found:
            file = f"{file}-{at + 1}"
        found |= {f"{file}-{kind}": svg for kind, svg in of_set(report, name).items()}
    found["time"] = cost(report)
    return found | ({"cost": cost(report, "cost")} if priced(report) else {})


def of_set(report: Report, name: str) -> dict[str, str]:
    """The four plots of one set."""
    return {
        "roc": roc(report, name),
        "precision-recall": precision_recall(report, name),
        "scores": spread(report, name),
        "calibration": calibration(report, name),
    }


def roc(report: Report, name: str) -> str:
    """Share of hallucinated answers that are found against the share of grounded ones that are flagged."""
    guide = f'<path class="guide" d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}"/>'
    lines = _lines(report, report["sets"][name]["drawn"], "roc")
    return _frame(f"ROC curves on {name}", "false alarms", "found", guide + lines)


def precision_recall(report: Report, name: str) -> str:
    """Precision against recall; the dotted line is what flagging everything reaches."""
    told = report["sets"][name]
    rate = told["hallucinated"] / told["answers"]
    guide = f'<path class="guide" d="M{_x(0)} {_y(rate)}H{_x(1)}"/>'
    lines = _lines(report, told["drawn"], "precision_recall")
    return _frame(f"Precision and recall on {name}", "recall", "precision", guide + lines)


def calibration(report: Report, name: str) -> str:
    """Rate of hallucinated answers against the mean score of each of fifteen bins.

    Dots are as large as a bin; the line leaves out bins of fewer than ten answers.
    """
    parts = [f'<path class="guide" d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}"/>']
    for method, card in report["cards"][name].items():
        bins = card["reliability"]
        if not bins:
            continue
        line = [f"{_x(one['score'])} {_y(one['rate'])}" for one in bins if one["answers"] >= _FEW]
        path = f'<path class="line" d="M{"L".join(line)}"/>' if line else ""
        dots = "".join(
            f'<circle class="dot" cx="{_x(one["score"])}" cy="{_y(one["rate"])}" '
            f'r="{1.5 + 7 * math.sqrt(one["share"]):.1f}" fill-opacity=".55">'
            f"<title>{escape(one_line(method))}: of {one['answers']} answers scored about "
            f"{one['score']:.2f}, {one['rate']:.0%} are hallucinated</title></circle>"
            for one in bins
        )
        parts.append(_group(report, method, path + dots))
    return _frame(f"Calibration on {name}", "score", "hallucinated", "".join(parts))


def spread(report: Report, name: str) -> str:
    """Scores of hallucinated answers, upwards, and of grounded ones, downwards, one method a row."""
    drawn = report["sets"][name]["drawn"]
    methods = [one["name"] for one in report["methods"] if not one["shortcut"]]
    step = 78
    height = step * len(methods) + 34
    parts = []
    for at, method in enumerate(methods):
        told = drawn[method]
        middle = 18 + at * step + 32
        parts.append(
            f'<text class="label" x="{_x(0)}" y="{middle - 36}">{escape(_short(method, _ABOVE))}</text>'
        )
        for kind, up in (("hallucinated", True), ("grounded", False)):
            counts = told["spread"][kind]
            parts.append(bars(_PLANE, counts, kind, middle=middle, tall=29, up=up, what=kind))
        parts.append(f'<path class="axis" d="M{_x(0)} {middle}H{_x(1)}"/>')
        if told["threshold"] is not None:
            at_x = _x(told["threshold"])
            parts.append(f'<path class="cut" d="M{at_x} {middle - 31}V{middle + 31}"/>')
    ticks = "".join(text(_x(value), height - 16, tick(value)) for value in QUARTERS)
    title = text(_x(0.5), height - 2, "score")
    return _svg(
        f"Scores of hallucinated and grounded answers of {name}", height, "".join(parts) + ticks + title
    )


_AGAINST = {"seconds_p50": "seconds for an answer", "cost": "cost of an answer"}


def priced(report: Report) -> bool:
    """Whether the cost of any method is known."""
    cards = next(iter(report["cards"].values()))
    return any(card["spent"]["cost"] for card in cards.values())


def cost(report: Report, what: str = "seconds_p50") -> str:
    """AUROC over all sets against what an answer takes, on a scale of powers of ten.

    ``what`` is "seconds_p50", or "cost", where methods that ask no model stand at the left edge.
    """
    cards = next(iter(report["cards"].values()))
    known = [
        (name, spent, card["figures"]["auroc"])
        for name, card in cards.items()
        if (spent := _spent(card, what)) is not None
        and card["figures"].get("auroc")
        and name != "always flag"
    ]
    above = [spent for _, spent, _ in known if spent]
    if not above:
        return _frame(f"AUROC against {_AGAINST[what]}", _AGAINST[what], "AUROC", "")
    free = len(above) < len(known)
    low, high = math.floor(math.log10(min(above))) - free, math.ceil(math.log10(max(above)))
    high = max(low + 1, high)
    bottom = min(0.5, math.floor(10 * min(figure["low"] for *_, figure in known)) / 10)

    def across(spent: float) -> float:
        return round(_x((math.log10(spent) - low) / (high - low)), 1) if spent else _x(0)

    def up(value: float) -> float:
        return _y((value - bottom) / (1 - bottom))

    parts = []
    for power in range(low, high + 1):
        x = across(10.0**power)
        anchor = "end" if power == high else "middle"
        named = "free" if free and power == low else _power(power, what)
        parts.append(f'<path class="grid" d="M{x} {_y(0)}V{_y(1)}"/>')
        parts.append(f'<text x="{x}" y="{_y(0) + 16}" text-anchor="{anchor}">{named}</text>')
    for step in range(round((1 - bottom) * 10) + 1):
        value = bottom + step / 10
        parts.append(f'<path class="grid" d="M{_x(0)} {up(value)}H{_x(1)}"/>')
        parts.append(f'<text x="{_x(0) - 6}" y="{up(value) + 4}" text-anchor="end">{tick(value)}</text>')
    taken: list[_Label] = []
    for name, spent, figure in sorted(known, key=lambda one: -one[2]["value"]):
        x, y = across(spent), up(figure["value"])
        told = f"{name}: AUROC {figure['value']:.3f}, {_AGAINST[what]} {spent:.3g}"
        mark = (
            f'<path class="whisker" d="M{x} {up(figure["low"])}V{up(figure["high"])}"/>'
            f'<circle class="dot" cx="{x}" cy="{y}" r="5"><title>{escape(one_line(told))}</title></circle>'
        )
        parts.append(_group(report, name, mark + _label(_short(name, _BESIDE), x, y, taken)))
    titles = _titles(_AGAINST[what], "AUROC")
    return _svg(f"AUROC against {_AGAINST[what]}", HEIGHT, "".join(parts) + titles)


def _label(name: str, x: float, y: float, taken: list[_Label]) -> str:
    """The name beside a dot, above or below others; "" where no place is near, for the dot tells it, too."""
    size = _WIDE * len(name)
    left = x > _x(0.62) or x + 9 + size > WIDTH
    start, end = (x - 9 - size, x - 9) if left else (x + 9, x + 9 + size)
    rows = (y + 4 + away for step in range(4) for away in (13 * step, -13 * step))
    for place in rows:
        free = all(abs(place - other) >= 13 or start >= b or a >= end for other, a, b in taken)
        if free and _y(1) <= place <= _y(0):
            taken.append((place, start, end))
            return (
                f'<text class="label" x="{x - 9 if left else x + 9}" y="{place:.1f}" '
                f'text-anchor="{"end" if left else "start"}">{escape(name)}</text>'
            )
    return ""


def _short(name: str, most: int) -> str:
    """The name in so many characters: its middle is left out, for names often differ at their end."""
    name = one_line(name)
    return name if len(name) <= most else f"{name[: most // 2]}…{name[most // 2 + 1 - most :]}"


def _spent(card: Mapping[str, Any], what: str) -> float | None:
    """What an answer took; None where that isn't known."""
    spent = card["spent"]
    if what == "cost":
        return 0.0 if not spent["calls"] else spent["cost"] and float(spent["cost"])
    return float(spent["seconds_p50"]) or None


def whisker(report: Report, name: str, figure: Mapping[str, float], rival: float | None) -> str:
    """A dot with its interval on a scale from .4 to 1; the dotted line is the best shortcut."""

    def at(value: float) -> float:
        return round(2 + 96 * (min(1.0, max(0.4, value)) - 0.4) / 0.6, 1)

    guide = "" if rival is None else f'<path class="guide" d="M{at(rival)} 0V18"/>'
    return (
        f'<svg class="whiskers {colour(report, name)}" viewBox="0 0 100 18" aria-hidden="true">'
        f'<path class="axis" d="M2 9H98"/>{guide}'
        f'<path class="whisker" d="M{at(figure["low"])} 9H{at(figure["high"])}"/>'
        f'<circle class="dot" cx="{at(figure["value"])}" cy="9" r="4"/></svg>'
    )


def alone(svg: str, report: Report) -> str:
    """The plot as a file of its own: with its style, and a legend of the methods."""
    head, _, body = svg.partition(">")
    width, height = (float(part) for part in head.partition('viewBox="0 0 ')[2].partition('"')[0].split())
    rows, x, y = [], 12.0, height + 14
    for one in report["methods"]:
        name = _short(one["name"], _LISTED)
        size = 26 + 6.6 * len(name)
        if x + size > width:
            x, y = 12.0, y + 16
        mark = f'<path class="line" d="M{x} {y - 4}h14"/><text x="{x + 18}" y="{y}">{escape(name)}</text>'
        rows.append(_group(report, one["name"], mark))
        x += size
    whole = y + 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {whole:g}" width="{2 * width:g}" '
        f'height="{2 * whole:g}"><style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>'
        + body.removesuffix("</svg>")
        + "".join(rows)
        + "</svg>"
    )


def require_png() -> Any:
    """What turns a plot into pixels. Raises MissingExtraError where it is not installed."""
    try:
        return import_module("resvg_py")
    except ImportError as error:
        raise MissingExtraError("writing plots as PNG", package="resvg-py", extra="bench") from error


def png(svg: str) -> bytes:
    """The pixels of a plot that stands alone, two for each unit. Raises MissingExtraError."""
    return bytes(require_png().svg_to_bytes(svg_string=svg))


def _lines(report: Report, drawn: Mapping[str, Any], kind: str) -> str:
    parts = []
    # Shortcuts lie below detectors.
    for one in sorted(report["methods"], key=lambda one: not one["shortcut"]):
        points: Sequence[Sequence[float]] = drawn.get(one["name"], {}).get(kind, ())
        if points:
            path = _PLANE.line(points)
            title = f"<title>{_named(one['name'])}</title>"
            parts.append(_group(report, one["name"], f'<path class="line" d="{path}">{title}</path>'))
    return "".join(parts)


def _group(report: Report, name: str, inside: str) -> str:
    number = [one["name"] for one in report["methods"]].index(name)
    return f'<g class="{colour(report, name)}" data-method="{number}">{inside}</g>'


def _frame(title: str, across: str, up: str, inside: str) -> str:
    return _svg(title, HEIGHT, _PLANE.grid() + inside + _titles(across, up))


def _titles(across: str, up: str) -> str:
    middle = (_y(0) + _y(1)) / 2
    return (
        f'<text x="{_x(0.5)}" y="{HEIGHT - 6}" text-anchor="middle">{across}</text>'
        f'<text transform="translate(11 {middle}) rotate(-90)" text-anchor="middle">{up}</text>'
    )


def _svg(title: str, height: float, inside: str) -> str:
    return svg(title, WIDTH, height, inside)


def _method(report: Report, name: str) -> Mapping[str, Any]:
    found: Iterable[Mapping[str, Any]] = report["methods"]
    return next(one for one in found if one["name"] == name)


def _named(name: str) -> str:
    return escape(one_line(name))


def _power(power: int, what: str) -> str:
    if what == "cost":
        return f"{10.0**power:g}"
    if power >= 0:
        return f"{10**power} s"
    return f"{10 ** (3 + power)} ms" if power >= -3 else f"{10 ** (6 + power)} µs"
