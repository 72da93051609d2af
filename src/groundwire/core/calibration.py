"""From a detector's raw figure to a probability that the answer is hallucinated."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from types import MappingProxyType
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
        if not (math.isfinite(self.slope) and math.isfinite(self.intercept)):
            raise ValueError(
                f"calibration needs finite numbers, not slope {self.slope!r} and intercept {self.intercept!r}"
            )
        if self.slope < 0:
            raise ValueError(f"calibration must not reverse the score: slope {self.slope:g} < 0")

    def __call__(self, raw: float) -> float:
        return _logistic(self.slope * raw + self.intercept)


@dataclass(frozen=True, kw_only=True)
class Temperature:
    """Log-odds divided by one number (Guo et al., 2017): above 1 for scores that are too sure of themselves.

    For raw figures that are shares of 1 already; it leaves one half where it is.
    """

    temperature: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise ValueError(f"a temperature must be a number above 0, not {self.temperature!r}")

    def __call__(self, raw: float) -> float:
        inside = min(max(raw, _LEAST), 1 - _LEAST)
        return _logistic(math.log(inside / (1 - inside)) / self.temperature)


# Nearer to 0 and 1 than this, log-odds say more about rounding than about the answer.
_LEAST = 1e-6


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
        if not all(map(math.isfinite, self.raws)):
            raise ValueError("isotonic calibration needs raw scores that are finite numbers")
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


KINDS: Mapping[str, Callable[..., Platt | Temperature | Isotonic]] = MappingProxyType(
    {"platt": Platt, "temperature": Temperature, "isotonic": Isotonic}
)


def from_dict(data: Mapping[str, Any]) -> Calibration:
    """Read ``{"kind": "platt", "slope": ...}`` or another of KINDS; ValueError for anything else."""
    kind = KINDS.get(str(data.get("kind")))
    if kind is None:
        expected = " or ".join(map(repr, KINDS))
        raise ValueError(f"unknown calibration kind {data.get('kind')!r}: expected {expected}")
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in data.items() if name != "kind"}
    try:
        return kind(**given)
    except TypeError as error:
        raise ValueError(f"a calibration of kind {data['kind']!r} can't be read: {error}") from error


def to_dict(calibration: Calibration) -> dict[str, Any]:
    """What ``from_dict`` reads, as JSON can hold it. Raises ValueError for a calibration of another kind."""
    if not isinstance(calibration, Platt | Temperature | Isotonic):
        raise ValueError(  # noqa: TRY004 - whoever saves a tuning is told of a value, not of a type
            f"{calibration!r} has no form on disk: expected one of {', '.join(KINDS)}"
        )
    kind = type(calibration).__name__.lower()
    return {"kind": kind, **{f.name: _plain(getattr(calibration, f.name)) for f in fields(calibration)}}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _logistic(z: float) -> float:
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))
