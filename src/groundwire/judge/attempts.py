"""One request and its reply: tried as often, as fast and for as much as the limits allow, or not at all.

Everything that is asked of a model passes here. Which model that is, memory and threads are elsewhere.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import replace

from groundwire.core.budget import counted, over_budget, request_tokens
from groundwire.core.plan import Failed, ModelRequest, Reply
from groundwire.core.verdict import AbstentionReason, Usage
from groundwire.judge.calls import Calls, NotMadeError
from groundwire.judge.failures import failed, of_the_request, transient, wait_asked
from groundwire.judge.limits import LONGEST_WAIT, Allowance, Limits, Pace, Paced, Purse
from groundwire.judge.models import Model
from groundwire.judge.replies import failure_of, texts_of


class Attempts:
    """Has models reply within ``limits``, each unless its breaker is open. ``calls`` has the clocks."""

    def __init__(self, limits: Limits, calls: Calls[Reply]) -> None:
        self._retries, self._wait_before = limits.retries, limits.wait_before
        self._calls = calls
        self.share(
            requests=Pace(limits.requests_per_minute),
            tokens=Pace(limits.tokens_per_minute),
            allowance=Allowance(limits.budget, period=limits.period),
        )

    def share(self, *, requests: Paced, tokens: Paced, allowance: Purse) -> None:
        """Keep to limits that are counted elsewhere."""
        self._requests, self._tokens, self._allowance = requests, tokens, allowance

    def reply(self, model: Model, request: ModelRequest) -> Reply:
        """The model's reply, unless its breaker is open."""
        circuit, call = model.circuit, self._calls.here()
        if refused := circuit.enter(call):
            return Failed(reason=AbstentionReason.UNAVAILABLE, detail=refused)
        try:
            reply, telling = self._tried(model, request)
            if telling:
                circuit.leave(call, failure=failure_of(reply))
            return reply
        finally:
            circuit.forget(call)

    def _tried(self, model: Model, request: ModelRequest) -> tuple[Reply, bool]:
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
            again, telling, asked = False, True, 0.0
            try:
                reply = model.ask(request)
            except BaseException as error:  # told as a reply, with what all attempts have used
                asked = wait_asked(error)
                again = attempt <= self._retries and transient(error) and asked <= LONGEST_WAIT
                telling = not of_the_request(error)
                reply = failed(error, model=model.name, said=texts_of(request), attempts=attempt)
            reply = self._settled(model, request, reply)
            spent += reply.usage
            reply = replace(reply, usage=spent)
            if not again:
                return reply, telling
            try:
                self._calls.pause(self._wait_before(attempt + 1, asked=asked))
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

    def _settled(self, model: Model, request: ModelRequest, reply: Reply) -> Reply:
        """The reply with what it cost, which the limits now know of."""
        used = counted(request, reply) if not isinstance(reply, Failed) else reply.usage
        self._tokens.take(max(0, used.input_tokens + used.output_tokens - request_tokens(request)))
        cost = model.cost(used)
        self._allowance.settle(replace(used, cost=cost))
        estimated = not (reply.usage.input_tokens or reply.usage.output_tokens)
        # An estimate holds limits, and is told to nobody as what was paid.
        return (
            reply
            if cost is None or (cost and estimated)
            else replace(reply, usage=replace(reply.usage, cost=cost))
        )
