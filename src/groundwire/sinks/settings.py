"""Sinks as settings name them: by a name, or by a name with options."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from groundwire.core.errors import ConfigurationError
from groundwire.core.sink import Sink
from groundwire.sinks.langfuse import LangfuseSink
from groundwire.sinks.mlflow import MLflowSink
from groundwire.sinks.opentelemetry import OpenTelemetryMetricsSink
from groundwire.sinks.phoenix import PhoenixSink
from groundwire.sinks.prometheus import PrometheusSink
from groundwire.tracing.otel import OpenTelemetrySink

_SERVED: dict[tuple[int, str], PrometheusSink] = {}
_LOCK = threading.Lock()


def _prometheus(*, port: int | None = None, address: str = "127.0.0.1") -> Sink:
    if port is None:
        return PrometheusSink()
    with _LOCK:  # settings may be built from more than once, and a port be served once
        return _SERVED.setdefault((port, address), PrometheusSink()).serve(port, address)


_TEXT = {"include_text": "bool"}
# What makes each, and what may be set of it here.
_KINDS: Mapping[str, tuple[Callable[..., Sink], Mapping[str, str]]] = {
    "prometheus": (_prometheus, {"port": "int | None", "address": "str"}),
    "opentelemetry": (OpenTelemetrySink, {"verdict_spans": "bool", **_TEXT}),
    "opentelemetry_metrics": (OpenTelemetryMetricsSink, {}),
    "langfuse": (LangfuseSink, _TEXT),
    "phoenix": (PhoenixSink, _TEXT),
    "mlflow": (MLflowSink, _TEXT),
}


def build(given: Sequence[str | Mapping[str, Any]]) -> tuple[Sink, ...]:
    """The sinks that settings name. Raises ConfigurationError, naming every mistake at once."""
    return tuple(make(**options) for make, options in wanted(given))


def wanted(
    given: Sequence[str | Mapping[str, Any]],
) -> list[tuple[Callable[..., Sink], Mapping[str, Any]]]:
    """What builds each sink, with its options, and none built. Raises ConfigurationError as ``build``."""
    problems: list[str] = []
    found = [one for at, part in enumerate(given) if (one := _wanted(at, part, problems))]
    names = [part if isinstance(part, str) else next(iter(part), "") for part in given]
    problems += [
        f"sinks.{at}: {name} stands here twice, and would be told of each answer twice; name it once"
        for at, name in enumerate(names)
        if name in _KINDS and name in names[:at]
    ]
    if problems:
        raise ConfigurationError(*problems)
    return found


def _wanted(
    at: int, given: str | Mapping[str, Any], problems: list[str]
) -> tuple[Callable[..., Sink], Mapping[str, Any]] | None:
    where = f"sinks.{at}"
    table = {given: {}} if isinstance(given, str) else given
    if len(table) != 1:
        problems.append(f"{where}: expected one name with options, as in {{prometheus: {{port: 9464}}}}")
        return None
    ((name, options),) = table.items()
    if name not in _KINDS:
        problems.append(f"{where}: unknown sink {name!r:.60}; expected one of {', '.join(_KINDS)}")
        return None
    if not isinstance(options or {}, Mapping):
        problems.append(f"{where}: expected options of {name}, not a {type(options).__qualname__}")
        return None
    (make, known), options = _KINDS[name], dict(options or {})
    for key, value in options.items():
        if key not in known:
            offered = f"expected one of {', '.join(known)}" if known else "there is none to set here"
            problems.append(f"{where}: unknown option {key!r:.60} of {name}; {offered}")
        elif not _fits(value, known[key]):
            problems.append(f"{where}: {key} must be {known[key]}, not {value!r:.60}")
    if "address" in options and options.get("port") is None:
        problems.append(f"{where}: address says who may ask at a port, and there is none; add port: 9464")
    return make, options


def _fits(value: Any, annotation: str) -> bool:
    if annotation == "bool":
        return isinstance(value, bool)
    if annotation == "str":
        return isinstance(value, str)
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 65536)
