"""The plan protocol: how a detector asks for work without doing any.

A plan is a generator. It yields batches of requests, is sent one reply for each, in order, and returns
its result. It never blocks, retries, sleeps or catches: a driver performs the requests (see
``groundwire.judge.drivers``), and a request that failed comes back as the value ``Failed``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, Protocol, TypeVar

from groundwire.core.span import Span
from groundwire.core.verdict import AbstentionReason, Usage

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Complete:
    """Ask a language model: ``samples`` replies to one system and one user message.

    ``temperature`` is None for the model's own. ``alternatives`` asks for the log probabilities of the tokens
    written, each with so many others that were likely in its place; a model that can't tell them says none.
    ``model`` is one of the judge's models by the name that it has there; "" is the judge's own. ``prefix`` is
    how many characters of ``user`` other requests begin with, too, so that a provider may keep them.
    ``schema`` is the reply's form as a JSON schema, for models that are held to one; None for free text.
    ``settles`` says of a reply whether it leaves nothing open; one that does is not remembered. Without it,
    every reply is. Neither tells requests apart.
    """

    system: str
    user: str
    samples: int = 1
    temperature: float | None = None
    alternatives: int = 0
    model: str = ""
    prefix: int = 0
    schema: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    settles: Callable[[Completed], bool] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Embed:
    """Ask an embedding model for one vector per text."""

    texts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EncoderSetup:
    """How an optional encoder is set up, where its own config does not say.

    ``labels`` are pairs of a label's name and what it means: "supported", "unsupported" or "contradicted".
    ``max_length`` is in tokens, for all that is read at once. ``prompt`` puts the question and the passages
    the way the model was trained with; "" is the plain way.
    """

    labels: tuple[tuple[str, str], ...] = ()
    max_length: int | None = None
    prompt: str = ""
    device: str = "cpu"


@dataclass(frozen=True, kw_only=True, slots=True)
class Encode:
    """Ask an encoder to read claims beside the passages.

    ``claims`` are characters of ``answer``, in order and apart. ``stated`` are its statements, for a claim is
    read after the one before it: empty where the claims are all. ``model`` is "" for the embedded encoder,
    or the local path or hub id of another (``groundwire[encoder]``), set up as ``setup`` says. No judge
    performs this: encoders run here.
    """

    answer: str
    claims: tuple[Span, ...]
    passages: tuple[str, ...]
    question: str | None = None
    stated: tuple[Span, ...] = ()
    model: str = ""
    setup: EncoderSetup = EncoderSetup()


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """Ask a grounding service, which takes no prompt, how far sources support a text that meets a query.

    ``model`` is as for ``Complete``.
    """

    sources: tuple[str, ...]
    query: str
    text: str
    model: str = ""


ModelRequest = Complete | Embed | Ground
"""What a judge's models are asked."""

Request = ModelRequest | Encode


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A token that a model wrote: its log probability, and those of others in its place."""

    text: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Completed:
    """The texts a language model replied with, one per sample.

    ``tokens`` are those of each text, in the same order, where they were asked for and the model tells them;
    otherwise there are none at all. ``stopped`` says of each text why its model stopped before it had said
    all, "" where it did not; without such a text, there are none at all.
    """

    texts: tuple[str, ...]
    usage: Usage = Usage()
    tokens: tuple[tuple[Token, ...], ...] = ()
    stopped: tuple[str, ...] = ()

    @property
    def whole(self) -> tuple[str, ...]:
        """The texts, each that was cut off or withheld as ""."""
        return tuple("" if why else text for text, why in zip_longest(self.texts, self.stopped))


@dataclass(frozen=True, kw_only=True, slots=True)
class Embedded:
    """One vector per text, all of one length."""

    vectors: tuple[tuple[float, ...], ...]
    usage: Usage = Usage()


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """How likely each kind of support is: three probabilities that sum to 1."""

    supported: float
    unsupported: float
    contradicted: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadWord:
    """One word of the answer as the encoder read it."""

    span: Span
    reading: Reading


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadClaim:
    """One claim as the encoder read it.

    ``evidence`` is what it was read beside, most useful first: each a passage's number and characters of it.
    """

    reading: Reading
    words: tuple[ReadWord, ...] = ()
    evidence: tuple[tuple[int, Span], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoded:
    """The claims of one request as the encoder read them, in order."""

    claims: tuple[ReadClaim, ...]
    usage: Usage = Usage()


@dataclass(frozen=True, kw_only=True, slots=True)
class Grounded:
    """A grounding service's confidence, from 0 to 1, that a text is supported and that it meets its query.

    ``relevance`` is None where the service does not tell it.
    """

    grounding: float
    relevance: float | None = None
    usage: Usage = Usage()


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed:
    """A request that got no answer, and why."""

    reason: AbstentionReason
    detail: str = ""
    usage: Usage = Usage()


Reply = Completed | Embedded | Encoded | Grounded | Failed
Plan = Generator[Sequence[Request], Sequence[Reply], T]


class Backend(Protocol):
    """Whoever performs requests. It returns one reply for each, in order, and never raises for a failed one.

    ``timeout`` is in seconds, for the whole batch; None waits as long as it takes.
    """

    def perform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]: ...

    async def aperform(self, requests: Sequence[Request], *, timeout: float | None) -> Sequence[Reply]: ...


def through(plan: Plan[T], perform: Callable[[Sequence[Request]], Plan[Sequence[Reply]]]) -> Plan[T]:
    """The same plan, each of whose batches is asked as ``perform`` does, which is a plan itself."""
    try:
        requests = next(plan)
        while True:
            requests = plan.send((yield from perform(requests)))
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]  # StopIteration.value is untyped


def metered(plan: Plan[T]) -> Plan[tuple[T, Usage]]:
    """The same plan, whose result comes with the usage of all its replies."""
    spent = Usage()

    def counted(requests: Sequence[Request]) -> Plan[Sequence[Reply]]:
        nonlocal spent
        replies = yield requests
        spent = sum((reply.usage for reply in replies), spent)
        return replies

    result = yield from through(plan, counted)
    return result, spent


def asking(plan: Plan[T], model: str) -> Plan[T]:
    """The same plan, asking ``model`` wherever it asks for no other."""

    def named(requests: Sequence[Request]) -> Plan[Sequence[Reply]]:
        return (
            yield [
                replace(one, model=model) if isinstance(one, Complete | Ground) and not one.model else one
                for one in requests
            ]
        )

    return through(plan, named)


def together(plans: Sequence[Plan[T]]) -> Plan[list[T]]:
    """Run plans in lock-step: what they ask for at one step goes out as one batch.

    The results keep the order of the plans. A plan that raises ends them all.
    """
    results: dict[int, T] = {}
    waiting: dict[int, Sequence[Request]] = {}

    def advance(i: int, replies: Sequence[Reply] | None) -> None:
        try:
            waiting[i] = next(plans[i]) if replies is None else plans[i].send(replies)
        except StopIteration as stop:
            results[i] = stop.value

    for i in range(len(plans)):
        advance(i, None)
    while waiting:
        asked, waiting = waiting, {}
        replies = yield [request for requests in asked.values() for request in requests]
        at = 0
        for i, requests in asked.items():
            advance(i, replies[at : at + len(requests)])
            at += len(requests)
    return [results[i] for i in range(len(plans))]
