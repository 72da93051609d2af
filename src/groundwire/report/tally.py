"""Counting outcomes, and comparing them with labels where labels are known."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire.core.verdict import Abstention, AbstentionReason
from groundwire.report.entries import Entry, Group


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Scores and verdicts against labels, over the ``answers`` that have a label and a verdict.

    ``hallucinated`` of them are labelled so. ``not_judged`` had a label and no verdict. ``precision``,
    ``recall`` and ``f1`` are of the hallucinated ones. A figure that means nothing on these answers is None:
    ``auroc`` unless both labels occur, ``precision`` where none is flagged, ``recall`` and ``f1`` where none
    is labelled hallucinated.
    """

    answers: int
    hallucinated: int
    not_judged: int
    auroc: float | None
    precision: float | None
    recall: float | None
    f1: float | None

    @property
    def figures(self) -> str:
        """What a reader is told."""
        if self.auroc is None:
            return "AUROC and F1 need answers of both labels"
        precision = "-" if self.precision is None else f"{self.precision:.3f}"
        return f"AUROC {self.auroc:.3f}, F1 {self.f1:.3f} (precision {precision}, recall {self.recall:.3f})"


class Tally:
    """Running counts. Memory grows by nine bytes for each labelled answer, and not otherwise."""

    def __init__(self) -> None:
        self.groups: Counter[Group] = Counter()
        self.reasons: Counter[AbstentionReason] = Counter()
        self.thresholds: set[float] = set()
        self._scores = array("d")
        self._flagged_and_label = array("b")
        self._labelled_not_judged = 0

    def add(self, entry: Entry) -> None:
        outcome = entry.outcome
        self.groups[entry.group] += 1
        if isinstance(outcome, Abstention):
            self.reasons[outcome.why] += 1
            self._labelled_not_judged += entry.label is not None
            return
        self.thresholds.add(outcome.threshold)
        if entry.label is not None:
            self._scores.append(outcome.score)
            self._flagged_and_label.append(2 * outcome.hallucinated + entry.label)

    @property
    def answers(self) -> int:
        return self.groups.total()

    def __getitem__(self, group: Group) -> int:
        return self.groups[group]

    def agreement(self) -> Agreement | None:
        """How verdicts and labels agree; None when no judged answer has a label."""
        if not self._scores:
            return None
        both = np.array(self._flagged_and_label)
        labels, flagged = both % 2 == 1, both >= 2
        hits, called, real = int((labels & flagged).sum()), int(flagged.sum()), int(labels.sum())
        return Agreement(
            answers=len(both),
            hallucinated=real,
            not_judged=self._labelled_not_judged,
            auroc=auroc(np.array(self._scores), labels),
            precision=hits / called if called else None,
            recall=hits / real if real else None,
            f1=2 * hits / (called + real) if real else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain counts, as ``groundwire check --json`` gives them."""
        agreement = self.agreement()
        return {
            "answers": self.answers,
            "hallucinated": self[Group.HALLUCINATED],
            "to_check": self[Group.TO_CHECK],
            "grounded": self[Group.GROUNDED],
            "not_judged": self[Group.NOT_JUDGED],
            "abstentions": {str(why): count for why, count in sorted(self.reasons.items())},
            "labels": None if agreement is None else vars(agreement),
        }


def auroc(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> float | None:
    """The chance that a hallucinated answer scores above a grounded one, ties counting half.

    None unless both occur. This is the Mann-Whitney statistic: the rank sum of the hallucinated answers.
    """
    positives, negatives = int(labels.sum()), int((~labels).sum())
    if not positives or not negatives:
        return None
    _, where, counts = np.unique(scores, return_inverse=True, return_counts=True)
    mean_ranks = np.cumsum(counts) - (counts - 1) / 2
    rank_sum = float(mean_ranks[where][labels].sum())
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)
