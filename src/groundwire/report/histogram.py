"""How scores spread over [0, 1], by level: which bin a score is in, and the bars of a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundwire.core.grading import Level

BINS = 20
LEVELS = tuple(Level)


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """A part of a histogram column, in a drawing 100 high; ``y`` is its upper edge."""

    bin: int
    level: str
    y: float
    height: float
    told: str


def bin_of(score: float) -> int:
    """The number of the bin that a score is in."""
    return min(BINS - 1, int(score * BINS))


def bars(bins: Sequence[Sequence[int]]) -> tuple[Bar, ...]:
    """The parts of the columns, from how many scores of each level there are in each bin."""
    highest = max(map(sum, bins))
    found: list[Bar] = []
    for i, counts in enumerate(bins):
        top = 100.0
        for level, count in zip(LEVELS, counts, strict=True):
            if count:
                height = max(100 * count / highest, 1.5)
                top -= height
                told = f"{i / BINS:.2f} to {(i + 1) / BINS:.2f}: {sum(counts):,}"
                found.append(Bar(bin=i, level=str(level), y=top, height=height, told=told))
    return tuple(found)
