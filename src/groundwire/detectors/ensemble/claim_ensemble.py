"""Several oracles read an answer, each for itself; their claims are merged and put to the vote.

Only the plan lives here. Who is asked is in ``oracles``, which claims are the same in ``reduction``, what
votes come to in ``resolution``, and the answer's score in ``core.aggregation``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any, ClassVar

from groundwire.core.aggregation import Aggregation, AnyUnsupported
from groundwire.core.budget import least
from groundwire.core.claim import Support
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError, gathered
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Failed, Plan, metered, together
from groundwire.core.score import score_problems
from groundwire.core.verdict import (
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
from groundwire.detectors.asking import whole_numbers
from groundwire.detectors.combined import Combined
from groundwire.detectors.ensemble import oracles as asked
from groundwire.detectors.ensemble import reduction
from groundwire.detectors.ensemble.claim_reader import ClaimReader
from groundwire.detectors.ensemble.claim_votes import Ballot, reason, would_change
from groundwire.detectors.ensemble.dynamic import Dynamic
from groundwire.detectors.ensemble.opinions import Heard, Opinion
from groundwire.detectors.ensemble.oracles import Oracle, primed
from groundwire.detectors.ensemble.places import Places
from groundwire.detectors.ensemble.resolution import Majority, Resolution, read_resolution
from groundwire.detectors.statements import no_ground
from groundwire.detectors.vectors import embed


class Inferred(StrEnum):
    """What a claim that follows without being stated counts as; REVIEW is grounded, for a person to see."""

    GROUNDED = "grounded"
    UNGROUNDED = "ungrounded"
    REVIEW = "review"


class Similarity(StrEnum):
    """How it is told that two claims say the same."""

    LEXICAL = "lexical"
    EMBEDDING = "embedding"


_ALIKE = {Similarity.LEXICAL: 0.6, Similarity.EMBEDDING: 0.85}


@dataclass(frozen=True, kw_only=True)
class ClaimEnsemble(Combined):
    """Oracles take the answer apart and label each claim; equal claims are merged, and votes decide each.

    *Map.* ``oracles`` are asked at once: a ``ClaimReader`` (one prompt, several readings; the default), any
    detector that gives claims, or an ``Oracle`` that says by which of the judge's models. With ``caching``,
    one of the prompts that begin alike goes ahead of the others and what they share is marked, for Amazon
    Bedrock and Anthropic.

    *Reduce.* Claims are merged by ``similarity``, from ``alike`` on (lexical 0.6, embedding 0.85 if left
    out), and found in the answer; one that matches no words of it is kept and not ``located``. ``resolution``
    turns votes into a support: by majority, by weights from reliabilities, by confidence, or by Dawid and
    Skene's model. Every tie goes to the more severe support. ``inferred`` is what inferred claims count as.
    ``aggregation`` makes the answer's score. A sentence that no oracle speaks of is an unverified claim.

    *Dynamic.* With ``dynamic``, oracles are added only where they would change the outcome.

    An oracle that fails is left out; with fewer than ``quorum`` opinions the answer is not judged. Where no
    more opinions were heard than failed, or with a ``disagreement`` of that share on any claim, the
    recommendation is to have a person review the answer.

    Source: self-consistency (Wang et al., 2022, arXiv:2203.11171) over claims (Min et al., 2023,
    arXiv:2305.14251); voting among models as a jury (Verga et al., 2024, arXiv:2404.18796). Assumes that
    oracles err on different claims. Known failures: readings of one model share its mistakes, paraphrases
    with few common words stay apart unless embeddings are compared, and a claim that one oracle alone brings
    up is decided by that oracle.
    """

    name: ClassVar[str] = "claim_ensemble"
    version: ClassVar[str] = "3"

    oracles: tuple[Oracle | Detector | str, ...] = field(
        default_factory=lambda: (Oracle(detector=ClaimReader()),)
    )
    resolution: Resolution = field(default_factory=Majority)
    aggregation: Aggregation = field(default_factory=AnyUnsupported)
    inferred: Inferred | str = Inferred.GROUNDED
    similarity: Similarity | str = Similarity.LEXICAL
    alike: float | None = None
    dynamic: Dynamic | None = None
    caching: bool = False
    quorum: int = 1
    disagreement: float | None = None
    max_claims: int = 400

    def __post_init__(self) -> None:
        problems = [
            *self._built("oracles", _panel),
            *self._built("resolution", read_resolution),
            *self._built("aggregation", settings.aggregation),
            *settings.choice_problems(self, "inferred", Inferred),
            *settings.choice_problems(self, "similarity", Similarity),
            *settings.switch_problems(self, "caching"),
            *score_problems(alike=self.alike, disagreement=self.disagreement),
        ]
        if self.dynamic is not None:
            problems += self._built("dynamic", lambda given: settings.part(Dynamic, given, "dynamic"))
        problems += _problems(self)
        if problems:
            raise ConfigurationError(*problems)

    @property
    def panel(self) -> tuple[Oracle, ...]:
        """The oracles, each with its name."""
        return tuple(one for one in self.oracles if isinstance(one, Oracle))

    @property
    def parts(self) -> list[Detector]:
        return [one.detector for one in self.panel]

    @property
    def needs_embeddings(self) -> bool:
        return self.similarity is Similarity.EMBEDDING or super().needs_embeddings

    @property
    def models(self) -> frozenset[str]:
        return super().models.union(one.model for one in self.panel if one.model)

    def beside(self, judge: object | None) -> ClaimEnsemble:
        """With each oracle as it works with this judge, or without any."""
        oracles = tuple(replace(one, detector=one.detector.beside(judge)) for one in self.panel)
        return self if oracles == self.panel else replace(self, oracles=oracles)

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        places = Places(interaction.answer)
        if refused := no_ground(interaction, places.sentences, self):
            return refused
        left = list(self.panel)
        at_once = self.dynamic.at_once(interaction, len(left)) if self.dynamic else len(left)
        heard: list[Heard] = []
        spent = Usage()
        while True:
            now, left = left[:at_once], left[at_once:]
            plan = together([one.hear(interaction) for one in now])
            more, used = yield from metered(primed(plan) if self.caching else plan)
            heard, spent, at_once = heard + more, spent + used, 1
            opinions = [opinion for each in heard for opinion in each.opinions]
            ballot = yield from self._ballot(interaction, places, opinions)
            if not left or (self.dynamic and self._enough(ballot, opinions, left, spent)):
                return self._outcome(interaction, ballot, heard, left)

    def _ballot(
        self, interaction: Interaction, places: Places, opinions: Sequence[Opinion]
    ) -> Plan[Ballot | Failed]:
        """All claims with their votes."""
        said = [one for opinion in opinions for one in opinion.said]
        if len(said) > self.max_claims:
            detail = f"oracles made {len(said)} claims, more than max_claims={self.max_claims}"
            return Failed(reason=AbstentionReason.OVER_BUDGET, detail=detail)
        likeness = reduction.lexical
        if self.similarity is Similarity.EMBEDDING and said:
            vectors = yield from embed(one.statement for one in said)
            if isinstance(vectors, Failed):
                return vectors
            likeness = lambda statements: vectors.cosines(statements, statements)  # noqa: E731 - it is what is alike
        threshold = _ALIKE[Similarity(self.similarity)] if self.alike is None else self.alike
        return Ballot(
            interaction=interaction,
            places=places,
            merged=tuple(reduction.merged(said, places, likeness, threshold)),
            resolution=self.resolution,
            ungrounded=self.inferred is Inferred.UNGROUNDED,
        )

    def _enough(
        self, ballot: Ballot | Failed, opinions: Sequence[Opinion], left: Sequence[Oracle], spent: Usage
    ) -> bool:
        """Whether those who are left need not be asked."""
        assert self.dynamic is not None
        if self.dynamic.calls is not None and spent.calls >= self.dynamic.calls:
            return True
        if isinstance(ballot, Failed) or sum(not one.trouble for one in opinions) < self.quorum:
            return False
        if not ballot.merged or ballot.unverified():
            return False
        if ballot.unanimous(self.dynamic.sure):
            return True
        names = [name for one in left for name in one.names]
        return not would_change(ballot, names, self.aggregation, self.grading.threshold)

    def _outcome(
        self,
        interaction: Interaction,
        ballot: Ballot | Failed,
        heard: Sequence[Heard],
        left: Sequence[Oracle],
    ) -> Outcome:
        opinions = [opinion for each in heard for opinion in each.opinions]
        usage = Usage(saved_tokens=sum(each.saved for each in heard))
        route = Route(
            decided=self.name,
            stages=(*map(_report, opinions), *(_spared(name) for one in left for name in one.names)),
            spared=sum((least(one.hear(interaction)) for one in left), Usage()),
        )
        trouble = [one.trouble for one in opinions if one.trouble]
        known = len(opinions) - len(trouble)
        if isinstance(ballot, Failed):
            return self._abstention(ballot.reason, ballot.detail, usage, route)
        if known < max(self.quorum, 1):
            what = f"{known} of {len(opinions)} opinions could be heard"
            if not trouble:  # those that are left out would have cost more calls than were allowed
                detail = f"{what}, and the quorum is {self.quorum}"
                return self._abstention(AbstentionReason.OVER_BUDGET, detail, usage, route)
            return self._abstention(trouble[0].reason, f"{what}: {trouble[0].detail}", usage, route)
        claims = ballot.claims()
        score = self.aggregation(claims)
        unverified = sum(claim.support is Support.UNVERIFIED for claim in claims)
        if score is None or (unverified and score < self.grading.threshold):
            detail = f"{unverified} of {len(claims)} claims got no vote that can be used"
            if trouble:
                detail += f", and {len(trouble)} of {len(opinions)} opinions could not be heard"
            return self._abstention(AbstentionReason.UNREADABLE_REPLY, detail, usage, route)
        verdict = Verdict.graded(
            score,
            self.grading,
            raw=score,
            claims=tuple(claims),
            reason=reason(claims, heard=known, asked=len(opinions)),
            detector=self.spec,
            usage=usage,
            route=route,
        )
        advice = self._recommendation(verdict)
        if advice is Recommendation.RETURN and trouble and known <= len(trouble):
            advice = Recommendation.REVIEW  # few of those who were asked stand behind it
        return replace(verdict, recommendation=advice)

    def _abstention(self, why: AbstentionReason, detail: str, usage: Usage, route: Route) -> Outcome:
        return replace(
            self.abstain(why, detail), usage=usage, route=route, recommendation=Recommendation.REVIEW
        )

    def _recommendation(self, verdict: Verdict) -> Recommendation:
        inferred = any(claim.support is Support.INFERRED for claim in verdict.claims)
        divided = [claim.disagreement for claim in verdict.claims if claim.disagreement is not None]
        if self.inferred is Inferred.REVIEW and inferred:
            return Recommendation.REVIEW
        if self.disagreement is not None and max(divided, default=0.0) >= self.disagreement:
            return Recommendation.REVIEW
        return Recommendation.RETRIEVE if verdict.hallucinated else Recommendation.RETURN

    def _built(self, name: str, build: Any) -> list[str]:
        """Replace what a settings file has by what it describes; what is wrong with it otherwise."""
        try:
            object.__setattr__(self, name, build(getattr(self, name)))  # frozen: only the constructor may set
        except ConfigurationError as error:
            return [*error.problems]
        except (TypeError, ValueError) as error:
            return [f"{name}: {error}"]
        return []


def _panel(given: Any) -> tuple[Oracle, ...]:
    if isinstance(given, list | tuple):
        return tuple(gathered(partial(asked.read, one) for one in given))
    raise ConfigurationError(f"oracles: expected a list of them, not {settings.shown(given)}")


def _problems(ensemble: ClaimEnsemble) -> list[str]:
    """What is wrong with the numbers, and with who was chosen."""
    problems = whole_numbers(ensemble, quorum=1, max_claims=1)
    oracles = ensemble.panel
    if not isinstance(ensemble.oracles, tuple) or len(oracles) < len(ensemble.oracles):
        return problems  # they have mistakes of their own
    if not oracles:
        problems.append("oracles: an ensemble needs at least one")
    heard = sum(len(one.names) for one in oracles)
    if heard < ensemble.quorum and not problems:
        problems.append(f"quorum: {ensemble.quorum} opinions are needed, and {heard} can be heard")
    names = Counter(one.name for one in oracles)
    problems += [
        f"oracles: {count} are named {name!r}; votes are told by name, so give each its own"
        for name, count in names.items()
        if count > 1
    ]
    if isinstance(ensemble.resolution, Resolution) and oracles:
        problems += ensemble.resolution.problems([name for one in oracles for name in one.names])
    return problems


def _report(opinion: Opinion) -> StageReport:
    if opinion.trouble:
        detail = f"{opinion.trouble.reason}: {opinion.trouble.detail}"
        return StageReport(stage=opinion.oracle, step=Step.ABSTAINED, detail=detail)
    return StageReport(stage=opinion.oracle, step=Step.HEARD, detail=f"{len(opinion.said)} claims")


def _spared(name: str) -> StageReport:
    return StageReport(stage=name, step=Step.SPARED)
