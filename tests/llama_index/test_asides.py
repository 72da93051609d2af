"""What LlamaIndex asks for itself is no answer, and hides none."""

import asyncio

import pytest
from llama_index.core import Document, DocumentSummaryIndex
from llama_index.core.callbacks import CallbackManager
from llama_index.core.evaluation import (
    BatchEvalRunner,
    ContextRelevancyEvaluator,
    FaithfulnessEvaluator,
    RelevancyEvaluator,
)
from llama_index.core.query_engine import RetryQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step

from groundwire import Checker
from groundwire.llama_index import GroundwireCallbackHandler
from tests.llama_index.apps import Library, Oracle, answer, engine, question, texts, told

GRADER = Oracle(reply=lambda _: "YES [RESULT] 4")


class OnesOwn(RelevancyEvaluator):
    """An evaluator that does more than the one that it is made of."""

    async def aevaluate(self, *given, **named):
        return await super().aevaluate(*given, **named)


GRADERS = (FaithfulnessEvaluator, RelevancyEvaluator, ContextRelevancyEvaluator, OnesOwn)


def contexts(captured):
    return [passage.text for passage in captured.interaction.contexts]


@pytest.mark.parametrize("kind", GRADERS)
async def test_what_an_evaluator_asks_is_no_answer(kind, heard):
    """It queries an index of the contexts that it is given, be it on a loop or in a thread of its own."""
    response = await engine().aquery(question(7))
    evaluator = kind(llm=GRADER)
    await evaluator.aevaluate_response(query=question(7), response=response)
    await asyncio.to_thread(evaluator.evaluate_response, query=question(7), response=response)
    assert heard.only().response is response
    assert heard.live_spans == 0


def test_what_an_evaluator_asks_is_no_answer_to_callbacks(settings):
    older = GroundwireCallbackHandler(Checker("lexical"))
    settings.callback_manager = CallbackManager([older])
    response = engine().query(question(7))
    FaithfulnessEvaluator(llm=GRADER).evaluate_response(response=response)
    older.flush(10)
    assert [record.interaction.question for record in older.outcomes] == [question(7)]


async def test_what_a_batch_of_evaluators_grades_is_an_answer(heard):
    """The runner asks the application's own engine."""
    runner = BatchEvalRunner({"faithful": FaithfulnessEvaluator(llm=GRADER)})
    await runner.aevaluate_queries(engine(), queries=[question(7), question(8)])
    assert sorted(one.interaction.question for one in heard.captured) == [question(7), question(8)]


class Kept(Event):
    asked: str
    found: list


class Graded(Workflow):
    """Grades what it finds, answers from that, and grades the answer."""

    def __init__(self, by_hand):
        super().__init__()
        self.by_hand = by_hand

    @step
    async def fetch(self, ev: StartEvent) -> Kept:
        kept = []
        for node in (await Library().aretrieve(ev.query))[:2]:
            grade = await RelevancyEvaluator(llm=GRADER).aevaluate(
                query=ev.query, response=node.text, contexts=[node.text]
            )
            kept += [node] if grade.passing else []
        return Kept(asked=ev.query, found=kept)

    @step
    async def tell(self, ev: Kept) -> StopEvent:
        shown = [node.text for node in ev.found]
        if self.by_hand:
            said = str(await Oracle().acomplete("\n".join([*shown, ev.asked])))
        else:
            said = str(await get_response_synthesizer(llm=Oracle()).asynthesize(ev.asked, ev.found))
        await FaithfulnessEvaluator(llm=GRADER).aevaluate(response=said, contexts=[*shown, "topic0 is red."])
        return StopEvent(result=said)


@pytest.mark.parametrize("by_hand", [True, False])
async def test_an_evaluator_in_a_workflow_hides_no_answer(by_hand, heard):
    """Neither what it says nor what it reads belongs to the workflow's own answer."""
    await Graded(by_hand).run(query=question(7))
    captured = heard.only()
    assert captured.interaction.question == question(7)
    assert captured.interaction.answer == answer(7)
    assert contexts(captured) == told(7)[:2]


async def test_an_engine_that_is_retried_is_one_answer(heard):
    asked = RetryQueryEngine(engine(), RelevancyEvaluator(llm=GRADER))
    await asyncio.to_thread(asked.query, question(7))
    assert contexts(heard.only()) == told(7)


def test_what_an_index_is_built_with_is_no_answer(heard):
    """Asking it is."""
    index = DocumentSummaryIndex.from_documents(
        [Document(text=" ".join(texts(7)))],
        llm=Oracle(),
        response_synthesizer=get_response_synthesizer(llm=Oracle()),
        summary_query="What is topic7 about?",
    )
    assert not heard.captured
    index.as_query_engine(llm=Oracle()).query(question(7))
    assert contexts(heard.only()) == [" ".join(texts(7))]
