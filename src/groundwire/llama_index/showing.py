"""Which of the passages that were found a text shows: a prompt that was filled by hand, or what a tool says.

What was found and dropped again is no evidence, for no model was told of it. How a text came about is told
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from groundwire.core.interaction import Passage
from groundwire.host.seen import those_told_of, told_of

_OPENING = 200


def shown_in(told: str, found: list[Passage], asked: str) -> list[Passage]:
    """Those that stand in what was ``told``; all, where it was told of them in other words."""
    there = [passage for passage in found if opening(passage) in told]
    if not there:
        return found if told_of(found, told, asked) else []
    known = set(map(id, there))
    if left := [passage for passage in found if id(passage) not in known]:
        known.update(map(id, those_told_of(left, beside_shown(told, there), asked)))
    return [passage for passage in found if id(passage) in known]


def beside_shown(told: str, shown: Iterable[Passage]) -> str:
    """What is told beside the passages that are ``shown`` there, as far as they stand there as they are."""
    for passage in shown:
        if (begin := told.find(opening(passage))) < 0:
            continue
        body = _body(passage)
        if told.startswith(body, begin):
            same = body
        else:
            pairs = zip(body, told[begin : begin + len(body)], strict=False)
            same = "".join(one for one, _ in takewhile(lambda two: two[0] == two[1], pairs))
        told = told.replace(same, "\n") if same else told
    return told


def opening(passage: Passage) -> str:
    """How a passage begins, wherever it is told as it was found."""
    body = _body(passage)
    return (body if passage.metadata else body.partition("\n\n")[0].strip())[:_OPENING]


def _body(passage: Passage) -> str:
    # Without the metadata, which an application that fills its own prompt may have left out.
    rest = passage.text.partition("\n\n")[2].strip() if passage.metadata else ""
    return rest or passage.text.strip()
