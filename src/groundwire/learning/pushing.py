"""Kept answers given to LangSmith: labels as feedback, examples of a dataset, runs in an annotation queue.

What would go is known, and can be told, before anything goes. Ids are made from what they stand for, so that
to push again changes only what has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from groundwire.core.errors import ConfigurationError
from groundwire.core.redaction import Redact, masked, masked_interaction
from groundwire.learning import sending
from groundwire.learning.pulling import KEY, SOURCE, connected, run_of
from groundwire.learning.sending import QUEUED
from groundwire.monitor import Filter, Kept, Label, Monitor, Queue

if TYPE_CHECKING:
    from langsmith import Client

_AT_ONCE = 100
_ALL = Filter()


@dataclass(frozen=True, kw_only=True)
class Pushed:
    """What was sent. ``unchanged`` was there already; ``missing`` runs are not in the project."""

    examples: int = 0
    runs: int = 0
    labels: int = 0
    unchanged: int = 0
    missing: int = 0


@dataclass(frozen=True, kw_only=True)
class Push:
    """What would go to LangSmith, and where. Nothing has gone yet.

    ``examples`` go to ``dataset``; the runs of ``queued`` to ``queue``; ``labelled`` get feedback.
    """

    monitor: Monitor = field(repr=False)
    project: str
    dataset: str = ""
    queue: str = ""
    examples: tuple[Label, ...] = field(default=(), repr=False)
    queued: tuple[Kept, ...] = field(default=(), repr=False)
    labelled: tuple[Label, ...] = field(default=(), repr=False)
    notes: bool = False

    def lines(self) -> Iterator[str]:
        """What goes, in words, one thing a line."""
        if self.dataset:
            passages = sum(len(_seen(one.kept).contexts) for one in self.examples)
            yield (
                f"{len(self.examples):,} examples to the dataset {self.dataset!r}: question, answer, "
                f"{passages:,} passages and the reviewers' label of each"
            )
        if self.queue:
            yield (
                f"{len(self.queued):,} runs of the project {self.project!r} to the annotation queue "
                f"{self.queue!r}: ids alone. LangSmith keeps traces in a queue for its longer, dearer period"
            )
        if self.labelled:
            with_notes = ", and the reviewers' notes" if self.notes else ", without notes"
            yield (
                f"{len(self.labelled):,} labels as feedback {KEY!r} on runs of the project "
                f"{self.project!r}{with_notes}. The traces' retention is not extended"
            )
        if not (self.dataset or self.queue or self.labelled):
            yield "nothing"

    def send(self, client: Client | None = None) -> Pushed:
        """Send it. Raises ExchangeError; to send again goes on where that ended."""
        client = client or connected()
        counts: Counter[str] = Counter()
        if self.examples:
            counts += sending.examples(client, self.dataset, self.examples)
        runs = [run_of(kept) for kept in (*self.queued, *(one.kept for one in self.labelled))]
        places = sending.located(client, self.project, [run for run in runs if run is not None])
        counts["missing"] += len({run for run in runs if run not in places})
        if self.queued:
            counts["runs"] += sending.runs(client, self.monitor, self.queue, self.queued, places)
        if self.labelled:
            counts += sending.labels(client, self.labelled, places, notes=self.notes)
        return Pushed(**counts)


def plan_push(
    monitor: Monitor,
    *,
    dataset: str = "",
    queue: str = "",
    order: Queue | str = Queue.UNCERTAIN,
    labels: bool = False,
    project: str = "",
    wanted: Filter = _ALL,
    limit: int = 50,
    notes: bool = False,
    redact: Redact | None = None,
) -> Push:
    """What would go: decided answers to a ``dataset``, runs to an annotation ``queue``, ``labels`` to runs.

    Of the runs, at most ``limit``, in the ``order`` of one of the monitor's queues; those that were put into
    this queue before are passed over. Labels go to runs that were reviewed here, and not those whose only
    reviews came from LangSmith. ``project`` is LangSmith's, by default what its environment names. Texts are
    those that are kept, masked further by ``redact``; reviewers' notes go only with ``notes``. Raises
    ConfigurationError where nothing is asked for.
    """
    if not (dataset or queue or labels):
        raise ConfigurationError("nothing is to be pushed: name a dataset, a queue, or ask for labels")
    if order not in list(Queue):
        raise ConfigurationError(
            f"order must be one of {', '.join(map(repr, map(str, Queue)))}, not {order!r}"
        )
    if limit < 1:
        raise ConfigurationError(f"limit must be a whole number from 1 on, not {limit!r}")
    decided = monitor.labels(wanted).labels if dataset or labels else ()
    return Push(
        monitor=monitor,
        project=project or _project(),
        dataset=dataset,
        queue=queue,
        examples=tuple(
            _masked(one, redact) for one in decided if dataset and one.kept.interaction is not None
        ),
        queued=tuple(_to_review(monitor, wanted, Queue(order), queue, limit)) if queue else (),
        labelled=tuple(
            _masked(one, redact)
            for one in decided
            if labels and run_of(one.kept) and any(said.source != SOURCE for said in one.feedback)
        ),
        notes=notes,
    )


def _project() -> str:
    try:
        found: str | None = import_module("langsmith.utils").get_tracer_project()
    except ImportError:
        return "default"  # connecting tells what is missing
    return found or "default"


def _to_review(monitor: Monitor, wanted: Filter, order: Queue, queue: str, limit: int) -> Iterator[Kept]:
    left, after = limit, None
    while left:
        page = monitor.page(replace(wanted, reviewed=False), queue=order, limit=_AT_ONCE, after=after)
        for line in page.lines:
            kept = monitor.get(line.id)
            if run_of(kept) is not None and (QUEUED, queue) not in kept.tags:
                yield kept
                left -= 1
                if not left:
                    return
        if (after := page.after) is None:
            return


def _masked(one: Label, redact: Redact | None) -> Label:
    if redact is None or one.kept.interaction is None:
        return one
    said = tuple(replace(each, note=masked(redact, each.note)) for each in one.feedback)
    kept = replace(one.kept, interaction=masked_interaction(redact, one.kept.interaction))
    return replace(one, kept=kept, feedback=said)


def _seen(kept: Kept) -> Any:
    assert kept.interaction is not None
    return kept.interaction
