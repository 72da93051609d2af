"""What a run's configuration says about it, for counting answers by: tags, metadata, model and retriever.

LangChain hands both down to every run below, and adds words of its own, which nobody counts by.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundwire.langchain.declared import KEYS, PREFIX
from groundwire.langchain.tree import Run, Unit

_OWN_NAMES = ("ls_", "lc_", "langgraph_", "checkpoint_", "__")
_OWN_TAGS = ("seq:step:", "map:key:", "graph:step:", "condition:", "langsmith:", PREFIX)
_MODEL = "ls_model_name"
_RETRIEVER = "ls_retriever_name"


def labels(unit: Unit, answering: Run | None) -> dict[str, Any]:
    """The metadata of an answer's interaction. What the application names itself is not overwritten."""
    given: dict[str, Any] = {
        name: value
        for name, value in unit.run.metadata.items()
        if name != KEYS and not name.startswith(_OWN_NAMES)
    }
    if tags := [tag for tag in unit.run.tags if not tag.startswith(_OWN_TAGS)]:
        given.setdefault("tags", tags)
    _name(given, "model", None if answering is None else answering.metadata, _MODEL)
    if unit.retrievals:
        _name(given, "retriever", unit.retrievals[-1].metadata, _RETRIEVER)
    return given


def _name(given: dict[str, Any], name: str, metadata: Mapping[str, Any] | None, key: str) -> None:
    if metadata and isinstance(found := metadata.get(key), str):
        given.setdefault(name, found)
