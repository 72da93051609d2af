"""The fitted part of the lexical detector: boosted trees and a calibration, read from JSON.

Evaluating alone. Fitting lives in the top-level ``training/``, which needs scikit-learn; this needs numpy.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire.core import calibration
from groundwire.core.calibration import Calibration, Platt
from groundwire.detectors.lexical_seen import Answer

Floats = NDArray[np.float64]
_ROWS_AT_ONCE = 2_048


@dataclass(frozen=True, kw_only=True)
class Forest:
    """Boosted trees over named features; all trees' nodes lie in one list.

    An inner node sends a row left where ``row[feature] <= threshold``. ``children`` are left and right in
    turn; a leaf is its own child on both sides, so that a walk of ``depth`` steps ends in it.
    """

    features: tuple[str, ...]
    roots: NDArray[np.intp]
    feature: NDArray[np.intp]
    threshold: Floats
    children: NDArray[np.intp]
    value: Floats
    depth: int
    base: float

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Forest:
        """From the form that ``training/lexical.py`` writes."""
        return cls(
            features=tuple(data["features"]),
            roots=np.array(data["roots"], dtype=np.intp),
            feature=np.array(data["feature"], dtype=np.intp),
            threshold=np.array(data["threshold"], dtype=np.float64),
            children=np.array([data["left"], data["right"]], dtype=np.intp).T.ravel(),
            value=np.array(data["value"], dtype=np.float64),
            depth=data["depth"],
            base=data["base"],
        )

    def __call__(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """One probability a row."""
        table = np.asarray(rows, dtype=np.float64).reshape(len(rows), len(self.features))
        done = [self._some(table[i : i + _ROWS_AT_ONCE]) for i in range(0, len(table), _ROWS_AT_ONCE)]
        return [p for part in done for p in part.tolist()]

    def _some(self, table: Floats) -> Floats:
        # Flat arrays and take() halve the time that two-dimensional indexing takes for a few rows.
        cells = table.ravel()
        start = np.arange(len(table), dtype=np.intp)[:, None] * table.shape[1]
        at = np.repeat(self.roots[None, :], len(table), axis=0)
        for _ in range(self.depth):
            right = cells.take(start + self.feature.take(at)) > self.threshold.take(at)
            at = self.children.take(2 * at + right)
        margin = self.base + self.value.take(at).sum(axis=1)
        bounded = np.minimum(np.maximum(margin, -40), 40)  # np.clip takes twice as long of a few
        probability: Floats = 1 / (1 + np.exp(-bounded))
        return probability


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """All that was fitted: the trees, the calibration, and how much each missing word tells."""

    claims: Forest
    answer: Forest
    calibration: Calibration
    telling: Mapping[str, float]
    version: str

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Fitted:
        """From the form that ``training/lexical.py`` writes."""
        return cls(
            claims=Forest.read(data["claims"]),
            answer=Forest.read(data["answer"]),
            calibration=calibration.from_dict(data["calibration"]),
            telling=data["telling"],
            version=data["version"],
        )

    def weigh(self, answer: Answer) -> Weighed:
        """Weigh the figures of an answer."""
        features = [claim.features for claim in answer.claims]
        settled = [claim.settled for claim in answer.claims]
        trees = self.claims(features)
        odds = [p if known is None else known for known, p in zip(settled, trees, strict=True)]
        if None not in settled:
            raw = score = max(odds)
        else:
            (raw,) = self.answer([pooled(odds, features, answer.features)])
            score = self.calibration(raw)
        return Weighed(odds=tuple(odds), least=least(answer, score), raw=raw, score=score)


@dataclass(frozen=True, kw_only=True, slots=True)
class Weighed:
    """An answer's claims in order: the odds of each, and the least score it may have; then the answer's own.

    ``raw`` is what the trees say of the answer, ``score`` the same calibrated.
    """

    odds: tuple[float, ...]
    least: tuple[float, ...]
    raw: float
    score: float

    def scores(self) -> list[float]:
        """The claims' scores.

        The worst claim has the answer's score and the others their share of it, so that an answer is
        flagged exactly where one of its claims is.
        """
        worst = max(self.odds)
        return [max(self.score * p / worst, least) for p, least in zip(self.odds, self.least, strict=True)]


def least(answer: Answer, score: float) -> tuple[float, ...]:
    """The least score of each claim, in an answer of this ``score``.

    A full name that no document has is made up. Figures are worked out, too, and who reckons has some of his
    own: that no document has them was weighed for the answer. They name claims of a flagged one, and beside a
    brief text it's a toss-up.
    """
    most = max(score, _TOSS_UP) if answer.words <= _BRIEF else score
    return tuple(max(seen.least_by_name, min(seen.least, most)) for seen in answer.claims)


_BRIEF, _TOSS_UP = 100, 0.5  # words


def in_other_words(weighed: Weighed, answer: Answer) -> Weighed:
    """The same in another language than English, where a word that is missing tells little.

    Its forms and other words for it are hardly known: what is found tells more than what isn't, unless hardly
    a word of a claim is. Fitted, with one answer in four wrong, on answers in six languages
    (``training/languages.py``). What exact facts and names say stands as it is.
    """
    floors = tuple(max(seen.least, _NEW if seen.is_new else 0.0) for seen in answer.claims)
    return replace(weighed, score=_ABROAD(logit(weighed.raw)), least=floors)


# Of six answers that hold such a claim, five were wrong, where half of all were.
_NEW = 0.5
_ABROAD = Platt(slope=0.36, intercept=-1.14)


def logit(probability: float) -> float:
    """Log-odds, bounded: no single figure decides alone."""
    p = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(p / (1 - p))


_LEAST = 1e-3


@cache
def load() -> Fitted:
    """The fitted model that ships with the package; read once."""
    source = resources.files("groundwire.detectors") / "data" / "lexical.json"
    return Fitted.read(json.loads(source.read_text(encoding="utf-8")))


def pooled(
    probabilities: Sequence[float], claims: Sequence[Sequence[float]], answer: Sequence[float]
) -> list[float]:
    """The figures of a whole answer: of its claims' probabilities, of their figures, and its own."""
    table = np.asarray(claims, dtype=np.float64)
    total = table.sum(axis=0)
    worst = sorted(probabilities, reverse=True)
    none = float(np.prod(1 - np.asarray(worst)))
    of_claims = [worst[0], sum(worst[:2]) / len(worst[:2]), sum(worst) / len(worst), sum(worst), 1 - none]
    return [
        *of_claims,
        *answer,
        *(total / len(table)).tolist(),
        *table.max(axis=0).tolist(),
        *table.min(axis=0).tolist(),
        *total.tolist(),
    ]


def pooled_names(claims: Sequence[str], answer: Sequence[str]) -> list[str]:
    """What ``pooled`` returns, named."""
    ways = ("mean", "max", "min", "sum")
    of_claims = ["p max", "p of two", "p mean", "p sum", "p any"]
    return [*of_claims, *answer, *(f"{name} {way}" for way in ways for name in claims)]
