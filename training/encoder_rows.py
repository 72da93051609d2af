"""Rows for the encoder with their labels, packed into flat arrays on disk, and drawn in batches.

What the labels are made of is none of its business; nothing here needs PyTorch.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
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
    """A row, its label, the labels of its words, what it weighs, and the ``pair`` that it is one of, if any.

    The two rows of a pair, a right and a wrong one beside the same passages, share what names it.
    """

    row: Row
    label: Label
    words: Sequence[Label]
    weight: float = 1.0
    pair: Hashable = None


def as_pair(right: Labelled, wrong: Labelled) -> tuple[Labelled, Labelled]:
    """Both, named as one pair."""
    name = (right.row.ids, wrong.row.ids)
    return right._replace(pair=name), wrong._replace(pair=name)


def by_marks(row: Row, marks: Sequence[Mark]) -> tuple[Label, list[Label]]:
    """The labels of a row and of its words where the marks are all that isn't supported."""
    words = [
        max((mark.label for mark in marks if mark.touches(span)), default=Label.SUPPORTED)
        for _, span in row.words
    ]
    return max(words, default=Label.SUPPORTED), words


class Batch(NamedTuple):
    """Rows padded to one length: ids, kinds and words are (rows, length), labels and weights (rows,).

    ``paired`` (rows,) says which rows are of one pair with the row before them.
    """

    ids: NDArray[np.int64]
    kinds: NDArray[np.int64]
    words: NDArray[np.int64]
    labels: NDArray[np.int64]
    weights: NDArray[np.float32]
    paired: NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Packed:
    """Many labelled rows in flat arrays: row ``i`` is the tokens ``starts[i]`` to ``starts[i + 1]``.

    ``others[i]`` is the row that makes a pair with it, or -1.
    """

    starts: NDArray[np.int64]
    ids: NDArray[np.uint16]
    kinds: NDArray[np.uint8]
    words: NDArray[np.int8]
    labels: NDArray[np.int8]
    weights: NDArray[np.float32]
    others: NDArray[np.int32]

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
        others: list[int] = []
        first: dict[Hashable, int] = {}
        starts = [0]
        for row, label, of_words, weight, pair in rows:
            of_tokens: list[int] = [Label.IGNORED] * len(row.ids)
            for (place, _), known in zip(row.words, of_words, strict=True):
                of_tokens[place] = known
            ids += row.ids
            kinds += row.kinds
            words += of_tokens
            starts.append(len(ids))
            other = -1 if pair is None else first.pop(pair, -1)
            others.append(other)
            if other >= 0:
                others[other] = len(labels)
            elif pair is not None:
                first[pair] = len(labels)
            labels.append(label)
            weights.append(weight)
        return cls(
            starts=np.array(starts, dtype=np.int64),
            ids=np.array(ids, dtype=np.uint16),
            kinds=np.array(kinds, dtype=np.uint8),
            words=np.array(words, dtype=np.int8),
            labels=np.array(labels, dtype=np.int8),
            weights=np.array(weights, dtype=np.float32),
            others=np.array(others, dtype=np.int32),
        )

    @classmethod
    def joined(cls, parts: Sequence[Packed]) -> Packed:
        """The rows of all parts, one part after the other."""
        offsets = np.cumsum([0, *(len(part.ids) for part in parts)])
        starts = [part.starts[:-1] + offset for part, offset in zip(parts, offsets[:-1], strict=True)]
        rows = np.cumsum([0, *map(len, parts[:-1])])
        return cls(
            starts=np.concatenate([*starts, offsets[-1:]]),
            ids=np.concatenate([part.ids for part in parts]),
            kinds=np.concatenate([part.kinds for part in parts]),
            words=np.concatenate([part.words for part in parts]),
            labels=np.concatenate([part.labels for part in parts]),
            weights=np.concatenate([part.weights for part in parts]),
            others=np.concatenate(
                [
                    np.where(part.others < 0, -1, part.others + at)
                    for part, at in zip(parts, rows, strict=True)
                ]
            ).astype(np.int32),
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
        rows = np.array(chosen)
        paired = np.append(False, self.others[rows[1:]] == rows[:-1])
        return Batch(ids, kinds, words, self.labels[rows].astype(np.int64), self.weights[rows], paired)


def batches(
    packed: Packed, rng: np.random.Generator, tokens: int = TOKENS, *, in_pairs: bool = False
) -> Iterator[tuple[list[int], int]]:
    """Every row once, in shuffled batches of one padded length and at most ``tokens`` tokens.

    With ``in_pairs``, the two rows of a pair stand beside each other, padded to the length of the longer one.
    """
    others = packed.others if in_pairs else np.full(len(packed), -1)
    units = np.stack([np.arange(len(packed)), others], 1)
    units = units[(others < 0) | (units[:, 0] < others)]  # the first of a pair brings the other
    of_rows = np.diff(packed.starts)
    sizes = np.where(units[:, 1] < 0, of_rows[units[:, 0]], of_rows[units].max(1))
    made: list[tuple[list[int], int]] = []
    below = 0
    for length in LENGTHS:
        these = rng.permutation(np.flatnonzero((sizes > below) & (sizes <= length)))
        below = length
        made += [(rows, length) for rows in _filled(units[these], tokens // length)]
    yield from (made[i] for i in rng.permutation(len(made)))


def _filled(units: NDArray[np.int64], most: int) -> Iterator[list[int]]:
    """The rows of units, whole ones, at most so many at once; -1 is none."""
    rows: list[int] = []
    for unit in units.tolist():
        found = [row for row in unit if row >= 0]
        if rows and len(rows) + len(found) > most:
            yield rows
            rows = []
        rows += found
    if rows:
        yield rows
