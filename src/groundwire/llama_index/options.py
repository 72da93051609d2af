"""What the checked engines can be told. Every mistake is found when they are made, all at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.workflow import Workflow

from groundwire.core.callables import refused_async
from groundwire.core.errors import ConfigurationError
from groundwire.host.actions import Reactions
from groundwire.host.options import Common, CommonSettings, common, unknown
from groundwire.llama_index.output import Attach
from groundwire.llama_index.retry import NameClaims, Retry, Revise, Revised
from groundwire.tracing.otel import OpenTelemetrySink


class Options(Common, total=False):
    """What checked engines can be told, besides what is common.

    ``retry`` is NameClaims(), the default, Expand(), or a callable (question, outcome) that returns the next
    question. ``attach`` says where the verdict goes.
    """

    retry: Retry | Revise | None
    attach: Attach | str


@dataclass(frozen=True, kw_only=True)
class Settings(CommonSettings):
    """What the options mean."""

    retry: Retry
    attach: Attach


def settle(engine: object, options: Mapping[str, Any], *, kind: type, problems: list[str]) -> Settings:
    """The meaning of the options for an engine that must be a ``kind``.

    Raises ConfigurationError, naming every mistake at once, those in ``problems`` first.
    """
    problems = [*problems, *unknown(options, Options.__annotations__)]
    if not isinstance(engine, kind):
        given = type(engine).__qualname__
        problems.append(f"only a {kind.__name__} can be checked here, not {given}{_instead(engine, kind)}")
    attach = options.get("attach", Attach.METADATA)
    if attach not in list(Attach):
        problems.append(f"attach must be one of {', '.join(repr(str(a)) for a in Attach)}, not {attach!r}")
    settled = common(options, problems, default_sinks=(OpenTelemetrySink(),))
    retry = _retry(engine, settled.reactions, options, problems)
    if problems:
        raise ConfigurationError(*problems)
    return Settings(**vars(settled), retry=retry, attach=Attach(attach))


def _instead(engine: object, kind: type) -> str:
    """What to do with something else that holds, or is, an application."""
    own = "as_query_engine" if kind is BaseQueryEngine else "as_chat_engine"
    if not isinstance(engine, type) and hasattr(engine, own):
        return f": pass its {own}()"
    checked = {BaseQueryEngine: "CheckedQueryEngine", BaseChatEngine: "CheckedChatEngine"}
    name = next((name for type_, name in checked.items() if isinstance(engine, type_)), None)
    if name is not None:
        return f": use {name}"
    return ": GroundwireHandler().install() watches it" if isinstance(engine, Workflow) else ""


def _retry(engine: object, reactions: Reactions, options: Mapping[str, Any], problems: list[str]) -> Retry:
    given = options.get("retry")
    if given is None:
        return NameClaims()
    if not isinstance(given, Retry):
        if callable(given) and not isinstance(given, type):
            problems += refused_async("retry", given, "a retry waits for nothing")
            return Revised(revise=given)
        kind = f"the class {given.__name__}" if isinstance(given, type) else type(given).__qualname__
        problems.append(f"retry must be NameClaims(), Expand() or a callable (question, outcome), not {kind}")
        return NameClaims()
    if not problems and not reactions.retries:
        problems.append("retry is set, but nothing asks for it: add on_hallucination='retry'")
    problems += given.problems(engine)
    return given
