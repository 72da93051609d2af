"""The bands of a cascade, fitted to what each of its stages says of the same labelled answers.

Which bands are best is ``detectors.bands``' business. Here answers become its arrays, and bands a cascade.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from groundwire.bench.examples import Example, contents, fingerprint
from groundwire.bench.intervals import figure
from groundwire.bench.metrics import Labelled
from groundwire.bench.runs import Judged
from groundwire.bench.tuning import measured
from groundwire.bench.tuning.errors import TuningError
from groundwire.bench.tuning.fitted import Tuning
from groundwire.bench.tuning.inputs import (
    LEAST_PARTS,
    repeated,
    require_equal_weights,
    require_options,
    require_own_reading,
    told,
)
from groundwire.bench.tuning.rows import Rows, folds
from groundwire.bench.tuning.sweep import Flags, Floats
from groundwire.bench.tuning.targets import Measure, Target
from groundwire.checker import Checker
from groundwire.core.detector import Detector
from groundwire.core.grading import Grading
from groundwire.core.tuned import Figure, Labels, Tuned
from groundwire.core.verdict import Abstention, Verdict
from groundwire.detectors.cascade import bands, exact
from groundwire.detectors.cascade.cascade import Cascade
from groundwire.detectors.cascade.stages import Facts, Stage, unverified
from groundwire.tuned import origin_of

_ROUNDS = 300


def stages(checker: Checker) -> list[Checker]:
    """For each stage of a cascade, a checker that has it judge every answer, with the same judge.

    Raises TuningError unless the checker's detector is a cascade of two stages or more.
    """
    return [
        Checker(alone, judge=checker.judge if stage.detector.takes_model else None, policy=checker.policy)
        for stage, alone in stages_alone(checker.detector)
    ]


def stages_alone(detector: Detector) -> list[tuple[Stage, Cascade]]:
    """Each stage of a cascade, and one of it alone, which judges every answer. Raises as ``stages`` does."""
    return [
        (
            stage,
            Cascade(
                stages=(replace(stage, accept=None, flag=None),),
                facts=Facts.OFF,
                grading=stage.detector.grading,
            ),
        )
        for stage in _cascade(detector).line
    ]


def tune_cascade(
    judged: Sequence[Iterable[Judged]], checker: Checker, *, target: Target | str = "f1"
) -> Tuning:
    """Fit the bands of all stages but the last; that decides the rest by its own threshold.

    ``judged`` is what each of ``stages(checker)`` said of the same examples, in their order. With
    ``cost<=...`` or ``f1``, the best F1, within so many calls an answer or at any; with ``precision>=...``
    the highest recall that keeps it, with ``recall>=...`` the highest precision; of equals the fewest calls.
    A stage that could not judge an answer hands it on; answers that exact facts refute are flagged, unless
    the cascade has facts off. Answers that a cascade would not judge count as not found if they are
    hallucinated. Held-out figures are cross-fitted over sources. Raises TuningError for another target, and
    where labels are not enough.
    """
    wanted = target if isinstance(target, Target) else Target.parse(target)
    require_own_reading(checker)
    cascade = _cascade(checker.detector)
    require_options([cascade], wanted)
    given = [[one for one in said if one.example.label is not None] for said in judged]
    require_equal_weights(given[0], "a cascade's bands")
    examples = _same(given, cascade)
    said, missing = _said(given, cascade), _missing(given)
    before = said.decided(cascade)
    rows = _rows(examples, cascade, said, before)
    parts = folds(rows.labels, rows.groups, least=LEAST_PARTS)
    found = bands.fit_bands(
        said.scores,
        rows.labels,
        rows.groups,
        _target(wanted),
        calls=said.calls,
        threshold=said.thresholds,
        refuted=said.refuted,
        unverified=said.unverified,
        folds=np.argmax(parts, axis=0),
        rounds=_ROUNDS,
    )
    fitted = replace(cascade, stages=(*_banded(cascade.line, found.bands), cascade.line[-1]))
    medium, high = fitted.grading.cuts
    after = _figures(rows, found.decisions)
    not_judged = _missing([[given[-1][i] for i in np.flatnonzero(found.decisions.undecided)]])
    return Tuning(
        tuned=Tuned(
            origin=origin_of(fitted, checker.judge),
            grading=Grading(threshold=fitted.grading.threshold, medium=medium, high=high),
            target=str(wanted),
            labels=Labels(
                fingerprint=fingerprint(examples),
                answers=len(examples),
                hallucinated=int(rows.labels.sum()),
                groups=len(set(rows.groups.tolist())),
                not_judged=not_judged.total(),
                contents=contents(examples),
            ),
            held_out=after,
            warnings=(
                *_unreached(wanted, found, rows, after),
                *repeated(examples),
                *_handed_on(missing, not_judged, len(rows)),
            ),
        ),
        detector=fitted,
        reading=None,
        before=_figures(rows, before),
        after=after,
        lead=None,
        cuts=(),
        not_judged=dict(not_judged),
    )


def _cascade(detector: Detector) -> Cascade:
    if not isinstance(detector, Cascade):
        raise TuningError(f"only a cascade has bands, and {detector.name!r} is none")
    if len(detector.line) < 2:
        raise TuningError(
            "a cascade of one stage has no bands to fit: give it a judge, or stages of yours; or tune the "
            "stage's detector by itself"
        )
    return detector


def _same(given: Sequence[Sequence[Judged]], cascade: Cascade) -> list[Example]:
    """The examples, which every stage must have judged in the same order."""
    if len(given) != len(cascade.line):
        raise TuningError(f"{len(cascade.line)} stages need what each of them said, not {len(given)}")
    ids = [one.example.id for one in given[0]]
    for stage, said in zip(cascade.line, given, strict=True):
        if [one.example.id for one in said] != ids:
            raise TuningError(f"stage {stage.name!r} judged other examples: have all stages judge the same")
    return [one.example for one in given[0]]


@dataclass(frozen=True, kw_only=True)
class _Said:
    """What stages say of answers, a column for each: scores, NaN where one could not judge, and calls.

    ``refuted`` is what exact facts refute, ``unverified`` where a stage had no word on a part of the answer,
    and ``thresholds`` are the stages' own.
    """

    scores: Floats
    calls: Floats
    refuted: Flags
    unverified: Flags
    thresholds: Floats

    def decided(self, cascade: Cascade) -> bands.Decisions:
        """What the cascade does, by the bands that it has."""
        return bands.decide(
            self.scores,
            [bands.Band(accept=stage.accept, flag=stage.flag) for stage in cascade.line[:-1]],
            calls=self.calls,
            threshold=self.thresholds,
            refuted=self.refuted,
            unverified=self.unverified,
        )


def _said(given: Sequence[Sequence[Judged]], cascade: Cascade) -> _Said:
    scores = np.full((len(given[0]), len(given)), np.nan)
    calls, doubtful = np.zeros(scores.shape), np.zeros(scores.shape, dtype=np.bool_)
    for t, said in enumerate(given):
        for i, one in enumerate(said):
            calls[i, t] = one.outcome.usage.calls
            if isinstance(one.outcome, Verdict):
                scores[i, t], doubtful[i, t] = one.outcome.raw, unverified(one.outcome) > 0
    refuted = np.array([_refuted(cascade, one.example) for one in given[0]], dtype=np.bool_)
    if cascade.facts is Facts.DECIDE:
        scores[refuted], calls[refuted] = np.nan, 0.0  # no stage is asked
    last, thresholds = cascade.line[-1], [stage.detector.grading.threshold for stage in cascade.line]
    thresholds[-1] = last.cut(thresholds[-1])
    return _Said(
        scores=scores,
        calls=calls,
        refuted=refuted,
        unverified=doubtful,
        thresholds=np.array(thresholds),
    )


def _missing(given: Iterable[Iterable[Judged]]) -> Counter[str]:
    """Why answers were not judged, over all stages."""
    return Counter(
        str(one.outcome.why) for said in given for one in said if isinstance(one.outcome, Abstention)
    )


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


def _rows(examples: Sequence[Example], cascade: Cascade, said: _Said, before: bands.Decisions) -> Rows:
    return Rows(
        names=tuple(stage.name for stage in cascade.line),
        labels=np.array([one.label for one in examples], dtype=np.bool_),
        groups=np.array([one.group for one in examples], dtype=np.str_),
        columns=said.scores,
        scores=said.scores[:, -1],
        flagged=before.flagged,
        calls=before.calls,
        weights=np.ones(len(examples)),
    )


def _figures(rows: Rows, made: bands.Decisions) -> dict[str, Figure]:
    marked = rows.marked(made.flagged)
    found = {name: figure(measured.OF_FLAGS[name], marked) for name in ("precision", "recall", "f1")}
    found["calls"] = figure(_mean, rows.labelled(made.calls))
    return {name: one for name, one in found.items() if one is not None}


def _mean(data: Labelled) -> float:
    return float(np.average(data.scores, weights=data.weights))


def _unreached(
    target: Target, found: bands.FittedBands, rows: Rows, after: Mapping[str, Figure]
) -> Iterator[str]:
    """What the bands don't reach, and what these labels can't show."""
    yield from measured.few_sources(rows)
    if not found.reached:
        yield f"no bands were found that reach {target} on these labels: the fitted ones come nearest"
    if target.measure is Measure.COST and not found.met:
        yield (
            f"on held-out answers {target} was not met: {after['calls'].value:.2f} calls an answer. Ask for "
            "less than you need, or label more"
        )
    yield from measured.not_shown(rows, target, found.decisions.flagged, after)


def _handed_on(missing: Counter[str], not_judged: Counter[str], answers: int) -> Iterator[str]:
    if missing:
        yield f"stages could not judge some answers, and handed them on ({told(missing)})"
    if not_judged:
        yield (
            f"{not_judged.total()} of {answers} answers held out were not judged, as the last stage failed "
            f"({told(not_judged)}): those of them that are hallucinated count as not found"
        )
