"""Checked engines within others: what a check has written is no claim and no evidence to the one around."""

import asyncio

import pytest
from llama_index.core import Settings, get_response_synthesizer
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.callbacks import CallbackManager
from llama_index.core.chat_engine import CondenseQuestionChatEngine, ContextChatEngine
from llama_index.core.query_engine import CustomQueryEngine, RouterQueryEngine, SubQuestionQueryEngine
from llama_index.core.response_synthesizers import TreeSummarize
from llama_index.core.retrievers import RecursiveRetriever
from llama_index.core.schema import IndexNode, NodeWithScore
from llama_index.core.tools import FunctionTool

from groundwire import AbstentionReason, Checker
from groundwire.host.notices import WITHHELD
from groundwire.llama_index import (
    CheckedChatEngine,
    CheckedQueryEngine,
    GroundwireCallbackHandler,
    GroundwireHandler,
    HallucinationEvaluator,
)
from tests.llama_index.apps import (
    Asks,
    Delegates,
    Library,
    Oracle,
    Selects,
    as_tool,
    engine,
    in_a_function,
    question,
    told,
)
from tests.scripted import NovelWords

CHECKER = Checker(NovelWords())
WRONG = "topic3 weighs nothing."


def invents(n):
    return f"topic{n} weighs nothing."


class AsText(CustomQueryEngine):
    """Hands on what an engine inside answers, as a text."""

    inner: object

    def custom_query(self, query_str):
        return str(self.inner.query(query_str))


def inside(streaming=False, **options):
    return CheckedQueryEngine(
        engine(llm=Oracle(reply=invents), streaming=streaming), checker=CHECKER, **options
    )


def routed(inner, *, several=False):
    tools = [as_tool(inner), as_tool(inner)]
    summarizer = TreeSummarize(llm=Oracle(reply=lambda n: f"topic{n} weighs {n} kilos."))
    places = (0, 1) if several else (0,)
    return RouterQueryEngine(Selects(*places), tools, llm=Oracle(), summarizer=summarizer)


AROUND = {
    "nothing": lambda inner: inner,
    "a router": routed,
    "a router of a router": lambda inner: routed(routed(inner)),
    "an engine of one's own": lambda inner: Delegates(inner=inner),
    "an engine that returns a text": lambda inner: AsText(inner=inner),
}
STREAMS = [name for name in AROUND if name != "an engine that returns a text"]
CASES = [(name, False) for name in AROUND] + [(name, True) for name in STREAMS]
WITHHOLDING = [
    {"on_hallucination": "replace"},
    {"on_hallucination": "replace", "replacement": "No."},
    {"on_hallucination": lambda interaction, outcome: "Please ask at the desk."},
    {"on_hallucination": "replace", "attach": "none"},
]


def judged(app, way="query"):
    """The verdict of a checked engine around ``app``, the text at its end, and what a handler heard."""
    outer = CheckedQueryEngine(app, checker=CHECKER, on_hallucination="warn")

    async def arun():
        response = await outer.aquery(question(3))
        if hasattr(response, "async_response_gen"):
            return response, "".join([token async for token in response.async_response_gen()])
        return response, str(response)

    with GroundwireHandler(CHECKER).install() as handler:
        if way == "aquery":
            response, text = asyncio.run(arun())
        else:
            response = outer.query(question(3))
            text = str(response)
        handler.flush(30)
        (record,) = handler.outcomes
    return response.metadata["hallucination"], text, record


@pytest.mark.parametrize(("around", "streaming"), CASES)
@pytest.mark.parametrize("way", ["query", "aquery"])
@pytest.mark.parametrize("attach", ["metadata", "none"])
def test_a_warning_is_no_claim(around, streaming, way, attach):
    """What the engine answered is judged, by the handler, too; and warned about once."""
    inner = inside(streaming, on_hallucination="warn", attach=attach)
    verdict, text, record = judged(AROUND[around](inner), way)
    assert [claim["text"] for claim in verdict["claims"]] == ["nothing"]
    assert text == f"{WRONG}\n\n{verdict['warning']}"
    assert [claim.text for claim in record.outcome.claims] == ["nothing"]
    assert record.interaction.answer == WRONG


@pytest.mark.parametrize(("around", "streaming"), CASES)
@pytest.mark.parametrize("options", WITHHOLDING)
def test_what_stands_for_a_withheld_answer_is_not_judged(around, streaming, options):
    """It is neither clean nor hallucinated: there is no answer, and the reason says why."""
    verdict, text, record = judged(AROUND[around](inside(streaming, **options)))
    assert verdict["abstention"] == "NO_CLAIMS"
    assert verdict["reason"] == WITHHELD
    assert WRONG not in text
    if around == "nothing":  # a handler judges a checked engine's answer as it was
        assert record.interaction.answer == WRONG
    else:
        assert (record.outcome.why, record.outcome.detail) == (AbstentionReason.NO_CLAIMS, WITHHELD)


def test_an_engine_may_say_what_another_check_says_in_an_answers_place():
    """The same words are an answer where no check inside has written them."""
    judged(inside(on_hallucination="replace", replacement="No."))
    verdict, text, _ = judged(engine(llm=Oracle(reply=lambda n: "No.")))
    assert text.startswith("No.\n\n")
    assert [claim["text"] for claim in verdict["claims"]] == ["No"]


@pytest.mark.parametrize("options", [{"on_hallucination": "warn"}, *WITHHOLDING])
@pytest.mark.parametrize("several", [False, True])
def test_what_is_made_of_checked_answers_is_judged_by_the_nodes_behind_them(options, several):
    """Neither a warning nor a replacement is evidence for it."""
    if several:
        app = routed(inside(**options), several=True)
    else:
        synthesizer = get_response_synthesizer(llm=Oracle())
        app = SubQuestionQueryEngine(Asks(), synthesizer, [as_tool(inside(**options))], verbose=False)
    _, _, record = judged(app)
    assert [passage.text for passage in record.interaction.contexts] == told(3)


@pytest.mark.parametrize("options", [{"on_hallucination": "warn"}, *WITHHOLDING])
def test_a_node_that_a_check_has_written_is_no_evidence(options):
    """As in recursive retrieval, where an engine's answer is made a node."""

    class Points(Library):
        def _retrieve(self, query_bundle):
            return [NodeWithScore(node=IndexNode(text="topic3", index_id="shelf", obj=None), score=1.0)]

    recursive = RecursiveRetriever(
        "root", retriever_dict={"root": Points()}, query_engine_dict={"shelf": inside(**options)}
    )
    _, _, record = judged(engine(retriever=recursive))
    behind = told(3) if options["on_hallucination"] == "warn" else []
    assert [passage.text for passage in record.interaction.contexts] == behind


@in_a_function
@pytest.mark.parametrize("options", [{"on_hallucination": "warn"}, *WITHHOLDING])
async def test_what_a_check_has_written_into_a_tools_words_is_no_evidence(options):
    """What was found inside the tool is."""

    def shelf(input: str) -> str:  # noqa: A002 - as the model calls it
        return str(inside(**options).query(input))

    agent = FunctionAgent(tools=[FunctionTool.from_defaults(shelf)], llm=Oracle())
    with GroundwireHandler(CHECKER).install() as handler:
        await agent.run(question(3))
        handler.flush(30)
        (record,) = handler.outcomes
    assert [passage.text for passage in record.interaction.contexts] == told(3)


def chat(**options):
    inner = ContextChatEngine.from_defaults(retriever=Library(), llm=Oracle(reply=invents))
    return CheckedChatEngine(inner, checker=CHECKER, **options)


def condensing(**options):
    return CondenseQuestionChatEngine.from_defaults(query_engine=inside(True, **options), llm=Oracle())


def chatted(engine, way):
    """The response of a checked chat engine around another engine, and its text."""
    outer = CheckedChatEngine(engine, checker=CHECKER, on_hallucination="warn")

    async def arun():
        response = await outer.astream_chat(question(3))
        return response, "".join([token async for token in response.async_response_gen()])

    if way == "astream_chat":
        return asyncio.run(arun())
    response = getattr(outer, way)(question(3))
    return response, "".join(response.response_gen) if way == "stream_chat" else str(response)


CHATS = pytest.mark.parametrize("build", [chat, condensing])
WAYS = pytest.mark.parametrize("way", ["chat", "stream_chat", "astream_chat"])


@CHATS
@WAYS
@pytest.mark.parametrize("options", [{}, {"on_hallucination": "warn"}])
def test_a_chat_around_a_checked_engine_is_judged_without_its_warning(build, way, options):
    """Both have a say at a stream's end, and the warning is given once."""
    response, text = chatted(build(**options), way)
    verdict = response.metadata["hallucination"]
    assert [claim["text"] for claim in verdict["claims"]] == ["nothing"]
    assert text == f"{WRONG}\n\n{verdict['warning']}"


@CHATS
@WAYS
def test_a_chat_around_a_withheld_answer_has_none_to_judge(build, way):
    response, _ = chatted(build(on_hallucination="replace", replacement="No."), way)
    assert response.metadata["hallucination"]["reason"] == WITHHELD


def test_who_took_a_stream_s_metadata_early_sees_what_it_comes_to():
    """Also where a check inside puts its own verdict there first."""
    response = CheckedQueryEngine(routed(inside(streaming=True)), checker=CHECKER).query(question(3))
    early = response.metadata
    assert early["hallucination"]["status"] == "pending"
    str(response)
    assert early["hallucination"]["status"] == "checked"


def test_an_evaluator_judges_what_was_answered():
    """Not the warning that the response carries; what stands for a withheld answer has no score."""
    evaluator = HallucinationEvaluator(CHECKER)
    warned = evaluator.evaluate_response(
        query=question(3), response=inside(on_hallucination="warn").query(question(3))
    )
    assert [claim["text"] for claim in warned.claims] == ["nothing"]
    replaced = inside(on_hallucination="replace").query(question(3))
    result = evaluator.evaluate_response(query=question(3), response=replaced)
    assert result.passing is None
    assert WITHHELD in result.invalid_reason
    assert WITHHELD in asyncio.run(evaluator.aevaluate_response(response=replaced)).invalid_reason


@pytest.mark.parametrize("options", [{"on_hallucination": "warn"}, *WITHHOLDING])
def test_the_older_callbacks_hear_no_warning(options):
    """And take what stands for a withheld answer for none."""
    handler = GroundwireCallbackHandler(CHECKER, mode="inline")
    Settings.callback_manager = CallbackManager([handler])
    routed(inside(**options)).query(question(3))
    (record,) = handler.outcomes
    if options["on_hallucination"] == "warn":
        assert record.interaction.answer == WRONG
    else:
        assert record.outcome.detail == WITHHELD
