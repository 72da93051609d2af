"""The live runs of the host, as their events tell them, and when a chain of them has become an answer.

A chain answers when, below it, an outermost retriever has finished and a model was started afterwards; the
smallest such chain is the unit that is judged. Nothing is read or judged here: inputs and outputs are only
kept, by reference, until their unit ends.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from uuid import UUID

from groundwire.langchain.declared import ANSWER, CONTEXT, JUDGE, KEYS, PREFIX, SKIP, UNIT, Block

_PER_TREE = 1000  # a run that never ends must not collect for ever; of each kind the latest are kept
ABSENT = object()


class Kind(Enum):
    """What a run is to us."""

    CHAIN = "chain"
    PROMPT = "prompt"
    MODEL = "model"
    RETRIEVER = "retriever"
    TOOL = "tool"


@dataclass(slots=True, eq=False, repr=False)
class Run:
    """One run between its start and end event; ``started`` and ``ended`` count the events of the process.

    ``unit``, ``context`` and ``answer`` say that this very run was declared to be one, and the ``in_`` names
    that it is part of such a run. Runs refer upwards only, so that what they hold is freed with them, and
    not when a garbage collection comes round.
    """

    id: UUID
    kind: Kind
    parent: Run | None
    tree: Tree
    inputs: Any
    started: int
    time: float
    outputs: Any = None
    ended: int | None = None
    closed: bool = False
    hidden: bool = False
    keys: Mapping[str, Any] | None = None
    unit: bool = False
    context: bool = False
    answer: bool = False
    in_unit: bool = False
    in_context: bool = False
    in_answer: bool = False
    in_retriever: bool = False
    in_tool: Run | None = None

    def within(self, other: Run) -> bool:
        """Whether this run is part of the other, or the same."""
        run: Run | None = self
        while run is not None:
            if run is other:
                return True
            run = run.parent
        return False

    def orphaned(self) -> bool:
        """Whether a run that this one is part of has already ended without it."""
        run = self.parent
        while run is not None:
            if run.closed:
                return True
            run = run.parent
        return False


@dataclass(slots=True, eq=False, repr=False)
class Tree:
    """What one topmost run has gathered so far that no unit below it has taken."""

    root_id: UUID | None  # None for a block, which is no run of the host
    retrievals: deque[Run] = field(default_factory=lambda: deque(maxlen=_PER_TREE))
    models: deque[Run] = field(default_factory=lambda: deque(maxlen=_PER_TREE))
    prompts: deque[Run] = field(default_factory=lambda: deque(maxlen=_PER_TREE))
    tools: deque[Run] = field(default_factory=lambda: deque(maxlen=_PER_TREE))
    answered: bool = False
    interrupted: bool = False

    def take(self, run: Run) -> Unit:
        """Everything gathered below ``run``, which no other unit will see."""
        unit = Unit(run=run, interrupted=self.interrupted)
        for name in ("retrievals", "models", "prompts", "tools"):
            runs: deque[Run] = getattr(self, name)
            if runs:
                getattr(unit, name).extend(other for other in runs if other.within(run))
                kept = [other for other in runs if not other.within(run)]
                runs.clear()
                runs.extend(kept)
        return unit

    def clear(self) -> None:
        """Let go of what nothing will take any more."""
        for runs in (self.retrievals, self.models, self.prompts, self.tools):
            runs.clear()

    def answers(self, run: Run) -> bool:
        """Whether a model was started below ``run`` after a retrieval below it had finished."""
        if not self.retrievals or not self.models:
            return False
        first = next((r.ended for r in self.retrievals if r.within(run)), None)
        return first is not None and any(m.started > first and m.within(run) for m in reversed(self.models))


@dataclass(slots=True, kw_only=True, repr=False)
class Unit:
    """One answer's worth of runs: the run that answered, and what was gathered below it, in order.

    ``expected`` is False when nothing marks the run as one that answers from documents, but a model ran.
    ``abandoned`` says that whoever read its output stopped before the end.
    """

    run: Run
    retrievals: list[Run] = field(default_factory=list)
    models: list[Run] = field(default_factory=list)
    prompts: list[Run] = field(default_factory=list)
    tools: list[Run] = field(default_factory=list)
    expected: bool = True
    abandoned: bool = False
    interrupted: bool = False


class Runs:
    """The map of live runs. Safe to share between threads; each event costs a few microseconds.

    At most ``max_runs`` are kept: beyond that the one started first is given up, and counted.
    """

    def __init__(self, max_runs: int) -> None:
        self._max = max_runs
        self._live: dict[int, Run] = {}  # by the id's number: hashing that is several times faster
        self._order = itertools.count(1)
        self.after_fork()
        self.evicted = 0

    def __len__(self) -> int:
        return len(self._live)

    def after_fork(self) -> None:
        """Begin with a lock of its own in a forked child, in which whoever held it does not exist."""
        self._lock = threading.Lock()

    def known(self, run_id: UUID | None) -> bool:
        return run_id is not None and run_id.int in self._live

    def start(
        self,
        kind: Kind,
        run_id: UUID,
        parent_id: UUID | None,
        *,
        tags: list[str] | None,
        metadata: Mapping[str, Any] | None,
        inputs: Any,
    ) -> None:
        with self._lock:
            live = self._live
            if run_id.int in live:  # a handler that is listed twice hears of the topmost run twice
                return
            # A run whose parent was never seen is topmost for us, whatever id it names as its parent.
            parent = live.get(parent_id.int) if parent_id is not None else None
            tree = Tree(None if isinstance(inputs, Block) else run_id) if parent is None else parent.tree
            run = Run(run_id, kind, parent, tree, inputs, next(self._order), time.time())
            if parent is not None:
                run.hidden = parent.hidden
                run.in_unit = parent.in_unit or parent.unit
                run.in_context = parent.in_context or parent.context
                run.in_answer = parent.in_answer or parent.answer
                run.in_retriever = parent.in_retriever or parent.kind is Kind.RETRIEVER
                run.in_tool = parent.in_tool or (parent if parent.kind is Kind.TOOL else None)
            if tags or metadata:
                self._declare(run, tags or (), metadata or {})
            if run.hidden:
                run.inputs = None
            elif run.answer or (kind is Kind.MODEL and not run.in_retriever):
                tree.models.append(run)
            live[run_id.int] = run
            if len(live) > self._max:
                self._evict()

    def _declare(self, run: Run, tags: Iterable[str], metadata: Mapping[str, Any]) -> None:
        """Take note of what was declared. It is inherited, so the topmost run that carries it is meant."""
        if not run.in_unit and isinstance(keys := metadata.get(KEYS), Mapping):
            run.unit, run.keys = True, keys
        for tag in tags:
            if not tag.startswith(PREFIX):
                continue
            if tag in (JUDGE, SKIP):
                run.hidden = True
            elif tag == UNIT:
                run.unit = not run.in_unit
            elif tag == CONTEXT:
                run.context = not run.in_context
            elif tag == ANSWER:
                run.answer = not run.in_answer

    def _evict(self) -> None:
        run = self._live.pop(next(iter(self._live)))
        run.closed = True
        self.evicted += 1

    def end(self, run_id: UUID, outputs: Any, inputs: Any = ABSENT) -> Unit | None:
        """Note that a run has ended; the unit that has become whole by it, if one has."""
        with self._lock:
            run = self._close(run_id, inputs)
            if run is None:
                return None
            run.ended, run.outputs = next(self._order), outputs
            tree = run.tree
            if run.context or (run.kind is Kind.RETRIEVER and not run.in_retriever and not run.in_context):
                tree.retrievals.append(run)
            elif run.kind is Kind.TOOL and run.in_tool is None and not run.in_context:
                tree.tools.append(run)
            elif run.kind is Kind.PROMPT:
                tree.prompts.append(run)
            unit = self._unit(run)
            if run.parent is None:
                tree.clear()
            return unit

    def _close(self, run_id: UUID, inputs: Any) -> Run | None:
        """A live run that is over; None if it is none of ours, or of nobody's any more."""
        run = self._live.pop(run_id.int, None)
        if run is None or run.hidden:
            return None
        run.closed = True
        if inputs is not ABSENT:  # a stream learns its input while it runs
            run.inputs = inputs
        return None if run.orphaned() else run

    def _unit(self, run: Run) -> Unit | None:
        tree = run.tree
        if run.unit or (not run.in_unit and run.kind is Kind.CHAIN and tree.answers(run)):
            tree.answered = True
            return tree.take(run)
        if run.parent is not None or tree.answered or not tree.models or tree.retrievals:
            # With documents left over, they were found after the last model had started: nothing has
            # answered from them.
            return None
        unit = tree.take(run)
        unit.expected = False
        return unit

    def fail(self, run_id: UUID, error: BaseException, inputs: Any = ABSENT) -> Unit | None:
        """Note that a run has failed; what it gathered is forgotten, unless its reader merely went away."""
        with self._lock:
            run = self._close(run_id, inputs)
            if run is None:
                return None
            unit = self._failed(run, error)
            if run.parent is None:
                run.tree.clear()
            return unit

    def _failed(self, run: Run, error: BaseException) -> Unit | None:
        tree = run.tree
        # By name, since a chain needs no LangGraph: its control flow travels as exceptions.
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if "GraphBubbleUp" in kinds:
            tree.interrupted |= "GraphInterrupt" in kinds
            return None
        if not isinstance(error, GeneratorExit | asyncio.CancelledError):
            tree.take(run)
            return None
        if run.unit or (not run.in_unit and run.kind is Kind.CHAIN and tree.answers(run)):
            tree.answered = True
            unit = tree.take(run)
            unit.abandoned = True
            return unit
        return None
