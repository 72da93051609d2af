"""What checks write into answers: warnings, and the texts in place of those that they withhold.

A check around another sees them in what it judges. They are nobody's claims, and no evidence. Who has written
what within which run, the guest rooms know.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from groundwire.host.seen import is_statement

WITHHELD = "the answer was withheld: what stands in its place was put there by a check inside"
UNSAID = (
    "no model was heard to say this: the application put it in an answer's place, as where a limit is "
    "reached or a guard rail steps in"
)


def without(text: str, notices: Iterable[str]) -> str:
    """A text without these notices; offsets into what is left still hold.

    One that is too short for a statement may be said by anybody: it is known where it is all of a paragraph.
    """
    left = text
    for notice in sorted({one.strip() for one in notices} - {""}, key=len, reverse=True):
        sought = re.escape(notice)
        if not is_statement(notice):
            sought = rf"(?:\A|(?<=\n\n)){sought}(?=\s*\Z|\n\n)"
        left = re.sub(sought, lambda found: " " * len(found[0]), left)
    return text if left == text else left.rstrip()


def is_withheld(text: str, notices: Iterable[str]) -> bool:
    """Whether nothing but notices stands where an answer should."""
    return bool(text.strip()) and not without(text, notices).strip()
