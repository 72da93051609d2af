"""Windows: passages in stretches that a foreign model can read at once, cut at the ends of sentences.

How long a text is in tokens is asked of whoever reads it. What a window is read for lives in ``classifiers``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from groundwire.core.span import Span
from groundwire.text import forms, sentences, tokens

Measure = Callable[[list[str]], list[int]]
"""From texts to their lengths in tokens."""


class Piece(NamedTuple):
    """A sentence of a text, or part of one that is too long, with its length in tokens."""

    source: int
    span: Span
    size: int


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive pieces, and the text that they are together."""

    pieces: tuple[Piece, ...]
    text: str

    def halves(self, texts: Sequence[str]) -> tuple[Window, ...]:
        """The window as two; as one where it is a single piece, which nothing can cut."""
        half = len(self.pieces) // 2
        parts = (self.pieces[:half], self.pieces[half:]) if half else (self.pieces,)
        return tuple(_window(texts, part) for part in parts)


def windows(
    texts: Sequence[str], measure: Measure, *, room: int, overlap: int = 0, apart: bool = False
) -> list[Window]:
    """The texts in windows of at most ``room`` tokens.

    Each window begins with the last sentences of the one before, up to ``overlap`` tokens of them. With
    ``apart`` no window holds words of two texts.
    """
    packed: list[list[Piece]] = []
    run: list[Piece] = []
    for piece in _pieces(texts, measure, longest=max(1, room - _JOINT)):
        elsewhere = apart and bool(run) and run[-1].source != piece.source
        if run and (elsewhere or _size(run) + piece.size + _JOINT > room):
            packed.append(run)
            run = [] if elsewhere else _end(run, min(overlap, room - piece.size - _JOINT))
        run.append(piece)
    if run:
        packed.append(run)
    return [_window(texts, pieces) for pieces in packed]


def nearest(claim: str, window: Window, texts: Sequence[str]) -> Iterator[tuple[int, Span]]:
    """The sentences of a window that share most words with the claim: the best, and one that adds to it."""
    left = _stems(claim)
    stems = [_stems(piece.span.of(texts[piece.source])) for piece in window.pieces]
    for _ in range(_NEAREST if stems else 0):
        best = max(range(len(stems)), key=lambda i: (len(stems[i] & left), -window.pieces[i].size), default=0)
        if not stems[best] & left:
            return
        yield window.pieces[best].source, window.pieces[best].span
        left -= stems[best]


def _pieces(texts: Sequence[str], measure: Measure, *, longest: int) -> list[Piece]:
    waiting = [(i, span) for i, text in enumerate(texts) for span in sentences.split(text)]
    found: list[Piece] = []
    while waiting:
        sizes = measure([span.of(texts[i]) for i, span in waiting])
        measured = list(zip(waiting, sizes, strict=True))
        fits = [len(span) == 1 or size <= longest for (_, span), size in measured]
        found += [Piece(i, span, size) for ((i, span), size), fit in zip(measured, fits, strict=True) if fit]
        waiting = [
            (i, part)
            for ((i, span), _), fit in zip(measured, fits, strict=True)
            if not fit
            for part in _halved(texts[i], span)
        ]
    return sorted(found)


def _halved(text: str, span: Span) -> tuple[Span, Span]:
    """A stretch in two, at the space nearest its middle."""
    middle = (span.start + span.end) // 2
    before, after = text.rfind(" ", span.start + 1, middle), text.find(" ", middle, span.end - 1)
    spaces = [at for at in (before, after) if at >= 0]
    at = min(spaces, key=lambda at: abs(at - middle), default=middle)
    return Span(span.start, at), Span(at + (text[at] == " "), span.end)


def _window(texts: Sequence[str], pieces: Sequence[Piece]) -> Window:
    shown: list[tuple[int, Span]] = []
    for piece in pieces:
        if shown and shown[-1][0] == piece.source:
            shown[-1] = (piece.source, Span(shown[-1][1].start, piece.span.end))
        else:
            shown.append((piece.source, piece.span))
    return Window(tuple(pieces), "\n\n".join(span.of(texts[i]) for i, span in shown))


def _size(run: Sequence[Piece]) -> int:
    return sum(piece.size + _JOINT for piece in run)


def _end(run: Sequence[Piece], room: int) -> list[Piece]:
    start = len(run)
    while start and _size(run[start - 1 :]) <= room:
        start -= 1
    return list(run[start:])


def _stems(text: str) -> frozenset[str]:
    return frozenset(form.stem for form in forms.of(tokens.texts(text)) if form.content)


_JOINT = 1  # the token that the break between two sentences may take
_NEAREST = 2
