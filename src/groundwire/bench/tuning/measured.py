"""What a tuning is worth on answers that took no part in it, and whether the labels are enough to say so."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from groundwire.bench import metrics
from groundwire.bench.intervals import Difference, compare_flags, figure
from groundwire.bench.metrics import Flagged, Labelled
from groundwire.bench.tuning.guarantee import needed
from groundwire.bench.tuning.procedure import HeldOut
from groundwire.bench.tuning.rows import Rows
from groundwire.bench.tuning.sweep import Flags, Floats
from groundwire.bench.tuning.targets import CONFIDENCE, Measure, Target
from groundwire.core.tuned import Figure

_WIDE = 0.1  # half the width of an interval that says little
_GOAL = 0.05  # half the width that people want
_TOO_MANY = 20  # times as many labels as there are, beyond which a number helps nobody
_ROUGH = 30  # sources of a kind, with fewer of which an interval itself is a guess


def false_alarms(data: Flagged) -> float:
    """The share of grounded answers that are flagged; NaN where none is grounded."""
    return 1 - metrics.specificity(data)


def misses(data: Flagged) -> float:
    """The share of hallucinated answers that are not flagged; NaN where none is hallucinated."""
    return 1 - metrics.recall(data)


OF_FLAGS: Mapping[str, Callable[[Flagged], float]] = MappingProxyType(
    {
        "precision": metrics.precision,
        "recall": metrics.recall,
        "f1": metrics.f1,
        "accuracy": metrics.accuracy,
        "balanced_accuracy": metrics.balanced_accuracy,
        "false_alarms": false_alarms,
        "misses": misses,
    }
)
OF_SCORES: Mapping[str, Callable[[Labelled], float]] = MappingProxyType(
    {"brier": metrics.brier, "calibration_error": metrics.ece}
)


def figures(rows: Rows, scores: Floats, flagged: Flags, parts: Sequence[Flags]) -> dict[str, Figure]:
    """Every measure that means something on these answers, with 95 % intervals over sources.

    The scores of each of ``parts`` come from a fit of their own. AUROC, which asks how answers rank, is
    therefore told by their ranks within a part.
    """
    marked, labelled = rows.marked(flagged), rows.labelled(scores)
    found = {name: figure(measure, marked) for name, measure in OF_FLAGS.items()}
    found["auroc"] = figure(metrics.auroc, rows.labelled(_ranked(scores, parts)))
    found |= {name: figure(measure, labelled) for name, measure in OF_SCORES.items()}
    return {name: value for name, value in found.items() if value is not None}


def _ranked(scores: Floats, parts: Sequence[Flags]) -> Floats:
    """Where each score stands in its part, from 0 to 1; equal ones stand together."""
    ranked = np.empty(len(scores))
    for part in parts:
        _, place, counts = np.unique(scores[part], return_inverse=True, return_counts=True)
        ranked[part] = (counts.cumsum() - counts / 2)[place] / max(1, len(place))
    return ranked


def of(target: Target) -> str:
    """The measure that tells best whether a target was met."""
    return target.measure if target.measure in OF_FLAGS else Measure.F1


def lead(rows: Rows, flagged: Flags, target: Target) -> Difference | None:
    """By how much the tuned threshold is above the detector's own, in what the target is about."""
    return compare_flags(OF_FLAGS[of(target)], rows.marked(flagged), rows.marked(rows.flagged))


def warnings(
    rows: Rows, target: Target, held_out: HeldOut, after: Mapping[str, Figure], parts: int
) -> Iterator[str]:
    """What these labels can't show, each with how many would."""
    yield from few_sources(rows)
    if (auroc := after.get("auroc")) and auroc.high < metrics.KNOWS_NOTHING:
        yield (
            f"hallucinated answers are scored lower than grounded ones: AUROC {auroc}. Are the labels the "
            "wrong way round? 1 is hallucinated, 0 grounded"
        )
    if held_out.reached < parts:
        yield (
            f"in {parts - held_out.reached} of {parts} parts the target could not be reached without that "
            "part: there, the held-out figures are those of the nearest threshold"
        )
    yield from not_shown(rows, target, held_out.flagged, after)


def not_shown(rows: Rows, target: Target, flagged: Flags, after: Mapping[str, Figure]) -> Iterator[str]:
    """What is not shown of the target by what is flagged of answers held out."""
    name = of(target)
    found = after.get(name)
    if found is None:
        yield f"{name} means nothing on the held-out answers: nothing was flagged"
        return
    if target.bound is None or target.measure is Measure.COST:
        yield from _no_better_than_all(rows, name, found)
        yield from _wide(name, found, len(rows))
    elif target.measure in (Measure.PRECISION, Measure.RECALL):
        yield from _unkept(target, found, rows, flagged)


def _no_better_than_all(rows: Rows, name: str, found: Figure) -> Iterator[str]:
    all_flagged = OF_FLAGS[name](rows.marked(np.ones(len(rows), dtype=np.bool_)))
    if found.low <= all_flagged:
        yield (
            f"flagging every answer has {name} {all_flagged:.3f}: it is not shown that this is any better. "
            "Choose another target, or tune another detector"
        )


def few_sources(rows: Rows) -> Iterator[str]:
    """Labels of which there are too few sources even for an interval."""
    for label, said in ((True, "hallucinated"), (False, "grounded")):
        sources = len(np.unique(rows.groups[rows.labels == label]))
        if sources < _ROUGH:
            yield (
                f"only {sources} sources have {said} answers: the intervals are rough themselves. Label "
                f"{said} answers about {_ROUGH} sources at least"
            )


def _wide(name: str, found: Figure, answers: int) -> Iterator[str]:
    half = (found.high - found.low) / 2
    if half > _WIDE:
        wanted = math.ceil(answers * (half / _GOAL) ** 2 / 10) * 10
        yield (
            f"{name} is known to ±{half:.2f} only; about {wanted:,} labelled answers like these would tell "
            f"it to ±{_GOAL:g} (now {answers:,})"
        )


def _unkept(target: Target, found: Figure, rows: Rows, flagged: Flags) -> Iterator[str]:
    """Whether the bound held where nothing was fitted, and what it would take to promise that it does."""
    assert target.bound is not None
    shown = f"on held-out answers {target.measure} was {found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
    if found.high < target.bound:
        yield (
            f"{shown}, below the {target.bound:g} that was asked for: thresholds that reach it on labels do "
            "not hold it on others. Ask for more than you need, label more, or tune another detector"
        )
        return
    if found.value < target.bound:
        yield (
            f"{shown}: a threshold that just reaches {target.bound:g} on its own labels misses it on others "
            "about as often as not. Ask for a little more than you need"
        )
        return
    if found.low >= target.bound and found.low < found.high:
        return
    of = flagged if target.measure is Measure.PRECISION else rows.labels
    what = "flagged" if target.measure is Measure.PRECISION else "hallucinated"
    least = needed(1 - target.bound, CONFIDENCE) if target.bound < 1 else None
    if least is None:
        yield f"{shown}; no number of labels shows a {target.measure} of 1"
        return
    floor = (
        f"{shown}: too few labels to promise {target.bound:g} with {CONFIDENCE:.0%} confidence. That takes "
        f"{least:,} {what} answers at least, even without a mistake among them (now {int(of.sum()):,})"
    )
    wanted = _wanted(target.bound, found, len(rows))
    if of.sum() < least:
        wanted = max(wanted, len(rows) * least / max(1, int(of.sum())))
    if wanted > _TOO_MANY * len(rows):
        yield f"{floor}, and so near to the bound more than anybody labels. Ask for more than you need"
        return
    wanted = math.ceil(wanted / 10) * 10
    yield f"{floor}, and by these figures about {wanted:,} labelled answers (now {len(rows):,})"


def _wanted(bound: float, found: Figure, answers: int) -> float:
    """How many answers would narrow the interval until it ends above the bound; widths go by the root."""
    if found.value <= bound:
        return math.inf
    return answers * max(1.0, ((found.value - found.low) / (found.value - bound)) ** 2)
