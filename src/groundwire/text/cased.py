"""A text as it is written and in lower case, and what stands right beside a place in it.

What a neighbouring word means is for the modules that read figures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cased:
    """A text in both cases. ``lowered`` has the same length, so that offsets hold in both."""

    text: str
    lowered: str

    def head(self, at: int, width: int = 28) -> str:
        """The ``width`` characters before a place, in lower case."""
        return self.lowered[max(0, at - width) : at]

    def following(self, end: int) -> str:
        """The word after a figure, past an ordinal mark and a short "of"; "" where none follows."""
        match = _FOLLOWING.match(self.lowered, end)
        return match.group(1) if match is not None else ""

    def past_ordinal(self, end: int) -> int:
        """Where the ordinal mark after a figure ends, as in "3rd"; ``end`` where it has none."""
        mark = _ORDINAL_MARK.match(self.lowered, end)
        return mark.end() if mark is not None else end


def both(text: str) -> Cased:
    """A text with its lower case, in which a letter stays as it is where its lower case is two."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return Cased(text, lowered)


_FOLLOWING = re.compile(r"(?:st|nd|rd|th)?[.º]?[ \u00a0\u202f-]?(?:of |de |d['’])?([^\W\d_]+)")
_ORDINAL_MARK = re.compile(r"(?:st|nd|rd|th)\b")
