"""Whether a fact that the documents have is said there of what the claim says it of.

A sentence, a row of a table and an item of a list are about something; a fact that the documents have only
for something else is out of place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

from groundwire.core.cached import cached_property
from groundwire.core.span import Span
from groundwire.text import facts
from groundwire.text.facts import Checked, Fact, Kind, Known, Status
from groundwire.text.overlap import Context, Match
from groundwire.text.units import NUMBER_LIKE
from groundwire.text.worded import word


@dataclass(frozen=True, kw_only=True)
class Places:
    """What a claim's facts are looked for among: its own facts, its weighed stems, and the documents'.

    ``asked`` are the stems of the question, and ``in_place`` the facts, by their identity, that stand in the
    one row of a table that the claim names.
    """

    text: str
    found: Sequence[Fact]
    weights: Mapping[str, float]
    asked: AbstractSet[str]
    matches: Sequence[Match]
    context: Context
    known: Known
    in_place: frozenset[int] = frozenset()

    def of(self, fact: Fact, checked: Checked) -> tuple[Checked, Match | None]:
        """A fact that is found, but said of something else than the claim is about, differs.

        A sentence is what the claim is about when it alone has some word of it and has nearly all of it; a
        table row when it alone has some word of it and another of its facts. (Sentences that share a fact
        mostly go on about another: of fifty such differences in real answers, six were errors.) Where prose
        says all of the claim's facts together elsewhere, it is about that.
        """
        if checked.status is not Status.FOUND or checked.nearest is None or id(fact) in self.in_place:
            return checked, None
        listed = self._restated(fact) or self._listed(fact)
        if listed is not None:
            return listed if listed[0].nearest is not None else (checked, None)
        others = [other for other in self.found if other is not fact and not other.soft]
        for match, keys in self._own():
            passage = self.context.passages[match.passage]
            row = passage.figures[match.sentence]
            tabular = passage.text[passage.sentences[match.sentence].start] == "|"
            shares = tabular and any(facts.agree(mine, o) for mine in others for o in row)
            if not (shares or (match.weight >= _COVERED and self._tells(match, fact))):
                continue
            meant = facts.misplaced(fact, self.known, row=row, others=others, keys=keys)
            if meant is not None and (tabular or not self._said_together(fact, others)):
                return Checked(status=Status.DIFFERS, nearest=meant, affinity=1.0, shared=len(keys)), match
        return checked, None

    def _tells(self, match: Match, fact: Fact) -> bool:
        """Whether a sentence is what the claim is about, also if that has one word.

        Of "You pay 25 EUR.", beside "Dogs pay 50 EUR.", the question alone tells who is meant, by a word of
        which nothing is said where the fact stands.
        """
        if len(self.weights) >= _LEAST_FRAME:
            return True
        there = map(self.context.place_of, islice(self.known.equal(fact), _LOOKED_AT))
        elsewhere = {stem for at in there if at for stem in self.context.sentence(at).stems}
        told = set(self.context.sentence(match).stems) - elsewhere
        return not told.isdisjoint(self.asked - self.weights.keys())

    def _restated(self, fact: Fact) -> tuple[Checked, Match] | None:
        """The other figure of a sentence that the claim says over again, but for figures.

        Where the claim's own stands in the same passage and is said of something else: "shipping takes 3
        days, express shipping takes 1 day".
        """
        if fact.soft:
            return None
        mine = [one for one in self.found if not one.soft]
        at = next(i for i, one in enumerate(mine) if one is fact)
        others = mine[:at] + mine[at + 1 :]
        for match in self.matches:
            passage = self.context.passages[match.passage]
            row = [one for one in passage.facts[match.sentence] if not one.soft]
            if len(row) != len(mine) or facts.agree(fact, row[at]) or not facts.comparable(fact, row[at]):
                continue
            if len(self._frame) < _LEAST_FRAME or not self._may_say(match):
                continue
            if _frame(passage.text, passage.sentences[match.sentence], row) != self._frame:
                continue
            here = all(equal.source is row[at].source for equal in islice(self.known.equal(fact), _LOOKED_AT))
            if here and not self._said_together(fact, others):
                return Checked(status=Status.DIFFERS, nearest=row[at], affinity=1.0, shared=1), match
        return None

    def _may_say(self, match: Match) -> bool:
        """Whether a sentence has all words of the claim: few do, and only these are looked at closely."""
        return self._framing.issubset(self.context.sentence(match).stems)

    @cached_property
    def _framing(self) -> frozenset[str]:
        return frozenset(self._frame)

    @cached_property
    def _frame(self) -> list[str]:
        return _frame(self.text, Span(0, len(self.text)), self.found)

    def _said_together(self, fact: Fact, others: Sequence[Fact]) -> bool:
        """Whether a sentence has the fact and all of the claim's others, of which there are some."""
        for equal in islice(self.known.equal(fact), _LOOKED_AT):
            at = self.context.place_of(equal)
            there = self.context.facts_of(at) if at else ()
            if others and all(any(facts.agree(other, one) for one in there) for other in others):
                return True
        return False

    def _listed(self, fact: Fact) -> tuple[Checked, Match | None] | None:
        """What a list of like facts says: "Adults pay 12 EUR, children 8 EUR", or the rows of a table.

        None where no list has the fact. FOUND, with no nearest, where the claim names what its item is about;
        DIFFERS where it names another item alone, not a word of its own, and the fact stands nowhere else.
        (With a word of its own named, none of nine such differences in real answers was an error, unless the
        claim gives each of two items the other's.) A claim that lists nothing names what all of its facts are
        about: an item that another of them states, nearer to its name, is not the one meant.
        """
        if fact.soft or fact.kind is Kind.CODE:
            return None
        lists = [(match, items) for match in self._in_lists if (items := self._items(match, fact))]
        if not lists:
            return None
        whole, pieces = _label(self.text), self._named(fact)
        named = next((label for label, one in pieces if one is fact), whole)
        others = [(label, one) for label, one in pieces if one is not fact]
        alone = not any(facts.comparable(fact, one) for one in self.found if one is not fact)
        equal = list(islice(self.known.equal(fact), _LOOKED_AT))
        for match, items in lists:
            mine = [item for item in items if facts.agree(fact, item.fact)]
            if any(item.label <= named for item in mine):
                return Checked(status=Status.FOUND), None
            meant = [item for item in items if item.label <= named and item not in mine]
            if not others:
                meant = [item for item in meant if not self._states(item, but=fact)]
            meant = [item for item in meant if not self._in_one_breath(fact, item)]
            # A cell is read twice where its column has a unit: as it stands, and with that.
            if not all(any(_at_one_place(item.fact, other) for item in mine) for other in equal):
                continue
            # "Oslo has 7 trams, Bergen 3": what the first item says before its figure is said of all.
            before = _last(fact) & _last(items[0].fact) if alone else frozenset()
            own = not all(item.label > before and item.label.isdisjoint(whole - before) for item in mine)
            # "It runs for 24 months and renews for 12": a later item's word right before the figure names it.
            verb = _last(fact) if alone else frozenset()
            if own and not any(verb and verb <= item.label for item in meant if item is not items[0]):
                said = items[0].label & pieces[0][0] if pieces else frozenset()
                swap = _Swap(named=named, others=others, said=said)
                meant = [item for item in items if len(mine) == 1 and swap.between(mine[0], item)]
            if len(meant) == 1:
                at = Match(match.passage, meant[0].sentence, match.weight)
                return Checked(status=Status.DIFFERS, nearest=meant[0].fact, affinity=1.0, shared=1), at
        return None

    def _named(self, fact: Fact) -> list[tuple[frozenset[str], Fact]]:
        """The claim's items, as the words of each with its fact; none where it lists nothing."""
        alike = [other for other in self.found if facts.comparable(fact, other)]
        pieces = _pieces(self.text, Span(0, len(self.text)), alike)
        return [(_label(p.of(self.text)), one) for p, one in zip(pieces, alike, strict=False)]

    def _states(self, item: _Item, *, but: Fact) -> bool:
        """Whether another fact of the claim says what the item does, and stands nearer to its name."""
        names = [span for span, stem in self._stems if stem in item.label]

        def away(one: Fact) -> int:
            return min(max(name.start - one.span.end, one.span.start - name.end) for name in names)

        said = [one for one in self.found if one is not but and facts.agree(one, item.fact)]
        return bool(names) and any(away(one) < away(but) for one in said)

    def _in_one_breath(self, fact: Fact, item: _Item) -> bool:
        """Whether the claim says of both, as in "3.8 and 3.9", what it says."""
        pairs = [(fact.span, one.span) for one in self.found if facts.agree(one, item.fact)]
        gaps = [self.text[min(a.end, b.end) : max(a.start, b.start)] for a, b in pairs]
        return any(map(_MARK.fullmatch, gaps))

    @cached_property
    def _stems(self) -> list[tuple[Span, str]]:
        worded = word(self.text)
        return [(w.span, stem) for w, stem in zip(worded.words, worded.stems, strict=True)]

    def _items(self, match: Match, fact: Fact) -> list[_Item]:
        """The items of the list or the rows of the table that a matched sentence is part of.

        Those that are named, if there are several and one of them states the fact; else none.
        """
        rows = self._table(match)
        labelled = self._rows(match.passage, rows, fact) if rows else self._parts(match, fact)
        stems = Counter(stem for _, _, label in labelled for stem in label)
        items = [
            _Item(other, sentence, frozenset(stem for stem in label if stems[stem] == 1))
            for other, sentence, label in labelled
        ]
        named = [item for item in items if item.label]
        several = len(named) >= _LEAST_ITEMS
        return named if several and any(facts.agree(fact, item.fact) for item in named) else []

    def _parts(self, match: Match, fact: Fact) -> list[tuple[Fact, int, frozenset[str]]]:
        passage = self.context.passages[match.passage]
        alike = [other for other in passage.facts[match.sentence] if facts.comparable(fact, other)]
        if len(alike) < _LEAST_ITEMS:
            return []
        pieces = _pieces(passage.text, passage.sentences[match.sentence], alike)
        return [
            (other, match.sentence, _label(_ASIDE.sub(" ", piece.of(passage.text))))
            for piece, other in zip(pieces, alike, strict=False)
        ]

    @cached_property
    def _in_lists(self) -> list[Match]:
        """The matched sentences, of each table the first: all of its rows are the items of one list."""
        first: dict[tuple[int, int], Match] = {}
        for match in self.matches:
            rows = self._table(match) or range(match.sentence, match.sentence + 1)
            first.setdefault((match.passage, rows.start), match)
        return list(first.values())

    def _table(self, match: Match) -> range | None:
        """The rows of the table that a matched sentence is one of."""
        passage = self.context.passages[match.passage]

        def is_row(sentence: int) -> bool:
            return passage.text[passage.sentences[sentence].start] == "|"

        if not is_row(match.sentence):
            return None
        first = last = match.sentence
        while first > 0 and is_row(first - 1):
            first -= 1
        while last + 1 < len(passage.sentences) and is_row(last + 1):
            last += 1
        return range(first, last + 1)

    def _rows(self, number: int, rows: range, fact: Fact) -> list[tuple[Fact, int, frozenset[str]]]:
        """The comparable facts of each column in which the fact stands, with the first cell of their rows."""
        passage = self.context.passages[number]
        cells: dict[int, list[tuple[Fact, int, frozenset[str]]]] = {}
        columns: set[int] = set()
        for i in rows:
            start = passage.sentences[i].start
            label = _label(_first_cell(passage.text, start))
            for other in passage.figures[i]:
                column = passage.text.count("|", start, other.span.start)
                if facts.comparable(fact, other):
                    cells.setdefault(column, []).append((other, i, label))
                    if facts.agree(fact, other):
                        columns.add(column)
        return cells[min(columns)] if len(columns) == 1 else []

    def _own(self) -> list[tuple[Match, frozenset[str]]]:
        """The sentences that alone have some word of the claim, those words, and the share they cover.

        A number that tells like things apart is a word, too: the 1 of "Bag 1".
        """
        found: dict[tuple[int, int], set[str]] = {}
        for stem in self.weights:
            places = self.context.places(stem)
            if len(places) == 1:
                found.setdefault(self.context.at(places[0]), set()).add(stem)
        for fact in self.found:
            if fact.label and (only := self._only_place(fact)) is not None:
                found.setdefault(only, set()).add(f"{fact.label} {fact.text}")
        total = sum(self.weights.values()) or 1.0
        own: list[tuple[Match, frozenset[str]]] = []
        for (passage, sentence), stems in sorted(found.items(), key=lambda i: (-len(i[1]), sorted(i[1]))):
            there = set(self.context.passages[passage].worded[sentence].stems)
            share = sum([weight for stem, weight in self.weights.items() if stem in there]) / total
            own.append((Match(passage, sentence, share), frozenset(stems)))
        return own

    def _only_place(self, fact: Fact) -> tuple[int, int] | None:
        """The one sentence that has a labelled number."""
        equal = list(islice(self.known.equal(fact), _LOOKED_AT + 1))
        named = [self.context.place_of(other) for other in equal if other.label == fact.label]
        places = {(at.passage, at.sentence) for at in named if at is not None}
        return places.pop() if len(places) == 1 and len(equal) <= _LOOKED_AT else None


def named_beside(nearest: Fact, where: Match, context: Context, stems: AbstractSet[str]) -> Fact:
    """Of a list that has ``nearest``, the one like fact whose item a claim with these ``stems`` names.

    "Sunrise 6:51, sunset 18:34": beside what is said of the sunset, that is 18:34. Else ``nearest``.
    """
    passage = context.passages[where.passage]
    alike = [one for one in passage.facts[where.sentence] if facts.comparable(one, nearest)]
    pieces = _pieces(passage.text, passage.sentences[where.sentence], alike)
    labels = [_label(_ASIDE.sub(" ", piece.of(passage.text))) for piece in pieces]
    often = Counter(stem for label in labels for stem in label)
    own = [frozenset(stem for stem in label if often[stem] == 1) for label in labels]
    named = [one for one, label in zip(alike, own, strict=False) if label and label <= stems]
    return named[0] if len(named) == 1 else nearest


def _frame(text: str, span: Span, figures: Sequence[Fact]) -> list[str]:
    """The stems of a sentence's content words, in order, without its figures."""
    worded = word(span.of(text))
    spans = [worded.words[i].span.shifted(span.start) for i in worded.content]
    return [
        worded.stems[i]
        for i, place in zip(worded.content, spans, strict=True)
        if not any(place.overlaps(figure.span) for figure in figures)
    ]


@dataclass(frozen=True, slots=True)
class _Item:
    """A fact of a list, and the words that tell its item from the others."""

    fact: Fact
    sentence: int
    label: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Swap:
    """The words ``named`` beside a figure of the claim, and those beside its ``others``; ``said`` of all."""

    named: frozenset[str]
    others: Sequence[tuple[frozenset[str], Fact]]
    said: frozenset[str]

    def between(self, mine: _Item, item: _Item) -> bool:
        """Whether the claim gives ``mine``'s figure to ``item``, and ``item``'s to ``mine``.

        Each is named beside the other's figure, and by more words than beside its own.
        """
        if item is mine or facts.agree(item.fact, mine.fact):
            return False
        here = item.label & self.named
        for label, fact in self.others:
            there = mine.label & label
            in_place = (mine.label & self.named - self.said, item.label & label - self.said)
            more = len(here) + len(there) > sum(map(len, in_place))
            if here and there and more and facts.agree(fact, item.fact):
                return True
        return False


def _at_one_place(fact: Fact, other: Fact) -> bool:
    return fact.source is other.source and fact.span == other.span


def _last(fact: Fact) -> frozenset[str]:
    """The stem of the content word before a figure."""
    worded = word(fact.before)
    return frozenset(worded.stems[i] for i in worded.content[-1:])


def _pieces(text: str, span: Span, alike: Sequence[Fact]) -> list[Span]:
    """The stretch of a list around each of some facts; empty unless one mark stands between every two.

    Or one semicolon, whatever else does.
    """
    ends = [span.start]
    for one, other in pairwise(alike):
        between = _ASIDE.sub(_blank, text[one.span.end : other.span.start])
        marks = list(_MARK.finditer(between))
        marks = [mark for mark in marks if ";" in mark.group()] or marks
        if len(marks) != 1:
            return []
        ends.append(one.span.end + marks[0].start())
    return [Span(a, b) for a, b in pairwise([*ends, span.end])] if alike else []


# White space is tried from where it begins alone: from each of its places, many would take quadratic time.
_MARK = re.compile(
    r"(?>(?:(?<!\s)\s++)?)[,;]\s*+(?:(?:and|und|et|y|e|en)\s)?|\s(?:and|und|et|y|e|en|while|but)\s"
)


# What stands in brackets names no item: "family ticket (2 adults, 3 children) 30 EUR".
_ASIDE = re.compile(r"\([^()]*+\)")


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _first_cell(text: str, start: int) -> str:
    end = text.find("|", start + 1)
    return text[start + 1 : len(text) if end < 0 else end]


def _label(text: str) -> frozenset[str]:
    """The stems of what names something: no figure, and no unit."""
    # Each fact of each claim looks at the same few lists.
    return _remembered(text) if len(text) <= _SHORT else _named(text)


def _named(text: str) -> frozenset[str]:
    worded = word(text)
    return frozenset(
        worded.stems[i]
        for i in worded.content
        if len(worded.folded[i]) > 1 and worded.folded[i] not in NUMBER_LIKE and worded.folded[i][0].isalpha()
    )


_SHORT = 400  # characters
_remembered = lru_cache(maxsize=2_048)(_named)
_LEAST_ITEMS = 2
_LEAST_FRAME = 2  # words: two steps of a recipe may say "simmer for"
_LOOKED_AT = 48
# How much of a claim its sentence or row must cover for a fact from elsewhere to be out of place.
_COVERED = 0.85
