"""Keys and passwords taken out of what is told to people: messages, logs, addresses.

Found by what stands beside them or by their own form, so a key without either is not known for one.
``core.redaction`` is for what is judged and kept: that masks, and keeps lengths.
"""

from __future__ import annotations

import re
import sys
import traceback

from groundwire.core.redaction import SUPPLIED

_SECRET = re.compile(
    r"(?i)(?<![a-z0-9])(?:authorization|bearer|(?:api|access|secret|account)[ _-]?key(?:[ _-]?id)?|password"
    r"|passwd|pwd|secret|signature|sig|token)"
    r"(?:\s+provided)?['\"]?\s*+[:=]\s*+['\"]?(?:(?:bearer|basic)\s++)?[^\s'\",;&]++"
    r"|\bbearer\s++[\w.~+/=-]{8,}+"
    r"|\btoken\s++[\w.~+/=-]{20,}+"
    r"|(?<=[?&])key=[^\s'\",;&]++"
    r"|\b(?:sk|pk|rk|lsv2|ghp|xox[a-z])[-_][\w*-]{6,}+"
    r"|\bA[KS]IA[A-Z0-9]{12,}+"
    r"|(?<=://)[^\s/@]++@"
)
_KEYS = SUPPLIED["keys"]
_MOST = 300  # characters of an error's own words


def without_secrets(text: str) -> str:
    """The text with "[secret]" in place of each key, token and password that can be told for one."""
    for pattern in (_SECRET, *_KEYS):
        text = pattern.sub("[secret]", text)
    return text


class Secret(str):
    """A text that no repr shows, wherever it is handed on to."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'[secret]'"


def brief(error: BaseException) -> str:
    """The error's kind and its own words, without secrets; "…" where there are many."""
    words = without_secrets(str(error))
    words = words if len(words) <= _MOST else f"{words[:_MOST].rstrip()} …"
    return f"{type(error).__name__}: {words}"


class Traced:
    """An error for a log, or the one that is being handled: its traceback, without secrets.

    In place of ``exc_info``, which would repeat whatever the error and its causes say; made when written.
    """

    def __init__(self, error: BaseException | None = None) -> None:
        self._error = error or sys.exception()

    def __str__(self) -> str:
        return without_secrets("".join(traceback.format_exception(self._error)).rstrip())
