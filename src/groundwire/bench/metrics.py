"""Measures of scores, flags and marked words against labels. Pure functions of arrays.

Every measure weighs each answer, so that resampling is a matter of other weights (see ``intervals``): that is
why these are written out here, where scikit-learn would check its input anew a thousand times. They equal
scikit-learn's, which a test holds them to. NaN says that a measure means nothing on these answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from groundwire.core.span import Span, union

Floats = NDArray[np.float64]
BINS = 15
KNOWS_NOTHING = 0.5  # the AUROC of a score by chance; far below it, labels are the wrong way round


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Answers: what each weighs, the source that it is about, and its stratum.

    Groups and strata are told apart by names or numbers. Resampling keeps the number of groups of each
    stratum; without ``strata`` there is one.
    """

    weights: Floats
    groups: NDArray[Any]
    strata: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.weights)

    def at(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> Self:
        """The answers at these places, in this order; a place may come up several times."""
        kept = {f.name: getattr(self, f.name) for f in fields(self)}
        arrays = {name: values[index] for name, values in kept.items() if isinstance(values, np.ndarray)}
        return replace(self, **arrays)

    def right(self) -> Self:
        """The same answers, as a method that is always right has them."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Labelled(Sample):
    """Answers with labels (1 is hallucinated) and scores in [0, 1].

    ``placed`` is worked out: the scores, the different ones in order, and where each answer's stands. It goes
    along where only weights change, as in resampling, and is worked out anew for other scores.
    """

    labels: NDArray[np.int64]
    scores: Floats
    placed: tuple[Floats, Floats, NDArray[np.intp]] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.placed is None or self.placed[0] is not self.scores:
            cuts, place = np.unique(self.scores, return_inverse=True)
            object.__setattr__(self, "placed", (self.scores, cuts, place))

    def right(self) -> Self:
        """Each scored by its label."""
        return replace(self, scores=self.labels.astype(np.float64))

    def flags(self, threshold: float) -> Flagged:
        """The same answers, each flagged whose score reaches the threshold."""
        return Flagged(
            weights=self.weights,
            groups=self.groups,
            strata=self.strata,
            labels=self.labels,
            flagged=self.scores >= threshold,
        )


@dataclass(frozen=True, kw_only=True)
class Flagged(Sample):
    """Answers with labels (1 is hallucinated), and whether each was flagged."""

    labels: NDArray[np.int64]
    flagged: NDArray[np.bool_]

    def right(self) -> Self:
        """Each flagged by its label."""
        return replace(self, flagged=self.labels.astype(np.bool_))


@dataclass(frozen=True, kw_only=True)
class Paired(Labelled):
    """Answers that two methods scored: ``others`` are the second one's scores."""

    others: Floats


@dataclass(frozen=True, kw_only=True)
class Marked(Sample):
    """Texts with counts of characters: annotated, flagged, and both at once."""

    annotated: Floats
    flagged: Floats
    both: Floats

    def right(self) -> Self:
        """What is annotated is flagged, and nothing else."""
        return replace(self, flagged=self.annotated, both=self.annotated)


@dataclass(frozen=True, kw_only=True)
class Bin:
    """The answers whose score lies in [low, high): their share, mean score and rate of label 1."""

    low: float
    high: float
    answers: int
    share: float
    score: float
    rate: float


def auroc(data: Labelled) -> float:
    """How often a hallucinated answer scores above a faithful one, ties half; NaN where labels are alike."""
    assert data.placed is not None
    _, values, place = data.placed
    bad = np.bincount(place, weights=data.weights * data.labels, minlength=len(values))
    good = np.bincount(place, weights=data.weights * (1 - data.labels), minlength=len(values))
    pairs = bad.sum() * good.sum()
    if not pairs:
        return float("nan")
    return float((bad * (np.cumsum(good) - good / 2)).sum() / pairs)


def auroc_within(data: Labelled) -> float:
    """AUROC over the pairs of answers of one stratum, where scores of several can't be compared."""
    if data.strata is None:
        return auroc(data)
    parts = [data.at(data.strata == name) for name in np.unique(data.strata)]
    pairs = [float((part.weights @ part.labels) * (part.weights @ (1 - part.labels))) for part in parts]
    higher = [auroc(part) * count for part, count in zip(parts, pairs, strict=True) if count]
    return _divided(sum(higher), sum(pairs))


def average_precision(data: Labelled) -> float:
    """Precision at each score, weighed by the recall it adds; NaN where nothing is hallucinated."""
    _, hit, flagged = _from_the_top(data)
    if not len(hit) or not hit[-1]:
        return float("nan")
    gained = np.diff(hit, prepend=0.0) / hit[-1]
    return float((gained * _ratio(hit, flagged)).sum())


def precision_at_recall(data: Labelled, recall: float) -> float:
    """The best precision of a threshold that finds at least this share; NaN where all are grounded."""
    _, hit, flagged = _from_the_top(data)
    if not len(hit) or not hit[-1]:
        return float("nan")
    enough = hit / hit[-1] >= recall - 1e-12
    return float(_ratio(hit, flagged)[enough].max())


def recall_at_precision(data: Labelled, precision: float) -> float:
    """The best recall of any threshold that is at least so precise; 0 where none is."""
    _, hit, flagged = _from_the_top(data)
    if not len(hit) or not hit[-1]:
        return float("nan")
    enough = (_ratio(hit, flagged) >= precision - 1e-12) & (hit > 0)
    return float((hit / hit[-1])[enough].max(initial=0.0))


def best_f1(data: Labelled) -> tuple[float, float]:
    """The best F1 that any threshold reaches on these very labels, and that threshold: an upper bound.

    NaN where none is hallucinated.
    """
    cuts, hit, flagged = _from_the_top(data)
    if not len(hit) or not hit[-1]:
        return float("nan"), float("nan")
    values = _ratio(2 * hit, flagged + hit[-1])
    # Of equal ones, the lowest threshold.
    best = len(values) - 1 - int(values[::-1].argmax())
    return float(values[best]), float(cuts[best])


def brier(data: Labelled) -> float:
    """The mean squared distance between score and label: 0 is perfect, .25 is what always saying .5 gets."""
    whole = data.weights.sum()
    return float((data.weights * (data.scores - data.labels) ** 2).sum() / whole) if whole else float("nan")


def reliability(data: Labelled, bins: int = BINS) -> list[Bin]:
    """Mean score against rate of label 1 over equally wide bins, weighted; empty bins are left out."""
    index = np.minimum((data.scores * bins).astype(int), bins - 1)
    weights, scores, bad, answers = (
        np.bincount(index, weights=values, minlength=bins)
        for values in (
            data.weights,
            data.weights * data.scores,
            data.weights * data.labels,
            (data.weights > 0).astype(float),
        )
    )
    whole = weights.sum()
    return [
        Bin(
            low=b / bins,
            high=(b + 1) / bins,
            answers=int(answers[b]),
            share=float(weights[b] / whole),
            score=float(scores[b] / weights[b]),
            rate=float(bad[b] / weights[b]),
        )
        for b in np.flatnonzero(weights)
    ]


def ece(data: Labelled, bins: int = BINS) -> float:
    """Expected calibration error: the mean gap between score and rate over equally wide bins."""
    return sum(one.share * abs(one.score - one.rate) for one in reliability(data, bins))


def chance_ece(data: Labelled, bins: int = BINS, rounds: int = 100) -> float:
    """The calibration error that these scores would show, on average, if each were exactly right.

    Few answers in a bin differ from their rate by chance: no method can be expected to be below this.
    """
    rng = np.random.default_rng(0)
    drawn = [(rng.random(len(data.scores)) < data.scores).astype(np.int64) for _ in range(rounds)]
    return float(np.mean([ece(replace(data, labels=labels), bins) for labels in drawn]))


def accuracy(data: Flagged) -> float:
    """The share of answers that were told right."""
    return _divided((data.weights * (data.flagged == data.labels)).sum(), data.weights.sum())


def balanced_accuracy(data: Flagged) -> float:
    """The mean of recall and specificity; NaN where labels are alike."""
    return (recall(data) + specificity(data)) / 2


def precision(data: Flagged) -> float:
    """The share of flagged answers that are hallucinated; NaN where none is flagged."""
    flagged = data.weights * data.flagged
    return _divided((flagged * data.labels).sum(), flagged.sum())


def recall(data: Flagged) -> float:
    """The share of hallucinated answers that are flagged; NaN where none is hallucinated."""
    bad = data.weights * data.labels
    return _divided((bad * data.flagged).sum(), bad.sum())


def specificity(data: Flagged) -> float:
    """The share of grounded answers that are not flagged; NaN where none is grounded."""
    good = data.weights * (1 - data.labels)
    return _divided((good * ~data.flagged).sum(), good.sum())


def false_alarms(data: Flagged) -> float:
    """The share of grounded answers that are flagged; NaN where none is grounded."""
    return 1 - specificity(data)


def misses(data: Flagged) -> float:
    """The share of hallucinated answers that are not flagged; NaN where none is hallucinated."""
    return 1 - recall(data)


def f1(data: Flagged) -> float:
    """The harmonic mean of precision and recall; NaN where none is hallucinated, as recall is."""
    flagged, bad = data.weights * data.flagged, data.weights * data.labels
    return (
        _divided(2 * (flagged * data.labels).sum(), flagged.sum() + bad.sum()) if bad.any() else float("nan")
    )


def span_precision(data: Marked) -> float:
    """The share of flagged characters that are annotated, all texts together; NaN where none is flagged."""
    return _divided((data.weights * data.both).sum(), (data.weights * data.flagged).sum())


def span_recall(data: Marked) -> float:
    """The share of annotated characters that are flagged, all texts together; NaN where none is annotated."""
    return _divided((data.weights * data.both).sum(), (data.weights * data.annotated).sum())


def span_f1(data: Marked) -> float:
    """F1 over characters, all texts together; NaN where none is annotated, as recall is."""
    annotated = data.weights * data.annotated
    both = (data.weights * data.both).sum()
    whole = (annotated + data.weights * data.flagged).sum()
    return _divided(2 * both, whole) if annotated.any() else float("nan")


def characters(spans: Iterable[Span]) -> set[int]:
    """The places of the characters that lie in any of the spans."""
    return {at for span in union(spans) for at in range(span.start, span.end)}


def _from_the_top(data: Labelled) -> tuple[Floats, Floats, Floats]:
    """Each score from the highest down, with the weight of what it hits and flags as a threshold."""
    assert data.placed is not None
    _, cuts, place = data.placed
    hit = np.bincount(place, weights=data.weights * data.labels, minlength=len(cuts))
    flagged = np.bincount(place, weights=data.weights, minlength=len(cuts))
    return cuts[::-1], hit[::-1].cumsum(), flagged[::-1].cumsum()


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _divided(above: float, below: float) -> float:
    return float(above / below) if below else float("nan")
