"""From the claims' scores to the answer's.

The choice matters more than it looks: on the same claim scores, a published run moved F1 from 60.5
(any claim unsupported) to 18.8 (fraction below one half). Every rule ignores the order of the claims and
never falls when a claim's score rises; unverified claims have no score and take no part.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from groundwire.core.claim import Claim


class Aggregation(ABC):
    """A rule from scored claims to one score in [0, 1]; None when no claim has a score."""

    def __call__(self, claims: Iterable[Claim]) -> float | None:
        scored = [
            # A statement that stands nowhere in the answer is as long as it is itself.
            (claim.score, len(claim.span) if claim.located else len(claim.statement))
            for claim in claims
            if claim.score is not None
        ]
        return self.combine(scored) if scored else None

    @abstractmethod
    def combine(self, scored: list[tuple[float, int]]) -> float:
        """Combine (score, length in characters) pairs; there is at least one."""


@dataclass(frozen=True, kw_only=True)
class AnyUnsupported(Aggregation):
    """The worst claim's score: one invented sentence makes a hallucinated answer."""

    def combine(self, scored: list[tuple[float, int]]) -> float:
        return max(score for score, _ in scored)


@dataclass(frozen=True, kw_only=True)
class Fraction(Aggregation):
    """The mean score: how much of the answer is unsupported, each claim counting the same."""

    def combine(self, scored: list[tuple[float, int]]) -> float:
        return _mean([score for score, _ in scored])


@dataclass(frozen=True, kw_only=True)
class LengthWeighted(Aggregation):
    """The mean score weighted by each claim's length: the share of the text that is unsupported."""

    def combine(self, scored: list[tuple[float, int]]) -> float:
        total = sum(length for _, length in scored)
        if total == 0:
            return _mean([score for score, _ in scored])
        return min(1.0, sum(score * length for score, length in sorted(scored)) / total)


@dataclass(frozen=True, kw_only=True)
class WorstK(Aggregation):
    """The mean of the ``k`` worst scores: between any-unsupported (k = 1) and the fraction."""

    k: int = 2

    def __post_init__(self) -> None:
        if type(self.k) is not int:  # True is an int, too
            raise ValueError(f"worst-k needs a whole number k, not {self.k!r:.60}")
        if self.k < 1:
            raise ValueError(f"worst-k needs k >= 1, not {self.k}")

    def combine(self, scored: list[tuple[float, int]]) -> float:
        return _mean(sorted((score for score, _ in scored), reverse=True)[: self.k])


RULES: Mapping[str, type[Aggregation]] = MappingProxyType(
    {
        "any_unsupported": AnyUnsupported,
        "fraction": Fraction,
        "length_weighted": LengthWeighted,
        "worst_k": WorstK,
    }
)


def from_dict(data: Mapping[str, Any]) -> Aggregation:
    """Read ``{"kind": "worst_k", "k": 2}`` or another of RULES; ValueError for anything else."""
    rule = RULES.get(str(data.get("kind")))
    if rule is None:
        raise ValueError(f"unknown aggregation rule {data.get('kind')!r}: expected one of {', '.join(RULES)}")
    try:
        return rule(**{name: value for name, value in data.items() if name != "kind"})
    except TypeError as error:
        raise ValueError(f"the aggregation rule {data['kind']!r} can't be read: {error}") from error


def to_dict(aggregation: Aggregation) -> dict[str, Any]:
    """What ``from_dict`` reads. Raises ValueError for a rule of another kind."""
    for name, rule in RULES.items():
        if type(aggregation) is rule:
            return {"kind": name, **asdict(aggregation)}  # type: ignore[call-overload]  # each is a dataclass
    raise ValueError(f"{aggregation!r} has no form on disk: expected one of {', '.join(RULES)}")


def _mean(scores: list[float]) -> float:
    # Sorted, so that rounding too ignores the order; bounded, so that it can't leave [0, 1].
    return min(1.0, sum(sorted(scores)) / len(scores))
