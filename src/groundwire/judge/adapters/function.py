"""Plain functions as models. No framework is needed, or imported, here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from groundwire.core.plan import Complete, Completed, Embedded
from groundwire.core.verdict import Usage
from groundwire.judge.adapters import Ungrounding


class CallableChat(Ungrounding):
    """A function ``(system, user) -> str`` as a language model."""

    def __init__(self, function: Callable[[str, str], str]) -> None:
        self.name = _named(function)
        self.identity = identity(function)
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
        self,
        function: Callable[[list[str]], Iterable[Iterable[float]]],
        *,
        name: str | None = None,
        identified: str | None = None,
    ) -> None:
        self.name = name or _named(function)
        self.identity = identified or identity(function)
        self._function = function

    def embed(self, texts: Sequence[str]) -> Embedded:
        return Embedded(vectors=read_vectors(self._function(list(texts)), len(texts)), usage=Usage(calls=1))


def _named(function: Callable[..., Any]) -> str:
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def identity(function: Callable[..., Any], *, deep: int = 3, inside: frozenset[int] = frozenset()) -> str:
    """Where the function lives, and what it was given: models of different names are different.

    Given to a partial function, as a default, in the variables around a closure or a lambda, or as attributes
    of the object that is called, or whose method is. Objects among these count by their type and by those of
    their attributes that are plain values, long tables by their length, and what is named as a secret not at
    all: a model is the same with another key.
    """
    given: list[Any] = []
    while isinstance(function, partial):
        given.append(
            (told(function.args, deep, inside), sorted(told(function.keywords, deep, inside).items()))
        )
        function = function.func
    given += _held(function, deep, inside)
    return repr((getattr(function, "__module__", ""), _named(function), given))


def _held(function: Any, deep: int, inside: frozenset[int]) -> list[Any]:
    """What a function carries with it."""
    if isinstance(function, MethodType):
        return [told(function.__self__, deep, inside), *_held(function.__func__, deep, inside)]
    if not isinstance(function, FunctionType):
        return _attributes(function)
    code = function.__code__
    held: list[Any] = [given for given in (function.__defaults__, function.__kwdefaults__) if given]
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # an empty one
            held += [] if _SECRET.search(name) else [cell.cell_contents]
    if function.__name__ == "<lambda>":  # a name that says nothing
        held += [code.co_names, [one for one in code.co_consts if isinstance(one, _PLAIN)]]
    return [told(one, deep, inside) for one in held]


def told(value: Any, deep: int = 3, inside: frozenset[int] = frozenset()) -> Any:
    """A value, as far as it is the same in another process.

    ``inside`` are the ids of the tables that it stands in, which may stand in themselves.
    """
    if isinstance(value, _PLAIN):
        return value
    if type(value) in (list, tuple, dict):
        if len(value) > _LONG or id(value) in inside:
            return (type(value).__qualname__, len(value))
        inside |= {id(value)}
        if isinstance(value, dict):
            named = {str(name): one for name, one in value.items() if not _SECRET.search(str(name))}
            return {name: told(one, deep, inside) for name, one in named.items()}
        return type(value)([told(one, deep, inside) for one in value])
    if isinstance(value, partial | FunctionType | MethodType) and deep:
        return identity(value, deep=deep - 1, inside=inside)
    kind = value if isinstance(value, type) else type(value)
    return (kind.__module__, kind.__qualname__, *_attributes(value))


def _attributes(value: Any) -> list[Any]:
    held = {} if isinstance(value, type) else getattr(value, "__dict__", {})
    return sorted(
        (name, one) for name, one in held.items() if isinstance(one, _PLAIN) and not _SECRET.search(name)
    )


_PLAIN = str | int | float | None
_LONG = 1_000  # items from which on a table is data, and no parameters
_SECRET = re.compile(r"api_?key|secret|password|credential|(access|auth|session)_?token", re.IGNORECASE)


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
