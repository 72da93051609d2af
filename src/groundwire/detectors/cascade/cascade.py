"""Detectors one after the other, each deciding what it is sure of: most answers never reach the dear ones.

Only the way of an answer lives here. Where bands come from is in ``bands``, what exact facts refute in
``exact``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from groundwire.core.budget import least
from groundwire.core.claim import Claim, kind_of
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Plan, asking
from groundwire.core.score import check_score
from groundwire.core.verdict import (
    Abstention,
    AbstentionReason,
    Outcome,
    Recommendation,
    Route,
    StageReport,
    Step,
    Usage,
    Verdict,
)
from groundwire.detectors import settings
from groundwire.detectors.cascade import exact
from groundwire.detectors.cascade.stages import FACTS, Facts, Stage, line_problems, read, rescaled, unverified
from groundwire.detectors.combined import Combined
from groundwire.detectors.lexical import Lexical
from groundwire.detectors.statements import no_ground
from groundwire.text.claims import cut


def _default() -> tuple[Stage | Detector | str, ...]:
    from groundwire.detectors.embedded import Embedded  # noqa: PLC0415 - numpy and more, for those who cascade
    from groundwire.detectors.judge import JudgeDetector  # noqa: PLC0415 - prompts, likewise

    return (
        Stage(detector=Lexical(), flag=0.85),
        Stage(detector=Embedded(), accept=0.21, flag=0.62),
        Stage(detector=JudgeDetector(), optional=True),
    )


@dataclass(frozen=True, kw_only=True)
class Cascade(Combined):
    """Stages of detectors, in any order; each decides what lies outside of its band, and hands on the rest.

    By default: exact facts; ``lexical``; ``embedded``, for which the bands were chosen on RAGTruth (see
    benchmarks/RESULTS.md); then ``judge``, where a judge is given, for what is left.
    ``detectors.cascade.bands.fit_bands`` fits bands to labelled answers of yours. A detector or name in place
    of a ``Stage`` is one without a band, which only the last can be.

    The verdict is that of the stage that decided, with its ``route``: what each stage did, and what the
    others would have taken at least. Scores are put on one scale, so that each stage's own cut is this
    detector's threshold; ``raw`` is the stage's own score.

    An answer that no stage is sure of gets the last score there is, and the recommendation to have it
    reviewed. Where a later stage should have judged it and could not, the answer is flagged by that score, or
    not judged. What ``facts`` refute, nothing clears: where they say worse of the answer than the stage that
    was sure, they have decided. Otherwise the recommendation is to retrieve more from a score of ``retrieve``
    on (the threshold if left out), to review between the two scores of ``review`` and where the stage that
    decided wants a review, or to return.

    Source: cascades of models by confidence (Viola and Jones, 2001; FrugalGPT, Chen et al., 2023,
    arXiv:2305.05176). Assumes that cheap stages are right where they are sure. Known failure: where an early
    stage is wrong and sure, no later one is asked.
    """

    name: ClassVar[str] = "cascade"
    version: ClassVar[str] = "25"

    # That of the embedded detector, so that its scores stay the probabilities they are.
    grading: Grading = Grading(threshold=0.37)
    stages: tuple[Stage | Detector | str, ...] = field(default_factory=_default)
    facts: Facts | str = Facts.DECIDE
    retrieve: float | None = None
    review: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        problems: list[str] = []
        built: list[Stage] = []
        if isinstance(self.stages, list | tuple):
            for given in self.stages:
                try:
                    built.append(read(given))
                except ConfigurationError as error:
                    problems += error.problems
        else:
            problems.append(f"stages: expected a list of them, not {settings.shown(self.stages)}")
        object.__setattr__(self, "stages", tuple(built))  # frozen: only the constructor may set
        problems += settings.choice_problems(self, "facts", Facts)
        problems += [] if problems else line_problems(built)
        problems += self._action_problems()
        if problems:
            raise ConfigurationError(*problems)

    @property
    def line(self) -> tuple[Stage, ...]:
        """The stages, in order."""
        return tuple(one for one in self.stages if isinstance(one, Stage))

    @property
    def parts(self) -> list[Detector]:
        return [one.detector for one in self.line]

    @property
    def needed(self) -> list[Detector]:
        return [one.detector for one in self.line if not one.optional]

    @property
    def models(self) -> frozenset[str]:
        return super().models.union(one.model for one in self.line if one.model)

    def beside(self, judge: object | None) -> Cascade:
        """With its optional stages where the judge can answer them, and without them where it can't."""
        stages = tuple(
            replace(one, detector=one.detector.beside(judge), optional=False)
            for one in self.line
            if not (one.optional and one.detector.lacking(judge))
        )
        if not stages:
            raise ConfigurationError(
                "the 'cascade' detector has no stage left without a judge: pass judge=Judge(model)"
            )
        return replace(self, stages=stages)

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        if refused := no_ground(interaction, cut(interaction.answer), self):
            return refused
        way = _Way(self, interaction)
        if self.facts is not Facts.OFF:
            way.bound(exact.refuted(interaction, self.grading))
        if way.refuted and self.facts is Facts.DECIDE:
            stage = Stage(detector=Lexical(), name=FACTS)
            told = yield from stage.detector.detect(interaction)  # what else it says; it asks nobody
            return way.decided(stage, told if isinstance(told, Verdict) else way.refutation(), Step.FLAGGED)
        for i, stage in enumerate(self.line):
            outcome = yield from asking(stage.detector.detect(interaction), stage.model)
            step = stage.step(outcome, last=i == len(self.line) - 1)
            if isinstance(outcome, Verdict) and step in (Step.ACCEPTED, Step.FLAGGED):
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
        self._saved = 0

    def bound(self, refuted: tuple[Claim, ...]) -> None:
        """Facts have refuted these claims, if any: nothing that follows clears them."""
        self.refuted = refuted
        if refuted:
            self._reports.append(StageReport(stage=FACTS, step=Step.FLAGGED, score=self._worst))

    @property
    def _worst(self) -> float:
        return max((claim.score or 0.0 for claim in self.refuted), default=0.0)

    def passed(self, stage: Stage, outcome: Outcome, step: Step) -> None:
        """A stage that did not decide."""
        self._saved += outcome.usage.saved_tokens
        detail = outcome.reason if isinstance(outcome, Abstention) else ""
        self._reports.append(StageReport(stage=stage.name, step=step, score=outcome.score, detail=detail))
        if isinstance(outcome, Verdict):
            self._scored, self._trouble = (stage, outcome), None
        else:
            self._trouble = outcome

    def decided(self, stage: Stage, outcome: Verdict, step: Step) -> Outcome:
        """The outcome by a stage that was sure."""
        self._saved += outcome.usage.saved_tokens
        if stage.name != FACTS:  # which has reported
            self._reports.append(StageReport(stage=stage.name, step=step, score=outcome.score))
        reached = [one.stage for one in self._reports]
        left = [one for one in self._cascade.line if one.name not in reached]
        self._reports += [StageReport(stage=one.name, step=Step.SPARED) for one in left]
        # A stage may be sure by its score, and have reasons of its own for a person to look.
        review = outcome.recommendation if outcome.recommendation is Recommendation.REVIEW else None
        return self._verdict(stage, outcome, left=left, recommendation=review, note="")

    def refutation(self) -> Verdict:
        """What the facts alone come to."""
        fields = {"raw": self._worst, "claims": self.refuted, "reason": self._refuted_reason()}
        return Verdict.graded(self._worst, self._cascade.grading, detector=self._cascade.spec, **fields)

    def undecided(self) -> Outcome:
        """The outcome where no stage was sure: by the last score, or none."""
        if self._scored is None and self.refuted:
            return self.decided(Stage(detector=self._cascade, name=FACTS), self.refutation(), Step.FLAGGED)
        if self._scored is None:
            assert self._trouble is not None, "a cascade has at least one stage"
            return self._not_judged(self._trouble, self._trouble.detail)
        stage, verdict = self._scored
        if self._trouble is None and unverified(verdict):
            detail = f"{unverified(verdict)} of {len(verdict.claims)} claims got no usable verdict"
            self._trouble = Abstention(why=AbstentionReason.UNREADABLE_REPLY, detail=detail)
        note = "No stage was sure."
        if not self._overruled(stage, verdict):
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
        score, raw = rescaled(outcome.score, cut_, grading.threshold), outcome.score
        decided, reason = stage.name, outcome.reason
        if self.refuted:
            claims = list(exact.upheld(claims, self.refuted))
        if self._overruled(stage, outcome):
            score = raw = self._worst
            decided, reason = FACTS, self._refuted_reason()
        return Verdict.graded(
            score,
            grading,
            raw=raw,
            claims=tuple(claims),
            kind=kind_of(claims) or outcome.kind,
            reason=" ".join(part for part in (reason, note) if part),
            detector=self._cascade.spec,
            usage=Usage(saved_tokens=self._saved),
            recommendation=recommendation or self._cascade.recommendation(score),
            route=self._route(decided, left),
        )

    def _overruled(self, stage: Stage, outcome: Verdict) -> bool:
        """Whether facts say worse of the answer than a stage does."""
        cut_ = stage.cut(outcome.threshold)
        return self._worst > rescaled(outcome.score, cut_, self._cascade.grading.threshold)

    def _refuted_reason(self) -> str:
        return f"The documents say otherwise: {self.refuted[0].reason}."

    def _not_judged(self, trouble: Abstention, detail: str) -> Abstention:
        return replace(
            self._cascade.abstain(trouble.why, detail),
            usage=Usage(saved_tokens=self._saved),
            recommendation=Recommendation.REVIEW,
            route=self._route("", ()),
        )

    def _route(self, decided: str, left: Sequence[Stage]) -> Route:
        spared = [least(one.detector.detect(self._interaction)) for one in left if one.detector.takes_model]
        return Route(decided=decided, stages=tuple(self._reports), spared=sum(spared, Usage()))


def _on_scale(claim: Claim, old: float, new: float) -> Claim:
    return claim if claim.score is None else replace(claim, score=rescaled(claim.score, old, new))
