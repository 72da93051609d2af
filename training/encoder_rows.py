"""Rows for the encoder with their labels, packed into flat arrays on disk, and drawn in batches.

What the labels are made of is none of its business; nothing here needs PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundwire.core.span import Span
from groundwire.local.rows import LENGTH, Row

LENGTHS = (64, 128, 192, LENGTH)
"""What rows are padded to: PyTorch keeps a kernel for each length on CPUs, and slows down with many."""

TOKENS = 8192
"""In a batch, padding included."""


class Label(IntEnum):
    """What a row or a word is labelled with; the encoder's classes are 0 to 2."""

    IGNORED = -1
    SUPPORTED = 0
    UNSUPPORTED = 1
    CONTRADICTED = 2
    NOT_SUPPORTED = 3  # one of the two, and nobody said which


class Mark(NamedTuple):
    """Characters of a text that its context doesn't support, and whether it speaks against them."""

    span: Span
    label: Label

    def touches(self, other: Span) -> bool:
        return overlap(self.span, other)


def overlap(one: Span, other: Span) -> bool:
    """Whether they have a character in common."""
    return one.start < other.end and other.start < one.end


class Labelled(NamedTuple):
    """A row, its label, the labels of its words, and what it weighs."""

    row: Row
    label: Label
    words: Sequence[Label]
    weight: float = 1.0


def by_marks(row: Row, marks: Sequence[Mark]) -> tuple[Label, list[Label]]:
    """The labels of a row and of its words where the marks are all that isn't supported."""
    words = [
        max((mark.label for mark in marks if mark.touches(span)), default=Label.SUPPORTED)
        for _, span in row.words
    ]
    return max(words, default=Label.SUPPORTED), words


class Batch(NamedTuple):
    """Rows padded to one length: ids, kinds and words are (rows, length), labels and weights (rows,)."""

    ids: NDArray[np.int64]
    kinds: NDArray[np.int64]
    words: NDArray[np.int64]
    labels: NDArray[np.int64]
    weights: NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Packed:
    """Many labelled rows in flat arrays: row ``i`` is the tokens ``starts[i]`` to ``starts[i + 1]``."""

    starts: NDArray[np.int64]
    ids: NDArray[np.uint16]
    kinds: NDArray[np.uint8]
    words: NDArray[np.int8]
    labels: NDArray[np.int8]
    weights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def of(cls, rows: Iterable[Labelled]) -> Packed:
        """The rows in their order; a word's label stands at its first token, and nowhere else."""
        ids: list[int] = []
        kinds: list[int] = []
        words: list[int] = []
        labels: list[int] = []
        weights: list[float] = []
        starts = [0]
        for row, label, of_words, weight in rows:
            of_tokens: list[int] = [Label.IGNORED] * len(row.ids)
            for (place, _), known in zip(row.words, of_words, strict=True):
                of_tokens[place] = known
            ids += row.ids
            kinds += row.kinds
            words += of_tokens
            starts.append(len(ids))
            labels.append(label)
            weights.append(weight)
        return cls(
            starts=np.array(starts, dtype=np.int64),
            ids=np.array(ids, dtype=np.uint16),
            kinds=np.array(kinds, dtype=np.uint8),
            words=np.array(words, dtype=np.int8),
            labels=np.array(labels, dtype=np.int8),
            weights=np.array(weights, dtype=np.float32),
        )

    @classmethod
    def joined(cls, parts: Sequence[Packed]) -> Packed:
        """The rows of all parts, one part after the other."""
        offsets = np.cumsum([0, *(len(part.ids) for part in parts)])
        starts = [part.starts[:-1] + offset for part, offset in zip(parts, offsets[:-1], strict=True)]
        return cls(
            starts=np.concatenate([*starts, offsets[-1:]]),
            ids=np.concatenate([part.ids for part in parts]),
            kinds=np.concatenate([part.kinds for part in parts]),
            words=np.concatenate([part.words for part in parts]),
            labels=np.concatenate([part.labels for part in parts]),
            weights=np.concatenate([part.weights for part in parts]),
        )

    def save(self, path: Path) -> None:
        """Write an .npz file: all of it or, when interrupted, none."""
        unfinished = path.with_name(f"unfinished-{path.name}")
        np.savez(unfinished, **{field.name: getattr(self, field.name) for field in fields(self)})
        unfinished.replace(path)

    @classmethod
    def load(cls, path: Path) -> Packed:
        """What ``save`` wrote."""
        with np.load(path) as data:
            return cls(**data)

    def batch(self, chosen: Sequence[int], length: int) -> Batch:
        """The chosen rows, padded; padding is token 0, and its words are ignored."""
        shape = (len(chosen), length)
        ids, kinds = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        words = np.full(shape, Label.IGNORED, dtype=np.int64)
        for place, i in enumerate(chosen):
            tokens = slice(self.starts[i], self.starts[i + 1])
            filled = slice(0, tokens.stop - tokens.start)
            ids[place, filled] = self.ids[tokens]
            kinds[place, filled] = self.kinds[tokens]
            words[place, filled] = self.words[tokens]
        rows = list(chosen)
        return Batch(ids, kinds, words, self.labels[rows].astype(np.int64), self.weights[rows])


def batches(
    packed: Packed, rng: np.random.Generator, tokens: int = TOKENS
) -> Iterator[tuple[list[int], int]]:
    """Every row once, in shuffled batches of one padded length and at most ``tokens`` tokens."""
    sizes = np.diff(packed.starts)
    made: list[tuple[list[int], int]] = []
    below = 0
    for length in LENGTHS:
        rows = rng.permutation(np.flatnonzero((sizes > below) & (sizes <= length)))
        below = length
        per_batch = tokens // length
        made += [(rows[i : i + per_batch].tolist(), length) for i in range(0, len(rows), per_batch)]
    yield from (made[i] for i in rng.permutation(len(made)))
