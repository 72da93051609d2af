"""What fitting a cascade's bands takes and gives: targets, bands, decisions, and figures with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire.core.tuned import Figure

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class Target:
    """What bands are fitted for: at least this precision, recall and F1, and at most so many calls an answer.

    What that leaves open is as good as can be: the F1 with only ``calls``, the recall with a precision, and
    the precision with a recall. With both of these, or an F1, the calls are as few as can be.

    Raises ValueError without any, and for shares outside of [0, 1].
    """

    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    calls: float | None = None

    def __post_init__(self) -> None:
        shares = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        if all(value is None for value in (*shares.values(), self.calls)):
            raise ValueError("a target needs a precision, a recall, an F1 or a number of calls")
        for name, value in shares.items():
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"a target's {name} must be a number in [0, 1], not {value!r}")
        if self.calls is not None and not self.calls >= 0:
            raise ValueError(f"a target's calls must be a number from 0 on, not {self.calls!r}")


@dataclass(frozen=True, kw_only=True)
class Band:
    """Grounded below ``accept``, hallucinated from ``flag`` on, and handed on between; None does neither."""

    accept: float | None = None
    flag: float | None = None


@dataclass(frozen=True, kw_only=True)
class Figures:
    """How well and how cheaply bands decide: shares in [0, 1], and calls for an answer.

    Precision is NaN where nothing is flagged. An answer that is not judged counts against the recall if it is
    hallucinated; ``undecided`` is the share of such answers.
    """

    precision: Figure
    recall: Figure
    f1: Figure
    calls: Figure
    undecided: float


@dataclass(frozen=True, kw_only=True)
class FittedBands:
    """Bands for all stages but the last, fitted on all answers, and what to expect of them.

    ``fitted`` are the figures on the answers that they were fitted on, which flatter; ``held_out`` those on
    answers of groups that took no part in fitting (cross-fitted), by ``decisions``. ``reached`` says
    whether the target is met on the former, ``met`` on the latter.
    """

    bands: tuple[Band, ...]
    target: Target
    fitted: Figures
    held_out: Figures
    decisions: Decisions
    reached: bool
    met: bool


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """What a cascade did with each answer: flagged it or not, or could not judge it; and the calls it took.

    ``stage`` is the one that decided, or whose score flags what no later one could judge; -1 for none.
    """

    flagged: Flags
    undecided: Flags
    stage: Indices
    calls: Floats
