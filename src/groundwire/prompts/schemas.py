"""The forms of replies as JSON schemas, for models that are held to one.

They say what a reply has, in the order in which the prompts ask for it: a model that writes its reasons
first should do so here, too. They use only what every provider takes; how a reply is read is none of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from groundwire.prompts.forms import ReadClaimForm

Schema = Mapping[str, Any]

_KEPT = ("type", "enum", "anyOf", "properties", "items")


@cache
def object_schema(form: type[BaseModel]) -> Schema:
    """Of a reply that is one such form."""
    return _reply(_plain(form.model_json_schema()))


@cache
def entries_schema(entry: type[BaseModel], *, key: str) -> Schema:
    """Of a reply that has a list of such entries under ``key``."""
    return _reply(_holding(key, _listed(_plain(entry.model_json_schema()))))


@cache
def readings_schema() -> Schema:
    """Of a reply that reads an answer several times."""
    claim = _plain(ReadClaimForm.model_json_schema())
    return _reply(_holding("readings", _listed(_holding("claims", _listed(claim)))))


def _reply(schema: dict[str, Any]) -> Schema:
    return {"title": "reply", "description": "The reply, in the form that was asked for.", **schema}


def _holding(key: str, what: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {key: what}, "required": [key]}


def _listed(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without limits and titles, which some providers refuse, and with every property required."""
    kept = {name: schema[name] for name in _KEPT if name in schema}
    if "properties" in kept:
        kept["properties"] = {name: _plain(one) for name, one in kept["properties"].items()}
        kept["required"] = list(kept["properties"])
    if "items" in kept:
        kept["items"] = _plain(kept["items"])
    if "anyOf" in kept:
        kept["anyOf"] = [_plain(one) for one in kept["anyOf"]]
    return kept
