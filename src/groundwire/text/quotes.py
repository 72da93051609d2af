"""Where a quotation stands in a text, word for word, whatever happened to its spaces, case and punctuation.

People and models copy words faithfully and punctuation not. Words that differ are another text: nothing here
is approximate. What a quotation proves is for others to say.
"""

from __future__ import annotations

import re
import unicodedata

from groundwire.core.cached import cached_property
from groundwire.core.span import Span
from groundwire.text.tokens import STOP_WORDS, Word, fold, words

_GAP = re.compile(r"(?>(?:(?<!\s)\s++)?)(?:\[\s*+(?:\.{3}|…)\s*+\]|\.{3,}+|…)\s*+")
_BETWEEN = "\0"
_POINTED = re.compile(r"\d[.,:]")


def parts(quote: str) -> list[str]:
    """What stands between the ellipses of a quotation."""
    return [part for part in _GAP.split(quote.strip()) if part]


class Quotable:
    """A text in which quotations can be found; its words are read once, and only when they are needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, quote: str) -> list[Span]:
        """The places of a quotation's parts, in its order; parts are joined by an ellipsis.

        Empty unless every part stands here and says something: function words alone are no quotation.
        """
        spans: list[Span] = []
        for part in parts(quote):
            span = self._place(part)
            if span is None:
                return []
            spans.append(span)
        return spans

    def _place(self, part: str) -> Span | None:
        quoted = words(part)
        folded = _folded(quoted)
        if all(word in STOP_WORDS for word in folded):
            return None
        at = self._joined.find(_join(folded))
        if at < 0:
            return self._verbatim(part)
        first = self._joined.count(_BETWEEN, 0, at)
        found = self._words[first : first + len(folded)]
        start, end = found[0].start, max(word.end for word in found)
        # Punctuation at the ends, where it is the same: the stop of a sentence, the sign of a currency.
        whole = Span(max(0, start - quoted[0].start), max(0, start - quoted[0].start) + len(part))
        return whole if self.text[whole.start : whole.end] == part else Span(start, end)

    def _verbatim(self, part: str) -> Span | None:
        """A quotation in a script without spaces may begin and end where no word does."""
        start = self.text.find(part)
        end = start + len(part)
        if start < 0 or not any(unicodedata.category(character) == "Lo" for character in part):
            return None
        return None if _cuts(self.text, start) or _cuts(self.text, end) else Span(start, end)

    @cached_property
    def _words(self) -> list[Word]:
        return words(self.text)

    @cached_property
    def _joined(self) -> str:
        return _join(_folded(self._words))


def _cuts(text: str, at: int) -> bool:
    """Whether a cut at this place would tear a figure or a word of a script with spaces."""
    before, after = text[max(0, at - 2) : at], text[at : at + 2]
    if not before or not after:
        return False
    pair = before[-1] + after[0]
    return (
        (pair.isalnum() and all(unicodedata.category(character) != "Lo" for character in pair))
        or (after[0].isdigit() and _POINTED.fullmatch(before) is not None)
        or (before[-1].isdigit() and _POINTED.fullmatch(after[::-1]) is not None)
    )


def _folded(found: list[Word]) -> list[str]:
    return [fold(word.text) for word in found]


def _join(folded: list[str]) -> str:
    return _BETWEEN + "".join(word + _BETWEEN for word in folded)
