"""Plain functions as models. No framework is needed, or imported, here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from groundwire.core.plan import Complete, Completed, Embedded
from groundwire.core.verdict import Usage
from groundwire.judge.adapters import Ungrounding


class CallableChat(Ungrounding):
    """A function ``(system, user) -> str`` as a language model."""

    def __init__(self, function: Callable[[str, str], str]) -> None:
        self.name = _named(function)
        self.identity = _identity(function)
        self.varies = False
        self._function = function

    def complete(self, request: Complete) -> Completed:
        text = self._function(request.system, request.user)
        if not isinstance(text, str):
            raise TypeError(f"the model function returned {type(text).__qualname__}, expected str")
        return Completed(texts=(text,), usage=Usage(calls=1))


class CallableEmbedder:
    """A function from a list of texts to their vectors, as an embedding model."""

    def __init__(
        self, function: Callable[[list[str]], Iterable[Iterable[float]]], *, identity: str | None = None
    ) -> None:
        self.identity = identity or _identity(function)
        self._function = function

    def embed(self, texts: Sequence[str]) -> Embedded:
        return Embedded(vectors=read_vectors(self._function(list(texts)), len(texts)), usage=Usage(calls=1))


def _named(function: Callable[..., Any]) -> str:
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _identity(function: Callable[..., Any]) -> str:
    """Where the function lives, and what a partial one was given: models of different names are different."""
    given = []
    while isinstance(function, partial):
        given.append((function.args, sorted(function.keywords.items())))
        function = function.func
    return repr((getattr(function, "__module__", ""), _named(function), given))


def read_vectors(given: Iterable[Iterable[float]], expected: int) -> tuple[tuple[float, ...], ...]:
    """As many vectors as texts, of one length and finite numbers. ValueError for any others."""
    vectors = tuple(tuple(float(x) for x in vector) for vector in given)
    if len(vectors) != expected:
        raise ValueError(f"the embedding model returned {len(vectors)} vectors for {expected} texts")
    if len({len(vector) for vector in vectors}) > 1:
        raise ValueError("the embedding model returned vectors of different lengths")
    if not all(math.isfinite(x) for vector in vectors for x in vector):
        raise ValueError("the embedding model returned a vector with a value that is not a number")
    return vectors
