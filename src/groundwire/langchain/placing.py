"""Finding retrieved passages again in the text that a model was shown.

Applications re-rank, cut, number and join what they retrieved. What is found here is the passages as they
stand in that text, with their own ids, metadata and scores. Plain strings alone; no framework may be
imported.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from groundwire.core.interaction import Passage
from groundwire.host.seen import word_runs

_HEAD = 48  # a passage was cut, not lost, when at least so many of its first characters are there
_GAP = 200  # more than this between two passages is no heading but something else that was shown
_BUDGET = 4_000_000  # characters searched in vain before giving up: a few milliseconds
_EVENED = 500_000  # characters beyond which white space is not evened out, for the same reason
_MANY = 10_000  # passages times texts: beyond this, some are looked for only where their beginning stands
_BEGINNING = 24  # characters
_KEPT = 1_000_000  # characters whose units are kept while they are looked for in many texts: some 20 MB
_LABEL = re.compile(
    r"[\W_]*(?:(?:document|doc|passage|context|source|chunk|result|excerpt|snippet|content|text|question|query)s?[\W_]*)*"
    r"\d*[\W_]*",
    re.IGNORECASE,
)
_RULE = re.compile(r"\A(?:[^\w\n]*\n)+|\A\s+")  # lines above a heading that only divide
_AS_WRITTEN = ("page_content='", 'page_content="')  # by Python itself: no heading, but all there is
_WORD = re.compile(r"\w+")
_BEGINS = re.compile(r"[\W_]*(?:(?!(?:q|question|query|user)\b)\w+:[\W_]*)?", re.IGNORECASE)  # "- Title: "
_UNIT = re.compile(r"[0-9a-z\xaa-\u0dff]+|[^\W_]")  # a word, or a character of a script without spaces
# What is left of a record of JSON or Python behind a place in it: up to the brace that closes it.
_RECORD = re.compile(r"(?:(?>(?:[^{}]++|\{[^{}]*+\})*)\})+?(?=\s*+(?:,?\s*+\{|\]|\Z))")
_RUN = 3  # words one after the other are a part of a passage
_LEAST = 4  # of these parts are more than chance
_SHARE = 0.6  # of these parts are there where it was written in another way, or some words were replaced
_WORDS = re.compile(r"\w{4,}")


def place(passages: Sequence[Passage], text: str, *, mostly: bool = False) -> list[Passage]:
    """The passages as they stand in ``text``, in its order, and whatever else stands there.

    A heading joins the passage that follows it, and what is said of a passage below it, such as its source,
    joins that one; bare numbering is left out. Empty when no passage is found.
    With ``mostly``, what else stands there counts only where passages are most of the text: a draft, or an
    earlier answer, that quotes one is no evidence.
    """
    needles, found, shown = _read(passages, text)
    if found and mostly and 2 * sum(spot.end - spot.start for spot in found) < len(shown.strip()):
        altered = _altered(needles, found, shown, _Units())
        as_they_are = [spot.of(passages, shown) for spot in found if spot.index not in altered]
        return [*as_they_are, *(passages[i] for i in altered)]
    return _with_gaps(passages, found, shown) if found else []


def survivors(passages: Sequence[Passage], texts: Iterable[str], asked: str = "") -> list[Passage]:
    """The passages that stand in any of the texts, cut as they are there, in their own order.

    One that was altered there, beside others that were not, is as it was. Each has what was made of its own
    metadata above and below it: whatever else stands there may be a question, such as the one ``asked``, or
    what a model has said.
    """
    kept: dict[int, Passage] = {}
    texts = list(texts)
    longest_first = sorted(range(len(texts)), key=lambda at: len(texts[at]), reverse=True)
    closely = set(longest_first[: _MANY // max(1, len(passages))])  # those may hold many, however written
    beginnings, own = _Beginnings(passages) if len(closely) < len(texts) else None, _Units()
    for at, text in enumerate(texts):
        found = _surviving(passages, text, asked, own) if at in closely or len(text) > _EVENED else []
        if not found and beginnings and len(text) <= _EVENED:
            near = beginnings.in_(text)
            those = _surviving([passages[i] for i in near], text, asked, own)
            found = [(near[i], one) for i, one in those]
        for i, passage in found:
            known = kept.get(i)
            if known is None or len(known.text) < len(passage.text):
                kept[i] = passage
    return [kept[i] for i in sorted(kept)]


def _surviving(passages: Sequence[Passage], text: str, asked: str, own: _Units) -> list[tuple[int, Passage]]:
    needles, found, shown = _read(passages, text)
    kept, end = [], 0
    for spot, following in zip_longest(found, found[1:]):
        passage = spot.of(passages, shown)
        heading = _heading(passage, _above(spot.start, end, shown, asked))
        below = None if following is None else passages[following.index]
        gap = shown[spot.end : None if following is None else following.start]
        footing = _fields(passage, gap, below, asked)
        whole = f"{heading}{passage.text}{footing.rstrip()}"
        kept.append((spot.index, passage if whole == passage.text else replace(passage, text=whole)))
        end = max(end, spot.end + len(footing))
    return kept + [(i, passages[i]) for i in _altered(needles, found, shown, own, asked)]


class _Beginnings:
    """By how passages begin, which of many may stand in a text, as where a model reads each."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._short: list[int] = []
        self._long: defaultdict[str, list[int]] = defaultdict(list)
        for i, passage in enumerate(passages):
            beginning = " ".join(passage.text.split())[:_BEGINNING]
            (self._long[beginning] if len(beginning) == _BEGINNING else self._short).append(i)

    def in_(self, text: str) -> list[int]:
        shown = " ".join(text.split())
        there = {shown[i : i + _BEGINNING] for i in range(len(shown))}
        return sorted([*self._short, *(i for one in self._long.keys() & there for i in self._long[one])])


def _above(start: int, end: int, text: str, asked: str) -> str:
    """What may be a heading of what starts there: whole lines, below the passage before and the question."""
    begin = max(end, start - _GAP)
    for question in filter(None, dict.fromkeys((asked.strip(), " ".join(asked.split())))):
        at = text.rfind(question, max(end, begin - len(question)), start)
        begin = max(begin, at + len(question) if at >= 0 else 0)
    if begin not in (0, end) and text[begin - 1] != "\n":
        begin = text.find("\n", begin, start)
    return text[begin:start] if begin >= 0 else ""


def _heading(passage: Passage, gap: str) -> str:
    """The end of the text above a passage, from where at least half of its words are the metadata's.

    It begins its line, be it after the name of a field.
    """
    if gap.endswith(_AS_WRITTEN):
        return ""
    known = _known(_values(passage), gap)
    for start, _ in sorted(known):
        if not _BEGINS.fullmatch(gap, gap.rfind("\n", 0, start) + 1, start):
            continue
        heading = gap[start:]
        if _are_half(known, gap, start, len(gap)) and not _LABEL.fullmatch(heading):
            return heading
    return ""


def _footing(passage: Passage, gap: str, below: Passage | None) -> str:
    """The start of the text below a passage, up to where at least half of its words are its metadata's.

    It has what is said of this passage alone, and ends above the line in which the one ``below`` begins to be
    told of.
    """
    if not gap or gap.isspace():
        return ""
    own, others = _values(passage), set() if below is None else _values(below)
    first = min((start for start, _ in _known(others - own, gap)), default=None)
    told = gap if first is None else gap[: gap.rfind("\n", 0, first) + 1]
    last = max((end for _, end in _known(own - others, told)), default=0)
    if not last:
        return ""
    known = _known(own, told)
    line = last + len(told[last:].partition("\n")[0])
    end = max(end for _, end in known if end <= line)
    end = end if _WORD.search(told, end, line) else line
    return told[:end] if _are_half(known, told, 0, end) and not _LABEL.fullmatch(told, 0, end) else ""


def _fields(passage: Passage, gap: str, below: Passage | None, asked: str) -> str:
    """A footing each of whose lines begins with the metadata, be it after the name of a field."""
    footing = _footing(passage, gap[:_GAP], below)
    known, start = _known(_values(passage), footing), 0
    for line in footing.splitlines(keepends=True):
        if line.strip() and not any(_BEGINS.fullmatch(footing, start, a) for a, _ in known if a >= start):
            return ""
        start += len(line)
    return "" if asked and asked in footing else footing


def _values(passage: Passage) -> set[str]:
    """What a passage's metadata says of it."""
    return {str(held).strip() for held in passage.metadata.values() if isinstance(held, str | int | float)}


def _known(values: Iterable[str], text: str) -> list[tuple[int, int]]:
    """Where the values stand in a text."""
    return [
        match.span()
        for value in values
        if value and value in text
        for match in re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", text)
    ]


def _are_half(known: Iterable[tuple[int, int]], text: str, start: int, end: int) -> bool:
    """Whether at least half of the words from ``start`` to ``end`` are among what is ``known``."""
    inside = {place for a, b in known if a >= start for place in range(a, b)}
    there = [match.start() for match in _WORD.finditer(text, start, end)]
    return 2 * len(inside.intersection(there)) >= len(there)


def likeness(passages: Sequence[Passage], text: str) -> float:
    """Which part of the words of ``text`` stands in the passages, in [0, 1]; 0 for a very short text."""
    words = set(_WORDS.findall(text[:20_000].lower()))
    if len(words) < 8:
        return 0.0
    known: set[str] = set()
    for passage in passages[:50]:
        known.update(_WORDS.findall(passage.text[:20_000].lower()))
    return len(words & known) / len(words)


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where the passage at ``index`` stands in a text."""

    start: int
    end: int
    index: int

    def of(self, passages: Sequence[Passage], text: str) -> Passage:
        passage, shown = passages[self.index], text[self.start : self.end]
        return passage if passage.text == shown else replace(passage, text=shown)


def _read(passages: Sequence[Passage], text: str) -> tuple[list[str], list[_Spot], str]:
    """The reading in which most of the passages are found, whole if they can be, and where they are."""
    best: tuple[list[str], list[_Spot], str] = ([], [], text)
    most = (0, 0)
    for needles, shown in _readings(passages, text):
        found = _found(needles, shown)
        count = (len(_whole(needles, found)), len(found))
        if count > most:
            best, most = (needles, found, shown), count
        if count[0] == len(set(needles) - {""}):
            break
    return best


def _whole(needles: Sequence[str], found: Iterable[_Spot]) -> set[str]:
    """Which of the texts were found as they are."""
    there = ((needles[spot.index], spot.end - spot.start) for spot in found)
    return {needle for needle, length in there if length == len(needle)}


def _altered(
    needles: Sequence[str], found: Sequence[_Spot], text: str, own: _Units, asked: str = ""
) -> list[int]:
    """Of which passages a fair part stands in the text beside what was ``found`` there as it is.

    They were written as JSON or as Python's lists, or words were replaced, as where names are masked.
    """
    if not found or len(_whole(needles, found)) == len(set(needles) - {""}):
        return []
    rest, end = [], 0
    for spot in found:
        rest.append(text[end : spot.start])
        end = max(end, spot.end)
    known = {spot.index: spot.end - spot.start for spot in found}
    missing = [needle[known.get(i, 0) :] for i, needle in enumerate(needles)]
    told = _units("\n".join([*rest, text[end:]])) - _units(asked)
    units = map(own.__getitem__, missing if told else ())
    return [
        i for i, runs in enumerate(units) if len(runs) >= _LEAST and len(runs & told) >= _SHARE * len(runs)
    ]


def _units(text: str) -> set[tuple[str, ...]]:
    return word_runs(_UNIT.findall(text.lower()), _RUN)


class _Units(dict[str, set[tuple[str, ...]]]):
    """What texts are made of, read once: each of hundreds may be looked for in hundreds of others."""

    def __init__(self) -> None:
        super().__init__()
        self._left = _KEPT

    def __missing__(self, text: str) -> set[tuple[str, ...]]:
        units = _units(text)
        if len(text) <= self._left:
            self._left -= len(text)
            self[text] = units
        return units


def _readings(passages: Sequence[Passage], text: str) -> Iterator[tuple[list[str], str]]:
    """The texts as they are, and with their white space evened out, as many applications do."""
    needles = [passage.text.strip() for passage in passages]
    yield needles, text
    if needles and len(text) + sum(map(len, needles)) <= _EVENED:
        yield [" ".join(needle.split()) for needle in needles], " ".join(text.split())


def _found(needles: Sequence[str], text: str) -> list[_Spot]:
    """Where each of the needles stands, in the order of the text; those that don't are left out."""
    spots: dict[tuple[int, int], _Spot] = {}
    cursor = wasted = 0
    for index, needle in enumerate(needles):
        if not needle:
            continue
        if wasted > _BUDGET:
            return []  # half a search would look as if the application had left the rest out
        start = text.find(needle, cursor)
        if start < 0:
            wasted += len(text) - cursor
            start = text.find(needle, 0, cursor + len(needle))
        if start >= 0:
            end = start + len(needle)
        else:
            wasted += 2 * len(text)
            start = text.find(needle[:_HEAD]) if len(needle) > _HEAD else -1
            if start < 0:
                continue
            end = start + _common_prefix(needle, text, start)
        cursor = max(cursor, end)
        spots.setdefault((start, end), _Spot(start, end, index))
    return sorted(spots.values(), key=lambda spot: spot.start)


def _common_prefix(needle: str, text: str, start: int) -> int:
    # The longest prefix that is there: bisected, because comparing slices is fast and a loop is not.
    return bisect_left(range(1, len(needle) + 1), True, key=lambda n: not text.startswith(needle[:n], start))


def _with_gaps(passages: Sequence[Passage], spots: Sequence[_Spot], text: str) -> list[Passage]:
    shown: list[Passage] = []
    end = 0
    for spot in spots:
        passage, heading = spot.of(passages, text), ""
        gap = _below(shown, text[end : spot.start], passage)
        if len(gap) > _GAP:
            shown.append(Passage(text=gap.strip()))
        elif gap and not gap.isspace() and not _LABEL.fullmatch(gap):
            heading = _RULE.sub("", gap)
        shown.append(replace(passage, text=heading + passage.text) if heading else passage)
        end = max(end, spot.end)
    rest = _below(shown, text[end:]).strip()
    if rest and not _LABEL.fullmatch(rest[: _GAP + 1]):
        shown.append(Passage(text=rest))
    return shown


def _below(shown: list[Passage], gap: str, below: Passage | None = None) -> str:
    """What of the text between two passages is not told of the upper one, which gets what is.

    Of a record it is all that follows in it: the next one may stand on the same line.
    """
    record = _RECORD.match(gap) if shown else None
    footing = record[0] if record else _footing(shown[-1], gap[:_GAP], below) if shown else ""
    if not footing:
        return gap
    shown[-1] = replace(shown[-1], text=f"{shown[-1].text}{footing.rstrip()}")
    return gap[len(footing) :]
