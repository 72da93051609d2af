"""The review page on a socket of this machine."""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Sequence
from typing import Any, Self

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from groundwire.core.errors import ConfigurationError

_ALL_NETWORKS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared, not bound


class _Unlogged(H11Protocol):
    """Logs no request, since the link that lets people in holds the token.

    At its level 5, TRACE, uvicorn logs all that it gets nevertheless.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.access_log = False


class Server:
    """Serves an application; ``url`` is known once the server is made, for it holds its socket by then.

    ``port`` 0 takes a free one. Raises ConfigurationError for a host beyond this machine, unless
    ``allow_remote``, and for a host or a port that can't be had.
    """

    def __init__(
        self, app: ASGIApp, *, host: str = "127.0.0.1", port: int = 8765, allow_remote: bool = False
    ) -> None:
        check_host(host, allow_remote=allow_remote)
        if not 0 <= port <= 65535:
            raise ConfigurationError(f"port must be a number from 0 to 65535, not {port}")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family)
        except OSError as error:
            raise ConfigurationError(
                f"can't listen on {host} port {port}: {error.strerror}; --port 0 takes a free port"
            ) from error
        self.url = self.url_at(_in_an_address(host))
        # Logging is the application's that this runs in: uvicorn would close its handlers and set up others.
        self._server = uvicorn.Server(
            uvicorn.Config(
                app, http=_Unlogged, ws="none", log_config=None, server_header=False, lifespan="off"
            )
        )
        self._thread: threading.Thread | None = None

    def url_at(self, name: str) -> str:
        """The URL under another name of this machine."""
        return f"http://{name}:{self._socket.getsockname()[1]}"

    def run(self) -> None:
        """Serve until Ctrl-C."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def __enter__(self) -> Self:
        """Serve on a thread until the ``with`` ends."""
        self._thread = threading.Thread(target=self.run, name="groundwire-review", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(timeout=10)


def check_host(host: str, *, allow_remote: bool) -> None:
    """Raises ConfigurationError for a host that other machines can reach, unless that is allowed."""
    if not allow_remote and not is_loopback(host):
        raise ConfigurationError(
            f"host {host!r} can be reached from other machines, and whoever has the token then sees all that "
            "is kept: give --allow-remote if that is meant, behind a proxy that adds TLS"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def names(host: str, trusted: Sequence[str], *, allow_remote: bool) -> list[str]:
    """The names under which the page answers, beside this machine's own.

    Raises ConfigurationError where it could be reached, and would answer under none.
    """
    wildcard = host in _ALL_NETWORKS
    if wildcard and allow_remote and not trusted:
        raise ConfigurationError(
            f"host {host!r} is no name to answer under: give --trusted-host NAME, as a browser shows it"
        )
    return [*trusted] if wildcard or is_loopback(host) else [_in_an_address(host), *trusted]


def link_name(host: str, trusted: Sequence[str]) -> str | None:
    """The name that a link needs in place of a host that is none; None where the host will do."""
    return next((one for one in trusted if "*" not in one), None) if host in _ALL_NETWORKS else None


def _in_an_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host
