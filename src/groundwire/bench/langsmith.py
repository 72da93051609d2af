"""Labelled answers that are kept in LangSmith: the examples of a dataset, and runs that people annotated.

Needs the extra ``langchain``, whose langsmith brings the client; its environment says where and as whom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from groundwire.bench.datasets import examples_of
from groundwire.bench.examples import Example
from groundwire.core.errors import MissingExtraError
from groundwire.tables import TableError

FEEDBACK = "hallucination"
"""The key of people's feedback that is read as a label, unless another is named."""
_AT_ONCE = 100  # runs whose feedback is asked for together


def load_named(source: str, *, columns: Mapping[str, str] | None = None) -> list[Example]:
    """What ``langsmith:dataset:NAME`` or ``langsmith:project:NAME`` names; a label names the feedback key."""
    kind, _, name = source.removeprefix("langsmith:").partition(":")
    if kind == "dataset" and name:
        return from_dataset(name, columns=columns)
    if kind == "project" and name:
        named = dict(columns or {})
        feedback = named.pop("label", FEEDBACK)
        return from_project(name, feedback=feedback, columns=named)
    raise TableError(f"expected langsmith:dataset:NAME or langsmith:project:NAME, not {source!r}")


def from_dataset(name: str, *, columns: Mapping[str, str] | None = None, client: Any = None) -> list[Example]:
    """The examples of a dataset. Columns lie in inputs, outputs and metadata, which need not be named.

    Raises TableError for a dataset that is not there or whose examples can't be read; MissingExtraError.
    """
    client = client or _client()
    with _telling(f"the dataset {name!r}"):
        rows = [
            _cells(one.id, one.inputs, one.outputs, one.metadata)
            for one in client.list_examples(dataset_name=name)
        ]
    return examples_of(f"langsmith:dataset:{name}", rows, columns=columns)


def from_project(
    name: str,
    *,
    feedback: str = FEEDBACK,
    columns: Mapping[str, str] | None = None,
    client: Any = None,
) -> list[Example]:
    """The root runs of a project that people gave feedback on under a key: 1 or a word for hallucinated.

    Under a key that asks whether the answer is grounded (``correctness``), 1 says that it is. Of several the
    newest counts. What models gave, groundwire among them, is no label and is passed over.
    Raises TableError and MissingExtraError.
    """
    client = client or _client()
    with _telling(f"the project {name!r}"):
        runs = list(client.list_runs(project_name=name, is_root=True))
        told = dict(_labels(client, [run.id for run in runs], feedback))
    rows = [
        {**_cells(run.id, run.inputs, run.outputs, (run.extra or {}).get("metadata")), feedback: told[run.id]}
        for run in runs
        if run.id in told
    ]
    if not rows:
        raise TableError(f"the project {name!r} has no run with people's feedback under {feedback!r}")
    return examples_of(f"langsmith:project:{name}", rows, columns={**(columns or {}), "label": feedback})


def _labels(client: Any, ids: list[Any], key: str) -> Iterator[tuple[Any, Any]]:
    """Each run's labels, the newest last, whatever order they are listed in."""
    for at in range(0, len(ids), _AT_ONCE):
        found: Iterable[Any] = client.list_feedback(run_ids=ids[at : at + _AT_ONCE], feedback_key=[key])
        for one in sorted(found, key=_given):
            source = getattr(one.feedback_source, "type", "") if one.feedback_source else ""
            if source != "model":
                yield one.run_id, one.value if one.value is not None else one.score


def _given(feedback: Any) -> float:
    """When it was given or last changed."""
    moment = feedback.modified_at or feedback.created_at
    return float(moment.timestamp()) if moment else 0.0


def _cells(
    name: Any,
    inputs: Mapping[str, Any] | None,
    outputs: Mapping[str, Any] | None,
    metadata: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The row as a table has it: each part under its own name, and what is in them beside that."""
    parts = {"inputs": dict(inputs or {}), "outputs": dict(outputs or {}), "metadata": dict(metadata or {})}
    flat: dict[str, Any] = {}
    for part in ("metadata", "inputs", "outputs"):
        flat |= parts[part]
    return {**flat, **parts, "id": str(name)}


class _telling:  # noqa: N801 - reads as what it does
    """Turns what the client raises for a name that is not there into an error of ours."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        errors = import_module("langsmith.utils")
        if isinstance(error, errors.LangSmithError):
            raise TableError(f"{self._what} can't be read from LangSmith: {error}") from error


def _client() -> Any:
    try:
        return import_module("langsmith").Client()
    except ImportError as error:
        raise MissingExtraError("reading from LangSmith", package="langsmith", extra="langchain") from error
