"""Metrics, read as Prometheus and OpenTelemetry's SDK read them."""

import gc
import subprocess
import sys
import urllib.request

import pytest

pytest.importorskip("prometheus_client", reason="needs groundwire[prometheus]")
pytest.importorskip("opentelemetry.sdk", reason="needs the OpenTelemetry SDK")

from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from groundwire import AbstentionReason, Checker, ConfigurationError, Interaction, Judge, Usage, detectors
from groundwire.core.plan import Completed, Failed
from groundwire.host.observer import Stats
from groundwire.sinks import OpenTelemetryMetricsSink, PrometheusSink, ScoreSink, TryLaterError
from tests.scripted import NovelWords
from tests.sinks.samples import ABSTAINED, FINE, HERE, JUDGED, WRONG, told

OUTCOMES = {"wrong": WRONG, "fine": FINE, "abstained": ABSTAINED, "judged": JUDGED}
REPLIES = [
    Completed(texts=("a",), usage=Usage(calls=1, input_tokens=100, cached_tokens=40, output_tokens=7)),
    Completed(texts=("b",)),
    Failed(reason=AbstentionReason.TIMEOUT, usage=Usage(calls=1)),
]


class Prometheus:
    """Counted by prometheus_client, read by its own parser."""

    def __init__(self):
        self.registry = CollectorRegistry()
        self.sink = PrometheusSink(self.registry)

    def read(self):
        return parsed(generate_latest(self.registry).decode())


class OpenTelemetry:
    """Counted by the SDK, and read under the names that its exporter for Prometheus gives."""

    def __init__(self):
        self.reader = InMemoryMetricReader()
        self.sink = OpenTelemetryMetricsSink(MeterProvider([self.reader]))

    def read(self):
        found = {}
        data = self.reader.get_metrics_data()
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                assert scope.scope.name == "groundwire"
                for metric in scope.metrics:
                    self._add(found, metric)
        return found

    def _add(self, found, metric):
        name = metric.name.replace(".", "_") + {"s": "_seconds"}.get(metric.unit, "")
        for point in metric.data.data_points:
            labels = tuple(sorted(point.attributes.items()))
            if hasattr(point, "bucket_counts"):
                found[f"{name}_count", labels] = point.count
                found[f"{name}_sum", labels] = point.sum
                running = 0
                for bound, count in zip(
                    [*point.explicit_bounds, float("inf")], point.bucket_counts, strict=True
                ):
                    running += count
                    found[f"{name}_bucket", tuple(sorted({**dict(labels), "le": bound}.items()))] = running
            else:
                suffix = "_total" if getattr(metric.data, "is_monotonic", False) else ""
                found[name + suffix, labels] = point.value


def parsed(text):
    found = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        for sample in family.samples:
            if not sample.name.endswith("_created"):
                labels = {k: float(v) if k == "le" else v for k, v in sample.labels.items()}
                found[sample.name, tuple(sorted(labels.items()))] = sample.value
    return found


def value(read, name, **labels):
    return read.get((name, tuple(sorted(labels.items()))))


@pytest.fixture(params=[Prometheus, OpenTelemetry])
def collected(request):
    return request.param()


def test_an_outcome_is_counted_by_what_it_says(collected):
    """Grounded, hallucinated, or abstained: with the method that said so."""
    for outcome in (WRONG, WRONG, FINE, ABSTAINED):
        collected.sink.send(told(outcome), None)
    read = collected.read()
    counts = {
        verdict: value(read, "groundwire_verdicts_total", verdict=verdict, detector="novel-words")
        for verdict in ("grounded", "hallucinated", "abstained")
    }
    assert counts == {"grounded": 1, "hallucinated": 2, "abstained": 1}


def test_what_could_not_be_judged_has_a_reason_and_no_score(collected):
    """No average of scores is moved by it."""
    collected.sink.send(told(ABSTAINED), None)
    assert value(collected.read(), "groundwire_errors_total", type="NO_CONTEXT") == 1
    assert not value(collected.read(), "groundwire_score_count", detector="novel-words")
    collected.sink.send(told(WRONG), None)
    read = collected.read()
    assert value(read, "groundwire_score_count", detector="novel-words") == 1
    assert value(read, "groundwire_score_sum", detector="novel-words") == 0.9


def test_scores_and_seconds_fall_into_their_buckets(collected):
    """A score's are 0.05 wide; a bound is in the bucket below it."""
    for outcome in (FINE, WRONG):
        collected.sink.send(told(outcome), None)
    read = collected.read()
    by = {"detector": "novel-words"}
    assert [value(read, "groundwire_score_bucket", le=le, **by) for le in (0.1, 0.15, 0.85, 0.9, 1.0)] == [
        0,
        1,
        1,
        2,
        2,
    ]
    assert value(read, "groundwire_detect_seconds_bucket", le=0.005, **by) == 1
    assert value(read, "groundwire_detect_seconds_sum", **by) == pytest.approx(0.203)


def test_a_draft_is_nobodys_answer_but_took_its_time(collected):
    """An answer that was asked again is in no count of answers."""
    collected.sink.send(told(WRONG, action="retry"), None)
    read = collected.read()
    assert not value(read, "groundwire_verdicts_total", verdict="hallucinated", detector="novel-words")
    assert value(read, "groundwire_detect_seconds_count", detector="novel-words") == 1


def test_what_a_judge_was_asked_is_counted(collected):
    """Each request by how it ended; tokens by kinds that add up."""
    collected.sink.asked(REPLIES)
    read = collected.read()
    assert value(read, "groundwire_judge_requests_total", outcome="answered") == 2
    assert value(read, "groundwire_judge_requests_total", outcome="TIMEOUT") == 1
    tokens = {
        t: value(read, "groundwire_judge_tokens_total", type=t) for t in ("input", "cached_input", "output")
    }
    assert tokens == {"input": 60, "cached_input": 40, "output": 7}


class Queue:
    def __init__(self, **figures):
        self.stats = Stats(**{"captured": 0, "judged": 0, "dropped": 0, "pending": 0, **figures})


def test_queues_are_told_together_and_never_fall(collected):
    """Two handlers are one queue; when one has gone, what it dropped stays counted."""
    first, second = Queue(dropped=3, pending=2), Queue(dropped=4)
    for one in (first, second, second):
        collected.sink.watch("answers", one)
    read = collected.read()
    assert value(read, "groundwire_queue_dropped_total", queue="answers") == 7
    assert value(read, "groundwire_queue_pending", queue="answers") == 2
    del first, one
    gc.collect()
    read = collected.read()
    assert value(read, "groundwire_queue_dropped_total", queue="answers") == 7
    assert value(read, "groundwire_queue_pending", queue="answers") == 0


def test_a_checker_tells_of_its_monitor_and_its_other_sinks(collected, tmp_path):
    """Whatever stands beside the metrics is counted there, without being named."""
    monitor_module = pytest.importorskip("groundwire.monitor")
    pytest.importorskip("sqlalchemy")

    def fail(score):
        raise ValueError

    scores = ScoreSink(fail, what="my scores")
    with monitor_module.Monitor(f"sqlite:///{tmp_path}/m.db") as monitor:
        checker = Checker(NovelWords(), monitor=monitor, sinks=[collected.sink, scores])
        checker.check(Interaction(contexts="A bag costs 25 EUR.", answer="A bag costs 75 EUR."))
        scores.send(told(WRONG), HERE)
        assert checker.sinks.flush(60)
        assert monitor.flush(60)
        read = collected.read()
    assert value(read, "groundwire_queue_pending", queue="monitor") == 0
    assert value(read, "groundwire_queue_dropped_total", queue="monitor") == 0
    assert value(read, "groundwire_queue_failed_total", queue="my scores") == 1
    assert value(read, "groundwire_verdicts_total", verdict="hallucinated", detector="novel-words") == 1


def test_a_judges_own_requests_are_heard_through_a_checker(collected):
    """Also when a reply was no use: what was asked was asked."""
    judge = Judge(lambda system, user: "no such form")
    checker = Checker(detectors.get("judge")(), judge=judge, sinks=[collected.sink])
    outcome = checker.check(Interaction(contexts="A bag costs 25 EUR.", answer="A bag costs 75 EUR."))
    assert outcome.hallucinated is None
    read = collected.read()
    assert value(read, "groundwire_judge_requests_total", outcome="answered") == outcome.usage.calls
    assert value(read, "groundwire_errors_total", type="UNREADABLE_REPLY") == 1


@settings(max_examples=40)
@given(st.lists(st.sampled_from(sorted(OUTCOMES)), max_size=12))
def test_both_collectors_say_the_same(names):
    """Law: whatever happened, one board of figures serves both; no label is an id or a text."""
    prometheus, otel = Prometheus(), OpenTelemetry()
    for name in names:
        for one in (prometheus, otel):
            one.sink.send(told(OUTCOMES[name], run_id=f"run {name}"), None)
            one.sink.asked(REPLIES)
    read, other = prometheus.read(), otel.read()
    assert {key: v for key, v in read.items() if v} == pytest.approx({k: v for k, v in other.items() if v})
    labels = {label for _, labels in read for label, _ in labels}
    assert labels <= {"verdict", "detector", "type", "outcome", "queue", "le"}
    assert "secret" not in str(read)


def test_an_endpoint_answers_this_machine_alone():
    """As text that Prometheus reads, on a port that is free again once closed."""
    registry = CollectorRegistry()
    sink = PrometheusSink(registry).serve(port=0)
    sink.send(told(WRONG), None)
    port = sink.port
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        read = parsed(answer.read().decode())
    assert value(read, "groundwire_verdicts_total", verdict="hallucinated", detector="novel-words") == 1
    assert sink._server[0].server_address[0] == "127.0.0.1"
    with pytest.raises(ConfigurationError, match=f"{port}.*another port"):
        PrometheusSink(CollectorRegistry()).serve(port)
    sink.close()
    assert sink.port is None
    PrometheusSink(CollectorRegistry()).serve(port).close()


def test_sinks_of_one_registry_are_one():
    """Two handlers may each have made their own."""
    registry = CollectorRegistry()
    for _ in range(2):
        PrometheusSink(registry).send(told(WRONG), None)
    read = parsed(generate_latest(registry).decode())
    assert value(read, "groundwire_verdicts_total", verdict="hallucinated", detector="novel-words") == 2


def test_a_score_that_waits_is_pending(collected):
    """Until it is taken, or given up."""
    ready = []

    def later(score):
        if not ready:
            raise TryLaterError

    scores = ScoreSink(later, what="busy")
    collected.sink.watch("busy", scores)
    scores.send(told(WRONG), HERE)
    assert value(collected.read(), "groundwire_queue_pending", queue="busy") == 1
    ready.append(True)
    assert scores.flush(60)
    assert value(collected.read(), "groundwire_queue_pending", queue="busy") == 0


def test_the_surface_is_exactly_this():
    import groundwire.sinks

    assert groundwire.sinks.__all__ == [
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
    assert all(getattr(groundwire.sinks, name).__doc__ for name in groundwire.sinks.__all__)


def test_importing_sinks_imports_no_client():
    """Each is imported when it is made."""
    code = (
        "import sys, groundwire.sinks; "
        "print([m for m in ('prometheus_client', 'langfuse', 'phoenix', 'mlflow', 'opentelemetry') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"
