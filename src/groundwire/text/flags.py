"""What records answer with yes, no or nothing: ``"OutdoorSeating": false``, ``wifi: no``, ``"bar": null``.

Reading alone. What an entry means for a statement belongs to the detectors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from groundwire.core.span import Span
from groundwire.text import forms


@dataclass(frozen=True, slots=True)
class Flag:
    """An entry of a record: ``key`` is what it is about, ``value`` None where the record doesn't know.

    ``key`` is the stems of the entry's name in one word, so that "OutdoorSeating", "outdoor_seating" and
    "Outdoor seating" are one. For an entry of an object it ends with the object's ``kind``, if that is about
    something: a "garage" of "Parking" is a garage for parking. ``short`` is the least that names the entry:
    "garage" here, "groups" of "GoodForGroups".
    """

    key: str
    short: str
    kind: str
    value: bool | None
    span: Span


def find(text: str) -> list[Flag]:
    """The entries of ``text`` that say yes, no or nothing, in order."""
    if _ANY.search(text) is None:
        return []
    matches = list(_ENTRY.finditer(text))
    # One line of a letter may look like an entry ("Answer: no"): a record quotes its names, or has several.
    if len(matches) < _FEWEST and not any(match["quote"] for match in matches):
        return []
    return [
        Flag(
            key=_joined([*name, *kind]),
            short=_joined(name[2:] if name[:2] == _GOOD_FOR and name[2:] else name),
            kind=_joined(kind),
            value=_VALUES[match["value"].lower()],
            span=Span(match.start("whole"), match.end("whole")),
        )
        for match in matches
        for name, kind in [_about(match["name"], _inside(text, match.start("whole")))]
        if name
    ]


def _inside(text: str, at: int) -> str:
    """The name of the object that an entry is in: "Parking" in ``{"Parking": {"garage": false}}``."""
    names: list[str] = []
    for match in _OBJECT.finditer(text, max(0, at - _FAR), at):
        if match.group() == "}":
            del names[-1:]
        else:
            names.append(match["name"] or "")
    return names[-1] if names else ""


_FAR = 2_000
_OBJECT = re.compile(r"(?:[\"'](?P<name>[^\"'\n]{1,40})[\"']\s{0,4}:\s{0,4})?\{|\}")
_FEWEST = 2
_VALUES = {"true": True, "yes": True, "false": False, "no": False, "null": None, "none": None}
_ANY = re.compile(r"[:=]\s{0,4}[\"']?(?:true|yes|false|no|null|none)\b", re.IGNORECASE)
_ENTRY = re.compile(
    r"""(?:^|[{,;\[])[ \t\r\n]{0,20}+
    (?P<whole>(?P<quote>["']?)(?P<name>[^\W\d_][\w -]{1,40}+)(?P=quote)\s{0,4}+[:=]\s{0,4}+
    (?P<mark>["']?)(?P<value>true|yes|false|no|null|none)(?P=mark))
    (?=[ \t]*+(?:[,;}\]\r\n]|\Z))""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+")
# What names an entry beside what it is about: "hasWifi", "OffersDelivery", "RestaurantsTakeOut".
_PREFIXES = frozenset(
    ["has", "is", "are", "offers", "offer", "allows", "accepts", "restaurants", "restaurant", "does"]
)


_GOOD_FOR = ["good", "for"]


def _about(name: str, inside: str) -> tuple[list[str], list[str]]:
    """The words of an entry's name, and the one that says what its object is about, if any."""
    words = _words(name)
    while len(words) > 1 and words[0] in _PREFIXES:
        words = words[1:]
    return words, [word for word in _words(inside)[-1:] if word not in _GENERAL]


def _words(name: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(name)]


def _joined(words: Iterable[str]) -> str:
    return "".join(form.stem for form in forms.of(words)).replace("-", "")


# Objects that only gather entries, and are about nothing.
_GENERAL = frozenset(
    """
    attributes attribute amenities features feature services service facilities options option info
    information details data record item product hotel restaurant policy policies settings properties
    """.split()  # noqa: SIM905
)
