"""The bands of a cascade, fitted to what each of its stages says of the same labelled answers.

Which bands are best is ``detectors.bands``' business. Here answers become its arrays, and bands a cascade.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from groundwire.bench import metrics
from groundwire.bench.examples import Example, contents, fingerprint
from groundwire.bench.intervals import figure
from groundwire.bench.metrics import Labelled
from groundwire.bench.runs import Judged
from groundwire.bench.tuning.errors import TuningError
from groundwire.bench.tuning.fitted import Tuning
from groundwire.bench.tuning.inputs import (
    LEAST_PARTS,
    repeated,
    require_equal_weights,
    require_options,
    require_own_reading,
)
from groundwire.bench.tuning.rows import Groups, folds
from groundwire.bench.tuning.sweep import Flags, Floats
from groundwire.bench.tuning.targets import Measure, Target
from groundwire.checker import Checker
from groundwire.core.grading import Grading
from groundwire.core.tuned import Figure, Labels, Tuned
from groundwire.core.verdict import Verdict
from groundwire.detectors.cascade import bands, exact
from groundwire.detectors.cascade.cascade import Cascade
from groundwire.detectors.cascade.stages import Facts, Stage
from groundwire.tuned import origin_of

_ROUNDS = 300


def stages(checker: Checker) -> list[Checker]:
    """For each stage of a cascade, a checker that has it judge every answer, with the same judge.

    Raises TuningError unless the checker's detector is a cascade of two stages or more.
    """
    cascade = _cascade(checker)
    return [
        Checker(
            Cascade(
                stages=(replace(stage, accept=None, flag=None),),
                facts=Facts.OFF,
                grading=stage.detector.grading,
            ),
            judge=checker.judge if stage.detector.takes_model else None,
            policy=checker.policy,
        )
        for stage in cascade.line
    ]


def tune_cascade(
    judged: Sequence[Iterable[Judged]], checker: Checker, *, target: Target | str = "f1"
) -> Tuning:
    """Fit the bands of all stages but the last; that decides the rest by its own threshold.

    ``judged`` is what each of ``stages(checker)`` said of the same examples, in their order. With
    ``cost<=...`` or ``f1``, the best F1, within so many calls an answer or at any; with ``precision>=...`` or
    ``recall>=...``, the fewest calls that keep it. A stage that could not judge an answer hands it on;
    answers that exact facts refute are flagged, unless the cascade has facts off. Held-out figures are
    cross-fitted over sources. Raises TuningError for another target, and where labels are not enough.
    """
    wanted = target if isinstance(target, Target) else Target.parse(target)
    require_own_reading(checker)
    cascade = _cascade(checker)
    require_options([cascade], wanted)
    given = [[one for one in said if one.example.label is not None] for said in judged]
    require_equal_weights(given[0], "a cascade's bands")
    examples = _same(given, cascade)
    labels = np.array([one.label for one in examples], dtype=np.bool_)
    groups = np.array([one.group for one in examples], dtype=np.str_)
    parts = folds(labels, groups, least=LEAST_PARTS)
    scores, missing = _scores(given)
    refuted = np.array([_refuted(cascade, one) for one in examples])
    scores[refuted] = 1.0
    calls = [float(np.mean([one.outcome.usage.calls for one in said])) for said in given]
    last = cascade.line[-1]
    cut = last.cut(last.detector.grading.threshold)
    found = bands.fit_bands(
        scores, labels, groups, _target(wanted), calls=calls, threshold=cut, folds=len(parts), rounds=_ROUNDS
    )
    fitted = replace(cascade, stages=(*_banded(cascade.line, found.bands), last))
    medium, high = fitted.grading.cuts
    after = _figures(found.held_out)
    return Tuning(
        tuned=Tuned(
            origin=origin_of(fitted, checker.judge),
            grading=Grading(threshold=fitted.grading.threshold, medium=medium, high=high),
            target=str(wanted),
            labels=Labels(
                fingerprint=fingerprint(examples),
                answers=len(examples),
                hallucinated=int(labels.sum()),
                groups=len(set(groups.tolist())),
                not_judged=0,
                contents=contents(examples),
            ),
            held_out=after,
            warnings=(*_warnings(wanted, found, missing), *repeated(examples)),
        ),
        detector=fitted,
        reading=None,
        before=_as_it_is(cascade, scores, labels, groups, calls=calls, cut=cut),
        after=after,
        lead=None,
        cuts=(),
        not_judged=dict(missing),
    )


def _cascade(checker: Checker) -> Cascade:
    if not isinstance(checker.detector, Cascade):
        raise TuningError(f"only a cascade has bands, and {checker.detector.name!r} is none")
    if len(checker.detector.line) < 2:
        raise TuningError(
            "a cascade of one stage has no bands to fit: give it a judge, or stages of yours; or tune the "
            "stage's detector by itself"
        )
    return checker.detector


def _same(given: Sequence[Sequence[Judged]], cascade: Cascade) -> list[Example]:
    """The examples, which every stage must have judged in the same order."""
    if len(given) != len(cascade.line):
        raise TuningError(f"{len(cascade.line)} stages need what each of them said, not {len(given)}")
    ids = [one.example.id for one in given[0]]
    for stage, said in zip(cascade.line, given, strict=True):
        if [one.example.id for one in said] != ids:
            raise TuningError(f"stage {stage.name!r} judged other examples: have all stages judge the same")
    return [one.example for one in given[0]]


def _scores(given: Sequence[Sequence[Judged]]) -> tuple[Floats, Counter[str]]:
    """Each stage's own scores, NaN where it could not judge; and why not, over all stages."""
    table = np.full((len(given[0]), len(given)), np.nan)
    missing: Counter[str] = Counter()
    for t, said in enumerate(given):
        for i, one in enumerate(said):
            if isinstance(one.outcome, Verdict):
                table[i, t] = one.outcome.raw
            else:
                missing[str(one.outcome.why)] += 1
    return table, missing


def _refuted(cascade: Cascade, example: Example) -> bool:
    return cascade.facts is not Facts.OFF and bool(exact.refuted(example.interaction, cascade.grading))


def _target(target: Target) -> bands.Target:
    if target.measure is Measure.F1:
        return bands.Target(calls=float("inf"))
    if target.measure is Measure.COST:
        return bands.Target(calls=target.bound)
    return bands.Target(**{str(target.measure): target.bound})


def _banded(line: Sequence[Stage], found: Sequence[bands.Band]) -> Iterator[Stage]:
    """The stages that decide anything, with their bands; one that does not would only cost."""
    for stage, band in zip(line, found, strict=False):  # the last stage has none
        if band.accept is not None or band.flag is not None:
            yield replace(stage, accept=band.accept, flag=band.flag)


def _as_it_is(
    cascade: Cascade, scores: Floats, labels: Flags, groups: Groups, *, calls: Sequence[float], cut: float
) -> dict[str, Figure]:
    """The figures of the bands that the cascade came with."""
    old = [bands.Band(accept=stage.accept, flag=stage.flag) for stage in cascade.line[:-1]]
    made = bands.decide(scores, old, calls=calls, threshold=cut)
    sample = Labelled(
        weights=np.ones(len(labels)), groups=groups, labels=labels.astype(np.int64), scores=made.calls
    )
    marked = replace(sample.flags(0.0), flagged=made.flagged)
    found = {
        "precision": figure(metrics.precision, marked),
        "recall": figure(metrics.recall, marked),
        "f1": figure(metrics.f1, marked),
        "calls": figure(lambda data: float(np.average(data.scores, weights=data.weights)), sample),
    }
    return {name: one for name, one in found.items() if one is not None}


def _figures(given: bands.Figures) -> dict[str, Figure]:
    return {name: getattr(given, name) for name in ("precision", "recall", "f1", "calls")}


def _warnings(target: Target, found: bands.FittedBands, missing: Mapping[str, int]) -> Iterator[str]:
    if not found.met:
        figures = found.held_out
        yield (
            f"on held-out answers {target} was not met: precision {figures.precision.value:.3f}, recall "
            f"{figures.recall.value:.3f}, {figures.calls.value:.2f} calls an answer. Ask for more than you "
            "need, or label more"
        )
    if missing:
        total = ", ".join(f"{count} {reason}" for reason, count in missing.items())
        yield f"stages could not judge some answers, and handed them on ({total})"
    if found.held_out.undecided:
        share = found.held_out.undecided
        yield f"{share:.1%} of the answers could be judged by no stage, and count as not flagged"
