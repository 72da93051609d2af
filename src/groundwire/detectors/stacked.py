"""Several detectors' scores, weighed together as labelled answers have shown them to be worth.

Only running the members and reading their scores lives here. What weighs them is in ``combination``; it is
fitted by ``groundwire.bench.tuning``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from groundwire.core.claim import Claim, Support
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Plan, together
from groundwire.core.verdict import Abstention, AbstentionReason, DetectorSpec, Outcome, Verdict
from groundwire.detectors import combination, settings
from groundwire.detectors.combination import Combination
from groundwire.detectors.combined import Combined


@dataclass(frozen=True, kw_only=True)
class Stacked(Combined):
    """A fitted combination of other detectors' scores: logistic regression or boosted trees.

    The members' plans run in lock-step, so that what several of them ask goes out together. Claims, words and
    evidence are those of the first member that marks any: name the one that locates best first.

    Where one member abstains, so does the stack, with that member's reason: a combination that was fitted to
    all scores means nothing without one of them, and none is ever made up.

    ``members`` are detectors, or what settings name them by; ``combination`` is what ``groundwire tune`` has
    fitted for them, in the same order. Raises ConfigurationError where they don't fit.

    Source: stacking (Wolpert, 1992, Neural Networks 5). Assumes answers like those it was fitted to. Known
    failures: it costs what all members cost, one of them that fails silences it, and what one member knows
    for certain the others can outweigh.
    """

    name: ClassVar[str] = "stacked"
    version: ClassVar[str] = "1"

    members: tuple[Detector, ...]
    combination: Combination

    def __post_init__(self) -> None:
        problems: list[str] = []
        object.__setattr__(self, "members", _members(self.members, problems))
        object.__setattr__(self, "combination", _combination(self.combination, problems))
        if not problems and self.combination.size != len(self.members):
            problems.append(
                f"combination: fitted for {self.combination.size} members, and there are {len(self.members)}"
            )
        if problems:
            raise ConfigurationError(*problems)

    @property
    def parts(self) -> tuple[Detector, ...]:
        return self.members

    def beside(self, judge: object | None) -> Stacked:
        """With each member as it works with this judge, or without any."""
        members = tuple(member.beside(judge) for member in self.members)
        return self if members == self.members else replace(self, members=members)

    @property
    def spec(self) -> DetectorSpec:
        """The members' own specs; the combination by its fingerprint, for a spec is in every verdict."""
        members = [
            {"name": one.name, "version": one.version, "parameters": one.parameters}
            for one in (member.spec for member in self.members)
        ]
        told = {"kind": self.combination.kind, "fingerprint": self.combination.fingerprint}
        return DetectorSpec(
            name=self.name, version=self.version, parameters={"members": members, "combination": told}
        )

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        """Have every member judge, side by side, and weigh their scores."""
        outcomes = yield from together([member.detect(interaction) for member in self.members])
        verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
        if len(verdicts) < len(outcomes):
            return self._abstaining(outcomes)
        score = self.combination([verdict.score for verdict in verdicts])
        located = next((verdict for verdict in verdicts if verdict.claims), verdicts[0])
        if score < self.grading.threshold and (unread := _unverified(located.claims)):
            detail = f"{unread} of {len(located.claims)} claims could not be verified"
            return self.abstain(AbstentionReason.UNREADABLE_REPLY, detail)
        said = ", ".join(
            f"{member.name} {verdict.score:.2f}"
            for member, verdict in zip(self.members, verdicts, strict=True)
        )
        return Verdict.graded(
            score,
            self.grading,
            raw=score,
            claims=located.claims,
            kind=located.kind,
            reason=f"{located.reason} Weighed together: {said}.".strip(),
            detector=self.spec,
        )

    def _abstaining(self, outcomes: Sequence[Outcome]) -> Abstention:
        member, first = next(
            (member, outcome)
            for member, outcome in zip(self.members, outcomes, strict=True)
            if isinstance(outcome, Abstention)
        )
        return self.abstain(first.why, f"{member.name}: {first.detail}")


def _members(given: Any, problems: list[str]) -> tuple[Detector, ...]:
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        problems.append(f"members: expected a list of detectors, not {type(given).__qualname__}")
        return ()
    if len(given) < 2:
        problems.append(f"members: a stack combines at least two detectors, not {len(given)}")
    built = []
    for i, one in enumerate(given):
        try:
            built.append(settings.build(one))
        except ConfigurationError as error:
            problems += [f"members[{i}]: {problem}" for problem in error.problems]
    return tuple(built)


def _combination(given: Any, problems: list[str]) -> Any:
    if isinstance(given, Combination):
        return given
    if not isinstance(given, Mapping):
        problems.append(
            f"combination: expected what groundwire tune has fitted, not {type(given).__qualname__}"
        )
        return given
    try:
        return combination.from_dict(given)
    except ValueError as error:
        problems.append(f"combination: {error}")
        return given


def _unverified(claims: Sequence[Claim]) -> int:
    return sum(claim.support is Support.UNVERIFIED for claim in claims)
