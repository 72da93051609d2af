"""What is done about an answer that the documents do not support, or that could not be judged.

Only the decision lives here. Rewording an answer and running an application again belong to the guest
rooms, which know how their framework does it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from groundwire import prompts
from groundwire.core.callables import refused_async
from groundwire.core.errors import ConfigurationError, GroundwireError
from groundwire.core.interaction import Interaction
from groundwire.core.verdict import Abstention, Outcome, Recommendation, Verdict
from groundwire.policy import AbstainedError

UNCHECKED_WARNING = "This answer could not be checked against the documents."
WITHHELD = "The answer was withheld: the documents do not support it."
_MOST_CLAIMS = 10  # named in a retry: more would drown the question


class Action(StrEnum):
    """What can be done about an answer.

    ANNOTATE leaves it as it is beside its verdict. WARN appends the level's warning. REPLACE puts another
    text in its place. RAISE raises. RETRY runs the application again, a bounded number of times.
    """

    ANNOTATE = "annotate"
    WARN = "warn"
    REPLACE = "replace"
    RAISE = "raise"
    RETRY = "retry"


Decider = Callable[[Interaction, Outcome], Action | str | None]
"""A user's own rule: it returns an Action or its name, a text to answer with instead, or None to annotate."""


class HallucinationError(GroundwireError):
    """An answer was not supported by its documents, and the application asked to be told by an exception."""

    def __init__(self, interaction: Interaction, outcome: Verdict) -> None:
        self.interaction = interaction
        self.outcome = outcome
        # The answer itself stays out: messages of exceptions end up in logs.
        super().__init__(
            f"the answer is not supported by its documents: score {outcome.score:.2f} at threshold "
            f"{outcome.threshold:g}, level {outcome.level}; the error's outcome and interaction say more"
        )


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What to do with one answer.

    ``text`` is what WARN appends or REPLACE answers with; ``error`` is what RAISE raises, left to the caller
    so that the outcome reaches the trace first.
    """

    action: Action
    text: str = ""
    error: GroundwireError | None = None


@dataclass(frozen=True, kw_only=True)
class Reactions:
    """The rules of one application: what it wants done, and when.

    ``on_hallucination`` and ``on_abstention`` are an Action, its name, or a Decider; only a hallucination
    can be retried. ``replacement`` is what REPLACE answers with, the level's warning if left out.
    ``after_retries`` is done with an answer that is still hallucinated after ``max_retries`` retries.
    Raises ConfigurationError, naming every mistake at once.
    """

    on_hallucination: Action | str | Decider = Action.ANNOTATE
    on_abstention: Action | str | Decider = Action.ANNOTATE
    replacement: str | None = None
    max_retries: int = 1
    after_retries: Action | str = Action.ANNOTATE

    def __post_init__(self) -> None:
        problems: list[str] = []
        without_retry = [action for action in Action if action is not Action.RETRY]
        rules: dict[str, Sequence[Action]] = {
            "on_hallucination": tuple(Action),
            "on_abstention": without_retry,
        }
        for name, allowed in rules.items():
            value = getattr(self, name)
            if callable(value):
                problems += refused_async(name, value, "deciding waits for nothing")
            else:
                object.__setattr__(self, name, _action(name, value, allowed, problems))
        after = _action("after_retries", self.after_retries, without_retry, problems)
        object.__setattr__(self, "after_retries", after)
        if self.replacement is not None and not isinstance(self.replacement, str):
            problems.append(f"replacement must be a str, not {self.replacement!r}")
        elif self.replacement is not None and not self._may_replace():
            problems.append("replacement is for answers that are replaced: on_hallucination='replace'")
        if type(self.max_retries) is not int or self.max_retries < 1:
            problems.append(f"max_retries must be a whole number from 1 on, not {self.max_retries!r}")
        if problems:
            raise ConfigurationError(*problems)

    @property
    def gating(self) -> bool:
        """Whether an answer must be held back until judged: it may yet be replaced, refused or redone."""
        passing = (Action.ANNOTATE, Action.WARN)
        return self.on_hallucination not in passing or self.on_abstention not in passing

    @property
    def retries(self) -> bool:
        """Whether a retry may ever be asked for."""
        return callable(self.on_hallucination) or self.on_hallucination is Action.RETRY

    def _may_replace(self) -> bool:
        rules = (self.on_hallucination, self.on_abstention, self.after_retries)
        return any(callable(rule) or rule is Action.REPLACE for rule in rules)

    def decide(self, interaction: Interaction, outcome: Outcome, *, attempt: int) -> Decision:
        """What to do after the ``attempt``-th answer, counted from 1."""
        if not isinstance(outcome, Abstention) and outcome.grounded:
            return Decision(action=Action.ANNOTATE)
        action, text = self._chosen(interaction, outcome)
        if action is Action.RETRY and attempt > self.max_retries:
            return self.given_up(interaction, outcome)
        return self._decision(action, text, interaction, outcome)

    def given_up(self, interaction: Interaction, outcome: Outcome) -> Decision:
        """What to do with an answer that can't be retried any more."""
        return self._decision(Action(self.after_retries), None, interaction, outcome)

    def _decision(
        self, action: Action, text: str | None, interaction: Interaction, outcome: Outcome
    ) -> Decision:
        if action is Action.RAISE:
            if isinstance(outcome, Abstention):
                return Decision(action=action, error=AbstainedError(outcome))
            return Decision(action=action, error=HallucinationError(interaction, outcome))
        if action is Action.WARN:
            return Decision(action=action, text=_warning(outcome))
        if action is Action.REPLACE:
            return Decision(action=action, text=self._replacement(outcome) if text is None else text)
        return Decision(action=action)

    def _chosen(self, interaction: Interaction, outcome: Outcome) -> tuple[Action, str | None]:
        abstained = isinstance(outcome, Abstention)
        rule = self.on_abstention if abstained else self.on_hallucination
        if not callable(rule):
            return Action(rule), None
        said = rule(interaction, outcome)
        if said is None:
            return Action.ANNOTATE, None
        if not isinstance(said, str):
            raise TypeError(
                f"the callable for on_{'abstention' if abstained else 'hallucination'} returned {said!r}: "
                f"expected an Action, its name, a text to answer with, or None"
            )
        if said not in list(Action):
            return Action.REPLACE, said
        if abstained and said == Action.RETRY:
            raise ValueError("what could not be judged can't be retried: only a hallucination can")
        return Action(said), None

    def _replacement(self, outcome: Outcome) -> str:
        if self.replacement is not None:
            return self.replacement
        return _warning(outcome) or WITHHELD


def recommended(interaction: Interaction, outcome: Outcome) -> Action:
    """A Decider that does what a detector recommends: it retries where a cascade wants more retrieved.

    Whatever else it recommends stays on the outcome, for whoever queues answers for review.
    """
    del interaction
    wanted = outcome.recommendation is Recommendation.RETRIEVE and isinstance(outcome, Verdict)
    return Action.RETRY if wanted else Action.ANNOTATE


def note(outcome: Outcome) -> str:
    """What the answering model is told before it answers again: the unsupported claims, worst first."""
    flagged = sorted((c for c in outcome.claims if c.support.flagged), key=lambda c: -(c.score or 0.0))
    # As JSON strings, so that no claim reads as more than one line of this list.
    listed = [f"- {json.dumps(claim.shown, ensure_ascii=False)}" for claim in flagged[:_MOST_CLAIMS]]
    if (more := len(flagged) - len(listed)) > 0:
        listed.append(f"- and {more} more")
    return prompts.get("retry").fill(claims="\n".join(listed or ["- all of it"]))


def _warning(outcome: Outcome) -> str:
    return UNCHECKED_WARNING if isinstance(outcome, Abstention) else outcome.wording.warning


def _action(name: str, value: object, allowed: Sequence[Action], problems: list[str]) -> Action:
    if isinstance(value, str) and value in allowed:
        return Action(value)
    expected = ", ".join(repr(str(action)) for action in allowed)
    also = "" if name == "after_retries" else ", or a callable (interaction, outcome)"
    problems.append(f"{name} must be one of {expected}{also}, not {value!r}")
    return Action.ANNOTATE
