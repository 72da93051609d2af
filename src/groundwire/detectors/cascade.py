"""Detectors one after the other, each deciding what it is sure of: most answers never reach the dear ones.

Only the way of an answer lives here. Where bands come from is in ``bands``, what exact facts refute in
``exact``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar

from groundwire.core.budget import least
from groundwire.core.claim import Claim
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Backend, Plan, asking
from groundwire.core.score import check_score
from groundwire.core.verdict import (
    Abstention,
    Outcome,
    Recommendation,
    Route,
    StageReport,
    Step,
    Usage,
    Verdict,
)
from groundwire.detectors import exact, settings
from groundwire.detectors.lexical import Lexical
from groundwire.detectors.statements import no_ground
from groundwire.text.claims import cut

FACTS = "facts"
"""The name of the check of exact facts in a verdict's route."""


class Facts(StrEnum):
    """What becomes of an answer that an exact fact of the passages refutes.

    DECIDE: it is hallucinated, and no stage is asked. BIND: stages judge the rest, and can't clear it.
    """

    DECIDE = "decide"
    BIND = "bind"
    OFF = "off"


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stage: grounded below ``accept``, hallucinated from ``flag`` on; what lies between goes on.

    Scores are the detector's own. None accepts, or flags, nothing; the last stage then goes by its detector's
    threshold. ``model`` is one of the judge's further models. An ``optional`` stage is left out where there
    is no judge to answer it. Raises ConfigurationError naming what is wrong.
    """

    detector: Detector
    accept: float | None = None
    flag: float | None = None
    model: str = ""
    optional: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        # The class is frozen: only its constructor may set fields.
        object.__setattr__(self, "detector", settings.build(self.detector))
        named = "@".join(one for one in (self.detector.name, self.model) if one)
        object.__setattr__(self, "name", self.name or named)
        problems = []
        for end in ("accept", "flag"):
            if (value := getattr(self, end)) is not None:
                try:
                    check_score(end, value)
                except ValueError as error:
                    problems.append(str(error))
        if not problems and self.accept is not None and self.flag is not None and self.accept > self.flag:
            problems.append(f"accept must not be above flag: {self.accept:g} > {self.flag:g}")
        if problems:
            raise ConfigurationError(*(f"stage {self.name!r}: {one}" for one in problems))

    def step(self, outcome: Outcome, *, last: bool) -> Step:
        """What it did with an answer."""
        if isinstance(outcome, Abstention):
            return Step.ABSTAINED
        own = outcome.threshold if last else None
        accept = own if self.accept is None and self.flag is None else self.accept
        flag = own if self.accept is None and self.flag is None else self.flag
        if accept is not None and outcome.score < accept:
            return Step.ACCEPTED
        return Step.FLAGGED if flag is not None and outcome.score >= flag else Step.UNDECIDED

    def cut(self, threshold: float) -> float:
        """The score from which on an answer is hallucinated: the detector's threshold, inside the band."""
        least_cut = threshold if self.accept is None else max(threshold, self.accept)
        return least_cut if self.flag is None else min(least_cut, self.flag)


def _default() -> tuple[Stage | Detector | str, ...]:
    from groundwire.detectors.embedded import Embedded  # noqa: PLC0415 - numpy and more, for those who cascade
    from groundwire.detectors.judge import JudgeDetector  # noqa: PLC0415 - prompts, likewise

    return (
        Stage(detector=Lexical(), accept=0.10, flag=0.90),
        Stage(detector=Embedded(), accept=0.20, flag=0.80),
        Stage(detector=JudgeDetector(), optional=True),
    )


@dataclass(frozen=True, kw_only=True)
class Cascade(Detector):
    """Stages of detectors, in any order; each decides what lies outside of its band, and hands on the rest.

    By default: exact facts; ``lexical``; ``embedded``, for which the bands were fitted on RAGTruth (see
    benchmarks/RESULTS.md); then ``judge``, where a judge is given, for what is left.
    ``detectors.bands.fit_bands`` fits bands to labelled answers of yours. A detector or name in place of a
    ``Stage`` is one without a band, which only the last can be.

    The verdict is that of the stage that decided, with its ``route``: what each stage did, and what the
    others would have taken at least. Scores are put on one scale, so that each stage's own cut is this
    detector's threshold; ``raw`` is the stage's own score.

    An answer that no stage is sure of gets the last score there is, and the recommendation to have it
    reviewed. Where a later stage should have judged it and could not, the answer is flagged by that score, or
    not judged. What ``facts`` refute, nothing clears. Otherwise the recommendation is to retrieve more from a
    score of ``retrieve`` on (the threshold if left out), to review between the two scores of ``review``, or
    to return.

    Source: cascades of models by confidence (Viola and Jones, 2001; FrugalGPT, Chen et al., 2023,
    arXiv:2305.05176). Assumes that cheap stages are right where they are sure. Known failure: where an early
    stage is wrong and sure, no later one is asked.
    """

    name: ClassVar[str] = "cascade"
    version: ClassVar[str] = "1"

    # That of the detectors it begins with, so that their scores stay the probabilities they are.
    grading: Grading = Grading(threshold=0.4)
    stages: tuple[Stage | Detector | str, ...] = field(default_factory=_default)
    facts: Facts = Facts.DECIDE
    retrieve: float | None = None
    review: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        problems: list[str] = []
        built: list[Stage] = []
        if isinstance(self.stages, list | tuple):
            for given in self.stages:
                try:
                    built.append(_stage(given))
                except ConfigurationError as error:
                    problems += error.problems
        else:
            problems.append(f"stages: expected a list of them, not {settings.shown(self.stages)}")
        object.__setattr__(self, "stages", tuple(built))  # frozen: only the constructor may set
        if self.facts in list(Facts):
            object.__setattr__(self, "facts", Facts(self.facts))
        else:
            problems.append(f"facts must be one of {', '.join(Facts)}, not {settings.shown(self.facts)}")
        problems += [] if problems else _undecided(built)
        problems += self._action_problems()
        if problems:
            raise ConfigurationError(*problems)

    @property
    def line(self) -> tuple[Stage, ...]:
        """The stages, in order."""
        return tuple(one for one in self.stages if isinstance(one, Stage))

    @property
    def needs_model(self) -> bool:  # type: ignore[override]  # what it is made of decides
        return any(one.detector.needs_model and not one.optional for one in self.line)

    @property
    def needs_encoder(self) -> bool:  # type: ignore[override]  # likewise
        return any(one.detector.needs_encoder for one in self.line)

    @property
    def needs_embeddings(self) -> bool:
        return any(one.detector.needs_embeddings and not one.optional for one in self.line)

    @property
    def takes_model(self) -> bool:
        return any(one.detector.takes_model for one in self.line)

    @property
    def models(self) -> frozenset[str]:
        named = frozenset(one.model for one in self.line if one.model)
        return named.union(*(one.detector.models for one in self.line))

    def beside(self, judge: Backend | None) -> Cascade:
        """With its optional stages where the judge can answer them, and without them where it can't."""
        stages = []
        for one in self.line:
            embeds = judge is not None and getattr(judge, "embeds", True)
            able = judge is not None and (embeds or not one.detector.needs_embeddings)
            if able or not (one.optional and one.detector.needs_model):
                stages.append(replace(one, detector=one.detector.beside(judge), optional=False))
        if not stages:
            raise ConfigurationError(
                "the 'cascade' detector has no stage left without a judge: pass judge=Judge(model)"
            )
        return replace(self, stages=tuple(stages))

    def load(self) -> None:
        for one in self.line:
            one.detector.load()

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        if refused := no_ground(interaction, cut(interaction.answer), self.spec):
            return refused
        way = _Way(self, interaction)
        if self.facts is not Facts.OFF:
            way.refuted = exact.refuted(interaction, self.grading)
        if way.refuted and self.facts is Facts.DECIDE:
            stage = Stage(detector=Lexical(), name=FACTS)
            verdict = yield from stage.detector.detect(interaction)  # it asks nothing of anybody
            return way.decided(stage, verdict, Step.FLAGGED)
        for i, stage in enumerate(self.line):
            outcome = yield from asking(stage.detector.detect(interaction), stage.model)
            step = stage.step(outcome, last=i == len(self.line) - 1)
            if step in (Step.ACCEPTED, Step.FLAGGED):
                return way.decided(stage, outcome, step)
            way.passed(stage, outcome, step)
        return way.undecided()

    def recommendation(self, score: float) -> Recommendation:
        """What to do about an answer that was decided, by its score."""
        if self.review is not None and self.review[0] <= score < self.review[1]:
            return Recommendation.REVIEW
        threshold = self.grading.threshold
        least_bad = threshold if self.retrieve is None else max(self.retrieve, threshold)
        return Recommendation.RETRIEVE if score >= least_bad else Recommendation.RETURN

    def _action_problems(self) -> list[str]:
        problems = []
        try:
            if self.retrieve is not None:
                check_score("retrieve", self.retrieve)
            if self.review is not None:
                low, high = self.review
                object.__setattr__(self, "review", (check_score("review", low), check_score("review", high)))
                if low > high:
                    problems.append(f"review needs a lower score and a higher one, not {low:g} and {high:g}")
        except (TypeError, ValueError) as error:
            problems.append(str(error) if "must be" in str(error) else "review: expected two scores")
        return problems


class _Way:
    """One answer on its way: who has judged it so far, and what that comes to."""

    def __init__(self, cascade: Cascade, interaction: Interaction) -> None:
        self.refuted: tuple[Claim, ...] = ()
        self._cascade, self._interaction = cascade, interaction
        self._reports: list[StageReport] = []
        self._scored: tuple[Stage, Verdict] | None = None
        self._trouble: Abstention | None = None

    def passed(self, stage: Stage, outcome: Outcome, step: Step) -> None:
        """A stage that did not decide."""
        detail = outcome.reason if isinstance(outcome, Abstention) else ""
        self._reports.append(StageReport(stage=stage.name, step=step, score=outcome.score, detail=detail))
        if isinstance(outcome, Verdict):
            self._scored, self._trouble = (stage, outcome), None
        else:
            self._trouble = outcome

    def decided(self, stage: Stage, outcome: Outcome, step: Step) -> Outcome:
        """The outcome by a stage that was sure."""
        if isinstance(outcome, Abstention):  # the documents' words can't be read, beside its figures
            return replace(outcome, detector=self._cascade.spec)
        reached = [one.stage for one in self._reports] + [stage.name]
        self._reports.append(StageReport(stage=stage.name, step=step, score=outcome.score))
        left = [one for one in self._cascade.line if one.name not in reached]
        self._reports += [StageReport(stage=one.name, step=Step.SPARED) for one in left]
        return self._verdict(stage, outcome, left=left, recommendation=None, note="")

    def undecided(self) -> Outcome:
        """The outcome where no stage was sure: by the last score, or none."""
        if self._scored is None:
            assert self._trouble is not None, "a cascade has at least one stage"
            return self._not_judged(self._trouble, self._trouble.detail)
        stage, verdict = self._scored
        note = f"No stage was sure; the score is that of {stage.name!r}."
        if self._trouble is None:
            return self._verdict(stage, verdict, left=(), recommendation=Recommendation.REVIEW, note=note)
        if verdict.score >= stage.cut(verdict.threshold) or self.refuted:
            note = f"{note} A later stage could not judge: {self._trouble.why}."
            return self._verdict(stage, verdict, left=(), recommendation=Recommendation.REVIEW, note=note)
        detail = f"{stage.name!r} was not sure ({verdict.score:.2f}), and no later stage could judge"
        return self._not_judged(self._trouble, f"{detail}: {self._trouble.detail}")

    def _verdict(
        self,
        stage: Stage,
        outcome: Verdict,
        *,
        left: Sequence[Stage],
        recommendation: Recommendation | None,
        note: str,
    ) -> Verdict:
        grading, cut_ = self._cascade.grading, stage.cut(outcome.threshold)
        claims = [_on_scale(claim, cut_, grading.threshold) for claim in outcome.claims]
        score = rescaled(outcome.score, cut_, grading.threshold)
        reason = outcome.reason
        if self.refuted:
            claims = list(exact.upheld(claims, self.refuted))
            worst = max(claim.score or 0.0 for claim in self.refuted)
            if worst > score:
                score, reason = worst, f"The documents say otherwise: {self.refuted[0].reason}."
        return Verdict.graded(
            score,
            grading,
            raw=outcome.score,
            claims=tuple(claims),
            kind=outcome.kind if score == outcome.score else None,
            reason=" ".join(part for part in (reason, note) if part),
            detector=self._cascade.spec,
            usage=Usage(saved_tokens=outcome.usage.saved_tokens),
            recommendation=recommendation or self._cascade.recommendation(score),
            route=self._route(stage.name, left),
        )

    def _not_judged(self, trouble: Abstention, detail: str) -> Abstention:
        return replace(
            self._cascade.abstain(trouble.why, detail),
            recommendation=Recommendation.REVIEW,
            route=self._route("", ()),
        )

    def _route(self, decided: str, left: Sequence[Stage]) -> Route:
        spared = [least(one.detector.detect(self._interaction)) for one in left if one.detector.takes_model]
        return Route(decided=decided, stages=tuple(self._reports), spared=sum(spared, Usage()))


def rescaled(score: float, old: float, new: float) -> float:
    """A score on the scale on which ``new`` is the threshold that ``old`` was; its ends stay."""
    if old == new:
        return score
    if score < old:
        return score * new / old
    return new + (score - old) * (1 - new) / (1 - old) if old < 1 else 1.0


def _on_scale(claim: Claim, old: float, new: float) -> Claim:
    return claim if claim.score is None else replace(claim, score=rescaled(claim.score, old, new))


def _stage(given: Any) -> Stage:
    """A stage from what a settings file has: a detector's name, its table, or a table of a Stage."""
    if isinstance(given, Stage):
        return given
    if isinstance(given, dict) and "detector" in given:
        stage: Stage = settings.part(Stage, given, "stage")
        return stage
    return Stage(detector=settings.build(given))


def _undecided(stages: Sequence[Stage]) -> list[str]:
    """What is wrong with the line of stages as a whole."""
    if not stages:
        return ["stages: a cascade needs at least one"]
    problems = [
        f"stage {one.name!r}: it has neither accept nor flag, so nothing would be decided there; "
        "only the last stage can do without"
        for one in stages[:-1]
        if one.accept is None and one.flag is None
    ]
    names = [one.name for one in stages]
    problems += [
        f"stages: two are named {name!r}; give each a name of its own"
        for name in sorted(set(names))
        if names.count(name) > 1
    ]
    return problems
