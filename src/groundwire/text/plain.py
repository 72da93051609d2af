"""A text without what only dresses it, and where the rest of it stood.

Detectors compare words: "**March** 5", "don&#x27;t" and a word with a soft hyphen in it say what they say
without. How an answer points to its sources is for ``citations`` to find, what is a claim for ``claims``.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from groundwire.core.span import Span
from groundwire.text.documents import laid_open
from groundwire.text.markup import laid_out
from groundwire.text.remembered import Remembered


class Edit(NamedTuple):
    """What stands in place of the characters of ``span``."""

    span: Span
    put: str = ""


class Plain:
    """A text with some of its characters left out or written otherwise: ``text``.

    ``edits`` come in any order; of those that overlap, the one that begins first is made.
    """

    def __init__(self, original: str, edits: Iterable[Edit] = ()) -> None:
        edits = list(_disjoint(edits))
        self._starts = [edit.span.start for edit in edits]
        self._ends = [edit.span.end for edit in edits]
        # How many characters fewer there are before each edit, and after the last.
        self._fewer = list(accumulate((len(e.span) - len(e.put) for e in edits), initial=0))
        self._from = [start - fewer for start, fewer in zip(self._starts, self._fewer, strict=False)]
        self._to = [end - fewer for end, fewer in zip(self._ends, self._fewer[1:], strict=True)]
        kept = zip([0, *self._ends], [*self._starts, len(original)], strict=True)
        puts = [*(edit.put for edit in edits), ""]
        self.text = "".join([original[a:b] + put for (a, b), put in zip(kept, puts, strict=True)])

    def left(self, span: Span) -> Span:
        """What is left of a span of the original, as a span of ``text``: an empty one, where nothing is."""
        start, end = self._left(span.start, self._to), self._left(span.end, self._from)
        return Span(start, max(start, end))

    def _left(self, place: int, inside: Sequence[int]) -> int:
        before = bisect_right(self._ends, place)
        cut = before < len(self._starts) and self._starts[before] < place
        return inside[before] if cut else place - self._fewer[before]

    def stood(self, span: Span) -> Span:
        """Where the characters of a span of ``text`` stood in the original."""
        start = self._stood(span.start, self._starts, 0)
        return Span(start, self._stood(span.end - 1, self._ends, 1) if len(span) else start)

    def _stood(self, place: int, inside: Sequence[int], width: int) -> int:
        before = bisect_right(self._to, place)
        put = before < len(self._from) and self._from[before] <= place
        return inside[before] if put else place + self._fewer[before] + width


def passage(text: str) -> Plain:
    """A passage laid open and out, and undressed; the same text is worked through once while it is remembered."""
    return _PASSAGES.of(text)


def undressed(text: str, besides: Iterable[Span] = ()) -> Plain:
    r"""``text`` without emphasis, blanks and characters that say nothing, and without ``besides``.

    * Emphasis is a pair of "*", "**", "***", "__" or "`" around words of one line: "2 * 3" and "a_b" stay.
    * What can't be seen are soft hyphens, zero-width spaces, word joiners, and marks of direction and order.
    * References are read: HTML's to characters ("&amp;", "&#39;", "&#x27;") and JSON's ("\u2019").
    * "&" between words is "and", as it may be in the other text.
    * Several blanks between words of a line, tabs and wide or unbreakable blanks are one blank, "ﬁ" is "fi".
    * A word that is divided at the end of a line is whole again; ">" before a quoted line is left out.
    * Formulas lose the marks around them ("$5$", "\(5\)"), and marks their backslash ("5\%", "1\.").
    """
    edits = [Edit(span) for span in besides]
    if _DRESSED.search(text) is not None:
        edits += _edits(text)
    return Plain(text, edits)


def _edits(text: str) -> Iterator[Edit]:
    for pair in _EMPHASIS:
        for match in pair.finditer(text):
            width = len(match["mark"])
            yield Edit(Span(match.start(), match.start() + width))
            yield Edit(Span(match.end() - width, match.end()))
    for match in _UNSEEN.finditer(text):
        yield Edit(Span(*match.span()))
    for match in _AND.finditer(text):
        yield Edit(Span(*match.span()), "and")
    for match in _REFERENCE.finditer(text):
        read = _read(match.group())
        if read != match.group():
            yield Edit(Span(*match.span()), _UNSEEN.sub("", read).replace("\u00a0", " "))
    for match in _BLANKS.finditer(text):
        yield Edit(Span(*match.span()), " ")
    for match in _LIGATURE.finditer(text):
        yield Edit(Span(*match.span()), unicodedata.normalize("NFKC", match.group()))
    for pattern in _LEFT_OUT:
        for match in pattern.finditer(text):
            yield from (Edit(Span(*match.span(group))) for group in range(1, pattern.groups + 1))


def _read(reference: str) -> str:
    if reference[0] == "&":
        return html.unescape(reference)
    units = bytes.fromhex(reference.replace("\\u", ""))
    return units.decode("utf-16-be", errors="replace")


def _disjoint(edits: Iterable[Edit]) -> Iterator[Edit]:
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.span.start, -edit.span.end)):
        if edit.span.start >= at:
            yield edit
            at = edit.span.end


_PASSAGES = Remembered(lambda text: undressed(laid_out(laid_open(text))), most=1_000_000)
_INVISIBLE = "\u00ad\u200b\u200e\u200f\u2060\ufeff"
_WIDE = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_DRESSED = re.compile(rf"[*`&\\>\t{_INVISIBLE}{_WIDE}\ufb00-\ufb06]|__|  |\$[^$\n]*\$|[a-z]-\r?\n")
_EMPHASIS = (
    re.compile(r"(?<![\w*])(?P<mark>\*{2,3}+)(?=[^\s*])(?:(?!\*\*).)+(?<=[^\s*])(?P=mark)(?![\w*])"),
    re.compile(r"(?<![\w*])(?P<mark>\*)(?=[^\s*])[^*\n]+(?<=[^\s*])\*(?![\w*])"),
    re.compile(r"(?<!\w)(?P<mark>__)(?=[^\s_])(?:(?!__).)+(?<=[^\s_])__(?!\w)"),
    re.compile(r"(?<!`)(?P<mark>`)[^`\n]+`(?!`)"),
)
_AND = re.compile(r"(?<=[^\W\d_] )(?:&amp;|&)(?= [^\W\d_])")
# What begins a line is its indentation.
_BLANKS = re.compile(rf"(?<=\S)(?:[\t{_WIDE}]|[ ](?=[ \t{_WIDE}]))[ \t{_WIDE}]*+(?=\S)|[{_WIDE}]")
_LIGATURE = re.compile("[\ufb00-\ufb06]")
# What is left out are the groups.
_LEFT_OUT = (
    re.compile(r"(?<=[a-z])(-\r?\n[ \t]*+)(?=[a-z])"),
    re.compile(r"(?m)^[ \t]*+((?>(?:>[ ]?)+))(?=[^\s\d=>])"),
    # As Pandoc reads it: no blank beside the marks on the inner side, and no digit after them.
    re.compile(r"(?<![\w$\\])(\$)(?:\d[\d.,+*/=^%() -]{0,80}|[^\s\d$][^$\n]{0,200})(?<=[^\s$\\])(\$)(?![\d$])"),
    re.compile(r"(\\\()[^\n]{1,200}?(\\\))"),
    re.compile(r"(\\)[.\-!#+*_\[\]$%&>|~`]"),
)
_UNSEEN = re.compile(rf"[{_INVISIBLE}]+")
# Of JSON's, one for a control character, a quotation mark or a backslash stays: read, it would end a string.
_REFERENCE = re.compile(
    r"""&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});
      | \\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}
      | \\u(?![dD][89a-fA-F]|00[01]|0022|005[cC])[0-9a-fA-F]{4}
    """,
    re.VERBOSE,
)
