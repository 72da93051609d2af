"""Where alarms go: a log, a callable, a web hook. Nothing that goes wrong there reaches what is watched."""

from __future__ import annotations

import json
import logging
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from groundwire.core.errors import ConfigurationError
from groundwire.host.background import Background
from groundwire.monitor.drift import Alarm

_LOG = logging.getLogger("groundwire.monitor")
_ATTEMPTS = 3

Alert = Callable[[Alarm], object]
"""Takes an alarm to somebody."""


def log_alert(alarm: Alarm) -> None:
    """Write the alarm to the log ``groundwire.monitor``, as a warning."""
    _LOG.warning("%s", alarm.message)


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """Posts an alarm as JSON: what drifts, a message under ``text`` too, and the figures.

    Up to three attempts, ``timeout`` seconds each; to be led on to another URL is a failure. Raises
    ConfigurationError for a URL that is not HTTP's.
    """

    url: str
    timeout: float = 5.0

    def __post_init__(self) -> None:
        if urlsplit(self.url).scheme not in {"http", "https"} or not urlsplit(self.url).netloc:
            # Such URLs hold their own secrets, so this one isn't repeated.
            told = urlsplit(self.url).scheme
            raise ConfigurationError(
                "a web hook needs an http:// or https:// URL, not one that begins "
                + (f"with {told!r}" if told else "with neither")
            )

    def __repr__(self) -> str:
        # Such URLs hold their own secrets.
        return f"Webhook(url='{urlsplit(self.url).scheme}://{urlsplit(self.url).hostname}/...')"

    def __call__(self, alarm: Alarm) -> None:
        body = json.dumps({"text": alarm.message, **alarm.to_dict()}).encode()
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self.url, data=body, headers={"Content-Type": "application/json"}, method="POST"
        )
        opener = urllib.request.build_opener(_Stays)  # only now, for the proxies that are set by now
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                opener.open(request, timeout=self.timeout).close()
            except OSError:
                if attempt == _ATTEMPTS:
                    raise
            else:
                return


class _Stays(urllib.request.HTTPRedirectHandler):
    """Goes where it was sent, and nowhere else: what is led on arrives there without what was posted."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Alerts:
    """Takes alarms to several places, on a thread of its own."""

    def __init__(self, alerts: Iterable[Alert]) -> None:
        self._alerts = tuple(alerts)
        wrong = [alert for alert in self._alerts if not callable(alert)]
        if wrong:
            raise ConfigurationError(f"an alert must be callable with an Alarm, not {wrong[0]!r}")
        self._background = Background(workers=1, max_pending=100)

    def raise_alarm(self, alarm: Alarm) -> None:
        for alert in self._alerts:
            self._background.submit(partial(alert, alarm), partial(_told, alarm))

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every alarm is where it goes. False when time ran out."""
        return self._background.flush(timeout)


def _told(alarm: Alarm, result: object) -> None:
    if isinstance(result, Exception):
        _LOG.warning("an alarm could not be told (%s): %s", type(result).__name__, alarm.message)
