"""What can be told wherever answers are judged and acted on, and what it means.

Every mistake is found when a wrapper is made, all at once. What only one room's wrappers can be told, that
room adds.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, TypedDict

from groundwire.checker import Checker, OnAbstention, default_checker
from groundwire.core.errors import ConfigurationError
from groundwire.host.actions import Action, Decider, Reactions


class Common(TypedDict, total=False):
    """What can be told wherever answers are judged and acted on.

    ``on_hallucination`` and ``on_abstention`` are an Action, its name, or a callable (interaction, outcome)
    that returns an Action, its name, a text to answer with, or None. ``replacement`` is what the action
    "replace" answers with, the level's warning if left out. When an answer is still hallucinated after
    ``max_retries`` retries, ``after_retries`` is done with it.
    """

    checker: Checker | None
    on_hallucination: Action | str | Decider
    on_abstention: Action | str | Decider
    replacement: str | None
    max_retries: int
    after_retries: Action | str


def settle_common(options: Mapping[str, Any]) -> tuple[Checker, Reactions]:
    """The meaning of what is common. Raises ConfigurationError, naming every mistake at once."""
    problems = unknown(options, Common.__annotations__)
    checker, reactions = common(options, problems)
    if problems:
        raise ConfigurationError(*problems)
    return checker or default_checker(), reactions


def unknown(options: Iterable[str], known: Mapping[str, Any]) -> list[str]:
    """What is wrong with the names of the options, each with a hint."""
    problems = []
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(sorted(known))}"
            problems.append(f"unknown option {name!r}: {hint}")
    return problems


def common(options: Mapping[str, Any], problems: list[str]) -> tuple[Checker | None, Reactions]:
    """The checker, None for the default one, and the rules; what is wrong is added to ``problems``."""
    checker = options.get("checker")
    if checker is not None and not isinstance(checker, Checker):
        kind = type(checker).__qualname__
        problems.append(f"checker must be a Checker, not {kind}: Checker(detector, judge=...) makes one")
        checker = None
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
