"""What judging a dataset would take, told by the plans themselves before any model is asked.

Requests to models are counted and not performed, so a method whose later requests depend on earlier replies
is counted as far as its first ones: the figures are what it takes at least. Encoders cost nothing and do
read, where what they say decides whether a model is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from groundwire.core.budget import calls_of, request_tokens, unasked
from groundwire.core.detector import Detector
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Complete, Embed, Encode, Ground, Reply, Request
from groundwire.core.verdict import Usage
from groundwire.judge.drivers import NoBackend, run
from groundwire.judge.prices import Price
from groundwire.local.backend import LocalBackend

REPLY_TOKENS = 300  # of a reply to one call, if nothing better is known


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What judging so many answers takes at least: calls, estimated tokens, and money where a price is known.

    ``asking`` of the answers ask a model anything; the others could not be judged, or need none.
    ``embedding_calls`` and ``embedding_tokens`` stand apart from the language model's; ``cost`` is without
    them.
    """

    answers: int = 0
    asking: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    embedding_calls: int = 0
    embedding_tokens: int = 0
    cost: float | None = None


def estimate(
    detector: Detector,
    interactions: Iterable[Interaction],
    *,
    prices: Mapping[str, Price] | None = None,
    reply_tokens: int = REPLY_TOKENS,
) -> Estimate:
    """Count what ``detector`` would ask for these interactions. Nothing is sent anywhere.

    ``prices`` are of the judge's models by the names that it has for them, "" being its own. A reply is taken
    to have ``reply_tokens``; a call that has to be asked twice is counted once.
    """
    counter = _Counter(reads=detector.takes_model and detector.needs_encoder)
    answers, asking = 0, 0
    for interaction in interactions:
        before = counter.asked
        run(detector.detect(interaction), counter)
        answers += 1
        asking += counter.asked > before
    return Estimate(
        answers=answers,
        asking=asking,
        calls=counter.calls.total(),
        input_tokens=counter.tokens.total(),
        output_tokens=counter.calls.total() * reply_tokens,
        embedding_calls=counter.embedding_calls,
        embedding_tokens=counter.embedding_tokens,
        cost=counter.cost(prices or {}, reply_tokens),
    )


class _Counter:
    """A backend that asks no model: it counts, and replies with vectors or that nothing was asked.

    ``reads`` has encoders perform what is theirs.
    """

    def __init__(self, *, reads: bool) -> None:
        self._local = LocalBackend(NoBackend()) if reads else None
        self.calls: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.embedding_calls = self.embedding_tokens = 0

    @property
    def asked(self) -> int:
        """How many calls there are so far, of whatever model."""
        return self.calls.total() + self.embedding_calls

    def cost(self, prices: Mapping[str, Price], reply_tokens: int) -> float | None:
        """What all of it costs; None where a model is asked whose price isn't known, or no price is."""
        if not prices or not self.calls.keys() <= prices.keys():
            return None
        return sum(
            prices[name].of(Usage(input_tokens=self.tokens[name], output_tokens=calls * reply_tokens))
            for name, calls in self.calls.items()
        )

    def perform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        del timeout
        return [self._reply(request) for request in requests]

    async def aperform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]:
        return self.perform(requests, timeout=timeout)

    def _reply(self, request: Request) -> Reply:
        if isinstance(request, Complete | Ground):
            self.calls[request.model] += calls_of(request)
            self.tokens[request.model] += calls_of(request) * request_tokens(request)
        if isinstance(request, Embed):
            self.embedding_calls += 1
            self.embedding_tokens += request_tokens(request)
        if isinstance(request, Encode) and self._local is not None:
            return self._local.perform([request], timeout=None)[0]
        return unasked(request)
