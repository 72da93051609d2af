"""Wrong statements made of right ones, with the wrong words known by construction.

Each corruption takes a grounded sentence and its context and changes one thing that the context then speaks
against, or does not speak of. Wherever it can, it takes the new words from the same context, so that
looking words up tells nothing. ``harmless`` makes the opposite: other words for the same figures. How rows
are made of them is not known here. The same seed gives the same words: what is drawn, and in which order, is
part of it.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundwire.core.span import Span
from groundwire.text import forms, tokens
from training.encoder_rows import Label, Mark


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A changed sentence, and its characters that no longer hold."""

    text: str
    wrong: tuple[Mark, ...]


Corruption = Callable[[str, str, random.Random], Changed | None]
"""From a sentence and what the new words come from: None where there is nothing to change."""


def _both_ways(pairs: str) -> dict[str, list[str]]:
    """Every word of the pairs with its opposites."""
    opposites: dict[str, list[str]] = {}
    for pair in pairs.split():
        one, other = pair.split("/")
        opposites.setdefault(one, []).append(other)
        opposites.setdefault(other, []).append(one)
    return opposites


_WORDS: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("corruption_words.toml").read_text(encoding="utf-8")
)
_NUMBERS = _WORDS["numbers"].split()
_EXCHANGED = [
    _WORDS["months"].split(),
    _WORDS["days"].split(),
    _NUMBERS[2:],  # "one" is mostly a pronoun
    *(line.split() for line in _WORDS["units"].strip().splitlines()),
]
_OPPOSITES = _both_ways(_WORDS["opposites"])

_FIGURE = re.compile(r"(?<![\w.,])\$?\d[\d,]*(?:[.:]\d+)?(?![\w])")
_DIGITS = re.compile(r"\d+")
_NAME = re.compile(r"\b[A-Z][a-z]+(?:[ -](?:of |the |de |and )?[A-Z][a-z]+)*\b")
_LONG_WORD = re.compile(r"\b[a-z]{5,}\b")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|could|should|will|would|may|must|has been|have been|does|did)\b(?! not)",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|never)\s+", re.IGNORECASE)
_ADJECTIVE = re.compile(r"\b(?:the|a|an) ([a-z]{5,})(?= [a-z]{4,})")
_NOUN = re.compile(r"(?<=\b[Tt]he )[a-z]{4,}\b")
_TAIL = re.compile(
    r"(?:,? (?:which|who|while|because|as well as|in order to|due to|such as|including"
    r"|making|providing|helping) "
    r"| (?:for|with|in|to|by|from|during|through|and|after|on|at) )[a-z][^.;:!?\n]{12,90}(?=[.!]?$)"
)
_LONGEST_EXTENDED = 260
_SHORTEST_BETWEEN_ROLES = 8


def corrupt(
    sentence: str,
    context: str,
    donor: str,
    rng: random.Random,
    among: Sequence[tuple[Corruption, float]] | None = None,
) -> Changed | None:
    """One corruption that fits, tried in random order; ``donor`` is a sentence about something else.

    ``among`` has the corruptions out of the context and how often each is tried: FROM_CONTEXT for None.
    """
    ways = [(way, context, weight) for way, weight in (FROM_CONTEXT if among is None else among)]
    ways += [(way, donor, weight) for way, weight in FROM_DONOR]
    while ways:
        (i,) = rng.choices(range(len(ways)), weights=[weight for _, _, weight in ways])
        way, source, _ = ways.pop(i)
        changed = way(sentence, source, rng)
        if changed is not None and changed.text != sentence:
            return changed
    return None


def harmless(sentence: str, rng: random.Random) -> str | None:
    """The same figures in another form: "4" as "four", "1,500" as "1500", "50%" as "50 percent"."""
    ways = list(_SAME_IN_OTHER_WORDS)
    rng.shuffle(ways)
    for pattern, new in ways:
        text = re.sub(pattern, new, sentence)
        if text != sentence:
            return text
    return None


_SAME_IN_OTHER_WORDS: Sequence[tuple[str, Callable[[re.Match[str]], str]]] = (
    (
        r"(?<![\w.,:$])(\d{1,2})(?![\w.,:%/-])",
        lambda m: _NUMBERS[int(m[1])] if int(m[1]) < len(_NUMBERS) else m[0],
    ),
    (rf"\b({'|'.join(_NUMBERS[2:])})\b", lambda m: str(_NUMBERS.index(m[1]))),
    (r"\b(\d{1,3}),(\d{3})\b", lambda m: m[1] + m[2]),
    (r"(?<=\d)\s?%", lambda _: " percent"),
    (r"(?<=\d) percent\b", lambda _: "%"),
    (r"\$(\d[\d.,]*\d|\d)(?! (?:m|b|t))", lambda m: m[1] + " dollars"),
    (r"\b(1?\d):00 ?([AaPp])\.?[Mm]\.?", lambda m: f"{m[1]} {m[2].lower()}m"),
    (r"\b([Dd]o|[Dd]oes|[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Ss]hould) not\b", lambda m: m[1] + "n't"),
)


def number(sentence: str, context: str, rng: random.Random) -> Changed | None:
    """Another figure: one that stands elsewhere in the context, or one near it."""
    here = list(_FIGURE.finditer(sentence))
    if not here:
        return None
    match = rng.choice(here)
    old = match.group()
    others = [
        other
        for other in _FIGURE.findall(context)
        if other.strip("$") != old.strip("$") and abs(len(other) - len(old)) <= 1
    ]
    if others and rng.random() < 0.6:
        new = rng.choice(others).strip("$")
        new = "$" + new if old.startswith("$") else new
    else:
        new = _near(old, rng)
    return None if new == old else _replaced(sentence, match, new, Label.CONTRADICTED)


def _near(figure: str, rng: random.Random) -> str:
    """The figure with one of its runs of digits moved up or down."""
    digits = rng.choice(list(_DIGITS.finditer(figure)))
    value = int(digits.group())
    by = rng.choice([1, 2, 3, 5, 10, max(1, value // 2), value])
    moved = value + by if rng.random() < 0.6 or value <= by else value - by
    return figure[: digits.start()] + str(moved).zfill(len(digits.group())) + figure[digits.end() :]


def calendar(sentence: str, context: str, rng: random.Random) -> Changed | None:
    """Another month, weekday, number word or unit."""
    del context
    spots = [
        (match, rng.choice([other for other in group if other != word]))
        for group in _EXCHANGED
        for word in group
        for match in re.finditer(rf"\b{re.escape(word)}(?!\w)", sentence)
    ]
    if not spots:
        return None
    match, new = rng.choice(spots)
    return _replaced(sentence, match, new, Label.CONTRADICTED)


def name(sentence: str, context: str, rng: random.Random) -> Changed | None:
    """Another name of the same context in the place of one."""
    # The first word of a sentence has its capital anyway.
    here = [match for match in _NAME.finditer(sentence) if match.start() > 0 and match.group() in context]
    if not here:
        return None
    match = rng.choice(here)
    old = match.group()
    alike = [
        other
        for other in sorted(set(_NAME.findall(context)) - {old})
        if (" " in other) == (" " in old)
        and other not in sentence
        and old not in other
        and len(other) > 3
        and other.lower() not in tokens.STOP_WORDS
        and " " + other in context
    ]
    return _replaced(sentence, match, rng.choice(alike), Label.CONTRADICTED) if alike else None


def roles(sentence: str, context: str, rng: random.Random) -> Changed | None:
    """Two names of a sentence in each other's place."""
    del context
    here = list(_NAME.finditer(sentence))
    pairs = [(a, b) for i, a in enumerate(here) for b in here[i + 1 :] if a.group() != b.group()]
    if not pairs:
        return None
    first, second = rng.choice(pairs)
    between = sentence[first.end() : second.start()]
    # Names in a list may change places: the statement stays the same.
    if len(between) < _SHORTEST_BETWEEN_ROLES or between.strip() in {"and", "or", ","}:
        return None
    start = sentence[: first.start()] + second.group()
    text = start + between + first.group() + sentence[second.end() :]
    later = len(start + between)
    return Changed(
        text=text,
        wrong=(
            Mark(Span(first.start(), len(start)), Label.CONTRADICTED),
            Mark(Span(later, later + len(first.group())), Label.CONTRADICTED),
        ),
    )


def opposite(sentence: str, context: str, rng: random.Random) -> Changed | None:
    """A word's opposite in its place."""
    del context
    spots = [m for m in re.finditer(r"\b[A-Za-z]+\b", sentence) if m.group().lower() in _OPPOSITES]
    if not spots:
        return None
    match = rng.choice(spots)
    new = rng.choice(_OPPOSITES[match.group().lower()])
    new = new.capitalize() if match.group()[0].isupper() else new
    return _replaced(sentence, match, new, Label.CONTRADICTED)


def negation(sentence: str, context: str, rng: random.Random) -> Changed | None:
    """A "not" more, or one less: then the words on both sides of its place are wrong."""
    del context
    denied = list(_NOT.finditer(sentence))
    if denied:
        return _affirmed(sentence, rng.choice(denied))
    spots = list(_AUXILIARY.finditer(sentence))
    if not spots:
        return None
    match = rng.choice(spots)
    new = "cannot" if match.group().lower() == "can" else match.group() + " not"
    return _replaced(sentence, match, new, Label.CONTRADICTED)


def _affirmed(sentence: str, denial: re.Match[str]) -> Changed:
    place = denial.start()
    text = sentence[:place] + sentence[denial.end() :]
    start = text.rfind(" ", 0, max(0, place - 1)) + 1
    rest = text[place:].split(maxsplit=1)
    end = place + (len(rest[0]) if rest else 0)
    return Changed(text=text, wrong=(Mark(Span(start, end), Label.CONTRADICTED),))


def other_word(sentence: str, context: str, rng: random.Random) -> Changed | None:
    """A content word of the context, of the same ending, in the place of another."""
    here = [match for match in _LONG_WORD.finditer(sentence) if match.group() not in tokens.STOP_WORDS]
    there = sorted(set(_LONG_WORD.findall(context)) - tokens.STOP_WORDS)
    if not here or not there:
        return None
    match = rng.choice(here)
    stems = {form.stem for form in forms.of(tokens.texts(sentence))}
    alike = [
        word for word in there if word[-2:] == match.group()[-2:] and forms.of([word])[0].stem not in stems
    ]
    return _replaced(sentence, match, rng.choice(alike), Label.UNSUPPORTED) if alike else None


def _replaced(sentence: str, old: re.Match[str], new: str, label: Label) -> Changed:
    text = sentence[: old.start()] + new + sentence[old.end() :]
    return Changed(text=text, wrong=(Mark(Span(old.start(), old.start() + len(new)), label),))


def invented(sentence: str, donor: str, rng: random.Random) -> Changed | None:
    """The end of a sentence about something else, on this one's end."""
    del rng
    tail = _TAIL.search(donor)
    if not tail or len(sentence) > _LONGEST_EXTENDED:
        return None
    body = sentence.rstrip(".! ")
    text = body + tail.group() + "."
    start = len(text) - len(tail.group().lstrip(", ")) - 1
    return Changed(text=text, wrong=(Mark(Span(start, len(text) - 1), Label.UNSUPPORTED),))


def inserted(sentence: str, donor: str, rng: random.Random) -> Changed | None:
    """A descriptive word of a sentence about something else before one of this one's nouns."""
    words = [w for w in _ADJECTIVE.findall(donor) if w not in sentence and w not in tokens.STOP_WORDS]
    places = [match.start() for match in _NOUN.finditer(sentence)]
    if not words or not places:
        return None
    place, new = rng.choice(places), rng.choice(words)
    text = sentence[:place] + new + " " + sentence[place:]
    return Changed(text=text, wrong=(Mark(Span(place, place + len(new)), Label.UNSUPPORTED),))


# How often each is tried, beside the others.
FROM_CONTEXT: Sequence[tuple[Corruption, float]] = (
    (number, 3.0),
    (calendar, 2.0),
    (name, 3.0),
    (roles, 1.5),
    (opposite, 3.0),
    (negation, 1.2),
    (other_word, 2.0),
)
FROM_DONOR: Sequence[tuple[Corruption, float]] = ((invented, 2.5), (inserted, 1.2))
