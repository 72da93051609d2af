"""Queue."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from groundwire.review.pages import draw


def queue(request: Request) -> Response:
    """Queue."""
    return draw(request, "base.html.j2", section="Review")


ROUTES: list[BaseRoute] = [Route("/review", queue)]
