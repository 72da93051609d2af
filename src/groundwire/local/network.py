"""A foreign classifier as PyTorch runs it: pairs of texts in, weighed meanings out.

Padding, batches and devices live here. What is paired with what, and what follows from it, does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from groundwire.core.fork import renew_after_fork
from groundwire.core.span import Span
from groundwire.local.labels import Meaning

Weights = npt.NDArray[np.float64]
"""How likely each Meaning is, in the last dimension."""


@dataclass(frozen=True, slots=True)
class Row:
    """A pair of texts in tokens; ``places`` are those of the second text, each with its characters."""

    inputs: dict[str, list[int]]
    places: tuple[tuple[int, Span], ...]

    def __len__(self) -> int:
        return len(self.inputs["input_ids"])


class Network:
    """A tokenizer and a model with a classification head.

    ``meanings`` are those of the model's labels, in their order. ``per_token`` tells a model with a label for
    each token from one with a label for the whole pair. ``length`` is the most tokens of a row.
    """

    def __init__(
        self, tokenizer: Any, model: Any, *, meanings: Sequence[Meaning], per_token: bool, length: int
    ) -> None:
        self.length = length
        self.marks: int = tokenizer.num_special_tokens_to_add(pair=True)
        self._tokenizer = tokenizer
        self._model = model
        self._per_token = per_token
        self._pads = {"input_ids": tokenizer.pad_token_id, "token_type_ids": tokenizer.pad_token_type_id}
        self._columns = _columns(meanings)
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Go on with one thread: PyTorch waits for ever for those that only the parent has."""
        torch.set_num_threads(1)

    def sizes(self, texts: list[str]) -> list[int]:
        """The length of each text in tokens, alone."""
        if not texts:
            return []
        encoded = self._tokenizer([_plain(text) for text in texts], add_special_tokens=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]

    def rows(self, firsts: Sequence[str], second: str) -> list[Row]:
        """Each of the first texts paired with the second. A row may be longer than ``length``: look."""
        pairs = [_plain(first) for first in firsts], [_plain(second)] * len(firsts)
        encoded = self._tokenizer(*pairs, verbose=False)
        keys = [key for key in self._tokenizer.model_input_names if key in encoded]
        return [
            Row({key: encoded[key][i] for key in keys}, _places(one))
            for i, one in enumerate(encoded.encodings)
        ]

    def weigh(self, rows: Sequence[Row]) -> list[Weights]:
        """What the model says of each row: a line for each of its places, or one line for the pair."""
        weighed: dict[int, Weights] = {}
        with torch.inference_mode():
            for batch in _batches(rows):
                logits = self._model(**self._padded([rows[i] for i in batch])).logits.double().cpu()
                for i, one in zip(batch, logits, strict=True):
                    at = [place for place, _ in rows[i].places] if self._per_token else None
                    weighed[i] = _probabilities(one[at] if at is not None else one[None]) @ self._columns
        return [weighed[i] for i in range(len(rows))]

    def _padded(self, rows: Sequence[Row]) -> dict[str, torch.Tensor]:
        # Not by the tokenizer: it would keep the padding as a state, which threads share.
        longest = max(map(len, rows))
        return {
            key: torch.tensor(
                [row.inputs[key] + [self._pads.get(key, 0)] * (longest - len(row)) for row in rows],
                device=self._model.device,
            )
            for key in rows[0].inputs
        }


def _places(encoding: Any) -> tuple[tuple[int, Span], ...]:
    return tuple(
        (at, Span(*offsets))
        for at, (text, offsets) in enumerate(zip(encoding.sequence_ids, encoding.offsets, strict=True))
        if text == 1
    )


def _columns(meanings: Sequence[Meaning]) -> Weights:
    """Which label counts for which meaning. A single label also speaks, by what is left, against itself."""
    if len(meanings) == 1:
        other = Meaning.UNSUPPORTED if meanings[0] is Meaning.SUPPORTED else Meaning.SUPPORTED
        meanings = (*meanings, other)
    return np.eye(len(Meaning))[list(meanings)]


def _probabilities(logits: torch.Tensor) -> Weights:
    if logits.shape[-1] == 1:
        yes = torch.sigmoid(logits)
        chances = torch.cat([yes, 1 - yes], dim=-1)
    else:
        chances = torch.softmax(logits, dim=-1)
    probabilities: Weights = chances.numpy()
    return probabilities


def _batches(rows: Sequence[Row]) -> Iterator[list[int]]:
    """Rows of about one length together, so that little is padding and memory is bounded."""
    batch: list[int] = []
    for i in sorted(range(len(rows)), key=lambda i: len(rows[i])):
        if batch and len(rows[i]) * (len(batch) + 1) > _BATCH:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _plain(text: str) -> str:
    """The text without halves of surrogate pairs, which no tokenizer takes; the rest keeps its place."""
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", text)


_HALF = re.compile("[\ud800-\udfff]")
_BATCH = 8192  # tokens that are read at once, unless one row is longer
