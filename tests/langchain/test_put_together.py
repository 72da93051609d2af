"""Answers that code has put together of what several models said: they rest on what all were given."""

import operator
from typing import Annotated

import pytest
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langgraph.graph import START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from tests.langchain.apps import PROMPT, Library, Oracle, answer, documents, joined, lcel, question, texts
from tests.langchain.conftest import listening, said

BOTH = "Tell me of topic1 and topic2."
UNIT = {"tags": ["groundwire:unit"]}


def beside(form="{a}\n\n{b}"):
    """Two chains side by side, whose answers code puts under one another."""
    chains = {name: (lambda _, n=n: question(n)) | lcel() for name, n in (("a", 1), ("b", 2))}
    return RunnableParallel(chains) | (lambda told: {"answer": form.format(**told)})


def searched_first(asked):
    """All is looked for first, then each part of the question is answered from its own documents."""
    found = [Library().invoke(question(n)) for n in (1, 2)]
    chain = PROMPT | Oracle() | StrOutputParser()
    told = [chain.invoke({"context": joined(d), "question": question(n)}) for n, d in enumerate(found, 1)]
    return "\n".join(told)


@pytest.mark.parametrize("form", ["{a}\n\n{b}", "## First\n{a}\n## Second\n{b}", "{b} {a}"])
def test_a_declared_answer_of_two_chains_rests_on_the_documents_of_both(form, heard):
    """Whichever of them ended last."""
    beside(form).with_config(**UNIT).invoke(BOTH, listening(heard))
    problem, asked, contexts, told = said(heard.only())
    assert (problem, asked, told) == (None, BOTH, form.format(a=answer(1), b=answer(2)))
    assert sorted(contexts) == sorted(texts(1) + texts(2))


@pytest.mark.parametrize("config", [{}, UNIT], ids=["as it is", "declared"])
def test_parts_that_are_answered_after_all_searches_rest_on_the_documents_of_all(config, heard):
    """No smaller chain holds both a search and its answer."""
    RunnableLambda(searched_first).with_config(**config).invoke(BOTH, listening(heard))
    told = "\n".join([answer(1), answer(2)])
    assert said(heard.only()) == (None, BOTH, [*texts(1), *texts(2)], told)


class Parts(TypedDict, total=False):
    question: str
    documents: list[Document]
    told: Annotated[list[str], operator.add]
    answer: str


def test_parts_that_are_answered_from_documents_handed_over_rest_on_all_of_them(heard):
    """Nobody searches: each branch of the graph is given its documents with the input."""

    def tell(state):
        prompt = f"{joined(state['documents'])}\n{state['question']}"
        return {"told": [Oracle().invoke(prompt).text]}

    builder = StateGraph(Parts)
    builder.add_node("tell", tell)
    builder.add_node("join", lambda state: {"answer": "\n".join(state["told"])})
    sends = [Send("tell", {"question": question(n), "documents": documents(n)}) for n in (1, 2)]
    builder.add_conditional_edges(START, lambda _: sends, ["tell"])
    builder.add_edge("tell", "join")
    builder.compile().invoke({"question": BOTH}, listening(heard))
    problem, asked, contexts, told = said(heard.only())
    assert (problem, asked) == (None, BOTH)
    assert sorted(told.split("\n")) == [answer(1), answer(2)]
    assert sorted(contexts) == sorted(texts(1) + texts(2))


def test_a_model_that_only_names_a_part_leaves_the_context_as_it_was_told(heard):
    """It has read no document; the one that answered was shown them in other words, in a context."""
    chain = ChatPromptTemplate.from_template("Use {context} for {question}") | Oracle() | StrOutputParser()
    name = Oracle(reply=lambda n: f"About topic{n}, briefly")

    def tell(asked):
        found = [text.replace("kilos", "kg") for text in texts(1)]
        Library().invoke(asked)
        heading = name.invoke(asked).text
        told = chain.invoke({"context": " / ".join(found), "question": asked})
        return f"# {heading}\n{told}"

    RunnableLambda(tell).invoke(question(1), listening(heard))
    weighs, built, blue = texts(1)
    assert said(heard.only())[2] == [f"{weighs.replace('kilos', 'kg')} / {built}", blue]
