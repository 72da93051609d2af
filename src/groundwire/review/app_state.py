"""What every request finds on its application: the monitor, the settings, and who is at what."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from groundwire.monitor import Monitor
from groundwire.review.asked import Asked
from groundwire.review.sitting import Sitting


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How answers are reviewed.

    ``blind`` hides what others said of an answer until one has said something oneself. ``reviewers`` is how
    many are wanted on each answer, ``reserve`` for how many seconds an answer is kept for whom it was shown.
    """

    blind: bool
    reviewers: int
    reserve: float


def monitor_of(request: Request) -> Monitor:
    """The monitor whose answers are shown."""
    monitor: Monitor = request.app.state.monitor
    return monitor


def settings_of(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


def sitting_of(request: Request, wants: Asked) -> Sitting:
    """The sitting of whoever sends a request, at what its address asks for."""
    sitting: Sitting = request.app.state.sittings.of(request.state.reviewer, wants.query())
    return sitting
