"""Which of some like things a text names: the rows and the columns of a table, by the words on them.

Words that only one of them has name it, and so do all of its words. "First quarter" is "Q1", "three" is 3.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groundwire.core.span import Span
from groundwire.text.tokens import STOP_WORDS
from groundwire.text.units import MONTHS, NUMBER_WORDS, ORDINALS
from groundwire.text.worded import word


@dataclass(frozen=True, slots=True)
class Called:
    """The number of what is named, and the words that name it."""

    number: int
    span: Span
    words: frozenset[int]
    whole: bool


Stems = Sequence[tuple[str, Span]]


def stems(text: str) -> Stems:
    """The words that name something, in one form, and their places."""
    worded = word(_HIGH.sub(" ", text))
    found: list[tuple[str, Span]] = []
    forms = list(zip(worded.folded, worded.stems, worded.words, strict=True))
    parts = [
        (part, stem if part == folded else part, place.span)
        for folded, stem, place in forms
        for part in (folded.split("-") if _ORDINAL_PART.match(folded) else [folded])
    ]
    for i, (folded, stem, place) in enumerate(parts):
        if found and i and folded in _PARTS and parts[i - 1][0] in _NUMBERED:
            number = _NUMBERED[parts[i - 1][0]]
            if found[-1][1] == parts[i - 1][2]:
                found.pop()
            found.append((f"{folded[0]}{number}", Span(parts[i - 1][2].start, place.end)))
        elif folded in MONTHS and place.of(text)[:1].isupper():
            found.append((f"month {MONTHS[folded]}", place))
        elif folded in NUMBER_WORDS:
            found.append((f"{NUMBER_WORDS[folded]:g}", place))
        elif folded not in _EMPTY:
            found.append((stem, place))
    return found


class Names:
    """The names of like things, arranged so that one look-up takes no longer for more of them."""

    def __init__(self, names: Iterable[str], besides: Iterable[str] = (), *, above: str = "") -> None:
        """``besides`` is what else tells each: it names it by a word of its own, and need not be said.

        What stands ``above`` them all tells none of them.
        """
        self._above = frozenset(stem for stem, _ in stems(above))
        self._names = [frozenset(stem for stem, _ in stems(_outside_brackets(name))) for name in names]
        self._having: dict[str, set[int]] = defaultdict(set)
        for number, name in enumerate(self._names):
            for stem in name:
                self._having[stem].add(number)
        self._besides: set[str] = set()
        for number, more in enumerate(besides):
            for stem, _ in stems(more):
                self._having[stem].add(number)
                if stem not in self._names[number]:
                    self._besides.add(stem)

    def __len__(self) -> int:
        return len(self._names)

    def have(self, stem: str) -> bool:
        """Whether some name has the stem."""
        return stem in self._having

    def called(self, said: Stems) -> list[Called]:
        """Those that are named, in the order of the words that name them."""
        runs: list[Called] = []
        places: dict[int, list[int]] = defaultdict(list)
        for i, (stem, _) in enumerate(said):
            having = self._having.get(stem, ())
            if len(having) <= _SHARED:
                for number in having:
                    places[number].append(i)
        for number, there in places.items():
            run: list[int] = []
            for i in [*there, len(said) + _NEAR + 1]:
                if run and i - run[-1] > _NEAR:
                    runs += self._named(number, run, said)
                    run = []
                run.append(i)
        kept = [a for a in runs if not any(a.words < b.words or _within(a, b) for b in runs)]
        several = {a.words for a in kept for b in kept if a.words == b.words and a.number != b.number}
        return sorted((a for a in kept if a.words not in several), key=lambda one: one.span.start)

    def _named(self, number: int, run: Sequence[int], said: Stems) -> list[Called]:
        there = {said[i][0] for i in run}
        # A flight's "From" names none where another goes to that place.
        whole = self._names[number] <= there and not self._names[number] <= self._besides
        tell = there - self._above - _GENERAL
        own = any(len(self._having[stem]) == 1 and _TELLS.fullmatch(stem) for stem in tell)
        if not (whole or own):
            return []
        if (
            not whole
            and _HALF * len(there & self._names[number]) < len(self._names[number])
            and there & self._names[number]
        ):
            return []
        return [Called(number, Span(said[run[0]][1].start, said[run[-1]][1].end), frozenset(run), whole)]


def _within(part: Called, other: Called) -> bool:
    """Whether a word of one name stands beside the whole of another: the "revenue" of "coatings revenue"."""
    beside = any(abs(i - j) == 1 for i in part.words for j in other.words)
    return other.whole and not part.whole and part.number != other.number and beside


def _outside_brackets(name: str) -> str:
    """A name without its unit or the like; as it is, where that leaves no word."""
    outside = _BRACKETS.sub(" ", name)
    return outside if any(map(str.isalpha, outside)) else name


_BRACKETS = re.compile(r"\([^()]*+\)")
_HALF = 2
_SHARED = 24  # a word that more of them share tells none of them
_NEAR = 2
# Figures but years tell nothing by themselves.
_TELLS = re.compile(r"(?=.*[^\W\d_]).{3,}|(?:19|20)\d\d")
_GENERAL = frozenset(
    """
    under over above below more less part up down first last start year month week day hour minut time all any
    each every without after before until from
    """.split()  # noqa: SIM905
)
_HIGH = re.compile("[⁰¹²³⁴-⁹*†‡]")
_EMPTY = STOP_WORDS - {"other", "same", "very", "own", "about"}
_PARTS = frozenset(["quarter", "half"])
_NUMBERED = {**{form: f"{number:g}" for form, number in ORDINALS.items()}, "1st": "1", "2nd": "2", "3rd": "3"}
_NUMBERED |= {"4th": "4"}
_ORDINAL_PART = re.compile(r"(?:first|second|third|fourth)-(?:quarter|half)\Z")
