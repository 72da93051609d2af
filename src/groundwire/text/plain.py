"""A text with some of its characters left out or written otherwise, and where the rest of it stood."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from groundwire.core.span import Span

UNSEEN = "\u200b"
"""Stands in for what is left out where a text has to keep its length; ``dress`` leaves it out."""


class Edit(NamedTuple):
    """What stands in place of the characters of ``span``."""

    span: Span
    put: str = ""


class Plain:
    """A text with some of its characters left out or written otherwise: ``text``.

    ``edits`` come in any order; of those that overlap, the one that begins first is made.
    """

    def __init__(self, original: str, edits: Iterable[Edit] = ()) -> None:
        edits = list(_disjoint(edits))
        self._starts = [edit.span.start for edit in edits]
        self._ends = [edit.span.end for edit in edits]
        # How many characters fewer there are before each edit, and after the last.
        self._fewer = list(accumulate((len(e.span) - len(e.put) for e in edits), initial=0))
        self._from = [start - fewer for start, fewer in zip(self._starts, self._fewer, strict=False)]
        self._to = [end - fewer for end, fewer in zip(self._ends, self._fewer[1:], strict=True)]
        kept = zip([0, *self._ends], [*self._starts, len(original)], strict=True)
        puts = [*(edit.put for edit in edits), ""]
        self.text = "".join([original[a:b] + put for (a, b), put in zip(kept, puts, strict=True)])

    def left(self, span: Span) -> Span:
        """What is left of a span of the original, as a span of ``text``: an empty one, where nothing is."""
        start, end = self._left(span.start, self._to), self._left(span.end, self._from)
        return Span(start, max(start, end))

    def _left(self, place: int, inside: Sequence[int]) -> int:
        before = bisect_right(self._ends, place)
        cut = before < len(self._starts) and self._starts[before] < place
        return inside[before] if cut else place - self._fewer[before]

    def stood(self, span: Span) -> Span:
        """Where the characters of a span of ``text`` stood in the original."""
        start = self._stood(span.start, self._starts, 0)
        return Span(start, self._stood(span.end - 1, self._ends, 1) if len(span) else start)

    def _stood(self, place: int, inside: Sequence[int], width: int) -> int:
        before = bisect_right(self._to, place)
        put = before < len(self._from) and self._from[before] <= place
        return inside[before] if put else place + self._fewer[before] + width


def _disjoint(edits: Iterable[Edit]) -> Iterator[Edit]:
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.span.start, -edit.span.end)):
        if edit.span.start >= at:
            yield edit
            at = edit.span.end
