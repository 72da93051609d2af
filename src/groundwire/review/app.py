"""The review page as an ASGI application: its routes, and who guards them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from groundwire.core.errors import ConfigurationError, GroundwireError, InputError
from groundwire.core.secrets import Secret
from groundwire.monitor import Monitor, StoreError
from groundwire.monitor.reading import seconds_of
from groundwire.review import answer, answers, dashboard, login, queue
from groundwire.review.app_state import Settings
from groundwire.review.guard import Guard, SafeHeaders
from groundwire.review.pages import STATIC, refusal
from groundwire.review.sitting import Sittings

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_SHORTEST = 16
_HOST = re.compile(r"\*|(\*\.)?[\w-]+(\.[\w-]+)*|\[[0-9A-Fa-f:.]+\]")


def create_app(
    monitor: Monitor,
    *,
    token: str,
    hosts: Sequence[str] = (),
    blind: bool = True,
    reviewers: int = 1,
    reserve: float = 600.0,
) -> Starlette:
    """The application. Whoever shows ``token`` sees and reviews everything that the monitor keeps.

    Only requests for this machine, or for one of ``hosts``, are answered. See ``Settings`` for the rest.
    Raises ConfigurationError for a token of fewer than 16 characters, for a host with a port, and for numbers
    that can't work.
    """
    problems = []
    if len(token) < _SHORTEST:
        problems.append(f"token must be {_SHORTEST} characters or more, such as secrets.token_urlsafe(24)")
    if not all(_HOST.fullmatch(host) for host in hosts):
        problems.append(
            f"hosts must be names without a port, such as 'review.example.org', not {hosts!r:.80}"
        )
    if not (isinstance(reviewers, int) and reviewers >= 1):
        problems.append(f"reviewers must be a whole number from 1 on, not {reviewers!r}")
    try:
        seconds_of("reserve", reserve)
    except InputError as error:
        problems.append(str(error))
    if problems:
        raise ConfigurationError(*problems)
    routes: list[BaseRoute] = [
        Route("/", _home),
        *login.ROUTES,
        *answers.ROUTES,
        *answer.ROUTES,
        *queue.ROUTES,
        *dashboard.ROUTES,
        Mount("/static", StaticFiles(directory=STATIC), name="static"),
    ]
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(SafeHeaders),
            Middleware(TrustedHostMiddleware, allowed_hosts=[*LOOPBACK, *hosts], www_redirect=False),
            Middleware(Guard, token=Secret(token), refuse=refusal),
            Middleware(login.WhoReviews),
        ],
        exception_handlers={
            HTTPException: _http,
            ClientDisconnect: _hung_up,
            GroundwireError: _refused,
            StoreError: _away,
        },
    )
    app.state.monitor = monitor
    app.state.token = Secret(token)
    app.state.settings = Settings(blind=blind, reviewers=reviewers, reserve=reserve)
    app.state.sittings = Sittings()
    return app


def _home(request: Request) -> Response:
    del request
    return RedirectResponse("/review", status_code=303)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    why = "There is no such page." if error.detail == HTTPStatus.NOT_FOUND.phrase else str(error.detail)
    return refusal(request, error.status_code, why)


def _hung_up(request: Request, error: Exception) -> Response:
    """What nobody hears: the browser has gone before it had sent all."""
    del request, error
    return Response(status_code=400)


def _refused(request: Request, error: Exception) -> Response:
    return refusal(request, 400, str(error))


def _away(request: Request, error: Exception) -> Response:
    return refusal(request, 503, str(error))
