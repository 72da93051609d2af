"""Figures with their uncertainty, and tests of whether two differ. Plain functions of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_Z = 1.959963984540054  # the normal deviate that leaves 2.5 % above it


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A share: ``count`` out of ``of``, with the interval that holds it 95 times in 100."""

    value: float
    low: float
    high: float
    count: int
    of: int


def rate(count: int, of: int) -> Rate | None:
    """A share with its interval by Wilson's score (1927); None of nothing."""
    if not of:
        return None
    p, z2 = count / of, _Z * _Z
    middle = (p + z2 / (2 * of)) / (1 + z2 / of)
    half = _Z / (1 + z2 / of) * math.sqrt(p * (1 - p) / of + z2 / (4 * of * of))
    # At the ends the interval reaches the end, which rounding could miss.
    low = 0.0 if count == 0 else max(0.0, middle - half)
    high = 1.0 if count == of else min(1.0, middle + half)
    return Rate(value=p, low=low, high=high, count=count, of=of)


def fisher(hits: int, others: int, hits2: int, others2: int) -> float:
    """How often chance alone would part two shares at least so far (Fisher's exact test, two-sided)."""
    first, second, right = hits + others, hits2 + others2, hits + hits2
    logs = _log_factorials(first + second)
    k = np.arange(max(0, right - second), min(first, right) + 1)
    # Of every table with these margins: the chance of its one free cell.
    chances = -(logs[k] + logs[first - k] + logs[right - k] + logs[second - right + k])
    margins = logs[first] + logs[second] + logs[right] + logs[first + second - right] - logs[first + second]
    seen = chances[hits - k[0]]
    return min(1.0, float(np.exp(chances[chances <= seen + 1e-7] + margins).sum()))


def smirnov(reference: Floats, windows: Floats) -> Floats:
    """How often chance alone would part each row of ``windows`` so far from a sorted ``reference``.

    The two-sample test of Kolmogorov and Smirnov with its limit distribution, which ties and small samples
    make cautious. NaN in a row is nothing; each needs a value.
    """
    rows = np.sort(windows, axis=1)  # NaN last
    known = (~np.isnan(rows)).sum(axis=1, keepdims=True)
    place = np.arange(rows.shape[1])
    real = place < known
    # Two steps are farthest apart at a value of the row, or just below it; of equal values the last is where
    # the row's own step ends, and the first where it begins.
    differs = rows[:, 1:] != rows[:, :-1]
    last = np.pad(differs, ((0, 0), (0, 1)), constant_values=True) & real
    first = np.pad(differs, ((0, 0), (1, 0)), constant_values=True) & real
    below = np.searchsorted(reference, rows, side="left") / len(reference)
    up_to = np.searchsorted(reference, rows, side="right") / len(reference)
    gaps = np.maximum(
        np.where(last, np.abs(up_to - (place + 1) / known), 0.0),
        np.where(first, np.abs(below - place / known), 0.0),
    ).max(axis=1)
    scaled = gaps * np.sqrt(len(reference) * known[:, 0] / (len(reference) + known[:, 0]))
    k = np.arange(1, 101)
    terms = 2.0 * (-1.0) ** (k - 1) * np.exp(-2.0 * k * k * (scaled * scaled)[:, None])
    # Where the series is slow, its sum is 1 to twelve digits.
    chances: Floats = np.where(scaled < 0.2, 1.0, np.clip(terms.sum(axis=1), 0.0, 1.0))
    return chances


def stability(reference: Floats, recent: Floats, bins: int = 10) -> float:
    """The population stability index: how far recent scores moved between the reference's tenths.

    A score that many of the reference share has a bin of its own, so that what leaves it is seen. Under .1 is
    usually called stable, over .25 moved. Half an answer is added to every bin, so that an empty one does not
    make it infinite.
    """
    tenths, tied = np.unique(np.quantile(reference, np.linspace(0, 1, bins + 1)[1:-1]), return_counts=True)
    cuts = np.unique(np.concatenate([tenths, np.nextafter(tenths[tied > 1], np.inf)]))
    shares = []
    for values in (reference, recent):
        counts = np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(cuts) + 1) + 0.5
        shares.append(counts / counts.sum())
    return float(((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum())


def mcnemar(only_first: int, only_second: int) -> float:
    """How often chance alone would part paired flags so far: the exact binomial test of what changed."""
    changed, fewer = only_first + only_second, min(only_first, only_second)
    if not changed:
        return 1.0
    tail = math.fsum(math.exp(_log_choose(changed, k) - changed * math.log(2)) for k in range(fewer + 1))
    return min(1.0, 2 * tail)


def flipped(differences: Floats, rounds: int = 2000) -> float:
    """How often chance alone would part paired scores so far: their signs are flipped at random."""
    if not np.any(differences):
        return 1.0
    rng, seen = np.random.default_rng(0), abs(float(differences.sum()))
    as_far = 0
    for _ in range(rounds):
        signs = rng.integers(0, 2, len(differences)) * 2 - 1
        as_far += abs(float((differences * signs).sum())) >= seen - 1e-9
    return (1 + as_far) / (1 + rounds)


def kappa(first: Sequence[object], second: Sequence[object]) -> float | None:
    """How far two reviewers agree beyond chance (Cohen, 1960): 1 wholly, 0 as chance would.

    None where chance alone would make them agree always, or without anything that both reviewed.
    """
    if not first:
        return None
    agreed = sum(a == b for a, b in zip(first, second, strict=True)) / len(first)
    kinds = {*first, *second}
    by_chance = sum(first.count(k) / len(first) * (second.count(k) / len(second)) for k in kinds)
    return None if by_chance >= 1 else (agreed - by_chance) / (1 - by_chance)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


@lru_cache(maxsize=64)
def _log_factorials(most: int) -> Floats:
    """The logarithm of every factorial up to that of ``most``."""
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
