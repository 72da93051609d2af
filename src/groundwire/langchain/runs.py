"""The live runs of the host, as their events tell them, and when a chain of them has become an answer.

A chain answers when, below it, an outermost retriever has finished and a model was started afterwards; the
smallest such chain is a unit. It is judged when its topmost run ends, unless a later model of that run was
given its answer, or its documents, to read: then it was only a step, such as grading what was found, and
what it had gathered belongs to the larger chain. Where that model found documents of its own, as for a second
question that builds on the first, it belongs to that model's unit; and what the topmost run shows in the end
is an answer all the same. A larger chain whose answer is in a later model's very words, or made of those
after it was told of the unit's, is a unit too, and has the units that it was told of. Of runs in branches
that go on at once none is before or after another, whichever ends first. Nothing is read or judged here:
inputs and outputs are only kept, by reference, and ``Reading`` reads them.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from groundwire.langchain.declared import ANSWER, CONTEXT, JUDGE, KEYS, PREFIX, SKIP, UNIT, Block
from groundwire.langchain.tree import HIDDEN, NOTHING, Kind, Run, Tree, Unit, as_id

ABSENT = object()


class Reading(Protocol):
    """What units say, as far as it has to be known here."""

    def is_step(self, unit: Unit, model: Run, supplied: Sequence[Run]) -> bool:
        """Whether the unit's answer, or its documents, went to a later model; what that one found itself."""

    def built_on(
        self, run: Run, models: Sequence[Run], waiting: Sequence[Unit]
    ) -> tuple[Run, list[Unit]] | None:
        """The model that gave the chain's answer, where units below it gave theirs, and those it was told."""

    def told_of(self, unit: Unit, tools: Sequence[Run]) -> list[Run]:
        """Those of the tools outside of the unit whose results its models were told."""

    def is_another_s(self, unit: Unit, others: Sequence[Unit]) -> bool:
        """Whether what the unit answers was said in one of the others, and by no model of its own."""

    def is_shown(self, unit: Unit, top: Run, others: Sequence[Unit]) -> bool:
        """Whether the topmost run's output holds the unit's answer, and it is none of the others'."""


class Runs:
    """The map of live runs. Safe to share between threads; each event costs a few microseconds.

    At most ``max_runs`` are kept: beyond that the one started first is given up, and counted.
    """

    def __init__(self, max_runs: int, reading: Reading) -> None:
        self._max = max_runs
        self._reading = reading
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

    def known(self, run_id: UUID | str | None) -> bool:
        return run_id is not None and as_id(run_id).int in self._live

    def live(self, run_id: UUID) -> Run | None:
        """A run that has started and not ended, and is somebody's to listen to."""
        run = self._live.get(run_id.int)
        return None if run is None or run.scope.hidden else run

    def start(self, kind: Kind, run_id: UUID, parent_id: UUID | None, **about: Any) -> list[Unit]:
        """Note that a run has started; what is to be judged now is of runs that ended in its midst."""
        return self._in_turn(lambda: self._start(kind, run_id, parent_id, **about))

    def _start(
        self,
        kind: Kind,
        run_id: UUID,
        parent_id: UUID | None,
        *,
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
            tree, scope = Tree(None if isinstance(inputs, Block) else run_id), NOTHING
        else:
            tree, scope = parent.tree, parent.below()
        run = Run(run_id, kind, parent, tree, scope, inputs, next(self._order), time.time())
        if tags or metadata:
            run.tags, run.metadata = tags or (), metadata or {}
            self._declare(run, run.tags, run.metadata)
        if run.scope.hidden or tree.over:
            run.inputs = None
        elif run.answer or kind is Kind.MODEL:
            self._asked(run)
        live[run_id.int] = run
        tree.live += 1
        self._orphans += tree.over
        if len(live) > self._max:
            self._evict()
        return []

    def _asked(self, run: Run) -> None:
        """Take note of a model, which may have been given what units that wait have answered."""
        tree = run.tree
        if run.scope.retriever and not run.answer:
            tree.inner.append(run)
            return
        for unit in list(tree.waiting):
            if run.beside(unit.run):
                continue
            supplied = tree.supplied(run, unit)
            if self._reading.is_step(unit, run, supplied):
                unit.read_by.append(run)
                if not supplied:
                    tree.give_back(unit)
        tree.models.append(run)

    def _declare(self, run: Run, tags: Iterable[str], metadata: Mapping[str, Any]) -> None:
        """Take note of what was declared. It is inherited, so the topmost run that carries it is meant."""
        scope = run.scope
        if not scope.unit and isinstance(keys := metadata.get(KEYS), Mapping):
            run.unit, run.keys = True, keys
        for tag in tags:
            if not tag.startswith(PREFIX):
                continue
            if tag in (JUDGE, SKIP):
                run.scope = HIDDEN
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
        elif run.kind is Kind.RETRIEVER:
            tree.inner.append(run)
        elif run.kind is Kind.TOOL and not scope.context:
            tree.tools.append(run)
        elif run.kind is Kind.PROMPT:
            tree.prompts.append(run)
        return self._ready(run, self._unit(run))

    def _ready(self, run: Run, unit: Unit | None) -> list[Unit]:
        """What is to be judged now that ``run`` is over: what was declared at once, the rest at the end."""
        tree = run.tree
        if run.parent is not None and (unit is None or run.unit):
            return [] if unit is None else [unit]
        if unit is not None and self._reading.is_another_s(unit, tree.waiting):
            unit = None  # an agent had searched, and then handed over to one that was not told what it found
        if unit is not None:
            tree.waiting.append(unit)
        if run.parent is not None:
            return tree.overdue()
        if tree.live:
            self._outlived(tree)
        ready, tree.waiting = tree.waiting, []
        tree.take(run)
        shown = [step for step in tree.steps if self._reading.is_shown(step, run, ready)]
        tree.steps.clear()
        return [*shown, *ready]

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
        if run.unit or (
            not run.scope.unit and run.kind is Kind.CHAIN and (tree.answers(run) or self._builds(run))
        ):
            tree.answered |= run.unit
            unit = tree.take(run)
            if told := self._reading.told_of(unit, tree.earlier_tools(unit)):
                tree.lend(unit, told)
            return unit
        if (
            run.parent is not None
            or tree.answered
            or tree.waiting
            or bool(tree.models) == bool(tree.retrievals)
            or (run.kind is Kind.RETRIEVER and not tree.models)
        ):
            # With models and documents left over, these were found after the last of those had started:
            # nothing has answered from them.
            return None
        unit = tree.take(run)
        unit.unheard = not unit.models
        return unit

    def _builds(self, run: Run) -> bool:
        """Whether a model below ``run`` gave its answer, where units did before; those it was told of."""
        tree = run.tree
        if not tree.models or all(unit.run.started < run.started for unit in tree.waiting):
            return False  # the most frequent case by far
        below = [unit for unit in tree.waiting if unit.run.within(run)]
        models = [model for model in tree.models if model.within(run)]
        built = self._reading.built_on(run, models, below) if below and models else None
        if built is None:
            return False
        builder, told = built
        for unit in told:
            unit.read_by.append(builder)
        return True

    def redo(self, run_id: UUID) -> None:
        """Note that a run begins anew: what it has gathered is forgotten, and what it was asked counts."""

        def event() -> list[Unit]:
            run = self._live.get(run_id.int)
            if run is not None:
                run.redone = True
                run.tree.forget(run)
            return []

        self._in_turn(event)

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
_GONE = Run(UUID(int=0), Kind.CHAIN, None, Tree(None), NOTHING, None, 0, 0.0, closed=True)
