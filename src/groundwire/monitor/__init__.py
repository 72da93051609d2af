"""Production, watched: outcomes kept in a database, reviewed by people, and told in figures.

Importing this room loads no database. What it needs is in ``groundwire[monitor]``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from groundwire.core.errors import MissingExtraError

if TYPE_CHECKING:
    from groundwire.core.redaction import Redaction as Redaction
    from groundwire.monitor.alerts import Webhook as Webhook
    from groundwire.monitor.alerts import log_alert as log_alert
    from groundwire.monitor.answer import Kept as Kept
    from groundwire.monitor.answer import Line as Line
    from groundwire.monitor.comparison import Comparison as Comparison
    from groundwire.monitor.database import Durability as Durability
    from groundwire.monitor.database import StoreError as StoreError
    from groundwire.monitor.drift import Alarm as Alarm
    from groundwire.monitor.drift import Drift as Drift
    from groundwire.monitor.drift import Standing as Standing
    from groundwire.monitor.figures import Figures as Figures
    from groundwire.monitor.figures import Group as Group
    from groundwire.monitor.filters import Filter as Filter
    from groundwire.monitor.labels import Label as Label
    from groundwire.monitor.labels import Labels as Labels
    from groundwire.monitor.monitor import Monitor as Monitor
    from groundwire.monitor.patterns import Pattern as Pattern
    from groundwire.monitor.quality import Quality as Quality
    from groundwire.monitor.queues import Page as Page
    from groundwire.monitor.queues import Queue as Queue
    from groundwire.monitor.retention import Retention as Retention
    from groundwire.monitor.reviews import Agreement as Agreement
    from groundwire.monitor.reviews import Feedback as Feedback
    from groundwire.monitor.reviews import Opinion as Opinion
    from groundwire.monitor.sampling import Sampling as Sampling
    from groundwire.monitor.statistics import Rate as Rate
    from groundwire.monitor.thresholds import Basis as Basis
    from groundwire.monitor.thresholds import Effect as Effect
    from groundwire.monitor.thresholds import Reviewed as Reviewed
    from groundwire.monitor.writer import Stats as Stats

_HOMES = {
    "groundwire.core.redaction": ("Redaction",),
    "groundwire.monitor.alerts": ("Webhook", "log_alert"),
    "groundwire.monitor.answer": ("Kept", "Line"),
    "groundwire.monitor.comparison": ("Comparison",),
    "groundwire.monitor.database": ("Durability", "StoreError"),
    "groundwire.monitor.drift": ("Alarm", "Drift", "Standing"),
    "groundwire.monitor.figures": ("Figures", "Group"),
    "groundwire.monitor.filters": ("Filter",),
    "groundwire.monitor.labels": ("Label", "Labels"),
    "groundwire.monitor.monitor": ("Monitor",),
    "groundwire.monitor.patterns": ("Pattern",),
    "groundwire.monitor.quality": ("Quality",),
    "groundwire.monitor.queues": ("Page", "Queue"),
    "groundwire.monitor.retention": ("Retention",),
    "groundwire.monitor.reviews": ("Agreement", "Feedback", "Opinion"),
    "groundwire.monitor.sampling": ("Sampling",),
    "groundwire.monitor.statistics": ("Rate",),
    "groundwire.monitor.thresholds": ("Basis", "Effect", "Reviewed"),
    "groundwire.monitor.writer": ("Stats",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Agreement",
    "Alarm",
    "Basis",
    "Comparison",
    "Drift",
    "Durability",
    "Effect",
    "Feedback",
    "Figures",
    "Filter",
    "Group",
    "Kept",
    "Label",
    "Labels",
    "Line",
    "Monitor",
    "Opinion",
    "Page",
    "Pattern",
    "Quality",
    "Queue",
    "Rate",
    "Redaction",
    "Retention",
    "Reviewed",
    "Sampling",
    "Standing",
    "Stats",
    "StoreError",
    "Webhook",
    "log_alert",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(_HOME_OF[name]), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "groundwire":
            raise
        raise MissingExtraError("groundwire.monitor", package=error.name, extra="monitor") from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
