"""The forms in which ``groundwire tune`` gives its result: text for people, and JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from groundwire.cli.outputs import console
from groundwire.core.grading import NEVER
from groundwire.core.plain import plain
from groundwire.report.visible import escaped
from groundwire.tuned_file import to_dict

if TYPE_CHECKING:
    from groundwire.bench.tuning import Tuning
    from groundwire.detectors.cascade.stages import Stage

_SHOWN = ("precision", "recall", "f1", "false_alarms", "auroc", "brier", "calibration_error", "calls")


def tell(
    found: Tuning,
    out: Path,
    *,
    as_json: bool,
    quiet: bool,
    beside: str | None = None,
    unnamed: bool = False,
) -> None:
    """Print a tuning that was written to ``out``: its figures to stdout, its warnings to stderr.

    ``beside`` is the file of settings that names the judge, which the written one lacks. ``unnamed`` is
    where none names it, for its replies were recorded.
    """
    if as_json:
        told = {**as_json_has_it(found), "file": str(out)}
        sys.stdout.write(escaped(json.dumps(plain(told), ensure_ascii=False, allow_nan=False)) + "\n")
        return
    for warning in found.tuned.warnings:
        console(stderr=True).print(f"Warning: {warning}.", style="yellow", soft_wrap=True)
    if quiet:
        return
    text = console(stderr=False)
    text.print(_title(found), soft_wrap=True)
    text.print(table(found, "its own threshold" if found.reading else "its own bands"))
    for line in lines(found, "its own"):
        text.print(line, soft_wrap=True)
    use = f"groundwire check FILE --config {out}" + (" --model MODEL" if unnamed else "")
    if beside is not None:
        use = f"write tuned: {out} into {beside}, which names the judge, and give that to --config"
    text.print(f"Written: {out}. Use it: {use}", soft_wrap=True)


def as_json_has_it(found: Tuning) -> dict[str, Any]:
    """The tuning, and its figures."""
    return {
        "tuned": to_dict(found.tuned),
        "before": {name: asdict(figure) for name, figure in found.before.items()},
        "after": {name: asdict(figure) for name, figure in found.after.items()},
        "lead": found.lead and asdict(found.lead),
        "cuts": list(found.cuts),
        "not_judged": dict(found.not_judged),
    }


def _title(found: Tuning) -> str:
    labels = found.tuned.labels
    return (
        f"{found.detector.name} tuned for {found.tuned.target} on {labels.answers:,} answers about "
        f"{labels.groups:,} sources, {labels.hallucinated:,} of them hallucinated"
    )


def table(found: Tuning, before: str) -> Table:
    """The figures side by side, those of what ``before`` names on the left."""
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("on answers held out", before, "tuned"):
        grid.add_column(title)
    if found.reading is not None:
        grid.add_row("threshold", f"{found.own_threshold:.3f}", f"{found.tuned.grading.threshold:.3f}")
    for name in _SHOWN:
        if name in found.after or name in found.before:
            figures = (found.before.get(name), found.after.get(name))
            grid.add_row(name.replace("_", " "), *(str(figure or "-") for figure in figures))
    return grid


def lines(found: Tuning, before: str) -> Iterator[str]:
    """What was gained over what ``before`` names, and what was fitted."""
    medium, high = found.tuned.grading.cuts
    if found.lead:
        gain = found.lead
        name = found.measure.replace("_", " ")
        shown = f"{gain.difference.value:+.3f} [{gain.difference.low:+.3f}, {gain.difference.high:+.3f}]"
        yield f"{name}, tuned less {before}: {shown}, p = {gain.p:.3f}"
    if found.reading is None:
        yield from (_band(stage) for stage in _line(found))
    if found.reading is not None:
        yield f"read: {found.read}; calibration: {found.reading.kind}"
        apart = ""
        if found.cuts:
            apart = f"; without each part in turn {min(found.cuts):.3f} to {max(found.cuts):.3f}"
        yield f"threshold before calibration: {found.reading.cut:.3f}{apart}"
    yield f"levels: medium from {medium:.3f}, " + ("none high" if high == NEVER else f"high from {high:.3f}")
    if found.tuned.promise:
        yield f"Promise: {found.tuned.promise}."


def _band(stage: Stage) -> str:
    accept = "" if stage.accept is None else f"grounded below {stage.accept:.3f}"
    flag = "" if stage.flag is None else f"hallucinated from {stage.flag:.3f} on"
    return f"stage {stage.name}: " + (", ".join(filter(None, (accept, flag))) or "decides the rest")


def _line(found: Tuning) -> Sequence[Stage]:
    return getattr(found.detector, "line", ())
