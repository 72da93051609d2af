"""LangChain's chat models, and whatever is bound around one, as the judge's model.

The judge's copy carries no handlers: a model is often the application's own, and a handler given to its
constructor (one that streams to a terminal, say) would hear the judge. Contexts are cut elsewhere.
"""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import BaseModel

from groundwire.core.plan import Completed
from groundwire.core.verdict import Usage

TAG = "groundwire:judge"


class LangChainChat:
    """A Runnable that takes messages and gives a message or a text."""

    def __init__(self, model: Runnable[Any, Any]) -> None:
        self.name = _name(model)
        self._model = own(model)

    def complete(self, system: str, user: str) -> Completed:
        config = RunnableConfig(tags=[TAG], run_name="groundwire judge")
        reply = self._model.invoke([SystemMessage(system), HumanMessage(user)], config=config)
        if isinstance(reply, str):
            return Completed(texts=(str(reply),), usage=Usage(calls=1))
        if not isinstance(reply, BaseMessage):
            raise TypeError(f"the model returned {type(reply).__qualname__}, expected a message or a str")
        # .text leaves thinking blocks out and joins the text of list content.
        return Completed(texts=(str(reply.text),), usage=_usage(reply))


def own(model: Any) -> Any:
    """A copy of the model, through whatever is bound around it, that no handler hears.

    The copy skips LangChain's global cache, in which samples of one prompt come back identical and which
    belongs to the application; a cache that the model was given itself stays. Clients, rate limiters and
    parameters are shared with the original.
    """
    if isinstance(model, list):
        return [own(item) for item in model]
    if isinstance(model, BaseLanguageModel):
        quiet = {"callbacks": None, "verbose": False}
        return model.model_copy(update=quiet if model.cache is not None else {**quiet, "cache": False})
    if not isinstance(model, Runnable) or not isinstance(model, BaseModel):
        return model
    changed = {name: own(value) for name, value in model if isinstance(value, Runnable | list)}
    config = getattr(model, "config", None)
    if isinstance(config, dict):
        changed |= {
            "config": {key: value for key, value in config.items() if key != "callbacks"},
            "config_factories": [],  # listeners
        }
    return model.model_copy(update=changed)


def _usage(reply: BaseMessage) -> Usage:
    counted = getattr(reply, "usage_metadata", None) or {}
    return Usage(
        calls=1,
        input_tokens=counted.get("input_tokens", 0),
        output_tokens=counted.get("output_tokens", 0),
    )


def _name(model: Any) -> str:
    """The provider's name for the model, else the type's."""
    while not isinstance(model, BaseLanguageModel):
        inner = getattr(model, "bound", None) or getattr(model, "runnable", None)
        if inner is None:
            return type(model).__qualname__
        model = inner
    for field in ("model_id", "model_name", "model"):
        if isinstance(name := getattr(model, field, None), str) and name:
            return name
    return type(model).__qualname__
