"""What both checked engines do with an answer: have it judged, report it, or end a stream with it."""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any

from groundwire.checker import Checker
from groundwire.core import wire
from groundwire.core.interaction import Interaction
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome
from groundwire.host.actions import Decision
from groundwire.host.judging import ajudged, judged
from groundwire.llama_index import units
from groundwire.llama_index.options import Settings
from groundwire.llama_index.output import KEY, Attach, acted_on, attached, keep_notices, parted
from groundwire.llama_index.reading import Call, Reading

_METADATA = "_groundwire_metadata"


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A response and the call that gave it. ``stream`` is the kind of stream that it was read from.

    Raises TypeError for what is no response.
    """

    response: Any
    call: Call
    stream: type | None = None

    def __post_init__(self) -> None:
        if not hasattr(self.response, "source_nodes"):
            raise TypeError(
                f"the engine returned a {type(self.response).__name__}, which a verdict can't be put on: "
                "have it return a text or a response, such as Response(text, source_nodes=nodes)"
            )


@dataclass(frozen=True, kw_only=True)
class Finished:
    """What a checked engine returns."""

    response: Any


@dataclass(frozen=True, kw_only=True)
class Step:
    """What a plan has done, in the colour in which the engine was called."""

    do: Callable[[], Any]
    ado: Callable[[], Awaitable[Any]]


Plan = Generator[Step | Interaction | Finished, Any, None]
"""Asks, has judged, and perhaps asks again: written once, performed in two colours."""


def performed(plan: Plan, checker: Checker) -> Any:
    """What a plan comes to."""
    step = next(plan)
    while not isinstance(step, Finished):
        step = plan.send(judged(checker, step) if isinstance(step, Interaction) else step.do())
    return step.response


async def aperformed(plan: Plan, checker: Checker) -> Any:
    """``performed`` for callers on an event loop."""
    step = next(plan)
    while not isinstance(step, Finished):
        doing = ajudged(checker, step) if isinstance(step, Interaction) else step.ado()
        step = plan.send(await doing)
    return step.response


def unjudged(settings: Settings, reading: Reading) -> Outcome | None:
    """The outcome of what can't be judged; a policy that is switched off has its own to give."""
    return reading.abstention if settings.checker.policy.enabled else None


def concluded(
    settings: Settings,
    answered: Answered,
    interaction: Interaction,
    outcome: Outcome,
    decision: Decision,
    *,
    attempt: int,
) -> Any:
    """The response after what was decided, with its verdict, which is kept and told within its own call.

    Raises what was decided to be raised.
    """
    settings.keep(interaction, outcome, decision, attempt)
    if decision.error is not None:
        raise decision.error
    return attached(acted_on(answered.response, decision), outcome.to_dict(), settings.attach)


class Ending:
    """The end of a stream that passes: its answer is judged once it is complete.

    Until then the response says ``pending``, and a stream that is given up says so.
    """

    def __init__(self, settings: Settings, answered: Answered, asked: str) -> None:
        self._settings = settings
        self._call = answered.call
        self._asked = asked
        # Held weakly: a circle would keep a stream that is given up open until the next garbage collection.
        self._response = weakref.ref(answered.response)
        self._found = answered.call.found(answered.response)
        self._marks = settings.sinks.locate()  # now: at its end, a stream is in its reader's context
        self._notices = keep_notices(answered.response)
        self._warning: str | None = None  # until it is judged
        self._put(wire.pending(answered.call.id))

    def complete(self, text: str) -> str:
        """The warning to end the stream with; empty where there is none. A chat's may be read again."""
        if self._warning is None:
            reading = self._read(text)
            outcome = unjudged(self._settings, reading)
            self._settle(reading, text, outcome or judged(self._settings.checker, reading.interaction))
        return self._warning or ""

    async def acomplete(self, text: str) -> str:
        """``complete`` for streams on an event loop."""
        if self._warning is None:
            reading = self._read(text)
            outcome = unjudged(self._settings, reading)
            outcome = outcome or await ajudged(self._settings.checker, reading.interaction)
            self._settle(reading, text, outcome)
        return self._warning or ""

    def give_up(self, text: str, *, failed: bool = False) -> None:
        """Say that the stream was not read to its end, or did not come to it."""
        del failed
        if self._warning is None:
            partial = Abstention(why=AbstentionReason.PARTIAL_ANSWER, detail=units.GIVEN_UP, id=self._call.id)
            self._settle(self._read(text), text, partial)

    def _read(self, text: str) -> Reading:
        return self._call.read(self._asked, self._response(), text, self._found)

    def _settle(self, reading: Reading, text: str, outcome: Outcome) -> None:
        decision = self._settings.reactions.decide(reading.interaction, outcome, attempt=1)
        self._settings.keep(reading.interaction, outcome, decision, attempt=1, marks=self._marks)
        self._put(outcome.to_dict())
        warning = parted(decision.text)
        self._warning = "" if text.endswith(warning) else warning
        self._notices.append(decision.text)

    def _put(self, verdict: dict[str, Any]) -> None:
        response = self._response()
        if self._settings.attach is not Attach.METADATA or response is None:
            return
        # One dict from beginning to end, and not the engine's: who took it early sees what it comes to.
        held = getattr(response, "metadata", None)
        if held is None or held is not vars(response).get(_METADATA):
            vars(response)[_METADATA] = response.metadata = held = {**(held or {})}
        held[KEY] = verdict
