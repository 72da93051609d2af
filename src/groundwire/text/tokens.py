"""Words with their places, and the forms under which two words are the same.

What a word is, in any script, is decided here and nowhere else. What words mean (numbers, dates, units,
names) belongs to ``facts``; where sentences end belongs to ``sentences``.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from groundwire.core.span import Span


class Word(NamedTuple):
    """A word and its place: ``text`` is the characters ``start`` up to, not including, ``end``."""

    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


def words(text: str) -> list[Word]:
    """The words of ``text``, ordered by where they start.

    * A number is one word with its separators and decimals ("1,200.50", "14:30"), without sign, currency
      or unit: "5kg" is "5" and "kg", "24-hour" is "24" and "hour", and an ISO date is three words.
    * A word keeps the hyphens, apostrophes and ampersands inside it ("well-known", "don't", "AT&T"), the
      digits after its first letter ("A320", "COVID-19", "v1.2.3") and the dots between single letters
      ("U.S"). Combining marks stay with their letter.
    * An ending that a tokeniser took off its word is part of it still: "did n't", "Ann 's", "don ' t".
    * Scripts written without spaces (Han, Kana, Thai, Lao, Khmer, Myanmar), and Hangul, whose particles
      stick to the noun, give overlapping pairs of characters: "東京都" is "東京" and "京都". A single
      character between others is a word. Only these words overlap.
    * Punctuation, symbols, underscores and emoji are no words, nor is the "n" of a line break written as
      two characters, backslash and n, as it stands in JSON.
    """
    if "\\" in text:
        text = _ESCAPE.sub("  ", text)
    # A Word is built as the tuple that it is: its constructor would take half of the time.
    spaced = _spaced(text)
    if spaced is not None:
        return [_new(Word, (m.group(), m.start(), m.end())) for m in spaced.finditer(text)]
    word, cluster = _patterns()
    found: list[Word] = []
    for match in word.finditer(text):
        if match.lastgroup is None:
            found.append(_new(Word, (match.group(), match.start(), match.end())))
        else:
            found.extend(_pairs(text, cluster.finditer(text, *match.span())))
    return found


def texts(text: str) -> list[str]:
    """The words of ``text`` without their places, which are most of the work."""
    spaced = _spaced(text) if "\\" not in text else None
    return [word.text for word in words(text)] if spaced is None else spaced.findall(text)


def fold(word: str) -> str:
    """The form under which spellings of one word are equal: NFKC, no case, no possessive ending.

    "Passenger’s" is "passenger", "did n't" is "didn't", "U.S" and "US" are "usa", full-width digits are plain
    ones. Accents stay.
    """
    if word in _UNITED_STATES:
        return "usa"  # in small letters, "us" is somebody
    if word.isascii():
        folded = word.lower()
    else:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
        folded = folded.translate(_PLAIN)
    if " " in folded:
        folded = folded.replace(" ", "")
    if "'" in folded:
        folded = _POSSESSIVE.sub("", folded) or folded
    if "." in folded and _INITIALS.fullmatch(folded):
        folded = folded.replace(".", "")
    return folded


def stem(word: str) -> str:
    """The stem of a folded word by the English Snowball stemmer: "refunded" and "refunds" are "refund".

    Latin letters lose their accents: "Pokémon" is "pokemon" in an answer as often as not.
    Words of other scripts, words with digits, and words too long to be English are returned as they are.
    """
    if len(word) <= 2 or len(word) > _LONGEST_STEMMED or not _STEMMED.fullmatch(word):
        return word
    return _stem(word if word.isascii() else _unaccented(word))


def _unaccented(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c) != "Mn")


# Function words, folded: they are in every text, and so tell nothing about support. Not here, on purpose:
# negations (no, not, never, none, nor, nothing, neither, nobody, cannot, without, every n't), modals that
# carry a rule (must, may, might, can, could, should, shall), quantifiers (all, any, every, each, some,
# only, both, few, more, most, less), place and time (before, after, above, below, over, under, until,
# since, within, between, during, up, down, out, off), and "us", which is also a country.
STOP_WORDS: frozenset[str] = frozenset(
    """
    a an the this that these those
    i me my mine myself we our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves oneself
    who whom whose which what where when why how
    i'm i've i'd i'll you're you've you'd you'll he'd he'll she'd she'll it'd it'll
    we're we've we'd we'll they're they've they'd they'll that'd that'll there'd there'll
    am is are was were be been being do does did doing done have has had having will would
    of in to for on at by with from into onto upon about as than among amongst toward towards via per
    and or but if so because while though although whether however therefore thus also too
    there here then just very really quite rather such own same other another
    again ever even still yet already else etc ie eg get gets got getting let lets please
    s t d ll m re ve
    """.split()  # noqa: SIM905 - a hundred and fifty quoted words would not be readable
)


def _pairs(text: str, clusters: Iterable[re.Match[str]]) -> list[Word]:
    places = [match.span() for match in clusters]
    if len(places) == 1:
        places *= 2
    return [Word(text[a:b], a, b) for (a, _), (_, b) in pairwise(places)]


def _word_pattern(letter: str, inside: str, joint: str) -> str:
    initials = rf"(?>(?:\.{letter})+)(?!{inside})"
    rest = rf"{inside}*+(?>(?:(?<=\d)\.\d++|{joint}{inside}++)*)"
    detached = rf"(?: (?:n['’]t|['’] ?(?:[dmst]|ll|re|ve))(?!{inside}|['’]))?"
    # Digits with letters between them, as in "3f2a9b", name something and measure nothing.
    return rf"{letter}(?:{initials}|{rest}){detached}|{_NUMBER}(?!{letter}++\d)|\d{inside}++"


def _spaced(text: str) -> re.Pattern[str] | None:
    """The pattern of a word of ``text``; None where words of it may be written without spaces."""
    if text.isascii():
        return _ASCII_WORD
    return None if _ANY_UNSPACED.search(text) else _spaced_word()


@cache
def _spaced_word() -> re.Pattern[str]:
    """A word in any script that has spaces. Built at the first text that is not ASCII."""
    inside = rf"(?:[^\W_{_UNSPACED}]|[{_marks()}])"
    return re.compile(_word_pattern(rf"[^\W\d_{_UNSPACED}]", inside, "['’&‐‑-]"))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A word, and a character with its marks, in any script. Built at the first text that needs them."""
    marks = _marks()
    unspaced = rf"(?P<unspaced>[{_UNSPACED}][{_UNSPACED}{marks}]*+)"
    word = re.compile(f"{unspaced}|{_spaced_word().pattern}")
    return word, re.compile(f"[^{marks}][{marks}]*+|[{marks}]++")


def _marks() -> str:
    r"""Return the combining marks, as ranges: ``re`` knows no ``\p{M}``, and ``\w`` leaves marks out."""
    marks = [c for block in _MARK_BLOCKS for c in block if unicodedata.category(chr(c))[0] == "M"]
    starts = [c for before, c in pairwise([-1, *marks]) if c != before + 1]
    ends = [c for c, after in pairwise([*marks, -1]) if after != c + 1]
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(starts, ends, strict=True))


_new = tuple.__new__
_ESCAPE = re.compile(r"\\[nrt]")

# A comma groups thousands (or lakhs) or is a decimal comma; otherwise it separates two numbers.
_NUMBER = (
    r"(?:\d{1,3}(?:,\d{2,3}){0,9},\d{3}(?!\d)|\d{1,3}(?>(?:['’]\d{3})+)(?!\d)|\d++(?:,\d{1,2}(?![\d,]))?)"
    r"(?>(?:[.:]\d++)*)(?:,\d{1,2}(?![\d,]))?"
)
_ASCII_WORD = re.compile(_word_pattern("[A-Za-z]", "[A-Za-z0-9]", "['&-]"))

_UNSPACED = (
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f\u3105-\u312f"  # Kana, Bopomofo
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"  # Hangul
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf"  # Thai, Lao
    "\u1780-\u17d3\u17d7\u17dc\u17dd\u1000-\u103f\u1050-\u108f\u109a-\u109d\uaa60-\uaa7f"  # Khmer, Myanmar
)
_ANY_UNSPACED = re.compile(f"[{_UNSPACED}]")
_MARK_BLOCKS = (range(0x300, 0x3100), range(0xA66F, 0xABF0), range(0xFB1E, 0xFE30), range(0x11000, 0x11A00))

_PLAIN = str.maketrans({"’": "'", "ʼ": "'", "‘": "'", "‐": "-", "‑": "-", "\u00ad": None, "\u200d": None})
_UNITED_STATES = frozenset(["US", "U.S", "USA", "U.S.A"])
_POSSESSIVE = re.compile(r"(?<!')(?<!'s)(?>(?:'s?)+)$")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")

_LONGEST_STEMMED = 40
_STEMMED = re.compile(r"[a-z\u00df-\u024f'-]++")


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    stemmer = getattr(_OF_THREAD, "stemmer", None)
    if stemmer is None:
        stemmer = _OF_THREAD.stemmer = _stemmer()
    stemmed: str = stemmer(word)
    return stemmed


# A stemmer keeps the word it works on: two threads with one would hand each other halves of words.
_OF_THREAD = threading.local()


def _stemmer() -> Callable[[str], str]:
    # By its module: the package's own front door takes a C stemmer of another version where one is installed,
    # and the same words would then have other stems on other machines.
    from snowballstemmer.english_stemmer import EnglishStemmer  # noqa: PLC0415

    stemmer: Callable[[str], str] = EnglishStemmer().stemWord
    return stemmer
