"""Captures answers from LlamaIndex's spans: question, documents and answer of the outermost engine.

Only what a span tells is read here, in the application's own thread; judging is never done here. What can't
be read costs that answer, never the application: LlamaIndex swallows what a handler raises, so it is logged.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.workflow import InputRequiredEvent
from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler

from groundwire.core.fork import renew_after_fork
from groundwire.core.interaction import Interaction, Passage
from groundwire.core.secrets import Traced
from groundwire.core.verdict import AbstentionReason
from groundwire.judge.isolation import JUDGING
from groundwire.llama_index import findings, indexed, units, values
from groundwire.llama_index.asides import is_aside
from groundwire.llama_index.handed import MOST
from groundwire.llama_index.hearing import Spans
from groundwire.llama_index.made import LATEST, kept
from groundwire.llama_index.spans import (
    ANSWERING,
    SKIP,
    Kind,
    Part,
    answers_itself,
    arguments_of,
    form_of,
    kind_of,
    uuid_of,
)
from groundwire.llama_index.streams import follow, note_chat

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Captured:
    """One answer of the host.

    ``run_id`` is the uuid of the span that answered, ``trace_id`` that of the topmost span that was seen
    around it. ``response`` is the object that the application gets. ``problem`` says why the answer can't be
    judged, None that it can; ``interaction`` is None when it could not even be read. ``where`` is what
    ``mark`` returned while the answering span was current.
    """

    run_id: UUID
    trace_id: UUID
    interaction: Interaction | None
    problem: AbstentionReason | None = None
    detail: str = ""
    response: Any = field(repr=False, default=None)
    where: Any = field(repr=False, default=None)


class Capture:
    """Hands each answer of the spans it hears to ``on_captured``, once, in the host's own thread.

    ``span_handler`` is what hears: add it to a dispatcher. Safe to share between threads, event loops and any
    number of calls at once. At most ``max_spans`` spans are followed at a time. ``mark`` is called while an
    answering span ends, for what only its context knows.
    """

    def __init__(
        self,
        on_captured: Callable[[Captured], None],
        *,
        max_spans: int = 10_000,
        mark: Callable[[], Any] = lambda: None,
    ) -> None:
        if max_spans < 1:
            raise ValueError(f"max_spans must be at least 1, not {max_spans!r}")
        self._on_captured = on_captured
        self._max_spans = max_spans
        self._mark = mark
        self._evicted = 0
        self._warned: set[str] = set()
        self._when_ended: Callable[[], None] | None = None
        self.span_handler: BaseSpanHandler[BaseSpan] = Spans(lambda: (self,))
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Begin anew: the spans that were open belong to the parent."""
        # Reentrant: in the midst of an event the garbage collector may close a stream that nobody reads.
        self._lock = threading.RLock()
        self._open: dict[str, tuple[Part | None, UUID]] = {}
        self._streams: dict[int, tuple[Part, Any]] = {}
        self._leaving: dict[int, Part] = {}

    @property
    def live_spans(self) -> int:
        """How many spans have started and not ended, and chat streams been begun and not written."""
        return len(self._open) + len(self._streams)

    @property
    def evicted_spans(self) -> int:
        """How many spans were given up because too many were open at a time."""
        return self._evicted

    def end(self, when_ended: Callable[[], None] | None) -> None:
        """Hear of nothing new, and say when all that goes on has ended; None is to hear of all again."""
        self._when_ended = when_ended
        self.settle()

    def hand_over(self) -> None:
        """Hand over what waits for the end of a workflow, as nothing that comes later is judged."""
        with self._lock:
            going_on = [part for part, _ in self._open.values() if part is not None]
        for part in going_on:
            self._let_go(part)

    def settle(self) -> None:
        """Say that all has ended, where that is waited for."""
        when_ended = self._when_ended
        if when_ended is not None and not self.live_spans:
            when_ended()

    def warn_once(self, kind: str, message: str, *arguments: object) -> None:
        """Log a warning the first time that a thing of this kind happens."""
        if kind not in self._warned:
            self._warned.add(kind)
            _LOG.warning(message, *arguments)

    # -- spans, as LlamaIndex tells them -----------------------------------------------------------------

    def enter(
        self, span_id: str, bound: inspect.BoundArguments, instance: Any, parent_id: str | None, tags: Any
    ) -> None:
        """A span has started."""
        if not (tags and tags.get(SKIP)):
            kind = kind_of(span_id, instance)
            self.begin(span_id, kind, {} if kind is None else arguments_of(bound), parent_id, instance)

    def begin(
        self,
        span_id: str,
        kind: Kind | None,
        arguments: Mapping[str, Any],
        parent_id: str | None,
        instance: Any = None,
    ) -> None:
        """Something of a kind has started. One of no kind of its own is the part around it, by another id."""
        if JUDGING.get():
            return
        if kind in ANSWERING and is_aside():
            kind = parent_id = None  # nobody's, whatever goes on around it
        with self._lock:
            part, root = self._open.get(parent_id or "", (None, uuid_of(parent_id or span_id)))
            if kind is Kind.WRITER and part is None:
                part, _ = self._streams.get(id(instance), (self._leaving.get(id(instance)), None))
            if self._when_ended is not None and part is None and parent_id not in self._open:
                return
            if kind is Kind.MODEL:
                if part is not None:
                    findings.hear(part, span_id, arguments)
            elif kind is not None and kind is not Kind.WRITER:
                if kind is Kind.SIFT:
                    arguments = {**arguments, "nodes": kept(values.nodes(arguments.get("nodes")))}
                part = Part(span_id=span_id, kind=kind, arguments=arguments, parent=part, root=root)
                tool = instance if kind is Kind.TOOL else None
                part.direct, part.form = answers_itself(tool), form_of(tool)
            self._open[span_id] = part, root
            self._make_room(self._open)
        if kind is Kind.WRITER and part is not None:
            note_chat(instance, part.said)

    def leave(self, span_id: str, instance: Any, result: Any) -> None:
        """A span has ended well."""
        with self._lock:
            part, _ = self._open.pop(span_id, (None, None))
            if part is None:
                return
            kind = part.kind if part.span_id == span_id else kind_of(span_id, instance)
            if part.span_id != span_id and kind is Kind.MODEL:
                findings.heard(part, span_id, result)
            if part.span_id == span_id and isinstance(result, StreamingAgentChatResponse):
                self._leaving[id(result)] = part  # its writer may begin before it is followed
        if part.span_id == span_id:
            if kind is Kind.RETRIEVER:
                part.made.update(indexed.summed_up(instance, values.nodes(result)))
            try:
                self._ended(part, result)
            finally:
                with self._lock:
                    self._leaving.pop(id(result), None)
        elif kind is Kind.WRITER:
            self._written(part, instance)
        elif isinstance(result, InputRequiredEvent):  # a session, which may go on for days
            self._let_go(part)

    def drop(self, span_id: str, instance: Any, error: BaseException | None) -> None:
        """A span has ended with an error: there is no answer, or part of one if its task was cancelled."""
        with self._lock:
            dropped, _ = self._open.pop(span_id, (None, None))
            part, _ = self._streams.pop(id(instance), (None, None))
            if dropped is not None and kind_of(span_id, instance) is Kind.WRITER:
                dropped.broken = True  # perhaps before its stream was followed
        if dropped is not None and dropped.span_id == span_id:
            self._release(dropped)
            self._let_go(dropped)
        if part is not None and isinstance(error, asyncio.CancelledError):
            said = "".join(part.said)
            self.tell(part, units.contexts(part, instance), said, instance, partial=True)

    # -- answers -----------------------------------------------------------------------------------------

    def _ended(self, part: Part, result: Any) -> None:
        findings.note_made(part, result)
        if part.kind is Kind.CHECKED:
            findings.note_notices(part, result)
            self._release(part, result)
        if part.kind in ANSWERING and part.outer is None and not part.searching:
            self._answered(part, result)
        elif part.kind is not Kind.FLOW or part.parent is not None:
            findings.report(part, result)
        elif units.is_answer(part, result):
            self._answered(part, result)
        else:
            self._let_go(part)
            if why := units.untold(part, result):
                self.warn_once(why, f"workflow %s {why}. This is said once", part.run_id)

    def _answered(self, part: Part, result: Any) -> None:
        """The outermost answering span has ended; a stream it returned may have yet to begin."""
        part.where = self._mark()
        above, stream = part.parent, isinstance(result, values.STREAMS) and result.response_txt is None
        if part.flow is not None:
            findings.report(part, result)
            above = None
        elif above is not None and not stream:
            finding = findings.answered(part, result) or units.answered_from(part, result)
            if finding is not None:
                above.found = [*above.found[-MOST:], finding]
        while above is not None:
            above.answered = True
            above = above.parent
        if isinstance(result, StreamingAgentChatResponse):
            self._begun(part, result)
        elif stream:
            self._listen(part, result)
        elif result is None and part.kind is Kind.AGENT:  # whoever ran it has cancelled it
            self.tell(part, units.contexts(part, result), "", result, partial=True)
        else:
            self._hand_on(part, result, units.answer(part, result))

    def _listen(self, part: Part, response: Any) -> None:
        """Follow an engine's stream, which may be read late, elsewhere, or not at all."""
        follow(response, _Listening(self, part, units.contexts(part, response), weakref.ref(response)))

    def _begun(self, part: Part, response: StreamingAgentChatResponse) -> None:
        """A chat engine has returned its stream; who writes it to the memory may have finished already."""
        writing = response.write_response_to_history_thread or response.awrite_response_to_history_task
        with self._lock:
            part.exited = True
            written = part.written
            if not (written or part.broken) and writing:
                self._streams[id(response)] = part, response
                self._make_room(self._streams)
        if written:
            self._written(part, response)
        elif not writing:  # a stream that no writer follows is seen by its reader alone
            self._hand_on(part, response, None)

    def _written(self, part: Part, response: StreamingAgentChatResponse) -> None:
        """A chat engine's answer is complete, whoever has read how much of it."""
        with self._lock:
            self._streams.pop(id(response), None)
            part.written = True
            complete = part.exited and part.outer is None
        if complete and not response.is_function:
            # Not every core's writer puts the text on the response.
            self._hand_on(part, response, "".join(part.said).strip() or response.response)

    def _hand_on(self, part: Part, result: Any, answer: str | None) -> None:
        self.tell(part, units.contexts(part, result), answer, result)

    def tell(
        self, part: Part, found: list[Passage], answer: str | None, response: Any, *, partial: bool = False
    ) -> None:
        """Hand on what was captured of one answer."""
        problem, detail = units.problem(part, answer, found, response)
        if partial:
            problem, detail = AbstentionReason.PARTIAL_ANSWER, units.GIVEN_UP
        captured = Captured(
            run_id=part.run_id,
            trace_id=part.root,
            interaction=units.interaction(
                part, units.question(part), found, units.claimed(part, answer, response), str(part.run_id)
            ),
            problem=problem,
            detail=detail,
            response=response,
            where=part.where,
        )
        if not self._held(part, captured):
            self._hand(part, captured)

    def _held(self, part: Part, captured: Captured) -> bool:
        """Whether the answer waits for the end of an engine of our own, which may yet ask for another."""
        around = part.checked
        with self._lock:
            if around is None or around.span_id not in self._open:
                return False
            if around.last is not None and captured.interaction is not None:
                asked = around.last.interaction.question  # the user's own: a retry adds to it
                captured = replace(captured, interaction=replace(captured.interaction, question=asked))
            around.last = captured
        return True

    def _release(self, part: Part, result: Any = None) -> None:
        """Hand on the last answer that was given inside of an engine of our own, which has ended."""
        if part.last is not None:
            captured, part.last = part.last, None
            self._hand(part, captured if result is None else replace(captured, response=result))

    def _hand(self, part: Part, captured: Captured) -> None:
        """Hand an answer over; one of a workflow's tool once the workflow has ended with none of its own."""
        flow = part.flow
        with self._lock:
            if flow is not None and flow.span_id in self._open:
                flow.steps.append(captured)
                if len(flow.steps) <= LATEST:
                    return
                captured = flow.steps.pop(0)
        self._on_captured(captured)

    def _let_go(self, flow: Part) -> None:
        """Hand over what a workflow's tools answered: it has no answer of its own, or not yet."""
        with self._lock:
            steps, flow.steps = flow.steps, []
            flow.answered |= bool(steps)
        for captured in steps:
            self._on_captured(captured)

    def _make_room(self, held: dict[Any, Any]) -> None:
        while len(held) > self._max_spans:
            oldest = next(iter(held))
            part: Part | None = held.pop(oldest)[0]
            self._evicted += 1
            if part is not None and part.span_id == oldest:
                self._let_go(part)

    def guard(self, what: str, work: Callable[[], None]) -> None:
        """Do the work; what goes wrong is logged, once a kind."""
        try:
            work()
        except Exception as error:  # rule 5; its own words may hold what was answered, so they stay at DEBUG
            kind = f"{what}/{type(error).__name__}"
            self.warn_once(kind, "%s could not be captured (%s)", what, type(error).__name__)
            _LOG.debug("%s could not be captured\n%s", what, Traced(error))


@dataclass
class _Listening:
    """The end of a stream that is only listened to.

    The response is held weakly: a circle would keep a stream that is given up open until the next garbage
    collection.
    """

    capture: Capture
    part: Part
    found: list[Passage]
    response: weakref.ref[Any]

    def complete(self, text: str) -> str:
        self._hear(text, partial=False)
        return ""

    async def acomplete(self, text: str) -> str:
        return self.complete(text)

    def give_up(self, text: str, *, failed: bool) -> None:
        if not failed:  # there is no answer then, and its reader knows
            self._hear(text, partial=True)

    def _hear(self, text: str, *, partial: bool) -> None:
        self.capture.guard(
            "a stream",
            lambda: self.capture.tell(self.part, self.found, text, self.response(), partial=partial),
        )
