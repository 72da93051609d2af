"""Whether what the detector says of new answers is unlike what it said at first.

The first answers are the reference; the latest ones are compared with it again and again, their scores by the
test of Kolmogorov and Smirnov, the share that could not be judged by Fisher's. Each comparison has so small a
part of the false-alarm rate that all comparisons within a thousand answers together keep it (Bonferroni),
however much their windows overlap. Nothing here reads a database.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np

from groundwire.core.errors import ConfigurationError
from groundwire.monitor.answer import microseconds, moment
from groundwire.monitor.statistics import Floats, fisher, smirnov, stability

_PER = 1000  # answers that the false-alarm rate is about
_FEWEST = 20  # scores in a window, below which their distribution is not compared
_AT_ONCE = 2000  # windows that are compared together
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
        if not isinstance(self.false_alarms, int | float) or not 0 < self.false_alarms < 1:
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
    ``tags`` are those of the monitor that watches.
    """

    what: Drifting
    row: int
    at: datetime
    before: float
    now: float
    p: float
    stability: float | None
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """One sentence for a log or a pager."""
        of = "".join(f"; {name}={value}" for name, value in self.tags.items())
        if self.what is Drifting.SCORES:
            return (
                f"hallucination scores drift: their mean was {self.before:.2f} and is {self.now:.2f} "
                f"(stability index {self.stability:.2f}, p {self.p:.1g}{of})"
            )
        return (
            f"the share of answers that can't be judged drifts: it was {self.before:.1%} and is "
            f"{self.now:.1%} (p {self.p:.1g}{of})"
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
            "tags": dict(self.tags),
        }


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The latest answers beside the first ones.

    They are compared by ``settings``. ``reference`` and ``latest`` are scores, NaN where an answer could not
    be judged; the latter is shorter than the window where there are not enough answers. ``p`` is the chance
    of so wide a gap between their distributions, ``p_missing`` that between their shares of abstentions,
    without drift; below ``chance`` there is an alarm. Figures are None where there is too little to compare.
    ``alarms`` are those of the whole history, but for ``skipped`` answers after the reference that were not
    looked at. ``windows`` were compared: that none raised an alarm says something only where there were some.
    ``up`` still drifts: its alarm was raised, and its cause has not gone since.
    """

    settings: Drift
    has_reference: bool
    reference: Floats
    latest: Floats
    p: float | None
    stability: float | None
    p_missing: float | None
    chance: float
    skipped: int
    windows: int
    alarms: tuple[Alarm, ...]
    up: tuple[Drifting, ...]


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
        self._reference = self._made()
        self._window: deque[float | None] = deque(last, maxlen=settings.window)
        self._times: deque[int] = deque(maxlen=settings.window)

    @property
    def has_reference(self) -> bool:
        """Whether there is something to compare with yet."""
        return self._reference is not None

    def hear(self, score: float | None, at: datetime) -> list[Alarm]:
        """One answer's score, None if it could not be judged; the alarms that it raises."""
        self._rows += 1
        if self._reference is None:
            self._first.append(score)
            self._reference = self._made()
            return []
        self._window.append(score)
        self._times.append(microseconds(at))
        since = self._rows - self._settings.reference
        if len(self._window) < self._settings.window or since % self._settings.step:
            return []
        window = np.array(self._window, dtype=float)
        (p,) = self._reference.chances(window[None])
        return list(self._reference.alarms(window, p, row=self._rows, at=at))

    def is_over(self, what: Drifting, *, since: int) -> bool:
        """Whether what drifted at a microsecond does not in the last window, which is of later answers alone.

        Answers that another watch has heard may be of before.
        """
        later = len(self._times) == self._settings.window and self._times[0] > since
        return later and self._reference is not None and what in self._reference.over

    def _made(self) -> _Reference | None:
        enough = len(self._first) == self._settings.reference
        return _Reference(self._settings, np.array(self._first, dtype=float)) if enough else None


def standing(settings: Drift, scores: Floats, times: Sequence[int], skipped: int = 0) -> Standing:
    """How the latest of these answers stand, and every alarm that a watch of them all would have raised.

    ``scores`` are NaN where an answer could not be judged, ``times`` microseconds since 1970. ``skipped``
    answers that follow the reference are not among them.
    """
    first, later = scores[: settings.reference], scores[settings.reference :]
    latest = later[-settings.window :]
    found: list[Alarm] = []
    p = p_missing = moved = None
    windows, up = 0, set[Drifting]()
    if has_reference := len(first) == settings.reference:
        reference = _Reference(settings, first)
        ends = np.arange(settings.step, len(later) + 1, settings.step)
        ends = ends[ends >= settings.window]
        windows = len(ends)
        for start in range(0, windows, _AT_ONCE):
            some = ends[start : start + _AT_ONCE]
            views = np.lib.stride_tricks.sliding_window_view(later, settings.window)[some - settings.window]
            for end, window, chance in zip(some.tolist(), views, reference.chances(views), strict=True):
                row = settings.reference + end
                found += reference.alarms(window, chance, row=skipped + row, at=moment(times[row - 1]))
        up = reference.raised
        (p,) = reference.chances(latest[None])
        known = latest[~np.isnan(latest)]
        moved = stability(reference.scores, known) if p is not None else None
        p_missing = reference.missing_chance(latest) if len(latest) else None
    return Standing(
        settings=settings,
        has_reference=has_reference,
        reference=first,
        latest=latest,
        p=p,
        stability=moved,
        p_missing=p_missing,
        chance=settings.chance,
        skipped=skipped,
        windows=windows,
        alarms=tuple(found),
        up=tuple(sorted(up)),
    )


class _Reference:
    """What windows are compared with, and which alarms are up."""

    def __init__(self, settings: Drift, first: Floats) -> None:
        self._settings = settings
        self._count = len(first)
        self.scores = np.sort(first[~np.isnan(first)])
        self.raised: set[Drifting] = set()
        self.over: set[Drifting] = set()  # as of the last window
        self._fisher: dict[tuple[int, int], float] = {}

    def chances(self, windows: Floats) -> list[float | None]:
        """The chance of so wide a gap without drift, for each window; None where too little is to compare."""
        enough = (~np.isnan(windows)).sum(axis=1) >= (_FEWEST if len(self.scores) >= _FEWEST else np.inf)
        told = iter(smirnov(self.scores, windows[enough]).tolist() if enough.any() else ())
        return [next(told) if one else None for one in enough]

    def missing_chance(self, window: Floats) -> float:
        missing, missing_now = self._count - len(self.scores), int(np.isnan(window).sum())
        key = (missing_now, len(window) - missing_now)
        if key not in self._fisher:
            self._fisher[key] = fisher(missing, len(self.scores), *key)
        return self._fisher[key]

    def alarms(self, window: Floats, p: float | None, *, row: int, at: datetime) -> Iterator[Alarm]:
        """The new alarms of a window, whose chance is ``p``."""
        self.over = set()
        if p is not None and self._is_new(Drifting.SCORES, p):
            recent = window[~np.isnan(window)]
            yield Alarm(
                what=Drifting.SCORES,
                row=row,
                at=at,
                before=float(self.scores.mean()),
                now=float(recent.mean()),
                p=p,
                stability=stability(self.scores, recent),
            )
        p = self.missing_chance(window)
        if self._is_new(Drifting.ABSTENTIONS, p):
            before, now = 1 - len(self.scores) / self._count, float(np.isnan(window).mean())
            yield Alarm(
                what=Drifting.ABSTENTIONS, row=row, at=at, before=before, now=now, p=p, stability=None
            )

    def _is_new(self, what: Drifting, p: float) -> bool:
        if p >= _OVER:
            self.raised.discard(what)
            self.over.add(what)
        if p >= self._settings.chance or what in self.raised:
            return False
        self.raised.add(what)
        return True
