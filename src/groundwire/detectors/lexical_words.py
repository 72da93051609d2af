"""Word lists of the lexical detector. English; in other languages the features made of them are silent."""

from __future__ import annotations

from groundwire.text import tokens


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(tokens.stem, text.split()))


# Words that answer, and say nothing that could be looked up.
EMPTY = _words("yes yeah sure okay ok ja nein oui sí si sì sim hello hi thanks thank sorry please")
HEDGES = _words(
    """may might could perhaps possibly likely probably generally typically usually often seems appears
    suggests suggesting implies implying indicating indicates potentially"""
)
PRAISE = _stems(
    """popular great excellent friendly cozy delicious favorite ideal perfect wide variety vibrant charming
    renowned enjoyable convenient unique overall atmosphere experience customers known quality comfortable
    relaxing welcoming"""
)
ADVICE = _stems(
    """important recommend recommended essential ensure consult consider remember always note additionally
    helpful advisable careful professional proper properly safe necessary"""
)
CITES = _words(
    "passage passages according source sources document documents based mentioned provided context"
)
# Words that negate by their meaning: with one of these about, a missing "not" is no difference.
NEGATIVE = _stems(
    "avoid refuse unable unaware unless fail lack prevent prohibit hardly decline except false unavailable"
)
_PAIRS = """
always never, all none, all some, every no, before after, more less, more fewer, most least, above below,
over under, increase decrease, increased decreased, increases decreases, rise fall, rose fell, free charged,
free paid, include exclude, included excluded, includes excludes, allowed forbidden, allowed prohibited,
permitted prohibited, permitted forbidden, open closed, opens closes, arrival departure, first last,
earliest latest, highest lowest, higher lower, high low, maximum minimum, inside outside, indoor outdoor,
early late, earlier later, left right, north south, east west, northern southern, eastern western,
accept refuse, accepted refused, accepted rejected, won lost, wins loses, true false, hot cold,
mandatory optional, required optional, refundable non-refundable, with without, male female, men women,
positive negative, adults children, buy sell, bought sold, up down, same different, longer shorter,
larger smaller, bigger smaller, faster slower, both neither, everyone nobody, daily weekly, weekly monthly,
morning evening, weekdays weekends, online offline, domestic international, inbound outbound
"""


def _opposites() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for pair in _PAIRS.split(","):
        a, b = pair.split()
        found[a] = (*found.get(a, ()), b)
        found[b] = (*found.get(b, ()), a)
    return found


OPPOSITES = _opposites()
