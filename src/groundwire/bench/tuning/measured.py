"""What a tuning is worth on answers that took no part in it, and whether the labels are enough to say so."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from groundwire.bench import metrics
from groundwire.bench.intervals import Difference, compare_flags, figure
from groundwire.bench.metrics import Flagged, Labelled
from groundwire.bench.tuning.errors import PromiseError
from groundwire.bench.tuning.guarantee import needed
from groundwire.bench.tuning.procedure import HeldOut, Procedure
from groundwire.bench.tuning.rows import Rows
from groundwire.bench.tuning.sweep import Flags
from groundwire.bench.tuning.targets import CONFIDENCE, Measure, Target
from groundwire.core.tuned import Figure

_WIDE = 0.1  # half the width of an interval that says little
_GOAL = 0.05  # half the width that people want
_TOO_MANY = 20  # times as many labels as there are, beyond which a number helps nobody
_ROUGH = 30  # sources of a kind, with fewer of which an interval itself is a guess


OF_FLAGS: Mapping[str, Callable[[Flagged], float]] = MappingProxyType(
    {
        "precision": metrics.precision,
        "recall": metrics.recall,
        "f1": metrics.f1,
        "accuracy": metrics.accuracy,
        "balanced_accuracy": metrics.balanced_accuracy,
        "false_alarms": metrics.false_alarms,
        "misses": metrics.misses,
    }
)


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What a procedure is worth on answers held out; without figures where it can't be told."""

    figures: Mapping[str, Figure] = field(default_factory=dict)
    lead: Difference | None = None
    cuts: tuple[float, ...] = ()
    warnings: tuple[str, ...] = ()


def worth(procedure: Procedure, rows: Rows, parts: Sequence[Flags]) -> Worth:
    """Measured without each of the parts in turn.

    Where the rest of the answers can't make a promise that all of them can, the threshold that could be
    measured is not the promise's, so that there are no figures.
    """
    try:
        held_out = procedure.held_out(rows, parts)
    except PromiseError as error:
        untold = (
            f"there are no held-out figures: without one of {len(parts)} parts of them the labels can't make "
            f"the promise, and what could be measured is another threshold ({error})"
        )
        return Worth(warnings=(*few_sources(rows), untold))
    figures = _held_out(rows, held_out)
    return Worth(
        figures=figures,
        lead=_lead(rows, held_out.flagged, procedure.target),
        cuts=held_out.cuts,
        warnings=tuple(_warnings(rows, procedure.target, held_out, figures, len(parts))),
    )


def as_they_are(rows: Rows) -> dict[str, Figure]:
    """The figures of the scores that the detector gave, and of what it flagged by its own threshold."""
    return _figures(rows.marked(rows.flagged), rows.labelled(rows.scores), rows.labelled(rows.scores))


def _held_out(rows: Rows, found: HeldOut) -> dict[str, Figure]:
    """The figures of readings of answers that none of them was fitted to."""
    ranked = replace(rows.labelled(found.figures), strata=found.scales)
    return _figures(rows.marked(found.flagged), rows.labelled(found.scores), ranked)


def _figures(flagged: Flagged, scored: Labelled, ranked: Labelled) -> dict[str, Figure]:
    """Every measure that means something on these answers, with 95 % intervals over sources.

    But the calibration error has none: chance alone makes one, and drawing sources anew adds as much again,
    so that the middle of the resamples lies above the truth and often above the value itself.
    """
    found = {name: figure(measure, flagged) for name, measure in OF_FLAGS.items()}
    found["auroc"] = figure(metrics.auroc_within, ranked)
    found["brier"] = figure(metrics.brier, scored)
    found["calibration_error"] = Figure(value=metrics.ece(scored), low=math.nan, high=math.nan)
    return {name: value for name, value in found.items() if value is not None}


def of(target: Target) -> str:
    """The measure that tells best whether a target was met."""
    return target.measure if target.measure in OF_FLAGS else Measure.F1


def _lead(rows: Rows, flagged: Flags, target: Target) -> Difference | None:
    """By how much the tuned threshold is above the detector's own, in what the target is about."""
    return compare_flags(OF_FLAGS[of(target)], rows.marked(flagged), rows.marked(rows.flagged))


def _warnings(
    rows: Rows, target: Target, held_out: HeldOut, after: Mapping[str, Figure], parts: int
) -> Iterator[str]:
    """What these labels can't show, each with how many would."""
    yield from few_sources(rows)
    if (auroc := after.get("auroc")) and auroc.high < metrics.KNOWS_NOTHING:
        yield (
            f"hallucinated answers are scored lower than grounded ones: AUROC {auroc}. Are the labels the "
            "wrong way round? 1 is hallucinated, 0 grounded, and the reverse under a name such as 'faithful'"
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
    elif target.guaranteed:
        yield from _broken(target, found, rows, flagged)
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
    if found.low >= target.bound:
        return
    what = "flagged" if target.measure is Measure.PRECISION else "hallucinated"
    of = flagged if target.measure is Measure.PRECISION else rows.labels
    sources = len(np.unique(rows.groups[of]))
    least = needed(1 - target.bound, (1 + CONFIDENCE) / 2) if target.bound < 1 else None
    if least is None:
        yield f"{shown}; no number of labels shows a {target.measure} of 1"
        return
    few = f"{shown}: too few labels to promise {target.bound:g} with {CONFIDENCE:.0%} confidence. "
    wanted = _wanted(target.bound, found, len(rows))
    if sources < least:
        wanted = max(wanted, len(rows) * least / max(1, sources))
        few += (
            f"That takes {least:,} sources with {what} answers at least, even without a mistake among them "
            f"(now {sources:,}). "
        )
    if wanted > _TOO_MANY * len(rows):
        yield f"{few}So near to the bound it takes more than anybody labels. Ask for more than you need"
        return
    wanted = math.ceil(wanted / 10) * 10
    yield f"{few}By these figures it takes about {wanted:,} labelled answers (now {len(rows):,})"


def _broken(target: Target, found: Figure, rows: Rows, flagged: Flags) -> Iterator[str]:
    """Whether more answers are judged wrong than a promise about the mean over sources sounds like."""
    assert target.bound is not None
    if found.value <= target.bound:
        return
    kind = rows.labels == (target.measure is Measure.MISSES)
    _, which = np.unique(rows.groups[kind], return_inverse=True)
    wrong = np.bincount(which, weights=flagged[kind] != rows.labels[kind]) / np.bincount(which)
    why = ": sources with many answers fare worse" if wrong.mean() < found.value else ""
    yield (
        f"on held-out answers {target.measure} was {found}, above the {target.bound:g} of the promise, which "
        f"is of the mean over sources ({wrong.mean():.3f} here){why}"
    )


def _wanted(bound: float, found: Figure, answers: int) -> float:
    """How many answers would narrow the interval until it ends above the bound; widths go by the root."""
    if found.value <= bound:
        return math.inf
    return answers * max(1.0, ((found.value - found.low) / (found.value - bound)) ** 2)
