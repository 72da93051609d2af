"""Fitting a combination of detectors' scores, and telling what it is worth on answers held out.

What is fitted is written as plain numbers (``detectors.combination``); scikit-learn is not needed to use it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from groundwire.bench.tuning import regression
from groundwire.bench.tuning.errors import TuningError
from groundwire.bench.tuning.rows import Groups, folds
from groundwire.bench.tuning.sweep import Flags, Floats
from groundwire.detectors.combination import Combination, Logistic, Trees, log_odds

_ENOUGH_FOR_TREES = 200  # answers of each label; with fewer, trees follow single answers


def fit(kind: str, columns: Floats, labels: Flags) -> Combination:
    """A combination of a kind: one column of ``columns`` for each member, in order."""
    return _FITS[kind](columns, labels)


def held_out(kind: str, columns: Floats, labels: Flags, groups: Groups, seed: int) -> Floats:
    """What combinations of this kind say of answers that each was not fitted to."""
    said = np.empty(len(labels))
    for part in folds(labels, groups, seed=seed):
        said[part] = applied(fit(kind, columns[~part], labels[~part]), columns[part])
    return said


def choose(
    kinds: Sequence[str], columns: Floats, labels: Flags, groups: Groups, seed: int
) -> tuple[str, Floats]:
    """The kind with the least Brier score on answers held out, and what it says of them.

    The first, which is the simpler, where the next is not better by more than a standard error over sources.
    """
    enough = min(int(labels.sum()), int((~labels).sum())) >= _ENOUGH_FOR_TREES
    kinds = [kind for kind in kinds if kind != Trees.kind or enough or len(kinds) == 1]
    said = {kind: held_out(kind, columns, labels, groups, seed) for kind in kinds}
    chosen = kinds[0]
    _, which = np.unique(groups, return_inverse=True)
    for kind in kinds[1:]:
        less = (said[chosen] - labels) ** 2 - (said[kind] - labels) ** 2
        by_source = np.bincount(which, weights=less)
        if less.sum() > math.sqrt(len(by_source)) * by_source.std():
            chosen = kind
    return chosen, said[chosen]


def applied(combination: Combination, columns: Floats) -> Floats:
    """The combined scores."""
    return np.array([combination(row) for row in columns.tolist()], dtype=np.float64)


def logistic(columns: Floats, labels: Flags) -> Logistic:
    """Logistic regression of the log-odds, its weights kept from 0 on (Breiman, 1996, for why).

    A member that would count against what it says is left out, the worst first, and the others fitted anew.
    Raises TuningError where no member is of use.
    """
    odds = np.vectorize(log_odds)(columns)
    kept = list(range(columns.shape[1]))
    while kept:
        rows = np.column_stack([odds[:, kept], np.ones(len(odds))])
        penalties = np.array([*[1.0] * len(kept), 1e-9])
        *weights, bias = regression.logistic(rows, labels.astype(np.float64), penalties).tolist()
        if min(weights) >= 0:
            whole = dict(zip(kept, weights, strict=True))
            return Logistic(weights=tuple(whole.get(i, 0.0) for i in range(columns.shape[1])), bias=bias)
        kept.pop(weights.index(min(weights)))
    raise TuningError(
        "no detector of these scores hallucinated answers higher than grounded ones: stack others"
    )


def trees(columns: Floats, labels: Flags) -> Trees:
    """Few and shallow boosted trees, none of which falls as a score rises."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - it is slow to load

    model = HistGradientBoostingClassifier(
        max_iter=60,
        learning_rate=0.08,
        max_leaf_nodes=6,
        min_samples_leaf=20,
        l2_regularization=5.0,
        monotonic_cst=[1] * columns.shape[1],
        early_stopping=False,
        random_state=0,
    ).fit(columns, labels)
    lists: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in exported(model).items()}
    return Trees(members=columns.shape[1], **lists)


def exported(model: Any) -> dict[str, Any]:
    """A HistGradientBoostingClassifier's trees as plain lists; see ``lexical_model.Forest``."""
    data: dict[str, list[Any]] = {
        key: [] for key in ("roots", "feature", "threshold", "left", "right", "value")
    }
    depth = 0
    for (tree,) in model._predictors:  # noqa: SLF001 - scikit-learn has no public form of its trees
        root = len(data["feature"])
        data["roots"].append(root)
        for i, node in enumerate(tree.nodes):
            leaf = bool(node["is_leaf"])
            data["feature"].append(0 if leaf else int(node["feature_idx"]))
            data["threshold"].append(0.0 if leaf else float(node["num_threshold"]))
            data["left"].append(root + (i if leaf else int(node["left"])))
            data["right"].append(root + (i if leaf else int(node["right"])))
            data["value"].append(float(node["value"]) if leaf else 0.0)
            depth = max(depth, int(node["depth"]))
    base = float(np.ravel(model._baseline_prediction)[0])  # noqa: SLF001
    return {"depth": depth, "base": base, **data}


_FITS: Mapping[str, Callable[[Floats, Flags], Combination]] = MappingProxyType(
    {Logistic.kind: logistic, Trees.kind: trees}
)
KINDS = tuple(_FITS)
