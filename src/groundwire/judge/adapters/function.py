"""Plain functions as models. No framework is needed, or imported, here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from groundwire.core.plan import Completed, Embedded
from groundwire.core.verdict import Usage


class CallableChat:
    """A function ``(system, user) -> str`` as a language model."""

    def __init__(self, function: Callable[[str, str], str]) -> None:
        self.name = getattr(function, "__qualname__", type(function).__qualname__)
        self._function = function

    def complete(self, system: str, user: str) -> Completed:
        text = self._function(system, user)
        if not isinstance(text, str):
            raise TypeError(f"the model function returned {type(text).__qualname__}, expected str")
        return Completed(texts=(text,), usage=Usage(calls=1))


class CallableEmbedder:
    """A function from a list of texts to their vectors, as an embedding model."""

    def __init__(self, function: Callable[[list[str]], Iterable[Iterable[float]]]) -> None:
        self._function = function

    def embed(self, texts: Sequence[str]) -> Embedded:
        vectors = tuple(tuple(float(x) for x in vector) for vector in self._function(list(texts)))
        if len(vectors) != len(texts):
            raise ValueError(f"the embedding model returned {len(vectors)} vectors for {len(texts)} texts")
        if len({len(vector) for vector in vectors}) > 1:
            raise ValueError("the embedding model returned vectors of different lengths")
        if not all(math.isfinite(x) for vector in vectors for x in vector):
            raise ValueError("the embedding model returned a vector with a value that is not a number")
        return Embedded(vectors=vectors, usage=Usage(calls=1))
