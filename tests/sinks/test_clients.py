"""Scores in Langfuse, Phoenix and MLflow: what their own clients send to a server on 127.0.0.1."""

import logging
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from groundwire.sinks import LangfuseSink, MLflowSink, PhoenixSink
from groundwire.tracing import outbox
from tests.servers.recording_server import recording_server
from tests.sinks.samples import ABSTAINED, HERE, JUDGED, WRONG, told


class Langfuse:
    path = "/api/public/scores"

    def __init__(self, server):
        langfuse = pytest.importorskip("langfuse", reason="needs groundwire[langfuse]")
        options = {"secret_key": "sk-lf-not-a-key", "host": server.url, "tracing_enabled": True}
        self.client = langfuse.Langfuse(public_key=f"pk-lf-{server.url[-5:]}", **options)

    def sink(self, **options):
        return LangfuseSink(self.client, **options)

    @staticmethod
    def answer(request):
        return 200, []

    @staticmethod
    def read(body):
        return [
            {
                "where": (one["traceId"], one["observationId"]),
                "score": one["value"] if one["dataType"] == "NUMERIC" else None,
                "category": one["value"] if one["dataType"] == "CATEGORICAL" else None,
                "name": one["name"],
                "id": one["id"],
                "detector": one["metadata"]["hallucination_detector"],
            }
            for one in body
        ]


class Phoenix:
    path = "/v1/span_annotations"

    def __init__(self, server):
        client = pytest.importorskip("phoenix.client", reason="needs groundwire[phoenix]")
        self.client = client.Client(base_url=server.url)

    def sink(self, **options):
        return PhoenixSink(self.client, **options)

    @staticmethod
    def answer(request):
        return 200, {"data": [{"id": "made"}]}

    @staticmethod
    def read(body):
        return [
            {
                "where": (one["metadata"]["trace_id"], one["span_id"]),
                "score": one["result"].get("score"),
                "category": None if "score" in one["result"] else one["result"]["label"],
                "name": one["name"],
                "id": one["identifier"],
                "detector": one["metadata"]["hallucination_detector"],
                "by": one["annotator_kind"],
            }
            for one in body["data"]
        ]


class MLflow:
    path = "/assessments"

    def __init__(self, server):
        mlflow = pytest.importorskip("mlflow", reason="needs groundwire[mlflow]")
        mlflow.set_tracking_uri(server.url)

    def sink(self, **options):
        return MLflowSink(**options)

    @staticmethod
    def answer(request):
        return 200, {"assessment": {**request.body["assessment"], "assessment_id": "a-made"}}

    @staticmethod
    def read(body):
        one = body["assessment"]
        error = one["feedback"].get("error")
        return [
            {
                "where": (one["trace_id"].removeprefix("tr-"), one["span_id"]),
                "score": one["feedback"]["value"],
                "category": error and error["error_code"],
                "name": one["assessment_name"],
                "id": one["metadata"]["groundwire_id"],
                "detector": one["metadata"]["hallucination_detector"],
                "by": one["source"]["source_type"],
            }
        ]


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    for name, value in {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(params=[Langfuse, Phoenix, MLflow], ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


@pytest.fixture
def server(kind):
    with recording_server(kind.answer) as server:
        yield server


@pytest.fixture
def backend(kind, server):
    return kind(server)


def arrived(backend, server):
    return [one for body in server.sent(backend.path) for one in backend.read(body)]


def test_a_verdict_is_a_number_on_its_span(backend, server):
    """By the ids of the span that answered, as the backend writes them."""
    sink = backend.sink()
    sink.send(told(WRONG), HERE)
    assert sink.flush(30)
    (one,) = arrived(backend, server)
    assert (one["name"], one["score"], one["category"]) == ("hallucination", 0.9, None)
    assert one["where"] == (HERE.trace_id, HERE.span_id)
    assert one["detector"] == "novel-words 1"
    assert sink.counts.delivered == 1


def test_what_could_not_be_judged_is_a_category(backend, server):
    """Its reason, and no number that an average could take in."""
    sink = backend.sink()
    sink.send(told(ABSTAINED), HERE)
    assert sink.flush(30)
    (one,) = arrived(backend, server)
    assert (one["score"], one["category"]) == (None, "NO_CONTEXT")


def test_no_text_leaves_unless_asked(backend, server):
    """Neither what was unsupported, nor why."""
    sink = backend.sink()
    for outcome in (WRONG, ABSTAINED):
        sink.send(told(outcome, run_id=type(outcome).__name__), HERE)
    assert sink.flush(30)
    assert len(arrived(backend, server)) == 2
    assert "secret" not in str(server.requests)
    with_text = backend.sink(include_text=True)
    with_text.send(told(WRONG), HERE)
    assert with_text.flush(30)
    assert "secret words" in str(server.requests)


def test_half_a_character_costs_no_verdict(backend, server):
    """An answer that was cut in the midst of one holds it; the clients can't write it."""
    sink = backend.sink(include_text=True)
    sink.send(told(replace(WRONG, reason="fee \ud83d")), HERE)
    assert sink.flush(30)
    (one,) = arrived(backend, server)
    assert one["score"] == 0.9
    assert "fee \ufffd" in str(server.requests)


def test_the_same_run_judged_again_has_the_same_id(backend, server):
    """So the backend replaces what was there; another run's, or another detector's, is another."""
    sink = backend.sink()
    for run in ("one", "one", "two"):
        sink.send(told(WRONG, run_id=run), HERE)
    assert sink.flush(30)
    if isinstance(backend, MLflow):  # which has no ids of ours: it is told which one to replace
        assert len(server.sent("/assessments/a-made", method="PATCH")) == 1
        first, other = arrived(backend, server)
        assert first["id"] != other["id"]
    else:
        first, again, other = arrived(backend, server)
        assert first["id"] == again["id"] != other["id"]


def test_a_row_of_the_same_number_in_another_trace_is_another(backend, server):
    """Its score must not take the other's place, nor be looked for in its trace."""
    sink = backend.sink()
    for trace_id in ("a" * 32, "c" * 32):
        sink.send(told(replace(WRONG, id="7")), replace(HERE, trace_id=trace_id))
    assert sink.flush(30)
    first, other = arrived(backend, server)
    assert first["id"] != other["id"]
    assert (first["where"][0], other["where"][0]) == ("a" * 32, "c" * 32)


def test_a_draft_is_not_sent(backend, server):
    """The answer that came in its place is."""
    sink = backend.sink()
    sink.send(told(WRONG, action="retry"), HERE)
    sink.send(told(WRONG, action="annotate", attempt=2), HERE)
    assert sink.flush(30)
    assert len(arrived(backend, server)) == 1


def test_whoever_sends_never_waits(backend, server):
    """The server hangs; the application does not, and what does not fit is counted."""
    server.open.clear()
    sink = backend.sink()
    sink._outbox._capacity = 3
    for run in range(6):
        sink.send(told(WRONG, run_id=str(run)), HERE)
    assert not sink.flush(0.2)
    counts = sink.counts
    assert counts.dropped == (0 if isinstance(backend, Langfuse) else 3) or counts.dropped > 0
    assert counts.delivered + counts.pending + counts.dropped == 6
    server.open.set()
    assert sink.flush(30)


@pytest.mark.parametrize("kind", [Phoenix, MLflow], ids=lambda kind: kind.__name__)
def test_a_verdict_that_overtakes_its_trace_is_sent_again(kind, server):
    """Traces are exported in batches: a span that is not there may come."""
    told_missing = []

    def not_yet(request):
        if not told_missing:
            told_missing.append(request)
            return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "no such trace"}
        return kind.answer(request)

    backend = kind(server)
    server.answer = not_yet
    sink = backend.sink()
    sink.send(told(WRONG), HERE)
    while not told_missing or sink.counts.pending:
        sink.flush(0.05)
    assert (sink.counts.delivered, sink.counts.failed) == (1, 0)
    assert len(arrived(backend, server)) == 2


@pytest.mark.parametrize("kind", [Phoenix, MLflow], ids=lambda kind: kind.__name__)
def test_what_is_refused_is_counted_and_logged_without_its_words(kind, server, caplog):
    """A bad request stays bad: it is not tried again, and the log does not repeat what the server said."""
    backend = kind(server)
    server.answer = lambda _: (400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "secret words"})
    sink = backend.sink()
    with caplog.at_level(logging.WARNING, "groundwire"):
        for run in ("one", "two"):
            sink.send(told(WRONG, run_id=run), HERE)
        assert sink.flush(30)
    assert (sink.counts.delivered, sink.counts.failed) == (0, 2)
    (warning,) = [r.getMessage() for r in caplog.records if r.name.startswith("groundwire")]
    assert "could not be delivered" in warning
    assert "secret" not in warning


@pytest.mark.parametrize("kind", [Phoenix, MLflow], ids=lambda kind: kind.__name__)
def test_who_judged_is_told(kind, server):
    """A model, or code."""
    backend = kind(server)
    sink = backend.sink()
    sink.send(told(JUDGED, run_id="a"), HERE)
    sink.send(told(WRONG, run_id="b"), HERE)
    assert sink.flush(30)
    model, code = {Phoenix: ("LLM", "CODE"), MLflow: ("LLM_JUDGE", "CODE")}[kind]
    assert [one["by"] for one in arrived(backend, server)] == [model, code]


def test_losses_are_told_once_a_minute(monkeypatch, caplog):
    """However many there are; and again a minute later."""
    minute = [0.0]
    monkeypatch.setattr(outbox.time, "monotonic", lambda: minute[0])
    box = outbox.Outbox(lambda letter: None, what="letters", capacity=0)
    with caplog.at_level(logging.WARNING, "groundwire"):
        for _ in range(50):
            box.post("letter")
        assert len(caplog.records) == 1
        minute[0] = 61.0
        box.post("letter")
    assert len(caplog.records) == 2
    assert "51 were dropped" in caplog.records[1].getMessage()


def test_an_answer_without_a_trace_is_told_of_once(backend, caplog):
    """There is nothing to put its verdict on."""
    sink = backend.sink()
    with caplog.at_level(logging.WARNING, "groundwire"):
        for _ in range(3):
            sink.send(told(WRONG), None)
    (warning,) = caplog.records
    assert "no trace" in warning.getMessage()
    assert sink.counts.pending == sink.counts.delivered == 0


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("LangfuseSink", "langfuse", "langfuse"),
        ("PhoenixSink", "phoenix", "phoenix"),
        ("MLflowSink", "mlflow", "mlflow"),
        ("PrometheusSink", "prometheus_client", "prometheus"),
        ("OpenTelemetryMetricsSink", "opentelemetry", "otel"),
    ],
)
def test_a_missing_extra_is_named(name, package, extra):
    """When the sink is made, and not by the first answer."""
    code = (
        "import sys\n"
        f"sys.modules[{package!r}] = None\n"
        "import groundwire.sinks as sinks\n"
        "try:\n"
        f"    sinks.{name}()\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True
    )
    assert f"groundwire[{extra}]" in done.stdout


def test_a_flush_takes_no_longer_than_it_may():
    """Its own letters and the client's share one limit of time."""
    forever = threading.Event()

    class Client:
        def create_score(self, **_):
            forever.wait(20)

        flush = create_score

    sink = LangfuseSink(Client())
    sink.send(told(WRONG), HERE)
    started = time.monotonic()
    assert not sink.flush(0.4)
    assert time.monotonic() - started < 0.75
    forever.set()
    assert sink.flush(30)
