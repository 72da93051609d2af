"""groundwire in LlamaIndex applications: a handler, checked engines, an evaluator.

Only this room may import LlamaIndex, and it does so when a name is first used. Which parts of a run are
judged is decided in ``capture``; judging itself is never done here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from groundwire.core.errors import MissingExtraError

if TYPE_CHECKING:
    from groundwire.host.actions import Action as Action
    from groundwire.host.actions import HallucinationError as HallucinationError
    from groundwire.llama_index.callback import GroundwireCallbackHandler as GroundwireCallbackHandler
    from groundwire.llama_index.capture import Capture as Capture
    from groundwire.llama_index.capture import Captured as Captured
    from groundwire.llama_index.chat_engine import CheckedChatEngine as CheckedChatEngine
    from groundwire.llama_index.evaluator import HallucinationEvaluator as HallucinationEvaluator
    from groundwire.llama_index.evaluator import HallucinationResult as HallucinationResult
    from groundwire.llama_index.handler import GroundwireHandler as GroundwireHandler
    from groundwire.llama_index.hiding import hide_judge as hide_judge
    from groundwire.llama_index.hiding import show_judge as show_judge
    from groundwire.llama_index.output import Attach as Attach
    from groundwire.llama_index.query_engine import CheckedQueryEngine as CheckedQueryEngine
    from groundwire.llama_index.retry import Expand as Expand
    from groundwire.llama_index.retry import NameClaims as NameClaims
    from groundwire.policy import AbstainedError as AbstainedError

_HOMES = {
    "AbstainedError": "groundwire.policy",
    "Action": "groundwire.host.actions",
    "Attach": ".output",
    "Capture": ".capture",
    "Captured": ".capture",
    "CheckedChatEngine": ".chat_engine",
    "CheckedQueryEngine": ".query_engine",
    "Expand": ".retry",
    "GroundwireCallbackHandler": ".callback",
    "GroundwireHandler": ".handler",
    "HallucinationError": "groundwire.host.actions",
    "HallucinationEvaluator": ".evaluator",
    "HallucinationResult": ".evaluator",
    "NameClaims": ".retry",
    "hide_judge": ".hiding",
    "show_judge": ".hiding",
}

__all__ = [
    "AbstainedError",
    "Action",
    "Attach",
    "Capture",
    "Captured",
    "CheckedChatEngine",
    "CheckedQueryEngine",
    "Expand",
    "GroundwireCallbackHandler",
    "GroundwireHandler",
    "HallucinationError",
    "HallucinationEvaluator",
    "HallucinationResult",
    "NameClaims",
    "hide_judge",
    "show_judge",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(_HOMES[name], __name__), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "llama_index":
            raise
        raise MissingExtraError(name, package="llama-index-core", extra="llama-index") from error
    globals()[name] = value  # the next look-up finds it without asking here
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
