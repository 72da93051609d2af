"""Scores in Langfuse, on the observation that answered."""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from groundwire.core.errors import MissingExtraError
from groundwire.tracing.otel import SpanIds
from groundwire.tracing.scores import Score, ScoreSink

if TYPE_CHECKING:
    from langfuse import Langfuse
    from langfuse.langchain import CallbackHandler

ABSTENTION = "hallucination_abstention"
"""The name of the score of what could not be judged: a category, whose value is the reason."""


class LangfuseSink(ScoreSink):
    """Sends each outcome to Langfuse: a number named ``hallucination``, or a category for an abstention.

    ``client`` is a Langfuse client, the process's own if left out. ``handler`` is Langfuse's LangChain
    callback handler, where LangChain is traced by one: only it knows which observation is whose. Langfuse's
    client batches scores itself and tells nobody of those that it could not send. ``include_text`` puts the
    reason and the unsupported statements into the comment. Raises MissingExtraError without
    ``groundwire[langfuse]``.
    """

    def __init__(
        self,
        client: Langfuse | None = None,
        *,
        handler: CallbackHandler | None = None,
        include_text: bool = False,
    ) -> None:
        if client is None and importlib.util.find_spec("langfuse") is None:
            raise MissingExtraError("LangfuseSink", package="langfuse", extra="langfuse")
        super().__init__(self._create, what="langfuse", include_text=include_text)
        self._client: Any = client  # the overloads of its one method can't be met by what is reckoned
        self._handler = handler

    def locate(self, run_id: UUID | None = None, started: datetime | None = None) -> SpanIds | None:
        """The observation that Langfuse's handler has for a LangChain run; else the current span."""
        own = None if run_id is None else self._observation(run_id)
        return own or super().locate(run_id, started)

    def find(self, run_id: UUID) -> SpanIds | None:
        """The observation that Langfuse's handler has for a LangChain run; else OpenInference's span."""
        return self._observation(run_id) or super().find(run_id)

    def _observation(self, run_id: UUID) -> SpanIds | None:
        # It has no public name for this. The observation is there until the run's end has been heard.
        runs: Mapping[UUID, Any] = getattr(self._handler, "_runs", {})
        seen = runs.get(run_id)
        return None if seen is None else SpanIds(trace_id=seen.trace_id, span_id=seen.id)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every score was handed to the client, and the client has sent what it holds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        done = super().flush(timeout)
        if self._client is None:
            return done
        # The client's own flush knows no limit of time.
        sending = threading.Thread(target=self._client.flush, name="groundwire-langfuse", daemon=True)
        sending.start()
        sending.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
        return done and not sending.is_alive()

    def _create(self, score: Score) -> None:
        if self._client is None:
            from langfuse import get_client  # noqa: PLC0415 - wanted only by those who have this

            self._client = get_client()
        self._client.create_score(
            name=ABSTENTION if score.abstained else score.name,
            value=score.label if score.value is None else score.value,
            data_type="CATEGORICAL" if score.abstained else "NUMERIC",
            trace_id=score.trace_id,
            observation_id=score.span_id,
            score_id=score.id,
            comment=score.comment,
            metadata=dict(score.metadata),
        )
