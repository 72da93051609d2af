"""Where words stand in a text: half-open ranges of Python characters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters ``start`` up to, not including, ``end``.

    Raises ValueError unless ``0 <= start <= end``.
    """

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span needs 0 <= start <= end, not {self.start}..{self.end}")

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, text: str) -> str:
        """The words themselves. Raises ValueError when the span reaches past the text."""
        if self.end > len(text):
            raise ValueError(f"{self} reaches past a text of {len(text)} characters")
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Whether the two share a character."""
        return self.start < other.end and other.start < self.end

    def shifted(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)


def union(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same characters as ordered, disjoint, non-empty spans; touching ones are joined."""
    joined: list[Span] = []
    for span in sorted(spans):
        if not len(span):
            continue
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return tuple(joined)


def touching(spans: Iterable[Span], others: Iterable[Span]) -> list[Span]:
    """Those of ``spans`` that share a character with one of the ``others``."""
    there = union(others)
    ends = [other.end for other in there]

    def touches(span: Span) -> bool:
        at = bisect_right(ends, span.start)
        return at < len(there) and span.overlaps(there[at])

    return [span for span in spans if touches(span)]
