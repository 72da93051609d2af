"""Whether a model was told of what was found for it, and whether a text passes on what a model said."""

from __future__ import annotations

import re
from collections.abc import Iterable

from groundwire.core.interaction import Passage

_WORD = re.compile(r"[\u2e80-\uffff]|[^\W\u2e80-\uffff]+")  # in scripts without spaces, each character
_SHARE = 1 / 3  # of a passage's words, when it was told in other words, at least
_RUN = 6  # so many of its words one after the other are a part of it
_LONG = 4  # letters of a word that says something
_TELLING_WORDS = 3
_TELLING_CHARACTERS = 20  # of a script that writes no spaces
_MOST = 100_000  # characters that are looked through: some milliseconds


def told_of(passages: Iterable[Passage], told: str, asked: str) -> bool:
    """Whether what a model was ``told`` has a part of a passage, or a fair part of its words.

    Those of the question aside. A passage without words of its own can't be missed, and neither can any in a
    very long text.
    """
    if len(told) > _MOST:
        return True
    question, prompt = _words(asked), _words(told)
    there = _telling(prompt) - _telling(question)
    runs = _runs(prompt) - _runs(question)
    for passage in passages:
        words = _words(passage.text)
        own = _telling(words) - _telling(question)
        if len(own & there) >= _SHARE * len(own) or not runs.isdisjoint(_runs(words)):
            return True
    return False


def passes_on(said: str, text: str) -> bool:
    """Whether a text holds what a model said: all of it, or so much that it isn't there by chance."""
    said, text = said.strip().lower(), text.strip().lower()
    return bool(said) and (said == text or (is_telling(said) and said in text))


def is_telling(said: str) -> bool:
    """Whether words are too many to stand in another text by chance: "yes" and "not relevant" are not."""
    return len(said.split()) >= _TELLING_WORDS or len(said) >= _TELLING_CHARACTERS


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _telling(words: Iterable[str]) -> set[str]:
    return {word for word in words if len(word) >= _LONG or word.isdigit() or word >= "\u2e80"}


def _runs(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + _RUN]) for i in range(len(words) - _RUN + 1)}
