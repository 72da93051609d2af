"""What only dresses a text: without it, the text says what it said.

Detectors compare words: "**March** 5", "don&#x27;t" and a word with a soft hyphen in it say what they say
without. How an answer points to its sources is for ``citations`` to find, what is a claim for ``claims``.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from groundwire.core.span import Span
from groundwire.text import formulas
from groundwire.text.columns import barred
from groundwire.text.documents import laid_open
from groundwire.text.markup import laid_out, without_scripts
from groundwire.text.plain import Edit, Plain
from groundwire.text.remembered import Remembered


def passage(text: str) -> Plain:
    """A passage laid open and out, and undressed; what is remembered isn't worked through again."""
    return _PASSAGES.of(text)


def undressed(text: str, besides: Iterable[Span] = ()) -> Plain:
    r"""``text`` without emphasis, blanks and characters that say nothing, and without ``besides``.

    * Emphasis is a pair of "*", "**", "***", "__" or "`" around words of one line: "2 * 3" and "a_b" stay.
    * What can't be seen are soft hyphens, zero-width spaces, word joiners, and marks of direction and order.
    * References are read: HTML's to characters ("&amp;", "&#39;", "&#x27;") and JSON's ("\u2019").
    * "&" between words is "and", as it may be in the other text, and "ﬁ" is "fi".
    * Several blanks between words of a line, tabs and wide or unbreakable blanks are one blank.
    * A word that is divided at the end of a line is whole again; ">" before a quoted line is left out, and so
      are an encyclopaedia's references ("in May.[12]").
    * Figures that a tokeniser took apart ("3, 500") are in one piece, where it left none so.
    * Formulas are written in plain signs (``formulas``), and marks lose their backslash ("5\%", "1\.").
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
    for pattern, written in _WRITTEN:
        for match in pattern.finditer(text):
            put = written(match.group())
            if put != match.group():
                yield Edit(Span(*match.span()), put)
    for pattern in _LEFT_OUT:
        for match in pattern.finditer(text):
            yield from (Edit(Span(*match.span(group))) for group in range(1, pattern.groups + 1))
    yield from formulas.edits(text)
    for match in _DIVIDED.finditer(text):
        yield Edit(Span(*match.span("gap" if match["first"] in _COMPOUNDING else "division")))
    yield from _joined(text)


def _joined(text: str) -> Iterator[Edit]:
    """The gaps in figures, where a tokeniser left other traces and no figure in one piece."""
    if _APART.search(text) is None or _TOGETHER.search(text) is not None:
        return
    traces = len(_TRACE.findall(text)) >= _TRACES
    for figure in _APART.finditer(text):
        if traces or " ," in figure.group():
            yield from (Edit(Span(*gap.span())) for gap in _GAP.finditer(text, *figure.span()))


def _read(reference: str) -> str:
    if reference[0] == "&":
        character = html.unescape(reference)
        return " " if character == "\u00a0" else _UNSEEN.sub("", character)
    units = bytes.fromhex(reference.replace("\\u", ""))
    return _UNSEEN.sub("", units.decode("utf-16-be", errors="replace"))


_PASSAGES = Remembered(
    lambda text: undressed(barred(laid_out(without_scripts(laid_open(text))))), most=1_000_000
)
_INVISIBLE = "\u00ad\u200b\u200e\u200f\u2060\ufeff"
_WIDE = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_DRESSED = re.compile(
    rf"[*`&\[\\>\t{_INVISIBLE}{_WIDE}\ufb00-\ufb06]|__|  |\$[^$\n]*\$|[a-z]-\r?\n|\d ?[.,] \d"
)
_EMPHASIS = (
    re.compile(r"(?<![\w*])(?P<mark>\*{2,3}+)(?=[^\s*])(?:(?!\*\*).)+(?<=[^\s*])(?P=mark)(?![\w*])"),
    re.compile(r"(?<![\w*])(?P<mark>\*)(?=[^\s*])[^*\n]+(?<=[^\s*])\*(?![\w*])"),
    re.compile(r"(?<!\w)(?P<mark>__)(?=[^\s_])(?:(?!__).)+(?<=[^\s_])__(?!\w)"),
    re.compile(r"(?<!`)(?P<mark>`)[^`\n]+`(?!`)"),
)
_UNSEEN = re.compile(rf"[{_INVISIBLE}]+")
_AND = re.compile(r"(?<=[^\W\d_] )(?:&amp;|&)(?= [^\W\d_])")
# Of JSON's, one for a control character, a quotation mark or a backslash stays: read, it would end a string.
_REFERENCE = re.compile(
    r"""&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});
      | \\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}
      | \\u(?![dD][89a-fA-F]|00[01]|0022|005[cC])[0-9a-fA-F]{4}
    """,
    re.VERBOSE,
)
# What begins a line is its indentation.
_BLANKS = re.compile(rf"(?<=\S)(?:[\t{_WIDE}]|[ ](?=[ \t{_WIDE}]))[ \t{_WIDE}]*+(?=\S)|[{_WIDE}]")
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_WRITTEN: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (_AND, lambda _: "and"),
    (_UNSEEN, lambda _: ""),
    (_REFERENCE, _read),
    (_BLANKS, lambda _: " "),
    (_LIGATURE, lambda letters: unicodedata.normalize("NFKC", letters)),
)
# What is left out are the groups.
_LEFT_OUT = (
    re.compile(r"(?m)^[ \t]*+((?>(?:>[ ]?)+))(?=[^\s\d=>]|\d{1,3}[.)]\s|$)"),
    re.compile(r"(?<=[a-z.!?)”])((?>(?:\[\d{1,3}\])+))(?=[\s.,;:)]|\Z)"),
    re.compile(r"(\\)[.\-!#+*_\[\]$%&>|~`]"),
)
# "re-" and "fund", but "five-" and "year".
_DIVIDED = re.compile(r"\b(?P<first>[a-z]++)(?P<division>-(?P<gap>\r?\n[ \t]*+))(?=[a-z])")
_COMPOUNDING = frozenset(
    """
    one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty
    sixty seventy eighty ninety hundred first second third half full part all non self well anti co
    pre post ex semi multi high low long short cross mid off on up down over under year day week
    month
    """.split()  # noqa: SIM905
)
# "3, 500", "23 , 768" and "98. 7 per cent", in a text that has more traces of a tokeniser: "20 year - old".
_TOGETHER = re.compile(r"\d[.,]\d")
_APART = re.compile(
    r"""(?<![\d.,])\d{1,3}(?:[ ]?,[ ]\d{3}){1,4}(?!\d|[ ]?,[ ]\d)
      | (?<![\d.,])\d{1,3}[ ]?\.[ ]\d{1,3}
        (?=[ ]?(?:%(?!\w)|(?:per[ ]?cent|[mb]illion|trillion|bn|km|kg|miles|degrees|points)\b))""",
    re.VERBOSE,
)
_TRACE = re.compile(r"[a-z] - [a-z]|[a-z] [,.](?: |$)|[$£€] \d|[a-z] ['’] ?[st]\b")
_TRACES = 2
_GAP = re.compile(" ")
