"""The live runs of the host, as their events tell them, and when a chain of them has become an answer.

A chain answers when, below it, an outermost retriever has finished and a model was started afterwards; the
smallest such chain is a unit. It is judged when its topmost run ends, unless a later model of that run was
given its answer, or its documents, to read: then it was only a step, such as grading what was found, and
what it had gathered belongs to the larger chain. Nothing is read or judged here: inputs and outputs are only
kept, by reference, and ``is_step`` reads them.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from uuid import UUID

from groundwire.langchain.declared import ANSWER, CONTEXT, JUDGE, KEYS, PREFIX, SKIP, UNIT, Block

_GATHERED = ("retrievals", "models", "prompts", "tools")
_MOST_WAITING = 32
_PER_TREE = 1000  # a run that never ends must not collect for ever; of each kind the latest are kept
ABSENT = object()


class Kind(Enum):
    """What a run is to us."""

    CHAIN = "chain"
    PROMPT = "prompt"
    MODEL = "model"
    RETRIEVER = "retriever"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Scope:
    """What a run is part of. Runs share one until something changes, so that most events pay for none."""

    hidden: bool = False
    unit: bool = False
    context: bool = False
    answer: bool = False
    retriever: bool = False
    tool: Run | None = None


_NOTHING = Scope()
_HIDDEN = Scope(hidden=True)


@dataclass(slots=True, eq=False, repr=False)
class Run:
    """One run between its start and end event; ``started`` and ``ended`` count the events of the process.

    ``unit``, ``context`` and ``answer`` say that this very run was declared to be one; ``scope`` is what it
    is part of. Runs refer upwards only, so that what they hold is freed with them, and not when a garbage
    collection comes round.
    """

    id: UUID
    kind: Kind
    parent: Run | None
    tree: Tree
    scope: Scope
    inputs: Any
    started: int
    time: float
    outputs: Any = None
    ended: int | None = None
    closed: bool = False
    unit: bool = False
    context: bool = False
    answer: bool = False
    keys: Mapping[str, Any] | None = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def below(self) -> Scope:
        """What the runs are part of that this one starts."""
        scope = self.scope
        searching = self.kind is Kind.RETRIEVER or self.kind is Kind.TOOL
        if scope.hidden or not (searching or self.unit or self.context or self.answer):
            return scope
        return Scope(
            unit=scope.unit or self.unit,
            context=scope.context or self.context,
            answer=scope.answer or self.answer,
            retriever=scope.retriever or self.kind is Kind.RETRIEVER,
            tool=scope.tool or (self if self.kind is Kind.TOOL else None),
        )

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
    waiting: list[Unit] = field(default_factory=list)
    answered: bool = False
    interrupted: bool = False
    live: int = 0
    over: bool = False

    def take(self, run: Run) -> Unit:
        """Everything gathered below ``run``, which no other unit will see."""
        unit = Unit(run=run, interrupted=self.interrupted)
        for name in _GATHERED:
            runs: deque[Run] = getattr(self, name)
            if runs:
                getattr(unit, name).extend(other for other in runs if other.within(run))
                kept = [other for other in runs if not other.within(run)]
                runs.clear()
                runs.extend(kept)
        unit.unfinished = [model for model in unit.models if model.ended is None]
        return unit

    def give_back(self, unit: Unit) -> None:
        """Undo ``take``: the unit was only a step, and a larger chain will take what it had gathered."""
        self.waiting = [other for other in self.waiting if other is not unit]
        for name in _GATHERED:
            runs: deque[Run] = getattr(self, name)
            together = sorted([*getattr(unit, name), *runs], key=lambda run: run.started)
            runs.clear()
            runs.extend(together)

    def forget(self, run: Run) -> None:
        """Let go of everything below a run that has failed, or of all when it is the topmost."""
        self.take(run)
        self.waiting = [unit for unit in self.waiting if not unit.run.within(run)]

    def supplies(self, model: Run, unit: Unit) -> bool:
        """Whether the model has a retrieval of its own, found by a chain that the unit is no part of."""
        return any(not unit.run.within(_common(retrieval, model)) for retrieval in self.retrievals)

    def answers(self, run: Run) -> bool:
        """Whether a model was started below ``run`` after a retrieval below it had finished."""
        if not self.retrievals or not self.models:
            return False
        first = next((r.ended for r in self.retrievals if r.within(run)), None)
        return first is not None and any(m.started > first and m.within(run) for m in reversed(self.models))


@dataclass(slots=True, kw_only=True, repr=False)
class Unit:
    """One answer's worth of runs: the run that answered, and what was gathered below it, in order.

    ``telling`` is kept for ``is_step``, which may be asked often. ``unfinished`` are the models that had not
    ended when the run did. ``abandoned`` says that whoever read its output stopped before the end, and
    ``unheard`` that documents were found below the topmost run and no model was heard at all.
    """

    run: Run
    retrievals: list[Run] = field(default_factory=list)
    models: list[Run] = field(default_factory=list)
    prompts: list[Run] = field(default_factory=list)
    tools: list[Run] = field(default_factory=list)
    unfinished: list[Run] = field(default_factory=list)
    telling: tuple[str, ...] | None = None
    unheard: bool = False
    abandoned: bool = False
    interrupted: bool = False


IsStep = Callable[[Unit, Run, bool], bool]
"""Whether a unit's answer or documents went to a later model, which has documents of its own or not."""


class Runs:
    """The map of live runs. Safe to share between threads; each event costs a few microseconds.

    At most ``max_runs`` are kept: beyond that the one started first is given up, and counted.
    """

    def __init__(self, max_runs: int, is_step: IsStep) -> None:
        self._max = max_runs
        self._is_step = is_step
        self._live: dict[int, Run] = {}  # by the id's number: hashing that is several times faster
        self._order = itertools.count(1)
        self._orphans = 0
        self.after_fork()
        self.evicted = 0

    def __len__(self) -> int:
        return len(self._live) - self._orphans

    def after_fork(self) -> None:
        """Begin with a lock of its own in a forked child, in which whoever held it does not exist."""
        self._lock = threading.RLock()
        self._busy = False
        self._later: deque[Callable[[], list[Unit]]] = deque()

    def _in_turn(self, event: Callable[[], list[Unit]]) -> list[Unit]:
        """Take note of one event alone, and what is to be judged after it.

        In the midst of one the garbage collector may close a stream that nobody reads any more, whose end is
        an event of the very same thread: that one has to wait until this one is done.
        """
        with self._lock:
            if self._busy:
                self._later.append(event)
                return []
            self._busy = True
            try:
                ready = event()
                while self._later:
                    ready = [*ready, *self._later.popleft()()]
            finally:
                self._busy = False
            return ready

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
    ) -> list[Unit]:
        """Note that a run has started; what is to be judged now is of runs that ended in its midst."""
        return self._in_turn(lambda: self._start(kind, run_id, parent_id, tags, metadata, inputs))

    def _start(  # noqa: PLR0917 - as above
        self,
        kind: Kind,
        run_id: UUID,
        parent_id: UUID | None,
        tags: list[str] | None,
        metadata: Mapping[str, Any] | None,
        inputs: Any,
    ) -> list[Unit]:
        live = self._live
        if run_id.int in live:  # a handler that is listed twice hears of the topmost run twice
            return []
        # A run whose parent was never seen is topmost for us, whatever id it names as its parent.
        parent = live.get(parent_id.int) if parent_id is not None else None
        if parent is None:
            tree, scope = Tree(None if isinstance(inputs, Block) else run_id), _NOTHING
        else:
            tree, scope = parent.tree, parent.below()
        run = Run(run_id, kind, parent, tree, scope, inputs, next(self._order), time.time())
        if tags or metadata:
            run.tags, run.metadata = tags or (), metadata or {}
            self._declare(run, run.tags, run.metadata)
        if run.scope.hidden or tree.over:
            run.inputs = None
        elif run.answer or (kind is Kind.MODEL and not scope.retriever):
            for unit in [unit for unit in tree.waiting if self._is_step(unit, run, tree.supplies(run, unit))]:
                tree.give_back(unit)
            tree.models.append(run)
        live[run_id.int] = run
        tree.live += 1
        self._orphans += tree.over
        if len(live) > self._max:
            self._evict()
        return []

    def _declare(self, run: Run, tags: Iterable[str], metadata: Mapping[str, Any]) -> None:
        """Take note of what was declared. It is inherited, so the topmost run that carries it is meant."""
        scope = run.scope
        if not scope.unit and isinstance(keys := metadata.get(KEYS), Mapping):
            run.unit, run.keys = True, keys
        for tag in tags:
            if not tag.startswith(PREFIX):
                continue
            if tag in (JUDGE, SKIP):
                run.scope = _HIDDEN
            elif tag == UNIT:
                run.unit = not scope.unit
            elif tag == CONTEXT:
                run.context = not scope.context
            elif tag == ANSWER:
                run.answer = not scope.answer

    def _evict(self) -> None:
        run = self._live.pop(next(iter(self._live)))
        self._leave(run)
        self.evicted += not run.tree.over

    def _leave(self, run: Run) -> None:
        run.closed = True
        run.tree.live -= 1
        self._orphans -= run.tree.over

    def end(self, run_id: UUID, outputs: Any, inputs: Any = ABSENT) -> list[Unit]:
        """Note that a run has ended; the units that are to be judged now, if any."""
        return self._in_turn(lambda: self._end(run_id, outputs, inputs))

    def _end(self, run_id: UUID, outputs: Any, inputs: Any) -> list[Unit]:
        run = self._close(run_id, inputs)
        if run is None:
            return []
        run.ended, run.outputs = next(self._order), outputs
        tree, scope = run.tree, run.scope
        if run.context or (run.kind is Kind.RETRIEVER and not scope.retriever and not scope.context):
            tree.retrievals.append(run)
        elif run.kind is Kind.TOOL and scope.tool is None and not scope.context:
            tree.tools.append(run)
        elif run.kind is Kind.PROMPT:
            tree.prompts.append(run)
        return self._ready(run, self._unit(run))

    def _ready(self, run: Run, unit: Unit | None) -> list[Unit]:
        """What is to be judged now that ``run`` is over: what was declared at once, the rest at the end."""
        tree = run.tree
        if run.parent is not None and (unit is None or run.unit):
            return [] if unit is None else [unit]
        if unit is not None:
            tree.waiting.append(unit)
        if run.parent is not None:
            # A topmost run may go on for days: what has waited so long is taken for an answer.
            return [tree.waiting.pop(0)] if len(tree.waiting) > _MOST_WAITING else []
        if tree.live:
            self._outlived(tree)
        ready, tree.waiting = tree.waiting, []
        tree.take(run)
        return ready

    def _outlived(self, tree: Tree) -> None:
        """Keep the runs that outlive their topmost one, since runs that they start answer nobody either.

        A reader that went away leaves such runs behind, and they may never end: what they hold is let go.
        """
        tree.over = True
        self._orphans += tree.live
        for run in self._live.values():
            if run.tree is tree:
                run.inputs, run.parent = None, _GONE

    def _close(self, run_id: UUID, inputs: Any) -> Run | None:
        """A live run that is over; None if it is none of ours, or of nobody's any more."""
        run = self._live.pop(run_id.int, None)
        if run is None:
            return None
        self._leave(run)
        if run.scope.hidden:
            return None
        if inputs is not ABSENT:  # a stream learns its input while it runs
            run.inputs = inputs
        return None if run.orphaned() else run

    def _unit(self, run: Run) -> Unit | None:
        tree = run.tree
        if run.unit or (not run.scope.unit and run.kind is Kind.CHAIN and tree.answers(run)):
            tree.answered |= run.unit
            return tree.take(run)
        if (
            run.parent is not None
            or tree.answered
            or tree.waiting
            or bool(tree.models) == bool(tree.retrievals)
        ):
            # With models and documents left over, these were found after the last of those had started:
            # nothing has answered from them.
            return None
        unit = tree.take(run)
        unit.unheard = not unit.models
        return unit

    def fail(self, run_id: UUID, error: BaseException, inputs: Any = ABSENT) -> list[Unit]:
        """Note that a run has failed; what it gathered is forgotten, unless its reader merely went away."""

        def event() -> list[Unit]:
            run = self._close(run_id, inputs)
            return [] if run is None else self._ready(run, self._failed(run, error))

        return self._in_turn(event)

    def _failed(self, run: Run, error: BaseException) -> Unit | None:
        tree = run.tree
        # By name, since a chain needs no LangGraph: its control flow travels as exceptions.
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if "GraphBubbleUp" in kinds:
            tree.interrupted |= "GraphInterrupt" in kinds
            return None
        if not isinstance(error, GeneratorExit | asyncio.CancelledError):
            tree.forget(run)
            return None
        if run.unit or (not run.scope.unit and run.kind is Kind.CHAIN and tree.answers(run)):
            tree.answered |= run.unit
            unit = tree.take(run)
            unit.abandoned = True
            return unit
        return None


# What outlives its tree is part of this, and no longer of runs that hold what the application worked on.
_GONE = Run(UUID(int=0), Kind.CHAIN, None, Tree(None), _NOTHING, None, 0, 0.0, closed=True)


def _common(one: Run, other: Run) -> Run:
    """The smallest run that both are part of. Two runs of one tree always have one."""
    run = one
    while not other.within(run):
        assert run.parent is not None
        run = run.parent
    return run
