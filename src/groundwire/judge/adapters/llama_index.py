"""LlamaIndex's language and embedding models as the judge's.

The judge's copy has a callback manager of its own, without handlers: an engine that is given a model puts
its own manager into it, and a manager made without handlers takes over those of ``Settings``. ``Settings`` is
neither read nor changed, and no engine, memory or prompt helper of LlamaIndex is used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms.structured_llm import StructuredLLM

from groundwire.core.errors import ConfigurationError
from groundwire.core.plan import Complete, Completed, Embedded
from groundwire.core.secrets import brief
from groundwire.core.verdict import Usage
from groundwire.judge.adapters import client_problems, provider_name
from groundwire.judge.adapters.function import read_vectors, told
from groundwire.judge.adapters.refusals import Yielding
from groundwire.judge.adapters.stopped import UNFIT, stopped, unread
from groundwire.judge.failures import of_the_request, without_prompt
from groundwire.judge.replies import texts_of


class LlamaIndexChat(Yielding):
    """A LlamaIndex LLM, asked through ``chat``: ``predict`` would put the LLM's own system prompt first."""

    def __init__(self, model: Any, parameters: Mapping[str, Any]) -> None:
        if not callable(getattr(model, "chat", None)):
            raise ConfigurationError(
                f"model: the LlamaIndex object {type(model).__qualname__!r} can't judge; expected an LLM"
            )
        inner = list(_models(model))
        unknown = sorted(parameters.keys() - {field for one in inner for field in type(one).model_fields})
        problems = [f"parameters: {type(model).__qualname__} has no field {name!r}" for name in unknown]
        problems += client_problems(inner, parameters)
        if problems:
            raise ConfigurationError(*problems)
        self._model = own(model, parameters)
        metadata = self._model.metadata
        self.name = metadata.model_name if metadata.model_name != "unknown" else type(model).__qualname__
        self.identity = _identity(self._model)
        temperatures = [getattr(one, "temperature", None) for one in _models(self._model)]
        self.varies = any((one or 0) > 0 for one in temperatures)
        self._needs_temperature = 0 in temperatures

    def complete(self, request: Complete) -> Completed:
        return self._asked(replace(request, alternatives=0))  # nobody reads log probabilities here

    def _sent(self, request: Complete, *, several: bool) -> Completed:
        del several  # which no LlamaIndex model gives
        model = self._model
        if request.temperature is not None:
            model = own(model, {"temperature": request.temperature})
        system = [ChatMessage(role=MessageRole.SYSTEM, content=request.system)] if request.system else []
        try:
            reply = model.chat([*system, ChatMessage(role=MessageRole.USER, content=request.user)])
        except (TypeError, ValueError) as error:  # as programs tell of what they can't parse
            if not isinstance(model, StructuredLLM) or of_the_request(error):
                raise
            # Or of a key that is missing: its own words tell which.
            return unread(f"{UNFIT} ({without_prompt(brief(error), texts_of(request))})")
        # .content joins the text blocks and leaves thinking out.
        why = stopped(_told(reply))
        return Completed(
            texts=(reply.message.content or "",), usage=_usage(reply), stopped=(why,) if why else ()
        )


class LlamaIndexEmbedder:
    """A LlamaIndex embedding model."""

    def __init__(self, model: Any) -> None:
        self._model = own(model, {})
        self.name = provider_name(model)
        self.identity = _identity(self._model)

    def embed(self, texts: Sequence[str]) -> Embedded:
        vectors = self._model.get_text_embedding_batch(list(texts))
        return Embedded(vectors=read_vectors(vectors, len(texts)), usage=Usage(calls=1))


def own(model: Any, parameters: Mapping[str, Any]) -> Any:
    """A copy of the model and of all models in it, that no handler hears; clients are the original's.

    It has ``parameters`` in those of its fields that are named so, and no system prompt of the application's,
    which a model with a structured reply would put before the judge's.
    """
    manager = CallbackManager([])
    manager.set_handlers([])
    wanted = {"system_prompt": None, **parameters, "callback_manager": manager}
    mine = {name: value for name, value in wanted.items() if name in type(model).model_fields}
    inner = {name: own(value, parameters) for name, value in model if isinstance(value, BaseLLM)}
    return model.model_copy(update={**mine, **inner})


def _models(model: Any) -> Iterator[Any]:
    """The model and those that it asks in turn, as one does whose replies are to have a structure."""
    yield model
    for _, value in model:
        if isinstance(value, BaseLLM):
            yield from _models(value)


def _identity(model: Any) -> str:
    fields = sorted((name, _described(value)) for name, value in model if "key" not in name)
    identity = repr((type(model).__module__, type(model).__qualname__, fields))
    return hashlib.sha256(identity.encode()).hexdigest()


def _described(value: Any) -> Any:
    """A field's value, as far as it tells a model from another one: clients and managers don't."""
    if isinstance(value, BaseLLM):
        return _identity(value)
    return told(value) if isinstance(value, str | int | float | dict | type) else None


def _told(reply: ChatResponse) -> Mapping[str, Any]:
    """What came with the reply, of which OpenAI's have a part with their choices."""
    raw = _fields(reply.raw)
    choices = raw.get("choices")
    first = _fields(choices[0] if isinstance(choices, list) and choices else None)
    refusal = _fields(first.get("message")).get("refusal") or reply.additional_kwargs.get("refusal")
    incomplete = _fields(raw.get("incomplete_details"))
    return {**first, **raw, "refusal": refusal, "incomplete_details": incomplete}


def _fields(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else getattr(value, "__dict__", {})


def _usage(reply: ChatResponse) -> Usage:
    """The tokens, under any of the names that LlamaIndex's integrations give them."""
    used = _fields(_fields(reply.raw).get("usage"))
    places = (used, reply.additional_kwargs, reply.message.additional_kwargs)

    def counted(*names: str) -> int:
        found = (place.get(name) for place in places for name in names)
        return next((n for n in found if isinstance(n, int)), 0)

    return Usage(
        calls=1,
        input_tokens=counted("input_tokens", "prompt_tokens", "inputTokens"),
        output_tokens=counted("output_tokens", "completion_tokens", "outputTokens"),
    )
