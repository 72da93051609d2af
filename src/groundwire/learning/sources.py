"""Which answers of production must not be parted, so that none is held out that its like was fitted to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from groundwire.bench.examples import group_of
from groundwire.core.interaction import Interaction


def sources(given: Sequence[Interaction]) -> list[str]:
    """A name for the source of each: shared by answers to one question, and by those from the same passages.

    Also at one remove: where an answer has the question of one and the passages of another, all three share.
    """
    names: dict[str, str] = {}

    def root(name: str) -> str:
        while names.setdefault(name, name) != name:
            names[name] = name = names[names[name]]  # shorten the way for the next
        return name

    passages = [f"passages {group_of(one)}" for one in given]
    for one, name in zip(given, passages, strict=True):
        if question := re.sub(r"\s+", " ", one.question).strip().casefold():
            names[root(f"question {question}")] = root(name)
    return [root(name) for name in passages]
