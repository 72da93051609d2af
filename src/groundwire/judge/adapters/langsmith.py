"""Where LangSmith sends the judge's own runs: nowhere, or to a project of their own."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from groundwire.core.errors import MissingExtraError


def tracing(project: str | None) -> AbstractContextManager[None]:
    """Tracing off inside, or on into ``project``, whatever the environment says."""
    try:
        # Also where nobody has imported it yet: a model may do so in the middle of its first call.
        from langsmith import tracing_context  # noqa: PLC0415 - heavy, and not in the base install
    except ImportError as error:
        if project is None:
            return nullcontext()  # nothing can trace
        raise MissingExtraError("trace_project", package="langsmith", extra="langchain") from error
    if project is None:
        return tracing_context(enabled=False)
    return tracing_context(enabled=True, project_name=project)
