"""Summaries of documents that nobody has looked for: each is held against all that was summed up."""

import operator
from typing import Annotated, TypedDict

import pytest
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.chains.summarize import load_summarize_chain
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from groundwire.text.request import is_question
from tests.langchain.apps import documents, joined, texts
from tests.langchain.conftest import listening

SAID = [
    "The first of the notes tells of a weight.",
    "The second of them tells of a cinema with 750 seats.",
    "The third of all notes tells of a colour.",
    "All in all the topic is blue and has a cinema.",
]
SUM_UP = ChatPromptTemplate.from_template("Write a concise summary of the following:\n\n{context}")


class Says(FakeListChatModel):
    """Says one after the other, and counts words for tokens: LangChain would fetch a tokenizer."""

    def get_num_tokens(self, text, **_):
        return len(text.split())


def model():
    return Says(responses=SAID)


@pytest.mark.parametrize("kind", ["stuff", "map_reduce", "refine"])
def test_a_summary_is_held_against_all_documents_and_no_words_of_a_model_are_its_question(heard, kind):
    chain = load_summarize_chain(model(), chain_type=kind)
    chain.invoke({"input_documents": documents(7)}, config=listening(heard))
    captured = heard.only()
    assert captured.problem is None
    assert [passage.text for passage in captured.interaction.contexts] == texts(7)
    asked = captured.interaction.question
    assert "summary" in asked
    assert not any(text in asked for text in (*texts(7), *SAID))


def test_documents_in_a_prompt_are_no_part_of_what_was_asked(heard):
    create_stuff_documents_chain(model(), SUM_UP).invoke({"context": documents(7)}, config=listening(heard))
    asked = heard.only().interaction.question
    assert asked == "Write a concise summary of the following:"
    assert not is_question(asked)


def test_a_chain_may_be_given_a_bare_list_of_documents(heard):
    chain = {"context": joined} | SUM_UP | model() | StrOutputParser()
    chain.invoke(documents(7), config=listening(heard))
    captured = heard.only()
    assert captured.problem is None
    assert [passage.text for passage in captured.interaction.contexts] == texts(7)


class State(TypedDict):
    contents: list
    summaries: Annotated[list, operator.add]
    collapsed: list
    final_summary: str


def summing_up():
    """A graph that sums up each document, makes documents of that, and sums these up."""
    each, last = SUM_UP | model() | StrOutputParser(), SUM_UP | model() | StrOutputParser()
    graph = StateGraph(State)
    graph.add_node("each", lambda state: {"summaries": [each.invoke(state["content"].page_content)]})
    graph.add_node("kept", lambda state: {"collapsed": [Document(text) for text in state["summaries"]]})
    graph.add_node("last", lambda state: {"final_summary": last.invoke(state["collapsed"])})
    graph.add_conditional_edges(
        START, lambda state: [Send("each", {"content": one}) for one in state["contents"]], ["each"]
    )
    graph.add_edge("each", "kept")
    graph.add_edge("kept", "last")
    graph.add_edge("last", END)
    return graph.compile()


def test_summaries_that_are_kept_as_documents_do_not_hide_those_that_they_are_of(heard):
    summing_up().invoke({"contents": documents(7)}, config=listening(heard))
    captured = heard.only()
    assert captured.problem is None
    assert [passage.text for passage in captured.interaction.contexts] == texts(7)
    assert not any(text in captured.interaction.question for text in texts(7))


class Answers(BaseRetriever):
    """An index of questions and answers."""

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(query), Document("Refunds take thirty days.")]


def test_a_question_that_is_found_word_for_word_stays_the_question(heard):
    asked = "How long does a refund take to arrive?"
    found = RunnableLambda(lambda given: given["mystery"]) | Answers() | joined
    prompt = ChatPromptTemplate.from_template("{context}\n\nTask: {topic}")
    chain = {"context": found, "topic": lambda given: given["mystery"]} | prompt | model() | StrOutputParser()
    chain.invoke({"mystery": asked}, config=listening(heard))
    assert heard.only().interaction.question == asked
