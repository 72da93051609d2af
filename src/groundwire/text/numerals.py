"""Reading figures: where a text states a number, date or time of day, and every way to read it.

"1.200" is twelve hundred in Rome and one and a fifth in London, 01/04/2026 is two dates: a fact keeps
all its readings, and two facts agree when one reading of each does. Comparing is ``facts``' task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from groundwire.core.span import Span
from groundwire.text import tokens
from groundwire.text.units import (
    BETWEEN,
    BOUNDS,
    HEDGES,
    LABELS,
    MAGNITUDES,
    MONEY,
    MONTHS,
    ORDINALS,
    SCALES,
    SIMPLE,
    TENS,
    TOUCHING,
    TWO_WORDS,
    UNITS,
    Unit,
)


class Kind(StrEnum):
    """What sort of fact."""

    NUMBER = "number"
    MEASURE = "measure"
    PERCENT = "percentage"
    MONEY = "amount"
    DATE = "date"
    TIME = "time"
    CODE = "code"


@dataclass(frozen=True, kw_only=True)
class Fact:
    """An exact fact and its place.

    ``text`` is what it is compared by, ``shown`` how it is written. ``values`` are the readings in the unit's base, ``highs`` those of a range's upper end (empty where
    it is no range), ``numbers`` all of them as written, ``dates`` the readings (year, month, day) of a
    date, 0 where it doesn't say. ``bound`` is +1 for "at least", -1 for "at most". A ``soft`` fact ("a
    week", "one") may bear another out, but is not missed. ``label`` is the name that a number belongs to, as
    in "Terminal 2".
    """

    kind: Kind
    span: Span
    text: str
    shown: str = ""
    values: tuple[float, ...] = ()
    highs: tuple[float, ...] = ()
    numbers: tuple[float, ...] = ()
    dates: tuple[tuple[int, int, int], ...] = ()
    measure: Unit | None = None
    bound: int = 0
    hedged: bool = False
    soft: bool = False
    label: str = ""
    before: str = ""
    after: str = ""

    @property
    def unit(self) -> str:
        """The dimension or currency, or "" where there is none."""
        return self.measure.dimension if self.measure else ""

    @property
    def system(self) -> str:
        return self.measure.system if self.measure else "metric"

    def ends(self) -> tuple[Fact, ...]:
        """The two ends of a range, each as a fact of its own; a fact that is no range alone."""
        if not self.highs:
            return (self,)
        half = len(self.values)
        low = replace(self, highs=(), numbers=self.numbers[:half])
        return low, replace(self, values=self.highs, highs=(), numbers=self.numbers[half:])

    @cached_property
    def around(self) -> frozenset[str]:
        """The stems of the content words beside it, in its sentence or row."""
        return _content(_same_line(self.before, last=True)) | _content(_same_line(self.after, last=False))

    @cached_property
    def counted(self) -> frozenset[str]:
        """The stems of the two words after it: what is counted."""
        return _content(" ".join(_same_line(self.after, last=False).split()[:2]))


_WINDOW = 90
_LINE_END = re.compile(r"\n|[.!?;]\s")


def _same_line(text: str, *, last: bool) -> str:
    return _LINE_END.split(text)[-1 if last else 0]


def _content(text: str) -> frozenset[str]:
    folded = (tokens.fold(word.text) for word in tokens.words(text))
    return frozenset(
        tokens.stem(word)
        for word in folded
        if len(word) > 1
        and word not in tokens.STOP_WORDS
        and not word[0].isdigit()
        and word not in _NUMBER_LIKE
    )


_CLOCK = Unit("clock")
_FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 0.125, "⅜": 0.375, "⅝": 0.625}
_NUMERAL = re.compile(
    r"""
      (?P<phone>\d{3}\)?[-.\ ]\d{3}[-.]\d{4}(?!\d))
    | (?P<iso>\d{4}-\d{1,2}-\d{1,2}(?!\d))
    | (?P<slashed>\d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d{2})(?!\d))
    | (?P<dotted>\d++(?:\.\d++){2,})
    | (?P<clock>\d{1,2}(?::\d{1,2}(?::\d{2})?|h\d{2})(?!\d))
    | (?P<grouped>\d{1,3}(?P<sep>[,.'’\u00a0\u202f\u2009\ ])\d{3}(?:(?P=sep)\d{3})*+(?![\d-])(?:[.,]\d++)?)
    | (?P<plain>\d++(?:[.,]\d++)?)
    | (?P<vulgar>[½¼¾⅓⅔⅛⅜⅝])
    """,
    re.VERBOSE,
)
_WORD_VALUES = SIMPLE | TENS | SCALES | {"half": 0.5, "quarter": 0.25, "noon": 720.0, "midnight": 0.0}
_NUMBER_LIKE = frozenset({*_WORD_VALUES, *ORDINALS, *UNITS, *MAGNITUDES, *MONTHS})
_NUMBER_WORD = re.compile(
    r"(?<![^\W_])(?=[zotfsenhdmbq][ewnhriluaioe])(?:"
    + "|".join(sorted(_WORD_VALUES, key=len, reverse=True))
    + r")s?(?![^\W_])"
)
_A_UNIT = re.compile(r"\ban? (?:minute|hour|day|week|fortnight|month|year)\b")
_FRACTION_AFTER = re.compile(
    r"(?:(?:[ -]| and )(?P<n>\d)[/⁄](?P<d>\d\d?)|[/⁄](?P<under>\d\d?)|[ ]?(?P<vulgar>[½¼¾⅓⅔⅛⅜⅝]))(?![\d/⁄])"
)
_TOKEN_TAIL = re.compile(r"[^\W_]+(?:[-/.][^\W_]+)*")
_TOKEN_HEAD = re.compile(r"[^\W_](?:[^\W_]|-(?=[^\W_]))*-?\Z")
_MERIDIEM = re.compile(r"\s?([ap])(?:\.\s?m\.?|m\b)")
_O_CLOCK = re.compile(r"\s?(?:o['’]clock|uhr\b|heures\b(?=\s+\d))")
_ORDINAL_MARK = re.compile(r"(?:st|nd|rd|th)\b")
_MONTH_AFTER = re.compile(
    r"(?:st|nd|rd|th|\.|º)?[ \u00a0-](?:of |de |d['’])?(?P<month>[^\W\d_]{3,10})\b\.?(?:,?[ -](?:de |of )?(?P<year>\d{4})\b)?"
)
_MONTH_BEFORE = re.compile(r"(?<![^\W_])(?P<month>[^\W\d_]{3,10})\.?[ \u00a0](?:the |of |de )?\Z")
_YEAR_AFTER = re.compile(r"(?:st|nd|rd|th)?,?[ ](?P<year>\d{4})\b")
_UNIT_AFTER = re.compile(
    r"(?P<gap>[ \u00a0\u202f-]?)(?:(?:of )?an? )?(?P<word>km/h|us\$|°[ ]?[cf]\b|º[ ]?[cf]\b|[%％$€£¥₹₩°℃℉]|[^\W\d_]+[²2]?)(?:[ -](?P<next>[^\W\d_]+))?"
)
_CURRENCY_BEFORE = re.compile(
    r"(us\$|c\$|a\$|r\$|[$€£¥₹₩₽]|\b(?:usd|eur|gbp|chf|jpy|inr|cad|aud|cny|sek|nok|dkk|pln|rub|brl))[ \u00a0]?\Z"
)
_JOINER = re.compile(
    r"\.?[ ]?(?:-|–|—|−|to|through|until|till|bis|à|hasta|and|und|et|y|or)[ ]?(?:about )?[$€£]?\Z"
)
_BOUND_BEFORE = re.compile(
    r"(?<![^\W_])("
    + "|".join(re.escape(b) for b in sorted(BOUNDS, key=len, reverse=True))
    + r")[ ](?:of |the |about )?[$€£]?\Z"
)
_HEDGE_BEFORE = re.compile(
    r"(?:(?<![^\W_])(" + "|".join(sorted(HEDGES, key=len, reverse=True)) + r")\.?[ ]|[~≈][ ]?)[$€£]?\Z"
)
_WORD_BEFORE = re.compile(r"([^\W\d_]+)[ ]?[#(]?\Z")
_SLASHED = re.compile(r"\d++(?:/\d[\d.]*+)+")
_PENSION = re.compile(r"401\(?k\)?")
_AND = re.compile(r",? (?:and |or |& )?|-|–")
_ENUMERATOR = re.compile(r"(?:\A|\n)[ \t>*_#(\[-]*\Z")


def read(text: str) -> list[Fact]:
    """Every exact fact of ``text``, ordered and disjoint."""
    return _Reader(text).facts()


@dataclass(frozen=True, slots=True)
class _Found:
    """A figure before anybody looked around it."""

    start: int
    end: int
    values: tuple[float, ...]
    shape: str
    word: bool = False


class _Reader:
    """One reading of one text. ``lowered`` has the same length, so that offsets hold in both."""

    def __init__(self, text: str) -> None:
        self.text = text
        lowered = text.lower()
        if len(lowered) != len(text):
            lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        self.lowered = lowered
        self.labelled = -_WINDOW  # where the last "Passage 2" ended

    def facts(self) -> list[Fact]:
        figures = sorted(self._figures(), key=lambda found: (found.start, -found.end))
        facts: list[Fact] = []
        for found in figures:
            if facts and found.start < facts[-1].span.end:
                continue
            fact = self._fact(found)
            if fact is not None and not (facts and fact.span.start < facts[-1].span.end):
                self._append(facts, fact)
        return [
            replace(
                fact,
                text=fact.text if fact.kind is Kind.CODE else self.lowered[fact.span.start : fact.span.end],
                shown=fact.span.of(self.text),
                before=self._before(fact.span.start, _WINDOW),
                after=self.text[fact.span.end : fact.span.end + _WINDOW],
            )
            for fact in facts
        ]

    def _before(self, at: int, width: int) -> str:
        return self.text[max(0, at - width) : at]

    def _head(self, at: int, width: int = 28) -> str:
        return self.lowered[max(0, at - width) : at]

    # Figures

    def _figures(self) -> Iterator[_Found]:
        for match in _NUMERAL.finditer(self.lowered):
            yield from self._numeral(match)
        yield from self._number_words()
        for match in _A_UNIT.finditer(self.lowered):
            start, end = match.start(), match.start() + len(match.group().split()[0])
            yield _Found(start, end, (1.0,), "article", word=True)

    def _numeral(self, match: re.Match[str]) -> Iterator[_Found]:
        start, end = match.span()
        shape = match.lastgroup or "plain"
        shape = "grouped" if shape == "sep" else shape
        figure = match.group()
        if shape in ("iso", "slashed", "clock", "phone", "dotted"):
            yield _Found(start, end, (), shape)
            return
        if shape == "vulgar":
            yield _Found(start, end, (_FRACTIONS[figure],), shape)
            return
        values = _readings(figure)
        if start and self.lowered[start - 1] in ".," and not self.lowered[start - 2 : start - 1].isdigit():
            values = tuple(float("." + figure) for _ in (0,)) if figure.isdigit() else values
        after = _FRACTION_AFTER.match(self.lowered, end) if figure.isdigit() else None
        if after is not None and _fraction(values[0], after) is not None:
            yield _Found(start, after.end(), (_fraction(values[0], after) or 0.0,), "fraction")
            return
        if figure.isdigit() and (slashed := _SLASHED.match(self.lowered, start)):
            yield _Found(start, slashed.end(), (), "dotted")
            return
        yield _Found(start, end, values, shape)

    def _number_words(self) -> Iterator[_Found]:
        run: list[re.Match[str]] = []
        for match in _NUMBER_WORD.finditer(self.lowered):
            if run and not _continues(
                run[-1].group(), self.lowered[run[-1].end() : match.start()], match.group()
            ):
                yield from self._spoken(run)
                run = []
            run.append(match)
        if run:
            yield from self._spoken(run)

    def _spoken(self, run: list[re.Match[str]]) -> Iterator[_Found]:
        words = [match.group() for match in run]
        start, end = run[0].start(), run[-1].end()
        if words in (["noon"], ["midnight"]):
            yield _Found(start, end, (_WORD_VALUES[words[0]],), "spoken clock", word=True)
            return
        if any(word not in _WORD_VALUES for word in words):
            return  # "thousands", "halves": no figure
        if words[0] in ("hundred", "thousand", "million", "billion", "trillion"):
            digits = re.search(r"\d[ ]?\Z", self._head(start, 4))
            if digits or not re.search(r"\b(?:an?|one)[ ]\Z", self._head(start, 5)):
                return  # "1.2 million" belongs to the figure; "several million" is no figure
        value = _spoken_value(words)
        vague = len(words) == 1 and words[0] in ("one", "half", "quarter", "zero")
        yield _Found(start, end, (value,), "soft" if vague else "spoken", word=True)

    # Facts

    def _fact(self, found: _Found) -> Fact | None:
        start, end = found.start, found.end
        if _PENSION.match(self.lowered, start):
            return None
        if not found.word:
            code = self._code(found)
            if code is not None:
                return code
            if self._is_label(start, end):
                self.labelled = end
                return None
        if found.shape in ("phone", "dotted"):
            digits = "".join(c for c in self.text[start:end] if c.isdigit() or c in "./").rstrip(".")
            return Fact(kind=Kind.CODE, span=Span(start, end), text=digits)
        for attempt in (self._date, self._time):
            fact = attempt(found)
            if fact is not None:
                return fact
        return self._quantity(found) if found.values else None

    def _code(self, found: _Found) -> Fact | None:
        """A figure stuck to letters that are no unit: a flight number, a model, a version."""
        head = _TOKEN_HEAD.search(self._head(found.start, 24))
        if head is not None and self._names_something(head.group(), found.start):
            start = found.start - len(head.group())
            tail = _TOKEN_TAIL.match(self.lowered, found.start)
            end = max(found.end, tail.end() if tail else found.end)
            return Fact(kind=Kind.CODE, span=Span(start, end), text=self.lowered[start:end])
        tail = _TOKEN_TAIL.match(self.lowered, found.end)
        if found.shape == "plain" and tail is not None and not self._known_tail(tail.group()):
            end = tail.end()
            return Fact(kind=Kind.CODE, span=Span(found.start, end), text=self.lowered[found.start : end])
        return None

    def _names_something(self, head: str, end: int) -> bool:
        """Whether the letters before a figure make one name with it: "SK123" and "COVID-19", not "mid-1990"."""
        if not any(c.isalpha() for c in head) or head in MONEY_CODES:
            return False
        return head[-1] != "-" or self.text[end - 2].isupper()

    def _known_tail(self, tail: str) -> bool:
        first = re.split(r"[-/.]", tail)[0]
        return (
            first in UNITS
            or first in ("f", "c")
            or first in MAGNITUDES
            or first in ("st", "nd", "rd", "th", "s", "x", "am", "pm", "a", "p", "o")
            or tail == "km/h"
        )

    def _is_label(self, start: int, end: int) -> bool:
        """An enumerator at the head of a line, a citation, or the name of a part of a document."""
        after = self.lowered[end : end + 2]
        if (
            after[:1] in (".", ")", "]", ":")
            and not after[1:2].isdigit()
            and _ENUMERATOR.search(self._before(start, 12) if start > 12 else "\n" + self._before(start, 12))
        ):
            return True
        if after == "  " and self.text[end + 2 : end + 3].isupper():
            return True
        if after[:1] == "]" and self.lowered[max(0, start - 1) : start] == "[":
            return True
        word = _WORD_BEFORE.search(self._head(start))
        if word is not None and word.group(1) in LABELS:
            return True
        return start - self.labelled < 8 and _AND.fullmatch(self.lowered[self.labelled : start]) is not None

    def _date(self, found: _Found) -> Fact | None:
        start, end = found.start, found.end
        figure = self.lowered[start:end]
        if found.shape in ("iso", "slashed"):
            dates = _numeric_dates(figure)
            return Fact(kind=Kind.DATE, span=Span(start, end), text=figure, dates=dates) if dates else None
        if found.shape != "plain" or not figure.isdigit():
            return None
        value = int(figure) if len(figure) <= 4 else 0
        if 1 <= value <= 31:
            after = _MONTH_AFTER.match(self.lowered, end)
            if after is not None and after["month"] in MONTHS:
                date = (int(after["year"] or 0), MONTHS[after["month"]], value)
                stop = after.end() if after["year"] else after.end("month")
                return Fact(
                    kind=Kind.DATE, span=Span(start, stop), text=self.lowered[start:stop], dates=(date,)
                )
        before = _MONTH_BEFORE.search(self._head(start, 18))
        if before is not None and before["month"] in MONTHS:
            begin = start - (len(before.group()) - before.start("month") + before.start())
            return self._month_first(begin, end, MONTHS[before["month"]], value)
        if len(figure) == 4 and 1500 <= value < 2100 and not self._money_before(start):
            unit = _UNIT_AFTER.match(self.lowered, end)
            decade = self.lowered[end : end + 1] == "s"
            named = (
                not decade
                and unit is not None
                and ((unit["word"] in UNITS and self._unit(end) is not None) or unit["word"] in MAGNITUDES)
            )
            if not named:
                stop = end + 1 if decade else end
                return Fact(
                    kind=Kind.DATE,
                    span=Span(start, stop),
                    text=figure,
                    dates=((value, 0, 0),),
                    numbers=(float(value),),
                    soft=decade,
                )
        return None

    def _month_first(self, begin: int, end: int, month: int, value: int) -> Fact | None:
        if 1500 <= value < 2100:
            return Fact(
                kind=Kind.DATE,
                span=Span(begin, end),
                text=self.lowered[begin:end],
                dates=((value, month, 0),),
            )
        if not 1 <= value <= 31:
            return None
        year = _YEAR_AFTER.match(self.lowered, end)
        mark = _ORDINAL_MARK.match(self.lowered, end)
        stop = year.end() if year else mark.end() if mark else end
        date = (int(year["year"]) if year else 0, month, value)
        return Fact(kind=Kind.DATE, span=Span(begin, stop), text=self.lowered[begin:stop], dates=(date,))

    def _time(self, found: _Found) -> Fact | None:
        start, end = found.start, found.end
        if found.shape == "spoken clock":
            values: tuple[float, ...] = found.values
            return Fact(
                kind=Kind.TIME,
                span=Span(start, end),
                text=self.lowered[start:end],
                values=values,
                measure=_CLOCK,
            )
        figure = self.lowered[start:end]
        meridiem = _MERIDIEM.match(self.lowered, end)
        clock = _O_CLOCK.match(self.lowered, end)
        if found.shape != "clock" and (found.shape not in ("plain", "spoken") or not (meridiem or clock)):
            return None
        parts = (
            [int(part) for part in re.split(r"[:h.]", figure)] if not found.word else [int(found.values[0])]
        )
        hours, minutes = parts[0], parts[1] if len(parts) > 1 else 0
        if hours > 24 or minutes > 59:
            return None
        if meridiem is not None:
            hours = hours % 12 + (12 if meridiem.group(1) == "p" else 0)
            readings: tuple[float, ...] = (float(hours * 60 + minutes),)
        elif 1 <= hours <= 12 and not figure.startswith("0"):
            readings = (float(hours % 24 * 60 + minutes), float((hours + 12) % 24 * 60 + minutes))
        else:
            readings = (float(hours % 24 * 60 + minutes),)
        stop = (meridiem or clock).end() if (meridiem or clock) else end  # type: ignore[union-attr]
        return Fact(
            kind=Kind.TIME,
            span=Span(start, stop),
            text=self.lowered[start:stop],
            values=readings,
            measure=_CLOCK,
        )

    def _quantity(self, found: _Found) -> Fact | None:
        start, end, values = found.start, found.end, found.values
        currency = self._money_before(start)
        end, values = self._magnitude(end, values, money=currency is not None)
        negative = self.lowered[start - 1 : start] in ("-", "−") and self.lowered[
            max(0, start - 2) : start - 1
        ] in ("", " ", "(")
        if negative:
            start, values = start - 1, tuple(-value for value in values)
        unit, stop = (None, end) if currency else self._unit(end) or (None, end)
        if currency:
            unit = UNITS[currency.group(1)]
            start -= len(currency.group())
        ordinal = None if unit else _ORDINAL_MARK.match(self.lowered, end)
        head = self._head(found.start if not currency else start)
        bound = _BOUND_BEFORE.search(head)
        return Fact(
            kind=_kind(unit),
            span=Span(start, ordinal.end() if ordinal else stop),
            text=self.lowered[start:stop],
            values=tuple(value * unit.factor + unit.offset for value in values) if unit else values,
            numbers=values,
            measure=unit,
            bound=BOUNDS[bound.group(1)] if bound else 0,
            hedged=_HEDGE_BEFORE.search(head) is not None,
            label=self._label(found.start) if unit is None else "",
            soft=found.shape == "article"
            or (found.shape == "soft" and unit is None)
            or (found.shape == "spoken" and bool(ordinal)),
        )

    def _label(self, start: int) -> str:
        """The name right before a bare number: "Terminal 2", "Form 1040"."""
        word = _WORD_BEFORE.search(self._before(start, 20))
        return word.group(1).lower() if word is not None and word.group(1)[0].isupper() else ""

    def _magnitude(
        self, end: int, values: tuple[float, ...], *, money: bool
    ) -> tuple[int, tuple[float, ...]]:
        match = re.compile(r"(?P<gap>[ \u00a0-]?)(?P<word>[^\W\d_]+)").match(self.lowered, end)
        if match is None or match["word"] not in MAGNITUDES:
            return end, values
        capital = self.text[match.start("word")] == "M"
        if len(match["word"]) == 1 and (match["gap"] or not (match["word"] == "k" or money or capital)):
            return end, values
        return match.end(), tuple(value * MAGNITUDES[match["word"]] for value in values)

    def _money_before(self, start: int) -> re.Match[str] | None:
        found = _CURRENCY_BEFORE.search(self._head(start, 5))
        if found is not None and found.group(1) in MONEY_CODES:
            at = start - len(found.group())
            return found if self.text[at : at + 3].isupper() else None
        return found

    def _unit(self, end: int) -> tuple[Unit, int] | None:
        """The unit right after a figure, and where it ends."""
        match = _UNIT_AFTER.match(self.lowered, end)
        if match is None:
            return None
        word, following = match["word"], match["next"]
        if following and f"{word} {following}" in TWO_WORDS:
            return TWO_WORDS[f"{word} {following}"], match.end()
        if word in TWO_WORDS:
            return TWO_WORDS[word], match.end("word")
        if word in BETWEEN and following in UNITS and following not in TOUCHING:
            return UNITS[following], match.end()
        word = word.replace(" ", "").replace("º", "°")
        if word in ("f", "c") and self.text[match.start("word")].isupper():
            return UNITS["°" + word], match.end("word")
        if word not in UNITS or (word in TOUCHING and match["gap"] and not self._really(word, match)):
            return None
        return UNITS[word], match.end("word")

    def _really(self, word: str, match: re.Match[str]) -> bool:
        """One letter apart from its number is a unit where no word follows it: "55 × 40 m.", not "3 s are"."""
        return len(word) == 1 and match["next"] is None

    # Neighbours that make one fact

    def _append(self, facts: list[Fact], fact: Fact) -> None:
        """Add a fact, joining ranges and compounds ("2 hours 30 minutes") to the one before it."""
        if facts:
            gap = self.lowered[facts[-1].span.end : fact.span.start]
            if _TIMES.fullmatch(gap):
                self._share_backwards(facts, fact)
            elif len(gap) < 14:
                joined = _join(facts[-1], fact, gap, self._head(facts[-1].span.start, 12))
                if joined is not None:
                    facts[-1:] = joined
                    return
        facts.append(fact)

    def _share_backwards(self, facts: list[Fact], fact: Fact) -> None:
        """In "55 × 40 × 23 cm" every figure is in centimetres."""
        end = fact.span.start
        for i in range(len(facts) - 1, -1, -1):
            left = facts[i]
            if not _TIMES.fullmatch(self.lowered[left.span.end : end]) or left.kind is not Kind.NUMBER:
                return
            if not fact.unit or not left.values or left.highs or not fact.values:
                return
            facts[i] = _with_unit(left, fact)
            end = left.span.start


_TIMES = re.compile(r"[ ]?(?:×|x|by|\*)[ ]?")
MONEY_CODES = frozenset(code.lower() for code in MONEY)


def _join(left: Fact, right: Fact, gap: str, head: str) -> list[Fact] | None:
    both = Span(left.span.start, right.span.end)
    compound = (
        left.kind is right.kind is Kind.MEASURE and left.unit == right.unit and left.text and not left.highs
    )
    if (
        compound
        and gap in (" ", " and ", ", ", "")
        and abs(left.values[0]) > abs(right.values[0])
        and left.system == right.system
        and left.unit in ("time", "months", "length", "mass")
    ):
        return [
            replace(
                left,
                span=both,
                values=(left.values[0] + right.values[0], left.values[0]),
                numbers=left.numbers,
            )
        ]
    if gap == "" and right.kind is Kind.NUMBER and right.values[0] < 0 and not left.highs:
        # "23-32": the hyphen is no minus
        right = replace(
            right, values=tuple(-v for v in right.values), numbers=tuple(-v for v in right.numbers)
        )
        gap = "-"
    if _JOINER.fullmatch(gap) is None:
        return None
    if left.kind is Kind.NUMBER and right.kind is Kind.DATE and not left.highs and _day(left):
        dates = tuple((y, m, int(left.values[0])) for y, m, d in right.dates if m and d)
        return [replace(left, kind=Kind.DATE, dates=dates, values=(), numbers=()), right] if dates else None
    if left.kind is right.kind is Kind.DATE:
        years = [y for y, _, _ in right.dates if y]
        if years and all(m and not y for y, m, _ in left.dates):
            left = replace(left, dates=tuple((years[0], m, d) for _, m, d in left.dates))
        return [left, right]
    enumerated = gap.strip() in ("and", "und", "et", "y", "or")
    if enumerated and not head.rstrip().endswith(("between", "zwischen", "entre", "from")):
        return _share_unit(left, right)
    return _range(left, right, both)


def _share_unit(left: Fact, right: Fact) -> list[Fact] | None:
    """In "two or three days" the first figure has the second's unit."""
    if (
        left.kind is not Kind.NUMBER
        or not right.unit
        or right.kind in (Kind.TIME, Kind.DATE)
        or left.soft
        or not left.values
    ):
        return None
    return [_with_unit(left, right), right]


def _with_unit(left: Fact, right: Fact) -> Fact:
    unit = right.measure
    assert unit is not None
    values = tuple(number * unit.factor + unit.offset for number in left.numbers)
    return replace(left, kind=right.kind, measure=unit, values=values)


def _range(left: Fact, right: Fact, both: Span) -> list[Fact] | None:
    if (
        left.highs
        or left.kind in (Kind.DATE, Kind.CODE)
        or right.kind in (Kind.DATE, Kind.CODE)
        or not right.values
    ):
        return None
    if right.kind is Kind.TIME and left.kind is Kind.NUMBER and left.values[0] <= 12:
        hour = left.values[0] * 60
        left = replace(left, kind=Kind.TIME, measure=_CLOCK, values=(hour, (hour + 720) % 1440))
    elif left.kind is Kind.NUMBER and right.unit:
        left = _with_unit(left, right)
    elif right.kind is Kind.NUMBER and left.kind is Kind.MONEY:
        right = _with_unit(right, left)
    if left.unit != right.unit:
        return None
    return [
        replace(
            left,
            span=both,
            highs=right.values,
            numbers=(*left.numbers, *right.numbers),
            soft=False,
        )
    ]


def _day(fact: Fact) -> bool:
    return (
        not fact.unit and len(fact.values) == 1 and 1 <= fact.values[0] <= 31 and fact.values[0].is_integer()
    )


def _kind(unit: Unit | None) -> Kind:
    if unit is None:
        return Kind.NUMBER
    if unit.dimension in MONEY:
        return Kind.MONEY
    return Kind.PERCENT if unit.dimension.startswith("percent") else Kind.MEASURE


def _readings(figure: str) -> tuple[float, ...]:
    """Every number that the digits may mean."""
    compact = re.sub(r"['’\u00a0\u202f\u2009 ]", "", figure)
    marks = [c for c in compact if c in ".,"]
    if not marks:
        return (float(compact),)
    if len(set(marks)) == 2 or len(marks) == 1:
        decimal = marks[-1]
        other = "," if decimal == "." else "."
        readings = [float(compact.replace(other, "").replace(decimal, "."))]
        whole, _, rest = compact.rpartition(decimal)
        if len(marks) == 1 and len(rest) == 3 and 1 <= len(whole) <= 3 and whole != "0":
            readings.insert(0, float(whole + rest))
        return tuple(readings)
    return (float(compact.replace(",", "").replace(".", "")),)


def _fraction(whole: float, after: re.Match[str]) -> float | None:
    if after["vulgar"]:
        return whole + _FRACTIONS[after["vulgar"]]
    if after["under"]:
        under = int(after["under"])
        return whole / under if under in (2, 3, 4, 5, 6, 8, 10, 16) and whole < under else None
    under = int(after["d"])
    over = int(after["n"])
    return whole + over / under if under in (2, 3, 4, 5, 6, 8, 10, 16) and over < under else None


def _numeric_dates(figure: str) -> tuple[tuple[int, int, int], ...]:
    a, b, c = (int(part) for part in re.split(r"[-/.]", figure))
    if a >= 1000:
        readings = [(a, b, c)]
    else:
        year = c if c >= 100 else 2000 + c if c < 70 else 1900 + c
        readings = [(year, b, a)] + ([(year, a, b)] if "/" in figure and a != b else [])
    return tuple((y, m, d) for y, m, d in readings if 1 <= m <= 12 and 1 <= d <= 31)


def _continues(left: str, gap: str, right: str) -> bool:
    if right in ("half", "quarter"):
        return gap in (" and a ", " and one ", "-and-a-") and left != "half"
    if right in SCALES:
        return gap in (" ", "-") or (
            (left == "half" and gap in (" a ", " of a ")) and left not in ("noon", "midnight")
        )
    if left in TENS and right in SIMPLE:
        return gap in (" ", "-") and 1 <= SIMPLE[right] <= 9
    if left in SCALES and left != "dozen" and (right in SIMPLE or right in TENS):
        return gap in (" and ", " ")
    return False


def _spoken_value(words: list[str]) -> float:
    total, current = 0.0, 0.0
    for word in words:
        value = _WORD_VALUES[word]
        if word in SCALES:
            current = (current or 1.0) * value
            if value >= 1e3:
                total, current = total + current, 0.0
        else:
            current += value
    return total + current
