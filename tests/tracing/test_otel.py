"""Verdicts in OpenTelemetry, with the real SDK and exporters in memory."""

import json
import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs the OpenTelemetry SDK")

from opentelemetry import context, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from groundwire import (
    Abstention,
    AbstentionReason,
    Claim,
    ConfigurationError,
    Grading,
    Span,
    Support,
    Verdict,
)
from groundwire.core.sink import Sinks, Told
from groundwire.core.verdict import DetectorSpec
from groundwire.judge.isolation import isolated
from groundwire.tracing.otel import OpenTelemetrySink, SpanAddress, locate
from groundwire.tracing.scores import Score, ScoreSink, TryLaterError

SPEC = DetectorSpec(name="novel-words", version="1")
CLAIM = Claim(text="secret words", span=Span(0, 12), support=Support.UNSUPPORTED, score=1.0)
WRONG = Verdict.graded(0.9, Grading(), detector=SPEC, claims=(CLAIM,), reason="secret reason")
ABSTAINED = Abstention(why=AbstentionReason.NO_CONTEXT, detail="secret detail", detector=SPEC)


class Telemetry:
    """A tracer and a logger that keep what they are told."""

    def __init__(self, **options):
        self.spans, self.logs = InMemorySpanExporter(), InMemoryLogRecordExporter()
        self.tracer_provider = TracerProvider(**options)
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self.spans))
        self.logger_provider = LoggerProvider()
        self.logger_provider.add_log_record_processor(SimpleLogRecordProcessor(self.logs))
        self.tracer = self.tracer_provider.get_tracer("test")

    def sink(self, **options):
        return OpenTelemetrySink(
            logger_provider=self.logger_provider, tracer_provider=self.tracer_provider, **options
        )

    @property
    def events(self):
        return [data.log_record for data in self.logs.get_finished_logs()]


@pytest.fixture
def telemetry():
    return Telemetry()


def of(outcome, **about):
    """An outcome as sinks are told of it."""
    return Told(interaction=None, outcome=outcome, **about)


def ended(telemetry):
    """The address of a span that has ended."""
    with telemetry.tracer.start_as_current_span("query"):
        return locate()


def test_an_outcome_is_an_event_of_the_span_that_was_judged(telemetry):
    """By its ids, also long after it has ended, from any thread and context."""
    address = ended(telemetry)
    thread = threading.Thread(target=telemetry.sink().send, args=(of(WRONG), address))
    thread.start()
    thread.join()
    (event,) = telemetry.events
    assert event.event_name == "gen_ai.evaluation.result"
    assert trace.format_trace_id(event.trace_id) == address.trace_id
    assert trace.format_span_id(event.span_id) == address.span_id
    told = dict(event.attributes)
    assert told["gen_ai.evaluation.name"] == "hallucination"
    assert told["gen_ai.evaluation.score.value"] == 0.9
    assert told["gen_ai.evaluation.score.label"] == "high"
    assert told["hallucination_status"] == "checked"
    (span,) = telemetry.spans.get_finished_spans()
    assert not span.attributes


class StandIn(trace.NonRecordingSpan):
    """Forgets its span once that has ended, as a tracer's proxy of the current span does."""

    def forget(self):
        self._context = trace.INVALID_SPAN_CONTEXT


class MovesOn:
    """Stands for the span around its own once that has ended, as OpenInference's current span does."""

    def __init__(self, span):
        self.stands_for = span

    def __getattr__(self, name):
        return getattr(self.stands_for, name)


def test_the_span_around_an_ended_one_gets_none_of_its_attributes(telemetry):
    """A verdict that comes late is on its own span by the event alone."""
    with telemetry.tracer.start_as_current_span("request") as request:
        with telemetry.tracer.start_as_current_span("query") as query:
            address = replace(locate(), span=MovesOn(query))
        address.span.stands_for = request
        telemetry.sink().send(of(WRONG), address)
    assert trace.format_span_id(telemetry.events[0].span_id) == address.span_id
    assert not any(span.attributes for span in telemetry.spans.get_finished_spans())


def test_a_span_that_forgets_its_ids_is_found_all_the_same(telemetry):
    """The ids are taken while it is current."""
    with telemetry.tracer.start_as_current_span("query") as span:
        stand_in = StandIn(span.get_span_context())
        with trace.use_span(stand_in):
            address = locate()
    stand_in.forget()
    telemetry.sink().send(of(WRONG), address)
    assert trace.format_span_id(telemetry.events[0].span_id) == address.span_id


def test_a_span_that_records_gets_attributes(telemetry):
    """The same as the event's; so backends that read no events show them."""
    with telemetry.tracer.start_as_current_span("query"):
        telemetry.sink().send(of(WRONG), locate())
    (span,) = telemetry.spans.get_finished_spans()
    assert dict(span.attributes) == dict(telemetry.events[0].attributes)
    assert span.attributes["hallucination_score"] == 0.9


FINE = Verdict.graded(0.1, Grading(), detector=SPEC)


@pytest.mark.parametrize(
    ("outcomes", "status", "score"),
    [
        ((WRONG, FINE), "checked", 0.9),
        ((FINE, WRONG), "checked", 0.9),
        ((WRONG, ABSTAINED), "checked", 0.9),
        ((ABSTAINED, FINE), "abstained", None),
        ((FINE, ABSTAINED), "abstained", 0.1),
    ],
    ids=["wrong first", "wrong last", "wrong, unknown", "unknown, fine", "fine, unknown"],
)
def test_of_several_answers_in_a_span_its_attributes_tell_the_worst(outcomes, status, score, telemetry):
    """A right answer after a wrong one must not make the request look clean; each has its event."""
    sink = telemetry.sink()
    with telemetry.tracer.start_as_current_span("request"):
        for outcome in outcomes:
            sink.send(of(outcome), locate())
    (span,) = telemetry.spans.get_finished_spans()
    assert span.attributes["hallucination_status"] == status
    assert span.attributes.get("hallucination_score") == score
    assert len(telemetry.events) == 2


def test_what_could_not_be_judged_has_no_number(telemetry):
    """Its reason is the error's type, and nothing averages it."""
    telemetry.sink().send(of(ABSTAINED), ended(telemetry))
    told = dict(telemetry.events[0].attributes)
    assert told["error.type"] == "NO_CONTEXT"
    assert told["hallucination_status"] == "abstained"
    assert "gen_ai.evaluation.score.value" not in told
    assert "gen_ai.evaluation.score.label" not in told


@pytest.mark.parametrize("outcome", [WRONG, ABSTAINED])
def test_no_text_leaves_unless_asked(telemetry, outcome):
    """Traces are read by more people than answers are."""
    telemetry.sink().send(of(outcome), ended(telemetry))
    telemetry.sink(include_text=True).send(of(outcome), ended(telemetry))
    without, with_text = telemetry.events
    assert "secret" not in str(dict(without.attributes))
    assert "secret" in with_text.attributes["gen_ai.evaluation.explanation"]


def test_a_verdict_can_have_a_span_of_its_own(telemetry):
    """Below the judged one, for backends that take no log events."""
    address = ended(telemetry)
    telemetry.sink(verdict_spans=True).send(of(WRONG), address)
    verdict = telemetry.spans.get_finished_spans()[-1]
    assert verdict.name == "hallucination"
    assert trace.format_span_id(verdict.parent.span_id) == address.span_id
    assert trace.format_trace_id(verdict.context.trace_id) == address.trace_id
    assert verdict.attributes["gen_ai.evaluation.score.value"] == 0.9


@pytest.mark.parametrize("outcome", [WRONG, ABSTAINED])
def test_a_verdicts_span_is_an_evaluation_to_openinference(telemetry, outcome):
    """Phoenix and Arize read these attributes; they are what OpenInference's own helper makes."""
    helper = pytest.importorskip("openinference.instrumentation", reason="needs its package")
    telemetry.sink(verdict_spans=True).send(of(outcome), ended(telemetry))
    told = dict(telemetry.spans.get_finished_spans()[-1].attributes)
    prefix = "evaluations.0.evaluation."
    own = {key.removeprefix(prefix): value for key, value in told.items() if key.startswith(prefix)}
    assert helper.get_evaluation_attributes(evaluations=[own]) == {prefix + k: v for k, v in own.items()}
    assert own["name"] == "hallucination"
    assert (own.get("score"), own["label"]) == (outcome.score, "high" if outcome is WRONG else "NO_CONTEXT")
    assert own["annotator_kind"] == "CODE"
    assert json.loads(own["metadata"])["hallucination_detector"] == "novel-words 1"
    assert told["openinference.span.kind"] == "EVALUATOR"
    assert "secret" not in str(told)


def test_where_nothing_is_traced_nothing_is_addressed():
    """Outside of any span, and in a trace that is not sampled."""
    assert locate() is None
    with Telemetry(sampler=ALWAYS_OFF).tracer.start_as_current_span("query"):
        assert locate() is None


def test_a_verdict_that_no_span_takes_is_told_once(telemetry, caplog):
    """As of a stream that is read after its request's span, or where a tracer's span began after the run."""
    sink = telemetry.sink()
    for _ in range(3):
        sink.send(of(WRONG), None)
    (told,) = caplog.messages
    assert "nothing to put its verdict on" in told


def test_a_program_that_traces_nothing_is_told_nothing(caplog, monkeypatch):
    """The handler of a room has this sink by itself, whether or not anybody traces."""
    monkeypatch.setattr(trace, "get_tracer_provider", trace.ProxyTracerProvider)  # another test may trace
    OpenTelemetrySink().send(of(WRONG), None)
    assert caplog.messages == []


def test_a_program_that_traces_is_told_of_a_verdict_that_no_span_takes(caplog, monkeypatch):
    """Also where the sink has the global providers."""
    monkeypatch.setattr(trace, "get_tracer_provider", TracerProvider)
    OpenTelemetrySink().send(of(WRONG), None)
    assert len(caplog.messages) == 1


def test_a_program_without_opentelemetry_pays_nothing():
    """Asking for the current span imports nothing."""
    code = (
        "import sys; from groundwire.tracing.otel import locate; assert locate() is None; "
        "assert not [m for m in sys.modules if m.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_provider_that_fails_harms_nobody(telemetry, caplog):
    """What goes wrong in the trace is logged, without text."""

    class Broken:
        def get_logger(self, *arguments, **options):
            raise RuntimeError("secret")

    address = ended(telemetry)
    Sinks([OpenTelemetrySink(logger_provider=Broken())]).tell(of(WRONG), (address,))
    (warning,) = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert "RuntimeError" in warning
    assert "secret" not in warning


def test_wrappers_put_what_they_did_beside_the_verdict(telemetry):
    """On their own span, which still records."""
    told = of(WRONG, action="warn", attempt=2)
    with telemetry.tracer.start_as_current_span("query"):
        Sinks([telemetry.sink()]).tell(told)
    (span,) = telemetry.spans.get_finished_spans()
    assert span.attributes["hallucination_action"] == "warn"
    assert span.attributes["hallucination_attempts"] == 2
    assert span.attributes["hallucination_level"] == "high"


def test_a_judges_calls_are_in_no_trace(telemetry):
    """Instrumentations that heed OpenTelemetry's switch record nothing of them, and no span is current."""
    seen = []

    def call():
        seen.append(context.get_value(context._SUPPRESS_INSTRUMENTATION_KEY))
        seen.append(trace.get_current_span().get_span_context().is_valid)

    with telemetry.tracer.start_as_current_span("query"):
        isolated(call)
        assert trace.get_current_span().get_span_context().is_valid
    assert seen == [True, False]
    assert context.get_value(context._SUPPRESS_INSTRUMENTATION_KEY) is None


# -- scores by trace and span id


def address(n=1):
    return SpanAddress(
        trace_id=f"{n:032x}",
        span_id=f"{n:016x}",
        context=trace.INVALID_SPAN_CONTEXT,
        span=trace.INVALID_SPAN,
    )


def test_a_score_has_what_backends_ask_for():
    """Ids, a name, a number or none, a label of few kinds, and no text of the answer."""
    written = []
    sink = ScoreSink(written.append)
    sink.send(of(WRONG), address())
    assert sink.flush(10)
    sink.send(of(ABSTAINED), address(2))
    assert sink.flush(10)
    wrong, abstained = written
    assert wrong == Score(
        trace_id="0" * 31 + "1",
        span_id="0" * 15 + "1",
        name="hallucination",
        value=0.9,
        label="high",
        comment=wrong.comment,
        metadata=wrong.metadata,
        id=wrong.id,
    )
    assert wrong.metadata["hallucination_score"] == 0.9
    assert (abstained.value, abstained.label) == (None, "NO_CONTEXT")
    assert "secret" not in str(written)


def test_the_page_s_way_to_langsmith_puts_scores_on_the_runs_of_their_spans(langsmith_tracing):
    """With LangSmith's own client, on the ids that its server makes of spans; not in the dearer retention."""
    page = (Path(__file__).parents[2] / "docs" / "opentelemetry.md").read_text(encoding="utf-8")
    (snippet,) = (one for one in re.findall(r"```py\n(.*?)```", page, re.DOTALL) if "to_langsmith" in one)
    names = {}
    exec(compile(snippet, "opentelemetry.md", "exec"), names)  # the page's own words are what is under test
    run_id = UUID(int=int(address().span_id, 16))
    names["client"].create_run("answer", {}, "chain", id=run_id, project_name="handbook")
    names["client"].flush()
    for outcome, score, value in ((WRONG, 0.9, "high"), (ABSTAINED, None, "NO_CONTEXT")):
        names["sink"].send(of(outcome), address())
        assert names["sink"].flush(10)
        (told,) = langsmith_tracing.feedback_on(run_id)  # the later one replaces the one before
        assert (told["key"], told.get("score"), told["value"]) == ("hallucination", score, value)
        assert told["extend_trace_retention"] is False
    assert names["sink"].counts.failed == 0
    names["client"].cleanup()


def test_a_backend_that_is_busy_is_asked_again():
    """TryLaterError keeps a score; any other exception loses it, and only it."""
    attempts = []

    def write(score):
        attempts.append(score.span_id)
        if len(attempts) == 1:
            raise TryLaterError
        if score.span_id == address(2).span_id:
            raise ValueError

    sink = ScoreSink(write)
    for n in (1, 2, 3):
        sink.send(of(WRONG), address(n))
        sink.flush(10)
    assert sink.flush(10)
    assert (sink.counts.delivered, sink.counts.failed) == (2, 1)


async def awaits(score):
    raise AssertionError("never run")


@pytest.mark.parametrize("write", [awaits, None, "https://hooks.example.com"], ids=str)
def test_what_could_never_write_a_score_is_refused_at_once(write):
    """What is async would count as delivered, and nobody would have awaited it."""
    with pytest.raises(ConfigurationError, match="write must be"):
        ScoreSink(write)


def test_a_score_can_hold_the_text_where_that_is_wanted():
    written = []
    sink = ScoreSink(written.append, include_text=True)
    sink.send(of(WRONG), address())
    assert sink.flush(10)
    assert "secret words" in written[0].comment
