"""How sure a measured figure is, and whether two differ: resampling by source.

Answers to one source stand or fall together, so sources are drawn, and not answers (Field and Welsh, 2007).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundwire.bench import metrics
from groundwire.bench.metrics import Flagged, Floats, Labelled, Paired, Sample, auroc
from groundwire.core.tuned import Figure

ROUNDS = 300
CONFIDENCE = 0.95
_EXACT = 1e-12  # as near to 0 or 1 as floats come by adding up

S = TypeVar("S", bound=Sample)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """By how much a first method's figure is above a second's on the ``answers`` that both judged.

    ``p`` is how often chance alone would part them at least as far, were they equally good.
    """

    difference: Figure
    p: float
    answers: int


@dataclass(frozen=True)
class Averaged(Generic[S]):
    """A measure on each stratum by itself, and the mean of these.

    A stratum whose labels leave it without meaning is left out. Where it is what a method did that leaves it
    so, as precision where nothing is flagged, the mean is NaN: one of the others would be of other answers
    than another method's.
    """

    measure: Callable[[S], float]

    def __call__(self, data: S) -> float:
        return float(np.mean([self.measure(part) for part in self.parts(data)]))

    def parts(self, data: S) -> list[S]:
        """The strata on which a method that is always right has a figure; all of them where it has none."""
        if data.strata is None:
            return [data]
        strata = [data.at(members) for members in _strata(data)] or [data]
        return [part for part in strata if not np.isnan(self.measure(part.right()))] or strata


def figure(measure: Callable[[S], float], data: S, rounds: int = ROUNDS) -> Figure | None:
    """A measure with its interval; None where it means nothing on these answers.

    Of answers without a mistake, or without a hit, every resample is the same. The interval of such a share
    is then that of none in so many sources.
    """
    value = measure(data) if len(data) else float("nan")
    if np.isnan(value):
        return None
    low, high = interval(measure, data, rounds)
    if low == high and (least := _least(measure, data)) is not None:
        low = least if value > 1 - _EXACT else low
        high = 1 - least if value < _EXACT else high
    return Figure(value=value, low=low, high=high)


def interval(
    measure: Callable[[S], float], data: S, rounds: int = ROUNDS, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The middle of a measure over resampled sources; ``confidence`` is how much of it.

    Resamples on which the measure is NaN are left out; NaN where it is on all of them.
    """
    each, parts = _parted(measure, data)
    values = [
        [each(replace(part, weights=weights)) for weights in resamples(part, rounds, seed=at)]
        for at, part in enumerate(parts)
    ]
    return _middle(_mean(values), confidence)


def resamples(data: Sample, rounds: int = ROUNDS, *, seed: int = 0) -> Iterator[Floats]:
    """The weights of the answers in each of so many draws of groups, with replacement, in every stratum."""
    rng = np.random.default_rng(seed)
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

    Both are read as ranks, and under the hypothesis that they are equally good each source's may be
    exchanged: the share of random exchanges that part them as far is ``p`` (a paired permutation test). None
    where the measure means nothing.
    """

    def ranked(data: Labelled) -> Labelled:
        return replace(data, scores=_ranks(data.scores))

    def exchanged(one: Labelled, other: Labelled, which: NDArray[np.bool_]) -> tuple[Labelled, Labelled]:
        return (
            replace(one, scores=np.where(which, other.scores, one.scores)),
            replace(other, scores=np.where(which, one.scores, other.scores)),
        )

    each, ones = _parted(measure, first)
    pairs = [
        (ranked(one), ranked(other)) for one, other in zip(ones, _parted(measure, second)[1], strict=True)
    ]
    return _compared(each, pairs, exchanged, rounds)


def compare_flags(
    measure: Callable[[Flagged], float], first: Flagged, second: Flagged, rounds: int = ROUNDS
) -> Difference | None:
    """The same for a measure of what two methods flagged."""

    def exchanged(one: Flagged, other: Flagged, which: NDArray[np.bool_]) -> tuple[Flagged, Flagged]:
        return (
            replace(one, flagged=np.where(which, other.flagged, one.flagged)),
            replace(other, flagged=np.where(which, one.flagged, other.flagged)),
        )

    each, ones = _parted(measure, first)
    pairs = list(zip(ones, _parted(measure, second)[1], strict=True))
    return _compared(each, pairs, exchanged, rounds)


def _compared(
    measure: Callable[[S], float],
    pairs: Sequence[tuple[S, S]],
    exchanged: Callable[[S, S, NDArray[np.bool_]], tuple[S, S]],
    rounds: int,
) -> Difference | None:
    answers = sum(len(one) for one, _ in pairs)
    value = float(np.mean([measure(one) - measure(other) for one, other in pairs])) if answers else np.nan
    if np.isnan(value):
        return None
    drawn, swapped = [], []
    for at, (one, other) in enumerate(pairs):
        drawn.append(
            [
                measure(replace(one, weights=weights)) - measure(replace(other, weights=weights))
                for weights in resamples(one, rounds, seed=at)
            ]
        )
        which, count = _coded(one.groups)
        rng = np.random.default_rng((1, at))
        found = []
        for _ in range(rounds):
            mine, theirs = exchanged(one, other, rng.integers(0, 2, count).astype(bool)[which])
            found.append(measure(mine) - measure(theirs))
        swapped.append(found)
    low, high = _middle(_mean(drawn), CONFIDENCE)
    # A NaN can't tell them apart either.
    as_far = ~(np.abs(_mean(swapped)) < abs(value) - 1e-12)
    return Difference(
        difference=Figure(value=value, low=low, high=high),
        p=float(1 + as_far.sum()) / (1 + rounds),
        answers=answers,
    )


def _least(measure: Callable[[S], float], data: S) -> float | None:
    """The share that flawless answers may have on others, the mean over all parts; None if it is no share.

    By the exact interval of a binomial share (Clopper and Pearson, 1934), with each source as one trial.
    """
    each, parts = _parted(measure, data)
    if each not in _RESTS_ON:
        return None
    sources = [
        min(len(np.unique(part.groups[some])) for some in _RESTS_ON[each](part))
        for part in parts
        if not np.isnan(each(part))
    ]
    return float(np.mean([((1 - CONFIDENCE) / 2) ** (1 / max(1, count)) for count in sources]))


def _bad(data: Any) -> NDArray[np.bool_]:
    return np.asarray(data.labels == 1)


_RESTS_ON: Mapping[Callable[..., float], Callable[[Any], Sequence[NDArray[np.bool_]]]] = MappingProxyType(
    {
        metrics.auroc: lambda data: (_bad(data), ~_bad(data)),
        metrics.auroc_within: lambda data: (_bad(data), ~_bad(data)),
        metrics.balanced_accuracy: lambda data: (_bad(data), ~_bad(data)),
        metrics.average_precision: lambda data: (_bad(data),),
        metrics.accuracy: lambda data: (np.ones(len(data), dtype=np.bool_),),
        metrics.precision: lambda data: (data.flagged,),
        metrics.recall: lambda data: (_bad(data),),
        metrics.misses: lambda data: (_bad(data),),
        metrics.f1: lambda data: (_bad(data),),
        metrics.specificity: lambda data: (~_bad(data),),
        metrics.false_alarms: lambda data: (~_bad(data),),
        metrics.span_precision: lambda data: (data.flagged > 0,),
        metrics.span_recall: lambda data: (data.annotated > 0,),
        metrics.span_f1: lambda data: (data.annotated > 0,),
    }
)
"""The answers that each share is of; of several kinds, it is no surer than the rarest lets it be."""


def _parted(measure: Callable[[S], float], data: S) -> tuple[Callable[[S], float], list[S]]:
    """What is measured, and on which parts: strata, for a measure that is a mean of theirs."""
    if isinstance(measure, Averaged):
        return measure.measure, measure.parts(data)
    return measure, [data]


def _mean(values: Sequence[Sequence[float]]) -> Floats:
    """The mean of the parts, a row each, round by round; NaN where all of them are."""
    whole = np.array(values, dtype=np.float64)
    known = ~np.isnan(whole)
    count = known.sum(axis=0)
    total = np.where(known, whole, 0.0).sum(axis=0)
    mean: Floats = np.divide(total, count, out=np.full(whole.shape[1], np.nan), where=count > 0)
    return mean


def _middle(values: Floats, confidence: float) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if not len(known):
        return float("nan"), float("nan")
    outside = 50 * (1 - confidence)
    low, high = np.percentile(known, [outside, 100 - outside])
    return float(low), float(high)


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
