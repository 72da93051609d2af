"""The search for bands: every end moved in turn to where it serves the target best, until none moves.

Where one band ends is tried at all of its places at once, by sums over answers in the order of their scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from groundwire.core.tuned import Figure
from groundwire.detectors.cascade.band_values import (
    Decisions,
    Figures,
    Flags,
    Floats,
    Indices,
    Target,
)

_MOST_CUTS = 80  # candidate places for each end of a band
_SWEEPS = 12
Ends = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Data:
    """Answers as arrays: what the stages said of them, and what is true."""

    scores: Floats
    labels: Floats
    group: Indices
    names: Sequence[object]
    calls: Floats  # of each answer by each stage
    refuted: Flags
    unverified: Flags  # of each answer by each stage: it may flag, and never accepts
    weights: Floats
    thresholds: Floats

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        labels: ArrayLike,
        groups: ArrayLike,
        *,
        calls: ArrayLike | None,
        refuted: ArrayLike | None,
        unverified: ArrayLike | None,
        weights: ArrayLike | None,
        threshold: ArrayLike,
    ) -> Data:
        table = np.asarray(scores, dtype=np.float64)
        if table.ndim != 2 or not table.size:
            raise ValueError(f"scores must be a table of answers by stages, not of shape {table.shape}")
        n, stages = table.shape
        truth = np.asarray(labels, dtype=np.float64)
        names, group = np.unique(np.asarray(groups), return_inverse=True)
        counts = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
        bound = np.zeros(n, dtype=np.bool_) if refuted is None else np.asarray(refuted, dtype=np.bool_)
        doubtful = np.zeros((n, stages)) if unverified is None else np.asarray(unverified)
        paid = np.asarray(np.eye(stages)[-1] if calls is None else calls, dtype=np.float64)
        cuts = np.asarray(threshold, dtype=np.float64)
        for name, array, shapes in (
            ("labels", truth, [(n,)]),
            ("groups", group, [(n,)]),
            ("refuted", bound, [(n,)]),
            ("unverified", doubtful, [(n, stages)]),
            ("weights", counts, [(n,)]),
            ("calls", paid, [(stages,), (n, stages)]),
            ("threshold", cuts, [(), (stages,)]),
        ):
            if array.shape not in shapes:
                expected = " or ".join(str(shape) for shape in shapes)
                raise ValueError(f"{name} must be of shape {expected}, not {array.shape}")
        if not np.isin(truth, (0, 1)).all():
            raise ValueError("labels must be 0 or 1")
        if np.any((table < 0) | (table > 1)):
            raise ValueError("scores must be in [0, 1], or NaN where a stage could not judge")
        return cls(
            scores=table,
            labels=truth,
            group=group,
            names=names.tolist(),
            calls=np.broadcast_to(paid, (n, stages)),
            refuted=bound,
            unverified=doubtful.astype(np.bool_),
            weights=counts,
            thresholds=np.broadcast_to(cuts, (stages,)),
        )

    def at(self, index: Indices) -> Data:
        """Some of the answers."""
        return Data(
            scores=self.scores[index],
            labels=self.labels[index],
            group=self.group[index],
            names=self.names,
            calls=self.calls[index],
            refuted=self.refuted[index],
            unverified=self.unverified[index],
            weights=self.weights[index],
            thresholds=self.thresholds,
        )

    def decide(self, bands: Sequence[Ends]) -> Decisions:
        """What a cascade with these bands does with each."""
        n, stages = self.scores.shape
        if len(bands) != stages - 1:
            raise ValueError(f"{stages} stages have {stages - 1} bands, not {len(bands)}")
        flagged, stage, calls = np.zeros(n, dtype=np.bool_), np.full(n, -1), np.zeros(n)
        for t, ends in enumerate([*bands, (self.thresholds[-1], self.thresholds[-1])]):
            here = stage < 0
            calls[here] += self.calls[here, t]
            bad, good = self._taken(t, ends)
            flagged |= here & bad
            stage[here & (bad | good)] = t
        failed = stage < 0
        for t in range(stages):  # the last score that there is may flag, and never accepts
            known = failed & ~np.isnan(self.scores[:, t])
            flagged[known] = self.scores[known, t] >= self.thresholds[t]
            stage[known] = np.where(flagged[known], t, -1)
        return Decisions(
            flagged=flagged | self.refuted, undecided=(stage < 0) & ~self.refuted, stage=stage, calls=calls
        )

    def reaching(self, bands: Sequence[Ends], t: int) -> Flags:
        """The answers that no stage before this one decides."""
        reached = np.ones(len(self.labels), dtype=np.bool_)
        for s, ends in enumerate(bands[:t]):
            bad, good = self._taken(s, ends)
            reached &= ~(bad | good)
        return reached

    def _taken(self, t: int, ends: Ends) -> tuple[Flags, Flags]:
        """What a stage with a band of these ends flags, and what it accepts."""
        accept, flag = ends
        return self.scores[:, t] >= flag, (self.scores[:, t] < accept) & ~self.unverified[:, t]

    def figures(self, made: Decisions, rounds: int) -> Figures:
        """The figures, each with its interval."""
        columns = np.stack([*_sums(self, made)])
        whole = _rates(columns.sum(axis=1))
        by_group = np.zeros((len(columns), len(self.names)))
        for row, values in zip(by_group, columns, strict=True):
            np.add.at(row, self.group, values)
        present = np.flatnonzero(np.bincount(self.group, minlength=len(self.names)))
        rng = np.random.default_rng(0)
        drawn = [
            _rates(by_group[:, rng.choice(present, len(present))].sum(axis=1)) for _ in range(max(1, rounds))
        ]
        ranges = [_figure(value, np.array(values)) for value, *values in zip(whole, *drawn, strict=True)]
        nobody = float(np.average(made.undecided, weights=self.weights))
        return Figures(precision=ranges[0], recall=ranges[1], f1=ranges[2], calls=ranges[3], undecided=nobody)


class Pool:
    """Decisions on parts of the answers, put together."""

    def __init__(self, size: int) -> None:
        self.decisions = Decisions(
            flagged=np.zeros(size, dtype=np.bool_),
            undecided=np.ones(size, dtype=np.bool_),
            stage=np.full(size, -1),
            calls=np.zeros(size),
        )

    def put(self, index: Indices, made: Decisions) -> None:
        for one in fields(Decisions):
            getattr(self.decisions, one.name)[index] = getattr(made, one.name)


def _figure(value: float, drawn: Floats) -> Figure:
    known = drawn[~np.isnan(drawn)]
    low, high = np.percentile(known, [2.5, 97.5]) if known.size else (np.nan, np.nan)
    return Figure(value=value, low=float(low), high=float(high))


def _sums(data: Data, made: Decisions) -> Iterator[Floats]:
    """For each answer: weight, flagged rightly, flagged wrongly, hallucinated, calls."""
    yield data.weights
    yield data.weights * data.labels * made.flagged
    yield data.weights * (1 - data.labels) * made.flagged
    yield data.weights * data.labels
    yield data.weights * made.calls


def _rates(sums: Floats) -> tuple[float, float, float, float]:
    """Precision, recall, F1 and calls an answer, from sums over answers."""
    precision, recall, f1, calls = _rates_of(*(np.asarray(one) for one in sums))
    return float(precision), float(recall), float(f1), float(calls)


def _rates_of(
    weight: Floats, right: Floats, wrong: Floats, bad: Floats, calls: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    return (
        _share(right, right + wrong, of_nothing=np.nan),
        _share(right, bad, of_nothing=1.0),
        _share(2 * right, right + wrong + bad, of_nothing=1.0),
        calls / weight,
    )


def _share(part: Floats, whole: Floats, *, of_nothing: float) -> Floats:
    share: Floats = np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), of_nothing)
    return share


def _missed(target: Target, precision: Floats, recall: Floats, f1: Floats, calls: Floats) -> Floats:
    """By how much the target is missed, all together; 0 where it is met. Flagging nothing is not precise."""
    wanted = ((target.precision, np.nan_to_num(precision)), (target.recall, recall), (target.f1, f1))
    missed = sum((np.maximum(0.0, least - got) for least, got in wanted if least is not None), np.zeros(()))
    over = np.maximum(0.0, calls - target.calls) if target.calls is not None else np.zeros(())
    total: Floats = np.round(missed + over, 9)
    return total


def met(target: Target, figures: Figures) -> bool:
    """Whether figures are those that were wanted."""
    values = (figures.precision, figures.recall, figures.f1, figures.calls)
    return not _missed(target, *(np.asarray(one.value) for one in values))


def _ranks(
    target: Target, precision: Floats, recall: Floats, f1: Floats, calls: Floats
) -> tuple[Floats, Floats, Floats]:
    """What is better has the lower rank: the target met, then what it leaves open."""
    missed = _missed(target, precision, recall, f1, calls)
    bounds = (target.precision is not None, target.recall is not None, target.f1 is not None)
    if bounds == (False, False, False):
        return missed, -f1, calls
    if bounds == (True, False, False):
        return missed, -recall, calls
    if bounds == (False, True, False):
        return missed, -np.nan_to_num(precision), calls
    return missed, calls, -f1


_SURE_OF = (0.05, 0.15, 0.3)


def searched(data: Data, target: Target) -> list[Ends]:
    """The best bands of those that the search comes to from each of its beginnings."""
    nothing = (-np.inf, np.inf)
    stages = data.scores.shape[1] - 1
    middle = [float(np.nanmedian(data.scores[:, t])) if _known(data, t) else 0.5 for t in range(stages)]
    begins: list[list[Ends]] = [[nothing] * stages, [(m, m) for m in middle], [(m / 2, m) for m in middle]]
    # An early stage can use up all the mistakes that a target allows for: some begin with it sure of little.
    begins += [[_outer(data, t, share) for t in range(stages)] for share in _SURE_OF]
    found = [_from(data, target, begin) for begin in begins]
    return min(found, key=lambda each: each[0])[1]


def _outer(data: Data, stage: int, share: float) -> Ends:
    """The band that leaves this share of a stage's scores outside, on either side."""
    if not _known(data, stage):
        return (-np.inf, np.inf)
    low, high = np.nanquantile(data.scores[:, stage], [share, 1 - share])
    return float(low), float(high)


def _known(data: Data, stage: int) -> bool:
    return bool((~np.isnan(data.scores[:, stage])).any())


Rank = tuple[float, float, float]


def _from(data: Data, target: Target, bands: list[Ends]) -> tuple[Rank, list[Ends]]:
    rates = _rates(np.stack([*_sums(data, data.decide(bands))]).sum(axis=1))
    first = _ranks(target, *(np.asarray(one) for one in rates))
    best: Rank = (float(first[0]), float(first[1]), float(first[2]))
    for _ in range(_SWEEPS):
        before = best
        for t in range(len(bands)):
            rank, ends = _best_ends(data, target, bands, t)
            if rank < best:
                best, bands = rank, [*bands[:t], ends, *bands[t + 1 :]]
        if best == before:
            break
    return best, bands


def _best_ends(data: Data, target: Target, bands: list[Ends], t: int) -> tuple[Rank, Ends]:
    """The best band for one stage while the others stay. What goes on from it is decided as by the others."""
    without = data.decide([*bands[:t], (-np.inf, np.inf), *bands[t + 1 :]])
    score = data.scores[:, t]
    movable = np.flatnonzero(data.reaching(bands, t) & ~np.isnan(score))
    if not movable.size:
        return (np.inf, 0.0, 0.0), bands[t]
    movable = movable[np.argsort(score[movable], kind="stable")]
    later = (without.calls - data.calls[:, : t + 1].sum(axis=1))[movable]
    y, going = data.labels[movable], without.flagged[movable]
    w = data.weights[movable] * ~data.refuted[movable]  # what is refuted stays flagged, whatever is moved
    paid = data.weights[movable] * later
    going_on = np.stack([w * y * going, w * (1 - y) * going, paid])
    sums = np.vstack([going_on, w * y, w * (1 - y), going_on * data.unverified[movable, t]])
    upto = np.hstack([np.zeros((8, 1)), np.cumsum(sums, axis=1)])
    fixed = np.stack([*_sums(data, without)]).sum(axis=1)
    cuts = _cuts(score[movable])
    i, j = (index.ravel() for index in np.meshgrid(cuts, cuts, indexing="ij"))
    may = (i <= j) & ((i < len(movable)) | (score[movable[-1]] < 1))  # no end of a band lies above 1
    i, j = i[may], j[may]
    # Of those that would go on: left of i are accepted, or go on if unverified; from j on flagged.
    right = fixed[1] - upto[0, -1] + upto[5, i] + (upto[0, j] - upto[0, i]) + (upto[3, -1] - upto[3, j])
    wrong = fixed[2] - upto[1, -1] + upto[6, i] + (upto[1, j] - upto[1, i]) + (upto[4, -1] - upto[4, j])
    calls = fixed[4] - upto[2, -1] + upto[7, i] + (upto[2, j] - upto[2, i])
    ranks = _ranks(target, *_rates_of(fixed[0], right, wrong, fixed[3], calls))
    at = int(np.lexsort(ranks[::-1])[0])
    ordered = score[movable]
    # A place in front of the first score, between two, or behind the last.
    ends = np.concatenate([[-np.inf], ordered[1:], [np.nextafter(ordered[-1], np.inf)]])
    accept = float(ends[i[at]])
    flag = float(ordered[j[at]]) if j[at] < len(ordered) else np.inf
    best: Rank = (float(ranks[0][at]), float(ranks[1][at]), float(ranks[2][at]))
    return best, (accept, flag)


def _cuts(ordered: Floats) -> Indices:
    """Places between different scores, evenly thinned, with the one before the first and after the last."""
    steps = np.flatnonzero(np.diff(ordered) > 0) + 1
    if len(steps) > _MOST_CUTS:
        steps = steps[np.linspace(0, len(steps) - 1, _MOST_CUTS).round().astype(int)]
    return np.concatenate([[0], steps, [len(ordered)]])
