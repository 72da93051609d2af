"""Where outcomes are told besides the answer, the trace and the database: metrics, and scores in other tools.

Importing this room imports no client. What each sink needs is an extra of its own, asked for when it is made.
"""

from __future__ import annotations

from groundwire.core.sink import Sink, Told
from groundwire.sinks.langfuse import LangfuseSink
from groundwire.sinks.mlflow import MLflowSink
from groundwire.sinks.opentelemetry import OpenTelemetryMetricsSink
from groundwire.sinks.phoenix import PhoenixSink
from groundwire.sinks.prometheus import PrometheusSink
from groundwire.tracing.otel import OpenTelemetrySink
from groundwire.tracing.outbox import Counts, TryLaterError
from groundwire.tracing.scores import Score, ScoreSink

__all__ = [
    "Counts",
    "LangfuseSink",
    "MLflowSink",
    "OpenTelemetryMetricsSink",
    "OpenTelemetrySink",
    "PhoenixSink",
    "PrometheusSink",
    "Score",
    "ScoreSink",
    "Sink",
    "Told",
    "TryLaterError",
]
