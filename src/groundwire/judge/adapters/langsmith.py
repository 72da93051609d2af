"""Where LangSmith sends the judge's own runs: nowhere, or to a project of their own."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext

from groundwire.core.errors import MissingExtraError


def tracing(project: str | None) -> AbstractContextManager[None]:
    """Tracing off inside, or on into ``project``, whatever the environment says."""
    if project is None and "langsmith" not in sys.modules:
        return nullcontext()  # nothing that could trace is loaded
    try:
        from langsmith import tracing_context  # noqa: PLC0415 - heavy, and not in the base install
    except ImportError as error:
        raise MissingExtraError("trace_project", package="langsmith", extra="langchain") from error
    if project is None:
        return tracing_context(enabled=False)
    return tracing_context(enabled=True, project_name=project)
