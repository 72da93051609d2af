"""What a claim takes from two things said side by side: "Anna leads support", where Boris does.

Only for two short clauses of one build, or two such sentences: in longer ones, words that stand in each
other's place are mostly about something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations

from groundwire.detectors.lexical_seen import Otherwise
from groundwire.detectors.lexical_words import MODAL
from groundwire.text import clauses
from groundwire.text.overlap import Context, Match
from groundwire.text.worded import Worded, word


def crossed(text: str, claim: Worded, matches: Sequence[Match], context: Context) -> Otherwise | None:
    """A word of the claim, of one clause, that stands where the clause it goes on with has another.

    None where the claim lists two things itself, or says anything that neither clause does.
    """
    if claim.negated:
        return None
    if (turned := _turned(text, claim, matches, context)) is not None:
        return turned
    if len(claim.folded) > _LONGEST or len(clauses.cut(text)) > 1:
        return None
    said = {claim.stems[i] for i in claim.content if claim.folded[i] not in MODAL}
    for one, other, near in _side_by_side(said, matches, context):
        for here, there in ((one, other), (other, one)):
            if (swapped := _swapped(said, here, there, near)) is not None:
                at = claim.stems.index(swapped[0])
                return Otherwise(at, claim.words[at].text, swapped[1], there.where)
    return None


def _turned(text: str, claim: Worded, matches: Sequence[Match], context: Context) -> Otherwise | None:
    """The first end of a way that the documents only have in the other direction: "from Rome to Oslo"."""
    mine = _FROM_TO.search(text)
    if mine is None:
        return None
    ends = mine["from"].lower(), mine["to"].lower()
    ways = [
        (way["from"].lower(), way["to"].lower(), match)
        for match in matches
        for way in _FROM_TO.finditer(_sentence(match, context))
    ]
    turned = next((where for start, end, where in ways if (end, start) == ends), None)
    if turned is None or any((start, end) == ends for start, end, _ in ways):
        return None
    at = next(i for i, one in enumerate(claim.words) if one.start >= mine.start("from"))
    return Otherwise(at, mine["from"], mine["to"], turned)


def _sentence(match: Match, context: Context) -> str:
    passage = context.passages[match.passage]
    return passage.sentences[match.sentence].of(passage.text)


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause's content words by their stems: as each is written, and the words right before it."""

    stems: dict[str, tuple[str, tuple[str, ...]]]
    where: Match

    @classmethod
    def of(cls, text: str, where: Match) -> _Clause:
        worded, before = word(text), [""]
        places: dict[str, tuple[str, tuple[str, ...]]] = {}
        for i, (folded, stem) in enumerate(zip(worded.folded, worded.stems, strict=True)):
            if i in worded.content:
                places[stem] = worded.words[i].text, tuple(before[-2:])
            if folded not in _DETERMINERS:
                before.append("#" if any(map(str.isdigit, folded)) else "is" if folded in _IS else folded)
        return cls(places, where)

    def only(self, other: _Clause) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Its words that the other has not."""
        return {stem: place for stem, place in self.stems.items() if stem not in other.stems}


def _side_by_side(
    said: AbstractSet[str], matches: Sequence[Match], context: Context
) -> Iterator[tuple[_Clause, _Clause, int]]:
    """Two clauses, or two sentences, with all that is said; and how many words before one tell its place."""
    short = [match for match in matches if len(context.sentence(match).folded) <= 2 * _LONGEST]
    stems = {match: frozenset(context.sentence(match).stems) for match in short}
    for match in short:
        if said <= stems[match]:
            sides = clauses.cut(_sentence(match, context))
            if len(sides) == 2:
                yield _Clause.of(sides[0], match), _Clause.of(sides[1], match), 1
    for one, other in combinations(short, 2):
        if one.passage == other.passage and said <= stems[one] | stems[other]:
            sides = [side for match in (one, other) for side in clauses.cut(_sentence(match, context))]
            if len(sides) == 2:
                yield _Clause.of(sides[0], one), _Clause.of(sides[1], other), 2


def _swapped(said: AbstractSet[str], here: _Clause, there: _Clause, near: int) -> tuple[str, str] | None:
    """A stem said of ``here`` alone, and what has its place in ``there``, of which the claim says more.

    What it says of ``there`` has the place of something that it leaves out of ``here``, too.
    """
    mine, theirs = here.only(there), there.only(here)
    pairs = [
        (stem, written)
        for stem, (_, before) in mine.items()
        if stem in said
        for other, (written, place) in theirs.items()
        if other not in said and place[-near:] == before[-near:]
    ]
    more = any(
        stem in said and other not in said and before[-near:] == place[-near:]
        for stem, (_, before) in theirs.items()
        for other, (_, place) in mine.items()
    )
    return pairs[-1] if pairs and more else None


_FROM_TO = re.compile(r"\bfrom (?:the )?(?P<from>[^\W\d_]+) to (?:the )?(?P<to>[^\W\d_]+)", re.IGNORECASE)
_DETERMINERS = frozenset({"the", "a", "an", "our", "its", "their"})
_IS = frozenset({"is", "are", "was", "were", "has", "have", "had"})
_LONGEST = 12  # words
