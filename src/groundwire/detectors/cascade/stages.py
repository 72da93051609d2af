"""The stages of a cascade: what each may decide, and how their scores come to one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from groundwire.core.claim import Support
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError
from groundwire.core.score import score_problems
from groundwire.core.verdict import Abstention, Outcome, Step, Verdict
from groundwire.detectors import settings

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
        problems = settings.switch_problems(self, "optional")
        problems += score_problems(accept=self.accept, flag=self.flag)
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
            # An answer of which something could not be verified is never grounded.
            return Step.UNDECIDED if unverified(outcome) else Step.ACCEPTED
        return Step.FLAGGED if flag is not None and outcome.score >= flag else Step.UNDECIDED

    def cut(self, threshold: float) -> float:
        """The score from which on an answer is hallucinated: the detector's threshold, inside the band."""
        least_cut = threshold if self.accept is None else max(threshold, self.accept)
        return least_cut if self.flag is None else min(least_cut, self.flag)


def unverified(verdict: Verdict) -> int:
    """How many claims nobody could verify."""
    return sum(claim.support is Support.UNVERIFIED for claim in verdict.claims)


def rescaled(score: float, old: float, new: float) -> float:
    """A score on the scale on which ``new`` is the threshold that ``old`` was; its ends stay."""
    if old == new:
        return score
    if score < old:
        return min(score * new / old, math.nextafter(new, 0.0))  # rounding must not lift it to the threshold
    return new + (score - old) * (1 - new) / (1 - old) if old < 1 else 1.0


def read(given: Any) -> Stage:
    """A stage from what a settings file has: a detector's name, its table, or a table of a Stage."""
    stage: Stage = settings.holding(Stage, given, "stages")
    return stage


def line_problems(stages: Sequence[Stage]) -> list[str]:
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
    if FACTS in names:
        problems.append(f"stages: {FACTS!r} is the check of exact facts; give the stage another name")
    problems += [
        f"stages: two are named {name!r}; give each a name of its own"
        for name in sorted(set(names))
        if names.count(name) > 1
    ]
    return problems
