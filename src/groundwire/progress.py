"""A progress bar on stderr, for work that may be long. stdout is never touched."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

T = TypeVar("T")


def track(items: Iterable[T], *, total: int | None = None, what: str = "checked") -> Iterator[T]:
    """The same items, drawing how many have passed, how many a second, and the time that remains.

    The bar goes when the last one has passed, or on an error. ``total`` is how many there will be; None where
    nobody knows. Nothing is drawn unless stderr is a terminal.
    """
    bar = _bar(total, what)
    if bar is None:
        yield from items
        return
    with bar:
        yield from bar.track(items, total=total)


@contextlib.contextmanager
def counting(
    *, total: int | None = None, done: int = 0, what: str = "checked"
) -> Iterator[Callable[[int], None]]:
    """``track`` for what passes in lots: what is yielded is called with the size of each.

    ``done`` of the ``total`` had passed before; they don't count as speed.
    """
    bar = _bar(total, what)
    if bar is None:
        yield lambda _: None
        return
    with bar:
        task = bar.add_task(what, total=total, completed=done)
        yield lambda size: bar.advance(task, size)


def _bar(total: int | None, what: str) -> Progress | None:
    console = Console(stderr=True)
    if not console.is_interactive:  # a bar that is merely disabled ends with an empty line in older rich
        return None
    return Progress(
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeElapsedColumn(),
        *([TimeRemainingColumn()] if total else []),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


class _Rate(ProgressColumn):
    """How many items pass in a second."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:.1f}/s", style="dim")
