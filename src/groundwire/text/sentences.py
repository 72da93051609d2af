"""Where sentences end, in passages and in answers.

A text is cut in three steps, each finer than the one before: lines that stand on their own (``layout``),
stops that end a sentence, and, in a piece that is still too long, commas and spaces. What an answer claims
is no business of this module.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from groundwire.core.span import Span
from groundwire.text.layout import blocks

LONGEST = 400
"""No sentence is longer than this many characters: a longer one is cut at a semicolon, comma or space."""


def split(text: str) -> list[Span]:
    """The sentences of ``text``: ordered, disjoint, without whitespace at their ends, covering all the rest.

    A blank line always ends a sentence. A single line break does when the lines stand on their own: list
    items, table rows, headings, "key: value" lines, short lines; otherwise it is a soft wrap. A JSON record
    is cut at its commas; small objects in it stay whole. Scripts that do not write stops are cut by length.
    """
    spans: list[Span] = []
    for start, end in blocks(text, longest=LONGEST):
        block = text[start:end]
        at = 0
        for stop in (*_ends(block), len(block)):
            piece = block[at:stop]
            words = piece.strip()
            if words:
                first = start + at + len(piece) - len(piece.lstrip())
                spans.extend(Span(first + a, first + b) for a, b in _bounded(words))
            at = stop
    return spans


def _ends(block: str) -> Iterator[int]:
    """The places in ``block`` where one sentence has ended and the next begins."""
    if block.startswith("|") and block.rstrip().endswith("|"):
        return  # the cells of a row are read together
    start = len(block) - len(block.lstrip())
    for match in _STOP.finditer(block):
        if match.start() < start:
            continue
        if block[match.start()] in _BULLETS:
            start = match.start()
            yield start
            continue
        following = _FOLLOWING.match(block, match.end())
        assert following is not None, "the pattern matches the empty string"
        if _is_end(block, start, match, following):
            start = following.end("gap")
            yield start


def _is_end(block: str, start: int, match: re.Match[str], following: re.Match[str]) -> bool:
    """Whether the stop at ``match`` ends the sentence that began at ``start``."""
    stop = match.start()
    stops, closers = block[stop : match.start(1)], match[1]
    if stop - start <= 3 and not any(c.isalnum() for c in block[start:stop]):
        return False
    if not stops.isascii() and any(c in _ALWAYS for c in stops):
        quoted = closers != "" and block.startswith(_QUOTATIVES, match.end())
        decimal = stops == "．" and block[stop - 1].isdecimal() and following["word"][:1].isdecimal()
        return not quoted and not decimal
    if not following["gap"]:
        return _glued(block, stop, stops, closers, following)
    if _goes_on(block, start, following):
        return False
    numbered = stop - start <= 8 and _ORDINAL.fullmatch(block, start, stop)
    return stops != "." or not (numbered or _abbreviated(block[max(start, stop - 24) : stop], following))


def _goes_on(block: str, start: int, following: re.Match[str]) -> bool:
    """Whether what follows a stop and a space reads as the rest of the same sentence."""
    word = following["word"]
    if not word and not following["opener"]:
        return block[following.end() : following.end() + 1] in _CONTINUES
    # Whoever begins sentences in lower case is taken at their word; "iPhone" begins one anywhere.
    return word[:1].islower() and not word[1:2].isupper() and not block[start : start + 40].islower()


def _glued(block: str, stop: int, stops: str, closers: str, following: re.Match[str]) -> bool:
    """Whether a stop without a space after it ends a sentence: "done.Next it", but not "asp.net"."""
    word, after = following["word"], block[following.end("word") : following.end("word") + 1]
    if not (word[:1].isupper() and (word[1:].islower() or (len(word) == 1 and after == " "))):
        return False
    if closers:
        return closers[0] in " [" and closers[-1] == "]"
    before = block[max(0, stop - 3) : stop]
    whole = len(before) == 3 and before.isalpha() and before.islower()
    return after in (" ", ",", "'", "’") and (whole or before[-2:].isdecimal() or stops[-1] in "!?")


def _abbreviated(head: str, following: re.Match[str]) -> bool:
    """Whether the full stop after ``head`` only shortens its last word."""
    if not head or head[-1].isspace():
        return False
    token = head.rsplit(maxsplit=1)[-1].lstrip("([{\"'“‘«*_")
    key, word = token.casefold(), following["word"]
    state = len(token) == 2 and token.isupper()  # "CA." and "MS." end an address as well
    if _listed(token, _NEVER_LAST) and not state:
        return True
    single = len(token) == 1 and token.isupper()
    if _listed(token, _BEFORE_NUMBER) and not single:
        return word[:1].isdecimal() or (len(word) == 1 and word.isupper()) or bool(_ROMAN.fullmatch(word))
    if key in _CLOCK:
        return word in _AFTER_CLOCK or following["opener"] == "("
    if key.isdecimal() and len(key) <= 2:
        return word.casefold() in _GERMAN_MONTHS or head[: -len(token)].rstrip().endswith(":")
    initials = single or _INITIALS.fullmatch(token) is not None
    seldom = initials or _listed(token, _SOMETIMES_LAST)
    return seldom and (word not in _OPENING_WORDS or following["dot"] == ".")


def _listed(token: str, abbreviations: frozenset[str]) -> bool:
    return token in abbreviations or token.casefold() in abbreviations


def _bounded(piece: str) -> Iterator[tuple[int, int]]:
    """Cut a stripped piece into nearly equal parts, none too long, each at the best separator."""
    sample = piece[:LONGEST]
    unstopped = len(sample) > _LONGEST_UNSTOPPED and len(_UNSTOPPED.findall(sample)) * 2 > len(sample)
    at, longest = 0, _LONGEST_UNSTOPPED if unstopped else LONGEST
    while (rest := len(piece) - at) > longest:
        share = rest / math.ceil(rest / longest)
        cut = _separator(piece, at + int(share * 0.6), at + min(longest, int(share * 1.3)))
        yield at, at + len(piece[at:cut].rstrip())
        at = cut
        while piece[at].isspace():
            at += 1
    yield at, len(piece)


def _separator(piece: str, low: int, high: int) -> int:
    for mark in _SEPARATORS:
        found = piece.rfind(mark, low, high)
        if found >= 0:
            return found + len(mark)
    return high


_ALWAYS = "。！？｡．؟۔।॥։።፧፨។៕။‽⁇⁈⁉‼"  # these end a sentence with no space after them
_BULLETS = "•‣◦▪●■"
_CLOSERS = re.escape("\"'”’»)]}>*_`~」』）】》〉\u200b")
# The first character stands alone so that the search can skip to it.
# What points to a source after a stop, "[1]" or "(Passage 2)", belongs to the sentence before it.
_STOP = re.compile(
    rf"[.!?…{_ALWAYS}{_BULLETS}][.!?…{_ALWAYS}]*+(?>(?: \.(?!\w))*)"
    rf"([{_CLOSERS}]*+(?>(?: ?\[\^?\d{{1,3}}\]| \([^().!?\n]{{1,40}}+\)(?!\S)"
    r"|[⁰¹²³⁴-⁹]|<sup>[\d,; ]{1,12}</sup>|【[^】\n]{1,60}】)*))"
)
_FOLLOWING = re.compile(
    r"(?P<gap>(?>(?:\s|\\[nrt])*))(?P<opener>[\"'“‘«(\[{¿¡*_`「『（【《\u200b]*+)(?P<word>\w{0,20}+)(?P<dot>\.?)"
)
_CONTINUES = tuple(",;:)]}%/&=+—–")
_QUOTATIVES = ("と", "って")  # what a Japanese quotation goes on with
_ORDINAL = re.compile(r"[(\[*_#\s]*+(?:\d{1,3}|[^\W\d_]|[ivxIVX]{1,4})")
_ROMAN = re.compile(r"[IVXLC]{1,7}")
_INITIALS = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")

_UNSTOPPED = re.compile("[\u0e00-\u0eff]")  # Thai and Lao, which put a space between sentences and no stop
_LONGEST_UNSTOPPED = 120
_SEPARATORS = ("; ", "；", ", ", "，", "、", "،", " ", "\t", "\n", ",", ";", "|")

# Abbreviations, without the last dot: in any case, or as written where the word also has another meaning.
# The lists are split from one string, since hundreds of quoted words would not be readable (SIM905).
_NEVER_LAST = frozenset(
    """
    mr mrs ms mx messrs dr prof Gen Sen Rep Gov Capt Cpt Lt Col Sgt Maj Cmdr Adm Rev Hon Pres Supt e.g eg
    i.e ie vs v cf viz al approx ca incl excl resp Mme Mlle Mgr Sra Srta Dra Srs núm nº aprox Sig Dott Hr
    Fr Frl nr z.b d.h u.a bzw vgl inkl exkl zzgl evtl ggf sog bijv d.w.z p.ex p.ej т.е г ул им см тыс млн
    млрд руб
    """.split()  # noqa: SIM905
)
_BEFORE_NUMBER = frozenset(
    """
    no nos num pop fig figs eq eqs sec sect ch chap vol vols pp p pg Art Arts para paras par ref refs cl ver
    Abs kap bd s n pág pag стр рис табл п гл
    """.split()  # noqa: SIM905
)
_SELDOM_LAST = frozenset(
    """
    jr sr snr inc ltd co corp llc bros dept dist univ assn est ed eds trans st ave blvd rd ln hwy rte ste
    apt bldg mt ft ph.d min max avg temp tel ext Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue
    Tues Wed Thu Thur Thurs Fri Sat Sun Calif Conn Mass Mich Minn Penn Tenn Wis Wash Ariz Colo Okla lbs oz
    str av env éd mio mrd usw ecc
    """.split()  # noqa: SIM905
)
_SOMETIMES_LAST = _SELDOM_LAST | _NEVER_LAST  # the second for those two letters that are also a state
_CLOCK = frozenset({"a.m", "p.m", "am", "pm"})
_AFTER_CLOCK = frozenset(
    """
    AM PM ET EST EDT CT CST CDT MT MST MDT PT PST PDT GMT UTC BST CET CEST IST JST Eastern Central
    Mountain Pacific Greenwich Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mon Tue Wed Thu
    Fri Sat Sun
    """.split()  # noqa: SIM905
)
_OPENING_WORDS = frozenset(
    """
    The A An This That These Those It He She We They I You His Her Their Its Our My Your There Here In On
    At If When While As For From To But And Or So However Although Though Since After Before During
    Because By With Within Without Not No What Who Why How Where Which Then Thus Also Next Please Some All
    Any Each Every Both Many Most Other Another Such Until Under According Additionally Overall Meanwhile
    Finally First Second Do Does Did Is Are Was Were Once Only Later Now Today Yes Instead Moreover
    Furthermore Despite
    """.split()  # noqa: SIM905
)
_GERMAN_MONTHS = frozenset(
    """
    januar jänner februar märz april mai juni juli august september oktober november dezember
    """.split()  # noqa: SIM905
)
