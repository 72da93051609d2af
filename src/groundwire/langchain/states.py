"""States: dicts, pydantic models and dataclasses that hold under a key what an application passes around."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from groundwire.core.plain import plain

_CARRIERS = {"Command": "update", "GraphOutput": "value"}


def state(value: Any) -> Any:
    """What a graph or its node hands on: of a Command the update, and of a GraphOutput the value it carries.

    By their names, since a chain needs no LangGraph.
    """
    held = _CARRIERS.get(type(value).__name__)
    return value if held is None or isinstance(value, Mapping) else getattr(value, held, value)


def at(value: Any, key: str) -> Any:
    """What a state, be it a dict, a pydantic model or a dataclass, holds under ``key``; None if nothing."""
    get = _getter(value)
    return None if get is None else get(key, None)


def known(value: Any, keys: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Those of the keys that a state holds anything under, and what it holds."""
    get = _getter(value)
    if get is None:
        return
    for key in keys:
        held = get(key, None)
        if held is not None:
            yield key, held


def _getter(value: Any) -> Callable[[str, None], Any] | None:
    """How what a state holds is looked up; None of what is no state."""
    if value is None or isinstance(value, str | list | tuple):
        return None
    if isinstance(value, dict | Mapping):
        return value.get
    if isinstance(value, BaseMessage):
        return None
    if isinstance(value, BaseModel) or dataclasses.is_dataclass(value):
        return partial(getattr, value)
    return None


def names(value: Any) -> frozenset[str]:
    """The keys or fields of a state; none of anything else."""
    if isinstance(value, str):
        return frozenset()
    if isinstance(value, Mapping):
        return frozenset(value)
    if isinstance(value, BaseModel) and not isinstance(value, BaseMessage):
        return frozenset(type(value).model_fields)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return frozenset(part.name for part in dataclasses.fields(value))
    return frozenset()


def whole(value: Any) -> str | None:
    """A structured answer that has no one text, as JSON; None for what is no structure."""
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if isinstance(value, Mapping) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        return json.dumps(plain(_unnamed(value)), ensure_ascii=False)
    return None


def listed(value: Any) -> str | None:
    """A list as JSON, where it may be an answer: one of documents or messages is none."""
    if not isinstance(value, list | tuple) or not value:
        return None
    if any(isinstance(one, Document | BaseMessage) for one in value):
        return None
    return json.dumps(plain(_unnamed(value)), ensure_ascii=False)


def _unnamed(value: Any) -> Any:
    """A structure whose objects are dicts: what their type is called is no part of an answer."""
    if isinstance(value, BaseModel) and not isinstance(value, Document | BaseMessage):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {part.name: getattr(value, part.name) for part in dataclasses.fields(value) if part.repr}
    if isinstance(value, Mapping):
        return {name: _unnamed(held) for name, held in value.items()}
    return [_unnamed(one) for one in value] if isinstance(value, list | tuple) else value
