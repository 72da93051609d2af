"""An exact fact: the value type that ``numerals`` reads and ``facts`` compares."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from groundwire.core.cached import cached_property
from groundwire.core.span import Span
from groundwire.text import forms, tokens, weekdays
from groundwire.text.units import NUMBER_LIKE, Unit

T = TypeVar("T")


class Kind(StrEnum):
    """What sort of fact."""

    NUMBER = "number"
    MEASURE = "measure"
    PERCENT = "percentage"
    MONEY = "amount"
    DATE = "date"
    TIME = "time"
    CODE = "code"


PHONE = "phone "
"""What the code of a telephone number begins with, before its digits without the zeros that lead out."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """An exact fact and its place in ``source``.

    ``values`` are its readings in the unit's base, ``highs`` those of a range's upper end (empty where it
    is no range), ``numbers`` all of them as written, ``dates`` the readings (year, month, day) of a date, 0
    where it doesn't say, ``code`` the characters of a code. ``bound`` is +1 for "at least", -1 for "at
    most". A ``soft`` fact ("a week", "one") may bear another out, but is not missed. ``label`` is the name
    that a number belongs to, as in "Terminal 2".
    """

    kind: Kind
    span: Span
    source: str
    values: tuple[float, ...] = ()
    highs: tuple[float, ...] = ()
    numbers: tuple[float, ...] = ()
    dates: tuple[tuple[int, int, int], ...] = ()
    code: str = ""
    measure: Unit | None = None
    bound: int = 0
    hedged: bool = False
    soft: bool = False
    label: str = ""

    @property
    def text(self) -> str:
        """The fact as it is written."""
        return self.source[self.span.start : self.span.end]

    @property
    def unit(self) -> str:
        """The dimension or currency, or "" where there is none."""
        return self.measure.dimension if self.measure else ""

    @property
    def system(self) -> str:
        """Whether its unit is metric or customary."""
        return self.measure.system if self.measure else "metric"

    @property
    def is_phone(self) -> bool:
        """Whether it is a telephone number."""
        return self.code.startswith(PHONE)

    @property
    def dialled(self) -> str:
        """The digits of a telephone number, with its country's code where that is written."""
        return self.code.removeprefix(PHONE)

    @property
    def is_compound(self) -> bool:
        """Whether it is written in two units, as "2 hours 30 minutes"; its second value is the "2 hours"."""
        return self.kind is Kind.MEASURE and len(self.values) == 2 > len(self.numbers) == 1

    def ends(self) -> tuple[Fact, ...]:
        """The two ends of a range, each as a fact of its own; a fact that is no range alone."""
        if not self.highs:
            return (self,)
        half = len(self.values)
        low = replace(self, highs=(), numbers=self.numbers[:half])
        return low, replace(self, values=self.highs, highs=(), numbers=self.numbers[half:])

    def parts(self) -> tuple[Fact, ...]:
        """The "2 hours" and the "30 minutes" of a compound, each a fact; none of another."""
        if not self.is_compound:
            return ()
        whole, first = self.values
        return replace(self, values=(first,)), replace(self, values=(whole - first,), numbers=())

    def once(self, work: Callable[[Fact], T]) -> T:
        """What a function of the fact alone makes of it, worked out at its first call."""
        if work not in self._worked_out:
            self._worked_out[work] = work(self)
        made: T = self._worked_out[work]
        return made

    @cached_property
    def _worked_out(self) -> dict[Callable[[Fact], Any], Any]:
        return {}

    @cached_property
    def before(self) -> str:
        """What its sentence or row says before it, as far as is near."""
        near = self.source[max(0, self.span.start - _NEAR) : self.span.start]
        return _LINE_END.split(near)[-1]

    @cached_property
    def after(self) -> str:
        """What its sentence or row says after it, as far as is near."""
        near = self.source[self.span.end : self.span.end + _NEAR]
        return _LINE_END.split(near, maxsplit=1)[0]

    @cached_property
    def around(self) -> frozenset[str]:
        """The stems of the content words beside it, in its sentence or row."""
        return _content(self.before) | _content(self.after)

    @cached_property
    def days(self) -> frozenset[int]:
        """The days of the week that it is said of, Monday being 0; empty where none are named."""
        return weekdays.about(self.before, self.after)

    @cached_property
    def is_stamp(self) -> bool:
        """Whether a line of a chat was written then: "priya 11:02: I have Thursday", "[11:02] priya: hi"."""
        if self.kind is not Kind.TIME:
            return False
        if not self.before.strip("[(* "):
            return _SPEAKS.match(self.after) is not None
        return _SPEAKER.fullmatch(self.before) is not None and _COLON.match(self.after) is not None

    @cached_property
    def is_day(self) -> bool:
        """Whether it is the day of some month: "the 6th", and not "the 6th floor"."""
        if self.kind is not Kind.NUMBER or self.highs or self.values[0] > _LAST_DAY:
            return False
        ordinal = self.text[-2:].lower() in _ORDINAL_MARKS and _THE.search(self.before) is not None
        return ordinal and not _content(" ".join(self.after.split()[:1]))

    @property
    def is_bare_year(self) -> bool:
        """Whether it is four digits alone, which may be a year or count something."""
        return self.kind is Kind.DATE and len(self.text) == _YEAR and self.text.isdigit()

    @cached_property
    def may_count(self) -> bool:
        """Whether a bare year is the value of an entry or a cell: the 1899 of ``"price": 1899``."""
        return self.is_bare_year and _ENTRY.search(self.before) is not None

    @cached_property
    def is_century(self) -> bool:
        """Whether it numbers a century: "18th century"."""
        return self.kind is Kind.NUMBER and not self.highs and _CENTURY.match(self.after) is not None

    @cached_property
    def in_heading(self) -> bool:
        """Whether it stands in a heading, whose words name what all below it is about."""
        return self.before.lstrip().startswith("#")

    @cached_property
    def counted(self) -> frozenset[str]:
        """The stems of the two words after it: what is counted."""
        return _content(" ".join(self.after.split()[:2]))


_NEAR = 90
_ORDINAL_MARKS, _LAST_DAY = ("st", "nd", "rd", "th"), 31
_THE = re.compile(r"\b(?:on|by|until|till|from|since|after|before|of|and|to) the \Z", re.IGNORECASE)
# A name, perhaps marked, and perhaps a date in brackets; then the time and a colon.
_SPEAKER = re.compile(
    r"[*_<\[]*@?\w[\w'.-]*(?: [\w'.-]+){0,2}[*_>\]]* ?(?:[(\[][^()\[\]]{1,30}[)\]]? ?)?[(\[]?"
)
_COLON = re.compile(r"(?: ?[ap]\.?m\b\.?)?[)\]]?[*_]*:\s")
_SPEAKS = re.compile(r"[)\]]?[*_]* +[*_<]*@?\w[\w'.-]*(?: [\w'.-]+){0,2}[*_>]*:\s")
_YEAR = 4
_ENTRY = re.compile(r"(?:[:=|;\t] *[\"']?|,)\Z")
_CENTURY = re.compile(r"[ -]century\b", re.IGNORECASE)
_LINE_END = re.compile(r"\n|[.!?;]\s")


def _content(text: str) -> frozenset[str]:
    found = forms.of(tokens.texts(text))
    return frozenset(
        [
            form.stem
            for form in found
            if form.content
            and len(form.folded) > 1
            and form.folded not in NUMBER_LIKE
            and not form.folded[0].isdigit()
        ]
    )
