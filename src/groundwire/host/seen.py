"""Whether a model was told of what was found for it, and whether a text passes on what a model said."""

from __future__ import annotations

import re
from collections.abc import Iterable

from groundwire.core.interaction import Passage

_WORDS = re.compile(r"[^\W\d_]{4,}|\d+")
_SHARE = 1 / 3  # of a passage's words, when it was told in other words, at least
_TELLING_WORDS = 3
_TELLING_CHARACTERS = 20  # of a script that writes no spaces
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


def passes_on(said: str, text: str) -> bool:
    """Whether a text holds what a model said: all of it, or so much that it isn't there by chance."""
    said, text = said.strip().lower(), text.strip().lower()
    return bool(said) and (said == text or (is_telling(said) and said in text))


def is_telling(said: str) -> bool:
    """Whether words are too many to stand in another text by chance: "yes" and "not relevant" are not."""
    return len(said.split()) >= _TELLING_WORDS or len(said) >= _TELLING_CHARACTERS


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(text.lower()))
