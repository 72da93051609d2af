"""Proper names in a text: capitalised words that are not just the head of a sentence, and acronyms.

Only for scripts with capitals. Whether a text bears a name out is a matter of its words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from groundwire.text import tokens

_TITLES = frozenset(["mr", "mrs", "ms", "miss", "dr", "prof", "sir", "herr", "frau", "the", "a", "an"])


def find(words: Sequence[tokens.Word], folded: Sequence[str], text: str) -> Iterator[range]:
    """Runs of words that make a name, as ranges of indices into ``words``.

    The head of a sentence or line counts only together with a capitalised word after it, or when it is
    an acronym: anything may stand there with a capital.
    """
    if _shouts(words):
        return
    i = 0
    while i < len(words):
        if not _capitalised(words[i].text) or folded[i] in tokens.STOP_WORDS:
            i += 1
            continue
        end = i + 1
        while (
            end < len(words) and _capitalised(words[end].text) and _adjacent(text, words[end - 1], words[end])
        ):
            end += 1
        start = i
        if _at_head(text, words[i].start) and not _acronym(words[i].text):
            start = i if end - i > 1 else end
        while start < end and folded[start] in _TITLES:
            start += 1
        if start < end:
            yield range(start, end)
        i = end


def _capitalised(word: str) -> bool:
    return word[0].isupper()


def _acronym(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def _adjacent(text: str, left: tokens.Word, right: tokens.Word) -> bool:
    return text[left.end : right.start] in (" ", "\u00a0", ". ", "-", "’s ", "'s ") and (
        text[left.end : right.start] != ". " or len(left.text) <= 3
    )


def _at_head(text: str, start: int) -> bool:
    before = text[max(0, start - 40) : start].rstrip(" \t\"'“‘(*_[#>-•")
    return not before or before[-1] in ".!?:;\n…\ufe0f" or unicodedata.category(before[-1]) == "So"


def _shouts(words: Sequence[tokens.Word]) -> bool:
    """Headings In Title Case and SHOUTED lines say nothing by their capitals."""
    letters = [w.text for w in words if w.text[0].isalpha() and len(w.text) > 3]
    return len(letters) >= 4 and sum(w[0].isupper() for w in letters) > 0.8 * len(letters)
