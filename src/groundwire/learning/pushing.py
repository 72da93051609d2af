"""Kept answers given to LangSmith: labels as feedback, examples of a dataset, runs in an annotation queue.

What would go is known, and can be told, before anything goes. Ids are made from what they stand for, so that
to push again changes only what has changed.
"""

from __future__ import annotations

import uuid
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any
from uuid import UUID

import groundwire
from groundwire.core.errors import ConfigurationError
from groundwire.core.redaction import Redact, masked, masked_interaction
from groundwire.learning.pulling import KEY, MINE, SOURCE, connected, run_of, telling
from groundwire.monitor import Filter, Kept, Label, Monitor, Queue

if TYPE_CHECKING:
    from langsmith import Client

QUEUED = "langsmith_queue"
"""The tag of an answer whose run was put into an annotation queue, with the queue's name."""
_AT_ONCE = 100
_ALL = Filter()
_RUBRIC = (
    f"Does the answer state anything that the retrieved passages do not support? Give feedback under the key "
    f"{KEY}: 1 if it does, 0 if it does not. groundwire monitor pull-langsmith brings it back."
)


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
            self._send_examples(client, counts)
        runs = [run_of(kept) for kept in (*self.queued, *(one.kept for one in self.labelled))]
        keys = _located(client, self.project, [run for run in runs if run is not None])
        counts["missing"] = len({run for run in runs if run not in keys})
        if self.queue and self.queued:
            self._send_runs(client, keys, counts)
        if self.labelled:
            self._send_labels(client, keys, counts)
        return Pushed(**counts)

    def _send_examples(self, client: Client, counts: Counter[str]) -> None:
        with telling(f"the dataset {self.dataset!r}"):
            if client.has_dataset(dataset_name=self.dataset):
                dataset = client.read_dataset(dataset_name=self.dataset)
            else:
                dataset = client.create_dataset(
                    self.dataset, description="Answers of production and what reviewers said of them."
                )
            there = {one.id: (one.inputs, one.outputs) for one in client.list_examples(dataset_id=dataset.id)}
            rows = {uuid.uuid5(dataset.id, one.kept.id): _example(one) for one in self.examples}
            fresh = [{"id": key, **_named(row)} for key, row in rows.items() if key not in there]
            changed = [
                {"id": key, **row}
                for key, row in rows.items()
                if key in there and there[key] != (row["inputs"], row["outputs"])
            ]
            if fresh:
                client.create_examples(dataset_id=dataset.id, examples=fresh)
            if changed:
                client.update_examples(dataset_id=dataset.id, updates=changed)
        counts["examples"] += len(fresh) + len(changed)
        counts["unchanged"] += len(rows) - len(fresh) - len(changed)

    def _send_runs(self, client: Client, keys: Mapping[UUID, _Place], counts: Counter[str]) -> None:
        with telling(f"the annotation queue {self.queue!r}"):
            queue = next(
                (one for one in client.list_annotation_queues(name=self.queue) if one.name == self.queue),
                None,
            ) or client.create_annotation_queue(name=self.queue, rubric_instructions=_RUBRIC)
            sent = [kept for kept in self.queued if run_of(kept) in keys]
            for start in range(0, len(sent), _AT_ONCE):
                some = sent[start : start + _AT_ONCE]
                client.add_runs_to_annotation_queue(
                    queue.id,
                    runs=[
                        {"run_id": run, "session_id": keys[run].session, "start_time": keys[run].start}
                        for kept in some
                        if (run := run_of(kept)) is not None
                    ],
                )
                for kept in some:  # whose runs are not put there a second time
                    self.monitor.tag(kept.id, QUEUED, self.queue)
                counts["runs"] += len(some)

    def _send_labels(self, client: Client, keys: Mapping[UUID, _Place], counts: Counter[str]) -> None:
        told = {run: one for one in self.labelled if (run := run_of(one.kept)) in keys and run is not None}
        with telling("feedback"):
            there = {
                one.id: (one.score, one.comment or "")
                for start in range(0, len(told), _AT_ONCE)
                for one in client.list_feedback(
                    run_ids=list(told)[start : start + _AT_ONCE], feedback_key=[KEY]
                )
            }
            for run, one in told.items():
                key, score = uuid.uuid5(run, KEY), int(one.hallucinated)
                comment = _comment(one) if self.notes else ""
                if there.get(key) == (score, comment):
                    counts["unchanged"] += 1
                    continue
                value = "hallucinated" if score else "grounded"
                if key in there:
                    client.update_feedback(key, score=score, value=value, comment=comment or None)
                else:
                    self._create(client, run, keys[run], key, score, value, comment or None, one)
                counts["labels"] += 1

    @staticmethod
    def _create(  # noqa: PLR0917 - the inside of the one above
        client: Client,
        run: UUID,
        place: _Place,
        key: UUID,
        score: int,
        value: str,
        comment: str | None,
        one: Label,
    ) -> None:
        client.create_feedback(
            run_id=run,
            trace_id=place.trace,
            session_id=place.session,
            start_time=place.start,
            key=KEY,
            score=score,
            value=value,
            comment=comment,
            feedback_id=key,
            source_info={MINE: groundwire.__version__, "reviewers": len(one.feedback)},
            extend_trace_retention=False,
            stop_after_attempt=3,
        )


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where a run is kept: what LangSmith finds it by without searching."""

    session: UUID
    trace: UUID
    start: Any


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


def _example(one: Label) -> dict[str, Any]:
    """The example as ``bench`` reads it back, from ``langsmith:dataset:NAME``."""
    seen = _seen(one.kept)
    detector = one.kept.outcome.detector
    return {
        "inputs": {
            "question": seen.question,
            "contexts": [passage.text for passage in seen.contexts],
            "answer": seen.answer,
        },
        "outputs": {"label": int(one.hallucinated)},
        "metadata": {
            MINE: one.kept.id,
            "score": one.kept.outcome.score,
            "detector": detector and detector.name,
            "reviewers": len(one.feedback),
        },
    }


def _named(row: Mapping[str, Any]) -> dict[str, Any]:
    # What is given back to compare with is called outputs in every version, and what is created not.
    fields = import_module("langsmith.schemas").ExampleCreate.model_fields
    name = "reference_outputs" if "reference_outputs" in fields else "outputs"
    return {name if part == "outputs" else part: value for part, value in row.items()}


def _comment(one: Label) -> str:
    return "\n".join(said.note for said in one.feedback if said.note and said.source != SOURCE)


def _located(client: Client, project: str, runs: Sequence[UUID]) -> dict[UUID, _Place]:
    """Where each run is kept; one that is not in the project is missing."""
    if not runs:
        return {}
    found: dict[UUID, _Place] = {}
    with telling(f"the project {project!r}"), warnings.catch_warnings():
        # What replaces it is not in every version that we support.
        warnings.filterwarnings("ignore", message=r"list_runs\(\) is deprecated")
        session = client.read_project(project_name=project).id
        wanted = list(dict.fromkeys(runs))
        for start in range(0, len(wanted), _AT_ONCE):
            for one in client.list_runs(
                project_id=session,
                run_ids=wanted[start : start + _AT_ONCE],
                select=["id", "trace_id", "session_id", "start_time", "name", "run_type"],
            ):
                found[one.id] = _Place(session=session, trace=one.trace_id, start=one.start_time)
    return found
