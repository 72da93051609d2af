"""From several detectors' scores to one: fitted combinations, as plain numbers. Nothing is fitted here.

Whatever was fitted, a member's higher score never lowers the combined one.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from groundwire.core.cached import cached_property

if TYPE_CHECKING:
    from groundwire.detectors.lexical_model import Forest

# Log-odds of scores nearer to 0 or 1 than this are those of this: a judge's plain 0 is not infinitely sure.
_LEAST = 0.01


class Combination(ABC):
    """A fitted map from the members' scores, each in [0, 1], to one in [0, 1]."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def size(self) -> int:
        """How many scores it takes."""

    @abstractmethod
    def __call__(self, scores: Sequence[float]) -> float: ...

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """What ``from_dict`` reads back to an equal value."""

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that change with any of its numbers."""
        told = json.dumps(self.to_dict(), sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class Logistic(Combination):
    """``1 / (1 + exp(-(bias + weights · log-odds of the scores)))``; no weight is below 0.

    Source: stacking (Wolpert, 1992), with weights that can't be negative (Breiman, 1996).
    """

    kind: ClassVar[str] = "logistic"

    weights: tuple[float, ...]
    bias: float

    def __post_init__(self) -> None:
        if not self.weights or not all(math.isfinite(w) and w >= 0 for w in self.weights):
            raise ValueError(f"a combination needs a weight from 0 on for each member, not {self.weights!r}")
        if not math.isfinite(self.bias):
            raise ValueError(f"a combination's bias must be a number, not {self.bias!r}")

    @property
    def size(self) -> int:
        return len(self.weights)

    def __call__(self, scores: Sequence[float]) -> float:
        margin = self.bias + sum(w * log_odds(s) for w, s in zip(self.weights, scores, strict=True))
        return 1 / (1 + math.exp(-margin)) if margin >= 0 else math.exp(margin) / (1 + math.exp(margin))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "weights": list(self.weights), "bias": self.bias}


@dataclass(frozen=True, kw_only=True)
class Trees(Combination):
    """Boosted trees over the scores (Friedman, 2001), each rising with every score.

    The nodes of all trees lie in lists of one length; see ``lexical_model.Forest``, which walks them.
    """

    kind: ClassVar[str] = "trees"

    members: int
    roots: tuple[int, ...]
    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]
    depth: int
    base: float

    def __post_init__(self) -> None:
        nodes = range(len(self.feature))
        lists = (self.threshold, self.left, self.right, self.value)
        places = (*self.roots, *self.left, *self.right)
        if any(len(one) != len(nodes) for one in lists) or any(place not in nodes for place in places):
            raise ValueError("a combination's trees need lists of one length, whose places lie within them")
        if any(not 0 <= one < self.members for one in self.feature):
            raise ValueError(f"a combination's trees ask for members beyond its {self.members}")

    @property
    def size(self) -> int:
        return self.members

    def __call__(self, scores: Sequence[float]) -> float:
        if len(scores) != self.members:
            raise ValueError(f"{self.members} members' scores are combined, not {len(scores)}")
        return self._forest([scores])[0]

    def to_dict(self) -> dict[str, Any]:
        lists = {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}
        return {"kind": self.kind, **lists}

    @cached_property
    def _forest(self) -> Forest:
        from groundwire.detectors.lexical_model import Forest  # noqa: PLC0415 - numpy, for those with trees

        return Forest.read({**asdict(self), "features": [str(i) for i in range(self.members)]})


KINDS: Mapping[str, Callable[..., Combination]] = {"logistic": Logistic, "trees": Trees}


def from_dict(data: Mapping[str, Any]) -> Combination:
    """Read ``{"kind": "logistic", "weights": [...], "bias": ...}`` or trees; ValueError for anything else."""
    kind = KINDS.get(str(data.get("kind")))
    if kind is None:
        raise ValueError(
            f"unknown kind of combination {data.get('kind')!r}: expected {' or '.join(map(repr, KINDS))}"
        )
    try:
        return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in data.items() if k != "kind"})
    except TypeError as error:
        raise ValueError(f"a {data['kind']} combination can't be read: {error}") from error


def log_odds(score: float) -> float:
    """The log-odds of a score, those of the outermost hundredths alike."""
    inside = min(max(score, _LEAST), 1 - _LEAST)
    return math.log(inside / (1 - inside))
