"""All that tuning chooses and fits, in one step from labelled answers to a reading of scores.

Being one step, it can be repeated inside of cross-validation: what is measured on answers held out then pays
for every choice that was made (Varma and Simon, 2006; Cawley and Talbot, 2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from groundwire.bench.tuning import calibrating, stacking
from groundwire.bench.tuning.errors import TuningError
from groundwire.bench.tuning.guarantee import enough, guarantee
from groundwire.bench.tuning.rows import Rows, folds, require_both, rounded
from groundwire.bench.tuning.sweep import Flags, Floats, Sweep
from groundwire.bench.tuning.targets import Target
from groundwire.core.calibration import Calibration
from groundwire.core.grading import NEVER, Grading
from groundwire.detectors.combination import Combination

_ROUNDS = 100  # of resampled sources, to tell a better rule from a lucky one
_FEW = 10  # answers that a level has at least, before its share of hallucinated ones means anything
_LOW = 0.1  # at most so many of the answers that are LOW are hallucinated
_HIGH = 0.9  # at least so many of those that are HIGH


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was fitted: which figure is read, how it is calibrated, and where it is cut.

    ``rule`` names the column that is read, or is "" where ``combination`` combines all. The cuts are on the
    figure, before calibration. ``reached`` says whether the target was, on the answers it was fitted to.
    """

    rule: str
    combination: Combination | None
    kind: str
    calibration: Calibration | None
    medium: float
    cut: float
    high: float
    reached: bool = True

    def figures(self, rows: Rows) -> Floats:
        if self.combination is not None:
            return stacking.applied(self.combination, rows.columns)
        found: Floats = rows.columns[:, rows.names.index(self.rule)]
        return found

    def scores(self, rows: Rows) -> Floats:
        """The calibrated scores."""
        return calibrating.applied(self.calibration, self.figures(rows))

    @property
    def grading(self) -> Grading:
        """The cuts on the side of the calibrated scores."""
        medium, threshold, high = calibrating.applied(
            self.calibration, np.array([self.medium, self.cut, min(self.high, 1.0)])
        ).tolist()
        return Grading(threshold=threshold, medium=medium, high=NEVER if self.high == NEVER else high)


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """What readings say of answers that none of them was fitted to, and the cut of each.

    ``figures`` are what they read, before calibration, and ``scales`` tell which of these can be compared:
    those of one rule can, those of combinations that were fitted apart can't.
    """

    figures: Floats
    scales: NDArray[np.str_]
    scores: Floats
    flagged: Flags
    cuts: tuple[float, ...]
    reached: int


@dataclass(frozen=True, kw_only=True)
class Procedure:
    """How to get from labelled answers to a reading.

    ``calibrations`` are the kinds to choose from, the simplest first, and ``stack`` those of combinations, of
    which none means that one of the rows' columns is read.
    """

    target: Target
    calibrations: Sequence[str] = calibrating.KINDS
    stack: Sequence[str] = ()
    seed: int = 0

    def fit(self, rows: Rows, *, strict: bool = True) -> Reading:
        """Choose, calibrate and cut.

        Raises TuningError where the target is out of reach on these answers; unless ``strict``, comes as near
        to it as can be. A promise is never come near to: PromiseError where these answers can't make it.
        """
        require_both(rows.labels)
        choosing, cutting = self._parts(rows)
        rule, combination, figures = self._figure(choosing)
        labels, weights = choosing.labels, choosing.weights
        kind = calibrating.choose(self.calibrations, figures, labels, choosing.groups, self.seed, weights)
        calibration = calibrating.fit(kind, figures, labels, weights)
        kind = calibrating.NONE if calibration is None else kind
        reading = Reading(
            rule=rule, combination=combination, kind=kind, calibration=calibration, medium=0, cut=0, high=1
        )
        if cutting is not choosing:
            figures = rounded(reading.figures(cutting))
        cut, reached = self._cut(figures, cutting, strict=strict)
        medium, high = levels(Sweep.of(figures, cutting.labels, cutting.weights), cut)
        reading = replace(reading, medium=medium, cut=cut, high=high, reached=reached)
        # A calibration that is all but flat could round an answer across the threshold: better none.
        kept = calibrating.applied(calibration, figures) >= reading.grading.threshold
        if (kept != (figures >= cut)).any():
            return replace(reading, kind=calibrating.NONE, calibration=None)
        return reading

    def held_out(self, rows: Rows, parts: Sequence[Flags]) -> HeldOut:
        """The whole procedure without each part in turn, and what it then says of that part.

        Raises PromiseError where the rest of the answers can't make the promise.
        """
        scores, flagged = np.empty(len(rows)), np.empty(len(rows), dtype=np.bool_)
        figures, scales = np.empty(len(rows)), np.empty(len(rows), dtype=object)
        cuts, reached = [], 0
        for number, part in enumerate(parts):
            reading = self.fit(rows.at(~part), strict=False)
            figures[part] = reading.figures(rows.at(part))
            scales[part] = reading.rule or f"combination {number}"
            scores[part] = calibrating.applied(reading.calibration, figures[part])
            flagged[part] = figures[part] >= reading.cut
            cuts.append(reading.cut)
            reached += reading.reached
        return HeldOut(
            figures=figures,
            scales=scales.astype(np.str_),
            scores=scores,
            flagged=flagged,
            cuts=tuple(cuts),
            reached=reached,
        )

    def affordable(self, rows: Rows) -> Rows:
        """The rows with the first rule alone, where choosing one would leave too few to promise by."""
        if not self._chooses_apart(rows) or self.stack:
            return rows
        third = folds(rows.labels, rows.groups, most=3, seed=self.seed)[0]
        if enough(self.target, rows.labels[~third], rows.groups[~third]):
            return rows
        return replace(rows, names=rows.names[:1], columns=rows.columns[:, :1])

    def _chooses_apart(self, rows: Rows) -> bool:
        return self.target.guaranteed and (len(rows.names) > 1 or bool(self.stack))

    def _parts(self, rows: Rows) -> tuple[Rows, Rows]:
        """The answers to choose and calibrate by, and those to cut by: others, for a promise."""
        if not self._chooses_apart(rows):
            return rows, rows
        third = folds(rows.labels, rows.groups, most=3, seed=self.seed)[0]
        require_both(rows.labels[third])
        return rows.at(third), rows.at(~third)

    def _figure(self, rows: Rows) -> tuple[str, Combination | None, Floats]:
        if self.stack:
            kind, said = stacking.choose(self.stack, rows.columns, rows.labels, rows.groups, self.seed)
            return "", stacking.fit(kind, rows.columns, rows.labels), rounded(said)
        rule = best_rule(rows, self.target, self.seed)
        return rule, None, rows.columns[:, rows.names.index(rule)]

    def _cut(self, figures: Floats, rows: Rows, *, strict: bool) -> tuple[float, bool]:
        if self.target.guaranteed:
            return guarantee(self.target, figures, rows.labels, rows.groups).cut, True
        sweep = Sweep.of(figures, rows.labels, rows.weights)
        reached = self.target.reached(sweep)
        if strict and not reached:
            raise TuningError(_out_of_reach(self.target, sweep))
        return self.target.best(sweep), reached


def best_rule(rows: Rows, target: Target, seed: int) -> str:
    """The column that serves the target best; the first, unless another is better in 95 % of resamples.

    Sources are resampled, and all columns measured on the same ones.
    """
    if len(rows.names) == 1:
        return rows.names[0]
    sources, which = np.unique(rows.groups, return_inverse=True)
    rng = np.random.default_rng(seed)
    draws = rng.multinomial(len(sources), np.full(len(sources), 1 / len(sources)), size=_ROUNDS)
    values = np.array(
        [
            [target.value(Sweep.of(column, rows.labels, draw[which] * rows.weights)) for draw in draws]
            for column in rows.columns.T
        ]
    )
    surely = (values > values[0]).mean(axis=1) >= 0.95
    if not surely.any():
        return rows.names[0]
    return rows.names[int(np.where(surely, values.mean(axis=1), -np.inf).argmax())]


def levels(sweep: Sweep, cut: float) -> tuple[float, float]:
    """Where MEDIUM and HIGH begin.

    As many answers are LOW as can be with at most a tenth of them hallucinated, and as many HIGH with at
    least nine tenths. Where that would be fewer than ten, none is.
    """
    below = sweep.answers - sweep.flagged
    missed = sweep.hallucinated - sweep.found
    low = sweep.cuts[(sweep.cuts <= cut) & (below >= _FEW) & (missed <= _LOW * below)]
    high = sweep.cuts[(sweep.cuts >= cut) & (sweep.flagged >= _FEW) & (sweep.found >= _HIGH * sweep.flagged)]
    return float(low.max(initial=0.0)), float(high.min(initial=NEVER))


def _out_of_reach(target: Target, sweep: Sweep) -> str:
    best = int(np.argmin(np.abs(sweep.cuts - target.best(sweep))))
    return (
        f"target {target}: no threshold reaches that on these answers: the best {target.measure} is "
        f"{getattr(sweep, target.measure)[best]:.3f}, at a threshold that finds {sweep.recall[best]:.0%} of "
        f"the hallucinated answers. Ask for less, or tune another detector"
    )
