"""What hours are said of which days of the week: "Mon-Fri 9-17" bears nothing out that is said of Sunday."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from groundwire.text.agreement import agree
from groundwire.text.clock import as_hours
from groundwire.text.fact import Fact, Kind


def on_other_days(fact: Fact, other: Fact) -> bool:
    """Whether the two are said of different days of the week."""
    return bool(fact.days and other.days) and fact.days.isdisjoint(other.days)


class Hours:
    """The hours among the facts of the contexts, by the days that they are said of."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._on: dict[int, list[Fact]] = defaultdict(list)
        for fact in facts:
            if fact.kind is Kind.TIME and fact.highs:
                for day in fact.days:
                    self._on[day].append(fact)

    def counts_days(self, fact: Fact) -> bool:
        """Whether a fact tells on how many days there are hours: both ends of "five days a week"."""
        number = _days_a_week(fact)
        return number > 0 and number == len(self._on)

    def otherwise(self, fact: Fact, equals: Sequence[Fact]) -> Fact | None:
        """Other hours of a day that hours are said of: "Monday to Sunday, 9 to 5" where Sunday has 10 to 4.

        ``equals`` say the same hours. None where they say it of all these days, or of none in particular,
        where a day has more hours than one, or where the statement allows for exceptions.
        """
        if fact.kind is not Kind.TIME or not fact.highs or not equals or _roughly(fact, equals):
            return None
        for day in sorted(_more(fact, equals)):
            hours = self._on.get(day, ())
            if hours and all(agree(hours[0], other) for other in hours[1:]):
                return hours[0]
        return None


def of_more_days(fact: Fact, equals: Sequence[Fact]) -> bool:
    """Whether ``equals`` say the same hours of other days only, or of fewer: "daily" where it is weekdays.

    One day too many is taken for a manner of speaking: "open all week, 9 to 5", but for a Sunday.
    """
    if as_hours(fact).kind is not Kind.TIME or not fact.days or not equals or _roughly(fact, equals):
        return False
    more = _more(fact, equals)
    return more == fact.days or len(more) > 1


def _more(fact: Fact, equals: Sequence[Fact]) -> frozenset[int]:
    return fact.days.difference(*(other.days for other in equals))


def _roughly(fact: Fact, equals: Sequence[Fact]) -> bool:
    """Whether the days are not to be taken by the letter, such as in "with longer hours on Friday"."""
    excepts = _EXCEPTS.search(fact.before) or _EXCEPTS.search(fact.after)
    return excepts is not None or not all(other.days for other in equals)


_EXCEPTS = re.compile(
    r"\b(?:except|but|while|extend\w*|longer|shorter|later|earlier|reduced|var(?:y|ies|ying)|different|most"
    r"|usually|generally|typically|often|some|and until)\b",
    re.IGNORECASE,
)


def _days_a_week(fact: Fact) -> int:
    """The number of "five days a week", of which both "five days" and "a week" are facts; 0 for others."""
    if fact.unit != "time":
        return 0
    days = _SO_MANY_DAYS.search(fact.text if _A_WEEK.match(fact.after) else fact.before)
    return _NUMBERS.get(days[1].lower(), 0) if days else 0


_A_WEEK = re.compile(r"\s*(?:a|per|each|every) week\b")
_SO_MANY_DAYS = re.compile(r"\b(\w+) days?\s?\Z")
_NUMBERS = {
    written: number
    for number, word in enumerate(("one", "two", "three", "four", "five", "six", "seven"), start=1)
    for written in (word, str(number))
}
