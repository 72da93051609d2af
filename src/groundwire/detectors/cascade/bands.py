"""Bands for a cascade, fitted to labelled answers: what each stage may decide, for a target that you set.

Pure functions: arrays in, a frozen result out. Who made the scores does not matter here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from groundwire.core.folds import dealt
from groundwire.detectors.cascade.band_search import Data, Ends, Pool, met, searched
from groundwire.detectors.cascade.band_values import Band, Decisions, Figures, FittedBands, Indices, Target

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
    threshold: ArrayLike = 0.5,
    refuted: ArrayLike | None = None,
    unverified: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    folds: int | Indices = 5,
    rounds: int = 300,
) -> FittedBands:
    """Fit the bands of all stages but the last, which decides the rest by ``threshold``.

    ``scores`` are (answers, stages), in the order of the cascade: hallucination scores in [0, 1], NaN where a
    stage could not judge. For review by people in place of a last stage, give the labels as its scores.
    ``labels`` are 1 for hallucinated, ``groups`` what belongs together (the source of an answer): no group
    stands on two sides of a split. ``calls`` is what each stage takes, of all answers or of each; by default
    one for the last, and none for others. ``refuted`` answers are flagged whatever the stages say;
    where one left something of an answer ``unverified`` (answers by stages), it accepts nothing. Where the
    last stage could not judge, an answer is flagged by the last score there is, or undecided; ``threshold``
    is one for all stages, or one for each.

    Groups are dealt to so many ``folds``, labels spread evenly; or give the fold of each answer.
    Every end of a band is moved in turn to the best place, from several beginnings, until none moves: a local
    optimum. Raises ValueError for arrays that don't fit.
    """
    data = Data.of(
        scores,
        labels,
        groups,
        calls=calls,
        refuted=refuted,
        unverified=unverified,
        weights=weights,
        threshold=threshold,
    )
    side = _dealt(data, folds) if isinstance(folds, int) else folds
    bands = searched(data, target)
    pooled = Pool(len(data.labels))
    for fold in np.unique(side):
        out = np.flatnonzero(side == fold)
        pooled.put(out, data.at(out).decide(searched(data.at(np.flatnonzero(side != fold)), target)))
    fitted = data.figures(data.decide(bands), rounds)
    held_out = data.figures(pooled.decisions, rounds)
    return FittedBands(
        bands=tuple(_band(accept, flag) for accept, flag in bands),
        target=target,
        fitted=fitted,
        held_out=held_out,
        decisions=pooled.decisions,
        reached=met(target, fitted),
        met=met(target, held_out),
    )


def decide(
    scores: ArrayLike,
    bands: Sequence[Band],
    *,
    calls: ArrayLike | None = None,
    threshold: ArrayLike = 0.5,
    refuted: ArrayLike | None = None,
    unverified: ArrayLike | None = None,
) -> Decisions:
    """What a cascade with these bands does with answers; see ``fit_bands`` for the arrays."""
    table = np.asarray(scores, dtype=np.float64)
    data = Data.of(
        table,
        np.zeros(len(table)),
        np.arange(len(table)),
        calls=calls,
        refuted=refuted,
        unverified=unverified,
        weights=None,
        threshold=threshold,
    )
    return data.decide([_ends(band) for band in bands])


def _dealt(data: Data, folds: int) -> Indices:
    if folds < 2 or len(data.names) < folds:
        raise ValueError(f"{folds} folds need as many groups, at least 2: there are {len(data.names)}")
    return dealt(data.labels == 1, data.group, folds, seed=0)


def _band(accept: float, flag: float) -> Band:
    return Band(
        accept=float(accept) if np.isfinite(accept) else None, flag=float(flag) if np.isfinite(flag) else None
    )


def _ends(band: Band) -> Ends:
    return (
        -np.inf if band.accept is None else band.accept,
        np.inf if band.flag is None else band.flag,
    )
