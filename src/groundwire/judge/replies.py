"""What becomes of a model's replies: those that are too long, samples that are missing, several that are one.

Values in, values out. Who asks, when and how often is ``judge``'s; what a reply says, each detector's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from groundwire.core.plan import Complete, Completed, Failed, Ground, ModelRequest, Reply, Request
from groundwire.core.verdict import AbstentionReason, Usage

_LONGEST = 1_000_000  # characters


def bounded(reply: Completed) -> Reply:
    """The reply, unless it is longer than any that could be read: none is to keep or search such a text."""
    longest = max(map(len, reply.texts), default=0)
    if longest <= _LONGEST:
        return reply
    detail = f"the reply has {longest} characters, and none of more than {_LONGEST} is read"
    return Failed(reason=AbstentionReason.UNREADABLE_REPLY, detail=detail, usage=reply.usage)


def lacking(requests: Sequence[Request], replies: Sequence[Reply]) -> dict[int, Complete]:
    """For each request whose model gave fewer samples than it was asked for, a request for the others."""
    return {
        i: replace(request, samples=request.samples - len(reply.texts))
        for i, (request, reply) in enumerate(zip(requests, replies, strict=True))
        if isinstance(request, Complete)
        and isinstance(reply, Completed)
        and len(reply.texts) < request.samples
    }


def filled(replies: list[Reply], missing: Mapping[int, Complete], others: list[Reply]) -> list[Reply]:
    """The replies with what was ``missing`` of them added, as ``lacking`` asked for it."""
    given = dict(zip(missing, others, strict=True))
    return [merged([reply, given[i]]) if i in given else reply for i, reply in enumerate(replies)]


def merged(replies: list[Reply]) -> Reply:
    """The samples of one request as one reply; one that failed fails the request, which keeps its cost."""
    if len(replies) == 1:
        return replies[0]
    usage = sum((reply.usage for reply in replies), Usage())
    for reply in replies:
        if isinstance(reply, Failed):
            return Failed(reason=reply.reason, detail=reply.detail, usage=usage)
    completed = [reply for reply in replies if isinstance(reply, Completed)]
    tokens = [token for reply in completed for token in reply.tokens]
    texts = tuple(text for reply in completed for text in reply.texts)
    stopped = tuple(why for one in completed for why in one.stopped or ("",) * len(one.texts))
    return Completed(
        texts=texts,
        usage=usage,
        tokens=tuple(tokens) if len(tokens) == len(texts) else (),
        stopped=stopped if any(stopped) else (),
    )


def texts_of(request: ModelRequest) -> tuple[str, ...]:
    """What a request says, which no message about a failure repeats."""
    if isinstance(request, Complete):
        return request.system, request.user
    if isinstance(request, Ground):
        return (*request.sources, request.query, request.text)
    return request.texts


def failure_of(reply: Reply) -> str | None:
    """What failed, if it did, by its kind alone: the rest of the detail is about one answer.

    Who replies at too great a length is there: whoever has it say so much must not have it left alone.
    """
    if not isinstance(reply, Failed) or reply.reason is AbstentionReason.UNREADABLE_REPLY:
        return None
    return reply.detail.partition(":")[0] or reply.reason
