"""WordPiece: words to the token ids of the encoder's vocabulary (Wu et al., 2016).

The greedy longest match, over lower-cased words without accents, as the encoder was trained with.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import islice
from typing import NamedTuple

from groundwire.text import tokens

PAD, UNKNOWN, START, END = 0, 100, 101, 102
"""The ids of the tokens that stand for no text."""


class Token(NamedTuple):
    """A word or mark as the encoder reads it: the ids of its pieces, and the characters that it is.

    ``stem`` is None for a mark.
    """

    ids: tuple[int, ...]
    text: str | None
    start: int
    end: int


def read(text: str, start: int = 0) -> list[Token]:
    """The words and marks of ``text``, which is found at ``start``, in order.

    A word of several humps is as many words ("OutdoorSeating" is "Outdoor" and "Seating"), for that is how
    records name what prose spells out. Quotation marks, braces and other ornaments are left out.
    """
    found: list[Token] = []
    at = 0
    for word, first, last in tokens.words(text):
        # Between most words is a space and nothing else. A Token is built as the tuple that it is.
        if first > at and not (first == at + 1 and text[at] == " "):
            found += _marks(text, at, first, start)
        if word.islower() or not _HUMPS.search(word):
            found.append(_new(Token, (ids(word), word, first + start, last + start)))
        else:
            found += [
                Token(ids(hump[0]), hump[0], first + start + hump.start(), first + start + hump.end())
                for hump in _HUMP.finditer(word)
            ]
        at = max(at, last)
    found += _marks(text, at, len(text), start)
    return found


def _marks(text: str, first: int, last: int, start: int) -> list[Token]:
    return [
        _new(Token, (ids(match.group()), None, match.start() + start, match.end() + start))
        for match in _MARK.finditer(text, first, last)
    ]


def ids(word: str) -> tuple[int, ...]:
    """The ids of a word's pieces: at least one, and of a word without end, those that it begins with."""
    known = _known.get(word)
    if known is None:
        if len(_known) >= _MOST:
            _known.clear()
        known = _known[word] = tuple(islice(_pieces(word), _MOST_PIECES))
    return known


def _pieces(word: str) -> Iterator[int]:
    decomposed = unicodedata.normalize("NFD", word.lower())
    plain = "".join(c for c in decomposed if c != " " and unicodedata.category(c) != "Mn")
    for part in _PART.findall(plain):
        yield from _longest_first(part)
    if not plain:
        yield UNKNOWN


def _longest_first(part: str) -> list[int]:
    vocabulary = load()
    if len(part) > _LONGEST:
        return [UNKNOWN]
    found: list[int] = []
    start = 0
    while start < len(part):
        for end in range(len(part), start, -1):
            piece = vocabulary.get(part[start:end] if not start else "##" + part[start:end])
            if piece is not None:
                found.append(piece)
                start = end
                break
        else:
            return [UNKNOWN]
    return found


@cache
def load() -> dict[str, int]:
    """The vocabulary: piece -> id."""
    source = resources.files("groundwire.local") / "data" / "vocab.txt"
    lines = source.read_text(encoding="utf-8").split("\n")
    return {line: i for i, line in enumerate(lines) if line}


_new = tuple.__new__
_LONGEST = 100
# A slug of fifty words joined by hyphens is one word, and has to fit into a row.
_MOST_PIECES = 48
_MOST = 1 << 16
_known: dict[str, tuple[int, ...]] = {}
_MARK = re.compile(r"[,.;:?!%$€£()/+<>=-]")
_HUMPS = re.compile(r"[a-z]{2}[A-Z][a-z]{2}")
_HUMP = re.compile(r"[A-Z]*[a-z0-9]+|[A-Z]+|[^A-Za-z0-9]+")
# The encoder's own words end at punctuation: "don't" is "don", "'" and "t".
_PART = re.compile(r"[^\W_]+|[^\w\s]|_")
