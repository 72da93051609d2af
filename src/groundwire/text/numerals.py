"""Reading figures as facts: dates, times of day, amounts, measures, codes.

Where the digits stand is found by ``figures``; which neighbours are one fact is decided by ``ranges``;
comparing facts is ``facts``' task.
"""

from __future__ import annotations

import re
from dataclasses import replace

from groundwire.core.span import Span
from groundwire.text import clock, figures, keyed, ranges
from groundwire.text.fact import Fact, Kind
from groundwire.text.figures import Figure, Shape
from groundwire.text.units import (
    BETWEEN,
    BOUNDS,
    CLOCK,
    HEDGES,
    LABELS,
    MAGNITUDES,
    MONEY,
    MONEY_CODES,
    MONTHS,
    TOUCHING,
    TWO_WORDS,
    UNITS,
    Unit,
)


def read(text: str) -> list[Fact]:
    """Every exact fact of ``text``, ordered and disjoint."""
    return _Reader(text).facts()


_SIGNED = frozenset({"temperature", "degrees"})
_MINUS = "minus "
_BELOW = re.compile(r" below (?:zero|freezing)\b")
_TOKEN_TAIL = re.compile(r"[a-z0-9]+(?:[-/.][a-z0-9]+)*")
_TOKEN_HEAD = re.compile(r"[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9]))*-?\Z")
_MERIDIEM = re.compile(r"\s?([ap])(?:\.\s?m\.?|m\b)")
_AT = re.compile(r"\b(?:at|by|from|until|till|to|before|after|since|about|around) \Z")
_DOTTED = re.compile(r"\d\d?\.\d\d")
# "At 4.47 on Thursday morning" is a time; shares may have closed at 4.47 on Thursday.
_PART_OF_DAY = re.compile(
    r" (?:on |the )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|yesterday|today|tomorrow|this|that"
    r"|in the) (?P<part>morning|afternoon|evening)\b"
)
_DATED = re.compile(r"-\d\dt\Z")  # as in 2025-03-12T22:41
_FISCAL = re.compile(r"\bfy[ '’]?\Z")
_SOMETHING = re.compile(r"[^\W_]")
_NOON, _CENTURY = 12, 100
_O_CLOCK = re.compile(r"\s?(?:o['’]clock|uhr\b)")
_ORDINAL_MARK = re.compile(r"(?:st|nd|rd|th)\b")
_MONTH_AFTER = re.compile(
    r"(?:st|nd|rd|th|\.|º)?[ \u00a0-](?:of |de |d['’])?(?P<month>[^\W\d_]{3,10})\b\.?"
    r"(?:,?[ -](?:de |of )?(?P<year>\d{4})\b)?"
)
_MONTH_BEFORE = re.compile(r"(?<![^\W_])(?P<month>[^\W\d_]{3,10})\.?[ \u00a0](?:the |of |de )?\Z")
# The season of 2009-10; "2009 - 10 people" and "2009-11" are none.
_UNTIL_YEAR = re.compile(r"(?:-|–|/| -- )(?P<year>\d\d)(?![\w/-]|[.,:]\d| ?%)")
_ONE = re.compile(r" (?:cup|quarter|day|week|month)\b")
_YEAR_AFTER = re.compile(r"(?:st|nd|rd|th)?,?[ ](?P<year>\d{4})\b")
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
_FOLLOWING = re.compile(r"(?:st|nd|rd|th)?[.º]?[ \u00a0\u202f-]?(?:of |de |d['’])?([^\W\d_]+)")
_MAGNITUDE = re.compile(r"(?P<gap>[ \u00a0-]?)(?P<word>[^\W\d_]+)(?:(?<=mio)\.|(?<=mrd)\.|(?<=mld)\.)?")
_AND = re.compile(r",? (?:and |or |& )?|-|–")
# A year that a line begins with ("2019: it opened") numbers nothing.
_LONGEST_ENUMERATOR = 3
_ENUMERATOR = re.compile(r"(?:\A|\n)[ \t>*_#(\[-]*\Z")
_SIGNS = frozenset("$€£¥₹₩₽")
_CURRENCY_ENDS = _SIGNS.union(code[-1] for code in MONEY_CODES)
_KNOWN_TAILS = frozenset({"st", "nd", "rd", "th", "s", "x", "am", "pm", "a", "p", "o", "f", "c", "h"})
# Words between a bound and its figure: "at least the first 3".
_FILLERS = frozenset({"of", "the", "a", "an", "about"})
_UNNUMBERED = (Shape.CLOCK, Shape.ISO, Shape.ISO_MONTH, Shape.SLASHED, Shape.CODE, Shape.SPOKEN_CLOCK)
_NUMBERED = frozenset(Shape).difference((*_UNNUMBERED, Shape.QUARTER))


class _Reader:
    """One reading of one text. ``lowered`` has the same length, so that offsets hold in both."""

    def __init__(self, text: str) -> None:
        self.text = text
        lowered = text.lower()
        if len(lowered) != len(text):
            lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        self.lowered = lowered
        self.labelled = -1  # where the last "Passage 2" ended

    def facts(self) -> list[Fact]:
        facts: list[Fact] = []
        for figure in figures.find(self.lowered):
            end = facts[-1].span.end if facts else 0
            if figure.start >= end:
                fact = self._fact(figure)
                if fact is not None and fact.span.start >= end:
                    ranges.append(facts, fact, self.lowered)
        return facts

    def _head(self, at: int, width: int = 28) -> str:
        return self.lowered[max(0, at - width) : at]

    def _fact(self, figure: Figure) -> Fact | None:
        if not figure.spoken:
            code = self._code(figure)
            if code is not None:
                return code
            if self._is_label(figure.start, figure.end):
                self.labelled = figure.end
                return None
        if figure.shape in (Shape.ISO, Shape.ISO_MONTH, Shape.SLASHED):
            return self._numeric_date(figure)
        if figure.shape in (Shape.PLAIN, Shape.ORDINAL):
            date = self._date(figure)
            if date is not None:
                return date
        if figure.shape in (Shape.CLOCK, Shape.SPOKEN_CLOCK, Shape.PLAIN, Shape.SPOKEN):
            time = self._time(figure)
            if time is not None:
                return time
        return self._quantity(figure) if figure.shape in _NUMBERED else None

    def _fiscal(self, figure: Figure) -> Fact | None:
        """The year of "FY2024" and "FY24", perhaps with the next: "FY2024/25"."""
        head = _FISCAL.search(self._head(figure.start, 4))
        if head is None:
            return None
        digits = self.lowered[figure.start : figure.end]
        if not digits.isdigit() or len(digits) not in (2, 4):
            return None
        number = int(digits) if len(digits) == 4 else 2000 + int(digits)
        date = self._year(figure.start, figure.end, number)
        return date and replace(date, span=Span(figure.start - len(head.group()), date.span.end))

    # Codes and labels

    def _code(self, figure: Figure) -> Fact | None:
        """A figure stuck to letters that are no unit: a flight number, a model, a telephone number."""
        start, end = figure.start, figure.end
        if figure.shape is Shape.CODE:
            digits = "".join(c for c in self.text[start:end] if c.isdigit() or c in "./").rstrip(".")
            return Fact(kind=Kind.CODE, span=Span(start, end), source=self.text, code=digits)
        if figure.shape is Shape.QUARTER:  # as if it were written "Q3"
            code = f"q{figure.values[0]:g}"
            return Fact(kind=Kind.CODE, span=Span(start, end), source=self.text, code=code)
        before = self.lowered[start - 1] if start else " "
        if figure.shape is Shape.CLOCK and _DATED.search(self._head(start, 4)):
            return None
        if "a" <= before <= "z" or before == "-":
            head = _TOKEN_HEAD.search(self._head(start, 24))
            if head is not None and self._names_something(head.group(), start):
                start -= len(head.group())
                end = max(end, self._tail_end(figure.start))
                return Fact(
                    kind=Kind.CODE, span=Span(start, end), source=self.text, code=self.lowered[start:end]
                )
        if figure.shape is Shape.PLAIN and "a" <= self.lowered[end : end + 1] <= "z":
            tail = _TOKEN_TAIL.match(self.lowered, end)
            if tail is not None and not _is_known_tail(tail.group()):
                end = tail.end()
                return Fact(
                    kind=Kind.CODE, span=Span(start, end), source=self.text, code=self.lowered[start:end]
                )
        return None

    def _tail_end(self, at: int) -> int:
        tail = _TOKEN_TAIL.match(self.lowered, at)
        return tail.end() if tail else at

    def _names_something(self, head: str, end: int) -> bool:
        """Whether letters before a figure make one name with it: "SK123" and "COVID-19", not "mid-1990"."""
        if not any(c.isalpha() for c in head) or head in MONEY_CODES or head == "fy":
            return False
        return head[-1] != "-" or self.text[end - 2].isupper()

    def _is_label(self, start: int, end: int) -> bool:
        """An enumerator at the head of a line, a citation, or the name of a part of a document."""
        after = self.lowered[end : end + 2]
        if (
            end - start <= _LONGEST_ENUMERATOR
            and after[:1] in (".", ")", "]", ":")
            and not after[1:2].isdigit()
        ):
            head = self._head(start, 12)
            heads = _ENUMERATOR.search(head if start <= 12 or "\n" in head else "x") is not None
            if heads and _SOMETHING.search(self.text, end):  # "12." may be all that is answered
                return True
            if after[:1] == "]" and head.endswith("["):
                return True
        if len(after) == 2 and after[0] == " " and self._heads_an_item(start, end):
            return True
        if _last_word(self._head(start)) in LABELS:
            return True
        gap = self.lowered[self.labelled : start] if 0 <= start - self.labelled < 8 else "x"
        return self.labelled >= 0 and _AND.fullmatch(gap) is not None

    def _heads_an_item(self, start: int, end: int) -> bool:
        """Whether it is the number of "2  Place the roast": a list that lost its dots, or its line breaks."""
        if self.text[end + 1] == " ":
            return self.text[end + 2 : end + 3].isupper()
        capital = end - start <= 2 and self.text[end + 1 : end + 2].isupper() and self._unit(end) is None
        following = self._following(end)
        if capital and (following in MONTHS or following in MAGNITUDES):
            return False
        return capital and _ENUMERATOR.search(self._head(start, 12) if start > 0 else "\n") is not None

    # Dates and times

    def _numeric_date(self, figure: Figure) -> Fact | None:
        if figure.shape is Shape.ISO_MONTH:
            return self._month_of_year(figure)
        a, b, c = (int(part) for part in re.split(r"[-/.]", self.lowered[figure.start : figure.end]))
        if figure.shape is Shape.ISO:
            readings = [(a, b, c)]
        else:
            year = c if c >= 100 else 2000 + c if c < 70 else 1900 + c
            american = "/" in self.lowered[figure.start : figure.end] and a != b
            readings = [(year, b, a), (year, a, b)] if american else [(year, b, a)]
        dates = tuple((y, m, d) for y, m, d in readings if 1 <= m <= 12 and 1 <= d <= 31)
        return self._dated(figure.start, figure.end, dates) if dates else None

    def _month_of_year(self, figure: Figure) -> Fact:
        """A month as in "2026-08"; "2009-10" may be a season, too."""
        year, month = (int(part) for part in self.lowered[figure.start : figure.end].split("-"))
        season = [(year, 0, 0), (year + 1, 0, 0)] if (year + 1) % _CENTURY == month else []
        return self._dated(figure.start, figure.end, (*season, (year, month, 0)))

    def _dated(
        self, start: int, end: int, dates: tuple[tuple[int, int, int], ...], *, soft: bool = False
    ) -> Fact:
        return Fact(kind=Kind.DATE, span=Span(start, end), source=self.text, dates=dates, soft=soft)

    def _date(self, figure: Figure) -> Fact | None:
        if (fiscal := self._fiscal(figure)) is not None:
            return fiscal
        start, end = figure.start, figure.end
        value = figure.values[0]
        if not value.is_integer() or not 1 <= value < 2100 or (end - start > 4 and not figure.spoken):
            return None
        number = int(value)
        if number <= 31 and self._following(end) in MONTHS:
            after = _MONTH_AFTER.match(self.lowered, end)
            if after is not None and after["month"] in MONTHS:
                stop = after.end() if after["year"] else after.end("month")
                return self._dated(start, stop, ((int(after["year"] or 0), MONTHS[after["month"]], number),))
        head = self._head(start, 18)
        before = _MONTH_BEFORE.search(head) if head[-1:] in (" ", "\u00a0") else None
        if before is not None and before["month"] in MONTHS:
            return self._month_first(start - len(head) + before.start(), end, MONTHS[before["month"]], number)
        return self._year(start, end, number) if end - start == 4 and number >= 1500 else None

    def _month_first(self, begin: int, end: int, month: int, number: int) -> Fact | None:
        if number >= 1500:
            return self._dated(begin, end, ((number, month, 0),))
        if number > 31:
            return None
        year = _YEAR_AFTER.match(self.lowered, end)
        mark = _ORDINAL_MARK.match(self.lowered, end)
        stop = year.end() if year else mark.end() if mark else end
        return self._dated(begin, stop, ((int(year["year"]) if year else 0, month, number),))

    def _year(self, start: int, end: int, number: int) -> Fact | None:
        """A bare number between 1500 and 2100 is a year, unless a unit or a currency says otherwise."""
        if self.lowered[end : end + 1] == "s":
            return self._dated(start, end + 1, ((number, 0, 0),), soft=True)
        if (
            self._currency(start) is not None
            or keyed.unit(self.text, start)
            or (self._unit(end) is not None and not self._of_one(start, end))
        ):
            return None
        following = _MAGNITUDE.match(self.lowered, end)
        if following is not None and following["word"] in MAGNITUDES and len(following["word"]) > 1:
            return None
        until = _UNTIL_YEAR.match(self.lowered, end)
        if until is not None:
            last = number - number % 100 + int(until["year"])
            if last == number + 1:
                return self._dated(start, until.end(), ((number, 0, 0), (last, 0, 0)))
        return self._dated(start, end, ((number, 0, 0),))

    def _of_one(self, start: int, end: int) -> bool:
        """Whether one thing of a year follows it: "the 2013 cup", not "2013 cups"."""
        return self._head(start, 4) == "the " and _ONE.match(self.lowered, end) is not None

    def _time(self, figure: Figure) -> Fact | None:
        start, end = figure.start, figure.end
        if figure.shape is Shape.SPOKEN_CLOCK:
            return self._timed(start, end, figure.values)
        mark = None
        if self._following(end)[:1] in ("a", "p", "o", "u"):
            mark = _MERIDIEM.match(self.lowered, end) or _O_CLOCK.match(self.lowered, end)
        shown = figure.shape is Shape.CLOCK
        part = self._part_of_day(start, end) if shown or _DOTTED.fullmatch(self.lowered, start, end) else ""
        if mark is None and not shown and not part:
            return None
        if figure.spoken:
            hours, minutes = int(figure.values[0]), 0
        else:
            parts = [int(part) for part in re.split(r"[:h.,]", self.lowered[start:end])]
            hours, minutes = parts[0], parts[1] if len(parts) > 1 else 0
        if hours > 24 or minutes > 59:
            return None
        half = mark.group(1) if mark is not None and mark.re is _MERIDIEM else None
        if half is None and part and hours <= _NOON:
            half = "a" if part == "morning" else "p"
        if half is None and self.lowered[start] == "0":
            values: tuple[float, ...] = (60.0 * hours + minutes,)  # "09:00" is on a clock of 24 hours
        else:
            values = clock.minutes(hours, minutes, half)
        return self._timed(start, mark.end() if mark else end, values)

    def _part_of_day(self, start: int, end: int) -> str:
        """The "morning" of "at 4.47 on Thursday morning"; "" where none is named."""
        part = _PART_OF_DAY.match(self.lowered, end) if _AT.search(self._head(start, 8)) else None
        return part["part"] if part else ""

    def _following(self, end: int) -> str:
        """The word after a figure, past an ordinal mark and a short "of"; "" where none follows."""
        match = _FOLLOWING.match(self.lowered, end)
        return match.group(1) if match is not None else ""

    def _timed(self, start: int, end: int, values: tuple[float, ...]) -> Fact:
        return Fact(kind=Kind.TIME, span=Span(start, end), source=self.text, values=values, measure=CLOCK)

    # Quantities

    def _quantity(self, figure: Figure) -> Fact:
        start, end, values = figure.start, figure.end, figure.values
        currency = None if figure.spoken else self._currency(start)
        end, values = self._magnitude(end, values, money=currency is not None)
        if self.lowered[start - 1 : start] in ("-", "−") and self._head(start, 2)[:-1] in ("", " ", "("):
            start, values = start - 1, tuple(-value for value in values)
        counts = None if figure.shape in (Shape.TIMES, Shape.ORDINAL) else self._unit(end)
        unit, stop = (UNITS[currency], end) if currency else counts or (keyed.unit(self.text, start), end)
        if unit is not None and unit.dimension in _SIGNED:
            below = _BELOW.match(self.lowered, stop)
            if self._head(start).endswith(_MINUS):
                start, values = start - len(_MINUS), tuple(-value for value in values)
            elif below is not None:
                stop, values = below.end(), tuple(-value for value in values)
        if currency:
            start -= len(_CURRENCY_BEFORE.search(self._head(start, 5)).group())  # type: ignore[union-attr]
        ordinal = None if unit else _ORDINAL_MARK.match(self.lowered, end)
        words = self._head(start).rstrip("$€£ ").split()[-4:]
        return Fact(
            kind=_kind(unit),
            span=Span(start, ordinal.end() if ordinal else stop),
            source=self.text,
            values=tuple([value * unit.factor + unit.offset for value in values]) if unit else values,
            numbers=values,
            measure=unit,
            bound=_bound(words),
            hedged=_hedges(words, self.lowered[start - 1 : start]),
            label=self._label(start) if unit is None else "",
            soft=figure.shape is Shape.ARTICLE or (figure.shape is Shape.VAGUE and unit is None),
        )

    def _label(self, start: int) -> str:
        """The name right before a bare number: "Terminal 2", "Form 1040"."""
        words = self.text[max(0, start - 20) : start].rstrip(" #(").split()
        return words[-1].lower() if words and words[-1].isalpha() and words[-1][0].isupper() else ""

    def _magnitude(
        self, end: int, values: tuple[float, ...], *, money: bool
    ) -> tuple[int, tuple[float, ...]]:
        match = _MAGNITUDE.match(self.lowered, end)
        if match is None or match["word"] not in MAGNITUDES:
            return end, values
        capital = self.text[match.start("word")] == "M"
        if self._begins_a_name(match):
            return end, values
        if len(match["word"]) == 1 and (match["gap"] or not (match["word"] == "k" or money or capital)):
            return end, values
        return match.end(), tuple(value * MAGNITUDES[match["word"]] for value in values)

    def _currency(self, start: int) -> str | None:
        head = self._head(start, 5)
        if not head or not (head[-1] in _CURRENCY_ENDS or head[-1].isspace()):
            return None
        found = _CURRENCY_BEFORE.search(head)
        if found is None:
            return None
        name = found.group().strip()
        if name in MONEY_CODES and not self.text[start - len(found.group()) : start].strip().isupper():
            return None  # "rub 2 tablespoons in" pays nobody
        return name

    def _unit(self, end: int) -> tuple[Unit, int] | None:  # noqa: PLR0911 - a return for each way to write one
        """The unit right after a figure, and where it ends."""
        match = _UNIT_AFTER.match(self.lowered, end)
        if match is None:
            return None
        word, following = match["word"], match["next"]
        if match["part"] and not self._is_part(end):
            return None  # "9.50 a month" are no months
        if word in _SIGNS and self.lowered[match.end("word") :][:1].isdigit():
            return None  # "3 $5" numbers a row
        if following and f"{word} {following}" in TWO_WORDS:
            return TWO_WORDS[f"{word} {following}"], match.end()
        if self._begins_a_name(match):
            return None
        if word in BETWEEN and following in UNITS and following not in TOUCHING:
            return UNITS[following], match.end()
        word = word.replace(" ", "").replace("º", "°")
        if word in ("f", "c") and self.text[match.start("word")].isupper():
            return UNITS["°" + word], match.end("word")
        if word not in UNITS:
            return None
        if word in TOUCHING and match["gap"] and len(word) > 1:
            return None  # "1 in 5", "2 an hour"
        return UNITS[word], match.end("word")

    def _begins_a_name(self, match: re.Match[str]) -> bool:
        """Whether the one letter after a figure and a space has a number of its own: "1200 M8 bolts"."""
        end = match.end("word")
        return len(match["word"]) == 1 and match["gap"] != "" and self.lowered[end : end + 1].isdigit()

    def _is_part(self, end: int) -> bool:
        """Whether what ends here is a part, as in "half an hour" and "three quarters of a mile"."""
        return _PART.search(self._head(end, 12)) is not None


def _is_known_tail(tail: str) -> bool:
    first = re.split(r"[-/.]", tail, maxsplit=1)[0]
    return first in UNITS or first in MAGNITUDES or first in _KNOWN_TAILS or tail == "km/h"


def _last_word(head: str) -> str:
    stripped = head[:-1] if head.endswith(("#", "(")) else head
    words = stripped.split()
    return words[-1].lstrip("([{*_\"'“") if words and head[-1:] in (" ", "#", "(", "\u00a0") else ""


def _hedges(words: list[str], before: str) -> bool:
    return before in ("~", "≈") or (
        bool(words) and (words[-1].rstrip(".") in HEDGES or words[-1] in ("~", "≈"))
    )


def _bound(words: list[str]) -> int:
    while words and words[-1] in _FILLERS:
        words = words[:-1]
    for n in (3, 2, 1):
        bound = BOUNDS.get(" ".join(words[-n:]))
        if bound is not None:
            return bound
    return 0


def _kind(unit: Unit | None) -> Kind:
    if unit is None:
        return Kind.NUMBER
    if unit.dimension in MONEY:
        return Kind.MONEY
    return Kind.PERCENT if unit.dimension.startswith("percent") else Kind.MEASURE
