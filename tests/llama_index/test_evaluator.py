"""The evaluator: it says what the checker says, in LlamaIndex's own words, and never raises."""

import asyncio
import time

import pytest
from llama_index.core.base.response.schema import PydanticResponse
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.query_engine import RetryQueryEngine
from llama_index.core.tools import FunctionTool

from groundwire import AbstentionReason, Checker, ConfigurationError, Policy
from groundwire.core import wire
from groundwire.detectors.lexical import Lexical
from groundwire.llama_index import HallucinationEvaluator, HallucinationResult
from groundwire.policy import OnAbstention
from tests.llama_index.apps import (
    CHAT_APPS,
    Oracle,
    Reply,
    Structured,
    answer,
    engine,
    look_up,
    nodes,
    question,
    searching,
    told,
    topic,
)
from tests.llama_index.test_query_engine import odd_ones_invent, right
from tests.scripted import Broken, NovelWords

CHECKER = Checker(NovelWords())
FEE = ["The fee is 25 EUR."]


def evaluator(checker=CHECKER):
    return HallucinationEvaluator(checker)


@pytest.mark.parametrize("way", ["evaluate", "aevaluate"])
def test_a_response_passes_when_it_is_supported(way):
    """The claims are in the result, with the score in groundwire's direction: 1 is hallucinated."""

    def evaluate(said):
        result = getattr(evaluator(), way)(query="The fee?", response=said, contexts=FEE)
        return asyncio.run(result) if way == "aevaluate" else result

    fine, wrong = evaluate("The fee is 25 EUR"), evaluate("The fee is 75 EUR")
    assert (fine.passing, fine.score, fine.invalid_result, fine.claims) == (True, 0.0, False, [])
    assert (wrong.passing, wrong.score, wrong.invalid_result) == (False, 1.0, False)
    assert [claim["text"] for claim in wrong.claims] == ["75"]
    assert wire.decode(wrong.hallucination).hallucinated
    assert "75" in wrong.feedback
    assert (wrong.query, wrong.contexts, wrong.response) == ("The fee?", FEE, "The fee is 75 EUR")


INVALID = {
    "a broken detector": (evaluator(Checker(Broken())), {"response": "a", "contexts": FEE}),
    "a policy that raises": (
        evaluator(Checker(Broken(), policy=Policy(on_abstention=OnAbstention.RAISE))),
        {"response": "a", "contexts": FEE},
    ),
    "no contexts": (evaluator(), {"response": "a"}),
    "no response": (evaluator(), {"contexts": FEE}),
    "no text": (evaluator(), {"response": 3, "contexts": FEE}),
    "contexts that are none": (evaluator(), {"response": "a", "contexts": 3}),
}


@pytest.mark.parametrize("case", INVALID)
@pytest.mark.parametrize("way", ["evaluate", "aevaluate"])
def test_what_could_not_be_judged_is_invalid_and_says_why(case, way):
    """It neither passes nor fails, and nothing is raised: an exception would cost the whole batch."""
    one, given = INVALID[case]
    result = getattr(one, way)(**given)
    result = asyncio.run(result) if way == "aevaluate" else result
    assert (result.passing, result.score, result.invalid_result) == (None, None, True)
    assert result.invalid_reason
    assert result.feedback
    assert result.hallucination["status"] == "abstained"


@pytest.mark.parametrize("way", ["evaluate", "aevaluate"])
@pytest.mark.parametrize("given", [{"response": "a", "contexts": nodes(2)}, {"response": 3, "contexts": FEE}])
def test_what_can_t_be_read_is_no_failure_of_a_model(given, way):
    """Who reads that one failed would look for it in the wrong place."""
    result = getattr(evaluator(), way)(**given)
    result = asyncio.run(result) if way == "aevaluate" else result
    assert result.hallucination["abstention"] == AbstentionReason.UNREADABLE_INPUT
    assert "must be a str" in result.invalid_reason


def responses():
    plain = engine(llm=Oracle(reply=right))
    return {
        "Response": lambda: plain.query(question(2)),
        "StreamingResponse": lambda: engine(llm=Oracle(reply=right), streaming=True).query(question(2)),
        "AsyncStreamingResponse": lambda: asyncio.run(
            engine(llm=Oracle(reply=right), streaming=True).aquery(question(2))
        ),
        "PydanticResponse": lambda: PydanticResponse(Reply(answer=right(2)), source_nodes=nodes(2)),
        "AgentChatResponse": lambda: CHAT_APPS["context"].build().chat(question(2)),
    }


@pytest.mark.parametrize("way", ["evaluate_response", "aevaluate_response"])
async def test_a_chat_s_stream_is_read_before_it_is_evaluated(way):
    """By a caller of its own colour; nobody waits in one for what the other's loop writes."""
    chat = CHAT_APPS["context"].build()
    if way == "evaluate_response":
        result = evaluator().evaluate_response(question(2), chat.stream_chat(question(2)))
        written_by_a_loop = await chat.astream_chat(question(2))
        unread = HallucinationEvaluator().evaluate_response(question(2), written_by_a_loop)
        assert unread.invalid_result
    else:
        result = await evaluator().aevaluate_response(question(2), await chat.astream_chat(question(2)))
    assert result.response == answer(2)
    assert result.passing is False


@pytest.mark.parametrize("kind", responses())
@pytest.mark.parametrize("way", ["evaluate_response", "aevaluate_response"])
def test_every_kind_of_response_can_be_evaluated(kind, way):
    """Streams are read, forms by their answer, nodes with the metadata that the model was shown."""
    response = responses()[kind]()
    result = getattr(evaluator(), way)(query=question(2), response=response)
    result = asyncio.run(result) if way == "aevaluate_response" else result
    assert result.invalid_reason is None
    assert result.response == (answer(2) if kind == "AgentChatResponse" else right(2))
    assert result.contexts[0] == "source: 2.md\n\ntopic2 weighs 2 kilos."
    assert result.passing is (kind != "AgentChatResponse")


async def test_an_agent_s_answer_is_evaluated_by_the_nodes_of_its_tools():
    """The words of a tool without nodes may be a model's, and are no evidence."""
    by_engine = await searching().run(user_msg=question(2))
    result = await evaluator().aevaluate_response(query=question(2), response=by_engine)
    assert (result.response, result.contexts) == (answer(2), told(2))
    assert result.passing is False
    by_words = await searching(FunctionTool.from_defaults(look_up)).run(user_msg=question(2))
    assert "NO_CONTEXT" in evaluator().evaluate_response(question(2), by_words).invalid_reason


def test_what_is_no_response_is_invalid():
    """None, a foreign object, a stream that breaks."""

    def broken():
        yield "topic"
        raise ConnectionError("gone")

    stream = engine(streaming=True).query(question(2))
    stream.response_gen = broken()
    for response in (None, object(), stream):
        assert evaluator().evaluate_response(query="?", response=response).invalid_result


def test_evaluating_inside_an_event_loop_needs_no_loop_of_its_own():
    """evaluate is called in notebooks, where a loop runs already."""

    async def inside():
        return evaluator().evaluate(response="25", contexts=FEE)

    assert asyncio.run(inside()).passing is True


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_it_works_in_a_batch_runner():
    """Results in order, those that could not be judged among them, without a second of retries."""
    runner = BatchEvalRunner({"hallucination": evaluator()}, workers=4)
    started = time.perf_counter()
    results = await runner.aevaluate_response_strs(
        queries=[question(n) for n in range(20)],
        response_strs=[odd_ones_invent(n) for n in range(20)],
        contexts_list=[[node.node.text for node in nodes(n)] if n else [] for n in range(20)],
    )
    assert time.perf_counter() - started < 3
    found = results["hallucination"]
    assert all(isinstance(result, HallucinationResult) for result in found)
    assert [result.passing for result in found] == [None, *(not n % 2 for n in range(1, 20))]


def test_it_works_in_a_retrying_engine():
    """RetryQueryEngine asks again with the feedback; the unsupported words are in it."""
    asked = []

    class Improves(Oracle):
        def _said(self, text):
            asked.append(text)
            n = topic(text)
            return right(n) if len(asked) > 1 else odd_ones_invent(n)

    response = RetryQueryEngine(engine(llm=Improves()), evaluator(), max_retries=2).query(question(3))
    assert str(response) == right(3)
    assert len(asked) == 2
    assert '- "nothing"' in asked[1]


def test_a_form_of_an_engine_is_evaluated():
    """Where the built-in evaluators raise."""
    response = engine(llm=Structured(), output_cls=Reply).query(question(3))
    assert evaluator().evaluate_response(query=question(3), response=response).passing is False


@pytest.mark.parametrize(("given", "told"), [("lexical", "not str"), (Lexical, "not the class Lexical")])
def test_the_checker_must_be_one(given, told):
    with pytest.raises(ConfigurationError, match=f"checker must be a Checker, {told}"):
        HallucinationEvaluator(given)
