"""What a sentence says side by side: its clauses, as far as marks and joining words tell them."""

from __future__ import annotations

import re


def cut(sentence: str) -> list[str]:
    """A sentence's clauses, in order, without what joins them; one alone where nothing does."""
    marks = [mark.span() for mark in _JOINS.finditer(sentence.rstrip(" .!"))]
    starts, ends = [0, *(end for _, end in marks)], [*(start for start, _ in marks), len(sentence)]
    return [sentence[a:b] for a, b in zip(starts, ends, strict=True)]


_JOINS = re.compile(r"[,;:()]\s|\s[–—-]\s|\s(?:and|while|but|or|whereas|than|as|compared|versus)\s")
