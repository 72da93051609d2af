"""What is kept of one topmost run while it goes on: its runs, and what they have gathered.

When that becomes an answer is decided in ``runs``.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

_BRANCH, _NODE = "map:key:", "graph:step:"  # LangChain's tags of what runs at once; a node's has its step
_GATHERED = ("retrievals", "models", "prompts", "tools", "inner")
_MOST_WAITING = 256  # answers that may be steps of a later one; each is looked for in what models are given
_MANY_WAITING, _LONG = 32, 600  # of more than these none waits for more than ten minutes
_NOTICES = 200  # that are kept of a run
_PER_TREE = 1000  # a run that never ends must not collect for ever; of each kind the latest are kept


def as_id(run_id: UUID | str) -> UUID:
    """A run's id, which an application such as LangServe may give as text: LangChain hands it on as it is."""
    if isinstance(run_id, UUID):
        return run_id
    try:
        return UUID(run_id)
    except ValueError:
        return uuid5(NAMESPACE_OID, run_id)


class Kind(Enum):
    """What a run is to us."""

    CHAIN = "chain"
    PROMPT = "prompt"
    MODEL = "model"
    RETRIEVER = "retriever"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Scope:
    """What a run is part of, such as its nearest tool. Runs share one until something changes."""

    hidden: bool = False
    unit: bool = False
    context: bool = False
    answer: bool = False
    retriever: bool = False
    tool: Run | None = None


NOTHING = Scope()
HIDDEN = Scope(hidden=True)


@dataclass(slots=True, eq=False, repr=False)
class Run:
    """One run between its start and end event; ``started`` and ``ended`` count the events of the process.

    ``unit``, ``context`` and ``answer`` say that this very run was declared to be one, ``redone`` that it has
    asked again in other words than it was asked; ``scope`` is what it is part of, and ``notices`` what checks
    in it have written into answers, and ``withheld`` what instead of. ``serialized`` is what LangChain tells
    of a prompt's template, or of a tool. Runs refer upwards only, so that what
    they hold is freed with them, and not when a garbage collection comes round. ``trace`` and
    ``places`` are whatever a listener wants to know of where the run is traced.
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
    redone: bool = False
    unit: bool = False
    context: bool = False
    answer: bool = False
    keys: Mapping[str, Any] | None = None
    serialized: Any = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    trace: Any = None
    places: Any = None
    notices: tuple[str, ...] = ()
    withheld: tuple[tuple[str, str], ...] = ()

    def note(self, notice: str, instead: str = "") -> None:
        """Note what a check of this run has written, and what ``instead`` of, here and in all around it."""
        run: Run | None = self
        while run is not None:
            if instead:
                run.withheld = (*run.withheld, (notice, instead))[-_NOTICES:]
            if notice not in run.notices:
                run.notices = (*run.notices, notice)[-_NOTICES:]
            run = run.parent

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
            tool=self if self.kind is Kind.TOOL else scope.tool,
        )

    def within(self, other: Run) -> bool:
        """Whether this run is part of the other, or the same."""
        run: Run | None = self
        while run is not None:
            if run is other:
                return True
            run = run.parent
        return False

    def up_to(self, top: Run | None) -> Iterator[Run]:
        """The run itself, and what it is part of below ``top``; None for all of it."""
        run: Run | None = self
        while run is not None and run is not top:
            yield run
            run = run.parent

    def beside(self, other: Run) -> bool:
        """Whether neither could wait for the other: they went on at once, or in branches that do.

        Which of two branches begins or ends first is chance, and tells nothing of what was told to whom.
        """
        own, theirs = [*self.up_to(None)], [*other.up_to(None)]
        while own and theirs and own[-1] is theirs[-1]:
            own.pop()
            theirs.pop()
        if not own or not theirs:
            return False
        went_on = self.ended is None or self.ended > other.started
        if went_on and (other.ended is None or other.ended > self.started):
            return True
        return not _branches(own[-1]).isdisjoint(_branches(theirs[-1]))

    def follows(self, other: Run) -> bool:
        """Whether this run was started when the other had ended, and not by chance."""
        return other.ended is not None and self.started > other.ended and not self.beside(other)

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
    inner: deque[Run] = field(default_factory=lambda: deque(maxlen=_PER_TREE))
    lent: deque[Run] = field(default_factory=lambda: deque(maxlen=_PER_TREE))  # retrievals
    waiting: list[Unit] = field(default_factory=list)
    steps: deque[Unit] = field(default_factory=lambda: deque(maxlen=_MOST_WAITING))
    answered: bool = False
    interrupted: bool = False
    live: int = 0
    over: bool = False

    def take(self, run: Run) -> Unit:
        """Everything gathered below ``run``, and by the steps that led there."""
        unit = self._gathered(run)
        for step in [step for step in self.waiting if step.led_to(unit)]:
            for name in _GATHERED:
                setattr(unit, name, _in_order([*getattr(step, name), *getattr(unit, name)]))
            self.waiting.remove(step)
            self.steps.append(step)
        return unit

    def _gathered(self, run: Run) -> Unit:
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
            together = _in_order([*getattr(unit, name), *runs])
            runs.clear()
            runs.extend(together)

    def overdue(self) -> list[Unit]:
        """What has waited so long for a later answer that it is taken for one: a run may go on for days."""
        waiting = len(self.waiting)
        if waiting <= _MANY_WAITING:
            return []
        is_old = time.time() - self.waiting[0].run.time > _LONG
        return [self.waiting.pop(0)] if is_old or waiting > _MOST_WAITING else []

    def earlier_tools(self, unit: Unit) -> list[Run]:
        """The tools outside of the unit that had answered before a model of it was asked."""
        last = max((model.started for model in unit.models), default=0)
        return [tool for tool in self.tools if tool.ended is not None and tool.ended < last]

    def lend(self, unit: Unit, tools: Sequence[Run]) -> None:
        """Give the unit tools outside of it, with what was gathered in them.

        Others may have been told of them as well, be they steps of those; but what they found was not left
        for a larger chain.
        """
        for name in _GATHERED:
            runs: deque[Run] = getattr(self, name)
            taken = (run for step in self.steps for run in getattr(step, name))
            lent = self.lent if name == "retrievals" else ()
            inside = [run for run in (*runs, *taken, *lent) if any(run.within(tool) for tool in tools)]
            setattr(unit, name, _in_order([*inside, *getattr(unit, name)]))
            if name == "retrievals":
                self.lent.extend(run for run in inside if run not in self.lent)
                theirs = set(inside)
                left = [run for run in runs if run not in theirs]
                runs.clear()
                runs.extend(left)

    def forget(self, run: Run) -> None:
        """Let go of everything below a run that has failed, or of all when it is the topmost."""
        self._gathered(run)
        for units in (self.waiting, self.steps):
            for unit in [unit for unit in units if unit.run.within(run)]:
                units.remove(unit)

    def supplied(self, model: Run, unit: Unit) -> list[Run]:
        """The retrievals that are the model's own, found by a chain that the unit is no part of."""
        own = [found for found in self.retrievals if model.follows(found)]
        return [found for found in own if not unit.run.within(_common(found, model))]

    def answers(self, run: Run) -> bool:
        """Whether a model was started below ``run`` after a retrieval below it had finished."""
        if not self.retrievals or not self.models:
            return False
        found = [retrieval for retrieval in self.retrievals if retrieval.within(run)]
        asked = [model for model in reversed(self.models) if model.within(run)] if found else []
        return any(model.follows(retrieval) for model in asked for retrieval in reversed(found))


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Unit:
    """One answer's worth of runs: the run that answered, and what was gathered below it, in order.

    ``inner`` are the models and retrievers inside of a retriever, which may have made its documents.
    ``sayings``, ``openings`` and ``telling`` are kept for ``Reading``, which may be asked often.
    ``unfinished`` are the models that had not ended when the run did, and ``read_by`` those whose own answer
    was made of this one. ``abandoned`` says that whoever read its output stopped before the end, and
    ``unheard`` that documents were found below the topmost run and no model was heard at all.
    """

    run: Run
    retrievals: list[Run] = field(default_factory=list)
    models: list[Run] = field(default_factory=list)
    prompts: list[Run] = field(default_factory=list)
    tools: list[Run] = field(default_factory=list)
    inner: list[Run] = field(default_factory=list)
    unfinished: list[Run] = field(default_factory=list)
    read_by: list[Run] = field(default_factory=list)
    sayings: tuple[str, ...] | None = None
    openings: tuple[str, ...] | None = None
    telling: tuple[str, ...] | None = None
    unheard: bool = False
    abandoned: bool = False
    interrupted: bool = False

    def led_to(self, later: Unit) -> bool:
        """Whether the later unit's answer was made of this one's."""
        return any(reader is model for reader in self.read_by for model in later.models)


def _branches(run: Run) -> set[str]:
    """As which branch of a step a run was started, if as one of several that go on at once."""
    tags = (tag for tag in run.tags if tag.startswith((_BRANCH, _NODE)))
    return {_BRANCH if tag.startswith(_BRANCH) else tag for tag in tags}


def _in_order(runs: Sequence[Run]) -> list[Run]:
    """Runs as they started, each once: a tool may have been lent to several units."""
    return sorted(dict.fromkeys(runs), key=lambda run: run.started)


def _common(one: Run, other: Run) -> Run:
    """The smallest run that both are part of. Two runs of one tree always have one."""
    run = one
    while not other.within(run):
        assert run.parent is not None
        run = run.parent
    return run
