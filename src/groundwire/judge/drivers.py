"""The two short loops that run a plan: one waits, the other awaits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TypeVar

from groundwire.core.aside import aside
from groundwire.core.plan import Backend, Failed, Plan, Reply, Request
from groundwire.core.verdict import AbstentionReason

T = TypeVar("T")


class NoBackend:
    """For detectors that ask nothing; whatever is asked all the same has failed."""

    completes = embeds = False

    def perform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        del timeout
        detail = "no judge was given to answer this request: Checker(detector, judge=Judge(model))"
        return [Failed(reason=AbstentionReason.MODEL_FAILED, detail=detail) for _ in requests]

    async def aperform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        return self.perform(requests, timeout=timeout)


def run(plan: Plan[T], backend: Backend, *, timeout: float | None = None) -> T:
    """Run a plan to its result. Past ``timeout`` seconds every further request fails with TIMEOUT."""
    deadline = _Deadline(timeout)
    try:
        requests = next(plan)
        while True:
            left = deadline.left()
            expired = left == 0
            replies = deadline.missed(requests) if expired else backend.perform(requests, timeout=left)
            requests = plan.send(replies)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]  # StopIteration.value is untyped


async def arun(plan: Plan[T], backend: Backend, *, timeout: float | None = None) -> T:
    """Run a plan to its result without ever holding the event loop: its own steps run in a thread."""
    deadline = _Deadline(timeout)
    step = await aside(_step, plan, None)
    while not isinstance(step, _Done):
        left = deadline.left()
        expired = left == 0
        replies = deadline.missed(step) if expired else await backend.aperform(step, timeout=left)
        step = await aside(_step, plan, replies)
    return step.value  # type: ignore[return-value]  # _Done carries what the plan returned


class _Done:
    """A plan's result, told apart from a batch of requests. StopIteration can't cross a future."""

    def __init__(self, value: object) -> None:
        self.value = value


def _step(plan: Plan[T], replies: Sequence[Reply] | None) -> Sequence[Request] | _Done:
    try:
        return next(plan) if replies is None else plan.send(replies)
    except StopIteration as stop:
        return _Done(stop.value)


class _Deadline:
    def __init__(self, timeout: float | None) -> None:
        self.timeout = timeout
        self._end = None if timeout is None else time.monotonic() + timeout

    def left(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def missed(self, requests: Sequence[Request]) -> Sequence[Reply]:
        detail = f"the check was given {self.timeout:g} seconds"
        return [Failed(reason=AbstentionReason.TIMEOUT, detail=detail) for _ in requests]
