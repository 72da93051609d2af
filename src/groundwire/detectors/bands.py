"""Bands for a cascade, fitted to labelled answers: what each stage may decide, for a target that you set.

Pure functions: arrays in, a frozen result out. Who made the scores does not matter here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
_MOST_CUTS = 80  # candidate places for each end of a band
_SWEEPS = 12


@dataclass(frozen=True, kw_only=True)
class Target:
    """What bands are fitted for: at least this precision, recall and F1, and at most so many calls an answer.

    With only ``calls``, the best F1 within them; otherwise the fewest calls with which the rest is met.
    Raises ValueError without any, and for shares outside of [0, 1].
    """

    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    calls: float | None = None

    def __post_init__(self) -> None:
        shares = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        if all(value is None for value in (*shares.values(), self.calls)):
            raise ValueError("a target needs a precision, a recall, an F1 or a number of calls")
        for name, value in shares.items():
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"a target's {name} must be a number in [0, 1], not {value!r}")
        if self.calls is not None and not self.calls >= 0:
            raise ValueError(f"a target's calls must be a number from 0 on, not {self.calls!r}")


@dataclass(frozen=True, kw_only=True)
class Band:
    """Grounded below ``accept``, hallucinated from ``flag`` on, and handed on between; None does neither."""

    accept: float | None = None
    flag: float | None = None


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A figure and the middle 95 % of it over resampled groups."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Figures:
    """How well and how cheaply bands decide: shares in [0, 1], and calls for an answer.

    An answer that nobody could judge is not flagged, so it counts against the recall if it is hallucinated;
    ``undecided`` is the share of such answers.
    """

    precision: Interval
    recall: Interval
    f1: Interval
    calls: Interval
    undecided: float


@dataclass(frozen=True, kw_only=True)
class FittedBands:
    """Bands for all stages but the last, fitted on all answers, and what to expect of them.

    ``fitted`` are the figures on the answers that they were fitted on, which flatter; ``held_out`` those on
    answers of groups that took no part in fitting (cross-fitted). ``met`` says whether the target is met
    there.
    """

    bands: tuple[Band, ...]
    target: Target
    fitted: Figures
    held_out: Figures
    met: bool


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """What a cascade did with each answer: flagged or not, the stage that decided (-1 for none), calls."""

    flagged: Flags
    stage: Indices
    calls: Floats


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
    data = _Data.of(scores, labels, groups, calls=calls, weights=weights, threshold=threshold)
    if folds < 2 or len(data.names) < folds:
        raise ValueError(f"{folds} folds need as many groups, at least 2: there are {len(data.names)}")
    bands = _fitted(data, target)
    side = data.group % folds
    pooled = _Pool.empty(len(data.labels))
    for fold in range(folds):
        out = np.flatnonzero(side == fold)
        pooled.put(out, data.at(out).decide(_fitted(data.at(np.flatnonzero(side != fold)), target)))
    held_out = data.figures(pooled.decisions(), rounds)
    return FittedBands(
        bands=tuple(_band(accept, flag) for accept, flag in bands),
        target=target,
        fitted=data.figures(data.decide(bands), rounds),
        held_out=held_out,
        met=_met(target, held_out),
    )


def decide(
    scores: ArrayLike, bands: Sequence[Band], *, calls: ArrayLike | None = None, threshold: float = 0.5
) -> Decisions:
    """What a cascade with these bands does with answers; see ``fit_bands`` for the arrays."""
    table = np.asarray(scores, dtype=np.float64)
    data = _Data.of(
        table, np.zeros(len(table)), np.arange(len(table)), calls=calls, weights=None, threshold=threshold
    )
    return data.decide([_ends(band) for band in bands])


Ends = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class _Data:
    scores: Floats
    labels: Floats
    group: Indices
    names: Sequence[object]
    calls: Floats
    weights: Floats
    threshold: float

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        labels: ArrayLike,
        groups: ArrayLike,
        *,
        calls: ArrayLike | None,
        weights: ArrayLike | None,
        threshold: float,
    ) -> _Data:
        table = np.asarray(scores, dtype=np.float64)
        if table.ndim != 2 or not table.size:
            raise ValueError(f"scores must be a table of answers by stages, not of shape {table.shape}")
        n, stages = table.shape
        truth = np.asarray(labels, dtype=np.float64)
        names, group = np.unique(np.asarray(groups), return_inverse=True)
        counts = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
        paid = np.eye(stages)[-1] if calls is None else np.asarray(calls, dtype=np.float64)
        for name, array, size in (
            ("labels", truth, n),
            ("groups", group, n),
            ("weights", counts, n),
            ("calls", paid, stages),
        ):
            if array.shape != (size,):
                raise ValueError(f"{name} must have {size} entries, not the shape {array.shape}")
        if not np.isin(truth, (0, 1)).all():
            raise ValueError("labels must be 0 or 1")
        if np.any((table < 0) | (table > 1)):
            raise ValueError("scores must be in [0, 1], or NaN where a stage could not judge")
        return cls(
            scores=table,
            labels=truth,
            group=group,
            names=names.tolist(),
            calls=paid,
            weights=counts,
            threshold=threshold,
        )

    def at(self, index: Indices) -> _Data:
        return _Data(
            scores=self.scores[index],
            labels=self.labels[index],
            group=self.group[index],
            names=self.names,
            calls=self.calls,
            weights=self.weights[index],
            threshold=self.threshold,
        )

    def decide(self, bands: Sequence[Ends]) -> Decisions:
        n, stages = self.scores.shape
        if len(bands) != stages - 1:
            raise ValueError(f"{stages} stages have {stages - 1} bands, not {len(bands)}")
        flagged, stage, calls = np.zeros(n, dtype=np.bool_), np.full(n, -1), np.zeros(n)
        for t, (accept, flag) in enumerate([*bands, (self.threshold, self.threshold)]):
            here = stage < 0
            score = self.scores[:, t]
            calls[here] += self.calls[t]
            bad, good = here & (score >= flag), here & (score < accept)
            flagged |= bad
            stage[bad | good] = t
        return Decisions(flagged=flagged, stage=stage, calls=calls)

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
        low, high = np.percentile(np.array(drawn), [2.5, 97.5], axis=0)
        ranges = [
            Interval(value=v, low=float(a), high=float(b)) for v, a, b in zip(whole, low, high, strict=True)
        ]
        nobody = float(np.average(made.stage < 0, weights=self.weights))
        return Figures(precision=ranges[0], recall=ranges[1], f1=ranges[2], calls=ranges[3], undecided=nobody)


class _Pool:
    """Decisions on parts of the answers, put together."""

    def __init__(self, flagged: Flags, stage: Indices, calls: Floats) -> None:
        self._flagged, self._stage, self._calls = flagged, stage, calls

    @classmethod
    def empty(cls, size: int) -> _Pool:
        return cls(np.zeros(size, dtype=np.bool_), np.full(size, -1), np.zeros(size))

    def put(self, index: Indices, made: Decisions) -> None:
        self._flagged[index], self._stage[index], self._calls[index] = made.flagged, made.stage, made.calls

    def decisions(self) -> Decisions:
        return Decisions(flagged=self._flagged, stage=self._stage, calls=self._calls)


def _sums(data: _Data, made: Decisions) -> Iterator[Floats]:
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
        _share(right, right + wrong),
        _share(right, bad),
        _share(2 * right, right + wrong + bad),
        calls / weight,
    )


def _share(part: Floats, whole: Floats) -> Floats:
    """1 where there is nothing that could be wrong."""
    share: Floats = np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 1.0)
    return share


def _missed(target: Target, precision: Floats, recall: Floats, f1: Floats, calls: Floats) -> Floats:
    """By how much the target is missed, all together; 0 where it is met."""
    wanted = ((target.precision, precision), (target.recall, recall), (target.f1, f1))
    missed = sum((np.maximum(0.0, least - got) for least, got in wanted if least is not None), np.zeros(()))
    over = np.maximum(0.0, calls - target.calls) if target.calls is not None else np.zeros(())
    total: Floats = np.round(missed + over, 9)
    return total


def _met(target: Target, figures: Figures) -> bool:
    values = (figures.precision, figures.recall, figures.f1, figures.calls)
    return not _missed(target, *(np.asarray(one.value) for one in values))


def _ranks(
    target: Target, precision: Floats, recall: Floats, f1: Floats, calls: Floats
) -> tuple[Floats, Floats, Floats]:
    """What is better has the lower rank: the target met, then what it leaves open."""
    missed = _missed(target, precision, recall, f1, calls)
    only_calls = target.precision is None and target.recall is None and target.f1 is None
    return (missed, -f1, calls) if only_calls else (missed, calls, -f1)


def _fitted(data: _Data, target: Target) -> list[Ends]:
    """The best bands of those that the search comes to from each of its beginnings."""
    nothing = (-np.inf, np.inf)
    stages = data.scores.shape[1] - 1
    middle = [float(np.nanmedian(data.scores[:, t])) if _known(data, t) else 0.5 for t in range(stages)]
    begins: list[list[Ends]] = [[nothing] * stages, [(m, m) for m in middle], [(m / 2, m) for m in middle]]
    found = [_searched(data, target, begin) for begin in begins]
    return min(found, key=lambda each: each[0])[1]


def _known(data: _Data, stage: int) -> bool:
    return bool((~np.isnan(data.scores[:, stage])).any())


Rank = tuple[float, float, float]


def _searched(data: _Data, target: Target, bands: list[Ends]) -> tuple[Rank, list[Ends]]:
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


def _best_ends(data: _Data, target: Target, bands: list[Ends], t: int) -> tuple[Rank, Ends]:
    """The best band for one stage while the others stay. What goes on from it is decided as by the others."""
    without = data.decide([*bands[:t], (-np.inf, np.inf), *bands[t + 1 :]])
    reached = (without.stage < 0) | (without.stage > t)
    score = data.scores[:, t]
    movable = np.flatnonzero(reached & ~np.isnan(score))
    if not movable.size:
        return (np.inf, 0.0, 0.0), bands[t]
    movable = movable[np.argsort(score[movable], kind="stable")]
    later = without.calls - data.calls[: t + 1].sum()
    w, y = data.weights[movable], data.labels[movable]
    going = without.flagged[movable]
    sums = np.stack([w * y * going, w * (1 - y) * going, w * later[movable], w * y, w * (1 - y)])
    upto = np.hstack([np.zeros((5, 1)), np.cumsum(sums, axis=1)])
    fixed = np.stack([*_sums(data, without)]).sum(axis=1)
    cuts = _cuts(score[movable])
    i, j = (index.ravel() for index in np.meshgrid(cuts, cuts, indexing="ij"))
    i, j = i[i <= j], j[i <= j]
    # Of those that would go on: left of i are accepted, from j on flagged.
    right = fixed[1] - upto[0, -1] + (upto[0, j] - upto[0, i]) + (upto[3, -1] - upto[3, j])
    wrong = fixed[2] - upto[1, -1] + (upto[1, j] - upto[1, i]) + (upto[4, -1] - upto[4, j])
    calls = fixed[4] - upto[2, -1] + (upto[2, j] - upto[2, i])
    ranks = _ranks(target, *_rates_of(fixed[0], right, wrong, fixed[3], calls))
    at = int(np.lexsort(ranks[::-1])[0])
    ordered = score[movable]
    accept = float(ordered[i[at]]) if i[at] > 0 else -np.inf
    flag = float(ordered[j[at]]) if j[at] < len(ordered) else np.inf
    best: Rank = (float(ranks[0][at]), float(ranks[1][at]), float(ranks[2][at]))
    return best, (accept, flag)


def _cuts(ordered: Floats) -> Indices:
    """Places between different scores, evenly thinned, with the one before the first and after the last."""
    steps = np.flatnonzero(np.diff(ordered) > 0) + 1
    if len(steps) > _MOST_CUTS:
        steps = steps[np.linspace(0, len(steps) - 1, _MOST_CUTS).round().astype(int)]
    return np.concatenate([[0], steps, [len(ordered)]])


def _band(accept: float, flag: float) -> Band:
    return Band(
        accept=float(accept) if np.isfinite(accept) else None, flag=float(flag) if np.isfinite(flag) else None
    )


def _ends(band: Band) -> Ends:
    return (
        -np.inf if band.accept is None else band.accept,
        np.inf if band.flag is None else band.flag,
    )
