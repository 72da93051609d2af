"""Verdicts in OpenTelemetry: an event tied to the judged span, and attributes on it while it records.

The names are those of OpenTelemetry's conventions for generative AI, which moved out of the Python package
that held them as constants; so they stand here. An ended span takes neither attributes nor events, but a log
event can still name it. OpenTelemetry is imported when it is first needed; where the application traces
nothing, nothing is sent. Nothing here judges.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from groundwire.core.fork import renew_after_fork
from groundwire.core.one_process import OfOneProcess
from groundwire.core.secrets import Traced
from groundwire.core.sink import Sink, Told
from groundwire.core.verdict import Abstention, Outcome
from groundwire.core.version import VERSION
from groundwire.tracing.told import KEY, annotator, comment, flat_metadata

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
UNTRACED = (
    "%s: an answer is in no trace that could be told, or in one that is not sampled, so there is nothing to "
    "put its verdict on; docs/sinks.md says what can be found"
)


@dataclass(frozen=True, kw_only=True)
class SpanIds:
    """Where an answer is traced: 32 and 16 hexadecimal digits, as OpenTelemetry writes them."""

    trace_id: str
    span_id: str


@dataclass(frozen=True, kw_only=True)
class SpanAddress(SpanIds):
    """The same with the span itself, which may have ended.

    ``context`` is the span's own, kept because a tracer's stand-in for a span may forget it at the end.
    """

    context: SpanContext = field(repr=False, compare=False)
    span: Span = field(repr=False, compare=False)


def locate(run_id: UUID | None = None, started: datetime | None = None) -> SpanAddress | None:
    """The span that is current in this context, or None where nothing is traced or this is not sampled.

    Of a LangChain run, given by its id and when it started, the span that OpenInference has for it; without
    one, a span that was open before it started: what LangChain's callbacks leave current may be another
    run's, and may long have ended. Takes microseconds and never raises. A program that has not imported
    OpenTelemetry has no spans.
    """
    if "opentelemetry.trace" not in sys.modules:
        return None
    try:
        from opentelemetry import trace  # noqa: PLC0415 - wanted only by those who trace

        span = None if run_id is None else _openinference_span(run_id)
        if span is None:
            span = trace.get_current_span()
            if not _encloses(span, started):
                return None
        return _address(span)
    except Exception:  # rule 5: tracing that can't be read must not harm what is traced
        _LOG.debug("the current span could not be read\n%s", Traced())
        return None


def find(run_id: UUID) -> SpanAddress | None:
    """The span that OpenInference has for a LangChain run which goes on. Never raises.

    Whoever hears of the run's end after OpenInference, or is told of it once a larger run has ended, finds it
    no more.
    """
    try:
        span = _openinference_span(run_id)
        return None if span is None else _address(span)
    except Exception:  # rule 5, as above
        _LOG.debug("the span of a run could not be read\n%s", Traced())
        return None


def _address(span: Span) -> SpanAddress | None:
    from opentelemetry import trace  # noqa: PLC0415 - as above

    context = span.get_span_context()
    if not context.is_valid or not context.trace_flags.sampled:
        return None
    return SpanAddress(
        trace_id=trace.format_trace_id(context.trace_id),
        span_id=trace.format_span_id(context.span_id),
        context=context,
        span=span,
    )


def _openinference_span(run_id: UUID) -> Span | None:
    """The span of a LangChain run, which OpenInference's instrumentor knows while the run goes on."""
    room = sys.modules.get("openinference.instrumentation.langchain")
    if room is None:
        return None
    instrumentor = room.LangChainInstrumentor()
    if not instrumentor.is_instrumented_by_opentelemetry:
        return None
    found: Span | None = instrumentor.get_span(run_id)
    return found


def _encloses(span: Span, started: datetime | None) -> bool:
    """Whether a span can be around a call: neither over, nor begun after it. What tells no times may be."""
    if getattr(span, "end_time", None) is not None:
        return False
    begun = getattr(span, "start_time", None)
    return started is None or begun is None or bool(begun <= started.timestamp() * 1e9)


class OpenTelemetrySink(OfOneProcess, Sink):
    """Puts outcomes on their spans.

    Each becomes a log event ``gen_ai.evaluation.result`` with the span's context, and flat attributes on the
    span while it still records: of several answers in one span, those of the worst, beside what only a better
    one had, for none can be taken back. ``verdict_spans`` also records a short span below the one that was
    judged, for backends that take no log events; it has OpenInference's attributes of an evaluation, too.
    Where the application traces and an answer is in no trace that could be told, the log says so once.
    ``include_text`` puts the reason and the unsupported statements into the explanation. The providers are
    the global ones if left out; who batches and exports is theirs to say.
    """

    name = "opentelemetry"

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
        self._warned = False
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Have a lock of its own in a forked child, in which whoever held it does not exist."""
        self._lock = threading.Lock()

    def locate(self, run_id: UUID | None = None, started: datetime | None = None) -> SpanAddress | None:
        """The span of the answer that is given in this context."""
        return locate(run_id, started)

    def find(self, run_id: UUID) -> SpanAddress | None:
        """The span that OpenInference has for a LangChain run."""
        return find(run_id)

    def send(self, told: Told, where: SpanAddress | None) -> None:
        """Put an outcome on the span at ``where``, with what was done about it; never a draft."""
        if told.draft:
            return
        if where is None:
            self._untraced()
            return
        from opentelemetry import _logs, trace  # noqa: PLC0415 - wanted only by those who trace

        outcome = told.outcome
        evaluation, flat = self._evaluation(outcome), flat_metadata(outcome)
        if told.action is not None:
            flat |= {f"{KEY}_action": told.action, f"{KEY}_attempts": told.attempt}
        with self._lock:
            if _records(where) and _rank(flat) >= _rank(getattr(where.span, "attributes", None)):
                where.span.set_attributes(evaluation | flat)
        judged = trace.set_span_in_context(trace.NonRecordingSpan(where.context))
        _logs.get_logger("groundwire", VERSION, logger_provider=self._logger_provider).emit(
            event_name=EVENT, context=judged, attributes=evaluation | flat
        )
        if self._verdict_spans:
            tracer = trace.get_tracer("groundwire", VERSION, self._tracer_provider)
            attributes = evaluation | flat | self._openinference(outcome, flat)
            tracer.start_span(KEY, context=judged, attributes=attributes).end()

    def _untraced(self) -> None:
        given = self._logger_provider is not None or self._tracer_provider is not None
        if not self._warned and (given or _is_traced()):
            self._warned = True
            _LOG.warning(UNTRACED, self.name)

    def _openinference(self, outcome: Outcome, flat: Mapping[str, Any]) -> dict[str, Any]:
        """An evaluation as OpenInference writes it; what could not be judged is a label without a score."""
        told = {
            "name": KEY,
            "score": outcome.score,
            "label": str(outcome.why) if isinstance(outcome, Abstention) else str(outcome.level),
            "explanation": comment(outcome, include_text=self._include_text),
            "annotator_kind": annotator(outcome),
            "identifier": outcome.detector and outcome.detector.fingerprint,
            "metadata": json.dumps(flat),
        }
        known = {f"evaluations.0.evaluation.{key}": value for key, value in told.items() if value is not None}
        return {"openinference.span.kind": "EVALUATOR", **known}

    def _evaluation(self, outcome: Outcome) -> dict[str, Any]:
        told = {
            NAME: KEY,
            VALUE: outcome.score,
            LABEL: outcome.level and str(outcome.level),
            EXPLANATION: comment(outcome, include_text=self._include_text),
            ERROR: str(outcome.why) if isinstance(outcome, Abstention) else None,
        }
        return {key: value for key, value in told.items() if value is not None}


def _is_traced() -> bool:
    """Whether this program traces at all: one that does not awaits no verdict on a span."""
    trace = sys.modules.get("opentelemetry.trace")
    return trace is not None and not isinstance(
        trace.get_tracer_provider(), trace.ProxyTracerProvider | trace.NoOpTracerProvider
    )


def _records(where: SpanAddress) -> bool:
    """Whether the span still takes attributes. A stand-in may be for the one around it by now."""
    return where.span.is_recording() and where.span.get_span_context().span_id == where.context.span_id


def _rank(told: Mapping[str, Any] | None) -> tuple[int, float]:
    """How bad it is what a span's attributes tell: flagged, not judged, grounded, and nothing at all."""
    told = told or {}
    score, threshold = told.get("hallucination_score"), told.get("hallucination_threshold")
    if told.get("hallucination_status") == "abstained":
        return 1, 0.0
    if score is None or threshold is None:
        return -1, 0.0
    return (2 if score >= threshold else 0), score


@contextmanager
def unobserved() -> Iterator[None]:
    """Ask OpenTelemetry's instrumentations, where the application has any, to record nothing in here.

    For what is sent to a backend: a trace of it would be one that nobody asked for.
    """
    room = sys.modules.get("opentelemetry.context")
    if room is None:
        yield
        return
    key = getattr(room, "_SUPPRESS_INSTRUMENTATION_KEY", "suppress_instrumentation")
    token = room.attach(room.set_value(key, True))
    try:
        yield
    finally:
        room.detach(token)
