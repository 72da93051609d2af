"""How a score is read: the threshold, the two cut points of the levels, and the words for each level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from groundwire.core.errors import ConfigurationError
from groundwire.core.score import score_problems

NEVER = 2.0
"""A cut for HIGH that no score reaches."""


class Level(StrEnum):
    """How likely an answer is hallucinated, in three steps: LOW never counts as hallucinated, HIGH always."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wording:
    """What people are shown for a level: a label, a title, and the warning put beside an answer."""

    label: str
    title: str
    warning: str


WORDING: Mapping[Level, Wording] = MappingProxyType(
    {
        Level.LOW: Wording(
            label="GREEN",
            title="Supported by the documents",
            warning="",
        ),
        Level.MEDIUM: Wording(
            label="YELLOW",
            title="May not be fully supported",
            warning="Parts of this answer may not be supported by the documents. Please check them.",
        ),
        Level.HIGH: Wording(
            label="RED",
            title="Not supported by the documents",
            warning="This answer says things that the documents do not support. Do not rely on it.",
        ),
    }
)


@dataclass(frozen=True, kw_only=True)
class Grading:
    """Reads a score: hallucinated from ``threshold`` on, MEDIUM from ``medium`` on, HIGH from ``high`` on.

    Cut points that are left out follow the threshold: three fifths of the way up to it, and two fifths
    of the way from it to 1. ``medium <= threshold <= high`` holds, so LOW is never hallucinated and HIGH
    always is; with ``high=NEVER`` no score is HIGH. ``wording`` replaces the words of the levels it names.
    Raises ConfigurationError where they are out of order, or no scores.
    """

    threshold: float = 0.5
    medium: float | None = None
    high: float | None = None
    wording: Mapping[Level, Wording] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = score_problems(
            threshold=self.threshold, medium=self.medium, high=None if self.high == NEVER else self.high
        )
        if not (isinstance(self.wording, Mapping) and all(map(_words_a_level, self.wording.items()))):
            problems.append(
                f"wording must be a dict from levels to their words, not {self.wording!r:.60}: "
                "{Level.HIGH: Wording(label=..., title=..., warning=...)}"
            )
        if problems:
            raise ConfigurationError(*problems)
        if not self.cuts[0] <= self.threshold <= self.cuts[1]:
            raise ConfigurationError(
                f"level cuts must enclose the threshold: medium {self.cuts[0]:g} <= "
                f"threshold {self.threshold:g} <= high {self.cuts[1]:g}"
            )

    def __hash__(self) -> int:
        return hash((self.threshold, self.cuts))

    @property
    def cuts(self) -> tuple[float, float]:
        """The two scores at which MEDIUM and HIGH begin."""
        medium = 0.6 * self.threshold if self.medium is None else self.medium
        high = self.threshold + 0.4 * (1 - self.threshold) if self.high is None else self.high
        return float(medium), float(high)

    def level(self, score: float) -> Level:
        medium, high = self.cuts
        if score >= high:
            return Level.HIGH
        return Level.MEDIUM if score >= medium else Level.LOW

    def words(self, level: Level) -> Wording:
        return self.wording.get(level, WORDING[level])


def _words_a_level(named: tuple[object, object]) -> bool:
    level, words = named
    return level in list(Level) and isinstance(words, Wording)
