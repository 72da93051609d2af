"""The checked query engine: the verdict is on the response, and the engine behaves as the one it asks."""

import asyncio
import copy
import gc
import json
import re
from collections.abc import Callable

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import CustomQueryEngine, RetryQueryEngine, RouterQueryEngine
from llama_index.core.schema import QueryBundle

from groundwire import AbstentionReason, Checker, ConfigurationError, Policy
from groundwire.core import wire
from groundwire.host.actions import HallucinationError
from groundwire.llama_index import (
    CheckedChatEngine,
    CheckedQueryEngine,
    Expand,
    GroundwireHandler,
    HallucinationEvaluator,
)
from groundwire.policy import AbstainedError, OnAbstention
from groundwire.sinks import Sink
from tests.llama_index.apps import (
    QUERY_APPS,
    Library,
    Oracle,
    Reply,
    Selects,
    Structured,
    answer,
    as_tool,
    engine,
    memory,
    nodes,
    question,
    searching,
    simple_chat,
    topic,
)
from tests.scripted import Broken, NovelWords

CHECKER = Checker(NovelWords())


def right(n):
    return f"topic{n} weighs {n} kilos."


def odd_ones_invent(n):
    return f"topic{n} weighs nothing." if n % 2 else right(n)


class Improves(Oracle):
    """Invents until a note names what it invented."""

    asked: list = []  # noqa: RUF012 - a pydantic field, copied for each instance
    rule: Callable[[int], str] | None = None

    def _said(self, text):
        self.asked.append(text)
        n = topic(text)
        if self.rule is not None:
            return self.rule(n)
        return right(n) if "support this part" in text else odd_ones_invent(n)


class Breaks(Oracle):
    """Goes away after its first word."""

    def stream_chat(self, messages, **kwargs):
        yield next(super().stream_chat(messages, **kwargs))
        raise ConnectionError("the model went away")

    async def astream_chat(self, messages, **kwargs):
        async def stream():
            for part in self.stream_chat(messages):
                yield part

        return stream()


class Told(Sink):
    """Keeps what was done about each answer, and why it could not be judged."""

    def __init__(self):
        self.outcomes = []

    def send(self, told, where):
        self.outcomes.append((told.action, getattr(told.outcome, "why", None)))


def checked(inner=None, **options):
    return CheckedQueryEngine(inner or engine(llm=Oracle(reply=odd_ones_invent)), checker=CHECKER, **options)


def verdict(response):
    return response.metadata["hallucination"]


def flagged(response):
    return [claim["text"] for claim in verdict(response)["claims"]]


async def everything(response):
    return "".join([token async for token in response.async_response_gen()])


@pytest.mark.parametrize("name", QUERY_APPS)
@pytest.mark.parametrize("way", ["query", "aquery"])
def test_every_engine_can_be_checked(name, way):
    """The verdict is there when the response is, on the answer and the nodes of that very call."""
    asked = checked(QUERY_APPS[name].build())
    response = asked.query(question(8)) if way == "query" else asyncio.run(asked.aquery(question(8)))
    assert str(response) == QUERY_APPS[name].answer(8)
    assert "The" in flagged(response)
    assert not {"topic8", "weighs", "8", "kilos"} & set(flagged(response))


@pytest.mark.parametrize("name", [name for name, app in QUERY_APPS.items() if app.streams])
@pytest.mark.parametrize("way", ["stream", "astream"])
def test_a_stream_has_its_verdict_at_its_end(name, way):
    """Until then it is pending, which is neither clean nor hallucinated."""
    asked = checked(QUERY_APPS[name].build(streaming=True))

    async def run():
        response = await asked.aquery(question(8))
        assert verdict(response)["status"] == "pending"
        assert await everything(response) == answer(8)
        return response

    if way == "astream":
        response = asyncio.run(run())
    else:
        response = asked.query(question(8))
        early = response.metadata
        assert verdict(response)["status"] == "pending"
        assert "".join(response.response_gen) == answer(8)
        assert early is response.metadata
    assert flagged(response) == ["The"]


def test_the_verdict_is_the_wire_form_beside_what_was_there():
    """It reads back as the outcome that it was, and no node's metadata is lost."""
    response = checked().query(question(3))
    data = json.loads(json.dumps(verdict(response)))
    assert wire.encode(wire.decode(data)) == verdict(response)
    assert {"3-0", "3-1", "3-2"} < response.metadata.keys()
    words = [str(response)[span["start"] : span["end"]] for span in data["spans"]]
    assert words == ["nothing"]


def test_what_was_returned_is_not_changed_in_place():
    """An engine may hand out a response that it keeps."""
    kept = engine().query(question(2))
    before = copy.deepcopy(kept)

    class Keeps(type(QUERY_APPS["by hand"].build())):
        def custom_query(self, query_str):
            return kept

    checked(Keeps(retriever=None, llm=None), on_hallucination="replace").query(question(2))
    assert kept == before


def test_without_nodes_nothing_is_called_clean():
    """An engine that retrieves nothing ends in an abstention that says so."""

    class Empty(Library):
        def _retrieve(self, query_bundle):
            return []

    response = checked(engine(retriever=Empty())).query(question(2))
    assert verdict(response)["abstention"] == "NO_CONTEXT"
    assert verdict(response)["reason"]


@pytest.mark.parametrize("mode", ["compact", "refine", "tree_summarize", "simple_summarize", "accumulate"])
def test_where_the_model_says_nothing_there_is_no_answer_to_judge(mode):
    """LlamaIndex's "Empty Response" is nobody's statement: neither a hallucination nor clean."""
    checker = Checker("lexical")
    silent = engine(mode, llm=Oracle(reply=lambda n: ""))
    response = CheckedQueryEngine(silent, checker=checker).query(question(3))
    assert verdict(response)["abstention"] == "NO_CLAIMS"
    result = HallucinationEvaluator(checker).evaluate_response(query=question(3), response=response)
    assert (result.passing, result.hallucination["abstention"]) == (None, "NO_CLAIMS")


def test_a_form_is_judged_by_its_answer():
    """And warned in it; one that is replaced is no form any more."""
    forms = engine(llm=Structured(), output_cls=Reply)
    response = checked(forms, on_hallucination="warn").query(question(7))
    assert flagged(response) == ["The"]
    assert response.response.answer.startswith(answer(7) + "\n\nThis answer")
    assert str(checked(forms, on_hallucination="replace", replacement="No.").query(question(7))) == "No."


# -- what is done about a hallucination


STREAMING = pytest.mark.parametrize("streaming", [False, True])


def asked(streaming, way, **options):
    """A checked engine that invents for odd topics, asked in some way, to its whole text and response."""
    inner = engine(llm=Oracle(reply=odd_ones_invent), streaming=streaming)
    outer = checked(inner, **options)

    def ask(n):
        async def run():
            response = await outer.aquery(question(n))
            return (await everything(response) if streaming else str(response)), response

        if way == "aquery":
            return asyncio.run(run())
        response = outer.query(question(n))
        return ("".join(response.response_gen) if streaming else str(response)), response

    return ask


WAYS = pytest.mark.parametrize("way", ["query", "aquery"])


@STREAMING
@WAYS
def test_annotate_leaves_the_answer(streaming, way):
    """The default: the answer stands beside its verdict."""
    ask = asked(streaming, way)
    assert ask(3)[0] == odd_ones_invent(3)
    assert verdict(ask(3)[1])["hallucinated"] is True
    assert verdict(ask(2)[1])["hallucinated"] is False


@STREAMING
@WAYS
def test_warn_appends_the_warning(streaming, way):
    """In a paragraph of its own, so that the offsets still hold; only to what is not supported."""
    ask = asked(streaming, way, on_hallucination="warn")
    text, response = ask(3)
    assert text == f"{odd_ones_invent(3)}\n\n{verdict(response)['warning']}"
    assert ask(2)[0] == right(2)


@STREAMING
@WAYS
def test_replace_takes_the_answers_place(streaming, way):
    """Nobody sees a word of it; who asked for a stream still gets one."""
    ask = asked(streaming, way, on_hallucination="replace", replacement="I can't say.")
    text, response = ask(3)
    assert text == "I can't say."
    assert verdict(response)["hallucinated"] is True
    assert ask(2)[0] == right(2)


@STREAMING
@WAYS
def test_raise_raises(streaming, way):
    """With what was judged and how."""
    with pytest.raises(HallucinationError) as caught:
        asked(streaming, way, on_hallucination="raise")(3)
    assert caught.value.interaction.answer == odd_ones_invent(3)
    assert asked(streaming, way, on_hallucination="raise")(2)[0] == right(2)


@STREAMING
@WAYS
def test_retry_names_what_was_wrong(streaming, way):
    """The next answer is asked for with the unsupported claims named; the question alone is searched for."""
    model = Improves(asked=[])
    seen = []

    class Watched(Library):
        def _retrieve(self, query_bundle):
            seen.append(query_bundle.embedding_strs)
            return super()._retrieve(QueryBundle(query_bundle.embedding_strs[0]))

    outer = checked(
        engine(llm=model, retriever=Watched(), streaming=streaming), on_hallucination="retry", max_retries=2
    )
    response = asyncio.run(outer.aquery(question(3))) if way == "aquery" else outer.query(question(3))
    assert re.search(r'support this part of your previous answer:\s+- "nothing"', model.asked[-1])
    assert len(model.asked) == 2
    assert seen == [[question(3)]] * 2
    assert verdict(response)["hallucinated"] is False


@WAYS
def test_a_handler_around_a_retry_hears_one_answer_to_the_users_question(way):
    """The draft is none; and the record is found by the response that the application gets."""
    outer = checked(engine(llm=Improves(asked=[])), on_hallucination="retry")
    with GroundwireHandler(CHECKER).install() as handler:
        response = asyncio.run(outer.aquery(question(3))) if way == "aquery" else outer.query(question(3))
        handler.flush(30)
        (record,) = handler.outcomes
        assert record.interaction.question == question(3)
        assert record.outcome.grounded
        assert handler.result(response) is record


def test_a_handler_hears_an_answer_that_was_refused():
    """The application gets an exception, and the record is there."""
    with GroundwireHandler(CHECKER).install() as handler:
        with pytest.raises(HallucinationError):
            checked(engine(llm=Oracle(reply=odd_ones_invent)), on_hallucination="raise").query(question(3))
        handler.flush(30)
        assert [record.outcome.hallucinated for record in handler.outcomes] == [True]


def test_retry_can_search_wider():
    """Expand multiplies what each retriever finds, in a copy of the engine."""

    class Wide(Library):
        def __init__(self, k):
            super().__init__()
            self.similarity_top_k = k

    class Counts(Oracle):
        def _said(self, text):
            n = topic(text)
            return right(n) if f"topic{n} is blue" in text else f"topic{n} weighs nothing."

    inner = engine(llm=Counts(), retriever=Wide(1))
    outer = checked(inner, on_hallucination="retry", retry=Expand(factor=3))
    response = outer.query(question(3))
    assert str(response) == right(3)
    assert len(response.source_nodes) == 3
    assert inner.retriever.similarity_top_k == 1
    nested = RouterQueryEngine(Selects(0), [as_tool(inner)], llm=Oracle())
    assert str(checked(nested, on_hallucination="retry", retry=Expand(factor=3)).query(question(3))) == right(
        3
    )
    with pytest.raises(ConfigurationError, match="no retriever"):
        checked(engine(), on_hallucination="retry", retry=Expand())


def test_retries_end():
    """After the last one, after_retries is done; a callable may say what to ask."""
    wrong = engine(llm=Oracle(reply=lambda n: "nothing"))
    outer = checked(
        wrong, on_hallucination="retry", max_retries=2, after_retries="replace", replacement="No."
    )
    assert str(outer.query(question(3))) == "No."
    other = checked(on_hallucination="retry", retry=lambda question, outcome: "What about topic4?")
    assert str(other.query(question(3))) == right(4)


def test_a_callable_decides():
    """By the interaction and the outcome: an action, or a text to answer with."""
    seen = []

    def decide(interaction, outcome):
        seen.append((interaction.question, outcome.hallucinated))
        return "Please ask at the desk."

    assert str(checked(on_hallucination=decide).query(question(3))) == "Please ask at the desk."
    assert seen == [(question(3), True)]


def test_what_could_not_be_judged_can_be_held_back():
    """An abstention is not a hallucination, and has rules of its own."""
    broken = CheckedQueryEngine(engine(), checker=Checker(Broken()), on_abstention="replace", replacement="-")
    response = broken.query(question(2))
    assert str(response) == "-"
    assert verdict(response)["abstention"] == AbstentionReason.MODEL_FAILED
    strict = Checker(Broken(), policy=Policy(on_abstention=OnAbstention.RAISE))
    with pytest.raises(AbstainedError):
        CheckedQueryEngine(engine(), checker=strict).query(question(2))
    off = CheckedQueryEngine(engine(), checker=Checker(NovelWords(), policy=Policy(enabled=False)))
    assert verdict(off.query(question(3)))["abstention"] == "NOT_SAMPLED"


# -- streams that are not read to their end


def test_a_stream_that_is_given_up_says_so():
    """Its verdict is an abstention, which sinks are told of; and the reader is let go at once."""
    told = Told()
    response = checked(engine(streaming=True), sinks=[told]).query(question(3))
    tokens = response.response_gen
    next(tokens)
    tokens.close()
    assert verdict(response)["abstention"] == "PARTIAL_ANSWER"
    assert told.outcomes == [("annotate", AbstentionReason.PARTIAL_ANSWER)]
    gone = []

    class Watches(Oracle):
        def stream_chat(self, messages, **kwargs):
            try:
                yield from super().stream_chat(messages, **kwargs)
            finally:
                gone.append(True)

    gc.disable()
    try:
        response = checked(engine(llm=Watches(), streaming=True)).query(question(3))
        next(response.response_gen)
        del response
        assert gone == [True]
    finally:
        gc.enable()


async def test_an_asynchronous_stream_that_is_given_up_says_so():
    """The same on an event loop."""
    response = await checked(engine(streaming=True)).aquery(question(3))
    await anext(response.response_gen)
    await response.response_gen.aclose()
    assert verdict(response)["abstention"] == "PARTIAL_ANSWER"


class Clings(CustomQueryEngine):
    """Streams from a client that does not let itself be closed, as in another task than it was begun in."""

    def custom_query(self, query_str):
        def stream():
            try:
                yield from ("topic3 ", "is blue.")
            finally:
                raise ConnectionError("can't be closed here")

        return StreamingResponse(stream(), source_nodes=nodes(3))

    async def acustom_query(self, query_str):
        async def stream():
            try:
                yield "topic3 "
            finally:
                raise ConnectionError("can't be closed here")

        return AsyncStreamingResponse(stream(), source_nodes=nodes(3))


def test_a_stream_that_can_t_be_closed_says_that_it_was_given_up():
    """The error is its reader's, as without us; no verdict stays pending, and sinks are told."""
    told = Told()
    response = checked(Clings(), sinks=[told]).query(question(3))
    next(response.response_gen)
    with pytest.raises(ConnectionError):
        response.response_gen.close()
    assert verdict(response)["abstention"] == "PARTIAL_ANSWER"
    assert told.outcomes == [("annotate", AbstentionReason.PARTIAL_ANSWER)]


async def test_an_asynchronous_stream_that_can_t_be_closed_says_that_it_was_given_up():
    """The same on an event loop."""
    response = await checked(Clings()).aquery(question(3))
    await anext(response.response_gen)
    with pytest.raises(ConnectionError):
        await response.response_gen.aclose()
    assert verdict(response)["abstention"] == "PARTIAL_ANSWER"


@pytest.mark.parametrize("way", ["query", "aquery"])
async def test_a_stream_that_fails_says_so(way):
    """Its error is its reader's, and no verdict stays pending that will never come."""
    told = Told()
    app = checked(engine(llm=Breaks(), streaming=True), sinks=[told])
    response = app.query(question(3)) if way == "query" else await app.aquery(question(3))
    with pytest.raises(ConnectionError):
        _ = str(response) if way == "query" else await everything(response)
    assert verdict(response)["abstention"] == "PARTIAL_ANSWER"
    assert told.outcomes == [("annotate", AbstentionReason.PARTIAL_ANSWER)]


# -- wherever an engine can stand


def test_it_can_stand_in_a_router_and_in_a_router_of_routers():
    """What the router adds to the metadata, and the verdict, stand side by side."""
    inner = RouterQueryEngine(Selects(0), [as_tool(checked())], llm=Oracle())
    response = RouterQueryEngine(Selects(0), [as_tool(inner)], llm=Oracle()).query(question(3))
    assert flagged(response) == ["nothing"]
    assert "selector_result" in response.metadata


async def test_it_can_be_a_tool():
    """The agent reads the answer, and whoever reads the tool's output finds the verdict."""
    seen = []
    outer = checked(on_hallucination=lambda interaction, outcome: seen.append(interaction.question))
    handler = searching(as_tool(outer)).run(user_msg=question(3))
    output = await handler
    assert seen == ["Look up topic3."]
    assert flagged(output.tool_calls[0].tool_output.raw_output) == ["nothing"]


@pytest.mark.parametrize("way", ["chat", "stream_chat"])
def test_it_can_stand_in_a_chat_engine(way):
    """A stream in one needs an engine that is built to stream."""
    chat = CondenseQuestionChatEngine.from_defaults(
        checked(engine(llm=Oracle(reply=odd_ones_invent), streaming=way == "stream_chat")),
        llm=Oracle(),
        memory=memory(),
    )
    response = getattr(chat, way)(question(3))
    text = "".join(response.response_gen) if way == "stream_chat" else str(response)
    assert text == odd_ones_invent(3)
    assert flagged(response.sources[0].raw_output) == ["nothing"]


def test_it_can_be_retried_by_llama_indexs_own_means():
    """RetryQueryEngine asks the inner method, which checks as well."""
    response = RetryQueryEngine(checked(), HallucinationEvaluator(CHECKER), max_retries=1).query(question(2))
    assert verdict(response)["hallucinated"] is False


def test_checked_in_checked_is_judged_twice_and_says_one_verdict():
    """Each has its own call to look at."""
    response = checked(checked(engine(llm=Oracle(reply=odd_ones_invent)))).query(question(3))
    assert flagged(response) == ["nothing"]


def test_a_handler_judges_it_as_ever():
    """Both look at the same answer, each once; the handler at what was answered before it was acted on."""
    with GroundwireHandler(CHECKER).install() as handler:
        response = checked(on_hallucination="replace", replacement="No.").query(question(3))
    (record,) = handler.outcomes
    assert str(response) == "No."
    assert record.interaction.answer == odd_ones_invent(3)
    assert [claim.text for claim in record.outcome.claims] == flagged(response)


# -- what it looks like


def test_it_looks_like_what_it_asks():
    """Prompts can be read and replaced, attributes and methods reached, copies made."""
    inner = engine()
    outer = checked(inner)
    assert outer.get_prompts().keys() == inner.get_prompts().keys()
    key = "response_synthesizer:text_qa_template"
    outer.update_prompts({key: PromptTemplate("{context_str} {query_str}")})
    assert inner.get_prompts()[key].template == "{context_str} {query_str}"
    assert outer.retriever is inner.retriever
    bundle = QueryBundle(question(4))
    found = outer.retrieve(bundle)
    assert [node.node_id for node in found] == ["4-0", "4-1", "4-2"]
    assert str(outer.synthesize(bundle, found)) == str(inner.synthesize(bundle, found))
    assert str(copy.copy(outer).query(question(4))) == answer(4)
    with pytest.raises(AttributeError):
        _ = outer.nothing_of_the_sort


def test_attach_none_leaves_the_metadata():
    """For engines whose responses become nodes of others: a verdict is no document."""
    response = checked(attach="none").query(question(3))
    assert "hallucination" not in response.metadata


@pytest.mark.parametrize("returned", [{"answer": "It weighs 7 kilos."}, None], ids=["a dict", "nothing"])
def test_what_is_no_response_can_not_be_checked(returned):
    """A verdict can't be put on it; the message says what to return instead."""

    class Own(CustomQueryEngine):
        def custom_query(self, query_str):
            return returned

    with pytest.raises(TypeError, match=r"returned a .*: have it return a text or a response"):
        checked(Own()).query(question(3))


def test_mistakes_are_named_at_once():
    """What can't work is refused when it is built, every mistake in one message."""
    with pytest.raises(ConfigurationError) as caught:
        CheckedQueryEngine("engine", checker=3, on_halucination="warn", attach="here", retry=5)
    told = " ".join(caught.value.problems)
    for part in ("did you mean 'on_hallucination'", "BaseQueryEngine", "attach", "checker", "retry"):
        assert part in told
    with pytest.raises(ConfigurationError, match="nothing asks for it"):
        checked(retry=Expand())
    with pytest.raises(ConfigurationError, match="factor"):
        checked(on_hallucination="retry", retry=Expand(factor=1))


@pytest.mark.parametrize(
    ("kind", "given", "instead"),
    [
        (CheckedQueryEngine, lambda: VectorStoreIndex([]), "VectorStoreIndex: pass its as_query_engine()"),
        (CheckedChatEngine, lambda: VectorStoreIndex([]), "VectorStoreIndex: pass its as_chat_engine()"),
        (CheckedChatEngine, engine, "RetrieverQueryEngine: use CheckedQueryEngine"),
        (CheckedQueryEngine, simple_chat, "SimpleChatEngine: use CheckedChatEngine"),
        (CheckedChatEngine, searching, "FunctionAgent: GroundwireHandler().install() watches it"),
    ],
    ids=["an index to query", "an index to chat with", "a query engine", "a chat engine", "an agent"],
)
def test_what_is_no_engine_is_refused_with_what_to_do_instead(kind, given, instead):
    """An index makes one, the other class checks one, and an agent is watched."""
    with pytest.raises(ConfigurationError, match=re.escape(instead)):
        kind(given())


async def later(question, outcome):
    return question


@pytest.mark.parametrize(("retry", "named"), [(Expand, "the class Expand"), (later, "async")])
def test_a_retry_that_can_t_work_is_refused_when_it_is_built(retry, named):
    """And not on the first hallucination, in the application's own call."""
    with pytest.raises(ConfigurationError, match=f"retry must be .*{named}"):
        checked(on_hallucination="retry", retry=retry)


def test_a_retry_that_returns_no_question_says_so():
    """In words that name it, and not in LlamaIndex's."""
    with pytest.raises(TypeError, match="retry must return the question to ask next"):
        checked(on_hallucination="retry", retry=lambda question, outcome: None).query(question(3))
