"""Who may do what: the token, where a request comes from, how large it may be, and what its answer allows.

Answers, passages and notes are other people's texts, and this page shows them to somebody who is signed in.
So nothing runs but the page's own scripts, nothing is loaded from elsewhere, no other site may send a
request that changes something, and a name that is not ours is not answered, whatever it resolves to.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LARGEST = 1_000_000  # bytes of a form; a note and the spans of an answer take a fraction of it
_TOO_LARGE = f"A form may have {_LARGEST:,} bytes."
_READING = frozenset({"GET", "HEAD"})
_OPEN = ("/login", "/static/")
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
    # With "no-referrer" a browser says "Origin: null" of the page's own forms, which are then refused.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

Refuse = Callable[[Request, int, str], Response]


class SafeHeaders:
    """Puts what a browser must be told on every answer, also on refusals."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self.app(scope, receive, send_safely)


class Guard:
    """Lets a request pass that shows the token and comes from this page or from no page at all."""

    def __init__(self, app: ASGIApp, *, token: str, refuse: Refuse) -> None:
        self.app = app
        self._token = token
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        status, why = self._judged(request)
        if status:
            await self._refuse(request, status, why)(scope, receive, send)
            return
        await self.app(scope, _bounded(receive), send)

    def _judged(self, request: Request) -> tuple[int, str]:
        """An HTTP status and why, or 0."""
        # Not of ``request.url``, which is put together with whatever the request says its host is.
        headers, path = request.headers, str(request.scope["path"])
        bearer = shows_bearer(headers, self._token)
        if not bearer and not shows_cookie(request, self._token) and not path.startswith(_OPEN):
            return 401, "This page is for those who have its token."
        if request.method in _READING:
            return 0, ""
        if not _from_here(headers, assume=bearer):
            return 403, "This request was sent by another site, or by a browser that does not say which."
        length = headers.get("content-length", "0")
        if not re.fullmatch(r"\d{1,9}", length, re.ASCII) or int(length) > _LARGEST:
            return 413, _TOO_LARGE
        return 0, ""


def cookie_name(token: str) -> str:
    """The session's cookie. Cookies know no ports: each page on this machine needs a name of its own."""
    return f"groundwire-{hashlib.sha256(token.encode()).hexdigest()[:12]}"


def same(one: str, other: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def shows_cookie(request: Request, token: str) -> bool:
    return same(request.cookies.get(cookie_name(token), ""), token)


def shows_bearer(headers: Headers, token: str) -> bool:
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and same(value.strip(), token)


def _from_here(headers: Headers, *, assume: bool) -> bool:
    """Whether the page itself sent it; ``assume`` where no header tells, as of a program."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is None and site is None:
        return assume
    if site is not None and site not in {"same-origin", "none"}:
        return False
    return origin is None or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()


def _bounded(receive: Receive) -> Receive:
    """The same messages, until they are too many bytes: not every sender tells beforehand how many."""
    seen = 0

    async def receive_some() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > _LARGEST:
            raise HTTPException(413, _TOO_LARGE)
        return message

    return receive_some
