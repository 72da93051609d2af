"""How well, how fast and in how little room the embedded detector judges, beside others.

    python -m benchmarks.embedded [--data DIR] [--part quality|speed|memory|all] [--sample N]
        [--detectors lexical,embedded] [--interactions N] [--lettucedetect PATH] [--json FILE]

Quality: RAGTruth's answers to sources that nothing was fitted on, each task weighing the same, and sets that
took no part at all, beside shortcuts that a detector has to beat, with 95 % intervals over sources. Speed:
one core, 1,000 tokens of context and 150 of answer. Memory: many interactions, and a very long context.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import costs, judged, peers, probes, quality, tables
from benchmarks.judged import Judged, Method, Row
from groundwire import detectors

ROOT = Path(__file__).resolve().parents[1]
TASKS = ("qa", "data2txt", "summary")
MIX = "all"
RAGTRUTH = "ragtruth"
LONG = 100_000


def main() -> None:
    args = parsed()
    names = args.detectors.split(",")
    for name in names:
        detectors.get(name)
    out = Console(width=None if sys.stdout.isatty() else 190, highlight=False, soft_wrap=True)
    record: dict[str, Any] = {"made": circumstances(args)}
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "quality": lambda: of_quality(names, args, out),
        "speed": lambda: of_speed(names, args.checks, out),
        "memory": lambda: of_memory(names, args.interactions, out),
    }
    failed = []
    for part, measure in parts.items():
        if args.part not in (part, "all"):
            continue
        try:
            record[part] = measure()
        except costs.CostError as error:
            failed.append(f"{part}: not measured: {error}")
        keep(record, args.json)
    out.print(tables.to_reach(record, names))
    if failed:
        sys.exit("\n".join(failed))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--part", choices=("quality", "speed", "memory", "all"), default="all")
    parser.add_argument("--detectors", default="lexical,embedded", help="registered names; the main one last")
    parser.add_argument("--sample", type=int, help="at most so many answers of a task or set")
    parser.add_argument("--checks", type=int, default=60, help="how many checks are timed")
    parser.add_argument("--interactions", type=int, default=10_000, help="how many memory is watched over")
    parser.add_argument("--lettucedetect", type=Path, help="a folder with weights of LettuceDetect")
    parser.add_argument("--json", type=Path, help="where to keep all figures")
    return parser.parse_args()


def circumstances(args: argparse.Namespace) -> dict[str, Any]:
    """What has to be known to compare one record with another."""
    return {
        "groundwire": metadata.version("groundwire"),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "when": time.strftime("%Y-%m-%d %H:%M:%S"),
        "options": {key: str(value) for key, value in vars(args).items() if key not in ("data", "json")},
        "detectors": {name: detectors.get(name)().spec.fingerprint for name in args.detectors.split(",")},
    }


def keep(record: Mapping[str, Any], file: Path | None) -> None:
    """Write what is known so far: a part that fails shall not take the others along."""
    if file:
        file.write_text(json.dumps(record, indent=1, default=_plain) + "\n", encoding="utf-8")


def of_quality(names: Sequence[str], args: argparse.Namespace, out: Console) -> dict[str, Any]:
    """Everything about quality, printed as it comes."""
    methods = [*judged.SHORTCUTS, *(judged.detector(name) for name in names)]
    try:
        methods.append(peers.lettucedetect(args.lettucedetect))
        out.print(peers.LETTUCEDETECT_NOTE)
    except peers.NotMeasuredError as error:
        out.print(f"{peers.LETTUCEDETECT}: not measured: {error}")
    mine = names[-1]
    said = {RAGTRUTH: all_judged(methods, judged.held_out(args.data, args.sample), RAGTRUTH, out)}
    cards = {RAGTRUTH: {task: of_task(methods, said[RAGTRUTH], task) for task in (MIX, *TASKS)}}
    out.print(tables.by_task(cards[RAGTRUTH]))
    out.print(tables.calibration({name: cards[RAGTRUTH][MIX][name] for name in names}))
    found = {name: quality.found_by_label(said[RAGTRUTH][name]) for name in names}
    out.print(tables.marked(found))
    sets: dict[str, dict[str, quality.Card]] = {}
    for name in (*judged.SETS, *judged.CORRECTNESS):
        said[name] = all_judged(methods, judged.eval_set(args.data, name, args.sample), name, out)
        spans = judged.SETS.get(name, False)
        sets[name] = {m.name: quality.card(m, said[name][m.name], even=False, spans=spans) for m in methods}
    out.print(tables.sets({name: sets[name] for name in judged.SETS}, "Sets that took no part"))
    title = "Labels are whether the answer is correct, not whether the passages support it"
    out.print(tables.sets({name: sets[name] for name in judged.CORRECTNESS}, title))
    leads = {
        where: {
            other: quality.leads(by_name[mine], by_name[other], even=where == RAGTRUTH)
            for other in names[:-1]
        }
        for where, by_name in said.items()
    }
    out.print(tables.leads(leads, mine))
    weak = quality.weaknesses([one for by_name in said.values() for one in by_name[mine]])
    out.print(tables.weaknesses(weak, mine))
    return {
        "ragtruth": cards[RAGTRUTH],
        "marked": found,
        "sets": sets,
        "leads": leads,
        "weaknesses": [_without_rows(one) for one in weak],
        "probes": probes.report(names),
    }


def all_judged(
    methods: Sequence[Method], rows: Sequence[Row], where: str, out: Console
) -> dict[str, list[Judged]]:
    said = {}
    for method in methods:
        started = time.perf_counter()
        said[method.name] = method.judge(rows)
        if method not in judged.SHORTCUTS:
            out.print(f"{where}: {method.name} judged {len(rows)} in {time.perf_counter() - started:.0f} s")
    return said


def of_task(methods: Sequence[Method], said: dict[str, list[Judged]], task: str) -> dict[str, quality.Card]:
    return {
        method.name: quality.card(
            method,
            [one for one in said[method.name] if task in (MIX, one.row["task"])],
            even=True,
            spans=True,
        )
        for method in methods
    }


def of_speed(names: Sequence[str], checks: int, out: Console) -> dict[str, Any]:
    """Times of checks, of starting, and the room on disk, printed as they come."""
    spent = costs.speed(names, checks)
    started = {name: costs.start(name) for name in names}
    room = {name: costs.room(name) for name in names}
    out.print(tables.speed(spent))
    out.print(tables.start(started, room))
    return {"checks": spent, "start": started, "room": room}


def of_memory(names: Sequence[str], interactions: int, out: Console) -> dict[str, Any]:
    """Memory over many interactions and over one long context, printed as it comes."""
    long = {name: costs.length(name, LONG) for name in names}
    over = {name: costs.memory(name, interactions) for name in names}
    out.print(tables.memory(over))
    out.print(tables.long(long))
    return {"over": over, "long": long}


def _without_rows(weakness: quality.Weakness) -> dict[str, Any]:
    """The figures and the ids of the misses: the texts stay where they are."""
    ids = {name: [one.row["id"] for one in getattr(weakness, name)] for name in ("missed", "alarmed")}
    return {**vars(weakness), **ids}


def _plain(value: Any) -> Any:
    return asdict(value)


if __name__ == "__main__":
    main()
