"""Which way figures go: "rose from 98 to 87", "grew in 2023" and "the highest", held against the figures.

What a claim says of two of its own figures needs no table. Of two cells, or of a whole column, it is held
against those that it names; never where it speaks of another measure than theirs (a share, a growth).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from groundwire.core.span import Span
from groundwire.detectors.lexical_cells import Reading
from groundwire.detectors.lexical_figures import Looked
from groundwire.detectors.lexical_tables import Table
from groundwire.text import facts, steps
from groundwire.text.called import stems
from groundwire.text.facts import Fact, Kind
from groundwire.text.overlap import Context, Match


@dataclass(frozen=True, slots=True)
class Moved:
    """Words of a claim that have figures go the wrong way, and how they go: "87 is less than 98"."""

    words: Span
    mine: str
    theirs: str
    where: Match


def moved(text: str, looked: Sequence[Looked], read: Sequence[Reading], context: Context) -> Moved | None:
    """The first way that is wrong."""
    mine = [fact for fact, _, _ in looked]
    told = next(_of_its_own(text, mine, context), None)
    if told is not None:
        return told
    # Of two tables with the same rows, the claim may speak of either.
    of_cells = [one for reading in read for one in _of_cells(reading)]
    if of_cells:
        return None if None in of_cells else of_cells[0]
    ticked = [found for reading in read if (found := list(_ticked(reading)))]
    return next(filter(None, ticked[0]), None) if len(ticked) == 1 else None


def _of_its_own(text: str, found: Sequence[Fact], context: Context) -> Iterator[Moved]:
    """What a claim says of two of its own figures, both of which the documents have."""
    for way in _WAY.finditer(text):
        pair = _from_to(text, way, found)
        if pair is None or not facts.comparable(*pair) or pair[0].kind not in _MEASURED:
            continue
        before, after = (fact.values[0] for fact in pair)
        where = next((context.place_of(one) for one in context.known.equal(pair[1])), None)
        if where is None or not _is_wrong(way, before, after) or _many(pair[0]) != _many(pair[1]):
            continue
        first, last = (_say(fact) for fact in pair)
        yield Moved(Span(*way.span("way")), way["way"], _said(last, after, first, before), where)


def _from_to(text: str, way: re.Match[str], found: Sequence[Fact]) -> tuple[Fact, Fact] | None:
    """The figures of "from 98 to 87" after it, with nothing but a period or a unit between."""
    after = [fact for fact in found if fact.span.start >= way.end() and fact.kind in _MEASURED]
    if after and _ORDINAL.search(after[0].text):
        return None
    if not after or not _FROM.fullmatch(text, way.end(), after[0].span.start):
        return None
    first, last = after[0].ends()[0], after[0].ends()[-1]
    if _RATE.match(text, after[0].span.end):
        return None
    if after[0].highs:
        return _in_full(first, after[0]), last
    if len(after) > 1 and _TO.fullmatch(text, first.span.end, after[1].span.start):
        return first, after[1]
    return None


def _in_full(first: Fact, both: Fact) -> Fact:
    """The first end of a range in the magnitude of both: the 98 of "98 to 110 million"."""
    many = steps.many(both)
    own = steps.many(replace(first, span=Span(first.span.start, first.span.start + len(first.text) // 2)))
    if first.values[0] >= many or own > 1:
        return first
    return replace(first, values=(first.values[0] * many,))


def _ticked(reading: Reading) -> Iterator[Moved | None]:
    """What "Team and Business offer SSO" says of the cells of SSO, where these say yes and no."""
    text, table = reading.text, reading.table
    verb = _OFFERS.search(text)
    if verb is None or _DENIES.search(text, 0, verb.end() + _REACH):
        return
    for named, things in ((reading.columns, reading.rows), (reading.rows, reading.columns)):
        whose = [one for one in named if one.span.end <= verb.start()]
        what = [one for one in things if verb.end() <= one.span.start <= verb.end() + _REACH]
        if not whose or len(what) != 1 or any(one.span.end <= verb.start() for one in things):
            continue
        for one in whose:
            at = (what[0].number, one.number) if named is reading.columns else (one.number, what[0].number)
            cell = table.said(at)
            across = {table.said((at[0], column)) for column in range(len(table.grid.columns))}
            if named is reading.rows:
                across = {table.said((row, at[1])) for row in range(len(table.grid.rows))}
            if not across <= _YES | _NO or across.isdisjoint(_YES):
                continue
            theirs = f"“{cell}” for {one.span.of(text)} and {what[0].span.of(text)} in the document"
            yield Moved(Span(*verb.span()), verb.group(), theirs, table.row(at[0])) if cell in _NO else None


def _of_cells(reading: Reading) -> Iterator[Moved | None]:
    """What the cells that a claim names have otherwise; None for what they bear out."""
    table = reading.table
    for clause in reading.clauses:
        said = clause.of(reading.text)
        rows = {one.number for one in reading.rows if one.span.overlaps(clause)}
        columns = [one.number for one in reading.columns if one.span.overlaps(clause)]
        if len(rows) != 1 or _OTHERWISE.search(said):
            continue
        row = rows.pop()
        if (most := _MOST.search(said)) is not None:
            yield from _most(table, row, columns, most, clause)
        way = _WAY.search(said)
        periods = _periods(table)
        if way is None or len(periods) != len(table.grid.columns):
            continue
        pair = _pair(columns, periods)
        if pair is not None:
            yield from _way(table, row, pair, way, clause)


def _pair(columns: Sequence[int], periods: dict[int, tuple[int, int]]) -> tuple[int, int] | None:
    """The earlier and the later column that a change is between: those named, or the only two."""
    told = sorted(set(columns) or (set(periods) if len(periods) == _TWO else ()), key=lambda c: periods[c])
    if len(told) == 1:
        year, part = periods[told[0]]
        last = [column for column, period in periods.items() if period == (year - 1, part)]
        told = [*last, *told]
    return (told[0], told[1]) if len(told) == _TWO else None


def _way(
    table: Table, row: int, pair: tuple[int, int], way: re.Match[str], clause: Span
) -> Iterator[Moved | None]:
    before, after = (table.value((row, column)) for column in pair)
    if before is None or after is None or before.unit != after.unit:
        return
    a, b = (table.signed(fact) for fact in (before, after))
    if min(a, b) < 0 or not _is_wrong(way, a, b):
        yield None
        return
    words = Span(*way.span("way")).shifted(clause.start)
    yield Moved(words, way["way"], _said(_say(after), b, _say(before), a), table.where(after))


def _most(
    table: Table, row: int, columns: Sequence[int], most: re.Match[str], clause: Span
) -> Iterator[Moved | None]:
    """A row that is said to be the highest of a column, and isn't, nor is the column's the row's highest."""
    column = next(iter(set(columns)), None) if len(set(columns)) == 1 else None
    if column is None and not columns:
        column = 0 if len(table.grid.columns) == 1 else None
    if column is None:
        return
    mine = table.value((row, column))
    others = [(i, table.value((i, column))) for i in range(len(table.grid.rows)) if not table.is_total(i)]
    across = [table.value((row, other)) for other in range(len(table.grid.columns))]
    values = [
        (i, table.signed(fact)) for i, fact in others if fact is not None and mine and fact.unit == mine.unit
    ]
    named = {stem for stem, _ in (*stems(table.name(row)), *stems(table.head(column)))}
    if (
        mine is None
        or not named.isdisjoint(stem for stem, _ in stems(most.group()))
        or table.is_total(row)
        or len(values) < _LEAST
    ):
        return
    sign = 1 if most["high"] else -1
    top, value = max(values, key=lambda one: sign * one[1])
    own = table.signed(mine)
    in_row = [sign * table.signed(fact) for fact in across if fact is not None and fact.unit == mine.unit]
    if sign * own >= sign * value or (len(in_row) > 1 and sign * own >= max(in_row)):
        yield None
        return
    best = table.value((top, column))
    assert best is not None
    theirs = f"{_say(best)} for {table.name(top)}, {_say(mine)} for {table.name(row)}"
    yield Moved(Span(*most.span()).shifted(clause.start), most.group(), theirs, table.where(best))


def _is_wrong(way: re.Match[str], before: float, after: float) -> bool:
    if way["up"]:
        return after < before
    return after > before if way["down"] else False


def _said(last: str, after: float, first: str, before: float) -> str:
    return f"{last} is {'less' if after < before else 'more'} than {first}"


def _say(fact: Fact) -> str:
    """A figure as it is written; of a range, the end that it is."""
    if len(_FIGURES.findall(fact.text)) > 1:
        return f"{fact.numbers[0]:,g}"
    return " ".join(fact.text.split())


def _many(fact: Fact) -> str:
    """The words of a figure: its unit and magnitude."""
    return " ".join(_WORDS.findall(fact.text.lower()))


def _periods(table: Table) -> dict[int, tuple[int, int]]:
    """By its number, the year that heads a column, and the quarter, half or month, as numbers."""
    found: dict[int, tuple[int, int]] = {}
    for column in range(len(table.grid.columns)):
        period = _PERIOD.fullmatch(table.head(column))
        if period:
            year = int(period["year"])
            found[column] = (year + _CENTURY * (year < 100), int(period["part"] or 0))
    return found


_MEASURED = frozenset([Kind.NUMBER, Kind.MEASURE, Kind.PERCENT, Kind.MONEY])
_TWO, _LEAST, _CENTURY = 2, 2, 2_000
_UP = (
    r"rose|increased|grew|climbed|rises|increases|grows|went up|risen|jumped|surged|"
    r"has grown|gone up|is up|was up|were up"
)
_DOWN = (
    r"fell|dropped|decreased|declined|shrank|slipped|went down|falls|drops|decreases|declines|fallen|shrunk|"
    r"gone down|is down|was down|were down"
)
_OFFERS = re.compile(
    r"\b(?:offers?|includes?|has|have|supports?|comes? with|provides?|contains?|allows?)\b", re.IGNORECASE
)
_DENIES = re.compile(
    r"\b(?:no|not|neither|nor|never|none|cannot|without|lacks?|except|unless|if|only|either|add-?on|would|could)\b|n't\b",
    re.IGNORECASE,
)
_YES = frozenset(["yes", "y", "✓", "✔", "✅", "x", "included", "true", "•", "●"])
_NO = frozenset(["no", "n", "–", "-", "—", "✗", "✘", "❌", "false", "not included", "none"])
_REACH = 24  # characters
_WAY = re.compile(rf"\b(?P<way>(?P<up>{_UP})|(?P<down>{_DOWN}))\b", re.IGNORECASE)
_FROM = re.compile(
    r",? (?:(?:sharply|slightly|steadily|again|too|further) )?from (?:(?:about|around|roughly|a|an) )?"
)
_TO = re.compile(
    r"(?: \w+)?(?: in \w+(?: \d+)?| \(\w+(?: \d+)?\)| the year before| a year earlier)?"
    r" to (?:(?:about|around|roughly) )?"
)
_MOST = re.compile(
    r"(?<!second )(?<!third )(?<!second-)(?<!third-)(?<!of )(?<!of the )(?<!its )(?<!their )\b(?:"
    r"(?P<high>highest|largest|biggest|greatest)|(?P<low>lowest|smallest|fewest))\b"
    r"(?! (?:since|ever|of (?:the|its)))",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"\b(?:share|growth|margin|rate of|gap|difference|ratio|per|pace|not|never|n't|second|third|fourth|among|"
    r"except|after|if|would|could|may|might|will|expect\w*|by|least|most|relative|compared)\b|n't\b",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"(?:(?:Q|H)(?P<part>[1-4]) |(?:31 Dec|30 June|30 Jun) |FY ?)?(?P<year>(?:19|20)?\d\d)", re.IGNORECASE
)
_RATE = re.compile(r"[^.;,]{0,30}\b(?:per|to the)\b")
_ORDINAL = re.compile(r"\d(?:st|nd|rd|th)\b")
_FIGURES = re.compile(r"\d[\d.,]*")
_WORDS = re.compile(r"[^\W\d_]+")
