"""LangChain's chat models, and whatever is bound around one, as the judge's model.

The judge's copy carries no handlers: a model is often the application's own, and a handler given to its
constructor (one that streams to a terminal, say) would hear the judge. Contexts are cut elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from langchain_core.caches import BaseCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel, BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from pydantic import BaseModel

from groundwire.core.errors import ConfigurationError
from groundwire.core.plan import Complete, Completed, Token
from groundwire.core.verdict import Usage
from groundwire.judge.adapters import client_problems, provider_name
from groundwire.judge.adapters.function import identity as function_identity
from groundwire.judge.adapters.refusals import Yielding
from groundwire.judge.adapters.stopped import UNFIT, stopped, unread
from groundwire.judge.adapters.unparsed import unparsed
from groundwire.judge.adapters.windows import cuts_silently, require_whole, window_of

TAG = "groundwire:judge"
_TOLD = 200  # characters of an error that a mistake in the settings shows
_HOLDS = (Runnable, list, tuple, dict)  # what a model may stand in


class LangChainChat(Yielding):
    """A Runnable that takes messages and gives a message or a text."""

    def __init__(
        self,
        model: Runnable[Any, Any],
        parameters: Mapping[str, Any] = MappingProxyType({}),
        *,
        structured: bool = False,
    ) -> None:
        self._model = own(model, parameters)
        self.name = _name(self._model)
        self._variants: dict[tuple[tuple[str, Any], ...], Any] = {(): self._model}
        inner = _models(self._model)
        known = {field for one in inner for field in type(one).model_fields}
        unknown = sorted(parameters.keys() - known)
        problems = [f"parameters: the model {self.name!r} has no field {name!r}" for name in unknown]
        problems += client_problems(inner, parameters)
        problems += _formless(self._model) if structured else []
        if problems:
            raise ConfigurationError(*problems)
        self.identity = identity(self._model) + ("+form" if structured else "")
        self._freely = not structured
        own_temperatures = list(_temperatures(self._model))
        self.varies = any(one > 0 for one in own_temperatures)
        # What is bound around a model gives one reply; a field "n" is OpenAI's, and others have taken it up.
        self.several = isinstance(self._model, BaseChatModel) and "n" in type(self._model).model_fields
        self._needs_temperature = any(one == 0 for one in own_temperatures)
        self._cuts = bool(inner) and all(map(cuts_silently, inner))
        self._window = window_of(inner)

    def complete(self, request: Complete) -> Completed:
        reply = self._asked(request)
        if self._cuts:
            require_whole(request.system, request.user, read=reply.usage.input_tokens, window=self._window)
        return reply

    def _sent(self, request: Complete, *, several: bool) -> Completed:
        system = [SystemMessage(request.system)] if request.system else []
        messages = [*system, HumanMessage(self._kept(request))]
        if several:
            model = self._variant(request, several=True)
            return _samples(model.generate([messages], tags=[TAG], run_name="groundwire judge"))
        config = RunnableConfig(tags=[TAG], run_name="groundwire judge")
        model = self._variant(request)
        try:
            if request.schema is None:
                reply = model.invoke(messages, config=config)
            else:
                reply = _held(model, request.schema, messages, config)
        except Exception as error:
            free = request.schema is None and isinstance(model, BaseLanguageModel)
            if free or (told := unparsed(error)) is None:
                raise
            return told
        if reply is None:  # of a structured output
            return unread(UNFIT)
        if isinstance(reply, str):
            return Completed(texts=(str(reply),), usage=Usage(calls=1))
        if isinstance(reply, Mapping | BaseModel) and not isinstance(reply, BaseMessage):
            return _structured(reply)
        if not isinstance(reply, BaseMessage):
            raise TypeError(f"the model returned {type(reply).__qualname__}, expected a message or a str")
        tokens = _tokens(reply) if request.alternatives else ()
        return Completed(
            texts=(_said(reply),),
            usage=_usage(reply),
            tokens=(tokens,) if tokens else (),
            stopped=_stopped(reply),
        )

    def _kept(self, request: Complete) -> Any:
        """The user message, cut where the provider may keep what stands before, if it takes such a mark."""
        kinds = {kind.__name__ for one in _models(self._model) for kind in type(one).__mro__}
        mark = next((_MARKS[kind] for kind in _MARKS if kind in kinds), None)
        if not request.prefix or mark is None:
            return request.user
        return mark(request.user[: request.prefix], request.user[request.prefix :])

    def _variant(self, request: Complete, *, several: bool = False) -> Any:
        """The model as one request wants it; a field that the model lacks is left alone."""
        wanted: dict[str, Any] = {}
        if request.temperature is not None:
            wanted["temperature"] = request.temperature
        if request.alternatives:
            wanted |= {"logprobs": True, "top_logprobs": request.alternatives}
        if request.samples > 1:
            wanted["cache"] = False  # one of its own, too, has the same reply for each of them
        if several:
            # Clients that stream read the parts of all replies as those of one.
            wanted |= {"n": request.samples, "streaming": False, "disable_streaming": True}
        key = tuple(wanted.items())
        if key not in self._variants:
            self._variants[key] = own(self._model, wanted)
        return self._variants[key]


def own(model: Any, parameters: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """A copy of the model, through whatever is bound around it, that no handler hears.

    The copy skips LangChain's global cache, which belongs to the application, also where the model was told
    to use it; a cache that the model was given itself stays. It has ``parameters`` in those
    of its fields that are named so. Clients, rate limiters and all else are shared with the original.
    """
    model = _chosen(model)
    if type(model) in (list, tuple):
        return type(model)(own(item, parameters) for item in model)
    if isinstance(model, dict):  # what runs side by side, such as both halves of include_raw=True
        return {name: own(item, parameters) for name, item in model.items()}
    if isinstance(model, BaseLanguageModel):
        mine = {name: value for name, value in parameters.items() if name in type(model).model_fields}
        quiet = {"callbacks": None, "verbose": False, **mine}
        own_cache = isinstance(model.cache, BaseCache)
        return model.model_copy(update=quiet if own_cache else {**quiet, "cache": False})
    if not isinstance(model, Runnable) or not isinstance(model, BaseModel):
        return model
    changed = {name: own(value, parameters) for name, value in model if isinstance(value, _HOLDS)}
    bound = getattr(model, "kwargs", None)
    if isinstance(bound, dict):  # what was bound would win over the field
        changed["kwargs"] = bound | {name: value for name, value in parameters.items() if name in bound}
    config = getattr(model, "config", None)
    if isinstance(config, dict):
        changed |= {
            "config": {key: value for key, value in config.items() if key != "callbacks"},
            "config_factories": [],  # listeners
        }
    return model.model_copy(update=changed)


class _Heard(BaseCallbackHandler):
    """What one call's model said."""

    said: BaseMessage | None = None

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        """Keep it."""
        generation = response.generations[0][0]
        self.said = generation.message if isinstance(generation, ChatGeneration) else None


def _held(
    model: Any, schema: Mapping[str, Any], messages: list[BaseMessage], config: RunnableConfig
) -> BaseMessage:
    """What a model says that is held to a form, to be read as strictly as any other reply.

    Some providers' raise errors where it has not kept to it: it was said and paid for all the same.
    """
    heard = _Heard()
    held = model.with_structured_output(schema, include_raw=True)
    try:
        reply: BaseMessage = held.invoke(messages, config=RunnableConfig(**config, callbacks=[heard]))["raw"]
    except Exception:
        if heard.said is None:
            raise
        return heard.said
    return reply


def _formless(model: Any) -> list[str]:
    """Why a model can't be held to the form of a reply."""
    name = _name(model)
    if not isinstance(model, BaseChatModel):
        around = "is bound to something, such as a tool or fallbacks, or is no chat model"
        return [f"structured: {name!r} {around}; give the chat model itself"]
    try:
        model.with_structured_output({"title": "reply", "type": "object", "properties": {}}, include_raw=True)
    except Exception as error:  # each provider refuses it by errors of its own
        told = f"{type(error).__name__}: {error}"[:_TOLD]
        return [f"structured: the model {name!r} can't be held to the form of a reply ({told})"]
    return []


def _chosen(model: Any) -> Any:
    """The model that ``init_chat_model`` makes for each call, where a call may choose some of its fields.

    No call of a judge's chooses any: it is the same each time. Raises ConfigurationError where it is none.
    """
    if type(model).__qualname__ != "_ConfigurableModel":
        return model
    try:
        return model._model()  # noqa: SLF001 - nothing else tells which model it is
    except Exception as error:  # each provider refuses what it is made with by errors of its own
        raise ConfigurationError(
            f"model: init_chat_model(configurable_fields=...) makes none by itself: {error}; name one there"
        ) from error


def identity(model: Any) -> str:
    """A digest of the model's type and parameters, through whatever is bound around it.

    Objects that are no plain values, such as clients, count by their type alone, and functions by what they
    were given.
    """
    return hashlib.sha256(json.dumps(_described(model), sort_keys=True).encode()).hexdigest()


def _described(value: Any) -> Any:
    if isinstance(value, BaseModel):
        fields = {name: _described(one) for name, one in value if name not in ("callbacks", "cache")}
        return [type(value).__module__, type(value).__qualname__, fields]
    if isinstance(value, Mapping):
        return {str(key): _described(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_described(one) for one in value]
    if isinstance(value, RunnableLambda):
        return function_identity(getattr(value, "func", None) or value.afunc)
    return value if isinstance(value, str | int | float | None) else type(value).__qualname__


def _temperatures(model: Any) -> Iterator[float]:
    """Those that any of the models was given, in its field or by what is bound to it."""
    if isinstance(model, list | tuple | dict):
        for item in _items(model):
            yield from _temperatures(item)
    elif isinstance(model, BaseLanguageModel):
        yield from _told_temperature(getattr(model, "temperature", None))
    elif isinstance(model, Runnable) and isinstance(model, BaseModel):
        yield from _told_temperature((getattr(model, "kwargs", None) or {}).get("temperature"))
        for _, value in model:
            if isinstance(value, _HOLDS):
                yield from _temperatures(value)


def _told_temperature(value: Any) -> Iterator[float]:
    if value is not None:
        yield value


def _models(model: Any) -> list[BaseLanguageModel[Any]]:
    """The language models in whatever is bound around them."""
    if isinstance(model, BaseLanguageModel):
        return [model]
    if isinstance(model, list | tuple | dict):
        return [one for item in _items(model) for one in _models(item)]
    if not isinstance(model, Runnable) or not isinstance(model, BaseModel):
        return []
    return [one for _, value in model if isinstance(value, _HOLDS) for one in _models(value)]


def _items(held: Any) -> Collection[Any]:
    return held.values() if isinstance(held, dict) else held


def _structured(reply: Mapping[str, Any] | BaseModel) -> Completed:
    """What ``with_structured_output`` makes of a reply, as JSON that is read as strictly as any other."""
    raw = None
    if isinstance(reply, Mapping) and reply.keys() == {"raw", "parsed", "parsing_error"}:  # include_raw
        raw, reply = reply["raw"], reply["parsed"]
    message = raw if isinstance(raw, BaseMessage) else AIMessage("")
    usage = _usage(raw) if isinstance(raw, BaseMessage) else Usage(calls=1)
    if reply is None:  # it could not be parsed: what was said is told as it is
        text = _said(message)
    else:
        text = reply.model_dump_json() if isinstance(reply, BaseModel) else json.dumps(reply)
    return Completed(texts=(text,), usage=usage, stopped=_stopped(message))


def _samples(result: LLMResult) -> Completed:
    """All replies to one input, which is counted once: a provider tells the same sums with each of them."""
    messages = [one.message for one in result.generations[0] if isinstance(one, ChatGeneration)]
    if not messages:
        raise TypeError("the model returned no message")
    told = [_usage(message) for message in messages]
    same = len(set(told)) == 1
    tokens = tuple(_tokens(message) for message in messages)
    return Completed(
        texts=tuple(_said(message) for message in messages),
        usage=replace(
            max(told, key=lambda usage: usage.input_tokens),
            calls=1,
            output_tokens=told[0].output_tokens if same else sum(usage.output_tokens for usage in told),
        ),
        tokens=tokens if all(tokens) else (),
        stopped=_stopped(*messages),
    )


def _said(reply: BaseMessage) -> str:
    """What it called tools with, for some are told to reply by calling one, and its text.

    In this order: before such a call, the text would have it read as if it were prose. .text leaves thinking
    blocks out and joins the text of list content.
    """
    calls = [*getattr(reply, "tool_calls", ()), *getattr(reply, "invalid_tool_calls", ())]
    given = [call["args"] for call in calls]
    told = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in given if one]
    return "\n".join(part for part in (*told, str(reply.text)) if part)


def _stopped(*replies: BaseMessage) -> tuple[str, ...]:
    """Why each reply was stopped; nothing where none was."""
    told = tuple(
        stopped({"refusal": _refuses(one), **one.additional_kwargs, **one.response_metadata})
        for one in replies
    )
    return told if any(told) else ()


def _refuses(reply: BaseMessage) -> bool:
    """Whether a block of the reply's content is a refusal, as OpenAI's Responses have it."""
    return any(isinstance(block, Mapping) and block.get("type") == "refusal" for block in reply.content)


def _cache_point(kept: str, rest: str) -> list[Any]:
    return [
        {"type": "text", "text": kept},
        {"cachePoint": {"type": "default"}},
        {"type": "text", "text": rest},
    ]


def _cache_control(kept: str, rest: str) -> list[Any]:
    first = {"type": "text", "text": kept, "cache_control": {"type": "ephemeral"}}
    return [first, {"type": "text", "text": rest}]


# How providers are told to keep the beginning of a prompt. Others do so unasked, or not at all.
_MARKS = {"ChatBedrockConverse": _cache_point, "ChatAnthropic": _cache_control}


def _tokens(reply: BaseMessage) -> tuple[Token, ...]:
    """The tokens with their log probabilities, in the form that OpenAI gave them and others have taken up."""
    told = reply.response_metadata.get("logprobs")
    content = told.get("content") if isinstance(told, Mapping) else None
    if not isinstance(content, list):
        return ()
    return tuple(
        Token(
            text=one["token"],
            logprob=one["logprob"],
            alternatives=tuple((o["token"], o["logprob"]) for o in one.get("top_logprobs") or ()),
        )
        for one in content
    )


def _usage(reply: BaseMessage) -> Usage:
    counted = getattr(reply, "usage_metadata", None) or {}
    return Usage(
        calls=1,
        input_tokens=counted.get("input_tokens") or 0,
        output_tokens=counted.get("output_tokens") or 0,
        cached_tokens=(counted.get("input_token_details") or {}).get("cache_read") or 0,
    )


def _name(model: Any) -> str:
    """The provider's name for the model, or for the first one in whatever is around it."""
    return provider_name(next(iter(_models(model)), model))
