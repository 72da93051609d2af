"""Relations and contrasts of ``facts.toml``, and the names and figures that stand for their parts.

A relation's forms all say the same of its parts. A contrast has two sides: all sentences of a side say the
same, and neither side follows from the other; where the first alone may hold, those of the second needn't be
alike. What passages and statements are made of them is none of its business.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groundwire.core.span import Span
from training.encoder_rows import Label

FACTS = Path(__file__).with_name("facts.toml")

PERSON = "person"

_PART = re.compile(r"\{(\w+)\}")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_UNITS = (("minutes", 59), ("hours", 23), ("days", 6), ("weeks", 4), ("months", 11), ("years", 60))

Values = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Relation:
    """Forms that say the same of the same parts; each part is of a kind."""

    parts: Mapping[str, str]
    forms: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """Two sides that don't follow from each other; with ``only_one``, the first alone may be what holds."""

    parts: Mapping[str, str]
    one: Sequence[str]
    other: Sequence[str]
    label: Label
    only_one: bool


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What ``facts.toml`` has."""

    words: Mapping[str, Sequence[str]]
    relations: Sequence[Relation]
    contrasts: Sequence[Contrast]

    @classmethod
    def read(cls, path: Path) -> Facts:
        """Raises ValueError where a form is alone or has other parts, or where a kind has no words."""
        read = tomllib.loads(path.read_text(encoding="utf-8"))
        relations = [Relation(parts=each["parts"], forms=each["forms"]) for each in read.get("relation", [])]
        contrasts = [_contrast(each) for each in read.get("contrast", [])]
        for relation in relations:
            _check(relation.parts, relation.forms)
        for contrast in contrasts:
            _check(contrast.parts, [*contrast.one, *contrast.other])
        known = {*read["words"], *_MADE, PERSON}
        asked = [each.parts for each in relations] + [each.parts for each in contrasts]
        if unknown := {kind for parts in asked for kind in parts.values()} - known:
            raise ValueError(f"no words for {sorted(unknown)}")
        return cls(words=read["words"], relations=relations, contrasts=contrasts)


def _contrast(read: Mapping[str, Any]) -> Contrast:
    return Contrast(
        parts=read["parts"],
        one=read["one"],
        other=read["other"],
        label=Label[read["label"].upper()],
        only_one=read.get("only") == "one",
    )


def _check(parts: Mapping[str, str], texts: Sequence[str]) -> None:
    if len(texts) < 2:
        raise ValueError(f"nothing to say {sorted(parts)} in other words with: {texts}")
    for text in texts:
        if set(_PART.findall(text)) != set(parts):
            raise ValueError(f"other parts than {sorted(parts)}: {text}")


class NoneLeftError(Exception):
    """A passage would need more values of a kind than there are."""


@dataclass(kw_only=True)
class Drawn:
    """Names and figures for one passage: none is drawn twice."""

    words: Mapping[str, Sequence[str]]
    rng: random.Random
    like_another: float = 0.0
    """How many people share a name with another."""

    used: set[str] = field(default_factory=set)

    def one(self, kind: str) -> str:
        """A new value of this kind. Raises NoneLeftError where all are used."""
        for _ in range(100):
            value = self._drawn(kind)
            if value not in self.used:
                self.used.add(value)
                return value
        raise NoneLeftError(f"no more words for {kind}")

    def values(self, parts: Mapping[str, str]) -> Values:
        return {part: self.one(kind) for part, kind in parts.items()}

    def _drawn(self, kind: str) -> str:
        if kind == PERSON:
            return self._person()
        if kind in _MADE:
            return _MADE[kind](self.rng)
        return self.rng.choice(self.words[kind])

    def _person(self) -> str:
        first, last = (self.rng.choice(self.words[f"{which}_name"]) for which in ("first", "last"))
        last_names = self.words["last_name"]
        known = [value.split() for value in sorted(self.used) if value.split()[-1] in last_names]
        if known and self.rng.random() < self.like_another:
            other = self.rng.choice(known)
            first, last = (other[0], last) if self.rng.random() < 0.5 else (first, other[-1])
        return f"{first} {last}"


def _count(rng: random.Random) -> str:
    return str(rng.randint(2, rng.choice([12, 60, 400])))


def _money(rng: random.Random) -> str:
    if rng.random() < 0.3:
        return f"${rng.randint(11, 99) / 10} {rng.choice(['million', 'billion'])}"
    return f"${rng.randint(2, 99) * rng.choice([1, 5, 10, 100]):,}"


def _duration(rng: random.Random) -> str:
    """Of a unit, fewer than the next one has: no two are the same length."""
    unit, most = rng.choice(_UNITS)
    number = rng.randint(2, most)
    spelt = number - 2 < len(_NUMBERS)
    return f"{_NUMBERS[number - 2] if spelt else number} {unit}"


def _time(rng: random.Random) -> str:
    return f"{rng.randint(1, 12)}:{rng.choice(['00', '15', '30', '45'])} {rng.choice(['a.m.', 'p.m.'])}"


_MADE: Mapping[str, Callable[[random.Random], str]] = {
    "year": lambda rng: str(rng.randint(1890, 2024)),
    "date": lambda rng: f"{rng.randint(1, 28)} {rng.choice(_MONTHS)}",
    "money": _money,
    "count": _count,
    "percent": lambda rng: f"{rng.randint(2, 95)}%",
    "duration": _duration,
    "time": _time,
    "weekday": lambda rng: rng.choice(_DAYS),
    "month": lambda rng: rng.choice(_MONTHS),
}
"""Kinds of figures, which need no list; people are put together of two."""


def filled(form: str, values: Mapping[str, str]) -> tuple[str, list[tuple[str, Span]]]:
    """The sentence, and where each part stands in it."""
    text, places, last = "", [], 0
    for match in _PART.finditer(form):
        text += form[last : match.start()]
        start = len(text)
        text += values[match[1]]
        places.append((match[1], Span(start, len(text))))
        last = match.end()
    # "at 7:30 a.m." may end a sentence.
    text += form[last + 1 :] if text.endswith(".") and form[last:].startswith(".") else form[last:]
    first = text.split(maxsplit=1)[0]
    as_it_is = "_" in first or "(" in first  # names in code
    return (text if as_it_is else text[:1].upper() + text[1:]), places
