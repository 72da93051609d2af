"""Judge: models that answer what detectors ask, apart from the application under judgement."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groundwire.core.budget import request_tokens
from groundwire.core.errors import ConfigurationError
from groundwire.core.one_process import OfOneProcess
from groundwire.core.plan import Encode, Failed, Ground, ModelRequest, Reply, Request
from groundwire.core.verdict import AbstentionReason, Usage
from groundwire.judge.adapters.langsmith import tracing
from groundwire.judge.attempts import Attempts
from groundwire.judge.breaker import Breaker, BreakerStats
from groundwire.judge.calls import Call, Calls, NotMadeError, StuckError
from groundwire.judge.failures import failed
from groundwire.judge.isolation import isolated
from groundwire.judge.limits import Limits, Paced, Purse
from groundwire.judge.memory import Memory, MemoryMode
from groundwire.judge.models import Model, Models
from groundwire.judge.prices import Price
from groundwire.judge.replies import filled, lacking, merged, texts_of


class Judge(OfOneProcess):
    """Answers requests with its own model, in an empty context. Safe to share between threads and loops.

    A copy is the same Judge, and what is copied with it shares it; it can't be pickled. With ``embeddings``
    alone it serves detectors that only embed.

    ``model`` is a LangChain chat model (bound, with retry or fallbacks if you like), a LlamaIndex LLM, a
    LangChain model string, or a function ``(system, user) -> str``; ``embeddings`` is LangChain Embeddings, a
    LlamaIndex embedding model, such a string, or a function from a list of texts to vectors. ``parameters``
    are fields of the model, such as temperature, max_tokens or stop, set in the judge's own copy of it; for a
    string they are what the model is built with, and a region, endpoint or credentials of Bedrock among them
    hold for every other model of the judge that is such a string, too. Without a model, embeddings by a
    string are built with them. ``models`` are further ones by names of your own, for methods that ask
    several; they share all that is set here, but for other ``parameters``. With ``structured`` a chat model
    of LangChain is held to the form of its reply, by its tools or whatever else it has for that; one whose
    server refuses it is asked without.

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
        model: Any = None,
        *,
        embeddings: Any = None,
        models: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        structured: bool = False,
        timeout: float = 30.0,
        max_concurrency: int = 8,
        limits: Limits | None = None,
        breaker: Breaker | None = Breaker(),  # noqa: B008 - it is frozen
        prices: Mapping[str, Price] | None = None,
        memory: Memory | None = None,
        trace_project: str | None = None,
    ) -> None:
        problems = _problems(
            timeout=timeout,
            max_concurrency=max_concurrency,
            structured=structured,
            models=models,
            parameters=parameters,
            prices=prices,
            limits=limits,
            breaker=breaker,
            memory=memory,
        )
        budget = limits.budget if isinstance(limits, Limits) else None
        try:
            self._models = Models(
                model,
                embeddings,
                models if isinstance(models, Mapping) else {},
                parameters=parameters if isinstance(parameters, Mapping) else {},
                prices=prices if isinstance(prices, Mapping) else {},
                in_money=budget is not None and budget.cost is not None,
                breaker=breaker if isinstance(breaker, Breaker) else None,
                structured=structured is True,
            )
        except ConfigurationError as error:
            problems += error.problems
        if problems:
            raise ConfigurationError(*problems)
        # Refuses a project that can't be traced to, and loads what is slow before a call's clock runs.
        tracing(trace_project)
        self.timeout = float(timeout)
        self.max_concurrency = max_concurrency
        self.limits = limits or Limits()
        self.memory = Memory(mode=MemoryMode.OFF) if memory is None else memory
        self.trace_project = trace_project
        self._parameters = dict(parameters or {})
        if structured:
            self._parameters["structured output"] = True
        self._calls: Calls[Reply] = Calls(limit=max_concurrency, seconds=self.timeout)
        self._attempts = Attempts(self.limits, self._calls)

    def share(self, *, requests: Paced, tokens: Paced, allowance: Purse) -> None:
        """Keep to limits that are counted elsewhere, such as for several processes together."""
        self._attempts.share(requests=requests, tokens=tokens, allowance=allowance)

    @property
    def model(self) -> str:
        """The provider's name for the model; "" where it has none."""
        return self._models.speaking[""].name if self.completes else ""

    @property
    def named(self) -> Mapping[str, str]:
        """The providers' names for its further models, by the names that it has for them."""
        return {name: one.name for name, one in self._models.speaking.items() if name}

    @property
    def priced(self) -> Mapping[str, Price]:
        """What each model costs whose price is known, by its name, "" for the judge's own."""
        return {name: one.price for name, one in self._models.speaking.items() if one.price is not None}

    @property
    def parameters(self) -> str:
        """16 hexadecimal digits of the parameters that its model was built with; "" without any."""
        if not self._parameters:
            return ""
        return _digest(
            json.dumps(self._parameters, sort_keys=True, default=lambda value: type(value).__qualname__)
        )

    @property
    def embedding_model(self) -> str:
        """16 hexadecimal digits that tell the embedding model from every other; "" where it has none."""
        return _digest(self._models.embedding.identity) if self._models.embedding else ""

    @property
    def models(self) -> frozenset[str]:
        """The names of its further models."""
        return frozenset(self._models.speaking) - {""}

    @property
    def completes(self) -> bool:
        """Whether it has a language model."""
        return "" in self._models.speaking

    @property
    def embeds(self) -> bool:
        """Whether it has an embedding model."""
        return self._models.embedding is not None

    @property
    def breakers(self) -> Mapping[str, BreakerStats]:
        """How the breakers stand: of "model", of each "models.NAME", of "embeddings", where it has such."""
        return {what: circuit.stats for what, circuit in self._models.circuits.items()}

    def __repr__(self) -> str:
        told = f"model={self.model!r}" if self.completes else "embeddings=..."
        return f"Judge({told}, timeout={self.timeout:g})"

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
                one if isinstance(one, Failed) else merged([self._reply(call, one) for call in one.calls])
                for one in begun
            ]
        finally:
            self._abandon(begun)

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
                one
                if isinstance(one, Failed)
                else merged([await self._areply(call, one) for call in one.calls])
                for one in begun
            ]
        finally:
            self._abandon(begun)

    def _begin(self, request: Request, until: float | None) -> _Out | Failed:
        """The calls for one request, or why nobody is called."""
        model = self._models.of(request)
        if isinstance(model, Failed):
            return model
        assert not isinstance(request, Encode), "no model is for encoders' work"
        calls = [
            self._calls.submit(lambda: isolated(lambda: self._answer(model, request)), until=until)
            for _ in range(model.calls_for(request))
        ]
        return _Out(model=model, request=request, calls=calls)

    def _answer(self, model: Model, request: ModelRequest) -> Reply:
        """The reply, from memory or from the model; whatever goes wrong is one, too."""
        try:
            with tracing(self.trace_project):
                return self._recalled(model, request)
        except NotMadeError as error:
            return Failed(reason=AbstentionReason.TIMEOUT, detail=str(error))
        except BaseException as error:  # any failure is a reply, and no one above this thread hears it
            return failed(error, model=model.name, said=texts_of(request))

    def _recalled(self, model: Model, request: ModelRequest) -> Reply:
        """What memory has, where it may be asked; else what the model says."""
        if isinstance(request, Ground) or not model.repeats(request):
            return self._attempts.reply(model, request)
        return self.memory.recall(
            model.identity,
            request,
            lambda asked: self._attempts.reply(model, asked),
            over=self._calls.here().over,
            resting=self._calls.resting,
        )

    def _reply(self, call: Call[Reply], out: _Out) -> Reply:
        try:
            return self._calls.result(call)
        except TimeoutError as error:
            return self._timed_out(call, out, error)

    async def _areply(self, call: Call[Reply], out: _Out) -> Reply:
        try:
            return await self._calls.aresult(call)
        except TimeoutError as error:
            return self._timed_out(call, out, error)

    def _timed_out(self, call: Call[Reply], out: _Out, error: TimeoutError) -> Reply:
        circuit = out.model.circuit
        if isinstance(error, StuckError) and (refused := circuit.enter(call)):
            return Failed(reason=AbstentionReason.UNAVAILABLE, detail=refused)
        # Where many checks wait for their turn, each model has calls out at their end that have just begun.
        if isinstance(error, StuckError) or self._calls.had_time(call):
            circuit.leave(call, failure="no reply in time")
        usage = Usage()
        if call.began is not None:  # it may have to be paid for, though nothing will ever tell its tokens
            usage = Usage(calls=1, cost=out.model.cost(Usage(input_tokens=request_tokens(out.request))))
        return Failed(reason=AbstentionReason.TIMEOUT, detail=str(error), usage=usage)

    def _abandon(self, begun: Sequence[_Out | Failed]) -> None:
        """Whoever asked has all replies, or has been interrupted: what is still out concerns nobody."""
        for out in begun:
            if isinstance(out, _Out):
                for call in out.calls:
                    self._calls.abandon(call)
                    out.model.circuit.forget(call)


@dataclass(frozen=True, kw_only=True)
class _Out:
    """A request whose calls are out, and the model that they are of."""

    model: Model
    request: ModelRequest
    calls: Sequence[Call[Reply]]


def _until(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


def _digest(told: str) -> str:
    # Hashed: a key may be among the parameters, or stand in an identity.
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _problems(*, timeout: Any, max_concurrency: Any, structured: Any, **given: Any) -> list[str]:
    """What is wrong with what a judge was given, beside its models."""
    problems = []
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not (number and math.isfinite(timeout) and timeout > 0):
        problems.append(f"timeout: expected seconds above 0, not {timeout!r}")
    if type(max_concurrency) is not int or max_concurrency < 1:
        problems.append(f"max_concurrency: expected a whole number from 1 on, not {max_concurrency!r}")
    if type(structured) is not bool:
        problems.append(f"structured: expected True or False, not {structured!r}")
    problems += [
        f"{name}: expected {wanted}, not {type(given[name]).__name__}"
        for name, kind, wanted in (
            ("models", Mapping, "a table of models by names of yours"),
            ("parameters", Mapping, "a table of values by their names"),
            ("prices", Mapping, "a table of Prices by the models' names"),
            ("limits", Limits, "Limits(...) or None"),
            ("breaker", Breaker, "a Breaker or None"),
            ("memory", Memory, "a Memory, such as Memory('judge-memory.sqlite'), or None"),
        )
        if not (given[name] is None or isinstance(given[name], kind))
    ]
    priced = given["prices"] if isinstance(given["prices"], Mapping) else {}
    return problems + [
        f"prices: expected a Price for {name!r}, not {type(price).__name__}: Price(input=..., output=...)"
        for name, price in priced.items()
        if not isinstance(price, Price)
    ]
