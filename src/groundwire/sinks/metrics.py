"""What is counted and measured of outcomes, whoever collects it: names, labels, and what each stands for.

No label holds an id or a text: each has a few values, however many answers there are. What could not be
judged has no score; it is counted by its reason.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from groundwire.core.one_process import OfOneProcess
from groundwire.core.plan import Failed, Reply
from groundwire.core.sink import Sink, Told
from groundwire.core.verdict import Abstention, Outcome, Usage


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric: its ``name`` as OpenTelemetry writes it, and what is told of it.

    ``bounds`` are the upper bounds of a histogram's buckets; what has none is a counter.
    """

    name: str
    help: str
    labels: tuple[str, ...]
    unit: str = ""
    bounds: tuple[float, ...] = ()

    @property
    def exposed(self) -> str:
        """Its name as Prometheus writes it."""
        return self.name.replace(".", "_") + ("_seconds" if self.unit == "s" else "")


VERDICTS = Metric(
    name="groundwire.verdicts",
    help="Judged answers: grounded, hallucinated, or abstained where nobody could tell",
    labels=("verdict", "detector"),
    unit="{answer}",
)
SCORE = Metric(
    name="groundwire.score",
    help="Hallucination scores, from 0 (grounded) to 1 (hallucinated)",
    labels=("detector",),
    bounds=tuple(round(0.05 * step, 2) for step in range(1, 21)),
)
DETECT = Metric(
    name="groundwire.detect",
    help="Seconds that judging an answer took",
    labels=("detector",),
    unit="s",
    bounds=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)
REQUESTS = Metric(
    name="groundwire.judge.requests",
    help="Requests made of judges: answered, or why not",
    labels=("outcome",),
    unit="{request}",
)
TOKENS = Metric(
    name="groundwire.judge.tokens",
    help="Tokens that judges sent (input, or cached_input where the provider had them) and got (output)",
    labels=("type",),
    unit="{token}",
)
ERRORS = Metric(
    name="groundwire.errors",
    help="Answers that could not be judged, by the reason",
    labels=("type",),
    unit="{answer}",
)
COUNTERS = (VERDICTS, REQUESTS, TOKENS, ERRORS)
HISTOGRAMS = (SCORE, DETECT)

DROPPED, FAILED, PENDING = (
    Metric(name=f"groundwire.queue.{name}", help=told, labels=("queue",), unit="{item}")
    for name, told in (
        ("dropped", "What found no room in a queue: answers to judge, outcomes to keep, scores to send"),
        ("failed", "What left a queue and could not be kept or sent"),
        ("pending", "What waits in a queue now"),
    )
)


class MetricsSink(OfOneProcess, Sink):
    """Counts and measures outcomes; a collector says how by ``_add`` and ``_observe``."""

    def send(self, told: Told, where: Any) -> None:
        """Count one outcome. A draft's time was spent, but it is nobody's answer."""
        del where
        outcome, by = told.outcome, {"detector": _detector(told.outcome)}
        if outcome.usage.seconds:  # what was never begun took no time
            self._observe(DETECT, by, outcome.usage.seconds)
        if told.draft:
            return
        self._add(VERDICTS, {"verdict": _verdict(outcome), **by}, 1)
        if isinstance(outcome, Abstention):
            self._add(ERRORS, {"type": str(outcome.why)}, 1)
        else:
            self._observe(SCORE, by, outcome.score)

    def asked(self, replies: Sequence[Reply]) -> None:
        """Count what a judge was asked, and what that took."""
        for reply in replies:
            kind = str(reply.reason) if isinstance(reply, Failed) else "answered"
            self._add(REQUESTS, {"outcome": kind}, 1)
            for of, tokens in _tokens(reply.usage).items():
                if tokens > 0:
                    self._add(TOKENS, {"type": of}, tokens)

    def _add(self, metric: Metric, labels: dict[str, str], amount: int) -> None:
        raise NotImplementedError

    def _observe(self, metric: Metric, labels: dict[str, str], value: float) -> None:
        raise NotImplementedError


class Queues:
    """The queues that are watched: handlers' answers, monitors' outcomes, sinks' scores.

    None is kept alive by being watched. Queues of one name are told together; what a queue that has gone had
    counted when it was last looked at stays counted, for a counter never falls.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: dict[int, _Watched] = {}
        self._gone: dict[tuple[Metric, str], int] = {}

    def watch(self, queue: str, thing: object) -> None:
        """Look at something with ``stats`` or ``counts`` from now on; to be shown it twice is no mistake."""
        with self._lock:
            self._settle()
            self._watched.setdefault(id(thing), _Watched(queue, weakref.ref(thing)))

    def figures(self) -> dict[Metric, dict[str, int]]:
        """What each queue has dropped and failed, and has waiting, by its name."""
        told: dict[Metric, dict[str, int]] = {DROPPED: {}, FAILED: {}, PENDING: {}}
        with self._lock:
            self._settle()
            for (metric, queue), count in self._gone.items():
                told[metric][queue] = count
            for one in self._watched.values():
                for metric, count in one.look():
                    told[metric][one.queue] = told[metric].get(one.queue, 0) + count
        return told

    def _settle(self) -> None:
        """Let go of what has gone."""
        for key, one in list(self._watched.items()):
            if one.thing() is None:
                del self._watched[key]
                for metric in (DROPPED, FAILED):
                    if metric in one.last:
                        known = self._gone.get((metric, one.queue), 0)
                        self._gone[metric, one.queue] = known + one.last[metric]


class _Watched:
    def __init__(self, queue: str, thing: weakref.ref[object]) -> None:
        self.queue = queue
        self.thing = thing
        self.last: dict[Metric, int] = {}

    def look(self) -> Iterator[tuple[Metric, int]]:
        thing = self.thing()
        if thing is None:
            return
        stats = getattr(thing, "stats", None) or getattr(thing, "counts", None)
        for metric, names in _FIELDS.items():
            known = [getattr(stats, name) for name in names if hasattr(stats, name)]
            if known:
                self.last[metric] = sum(known)
                yield metric, self.last[metric]


# What stats call it: a monitor has some waiting in memory and some on disk.
_FIELDS = {DROPPED: ("dropped",), FAILED: ("failed",), PENDING: ("pending", "queued", "spooled")}


def _detector(outcome: Outcome) -> str:
    return outcome.detector.name if outcome.detector else "none"


def _verdict(outcome: Outcome) -> str:
    if isinstance(outcome, Abstention):
        return "abstained"
    return "hallucinated" if outcome.hallucinated else "grounded"


def _tokens(usage: Usage) -> dict[str, int]:
    return {
        "input": usage.input_tokens - usage.cached_tokens,
        "cached_input": usage.cached_tokens,
        "output": usage.output_tokens,
    }
