"""How long each page of the review page takes where many answers are kept.

    python -m benchmarks.review [--rows 100000] [--store PATH]

Half of the answers are flagged, 1 in 50 could not be judged, 1 in 100 is reviewed. ``--store`` keeps the
database, and takes one that is there already.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace

from starlette.testclient import TestClient

from benchmarks.pages import RUNS, client_of, run
from groundwire import Abstention, AbstentionReason, Checker, Interaction, Passage, Verdict
from groundwire.core.grading import Grading
from groundwire.monitor import Monitor

QUEUES = ("random", "flagged", "uncertain", "disagreeing", "newest")
TABLES = {
    "all": "",
    "hallucinated": "outcome=hallucinated",
    "hallucinated, not reviewed": "outcome=hallucinated&reviewed=no",
    "reviewed": "reviewed=yes",
    "level medium": "level=medium",
    "score .10 to .12": "score_from=0.10&score_to=0.12",
    "not judged, TIMEOUT": "abstention=TIMEOUT",
    "a tag of 1 in 7": "tag=route%3D3",
    "a tag of 1 in 1000": "tag=user_id%3D77",
    "a detector": "detector=told",
    "a week": "since=2020-01-01&until=2099-01-01",
    "a text in 1 of 1000": "text=bag+777",
    "a text in none": "text=nowhere+to+be+found",
    "most uncertain": "queue=uncertain",
    "disagreeing": "queue=disagreeing",
}


def fill(monitor: Monitor, rows: int) -> None:
    """Keep so many answers of some 1,900 characters."""
    chance = random.Random(0)
    text = "A bag costs 25 EUR in Zone A. " * 50
    answer = "Bag {0} costs 75 EUR, and has to be booked online until 3 hours before departure. " * 3
    flagged = Checker("lexical").check(Interaction(contexts=text, answer=answer.format(1)))
    assert isinstance(flagged, Verdict)
    late = Abstention(why=AbstentionReason.TIMEOUT, detail="no reply within 30 s")
    grading = Grading(threshold=0.5)
    for n in range(rows):
        asked = Interaction(
            question=f"What does bag {n} cost?",
            contexts=[Passage(text=text, id=f"bags-{n % 9}.md")],
            answer=answer.format(n),
            metadata={"route": n % 7, "user_id": n % 1000},
        )
        graded = replace(flagged, claims=()).regraded(grading, score=chance.random())
        monitor.keep(asked, late if n % 50 == 0 else graded, durable=n % 1000 == 999)
    monitor.flush()
    for number, kept in enumerate(monitor.next("Bob", limit=rows // 100)):
        monitor.review(kept.id, ("agree", "disagree")[number % 3 == 0], reviewer="Bob")


def timed(client: TestClient, path: str) -> tuple[float, float]:
    """The median and the longest of some requests, in milliseconds."""
    taken = []
    for _ in range(RUNS):
        started = time.perf_counter()
        assert client.get(path).status_code == 200, path
        taken.append((time.perf_counter() - started) * 1000)
    return sorted(taken)[RUNS // 2], max(taken)


def tell(monitor: Monitor) -> None:
    """Every page's time."""
    client = client_of(monitor)
    client.cookies.set("groundwire-reviewer", "Ann")
    print(f"{monitor.count():,} answers; median and longest of {RUNS}, in milliseconds")
    for queue in QUEUES:
        print(
            "next of the queue {:<16} {:7.0f} {:7.0f}".format(queue, *timed(client, f"/review?queue={queue}"))
        )
    for name, query in TABLES.items():
        page, count = timed(client, f"/answers?{query}"), timed(client, f"/answers/count?{query}")
        print(f"table: {name:<27} {page[0]:7.0f} {page[1]:7.0f}   its count {count[0]:7.0f} {count[1]:7.0f}")
    started = time.perf_counter()
    size = len(client.get("/export?form=csv&outcome=hallucinated").content)
    print(f"export of all hallucinated: {size / 1e6:.0f} MB in {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    run(__doc__, fill, tell)
