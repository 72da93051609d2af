"""Batches at work: what the engines cost beside a bare pool of processes, and what a kill leaves behind.

    python -m benchmarks.batch [--part speed|kills] [--rows 1000000] [--rounds 3] [--engines local,ray]

``speed`` judges the same rows by a bare ``ProcessPoolExecutor`` over the same units, which only reads,
judges and writes ids with scores; by the local engine; and by tasks of a Ray cluster that is up already. They
take turns, so that a busy minute meets all three. The seconds of processors count, too: a neighbour's work
doesn't add to those. ``kills`` kills a run three times, with everything that belongs to it, and reads what is
there in the end. The detector costs next to nothing (``Cheap``); ``--detector`` names a real one.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from groundwire import Checker, Detector, Interaction, Verdict
from groundwire.batch import Batch, Local, Ray
from groundwire.core.plan import Plan
from groundwire.core.verdict import Outcome

ROOT = Path(__file__).parents[1]
GROUP = int(os.environ.get("UNIT_ROWS", "10000"))  # rows of a unit, here and in the processes below
_LINES = "A bag of up to {} kg costs {} EUR when it is booked before the flight, and more at the airport. "


@dataclass(frozen=True, kw_only=True)
class Cheap(Detector):
    """The share of the answer's words that no passage has, of words cut at blanks."""

    name: ClassVar[str] = "cheap"
    version: ClassVar[str] = "1"

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        yield from ()
        known = {word for passage in interaction.contexts for word in passage.text.split()}
        words = interaction.answer.split()
        share = sum(word not in known for word in words) / max(1, len(words))
        return Verdict.graded(share, self.grading, detector=self.spec)


def checker(detector: str) -> Checker:
    return Checker(Cheap() if detector == "cheap" else detector)


def table(path: Path, rows: int) -> Path:
    """So many answers: a context of 60 words, an answer of 15."""
    schema = pa.schema([(name, pa.string()) for name in ("id", "question", "context", "answer")])
    with pq.ParquetWriter(path, schema) as writer:
        for begin in range(0, rows, GROUP):
            numbers = range(begin, min(begin + GROUP, rows))
            columns = [
                [f"r{n}" for n in numbers],
                [f"What does bag {n} cost?" for n in numbers],
                ["".join(_LINES.format(20 + n % 5, n % 97 + at) for at in range(3)) for n in numbers],
                [_LINES.format(20 + n % 5, n % 97 + n % 4).strip() for n in numbers],
            ]
            writer.write_table(pa.Table.from_arrays(list(map(pa.array, columns)), schema=schema))
    return path


def bare_unit(detector: str, source: str, out: str, group: int) -> int:
    """What anybody would write in ten lines."""
    judge = _bare_checker(detector)
    rows = pq.ParquetFile(source).read_row_group(group).to_pylist()
    scores = [
        judge.check(
            Interaction(question=row["question"], contexts=row["context"], answer=row["answer"], id=row["id"])
        ).score
        for row in rows
    ]
    found = pa.table({"id": [row["id"] for row in rows], "score": scores})
    pq.write_table(found, f"{out}/{group}.parquet")
    return len(rows)


_KEPT: dict[str, Checker] = {}


def _bare_checker(detector: str) -> Checker:
    if detector not in _KEPT:
        _KEPT[detector] = checker(detector)
    return _KEPT[detector]


def bare(source: Path, out: Path, detector: str, pool: ProcessPoolExecutor) -> int:
    out.mkdir()
    groups = range(pq.ParquetFile(source).metadata.num_row_groups)
    return sum(pool.map(partial(bare_unit, detector, str(source), str(out)), groups))


def engine(source: Path, out: Path, detector: str, which: Local | Ray) -> int:
    with Batch([str(source)], str(out), checker=partial(checker, detector), unit_rows=GROUP) as job:
        return job.run(which).stats.rows


def speed(rows: int, rounds: int, engines: list[str], detector: str, processes: int) -> None:
    """Each in turn, ``rounds`` times, from a plan not yet made to a summary written."""
    with tempfile.TemporaryDirectory() as place, _cluster("ray" in engines, processes):
        source = table(Path(place) / "in.parquet", rows)
        known: dict[str, Callable[[Path], int]] = {
            "bare pool": lambda out: _in_a_new_pool(source, out, detector, processes),
            "local": lambda out: engine(source, out, detector, Local(processes=processes)),
            "ray": lambda out: engine(source, out, detector, Ray()),
        }
        runners = {name: known[name] for name in ("bare pool", *engines)}
        took: dict[str, list[float]] = {name: [] for name in runners}
        used: dict[str, list[float]] = {name: [] for name in runners}
        for turn in range(rounds):
            for name, run in runners.items():
                out = Path(place) / f"{name}-{turn}"
                started, before = time.perf_counter(), _processors()
                assert run(out) == rows
                took[name].append(time.perf_counter() - started)
                used[name].append(_processors() - before)
                shutil.rmtree(out)
                told = f"{took[name][-1]:.2f} s, {used[name][-1]:.2f} of processors"
                print(f"  round {turn + 1}: {name} {told}", flush=True)
        print(f"\n{rows:,} rows, {detector}, {processes} processes, {rounds} rounds in turn")
        for name in runners:
            seconds = statistics.median(took[name])
            print(
                f"{name}: median {seconds:.2f} s ({rows / seconds:,.0f} rows/s), of the bare pool's time in "
                f"the same round {_ratios(took[name], took['bare pool'])}, of its processors' time "
                f"{_ratios(used[name], used['bare pool'])}"
            )


def _ratios(seconds: list[float], base: list[float]) -> str:
    ratios = [one / other for one, other in zip(seconds, base, strict=True)]
    return f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"


def _processors() -> float:
    """The seconds of processors that this process and all below it have used, those that ended included."""
    ticks = sum(_ticks(pid) for pid in (os.getpid(), *_family(os.getpid())))
    return ticks / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15]))  # its own in user and system mode, then those of children that ended


def _in_a_new_pool(source: Path, out: Path, detector: str, processes: int) -> int:
    import multiprocessing  # noqa: PLC0415 - the one place that makes a pool

    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        return bare(source, out, detector, pool)


def kills(rows: int, engines: list[str], detector: str) -> None:
    """Killed three times, at random shares of the work, with all that belongs to it; then to the end."""
    for name in engines:
        with tempfile.TemporaryDirectory() as place:
            source, out = table(Path(place) / "in.parquet", rows), Path(place) / "out"
            command = [sys.executable, "-m", "benchmarks.batch", "--part", "child", "--engines", name]
            command += ["--detector", detector, "--source", str(source), "--out", str(out)]
            units, rng = -(-rows // GROUP), random.Random(3)
            for turn in range(3):
                kept = len(list(out.glob("part-*")))
                wanted = kept + rng.randint(units // 10, units // 5)
                child = subprocess.Popen(command, start_new_session=True, cwd=ROOT)
                while len(list(out.glob("part-*"))) < wanted:
                    time.sleep(0.02)
                for pid in (*_family(child.pid), child.pid):
                    _kill(pid)
                child.wait()
                print(f"  {name}: kill {turn + 1} after {len(list(out.glob('part-*')))} units", flush=True)
            started = time.perf_counter()
            subprocess.run(command, cwd=ROOT, check=True)
            ids = ds.dataset(out, format="parquet").to_table(columns=["id"]).column("id")
            there, distinct = len(ids), len(ids.unique())
            print(
                f"{name}: {rows:,} rows in, {there:,} rows out, {distinct:,} distinct; killed 3 times; the "
                f"rest took {time.perf_counter() - started:.1f} s"
            )
            assert there == distinct == rows


def _family(pid: int) -> Iterator[int]:
    """A process's children and theirs, deepest first."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if parent == pid:
            yield from _family(int(stat.parent.name))
            yield int(stat.parent.name)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


class _cluster:  # noqa: N801 - reads as what it is used for
    """A cluster of this machine that is up while the runs are timed; nothing where none is wanted."""

    def __init__(self, wanted: bool, processes: int) -> None:
        self._wanted, self._processes = wanted, processes

    def __enter__(self) -> None:
        if self._wanted:
            import ray  # noqa: PLC0415 - in an extra

            os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
            ray.init(
                num_cpus=self._processes,
                include_dashboard=False,
                log_to_driver=False,
                _node_ip_address="127.0.0.1",
            )

    def __exit__(self, *_: object) -> None:
        if self._wanted:
            import ray  # noqa: PLC0415

            ray.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("speed", "kills", "child"), default="speed")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engines", default="local,ray")
    parser.add_argument("--detector", default="cheap")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--source")
    parser.add_argument("--out")
    given = parser.parse_args()
    engines = given.engines.split(",")
    if given.part == "child":
        engine(Path(given.source), Path(given.out), given.detector, Ray() if engines == ["ray"] else Local())
    elif given.part == "speed":
        speed(given.rows, given.rounds, engines, given.detector, given.processes)
    else:
        kills(given.rows, engines, given.detector)


if __name__ == "__main__":
    main()
