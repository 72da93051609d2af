"""Measures of a hallucination score against labels, with intervals over sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score, roc_auc_score

Floats = NDArray[np.float64]
# The lexical detector's own threshold.
THRESHOLD = 0.4
HEADER = f"{'':18} {'n':>5} {'bad':>4}  {'AUROC':20} {'F1 at .4':20} {'best F1':>8} {'at':>5} {'ECE':>6}"


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Scores with labels, weights, and the source that each answer is about."""

    labels: NDArray[np.int64]
    scores: Floats
    weights: Floats
    sources: NDArray[np.str_]

    def at(self, index: NDArray[np.intp]) -> Labelled:
        return Labelled(
            labels=self.labels[index],
            scores=self.scores[index],
            weights=self.weights[index],
            sources=self.sources[index],
        )


def auroc(data: Labelled) -> float:
    return float(roc_auc_score(data.labels, data.scores, sample_weight=data.weights))


def f1(data: Labelled, threshold: float = THRESHOLD) -> float:
    found = data.scores >= threshold
    return float(f1_score(data.labels, found, sample_weight=data.weights, zero_division=0.0))


def best_f1(data: Labelled) -> tuple[float, float]:
    """The best F1 that any threshold reaches on these very labels, and that threshold: an upper bound."""
    cuts = np.linspace(0.02, 0.98, 97)
    return max((f1(data, float(cut)), float(cut)) for cut in cuts)


def ece(data: Labelled, bins: int = 15) -> float:
    """Expected calibration error: the mean gap between score and rate over equally wide bins."""
    index = np.minimum((data.scores * bins).astype(int), bins - 1)
    total = 0.0
    for b in np.unique(index):
        weights = data.weights[index == b]
        gap = np.average(data.scores[index == b] - data.labels[index == b], weights=weights)
        total += float(weights.sum() * abs(gap))
    return total / float(data.weights.sum())


def interval(measure: Callable[[Labelled], float], data: Labelled, rounds: int = 300) -> tuple[float, float]:
    """The middle 95 % of a measure over resampled sources."""
    rng = np.random.default_rng(0)
    _, inverse = np.unique(data.sources, return_inverse=True)
    groups = [np.flatnonzero(inverse == i) for i in range(int(inverse.max()) + 1)]
    values = []
    for _ in range(rounds):
        drawn = np.concatenate([groups[i] for i in rng.integers(0, len(groups), len(groups))])
        if 0 < data.labels[drawn].sum() < len(drawn):
            values.append(measure(data.at(drawn)))
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def line(name: str, data: Labelled) -> str:
    """One row under HEADER."""
    best, cut = best_f1(data)
    shown = []
    for measure in (auroc, f1):
        low, high = interval(measure, data)
        shown.append(f"{measure(data):.3f} [{low:.3f}, {high:.3f}]")
    bad = float(np.average(data.labels, weights=data.weights))
    return (
        f"{name:18} {len(data.labels):5} {bad:4.2f}  {shown[0]:20} {shown[1]:20} "
        f"{best:8.3f} {cut:5.2f} {ece(data):6.3f}"
    )
