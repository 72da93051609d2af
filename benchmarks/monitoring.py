"""A monitor at work: a story of 2,000 answers and a reviewer who errs, what keeping costs, and what reading.

    python -m benchmarks.monitoring [--part story|load|away|pages] [--seconds 60] [--rows 100000]

The story's answers are summaries and replies in talks (SummEval, and Q2's of Wizard of Wikipedia), judged by
the ``lexical`` detector, whose threshold is meant for answers to questions. After 1,000 of them 400 are
reviewed, and the detector is tuned anew. From the 1,001st on the retriever's index is broken: every answer
stands beside another one's passages.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from groundwire import Checker, Interaction, Verdict
from groundwire.core.keeper import Keeper
from groundwire.core.plan import Plan
from groundwire.core.verdict import Outcome
from groundwire.detectors import get
from groundwire.langchain import GroundwireCallbackHandler
from groundwire.learning import retune
from groundwire.monitor import Filter, Kept, Monitor, Rate

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("GROUNDWIRE_DATA", ROOT.parent / "shared" / "data"))
SETS = ("summeval", "q2_wow")
ANSWERS = 2000
BROKEN_FROM = 1000
ERRS = 0.05
CHAINS = 64
TURNS = 6
PARTS = ("story", "load", "away", "pages")


def interactions(data: Path) -> Iterator[tuple[Interaction, bool]]:
    """2,000 answers and whether each is hallucinated, in an order that does not change."""
    rows = []
    for name in SETS:
        with gzip.open(data / "eval" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as stream:
            rows += [json.loads(line) for line in stream]
    random.Random(0).shuffle(rows)
    rows = rows[:ANSWERS]
    for number, row in enumerate(rows):
        broken = number >= BROKEN_FROM
        context = rows[(number + ANSWERS // 3) % ANSWERS]["context"] if broken else row["context"]
        yield (
            Interaction(
                question=row["question"] or None,
                contexts=context,
                answer=row["answer"],
                metadata={"set": row["dataset"], "truth": int(row["label"] or broken)},
            ),
            bool(row["label"]) or broken,
        )


def story(monitor: Monitor, data: Path, checker: Checker) -> Iterator[str]:
    """The story, which halts after "reviewed" and after "broken".

    1,000 answers are judged and kept, and 400 of them reviewed, 300 of a fair sample and 100 flagged ones;
    then come 1,000 with a broken index.
    """
    rows = [interaction for interaction, _ in interactions(data)]
    checker = Checker(checker.detector, policy=checker.policy, monitor=monitor)
    for _ in checker.check_many(rows[:BROKEN_FROM]):
        pass
    monitor.flush()
    chance = random.Random(0)
    for queue, count in (("random", 300), ("flagged", 100)):
        for kept in monitor.next("simulated", queue=queue, limit=count):
            monitor.review(kept.id, _opinion(kept, chance), reviewer="simulated")
    yield "reviewed"
    for _ in checker.check_many(rows[BROKEN_FROM:]):
        pass
    monitor.flush()
    yield "broken"


def truth(kept: Kept) -> bool:
    """Whether a kept answer of the story is hallucinated."""
    return dict(kept.tags)["truth"] == "1"


def _opinion(kept: Kept, chance: random.Random) -> str:
    agrees = truth(kept) is kept.outcome.hallucinated
    return "agree" if agrees is (chance.random() >= ERRS) else "disagree"


def tell(data: Path) -> None:
    """The story, and its figures beside what is true."""
    with tempfile.TemporaryDirectory() as folder, Monitor(f"sqlite:///{folder}/story.db") as monitor:
        checker = Checker("lexical")
        for halt in story(monitor, data, checker):
            if halt == "reviewed":
                _tell_quality(monitor)
                _tell_retuned(monitor, checker)
        for alarm in monitor.drift()[0]:
            print(f"answer {alarm.row}: {alarm.message}")


def _tell_quality(monitor: Monitor) -> None:
    quality = monitor.figures().quality
    rows = list(monitor.rows())
    right = [kept for kept in rows if kept.outcome.hallucinated and truth(kept)]
    print(f"precision {_shown(quality.precision)}, in truth {len(right) / _flagged(rows):.3f}")
    print(f"recall {_shown(quality.recall)}, in truth {len(right) / sum(map(truth, rows)):.3f}")


def _tell_retuned(monitor: Monitor, checker: Checker) -> None:
    found = retune(monitor, checker)
    tuned, rows = found.tuning.tuned, list(monitor.rows())
    for name, figure, flagged in (
        ("before", found.tuning.before["f1"], [kept.outcome.hallucinated for kept in rows]),
        ("after", found.tuning.after["f1"], [tuned.read(_verdict(kept)).hallucinated for kept in rows]),
    ):
        print(f"F1 {name} {figure}, in truth of all {len(rows)} {f1(rows, flagged):.3f}")
    assert found.tuning.lead is not None
    print(f"gain {found.tuning.lead.difference}, p {found.tuning.lead.p:.3f}; {found.basis}")
    print(*found.warnings, *tuned.warnings, sep="\n")


def f1(rows: Sequence[Kept], flagged: Sequence[bool | None]) -> float:
    """F1 of flags by the truth of the story."""
    hits = sum(bool(flag) and truth(kept) for kept, flag in zip(rows, flagged, strict=True))
    return 2 * hits / (sum(map(truth, rows)) + sum(map(bool, flagged)))


def _verdict(kept: Kept) -> Verdict:
    assert isinstance(kept.outcome, Verdict)
    return kept.outcome


def _shown(rate: Rate | None) -> str:
    return "unknown" if rate is None else f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]"


def _flagged(rows: list[Kept]) -> int:
    return sum(kept.outcome.hallucinated is True for kept in rows)


class Nothing(get("lexical")):  # type: ignore[misc]  # a registered class, known only when it runs
    """A detector that takes no time, so that keeping is all there is to measure."""

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        del interaction
        yield from ()
        return _VERDICT


_VERDICT = Checker("lexical").check(Interaction(contexts="A bag costs 25 EUR.", answer="A bag costs 75 EUR."))


def load(seconds: float) -> None:
    """64 chains at once, each pausing as a model would, with and without a monitor, in turns.

    Pairs of turns are compared, so that whatever else the machine does weighs on both alike.
    """
    from benchmarks.overhead import chain  # noqa: PLC0415 - LangChain is slow to import

    turns: dict[str, list[list[float]]] = {"without": [], "with": []}
    spent: dict[str, list[float]] = {"without": [], "with": []}
    with tempfile.TemporaryDirectory() as folder, Monitor(f"sqlite:///{folder}/load.db") as monitor:
        for turn in range(TURNS):
            order = [("without", None), ("with", monitor)]
            for name, keeper in order if turn % 2 else order[::-1]:
                began = time.process_time()
                turns[name].append(_run(chain(), keeper, seconds / TURNS))
                monitor.flush()
                spent[name].append((time.process_time() - began) * 1000 / len(turns[name][-1]))
        monitor.flush()
        kept, stats = monitor.count(), monitor.stats
    for name, found in turns.items():
        p50, p95 = np.percentile([one for turn in found for one in turn], [50, 95]) * 1000
        print(f"{name}: {sum(map(len, found)):,} calls, p50 {p50:.2f} ms, p95 {p95:.2f} ms")
    for share in (50, 95):
        pairs = [
            (np.percentile(mine, share), np.percentile(theirs, share))
            for mine, theirs in zip(turns["with"], turns["without"], strict=True)
        ]
        ratios = sorted(mine / theirs for mine, theirs in pairs)
        added = sorted((mine - theirs) * 1000 for mine, theirs in pairs)
        print(
            f"p{share} with over without, of {TURNS} pairs of turns: median {np.median(ratios):.3f} "
            f"[{ratios[0]:.3f}, {ratios[-1]:.3f}], added {np.median(added):+.2f} ms"
        )
    more = sorted(mine - theirs for mine, theirs in zip(spent["with"], spent["without"], strict=True))
    print(
        f"of the processor, a call: {np.median(spent['without']):.2f} ms without, added "
        f"{np.median(more):+.2f} ms [{more[0]:+.2f}, {more[-1]:+.2f}], writing included"
    )
    written = sum(map(len, turns["with"]))
    print(f"kept {kept:,} of {written:,}, dropped {stats.dropped}, failed {stats.failed}")


def away(seconds: float) -> None:
    """A database that is locked for so long while outcomes come: what is lost, and in which order."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "away.db"
        interaction = Interaction(contexts="A bag costs 25 EUR.", answer="A bag costs 75 EUR.")
        with Monitor(f"sqlite:///{path}", timeout=0.5, drift=None) as monitor:
            told = []
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            over = time.monotonic() + seconds
            while time.monotonic() < over:
                told.append(monitor.keep(interaction, _VERDICT))
                time.sleep(0.005)
            spooled = monitor.stats.spooled
            other.execute("ROLLBACK")
            other.close()
            began = time.monotonic()
            monitor.flush()
            caught_up, stats = time.monotonic() - began, monitor.stats
            in_order = [kept.id for kept in monitor.rows()] == told
        print(
            f"away for {seconds:g} s: {len(told):,} kept, {spooled:,} of them on disk at its end, "
            f"{stats.written:,} written {caught_up:.1f} s after it, in order: {in_order}, dropped "
            f"{stats.dropped}, failed {stats.failed}"
        )


def pages(rows: int) -> None:
    """How long each thing takes that a reader of many kept answers does."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Monitor(f"sqlite:///{folder}/pages.db", drift=None) as monitor,
    ):
        chance, flagged = random.Random(0), _VERDICT
        assert isinstance(flagged, Verdict)
        for n in range(rows):
            told = replace(flagged, score=chance.uniform(flagged.threshold, 1.0))
            asked = Interaction(
                contexts="A bag costs 25 EUR.", answer=f"Bag {n} costs 75 EUR.", metadata={"route": n % 7}
            )
            monitor.keep(asked, told, durable=n % 1000 == 999)
        monitor.flush()
        middle = monitor.page(queue="uncertain").after
        acts: dict[str, Callable[[], object]] = {
            "the newest": lambda: monitor.page(queue="newest"),
            "the most uncertain, second page": lambda: monitor.page(queue="uncertain", after=middle),
            "a search": lambda: monitor.page(Filter(text="bag 77"), queue="newest"),
            "a filter by tag": lambda: monitor.page(Filter(tags={"route": "3"}), queue="random"),
            "disagreeing detectors": lambda: monitor.page(queue="disagreeing"),
            "a reviewer's next twenty": lambda: monitor.next("ann", limit=20),
            "all figures": monitor.figures,
            "figures by hour": lambda: monitor.over_time(every="hour"),
            "figures by tag": lambda: monitor.by("route"),
        }
        for name, act in acts.items():
            started = time.perf_counter()
            act()
            print(f"{name}: {time.perf_counter() - started:.3f} s of {rows:,} answers")


def _run(chain: object, keeper: Keeper | None, seconds: float) -> list[float]:
    handler = GroundwireCallbackHandler(Checker(Nothing()), monitor=keeper, max_pending=100_000)
    times: list[float] = []
    over = time.monotonic() + seconds

    def work() -> None:
        while time.monotonic() < over:
            started = time.perf_counter()
            chain.invoke("What is the fee?", config={"callbacks": [handler]})  # type: ignore[attr-defined]
            times.append(time.perf_counter() - started)
            time.sleep(0.5)  # as a model would take

    threads = [threading.Thread(target=work) for _ in range(CHAINS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    handler.flush()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rows", type=int, default=100_000)
    given = parser.parse_args()
    parts = given.part or PARTS
    if "story" in parts:
        tell(given.data)
    if "load" in parts:
        load(given.seconds)
    if "away" in parts:
        away(given.seconds)
    if "pages" in parts:
        pages(given.rows)


if __name__ == "__main__":
    main()
