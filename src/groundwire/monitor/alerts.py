"""Where alarms go: a log, a callable, a web hook. Nothing that goes wrong there reaches what is watched."""

from __future__ import annotations

import json
import logging
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

from groundwire.core.errors import ConfigurationError
from groundwire.host.background import Background
from groundwire.monitor.drift import Alarm

_LOG = logging.getLogger("groundwire.monitor")
_PAUSES = (1.0, 2.0, 4.0)  # seconds between the attempts of a web hook
_PASSING = {408, 425, 429}  # what a server says below 500 to who may come again
_AGAIN = 10.0  # seconds until what nobody took is told again, twice as many after each failure
_LONGEST = 3600.0
_MOST = 100  # alarms that wait for that

Alert = Callable[[Alarm], object]
"""Takes an alarm to somebody."""


def log_alert(alarm: Alarm) -> None:
    """Write the alarm to the log ``groundwire.monitor``, as a warning."""
    _LOG.warning("%s", alarm.message)


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """Posts an alarm as JSON: what drifts, a message under ``text`` too, and the figures.

    Up to four attempts within a few seconds, ``timeout`` seconds each; to be led on to another URL, or
    refused, is a failure at once. Raises ConfigurationError for a URL that is not HTTP's.
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
        if not isinstance(self.timeout, int | float) or not 0 < self.timeout < 1e9:
            raise ConfigurationError(f"timeout must be a number of seconds above 0, not {self.timeout!r:.60}")

    def __repr__(self) -> str:
        # Such URLs hold their own secrets.
        return f"Webhook(url='{urlsplit(self.url).scheme}://{urlsplit(self.url).hostname}/...')"

    def __call__(self, alarm: Alarm) -> None:
        body = json.dumps({"text": alarm.message, **alarm.to_dict()}).encode()
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self.url, data=body, headers={"Content-Type": "application/json"}, method="POST"
        )
        opener = urllib.request.build_opener(_Stays)  # only now, for the proxies that are set by now
        for pause in (*_PAUSES, None):
            try:
                opener.open(request, timeout=self.timeout).close()
            except OSError as error:
                if pause is None or not _passes(error):
                    raise
                time.sleep(pause)
            else:
                return


def _passes(error: OSError) -> bool:
    return not isinstance(error, HTTPError) or error.code >= 500 or error.code in _PASSING


class _Stays(urllib.request.HTTPRedirectHandler):
    """Goes where it was sent, and nowhere else: what is led on arrives there without what was posted."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True, kw_only=True)
class _Untold:
    """An alarm that these could not take anywhere, after so many failures, and when they try again."""

    alarm: Alarm
    alerts: tuple[Alert, ...]
    failures: int
    due: float


class Alerts:
    """Takes alarms to several places, on a thread of its own.

    ``undone`` is called there with an alarm that could not be taken to one of them.
    """

    def __init__(self, alerts: Iterable[Alert], undone: Callable[[Alarm], object]) -> None:
        if not isinstance(alerts, Iterable):
            raise ConfigurationError(
                f"alerts must be a list of callables, such as [log_alert], not {alerts!r:.60}"
            )
        self._alerts = tuple(alerts)
        wrong = [alert for alert in self._alerts if not callable(alert)]
        if wrong:
            raise ConfigurationError(f"an alert must be callable with an Alarm, not {wrong[0]!r}")
        self._undone = undone
        self._untold: deque[_Untold] = deque(maxlen=_MOST)
        self._background = Background(workers=1, max_pending=_MOST)

    def raise_alarm(self, alarm: Alarm) -> None:
        """Have it told everywhere; an earlier one of the same that is still untold is of the past."""
        self.forget(lambda earlier: earlier.what is alarm.what)
        self._tell(alarm, self._alerts, 0)

    def again(self, ours: Callable[[Alarm], bool]) -> None:
        """Have told what could not be told some time ago, where it could not, if that is ``ours`` still."""
        now = time.monotonic()
        for one in [one for one in list(self._untold) if one.due <= now]:
            self._untold.remove(one)
            if ours(one.alarm):
                self._tell(one.alarm, one.alerts, one.failures)

    def forget(self, which: Callable[[Alarm], bool] = lambda _: True) -> None:
        """Leave untold what is so far."""
        for one in [one for one in list(self._untold) if which(one.alarm)]:
            self._untold.remove(one)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every alarm is where it goes, or nobody took it. False when time ran out."""
        return self._background.flush(timeout)

    def _tell(self, alarm: Alarm, alerts: tuple[Alert, ...], failures: int) -> None:
        def done(result: tuple[Alert, ...] | Exception) -> None:
            left = alerts if isinstance(result, Exception) else result
            if left:
                due = time.monotonic() + min(_AGAIN * 2**failures, _LONGEST)
                self._untold.append(_Untold(alarm=alarm, alerts=left, failures=failures + 1, due=due))
                self._undone(alarm)

        self._background.submit(partial(_failing, alarm, alerts), done)


def _failing(alarm: Alarm, alerts: Iterable[Alert]) -> tuple[Alert, ...]:
    """Tell an alarm; which of those that were to take it did not."""
    failed = []
    for alert in alerts:
        try:
            alert(alarm)
        except Exception as error:  # none costs the others
            _LOG.warning("an alarm could not be told (%s): %s", type(error).__name__, alarm.message)
            failed.append(alert)
    return tuple(failed)
