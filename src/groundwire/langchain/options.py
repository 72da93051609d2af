"""What the wrapper and the middleware can be told. Every mistake is found when they are made, all at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

from langchain_core.runnables import Runnable

from groundwire.checker import Checker, OnAbstention, default_checker
from groundwire.core.errors import ConfigurationError
from groundwire.core.interaction import Interaction
from groundwire.core.keeper import Keeper, keep
from groundwire.core.verdict import Outcome
from groundwire.host.actions import Action, Decider, Decision, Reactions
from groundwire.langchain.output import Attach
from groundwire.langchain.retry import NameClaims, Retry, Revise, Revised


class Common(TypedDict, total=False):
    """What can be told wherever answers are judged and acted on.

    ``on_hallucination`` and ``on_abstention`` are an Action, its name, or a callable (interaction, outcome)
    that returns an Action, its name, a text to answer with, or None. ``replacement`` is what the action
    "replace" answers with, the level's warning if left out. ``monitor``, the checker's own if left out, keeps
    every outcome in a database. When an answer is still hallucinated after
    ``max_retries`` retries, ``after_retries`` is done with it.
    """

    checker: Checker | None
    monitor: Keeper | None
    on_hallucination: Action | str | Decider
    on_abstention: Action | str | Decider
    replacement: str | None
    max_retries: int
    after_retries: Action | str


class Options(Common, total=False):
    """What ``with_hallucination_check`` can be told, besides what is common.

    ``retry`` is NameClaims(), the default, Expand(), or a callable (input, outcome) that returns the next
    input. ``question_key`` names a key of the input, ``context_key`` and ``answer_key`` one of the output,
    where they can't be recognised. ``attach`` says where the verdict goes.
    """

    retry: Retry | Revise | None
    question_key: str | None
    context_key: str | None
    answer_key: str | None
    attach: Attach | str


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the options mean."""

    checker: Checker
    reactions: Reactions
    retry: Retry
    attach: Attach
    monitor: Keeper | None = None

    def keep(self, interaction: Interaction, outcome: Outcome, decision: Decision, attempt: int) -> None:
        """Tell the monitor of an outcome, and of what is done about it. Never raises."""
        tell(self.monitor, interaction, outcome, decision, attempt)


def settle(bound: object, options: Mapping[str, Any]) -> Settings:
    """The meaning of a wrapper's options. Raises ConfigurationError, naming every mistake at once."""
    problems = _unknown(options, Options.__annotations__)
    if not isinstance(bound, Runnable):
        hint = ": wrap RunnableLambda(function) instead" if callable(bound) else ""
        problems.append(f"only a LangChain runnable can be wrapped, not {type(bound).__qualname__}{hint}")
    for key in ("question_key", "context_key", "answer_key"):
        if not isinstance(options.get(key), str | None):
            problems.append(f"{key} must be a str, not {type(options[key]).__qualname__}")
    attach = options.get("attach", Attach.AUTO)
    if attach not in list(Attach):
        problems.append(f"attach must be one of {', '.join(repr(str(a)) for a in Attach)}, not {attach!r}")
    checker, reactions = _common(options, problems)
    retry = _retry(bound, reactions, options, problems)
    if problems:
        raise ConfigurationError(*problems)
    checker, monitor = _watched(checker, options)
    return Settings(checker=checker, reactions=reactions, retry=retry, attach=Attach(attach), monitor=monitor)


def settle_common(options: Mapping[str, Any]) -> tuple[Checker, Reactions, Keeper | None]:
    """The meaning of what is common. Raises ConfigurationError, naming every mistake at once."""
    problems = _unknown(options, Common.__annotations__)
    checker, reactions = _common(options, problems)
    if problems:
        raise ConfigurationError(*problems)
    checker, monitor = _watched(checker, options)
    return checker, reactions, monitor


def tell(
    monitor: Keeper | None, interaction: Interaction, outcome: Outcome, decision: Decision, attempt: int
) -> None:
    """Tell a monitor, if there is one, of an outcome and what is done about it. Never raises."""
    keep(
        monitor,
        interaction,
        outcome,
        run_id=interaction.id,
        action=str(decision.action),
        attempt=attempt,
    )


def _watched(checker: Checker | None, options: Mapping[str, Any]) -> tuple[Checker, Keeper | None]:
    """The checker, and what keeps outcomes in its place: the wrapper knows what was done about them."""
    checker = checker or default_checker()
    monitor = options.get("monitor")
    return checker.unwatched(), checker.monitor if monitor is None else monitor


def _unknown(options: Iterable[str], known: Mapping[str, Any]) -> list[str]:
    problems = []
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(sorted(known))}"
            problems.append(f"unknown option {name!r}: {hint}")
    return problems


def _common(options: Mapping[str, Any], problems: list[str]) -> tuple[Checker | None, Reactions]:
    checker = options.get("checker")
    if checker is not None and not isinstance(checker, Checker):
        kind = type(checker).__qualname__
        problems.append(f"checker must be a Checker, not {kind}: Checker(detector, judge=...) makes one")
        checker = None
    monitor = options.get("monitor")
    if monitor is not None and not hasattr(monitor, "keep"):
        problems.append(f"monitor must be a Monitor, not {type(monitor).__qualname__}: Monitor(url)")
    named = {f.name for f in fields(Reactions)}
    try:
        reactions = Reactions(**{name: value for name, value in options.items() if name in named})
    except ConfigurationError as error:
        problems += error.problems
        reactions = Reactions()
    if checker is not None and checker.policy.on_abstention is OnAbstention.RAISE:
        # Such a checker raises by itself; streams must know, and what is found unjudgeable here must agree.
        reactions = replace(reactions, on_abstention=Action.RAISE)
    return checker, reactions


def _retry(bound: object, reactions: Reactions, options: Mapping[str, Any], problems: list[str]) -> Retry:
    given = options.get("retry")
    if given is None:
        return NameClaims(question_key=options.get("question_key"))
    if not isinstance(given, Retry):
        if callable(given):
            return Revised(revise=given)
        kind = type(given).__qualname__
        problems.append(f"retry must be NameClaims(), Expand() or a callable (input, outcome), not {kind}")
        return NameClaims()
    if not problems and not reactions.retries:
        problems.append("retry is set, but nothing asks for it: add on_hallucination='retry'")
    if isinstance(bound, Runnable):
        problems += given.problems(bound)
    return given
