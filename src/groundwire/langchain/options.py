"""What the wrapper can be told. Every mistake is found when it is made, all at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import Runnable

from groundwire.core.callables import refused_async
from groundwire.core.errors import ConfigurationError
from groundwire.host.actions import Reactions
from groundwire.host.options import Common, CommonSettings, common, unknown
from groundwire.langchain.declared import key_problems
from groundwire.langchain.output import Attach
from groundwire.langchain.retry import NameClaims, Retry, Revise, Revised


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
class Settings(CommonSettings):
    """What the options mean."""

    retry: Retry
    attach: Attach


def settle(bound: object, options: Mapping[str, Any]) -> Settings:
    """The meaning of a wrapper's options. Raises ConfigurationError, naming every mistake at once."""
    problems = unknown(options, Options.__annotations__)
    if not isinstance(bound, Runnable):
        hint = ": wrap RunnableLambda(function) instead" if callable(bound) else ""
        problems.append(f"only a LangChain runnable can be wrapped, not {type(bound).__qualname__}{hint}")
    problems += key_problems(
        {name: options.get(name) for name in ("question_key", "context_key", "answer_key")}
    )
    attach = options.get("attach", Attach.AUTO)
    if attach not in list(Attach):
        problems.append(f"attach must be one of {', '.join(repr(str(a)) for a in Attach)}, not {attach!r}")
    settled = common(options, problems)
    retry = _retry(bound, settled.reactions, options, problems)
    if problems:
        raise ConfigurationError(*problems)
    return Settings(**vars(settled), retry=retry, attach=Attach(attach))


def _retry(bound: object, reactions: Reactions, options: Mapping[str, Any], problems: list[str]) -> Retry:
    given = options.get("retry")
    if given is None:
        return NameClaims(question_key=options.get("question_key"))
    if not isinstance(given, Retry):
        if callable(given):
            problems += refused_async("retry", given, "nobody awaits the next input")
            return Revised(revise=given)
        kind = type(given).__qualname__
        problems.append(f"retry must be NameClaims(), Expand() or a callable (input, outcome), not {kind}")
        return NameClaims()
    if not problems and not reactions.retries:
        problems.append("retry is set, but nothing asks for it: add on_hallucination='retry'")
    if isinstance(bound, Runnable):
        problems += given.problems(bound)
    return given
