"""Models of every kind, made to answer requests: one file a kind, each importing only its own framework.

What an adapter raises is turned into a failed reply by the judge; threads, clocks and contexts live there.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from typing import Any, Protocol

from groundwire.core.errors import ConfigurationError
from groundwire.core.plan import Completed, Embedded


class Chat(Protocol):
    """A language model: one reply to one system and one user message. ``name`` is for messages."""

    name: str

    def complete(self, system: str, user: str) -> Completed: ...


class Embedder(Protocol):
    """An embedding model: one vector per text."""

    def embed(self, texts: Sequence[str]) -> Embedded: ...


def chat(model: Any) -> Chat:
    """The adapter for a language model. Raises ConfigurationError for what is none."""
    if isinstance(model, str):
        from groundwire.judge.adapters.named import from_string  # noqa: PLC0415 - needs LangChain

        model = from_string(model)
    if _is_langchain(model):
        from groundwire.judge.adapters.langchain import LangChainChat  # noqa: PLC0415 - needs LangChain

        return LangChainChat(model)
    if any(kind.__module__.partition(".")[0] == "llama_index" for kind in type(model).__mro__):
        raise ConfigurationError(
            f"model: {_described(model)} can't judge: LlamaIndex models are not accepted yet; expected a "
            "LangChain chat model, or a function (system, user) -> str, which may call yours"
        )
    if callable(model) and not isinstance(model, type) and not _is_async(model):
        from groundwire.judge.adapters.function import CallableChat  # noqa: PLC0415 - one a kind

        return CallableChat(model)
    raise ConfigurationError(
        f"model: {_described(model)} can't judge; expected a LangChain chat model, a LangChain model string "
        "such as 'bedrock:MODEL_ID', or a function (system, user) -> str"
    )


def embedder(embeddings: Any) -> Embedder:
    """The adapter for an embedding model. Raises ConfigurationError for what is none."""
    from groundwire.judge.adapters.function import CallableEmbedder  # noqa: PLC0415 - one a kind

    if callable(embed := getattr(embeddings, "embed_documents", None)) and not isinstance(embeddings, type):
        return CallableEmbedder(embed)
    if callable(embeddings) and not isinstance(embeddings, type) and not _is_async(embeddings):
        return CallableEmbedder(embeddings)
    raise ConfigurationError(
        f"embeddings: {_described(embeddings)} can't embed; expected LangChain Embeddings, or a function "
        "from a list of texts to their vectors"
    )


def _is_langchain(model: Any) -> bool:
    # Whoever made a LangChain model has imported this; nobody else should pay for it.
    base = sys.modules.get("langchain_core.runnables.base")
    return base is not None and isinstance(model, base.Runnable)


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object whose call is async, not a test for one
    )


def _described(value: Any) -> str:
    # Not its repr: what people pass by mistake is often a client, and those print their keys.
    if isinstance(value, type):
        return f"the class {value.__qualname__!r} (not an instance of it)"
    if _is_async(value):
        return "an async function"
    return f"an object of type {type(value).__qualname__!r}"
