"""A claim beside the sentence that is most like it: said again, said word for word, or said otherwise.

Only for a sentence that the claim says over again, but for a word or two: between two things said side by
side, a "not" more or less or another name is no contradiction. On real answers with a looser match, one
such difference in fifteen was an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundwire.detectors.lexical_words import NEGATIVE, OPPOSITES
from groundwire.text import names
from groundwire.text.overlap import Context, Match, Worded, word


@dataclass(frozen=True, kw_only=True, slots=True)
class Contrast:
    """``claim`` beside ``sentence``, the best ``match`` in ``context``; ``content`` are the claim's words."""

    claim: Worded
    content: tuple[int, ...]
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
        said = self.claim.folded[self.claim.folded[0] in _ANSWERS :]
        return bool(said) and f" {' '.join(said)} " in there

    def negation_differs(self) -> tuple[int, str] | None:
        """The claim's word that is negated here and not there, or the other way round."""
        mine, theirs = self.claim, self.sentence
        if bool(mine.negated) == bool(theirs.negated) or not self._restates():
            return None
        if not NEGATIVE.isdisjoint(mine.stems + theirs.stems):
            return None
        for stem in sorted(mine.negated | theirs.negated):
            if mine.stems.count(stem) == theirs.stems.count(stem) == 1:
                at = mine.stems.index(stem)
                return at, mine.words[at].text
        return None

    def opposite(self) -> tuple[int, str, str] | None:
        """A word of the claim whose opposite stands in the sentence instead of it, and that opposite."""
        if not self._restates():
            return None
        there = set(self.sentence.folded)
        for i, folded in enumerate(self.claim.folded):
            for other in OPPOSITES.get(folded, ()):
                if other in there and folded not in there and other not in self.claim.folded:
                    return i, folded, other
        return None

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
        passage = self.context.passages[self.match.passage]
        text = passage.sentences[self.match.sentence].of(passage.text)
        theirs = word(text)
        for other in names.find(theirs.words, theirs.folded, text):
            new = {theirs.stems[i] for i in other}.isdisjoint(self.claim.stems)
            if other[0] and theirs.folded[other[0] - 1] == folded and new:
                return run, text[theirs.words[other[0]].start : theirs.words[other[-1]].end]
        return None

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


def _in_order(stems: Sequence[str], among: set[str]) -> list[str]:
    return [stem for stem in dict.fromkeys(stems) if stem in among]


_ANSWERS = frozenset({"yes", "no"})
_LEAST_REST = 2
# Shorter names are taken for abbreviations of something known, and equal roots for one name's forms.
_ACRONYM, _ROOT = 3, 4
