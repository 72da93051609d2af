"""Many oracles' claims as one list: what says the same is merged, and each claim has its votes.

Nothing here depends on the order of oracles or claims. What votes come to is ``resolution``'s business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire.core.claim import Support
from groundwire.core.span import Span, union
from groundwire.detectors.ensemble.opinions import Said, placed
from groundwire.detectors.ensemble.places import Places
from groundwire.text.worded import Worded, word

Floats = NDArray[np.float64]
Likeness = Callable[[Sequence[str]], Floats]
"""How alike statements are: a symmetric table over them, 1 for the same."""

# Quotations that share this much of what both hold are of the same words.
_SAME_WORDS = 0.8
# The share of a wide claim's words that narrower claims must hold to speak in its place.
_TAKEN_APART = 0.5
# Of two claims that are never one: no mean with it reaches a threshold.
_NEVER = -np.inf
# From here on two statements are the same, whatever rounding made of it.
_SAME = 1 - 1e-6


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """Claims that say the same, the place that most of them have, and the words that most of them use."""

    said: tuple[Said, ...]
    span: Span | None
    statement: str

    def votes(self) -> dict[str, Said]:
        """One vote for each oracle: the most severe of what it said, since it can't take back the worst."""
        found: dict[str, Said] = {}
        for one in self.said:
            known = found.get(one.oracle)
            if known is None or _weight_of(one) > _weight_of(known):
                found[one.oracle] = one
        return found


def merged(said: Iterable[Said], places: Places, likeness: Likeness, threshold: float) -> list[Merged]:
    """The claims, each once, in the order of the answer; those that stand nowhere in it come last.

    Two are the same where they quote the same words of the answer and their readings quote them once; or
    where ``likeness`` is at least ``threshold`` on average over all pairs of the two groups that they are in
    (average linkage). Two such are never in one group that differ in a figure or a negation, that quote words
    of the answer apart from one another, or that one oracle told apart. A claim wider than others that were
    taken from its words votes on those instead.
    """
    ordered = sorted(
        (placed(one, None if one.span else places.stated(one.statement)) for one in said), key=_order
    )
    if not ordered:
        return []
    table = _alike(ordered, likeness([one.statement for one in ordered]))
    groups = [_merge([ordered[i] for i in group]) for group in _linked(table, threshold)]
    return sorted(_narrowed(groups), key=lambda one: _place(one.span, one.statement))


def lexical(statements: Sequence[str]) -> Floats:
    """Dice's coefficient of content words: twice the shared ones, divided by all."""
    words = [frozenset(w.stems[i] for i in w.content) for w in map(word, statements)]
    table = np.eye(len(words))
    for i, mine in enumerate(words):
        for j in range(i):
            size = len(mine) + len(words[j])
            same = statements[i] == statements[j]
            table[i, j] = table[j, i] = 1.0 if same else 2 * len(mine & words[j]) / size if size else 0.0
    return table


def _alike(said: Sequence[Said], table: Floats) -> Floats:
    worded = [word(one.statement) for one in said]
    figures = [_figures(one) for one in worded]
    spans = [None if one.guessed else one.span for one in said]
    quoted = Counter((one.oracle, span) for one, span in zip(said, spans, strict=True))
    alike = table.copy()
    for i, mine in enumerate(said):
        for j in range(i):
            once = quoted[mine.oracle, spans[i]] == quoted[said[j].oracle, spans[j]] == 1
            if once and mine.oracle != said[j].oracle and _same_words(spans[i], spans[j]):
                alike[i, j] = alike[j, i] = 1.0
                continue
            denied = bool(worded[i].negated) != bool(worded[j].negated)
            apart = mine.oracle == said[j].oracle or _apart(spans[i], spans[j])
            if _clash(figures[i], figures[j]) or denied or (apart and table[i, j] < _SAME):
                alike[i, j] = alike[j, i] = _NEVER
    return alike


def _figures(worded: Worded) -> frozenset[str]:
    return frozenset(form for form in worded.folded if any(character.isdigit() for character in form))


def _clash(mine: frozenset[str], other: frozenset[str]) -> bool:
    return bool(mine and other) and mine != other


def _same_words(mine: Span | None, other: Span | None) -> bool:
    if mine is None or other is None:
        return False
    shared = min(mine.end, other.end) - max(mine.start, other.start)
    whole = max(mine.end, other.end) - min(mine.start, other.start)
    return shared >= _SAME_WORDS * whole


def _apart(mine: Span | None, other: Span | None) -> bool:
    return mine is not None and other is not None and not mine.overlaps(other)


def _linked(alike: Floats, threshold: float) -> list[list[int]]:
    """Groups by average linkage. Rows stand in an order of their own, so ties don't depend on who spoke."""
    groups = [[i] for i in range(len(alike))]
    sums, sizes = alike.copy(), np.ones(len(alike))
    while len(groups) > 1:
        # Rounded, so that how a mean was added up can't decide.
        means = np.round(sums / np.outer(sizes, sizes), 9)
        np.fill_diagonal(means, -1.0)
        i, j = sorted(divmod(int(means.argmax()), len(groups)))
        if means[i, j] < threshold - 1e-9:
            break
        groups[i] += groups.pop(j)
        sums[i] += sums[j]
        sums[:, i] += sums[:, j]
        sizes[i] += sizes[j]
        sums = np.delete(np.delete(sums, j, axis=0), j, axis=1)
        sizes = np.delete(sizes, j)
    return [sorted(group) for group in groups]


def _merge(said: Sequence[Said]) -> Merged:
    exact = [one for one in said if one.span and not one.guessed]
    spans = Counter(one.span for one in exact or said if one.span)
    statements = Counter(one.statement for one in said)
    # Ties go to the shorter words, then to those that stand first.
    span = min(spans, key=lambda s: (-spans[s], len(s), s), default=None)
    return Merged(
        said=tuple(said), span=span, statement=min(statements, key=lambda s: (-statements[s], len(s), s))
    )


def _narrowed(groups: Sequence[Merged]) -> list[Merged]:
    """The groups, with each claim that others take apart spread over those."""
    kept: dict[int, list[Said]] = {i: list(group.said) for i, group in enumerate(groups)}
    spread: list[tuple[int, Said]] = []
    for i, group in enumerate(groups):
        inner = [j for j, other in enumerate(groups) if j != i and _inside(other.span, group.span)]
        if not inner or _taken(group, [groups[j] for j in inner]) < _TAKEN_APART:
            continue
        told = [
            (one, [j for j in inner if _speaks_of(one, groups[j])])
            for one in group.said
            if all(one.oracle not in {each.oracle for each in groups[j].said} for j in inner)
        ]
        for one, where in told:
            if where:
                kept[i].remove(one)
                spread += [(j, one) for j in where]
    for j, one in spread:
        kept[j].append(one)
    return [
        Merged(said=tuple(sorted(said, key=_order)), span=groups[i].span, statement=groups[i].statement)
        for i, said in kept.items()
        if said
    ]


def _inside(inner: Span | None, outer: Span | None) -> bool:
    if inner is None or outer is None or len(inner) >= len(outer):
        return False
    return outer.start <= inner.start and inner.end <= outer.end


def _taken(group: Merged, inner: Sequence[Merged]) -> float:
    """The share of a claim's characters that narrower ones hold."""
    held = union(one.span for one in inner if one.span)
    return sum(map(len, held)) / max(1, len(group.span or ()))


def _speaks_of(wide: Said, narrow: Merged) -> bool:
    """A claim that is borne out speaks for all of its parts; another, for those with words at fault."""
    if not wide.support.flagged:
        return True
    return any(
        word.start < narrow.span.end and narrow.span.start < word.end for word in wide.words if narrow.span
    )


def _weight_of(one: Said) -> tuple[int, float]:
    return one.support.severity, one.confidence or 0.0


def _place(span: Span | None, statement: str) -> tuple[bool, int, int, str]:
    return span is None, span.start if span else 0, span.end if span else 0, statement


def _order(one: Said) -> tuple[object, ...]:
    """An order that depends on nothing but what was said, and by whom."""
    return (
        *_place(one.span, one.statement),
        one.support.severity,
        -1.0 if one.confidence is None else one.confidence,
        one.oracle,
        repr((one.words, one.evidence, one.reason)),
    )


def usable(votes: dict[str, Said]) -> dict[str, Said]:
    """The votes that count."""
    return {name: one for name, one in votes.items() if one.support is not Support.UNVERIFIED}
