"""Every offline detector on the same labelled answers, and recorded models beside them.

    python -m benchmarks.compare [--data DIR] [--out FOLDER] [--part offline|finqa|sac3|all]

offline: the sets that took no part in anything, and RAGTruth's answers to sources that nothing was fitted on.
finqa: the verdicts of LLM judges on answers about financial tables, replayed through ``judge`` beside the
offline detectors. sac3: the resampled answers of GPT-3.5, replayed through ``stochastic`` and ``self_eval``.
The labels of the last two say whether the answer is correct, not whether the passages support it.

Each part writes report.html, report.md and report.json to a folder of its own. Outcomes are kept there as
they come, so a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import recorded
from benchmarks.judged import SETS
from groundwire import Abstention, AbstentionReason, Checker, Detector
from groundwire.bench import datasets, page, report, table
from groundwire.bench.comparison import Contestant, compare, contestant
from groundwire.bench.examples import Example, place
from groundwire.bench.runs import Judged
from groundwire.core.verdict import Outcome
from groundwire.detectors.judge import JudgeDetector
from groundwire.detectors.self_eval import SelfEval
from groundwire.detectors.stochastic import Comparison, Stochastic
from training import labelled_sets
from training.labelled_sets import RAGTRUTH, SEED, TEST

ROOT = Path(__file__).resolve().parents[1]
OFFLINE = ("token", "lexical", "embedded")
Rows = Mapping[str, Mapping[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("--part", choices=("offline", "finqa", "sac3", "all"), default="all")
    args = parser.parse_args()
    parts = {"offline": offline, "finqa": finqa, "sac3": sac3}
    for name, measure in parts.items():
        if args.part in (name, "all"):
            measure(args.data, args.out / name)


def offline(data: Path, folder: Path) -> None:
    held_out = [
        one
        for name in RAGTRUTH
        for one in datasets.load(data / "train" / f"{name}.jsonl.gz")
        if place(one.group, seed=SEED) >= TEST
    ]
    sets = {"RAGTruth, held out": held_out}
    sets |= {name: datasets.load(data / "eval" / f"{name}.jsonl.gz") for name in SETS}
    show("Offline detectors", sets, detectors(), folder)


def finqa(data: Path, folder: Path) -> None:
    rows = read(data / "eval" / "finqa_detect.jsonl.gz")
    fresh = {name: row for name, row in rows.items() if not row["meta"]["dup_of_earlier"]}
    examples = [one for one in datasets.load(data / "eval" / "finqa_detect.jsonl.gz") if one.id in fresh]
    judges = list(next(iter(fresh.values()))["meta"]["recorded_judge"])
    told = [
        Contestant(
            name=f"judge: {name}",
            run=replaying(fresh, JudgeDetector(), partial(_judge, name=name), partial(_latency, name=name)),
            locates="words",
        )
        for name in judges
    ]
    show(
        "LLM judges, as recorded, beside offline detectors",
        {"finqa_detect": examples},
        [*detectors(), *told],
        folder,
    )


def sac3(data: Path, folder: Path) -> None:
    path = data / "eval" / "sac3_hotpot.jsonl.gz"
    rows = read(path)
    told = []
    for kind, questions in (("self", "same question"), ("perturb", "reworded")):
        methods: dict[str, Detector] = {
            f"stochastic {comparison}": Stochastic(comparison=comparison, samples=recorded.SAMPLES)
            for comparison in Comparison
        }
        methods["self_eval"] = SelfEval()
        told += [
            Contestant(
                name=f"{name}, {questions}",
                run=replaying(rows, method, partial(recorded.Sampled, kind=kind), _no_latency),
                locates="sentences" if name.startswith("stochastic") else "nothing",
            )
            for name, method in methods.items()
        ]
    show(
        "Resampling, as recorded, beside offline detectors",
        {"sac3_hotpot": datasets.load(path)},
        [*detectors(), *told],
        folder,
    )


def detectors() -> list[Contestant]:
    return [contestant(name, Checker(name)) for name in OFFLINE]


def show(
    title: str, sets: Mapping[str, Sequence[Example]], entered: Sequence[Contestant], folder: Path
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    told = report.told(compare(sets, entered, records=folder / "outcomes", progress=True), title=title)
    out = Console(width=None if sys.stdout.isatty() else 220, highlight=False, markup=False)
    for part in table.terminal(told):
        out.print(part, soft_wrap=isinstance(part, str))
    print(f"Report: {page.write_all(folder, told)[0]}\n")


def replaying(
    rows: Rows,
    detector: Detector,
    judge: Callable[[Mapping[str, Any]], recorded.Recorded | None],
    seconds: Callable[[Mapping[str, Any]], float],
) -> Callable[[Sequence[Example], Path | None, bool], Iterator[Judged]]:
    """Runs a detector on what models once said of these rows; a row of which one said nothing abstains."""

    def run(examples: Sequence[Example], record: Path | None, progress: bool) -> Iterator[Judged]:
        del record, progress  # replaying takes no time
        for example in examples:
            row = rows[example.id]
            said = judge(row)
            outcome: Outcome = Abstention(
                why=AbstentionReason.MODEL_FAILED, detail="no verdict was recorded", detector=detector.spec
            )
            if said is not None:
                outcome = Checker(detector, judge=said).check(example.interaction)
            yield Judged(example=example, outcome=outcome, seconds=seconds(row))

    return run


def read(path: Path) -> Rows:
    return {row["id"]: row for row in labelled_sets.read(path)}


def _judge(row: Mapping[str, Any], name: str) -> recorded.Recorded | None:
    return recorded.Judged(row, name) if row["meta"]["recorded_judge"].get(name) else None


def _latency(row: Mapping[str, Any], name: str) -> float:
    told = row["meta"]["recorded_judge"].get(name) or {}
    return float(told.get("latency_ms") or 0) / 1_000


def _no_latency(row: Mapping[str, Any]) -> float:
    del row
    return 0.0


if __name__ == "__main__":
    main()
