"""Many runs at once through one handler, some of which fail, are cancelled, or are given up half-way.

    python -m benchmarks.soak langchain                   # 100,000 runs, as fast as 72 at a time go
    python -m benchmarks.soak llama_index
    python -m benchmarks.soak langchain --minutes 60 --rate 100
    python -m benchmarks.soak --draw build/soak.png build/soak-*.json

Each answer names the question it belongs to, so a record that holds another's is seen. Prints what was found,
writes every second's memory, threads and latencies beside it, and ends with 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks.soak_apps import FAILS, PAUSE, SIDES, BrokenError, Side, answer, question, texts, topic
from groundwire import AbstentionReason, Verdict
from groundwire.host.record import Record

AT_ONCE = 64
THREADS = 8
WAYS = {"call": 0.3, "acall": 0.4, "stream": 0.2, "astream": 0.1}
FATES = {"is whole": 0.76, FAILS[0]: 0.04, FAILS[1]: 0.04, "is cancelled": 0.06, "is given up": 0.1}
FLAT = 0.05
"""Memory that grows by less than this share after the first fifth is called flat."""


@dataclass
class Findings:
    """What became of the runs.

    ``records`` counts the records of each question, by its number, ``whole`` the whole answers; a byte each,
    so that memory does not grow by the watching.
    """

    started: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    records: bytearray = field(default_factory=bytearray)
    whole: bytearray = field(default_factory=bytearray)
    seconds: list[dict[str, float]] = field(default_factory=list)
    live: int = -1
    evicted: int = -1
    dropped: int = -1
    threads: int = -1
    elapsed: float = 0.0

    def hear(self, record: Record) -> None:
        """Take a record, and look whether all in it is of one question."""
        seen, outcome = record.interaction, record.outcome
        said = "verdict" if isinstance(outcome, Verdict) else str(outcome.why)
        self.outcomes[said] += 1
        if seen is None:
            self.wrong.append(f"{record.run_id}: nothing could be read")
            return
        n = topic(seen.question or "topic-1")
        count(self.records, n)
        found = [passage.text for passage in seen.contexts]
        whole = seen.answer == answer(n)
        partial = said == AbstentionReason.PARTIAL_ANSWER and answer(n).startswith(seen.answer)
        right = isinstance(outcome, Verdict) and outcome.hallucinated == (n % 3 == 0)
        if found != texts(n) or not ((whole and right) or partial):
            self.wrong.append(f"{n}: {said}, {seen.answer!r} from {found!r:.80}")

    def problems(self) -> list[str]:
        """What is not as it should be."""
        pairs = list(zip_longest(self.whole, self.records, fillvalue=0))
        missing = [n for n, (whole, records) in enumerate(pairs) if whole and records != 1]
        twice = [n for n, (_, records) in enumerate(pairs) if records > 1]
        told = {
            "records that hold another call's": len(self.wrong),
            "whole answers without their one record": len(missing),
            "answers with several records": len(twice),
            "runs left in the map": self.live,
            "runs given up for lack of room": self.evicted,
            "answers dropped": self.dropped,
            "threads left": max(0, self.threads - 1),
        }
        wrong = [f"{number} {what}" for what, number in told.items() if number]
        grown = self.growth()
        return [*wrong, f"memory grew by {grown:.1%}"] if grown > FLAT else wrong

    def growth(self) -> float:
        """By which share memory grew from the end of the first fifth to the last."""
        memory = [second["megabytes"] for second in self.seconds]
        fifth = len(memory) // 5
        if fifth < 2:
            return 0.0
        return statistics.median(memory[-fifth:]) / statistics.median(memory[fifth : 2 * fifth]) - 1


def count(counts: bytearray, n: int) -> None:
    """One more of ``n``, up to 255."""
    if n >= len(counts):
        counts.extend(bytes(n + 1 - len(counts)))
    counts[n] = min(255, counts[n] + 1)


class Soak:
    """Starts runs and watches; ``rate`` is in runs a second, None as fast as they go.

    ``bare`` takes the handler away, and tells what the application does by itself.
    """

    def __init__(self, name: str, *, seed: int = 1, rate: float | None = None, bare: bool = False) -> None:
        self.found = Findings()
        self._heard = threading.Lock()
        self._side: Side = SIDES[name](self._hear)
        if bare:
            self._side.bare()
        self._random = random.Random(seed)
        self._rate = rate
        self._taken: list[float] = []
        self._over = threading.Event()

    def run(self, *, runs: int | None, seconds: float | None = None) -> Findings:
        """So many runs, or for so long; comes back when all are over and judged."""
        started = time.monotonic()
        watcher = threading.Thread(target=self._watch, args=(started,))
        before = threading.active_count()
        watcher.start()
        try:
            asyncio.run(self._everything(runs, None if seconds is None else started + seconds))
        finally:
            gc.collect()
            self._side.close()
            self._over.set()
            watcher.join()
        found = self.found
        found.elapsed = time.monotonic() - started
        found.live = self._side.live()
        found.dropped = self._side.handler.stats.dropped
        found.evicted = getattr(self._side.handler, "evicted_runs", 0) or getattr(
            self._side.handler, "evicted_spans", 0
        )
        deadline = time.monotonic() + 5
        while threading.active_count() > before and time.monotonic() < deadline:
            time.sleep(0.05)  # the handler's own end when they are idle
        found.threads = threading.active_count() - before + 1
        return found

    def _hear(self, record: Record) -> None:
        with self._heard:
            self.found.hear(record)

    async def _everything(self, runs: int | None, until: float | None) -> None:
        room = asyncio.Semaphore(AT_ONCE)
        loop, started = asyncio.get_running_loop(), time.monotonic()
        # LangChain leaves the ends of streams that were given up in tasks that nobody asks.
        loop.set_exception_handler(lambda *_: None)
        going: set[asyncio.Future[None]] = set()
        with ThreadPoolExecutor(THREADS) as pool:
            n = 0
            while (runs is None or n < runs) and (until is None or time.monotonic() < until):
                n += 1
                if self._rate is not None:
                    await asyncio.sleep(max(0.0, started + n / self._rate - time.monotonic()))
                await room.acquire()
                way = self._random.choices(list(WAYS), list(WAYS.values()))[0]
                fate = self._random.choices(list(FATES), list(FATES.values()))[0]
                self.found.started[fate] += 1
                if way.startswith("a"):
                    task: asyncio.Future[None] = asyncio.ensure_future(self._arun(n, way, fate))
                else:
                    task = loop.run_in_executor(pool, self._run, n, way, fate)
                going.add(task)
                task.add_done_callback(going.discard)
                task.add_done_callback(lambda _: room.release())
            while going:
                await asyncio.wait(list(going))
        gc.collect()  # streams that were let go of end when they are collected

    def _run(self, n: int, way: str, fate: str) -> None:
        """One run in a thread; a call can't be cancelled there, so it is given up, too, where it can be."""
        asked, started = question(n, fate), time.perf_counter()
        try:
            if way == "call":
                said = self._side.call(asked)
            else:
                tokens = self._side.stream(asked)
                if fate in ("is cancelled", "is given up"):
                    next(tokens)
                    if fate == "is cancelled":
                        tokens.close()  # type: ignore[attr-defined]  # both are generators
                    return
                said = "".join(tokens)
        except BrokenError:
            return
        self._done(n, said, fate, time.perf_counter() - started)

    async def _arun(self, n: int, way: str, fate: str) -> None:
        asked, started = question(n, fate), time.perf_counter()
        try:
            if fate == "is given up" and way == "astream":
                async with aclosing(self._side.astream(asked)) as tokens:  # type: ignore[type-var]  # as above
                    async for _ in tokens:
                        return
            asking = asyncio.ensure_future(self._whole(asked, way))
            if fate == "is cancelled":
                await asyncio.wait([asking], timeout=self._random.uniform(0, 4 * PAUSE))
                asking.cancel()
            said = await asking
        except (BrokenError, asyncio.CancelledError):
            return
        self._done(n, said, fate, time.perf_counter() - started)

    async def _whole(self, asked: str, way: str) -> str:
        if way == "acall":
            return await self._side.acall(asked)
        return "".join([token async for token in self._side.astream(asked)])

    def _done(self, n: int, said: str, fate: str, seconds: float) -> None:
        """A run came to its end with a whole answer, whatever it was meant to do."""
        del fate
        if said != answer(n):
            self.found.wrong.append(f"{n}: the application itself was told {said!r:.80}")
        with self._heard:
            count(self.found.whole, n)
            self._taken.append(seconds)

    def _watch(self, started: float) -> None:
        while not self._over.wait(1):
            with self._heard:
                taken, self._taken = sorted(self._taken), []
            self.found.seconds.append(
                {
                    "at": round(time.monotonic() - started, 1),
                    "megabytes": round(_resident(), 1),
                    "threads": threading.active_count(),
                    "live": self._side.live(),
                    "pending": self._side.handler.stats.pending,
                    "runs": self.found.started.total(),
                    "p50": round(1e3 * taken[len(taken) // 2], 2) if taken else 0.0,
                    "p95": round(1e3 * taken[int(len(taken) * 0.95)], 2) if taken else 0.0,
                }
            )


def _resident() -> float:
    """Megabytes of memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def told(name: str, found: Findings) -> str:
    """What was found, as a table."""
    seconds = found.seconds or [{"megabytes": 0.0, "threads": 0, "live": 0, "p50": 0.0, "p95": 0.0}]
    middle = [second["p95"] for second in seconds if second["p95"]]
    rows = {
        "runs": f"{found.started.total():,} in {found.elapsed:.0f} s",
        "that failed, were cancelled, were given up": ", ".join(
            f"{sum(found.started[fate] for fate in fates):,}"
            for fates in (FAILS, ("is cancelled",), ("is given up",))
        ),
        "outcomes": ", ".join(f"{number:,} {what}" for what, number in found.outcomes.most_common()),
        "whole answers": f"{sum(found.whole):,}",
        "records that hold another call's": f"{len(found.wrong)}",
        "runs left in the map; most at a time": f"{found.live}; {max(s['live'] for s in seconds):.0f}",
        "threads, most at a time": f"{max(s['threads'] for s in seconds):.0f}",
        "memory, MB: after a fifth, at the end": f"{seconds[len(seconds) // 5]['megabytes']:.0f}, "
        f"{seconds[-1]['megabytes']:.0f} ({found.growth():+.1%})",
        "p95 of a run, ms: median of the seconds": f"{statistics.median(middle):.1f}" if middle else "-",
    }
    return "\n".join(
        [f"| {name} | |", "|---|---|", *(f"| {what} | {value} |" for what, value in rows.items())]
    )


def draw(file: Path, kept: Sequence[Path]) -> None:
    """Memory by runs, of soaks that went as fast as they could; latency by time, of those at a set rate."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - only to draw

    figure = Figure(figsize=(9, 5), layout="constrained")
    memory, latency = figure.subplots(2, 1)
    for path in kept:
        soak: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        seconds, name = soak["seconds"], soak["name"]
        if soak["rate"] is None:
            memory.plot([s["runs"] for s in seconds], [s["megabytes"] for s in seconds], label=name)
            continue
        ended = [s for s in seconds if s["p95"]]  # in some seconds no run ends
        minutes = [ended[at : at + 60] for at in range(0, len(ended), 60)]
        at = [minute[0]["at"] / 60 for minute in minutes]
        (line,) = latency.plot(at, _medians(minutes, "p50"), label=f"{name}, p50")
        latency.plot(at, _medians(minutes, "p95"), ":", color=line.get_color(), label=f"{name}, p95")
    memory.set(xlabel="runs", ylabel="resident memory, MB")
    latency.set(xlabel="minutes", ylabel="a whole run, ms")
    for axis in (memory, latency):
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    figure.savefig(file, dpi=110)


def _medians(minutes: Sequence[Sequence[dict[str, float]]], name: str) -> list[float]:
    return [statistics.median(second[name] for second in minute) for minute in minutes]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("side", nargs="?", choices=SIDES)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, help="for so long, instead of --runs")
    parser.add_argument("--rate", type=float, help="runs a second, instead of as fast as they go")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--bare", action="store_true", help="without the handler: what is the application's own"
    )
    parser.add_argument("--keep", type=Path, default=Path("build"), help="folder for each second's figures")
    parser.add_argument("--draw", type=Path, nargs="+", metavar="FILE", help="a PNG, and what was kept")
    given = parser.parse_args()
    if given.draw:
        draw(given.draw[0], given.draw[1:])
        return 0
    if given.side is None:
        parser.error(f"name what to soak: {', '.join(SIDES)}")
    runs, seconds = (None, 60 * given.minutes) if given.minutes else (given.runs, None)
    found = Soak(given.side, seed=given.seed, rate=given.rate, bare=given.bare).run(
        runs=runs, seconds=seconds
    )
    given.keep.mkdir(parents=True, exist_ok=True)
    name = f"{given.side}, bare" if given.bare else given.side
    kept = given.keep / f"soak-{name.replace(', ', '-')}.json"
    kept.write_text(
        json.dumps({"name": name, "rate": given.rate, "seconds": found.seconds}), encoding="utf-8"
    )
    print(told(name, found))
    if given.bare:
        return 0
    for one in found.wrong[:10]:
        print(one, file=sys.stderr)
    problems = found.problems()
    print(*problems or ["nothing is wrong"], sep="\n", file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
