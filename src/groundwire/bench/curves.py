"""The curves and spreads that a report draws, as points. scikit-learn computes the curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundwire.bench.metrics import Floats, Labelled
from groundwire.core.errors import MissingExtraError

try:
    from sklearn.metrics import precision_recall_curve, roc_curve
except ImportError as error:
    raise MissingExtraError("comparing detectors", package="scikit-learn", extra="bench") from error

Points = Sequence[tuple[float, float]]
BINS = 20
CUTS = 100
_MOST = 150  # points of a drawn curve


@dataclass(frozen=True, kw_only=True)
class Cut:
    """What a threshold does: of the hallucinated answers ``hit`` are flagged, of the grounded ``false``."""

    threshold: float
    hit: int
    missed: int
    false: int
    passed: int


def roc(data: Labelled) -> Points:
    """Share of false alarms against share of hallucinated answers found; none where labels are alike."""
    if len(np.unique(data.labels)) < 2:
        return ()
    false, found, _ = roc_curve(data.labels, data.scores, sample_weight=data.weights)
    return _thinned(false, found)


def precision_recall(data: Labelled) -> Points:
    """Recall against precision, in the steps whose area is average precision; none where labels are alike.

    scikit-learn's curve begins at a precision of 1 that no threshold has: a straight line from there would
    show a method of one score for all answers as better than any other (Davis and Goadrich, 2006).
    """
    if len(np.unique(data.labels)) < 2:
        return ()
    precision, recall, _ = precision_recall_curve(data.labels, data.scores, sample_weight=data.weights)
    return _thinned(np.repeat(recall[::-1], 2)[1:-1], np.repeat(precision[-2::-1], 2))


def spread(data: Labelled, bins: int = BINS) -> tuple[list[int], list[int]]:
    """How many grounded and how many hallucinated answers have a score in each of equally wide bins."""
    index = np.minimum((data.scores * bins).astype(int), bins - 1)
    return (
        np.bincount(index[data.labels == 0], minlength=bins).tolist(),
        np.bincount(index[data.labels == 1], minlength=bins).tolist(),
    )


def sweep(data: Labelled, cuts: int = CUTS) -> list[Cut]:
    """What every threshold of 0, .01, ..., 1 would do on these answers."""
    bad, good = data.scores[data.labels == 1], data.scores[data.labels == 0]
    found = []
    for at in range(cuts + 1):
        threshold = at / cuts
        hit, false = int((bad >= threshold).sum()), int((good >= threshold).sum())
        found.append(
            Cut(threshold=threshold, hit=hit, missed=len(bad) - hit, false=false, passed=len(good) - false)
        )
    return found


def _thinned(across: Floats, up: Floats) -> Points:
    keep = np.unique(np.linspace(0, len(across) - 1, min(_MOST, len(across))).round().astype(int))
    return [(float(across[at]), float(up[at])) for at in keep]
