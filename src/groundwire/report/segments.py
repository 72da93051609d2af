"""Cutting a text where its marks begin and end, so that each piece is drawn in one way."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from groundwire.core.span import Span

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment(Generic[T]):
    """A piece of a text and the marks that cover it, in the order they were given."""

    text: str
    span: Span
    marks: tuple[T, ...] = ()


def cut(
    text: str, marks: Iterable[tuple[Span, T]], *, within: Span | None = None, at: Iterable[int] = ()
) -> Iterator[Segment[T]]:
    """The text in consecutive, non-empty segments. Marks may overlap; those past the text are cut off.

    ``within`` asks for one part of the text, with offsets that still count from the whole text's start;
    ``at`` cuts in more places than the marks do.
    """
    start, end = (0, len(text)) if within is None else (within.start, within.end)
    inside = [(span, mark) for span, mark in marks if len(span) and span.start < end and start < span.end]
    edges = {start, end, *(place for place in at if start < place < end)}
    for span, _ in inside:
        edges.update((max(start, span.start), min(end, span.end)))
    order = sorted(edges)
    covering: list[list[T]] = [[] for _ in order]
    for span, mark in inside:
        first = bisect.bisect_left(order, max(start, span.start))
        last = bisect.bisect_left(order, min(end, span.end))
        for index in range(first, last):
            covering[index].append(mark)
    for index in range(len(order) - 1):
        span = Span(order[index], order[index + 1])
        yield Segment(text=span.of(text), span=span, marks=tuple(covering[index]))


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """Consecutive lines of one kind: prose, or the rows of a table or code that need equal columns."""

    span: Span
    columns: bool


_FENCE = re.compile(r"\s*(```|~~~)")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$")


def stretches(text: str) -> Sequence[Stretch]:
    """The text's lines grouped by kind, covering all of it. Markdown tables and fenced code keep columns."""
    found: list[Stretch] = []
    at, fenced = 0, False
    for line in text.splitlines(keepends=True):
        fence = _FENCE.match(line) is not None
        columns = fenced or fence or _TABLE_ROW.match(line) is not None
        fenced ^= fence
        end = at + len(line)
        if found and found[-1].columns == columns:
            found[-1] = Stretch(span=Span(found[-1].span.start, end), columns=columns)
        else:
            found.append(Stretch(span=Span(at, end), columns=columns))
        at = end
    return found
