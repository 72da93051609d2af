"""Verdicts on traces: a LlamaIndex application whose spans are OpenTelemetry's, and sinks by span."""

import asyncio
from contextvars import Token

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs the OpenTelemetry SDK")

from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler
from opentelemetry import context, trace
from opentelemetry._logs import _internal as _logs
from pydantic import PrivateAttr

from groundwire import Checker
from groundwire.llama_index import CheckedQueryEngine, GroundwireHandler
from groundwire.tracing.scores import ScoreSink
from tests.llama_index.apps import CHAT_APPS, FLOW_APPS, engine, question, searching
from tests.scripted import NovelWords
from tests.tracing.test_otel import Telemetry

CHECKER = Checker(NovelWords())


class Traces(BaseSpanHandler[BaseSpan]):
    """Makes an OpenTelemetry span of each of LlamaIndex's, as the tracers that people use do."""

    _tracer = PrivateAttr()
    _open: dict[str, tuple[trace.Span, Token]] = PrivateAttr(default_factory=dict)

    def __init__(self, tracer):
        super().__init__()
        self._tracer = tracer

    def span_enter(self, id_, bound_args, instance=None, parent_id=None, tags=None, **kwargs):
        span = self._tracer.start_span(id_[:-37])
        self._open[id_] = span, context.attach(trace.set_span_in_context(span))

    def span_exit(self, id_, bound_args, instance=None, result=None, **kwargs):
        span, token = self._open.pop(id_)
        span.end()
        context.detach(token)

    span_drop = span_exit

    def new_span(self, *_, **__):
        pass

    prepare_to_exit_span = prepare_to_drop_span = new_span


@pytest.fixture
def telemetry(dispatcher):
    telemetry = Telemetry()
    dispatcher.add_span_handler(Traces(telemetry.tracer))
    return telemetry


def judged_span(telemetry, event):
    (span,) = [s for s in telemetry.spans.get_finished_spans() if s.context.span_id == event.span_id]
    assert span.context.trace_id == event.trace_id
    return span.name


def ask(way):
    if way == "query":
        engine().query(question(1))
    elif way == "aquery":
        asyncio.run(engine().aquery(question(1)))
    elif way == "stream":
        str(engine(streaming=True).query(question(1)))
    elif way == "chat":
        CHAT_APPS["condense question"].build().chat(question(1))
    elif way == "stream_chat":
        "".join(CHAT_APPS["context"].build().stream_chat(question(1)).response_gen)
    else:

        async def run():
            await (searching().run(user_msg=question(1)) if way == "agent" else flow())

        async def flow():
            await FLOW_APPS["workflow that synthesizes"].build(timeout=20).run(query=question(1))

        asyncio.run(run())


NAMES = {
    "query": "RetrieverQueryEngine.query",
    "aquery": "RetrieverQueryEngine.aquery",
    "stream": "RetrieverQueryEngine.query",
    "chat": "CondenseQuestionChatEngine.chat",
    "stream_chat": "ContextChatEngine.stream_chat",
    "agent": "FunctionAgent.run",
    "workflow": "CompactAndRefine.asynthesize",
}


@pytest.mark.parametrize("way", NAMES)
@pytest.mark.parametrize("mode", ["background", "inline"])
def test_each_verdict_is_an_event_of_the_span_that_answered(way, mode, telemetry):
    """The outermost engine's, chat's or agent's, whichever handler was installed first."""
    with GroundwireHandler(CHECKER, mode=mode, sinks=[telemetry.sink()]).install():
        ask(way)
    (event,) = telemetry.events
    assert judged_span(telemetry, event) == NAMES[way]
    assert event.attributes["gen_ai.evaluation.score.value"] == 1.0


def test_inline_verdicts_are_attributes_of_their_span(telemetry):
    """It still records while its answer is judged."""
    with GroundwireHandler(CHECKER, mode="inline", sinks=[telemetry.sink()]).install():
        engine().query(question(1))
    (span,) = [s for s in telemetry.spans.get_finished_spans() if s.attributes]
    assert span.name == "RetrieverQueryEngine.query"
    assert span.attributes["hallucination_level"] == "high"


def test_a_checked_engines_verdict_is_on_its_own_span(telemetry):
    """With what was done about it."""
    CheckedQueryEngine(engine(), checker=CHECKER, on_hallucination="warn").query(question(1))
    (span,) = [s for s in telemetry.spans.get_finished_spans() if s.attributes]
    assert span.name.startswith("CheckedQueryEngine.")
    assert span.attributes["hallucination_action"] == "warn"


def test_a_checked_streams_verdict_is_on_the_engines_span_and_not_on_its_readers(telemetry, monkeypatch):
    """It is read late, in a span that has nothing to do with it."""
    monkeypatch.setattr(_logs, "_LOGGER_PROVIDER", telemetry.logger_provider)
    response = CheckedQueryEngine(engine(streaming=True), checker=CHECKER).query(question(1))
    with telemetry.tracer.start_as_current_span("reader"):
        "".join(response.response_gen)
    (event,) = telemetry.events
    assert judged_span(telemetry, event).startswith("CheckedQueryEngine.")
    assert not any(span.attributes for span in telemetry.spans.get_finished_spans())


def test_scores_are_sent_by_trace_and_span(telemetry):
    """To any backend, by a function of the user's; flush waits for it."""
    written = []
    handler = GroundwireHandler(CHECKER, sinks=[telemetry.sink(), ScoreSink(written.append)])
    with handler.install():
        engine().query(question(1))
    (score,), (event,) = written, telemetry.events
    assert score.span_id == trace.format_span_id(event.span_id)
    assert score.trace_id == trace.format_trace_id(event.trace_id)
    assert score.value == 1.0


def test_without_a_trace_nothing_is_sent():
    """Where the application traces nothing, there is nothing to put a verdict on."""
    written = []
    with GroundwireHandler(CHECKER, sinks=[ScoreSink(written.append)]).install() as handler:
        engine().query(question(1))
    assert len(handler.outcomes) == 1
    assert written == []
