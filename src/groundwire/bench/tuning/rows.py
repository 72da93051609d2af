"""Judged answers as arrays: what tuning is fitted to and measured on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from groundwire.bench.metrics import Flagged, Labelled
from groundwire.bench.runs import Judged
from groundwire.bench.tuning.errors import TuningError
from groundwire.bench.tuning.sweep import Flags, Floats
from groundwire.core.aggregation import Aggregation, AnyUnsupported, Fraction, LengthWeighted, WorstK
from groundwire.core.folds import dealt
from groundwire.core.verdict import Verdict

Groups = NDArray[np.str_]
OWN = "own"
RULES: Mapping[str, Aggregation] = MappingProxyType(
    {
        "any_unsupported": AnyUnsupported(),
        "worst_2": WorstK(k=2),
        "worst_3": WorstK(k=3),
        "length_weighted": LengthWeighted(),
        "fraction": Fraction(),
    }
)
"""The rules from claims to answers that are tried beside the detector's own score."""
_ATTEMPTS = 10  # to spread labels so that no part takes all of one kind


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Answers that were judged, and their labels: one of each for every answer.

    ``columns`` are figures in [0, 1], one column for each of ``names``: what rules make of the claims, or the
    scores of a stack's members. ``flagged`` is what the (first) detector flags by its own threshold, by its
    score ``scores``; ``calls`` what it asked. ``weights`` are how much each answer counts.
    """

    names: tuple[str, ...]
    labels: Flags
    groups: Groups
    columns: Floats
    scores: Floats
    flagged: Flags
    calls: Floats
    weights: Floats

    def __len__(self) -> int:
        return len(self.labels)

    def at(self, index: NDArray[np.intp] | Flags) -> Self:
        """The answers at these places."""
        kept = {f.name: getattr(self, f.name)[index] for f in fields(self) if f.name != "names"}
        return replace(self, **kept)

    def labelled(self, scores: Floats) -> Labelled:
        """These answers with other scores, as measures take them."""
        return Labelled(
            weights=self.weights, groups=self.groups, labels=self.labels.astype(np.int64), scores=scores
        )

    def marked(self, flagged: Flags) -> Flagged:
        """These answers with what was flagged, as measures take them."""
        return Flagged(
            weights=self.weights,
            groups=self.groups,
            labels=self.labels.astype(np.int64),
            flagged=flagged,
        )


def by_rules(judged: Sequence[Judged], rules: Sequence[str]) -> Rows:
    """A column for the detector's own score, and one for each rule that every answer has claims for."""
    verdicts = [one.outcome for one in judged if isinstance(one.outcome, Verdict)]
    columns = {OWN: [verdict.score for verdict in verdicts]}
    for name in rules:
        if name != OWN:
            values = [RULES[name](verdict.claims) for verdict in verdicts]
            if None not in values:
                columns[name] = [value for value in values if value is not None]
    return _rows([judged], columns)


def by_members(judged: Mapping[str, Sequence[Judged]]) -> Rows:
    """A column for each member of a stack; every answer was judged by all of them."""
    columns = {
        name: [one.outcome.score for one in said if isinstance(one.outcome, Verdict)]
        for name, said in judged.items()
    }
    return _rows(list(judged.values()), columns)


def _rows(judged: Sequence[Sequence[Judged]], columns: Mapping[str, Sequence[float]]) -> Rows:
    first = judged[0]

    def of(get: Callable[[Judged], object]) -> list[object]:
        return [get(one) for one in first]

    return Rows(
        names=tuple(columns),
        labels=np.array(of(lambda one: one.example.label), dtype=np.bool_),
        groups=np.array(of(lambda one: one.example.group), dtype=np.str_),
        columns=rounded(np.array(list(columns.values()), dtype=np.float64).T),
        scores=np.array(of(lambda one: one.outcome.score), dtype=np.float64),
        flagged=np.array(of(lambda one: one.outcome.hallucinated), dtype=np.bool_),
        calls=np.sum(
            [[one.outcome.usage.calls for one in said] for said in judged], axis=0, dtype=np.float64
        ),
        weights=np.array(of(lambda one: one.example.weight), dtype=np.float64),
    )


def rounded(figures: Floats) -> Floats:
    """The figures without the noise of floats: what differs by less than 1e-9 is meant to be the same."""
    found: Floats = np.round(figures, 9)
    return found


def folds(labels: Flags, groups: Groups, *, least: int = 2, most: int = 5, seed: int = 0) -> list[Flags]:
    """Disjoint parts of the answers, as masks: each group lies in one of them, and labels spread evenly.

    From ``least`` to ``most`` of them, as many as both labels allow. Raises TuningError, saying what is
    missing, where answers can't be parted so that every rest has both labels.
    """
    require_both(labels)
    for label, said in ((True, "hallucinated"), (False, "grounded")):
        sources = np.unique(groups[labels == label])
        if len(sources) < least:
            there = f"one source ({sources[0][:40]!r})" if len(sources) == 1 else f"{len(sources)} sources"
            raise TuningError(
                f"all {int((labels == label).sum())} {said} answers are about {there}, so nothing can be "
                f"held out to measure on: label {said} answers about at least {least} sources"
            )
        most = min(most, len(sources))
    for attempt in range(_ATTEMPTS):
        which = dealt(labels, groups, most, seed=seed * _ATTEMPTS + attempt)
        masks: list[Flags] = [which == part for part in range(most)]
        if all(len(np.unique(labels[~mask])) == 2 for mask in masks):
            return masks
    raise TuningError(
        "the labels can't be spread over sources: a few sources have most answers of one kind. Label answers "
        "about more sources"
    )


def require_both(labels: Flags) -> None:
    """Raises TuningError where all labels are alike."""
    if len(labels) and labels.all() != labels.any():
        return
    only = "hallucinated (1)" if len(labels) and labels.all() else "grounded (0)"
    other = "grounded (0)" if len(labels) and labels.all() else "hallucinated (1)"
    said = f"all {len(labels)} answers are labelled {only}" if len(labels) else "there is no labelled answer"
    raise TuningError(f"{said}: a threshold parts two kinds; label {other} ones, too")
