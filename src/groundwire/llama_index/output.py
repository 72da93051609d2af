"""Where the answer stands in what an engine returns, and where its verdict is put.

The same for every response of LlamaIndex's. Nothing is judged or decided here, and nothing that was handed
over is changed in place.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from llama_index.core.base.response.schema import PydanticResponse, Response
from pydantic import BaseModel

from groundwire.host.actions import Action, Decision
from groundwire.llama_index.values import ANSWER_KEYS

KEY = "hallucination"
_NOTICES = "_groundwire_notices"


class Attach(StrEnum):
    """Where the verdict goes.

    METADATA puts it into the response's ``metadata`` under ``hallucination``. NONE leaves the response as it
    is: the verdict is then on the trace alone.
    """

    METADATA = "metadata"
    NONE = "none"


def acted_on(response: Any, decision: Decision) -> Any:
    """The same response after what was decided about its answer, with a note of what that has written."""
    if decision.action is Action.REPLACE:
        changed = _reworded(response, decision.text)
    elif decision.action is Action.WARN and decision.text:
        changed = _extended(response, parted(decision.text))
    else:
        return response
    return _with(changed, **{_NOTICES: [*(notices(response) or ()), decision.text]})


def notices(response: Any) -> list[str] | None:
    """What checks have written into a response; a stream's list grows at its end. None for none."""
    return getattr(response, "__dict__", {}).get(_NOTICES)


def keep_notices(response: Any, written: list[str] | None = None) -> list[str]:
    """The list of a response that is being made; its own, or else that which was ``written`` before it."""
    kept: list[str] = vars(response).setdefault(_NOTICES, [] if written is None else written)
    return kept


def parted(warning: str) -> str:
    """A warning as it follows an answer: in a paragraph of its own."""
    return f"\n\n{warning}" if warning else ""


def attached(response: Any, verdict: Mapping[str, Any], attach: Attach) -> Any:
    """The same response with the verdict on it."""
    if attach is Attach.NONE:
        return response
    return _with(response, metadata={**(response.metadata or {}), KEY: dict(verdict)})


def _reworded(response: Any, text: str) -> Any:
    """The same response with another answer; a form that was filled wrong is no longer one."""
    if isinstance(response, PydanticResponse):
        return Response(text, source_nodes=response.source_nodes, metadata=response.metadata)
    return _with(response, response=text)


def _extended(response: Any, text: str) -> Any:
    """The same response with ``text`` after its answer, so that offsets into it still hold.

    A form without a field that reads as its answer stays as it is, and so does what ends with ``text``.
    """
    said = response.response
    if isinstance(said, BaseModel):
        holder = next((key for key in ANSWER_KEYS if isinstance(getattr(said, key, None), str)), None)
        if holder is None or getattr(said, holder).endswith(text):
            return response
        return _with(response, response=said.model_copy(update={holder: getattr(said, holder) + text}))
    return response if (said or "").endswith(text) else _with(response, response=f"{said or ''}{text}")


def _with(response: Any, /, **changes: Any) -> Any:
    # Not copy.copy: a PydanticResponse that is not filled yet asks itself for every name, without end.
    changed = object.__new__(type(response))
    vars(changed).update(vars(response), **changes)
    return changed
