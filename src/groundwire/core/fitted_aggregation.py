"""The aggregation that is fitted: which mixture of worst and mean claim tells a hallucinated answer.

Fitting needs nothing but numpy, and labelled answers whose claims have scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundwire.core.aggregation import Aggregation, AnyUnsupported, Fraction, LengthWeighted, WorstK
from groundwire.core.score import is_number

Scored = list[tuple[float, int]]
_RULES = (AnyUnsupported(), WorstK(k=2), Fraction(), LengthWeighted())
FIGURES = ("worst", "worst of two", "mean", "mean by length", "any of them")


@dataclass(frozen=True, kw_only=True)
class Fitted(Aggregation):
    """A probability from five figures of the claims' scores: ``1 / (1 + exp(-(bias + weights · figures)))``.

    The figures are ``FIGURES``: those of the other rules, and the chance that any claim is unsupported if
    each is so independently with its score. Raises ValueError for a negative weight, with which a worse claim
    could make a better answer.
    """

    weights: tuple[float, ...]
    bias: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(self.weights))  # settings files have lists
        if len(self.weights) != len(FIGURES) or not all(_number(w) and w >= 0 for w in self.weights):
            raise ValueError(f"a fitted aggregation needs {len(FIGURES)} weights from 0 on: {self.weights!r}")
        if not _number(self.bias):
            raise ValueError(f"a fitted aggregation needs a number for its bias, not {self.bias!r:.60}")

    def combine(self, scored: Scored) -> float:
        margin = self.bias + math.fsum(w * x for w, x in zip(self.weights, figures(scored), strict=True))
        return 1 / (1 + math.exp(-max(-40.0, min(40.0, margin))))


def _number(value: object) -> bool:
    return is_number(value) and math.isfinite(value)


def figures(scored: Scored) -> tuple[float, ...]:
    """The figures of one answer, as ``FIGURES`` names them."""
    none = math.prod(sorted(1 - score for score, _ in scored))
    return (*(rule.combine(scored) for rule in _RULES), 1 - none)


def fit(
    answers: Sequence[Scored],
    labels: Sequence[int],
    *,
    weights: ArrayLike | None = None,
    penalty: float = 1.0,
    steps: int = 4_000,
) -> Fitted:
    """Fit by logistic regression with weights that are never negative.

    ``answers`` are the (score, length in characters) pairs of each answer's claims, ``labels`` 1 for
    hallucinated; ``weights`` is what each answer counts. Raises ValueError where answers and labels differ in
    number, an answer has no scored claim, or all labels are alike.
    """
    if len(answers) != len(labels) or not all(answers):
        raise ValueError(
            f"{len(answers)} answers need as many labels, and a scored claim each: {len(labels)}"
        )
    truth = np.asarray(labels, dtype=np.float64)
    if len(set(truth.tolist())) < 2:
        raise ValueError("nothing can be fitted where all labels are alike")
    table = np.array([figures(scored) for scored in answers])
    counts = np.ones(len(truth)) if weights is None else np.asarray(weights, dtype=np.float64)
    found, bias = _descended(table, truth, counts / counts.mean(), penalty, steps)
    return Fitted(weights=tuple(found.tolist()), bias=bias)


def _descended(
    table: NDArray[np.float64],
    truth: NDArray[np.float64],
    counts: NDArray[np.float64],
    penalty: float,
    steps: int,
) -> tuple[NDArray[np.float64], float]:
    """Projected gradient descent; the step is the inverse of the loss's steepest curvature."""
    rows = np.hstack([table, np.ones((len(table), 1))])
    steep = 0.25 * np.linalg.eigvalsh((rows * counts[:, None]).T @ rows)[-1] + penalty
    found = np.zeros(rows.shape[1])
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-np.clip(rows @ found, -40, 40)))
        slope = rows.T @ (counts * (chance - truth))
        slope[:-1] += penalty * found[:-1]
        found = found - slope / steep
        found[:-1] = np.maximum(found[:-1], 0)
    return found[:-1], float(found[-1])
