"""Judge: models that answer what detectors ask, apart from the application under judgement."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, SupportsIndex

from groundwire.core.budget import counted, over_budget, request_tokens
from groundwire.core.errors import ConfigurationError
from groundwire.core.plan import (
    Complete,
    Embed,
    Encode,
    Failed,
    Ground,
    ModelRequest,
    Reply,
    Request,
)
from groundwire.core.verdict import AbstentionReason, Usage
from groundwire.judge import adapters
from groundwire.judge.adapters.langsmith import tracing
from groundwire.judge.breaker import Breaker, BreakerStats, Circuit
from groundwire.judge.calls import Call, Calls, NotMadeError, StuckError
from groundwire.judge.failures import failed, of_the_request, transient
from groundwire.judge.isolation import isolated
from groundwire.judge.limits import Allowance, Limits, Pace, Paced, Purse
from groundwire.judge.memory import Memory, MemoryMode
from groundwire.judge.prices import Price
from groundwire.judge.replies import bounded, failure_of, filled, lacking, merged, texts_of


class Judge:
    """Answers requests with its own model, in an empty context. Safe to share between threads and loops.

    A copy is the same Judge, and what is copied with it shares it; it can't be pickled.

    ``model`` is a LangChain chat model (bound, with retry or fallbacks if you like), a LlamaIndex LLM, a
    LangChain model string, or a function ``(system, user) -> str``; ``embeddings`` is LangChain Embeddings, a
    LlamaIndex embedding model, such a string, or a function from a list of texts to vectors. ``parameters``
    are fields of the model, such as temperature, max_tokens or stop, set in the judge's own copy of it; for a
    string they are what the model is built with, and a region, endpoint or credentials of Bedrock among them
    hold for embeddings that are such a string, too. ``models`` are further ones by names of your own, for
    methods that ask several; they share all that is set here, but for ``parameters``.

    ``timeout`` is in seconds for one attempt at a call, from when it begins, whatever the client believes. At
    most ``max_concurrency`` calls are out at once. ``limits`` bounds everything that is asked, ``prices`` is
    a table of what models cost, by their provider's names. ``breaker`` leaves a model that keeps failing
    alone for a while, and what it is asked fails at once as UNAVAILABLE; None never does. ``memory`` keeps
    replies; without one, nothing is remembered. Runs are traced nowhere, or in LangSmith's ``trace_project``
    if one is named.

    Event loops wait on the same threads as everybody else, so an async client of the model is not used.
    Raises ConfigurationError naming every mistake.
    """

    def __init__(
        self,
        model: Any,
        *,
        embeddings: Any = None,
        models: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        timeout: float = 30.0,
        max_concurrency: int = 8,
        limits: Limits | None = None,
        breaker: Breaker | None = Breaker(),  # noqa: B008 - it is frozen
        prices: Mapping[str, Price] | None = None,
        memory: Memory | None = None,
        trace_project: str | None = None,
    ) -> None:
        problems: list[str] = []
        if not (isinstance(timeout, int | float) and math.isfinite(timeout) and timeout > 0):
            problems.append(f"timeout: expected seconds above 0, not {timeout!r}")
        if not (isinstance(max_concurrency, int) and max_concurrency >= 1):
            problems.append(f"max_concurrency: expected a whole number from 1 on, not {max_concurrency!r}")
        if not (breaker is None or isinstance(breaker, Breaker)):
            problems.append(f"breaker: expected a Breaker or None, not {type(breaker).__name__}")
        chat = _built(lambda given: adapters.chat(given, parameters), model, problems)
        embedder = None
        if embeddings is not None:
            embedder = _built(
                lambda given: adapters.embedder(given, beside=model, parameters=parameters),
                embeddings,
                problems,
            )
        if "" in (models or {}):
            problems.append("models: a further model needs a name; '' is the judge's own")
        others = {name: _built(adapters.chat, given, problems) for name, given in (models or {}).items()}
        limits = limits or Limits()
        priced = [one for one in (chat, *others.values()) if one] if limits.budget else []
        if limits.budget and limits.budget.cost is not None:
            problems += [
                f"prices: the budget is in money, so it needs a price for the model {one.name!r}"
                for one in priced
                if one.name not in (prices or {})
            ]
        if problems or chat is None:
            raise ConfigurationError(*problems)
        # Refuses a project that can't be traced to, and loads what is slow before a call's clock runs.
        tracing(trace_project)
        self.timeout = float(timeout)
        self.max_concurrency = max_concurrency
        self.limits = limits
        self.memory = Memory(mode=MemoryMode.OFF) if memory is None else memory
        self.trace_project = trace_project
        self._chat: adapters.Chat = chat
        self._chats: Mapping[str, adapters.Chat] = {"": chat, **others}
        self._prices = dict(prices or {})
        self._parameters = dict(parameters or {})
        self._embedder: adapters.Embedder | None = embedder
        self._calls: Calls[Reply] = Calls(limit=max_concurrency, seconds=self.timeout)
        named = {"model": chat.name, **{f"models.{name}": one.name for name, one in others.items()}}
        self._circuits = {what: Circuit(breaker, name) for what, name in named.items()}
        if embedder is not None:
            self._circuits["embeddings"] = Circuit(breaker, "embeddings")
        self.share(
            requests=Pace(limits.requests_per_minute),
            tokens=Pace(limits.tokens_per_minute),
            allowance=Allowance(limits.budget, period=limits.period),
        )

    def share(self, *, requests: Paced, tokens: Paced, allowance: Purse) -> None:
        """Keep to limits that are counted elsewhere, such as for several processes together."""
        self._requests, self._tokens, self._allowance = requests, tokens, allowance

    @property
    def model(self) -> str:
        """The provider's name for the model."""
        return self._chat.name

    @property
    def named(self) -> Mapping[str, str]:
        """The providers' names for its further models, by the names that it has for them."""
        return {name: chat.name for name, chat in self._chats.items() if name}

    @property
    def priced(self) -> Mapping[str, Price]:
        """What each model costs whose price is known, by its name, "" for the judge's own."""
        return {
            name: self._prices[chat.name] for name, chat in self._chats.items() if chat.name in self._prices
        }

    @property
    def parameters(self) -> str:
        """16 hexadecimal digits of the parameters that its model was built with; "" without any."""
        if not self._parameters:
            return ""
        # Hashed: a key may be among them.
        told = json.dumps(self._parameters, sort_keys=True, default=lambda value: type(value).__qualname__)
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    @property
    def embedding_model(self) -> str:
        """16 hexadecimal digits that tell the embedding model from every other; "" where it has none."""
        # Hashed: what a function was given may stand in its identity, and that may be a key.
        identity = self._embedder.identity if self._embedder else ""
        return identity and hashlib.sha256(identity.encode()).hexdigest()[:16]

    @property
    def models(self) -> frozenset[str]:
        """The names of its further models."""
        return frozenset(self._chats) - {""}

    @property
    def embeds(self) -> bool:
        """Whether it has an embedding model."""
        return self._embedder is not None

    @property
    def breakers(self) -> Mapping[str, BreakerStats]:
        """How the breakers stand: of "model", of each "models.NAME", of "embeddings" if it has them."""
        return {what: circuit.stats for what, circuit in self._circuits.items()}

    def __repr__(self) -> str:
        return f"Judge(model={self._chat.name!r}, timeout={self.timeout:g})"

    def __copy__(self) -> Judge:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Judge:
        # A copy would have a budget, a pace and a memory of its own, and so spend twice what was allowed.
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            "a Judge can't be pickled: it has threads and connections, and limits that hold for one process. "
            "Build one in each process, as with Checker.from_config(settings), and pickle its settings "
            "instead (copy.copy and copy.deepcopy share the Judge)"
        )

    def perform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        """One reply for each request, in order. ``timeout`` is for all of them together."""
        until = _until(timeout)
        replies = self._performed(requests, until)
        if missing := lacking(requests, replies):
            return filled(replies, missing, self._performed(list(missing.values()), until))
        return replies

    def _performed(self, requests: Sequence[Request], until: float | None) -> list[Reply]:
        begun = [self._begin(request, until) for request in requests]
        try:
            return [
                merged([self._reply(call, request) for call in calls])
                for request, calls in zip(requests, begun, strict=True)
            ]
        finally:
            self._abandon(requests, begun)

    async def aperform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        """``perform`` for callers on an event loop, which is never held."""
        until = _until(timeout)
        replies = await self._aperformed(requests, until)
        if missing := lacking(requests, replies):
            return filled(replies, missing, await self._aperformed(list(missing.values()), until))
        return replies

    async def _aperformed(self, requests: Sequence[Request], until: float | None) -> list[Reply]:
        begun = [self._begin(request, until) for request in requests]
        try:
            return [
                merged([await self._areply(call, request) for call in calls])
                for request, calls in zip(requests, begun, strict=True)
            ]
        finally:
            self._abandon(requests, begun)

    def _begin(self, request: Request, until: float | None) -> list[Call[Reply]]:
        return [
            self._calls.submit(lambda: isolated(lambda: self._answer(request)), until=until)
            for _ in range(self._calls_for(request))
        ]

    def _calls_for(self, request: Request) -> int:
        """One call for each sample, unless the model gives several for one input."""
        if not isinstance(request, Complete):
            return 1
        return 1 if self._asked(request).several else request.samples

    def _asked(self, request: ModelRequest) -> adapters.Chat:
        """The model that a request is for."""
        name = request.model if isinstance(request, Complete) else ""
        return self._chats.get(name, self._chat)

    def _answer(self, request: Request) -> Reply:
        """The reply, from memory or from the model; whatever goes wrong is one, too."""
        if isinstance(request, Encode):  # a checker has these performed where it runs, by an encoder
            detail = "a judge does not read as encoders do: have a Checker perform this, or a LocalBackend"
            return Failed(reason=AbstentionReason.MODEL_FAILED, detail=detail)
        if isinstance(request, Complete) and request.model not in self._chats:
            detail = f"the judge has no model named {request.model!r}: Judge(model, models={{...}})"
            return Failed(reason=AbstentionReason.MODEL_FAILED, detail=detail)
        try:
            with tracing(self.trace_project):
                return self._recalled(request)
        except NotMadeError as error:
            return Failed(reason=AbstentionReason.TIMEOUT, detail=str(error))
        except BaseException as error:  # any failure is a reply, and no one above this thread hears it
            return failed(error, model=self._asked(request).name, said=texts_of(request))

    def _recalled(self, request: ModelRequest) -> Reply:
        """What memory has, where it may be asked; else what the model says."""
        if isinstance(request, Embed):
            if self._embedder is None:
                return Failed(
                    reason=AbstentionReason.MODEL_FAILED,
                    detail="no embedding model was given to answer this: Judge(model, embeddings=...)",
                )
            return self._remembered(self._embedder.identity, request)
        chat = self._asked(request)
        if isinstance(request, Ground) or (chat.varies and request.temperature is None):
            return self._let_through(request)
        return self._remembered(chat.identity, request)

    def _remembered(self, identity: str, request: Complete | Embed) -> Reply:
        return self.memory.recall(
            identity, request, self._let_through, over=self._calls.here().over, resting=self._calls.resting
        )

    def _circuit_of(self, request: Request) -> Circuit | None:
        """The breaker of the model that a request is for; None where there is no such model."""
        if isinstance(request, Embed):
            return self._circuits.get("embeddings")
        name = request.model if isinstance(request, Complete) else ""
        return self._circuits.get(f"models.{name}" if name else "model")

    def _let_through(self, request: ModelRequest) -> Reply:
        """The model's reply, unless its breaker is open."""
        circuit, call = self._circuit_of(request), self._calls.here()
        assert circuit is not None, "a request for a model that there is not is refused before"
        if refused := circuit.enter(call):
            return Failed(reason=AbstentionReason.UNAVAILABLE, detail=refused)
        try:
            reply, telling = self._tried(request)
            if telling:
                circuit.leave(call, failure=failure_of(reply))
            return reply
        finally:
            circuit.forget(call)

    def _tried(self, request: ModelRequest) -> tuple[Reply, bool]:
        """The model's reply, after as many attempts as the limits allow; it has used what all of them did.

        And whether it tells how the model is, which a request that was not made, or was a mistake, doesn't.
        """
        spent = Usage()
        for attempt in itertools.count(1):
            if shortage := self._allowance.claim():
                return replace(over_budget("the judge's period", shortage), usage=spent), False
            try:
                self._calls.pause(self._turn(request))
            except NotMadeError:
                self._allowance.give_back()
                raise
            again, telling = False, True
            try:
                reply = self._ask(request)
            except BaseException as error:  # told as a reply, with what all attempts have used
                again = attempt <= self.limits.retries and transient(error)
                telling = not of_the_request(error)
                reply = failed(
                    error, model=self._asked(request).name, said=texts_of(request), attempts=attempt
                )
            reply = self._settled(request, reply)
            spent += reply.usage
            reply = replace(reply, usage=spent)
            if not again:
                return reply, telling
            try:
                self._calls.pause(self.limits.wait_before(attempt + 1))
            except NotMadeError:  # no time is left to try again: what went wrong says more than that
                return reply, telling
        raise AssertionError("attempts are counted without end")

    def _turn(self, request: ModelRequest) -> float:
        """The seconds until the rates let the call go; it takes no turn that it could not wait for."""
        until = self._calls.here().until
        left = math.inf if until is None else until - time.monotonic()
        if until is not None and (wait := self._requests.take(within=-math.inf)) >= left:  # which takes none
            return wait
        wait = self._tokens.take(request_tokens(request), within=left)
        return max(wait, self._requests.take(within=left)) if wait < left else wait

    def _ask(self, request: ModelRequest) -> Reply:
        if isinstance(request, Complete):
            return bounded(self._asked(request).complete(request))
        if isinstance(request, Ground):
            return self._chat.ground(request)
        assert self._embedder is not None
        return self._embedder.embed(request.texts)

    def _settled(self, request: ModelRequest, reply: Reply) -> Reply:
        """The reply with what it cost, which the limits now know of."""
        used = counted(request, reply) if not isinstance(reply, Failed) else reply.usage
        self._tokens.take(max(0, used.input_tokens + used.output_tokens - request_tokens(request)))
        if isinstance(request, Embed) and self._prices:
            # What embeddings cost is not in any sum, and makes none of them unknown.
            reply = replace(reply, usage=replace(reply.usage, cost=0.0))
        if (price := self._price_of(request)) is None:
            self._allowance.settle(used)
            return reply
        self._allowance.settle(replace(used, cost=price.of(used)))
        told = isinstance(reply, Failed) or reply.usage.input_tokens or reply.usage.output_tokens
        return replace(reply, usage=replace(reply.usage, cost=price.of(used))) if told else reply

    def _reply(self, call: Call[Reply], request: Request) -> Reply:
        try:
            return self._calls.result(call)
        except TimeoutError as error:
            return self._timed_out(call, request, error)

    async def _areply(self, call: Call[Reply], request: Request) -> Reply:
        try:
            return await self._calls.aresult(call)
        except TimeoutError as error:
            return self._timed_out(call, request, error)

    def _timed_out(self, call: Call[Reply], request: Request, error: TimeoutError) -> Reply:
        if (circuit := self._circuit_of(request)) is not None:
            if isinstance(error, StuckError) and (refused := circuit.enter(call)):
                return Failed(reason=AbstentionReason.UNAVAILABLE, detail=refused)
            if isinstance(error, StuckError) or call.began is not None:
                circuit.leave(call, failure="no reply in time")
        # A call that began may have to be paid for, though nothing will ever tell its tokens.
        usage = Usage() if call.began is None else Usage(calls=1, cost=self._least_cost(request))
        return Failed(reason=AbstentionReason.TIMEOUT, detail=str(error), usage=usage)

    def _price_of(self, request: Request) -> Price | None:
        return self._prices.get(self._asked(request).name) if isinstance(request, Complete) else None

    def _least_cost(self, request: Request) -> float | None:
        """What a call costs that was sent and never answered, as far as that is known."""
        if isinstance(request, Embed):
            return 0.0 if self._prices else None
        price = self._price_of(request)
        return None if price is None else price.of(Usage(input_tokens=request_tokens(request)))

    def _abandon(self, requests: Sequence[Request], begun: list[list[Call[Reply]]]) -> None:
        """Whoever asked has all replies, or has been interrupted: what is still out concerns nobody."""
        for request, calls in zip(requests, begun, strict=True):
            circuit = self._circuit_of(request)
            for call in calls:
                self._calls.abandon(call)
                if circuit is not None:
                    circuit.forget(call)


def _until(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


def _built(build: Callable[[Any], Any], given: Any, problems: list[str]) -> Any:
    try:
        return build(given)
    except ConfigurationError as error:
        problems.extend(error.problems)
        return None
