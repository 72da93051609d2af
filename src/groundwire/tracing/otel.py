"""Verdicts in OpenTelemetry: an event tied to the judged span, and attributes on it while it records.

The names are those of OpenTelemetry's conventions for generative AI, which moved out of the Python package
that held them as constants; so they stand here. An ended span takes neither attributes nor events, but a log
event can still name it. OpenTelemetry is imported when it is first needed; where the application traces
nothing, nothing is sent. Nothing here judges.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import groundwire
from groundwire.core.verdict import Abstention, Outcome
from groundwire.tracing.told import KEY, comment, flat_metadata

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.trace import Span, SpanContext, TracerProvider

_LOG = logging.getLogger(__name__)

EVENT = "gen_ai.evaluation.result"
NAME = "gen_ai.evaluation.name"
VALUE = "gen_ai.evaluation.score.value"
LABEL = "gen_ai.evaluation.score.label"
EXPLANATION = "gen_ai.evaluation.explanation"
ERROR = "error.type"


@dataclass(frozen=True, kw_only=True)
class SpanAddress:
    """Where an answer is traced: the ids in hexadecimal digits, and the span itself, which may have ended.

    ``context`` is the span's own, kept because a tracer's stand-in for a span may forget it at the end.
    """

    trace_id: str
    span_id: str
    context: SpanContext = field(repr=False, compare=False)
    span: Span = field(repr=False, compare=False)


class SpanSink(Protocol):
    """Where outcomes of traced answers are sent: OpenTelemetrySink, ScoreSink, or one of your own."""

    def send(self, address: SpanAddress, outcome: Outcome) -> None: ...

    def flush(self, timeout: float | None = None) -> bool: ...


def locate() -> SpanAddress | None:
    """The span that is current in this context, or None where nothing is traced or this is not sampled.

    Takes microseconds and never raises. A program that has not imported OpenTelemetry has no current span.
    """
    if "opentelemetry.trace" not in sys.modules:
        return None
    try:
        from opentelemetry import trace  # noqa: PLC0415 - wanted only by those who trace

        span = trace.get_current_span()
        context = span.get_span_context()
        if not context.is_valid or not context.trace_flags.sampled:
            return None
        return SpanAddress(
            trace_id=trace.format_trace_id(context.trace_id),
            span_id=trace.format_span_id(context.span_id),
            context=context,
            span=span,
        )
    except Exception:  # rule 5: tracing that can't be read must not harm what is traced
        _LOG.debug("the current span could not be read", exc_info=True)
        return None


class OpenTelemetrySink:
    """Puts outcomes on their spans.

    Each becomes a log event ``gen_ai.evaluation.result`` with the span's context, and flat attributes on the
    span while it still records. ``verdict_spans`` also records a short span below the one that was judged,
    for backends that take no log events. ``include_text`` puts the reason and the unsupported statements into
    the explanation. The providers are the global ones if left out; who batches and exports is theirs to say.
    """

    def __init__(
        self,
        *,
        logger_provider: LoggerProvider | None = None,
        tracer_provider: TracerProvider | None = None,
        verdict_spans: bool = False,
        include_text: bool = False,
    ) -> None:
        self._logger_provider = logger_provider
        self._tracer_provider = tracer_provider
        self._verdict_spans = verdict_spans
        self._include_text = include_text

    def send(self, address: SpanAddress, outcome: Outcome) -> None:
        """Put an outcome on the span at ``address``. Never raises."""
        try:
            self._send(address, outcome, {})
        except Exception as error:  # rule 5: a trace that can't be written must not harm what is traced
            _LOG.warning("a verdict could not be put on its span (%s)", type(error).__name__)
            _LOG.debug("not put on its span", exc_info=error)

    def flush(self, timeout: float | None = None) -> bool:
        """Nothing waits here: events and spans are with OpenTelemetry's own processors at once."""
        del timeout
        return True

    def _send(self, address: SpanAddress, outcome: Outcome, done: Mapping[str, str | int]) -> None:
        from opentelemetry import _logs, trace  # noqa: PLC0415 - wanted only by those who trace

        evaluation = self._evaluation(outcome)
        flat = {**flat_metadata(outcome), **{f"{KEY}_{name}": value for name, value in done.items()}}
        if address.span.is_recording():
            address.span.set_attributes(evaluation | flat)
        judged = trace.set_span_in_context(trace.NonRecordingSpan(address.context))
        _logs.get_logger("groundwire", groundwire.__version__, logger_provider=self._logger_provider).emit(
            event_name=EVENT, context=judged, attributes=evaluation | flat
        )
        if self._verdict_spans:
            tracer = trace.get_tracer("groundwire", groundwire.__version__, self._tracer_provider)
            tracer.start_span(KEY, context=judged, attributes=evaluation | flat).end()

    def _evaluation(self, outcome: Outcome) -> dict[str, Any]:
        told = {
            NAME: KEY,
            VALUE: outcome.score,
            LABEL: outcome.level and str(outcome.level),
            EXPLANATION: comment(outcome, include_text=self._include_text),
            ERROR: str(outcome.why) if isinstance(outcome, Abstention) else None,
        }
        return {key: value for key, value in told.items() if value is not None}


def annotate(address: SpanAddress | None, outcome: Outcome, **done: str | int) -> None:
    """Put an outcome on a span, as OpenTelemetrySink does; nowhere if that is None. Never raises.

    For wrappers: ``done`` is what they did about it, each put beside the outcome as ``hallucination_<name>``.
    """
    if address is None:
        return
    try:
        OpenTelemetrySink()._send(address, outcome, done)  # noqa: SLF001 - the same, told a little more
    except Exception:  # rule 5, as above
        _LOG.debug("a verdict could not be put on its span", exc_info=True)


def annotate_current_span(outcome: Outcome, **done: str | int) -> None:
    """``annotate`` for the span that this is called in."""
    annotate(locate(), outcome, **done)
