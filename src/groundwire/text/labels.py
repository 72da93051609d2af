"""Figures that number a part of a text and say nothing: "3. Place the roast", "[2]", "Passage 2 and 3"."""

from __future__ import annotations

import re

from groundwire.text import beside
from groundwire.text.cased import Cased
from groundwire.text.figures import Figure
from groundwire.text.units import LABELS, MAGNITUDES, MONTHS


def is_label(cased: Cased, figure: Figure, labelled: int) -> bool:
    """Whether a figure is an enumerator at the head of a line, a citation, or names a part of a document.

    ``labelled`` is where the last label before it ends, -1 where there is none.
    """
    start, end = figure.start, figure.end
    after = cased.lowered[end : end + 2]
    if end - start <= _LONGEST_ENUMERATOR and after[:1] in (".", ")", "]", ":") and not after[1:2].isdigit():
        head = cased.head(start, 12)
        heads = _ENUMERATOR.search(head if start <= 12 or "\n" in head else "x") is not None
        if heads and _SOMETHING.search(cased.text, end):  # "12." may be all that is answered
            return True
        if after[:1] == "]" and head.endswith("["):
            return True
    if len(after) == 2 and after[0] == " " and _heads_an_item(cased, start, end):
        return True
    if _last_word(cased.head(start)) in LABELS:
        return True
    gap = cased.lowered[labelled:start] if 0 <= start - labelled < 8 else "x"
    return labelled >= 0 and _AND.fullmatch(gap) is not None


_SOMETHING = re.compile(r"[^\W_]")
_AND = re.compile(r",? (?:and |or |& )?|-|–")
# A year that a line begins with ("2019: it opened") numbers nothing.
_LONGEST_ENUMERATOR = 3
_ENUMERATOR = re.compile(r"(?:\A|\n)[ \t>*_#(\[-]*\Z")


def _heads_an_item(cased: Cased, start: int, end: int) -> bool:
    """Whether it is the number of "2  Place the roast": a list that lost its dots, or its line breaks."""
    if cased.text[end + 1] == " ":
        return cased.text[end + 2 : end + 3].isupper()
    capital = end - start <= 2 and cased.text[end + 1].isupper() and beside.unit(cased, end) is None
    following = cased.following(end)
    if capital and (following in MONTHS or following in MAGNITUDES):
        return False
    return capital and _ENUMERATOR.search(cased.head(start, 12) if start > 0 else "\n") is not None


def _last_word(head: str) -> str:
    stripped = head[:-1] if head.endswith(("#", "(")) else head
    words = stripped.split()
    return words[-1].lstrip("([{*_\"'“") if words and head[-1:] in (" ", "#", "(", "\u00a0") else ""
