"""How long the dashboard takes where many answers are kept.

    python -m benchmarks.dashboard [--rows 100000] [--store PATH]

The answers are made up and spread over 60 days: seven routes, two models, two prompt versions, 4 in 100 not
judged, 4 in 100 reviewed; after four fifths of them more are hallucinated. ``--store`` keeps the database,
and takes one that is there already.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from benchmarks.pages import RUNS, client_of, run
from groundwire import Abstention, AbstentionReason, DetectorSpec, Grading, Interaction, Usage, Verdict
from groundwire.core.verdict import Outcome
from groundwire.monitor import Monitor
from groundwire.monitor.answer import Heard, microseconds, row
from groundwire.monitor.sampling import Why
from groundwire.monitor.schema import answers, bodies, feedback, tags

DETECTOR = DetectorSpec(name="told", version="1", parameters={})
GRADING = Grading(threshold=0.5)
PAGES = {
    "all": "",
    "by hour, of a tag with 5,000 values": "every=hour&by=user_id",
    "one route": "tag=route%3D/r3",
    "before and after": "by=prompt_version&before=1&after=2",
}


def heard(rows: int) -> Iterator[tuple[Heard, bool]]:
    """Outcomes over 60 days, and whether each answer is hallucinated."""
    chance = random.Random(3)
    begin = datetime(2026, 9, 1, tzinfo=UTC)
    for n in range(rows):
        bad = chance.random() < 0.06 + 0.02 * (n % 7) + (0.15 if n > 0.8 * rows else 0)
        at = microseconds(begin + timedelta(days=60) * (n / rows))
        asked = Interaction(
            question=f"What does bag {n % max(1, rows // 2)} cost on the night train?",
            contexts="A bag costs 25 EUR. " * 4,
            answer=f"Bag {n} costs 75 EUR.",
            metadata={
                "application": "handbook",
                "model": ("small", "large")[n % 2],
                "route": f"/r{n % 7}",
                "prompt_version": 1 + (n > rows / 2),
                "user_id": n % 5000,
            },
        )
        yield (
            Heard(
                id=f"{at:014x}{n:018x}",
                at=at,
                interaction=asked,
                outcome=_outcome(chance, bad),
                why=Why.SAMPLE,
                chance=chance.random(),
                run_id=None,
                action=None,
                attempt=1,
                draft=False,
            ),
            bad,
        )


def _outcome(chance: random.Random, bad: bool) -> Outcome:
    usage = Usage(calls=1, input_tokens=700, output_tokens=50, seconds=chance.expovariate(3), cost=0.0004)
    if chance.random() < 0.04:
        why = chance.choice([AbstentionReason.TIMEOUT, AbstentionReason.NO_CONTEXT])
        return Abstention(why=why, detail="", detector=DETECTOR, usage=usage)
    score = chance.betavariate(5, 2.5) if bad else chance.betavariate(2, 6)
    return Verdict.graded(score, GRADING, detector=DETECTOR, usage=usage)


def fill(monitor: Monitor, rows: int) -> None:
    """Write so many answers, and what two reviewers who err 1 time in 20 say of some."""
    chance = random.Random(4)
    tables: dict[sa.Table, list[dict[str, Any]]] = {answers: [], bodies: [], tags: [], feedback: []}

    def write() -> None:
        with monitor._database.writing() as connection:  # noqa: SLF001 - its own times are what is to be filled
            for table, values in tables.items():
                if values:
                    connection.execute(sa.insert(table), values)
                values.clear()

    for number, (one, bad) in enumerate(heard(rows)):
        made, reviewed = row(one, None, {}), one.chance < 0.04
        tables[answers].append({**made.answer, "drawn": one.at if reviewed else None, "drawn_flagged": None})
        tables[bodies].append(dict(made.body))
        tables[tags] += [{"answer_id": one.id, "name": name, "value": value} for name, value in made.tags]
        for reviewer in ("ann", "bob")[: reviewed + (reviewed and chance.random() < 0.3)]:
            real = bad is (chance.random() >= 0.05)
            opinion = "unsure" if one.outcome.hallucinated is None else "disagree"
            if real is one.outcome.hallucinated:
                opinion = "agree"
            tables[feedback].append(
                {"answer_id": one.id, "reviewer": reviewer, "at": one.at + 1, "opinion": opinion,
                 "hallucinated": real, "kind": None, "spans": None, "note": "", "source": "page"}
            )  # fmt: skip
        if number % 5000 == 4999:
            write()
    write()


def tell(monitor: Monitor) -> None:
    """The time of each page, and of what it asks the monitor for."""
    client = client_of(monitor)
    print(f"{monitor.count():,} answers; median and longest of {RUNS}, and the median of processor seconds")
    paths = {name: f"/dashboard?{query}" for name, query in PAGES.items()}
    for name, path in {**paths, "error patterns": "/dashboard/patterns?part=1"}.items():
        assert client.get(path).status_code == 200, path
        walls, processor = [], []
        for _ in range(RUNS):
            started, used = time.perf_counter(), time.process_time()
            client.get(path)
            walls.append(time.perf_counter() - started)
            processor.append(time.process_time() - used)
        wall, used = sorted(walls)[RUNS // 2], sorted(processor)[RUNS // 2]
        print(f"{name:<38} {wall:.2f} s, {max(walls):.2f} s, {used:.2f} s")


if __name__ == "__main__":
    run(__doc__, fill, tell)
