"""Pieces of plots as SVG, drawn by hand, so that they scale, print and take a page's colours.

Colours are classes, which the page that shows a plot styles for light and for dark. Nothing here knows what
is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from groundwire.report.visible import one_line

QUARTERS = (0, 0.25, 0.5, 0.75, 1)


@dataclass(frozen=True, kw_only=True)
class Plane:
    """A picture of ``width`` and ``height``, and the margins around what is drawn from 0 to 1 each way."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float

    def x(self, value: float) -> float:
        return round(self.left + value * (self.width - self.left - self.right), 1)

    def y(self, value: float) -> float:
        return round(self.height - self.bottom - value * (self.height - self.top - self.bottom), 1)

    def line(self, points: Iterable[Sequence[float]]) -> str:
        """The points as what a path draws."""
        return "M" + "L".join(f"{self.x(x)} {self.y(y)}" for x, y in points)

    def grid(self) -> str:
        """Lines at every quarter, both ways, with their numbers."""
        parts = []
        for value in QUARTERS:
            parts.append(
                f'<path class="grid" d="M{self.x(value)} {self.y(0)}V{self.y(1)}'
                f'M{self.x(0)} {self.y(value)}H{self.x(1)}"/>'
            )
            parts.append(text(self.x(value), self.y(0) + 16, tick(value)))
            parts.append(text(self.x(0) - 6, self.y(value) + 4, tick(value), anchor="end"))
        return "".join(parts)


def svg(title: str, width: float, height: float, inside: str) -> str:
    """A picture; the title is what stands for it where it can't be seen."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(one_line(title))}">'
        f"{inside}</svg>"
    )


def text(x: float, y: float, words: str, *, anchor: str = "middle") -> str:
    """Words of our own, which need no escape."""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{words}</text>'


def tick(value: float) -> str:
    """A number at an axis, as short as it can be."""
    return f"{value:.2f}".rstrip("0").rstrip(".").removeprefix("0") or "0"


def bars(
    plane: Plane, counts: Sequence[int], kind: str, *, middle: float, tall: float, up: bool, what: str
) -> str:
    """A histogram of 0 to 1 that grows up or down from ``middle``, its highest bar ``tall``."""
    highest = max(counts, default=0) or 1
    width = (plane.x(1) - plane.x(0)) / max(1, len(counts))
    parts = []
    for at, count in enumerate(counts):
        if not count:
            continue
        size = max(1.2, tall * count / highest)
        parts.append(
            f'<rect class="{kind}" x="{plane.x(0) + at * width + 0.8:.1f}" '
            f'y="{middle - size if up else middle:.1f}" width="{width - 1.6:.1f}" height="{size:.1f}">'
            f"<title>{at / len(counts):.2f} to {(at + 1) / len(counts):.2f}: {count} {what}</title></rect>"
        )
    return "".join(parts)
