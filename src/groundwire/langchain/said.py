"""What models said in one call of an agent's model, and what they were told, as their own events tell it.

What comes back of such a call may be another middleware's: that the model could not be reached, for one. And
what goes into it may be: documents that it has retrieved, or that the agent's state holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any, Self

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
        self._asked = False
        self._said: list[str] = []
        self._told = self._before = ""
        self._found: list[Passage] = []

    def __enter__(self) -> Self:
        self._token = _HEARING.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _HEARING.reset(self._token)

    def on_chat_model_start(self, serialized: Any, messages: Any, **_: Any) -> None:
        del serialized
        self._asked = True
        given = (one for batch in messages for one in batch if one.type in ("system", "human"))
        self._told = "\n\n".join(map(chat.told, given))
        self._before = "\n".join(self._said)

    def on_retriever_end(self, documents: Any, **_: Any) -> None:
        self._found += evidence.passages(documents)

    def on_chain_end(self, outputs: Any, *, tags: Iterable[str] | None = None, **_: Any) -> None:
        if CONTEXT in (tags or ()):
            self._found += evidence.passages(outputs)

    def on_llm_end(self, response: Any, **_: Any) -> None:
        self._said += results.model_words(response)

    def said(self, returned: Iterable[BaseMessage]) -> list[str]:
        """What the models said, or what was ``returned`` for it where none was heard, as from a cache."""
        spoken = self._said
        if not self._asked:
            spoken = [words for one in returned if chat.by_model(one) for words in results.words(one)]
        return [words for words in dict.fromkeys(spoken) if words.strip()]

    def told(self, held: Iterable[Passage]) -> list[Passage]:
        """What the last model was told of the documents, retrieved here or ``held``, by its prompt.

        What tools told it is read in their messages, and what a model before it has made up, as one in a
        retriever may, is no evidence.
        """
        known = {passage.text: passage for passage in (*self._found, *held) if not self._is_made(passage)}
        return placing.survivors(list(known.values()), [self._told])

    def _is_made(self, passage: Passage) -> bool:
        others = (one.text for one in self._found if one.text != passage.text)
        return passage.text in self._before and not any(passage.text in text for text in others)


_HEARING: ContextVar[Hearing | None] = ContextVar("groundwire_hearing", default=None)
register_configure_hook(_HEARING, inheritable=True)
