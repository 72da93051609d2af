"""Where a judge's calls run: an empty context, in which nothing of the run that is judged can be seen.

LangChain hands callbacks, tags, metadata, session ids and LangSmith parents down through context variables.
``callbacks=[]`` does not stop that for bound models and graphs; an empty context does. Which model is called
is none of this module's business.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context, ContextVar
from typing import TypeVar

T = TypeVar("T")

JUDGING: ContextVar[bool] = ContextVar("groundwire_judging", default=False)
"""True inside a judge's own calls, so that a handler that hears the whole process can look away."""


def isolated(call: Callable[[], T]) -> T:
    """Make the call in a fresh, empty context in which JUDGING is true."""

    def judging() -> T:
        JUDGING.set(True)
        return call()

    return Context().run(judging)
