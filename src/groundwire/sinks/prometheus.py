"""Metrics for Prometheus: in a registry of prometheus_client, and on an endpoint of their own if wanted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

from groundwire.core.errors import ConfigurationError, MissingExtraError
from groundwire.sinks.metrics import COUNTERS, HISTOGRAMS, PENDING, Metric, MetricsSink, Queues

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

PORT = 9464
"""The port that OpenTelemetry's Prometheus exporters serve by default."""


class PrometheusSink(MetricsSink):
    """Counts outcomes in ``registry``, prometheus_client's global one if left out.

    Sinks of one registry are one. ``serve`` opens an endpoint; an application that has one already needs
    none, and neither does one that mounts ``prometheus_client.make_asgi_app()``. Raises MissingExtraError
    without ``groundwire[prometheus]``.

    >>> metrics = PrometheusSink()  # doctest: +SKIP
    >>> handler = GroundwireCallbackHandler(sinks=[metrics.serve()])  # doctest: +SKIP
    """

    name = "prometheus"

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        try:
            import prometheus_client  # noqa: PLC0415 - wanted only by those who have this
        except ImportError as error:
            raise MissingExtraError(
                "PrometheusSink", package="prometheus-client", extra="prometheus"
            ) from error
        self._registry = registry or prometheus_client.REGISTRY
        self._known = _of(self._registry)
        self._server: Any = None

    def serve(self, port: int = PORT, address: str = "127.0.0.1") -> Self:
        """Answer scrapes at ``http://address:port/metrics``; on a free port if it is 0, see ``port``.

        Only this machine is answered unless ``address`` says otherwise. Raises ConfigurationError where the
        port is taken, as in every process of a server but the first.
        """
        from prometheus_client import start_http_server  # noqa: PLC0415

        if self._server is None:
            try:
                self._server = start_http_server(port, address, self._registry)
            except OSError as error:
                raise ConfigurationError(
                    f"metrics can't be served at {address}:{port}: {error.strerror or error}; choose another "
                    "port, or mount prometheus_client's own application"
                ) from error
        return self

    @property
    def port(self) -> int | None:
        """The port that scrapes are answered on; None if on none."""
        return None if self._server is None else int(self._server[0].server_port)

    def close(self) -> None:
        """Answer no more scrapes. What was counted stays counted."""
        if self._server is not None:
            server, thread = self._server
            self._server = None
            server.shutdown()
            server.server_close()
            thread.join()

    def watch(self, queue: str, thing: object) -> None:
        """Tell a queue's figures at each scrape, for as long as it lives."""
        self._known.queues.watch(queue, thing)

    def _add(self, metric: Metric, labels: dict[str, str], amount: int) -> None:
        self._known.metrics[metric].labels(**labels).inc(amount)

    def _observe(self, metric: Metric, labels: dict[str, str], value: float) -> None:
        self._known.metrics[metric].labels(**labels).observe(value)


class _Known:
    """What one registry has of ours."""

    def __init__(self, registry: CollectorRegistry) -> None:
        from prometheus_client import Counter, Histogram  # noqa: PLC0415

        self.queues = Queues()
        self.metrics: dict[Metric, Any] = {
            one: Counter(one.exposed, one.help, one.labels, registry=registry) for one in COUNTERS
        }
        for one in HISTOGRAMS:
            self.metrics[one] = Histogram(
                one.exposed, one.help, one.labels, registry=registry, buckets=one.bounds
            )
        registry.register(self)

    def collect(self) -> Iterator[Any]:
        """The queues, looked at when they are asked for."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415

        for metric, by_queue in self.queues.figures().items():
            family = GaugeMetricFamily if metric is PENDING else CounterMetricFamily
            told = family(metric.exposed, metric.help, labels=metric.labels)
            for queue, count in sorted(by_queue.items()):
                told.add_metric([queue], count)
            yield told


_REGISTRIES: WeakKeyDictionary[CollectorRegistry, _Known] = WeakKeyDictionary()
_LOCK = threading.Lock()


def _of(registry: CollectorRegistry) -> _Known:
    with _LOCK:
        if registry not in _REGISTRIES:
            _REGISTRIES[registry] = _Known(registry)
        return _REGISTRIES[registry]
