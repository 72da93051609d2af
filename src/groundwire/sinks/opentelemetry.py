"""The same metrics in OpenTelemetry: what reads and exports them is the application's own to set up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from groundwire.core.errors import MissingExtraError
from groundwire.core.version import VERSION
from groundwire.sinks.metrics import (
    COUNTERS,
    DROPPED,
    FAILED,
    HISTOGRAMS,
    PENDING,
    Metric,
    MetricsSink,
    Queues,
)

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation


class OpenTelemetryMetricsSink(MetricsSink):
    """Counts outcomes by instruments of ``meter_provider``, the global one if left out.

    Share one between handlers: two of one provider would both tell of the same queues. Raises
    MissingExtraError without ``groundwire[otel]``.
    """

    name = "opentelemetry metrics"

    def __init__(self, meter_provider: MeterProvider | None = None) -> None:
        try:
            from opentelemetry import metrics  # noqa: PLC0415 - wanted only by those who have this
        except ImportError as error:
            raise MissingExtraError(
                "OpenTelemetryMetricsSink", package="opentelemetry-api", extra="otel"
            ) from error
        meter = metrics.get_meter("groundwire", VERSION, meter_provider)
        self._queues = Queues()
        self._metrics: dict[Metric, Any] = {
            one: meter.create_counter(one.name, one.unit, one.help) for one in COUNTERS
        }
        for one in HISTOGRAMS:
            self._metrics[one] = meter.create_histogram(
                one.name, one.unit, one.help, explicit_bucket_boundaries_advisory=one.bounds
            )
        for one in (DROPPED, FAILED, PENDING):
            make = meter.create_observable_gauge if one is PENDING else meter.create_observable_counter
            make(one.name, [_seen(self._queues, one)], one.unit, one.help)

    def watch(self, queue: str, thing: object) -> None:
        """Tell a queue's figures whenever metrics are read, for as long as it lives."""
        self._queues.watch(queue, thing)

    def _add(self, metric: Metric, labels: dict[str, str], amount: int) -> None:
        self._metrics[metric].add(amount, labels)

    def _observe(self, metric: Metric, labels: dict[str, str], value: float) -> None:
        self._metrics[metric].record(value, labels)


def _seen(queues: Queues, metric: Metric) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def look(_: CallbackOptions) -> Iterable[Observation]:
        from opentelemetry.metrics import Observation  # noqa: PLC0415 - as above

        return [Observation(count, {"queue": queue}) for queue, count in queues.figures()[metric].items()]

    return look
