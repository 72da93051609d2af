"""From figures to probabilities, by the method that is worth most on answers held out.

What is fitted rises strictly wherever the figures do, so that a calibration moves no answer across another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from groundwire.bench.tuning.regression import logistic
from groundwire.bench.tuning.rows import Groups, folds
from groundwire.bench.tuning.sweep import Flags, Floats
from groundwire.core.calibration import Calibration, Isotonic, Platt, Temperature

# From the simplest on: of two that do as well, the first is chosen.
NONE, TEMPERATURE, PLATT, ISOTONIC = KINDS = ("none", "temperature", "platt", "isotonic")
_RISE = 1e-3  # how much of the figure itself a step curve keeps, so that nothing becomes equal
FEW = 50  # below so many answers of one label, a curve of steps follows every one of them


def choose(  # noqa: PLR0917 - arrays of the same answers
    kinds: Sequence[str],
    figures: Floats,
    labels: Flags,
    groups: Groups,
    seed: int,
    weights: Floats | None = None,
) -> str:
    """The kind with the least Brier score on answers held out by group; ``weights`` as in ``Sweep.of``.

    A simpler one wins while it is within a standard error of the best, over the parts (Breiman et al., 1984).
    """
    kinds = [kind for kind in kinds if kind != ISOTONIC or min(labels.sum(), (~labels).sum()) >= FEW]
    if len(kinds) < 2:
        return kinds[0] if kinds else NONE
    parts = folds(labels, groups, seed=seed)
    often = np.ones(len(figures)) if weights is None else weights
    losses = {
        kind: np.array([_loss(kind, figures, labels, often, held_out) for held_out in parts])
        for kind in kinds
    }
    best = min(kinds, key=lambda kind: float(losses[kind].mean()))
    for kind in kinds:
        more = losses[kind] - losses[best]
        if more.mean() <= more.std(ddof=1) / math.sqrt(len(more)):
            return kind
    return best


def fit(kind: str, figures: Floats, labels: Flags, weights: Floats | None = None) -> Calibration | None:
    """The calibration of a kind; None for the figure itself."""
    often = np.ones(len(figures)) if weights is None else weights
    if kind == TEMPERATURE:
        return _temperature(figures, labels, often)
    if kind == PLATT:
        return _platt(figures, labels, often)
    return _isotonic(figures, labels, often) if kind == ISOTONIC else None


def applied(calibration: Calibration | None, figures: Floats) -> Floats:
    """The probabilities of the figures."""
    if calibration is None:
        return figures
    return np.array([calibration(float(figure)) for figure in figures], dtype=np.float64)


def _loss(kind: str, figures: Floats, labels: Flags, often: Floats, held_out: Flags) -> float:
    fitted = fit(kind, figures[~held_out], labels[~held_out], often[~held_out])
    squares = (applied(fitted, figures[held_out]) - labels[held_out]) ** 2
    return float(np.average(squares, weights=often[held_out]))


def _temperature(figures: Floats, labels: Flags, often: Floats) -> Temperature:
    """The temperature under which the smoothed labels are likeliest (Guo et al., 2017)."""
    truth = _smoothed(labels, often)
    inside = np.clip(figures, 1e-6, 1 - 1e-6)
    odds = np.log(inside / (1 - inside))

    def unlikely(log: float) -> float:
        margin = odds / math.exp(log)
        return float((often * (np.logaddexp(0, margin) - truth * margin)).sum())

    # There is one minimum, so that an interval around it can be narrowed from both sides.
    low, high = math.log(0.25), math.log(20.0)  # colder ones leave nothing but 0 and 1
    for _ in range(60):
        third = (high - low) / 3
        if unlikely(low + third) < unlikely(high - third):
            high -= third
        else:
            low += third
    return Temperature(temperature=math.exp((low + high) / 2))


def _platt(figures: Floats, labels: Flags, often: Floats) -> Platt | None:
    """Logistic regression on smoothed labels (Platt, 1999); None where it would turn the score round."""
    rows = np.column_stack([figures, np.ones(len(figures))])
    slope, intercept = map(float, logistic(rows, _smoothed(labels, often), np.array([1e-3, 1e-9]), often))
    return Platt(slope=slope, intercept=intercept) if slope > 0 else None


def _smoothed(labels: Flags, often: Floats) -> Floats:
    """Labels as chances, no surer than so many answers can tell (Platt, 1999)."""
    bad, good = often[labels].sum(), often[~labels].sum()
    found: Floats = np.where(labels, (bad + 1) / (bad + 2), 1 / (good + 2))
    return found


def _isotonic(figures: Floats, labels: Flags, often: Floats) -> Isotonic:
    """Straight lines through the middles of isotonic regression's steps (Zadrozny and Elkan, 2002).

    Kept away from 0 and 1 by what so many answers can't tell, and rising a little everywhere.
    """
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415 - it is slow to load

    least = 1 / (often.sum() + 2)
    regression = IsotonicRegression(y_min=least, y_max=1 - least)
    steps = regression.fit_transform(figures, labels, sample_weight=often)
    heights = np.unique(steps)
    at = [steps == height for height in heights]
    middles = [float(np.average(figures[one], weights=often[one])) for one in at]
    points = dict(zip(middles, map(float, heights), strict=True))  # steps that share a middle: the higher
    points = {0.0: min(points.values()), **points, 1.0: max(points.values())}
    raws = tuple(sorted(points))
    risen = tuple((1 - _RISE) * points[raw] + _RISE * raw for raw in raws)
    return Isotonic(raws=raws, probabilities=risen)
