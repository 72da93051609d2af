"""The unit that a setting's name ends with, or is: "timeout_ms: 5000", "maxWaitSeconds = 30", "eur": 75."""

from __future__ import annotations

import re

from groundwire.text.units import UNITS, Unit


def unit(text: str, at: int) -> Unit | None:
    """The unit of the figure that begins at ``at``, where it is the value of such a setting."""
    head = text[max(0, at - _LONGEST) : at]
    found = _KEY.search(head) if head.rstrip("\"' ")[-1:] in (":", "=") else None
    if found is None:
        return None
    measure = UNITS[(found[1] or found[2] or found[3]).lower()]
    return None if measure.dimension == "months" and _A_YEAR.match(text, at) else measure


_LONGEST = 24
# "active_years: 1990-2005" are years themselves.
_A_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?!\d)")
_NAMES = (
    "ms msec seconds secs sec minutes mins hours days weeks months years bytes kb mb gb tb kib mib gib "
    "percent pct kg km cm mm hz khz mhz ghz celsius eur usd gbp chf"
)
# "price_min" is a least price, and "start_hour" a time: only what is surely a unit.
# With a hyphen, a capital, or an underscore before it: "items" and "params" end with no unit.
_WORDS = [*(name.capitalize() for name in _NAMES.split()), "MS", "KB", "MB", "GB"]
# Names of their own, with a colon: only what is surely no other word.
_ALONE = ["eur", "usd", "gbp", "chf", "kg", "km", "cm"]
_KEY = re.compile(
    rf"(?:(?<=[A-Za-z0-9])[_-](?i:({'|'.join(_NAMES.split())}))"
    rf"|(?<=[a-z])({'|'.join(_WORDS)})"
    rf"|(?<![\w.-])(?i:({'|'.join(_ALONE)}))(?=[\"']?\s?:))"
    r"[\"']?\s?[:=]\s?[\"']?\Z"
)
