"""Whether a figure that no document has is worked out from those it has, by one step that can be named.

A conversion, sum, difference, product, quotient, mean or share, or the time between two dates or two times
of day. Chance has little to work with: the figures are named by the claim itself and borne out, or stand in
the sentences that it is about, and then a word of the claim has to say that this step was taken ("in total",
"left", "each"). Units have to agree. What the steps give stands in ``steps``, ``shares`` and ``periods``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain, combinations, permutations, takewhile

from groundwire.core.cached import cached_property
from groundwire.text import conversion, periods, shares, steps
from groundwire.text.fact import Fact, Kind
from groundwire.text.steps import Derived, Result, Step
from groundwire.text.units import UNITS, Unit


def derive(
    fact: Fact,
    *,
    named: Sequence[Fact],
    near: Sequence[Sequence[Fact]],
    cues: frozenset[Step],
    stems: AbstractSet[str],
    listed: Sequence[Sequence[Sequence[Fact]]] = (),
) -> Derived | None:
    """How ``fact`` is worked out from others, or None.

    ``named`` are the borne out facts of the claim and of the one before, and small factors that the reader
    may have chosen; ``near`` those of the sentences that the claim is about, each sentence's by themselves;
    ``cues`` the steps that the claim speaks of, and ``stems`` those of its words; ``listed`` the figures of
    the statements before the claim, from the last on, and of those after it. Codes and vague figures are
    never taken as worked out; of a range both ends are, by the same step.
    """
    if fact.soft or fact.kind is Kind.CODE or (fact.highs and fact.kind is Kind.TIME):
        return None
    apart = tuple(_ends(named)), tuple(tuple(_ends(facts)) for facts in near)
    found = [_Worked(end, *apart, cues, stems, listed).out() for end in fact.ends()]
    return found[-1] if len({one and one.step for one in found}) == 1 else None


def _ends(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The figures, each range as the two that it goes from and to; opening hours stay whole."""
    return chain.from_iterable(fact.ends() if fact.kind is not Kind.TIME else (fact,) for fact in facts)


def is_factor(fact: Fact) -> bool:
    """Whether a fact is a small number by itself, and no part of a name: "QoS 2"."""
    named = fact.label and not fact.counted
    return fact.kind is Kind.NUMBER and not (fact.highs or named) and 1 < fact.values[0] <= _LARGEST_FACTOR


_LOOKED_AT = 7
_LEAST = 10
_LARGEST_FACTOR = 20
# Of more figures than these, one has to be named by the claim: they make too many sums.
_FEW = 4
_NEVER_ADDED = (Kind.DATE, Kind.CODE, Kind.TIME, Kind.PERCENT)


@dataclass(frozen=True)
class _Worked:
    """A figure with what it may have been worked out from, and the steps that its claim speaks of."""

    fact: Fact
    named: tuple[Fact, ...]
    near: tuple[tuple[Fact, ...], ...]
    cues: frozenset[Step]
    stems: AbstractSet[str]
    listed: Sequence[Sequence[Sequence[Fact]]]

    def out(self) -> Derived | None:
        """How it is worked out by the first step that gives it."""
        fact, cents = self.fact, steps.cents(self.fact)
        return next((result.of(fact) for result in self.results() if result.gives(fact, cents)), None)

    def results(self) -> Iterator[Result]:
        """What the steps give that can give this sort of figure."""
        if self.fact.kind in (Kind.DATE, Kind.TIME):
            yield from self._moved()
            return
        for other in self._operands:
            if conversion.converts(self.fact, other):
                yield Result(Step.CONVERSION, other.values[0], (other,), "{0}")
        telling = not self._small or self.fact.unit
        if telling:
            yield from self._of_named()
            yield from self._sums()
        if self._small:
            yield from self._left_over()
        if telling:
            yield from self._products()
            yield from self._quotients()
            yield from self._parts()
        yield from self._means()
        yield from self._shares()
        yield from self._points()
        yield from self._periods()

    @property
    def _small(self) -> bool:
        """Whether chance makes such a number easily."""
        return abs(self.fact.numbers[0]) < _LEAST

    @cached_property
    def _operands(self) -> list[Fact]:
        """The claim's own figures, dates and vague ones left out."""
        return [o for o in self.named if o.values and not o.soft and o.kind is not Kind.DATE][-_LOOKED_AT:]

    @cached_property
    def _nearby(self) -> list[Fact]:
        return list(chain.from_iterable(self.near))

    @cached_property
    def _pool(self) -> list[Fact]:
        """Named figures and those nearby, each once."""
        found = [o for o in (*self.named, *self._nearby) if o.values and not o.highs]
        found = [o for o in found if o.kind not in (Kind.TIME, Kind.CODE)]
        first = {(o.unit, o.values[0]): o for o in reversed(found)}
        return list(reversed(first.values()))[: 2 * _LOOKED_AT]

    def _names(self, *others: Fact) -> bool:
        """Whether the claim itself names one of them."""
        return any(other is mine for other in others for mine in self.named)

    def _apart(self, a: Fact, b: Fact) -> bool:
        """Whether the claim names each by a word that does not stand beside the other."""
        return bool(self.stems & (a.around - b.around)) and bool(self.stems & (b.around - a.around))

    def _of_named(self) -> Iterator[Result]:
        """What two or three figures that the claim names make, whatever it says of them."""
        others = self._operands
        for a, b in combinations([o for o in others if o.unit == self.fact.unit], 2):
            yield from (steps.added(a, b), steps.taken(a, b))
        for a, b in permutations(others, 2):
            if a.unit == self.fact.unit and b.kind is Kind.NUMBER:
                yield steps.times(a, b)
                counts = [c for c in others if c.kind is Kind.NUMBER and c is not b and c is not a]
                yield from (steps.times(a, b, c) for c in counts)

    def _left_over(self) -> Iterator[Result]:
        """A small number that is said to be left of what the claim or the question has: "the other 4"."""
        fact = self.fact
        if not (_OTHER.search(fact.before) or _LEFT.match(fact.after)):
            return
        for a, b in combinations([o for o in self._operands if not o.highs], 2):
            if len({o.measure for o in (fact, a, b)} - {None}) <= 1:  # "5 of your 9 days"
                left = abs(a.numbers[0] - b.numbers[0]) * (fact.measure.factor if fact.measure else 1.0)
                yield replace(steps.taken(a, b), value=left)

    def _points(self) -> Iterator[Result]:
        """By how many points one percentage is above another."""
        if self.fact.unit == "percentage points":
            found = [o for o in self._pool if o.kind is Kind.PERCENT and o is not self.fact]
            for a, b in combinations(found, 2):
                if self._names(a, b) or len(found) <= _FEW:
                    yield steps.taken(a, b)

    def _alike(self, others: Iterable[Fact]) -> list[Fact]:
        """The figures that can be added to one another and to this one, each once."""
        fact = self.fact
        if fact.kind in _NEVER_ADDED or fact.unit == "temperature":
            return []
        alike = [o for o in others if o.kind is fact.kind and o.unit == fact.unit and not (o.soft or o.highs)]
        first = {other.values[0]: other for other in reversed(alike)}  # what the claim names comes first
        return [other for other in alike if other is first[other.values[0]]][:_LOOKED_AT]

    def _sums(self) -> Iterator[Result]:
        """Sums and differences of a named figure and one nearby.

        And of two nearby that the claim speaks of or tells apart by words.
        """
        alike = self._alike([*self._operands, *self._nearby])
        added, taken = Step.SUM in self.cues, Step.DIFFERENCE in self.cues
        for a, b in combinations(alike, 2):
            named = self._names(a, b)
            apart, meant = self._apart(a, b) and not self._small, len(alike) <= _FEW and not self._small
            if named or (added and meant) or (apart and not taken):
                yield steps.added(a, b)
            if named or (taken and meant) or (apart and not added):
                yield steps.taken(a, b)
        groups = [*map(self._alike, self.near), alike] if added else []
        mine = self._alike(o for o in self._operands if o.source is self.fact.source)
        yield from (steps.added(*group) for group in (mine, *groups) if len(group) > 2)
        if added:
            yield from self._listed()

    def _listed(self) -> Iterator[Result]:
        """The sum of a whole list beside the claim: the last figure, of this kind, of each of its items."""
        for items in self.listed:
            totals = [alike[-1] for alike in takewhile(bool, map(self._alike, items))]
            if len(totals) > 1:
                yield steps.added(*totals)

    def _products(self) -> Iterator[Result]:
        """So much an hour by the hours named, so much "each", and a bag's price by the bags named."""
        for a in self._pool:
            per = _rate(a)
            if per is None or a.unit != self.fact.unit or a.soft:
                continue
            for b in self.named:
                if b.unit == per.dimension and not b.highs:
                    count = b.values[0] / per.factor
                    if count == 1:  # said of another item, the same figure is no step
                        continue
                    yield Result(Step.PRODUCT, a.values[0] * count, (a, b), f"{count:g} × {{0}}")
        for a, b in permutations(self._pool, 2):
            if a.unit == self.fact.unit and is_factor(b) and self._names(a, b):
                yield steps.times(a, b)

    def _quotients(self) -> Iterator[Result]:
        """So much for each, or for each day."""
        if self.fact.kind is Kind.PERCENT:
            return
        said = Step.QUOTIENT in self.cues
        per = _rate(self.fact) if said else None
        for a, b in permutations(self._pool, 2):
            if a.unit != self.fact.unit or not b.values[0]:
                continue
            if per is not None and b.unit == per.dimension:
                yield steps.divided(self.fact, a, b, by=b.values[0] / per.factor)
            elif is_factor(b) and ((said and len(self._pool) <= _FEW) or self._names(a, b)):
                yield steps.divided(self.fact, a, b, by=b.values[0])

    def _means(self) -> Iterator[Result]:
        """The mean of like figures, and how many times as much one is as another."""
        if Step.MEAN in self.cues:
            groups = [*map(self._alike, self.near), self._alike(self._pool)]
            yield from (steps.mean(self.fact, group) for group in groups if len(group) > 1)
        if self.fact.kind is Kind.NUMBER and _TIMES.match(self.fact.after):
            for a, b in permutations(self._pool, 2):
                if a.unit == b.unit and a.kind is b.kind and a.values[0] > b.values[0] > 0:
                    yield steps.divided(self.fact, a, b, by=b.values[0])

    def _parts(self) -> Iterator[Result]:
        """A share of a figure: one of the two is named, or the claim's words tell them apart."""
        wholes = [o for o in self._pool if o.unit == self.fact.unit and not o.soft]
        for share in self._pool:
            if share.kind is Kind.PERCENT or shares.fraction(share):
                for whole in wholes:
                    meant = self._names(share, whole) or self._apart(share, whole)
                    if meant and whole is not share and whole.kind is not Kind.PERCENT:
                        yield from steps.parts(whole, share)

    def _shares(self) -> Iterator[Result]:
        """Which share one figure is of another, and the same share in other words."""
        fact = self.fact
        found = [*self._pool, *chain.from_iterable(map(shares.ratios, self.near))]
        counts = [o for o in found if o.kind is not Kind.PERCENT and o.values[0] >= 1]
        many = len({(o.source, o.span) for o in counts})  # of a table, each with and without its unit
        if many > _FEW:
            found = [o for o in found if o not in counts or self._names(o)]
        if fact.kind is Kind.PERCENT:
            there = [self._there(other) for other in found]
            yield from shares.percentages(fact, there, self.cues, alone=many == 2)
            if _OTHER.search(fact.before) or _REST.search(fact.before):
                yield from shares.left_of_all(there)
            return
        mine = sorted([fact, *(o for o in self.named if o.source is fact.source)], key=_start)
        said = [one for one in (fact, *shares.ratios(mine)) if shares.fraction(one)]
        said = [one for one in said if one.span.overlaps(fact.span)]
        for one in said:
            others = [o for o in found if o.source is not fact.source or not o.span.overlaps(one.span)]
            yield from shares.stated_as(fact, one, others)
        yield from shares.as_decimal(fact, found)

    def _there(self, fact: Fact) -> Fact:
        """A figure of the claim's as the sentences have it, which tell what came first; else as it is."""
        alike = (o for o in self._nearby if o.unit == fact.unit and o.values == fact.values and not o.highs)
        return next(alike, fact)

    def _periods(self) -> Iterator[Result]:
        if Step.PERIOD in self.cues:
            for group in (self.named, *self.near, (*self.named, *self._nearby)):
                if sum(bool(o.dates) or o.kind is Kind.TIME for o in group) <= _FEW:
                    for value, sources in periods.between(self.fact, group):
                        yield Result(Step.PERIOD, value, sources, steps.listed(" to ", sources))

    def _moved(self) -> Iterator[Result]:
        if Step.PERIOD in self.cues:
            for sources in periods.moved(self.fact, [*self.named, *self._nearby]):
                if self._names(*sources):
                    value = self.fact.values[0] if self.fact.values else 0.0
                    yield Result(Step.PERIOD, value, sources, steps.listed(" and ", sources))


def _rate(fact: Fact) -> Unit | None:
    """What an amount is given per: the hour of "2.50 EUR per hour"."""
    found = _PER.match(fact.after) or _FURTHER.match(fact.after)
    return UNITS.get(found[1].lower()) if found is not None else None


_PER = re.compile(r"\s*(?:times\s)?(?:per|an?|each|every|/|pro|par|por|al)\s*([^\W\d_]+)")
_FURTHER = re.compile(r"[^.,;\d]{0,24}\bper ([^\W\d_]+)")
_OTHER = re.compile(r"\b(?:other|remaining|leaves?|leaving)(?: the)? \Z", re.IGNORECASE)
_REST = re.compile(r"\brest(?: of \w+| of the \w+)?(?:,| is| are| being)? \(?\Z", re.IGNORECASE)
_LEFT = re.compile(r"(?: \w+)? (?:left|remain\w*|of (?:your|my|our|their)\b)")
_TIMES = re.compile(r"[ -]?(?:times|fold)\b")


def _start(fact: Fact) -> int:
    return fact.span.start
