"""What models said in one call of an agent's model, and what they were told, as their own events tell it.

What comes back of such a call may be another middleware's: that the model could not be reached, for one. And
what goes into it may be: documents that it has retrieved, or that the agent's state holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import UUID

from langchain_core.callbacks.base import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.tracers.context import register_configure_hook

from groundwire.core.interaction import Passage
from groundwire.langchain import chat, evidence, placing, results
from groundwire.langchain.declared import CONTEXT


class Hearing(BaseCallbackHandler):
    """Hears what the models say and are told that run in a ``with`` block, and what is retrieved in it."""

    run_inline = True

    def __init__(self) -> None:
        self._calls: dict[UUID, _Call] = {}
        self._said: list[str] = []
        self._found: list[Passage] = []

    def __enter__(self) -> Self:
        self._token = _HEARING.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _HEARING.reset(self._token)

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: UUID, **_: Any) -> None:
        del serialized
        given = (one for batch in messages for one in batch if one.type in ("system", "human"))
        self._calls[run_id] = _Call("\n\n".join(map(chat.told, given)), before=len(self._said))

    def on_retriever_end(self, documents: Any, **_: Any) -> None:
        self._found += evidence.passages(documents)

    def on_chain_end(self, outputs: Any, *, tags: Iterable[str] | None = None, **_: Any) -> None:
        if CONTEXT in (tags or ()):
            self._found += evidence.passages(outputs)

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:
        words = list(results.model_words(response))
        self._said += words
        if call := self._calls.get(run_id):
            call.said = words

    def said(self, returned: Iterable[BaseMessage]) -> list[str]:
        """What the models said, or what was ``returned`` for it where none was heard, as from a cache."""
        spoken = self._said if self._calls else _spoken(returned)
        return [words for words in dict.fromkeys(spoken) if words.strip()]

    def told(self, held: Iterable[Passage], returned: Iterable[BaseMessage]) -> list[Passage]:
        """What the model that said what is ``returned`` was told of documents, retrieved here or ``held``.

        By its prompt, for what tools told it is read in their messages. What a model before it has made up,
        as one in a retriever may, is no evidence. Where none of them said that, the last one is meant.
        """
        own, last_first = set(_spoken(returned)) - {""}, list(reversed(self._calls.values()))
        call = next((one for one in last_first if own.intersection(one.said)), next(iter(last_first), None))
        if call is None:
            return []
        before = "\n".join(self._said[: call.before])
        known = {one.text: one for one in (*self._found, *held) if not self._is_made(one, before)}
        return placing.survivors(list(known.values()), [call.told])

    def _is_made(self, passage: Passage, before: str) -> bool:
        others = (one.text for one in self._found if one.text != passage.text)
        return passage.text in before and not any(passage.text in text for text in others)


@dataclass
class _Call:
    """What a model was told by its prompt, how much models had said ``before``, and what it said."""

    told: str
    before: int
    said: list[str] = field(default_factory=list)


def _spoken(returned: Iterable[BaseMessage]) -> list[str]:
    return [words for one in returned if chat.by_model(one) for words in results.words(one)]


_HEARING: ContextVar[Hearing | None] = ContextVar("groundwire_hearing", default=None)
register_configure_hook(_HEARING, inheritable=True)
