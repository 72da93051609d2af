"""What a request is about: the monitor, the settings, the reviewer, and the answer that it names."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request

from groundwire.core.errors import InputError
from groundwire.monitor import Feedback, Kept, Monitor
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


def kept_of(request: Request) -> Kept:
    """The answer that the address names. Raises HTTPException where there is none."""
    try:
        return monitor_of(request).get(request.path_params["key"])
    except InputError as error:
        raise HTTPException(404, str(error)) from error


def reviewer_of(request: Request) -> str:
    """Whoever sends the request. Raises InputError where nobody has said."""
    if not request.state.reviewer:
        raise InputError("nobody has said who reviews: give a name under /reviewer first")
    return str(request.state.reviewer)


def just_said(request: Request) -> tuple[Feedback, list[Feedback]] | None:
    """The review that led here, with what others said of the same answer."""
    key, reviewer = request.query_params.get("said"), request.state.reviewer
    if not key or not reviewer:
        return None
    try:
        said = monitor_of(request).feedback(key, seen_by=reviewer, blind=True)
    except InputError:
        return None
    own = next((one for one in said if one.reviewer == reviewer), None)
    return None if own is None else (own, [one for one in said if one is not own])
