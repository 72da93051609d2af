"""What people write for a label: whether an answer is known to be hallucinated."""

from __future__ import annotations

from typing import Any

_WORDS = {
    **dict.fromkeys(("1", "1.0", "true", "yes", "hallucinated", "unsupported", "unfaithful", "fail"), True),
    **dict.fromkeys(("0", "0.0", "false", "no", "grounded", "supported", "faithful", "pass"), False),
}

READABLE = "expected 1 or hallucinated, 0 or grounded"
"""What to write for one, as whoever wrote something else is told."""


def label_of(value: Any) -> bool | None:
    """True for hallucinated, False for grounded, None for an empty cell. ValueError for anything else."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    said = str(value).strip().lower()
    if said not in _WORDS:
        raise ValueError(f"the label {value!r:.40} is none: {READABLE}")
    return _WORDS[said]
