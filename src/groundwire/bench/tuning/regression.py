"""Logistic regression of a few figures by Newton's steps: what scikit-learn finds, much sooner."""

from __future__ import annotations

import numpy as np

from groundwire.bench.tuning.sweep import Floats


def logistic(rows: Floats, truth: Floats, penalties: Floats, counts: Floats | None = None) -> Floats:
    """The weights under which ``truth``, chances in [0, 1], is likeliest: one for each column of ``rows``.

    ``penalties`` hold each weight back by half of its square times that, so that there are weights also where
    a line parts the answers without a mistake. ``counts`` are how often each row counts, once where left
    out. Steps are halved while they lead uphill (Lin, Lin and Weng, 2007).
    """
    often = np.ones(len(rows)) if counts is None else counts

    def loss(weights: Floats) -> float:
        margin = rows @ weights
        unlikely = often * (np.logaddexp(0, margin) - truth * margin)
        return float(unlikely.sum() + (penalties * weights**2).sum() / 2)

    weights = np.zeros(rows.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-(rows @ weights)))
        downhill = rows.T @ (often * (truth - chance)) - penalties * weights
        if np.abs(downhill).max() < 1e-9 * len(rows):
            break
        curve = (rows * (often * chance * (1 - chance))[:, None]).T @ rows + np.diag(penalties)
        step = np.linalg.solve(curve, downhill)
        while loss(weights + step) > loss(weights) and np.abs(step).max() > 1e-12:
            step /= 2
        weights = weights + step
    return weights
