"""Keys and passwords taken out of what is told to people: messages, logs, addresses.

Found by what stands beside them or by their own form, so a key without either is not known for one.
``core.redaction`` is for what is judged and kept: that masks, and keeps lengths.
"""

from __future__ import annotations

import re
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


def without_secrets(text: str) -> str:
    """The text with "[secret]" in place of each key, token and password that can be told for one."""
    for pattern in (_SECRET, *_KEYS):
        text = pattern.sub("[secret]", text)
    return text


class Traced:
    """An error for a log at DEBUG: its whole traceback, without secrets, made when it is written."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __str__(self) -> str:
        return without_secrets("".join(traceback.format_exception(self._error)).rstrip())
