"""A run over sixty answers in a process of its own, that dies while it judges one of them.

    python -m tests.bench.killed RECORD ASKED DIE_AT CONCURRENCY

Each answer that a detector begins to judge adds a line to ASKED. At the DIE_AT-th, the process is killed.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from groundwire import Checker, Verdict
from groundwire.bench.runs import judge
from groundwire.core import wire
from groundwire.core.detector import Detector
from tests.bench.answers import example

ROWS = 60
LOCK = threading.Lock()
STATE = {"count": 0}


@dataclass(frozen=True, kw_only=True)
class Mortal(Detector):
    """A score by the answer; it takes a moment, and may take the process with it."""

    name = "mortal"
    version = "1"

    def detect(self, interaction):
        yield from ()
        os.write(STATE["asked"], f"{interaction.answer}\n".encode())
        with LOCK:
            STATE["count"] += 1
            last = STATE["count"] == STATE["die at"]
        time.sleep(0.001)
        if last:
            os.kill(os.getpid(), signal.SIGKILL)
        score = random.Random(interaction.answer).random()
        return Verdict.graded(score, self.grading, detector=self.spec)


def examples():
    return [example(n, label=n % 3 == 0) for n in range(ROWS)]


def main():
    record, asked, die_at, concurrency = sys.argv[1:]
    STATE["asked"] = os.open(asked, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    STATE["die at"] = int(die_at) or None
    judged = judge(examples(), Checker(Mortal()), record=Path(record), concurrency=int(concurrency))
    for one in judged:
        told = wire.encode(one.outcome)
        told["usage"]["seconds"] = None  # the one thing that differs between runs
        sys.stdout.write(json.dumps([one.example.id, told]) + "\n")


if __name__ == "__main__":
    main()
