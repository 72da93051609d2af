"""Verdicts as scores on a span, for any backend that takes scores by trace and span id.

The backend's own client is called by a function of the user's, so none is imported here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from groundwire.core.verdict import Abstention, Outcome
from groundwire.tracing.otel import SpanAddress
from groundwire.tracing.outbox import Counts, Outbox, TryLaterError
from groundwire.tracing.told import KEY, comment, flat_metadata

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Score:
    """One outcome as a score of one span.

    ``trace_id`` is 32 hexadecimal digits and ``span_id`` 16, as OpenTelemetry writes them. ``value`` is the
    hallucination score, None for what could not be judged; ``label`` is the level, or else why not.
    """

    trace_id: str
    span_id: str
    name: str
    value: float | None
    label: str
    comment: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


def score_of(address: SpanAddress, outcome: Outcome, *, include_text: bool = False) -> Score:
    """The score that an outcome gives to the span at ``address``."""
    return Score(
        trace_id=address.trace_id,
        span_id=address.span_id,
        name=KEY,
        value=outcome.score,
        label=str(outcome.why) if isinstance(outcome, Abstention) else str(outcome.level),
        comment=comment(outcome, include_text=include_text),
        metadata=flat_metadata(outcome),
    )


class ScoreSink:
    """Calls ``write`` with a Score for each outcome, on a thread of its own.

    A ``write`` that raises ``TryLaterError`` is called again with the same score, five times over some 16
    seconds; any other exception loses it, which is counted and logged once. ``include_text`` puts the reason
    and the unsupported statements into the comment. Safe to share between handlers and threads.

    >>> sink = ScoreSink(print)
    """

    def __init__(
        self, write: Callable[[Score], object], *, what: str = "scores", include_text: bool = False
    ) -> None:
        self._write = write
        self._include_text = include_text
        self._outbox: Outbox[Score] = Outbox(self._deliver, what=what)

    def send(self, address: SpanAddress, outcome: Outcome) -> None:
        """Have the outcome written as a score, soon. Never waits and never raises."""
        try:
            self._outbox.post(score_of(address, outcome, include_text=self._include_text))
        except Exception:  # rule 5: a process at its end may refuse a new thread
            _LOG.warning("a verdict could not be queued as a score", exc_info=True)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every score was written or given up. False when ``timeout`` seconds were not enough."""
        return self._outbox.flush(timeout)

    @property
    def counts(self) -> Counts:
        """How many scores were written, failed, were dropped, and are pending."""
        return self._outbox.counts

    def _deliver(self, score: Score) -> None:
        self._write(score)


__all__ = ["Score", "ScoreSink", "SpanAddress", "TryLaterError", "score_of"]
