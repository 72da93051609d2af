"""Where a judge's calls run: an empty context, in which nothing of the run that is judged can be seen.

LangChain hands callbacks, tags, metadata, session ids and LangSmith parents down through context variables.
``callbacks=[]`` does not stop that for bound models and graphs; an empty context does. Which model is called
is none of this module's business.
"""

from __future__ import annotations

import sys
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
        _untraced()
        return call()

    return Context().run(judging)


def _untraced() -> None:
    """Ask OpenTelemetry's instrumentations, where the application has any, to record nothing here.

    The context is empty, so that a judge's calls could not stand in the application's trace; without this
    each would be a trace of its own.
    """
    if (room := sys.modules.get("opentelemetry.context")) is not None:
        key = getattr(room, "_SUPPRESS_INSTRUMENTATION_KEY", "suppress_instrumentation")
        room.attach(room.set_value(key, True))
