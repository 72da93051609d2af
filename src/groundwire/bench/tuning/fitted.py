"""From judged examples to a tuning: what people call, and what they get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from groundwire import detectors
from groundwire.bench.examples import fingerprint
from groundwire.bench.intervals import Difference, Figure
from groundwire.bench.runs import Judged
from groundwire.bench.tuning import calibrating, measured, stacking
from groundwire.bench.tuning.errors import TuningError
from groundwire.bench.tuning.procedure import Procedure, Reading
from groundwire.bench.tuning.rows import OWN, RULES, Rows, by_members, by_rules, folds
from groundwire.bench.tuning.targets import Target
from groundwire.checker import Checker
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError, MissingExtraError
from groundwire.core.plan import Backend
from groundwire.core.tuned import Labels, Measured, Tuned
from groundwire.core.verdict import Verdict
from groundwire.core.wire import plain
from groundwire.detectors.combination import Combination, Logistic
from groundwire.detectors.stacked import Stacked
from groundwire.judge.drivers import NoBackend
from groundwire.tuned import origin_of, save

AUTO = "auto"
_PARTS = 5  # of the outer cross-validation
_LEAST_PARTS = 3


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """A tuning, how it was come to, and what it is worth.

    ``before`` are the figures of the detector's own threshold (of a stack's first member) and ``after`` those
    of the tuning, on the same answers and each on answers that took no part; ``lead`` is by how much ``after``
    is above in what the target is about. ``cuts`` are the thresholds of the parts of cross-validation, before
    calibration, beside ``reading``'s own.
    """

    tuned: Tuned
    detector: Detector
    reading: Reading
    before: Mapping[str, Figure]
    after: Mapping[str, Figure]
    lead: Difference | None
    cuts: tuple[float, ...]
    not_judged: Mapping[str, int] = field(default_factory=dict)

    def save(self, path: str | Path, *, settings: Mapping[str, Any] | None = None) -> None:
        """Write a settings file (JSON, or YAML by its name) that ``Checker.from_config`` reads.

        ``settings`` are further ones to stand in it, such as ``judge``; they may name the detector, too.
        Raises ConfigurationError where a detector's parameters have no form in settings and none is named.
        """
        given = dict(settings or {})
        if "detector" not in given:
            given = {"detector": settings_of(self.detector), **given}
        save(self.tuned, path, settings=given)


def tune(
    judged: Iterable[Judged],
    checker: Checker,
    *,
    target: Target | str = "f1",
    calibration: str = AUTO,
    aggregation: str = AUTO,
    seed: int = 0,
) -> Tuning:
    """Fit threshold, levels, calibration and rule of aggregation to what ``checker`` said of labelled examples.

    ``judged`` is what ``groundwire.bench.runs.judge`` gives for the same checker. ``calibration`` and
    ``aggregation`` are chosen on held-out answers, or are one of ``none``, ``temperature``, ``platt``,
    ``isotonic`` and of ``own``, ``any_unsupported``, ``worst_2``, ``worst_3``, ``length_weighted``,
    ``fraction``. Examples without a label take no part, and neither do answers that could not be judged: these
    are counted. Raises TuningError, saying what is missing, where the labels are not enough.
    """
    wanted = target if isinstance(target, Target) else Target.parse(target)
    _require_learning()
    _require_own_reading(checker)
    labelled, missing = _labelled(judged, checker)
    rows = by_rules(labelled, _one_of("aggregation", aggregation, (OWN, *RULES)))
    if aggregation not in (AUTO, *rows.names):
        raise TuningError(
            f"aggregation {aggregation!r}: some answers have no claims with scores, so there is nothing to add up"
        )
    if aggregation != AUTO:
        rows = replace(rows, names=(aggregation,), columns=rows.columns[:, [rows.names.index(aggregation)]])
    procedure = Procedure(
        target=wanted, calibrations=_one_of("calibration", calibration, calibrating.KINDS), seed=seed
    )
    return _tuned(
        procedure, rows, labelled=labelled, missing=missing, detector=checker.detector, judge=checker.judge
    )


def stack(
    judged: Sequence[Iterable[Judged]],
    checkers: Sequence[Checker],
    *,
    target: Target | str = "f1",
    combination: str = AUTO,
    calibration: str = AUTO,
    seed: int = 0,
) -> Tuning:
    """Fit a ``Stacked`` detector of several, and tune it; ``judged`` is what each said of the same examples.

    ``combination`` is chosen on held-out answers, or is ``logistic`` or ``trees``. A member without weight is
    left out. An answer that any member could not judge takes no part, as the stack abstains there. The judge of
    the stack is that of the first checker whose detector asks a model; all that ask one must share it.
    """
    wanted = target if isinstance(target, Target) else Target.parse(target)
    _require_learning()
    if len(checkers) < 2 or len(judged) != len(checkers):
        raise TuningError(f"a stack takes at least two detectors and what each said, not {len(checkers)}")
    for checker in checkers:
        _require_own_reading(checker)
    names = [checker.detector.name for checker in checkers]
    if len(set(names)) < len(names):
        names = [f"{name} {i + 1}" for i, name in enumerate(names)]
    alike = _alike([list(one) for one in judged], names)
    pairs = [_labelled(said, checker) for said, checker in zip(alike, checkers, strict=True)]
    missing = Counter(reason for _, found in pairs for reason in found.elements())
    told = {name: said for name, (said, _) in zip(names, pairs, strict=True)}
    kinds = _one_of("combination", combination, stacking.KINDS)
    procedure = Procedure(
        target=wanted,
        calibrations=_one_of("calibration", calibration, calibrating.KINDS),
        stack=kinds,
        seed=seed,
    )
    judges = [c.judge for c in checkers if c.detector.needs_model or c.detector.needs_embeddings]
    if any(judge is not judges[0] for judge in judges):
        raise TuningError("the detectors of a stack ask one judge: give all checkers the same")
    return _tuned(
        procedure,
        by_members(told),
        labelled=next(iter(told.values())),
        missing=missing,
        detector=[checker.detector for checker in checkers],
        judge=judges[0] if judges else NoBackend(),
    )


def settings_of(detector: Detector) -> str | dict[str, Any]:
    """What names this detector in settings: its name, and the parameters that are not the default ones.

    Raises ConfigurationError where they have no such form.
    """
    given: dict[str, Any] = {"name": detector.name}
    if isinstance(detector, Stacked):
        members = [settings_of(member) for member in detector.members]
        return {**given, "members": members, "combination": detector.combination.to_dict()}
    for one in fields(detector):
        if one.name != "grading" and (value := getattr(detector, one.name)) != _default(one):
            given[one.name] = plain(value)
    try:
        same = detectors.build(given).spec == replace(detector, grading=type(detector).grading).spec
    except ConfigurationError:
        same = False
    if not same:
        raise ConfigurationError(
            f"the parameters of the {detector.name!r} detector have no form in settings: give "
            "settings={'detector': ...}, or use Policy(tuned=...) beside the detector itself"
        )
    return given if len(given) > 1 else detector.name


def _tuned(
    procedure: Procedure,
    rows: Rows,
    *,
    labelled: Sequence[Judged],
    missing: Counter[str],
    detector: Detector | Sequence[Detector],
    judge: Backend,
) -> Tuning:
    parts = folds(rows.labels, rows.groups, least=_LEAST_PARTS, most=_PARTS, seed=procedure.seed)
    reading = procedure.fit(rows)
    held_out = procedure.held_out(rows, parts)
    before = measured.figures(rows, rows.scores, rows.flagged)
    after = measured.figures(rows, held_out.scores, held_out.flagged)
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
        ),
        calibration=reading.calibration,
        aggregation=RULES.get(reading.rule),
        promise=_promise(procedure.target),
        held_out={name: Measured(value=f.value, low=f.low, high=f.high) for name, f in after.items()},
        warnings=(
            *measured.warnings(rows, procedure.target, held_out, after, len(parts)),
            *_missing(missing, len(rows)),
        ),
    )
    return Tuning(
        tuned=tuned,
        detector=fitted,
        reading=reading,
        before=before,
        after=after,
        lead=measured.lead(rows, held_out.flagged, procedure.target),
        cuts=held_out.cuts,
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
        f"of the answers it judges, at most {target.bound:.3g} of the {kind}, on the mean over sources, with a "
        f"confidence of {target.confidence:.3g}, if answers to come are like those that were labelled"
    )


def _labelled(judged: Iterable[Judged], checker: Checker) -> tuple[list[Judged], Counter[str]]:
    """Those with a label that were judged; and why the others with a label were not."""
    spec = checker.detector.spec
    kept: list[Judged] = []
    missing: Counter[str] = Counter()
    for one in judged:
        if one.example.label is None:
            continue
        if not isinstance(one.outcome, Verdict):
            missing[str(one.outcome.why)] += 1
            continue
        made = one.outcome.detector
        if (made.name, made.version, plain(made.parameters)) != (
            spec.name,
            spec.version,
            plain(spec.parameters),
        ):
            raise TuningError(
                f"{one.example.id}: judged by {made.name!r} with other parameters or in another version than "
                f"the checker's {spec.name!r}: judge the examples with this very checker"
            )
        kept.append(one)
    if not kept:
        why = f": all {missing.total()} with a label abstained ({_said(missing)})" if missing else ""
        raise TuningError(f"there is no labelled answer that was judged{why}")
    return kept, missing


def _alike(judged: list[list[Judged]], names: Sequence[str]) -> list[list[Judged]]:
    """What each member said of the examples that all of them judged; the first one's abstentions stay to be told."""
    ids = [[one.example.id for one in said] for said in judged]
    for name, one in zip(names, ids, strict=True):
        if one != ids[0]:
            raise TuningError(f"{name} and {names[0]} judged different examples: judge the same with both")
    silent = [any(not isinstance(said[i].outcome, Verdict) for said in judged) for i in range(len(ids[0]))]
    told: list[list[Judged]] = [[] for _ in judged]
    for i, is_silent in enumerate(silent):
        whose = next((m for m, said in enumerate(judged) if not isinstance(said[i].outcome, Verdict)), None)
        for m, said in enumerate(judged):
            if not is_silent or m == whose:  # an abstention counts once, whoever it was that abstained
                told[m].append(said[i])
    return told


def _missing(missing: Counter[str], judged: int) -> Iterator[str]:
    if missing:
        yield (
            f"{missing.total()} of {missing.total() + judged} labelled answers could not be judged and took no "
            f"part ({_said(missing)}): the figures speak of the others alone"
        )


def _said(missing: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in missing.most_common())


def _one_of(what: str, given: str, known: Sequence[str]) -> tuple[str, ...]:
    """The kinds to choose from."""
    if given != AUTO and given not in known:
        raise TuningError(f"{what} {given!r}: expected one of {', '.join((AUTO, *known))}")
    return tuple(known) if given == AUTO else (given,)


def _require_own_reading(checker: Checker) -> None:
    if checker.policy.tuned is not None or checker.policy.grading is not None:
        raise ConfigurationError(
            "tuning fits the threshold: give a checker whose policy has neither 'grading' nor 'tuned'"
        )


def _require_learning() -> None:
    try:
        import sklearn  # noqa: F401, PLC0415 - wanted here alone, and slow to load
    except ImportError as error:
        raise MissingExtraError("tuning", package="scikit-learn", extra="bench") from error


def _default(one: Any) -> Any:
    return one.default_factory() if one.default_factory is not MISSING else one.default
