"""What the documents say of each exact fact of a claim: it, another in its place, what it follows from."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from groundwire.core.turns import give_way
from groundwire.detectors.lexical_places import Places
from groundwire.text import arithmetic, conversion, facts, periods, steps, weekdays
from groundwire.text.facts import Checked, Fact, Kind, Known, Status
from groundwire.text.overlap import Match
from groundwire.text.steps import Derived

Looked = tuple[Fact, Checked, Match | None]
Beside = tuple[Sequence[Sequence[Looked]], Sequence[Sequence[Looked]]]


@dataclass(frozen=True, kw_only=True)
class Figures(Places):
    """A claim's exact facts and their places, and what else they may be worked out from.

    ``given`` are the question's facts, ``earlier`` those of the statement before that were borne out, and all
    that were worked out before. ``beside`` is what the statements around it say of their figures: those
    before it, from the last on, and those after it.
    ``at_issue`` are those of the question that it asks about, by their identity. ``negated`` says that the
    claim has a "no" or a "not". ``cells`` are the figures of the tables' cells that it names, by columns.
    """

    negated: bool
    given: Known
    at_issue: frozenset[int]
    earlier: Sequence[Fact]
    beside: Beside
    cells: Sequence[Sequence[Fact]] = ()

    def checked(self) -> tuple[Looked, ...]:
        """The facts in order, what is said of each, and in which sentence."""
        looked = self._looked_up()
        converted = self._wrongly_converted(looked)
        borne_out = set(map(id, those_found(looked)))
        near = [self.context.figures_of(match)[:_NAMED] for match in self.matches]
        stated = {(fact.unit, fact.values) for fact in self.found}  # which know what stands around them
        of_cells = [fact for column in self.cells for fact in column]
        of_cells = [fact for fact in of_cells if (fact.unit, fact.values) not in stated][:_NAMED_CELLS]
        if any(map(periods.is_age, self.found)):
            near.append(tuple(fact for fact in self.known.facts if periods.is_birth(fact))[:_BIRTHS])
        cues = steps.spoken_of(self.text)
        listed = [[those_found(looked) for looked in side] for side in self.beside]

        def follows(fact: Fact, checked: Checked, named: Sequence[Fact]) -> Checked:
            """A fact that the question gives, or that is worked out from others, is none to miss."""
            if checked.status is Status.FOUND:
                return checked
            if self.given.has(fact) and self._denied(fact, checked):
                return checked
            if self.given.has(fact) or self.known.hours.counts_days(fact):
                return Checked(status=Status.FOUND)
            if checked.status is Status.ABSENT and (
                _among(self.earlier, fact) or self._counts_weekdays(fact)
            ):
                return Checked(status=Status.FOUND)
            others = [other for other in named if other is not fact and id(other) not in counted[fact.kind]]
            stems = self.weights.keys()
            there = near
            if checked.status is Status.ABSENT:
                others, there = [*of_cells, *others], [*near, *map(tuple, self.cells)]
            derived = arithmetic.derive(fact, named=others, near=there, cues=cues, stems=stems, listed=listed)
            derived = derived or self._worked_out_below(fact)
            return checked if derived is None else Checked(status=Status.FOUND, derived=derived)

        followed = list(looked)
        # A time between two dates, counted to another date, is no evidence for that.
        counted: defaultdict[Kind, set[int]] = defaultdict(set)
        # What has been worked out is a figure to go on with: 2 % of 20,000, then what is left of them.
        for _ in range(_ROUNDS):
            # Small factors may be the reader's own: "for four sets there and back, 4 × 2 × 40 EUR".
            mine = [f for f in self.found if id(f) in borne_out or f.soft or arithmetic.is_factor(f)]
            named = [*self.earlier, *self.given.facts, *mine][-_NAMED:]
            followed = [
                converted.get(id(fact)) or (fact, follows(fact, checked, named), at)
                for fact, checked, at in followed
            ]
            known = set(map(id, those_found(followed)))
            between = {id(f) for f, c, _ in followed if c.derived and c.derived.step is steps.Step.PERIOD}
            counted |= {Kind.DATE: between, Kind.TIME: between}
            if known <= borne_out:
                break
            borne_out |= known
        used = [one for _, checked, _ in followed if checked.derived for one in checked.derived.sources]
        ids = {id(one) for one in used}
        # A factor that the claim works out something right with is the reader's own, also said over again.
        return self._left_over(
            (fact, Checked(status=Status.FOUND), at)
            if checked.status is not Status.FOUND
            and (id(fact) in ids or (arithmetic.is_factor(fact) and _among(used, fact)))
            else (fact, checked, at)
            for fact, checked, at in followed
        )

    def _worked_out_below(self, fact: Fact) -> Derived | None:
        """How what the claim says at once is worked out by what follows: "It's 108. 3 times 36 is 108."."""
        below = (looked for side in self.beside[1:] for looks in side for looked in looks)
        return next((c.derived for other, c, _ in below if c.derived and facts.agree(fact, other)), None)

    def _left_over(self, looked: Iterable[Looked]) -> tuple[Looked, ...]:
        """An unknown version or the like differs from the one that is left where all other facts stand.

        Whoever has two facts from a sentence, and a third in the place of the only one written like it, means
        that one. Whole numbers count anything, and say too little.
        """
        stated = tuple(looked)
        absent = [fact for fact, checked, _ in stated if checked.status is Status.ABSENT and not fact.soft]
        there = {at for fact, checked, at in stated if checked.status is not Status.ABSENT and not fact.soft}
        others = [fact for fact, checked, at in stated if checked.status is Status.FOUND and at]
        at = next(iter(there), None)
        if not absent or at is None or len(there) > 1 or len(others) < _TOLD_APART_BY:
            return stated
        if not all(_pointed(fact) and fact.text == absent[0].text for fact in absent):
            return stated
        alike = [one for one in self.context.facts_of(at) if _written(one) == _written(absent[0])]
        left = [one for one in alike if one.kind is absent[0].kind and not _among(others, one)]
        if len(left) != 1:
            return stated
        differs = Checked(status=Status.DIFFERS, nearest=left[0], affinity=1.0, shared=len(others))
        return tuple(
            (fact, differs, at) if any(fact is one for one in absent) else (fact, checked, place)
            for fact, checked, place in stated
        )

    def _counts_weekdays(self, fact: Fact) -> bool:
        """Whether it is as many days as a sentence names by the first and the last: Monday to Thursday."""
        if fact.unit != "time" or fact.highs or fact.values[0] not in _DAYS_OF_RUNS:
            return False
        there = [self.context.passages[match.passage] for match in self.matches]
        said = [
            passage.sentences[match.sentence].of(passage.text)
            for passage, match in zip(there, self.matches, strict=True)
        ]
        return any(_DAY * len(run) == fact.values[0] for text in said for run in weekdays.runs(text))

    def _denied(self, fact: Fact, checked: Checked) -> bool:
        """Whether the claim affirms a figure that the question asks about, and the documents have another."""
        other = checked.nearest
        if (
            checked.status is not Status.DIFFERS
            or other is None
            or self.negated
            or _HELD_AGAINST.search(self.text)
        ):
            return False
        alike = (fact.bound, bool(fact.highs), _edge(fact)) == (other.bound, bool(other.highs), _edge(other))
        told = _among([mine for mine in self.found if mine is not fact], other)
        asked = islice(self.given.equal(fact), _NAMED)
        return alike and not told and all(id(one) in self.at_issue for one in asked)

    def _looked_up(self) -> list[Looked]:
        near: list[Fact] = []
        where: dict[int, Match] = {}
        for match in self.matches:
            for fact in self.context.facts_of(match):
                near.append(fact)
                where[id(fact)] = match
        results: list[Looked] = []
        for fact in self.found:
            give_way()
            checked, row = self.of(fact, self._checked(fact, near))
            at = row or where.get(id(checked.nearest))
            if at is None and checked.status is Status.DIFFERS and checked.nearest is not None:
                at = self.context.place_of(checked.nearest)
            results.append((fact, checked, at))
        return results

    def _checked(self, fact: Fact, near: Sequence[Fact]) -> Checked:
        """How the passages bear on a fact, but for what only the words around it say.

        Where claim and sentence both state two figures, each has the other's words around it, and these can't
        tell which figure is whose: one that both state is no mistake for another.
        """
        checked = facts.check(fact, self.known, near=near)
        rival = checked.nearest
        others = [mine for mine in self.found if mine is not fact]
        if checked.status is not Status.DIFFERS or rival is None or not _among(others, rival):
            return checked
        place = self.context.place_of(rival)
        beside = [one for one in near if place and self.context.place_of(one) == place]
        equal = next((one for one in beside if facts.agree(fact, one)), None)
        if equal is not None:
            return replace(checked, status=Status.FOUND, nearest=equal)
        left = [one for one in beside if facts.comparable(fact, one) and not _among(others, one)]
        if len(left) == 1:
            return replace(checked, nearest=left[0])
        return Checked(status=Status.FOUND if self.known.has(fact) else Status.ABSENT)

    def _wrongly_converted(self, looked: Sequence[Looked]) -> dict[int, Looked]:
        """By its fact, what is said twice and wrongly: in "5 km (4 miles)" the second differs from 5 km."""
        wrong: dict[int, Looked] = {}
        for (last, known, _), (fact, checked, _) in pairwise(looked):
            if known.status is not Status.FOUND or known.nearest is None or checked.status is Status.FOUND:
                continue
            gap = self.text[last.span.end : fact.span.start]
            if not conversion.beside(last, fact, gap) or conversion.converts(fact, last):
                continue
            where = self.context.place_of(known.nearest)
            if where is not None:
                differs = Checked(status=Status.DIFFERS, nearest=known.nearest, affinity=1.0, shared=1)
                wrong[id(fact)] = (fact, differs, where)
        return wrong


def those_found(looked: Sequence[Looked]) -> list[Fact]:
    """The facts that the passages have, or that follow from theirs."""
    return [fact for fact, checked, _ in looked if checked.status is Status.FOUND]


def _pointed(fact: Fact) -> bool:
    """Whether it is written with a point between digits, as versions are, and has no unit."""
    return fact.kind in (Kind.NUMBER, Kind.CODE) and not fact.highs and "0.0" in _written(fact)


def _written(fact: Fact) -> str:
    """How it is written, whatever its digits: "0.0.0" of 5.1.12."""
    return _DIGITS.sub("0", fact.text.lower().removeprefix("v"))


_DIGITS = re.compile(r"\d+")
_TOLD_APART_BY = 2  # facts


def _among(others: Sequence[Fact], fact: Fact) -> bool:
    """Whether one of these says the same."""
    return any(facts.agree(other, fact) for other in others)


_EDGES = frozenset({"after", "before", "until", "till", "by", "since", "from", "to"})


def _edge(fact: Fact) -> str:
    """The word that has a figure end, or begin, something: the "until" of "until 2 days before"."""
    last = fact.before.split()[-1:]
    return last[0].lower() if last and last[0].lower() in _EDGES else ""


# What is said of a figure that is compared with another, and not affirmed: "30 kg is over the limit".
_HELD_AGAINST = re.compile(
    r"\b(?:(?:over|above|below|under|beyond|past|than) (?:the|our|its|this|that|your|any|what|is|allowed)|"
    r"too (?!\W)\w+|exceed\w*|instead|contrary|rather than|wrong\w*|mistak\w*|misunderst\w*|unknown|"
    r"zu (?:schwer|groß|viele?|hoch|lang|kurz|spät|früh|teuer|klein|weit|breit|alt|jung|wenig)|"
    r"(?:über|unter) (?:de[mnr]|das|die|unser\w*|ihr\w*)|statt|sondern|trop|demasiad\w*|troppo|"
    r"te (?:zwaar|groot|veel|hoog|laat|vroeg|duur|lang|kort|klein|weinig))\b",
    re.IGNORECASE,
)
_DAY = 86_400.0
_DAYS_OF_RUNS = frozenset(_DAY * days for days in range(2, 8))
# Of how many people an age may be worked out from the year of birth: of more, chance makes it.
_BIRTHS = 2
# No more figures of a claim and a question, or of a sentence, are worked with.
_NAMED = 24
_NAMED_CELLS = 6
# So often is gone on with what was worked out: an amount, what is left, a share of that, and all together.
_ROUNDS = 4
