"""Texts as vectors: every distinct text embedded once, in one request, and cosines between them.

What a cosine means for an answer is the detectors' business.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire.core.plan import Embed, Embedded, Failed, Plan
from groundwire.core.verdict import AbstentionReason, Usage

Floats = NDArray[np.float64]


class Vectors:
    """Unit vectors by text. A text that the model has no vector for (all zeros) is not ``known``."""

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        rows = np.array(list(vectors.values()), dtype=np.float64)
        # Divided by the largest first: squares of large figures would overflow.
        rows = rows / _never_zero(np.abs(rows).max(axis=1, initial=0.0))[:, None]
        lengths = np.sqrt((rows**2).sum(axis=1))
        self._rows = rows / _never_zero(lengths)[:, None]
        self._known = lengths > 0
        self._at = {text: i for i, text in enumerate(vectors)}

    def known(self, text: str) -> bool:
        return bool(self._known[self._at[text]])

    def cosines(self, texts: Sequence[str], others: Sequence[str]) -> Floats:
        """One row for each of ``texts``, one column for each of ``others``; 0 where one is not known."""
        cosines: Floats = np.clip(self._of(texts) @ self._of(others).T, -1.0, 1.0)
        return cosines

    def _of(self, texts: Sequence[str]) -> Floats:
        rows: Floats = self._rows[[self._at[text] for text in texts]]
        return rows


def embed(texts: Iterable[str]) -> Plan[Vectors | Failed]:
    """The vectors of ``texts``, asked for in one request in which none stands twice."""
    distinct = tuple(dict.fromkeys(texts))
    (reply,) = yield [Embed(texts=distinct)]
    if isinstance(reply, Failed):
        return reply
    if not isinstance(reply, Embedded) or len(reply.vectors) != len(distinct):
        got = len(reply.vectors) if isinstance(reply, Embedded) else "no"
        return _useless(f"{got} vectors came back for {len(distinct)} texts", reply.usage)
    lengths = {len(vector) for vector in reply.vectors}
    if len(lengths) != 1 or 0 in lengths:
        return _useless("the vectors that came back have different lengths, or none", reply.usage)
    if not all(math.isfinite(x) for vector in reply.vectors for x in vector):
        return _useless("a vector came back with a value that is not a number", reply.usage)
    return Vectors(dict(zip(distinct, reply.vectors, strict=True)))


def _useless(detail: str, usage: Usage) -> Failed:
    return Failed(reason=AbstentionReason.MODEL_FAILED, detail=detail, usage=usage)


def _never_zero(lengths: Floats) -> Floats:
    return np.where(lengths > 0, lengths, 1.0)
