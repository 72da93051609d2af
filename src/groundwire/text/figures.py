"""Finding figures: where digits or number words stand, and every number that they may mean.

"1.200" is twelve hundred in Rome and one and a fifth in London: both readings are kept. What a figure
counts or measures is read by ``numerals``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from groundwire.text import clock, rows, spoken
from groundwire.text.units import MONTHS, NUMBER_WORDS, ORDINALS, SCALES, SIMPLE, TENS


class Shape(StrEnum):
    """How a figure is written.

    VAGUE ones ("one", "half") are numbers only beside a unit. TIMES have none: "twice a day" is not two days.
    """

    PLAIN = "plain"
    GROUPED = "grouped"
    FRACTION = "fraction"
    CLOCK = "clock"
    ISO = "iso"
    ISO_MONTH = "iso month"
    SLASHED = "slashed"
    CODE = "code"
    PHONE = "phone"
    SPOKEN = "spoken"
    VAGUE = "vague"
    ARTICLE = "article"
    SPOKEN_CLOCK = "spoken clock"
    TIMES = "times"
    ORDINAL = "ordinal"
    QUARTER = "quarter"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure before anybody looked around it; ``spoken`` when it is written in words."""

    start: int
    end: int
    values: tuple[float, ...]
    shape: Shape
    spoken: bool = False


def find(lowered: str) -> list[Figure]:
    """The figures of a lower-case text, by where they start; they may overlap, the longer first."""
    found = [*_numerals(lowered), *_number_words(lowered), *_fractions(lowered), *_articles(lowered)]
    found += [*_ordinals(lowered), *_quarters(lowered)]
    found += [
        Figure(start, end, (value,), Shape.SPOKEN, spoken=True) for start, end, value in spoken.find(lowered)
    ]
    found += [
        Figure(start, end, values, Shape.SPOKEN_CLOCK, spoken=True)
        for start, end, values in clock.find(lowered)
    ]
    return sorted(found, key=lambda figure: (figure.start, -figure.end))


# A longer run of digits is an account or a hash: nobody counts so far.
_LONGEST_NUMBER = 24
_FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 0.125, "⅜": 0.375, "⅝": 0.625}
_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 8, 10, 16})
_DIGIT = re.compile(r"[\d½¼¾⅓⅔⅛⅜⅝]")
_NUMERAL = re.compile(
    r"""
      (?P<phone>(?:\d{3}\)?[-.\ ]\d{3}[-.]\d{4}
        | (?=(?:\)?[\ /-]?\d){9})0\d{2,4}\)?(?:[\ /-]\d{2,8}){1,4}
        | 0\d(?:[\ .]\d\d){4}
        | (?<=\+)(?=(?:[\ /()-]{0,3}\d){9})\d{1,3}
          (?:\ ?\(\d{1,5}\)[\ /-]?\d{1,8}|[\ /-]\d{1,8}){1,6})(?!\d))
    | (?P<iso>\d{4}-\d{1,2}-\d{1,2}(?!\d))
    | (?P<month>(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?![\d-]|[.,/]\d|\ ?%))
    | (?P<slashed>\d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d{2})(?!\d))
    | (?P<dotted>(?![1-9]\d{0,2}(?:\.\d{3}){2}(?!\.?\d))\d++(?:\.\d++){2,})
    | (?P<clock>\d{1,2}(?::(?:\d{2}(?::\d{2})?|0)|h\d{2}|\ h\ [0-5]\d(?!\ ?(?:m|times)))(?!\d))
    | (?P<lakhs>\d{1,2}(?:,\d{2}){1,6},\d{3}(?!\d)(?:\.\d++)?)
    | (?P<grouped>\d{1,3}(?P<sep>[,.'’\u00a0\u202f\u2009\ ])\d{3}(?>(?:(?P=sep)\d{3})*)
        (?:(?![\d-])|(?<=[,.]\d{3})(?!\d))(?:[.,]\d++)?)
    | (?P<plain>\d++(?:[.,]\d++)?)
    | (?P<vulgar>[½¼¾⅓⅔⅛⅜⅝])
    """,
    re.VERBOSE,
)
_SHAPES = {
    "phone": Shape.PHONE,
    "iso": Shape.ISO,
    "month": Shape.ISO_MONTH,
    "slashed": Shape.SLASHED,
    "dotted": Shape.CODE,
    "clock": Shape.CLOCK,
}
_FRACTION_AFTER = re.compile(
    r"(?:(?:[ -]| and )(?P<over>\d)[/⁄](?P<under>\d\d?)|[/⁄](?P<alone>\d\d?)|[ ]?(?P<vulgar>[½¼¾⅓⅔⅛⅜⅝]))"
    r"(?![\d/⁄])"
)
_SLASHES = re.compile(r"\d++(?:/\d[\d.]*+)+")
_SEASON = re.compile(r"(?:19|20)(\d\d)/(\d\d)")
_DIVIDED = re.compile(r"\d++/(?P<under>[1-9]\d*+) ?=")
# "401(k)", a pension plan, is a name made of a number.
_NAMED = re.compile(r"401\(?k\\?\)?")


def _numerals(lowered: str) -> Iterator[Figure]:
    # Searching for a digit and matching there is five times faster than letting the long pattern search.
    at = 0
    while (digit := _DIGIT.search(lowered, at)) is not None:
        match = _NUMERAL.match(lowered, digit.start())
        if match is None:  # a digit that no decimal number starts with
            at = digit.end()
            continue
        named = _NAMED.match(lowered, match.start()) if match["plain"] == "401" else None
        if named is not None:
            at = named.end()
            continue
        figure = _numeral(lowered, match)
        if "," in match.group() and rows.parts_by_commas(lowered, figure.start):
            end = lowered.index(",", figure.start)
            figure = Figure(figure.start, end, _readings(lowered[figure.start : end]), Shape.PLAIN)
        yield figure
        at = max(figure.end, match.start() + 1)


def _numeral(lowered: str, match: re.Match[str]) -> Figure:  # noqa: PLR0911 - a return for each shape
    start, end = match.span()
    name = "grouped" if match["grouped"] or match["lakhs"] else match.lastgroup or "plain"
    digits = match.group()
    if end - start > _LONGEST_NUMBER:
        return Figure(start, end, (), Shape.CODE)
    if name in _SHAPES:
        return Figure(start, end, (), _SHAPES[name])
    if name == "vulgar":
        return Figure(start, end, (_FRACTIONS[digits],), Shape.FRACTION)
    if digits.isdigit():
        whole = int(digits)
        if (
            lowered[start - 1 : start] == "."
            and not lowered[max(0, start - 2) : start - 1].isalnum()
            and start
        ):
            return Figure(start, end, (float("." + digits),), Shape.PLAIN)
        following = lowered[end : end + 1]
        if following not in _JOINS_A_FRACTION:
            return Figure(start, end, (float(whole),), Shape(name))
        after = _FRACTION_AFTER.match(lowered, end)
        value = _fraction(whole, after) if after is not None else None
        if after is not None and value is not None:
            return Figure(start, after.end(), (value,), Shape.FRACTION)
        divided = _DIVIDED.match(lowered, start) if following == "/" else None
        if divided is not None:
            return Figure(start, divided.end("under"), (whole / int(divided["under"]),), Shape.FRACTION)
        slashes = _SLASHES.match(lowered, start) if following == "/" else None
        if slashes is not None and not _is_season(slashes.group()):
            return Figure(start, slashes.end(), (), Shape.CODE)
    return Figure(start, end, _readings(digits), Shape(name))


def _is_season(slashes: str) -> bool:
    """Whether it is a year and the next: "2024/25"."""
    season = _SEASON.fullmatch(slashes)
    return season is not None and (int(season[1]) + 1) % 100 == int(season[2])


def _readings(digits: str) -> tuple[float, ...]:
    """Every number that the digits may mean."""
    compact = _GAPS.sub("", digits)
    marks = [c for c in compact if c in ".,"]
    if not marks:
        return (float(compact),)
    decimal = marks[-1]
    other = "," if decimal == "." else "."
    if len(marks) > 1 and len(set(marks)) == 1:
        return (float(compact.replace(decimal, "")),)
    readings = [float(compact.replace(other, "").replace(decimal, "."))]
    whole, _, rest = compact.rpartition(decimal)
    if len(marks) == 1 and len(rest) == 3 and 1 <= len(whole) <= 3 and whole != "0":
        readings.insert(0, float(whole + rest))
    return tuple(readings)


_JOINS_A_FRACTION = frozenset(" -/⁄½¼¾⅓⅔⅛⅜⅝")
_GAPS = re.compile(r"['’\u00a0\u202f\u2009 ]")


def _fraction(whole: int, after: re.Match[str]) -> float | None:
    if after["vulgar"]:
        return whole + _FRACTIONS[after["vulgar"]]
    if after["alone"]:
        under = int(after["alone"])
        return whole / under if under in _DENOMINATORS and whole < under else None
    over, under = int(after["over"]), int(after["under"])
    return whole + over / under if under in _DENOMINATORS and over < under else None


_NUMBER_WORD = re.compile(
    r"\b(?=[zotfsenhdmbq][ewnhriluaioe])(?:" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + r")\b"
)
_FRACTION_WORDS = re.compile(
    r"\b(?P<over>one|two|three|four|five|seven|a)[ -]"
    r"(?P<under>third|quarter|fifth|sixth|eighth|tenth)(?P<s>s?)\b"
)
_UNDER = {"third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_COUNTED_BY_ARTICLE = ("minute", "hour", "day", "week", "month", "year")
_ARTICLE = re.compile(rf"\b(an?) (?:{'|'.join(_COUNTED_BY_ARTICLE)})\b")
_ONLY_SCALES = frozenset({"hundred", "thousand", "million", "billion", "trillion"})


def _fractions(lowered: str) -> Iterator[Figure]:
    """Fractions in words: "two thirds", "three quarters of an hour", "a fifth of"."""
    if not any(under in lowered for under in _UNDER):  # as in most texts
        return
    for match in _FRACTION_WORDS.finditer(lowered):
        over = 1.0 if match["over"] == "a" else SIMPLE[match["over"]]
        of = lowered.startswith(" of", match.end())
        # "A third man" has no part in it, and "the last two quarters" are half a year.
        if (over > 1) is not bool(match["s"]) or not (of or (over > 1 and match["under"] != "quarter")):
            continue
        if over == 1 and match["under"] == "quarter":
            continue  # read with the number words, as half is
        shape = Shape.VAGUE if over == 1 else Shape.SPOKEN
        yield Figure(*match.span(), (over / _UNDER[match["under"]],), shape, spoken=True)


_ORDINAL_WORDS = re.compile(
    rf"\b(?=[{''.join(sorted({word[0] for word in (*TENS, *ORDINALS)}))}])"
    rf"(?:(?P<tens>{'|'.join(TENS)})-(?P<ones>{'|'.join(list(ORDINALS)[:9])})"
    rf"|(?P<day>{'|'.join(ORDINALS)})"
    rf"(?=[ -]century\b| of (?:{'|'.join(MONTHS)}|(?:each|every|the|a) month)\b))\b"
)


def _ordinals(lowered: str) -> Iterator[Figure]:
    """Ordinals in words that are surely a number: "twenty-first", "the fifth of May", "the third century"."""
    for match in _ORDINAL_WORDS.finditer(lowered):
        value = TENS[match["tens"]] + ORDINALS[match["ones"]] if match["tens"] else ORDINALS[match["day"]]
        yield Figure(*match.span(), (value,), Shape.ORDINAL, spoken=True)


_QUARTER = re.compile(
    r"\b(?:(?P<word>first|second|third|fourth)[ -]|(?P<digit>[1-4])(?:(?:st|nd|rd|th)[ -]|\.[ ]))"
    r"quart(?:er(?! of an?\b|[ -](?:hour|mile|pound|inch))|al)\b"
)


def _quarters(lowered: str) -> Iterator[Figure]:
    """The quarters of a year: "third quarter", "3rd quarter", "3. Quartal"."""
    if "quart" in lowered:
        for match in _QUARTER.finditer(lowered):
            number = ORDINALS[match["word"]] if match["word"] else float(match["digit"])
            yield Figure(*match.span(), (number,), Shape.QUARTER)


def _articles(lowered: str) -> Iterator[Figure]:
    if any(unit in lowered for unit in _COUNTED_BY_ARTICLE):
        for match in _ARTICLE.finditer(lowered):
            yield Figure(match.start(), match.end(1), (1.0,), Shape.ARTICLE, spoken=True)


def _number_words(lowered: str) -> Iterator[Figure]:
    run: list[re.Match[str]] = []
    for match in _NUMBER_WORD.finditer(lowered):
        if run and not _continues(run[-1].group(), lowered[run[-1].end() : match.start()], match.group()):
            yield from _spoken(lowered, run)
            run = []
        run.append(match)
    if run:
        yield from _spoken(lowered, run)


def _continues(left: str, gap: str, right: str) -> bool:
    """Whether two number words are one number: "twenty-four", "two and a half", not "three and five"."""
    if right in ("half", "quarter"):
        return gap in (" and a ", " and one ", "-and-a-") and left != "half"
    if right in SCALES:
        spoken = left in SIMPLE or left in TENS or left in SCALES
        return (gap in (" ", "-") and spoken) or (left == "half" and gap in (" a ", " of a "))
    if left in TENS and right in SIMPLE:
        return gap in (" ", "-") and 1 <= SIMPLE[right] <= 9
    if left in SCALES and left != "dozen" and (right in SIMPLE or right in TENS):
        return gap in (" and ", " ")
    return False


def _spoken(lowered: str, run: Sequence[re.Match[str]]) -> Iterator[Figure]:
    words = [match.group() for match in run]
    start, end = run[0].start(), run[-1].end()
    if words[0] in ("noon", "midnight"):
        yield Figure(start, end, (NUMBER_WORDS[words[0]],), Shape.SPOKEN_CLOCK, spoken=True)
        return
    if words[0] in _ONLY_SCALES and not lowered[max(0, start - 4) : start].endswith((" a ", "one ")):
        return  # "1.2 million" belongs to its digits; "several million" is no figure
    if words[0] in ("twice", "thrice"):
        if _AS_MUCH.match(lowered, end) is None:
            yield Figure(start, end, (NUMBER_WORDS[words[0]],), Shape.TIMES, spoken=True)
        return
    vague = len(words) == 1 and words[0] in ("one", "half", "quarter", "zero")
    yield Figure(start, end, (_value(words),), Shape.VAGUE if vague else Shape.SPOKEN, spoken=True)


# "Twice as fast" and "twice the price" count nothing.
_AS_MUCH = re.compile(r" (?:as|the|that|this|its|their|his|her|what|more)\b")


def _value(words: Sequence[str]) -> float:
    total, current = 0.0, 0.0
    for word in words:
        value = NUMBER_WORDS[word]
        if word in SCALES:
            current = (current or 1.0) * value
            if value >= 1e3:
                total, current = total + current, 0.0
        else:
            current += value
    return total + current
