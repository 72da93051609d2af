"""Answers to judge in batches, judges that count what they are asked, and ways to die."""

import json
import os
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from groundwire import (
    Abstention,
    AbstentionReason,
    Checker,
    ConfigurationError,
    Detector,
    Interaction,
    Judge,
    Policy,
    Verdict,
)
from groundwire.core.budget import Budget
from groundwire.judge.limits import Limits
from groundwire.judge.prices import Price
from tests.scripted import AsksModel


def row(n: int) -> dict:
    return {
        "id": f"r{n}",
        "question": "What does it cost?",
        "contexts": [f"Bag {n} costs {n} EUR."],
        "answer": f"Bag {n}",
    }


def jsonl(path: Path, rows) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path


@dataclass(frozen=True, kw_only=True)
class ByAnswer(Detector):
    """A score drawn by the answer, at next to no cost; "fail" abstains, "break" breaks the detector."""

    name: ClassVar[str] = "by-answer"
    version: ClassVar[str] = "1"

    def detect(self, interaction: Interaction):
        yield from ()
        if "fail" in interaction.answer:
            return Abstention(why=AbstentionReason.NO_CLAIMS, detail="it says nothing")
        if "break" in interaction.answer:
            raise KeyError("a bug")
        score = random.Random(interaction.answer).random()
        return Verdict.graded(score, self.grading, detector=self.spec)


def quick() -> Checker:
    return Checker(ByAnswer())


@dataclass(frozen=True, kw_only=True)
class Slow(ByAnswer):
    """Takes its time, so that a kill finds units half done."""

    name: ClassVar[str] = "slow"
    pause: float = 0.002

    def detect(self, interaction: Interaction):
        time.sleep(self.pause)
        return super().detect(interaction)


def slow() -> Checker:
    return Checker(Slow())


@dataclass(frozen=True, kw_only=True)
class Deadly(ByAnswer):
    """Takes the process with it at the answer "die", for as long as the file ``DEADLY`` names is there."""

    name: ClassVar[str] = "deadly"

    def detect(self, interaction: Interaction):
        if interaction.answer == "die" and Path(os.environ["DEADLY"]).exists():
            os._exit(9)
        return super().detect(interaction)


def deadly() -> Checker:
    return Checker(Deadly())


@dataclass(frozen=True)
class Model:
    """A function as a model; each call adds a line to a file that all processes share."""

    asked: str
    broken: str = ""
    garbled: str = ""

    def __call__(self, system: str, user: str) -> str:
        with Path(self.asked).open("a", encoding="utf-8") as file:
            file.write(f"{time.monotonic()} {user}\n")
        if self.broken and Path(self.broken).exists():
            raise ConnectionError("the server is away")
        return "garbled" if self.garbled and Path(self.garbled).exists() else "0.25"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A recipe: a checker with a judge, for any process."""

    asked: str
    broken: str = ""
    garbled: str = ""
    calls: int | None = None
    cost: float | None = None
    requests_per_minute: int | None = None
    timeout: float | None = 60.0

    def __call__(self) -> Checker:
        budget = Budget(calls=self.calls, cost=self.cost) if self.calls or self.cost else None
        model = Model(self.asked, self.broken, self.garbled)
        judge = Judge(
            model,
            limits=Limits(budget=budget, requests_per_minute=self.requests_per_minute),
            max_concurrency=2,
            prices={adapters_name(model): Price(input=1e6)},
        )
        return Checker(Reads(), judge=judge, policy=Policy(timeout=self.timeout))

    def lines(self) -> list[str]:
        path = Path(self.asked)
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@dataclass(frozen=True, kw_only=True)
class Reads(AsksModel):
    """Tells of a reply that is no number."""

    def detect(self, interaction: Interaction):
        try:
            return (yield from super().detect(interaction))
        except ValueError as error:
            return Abstention(why=AbstentionReason.UNREADABLE_REPLY, detail=str(error))


def adapters_name(model) -> str:
    from groundwire.judge.adapters.function import CallableChat

    return CallableChat(model).name


@dataclass(frozen=True, kw_only=True)
class Dying:
    """A recipe whose detector takes the process with it for as long as a file is there."""

    switch: str

    def __call__(self) -> Checker:
        os.environ["DEADLY"] = self.switch
        return deadly()


@dataclass(frozen=True, kw_only=True)
class Verbose(ByAnswer):
    """Gives long reasons; fails on "Bag 1" for as long as a file is there."""

    name: ClassVar[str] = "verbose"
    broken: str

    def detect(self, interaction: Interaction):
        yield from ()
        if interaction.answer == "Bag 1" and Path(self.broken).exists():
            return Abstention(why=AbstentionReason.MODEL_FAILED, detail="away")
        return Verdict.graded(0.1, self.grading, detector=self.spec, reason="x" * 200_000)


@dataclass(frozen=True)
class Wordy:
    """A recipe whose outcomes are long."""

    broken: str

    def __call__(self) -> Checker:
        return Checker(Verbose(broken=self.broken))


@dataclass(frozen=True, kw_only=True)
class OnlyIn:
    """A recipe that works in one process."""

    pid: int

    def __call__(self) -> Checker:
        if os.getpid() != self.pid:
            raise ConfigurationError("not here")
        return quick()
