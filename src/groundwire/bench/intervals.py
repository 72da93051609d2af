"""How sure a measured figure is, and whether two differ: resampling by source.

Answers to one source stand or fall together, so sources are drawn, and not answers (Field and Welsh, 2007).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundwire.bench.metrics import Flagged, Floats, Labelled, Paired, Sample, auroc

ROUNDS = 300
CONFIDENCE = 0.95

S = TypeVar("S", bound=Sample)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A measured value and the middle 95 % of it over resampled sources."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """By how much a first method's figure is above a second's on the ``answers`` that both judged.

    ``p`` is how often chance alone would part them at least as far, were they equally good.
    """

    difference: Figure
    p: float
    answers: int


def figure(measure: Callable[[S], float], data: S, rounds: int = ROUNDS) -> Figure | None:
    """A measure with its interval; None where it means nothing on these answers."""
    value = measure(data) if len(data) else float("nan")
    if np.isnan(value):
        return None
    low, high = interval(measure, data, rounds)
    return Figure(value=value, low=low, high=high)


def interval(
    measure: Callable[[S], float], data: S, rounds: int = ROUNDS, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The middle of a measure over resampled sources; ``confidence`` is how much of it.

    Resamples on which the measure is NaN are left out; NaN where it is on all of them.
    """
    values = [measure(replace(data, weights=weights)) for weights in resamples(data, rounds)]
    known = [value for value in values if not np.isnan(value)]
    if not known:
        return float("nan"), float("nan")
    outside = 50 * (1 - confidence)
    low, high = np.percentile(known, [outside, 100 - outside])
    return float(low), float(high)


def resamples(data: Sample, rounds: int = ROUNDS) -> Iterator[Floats]:
    """The weights of the answers in each of so many draws of groups, with replacement, in every stratum."""
    rng = np.random.default_rng(0)
    strata = [(members, *_coded(data.groups[members])) for members in _strata(data)]
    for _ in range(rounds):
        weights = data.weights.copy()
        for members, which, count in strata:
            weights[members] *= rng.multinomial(count, np.full(count, 1 / count))[which]
        yield weights


def lead(data: Paired) -> float:
    """By how much the first method's AUROC is above the second's on the same answers."""
    return auroc(data) - auroc(replace(data, scores=data.others))


def compare_scores(
    measure: Callable[[Labelled], float], first: Labelled, second: Labelled, rounds: int = ROUNDS
) -> Difference | None:
    """Whether two methods' scores for the same answers differ in a measure that only asks for their order.

    Both are read as ranks within their stratum, and under the hypothesis that they are equally good each
    source's may be exchanged: the share of random exchanges that part them as far is ``p`` (a paired
    permutation test). None where the measure means nothing.
    """
    mine, theirs = (np.empty(len(first)) for _ in range(2))
    for members in _strata(first):
        mine[members], theirs[members] = _ranks(first.scores[members]), _ranks(second.scores[members])

    def parted(weights: Floats, swapped: NDArray[np.bool_]) -> float:
        one = replace(first, weights=weights, scores=np.where(swapped, theirs, mine))
        other = replace(first, weights=weights, scores=np.where(swapped, mine, theirs))
        return measure(one) - measure(other)

    return _compared(parted, first, rounds)


def compare_flags(
    measure: Callable[[Flagged], float], first: Flagged, second: Flagged, rounds: int = ROUNDS
) -> Difference | None:
    """The same for a measure of what two methods flagged."""
    mine, theirs = first.flagged, second.flagged

    def parted(weights: Floats, swapped: NDArray[np.bool_]) -> float:
        one = replace(first, weights=weights, flagged=np.where(swapped, theirs, mine))
        other = replace(first, weights=weights, flagged=np.where(swapped, mine, theirs))
        return measure(one) - measure(other)

    return _compared(parted, first, rounds)


def _compared(
    parted: Callable[[Floats, NDArray[np.bool_]], float], data: Sample, rounds: int
) -> Difference | None:
    as_judged = np.zeros(len(data), dtype=bool)
    value = parted(data.weights, as_judged) if len(data) else float("nan")
    if np.isnan(value):
        return None
    drawn = [parted(weights, as_judged) for weights in resamples(data, rounds)]
    known = [one for one in drawn if not np.isnan(one)]
    low, high = np.percentile(known, [2.5, 97.5]) if known else (float("nan"), float("nan"))
    which, count = _coded(data.groups)
    rng = np.random.default_rng(1)
    as_far = 0
    for _ in range(rounds):
        other = parted(data.weights, rng.integers(0, 2, count).astype(bool)[which])
        as_far += not abs(other) < abs(value) - 1e-12  # a NaN can't tell them apart either
    return Difference(
        difference=Figure(value=value, low=float(low), high=float(high)),
        p=(1 + as_far) / (1 + rounds),
        answers=len(data),
    )


def _ranks(scores: Floats) -> Floats:
    """Where each score stands among all, in [0, 1]; equal scores stand together."""
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2
    ranks: Floats = middle[place] / max(1, len(scores) - 1)
    return ranks


def _strata(data: Sample) -> list[NDArray[np.intp]]:
    if data.strata is None:
        return [np.arange(len(data))]
    return [np.flatnonzero(data.strata == name) for name in np.unique(data.strata)]


def _coded(groups: NDArray[Any]) -> tuple[NDArray[np.intp], int]:
    names, which = np.unique(groups, return_inverse=True)
    return which, len(names)
