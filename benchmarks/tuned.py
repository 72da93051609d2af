"""What tuning on labels of one's own is worth, on answers that took no part in it.

    python -m benchmarks.tuned [--data DIR] [--outcomes DIR] [--detectors lexical,embedded]

RAGTruth's answers to sources that neither detector was fitted on, and a set of another kind (QAGS). Every
figure of a tuning comes from nested, grouped cross-validation; intervals are over sources. A detector's own
threshold is measured on the same answers.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import groundwire as gw
from groundwire.bench import tuning
from groundwire.bench.datasets import load
from groundwire.bench.examples import Example
from groundwire.bench.runs import Judged, judge
from training.labelled_sets import RAGTRUTH, TEST, part

ROOT = Path(__file__).resolve().parents[1]
TARGETS = ("f1", "balanced_accuracy", "precision>=0.8", "recall>=0.9", "false_alarms<=0.1 with 0.9")
SHOWN = ("precision", "recall", "f1", "balanced_accuracy", "false_alarms", "brier", "calibration_error")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--outcomes", type=Path, help="a folder to keep outcomes in, and to judge none twice")
    parser.add_argument("--detectors", default="lexical,embedded")
    args = parser.parse_args()
    out = Console(width=None if sys.stdout.isatty() else 200, highlight=False, soft_wrap=True)
    out.print(f"groundwire {gw.__version__}, {time.strftime('%Y-%m-%d')}")
    names = args.detectors.split(",")
    for title, examples in sets(args.data).items():
        checkers = [gw.Checker(name) for name in names]
        judged = [list(run(title, examples, checker, args.outcomes)) for checker in checkers]
        for checker, said in zip(checkers, judged, strict=True):
            out.print(of_detector(f"{title}: {checker.detector.name}", said, checker))
        if len(checkers) > 1:
            out.print(of_stack(f"{title}: stacked {' and '.join(names)}", judged, checkers))


def sets(data: Path) -> dict[str, list[Example]]:
    """The answers by set; of RAGTruth, those to sources that nothing was fitted or calibrated on."""
    ragtruth = [
        one
        for name in RAGTRUTH
        for one in load(data / "train" / f"{name}.jsonl.gz")
        if part({"meta": {"source_id": one.group}}) >= TEST
    ]
    return {"RAGTruth": ragtruth, "QAGS": load(data / "eval" / "qags.jsonl.gz")}


def run(title: str, examples: list[Example], checker: gw.Checker, outcomes: Path | None) -> list[Judged]:
    record = outcomes and outcomes / f"{title}.{checker.detector.name}.jsonl"
    return list(judge(examples, checker, record=record))


def of_detector(title: str, judged: list[Judged], checker: gw.Checker) -> Table:
    table = _table(title)
    told = False
    for target in TARGETS:
        try:
            found = tuning.tune(judged, checker, target=target)
        except tuning.TuningError as error:
            table.add_row(target, str(error))
            continue
        if not told:
            table.add_row("its own", f"{found.own_threshold:.3f}", *_figures(found, tuned=False))
            told = True
        table.add_row(target, f"{found.tuned.grading.threshold:.3f}", *_figures(found, tuned=True))
        for warning in found.tuned.warnings:
            print(f"{title}, {target}: {warning}")
    return table


def of_stack(title: str, judged: list[list[Judged]], checkers: list[gw.Checker]) -> Table:
    table = _table(title)
    try:
        found = tuning.stack(judged, checkers)
    except tuning.TuningError as error:
        table.add_row("f1", str(error))
        return table
    table.add_row(f"f1 ({found.read})", f"{found.tuned.grading.threshold:.3f}", *_figures(found, tuned=True))
    table.add_row("its AUROC, and the first's", str(found.after["auroc"]), str(found.before["auroc"]))
    return table


def _table(title: str) -> Table:
    table = Table(title=title, title_justify="left", box=None)
    for column in ("target", "threshold", *SHOWN):
        table.add_column(column.replace("_", " "))
    return table


def _figures(found: tuning.Tuning, *, tuned: bool) -> list[str]:
    figures = found.after if tuned else found.before
    return [str(figures.get(name, "-")) for name in SHOWN]


if __name__ == "__main__":
    main()
