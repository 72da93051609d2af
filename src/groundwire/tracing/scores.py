"""Verdicts as scores on a span, for any backend that takes scores by trace and span id.

The backend's own client is called by a function of the user's, so none is imported here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from groundwire.core.callables import callable_problems
from groundwire.core.errors import ConfigurationError
from groundwire.core.one_process import OfOneProcess
from groundwire.core.secrets import Traced
from groundwire.core.sink import Sink, Told
from groundwire.core.verdict import Abstention
from groundwire.tracing.otel import UNTRACED, SpanAddress, SpanIds, find, locate, unobserved
from groundwire.tracing.outbox import Counts, Outbox, TryLaterError
from groundwire.tracing.told import KEY, annotator, comment, flat_metadata, told_id

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Score:
    """One outcome as a score of one span.

    ``trace_id`` is 32 hexadecimal digits and ``span_id`` 16, as OpenTelemetry writes them. ``value`` is the
    hallucination score, None for what could not be judged; ``label`` is the level, or else why not. ``id`` is
    the same for the same run judged by the same detector. ``annotator`` is "LLM" where a model was asked,
    else "CODE".
    """

    trace_id: str
    span_id: str
    name: str
    value: float | None
    label: str
    comment: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    annotator: Literal["LLM", "CODE"] = "CODE"

    @property
    def abstained(self) -> bool:
        """Whether it could not be judged."""
        return self.value is None


def score_of(told: Told, where: SpanIds, *, include_text: bool = False) -> Score:
    """The score that an outcome gives to the span at ``where``."""
    outcome = told.outcome
    return Score(
        trace_id=where.trace_id,
        span_id=where.span_id,
        name=KEY,
        value=outcome.score,
        label=str(outcome.why) if isinstance(outcome, Abstention) else str(outcome.level),
        comment=comment(outcome, include_text=include_text),
        metadata=flat_metadata(outcome),
        id=str(told_id(told, where.trace_id)),
        annotator=annotator(outcome),
    )


class ScoreSink(OfOneProcess, Sink):
    """Calls ``write`` with a Score for each outcome, on a thread of its own.

    A ``write`` that raises ``TryLaterError`` is called again with the same score, five times over some 16
    seconds; any other exception loses it, which is counted, and logged once a minute. An answer that is not
    traced, or not sampled, has no span to put a score on; the log says so once. ``include_text`` puts the
    reason and the unsupported statements into the comment. Safe to share between handlers and threads. Raises
    ConfigurationError for a ``write`` that can't be called, or that is async.

    >>> sink = ScoreSink(print)
    """

    def __init__(
        self, write: Callable[[Score], object], *, what: str = "scores", include_text: bool = False
    ) -> None:
        problems = callable_problems("write", write, "Score")
        if problems:
            raise ConfigurationError(*problems)
        self.name = what
        self._write = write
        self._include_text = include_text
        self._warned = False
        self._outbox: Outbox[Score] = Outbox(self._deliver, what=what)

    def locate(self, run_id: UUID | None = None, started: datetime | None = None) -> SpanIds | None:
        """The span of the answer that is given in this context."""
        return locate(run_id, started)

    def find(self, run_id: UUID) -> SpanIds | None:
        """The span that OpenInference has for a LangChain run."""
        return find(run_id)

    def send(self, told: Told, where: SpanIds | None) -> None:
        """Have the outcome written as a score, soon; a draft is nobody's answer. Never waits or raises."""
        if told.draft:
            return
        if where is None:
            self._untraced()
            return
        try:
            self._outbox.post(score_of(told, where, include_text=self._include_text))
        except Exception:  # rule 5: a process at its end may refuse a new thread
            _LOG.warning("a verdict could not be queued for %s\n%s", self.name, Traced())

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every score was written or given up. False when ``timeout`` seconds were not enough."""
        return self._outbox.flush(timeout)

    @property
    def counts(self) -> Counts:
        """How many scores were written, failed, were dropped, and are pending."""
        return self._outbox.counts

    def _deliver(self, score: Score) -> None:
        with unobserved():
            self._write(score)

    def _untraced(self) -> None:
        if not self._warned:
            self._warned = True
            _LOG.warning(UNTRACED, self.name)


__all__ = ["Score", "ScoreSink", "SpanAddress", "SpanIds", "TryLaterError", "score_of"]
