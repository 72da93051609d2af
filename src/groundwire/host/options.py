"""What can be told wherever answers are judged and acted on, and what it means.

Every mistake is found when a wrapper is made, all at once. What only one room's wrappers can be told, that
room adds.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

from groundwire.checker import Checker, checker_problems, default_checker
from groundwire.core.errors import ConfigurationError
from groundwire.core.interaction import Interaction
from groundwire.core.keeper import Keeper, keep, keeper_problems
from groundwire.core.sink import Marks, Sink, Sinks, Told, settled_sinks, sink_problems
from groundwire.core.verdict import Outcome
from groundwire.host.actions import Action, Decider, Decision, Reactions
from groundwire.policy import OnAbstention


class Common(TypedDict, total=False):
    """What can be told wherever answers are judged and acted on.

    ``on_hallucination`` and ``on_abstention`` are an Action, its name, or a callable (interaction, outcome)
    that returns an Action, its name, a text to answer with, or None. ``replacement`` is what the action
    "replace" answers with, the level's warning if left out. ``monitor``, the checker's own if left out, keeps
    every outcome in a database; ``sinks``, likewise, are told of it. When an answer is still hallucinated
    after ``max_retries`` retries, ``after_retries`` is done with it.
    """

    checker: Checker | None
    monitor: Keeper | None
    sinks: Sequence[Sink] | None
    on_hallucination: Action | str | Decider
    on_abstention: Action | str | Decider
    replacement: str | None
    max_retries: int
    after_retries: Action | str


@dataclass(frozen=True, kw_only=True)
class CommonSettings:
    """What the common options mean. The checker keeps nothing: the wrapper knows what was done, too."""

    checker: Checker
    reactions: Reactions
    monitor: Keeper | None
    sinks: Sinks

    def keep(
        self,
        interaction: Interaction,
        outcome: Outcome,
        decision: Decision,
        attempt: int,
        *,
        marks: Marks | None = None,
    ) -> None:
        """Tell the monitor and the sinks, if there are any, of an outcome and what is done about it.

        ``marks`` are what the sinks said of where the answer is traced, if that is not here and now. Never
        raises.
        """
        about: dict[str, Any] = {
            "run_id": interaction.id,
            "action": str(decision.action),
            "attempt": attempt,
        }
        keep(self.monitor, interaction, outcome, **about)
        if self.sinks:
            self.sinks.tell(Told(interaction=interaction, outcome=outcome, **about), marks)


def settle_common(options: Mapping[str, Any]) -> CommonSettings:
    """The meaning of what is common. Raises ConfigurationError, naming every mistake at once."""
    problems = unknown(options, Common.__annotations__)
    settings = common(options, problems)
    if problems:
        raise ConfigurationError(*problems)
    return settings


def unknown(options: Iterable[str], known: Mapping[str, Any]) -> list[str]:
    """What is wrong with the names of the options, each with a hint."""
    problems = []
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(sorted(known))}"
            problems.append(f"unknown option {name!r}: {hint}")
    return problems


def common(
    options: Mapping[str, Any], problems: list[str], *, default_sinks: Sequence[Sink] = ()
) -> CommonSettings:
    """The meaning of what is common; what is wrong with it is added to ``problems``.

    Without sinks, the checker's own are told, and ``default_sinks``.
    """
    checker = options.get("checker")
    if wrong := checker_problems(checker):
        problems += wrong
        checker = None
    monitor = options.get("monitor")
    problems += keeper_problems(monitor)
    sinks = options.get("sinks")
    if wrong := sink_problems(sinks):
        problems += wrong
        sinks = None
    named = {f.name for f in fields(Reactions)}
    try:
        reactions = Reactions(**{name: value for name, value in options.items() if name in named})
    except ConfigurationError as error:
        problems += error.problems
        reactions = Reactions()
    if checker is not None and checker.policy.on_abstention is OnAbstention.RAISE:
        # Such a checker raises by itself; streams must know, and what is found unjudgeable here must agree.
        reactions = replace(reactions, on_abstention=Action.RAISE)
    checker = checker or default_checker()
    monitor = checker.monitor if monitor is None else monitor
    told = settled_sinks(sinks, checker.sinks, default_sinks)
    if hasattr(monitor, "stats"):
        told.watch("monitor", monitor)
    return CommonSettings(checker=checker.unwatched(told), reactions=reactions, monitor=monitor, sinks=told)
