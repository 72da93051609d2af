"""A stretch of text as words: their forms, which of them carry content, and which of these are denied."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise

from groundwire.text import abroad, forms, tokens
from groundwire.text.forms import NEGATIONS
from groundwire.text.remembered import Remembered


@dataclass(frozen=True, slots=True)
class Worded:
    """A stretch of text as words: folded forms and stems side by side, and which of them carry content.

    The sentences of a passage leave ``words`` out: their forms are enough, and half as much to remember.

    ``negated`` are the content stems that a "not" or the like is about: the one after it, or else before.
    """

    words: tuple[tokens.Word, ...]
    folded: tuple[str, ...]
    stems: tuple[str, ...]
    content: tuple[int, ...]
    negated: frozenset[str]


def word(text: str) -> Worded:
    """The words of ``text``; a content word is no function word, and no negation."""
    return _READ.of(text)


def placeless(text: str) -> Worded:
    """The same without the words' places, which are most of the work."""
    return _worded(tokens.texts(text), first=_answering(text))


def _read(text: str) -> Worded:
    found = tokens.words(text)
    return _worded([w.text for w in found], first=_answering(text), words=tuple(found))


# In characters: each statement of an answer is looked at again and again, in one step after the other.
_READ = Remembered(_read, most=40_000)


def in_language(worded: Worded, text: str, spoken: str) -> Worded:
    """The words of ``text`` by a language that ``abroad`` knows.

    Those without content in it are none to look up, nor negations: the Portuguese "no".
    """
    empty = abroad.EMPTY[spoken]
    content = tuple([i for i in worded.content if abroad.bare(worded.folded[i]) not in empty])
    negated = worded.negated
    if negated and not empty.isdisjoint(worded.folded):
        told = ["" if folded in empty else folded for folded in worded.folded]
        negated = _negated(told, worded.stems, content, _answering(text))
    return replace(worded, content=content, negated=negated)


def _answering(text: str) -> int:
    """How many words a text begins with that deny a guess alone: "No, it is closed", "Not quite: ..."."""
    answering = _NO.match(text)
    return len(tokens.texts(answering.group())) if answering else 0


_NO = re.compile(
    r"\W*(?:(?:a|answer)\W{0,3}:\W{0,4})?(?:(?:no|nope|nein|non|não|nee)"
    r"|(?:(?:unfortunately|sadly|regrettably|probably),? )?not(?: really| quite| exactly| necessarily| yet)?)"
    r"(?:[,.:;!]|\s?[–—]|\s-\s)",
    re.IGNORECASE,
)


def _worded(texts: Sequence[str], *, first: int = 0, words: tuple[tokens.Word, ...] = ()) -> Worded:
    """``first`` is the word from which on a negation counts."""
    folded, stems, content = zip(*forms.of(texts), strict=True) if texts else ((), (), ())
    content = tuple(compress(range(len(content)), content))
    negated = frozenset() if NEGATIONS.isdisjoint(folded) else _negated(folded, stems, content, first)
    return Worded(words=words, folded=folded, stems=stems, content=content, negated=negated)


def _negated(
    folded: Sequence[str], stems: Sequence[str], content: Sequence[int], first: int
) -> frozenset[str]:
    found: list[str] = []
    for i, form in enumerate(folded):
        otherwise = form == "not" and folded[i - 1 : i] == ("if",)  # "if not, add salt"
        if form in NEGATIONS and i >= first and not otherwise:
            found += [stems[j] for j in content if i < j <= i + _REACH][:1] or [
                stems[j] for j in content if j < i
            ][-1:]
    return frozenset(found)


# How many words a negation reaches over to the word that it is about.
_REACH = 4


def pairs(stems: Sequence[str]) -> Iterator[str]:
    """Neighbours as one string each: unlike tuples, strings cost the garbage collector nothing."""
    return map(" ".join, pairwise(stems))
