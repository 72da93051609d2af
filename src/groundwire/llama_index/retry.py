"""What is asked instead, once an answer was not supported by its nodes.

A retry is a rule from what was asked and how it was judged to what is asked next. Nothing is asked here.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine.types import BaseChatEngine

from groundwire.core.verdict import Outcome
from groundwire.host.actions import note

# What LlamaIndex's own retrievers call the number of nodes they find.
_WIDTHS = ("_similarity_top_k", "similarity_top_k", "_top_k", "top_k", "_k", "k")
_NOTHING_TO_WIDEN = (
    "retry=Expand() found no retriever with a similarity_top_k in the engine (one in a tool or a function "
    "can't be seen): pass retry=NameClaims() or your own callable (question, outcome) that returns the next "
    "question"
)
_HOLDERS = (BaseQueryEngine, BaseChatEngine, BaseRetriever)

Revise = Callable[[str, Outcome], str]
"""A user's own rule: the next question, from the one that was asked and how its answer was judged."""


class Retry(ABC):
    """A rule for what is asked next."""

    def problems(self, engine: Any) -> list[str]:
        """Why this rule can't work on ``engine``; empty when it can."""
        del engine
        return []

    @abstractmethod
    def again(self, engine: Any, asked: str, outcome: Outcome) -> tuple[Any, str]:
        """The engine and the question to ask next."""


@dataclass(frozen=True, kw_only=True)
class NameClaims(Retry):
    """Asks again, with a note after the question that names the unsupported statements.

    A query engine that searches by embeddings searches with the question alone.
    """

    def again(self, engine: Any, asked: str, outcome: Outcome) -> tuple[Any, str]:
        return engine, f"{asked}\n\n{note(outcome)}"


@dataclass(frozen=True, kw_only=True)
class Expand(Retry):
    """Asks again with more nodes from each retriever of the engine.

    Their number is multiplied by ``factor`` at each retry. Reaches every retriever with a number of nodes of
    its own that stands in the engine, or in an engine or retriever inside of it: not one in a tool, or one
    that a function calls. The engine is copied, not changed; both have the same memory.
    """

    factor: int = 2

    def problems(self, engine: Any) -> list[str]:
        if type(self.factor) is not int or self.factor < 2:
            return [f"Expand needs a whole factor from 2 on, not {self.factor!r}"]
        if isinstance(engine, _HOLDERS) and self._widened(engine) is engine:
            return [_NOTHING_TO_WIDEN]
        return []

    def again(self, engine: Any, asked: str, outcome: Outcome) -> tuple[Any, str]:
        del outcome
        return self._widened(engine), asked

    def _widened(self, part: Any) -> Any:
        """The same part with wider retrievers in it; the part itself where there are none."""
        if isinstance(part, list | tuple):
            items = [self._widened(item) for item in part]
            return part if all(map(_same, items, part)) else type(part)(items)
        if isinstance(part, dict):
            held = {key: self._widened(value) for key, value in part.items()}
            return part if all(map(_same, held.values(), part.values())) else held
        if not isinstance(part, _HOLDERS):
            return part
        changes = {
            name: wider for name, held in vars(part).items() if (wider := self._widened(held)) is not held
        }
        if isinstance(part, BaseRetriever):
            widths = {name: vars(part).get(name) for name in _WIDTHS}
            changes |= {name: k * self.factor for name, k in widths.items() if isinstance(k, int)}
        if not changes:
            return part
        copied = copy.copy(part)
        vars(copied).update(changes)
        return copied


@dataclass(frozen=True, kw_only=True)
class Revised(Retry):
    """Asks again whatever a user's callable makes of the last question."""

    revise: Revise

    def again(self, engine: Any, asked: str, outcome: Outcome) -> tuple[Any, str]:
        question = self.revise(asked, outcome)
        if not isinstance(question, str):
            raise TypeError(
                f"retry must return the question to ask next, such as the one it was given, not {question!r}"
            )
        return engine, question


def _same(one: object, other: object) -> bool:
    return one is other
