"""A ratio or a score the wrong way round: "3:1" for the documents' "1:3", "by 3 to 21" for "by 21 to 3".

Only where the claim says it in the words of the sentence that has it, for what is one way round of one thing
is the other way round of another: "sand and cement 4:1" is "cement and sand 1:4", and of who won 3–1, another
lost 1–3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from groundwire.core.span import Span
from groundwire.text.overlap import Context, Match
from groundwire.text.remembered import Remembered
from groundwire.text.worded import Worded


@dataclass(frozen=True, slots=True)
class Reversed:
    """A ratio of the claim, where it stands in it, and the same the other way round in the documents."""

    words: Span
    mine: str
    theirs: str
    where: Match


def reversed_in(text: str, claim: Worded, context: Context) -> Reversed | None:
    """The first ratio of the claim ``text`` that the documents have only the other way round."""
    mine = _ratios(text)
    if not mine:
        return None
    theirs: dict[tuple[float, float], list[tuple[int, Span]]] = {}
    for number, passage in enumerate(context.passages):
        for pair, place in _RATIOS.of(passage.text):
            theirs.setdefault(pair, []).append((number, place))
    for (first, second), span in mine:
        if first == second or (first, second) in theirs:
            continue
        for number, place in theirs.get((second, first), ())[:_LOOKED_AT]:
            match = context.match_at(number, place.start)
            who = _before(place, match, context)
            said = context.word(_clause(text, span))
            if who in (None, *claim.stems) and _said_over_again(said, context.sentence(match)):
                return Reversed(span, span.of(text), place.of(context.passages[number].text), match)
    return None


def _before(place: Span, match: Match, context: Context) -> str | None:
    """The last word of a sentence before a ratio that says what it is one of."""
    passage = context.passages[match.passage]
    head = context.word(passage.text[passage.sentences[match.sentence].start : place.start])
    return next((head.stems[i] for i in reversed(head.content) if head.stems[i] not in _GENERAL), None)


def _said_over_again(claim: Worded, sentence: Worded) -> bool:
    """Whether nearly all words of a claim are those of a sentence, and no two have changed their places."""
    mine = [claim.stems[i] for i in claim.content if not claim.folded[i][0].isdigit()]
    there = [sentence.stems[i] for i in sentence.content]
    shared = [stem for stem in dict.fromkeys(mine) if stem in there]
    if bool(claim.negated) != bool(sentence.negated) or len(shared) < _LEAST:
        return False
    if len(set(mine)) - len(shared) > _OWN * len(set(mine)):
        return False
    places = [there.index(stem) for stem in shared]
    if _ordered(places) or len(places) > _LOOKED_AT:
        return _ordered(places)
    # One word may stand elsewhere, if it is no part of a pair: "sand and cement are mixed", "mix sand and".
    return any(
        _ordered(places[:i] + places[i + 1 :]) and not _is_paired(claim, stem)
        for i, stem in enumerate(shared)
    ) and not any(
        _ordered([*places[:i], b, a, *places[i + 2 :]]) for i, (a, b) in enumerate(pairwise(places))
    )


def _ordered(places: Sequence[int]) -> bool:
    return all(a < b for a, b in pairwise(places))


def _is_paired(claim: Worded, stem: str) -> bool:
    """Whether a word stands beside one that joins two things."""
    at = claim.stems.index(stem)
    return not _JOINING.isdisjoint(claim.folded[max(0, at - 1) : at + 2])


def _ratios(text: str) -> list[tuple[tuple[float, float], Span]]:
    return [
        ((float(match["first"]), float(match["second"])), Span(*match.span()))
        for match in _RATIO.finditer(text)
    ]


_RATIOS = Remembered(_ratios, most=1_000_000)


def _clause(text: str, span: Span) -> str:
    """What a claim says up to a ratio and after it, to the next comma."""
    ends = [at for mark in (", ", "; ") if (at := text.find(mark, span.end)) >= 0]
    return text[text.rfind("; ", 0, span.start) + 1 : min(ends, default=len(text))]


_GENERAL = frozenset(["ratio", "rate", "score", "proport", "odd", "vote", "final", "result"])
_JOINING = frozenset(["and", "to", "with", "against", "over", "of", "vs", "versus", "per", "by", "for"])
_LEAST, _OWN, _LOOKED_AT = 2, 0.34, 48
_RATIO = re.compile(
    r"""(?<![\w.,:/$€£%-])(?<!between\ )(?<!from\ )(?P<first>\d{1,4}(?:\.\d{1,3})?)
    (?:\ ?:\ ?|[-–—]|(?:\ [a-z]{1,12})?\ to\ )
    (?P<second>\d{1,4}(?:\.\d{1,3})?)(?![\w%€$£:/–-]|[.,]\d|\ ?(?:am|pm|a\.m|p\.m|o'clock)\b)""",
    re.VERBOSE,
)
