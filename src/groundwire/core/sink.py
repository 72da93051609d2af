"""What hears of outcomes besides a database: metrics, traces, scores. One notion for all of them.

A sink is told of each judged answer, wherever it was judged, and of each request that a judge was asked. What
it does with that, and where it sends it, is its own to know; it never costs an outcome.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from groundwire.core.callables import callable_problems
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Encode, Plan, Reply, Request, through
from groundwire.core.secrets import Traced
from groundwire.core.verdict import Outcome

_LOG = logging.getLogger(__name__)
_COMPLAIN_EVERY = 60.0  # seconds between two warnings of a kind
DRAFT = "retry"
"""What is done about an answer that nobody is given, for another follows."""

_METHODS = ("locate", "find", "send", "asked", "watch", "flush")

T = TypeVar("T")
Marks = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Told:
    """One judged answer, as sinks are told of it.

    ``interaction`` is None when it could not be read. ``run_id`` is the host's own run, where there is one.
    ``action`` is what was done about the answer, None where nothing could be, and ``attempt`` counts the
    answers to one question from 1.
    """

    interaction: Interaction | None
    outcome: Outcome
    run_id: UUID | str | None = None
    action: str | None = None
    attempt: int = 1

    @property
    def draft(self) -> bool:
        """Whether it was asked again: nobody is given this answer."""
        return self.action == DRAFT


class Sink:
    """Hears of outcomes; make your own by overriding ``send``.

    It is called in the application's own threads, so whatever may wait belongs on a thread of the sink's own.
    What it raises is logged, and costs nobody anything. It may be shared by handlers, wrappers and checkers.
    """

    name: str = "sink"

    def locate(self, run_id: UUID | None = None, started: datetime | None = None) -> Any:
        """Where the answer that is given in this context is traced, for ``send``; None if nowhere.

        Called while the answer's call ends, for its context knows. ``run_id`` and ``started`` are those of a
        LangChain run, whose callbacks may leave another run's span current. Takes microseconds.
        """
        del run_id, started

    def find(self, run_id: UUID) -> Any:
        """Where the tracer of a LangChain run has it, by its id, for ``send``; None if that is not known.

        Asked while the run goes on, for tracers forget it with its end; goes before what ``locate`` says.
        Takes microseconds.
        """
        del run_id

    def send(self, told: Told, where: Any) -> None:
        """Be told of one outcome; ``where`` is what ``locate`` said of its answer. Must not wait."""
        raise NotImplementedError

    def asked(self, replies: Sequence[Reply]) -> None:
        """Be told of a judge's replies, as they come."""

    def watch(self, queue: str, thing: object) -> None:
        """Be shown something with ``stats`` or ``counts`` of a queue, not to be kept alive by this."""

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all is sent or given up. False when ``timeout`` seconds were not enough."""
        del timeout
        return True


class Sinks:
    """Several sinks that are told together. Never raises: rule 5, an outcome is not to be lost by telling it.

    ``marks`` are what each said to ``locate``, in their order. ``finding`` are the places there of those that
    ``find`` runs.
    """

    def __init__(self, sinks: Iterable[Sink] = ()) -> None:
        self.all: tuple[Sink, ...] = tuple(sinks)
        self._listening = tuple(one for one in self.all if type(one).asked is not Sink.asked)
        self.finding = tuple(at for at, one in enumerate(self.all) if type(one).find is not Sink.find)
        self._complained: dict[str, float] = {}
        for one in self.all:
            if hasattr(one, "counts"):
                self.watch(one.name, one)

    def __bool__(self) -> bool:
        return bool(self.all)

    def find(self, run_id: UUID, found: Marks | None = None) -> Marks | None:
        """Where each has a LangChain run that goes on, beside what was ``found`` before; None if nowhere."""
        for at in self.finding:
            if found is None or found[at] is None:
                where = self._guarded("find", self.all[at], run_id)
                if where is not None:
                    known: Marks = found or (None,) * len(self.all)
                    found = (*known[:at], where, *known[at + 1 :])
        return found

    def locate(
        self, run_id: UUID | None = None, started: datetime | None = None, found: Marks | None = None
    ) -> Marks:
        """Where each would put the outcome of the answer that is given in this context, unless ``found``."""
        known: Marks = found or (None,) * len(self.all)
        return tuple(
            self._guarded("locate", one, run_id, started) if where is None else where
            for one, where in zip(self.all, known, strict=True)
        )

    def tell(self, told: Told, marks: Marks | None = None) -> None:
        """Tell each of an outcome; without ``marks``, of an answer that is given in this very context."""
        places = self.locate() if marks is None else marks
        for one, where in zip(self.all, places, strict=True):
            self._guarded("send", one, told, where)

    def overheard(self, plan: Plan[T]) -> Plan[T]:
        """The same plan; those that listen are told of its judge's replies."""

        def heard(requests: Sequence[Request]) -> Plan[Sequence[Reply]]:
            replies = yield requests
            told = _of_a_judge(requests, replies)
            for one in self._listening if told else ():
                self._guarded("asked", one, told)
            return replies

        return through(plan, heard) if self._listening else plan

    def watch(self, queue: str, thing: object) -> None:
        """Show each a queue."""
        for one in self.all:
            self._guarded("watch", one, queue, thing)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait for each. False when ``timeout`` seconds were not enough for all."""
        deadline = None if timeout is None else time.monotonic() + timeout
        done = True
        for one in self.all:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            done = bool(self._guarded("flush", one, left)) and done
        return done

    def _guarded(self, what: str, sink: Sink, *arguments: Any) -> Any:
        try:
            return getattr(sink, what)(*arguments)
        except Exception as error:  # as above
            kind = f"{what}/{type(sink).__name__}/{type(error).__name__}"
            now = time.monotonic()
            if now - self._complained.get(kind, -_COMPLAIN_EVERY) >= _COMPLAIN_EVERY:
                self._complained[kind] = now
                name, raised = type(sink).__name__, type(error).__name__
                _LOG.warning("%s.%s failed (%s); judging goes on", name, what, raised)
            # The error's own words may hold what was judged.
            _LOG.debug("%s failed\n%s", what, Traced(error))
            return None


def sink_problems(sinks: object) -> list[str]:
    """What is wrong with what was given as sinks; None is none."""
    if sinks is None:
        return []
    if isinstance(sinks, list | tuple):
        return [problem for one in sinks for problem in _problems(one)]
    return [f"sinks must be a list of them, not {sinks!r:.60}: sinks=[PrometheusSink()]"]


def _problems(sink: object) -> list[str]:
    if not isinstance(sink, Sink):
        return [f"sinks: expected Sinks, such as PrometheusSink(), not {sink!r:.60}"]
    told = [(f"sinks: {type(sink).__name__}.{name}", getattr(sink, name)) for name in _METHODS]
    return [problem for name, method in told for problem in callable_problems(name, method, "Told")]


def settled_sinks(given: Sequence[Sink] | None, own: Sinks, default: Sequence[Sink] = ()) -> Sinks:
    """Those given; if None, a checker's ``own``, and the ``default`` ones that it has none like."""
    if given is not None:
        return Sinks(given)
    kinds = {type(one) for one in own.all}
    return Sinks([*(one for one in default if type(one) not in kinds), *own.all])


def _of_a_judge(requests: Sequence[Request], replies: Sequence[Reply]) -> list[Reply]:
    # Encoders run here, and are nobody's judge.
    return [
        reply for request, reply in zip(requests, replies, strict=True) if not isinstance(request, Encode)
    ]
