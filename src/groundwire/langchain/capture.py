"""What was asked, what was found and what was answered, captured from LangChain's events.

Each event costs microseconds and nothing is judged here. Reading a unit's parts is guarded part by part: what
can't be read is missing, and the host never notices.
"""

# ruff: noqa: ARG002 - LangChain calls its handlers with more than one needs

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from langchain_core.callbacks.base import BaseCallbackHandler
from langchain_core.callbacks.manager import BaseRunManager

from groundwire.core.callables import callable_problems
from groundwire.core.errors import ConfigurationError
from groundwire.core.fork import renew_after_fork
from groundwire.core.interaction import Interaction, Passage
from groundwire.core.one_process import OfOneProcess
from groundwire.core.secrets import Traced
from groundwire.core.verdict import AbstentionReason
from groundwire.host.actions import Action, Decision
from groundwire.host.notices import WITHHELD, is_withheld, without
from groundwire.langchain import questions, results, speakers, steps, units
from groundwire.langchain.contexts import contexts
from groundwire.langchain.declared import CURRENT, KEYS, Block, key_problems
from groundwire.langchain.labels import labels
from groundwire.langchain.runs import ABSENT, Runs
from groundwire.langchain.tree import Kind, Run, Unit, as_id
from groundwire.tracing.langsmith import around

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

_BLOCK = {KEYS: {"question_key": "question", "context_key": "contexts", "answer_key": "answer"}}


@dataclass(frozen=True, kw_only=True)
class Captured:
    """One answer of the host.

    ``run_id`` is the run that answered, ``trace_id`` the topmost run of it that was seen, and ``started``
    when the former started, in UTC. ``problem`` says why the answer can't be judged, None that it can;
    ``interaction`` is None when it could not even be read. ``trace`` and ``places`` are what was noted
    while the answering run went on, ``notices`` what checks in it have written into answers.
    """

    run_id: UUID
    trace_id: UUID
    interaction: Interaction | None
    problem: AbstentionReason | None
    detail: str
    started: datetime
    trace: Any = None
    places: Any = None
    notices: tuple[str, ...] = ()


class Capture(OfOneProcess, BaseCallbackHandler):
    """Hands each answer of the runs it hears to ``on_captured``, once, in the host's own thread and context.

    Safe to share between threads, event loops and any number of runs at once. At most ``max_runs`` runs are
    followed at a time. The keys name where question, context and answer stand in inputs and outputs, for
    applications whose names are not recognised. Raises ConfigurationError, naming every mistake at once.
    """

    run_inline = True
    raise_error = False

    def __init__(
        self,
        on_captured: Callable[[Captured], None],
        *,
        max_runs: int = 10_000,
        question_key: str | None = None,
        context_key: str | None = None,
        answer_key: str | None = None,
    ) -> None:
        self._keys = {"question_key": question_key, "context_key": context_key, "answer_key": answer_key}
        problems = [*callable_problems("on_captured", on_captured, "Captured"), *key_problems(self._keys)]
        if not isinstance(max_runs, int) or max_runs < 1:
            problems.append(f"max_runs must be a whole number from 1 on, not {max_runs!r}")
        if problems:
            raise ConfigurationError(*problems)
        self._on_captured = on_captured
        self._runs = Runs(max_runs, self)
        self._warned: set[str] = set()
        renew_after_fork(self._runs)

    @property
    def live_runs(self) -> int:
        """How many runs have started and not ended."""
        return len(self._runs)

    @property
    def evicted_runs(self) -> int:
        """How many runs were given up because too many were live at a time."""
        return self._runs.evicted

    # -- events, as LangChain names them -----------------------------------------------------------------

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, run_type: str | None = None, **event: Any
    ) -> None:
        if run_type == "prompt":
            self._start(Kind.PROMPT, inputs, run_id, event, serialized)
        else:
            self._start(Kind.CHAIN, inputs, run_id, event)

    def on_retriever_start(self, serialized: Any, query: str, *, run_id: UUID, **event: Any) -> None:
        self._start(Kind.RETRIEVER, query, run_id, event)

    def on_tool_start(self, serialized: Any, input_str: str, *, run_id: UUID, **event: Any) -> None:
        self._start(Kind.TOOL, event.get("inputs") or input_str, run_id, event, serialized)

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: UUID, **event: Any) -> None:
        self._start(Kind.MODEL, _first(messages, []), run_id, event)

    def on_llm_start(self, serialized: Any, prompts: list[str], *, run_id: UUID, **event: Any) -> None:
        self._start(Kind.MODEL, _first(prompts, ""), run_id, event)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, inputs: Any = ABSENT, **_: Any) -> None:
        self._end(run_id, outputs, inputs)

    def on_retriever_end(self, documents: Any, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, documents)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, output)

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, response)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, inputs: Any = ABSENT, **_: Any) -> None:
        self._fail(run_id, error, inputs)

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._fail(run_id, error)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._fail(run_id, error)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._fail(run_id, error)

    def _start(
        self, kind: Kind, inputs: Any, run_id: UUID, event: Mapping[str, Any], serialized: Any = None
    ) -> None:
        runs, parent_id = self._runs, event.get("parent_run_id")
        try:
            run_id, parent_id = as_id(run_id), None if parent_id is None else as_id(parent_id)
            if parent_id is not None and not runs.known(parent_id):
                parent_id = next(filter(runs.known, around(parent_id)), parent_id)
            if CURRENT.get() is not None and not runs.known(parent_id):
                parent_id = self._enter_block()
            tags, metadata = event.get("tags"), event.get("metadata")
            ready = runs.start(kind, run_id, parent_id, tags=tags, metadata=metadata, inputs=inputs)
            if (run := runs.live(run_id)) is not None:
                run.serialized = serialized
                self.begun(run)
            if ready:
                self._emit(ready)
        except Exception as error:  # rule 5: whatever a host hands over, its run goes on
            self.lost("start", error)
        if runs.evicted:
            self.warn_once(
                "evicted",
                "more than %d LangChain runs are live at a time: the oldest are no longer followed, and "
                "their answers not judged; raise max_runs, or look for streams that are never closed",
                len(runs),
            )

    def _end(self, run_id: UUID, outputs: Any, inputs: Any = ABSENT) -> None:
        try:
            run_id = as_id(run_id)
            self._over(run_id)
            self._emit(self._runs.end(run_id, outputs, inputs))
        except Exception as error:  # as above
            self.lost("end", error)

    def _fail(self, run_id: UUID, error: BaseException, inputs: Any = ABSENT) -> None:
        try:
            run_id = as_id(run_id)
            self._over(run_id)
            self._emit(self._runs.fail(run_id, error, inputs))
        except Exception as trouble:  # as above
            self.lost("failure", trouble)

    def _over(self, run_id: UUID) -> None:
        if (run := self._runs.live(run_id)) is not None:
            self.ending(run)

    def begun(self, run: Run) -> None:
        """Hear that a run has begun, in its own context; ``trace`` and ``places`` are free to be written."""

    def ending(self, run: Run) -> None:
        """Hear that a run is about to end, likewise."""

    def redone(self, run_id: UUID) -> None:
        """Hear that what a run has answered so far is given up, and asked for again."""
        try:
            self._runs.redo(as_id(run_id))
        except Exception as error:  # as above
            self.lost("retry", error)

    def wrote(self, run_id: UUID, notice: str, instead: str = "") -> None:
        """Hear what a check that is itself a run has written into an answer, or ``instead`` of it."""
        try:
            if (run := self._runs.live(as_id(run_id))) is not None:
                run.note(notice, instead)
        except Exception as error:  # as above
            self.lost("notice", error)

    # -- blocks ------------------------------------------------------------------------------------------

    def _enter_block(self) -> UUID | None:
        """The run that stands for the block of separate calls around this one; None when it has ended."""
        block = CURRENT.get()
        if block is None or not block.join(self):
            return None
        self._emit(self._runs.start(Kind.CHAIN, block.id, None, tags=None, metadata=_BLOCK, inputs=block))
        return block.id

    def block_ended(self, block: Block, error: BaseException | None) -> None:
        """Hear that a block of separate calls is over."""
        try:
            if error is not None:
                self._runs.fail(block.id, error)
                return
            ended = self._runs.end(block.id, block)
            self._emit([unit for unit in ended if unit.models or block.answer is not None])
        except Exception as trouble:  # as above
            self.lost("block", trouble)

    # -- what a unit says --------------------------------------------------------------------------------

    def _emit(self, ready: list[Unit]) -> None:
        for unit in ready:
            try:
                captured = self._read(unit)
                if captured is not None:
                    self._on_captured(captured)
            except Exception as error:  # one that can't be handed on must not cost its siblings
                self.lost("unit", error)

    def _read(self, unit: Unit) -> Captured | None:
        keys = self._keys_of(unit.run)
        if unit.unheard:
            answered = self._part("answer", lambda: units.answered_unheard(unit, keys["answer_key"]), None)
            if answered:
                self.unheard(unit.run.id)
            return None
        whole = self._part("answer", lambda: units.answer(unit, keys["answer_key"]), None)
        said = None if whole is None else without(whole, unit.run.notices)
        if withheld := whole is not None and is_withheld(whole, unit.run.notices):
            said = self.instead(unit, whole) or said
        answering = self._part("model", lambda: speakers.answering_model(unit, said), None)
        if units.on_the_way(unit, said, answering):
            return None
        found: list[Passage] = []
        found = self._part("contexts", lambda: contexts(unit, keys["context_key"], answering, said), found)
        if said is None and not unit.abandoned:
            said = self._part("answer", lambda: units.spoken(unit, answering), None)
        has_context = any(passage.text.strip() for passage in found)
        problem, detail = units.problem(unit, said, answering, has_context=has_context)
        if problem is None and withheld and not said:
            problem, detail = AbstentionReason.NO_CLAIMS, WITHHELD
        run = units.answering_run(unit, answering)
        readable = said is not None or problem is AbstentionReason.PARTIAL_ANSWER
        return Captured(
            run_id=run.id,
            trace_id=run.tree.root_id or run.id,
            interaction=self._interaction(unit, run, answering, found, said) if readable else None,
            problem=problem,
            detail=detail,
            started=datetime.fromtimestamp(run.time, UTC),
            trace=run.trace,
            places=run.places,
            notices=unit.run.notices,
        )

    def _interaction(
        self, unit: Unit, run: Run, answering: Run | None, found: list[Passage], said: str | None
    ) -> Interaction:
        key = self._keys_of(unit.run)["question_key"]
        nothing: dict[str, Any] = {}
        asked = self._part("question", lambda: questions.question(unit, key, answering, found), None)
        return Interaction(
            question=asked,
            contexts=found,
            answer=said or "",
            history=self._part("history", lambda: questions.history(unit, asked, said or "", answering), ()),
            id=str(run.id),
            metadata=self._part("labels", lambda: labels(unit, answering), nothing),
        )

    def instead(self, unit: Unit, whole: str) -> str:
        """The answer that a check inside has withheld, and put ``whole`` in its place; empty if unknown.

        A model that was told what stands there may have said the same itself.
        """
        spoken = any(said.strip() == whole.strip() for said in results.said_in(unit.models))
        held = () if spoken else reversed(unit.run.withheld)
        return next((answer for notice, answer in held if notice.strip() in whole), "")

    def is_step(self, unit: Unit, model: Run, supplied: Sequence[Run]) -> bool:
        """Whether the unit's answer, or its documents, went to a later model; what that one found itself."""
        return self._part("step", lambda: steps.is_step(unit, model, supplied), otherwise=False)

    def told_of(self, unit: Unit, tools: Sequence[Run]) -> list[Run]:
        """Those of the tools outside of the unit whose results its models were told."""
        none: list[Run] = []
        return self._part("step", lambda: steps.told_of(unit, tools), none) if tools else none

    def is_another_s(self, unit: Unit, others: Sequence[Unit]) -> bool:
        """Whether what the unit answers was said in one of the others, and by no model of its own."""
        key = self._keys_of(unit.run)["answer_key"]
        return self._part("step", lambda: steps.is_another_s(unit, key, others), otherwise=False)

    def is_shown(self, unit: Unit, top: Run, others: Sequence[Unit]) -> bool:
        """Whether the topmost run's output holds the unit's answer, and it is none of the others'."""
        return self._part("step", lambda: steps.is_shown(unit, top, others), otherwise=False)

    def built_on(
        self, run: Run, models: Sequence[Run], waiting: Sequence[Unit]
    ) -> tuple[Run, list[Unit]] | None:
        """The model that gave the chain's answer, where units below it gave theirs, and those it was told."""
        key = self._keys_of(run)["answer_key"]
        return self._part("step", lambda: steps.built_on(run, key, models, waiting), None)

    def _keys_of(self, run: Run) -> dict[str, Any]:
        return {**self._keys, **(run.keys or {})}

    def _part(self, name: str, read: Callable[[], T], otherwise: T) -> T:
        try:
            return read()
        except Exception as error:  # one broken part must not cost the others
            self.lost(name, error)
            return otherwise

    def unheard(self, run_id: UUID) -> None:
        """Hear that a run found documents and gave an answer, and that no model was heard: not captured."""

    # -- complaints --------------------------------------------------------------------------------------

    def lost(self, what: str, error: BaseException) -> None:
        """Log what could not be captured; at WARNING the first time, afterwards at DEBUG."""
        # The error's own words may hold what the application works on: they stay below WARNING.
        self.warn_once(
            f"{what}/{type(error).__name__}",
            "groundwire could not read the %s of a LangChain run (%s); the run itself is unharmed",
            what,
            type(error).__name__,
        )
        _LOG.debug("not captured: %s\n%s", what, Traced(error))

    def warn_once(self, kind: str, message: str, *args: object) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            _LOG.warning(message, *args)


def _first(given: Any, otherwise: Any) -> Any:
    """The first of what is handed over as a list; one that is none tells nothing."""
    return given[0] if isinstance(given, list | tuple) and given else otherwise


def redone(run: BaseRunManager) -> None:
    """Tell whoever captures a run that its answer is given up, and that it is asked for again."""
    for handler in run.handlers:
        if isinstance(handler, Capture):
            handler.redone(run.run_id)


def wrote(handlers: Iterable[object], run_id: UUID, decision: Decision, answer: str) -> None:
    """Tell whoever captures a run what it writes into its ``answer``, or instead of it."""
    instead = answer if decision.action is Action.REPLACE else ""
    for handler in handlers:
        if decision.text and isinstance(handler, Capture):
            handler.wrote(run_id, decision.text, instead)
