"""Functions of the user's that are called where nobody can await them: which of them are refused, and why.

Only the messages live here; who calls the function, and when, is the caller's to know.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable


def callable_problems(name: str, given: object, told: str) -> list[str]:
    """What is wrong with what was given to be called with what is told, where nobody awaits it."""
    if not callable(given):
        return [f"{name} must be callable with a {told}, not {type(given).__qualname__}"]
    hint = "hand what it is to do to your loop, with asyncio.run_coroutine_threadsafe"
    return refused_async(name, given, f"nobody awaits it where it is called; {hint}")


def refused_async(name: str, value: Callable[..., object], why: str) -> list[str]:
    """What is wrong with a callable that is async, where nobody would await it, and ``why`` nobody does."""
    if inspect.iscoroutinefunction(value) or inspect.iscoroutinefunction(type(value).__call__):
        return [f"{name} must be a plain callable, not the async {value!r}: {why}"]
    return []
