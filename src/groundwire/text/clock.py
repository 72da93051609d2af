"""Times of day that no clock shows: "half past nine", "ten at night", and the hour in "opens at nine"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from groundwire.text.fact import Fact, Kind
from groundwire.text.units import CLOCK, SIMPLE


def find(lowered: str) -> Iterator[tuple[int, int, tuple[float, ...]]]:
    """Where times of day stand in words in a lower-case text, and how many minutes after midnight each is."""
    if " past " in lowered or "quarter " in lowered:  # as in few texts
        for match in _PAST.finditer(lowered):
            away = _AWAY[match["away"].removeprefix("a ")]
            hour, minute = (
                (_hour(match["to"]) - 1, 60 - away) if match["to"] else (_hour(match["past"]), away)
            )
            yield *match.span(), minutes(hour or 12, minute, _half(hour, match["part"]))
    if any(part in lowered for part in _PARTS):
        end = -1
        for match in _IN_THE.finditer(lowered):
            if match["after"] == "and" and match.start() != end + 1:
                continue  # "two and one in the evening" are pills
            written, _, past = match["hour"].partition(":")
            hour, end = _hour(written), match.end()
            yield match.start("hour"), end, minutes(hour, int(past or 0), _half(hour, match["part"]))


def minutes(hours: int, past: int, half: str | None) -> tuple[float, ...]:
    """Minutes after midnight; twice where ``half``, "a" or "p", doesn't say which half of the day it is."""
    if half is not None:
        return (float((hours % 12 + (12 if half == "p" else 0)) * 60 + past),)
    if 1 <= hours <= 12:
        return (float(hours % 24 * 60 + past), float((hours + 12) % 24 * 60 + past))
    return (float(hours % 24 * 60 + past),)


def as_hours(fact: Fact) -> Fact:
    """A bare figure that stands where hours of the day do, as a time; any other fact as it is.

    That is a range beside a weekday ("Saturday 9-13") or after "open", and an hour after "at" or "until"
    that counts nothing ("at nine", not "at nine stations").
    """
    if fact.kind is not Kind.NUMBER or fact.soft:
        return fact
    ends = (*fact.values, *fact.highs)
    if not ends or not all(0 <= value <= _HOURS and value % 1 == 0 for value in ends):
        return fact
    if not (_of_opening(fact) if fact.highs else _of_a_moment(fact)):
        return fact
    values, highs = (
        tuple(minute for value in side for minute in minutes(int(value), 0, None))
        for side in (fact.values, fact.highs)
    )
    return replace(fact, kind=Kind.TIME, measure=CLOCK, values=values, highs=highs)


def _of_opening(fact: Fact) -> bool:
    return bool(fact.days) or _OPEN.search(fact.before) is not None


def _of_a_moment(fact: Fact) -> bool:
    return (
        _AT.search(fact.before[-_LONGEST_AT:]) is not None and _COUNTS_NOTHING.match(fact.after) is not None
    )


_HOURS = 24
_WORDS = [word for word, value in SIMPLE.items() if 1 <= value <= 12]
_HOUR = rf"(?:{'|'.join(_WORDS)}|1[0-2]|[1-9])"
_AWAY = {"half": 30, "quarter": 15}
_AWAY |= {name: n for n in (5, 10, 20) for name in (str(n), {5: "five", 10: "ten", 20: "twenty"}[n])}
_PARTS = ("morning", "afternoon", "evening", "night")
_PART = r"(?P<part>in the (?:early |late )?(?:morning|afternoon|evening)|at night)\b"
_PAST = re.compile(
    rf"\b(?P<away>half|(?:a )?quarter|five|ten|twenty|5|10|20)"
    rf" (?:past (?P<past>{_HOUR})|(?<=quarter )to (?P<to>{_HOUR}))(?![\w:])(?: {_PART})?"
)
_IN_THE = re.compile(
    r"\b(?P<after>at|from|until|till|to|by|before|after|since|around|about|between|and|it['’]s|it is|already)"
    rf" (?P<hour>{_HOUR}(?::\d\d)?)(?: o['’]clock)? {_PART}"
)
_OPEN = re.compile(r"\b(?:open|opens|opening)(?: hours)?:? (?:from |between )?\Z", re.IGNORECASE)
_AT = re.compile(r"\b(?:at|by|until|till|from|to|before|after|since)[ \u00a0]\Z", re.IGNORECASE)
_LONGEST_AT = 8  # "before ", and what stands before it
_COUNTS_NOTHING = re.compile(
    r"\s*(?:[.,;:!?)]|\Z)|\s(?:on|and|or|but|every|each|in|to|until|till|for|from|sharp|daily|today|tomorrow"
    r"|if|when|while|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
    re.IGNORECASE,
)


def _hour(written: str) -> int:
    return int(SIMPLE[written]) if written in SIMPLE else int(written)


def _half(hour: int, part: str | None) -> str | None:
    """Which half of the day the hour of a part of it is in: "two at night" is before noon, ten is after."""
    if part is None:
        return None
    if part.endswith("night"):
        return "p" if 6 <= hour < 12 else "a"
    return "a" if part.endswith("morning") else "p"
