"""Models of every kind, made to answer requests: one file a kind, each importing only its own framework.

What an adapter raises is turned into a failed reply by the judge; threads, clocks and contexts live there.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from groundwire.core.errors import ConfigurationError
from groundwire.core.plan import Complete, Completed, Embedded, Ground, Grounded

_GUARDRAIL = "bedrock-guardrail:"


class Ungrounding:
    """What every language model says to a request for a grounding service."""

    several = False

    def ground(self, request: Ground) -> Grounded:
        del request
        raise TypeError(
            "a language model is no grounding service: this method needs "
            "Judge('bedrock-guardrail:GUARDRAIL_ID:VERSION')"
        )


class Chat(Protocol):
    """A language model: one reply to one request, whatever its ``samples`` says, unless it gives ``several``.

    ``name`` is for messages, ``identity`` tells it and its parameters from every other. ``varies`` says that
    it was given a temperature above 0, ``several`` that it replies to one request with all of its samples, so
    that the input is paid for once. Where it turns out that it doesn't, those that are missing are asked for.
    """

    name: str
    identity: str
    varies: bool
    several: bool

    def complete(self, request: Complete) -> Completed: ...

    def ground(self, request: Ground) -> Grounded: ...


class Embedder(Protocol):
    """An embedding model: one vector per text. ``name`` and ``identity`` are as a Chat's."""

    name: str
    identity: str

    def embed(self, texts: Sequence[str]) -> Embedded: ...


def chat(
    model: Any,
    parameters: Mapping[str, Any] | None = None,
    *,
    beside: Any = None,
    structured: bool = False,
) -> Chat:
    """The adapter for a language model, with ``parameters`` in its own copy of the model.

    Where it serves ``beside`` another, they are that one's. ``structured`` holds it to the forms of replies.
    Raises ConfigurationError for what is no model, for parameters that it doesn't have, and for one that
    can't be held to a form.
    """
    given = dict(parameters or {})
    if beside is not None:
        from groundwire.judge.adapters.named import connection  # noqa: PLC0415 - for those who ask several

        given = connection(beside, model, given)
    if isinstance(model, str) and model.startswith(_GUARDRAIL):
        from groundwire.judge.adapters.guardrail import Guardrail  # noqa: PLC0415 - needs boto3

        return Guardrail.named(model.removeprefix(_GUARDRAIL), given)
    if isinstance(model, str):
        from groundwire.judge.adapters.named import from_string  # noqa: PLC0415 - needs LangChain

        model, given = from_string(model, **given), {}
    if _is_langchain(model):
        from groundwire.judge.adapters.langchain import LangChainChat  # noqa: PLC0415 - needs LangChain

        return LangChainChat(model, given, structured=structured)
    if structured:
        raise ConfigurationError(
            f"structured: {_described(model)} can't be held to the form of a reply; expected a LangChain "
            "chat model or its string"
        )
    if _is_llama_index(model):
        from groundwire.judge.adapters.llama_index import LlamaIndexChat  # noqa: PLC0415 - needs LlamaIndex

        return LlamaIndexChat(model, given)
    if callable(model) and not isinstance(model, type) and not _is_async(model):
        from groundwire.judge.adapters.function import CallableChat  # noqa: PLC0415 - one a kind

        if given:
            raise ConfigurationError("parameters: a function has none; set them where it calls its model")
        return CallableChat(model)
    raise ConfigurationError(
        f"model: {_described(model)} can't judge; expected a LangChain chat model, a LlamaIndex LLM, a "
        "LangChain model string such as 'bedrock:MODEL_ID', or a function (system, user) -> str"
        + ("; or embeddings=... alone, for detectors that only embed" if model is None else "")
    )


def embedder(embeddings: Any, *, beside: Any = None, parameters: Mapping[str, Any] | None = None) -> Embedder:
    """The adapter for an embedding model. Raises ConfigurationError for what is none.

    ``beside`` is the language model that it serves with, and ``parameters`` are that one's; without one, they
    are those of the embedding model that a string names.
    """
    from groundwire.judge.adapters.function import CallableEmbedder  # noqa: PLC0415 - one a kind

    if isinstance(embeddings, str):
        from groundwire.judge.adapters.named import (  # noqa: PLC0415 - needs LangChain
            connection,
            embeddings_from_string,
        )

        options = connection(beside, embeddings, parameters or {})
        embeddings = embeddings_from_string(embeddings, **options)
    elif beside is None and parameters:
        raise ConfigurationError(
            "parameters: there is no model to set them in; set them in the embedding model"
        )
    if _is_llama_index(embeddings) and hasattr(embeddings, "get_text_embedding_batch"):
        from groundwire.judge.adapters.llama_index import LlamaIndexEmbedder  # noqa: PLC0415 - needs LlamaIndex

        return LlamaIndexEmbedder(embeddings)
    if callable(embed := getattr(embeddings, "embed_documents", None)) and not isinstance(embeddings, type):
        return CallableEmbedder(
            embed, name=provider_name(embeddings), identified=_embedding_identity(embeddings)
        )
    if callable(embeddings) and not isinstance(embeddings, type) and not _is_async(embeddings):
        return CallableEmbedder(embeddings)
    raise ConfigurationError(
        f"embeddings: {_described(embeddings)} can't embed; expected LangChain Embeddings, a LlamaIndex "
        "embedding model, 'bedrock:MODEL_ID', or a function from a list of texts to their vectors"
    )


def provider_name(model: Any) -> str:
    """How a model's provider calls it, by the fields that frameworks have for that; else its type's name."""
    names = (getattr(model, field, None) for field in ("model_id", "model_name", "model"))
    return next((name for name in names if isinstance(name, str) and name), type(model).__qualname__)


def client_problems(models: Iterable[Any], parameters: Iterable[str]) -> list[str]:
    """What is wrong with parameters that models' clients have been built with.

    Set in a copy they would change nothing, and texts might go to another region than the one that is named.
    """
    built = any(getattr(model, client, None) is not None for model in models for client in _CLIENTS)
    return [
        f"parameters: {name!r} is what the model's client was built with; set it where the model is built, "
        "or give its string: Judge('provider:model', parameters={...})"
        for name in sorted(_BUILT_WITH.intersection(parameters) if built else ())
    ]


_CLIENTS = ("client", "bedrock_client", "root_client", "_client")
_BUILT_WITH = frozenset(
    {
        *("region_name", "credentials_profile_name", "config", "endpoint_url", "base_url", "api_base"),
        *("aws_access_key_id", "aws_secret_access_key", "aws_session_token", "api_key", "bedrock_api_key"),
        *("openai_api_base", "openai_api_key", "max_retries", "timeout", "request_timeout"),
    }
)


def _embedding_identity(embeddings: Any) -> str | None:
    """A digest of the parameters of LangChain's own; None for a class of somebody's, which may be any."""
    if "langchain_core" not in sys.modules or not hasattr(type(embeddings), "model_fields"):
        return None
    from groundwire.judge.adapters.langchain import identity  # noqa: PLC0415 - whoever made it has LangChain

    return identity(embeddings)


def _is_llama_index(model: Any) -> bool:
    return not isinstance(model, type) and any(
        kind.__module__.partition(".")[0] == "llama_index" for kind in type(model).__mro__
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
