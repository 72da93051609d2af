"""Which days of the week a figure is about: "Mon-Fri 9-17, Sat 10-14" is about two kinds of days."""

from __future__ import annotations

import re


def about(before: str, after: str) -> frozenset[int]:
    """The days, Monday being 0, that a figure between two texts is about; empty where none are named.

    The nearest name counts. One behind the figure is its own only if no comma or "and" stands between, or a
    comma alone ("9 to 5, Monday to Friday"): in "12 to 5, with longer hours on Friday" it is none of the
    figure's.
    """
    found = [(_distance(before[m.end() :]), _days(m)) for m in list(_DAYS.finditer(before))[-1:]]
    behind = _DAYS.search(after)
    if behind is not None and _own(after[: behind.start()]):
        found.append((_distance(after[: behind.start()]), _days(behind)))
    return min(found, key=lambda item: item[0])[1] if found else frozenset()


def runs(text: str) -> list[frozenset[int]]:
    """The days of each run from one day of the week to another: "Monday to Thursday" has four."""
    found = (match for match in _DAYS.finditer(text) if _TO.search(match.group()))
    return [_days(match) for match in found if len(_NAME.findall(match.group())) == _ENDS_OF_RUN]


def _own(between: str) -> bool:
    return _ENDS.search(between) is None or _COMMA_ALONE.fullmatch(between) is not None


_DAYS_OF_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEK = frozenset(
    ["weekday", "weekdays", "weekend", "weekends", "daily", "day", "days", "week"]
    + [name + plural for name in _DAYS_OF_WEEK for plural in ("", "s")]
)
"""Words for days of the week, one or several at once, which documents shorten ("Fri")."""

_NAMES = (
    "mondays?|montags?|lundis?|lunes|lunedì|segundas?(?:-feiras?)?|maandags?",
    "tuesdays?|dienstags?|mardis?|martes|martedì|terças?(?:-feiras?)?|dinsdags?",
    "wednesdays?|mittwochs?|mercredis?|miércoles|mercoledì|quartas?-feiras?|woensdags?",
    "thursdays?|donnerstags?|jeudis?|jueves|giovedì|quintas?-feiras?|donderdags?",
    "fridays?|freitags?|vendredis?|viernes|venerdì|sextas?(?:-feiras?)?|vrijdags?",
    "saturdays?|samstags?|sonnabends?|samedis?|sábados?|sabato|zaterdags?",
    "sundays?|sonntags?|dimanches?|domingos?|domenica|domeniche|zondags?",
)
# Only with a capital, and before what a day is followed by: nobody means Sunday by "the sun", or by "So".
_SHORT = (
    "Mon|Mo|Lun",
    "Tues?|Di",
    "Wed|Mi|Mer|Mié",
    "Thu(?:rs?)?|Do|Jeu|Jue|Gio",
    "Fri|Fr|Ven|Vie",
    "Sat?|Sam|Sab|Sáb",
    "Sun|So|Dim|Dom",
)
_FOLLOWS = r"(?=\.?(?:\s?[:,&/–-]|\s(?:to|and|bis|und|au|a|et|y|e|en)\s|(?<!Do)(?<!So)\s(?:\d|\Z)))"
_WEEK = {
    "weekday": range(5),
    "weekend": range(5, 7),
    "daily": range(7),
    "every day": range(7),
    "seven days a week": range(7),
    "7 days a week": range(7),
    "täglich": range(7),
}
_ONE = "|".join(f"(?:(?i:{long})|(?:{short}){_FOLLOWS})" for long, short in zip(_NAMES, _SHORT, strict=True))
_ANY_SHORT = "|".join(_SHORT)
_JOINT = r"[\"'*]*\s?(?:,|/|&|\+|-|–|—|and|to|through|until|till|und|bis|et|au|à|y|a|e|en|t/m|tot)\s?[\"'*]*"
_DAYS = re.compile(
    rf"\b(?:(?:{_ONE})\b\.?(?:{_JOINT}(?:{_ONE}|{_ANY_SHORT})\b\.?)*"
    r"|(?i:weekdays?|weekends?|daily|every day|(?:seven|7) days a week|täglich)\b)"
)
_TO = re.compile(r"-|–|—|to|through|until|till|bis|au|à|a|t/m|tot")
_RANGE = re.compile(rf"[\"'*. ]*+(?:{_TO.pattern})[\"'* ]*+")
_EACH = [re.compile(f"(?i:{long})|(?:{short})") for long, short in zip(_NAMES, _SHORT, strict=True)]
_NAME = re.compile(rf"\b(?:(?i:{'|'.join(_NAMES)})|{_ANY_SHORT})\b")


def _days(match: re.Match[str]) -> frozenset[int]:
    text = match.group()
    for word, days in _WEEK.items():
        if text.lower().startswith(word):
            return frozenset(days)
    found: list[int] = []
    last = 0
    for name in _NAME.finditer(text):
        day = next(i for i, each in enumerate(_EACH) if each.fullmatch(name.group()))
        if found and _RANGE.fullmatch(text[last : name.start()]):
            found += [d % 7 for d in range(found[-1], found[-1] + (day - found[-1]) % 7)]
        found.append(day)
        last = name.end()
    return frozenset(found)


def _distance(between: str) -> int:
    """How far apart, in characters, where a comma or "and" counts for many."""
    return len(between) + _FAR * len(_ENDS.findall(between))


_COMMA = re.compile(r"[,;|]|[.!?](?=\s)")
_ENDS = re.compile(rf"{_COMMA.pattern}|\b(?:and|und|et|y|e|en)\b")
_COMMA_ALONE = re.compile(r", (?:from )?")
_FAR, _ENDS_OF_RUN = 60, 2
