"""How an application says what its events can't show: tags, metadata, and a block around separate calls.

Only names and the block's own state live here; what they mean for a run is decided in ``runs``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID, uuid4

PREFIX = "groundwire:"
CONTEXT = "groundwire:context"
"""On a step: its output is the context."""
ANSWER = "groundwire:answer"
"""On a step: its output is the answer."""
UNIT = "groundwire:unit"
"""On a run: it gives one answer, and nothing below it is judged by itself."""
SKIP = "groundwire:skip"
"""On a run: it and everything below it has no part in any answer."""
JUDGE = "groundwire:judge"
"""On a judge's own calls, which are never judged."""
KEYS = "groundwire"
"""In a run's metadata: the keys that hold question, context and answer. The run is a unit."""


def key_problems(keys: Mapping[str, object]) -> list[str]:
    """What is wrong with the names of keys that an application gave; None names none."""
    return [
        f"{name} must be a str, not {type(key).__qualname__}"
        for name, key in keys.items()
        if not isinstance(key, str | None)
    ]


class Listener(Protocol):
    """Whoever heard runs in a block, and has to hear of its end."""

    def block_ended(self, block: Block, error: BaseException | None) -> None: ...


@dataclass(eq=False)
class Block:
    """Separate calls that together give one answer, and what is known of it besides.

    Whatever is set here goes before what the calls show. ``contexts`` takes documents or texts.
    """

    question: str | None = None
    contexts: Any = None
    answer: str | None = None
    id: UUID = field(default_factory=uuid4, repr=False)
    _listeners: dict[int, Listener] = field(default_factory=dict, repr=False)
    _lock: Any = field(default_factory=threading.Lock, repr=False)
    _open: bool = field(default=True, repr=False)

    def join(self, listener: Listener) -> bool:
        """Register who is to hear of the end; False when the block has ended already."""
        with self._lock:
            if self._open:
                self._listeners[id(listener)] = listener
            return self._open

    def close(self, error: BaseException | None) -> None:
        with self._lock:
            self._open = False
        for listener in self._listeners.values():
            listener.block_ended(self, error)


CURRENT: ContextVar[Block | None] = ContextVar("groundwire_interaction", default=None)


@contextmanager
def interaction(
    *, question: str | None = None, contexts: Any = None, answer: str | None = None
) -> Iterator[Block]:
    """Judge everything that runs in this block as one answer.

    For retrieval and generation in separate calls, for searches that are no LangChain retriever, and for
    models that are no LangChain model. The parts can be given here, or set on the block as they become
    known; the rest is captured from the runs. Needs a handler on those runs, as everywhere. An exception
    that leaves the block ends it unjudged.

    >>> with interaction(question="What does a second bag cost?") as block:  # doctest: +SKIP
    ...     block.contexts = index.search(block.question)
    ...     model.invoke(prompt_with(block.contexts), config={"callbacks": [handler]})
    """
    block = Block(question=question, contexts=contexts, answer=answer)
    token = CURRENT.set(block)
    raised: BaseException | None = None
    try:
        yield block
    except BaseException as error:
        raised = error
        raise
    finally:
        # A generator may be resumed, or closed, in another context than it was begun in; that one's variable
        # was never set, and there is nothing to reset.
        with suppress(ValueError):
            CURRENT.reset(token)
        block.close(raised)
