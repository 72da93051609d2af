"""Signing in with the token, and saying who one is."""

from __future__ import annotations

from urllib.parse import quote, unquote

import python_multipart  # noqa: F401 - Starlette reads forms with it, and says so only at the first one
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from groundwire.core.errors import InputError
from groundwire.review.guard import cookie_name, same
from groundwire.review.pages import draw, refusal

_REVIEWER = "groundwire-reviewer"
_LONGEST_NAME = 200
_YEAR = 365 * 24 * 3600


class WhoReviews:
    """Puts the name that a reviewer gave on ``request.state.reviewer``; empty where none was given."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            name = unquote(Request(scope).cookies.get(_REVIEWER, ""))[:_LONGEST_NAME].strip()
            scope.setdefault("state", {})["reviewer"] = name
        await self.app(scope, receive, send)


async def login(request: Request) -> Response:
    """Takes the token of the login link, or of the form, and keeps it in a cookie."""
    token = request.app.state.token
    given = request.query_params.get("token", "")
    if request.method == "POST":
        given = str((await request.form()).get("token", "")).strip()
    if not same(given, token):
        why = "That is not the token of this page." if given else "This page is for those who have its token."
        return refusal(request, 401, why)
    # No redirect: a link that another site shows would arrive there without the cookie just set.
    page = draw(request, "welcome.html.j2", signed_in=False)
    _keep(page, request, cookie_name(token), token, age=None)
    return page


async def logout(request: Request) -> Response:
    """Forgets the token in this browser."""
    answer = RedirectResponse("/login", status_code=303)
    answer.delete_cookie(cookie_name(request.app.state.token))
    return answer


async def reviewer(request: Request) -> Response:
    """Asks for the reviewer's name, and keeps it in this browser."""
    if request.method != "POST":
        return draw(request, "reviewer.html.j2", back=here(request.query_params.get("back", "")))
    form = await request.form()
    name = " ".join(str(form.get("reviewer", "")).split())
    if not name or len(name) > _LONGEST_NAME:
        raise InputError(f"a reviewer's name has 1 to {_LONGEST_NAME} characters, not {len(name)}")
    answer = RedirectResponse(here(str(form.get("back", ""))), status_code=303)
    _keep(answer, request, _REVIEWER, quote(name), age=_YEAR)
    return answer


def here(path: str, otherwise: str = "/review") -> str:
    """A path of this page to go back to; nothing that leads elsewhere."""
    inside = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if inside else otherwise


def _keep(answer: Response, request: Request, name: str, value: str, *, age: int | None) -> None:
    secure = request.url.scheme == "https"
    answer.set_cookie(name, value, max_age=age, httponly=True, samesite="strict", secure=secure)


ROUTES: list[BaseRoute] = [
    Route("/login", login, methods=["GET", "POST"]),
    Route("/logout", logout, methods=["POST"]),
    Route("/reviewer", reviewer, methods=["GET", "POST"]),
]
