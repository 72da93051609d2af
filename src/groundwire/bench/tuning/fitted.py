"""From judged examples to a tuning: what people call, and what they get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from groundwire.bench.examples import contents, fingerprint
from groundwire.bench.intervals import Difference
from groundwire.bench.runs import Judged
from groundwire.bench.tuning import calibrating, measured, stacking
from groundwire.bench.tuning.errors import TuningError
from groundwire.bench.tuning.inputs import (
    AUTO,
    LEAST_PARTS,
    in_production,
    judged_by_all,
    labelled_by,
    one_of,
    repeated,
    require_equal_weights,
    require_learning,
    require_options,
    require_own_reading,
    told,
)
from groundwire.bench.tuning.procedure import Procedure, Reading
from groundwire.bench.tuning.rows import OWN, RULES, Rows, by_members, by_rules, folds
from groundwire.bench.tuning.targets import Target
from groundwire.checker import Checker
from groundwire.core.detector import Detector
from groundwire.core.grading import Grading
from groundwire.core.plan import Backend
from groundwire.core.tuned import Figure, Labels, Tuned
from groundwire.core.verdict import Verdict
from groundwire.detectors.combination import Combination, Logistic
from groundwire.detectors.stacked import Stacked
from groundwire.judge.drivers import NoBackend
from groundwire.tuned import origin_of
from groundwire.tuned_file import save, settings_of

_PARTS = 5  # of the outer cross-validation


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """A tuning, how it was come to, and what it is worth.

    ``before`` are the figures of the detector's own threshold (of a stack's first member) and ``after`` those
    of the tuning, on the same answers and each on answers that took no part; ``lead`` is by how much
    ``after`` is above in what the target is about. ``cuts`` are the thresholds of the parts of
    cross-validation, before calibration, as is that of ``reading``. A cascade is tuned by its bands, and has
    neither ``reading`` nor ``cuts``. ``after`` and ``cuts`` are empty, and ``lead`` is None, where without a
    part of the labels the promise could not be made. ``current`` is how scores were read until now, if not as
    the detector reads them itself; ``before`` is then about that.
    """

    tuned: Tuned
    detector: Detector
    reading: Reading | None
    before: Mapping[str, Figure]
    after: Mapping[str, Figure]
    lead: Difference | None
    cuts: tuple[float, ...]
    not_judged: Mapping[str, int] = field(default_factory=dict)
    current: Tuned | Grading | None = None

    @property
    def own_threshold(self) -> float:
        """The threshold that ``before`` was measured by."""
        if self.current is not None:
            return (self.current.grading if isinstance(self.current, Tuned) else self.current).threshold
        first = self.detector.members[0] if isinstance(self.detector, Stacked) else self.detector
        return first.grading.threshold

    @property
    def measure(self) -> str:
        """What ``lead`` is about."""
        return measured.of(Target.parse(self.tuned.target))

    @property
    def read(self) -> str:
        """Which figure is read, in words."""
        if self.reading is None:
            return "the bands of its stages"
        if self.reading.combination is None:
            return (
                "the detector's own score"
                if self.reading.rule == OWN
                else f"its claims by {self.reading.rule}"
            )
        assert isinstance(self.detector, Stacked)
        names = ", ".join(member.name for member in self.detector.members)
        return f"{self.reading.combination.kind} combination of {names}"

    def save(self, path: str | Path, *, settings: Mapping[str, Any] | None = None) -> None:
        """Write a settings file (JSON, or YAML by its name) that ``Checker.from_config`` reads.

        ``settings`` are further ones to stand in it, such as ``judge``; they may name the detector, too.
        Raises ConfigurationError where a detector's parameters have no form in settings and none is named.
        """
        given = dict(settings or {})
        if "detector" not in given:
            given = {"detector": settings_of(self.detector), **given}
        save(self.tuned, path, beside=given)


def tune(
    judged: Iterable[Judged],
    checker: Checker,
    *,
    target: Target | str = "f1",
    calibration: str = AUTO,
    aggregation: str = AUTO,
    current: Tuned | Grading | None = None,
    seed: int = 0,
) -> Tuning:
    """Fit threshold, levels, calibration and rule of aggregation to what ``checker`` said of examples.

    ``judged`` is what ``groundwire.bench.runs.judge`` gives for the same checker. ``calibration`` and
    ``aggregation`` are chosen on held-out answers, or are one of ``none``, ``temperature``, ``platt``,
    ``isotonic`` and of ``own``, ``any_unsupported``, ``worst_2``, ``worst_3``, ``length_weighted``,
    ``fraction``. Examples without a label take no part, and neither do answers that could not be judged:
    these are counted. What the tuning is compared with is the detector's own threshold, or ``current``, how
    production reads its scores now. Raises TuningError, saying what is missing, where the labels are not
    enough.
    """
    wanted = target if isinstance(target, Target) else Target.parse(target)
    require_learning()
    require_own_reading(checker)
    require_options([checker.detector], wanted, calibration=calibration, aggregation=aggregation)
    labelled, missing = labelled_by(judged, checker)
    (labelled,), read = in_production([labelled], current, missing)
    if wanted.guaranteed:
        require_equal_weights(labelled, f"target {wanted}")
    rows = by_rules(labelled, one_of("aggregation", aggregation, (OWN, *RULES)))
    rows = _against(rows, read)
    if aggregation not in (AUTO, *rows.names):
        raise TuningError(
            f"aggregation {aggregation!r}: some answers have no claims with scores that could be added up"
        )
    if aggregation != AUTO:
        rows = replace(rows, names=(aggregation,), columns=rows.columns[:, [rows.names.index(aggregation)]])
    procedure = Procedure(
        target=wanted, calibrations=one_of("calibration", calibration, calibrating.KINDS), seed=seed
    )
    found = _tuned(
        procedure, rows, labelled=labelled, missing=missing, detector=checker.detector, judge=checker.judge
    )
    return replace(found, current=current)


def stack(
    judged: Sequence[Iterable[Judged]],
    checkers: Sequence[Checker],
    *,
    target: Target | str = "f1",
    combination: str = AUTO,
    calibration: str = AUTO,
    current: Tuned | Grading | None = None,
    seed: int = 0,
) -> Tuning:
    """Fit a ``Stacked`` detector of several, and tune it; ``judged`` is what each said of the same examples.

    ``combination`` is chosen on held-out answers, or is ``logistic`` or ``trees``. A member without weight
    is left out. An answer that any member could not judge takes no part, as the stack abstains there. What
    the stack is compared with is its first member, read by its own threshold or by ``current``. All members
    that ask a model must ask the same judge.
    """
    wanted = target if isinstance(target, Target) else Target.parse(target)
    require_learning()
    if len(checkers) < 2 or len(judged) != len(checkers):
        raise TuningError(f"a stack takes at least two detectors and what each said, not {len(checkers)}")
    for checker in checkers:
        require_own_reading(checker)
    members = [checker.detector for checker in checkers]
    require_options(members, wanted, calibration=calibration, combination=combination)
    names = [checker.detector.name for checker in checkers]
    if len(set(names)) < len(names):
        names = [f"{name} {i + 1}" for i, name in enumerate(names)]
    alike = judged_by_all([list(one) for one in judged], names)
    pairs = [labelled_by(said, checker) for said, checker in zip(alike, checkers, strict=True)]
    require_equal_weights(pairs[0][0], "a stack")
    missing = Counter(reason for _, found in pairs for reason in found.elements())
    alike, read = in_production([said for said, _ in pairs], current, missing)
    by_name = dict(zip(names, alike, strict=True))
    kinds = one_of("combination", combination, stacking.KINDS)
    procedure = Procedure(
        target=wanted,
        calibrations=one_of("calibration", calibration, calibrating.KINDS),
        stack=kinds,
        seed=seed,
    )
    judges = [c.judge for c in checkers if c.detector.needs_judge]
    if any(judge is not judges[0] for judge in judges):
        raise TuningError("the detectors of a stack ask one judge: give all checkers the same")
    found = _tuned(
        procedure,
        _against(by_members(by_name), read),
        labelled=next(iter(by_name.values())),
        missing=missing,
        detector=members,
        judge=judges[0] if judges else NoBackend(),
    )
    return replace(found, current=current)


def _against(rows: Rows, read: Sequence[Verdict]) -> Rows:
    """The rows beside what production says of them."""
    return replace(
        rows,
        scores=np.array([one.score for one in read], dtype=np.float64),
        flagged=np.array([one.hallucinated for one in read], dtype=np.bool_),
    )


def _tuned(
    procedure: Procedure,
    rows: Rows,
    *,
    labelled: Sequence[Judged],
    missing: Counter[str],
    detector: Detector | Sequence[Detector],
    judge: Backend,
) -> Tuning:
    rows = procedure.affordable(rows)
    parts = folds(rows.labels, rows.groups, least=LEAST_PARTS, most=_PARTS, seed=procedure.seed)
    reading = procedure.fit(rows)
    worth = measured.worth(procedure, rows, parts)
    fitted = detector if isinstance(detector, Detector) else _stacked(detector, reading.combination)
    tuned = Tuned(
        origin=origin_of(fitted, judge),
        grading=reading.grading,
        target=str(procedure.target),
        labels=Labels(
            fingerprint=fingerprint([one.example for one in labelled]),
            answers=len(rows),
            hallucinated=int(rows.labels.sum()),
            groups=len(set(rows.groups.tolist())),
            not_judged=missing.total(),
            contents=contents(one.example for one in labelled),
        ),
        calibration=reading.calibration,
        aggregation=RULES.get(reading.rule),
        promise=_promise(procedure.target),
        held_out=worth.figures,
        warnings=(
            *worth.warnings,
            *_uncalibrated(procedure.calibrations, reading),
            *repeated([one.example for one in labelled]),
            *_missing(missing, len(rows)),
        ),
    )
    return Tuning(
        tuned=tuned,
        detector=fitted,
        reading=reading,
        before=measured.as_they_are(rows),
        after=worth.figures,
        lead=worth.lead,
        cuts=worth.cuts,
        not_judged=dict(missing),
    )


def _stacked(members: Sequence[Detector], combination: Combination | None) -> Stacked:
    """The stack of the members that have any weight."""
    assert combination is not None
    if not isinstance(combination, Logistic):
        return Stacked(members=tuple(members), combination=combination)
    kept = [i for i, weight in enumerate(combination.weights) if weight]
    if len(kept) == 1:
        raise TuningError(
            f"of these detectors only {members[kept[0]].name!r} is of use on your labels: tune it by itself"
        )
    weights = tuple(combination.weights[i] for i in kept)
    return Stacked(
        members=tuple(members[i] for i in kept), combination=Logistic(weights=weights, bias=combination.bias)
    )


def _promise(target: Target) -> str:
    if not target.guaranteed:
        return ""
    kind = (
        "grounded answers are flagged"
        if target.measure == "false_alarms"
        else "hallucinated answers are missed"
    )
    return (
        f"of the answers that it judges, at most {target.bound:.3g} of the {kind}, on the mean over sources, "
        f"with a confidence of {target.confidence:.3g}, if answers to come are like those that were labelled"
    )


def _uncalibrated(asked: Sequence[str], reading: Reading) -> Iterator[str]:
    """A calibration that was asked for by its name and is not there."""
    if len(asked) > 1 or asked[0] == reading.kind:
        return
    why = "these scores hardly rise with the labels"
    if asked[0] == calibrating.ISOTONIC:
        why = f"isotonic regression takes {calibrating.FEW} answers of each label to be fitted to"
    yield f"no calibration was fitted, though {asked[0]!r} was asked for: {why}"


def _missing(missing: Counter[str], judged: int) -> Iterator[str]:
    if missing:
        yield (
            f"{missing.total()} of {missing.total() + judged} labelled answers could not be judged and took "
            f"no part ({told(missing)}): the figures speak of the others alone"
        )
