"""Budgets: what may be spent on models, and a plan that keeps within one.

Nothing here knows a price or a clock; a cost is what whoever performed a request says that it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from groundwire.core.errors import ConfigurationError
from groundwire.core.plan import (
    Complete,
    Completed,
    Embed,
    Embedded,
    Failed,
    Ground,
    Plan,
    Reply,
    Request,
    T,
    through,
)
from groundwire.core.score import is_number
from groundwire.core.verdict import AbstentionReason, Usage

_BYTES_A_TOKEN = 4


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The most that may be spent: model calls, tokens of requests and replies, money. None is no limit.

    Calls are never exceeded, but by what a judge tries again for one check (its ``retries``). What a call
    takes in tokens and money is known only afterwards, so the last calls may exceed those; none is made once
    they are reached. Raises ConfigurationError naming every limit
    that can't work.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        limits = (("calls", self.calls), ("tokens", self.tokens), ("cost", self.cost))
        problems = [
            f"budget.{name}: expected a number from 0 on, not {limit!r}"
            for name, limit in limits
            if limit is not None and not (is_number(limit) and limit >= 0)
        ]
        if problems:
            raise ConfigurationError(*problems)

    def shortage(self, spent: Usage, *, calls: int) -> str:
        """Why so many further calls may not be made; '' where they may."""
        if self.calls is not None and spent.calls + calls > self.calls:
            used = f", {spent.calls} of them made" if spent.calls else ""
            return f"it needs {_calls(calls)}, and has {self.calls} in all{used}"
        if self.tokens is not None and spent.input_tokens + spent.output_tokens >= self.tokens:
            return f"the limit of {self.tokens} tokens is reached"
        if self.cost is not None and spent.calls and spent.cost is None:
            unknown = "and nobody knows what a call cost: each model needs a price, and each call a reply"
            return f"the limit is {self.cost:g} in money, {unknown}"
        if self.cost is not None and (spent.cost or 0.0) >= self.cost:
            return f"the limit of {self.cost:g} in money is reached"
        return ""


def within(plan: Plan[T], budget: Budget) -> Plan[T]:
    """The same plan, each of whose requests that the budget has no room for fails with OVER_BUDGET."""
    spent = Usage()

    def afforded(requests: Sequence[Request]) -> Plan[Sequence[Reply]]:
        nonlocal spent
        planned, refused = 0, {}
        for i, request in enumerate(requests):
            calls = calls_of(request)
            if calls and (shortage := budget.shortage(spent, calls=planned + calls)):
                refused[i] = over_budget("this check", shortage)
            else:
                planned += calls
        asked = [request for i, request in enumerate(requests) if i not in refused]
        given = (yield asked) if asked else []
        for request, reply in zip(asked, given, strict=True):
            spent += counted(request, reply)
        performed = iter(given)
        return [refused.get(i) or next(performed) for i in range(len(requests))]

    return through(plan, afforded)


def least(plan: Plan[T]) -> Usage:
    """What a plan takes of language models at least: its first requests, counted and not performed.

    What it asks after a first reply is not known before it has one.
    """
    spent = Usage()
    try:
        requests = next(plan)
        while True:
            for request in requests:
                if isinstance(request, Complete | Ground):
                    calls = calls_of(request)
                    spent += Usage(calls=calls, input_tokens=calls * request_tokens(request))
            requests = plan.send([unasked(request) for request in requests])
    except StopIteration:
        return spent


def unasked(request: Request) -> Reply:
    """The reply to a request that is counted and not performed."""
    if isinstance(request, Embed):
        return Embedded(vectors=tuple((1.0, 0.0) for _ in request.texts))
    return Failed(reason=AbstentionReason.NOT_SAMPLED, detail="nothing is asked where only calls are counted")


def _calls(count: int) -> str:
    return f"{count} calls" if count != 1 else "1 call"


def over_budget(what: str, shortage: str) -> Failed:
    """The reply to a request that is not made."""
    detail = f"the budget of {what} has no room: {shortage}"
    return Failed(reason=AbstentionReason.OVER_BUDGET, detail=detail)


def calls_of(request: Request) -> int:
    """How many calls of a model a request is, if each succeeds at once."""
    if isinstance(request, Complete):
        return request.samples
    return 1 if isinstance(request, Embed | Ground) else 0  # what the local model answers costs nothing


def counted(request: Request, reply: Reply) -> Usage:
    """What a reply used, with its tokens estimated where the model doesn't count them."""
    usage = reply.usage
    if usage.calls == 0 or usage.input_tokens or usage.output_tokens:
        return usage
    said = reply.texts if isinstance(reply, Completed) else ()
    return replace(
        usage,
        input_tokens=request_tokens(request) * usage.calls,
        output_tokens=sum(map(estimated_tokens, said)),
    )


def request_tokens(request: Request) -> int:
    """An estimate of the tokens that one call of a request sends."""
    if isinstance(request, Complete):
        return estimated_tokens(request.system) + estimated_tokens(request.user)
    if isinstance(request, Ground):
        return sum(map(estimated_tokens, (*request.sources, request.query, request.text)))
    return sum(map(estimated_tokens, request.texts)) if isinstance(request, Embed) else 0


def estimated_tokens(text: str) -> int:
    """Four bytes a token, rounded up: near for English, and not far below for scripts without spaces."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN)
