"""Policy: how outcomes are read, what a check may take, and what becomes of what can't be judged."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from groundwire import detectors
from groundwire.core.budget import Budget
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError, GroundwireError
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.redaction import Redact
from groundwire.core.score import is_number
from groundwire.core.tuned import Tuned
from groundwire.core.verdict import Abstention


class OnAbstention(StrEnum):
    """What a checker does with what it could not judge."""

    RETURN = "return"
    RAISE = "raise"


class AbstainedError(GroundwireError):
    """An answer could not be judged, and the policy asked to raise. ``abstention`` says why."""

    def __init__(self, abstention: Abstention) -> None:
        self.abstention = abstention
        # The detail may quote what was judged, and messages of exceptions end up in logs.
        super().__init__(
            f"the answer could not be judged: {abstention.why}; the error's abstention says more"
        )


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How outcomes are read and what a check may take.

    ``grading`` replaces the detector's own threshold, levels and wording; ``tuned`` does, too, and calibrates
    first, as fitted to labels for this very detector. ``timeout`` is in seconds for one check; None waits as
    long as it takes. ``budget`` is the most that one check may spend. With ``enabled`` off nothing is judged,
    and every outcome says so: an Abstention with NOT_SAMPLED. ``fallback`` is the detector, or its name, that
    judges while the judge's model is unavailable (see ``groundwire.judge.breaker``): its verdicts say so in
    ``degraded``, and are read by its own threshold. With None they are abstentions with UNAVAILABLE.
    ``redact`` masks texts before they are judged, so that nothing else reaches a model, or is quoted in an
    outcome; what is masked can't be checked. What has more than ``max_characters``, in all of its texts
    together, or more than ``max_passages`` is not judged, and not cut: an Abstention with OVER_BUDGET. None
    is no limit.
    """

    enabled: bool = True
    grading: Grading | None = None
    tuned: Tuned | None = None
    timeout: float | None = 60.0
    budget: Budget | None = None
    on_abstention: OnAbstention | str = OnAbstention.RETURN
    fallback: Detector | str | None = detectors.DEFAULT
    redact: Redact | None = None
    max_characters: int | None = 10_000_000
    max_passages: int | None = 100_000

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be a whole number from 1 on, or None, not {limit!r}"
            for name in ("max_characters", "max_passages")
            if (limit := getattr(self, name)) is not None and not (type(limit) is int and limit >= 1)
        ]
        if self.on_abstention not in list(OnAbstention):
            problems.append(f"on_abstention must be 'return' or 'raise', not {self.on_abstention!r}")
        else:
            object.__setattr__(self, "on_abstention", OnAbstention(self.on_abstention))
        if self.timeout is not None and not (is_number(self.timeout) and self.timeout > 0):
            problems.append(f"timeout must be seconds above 0, or None, not {self.timeout!r}")
        if self.grading is not None and not isinstance(self.grading, Grading):
            problems.append(f"grading must be a Grading, not {type(self.grading).__name__}")
        if self.tuned is not None and not isinstance(self.tuned, Tuned):
            problems.append(f"tuned must be a Tuned, not {type(self.tuned).__name__}")
        if self.tuned is not None and self.grading is not None:
            problems.append("grading and tuned both set the threshold: give one of them")
        if self.budget is not None and not isinstance(self.budget, Budget):
            problems.append(f"budget must be a Budget, not {type(self.budget).__name__}")
        if not (self.fallback is None or isinstance(self.fallback, Detector | str)):
            problems.append(
                f"fallback must be a Detector, a registered name or None, not {self.fallback!r:.60}"
            )
        if self.redact is not None and not callable(self.redact):
            problems.append(f"redact must be callable with a text, not {self.redact!r:.60}")
        if problems:
            raise ConfigurationError(*problems)

    def excess(self, interaction: Interaction) -> str:
        """What of an interaction is more than is judged; '' for nothing."""
        passages = len(interaction.contexts)
        if self.max_passages is not None and passages > self.max_passages:
            return f"there are {passages:,} passages, more than max_passages={self.max_passages:,}"
        texts = (interaction.question, interaction.answer)
        characters = sum(map(len, texts)) + sum(len(one.text) for one in interaction.contexts)
        characters += sum(len(turn.text) for turn in interaction.history)
        if self.max_characters is not None and characters > self.max_characters:
            return f"there are {characters:,} characters, more than max_characters={self.max_characters:,}"
        return ""
