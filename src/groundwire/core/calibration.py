"""From a detector's raw figure to a probability that the answer is hallucinated."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from groundwire.core.score import check_score


class Calibration(Protocol):
    """A non-decreasing map into [0, 1]."""

    def __call__(self, raw: float) -> float: ...


@dataclass(frozen=True, kw_only=True)
class Platt:
    """Logistic calibration: ``1 / (1 + exp(-(slope * raw + intercept)))`` (Platt, 1999)."""

    slope: float
    intercept: float

    def __post_init__(self) -> None:
        if self.slope < 0:
            raise ValueError(f"calibration must not reverse the score: slope {self.slope:g} < 0")

    def __call__(self, raw: float) -> float:
        z = self.slope * raw + self.intercept
        return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


@dataclass(frozen=True, kw_only=True)
class Isotonic:
    """Straight lines through fitted points, flat beyond the ends (Zadrozny and Elkan, 2002).

    ``raws`` strictly increase and ``probabilities`` never fall; both have the same length, at least one.
    """

    raws: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.raws or len(self.raws) != len(self.probabilities):
            raise ValueError("isotonic calibration needs as many probabilities as raw scores, at least one")
        if any(b <= a for a, b in pairwise(self.raws)):
            raise ValueError("isotonic calibration needs raw scores that strictly increase")
        if any(b < a for a, b in pairwise(self.probabilities)):
            raise ValueError("isotonic calibration needs probabilities that never fall")
        for probability in self.probabilities:
            check_score("a calibrated probability", probability)

    def __call__(self, raw: float) -> float:
        i = bisect_right(self.raws, raw)
        if i == 0:
            return self.probabilities[0]
        if i == len(self.raws):
            return self.probabilities[-1]
        x0, x1 = self.raws[i - 1], self.raws[i]
        y0, y1 = self.probabilities[i - 1], self.probabilities[i]
        return min(y1, y0 + (y1 - y0) * (raw - x0) / (x1 - x0))


def from_dict(data: Mapping[str, Any]) -> Calibration:
    """Read ``{"kind": "platt", ...}`` or ``{"kind": "isotonic", ...}``; ValueError for anything else."""
    if data.get("kind") == "platt":
        return Platt(slope=data["slope"], intercept=data["intercept"])
    if data.get("kind") == "isotonic":
        return Isotonic(raws=tuple(data["raws"]), probabilities=tuple(data["probabilities"]))
    raise ValueError(f"unknown calibration kind {data.get('kind')!r}: expected 'platt' or 'isotonic'")
