"""Whether a model was told anything of what was found for it, in whatever words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from groundwire.core.interaction import Passage

_WORDS = re.compile(r"[^\W\d_]{4,}|\d+")
_SHARE = 1 / 3  # of a passage's words, when it was told in other words, at least
_MOST = 500_000  # characters that are looked through: a few milliseconds


def told_of(passages: Iterable[Passage], told: str, asked: str) -> bool:
    """Whether what a model was ``told`` has a fair part of a passage's words, those of the question aside.

    A passage without words of its own can't be missed, and neither can any in a very long text.
    """
    if len(told) > _MOST:
        return True
    question, known = _words(asked), _words(told)
    for passage in passages:
        own = _words(passage.text) - question
        if len(own & known) >= _SHARE * len(own):
            return True
    return False


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(text.lower()))
