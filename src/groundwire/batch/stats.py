"""What is counted of a unit's rows, and of many units. Counts add up, so a summary never reads the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from groundwire.core.grading import Level
from groundwire.core.verdict import Abstention, Outcome, Usage, total_cost
from groundwire.report.entries import Group, group_of
from groundwire.report.histogram import BINS, LEVELS, bin_of


@dataclass(frozen=True, kw_only=True)
class Stats:
    """Counts over rows. ``bins`` has, for each twentieth of the score, how many were low, medium and high.

    ``unlabelled`` are the rows with a label that can't be read; ``seconds`` is of the clock, for one unit
    from its first row to its last.
    """

    rows: int = 0
    groups: Mapping[str, int] = field(default_factory=dict)
    abstentions: Mapping[str, int] = field(default_factory=dict)
    bins: tuple[tuple[int, int, int], ...] = ((0, 0, 0),) * BINS
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    unlabelled: int = 0
    seconds: float = 0.0

    def __getitem__(self, group: Group) -> int:
        return self.groups.get(str(group), 0)

    def __add__(self, other: Stats) -> Stats:
        return Stats(
            rows=self.rows + other.rows,
            groups=dict(Counter(self.groups) + Counter(other.groups)),
            abstentions=dict(Counter(self.abstentions) + Counter(other.abstentions)),
            bins=tuple(
                (a + d, b + e, c + f) for (a, b, c), (d, e, f) in zip(self.bins, other.bins, strict=True)
            ),
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=total_cost((self.calls, self.cost), (other.calls, other.cost)),
            unlabelled=self.unlabelled + other.unlabelled,
            seconds=self.seconds + other.seconds,
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Stats:
        return cls(**{**data, "bins": tuple(tuple(one) for one in data["bins"])})


class Counting:
    """Stats in the making."""

    def __init__(self) -> None:
        self._groups: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._bins = [[0, 0, 0] for _ in range(BINS)]
        self._usage = Usage()

    def add(self, outcome: Outcome) -> None:
        """Count an outcome."""
        self._groups[str(group_of(outcome))] += 1
        if outcome.usage.calls:
            self._usage += outcome.usage
        if isinstance(outcome, Abstention):
            self._reasons[str(outcome.why)] += 1
            return
        self._bins[bin_of(outcome.score)][LEVELS.index(outcome.level)] += 1

    def add_cells(self, cells: Mapping[str, Any]) -> None:
        """Count a row that was kept from an earlier run. What it took was counted then."""
        if cells["status"] == "abstained":
            self._groups[str(Group.NOT_JUDGED)] += 1
            self._reasons[cells["abstention"]] += 1
            return
        level = Level(cells["level"])
        grounded = Group.GROUNDED if level is Level.LOW else Group.TO_CHECK
        self._groups[str(Group.HALLUCINATED if cells["hallucinated"] else grounded)] += 1
        self._bins[bin_of(cells["score"])][LEVELS.index(level)] += 1

    def stats(self, seconds: float) -> Stats:
        """What was counted."""
        return Stats(
            rows=self._groups.total(),
            groups=dict(self._groups),
            abstentions=dict(self._reasons),
            bins=tuple((a, b, c) for a, b, c in self._bins),
            calls=self._usage.calls,
            input_tokens=self._usage.input_tokens,
            output_tokens=self._usage.output_tokens,
            cost=self._usage.cost,
            seconds=seconds,
        )


def total(many: Iterable[Stats]) -> Stats:
    """All of them together; the seconds of units that ran side by side add up, too."""
    whole = Stats()
    for one in many:
        whole += one
    return whole
