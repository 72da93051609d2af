"""Judge: models that answer what detectors ask, apart from the application under judgement."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from groundwire.core.errors import ConfigurationError
from groundwire.core.plan import Complete, Completed, Embed, Encode, Failed, Reply, Request
from groundwire.core.verdict import AbstentionReason, Usage
from groundwire.judge import adapters
from groundwire.judge.adapters.langsmith import tracing
from groundwire.judge.calls import Call, Calls
from groundwire.judge.failures import failed
from groundwire.judge.isolation import isolated


class Judge:
    """Answers requests with its own model, in an empty context. Safe to share between threads and loops.

    ``model`` is a LangChain chat model (bound, with retry or fallbacks if you like), a LangChain model
    string, or a function ``(system, user) -> str``; ``embeddings`` is LangChain Embeddings or a function
    from a list of texts to vectors. ``timeout`` is in seconds for one call, from when it begins, whatever
    the client believes. At most ``max_concurrency`` calls are out at once. Runs are traced nowhere, or in
    LangSmith's ``trace_project`` if one is named.

    The judge retries nothing: the model's client does that, or ``model.with_retry()``. Event loops wait on
    the same threads as everybody else, so an async client of the model is not used. Raises
    ConfigurationError naming every mistake.
    """

    def __init__(
        self,
        model: Any,
        *,
        embeddings: Any = None,
        timeout: float = 30.0,
        max_concurrency: int = 8,
        trace_project: str | None = None,
    ) -> None:
        problems: list[str] = []
        if not (isinstance(timeout, int | float) and math.isfinite(timeout) and timeout > 0):
            problems.append(f"timeout: expected seconds above 0, not {timeout!r}")
        if not (isinstance(max_concurrency, int) and max_concurrency >= 1):
            problems.append(f"max_concurrency: expected a whole number from 1 on, not {max_concurrency!r}")
        chat = _built(adapters.chat, model, problems)
        embedder = None if embeddings is None else _built(adapters.embedder, embeddings, problems)
        if problems or chat is None:
            raise ConfigurationError(*problems)
        # Refuses a project that can't be traced to, and loads what is slow before a call's clock runs.
        tracing(trace_project)
        self.timeout = float(timeout)
        self.max_concurrency = max_concurrency
        self.trace_project = trace_project
        self._chat: adapters.Chat = chat
        self._embedder: adapters.Embedder | None = embedder
        self._calls: Calls[Reply] = Calls(limit=max_concurrency, seconds=self.timeout)

    def __repr__(self) -> str:
        return f"Judge(model={self._chat.name!r}, timeout={self.timeout:g})"

    def perform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        """One reply for each request, in order. ``timeout`` is for all of them together."""
        until = _until(timeout)
        begun = [self._begin(request, until) for request in requests]
        try:
            return [_merged([self._reply(call) for call in calls]) for calls in begun]
        finally:
            self._abandon(begun)

    async def aperform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        """``perform`` for callers on an event loop, which is never held."""
        until = _until(timeout)
        begun = [self._begin(request, until) for request in requests]
        try:
            return [_merged([await self._areply(call) for call in calls]) for calls in begun]
        finally:
            self._abandon(begun)

    def _begin(self, request: Request, until: float | None) -> list[Call[Reply]]:
        samples = request.samples if isinstance(request, Complete) else 1
        return [
            self._calls.submit(lambda: isolated(lambda: self._answer(request)), until=until)
            for _ in range(samples)
        ]

    def _answer(self, request: Request) -> Reply:
        if isinstance(request, Encode):  # a checker has these performed where it runs, by an encoder
            detail = "a judge does not read as encoders do: have a Checker perform this, or a LocalBackend"
            return Failed(reason=AbstentionReason.MODEL_FAILED, detail=detail)
        said = (request.system, request.user) if isinstance(request, Complete) else request.texts
        try:
            with tracing(self.trace_project):
                return self._ask(request)
        except BaseException as error:  # any failure is a reply, and no one above this thread hears it
            return failed(error, model=self._chat.name, said=said)

    def _ask(self, request: Complete | Embed) -> Reply:
        if isinstance(request, Complete):
            return self._chat.complete(request.system, request.user)
        if self._embedder is None:
            return Failed(
                reason=AbstentionReason.MODEL_FAILED,
                detail="no embedding model was given to answer this request: Judge(model, embeddings=...)",
            )
        return self._embedder.embed(request.texts)

    def _reply(self, call: Call[Reply]) -> Reply:
        try:
            return self._calls.result(call)
        except TimeoutError as error:
            return _timed_out(call, error)

    async def _areply(self, call: Call[Reply]) -> Reply:
        try:
            return await self._calls.aresult(call)
        except TimeoutError as error:
            return _timed_out(call, error)

    def _abandon(self, begun: list[list[Call[Reply]]]) -> None:
        """Whoever asked has all replies, or has been interrupted: what is still out concerns nobody."""
        for calls in begun:
            for call in calls:
                self._calls.abandon(call)


def _merged(replies: list[Reply]) -> Reply:
    """The samples of one request as one reply; one that failed fails the request, which keeps its cost."""
    if len(replies) == 1:
        return replies[0]
    usage = sum((reply.usage for reply in replies), Usage())
    for reply in replies:
        if isinstance(reply, Failed):
            return Failed(reason=reply.reason, detail=reply.detail, usage=usage)
    texts = [text for reply in replies if isinstance(reply, Completed) for text in reply.texts]
    return Completed(texts=tuple(texts), usage=usage)


def _timed_out(call: Call[Reply], error: TimeoutError) -> Failed:
    # A call that began may have to be paid for, though nothing will ever tell its tokens.
    usage = Usage(calls=1 if call.began is not None else 0)
    return Failed(reason=AbstentionReason.TIMEOUT, detail=str(error), usage=usage)


def _until(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


def _built(build: Callable[[Any], Any], given: Any, problems: list[str]) -> Any:
    try:
        return build(given)
    except ConfigurationError as error:
        problems.extend(error.problems)
        return None
