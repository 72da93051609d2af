"""Facts of our own in a passage, and statements that put one of them otherwise, right or wrong.

A passage has a fact or several, each in one form, maybe among other sentences; the statement is another form
of one of them. Where it is wrong, two of its parts stand in each other's place, one is another fact's, or a
contrast's other side is said. So who did what has to be read, and looking words up tells nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from groundwire.core.span import Span
from groundwire.local import rows
from groundwire.text import forms
from training.encoder_contrasts import Pair
from training.encoder_rows import Label, Labelled, Mark, as_pair, by_marks
from training.facts import PERSON, Drawn, Facts, NoneLeftError, Relation, Values, filled

LENGTHS = (128, rows.LENGTH)

_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*|\d[\d.,]*")


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How many facts a passage has, and how often what is done."""

    alike: Sequence[int] = (1, 2, 2, 3)
    """How many facts of the statement's relation: one is drawn."""

    beside: Sequence[int] = (0, 0, 1, 1, 2)
    """How many of other relations."""

    contrasts: bool = True
    exchanged: float = 0.35
    """Of what is wrong within one fact's parts, beside what is another fact's."""

    from_elsewhere: float = 0.1
    """Of parts that no fact of the passage has."""

    same_form: float = 0.3
    surrounded: float = 0.35
    """Of passages with sentences of other documents."""

    by_last_name: float = 0.2
    like_another: float = 0.2
    """Of people who share a name with another."""


FULL = Habits()

FIRST = Habits(
    alike=(2, 2, 3),
    beside=(0,),
    contrasts=False,
    exchanged=0.15,
    from_elsewhere=0.03,
    same_form=0.5,
    surrounded=0.0,
    by_last_name=0.0,
    like_another=0.0,
)
"""What to begin with: which facts belong together is learnt within minutes. From FULL alone, nothing was."""


NEXT = replace(
    FIRST, alike=(1, 2, 2, 3), exchanged=0.35, from_elsewhere=0.05, same_form=0.4, like_another=0.1
)
"""And then: who did what within a fact."""

CLOSE = replace(NEXT, contrasts=True, same_form=0.3, by_last_name=0.1)
"""Facts and contrasts with nothing among them."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """A fact: its relation and what stands for each part."""

    relation: Relation
    values: Values


@dataclass(frozen=True, kw_only=True)
class Maker:
    """Makes pairs: a right and a wrong statement about the same passage. The same ``rng``, the same pairs.

    ``others`` are sentences of other documents, among which some facts stand.
    """

    facts: Facts
    rng: random.Random
    habits: Habits = FULL
    others: Sequence[str] = field(default=(), repr=False)

    def pairs(self, count: int) -> Iterator[Pair]:
        """So many pairs of rows."""
        about, against = len(self.facts.relations), len(self.facts.contrasts)
        share = against / (about + against) if self.habits.contrasts else 0.0
        made = 0
        while made < count:
            found = self.contrast() if self.rng.random() < share else self.relation()
            pair = found and found.rows(self.rng)
            if pair:
                made += 1
                yield pair

    def relation(self) -> Made | None:
        """One of several facts in another form, and with a part in another's place."""
        rng, habits, drawn = self.rng, self.habits, self._drawn()
        relation = rng.choice(self.facts.relations)
        try:
            told = [
                Told(relation=relation, values=drawn.values(relation.parts))
                for _ in range(rng.choice(habits.alike))
            ]
            for other in self._others(relation):
                told.append(beside(other, told, drawn))
            said = [rng.choice(each.relation.forms) for each in told]
            form = said[0]
            if rng.random() >= habits.same_form:
                form = rng.choice([other for other in relation.forms if other != form])
            values = told[0].values
            changed = wrong(told[0], told[1:], drawn, habits)
        except NoneLeftError:
            return None
        if changed is None:
            return None
        short = last_names(told) if rng.random() < habits.by_last_name else {}

        def called(names: Values) -> Values:
            return {part: short.get(name, name) for part, name in names.items()}

        text, places = filled(form, called(changed))
        return Made(
            passages=self._passages(
                [filled(form, each.values)[0] for form, each in zip(said, told, strict=True)]
            ),
            right=filled(form, called(values))[0],
            wrong=text,
            marks=[Mark(span, Label.NOT_SUPPORTED) for part, span in places if changed[part] != values[part]],
            label=Label.NOT_SUPPORTED,
        )

    def contrast(self) -> Made | None:
        """A sentence of one side in the passage; another of it, and one of the other side, as statements.

        Of the wrong one, those words are marked that no sentence of the right side has; of the others nobody
        knows.
        """
        rng, drawn = self.rng, self._drawn()
        contrast = rng.choice(self.facts.contrasts)
        sides = [contrast.one, contrast.other]
        if not contrast.only_one and rng.random() < 0.5:
            sides.reverse()
        holds, other = sides
        stated = rng.choice(holds)
        again = [text for text in holds if text != stated]
        right = rng.choice(again) if again and rng.random() >= self.habits.same_form else stated
        try:
            values = drawn.values(contrast.parts)
            told = [Told(relation=Relation(parts=contrast.parts, forms=holds), values=values)]
            sentences = [filled(stated, values)[0]]
            for relation in self._others(None):
                told.append(beside(relation, told, drawn))
                sentences.append(filled(rng.choice(relation.forms), told[-1].values)[0])
            if rng.random() < 0.5:  # the same is said of others, or its contrary
                form = rng.choice(other if rng.random() < 0.5 else holds)
                sentences.append(filled(form, drawn.values(contrast.parts))[0])
        except NoneLeftError:
            return None
        text, places = filled(rng.choice(other), values)
        known = {form.stem for sentence in holds for form in forms.of(_WORD.findall(sentence))}
        words = [Span(*word.span()) for word in _WORD.finditer(text)]
        frame = [span for span in words if not any(span.overlaps(place) for _, place in places)]
        stems = [form.stem for form in forms.of([span.of(text) for span in frame])]
        return Made(
            passages=self._passages(sentences),
            right=filled(right, values)[0],
            wrong=text,
            marks=[
                Mark(span, Label.IGNORED if stem in known else contrast.label)
                for span, stem in zip(frame, stems, strict=True)
            ],
            label=contrast.label,
        )

    def _others(self, about: Relation | None) -> list[Relation]:
        """Relations for facts beside what the statement is about.

        None of the same one: older than one who is older still is older, too.
        """
        relations = [each for each in self.facts.relations if each is not about]
        return self.rng.sample(relations, min(len(relations), self.rng.choice(self.habits.beside)))

    def _drawn(self) -> Drawn:
        return Drawn(words=self.facts.words, rng=self.rng, like_another=self.habits.like_another)

    def _passages(self, sentences: Sequence[str]) -> list[str]:
        """The sentences in any order, some among others, in one passage or two."""
        rng, made = self.rng, list(sentences)
        if self.others and rng.random() < self.habits.surrounded:
            made += rng.sample(self.others, min(len(self.others), rng.randint(1, 4)))
        rng.shuffle(made)
        if len(made) > 1 and rng.random() < 0.3:
            cut = rng.randrange(1, len(made))
            return [" ".join(made[:cut]), " ".join(made[cut:])]
        return [" ".join(made)]


@dataclass(frozen=True, kw_only=True)
class Made:
    """Passages, a statement that they bear out, and one that they don't, of which these words are wrong."""

    passages: Sequence[str]
    right: str
    wrong: str
    marks: Sequence[Mark]
    label: Label

    def rows(self, rng: random.Random) -> Pair | None:
        """A row for each statement; None where one doesn't fit in a row."""
        builder = rows.Builder(self.passages, None, length=rng.choice(LENGTHS))
        made: list[Labelled] = []
        for text, marks, label in ((self.right, (), Label.SUPPORTED), (self.wrong, self.marks, self.label)):
            found = builder.rows(text, [Span(0, len(text))])
            if len(found) != 1:
                return None
            made.append(Labelled(found[0], label, by_marks(found[0], marks)[1]))
        return as_pair(made[0], made[1])


def beside(relation: Relation, told: Sequence[Told], drawn: Drawn) -> Told:
    """A fact of another relation; some of its parts are those of the facts before, where their kinds are."""
    known: dict[str, list[str]] = {}
    for each in told:
        for part, kind in each.relation.parts.items():
            known.setdefault(kind, []).append(each.values[part])
    values: Values = {}
    for part, kind in relation.parts.items():
        again = [value for value in known.get(kind, []) if value not in values.values()]
        values[part] = drawn.rng.choice(again) if again and drawn.rng.random() < 0.5 else drawn.one(kind)
    return Told(relation=relation, values=values)


def wrong(about: Told, others: Sequence[Told], drawn: Drawn, habits: Habits = FULL) -> Values | None:
    """Values with two exchanged, one of another fact, or one of no fact. None where that may hold as well."""
    rng, parts, values = drawn.rng, about.relation.parts, about.values
    exchanged: list[Values] = [
        {one: values[other], other: values[one]}
        for one in parts
        for other in parts
        if one < other and parts[one] == parts[other]
    ]
    of_another: list[Values] = [
        {one: each.values[part]}
        for each in others
        for part, kind in each.relation.parts.items()
        for one in parts
        if parts[one] == kind and each.values[part] not in values.values()
    ]
    ways = exchanged + of_another
    if not ways or rng.random() < habits.from_elsewhere:
        part = rng.choice(sorted(parts))
        return values | {part: drawn.one(parts[part])}
    if exchanged and rng.random() < habits.exchanged:
        ways = exchanged
    changed = values | rng.choice(ways)
    also = [each.values for each in others if each.relation is about.relation]
    return None if changed in also else changed


def last_names(told: Sequence[Told]) -> Mapping[str, str]:
    """The last name of everyone; of nobody where two have the same."""
    people = {
        value for each in told for part, value in each.values.items() if each.relation.parts[part] == PERSON
    }
    last = {name: name.split()[-1] for name in people}
    return last if len(set(last.values())) == len(last) else {}
