"""Bands for a cascade, fitted to labelled answers: what each stage may decide, for a target that you set.

Pure functions: arrays in, a frozen result out. Who made the scores does not matter here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from groundwire.detectors.cascade.band_search import Data, Ends, Pool, met, searched
from groundwire.detectors.cascade.band_values import Band, Decisions, Figures, FittedBands, Target

__all__ = [
    "Band",
    "Decisions",
    "Figures",
    "FittedBands",
    "Target",
    "decide",
    "fit_bands",
]


def fit_bands(
    scores: ArrayLike,
    labels: ArrayLike,
    groups: ArrayLike,
    target: Target,
    *,
    calls: ArrayLike | None = None,
    threshold: float = 0.5,
    weights: ArrayLike | None = None,
    folds: int = 5,
    rounds: int = 300,
) -> FittedBands:
    """Fit the bands of all stages but the last, which decides the rest by ``threshold``.

    ``scores`` are (answers, stages), in the order of the cascade: hallucination scores in [0, 1], NaN where a
    stage could not judge. For review by people in place of a last stage, give the labels as its scores.
    ``labels`` are 1 for hallucinated, ``groups`` what belongs together (the source of an answer): no group
    stands on two sides of a split. ``calls`` is what each stage takes, by default none but one for the last.

    Every end of a band is moved in turn to the best place, from several beginnings, until none moves: a local
    optimum. Raises ValueError for arrays that don't fit.
    """
    data = Data.of(scores, labels, groups, calls=calls, weights=weights, threshold=threshold)
    if folds < 2 or len(data.names) < folds:
        raise ValueError(f"{folds} folds need as many groups, at least 2: there are {len(data.names)}")
    bands = searched(data, target)
    side = data.group % folds
    pooled = Pool.empty(len(data.labels))
    for fold in range(folds):
        out = np.flatnonzero(side == fold)
        pooled.put(out, data.at(out).decide(searched(data.at(np.flatnonzero(side != fold)), target)))
    held_out = data.figures(pooled.decisions(), rounds)
    return FittedBands(
        bands=tuple(_band(accept, flag) for accept, flag in bands),
        target=target,
        fitted=data.figures(data.decide(bands), rounds),
        held_out=held_out,
        met=met(target, held_out),
    )


def decide(
    scores: ArrayLike, bands: Sequence[Band], *, calls: ArrayLike | None = None, threshold: float = 0.5
) -> Decisions:
    """What a cascade with these bands does with answers; see ``fit_bands`` for the arrays."""
    table = np.asarray(scores, dtype=np.float64)
    data = Data.of(
        table, np.zeros(len(table)), np.arange(len(table)), calls=calls, weights=None, threshold=threshold
    )
    return data.decide([_ends(band) for band in bands])


def _band(accept: float, flag: float) -> Band:
    return Band(
        accept=float(accept) if np.isfinite(accept) else None, flag=float(flag) if np.isfinite(flag) else None
    )


def _ends(band: Band) -> Ends:
    return (
        -np.inf if band.accept is None else band.accept,
        np.inf if band.flag is None else band.flag,
    )
