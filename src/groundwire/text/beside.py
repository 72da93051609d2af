"""What stands beside a figure and says what it counts: its unit, its currency, its magnitude.

The tables of these words are in ``units``; the unit in a setting's name is read by ``keyed``.
"""

from __future__ import annotations

import re

from groundwire.text.cased import Cased
from groundwire.text.units import BETWEEN, BINARY, MAGNITUDES, MONEY_CODES, TOUCHING, TWO_WORDS, UNITS, Unit


def unit(cased: Cased, end: int) -> tuple[Unit, int] | None:  # noqa: PLR0911 - a return for each way to write it
    """The unit right after a figure, and where it ends."""
    match = _UNIT_AFTER.match(cased.lowered, end)
    if match is None:
        return None
    word, following = match["word"], match["next"]
    if match["part"] and not _is_part(cased, end):
        return None  # "9.50 a month" are no months
    if word in _SIGNS and cased.lowered[match.end("word") :][:1].isdigit():
        return None  # "3 $5" numbers a row
    if following and f"{word} {following}" in TWO_WORDS:
        return TWO_WORDS[f"{word} {following}"], match.end()
    if _begins_a_name(cased, match):
        return None
    if word in BETWEEN and following in UNITS and following not in TOUCHING:
        return UNITS[following], match.end()
    word = word.replace(" ", "").replace("º", "°")
    if word in ("f", "c") and cased.text[match.start("word")].isupper():
        return UNITS["°" + word], match.end("word")
    if word in TOUCHING and match["gap"] and len(word) > 1:
        return None  # "1 in 5", "2 an hour"
    names = BINARY if not match["gap"] and cased.text[end].isupper() and word in BINARY else UNITS
    return (names[word], match.end("word")) if word in names else None


def currency(cased: Cased, start: int) -> tuple[Unit, int] | None:
    """The currency right before a figure, and where it begins."""
    head = cased.head(start, 5)
    if not head or not (head[-1] in _CURRENCY_ENDS or head[-1].isspace()):
        return None
    found = _CURRENCY_BEFORE.search(head)
    if found is None:
        return None
    name, begin = found.group().strip(), start - len(found.group())
    if name in MONEY_CODES and not cased.text[begin:start].strip().isupper():
        return None  # "rub 2 tablespoons in" pays nobody
    return UNITS[name], begin


def magnitude(cased: Cased, end: int, *, money: bool) -> tuple[float, int] | None:
    """The magnitude right after a figure, as in "1.2 million" and "5k", and where it ends."""
    match = _MAGNITUDE.match(cased.lowered, end)
    if match is None or match["word"] not in MAGNITUDES or _begins_a_name(cased, match):
        return None
    capital = cased.text[match.start("word")] == "M"
    if len(match["word"]) == 1 and (match["gap"] or not (match["word"] == "k" or money or capital)):
        return None
    return MAGNITUDES[match["word"]], match.end()


def is_multiplied(cased: Cased, end: int) -> bool:
    """Whether a magnitude of more than a letter follows a figure: "2000 million"."""
    match = _MAGNITUDE.match(cased.lowered, end)
    return match is not None and match["word"] in MAGNITUDES and len(match["word"]) > 1


_UNIT_AFTER = re.compile(
    r"(?P<gap>[ \u00a0\u202f-]?)(?P<part>(?:of )?an? )?"
    r"(?P<word>km/h|us\$|[°º][ ]?[cf]\b|[%％$€£¥₹₩°℃℉円元]|"
    r"[a-z]+(?=[\u3040-\u9fff\uac00-\ud7af])|m[³3](?!\w)|[^\W\d_]+[²2]?)"
    r"(?:[ -](?P<next>[^\W\d_]+))?"
)
_PART = re.compile(r"(?:half|quarters?|thirds?|fifths?|sixths?|eighths?|tenths?|[½¼¾⅓⅔⅛⅜⅝]|\d[/⁄]\d\d?)\Z")
_CURRENCY_BEFORE = re.compile(
    r"(?:us\$|c\$|a\$|r\$|[$€£¥₹₩₽]|\b(?:" + "|".join(sorted(MONEY_CODES)) + r"))[ \u00a0]?\Z"
)
_SIGNS = frozenset("$€£¥₹₩₽")
_CURRENCY_ENDS = _SIGNS.union(code[-1] for code in MONEY_CODES)
_MAGNITUDE = re.compile(r"(?P<gap>[ \u00a0-]?)(?P<word>[^\W\d_]+)(?:(?<=mio)\.|(?<=mrd)\.|(?<=mld)\.)?")


def _begins_a_name(cased: Cased, match: re.Match[str]) -> bool:
    """Whether the one letter after a figure and a space has a number of its own: "1200 M8 bolts"."""
    end = match.end("word")
    return len(match["word"]) == 1 and match["gap"] != "" and cased.lowered[end : end + 1].isdigit()


def _is_part(cased: Cased, end: int) -> bool:
    """Whether what ends here is a part, as in "half an hour" and "three quarters of a mile"."""
    return _PART.search(cased.head(end, 12)) is not None
