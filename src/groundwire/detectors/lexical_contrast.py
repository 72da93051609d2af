"""A claim beside the sentence that is most like it: said again, said word for word, or said otherwise.

Only for a sentence that the claim says over again, but for a word or two: between two things said side by
side, a "not" more or less or another name is no contradiction. On real answers with a looser match, one
such difference in fifteen was an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from groundwire.detectors.lexical_seen import Otherwise
from groundwire.detectors.lexical_words import (
    MODAL,
    NEGATIVE,
    OPPOSITE_VERBS,
    OPPOSITES,
    PHRASES,
    ROLES,
    STATES,
)
from groundwire.text import clauses, facts, names
from groundwire.text.facts import Fact
from groundwire.text.overlap import Context, Match
from groundwire.text.worded import Worded, word


@dataclass(frozen=True, kw_only=True, slots=True)
class Contrast:
    """``claim`` beside ``sentence``, the best ``match`` in ``context``.

    ``content`` are the claim's words, and ``facts`` its figures.
    """

    claim: Worded
    content: tuple[int, ...]
    facts: Sequence[Fact]
    sentence: Worded
    match: Match
    context: Context

    def verbatim(self) -> bool:
        """Whether the claim's words stand in this order, one after the other, around the sentence.

        A "yes" or "no" before them need not. Not where the sentence denies something and the claim doesn't:
        what is copied from "no dogs are allowed" may leave out the "no".
        """
        if bool(self.claim.negated) != bool(self.sentence.negated):
            return False
        near = self.context.window(self.match, 1, 2)
        there = f" {' '.join(folded for sentence in near for folded in sentence.folded)} "
        said = self.claim.folded[len(_ANSWERS.intersection(self.claim.folded[:1])) :]
        return bool(said) and f" {' '.join(said)} " in there

    def negation_differs(self) -> Otherwise | None:
        """The claim's word that is negated here and not there, or the other way round.

        None where the two speak of either side of one limit: what is denied below is affirmed above.
        """
        mine = self.claim
        if any(self._other_side(fact) is not None for fact in self.facts):
            return None
        for theirs in self._restated():
            differs = bool(mine.negated) != bool(theirs.negated)
            if not differs or not NEGATIVE.isdisjoint(mine.stems + theirs.stems):
                continue
            for stem in sorted(mine.negated | theirs.negated):
                if mine.stems.count(stem) == theirs.stems.count(stem) == 1:
                    at = mine.stems.index(stem)
                    return self._otherwise(at, mine.words[at].text)
        return None

    def _restated(self) -> Iterator[Worded]:
        """The sentence, if the claim says it over again, else those clauses of it that the claim repeats."""
        if self._restates():
            yield self.sentence
            return
        mine = [self.claim.stems[i] for i in self.claim.content]
        if len(mine) < _LEAST_REST or not set(mine) <= set(self.sentence.stems):
            return
        for clause in map(self.context.word, clauses.cut(self._text())):
            theirs = [clause.stems[i] for i in clause.content]
            said = len(set(theirs).difference(mine)) <= 1 and mine == _in_order(theirs, set(mine))
            if said and set(mine) <= set(theirs):
                yield clause

    def opposite(self) -> Otherwise | None:
        """A word of the claim whose opposite stands in the sentence instead of it, and that opposite."""
        there, mine = self.sentence.folded, self.claim.folded
        phrases = _phrases(mine)
        if OPPOSITES.keys().isdisjoint((*mine, *phrases)) and OPPOSITE_VERBS.keys().isdisjoint(mine):
            return self._other_opposite()
        said, told = _with_next(mine, phrases), _with_next(there, _phrases(there))
        for i, (folded, phrase) in enumerate(zip(mine, phrases, strict=True)):
            known = [form for form in (folded, phrase) if form in OPPOSITES]
            for one, other in ((form, other) for form in known for other in OPPOSITES[form]):
                new = other in told and one not in told and other not in said and phrase not in PHRASES
                if new and not self._denied(i, other) and (self._restates() or self._says_only(i)):
                    return self._instead(i, one, other)
            for other in OPPOSITE_VERBS.get(folded, ()):
                if other in there and folded in there and other not in mine and self._says_of(other, i):
                    return self._otherwise(i, other)
        return self._other_opposite()

    def _other_opposite(self) -> Otherwise | None:
        return self._state() or self._without_bound() or self._other_bound() or self._of_others()

    def _denied(self, at: int, other: str) -> bool:
        """Whether one of two opposites is denied, and the other isn't: "not allowed" is "forbidden"."""
        mine, theirs = self.claim, self.sentence
        if other not in theirs.folded:
            return False
        there = theirs.stems[theirs.folded.index(other)]
        return (mine.stems[at] in mine.negated) != (there in theirs.negated)

    def _instead(self, at: int, one: str, other: str) -> Otherwise:
        """One word for another; of two, the first that differs: the "hiver" of "en hiver" and "en été"."""
        mine, theirs = one.split("_"), other.split("_")
        same = int(mine[0] == theirs[0])
        return self._otherwise(at + same, " ".join(theirs[same:]))

    def _says_of(self, other: str, at: int) -> bool:
        """Whether what follows a verb of the claim follows its opposite in a sentence that has both.

        "It opens at 9 and closes at 5" says of opening what "it closes at 9" says of closing.
        """
        text, folded = self._text(), self.claim.folded[at]
        theirs = word(text)
        if theirs.folded.count(folded) > 1 or theirs.folded.count(other) > 1:
            return False
        there = _Said.after(theirs, text, theirs.folded.index(other))
        here = _Said.after(theirs, text, theirs.folded.index(folded))
        mine = [i for i in self.claim.content if i > at]
        after = self.claim.words[at].end
        told = [
            *(there.says(self.claim.stems[i]) - here.says(self.claim.stems[i]) for i in mine),
            *(there.states(fact) - here.states(fact) for fact in self.facts if fact.span.start >= after),
        ]
        return 1 in told and -1 not in told

    def _state(self) -> Otherwise | None:
        """A state, and the opposite one that the sentence tells: "pets are allowed", "an unused item".

        Where the claim says no more than the sentence does, and no passage has a word for its own state.
        """
        mine, theirs = self.claim, self.sentence
        if mine.negated or theirs.negated:
            return None
        prefixed = any(folded.startswith(_UN) for folded in theirs.folded)
        for i in mine.content:
            if not (prefixed or mine.folded[i] in STATES or mine.folded[i].startswith(_UN)):
                continue
            same, opposite = _states_of(mine.folded[i])
            told = next((j for j in theirs.content if theirs.folded[j] in opposite), None)
            if told is None or not self._says_no_more(but=i):
                continue
            known = any(not same.isdisjoint(passage.folded) for passage in self.context.passages)
            denied = not NEGATIVE.isdisjoint(s for s in theirs.stems if s != theirs.stems[told])
            of_another = mine.folded[i] in STATES and _subject(mine, i) != _subject(theirs, told)
            if not (known or denied or of_another):
                return self._otherwise(i, theirs.folded[told])
        return None

    def _says_no_more(self, *, but: int) -> bool:
        """Whether the sentence has all the words of the claim but one, figures aside, and those are some."""
        mine = self.claim
        rest = {mine.stems[i] for i in self.content if i != but and mine.folded[i] not in MODAL}
        return bool(rest) and rest <= set(self.sentence.stems)

    def _says_only(self, at: int) -> bool:
        """Whether the claim is words of the sentence in their order, but for a role that no passage has."""
        rest = [self.claim.stems[i] for i in self.claim.content if i != at]
        new = self.claim.folded[at] in ROLES and not self.context.places(self.claim.stems[at])
        if not new or len(rest) < _LEAST_REST or not self._says_no_more(but=at):
            return False
        theirs = [self.sentence.stems[i] for i in self.sentence.content]
        return _in_order(rest, set(theirs)) == _in_order(theirs, set(rest))

    def _without_bound(self) -> Otherwise | None:
        """An "all" where the sentence, of the same things, has "up to five"."""
        mine = self.claim
        for i, folded in enumerate(mine.folded):
            if folded not in _ALL or not self._says_no_more(but=i):
                continue
            for fact in self.context.facts_of(self.match):
                if fact.bound < 0 and not fact.counted.isdisjoint(mine.stems[i + 1 : i + _NEAR]):
                    bound = (*fact.before.split()[-_BOUND:], fact.text, *fact.after.split()[:1])
                    return self._otherwise(i, " ".join(bound))
        return None

    def _other_bound(self) -> Otherwise | None:
        """A bound, and the opposite one that the sentence sets: "over 8 kg" for "less than 8 kg".

        Where the words of the claim are those of the clause that sets it, and neither denies anything.
        """
        mine, theirs = self.claim, self.sentence
        if mine.negated or theirs.negated or not NEGATIVE.isdisjoint(mine.stems + theirs.stems):
            return None
        for fact in self.facts:
            told = self._other_side(fact)
            repeats = sum(other.values == fact.values for other in self.facts)
            if told is None or repeats > 1 or any(_opposite(told, other) for other in self.context.facts()):
                continue
            at = max((i for i, w in enumerate(mine.words) if w.end <= fact.span.start), default=-1)
            rest = {mine.stems[i] for i in self.content if not at - _BOUND < i <= at}
            clause = next((part for part in _PARTS.split(self._text()) if told.text in part), "")
            if at >= 0 and len(rest) >= _LEAST_REST and rest <= set(word(clause).stems):
                return self._otherwise(at, " ".join((*told.before.split()[-_BOUND:], told.text)))
        return None

    def _other_side(self, fact: Fact) -> Fact | None:
        """The sentence's fact that bounds the same figure from the other side, if none does from this one."""
        there = self.context.facts_of(self.match)
        told = next((other for other in there if _opposite(fact, other)), None)
        return None if told is None or any(_opposite(told, other) for other in there) else told

    def _of_others(self) -> Otherwise | None:
        """Who does what the sentence says only others may: "visitors may", where "only members may"."""
        mine, theirs = self.claim, self.sentence
        may = next((i for i, folded in enumerate(theirs.folded) if folded in MODAL), 0)
        who = {theirs.stems[i] for i in theirs.content if 0 < i < may}
        if theirs.folded[0] != "only" or not who or mine.negated or theirs.negated:
            return None
        does = {theirs.stems[i] for i in theirs.content if i > may}
        first = next((i for i, folded in enumerate(mine.folded) if folded in MODAL), 0)
        others = [i for i in self.content if i < first and mine.stems[i] not in who | does]
        rest = {mine.stems[i] for i in self.content if i > first}
        if not others or not who.isdisjoint(mine.stems) or not rest or not rest <= does:
            return None
        return self._otherwise(others[-1], " ".join(theirs.folded[:may]))

    def replaced(self, missing: Sequence[range]) -> tuple[range, str] | None:
        """An unknown name that stands where the sentence, which says all the rest, has another one."""
        if len(missing) != 1 or not missing[0][0]:
            return None
        run, mine = missing[0], self.claim
        rest = {mine.stems[i] for i in self.content if i not in run}
        if len(rest) < _LEAST_REST or not rest <= set(self.sentence.stems):
            return None
        name = [mine.folded[i] for i in run]
        roots = {folded[:_ROOT] for passage in self.context.passages for folded in passage.folded}
        if len("".join(name)) <= _ACRONYM or any(folded[:_ROOT] in roots for folded in name):
            return None
        return self._name_after(mine.folded[run[0] - 1], run)

    def _name_after(self, folded: str, run: range) -> tuple[range, str] | None:
        text = self._text()
        theirs = word(text)
        for other in names.find(theirs.words, theirs.folded, text):
            new = {theirs.stems[i] for i in other}.isdisjoint(self.claim.stems)
            if other[0] and theirs.folded[other[0] - 1] == folded and new:
                return run, text[theirs.words[other[0]].start : theirs.words[other[-1]].end]
        return None

    def _otherwise(self, at: int, theirs: str) -> Otherwise:
        return Otherwise(at, self.claim.words[at].text, theirs, self.match)

    def _text(self) -> str:
        passage = self.context.passages[self.match.passage]
        return passage.sentences[self.match.sentence].of(passage.text)

    def _restates(self) -> bool:
        """Whether the claim says the sentence over again, in its order, but for a word or two."""
        theirs = [self.sentence.stems[i] for i in self.sentence.content]
        mine = [self.claim.stems[i] for i in self.claim.content]
        shared = set(mine).intersection(theirs)
        if len(set(mine) - shared) > max(1, 0.25 * len(mine)):
            return False
        if len(set(theirs) - shared) > max(2, 0.5 * len(mine)):
            return False
        return _in_order(mine, shared) == _in_order(theirs, shared)


def _phrases(folded: Sequence[str]) -> list[str]:
    """Each word with the next one, as the word lists have two words; the last word alone."""
    return [*map("_".join, pairwise(folded)), *folded[-1:]]


def _with_next(folded: Sequence[str], phrases: Sequence[str]) -> frozenset[str]:
    """The words, each alone and with the next one, but for those of a phrase."""
    if PHRASES.isdisjoint(phrases):
        return frozenset(phrases).union(folded)
    alone = (one for one, phrase in zip(folded, phrases, strict=True) if phrase not in PHRASES)
    return frozenset(phrases).union(alone)


def _opposite(fact: Fact, other: Fact) -> bool:
    """Whether two facts bound the same figure from opposite sides."""
    return fact.bound * other.bound < 0 and (fact.unit, fact.values) == (other.unit, other.values)


def denied_beside(
    claim: Worded, content: Sequence[int], matches: Sequence[Match], context: Context
) -> Otherwise | None:
    """A word of the claim that a short sentence denies, beside one that the claim says the rest of.

    As in "We accept cards. We do not accept cheques.", where a claim has "cards and cheques". ``content`` are
    the claim's words, without figures. None where some sentence affirms what that one denies.
    """
    short = [m for m in matches if context.sentence(m).negated and len(context.sentence(m).folded) <= _SHORT]
    if not short or claim.negated or not NEGATIVE.isdisjoint(claim.stems):
        return None
    said = {claim.stems[i] for i in content if claim.folded[i] not in MODAL}
    for match in short:
        sentence = context.sentence(match)
        told = {sentence.stems[i] for i in sentence.content if sentence.folded[i] not in MODAL}
        if len(told) < _LEAST_REST or not told <= said:
            continue
        near = {stem for other in context.window(match, 1, 1) for stem in other.stems}
        if said <= near and not _affirmed(told, context):
            at = max(i for i in content if claim.stems[i] in told)
            return Otherwise(at, claim.words[at].text, claim.words[at].text, match)
    return None


def _affirmed(told: set[str], context: Context) -> bool:
    """Whether a sentence that denies nothing has all of some stems."""
    first, *others = (set(context.places(stem)) for stem in sorted(told))
    return any(
        not context.sentence(Match(*context.at(place), 0.0)).negated for place in first.intersection(*others)
    )


def _states_of(folded: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words for the same state, and those for its opposite, be it only by an "un" before it."""
    if folded in STATES or folded in _NO_STATES:
        return STATES.get(folded, (frozenset(), frozenset()))
    prefix = next((prefix for prefix in _UN if folded.startswith(prefix)), "")
    opposite = [folded.removeprefix(prefix)] if prefix else [prefix + folded for prefix in _UN]
    return frozenset([folded]), frozenset(other for other in opposite if len(other) >= _SHORTEST)


def _subject(worded: Worded, at: int) -> str | None:
    """The content word right before what is said of it."""
    return next((worded.stems[i] for i in reversed(worded.content) if at - _NEAR <= i < at), None)


@dataclass(frozen=True, slots=True)
class _Said:
    """What a sentence says after one of its words, up to where it goes on to something else."""

    stems: frozenset[str]
    facts: tuple[Fact, ...]

    @classmethod
    def after(cls, worded: Worded, text: str, at: int) -> _Said:
        start = worded.words[at].end
        mark = _GOES_ON.search(text, start)
        end = mark.start() if mark else len(text)
        return cls(
            frozenset(worded.stems[i] for i in worded.content if start <= worded.words[i].start < end),
            tuple(fact for fact in facts.extract(text) if start <= fact.span.start < end),
        )

    def says(self, stem: str) -> bool:
        return stem in self.stems

    def states(self, fact: Fact) -> bool:
        return any(facts.agree(fact, other) for other in self.facts)


def _in_order(stems: Sequence[str], among: set[str]) -> list[str]:
    return [stem for stem in dict.fromkeys(stems) if stem in among]


_ANSWERS = frozenset({"yes", "no"})
_GOES_ON = re.compile(r"[,;()]|:\s|\b(?:and|while|but|or|whereas)\b")
_UN, _SHORTEST = ("un", "non-"), 4  # nobody means "til" by "until"
_NO_STATES = frozenset({"unlike", "like", "unless", "less"})
# So near before what is said of it, in words, a subject stands.
_NEAR = 3
_ALL = frozenset({"all", "any", "every", "unlimited"})
_PARTS = re.compile(r"[,;:]\s|\s(?:and|while|but|or|whereas)\s")
_BOUND = 2  # words, as in "up to"
_SHORT = 15  # words
_LEAST_REST = 2
# Shorter names are taken for abbreviations of something known, and equal roots for one name's forms.
_ACRONYM, _ROOT = 3, 4
