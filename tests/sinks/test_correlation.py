"""Which trace and span a verdict goes to, with the tracers that people have: never another answer's.

Langfuse's and OpenInference's own packages and MLflow's autologging trace the application; nothing is sent.
"""

import asyncio
from uuid import uuid4

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs the OpenTelemetry SDK")
pytest.importorskip("langchain_core", reason="needs groundwire[langchain]")

from langchain.agents import create_agent
from langchain_core.runnables import RunnableLambda
from opentelemetry import context, trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from groundwire import Checker, Interaction
from groundwire.langchain import (
    GroundwireCallbackHandler,
    HallucinationMiddleware,
    interaction,
    with_hallucination_check,
)
from groundwire.sinks import LangfuseSink, MLflowSink, ScoreSink
from tests.langchain.apps import WAYS, Oracle, asked_in_messages, retriever_tool
from tests.scripted import NovelWords
from tests.tracing.conftest import BAGS, MODES, Desk, airline_desk, answer_to

CHECKER = Checker(NovelWords())


class Traced:
    """Spans that have ended, by their ids."""

    def __init__(self):
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.key = f"pk-lf-{uuid4().hex}"

    @property
    def spans(self):
        return {f"{span.context.span_id:016x}": span for span in self.exporter.get_finished_spans()}


@pytest.fixture(autouse=True)
def own_context():
    """Langfuse's callbacks leave their spans current: no other test is to find them."""
    before = context.get_current()
    context.attach(context.Context())
    yield
    context.attach(before)


@pytest.fixture
def traced():
    return Traced()


class Places(ScoreSink):
    """Keeps each outcome with where it would go. Its locating is that of the sink it stands for."""

    def __init__(self, like=None):
        super().__init__(lambda score: None)
        self.like = like or ScoreSink(lambda score: None)
        self.seen = []

    def locate(self, run_id=None, started=None):
        return self.like.locate(run_id, started)

    def find(self, run_id):
        return self.like.find(run_id)

    def send(self, told, where):
        self.seen.append((told, where))


def asked(told):
    return told.interaction.question


def run_all(run, callbacks):
    run(airline_desk(), BAGS[:4], {"callbacks": callbacks})


every_mode = pytest.mark.parametrize("run", MODES, ids=lambda run: run.__name__)


# -- Langfuse


@pytest.fixture
def langfuse(traced):
    langfuse = pytest.importorskip("langfuse", reason="needs groundwire[langfuse]")
    return langfuse.Langfuse(
        public_key=traced.key,  # there is one client of a key in a process
        secret_key="sk-lf-not-a-key",
        host="http://127.0.0.1:9",
        tracer_provider=traced.provider,
        span_exporter=traced.exporter,
    )


def langfuse_handler(traced):
    from langfuse.langchain import CallbackHandler

    return CallbackHandler(public_key=traced.key)


@every_mode
def test_a_langfuse_score_is_on_its_own_observation(run, langfuse, traced):
    """Whose trace it is, only Langfuse's handler knows: under batch another run's span is current."""
    theirs = langfuse_handler(traced)
    sink = Places(LangfuseSink(langfuse, handler=theirs))
    with GroundwireCallbackHandler(CHECKER, langsmith=False, sinks=[sink]) as ours:
        run_all(run, [ours, theirs])
    assert len(sink.seen) == 4
    for told, where in sink.seen:
        span = traced.spans[where.span_id]
        assert span.name == "airline desk"
        assert asked(told) in span.attributes["langfuse.observation.input"]
        assert f"{span.context.trace_id:032x}" == where.trace_id


@every_mode
@pytest.mark.parametrize("place", ["after it", "installed"])
def test_a_langfuse_score_needs_no_order_of_handlers(run, place, langfuse, traced):
    """Langfuse's handler forgets a run at its end: where it is was noted before."""
    theirs = langfuse_handler(traced)
    sink = Places(LangfuseSink(langfuse, handler=theirs))
    with GroundwireCallbackHandler(CHECKER, langsmith=False, sinks=[sink]) as ours:
        if place == "installed":
            ours.install()
        try:
            run_all(run, [theirs] if place == "installed" else [theirs, ours])
        finally:
            ours.uninstall()
    assert len(sink.seen) == 4
    for told, where in sink.seen:
        assert asked(told) in traced.spans[where.span_id].attributes["langfuse.observation.input"]


@every_mode
@pytest.mark.parametrize("ours_first", [True, False])
def test_without_langfuses_handler_nothing_is_put_on_another_answers_span(run, langfuse, traced, ours_first):
    """Its callbacks leave spans current that are not ours to use: rather none than a wrong one."""
    theirs = langfuse_handler(traced)
    sink = Places()
    with GroundwireCallbackHandler(CHECKER, langsmith=False, sinks=[sink]) as ours:
        run_all(run, [ours, theirs] if ours_first else [theirs, ours])
    assert [where for _, where in sink.seen] == [None] * 4


@every_mode
def test_an_enclosing_span_is_every_answers(run, langfuse, traced):
    """Such as a request's: all of a batch are in it."""
    with traced.provider.get_tracer("app").start_as_current_span("request") as request:
        sink = Places()
        with GroundwireCallbackHandler(CHECKER, langsmith=False, sinks=[sink]) as ours:
            run_all(run, [ours])
    expected = f"{request.get_span_context().span_id:016x}"
    assert [where.span_id for _, where in sink.seen] == [expected] * 4


@every_mode
def test_a_wrappers_score_is_on_its_own_observation(run, langfuse, traced):
    """By the wrapper's own run, which goes on while it judges."""
    theirs = langfuse_handler(traced)
    sink = Places(LangfuseSink(langfuse, handler=theirs))
    checked = with_hallucination_check(airline_desk(), checker=CHECKER, sinks=[sink], name="checked")
    run_wrapped(run, checked, theirs)
    assert len(sink.seen) == 4
    for told, where in sink.seen:
        span = traced.spans[where.span_id]
        assert span.name == "checked"
        assert asked(told) in span.attributes["langfuse.observation.input"]


def run_wrapped(run, checked, theirs):
    run(checked, BAGS[:4], {"callbacks": [theirs]})


def test_a_span_that_was_left_current_is_nobodys(langfuse, traced):
    """After a batch, what is checked in the same thread has nothing to do with it."""
    theirs = langfuse_handler(traced)
    airline_desk().batch(BAGS[:2], {"callbacks": [theirs]})
    left = trace.get_current_span()
    assert left.get_span_context().is_valid, "Langfuse has mended it: the rule may be looked at again"
    assert left.end_time is not None
    sink = Places()
    Checker(NovelWords(), sinks=[sink]).check(Interaction(question="why?", contexts="a b", answer="c"))
    assert [where for _, where in sink.seen] == [None]


# -- OpenInference, as Phoenix uses it


@pytest.fixture
def openinference(traced):
    room = pytest.importorskip("openinference.instrumentation.langchain", reason="needs its package")
    instrumentor = room.LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=traced.provider)
    yield
    instrumentor.uninstrument()


def assert_each_is_on_its_own_span(sink, traced):
    assert len(sink.seen) == 4
    for told, where in sink.seen:
        span = traced.spans[where.span_id]
        assert span.name == "airline desk"
        assert asked(told) in span.attributes["input.value"]


@every_mode
def test_a_verdict_is_on_the_span_that_openinference_made_of_the_run(run, openinference, traced):
    """Which is current nowhere, but known by the run's id."""
    sink = Places()
    with GroundwireCallbackHandler(CHECKER, langsmith=False, sinks=[sink]) as ours:
        run_all(run, [ours])
    assert_each_is_on_its_own_span(sink, traced)


@every_mode
def test_an_installed_handler_finds_the_span_that_openinference_made(run, openinference, traced):
    """Though it hears of a run's end after OpenInference, which forgets the run then."""
    sink = Places()
    with GroundwireCallbackHandler(CHECKER, langsmith=False, sinks=[sink]).install() as ours:
        try:
            run_all(run, [])
        finally:
            ours.uninstall()
    assert_each_is_on_its_own_span(sink, traced)


@every_mode
def test_a_chain_in_a_larger_one_has_its_verdict_on_its_own_span(run, openinference, traced):
    """It is judged when the larger one ends, long after its own span has."""
    larger = (RunnableLambda(lambda asked: asked) | airline_desk() | RunnableLambda(str.upper)).with_config(
        run_name="larger"
    )
    sink = Places()
    with GroundwireCallbackHandler(CHECKER, langsmith=False, sinks=[sink]) as ours:
        run(larger, BAGS[:4], {"callbacks": [ours]})
    assert_each_is_on_its_own_span(sink, traced)


def test_separate_calls_have_their_verdict_on_the_span_of_the_one_that_answered(openinference, traced):
    """A block around them is no run, and ends after them."""
    sink = Places()
    with GroundwireCallbackHandler(CHECKER, langsmith=False, sinks=[sink]) as ours:
        for number in range(2):
            with interaction(question=BAGS[number], contexts=[answer_to("bag 2")]):
                Desk().invoke(BAGS[number], {"callbacks": [ours]})
    assert len(sink.seen) == 2
    for told, where in sink.seen:
        span = traced.spans[where.span_id]
        assert span.name == "Desk"
        assert asked(told) in span.attributes["input.value"]


@pytest.mark.parametrize("way", WAYS)
def test_a_middlewares_verdict_is_on_its_own_span(way, openinference, traced):
    """The agent's step that judged, in the agent's trace."""
    sink = Places()
    middleware = HallucinationMiddleware(checker=CHECKER, sinks=[sink])
    agent = create_agent(Oracle(), [retriever_tool()], middleware=[middleware])
    WAYS[way](agent, [asked_in_messages(number) for number in (1, 2)], {})
    assert len(sink.seen) == 2
    for told, where in sink.seen:
        span = traced.spans[where.span_id]
        assert span.name == "HallucinationMiddleware.after_agent"
        assert asked(told) in span.attributes["input.value"]


def test_llama_indexs_spans_are_openinferences(traced):
    """The outermost engine's, also when it is asked many things at once."""
    pytest.importorskip("llama_index.core", reason="needs groundwire[llama-index]")
    room = pytest.importorskip("openinference.instrumentation.llama_index", reason="needs its package")
    from groundwire.llama_index import GroundwireHandler
    from tests.llama_index.apps import engine, question

    instrumentor = room.LlamaIndexInstrumentor()
    instrumentor.instrument(tracer_provider=traced.provider)
    if not instrumentor.is_instrumented_by_opentelemetry:
        pytest.skip("OpenInference asks for a newer LlamaIndex")
    try:
        sink = Places()
        with GroundwireHandler(CHECKER, sinks=[sink]).install():

            async def together():
                await asyncio.gather(*(engine().aquery(question(n)) for n in range(1, 7)))

            asyncio.run(together())
            engine().query(question(1))
    finally:
        instrumentor.uninstrument()
    assert len(sink.seen) == 7
    for told, where in sink.seen:
        span = traced.spans[where.span_id]
        assert span.name in ("RetrieverQueryEngine.aquery", "RetrieverQueryEngine.query")
        assert asked(told) in span.attributes["input.value"]


# -- MLflow


@pytest.fixture
def mlflow(monkeypatch, tmp_path):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false")
    mlflow = pytest.importorskip("mlflow", reason="needs groundwire[mlflow]")
    from mlflow.tracing.processor import base_mlflow

    ended = {}
    real = base_mlflow.BaseMlflowSpanProcessor.on_end

    def on_end(self, span):
        ended[f"{span.context.span_id:016x}"] = span
        return real(self, span)

    monkeypatch.setattr(base_mlflow.BaseMlflowSpanProcessor, "on_end", on_end)
    mlflow.set_tracking_uri("http://127.0.0.1:9")
    return mlflow, ended


@every_mode
def test_mlflows_own_span_is_used_where_it_is_current_and_no_other(run, mlflow):
    """Calls in the caller's thread have theirs; under batch and on event loops MLflow has none current."""
    module, ended = mlflow
    module.langchain.autolog()
    sink = Places(MLflowSink())
    try:
        with GroundwireCallbackHandler(CHECKER, langsmith=False, sinks=[sink]) as ours:
            run_all(run, [ours])
    finally:
        module.langchain.autolog(disable=True)
    assert len(sink.seen) == 4
    found = [(told, where) for told, where in sink.seen if where is not None]
    assert len(found) == (4 if run.__name__ in ("invoke", "stream") else 0)
    for told, where in found:
        span = ended[where.span_id]
        assert span.name == "airline desk"
        assert asked(told) in span.attributes["mlflow.spanInputs"]
        assert f"{span.context.trace_id:032x}" == where.trace_id


def test_a_traced_function_is_where_its_answers_are(mlflow):
    """With ``mlflow.trace`` around it, a plain checker's outcome is on its span."""
    module, ended = mlflow
    sink = Places(MLflowSink())
    checker = Checker(NovelWords(), sinks=[sink])

    @module.trace
    def respond(question):
        return checker.check(Interaction(question=question, contexts="a b", answer="c")).score

    respond("why?")
    ((_, where),) = sink.seen
    assert ended[where.span_id].name == "respond"


def test_llama_indexs_answers_are_on_mlflows_spans(mlflow):
    """The outermost engine's, asked in turn or at once."""
    pytest.importorskip("llama_index.core", reason="needs groundwire[llama-index]")
    module, ended = mlflow
    from groundwire.llama_index import GroundwireHandler
    from tests.llama_index.apps import engine, question

    module.llama_index.autolog()
    sink = Places(MLflowSink())
    try:
        with GroundwireHandler(CHECKER, sinks=[sink]).install():

            async def together():
                await asyncio.gather(*(engine().aquery(question(n)) for n in range(1, 5)))

            asyncio.run(together())
            engine().query(question(1))
    finally:
        module.llama_index.autolog(disable=True)
    assert len(sink.seen) == 5
    for told, where in sink.seen:
        span = ended[where.span_id]
        assert span.name in ("RetrieverQueryEngine.aquery", "RetrieverQueryEngine.query")
        assert asked(told) in span.attributes["mlflow.spanInputs"]


@every_mode
def test_a_wrapper_in_a_traced_function_is_on_its_span_or_its_own(run, mlflow):
    """On an event loop, MLflow has the function's alone; never another call's."""
    module, ended = mlflow
    module.langchain.autolog()
    sink = Places(MLflowSink())
    checked = with_hallucination_check(airline_desk(), checker=CHECKER, sinks=[sink], name="checked")
    try:
        with module.start_span("request") as request:
            run(checked, BAGS[:4], {})
    finally:
        module.langchain.autolog(disable=True)
    assert len(sink.seen) == 4
    for told, where in sink.seen:
        span = ended[where.span_id]
        assert where.trace_id == request.trace_id.removeprefix("tr-")
        own = span.name == "checked" and asked(told) in span.attributes["mlflow.spanInputs"]
        assert own or span.name == "request"


@every_mode
def test_a_wrappers_verdict_is_on_its_own_openinference_span(run, openinference, traced):
    """By the wrapper's own run."""
    sink = Places()
    checked = with_hallucination_check(airline_desk(), checker=CHECKER, sinks=[sink], name="checked")
    run(checked, BAGS[:4], {})
    assert len(sink.seen) == 4
    for told, where in sink.seen:
        span = traced.spans[where.span_id]
        assert span.name == "checked"
        assert asked(told) in span.attributes["input.value"]


def test_an_observed_function_is_where_its_answers_are(langfuse, traced):
    """With Langfuse's own context around it, a checker's outcome is on its observation."""
    sink = Places(LangfuseSink(langfuse))
    checker = Checker(NovelWords(), sinks=[sink])
    with langfuse.start_as_current_observation(name="respond") as observed:
        checker.check(Interaction(question="why?", contexts="a b", answer="c"))
    ((_, where),) = sink.seen
    assert (where.trace_id, where.span_id) == (observed.trace_id, observed.id)
