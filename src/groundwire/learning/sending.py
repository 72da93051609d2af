"""How labels, examples and runs are written to LangSmith, so that a second time changes nothing."""

from __future__ import annotations

import uuid
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any
from uuid import UUID

import groundwire
from groundwire.learning.pulling import KEY, MINE, SOURCE, run_of, telling
from groundwire.monitor import Kept, Label, Monitor

if TYPE_CHECKING:
    from langsmith import Client

QUEUED = "langsmith_queue"
"""The tag of an answer whose run was put into an annotation queue, with the queue's name."""
_AT_ONCE = 100
_RUBRIC = (
    f"Does the answer state anything that the retrieved passages do not support? Give feedback under the key "
    f"{KEY}: 1 if it does, 0 if it does not. groundwire monitor pull-langsmith brings it back."
)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a run is kept: what LangSmith finds it by without searching."""

    session: UUID
    trace: UUID
    start: Any


def located(client: Client, project: str, runs: Sequence[UUID]) -> dict[UUID, Place]:
    """Where each run is kept; one that is not in the project is missing."""
    if not runs:
        return {}
    found: dict[UUID, Place] = {}
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
                found[one.id] = Place(session=session, trace=one.trace_id, start=one.start_time)
    return found


def examples(client: Client, dataset: str, labels: Sequence[Label]) -> Counter[str]:
    """Make them examples of the dataset, which is made where there is none."""
    with telling(f"the dataset {dataset!r}"):
        if client.has_dataset(dataset_name=dataset):
            found = client.read_dataset(dataset_name=dataset)
        else:
            found = client.create_dataset(dataset, description="Reviewed answers of production.")
        there = {one.id: (one.inputs, one.outputs) for one in client.list_examples(dataset_id=found.id)}
        rows = {uuid.uuid5(found.id, one.kept.id): _example(one) for one in labels}
        fresh = [{"id": key, **_named(row)} for key, row in rows.items() if key not in there]
        changed = [
            {"id": key, **row}
            for key, row in rows.items()
            if key in there and there[key] != (row["inputs"], row["outputs"])
        ]
        if fresh:
            client.create_examples(dataset_id=found.id, examples=fresh)
        if changed:
            client.update_examples(dataset_id=found.id, updates=changed)
    sent = len(fresh) + len(changed)
    return Counter(examples=sent, unchanged=len(rows) - sent)


def runs(
    client: Client, monitor: Monitor, queue: str, kept: Sequence[Kept], places: Mapping[UUID, Place]
) -> int:
    """Put the runs into the annotation queue, which is made where there is none, and tag their answers."""
    sent = [(one, run) for one in kept if (run := run_of(one)) is not None and run in places]
    with telling(f"the annotation queue {queue!r}"):
        named = (one for one in client.list_annotation_queues(name=queue) if one.name == queue)
        found = next(named, None) or client.create_annotation_queue(name=queue, rubric_instructions=_RUBRIC)
        for start in range(0, len(sent), _AT_ONCE):
            some = sent[start : start + _AT_ONCE]
            client.add_runs_to_annotation_queue(
                found.id,
                runs=[
                    {"run_id": run, "session_id": places[run].session, "start_time": places[run].start}
                    for _, run in some
                ],
            )
            for one, _ in some:  # so that it is not put there a second time
                monitor.tag(one.id, QUEUED, queue)
    return len(sent)


def labels(
    client: Client, labels: Sequence[Label], places: Mapping[UUID, Place], *, notes: bool
) -> Counter[str]:
    """Give each run people's label as feedback; what is there and differs is changed."""
    told = {run: one for one in labels if (run := run_of(one.kept)) is not None and run in places}
    counts: Counter[str] = Counter()
    with telling("feedback"):
        ids = list(told)
        there = {
            one.id: (one.score, one.comment or "")
            for start in range(0, len(ids), _AT_ONCE)
            for one in client.list_feedback(run_ids=ids[start : start + _AT_ONCE], feedback_key=[KEY])
        }
        for run, one in told.items():
            key, score = uuid.uuid5(run, KEY), int(one.hallucinated)
            comment = _comment(one) if notes else ""
            said: dict[str, Any] = {
                "score": score,
                "value": "hallucinated" if score else "grounded",
                "comment": comment or None,
            }
            if there.get(key) == (score, comment):
                counts["unchanged"] += 1
                continue
            if key in there:
                client.update_feedback(key, **said)
            else:
                client.create_feedback(
                    run_id=run,
                    trace_id=places[run].trace,
                    session_id=places[run].session,
                    start_time=places[run].start,
                    key=KEY,
                    feedback_id=key,
                    source_info={MINE: groundwire.__version__, "reviewers": len(one.feedback)},
                    extend_trace_retention=False,
                    stop_after_attempt=3,
                    **said,
                )
            counts["labels"] += 1
    return counts


def _example(one: Label) -> dict[str, Any]:
    """The example as ``bench`` reads it back, from ``langsmith:dataset:NAME``."""
    seen = one.kept.interaction
    assert seen is not None
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
