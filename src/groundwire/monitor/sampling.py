"""Which outcomes are kept, and which of them are a fair sample of all."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from groundwire.core.errors import ConfigurationError
from groundwire.core.grading import Level
from groundwire.core.interaction import Interaction
from groundwire.core.verdict import Abstention, Outcome

_LOG = logging.getLogger(__name__)

Rule = Callable[[Interaction | None, Outcome], bool]
"""A user's own: whether to keep an outcome that chance has not chosen. It holds the host while it thinks."""


class Why(StrEnum):
    """Why an outcome is kept: by chance alone (SAMPLE), for what it says, or by a rule.

    Only what chance chose tells how often answers hallucinate; what was kept for being flagged does not.
    """

    SAMPLE = "sample"
    FLAGGED = "flagged"
    LEVEL = "level"
    ABSTENTION = "abstention"
    RULE = "rule"


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """What is kept: a share ``rate`` of everything, chosen by chance, and beside it what is named here.

    ``levels`` keeps every verdict of these levels, ``flagged`` every hallucination, ``abstentions`` whatever
    could not be judged; ``rule`` decides about the rest. Raises ConfigurationError, naming every mistake.
    """

    rate: float = 1.0
    flagged: bool = False
    levels: tuple[Level, ...] = ()
    abstentions: bool = False
    rule: Rule | None = None

    def __post_init__(self) -> None:
        problems = []
        if not isinstance(self.rate, int | float) or isinstance(self.rate, bool) or not 0 <= self.rate <= 1:
            problems.append(f"rate must be a number in [0, 1], not {self.rate!r}")
        try:
            given = (self.levels,) if isinstance(self.levels, str) else self.levels
            object.__setattr__(self, "levels", tuple(Level(level) for level in given))
        except (TypeError, ValueError):
            names = ", ".join(repr(str(level)) for level in Level)
            problems.append(f"levels must be some of {names}, not {self.levels!r}")
        if self.rule is not None and not callable(self.rule):
            problems.append(f"rule must be callable (interaction, outcome), not {self.rule!r}")
        if problems:
            raise ConfigurationError(*problems)

    def why(self, chance: float, interaction: Interaction | None, outcome: Outcome) -> Why | None:
        """Why this outcome is kept, whose random number in [0, 1) is ``chance``; None if it is not."""
        if chance < self.rate:
            return Why.SAMPLE
        if self.flagged and outcome.hallucinated:
            return Why.FLAGGED
        if outcome.level in self.levels:
            return Why.LEVEL
        if self.abstentions and isinstance(outcome, Abstention):
            return Why.ABSTENTION
        return Why.RULE if self.rule is not None and self._ruled(interaction, outcome) else None

    def _ruled(self, interaction: Interaction | None, outcome: Outcome) -> bool:
        assert self.rule is not None
        try:
            return bool(self.rule(interaction, outcome))
        except Exception as error:  # kept: who asked for a rule wants to see what it could not decide
            _LOG.warning("the sampling rule failed (%s): the outcome is kept", type(error).__name__)
            return True
