"""What is run instead, once an answer was not supported by its documents.

A retry is a rule from what was run and how it was judged to what is run next. Nothing is run here.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from pydantic import BaseModel

from groundwire.core.verdict import Outcome
from groundwire.host.actions import note
from groundwire.langchain import values
from groundwire.langchain.output import extended

_LOG = logging.getLogger(__name__)

_WIDTHS = ("k", "top_k", "top_k_results")  # what LangChain's own retrievers call their number of documents
_USUAL_K = 4  # of every LangChain vector store whose search_kwargs name none

Revise = Callable[[Any, Outcome], Any]
"""A user's own rule: the new input, from the one that was run and how its answer was judged."""


class Retry(ABC):
    """A rule for what is run next."""

    def problems(self, runnable: Runnable[Any, Any]) -> list[str]:
        """Why this rule can't work on ``runnable``; empty when it can."""
        del runnable
        return []

    @abstractmethod
    def again(
        self, runnable: Runnable[Any, Any], given: Any, outcome: Outcome
    ) -> tuple[Runnable[Any, Any], Any] | None:
        """The runnable and the input to run next; None where there is no way to try again."""


@dataclass(frozen=True, kw_only=True)
class NameClaims(Retry):
    """Asks again, with a note after the question that names the unsupported statements.

    The input may be text, a message, a list of messages, or a dict with the question under
    ``question_key``, else under a usual one. A chain that searches with its question searches with the note
    as well.
    """

    question_key: str | None = None

    def again(
        self, runnable: Runnable[Any, Any], given: Any, outcome: Outcome
    ) -> tuple[Runnable[Any, Any], Any] | None:
        revised = _with_note(given, note(outcome), self.question_key)
        if revised is None:
            _LOG.warning(
                "an answer can't be asked for again: no question was found in an input of type %s; "
                "name its key with question_key, or pass retry=a callable (input, outcome)",
                type(given).__name__,
            )
            return None
        return runnable, revised


@dataclass(frozen=True, kw_only=True)
class Expand(Retry):
    """Asks again with more documents from each retriever of the chain.

    Their number is multiplied by ``factor`` at each retry, or taken from ``search_kwargs``. Reaches every
    retriever that has ``search_kwargs`` or a field ``k``, ``top_k`` or ``top_k_results`` and stands in the
    chain itself: not one that a function, a tool or a graph node calls. The chain is copied, not changed.
    """

    factor: int = 2
    search_kwargs: Mapping[str, Any] | None = None

    def problems(self, runnable: Runnable[Any, Any]) -> list[str]:
        found = []
        if not isinstance(self.search_kwargs, Mapping | None):
            found.append(
                f"Expand's search_kwargs must be a dict, such as {{'k': 8}}, not {self.search_kwargs!r}"
            )
        elif self.search_kwargs is None and (not isinstance(self.factor, int) or self.factor < 2):
            found.append(f"Expand needs a whole factor from 2 on, not {self.factor!r}")
        elif _rebuilt(runnable, self._widened) is runnable:
            found.append(
                "retry=Expand() found no retriever with search_kwargs, k or top_k in the chain (one inside a "
                "function, a tool or a graph can't be seen): pass retry=NameClaims() or your own callable "
                "(input, outcome) that returns the new input"
            )
        return found

    def again(
        self, runnable: Runnable[Any, Any], given: Any, outcome: Outcome
    ) -> tuple[Runnable[Any, Any], Any] | None:
        del outcome
        return _rebuilt(runnable, self._widened), given

    def _widened(self, retriever: BaseRetriever) -> BaseRetriever:
        fields = type(retriever).model_fields
        if "search_kwargs" in fields:
            asked = dict(getattr(retriever, "search_kwargs", None) or {})
            more = self.search_kwargs or {"k": asked.get("k", _USUAL_K) * self.factor}
            if self.search_kwargs is None and "fetch_k" in asked:
                more = {**more, "fetch_k": asked["fetch_k"] * self.factor}
            return retriever.model_copy(update={"search_kwargs": {**asked, **more}})
        for name in _WIDTHS:
            if name in fields and isinstance(width := getattr(retriever, name), int):
                more = (self.search_kwargs or {}).get("k", width * self.factor)
                return retriever.model_copy(update={name: more})
        return retriever


@dataclass(frozen=True, kw_only=True)
class Revised(Retry):
    """Asks again with whatever input a user's callable makes of the last one."""

    revise: Revise

    def again(
        self, runnable: Runnable[Any, Any], given: Any, outcome: Outcome
    ) -> tuple[Runnable[Any, Any], Any] | None:
        revised = self.revise(given, outcome)
        if revised is None:
            raise TypeError(
                "the callable for retry returned None: expected the next input. What is not to be asked "
                "again is decided before, by a callable for on_hallucination"
            )
        return runnable, revised


def restored(output: Any, given: Any, asked: Any) -> Any:
    """The output for ``asked`` with the inputs that it echoes put back to what was ``given``."""
    if asked is given or not all(isinstance(part, Mapping) for part in (output, given, asked)):
        return output
    echoed = {
        key: value
        for key, value in given.items()
        if key in output and output[key] is asked.get(key) and value is not asked.get(key)
    }
    return {**output, **echoed} if echoed else output


def _with_note(given: Any, words: str, key: str | None) -> Any:
    """The input with a note after its question; None where no question is found."""
    if isinstance(given, str | BaseMessage):
        return extended(given, f"\n\n{words}")
    if isinstance(given, list):
        if not given or not all(isinstance(message, BaseMessage) for message in given):
            return None
        if isinstance(given[-1], HumanMessage):
            return [*given[:-1], extended(given[-1], f"\n\n{words}")]
        return [*given, HumanMessage(words)]
    if isinstance(given, Mapping):
        for name in values.QUESTION_KEYS if key is None else (key,):
            revised = _with_note(given.get(name), words, None)
            if revised is not None:
                return {**given, name: revised}
    return None


def _rebuilt(part: Any, change: Callable[[BaseRetriever], BaseRetriever]) -> Any:
    """``part`` with its retrievers changed; the very same object where there was nothing to change."""
    if isinstance(part, BaseRetriever) and (changed := change(part)) is not part:
        return changed
    if isinstance(part, Runnable):
        if not isinstance(part, BaseModel):
            return part
        updates = _differing({name: getattr(part, name) for name in type(part).model_fields}, change)
        return part.model_copy(update=updates) if updates else part
    if isinstance(part, list | tuple):
        items = [_rebuilt(item, change) for item in part]
        same = all(new is old for new, old in zip(items, part, strict=True))
        return part if same else type(part)(items)
    if isinstance(part, dict):
        updates = _differing(part, change)
        return {**part, **updates} if updates else part
    return part


def _differing(parts: Mapping[str, Any], change: Callable[[BaseRetriever], BaseRetriever]) -> dict[str, Any]:
    rebuilt = {name: _rebuilt(value, change) for name, value in parts.items()}
    return {name: value for name, value in rebuilt.items() if value is not parts[name]}
