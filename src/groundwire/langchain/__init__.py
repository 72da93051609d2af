"""groundwire in LangChain applications: a callback, a wrapper, a middleware.

Only this room may import LangChain, and it does so when a name is first used. Which parts of a run are
judged is decided in ``capture``; judging itself is never done here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from groundwire.core.errors import MissingExtraError

if TYPE_CHECKING:
    from groundwire.host.actions import Action as Action
    from groundwire.host.actions import HallucinationError as HallucinationError
    from groundwire.host.actions import recommended as recommended
    from groundwire.langchain.capture import Capture as Capture
    from groundwire.langchain.capture import Captured as Captured
    from groundwire.langchain.declared import interaction as interaction
    from groundwire.langchain.handler import GroundwireCallbackHandler as GroundwireCallbackHandler
    from groundwire.langchain.middleware import HallucinationMiddleware as HallucinationMiddleware
    from groundwire.langchain.output import Attach as Attach
    from groundwire.langchain.retry import Expand as Expand
    from groundwire.langchain.retry import NameClaims as NameClaims
    from groundwire.langchain.runnable import (
        RunnableWithHallucinationCheck as RunnableWithHallucinationCheck,
    )
    from groundwire.langchain.runnable import with_hallucination_check as with_hallucination_check
    from groundwire.policy import AbstainedError as AbstainedError

_HOMES = {
    "AbstainedError": "groundwire.policy",
    "Action": "groundwire.host.actions",
    "Attach": ".output",
    "Capture": ".capture",
    "Captured": ".capture",
    "Expand": ".retry",
    "GroundwireCallbackHandler": ".handler",
    "HallucinationError": "groundwire.host.actions",
    "HallucinationMiddleware": ".middleware",
    "NameClaims": ".retry",
    "RunnableWithHallucinationCheck": ".runnable",
    "interaction": ".declared",
    "recommended": "groundwire.host.actions",
    "with_hallucination_check": ".runnable",
}

__all__ = [
    "AbstainedError",
    "Action",
    "Attach",
    "Capture",
    "Captured",
    "Expand",
    "GroundwireCallbackHandler",
    "HallucinationError",
    "HallucinationMiddleware",
    "NameClaims",
    "RunnableWithHallucinationCheck",
    "interaction",
    "recommended",
    "with_hallucination_check",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(_HOMES[name], __name__), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "langchain_core":
            raise
        raise MissingExtraError(name, package="langchain-core", extra="langchain") from error
    globals()[name] = value  # the next look-up finds it without asking here
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
