"""Parts of labelled answers for cross-validation: no group lies in two of them, and labels spread evenly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def dealt(
    labels: NDArray[np.bool_], groups: NDArray[np.generic], parts: int, *, seed: int
) -> NDArray[np.intp]:
    """The part of each answer: groups are dealt out like cards, those with most of a label first.

    As StratifiedGroupKFold does, in a fraction of its time where there are thousands of groups.
    """
    names, which = np.unique(groups, return_inverse=True)
    bad = np.bincount(which, weights=labels, minlength=len(names))
    good = np.bincount(which, weights=~labels, minlength=len(names))
    shuffled = np.random.default_rng(seed).random(len(names))
    part = np.empty(len(names), dtype=np.intp)
    part[np.lexsort((shuffled, -good, -bad))] = np.arange(len(names)) % parts
    found: NDArray[np.intp] = part[which]
    return found
