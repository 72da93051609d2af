"""Datasets as their authors distribute them, read from where you put them. Nothing is downloaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from groundwire.bench.examples import Example
from groundwire.tables import TableError

_LAYOUTS: dict[str, Callable[[Path], list[Example]]] = {}


def load_layout(name: str, path: Path, *, columns: Mapping[str, str] | None = None) -> list[Example]:
    """The examples of a dataset in its own layout. Raises TableError for an unknown one."""
    if name not in _LAYOUTS:
        raise TableError(f"no layout is called {name!r}: expected one of {', '.join(_LAYOUTS)}")
    if columns:
        raise TableError(f"the layout {name!r} knows its columns: leave out columns, or the layout")
    return _LAYOUTS[name](path)
