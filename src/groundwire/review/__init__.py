"""A page on which people review what a monitor kept. Nothing is judged here, and no figure is reckoned.

Needs ``groundwire[review]``; importing this package loads none of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from groundwire.core.errors import MissingExtraError

if TYPE_CHECKING:
    from groundwire.review.app import create_app as create_app
    from groundwire.review.server import Server as Server

_HOMES = {"create_app": "groundwire.review.app", "Server": "groundwire.review.server"}

__all__ = ["Server", "create_app"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "groundwire":
            raise
        raise MissingExtraError("the review page", package=error.name, extra="review") from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
