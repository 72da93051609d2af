"""Answers."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from groundwire.review.pages import draw


def answers(request: Request) -> Response:
    """Answers."""
    return draw(request, "base.html.j2", section="Answers")


ROUTES: list[BaseRoute] = [Route("/answers", answers)]
