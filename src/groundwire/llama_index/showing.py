"""Which of the passages that were found a text shows: a prompt that was filled by hand, or what a tool says.

What was found and dropped again is no evidence, for no model was told of it. How a text came about is told
elsewhere.
"""

from __future__ import annotations

from itertools import takewhile

from groundwire.core.interaction import Passage
from groundwire.host.seen import told_of

_OPENING = 200


def shown_in(told: str, found: list[Passage], asked: str) -> list[Passage]:
    """Those that stand in what was ``told``; all, where it was told of them in other words."""
    there = [passage for passage in found if opening(passage) in told]
    if not there:
        return found if told_of(found, told, asked) else []
    for passage in there:  # what else is told is told of others
        begin = max(0, told.find(opening(passage)))
        pairs = takewhile(lambda two: two[0] == two[1], zip(_body(passage), told[begin:], strict=False))
        if same := "".join(one for one, _ in pairs):
            told = told.replace(same, "\n")
    return [passage for passage in found if passage in there or told_of([passage], told, asked)]


def opening(passage: Passage) -> str:
    """How a passage begins, wherever it is told as it was found."""
    body = _body(passage)
    return (body if passage.metadata else body.partition("\n\n")[0].strip())[:_OPENING]


def _body(passage: Passage) -> str:
    # Without the metadata, which an application that fills its own prompt may have left out.
    rest = passage.text.partition("\n\n")[2].strip() if passage.metadata else ""
    return rest or passage.text.strip()
