"""Measures of hallucination scores and spans against labels, with intervals over sources.

Pure functions of arrays. Which rows, who judges them and how figures are shown live elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundwire.core.span import Span, union

Floats = NDArray[np.float64]
# The lexical detector's own threshold.
THRESHOLD = 0.4
ROUNDS = 300
BINS = 15
HEADER = f"{'':18} {'n':>5} {'bad':>4}  {'AUROC':20} {'F1 at .4':20} {'best F1':>8} {'at':>5} {'ECE':>6}"


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Answers: what each weighs, the source that it is about, and its stratum.

    Resampling keeps the number of sources of each stratum; without ``strata`` there is one.
    """

    weights: Floats
    sources: NDArray[np.str_]
    strata: NDArray[np.str_] | None = None

    def at(self, index: NDArray[np.intp]) -> Self:
        """The answers at these places, in this order; a place may come up several times."""
        kept = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{name: values[index] for name, values in kept.items() if values is not None})


@dataclass(frozen=True, kw_only=True)
class Labelled(Sample):
    """Answers with labels (1 is hallucinated) and scores in [0, 1]."""

    labels: NDArray[np.int64]
    scores: Floats


@dataclass(frozen=True, kw_only=True)
class Paired(Labelled):
    """Answers that two methods scored: ``others`` are the second one's scores."""

    others: Floats


@dataclass(frozen=True, kw_only=True)
class Marked(Sample):
    """Answers with counts of characters: annotated, flagged, and both at once."""

    annotated: Floats
    flagged: Floats
    both: Floats


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A measured value and the middle 95 % of it over resampled sources."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, kw_only=True)
class Bin:
    """The answers whose score lies in [low, high): their share, mean score and rate of label 1."""

    low: float
    high: float
    answers: int
    share: float
    score: float
    rate: float


S = TypeVar("S", bound=Sample)


def auroc(data: Labelled) -> float:
    """How often a hallucinated answer scores above a faithful one, ties half; NaN where labels are alike."""
    values, place = np.unique(data.scores, return_inverse=True)
    bad = np.bincount(place, weights=data.weights * data.labels, minlength=len(values))
    good = np.bincount(place, weights=data.weights * (1 - data.labels), minlength=len(values))
    pairs = bad.sum() * good.sum()
    if not pairs:
        return float("nan")
    return float((bad * (np.cumsum(good) - good / 2)).sum() / pairs)


def lead(data: Paired) -> float:
    """By how much the first method's AUROC is above the second's on the same answers."""
    return auroc(data) - auroc(replace(data, scores=data.others))


def f1(data: Labelled, threshold: float = THRESHOLD) -> float:
    """F1 of flagging every answer whose score reaches the threshold; 0 where there is nothing to find."""
    found = data.scores >= threshold
    bad = data.weights * data.labels
    whole = data.weights[found].sum() + bad.sum()
    return float(2 * bad[found].sum() / whole) if whole else 0.0


def best_f1(data: Labelled) -> tuple[float, float]:
    """The best F1 that any threshold reaches on these very labels, and that threshold: an upper bound."""
    cuts, place = np.unique(data.scores, return_inverse=True)
    bad = data.weights * data.labels
    # What lies at a cut or above it is flagged.
    flagged = np.bincount(place, weights=data.weights)[::-1].cumsum()[::-1]
    hit = np.bincount(place, weights=bad)[::-1].cumsum()[::-1]
    values = 2 * hit / (flagged + bad.sum())
    best = int(values.argmax())
    return float(values[best]), float(cuts[best])


def reliability(data: Labelled, bins: int = BINS) -> list[Bin]:
    """Mean score against rate of label 1 over equally wide bins, weighted; empty bins are left out."""
    index = np.minimum((data.scores * bins).astype(int), bins - 1)
    whole = data.weights.sum()
    found = []
    for b in np.unique(index):
        inside = index == b
        weights = data.weights[inside]
        found.append(
            Bin(
                low=b / bins,
                high=(b + 1) / bins,
                answers=int(inside.sum()),
                share=float(weights.sum() / whole),
                score=float(np.average(data.scores[inside], weights=weights)),
                rate=float(np.average(data.labels[inside], weights=weights)),
            )
        )
    return found


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


def characters(spans: Iterable[Span]) -> set[int]:
    """The places of the characters that lie in any of the spans."""
    return {at for span in union(spans) for at in range(span.start, span.end)}


def span_f1(data: Marked) -> float:
    """F1 over characters, all answers together; 0 where nothing is annotated nor flagged."""
    annotated, flagged, both = (
        float((data.weights * counts).sum()) for counts in (data.annotated, data.flagged, data.both)
    )
    return 2 * both / (annotated + flagged) if annotated + flagged else 0.0


def interval(measure: Callable[[S], float], data: S, rounds: int = ROUNDS) -> tuple[float, float]:
    """The middle 95 % of a measure over resampled sources.

    Answers to one source come and go together; resamples on which the measure is NaN are left out.
    """
    rng = np.random.default_rng(0)
    strata = [_groups(data, names) for names in _strata(data)]
    values = []
    for _ in range(rounds):
        drawn = [groups[i] for groups in strata for i in rng.integers(0, len(groups), len(groups))]
        values.append(measure(data.at(np.concatenate(drawn))))
    known = [value for value in values if not np.isnan(value)]
    low, high = np.percentile(known, [2.5, 97.5]) if known else (float("nan"), float("nan"))
    return float(low), float(high)


def figure(measure: Callable[[S], float], data: S, rounds: int = ROUNDS) -> Figure | None:
    """A measure with its interval; None where it means nothing on these answers."""
    value = measure(data) if len(data.weights) else float("nan")
    if np.isnan(value):
        return None
    low, high = interval(measure, data, rounds)
    return Figure(value=value, low=low, high=high)


def line(name: str, data: Labelled) -> str:
    """One row under HEADER."""
    best, cut = best_f1(data)
    shown: Sequence[str] = [str(figure(measure, data) or "") for measure in (auroc, f1)]
    bad = float(np.average(data.labels, weights=data.weights))
    return (
        f"{name:18} {len(data.labels):5} {bad:4.2f}  {shown[0]:20} {shown[1]:20} "
        f"{best:8.3f} {cut:5.2f} {ece(data):6.3f}"
    )


def _strata(data: Sample) -> list[NDArray[np.intp]]:
    if data.strata is None:
        return [np.arange(len(data.weights))]
    return [np.flatnonzero(data.strata == name) for name in np.unique(data.strata)]


def _groups(data: Sample, members: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The places of each source's answers among ``members``."""
    _, which = np.unique(data.sources[members], return_inverse=True)
    return [members[which == i] for i in range(int(which.max()) + 1)]
