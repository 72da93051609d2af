"""Branches that go on at once: what is captured does not depend on which of them begins or ends first."""

import asyncio
import threading

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from groundwire.langchain import with_hallucination_check
from tests.langchain.apps import PROMPT, Library, Oracle, answer, documents, joined, question, texts
from tests.langchain.conftest import listening, said
from tests.langchain.wrapped_apps import CHECKER

LONG = 60  # seconds, within which the other branch ends

ORDERS = [("first", "second"), ("second", "first")]
CALLS = ["invoke", "ainvoke", "stream", "astream"]


def in_turn(order):
    """A gate around each of two branches: the later one of the ``order`` waits for the other's end."""
    over = threading.Event()
    earlier, later = order

    def waited(given):
        assert over.wait(LONG)
        return given

    async def awaited(given):
        return await asyncio.to_thread(waited, given)

    def ended(given):
        over.set()
        return given

    return {
        earlier: lambda branch: branch | RunnableLambda(ended),
        later: lambda branch: RunnableLambda(waited, awaited) | branch,
    }


def call(how, runnable, given, **config):
    """What a runnable returns, or the last part of what it streams."""

    async def streamed():
        return [part async for part in runnable.astream(given, config)][-1]

    if how == "stream":
        return list(runnable.stream(given, config))[-1]
    if how == "astream":
        return asyncio.run(streamed())
    if how == "ainvoke":
        return asyncio.run(runnable.ainvoke(given, config))
    return runnable.invoke(given, config)


def of_question():
    return (
        (lambda given: given["question"]) | FakeListChatModel(responses=["A fine title"]) | StrOutputParser()
    )


def of_documents(**model):
    return (lambda given: given) | PROMPT | Oracle(**model) | StrOutputParser()


# -- two models, one of which answers


def found_and_told(order):
    """Documents are found, and then told of by one model while another writes a title."""
    gate = in_turn(order)
    found = (lambda given: given["question"]) | Library() | joined
    return RunnablePassthrough.assign(context=found).assign(
        summary=gate["first"](of_documents()), title=gate["second"](of_question())
    )


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("order", ORDERS)
def test_none_of_two_answers_side_by_side_is_taken_by_chance(order, how, heard):
    """Under keys that nobody knows, and one of the question alone: which ended last does not tell."""
    call(how, found_and_told(order), {"question": question(1)}, **listening(heard))
    assert heard.only().problem == "NO_CLAIMS"
    assert "groundwire:answer" in heard.only().detail


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("order", ORDERS)
def test_the_wrapper_takes_none_of_two_answers_by_chance_either(order, how):
    """The caller is told that there was no answer to judge."""
    checked = with_hallucination_check(found_and_told(order), checker=CHECKER)
    result = call(how, checked, {"question": question(1)})
    assert result["hallucination"]["abstention"] == "NO_CLAIMS"


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("order", ORDERS)
def test_two_readers_side_by_side_are_no_answer_by_chance(order, how, heard):
    """One says a word of what it has read, and the other tells of it."""
    gate = in_turn(order)
    found = (lambda given: given["question"]) | Library() | joined
    app = RunnablePassthrough.assign(context=found).assign(
        told=gate["first"](of_documents()), grade=gate["second"](of_documents(reply=lambda _: "relevant"))
    )
    call(how, app, {"question": question(1)}, **listening(heard))
    assert heard.only().problem == "NO_CLAIMS"


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("order", ORDERS)
def test_of_two_that_say_the_same_the_one_that_read_documents_has_answered(order, how, heard):
    """A baseline of the question alone may get it right as well."""
    gate = in_turn(order)
    found = (lambda given: given["question"]) | Library() | joined
    plain = (lambda given: given["question"]) | Oracle() | StrOutputParser()
    app = RunnablePassthrough.assign(context=found).assign(
        answer=gate["first"](of_documents()), baseline=gate["second"](plain)
    )
    call(how, app, {"question": question(1)}, **listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), answer(1))


# -- a search, and a model beside it


def reworded(found):
    """The documents as code has put them in other words, of which no model is told their own."""
    return joined(found).replace(" weighs ", " is as heavy as ").upper()


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("order", ORDERS)
def test_a_model_beside_a_search_has_not_answered_from_it(order, how, heard):
    """What follows both is the answer, even where its model was told the documents in other words."""
    gate = in_turn(order)
    app = RunnableParallel(
        context=gate["first"]((lambda given: given["question"]) | Library() | reworded),
        title=gate["second"](of_question()),
        question=lambda given: given["question"],
    ) | RunnablePassthrough.assign(answer=of_documents())
    call(how, app, {"question": question(1)}, **listening(heard))
    problem, asked, contexts, told = said(heard.only())
    assert (problem, asked, told) == (None, question(1), answer(1))
    assert "IS AS HEAVY AS 1 KILOS" in contexts[0]


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("order", ORDERS)
def test_a_draft_beside_a_search_is_no_answer_from_it(order, how, heard):
    """It stands under a usual key, as a guess by which a vector store is asked."""
    gate = in_turn(order)
    app = RunnableParallel(
        context=gate["first"]((lambda given: given["question"]) | Library() | joined),
        response=gate["second"](of_question()),
        question=lambda given: given["question"],
    ) | RunnablePassthrough.assign(text=of_documents())
    call(how, app, {"question": question(1)}, **listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), answer(1))


class State(TypedDict, total=False):
    question: str
    context: str
    response: str
    text: str


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("order", ORDERS)
def test_a_node_beside_a_search_has_not_answered_from_it(order, how, heard):
    """A graph's nodes of one step go on at once; the one that both lead to answers."""
    gate = in_turn(order)
    graph = StateGraph(State)
    found = (lambda state: state["question"]) | Library() | joined
    graph.add_node("search", gate["first"](found | (lambda context: {"context": context})))
    graph.add_node("guess", gate["second"](of_question() | (lambda guess: {"response": guess})))
    graph.add_node("tell", of_documents() | (lambda told: {"text": told}))
    for node in ("search", "guess"):
        graph.add_edge(START, node)
    graph.add_edge(["search", "guess"], "tell")
    call(how, graph.compile(), {"question": question(1)}, **listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), answer(1))


# -- two answers, each with its own documents


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("order", ORDERS)
def test_an_answer_is_no_step_to_one_that_goes_on_beside_it(order, how, heard):
    """Though that one's model is given the same documents, which code has looked up unheard."""
    gate = in_turn(order)
    prompt = ChatPromptTemplate.from_template("Sum this up:\n{context}")
    app = RunnableParallel(
        told=gate["first"](
            RunnablePassthrough.assign(context=(lambda given: given["question"]) | Library() | joined)
            | of_documents()
        ),
        summed=gate["second"](
            (lambda _: {"context": joined(documents(1))})
            | prompt
            | FakeListChatModel(responses=["All of it is blue."])
            | StrOutputParser()
        ),
    )
    call(how, app, {"question": question(1)}, **listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), answer(1))


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("order", ORDERS)
def test_what_is_found_beside_a_model_is_not_its_own(order, how, heard):
    """It goes on from an answer, and another branch looks further documents up: there is one answer."""
    gate, reply = in_turn(order), "It is a thing of one kilo."
    found = (lambda given: given["question"]) | Library() | joined
    prompt = ChatPromptTemplate.from_template("Say this in other words:\n{facts}")
    app = RunnablePassthrough.assign(facts=RunnablePassthrough.assign(context=found) | of_documents()).assign(
        answer=gate["first"](prompt | FakeListChatModel(responses=[reply]) | StrOutputParser()),
        more=gate["second"]((lambda _: question(2)) | Library() | joined),
    )
    call(how, app, {"question": question(1)}, **listening(heard))
    assert said(heard.only()) == (None, question(1), texts(1), reply)


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("order", ORDERS)
def test_of_models_side_by_side_any_may_have_gone_on_from_an_answer(order, how, heard):
    """One was told a part of it, and the other wrote a title: the earlier answer is not judged for both."""
    gate = in_turn(order)
    found = (lambda given: given["question"]) | Library() | joined
    prompt = ChatPromptTemplate.from_template("Go on from this:\n{part}")
    model = FakeListChatModel(responses=["It is a thing of one kilo."])
    app = RunnablePassthrough.assign(
        facts=RunnablePassthrough.assign(context=found) | of_documents()
    ) | RunnableParallel(
        reply=gate["first"](
            (lambda given: {"part": given["facts"][:25]}) | prompt | model | StrOutputParser()
        ),
        title=gate["second"](of_question()),
    )
    call(how, app, {"question": question(1)}, **listening(heard))
    assert heard.only().problem == "NO_CLAIMS"


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("order", ORDERS)
def test_no_answer_is_made_of_one_that_was_given_beside_it(order, how, heard):
    """Though both tell of the same, for both go on from an earlier answer."""
    gate = in_turn(order)
    found = (lambda given: given["question"]) | Library() | joined
    chain = RunnablePassthrough.assign(context=found) | of_documents()
    prompt = ChatPromptTemplate.from_template("Go on from this:\n{part}")
    model = FakeListChatModel(responses=["It is a thing of one kilo."])
    app = (
        RunnablePassthrough.assign(facts=chain)
        | RunnableParallel(
            reply=gate["first"](
                (lambda given: {"part": given["facts"][:25]}) | prompt | model | StrOutputParser()
            ),
            again=gate["second"](chain),
        )
        | (lambda told: told["reply"])
    )
    call(how, app, {"question": question(1)}, **listening(heard))
    answers = [captured.interaction.answer for captured in heard.captured]
    assert sorted(answers) == sorted(["It is a thing of one kilo.", answer(1)])
