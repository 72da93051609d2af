"""All the ways in which a threshold can part answers, and what each would flag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Thresholds in rising order, from one that flags every answer to the highest of use.

    A threshold lies halfway between two neighbouring figures, so that rounding can't move an answer across
    it. ``flagged`` and ``found`` are how much is flagged at each, and how much of that is hallucinated;
    ``answers`` and ``hallucinated`` how much there is in all.
    """

    cuts: Floats
    flagged: Floats
    found: Floats
    answers: float
    hallucinated: float

    @classmethod
    def of(cls, figures: Floats, labels: Flags, weights: Floats | None = None) -> Sweep:
        """``weights`` are how often each answer counts, once if they are left out."""
        weights = np.ones(len(figures)) if weights is None else weights
        values, place = np.unique(figures, return_inverse=True)
        every = np.bincount(place, weights=weights, minlength=len(values))
        bad = np.bincount(place, weights=weights * labels, minlength=len(values))
        cuts = np.concatenate([[0.0], halfway(values[:-1], values[1:])])
        flagged, found = every[::-1].cumsum()[::-1], bad[::-1].cumsum()[::-1]
        if values[-1] < 1:  # there is room for a threshold that flags none of them
            cuts = np.append(cuts, halfway(values[-1:], np.ones(1)))
            flagged, found = np.append(flagged, 0.0), np.append(found, 0.0)
        return cls(
            cuts=cuts,
            flagged=flagged,
            found=found,
            answers=float(weights.sum()),
            hallucinated=float((weights * labels).sum()),
        )

    @property
    def precision(self) -> Floats:
        """NaN where nothing is flagged."""
        return ratio(self.found, self.flagged)

    @property
    def recall(self) -> Floats:
        return ratio(self.found, self.hallucinated)

    @property
    def false_alarms(self) -> Floats:
        """The share of grounded answers that are flagged."""
        return ratio(self.flagged - self.found, self.answers - self.hallucinated)

    @property
    def f1(self) -> Floats:
        return ratio(2 * self.found, self.flagged + self.hallucinated)

    @property
    def accuracy(self) -> Floats:
        missed = self.hallucinated - self.found
        return 1 - ratio(missed + self.flagged - self.found, self.answers)

    @property
    def balanced_accuracy(self) -> Floats:
        return (self.recall + 1 - self.false_alarms) / 2


def ratio(part: Floats, whole: Floats | float) -> Floats:
    """One by the other, NaN where there is nothing to divide by."""
    whole = np.broadcast_to(np.asarray(whole, dtype=np.float64), part.shape)
    found: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return found


def halfway(low: Floats, high: Floats) -> Floats:
    """A number above each ``low`` and not above each ``high``; halfway, where floats are fine enough."""
    middle = (low + high) / 2
    found: Floats = np.where(middle > low, middle, high)
    return found
