"""Whether what the detector says of new answers is unlike what it said at first.

The first answers are the reference; the latest ones are compared with it again and again, their scores by the
test of Kolmogorov and Smirnov, the share that could not be judged by Fisher's. Each comparison has so small a
part of the false-alarm rate that all comparisons within a thousand answers together keep it (Bonferroni),
however much their windows overlap. Nothing here reads a database.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np

from groundwire.core.errors import ConfigurationError
from groundwire.monitor.statistics import Floats, fisher, smirnov, stability

_PER = 1000  # answers that the false-alarm rate is about
_FEWEST = 20  # scores in a window, below which their distribution is not compared
_OVER = 0.1  # chance from which on an alarm counts as over


class Drifting(StrEnum):
    """What drifts: the distribution of scores, or the share of answers that could not be judged."""

    SCORES = "scores"
    ABSTENTIONS = "abstentions"


@dataclass(frozen=True, kw_only=True)
class Drift:
    """How drift is watched for.

    The first ``reference`` answers are what the latest ``window`` are compared with, after every ``step``
    further ones. Where nothing drifts, a thousand answers raise a false alarm with a chance of at most
    ``false_alarms``. Raises ConfigurationError, naming every mistake at once.
    """

    reference: int = 500
    window: int = 150
    step: int = 10
    false_alarms: float = 0.01

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be a whole number from {least} on, not {value!r}"
            for name, value, least in (
                ("reference", self.reference, 50),
                ("window", self.window, _FEWEST),
                ("step", self.step, 1),
            )
            if not isinstance(value, int) or value < least
        ]
        if not 0 < self.false_alarms < 1:
            problems.append(f"false_alarms must be a number between 0 and 1, not {self.false_alarms!r}")
        if problems:
            raise ConfigurationError(*problems)

    @property
    def chance(self) -> float:
        """The chance below which a single comparison raises an alarm."""
        comparisons = -(-_PER // self.step) * len(Drifting)
        return self.false_alarms / comparisons


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """Something drifts.

    ``row`` counts the answers since the reference began, from 1; ``before`` and ``now`` are the mean score,
    or the share of abstentions, of the reference and of the window. ``p`` is the chance of so wide a gap
    without drift; ``stability`` is the population stability index of the scores, None for abstentions.
    """

    what: Drifting
    row: int
    at: datetime
    before: float
    now: float
    p: float
    stability: float | None

    @property
    def message(self) -> str:
        """One sentence for a log or a pager."""
        if self.what is Drifting.SCORES:
            return (
                f"hallucination scores drift: their mean was {self.before:.2f} and is {self.now:.2f} "
                f"(stability index {self.stability:.2f}, p {self.p:.1g})"
            )
        return (
            f"the share of answers that can't be judged drifts: it was {self.before:.1%} and is "
            f"{self.now:.1%} (p {self.p:.1g})"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "what": str(self.what),
            "message": self.message,
            "row": self.row,
            "at": self.at.isoformat(),
            "before": self.before,
            "now": self.now,
            "p": self.p,
            "stability": self.stability,
        }


class Watch:
    """Hears one answer after the other and raises alarms. Not safe to share between threads.

    An alarm is raised once, and again only after its cause was gone for a while. To go on where another watch
    ended, give the number of ``rows`` that it had heard, the ``first`` of them and the ``last``.
    """

    def __init__(
        self,
        settings: Drift,
        *,
        rows: int = 0,
        first: Sequence[float | None] = (),
        last: Iterable[float | None] = (),
    ) -> None:
        self._settings = settings
        self._rows = rows
        self._first = list(first)
        self._scores = _known(self._first)
        self._window: deque[float | None] = deque(last, maxlen=settings.window)
        self._raised: set[Drifting] = set()

    @property
    def has_reference(self) -> bool:
        """Whether there is something to compare with yet."""
        return len(self._first) == self._settings.reference

    def hear(self, score: float | None, at: datetime) -> list[Alarm]:
        """One answer's score, None if it could not be judged; the alarms that it raises."""
        self._rows += 1
        if not self.has_reference:
            self._first.append(score)
            if self.has_reference:
                self._scores = _known(self._first)
            return []
        self._window.append(score)
        since = self._rows - self._settings.reference
        if len(self._window) < self._settings.window or since % self._settings.step:
            return []
        return list(self._compared(at))

    def _compared(self, at: datetime) -> Iterator[Alarm]:
        recent = _known(self._window)
        if len(recent) >= _FEWEST and len(self._scores) >= _FEWEST:
            p = smirnov(self._scores, recent)[1]
            if self._is_new(Drifting.SCORES, p):
                yield Alarm(
                    what=Drifting.SCORES,
                    row=self._rows,
                    at=at,
                    before=float(self._scores.mean()),
                    now=float(recent.mean()),
                    p=p,
                    stability=stability(self._scores, recent),
                )
        first, window = len(self._first), len(self._window)
        missing, missing_now = first - len(self._scores), window - len(recent)
        p = fisher(missing, first - missing, missing_now, window - missing_now)
        if self._is_new(Drifting.ABSTENTIONS, p):
            before, now = missing / first, missing_now / window
            yield Alarm(
                what=Drifting.ABSTENTIONS, row=self._rows, at=at, before=before, now=now, p=p, stability=None
            )

    def _is_new(self, what: Drifting, p: float) -> bool:
        if p >= _OVER:
            self._raised.discard(what)
        if p >= self._settings.chance or what in self._raised:
            return False
        self._raised.add(what)
        return True


def _known(scores: Iterable[float | None]) -> Floats:
    return np.sort(np.array([score for score in scores if score is not None], dtype=float))


def alarms(settings: Drift, told: Iterable[tuple[float | None, datetime]]) -> tuple[list[Alarm], bool]:
    """Every alarm of a history, and whether it was long enough to have a reference."""
    watch = Watch(settings)
    raised = [alarm for score, at in told for alarm in watch.hear(score, at)]
    return raised, watch.has_reference
