"""The monitor's figures as charts."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from groundwire.review.pages import draw


def dashboard(request: Request) -> Response:
    """The figures of the kept answers."""
    return draw(request, "dashboard.html.j2", section="Dashboard")


ROUTES: list[BaseRoute] = [Route("/dashboard", dashboard, name="dashboard")]
