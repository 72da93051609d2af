"""What models said in one call of an agent's model, as their own events tell it.

What comes back of such a call may be another middleware's: that the model could not be reached, for one.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any, Self

from langchain_core.callbacks.base import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.tracers.context import register_configure_hook

from groundwire.langchain import chat, results


class Hearing(BaseCallbackHandler):
    """Hears what the models say that run in a ``with`` block."""

    run_inline = True

    def __init__(self) -> None:
        self._asked = False
        self._said: list[str] = []

    def __enter__(self) -> Self:
        self._token = _HEARING.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _HEARING.reset(self._token)

    def on_chat_model_start(self, serialized: Any, messages: Any, **_: Any) -> None:
        del serialized, messages
        self._asked = True

    def on_llm_end(self, response: Any, **_: Any) -> None:
        self._said += results.model_words(response)

    def said(self, returned: Iterable[BaseMessage]) -> list[str]:
        """What the models said, or what was ``returned`` for it where none was heard, as from a cache."""
        spoken = self._said
        if not self._asked:
            spoken = [words for one in returned if chat.by_model(one) for words in results.words(one)]
        return [words for words in dict.fromkeys(spoken) if words.strip()]


_HEARING: ContextVar[Hearing | None] = ContextVar("groundwire_hearing", default=None)
register_configure_hook(_HEARING, inheritable=True)
