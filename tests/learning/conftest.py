"""A production whose answers tell their own scores, and a reviewer who knows the truth of each."""

import json
import random

import numpy as np
import pytest

from groundwire import Checker, Interaction
from groundwire.monitor import Monitor
from tests.bench.tuning.drawn import Told
from tests.servers.langsmith_server import langsmith_server, langsmith_tracing

__all__ = ["langsmith_server", "langsmith_tracing"]


class Production:
    """``count`` answers of a detector whose scores part the truth, though not at its threshold of .5."""

    def __init__(self, monitor, *, count=400, checker=None, middle=0.25, seed=0):
        self.monitor, self.checker = monitor, checker or Checker(Told())
        rng = np.random.default_rng(seed)
        truth = rng.random(count) < 0.3
        odds = rng.normal(np.where(truth, 1.2, -1.2) + np.log(middle / (1 - middle)), 1.0)
        self.scores = 1 / (1 + np.exp(-odds))
        self.truth = {}
        for i, score in enumerate(self.scores):
            answer = json.dumps({"score": round(float(score), 6), "claims": [], "number": i})
            seen = Interaction(
                question=f"What is {seed} {i}?",
                contexts=f"Passage {seed} {i}.",
                answer=answer,
                metadata={"document": i // 2},
            )
            key = monitor.keep(seen, self.checker.check(seen))
            self.truth[key] = bool(truth[i])
        monitor.flush()

    def review(self, *, queue="random", limit=150, reviewer="ann"):
        """Have some of a queue reviewed, rightly."""
        for kept in self.monitor.next(reviewer, queue=queue, limit=limit):
            agrees = self.truth[kept.id] is kept.outcome.hallucinated
            self.monitor.review(kept.id, "agree" if agrees else "disagree", reviewer=reviewer)


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """A production of which 150 answers of the random queue are reviewed; nobody reviews more."""
    with Monitor(f"sqlite:///{tmp_path_factory.mktemp('kept')}/kept.db", drift=None) as opened:
        opened._random = random.Random(7)
        production = Production(opened)
        production.review()
        yield production


@pytest.fixture
def monitor(tmp_path):
    with Monitor(f"sqlite:///{tmp_path}/kept.db", drift=None) as opened:
        opened._random = random.Random(7)
        yield opened


@pytest.fixture
def production(monitor):
    return Production(monitor)
