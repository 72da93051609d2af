"""A checker in production, tuned anew to what people said of its answers.

What is fitted, and how it is measured, is ``bench.tuning``'s business. Here reviewed answers become its
examples: those that chance drew, weighed back to what production gives, with the outcomes that production
gave them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from groundwire.bench import tuning
from groundwire.bench.examples import Example, shown_as_examples
from groundwire.bench.runs import Judged, judge
from groundwire.bench.tuning import Target, Tuning, TuningError
from groundwire.checker import Checker
from groundwire.core.errors import ConfigurationError
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plain import plain
from groundwire.core.redaction import MASK
from groundwire.core.tuned import Tuned
from groundwire.core.verdict import Abstention, Outcome, Verdict, reread
from groundwire.detectors.cascade.cascade import Cascade
from groundwire.judge.drivers import NoBackend
from groundwire.learning.sources import sources
from groundwire.monitor import Filter, Kept, Label, Labels, Monitor
from groundwire.policy import Policy

LEAST = 10
"""Reviewed answers of either kind, with fewer of which nothing is fitted."""
_ALL = Filter()


@dataclass(frozen=True, kw_only=True)
class Retuned:
    """A tuning of what is in production, and what it was fitted to. Nothing in production has changed.

    ``tuning.before`` is what production's reading is worth on the same answers, held out alike. Of
    ``reviewed`` answers on which people decided, ``used`` were fitted to; ``left_out`` says why others were
    not. ``basis`` says what the answers are a sample of.
    """

    tuning: Tuning
    reviewed: int
    used: int
    basis: str
    left_out: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def better(self) -> bool | None:
        """Whether it is better than production in what the target is about; None where that is not sure."""
        if self.tuning.lead is None:
            return None
        gain = self.tuning.lead.difference
        return True if gain.low > 0 else False if gain.high < 0 else None


def retune(
    monitor: Monitor,
    checker: Checker,
    *,
    wanted: Filter = _ALL,
    target: Target | str = "f1",
    beside: Sequence[Checker] = (),
    chosen: bool = False,
    rejudge: bool = False,
    source: str = "",
    progress: bool = False,
) -> Retuned:
    """Tune ``checker``, which is in production, to the reviewed answers that meet the filter.

    A cascade gets new bands; with detectors ``beside`` it, a combination of all is fitted. Answers are those
    that chance drew for review, unless ``chosen``: then all that were reviewed, weighed alike. Outcomes are
    those that were kept; where these are another detector's, or more are needed, answers are judged anew, but
    a model is only asked with ``rejudge``. Answers to one question, or from the same passages, are never
    parted, nor are those with the same value of the tag ``source``. Raises TuningError, saying what is
    missing.
    """
    wish = target if isinstance(target, Target) else Target.parse(target)
    own, current = _own(checker)
    members = [own, *(_own(one)[0] for one in beside)]
    tuning.require_options([one.detector for one in members], wish)
    cascade = isinstance(own.detector, Cascade) and not beside
    labels = monitor.labels(wanted, alike=cascade or bool(beside) or wish.guaranteed)
    left_out = Counter({"not decided by reviewers": labels.undecided})
    rows = list(_rows(labels, members, left_out, chosen=chosen, source=source))
    if not cascade:
        rows = list(_with_outcomes(rows, checker, left_out, anew=rejudge or not _asks(own)))
    _require_enough(rows, labels, left_out, chosen=chosen)
    examples = [row.example for row in rows]
    tuning.require_labels(examples, wish)
    more = tuning.stages(own) if cascade else members[1:]
    for one in more:
        _require_leave(one, len(rows), rejudge=rejudge)
    said = [list(judge(examples, one, progress=progress, what=one.detector.name)) for one in more]
    if cascade:
        found = tuning.tune_cascade(said, own, target=wish)
    else:
        first = list(_said(rows, own, progress=progress))
        if beside:
            found = tuning.stack([first, *said], members, target=wish, current=current)
        else:
            found = tuning.tune(first, own, target=wish, current=current)
    return Retuned(
        tuning=found,
        reviewed=len(labels.labels) + labels.undecided,
        used=found.tuned.labels.answers,
        basis="whatever people chose to review" if chosen else labels.basis,
        left_out=dict(+left_out),
        warnings=tuple(_warnings(rows, checker, chosen=chosen, anew=bool(more))),
    )


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A reviewed answer, and what production's detector said of it by itself; None if it must be asked."""

    example: Example
    kept: Kept
    outcome: Outcome | None = None


def _own(checker: Checker) -> tuple[Checker, Tuned | Grading | None]:
    """The checker without a reading of its own, and that reading; a cascade has it in its bands."""
    policy, cascade = checker.policy, isinstance(checker.detector, Cascade)
    if cascade and policy.grading is not None:
        raise ConfigurationError(
            "a cascade is tuned by its bands: leave out the threshold and the levels that are set beside it"
        )
    own = Checker(
        checker.detector,
        judge=None if isinstance(checker.judge, NoBackend) else checker.judge,
        policy=Policy(timeout=policy.timeout, budget=policy.budget, redact=policy.redact),
    )
    return own, None if cascade else policy.tuned or policy.grading


def _asks(checker: Checker) -> bool:
    detector = checker.detector
    return not isinstance(checker.judge, NoBackend) and detector.takes_model


def _rows(
    labels: Labels, members: Sequence[Checker], left_out: Counter[str], *, chosen: bool, source: str
) -> Iterator[_Row]:
    """The reviewed answers that can be fitted to, each an example that is never parted from its like."""
    given: list[tuple[Label, Interaction]] = []
    for label in labels.labels:
        if label.weight is None and not chosen:
            left_out["not drawn by chance"] += 1
        elif label.kept.interaction is None:
            left_out["could not be read"] += 1
        else:
            given.append((label, label.kept.interaction))
    groups = sources([one for _, one in given])
    whole = sum(label.weight or 1.0 for label, _ in given)
    for (label, interaction), group in zip(given, groups, strict=True):
        example = Example(
            id=label.kept.id,
            interaction=interaction,
            label=label.hallucinated,
            group=dict(label.kept.tags).get(source, group) if source else group,
            weight=1.0 if chosen else (label.weight or 1.0) * len(given) / whole,
        )
        if any(shown_as_examples(one.detector, [example]) for one in members):
            left_out["from passages of the judge's reviewed examples"] += 1
        else:
            yield _Row(example=example, kept=label.kept)


def _with_outcomes(
    rows: Iterable[_Row], checker: Checker, left_out: Counter[str], *, anew: bool
) -> Iterator[_Row]:
    """The rows with the outcomes that were kept; where these are of no use, to be judged ``anew`` or left."""
    for row in rows:
        outcome = _unread(row.kept.outcome, checker)
        if outcome is None and not anew:
            left_out["judged by another detector, or read by another tuning (--rejudge asks it anew)"] += 1
        else:
            yield replace(row, outcome=outcome)


def _unread(  # noqa: PLR0911 - each return is a reason
    outcome: Outcome, checker: Checker
) -> Outcome | None:
    """A kept outcome as the detector gave it, before production read it; None if that is not kept."""
    if outcome.detector is None:
        return None
    spec, tuned = checker.detector.spec, checker.policy.tuned
    parameters = dict(outcome.detector.parameters)
    read_by = parameters.pop("tuned", None)
    if (outcome.detector.name, outcome.detector.version) != (spec.name, spec.version):
        return None
    if parameters != plain(spec.parameters):
        return None
    own = replace(outcome.detector, parameters=parameters)
    if isinstance(outcome, Abstention):
        return replace(outcome, detector=own)
    score: float | None = outcome.score
    if read_by is not None:
        if tuned is None or tuned.fingerprint != read_by or tuned.aggregation is not None:
            return None
        # A calibration's input is kept as ``raw``.
        score = outcome.raw if tuned.calibration is not None else outcome.score
    if score is None:
        return None
    return reread(replace(outcome, detector=own), checker.detector.grading, score=score)


def _said(rows: Sequence[_Row], own: Checker, *, progress: bool) -> Iterator[Judged]:
    fresh = judge([row.example for row in rows if row.outcome is None], own, progress=progress)
    for row in rows:
        if row.outcome is None:
            yield next(fresh)
        else:
            yield Judged(example=row.example, outcome=row.outcome, seconds=row.outcome.usage.seconds)


def _require_enough(
    rows: Sequence[_Row], labels: Labels, left_out: Mapping[str, int], *, chosen: bool
) -> None:
    if not labels.labels:
        raise TuningError(
            "no answer is reviewed that meets this: groundwire monitor next --reviewer NAME begins"
        )
    if not chosen and not labels.drawn:
        raise TuningError(
            f"{labels.basis}. What people chose for themselves is no sample of production; --chosen "
            "(chosen=True) tunes to it all the same"
        )
    bad = sum(row.example.label is True for row in rows)
    for count, name, queue in (
        (bad, "hallucinated", "flagged"),
        (len(rows) - bad, "grounded", "random"),
    ):
        if count < LEAST:
            rest = "; ".join(f"{n} {why}" for why, n in left_out.items() if n)
            raise TuningError(
                f"{count} of the {len(rows)} reviewed answers are {name}: a threshold takes {LEAST} of them. "
                f"Review more, such as of the {queue} queue" + (f" (left out: {rest})" if rest else "")
            )


def _require_leave(one: Checker, answers: int, *, rejudge: bool) -> None:
    if _asks(one) and not rejudge:
        raise TuningError(
            f"{one.detector.name!r} would judge {answers} answers anew, and its model takes time and money: "
            "rejudge (--rejudge) allows it"
        )


def _warnings(rows: Sequence[_Row], checker: Checker, *, chosen: bool, anew: bool) -> Iterator[str]:
    if chosen:
        yield (
            "people chose these answers, and nobody knows how: the figures are not those of production, and "
            "the best threshold there may be another"
        )
    masked = sum(
        MASK in f"{row.example.interaction.answer}{[p.text for p in row.example.interaction.contexts]}"
        for row in rows
        if anew or row.outcome is None
    )
    if masked:
        yield f"{masked} answers are judged anew as they are kept, which is masked: production saw more"
    grading = checker.policy.tuned.grading if checker.policy.tuned else checker.policy.grading
    now = (grading or checker.detector.grading).threshold
    others = {
        row.kept.outcome.threshold
        for row in rows
        if isinstance(row.kept.outcome, Verdict) and abs(row.kept.outcome.threshold - now) > 1e-9
    }
    if others and not anew:
        told = ", ".join(f"{one:.3g}" for one in sorted(others))
        yield (
            f"some of these answers were read by another threshold ({told}) than the {now:.3g} that is given "
            "as production's: what is compared with is the latter"
        )
