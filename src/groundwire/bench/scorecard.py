"""What a method reached on a set of answers: every figure with its interval, what it cost, what it left out.

An abstention is no judgement: it takes part in no measure but the coverage, and in the bounds, where all that
was left out is once taken to be judged wrong and once right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire.bench import metrics
from groundwire.bench.intervals import ROUNDS, Averaged, figure
from groundwire.bench.metrics import Bin, Flagged, Labelled, Marked, characters
from groundwire.bench.runs import Judged
from groundwire.core.span import Span
from groundwire.core.tuned import Figure
from groundwire.core.verdict import Verdict
from groundwire.text import sentences

Answers = Mapping[str, Sequence[Judged]]
"""What a method said of the answers of each set."""

RANKED: Mapping[str, Callable[[Labelled], float]] = {
    "auroc": metrics.auroc,
    "average_precision": metrics.average_precision,
    "precision_at_recall": partial(metrics.precision_at_recall, recall=0.8),
    "best_f1": lambda data: metrics.best_f1(data)[0],
    "brier": metrics.brier,
}
"""Measures of scores. Precision is told at a recall of .8; the best F1 is an upper bound, by labels."""
DECIDED: Mapping[str, Callable[[Flagged], float]] = {
    "accuracy": metrics.accuracy,
    "balanced_accuracy": metrics.balanced_accuracy,
    "precision": metrics.precision,
    "recall": metrics.recall,
    "specificity": metrics.specificity,
    "f1": metrics.f1,
}
"""Measures of what is flagged at the method's own threshold."""
LOCATED: Mapping[str, Callable[[Marked], float]] = {
    "precision": metrics.span_precision,
    "recall": metrics.span_recall,
    "f1": metrics.span_f1,
}
"""Measures of the words that are named: as ``span_...`` by characters, as ``sentence_...`` by sentences."""


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What one answer took on average; ``cost`` is None where no price is known. Seconds are of the clock."""

    calls: float
    tokens: float
    cost: float | None
    seconds_p50: float
    seconds_p95: float


@dataclass(frozen=True, kw_only=True)
class Card:
    """The figures of one method; a figure is None where it means nothing for these answers or this method.

    ``answers`` are all that are labelled, ``bad`` the share of hallucinated ones, ``coverage`` the share that
    was judged, ``abstained`` counts the reasons for the others. ``bounds`` are a figure with all of these
    judged wrong, and all right, where it means anything. ``chance_ece`` is the calibration error of scores
    that are exactly right.
    Over several sets each weighs the same, and a figure is the mean of theirs.
    """

    answers: int
    bad: float
    coverage: float
    abstained: Mapping[str, int]
    figures: Mapping[str, Figure | None]
    bounds: Mapping[str, tuple[float, float]]
    best_cut: float | None
    ece: float | None
    chance_ece: float | None
    reliability: Sequence[Bin]
    spent: Spent


def card(answers: Answers, *, shortcut: bool = False, flags: bool = True, rounds: int = ROUNDS) -> Card:
    """All figures. A ``shortcut`` counts in the direction that suits it; only ``flags`` mean a decision."""
    every = [one for judged in answers.values() for one in judged]
    data, decided = scored(answers, either_way=shortcut), flagged(answers)
    figures: dict[str, Figure | None] = {
        name: figure(Averaged(measure), data, rounds)
        for name, measure in RANKED.items()
        if not (shortcut and name == "brier")
    }
    if flags:
        figures |= {name: figure(Averaged(measure), decided, rounds) for name, measure in DECIDED.items()}
    for unit, of in (("span", characters), ("sentence", None)):
        marks = marked(answers, of)
        for name, located in LOCATED.items():
            figures[f"{unit}_{name}"] = figure(Averaged(located), marks, rounds) if marks else None
    calibrated = not shortcut and len(data) > 0
    return Card(
        answers=len(every),
        bad=sum(bool(one.example.label) for one in every) / max(1, len(every)),
        coverage=len(data) / max(1, len(every)),
        abstained=dict(Counter(str(_why(one)) for one in every if not isinstance(one.outcome, Verdict))),
        figures=figures,
        bounds=_bounds(answers, flags=flags, either_way=shortcut),
        best_cut=metrics.best_f1(data)[1] if len(data) else None,
        ece=Averaged(metrics.ece)(data) if calibrated else None,
        chance_ece=Averaged(metrics.chance_ece)(data) if calibrated else None,
        reliability=metrics.reliability(data) if calibrated else (),
        spent=_spent(every),
    )


def brief(answers: Answers, *, shortcut: bool = False, rounds: int = ROUNDS) -> dict[str, Figure | None]:
    """AUROC and F1 alone, for a slice of a set."""
    return {
        "auroc": figure(Averaged(metrics.auroc), scored(answers, either_way=shortcut), rounds),
        "f1": None if shortcut else figure(Averaged(metrics.f1), flagged(answers), rounds),
    }


def scored(answers: Answers, *, either_way: bool = False) -> Labelled:
    """Labels and scores of the answers that were judged. ``either_way`` turns scores that go upside down."""
    known = _known(answers)
    data = Labelled(**_arrays(known), scores=_floats(one.outcome.score for _, one in known))
    if not either_way or data.strata is None:
        return data
    scores = data.scores.copy()
    for name in np.unique(data.strata):
        inside = data.strata == name
        if metrics.auroc(data.at(inside)) < 0.5:
            scores[inside] = 1 - scores[inside]
    return replace(data, scores=scores)


def flagged(answers: Answers) -> Flagged:
    """Labels of the answers that were judged, and whether each was called hallucinated."""
    known = _known(answers)
    return Flagged(**_arrays(known), flagged=np.array([one.outcome.hallucinated for _, one in known], bool))


def marked(answers: Answers, of: Callable[[tuple[Span, ...]], set[int]] | None) -> Marked | None:
    """What people marked and what the method named, by characters, or by sentences where ``of`` is None.

    Only answers that were judged and that people marked words in, or found none to mark, take part. None
    where there are no such answers, or the method never names words.
    """
    known = [(name, one) for name, one in _known(answers) if one.example.spans is not None]
    if not any(one.outcome.spans for _, one in known):
        return None
    pairs = []
    for _, one in known:
        truth, said = one.example.spans or (), one.outcome.spans
        if of is None:
            cut = _sentences(one.example.interaction.answer)
            pairs.append((_touched(cut, truth), _touched(cut, said)))
        else:
            pairs.append((of(truth), of(said)))
    arrays = _arrays(known)
    del arrays["labels"]
    return Marked(
        **arrays,
        annotated=_floats(len(truth) for truth, _ in pairs),
        flagged=_floats(len(said) for _, said in pairs),
        both=_floats(len(truth & said) for truth, said in pairs),
    )


@lru_cache(maxsize=1 << 14)
def _sentences(answer: str) -> tuple[Span, ...]:
    return tuple(sentences.split(answer))


def _touched(cut: Sequence[Span], spans: Sequence[Span]) -> set[int]:
    return {at for at, one in enumerate(cut) if any(s.start < one.end and one.start < s.end for s in spans)}


def _known(answers: Answers) -> list[tuple[str, Judged]]:
    return [
        (name, one)
        for name, judged in answers.items()
        for one in judged
        if isinstance(one.outcome, Verdict) and one.example.label is not None
    ]


def _arrays(known: Sequence[tuple[str, Judged]]) -> dict[str, Any]:
    return {
        "labels": np.array([bool(one.example.label) for _, one in known], dtype=np.int64),
        "weights": np.ones(len(known)),
        "groups": _numbered((name, one.example.group) for name, one in known),
        "strata": _numbered(name for name, _ in known),
    }


def _numbered(names: Iterable[object]) -> NDArray[np.int64]:
    """A number for each name: quicker to tell apart a thousand times."""
    seen: dict[object, int] = {}
    return np.array([seen.setdefault(name, len(seen)) for name in names], dtype=np.int64)


def _floats(values: Iterable[float | None]) -> metrics.Floats:
    return np.array(list(values), dtype=np.float64)


def _why(one: Judged) -> object:
    return getattr(one.outcome, "why", "")


def _bounds(answers: Answers, *, flags: bool, either_way: bool) -> dict[str, tuple[float, float]]:
    every = [(name, one) for name, judged in answers.items() for one in judged]
    every = [(name, one) for name, one in every if one.example.label is not None]
    unjudged = np.array([not isinstance(one.outcome, Verdict) for _, one in every], dtype=bool)
    if not unjudged.any():
        return {}
    arrays = _arrays(every)
    scores = np.empty(len(every))
    scores[~unjudged] = scored(answers, either_way=either_way).scores
    found = {"auroc": _bound(arrays, scores, unjudged, Averaged(metrics.auroc))}
    if flags:
        scores[~unjudged] = flagged(answers).flagged
        found["f1"] = _bound(arrays, scores, unjudged, Averaged(_f1_of_flags))
    return {name: both for name, both in found.items() if not np.isnan(both).any()}


def _f1_of_flags(data: Labelled) -> float:
    return metrics.f1(data.flags(0.5))


def _bound(
    arrays: Mapping[str, Any],
    scores: metrics.Floats,
    unjudged: NDArray[np.bool_],
    measure: Callable[[Labelled], float],
) -> tuple[float, float]:
    labels = arrays["labels"]
    wrong = Labelled(**arrays, scores=np.where(unjudged, 1.0 - labels, scores))
    right = Labelled(**arrays, scores=np.where(unjudged, labels.astype(np.float64), scores))
    return measure(wrong), measure(right)


def _spent(judged: Sequence[Judged]) -> Spent:
    uses = [one.outcome.usage for one in judged]
    costs = [use.cost for use in uses if use.cost is not None]
    seconds = [one.seconds for one in judged] or [0.0]
    count = max(1, len(uses))
    p50, p95 = np.percentile(seconds, [50, 95])
    # A price that is known for some calls and not for others would be too low a sum.
    known = bool(costs) and all(use.cost is not None for use in uses if use.calls)
    return Spent(
        calls=sum(use.calls for use in uses) / count,
        tokens=sum(use.input_tokens + use.output_tokens for use in uses) / count,
        cost=sum(costs) / count if known else None,
        seconds_p50=float(p50),
        seconds_p95=float(p95),
    )
