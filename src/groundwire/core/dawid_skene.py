"""Several judges of unknown skill: how good each is and what is true, estimated from their votes together.

Arrays in, a frozen model out. What is voted on, and who votes, is for others to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Votes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class DawidSkene:
    """A fitted model of judges: ``confusion[j][k][l]`` is how often judge j says l of what is k.

    ``prior[k]`` is how common label k is. ``converged`` says that the fit had settled when it ended. Raises
    ValueError unless the rows are probabilities.
    """

    prior: tuple[float, ...]
    confusion: tuple[tuple[tuple[float, ...], ...], ...]
    converged: bool = True

    def __post_init__(self) -> None:
        prior, confusion = np.array(self.prior), np.array(self.confusion)
        if prior.ndim != 1 or len(prior) < 2 or confusion.shape[1:] != (len(prior), len(prior)):
            raise ValueError(
                "expected a prior over at least two labels, and a square matrix over them a judge"
            )
        for rows in (prior, confusion):
            if not (np.all(rows > 0) and np.allclose(rows.sum(axis=-1), 1)):
                raise ValueError("priors and the rows of confusions must be above 0 and sum to 1")

    @property
    def reliability(self) -> tuple[float, ...]:
        """How often each judge is right, over labels as common as they were found to be."""
        right = np.diagonal(np.array(self.confusion), axis1=1, axis2=2)
        return tuple((right @ np.array(self.prior)).tolist())

    def posterior(self, votes: ArrayLike) -> Floats:
        """How likely each label is for each item: (items, labels), rows sum to 1.

        ``votes`` are (items, judges), each a label's number, or -1 where a judge said nothing.
        """
        table = _table(votes, judges=len(self.confusion), labels=len(self.prior))
        return _posterior(table, np.array(self.prior), np.array(self.confusion))

    def to_dict(self) -> dict[str, Any]:
        """The plain form, for files and settings."""
        return {
            "prior": list(self.prior),
            "confusion": [[list(row) for row in one] for one in self.confusion],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DawidSkene:
        """From the form of ``to_dict``. Raises ValueError or KeyError for any other."""
        rows = tuple(tuple(tuple(map(float, row)) for row in one) for one in data["confusion"])
        return cls(prior=tuple(map(float, data["prior"])), confusion=rows)


def fit(
    votes: ArrayLike,
    *,
    labels: int,
    known: Sequence[int] | None = None,
    smoothing: float = 1.0,
    iterations: int = 200,
    tolerance: float = 1e-6,
) -> DawidSkene:
    """Estimate judges' confusions and the labels' shares by expectation-maximisation.

    ``votes`` are (items, judges), numbers below ``labels``, or -1 for no vote. ``known`` are reviewed labels
    of the items, -1 where nobody reviewed one; without any, what the judges agree on is all there is to go
    by, beginning with each item's share of votes. ``smoothing`` counts that many further votes a row of a
    confusion, half of them right, so that a judge who was never seen wrong is not taken for infallible.

    Source: Dawid and Skene, 1979. Assumes that judges err independently of one another given the true label,
    and most of them better than chance: judges that copy each other are believed too much. Raises ValueError
    for votes of another shape or with other numbers.
    """
    table = _table(votes, judges=None, labels=labels)
    if labels < 2 or not table.size:
        raise ValueError(f"there is nothing to fit: {table.shape[0]} items, {labels} labels")
    reviewed = _reviewed(known, len(table), labels)
    chances = _clamped(_shares(table, labels), reviewed)
    settled = False
    for _ in range(iterations):
        prior, confusion = _estimated(table, chances, labels, smoothing)
        new = _clamped(_posterior(table, prior, confusion), reviewed)
        settled = bool(np.abs(new - chances).max() < tolerance)
        chances = new
        if settled:
            break
    prior, confusion = _estimated(table, chances, labels, smoothing)
    rows = tuple(tuple(tuple(row) for row in one) for one in confusion.tolist())
    return DawidSkene(prior=tuple(prior.tolist()), confusion=rows, converged=settled)


def _table(votes: ArrayLike, *, judges: int | None, labels: int) -> Votes:
    table = np.asarray(votes)
    if table.ndim != 2 or (judges is not None and table.shape[1] != judges):
        wanted = "judges" if judges is None else f"{judges} judges"
        raise ValueError(f"votes must be a table of items by {wanted}, not of shape {table.shape}")
    if not np.issubdtype(table.dtype, np.integer) and table.size:
        raise ValueError(f"votes must be whole numbers, not {table.dtype}")
    if table.size and (table.min() < -1 or table.max() >= labels):
        raise ValueError(f"votes must be labels from 0 to {labels - 1}, or -1 for none")
    return table.astype(np.int64)


def _reviewed(known: Sequence[int] | None, items: int, labels: int) -> Votes:
    if known is None:
        return np.full(items, -1, dtype=np.int64)
    reviewed = np.asarray(known, dtype=np.int64)
    if reviewed.shape != (items,) or (items and (reviewed.min() < -1 or reviewed.max() >= labels)):
        raise ValueError(f"known labels must be one for each of {items} items, from 0 to {labels - 1}, or -1")
    return reviewed


def _shares(table: Votes, labels: int) -> Floats:
    """Each item's share of votes; all labels alike where there is no vote."""
    counts = np.stack([(table == label).sum(axis=1) for label in range(labels)], axis=1).astype(np.float64)
    none = counts.sum(axis=1) == 0
    counts[none] = 1.0
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _clamped(chances: Floats, reviewed: Votes) -> Floats:
    sure = reviewed >= 0
    kept = chances.copy()
    kept[sure] = np.eye(chances.shape[1])[reviewed[sure]]
    return kept


def _estimated(table: Votes, chances: Floats, labels: int, smoothing: float) -> tuple[Floats, Floats]:
    prior = chances.sum(axis=0) + smoothing / labels
    # Half of what is added is right, the other half spread over the rest.
    added = smoothing * (0.5 * np.eye(labels) + 0.5 * (1 - np.eye(labels)) / (labels - 1)) + 1e-9
    said = np.stack([table == label for label in range(labels)], axis=2).astype(
        np.float64
    )  # item, judge, said
    confusion = np.einsum("ik,ijl->jkl", chances, said) + added
    share: Floats = prior / prior.sum()
    return share, confusion / confusion.sum(axis=2, keepdims=True)


def _posterior(table: Votes, prior: Floats, confusion: Floats) -> Floats:
    said = np.maximum(table, 0)
    terms = np.log(confusion)[np.arange(table.shape[1])[None, :], :, said]  # item, judge, label
    terms[table < 0] = 0.0
    # Sorted, so that rounding too ignores the order of the judges.
    log = np.log(prior)[None, :] + np.sort(terms, axis=1).sum(axis=1)
    log -= log.max(axis=1, keepdims=True)
    chances: Floats = np.exp(log)
    normal: Floats = chances / chances.sum(axis=1, keepdims=True)
    return normal
