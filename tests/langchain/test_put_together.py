"""Answers that code has put together of what several models said: they rest on what all were given."""

import operator
import time
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


@pytest.mark.parametrize("form", ["{}.", "{}\n\nSources: 1.md", "For you: {}"])
def test_a_grader_whose_words_are_a_part_of_the_answer_s_own_tells_nothing(form, heard):
    """It has read what was thrown out again; the one that answered was given the rest."""
    grader = Oracle(reply=lambda n: f"topic{n} weighs {n} kilos")
    answering = Oracle(reply=lambda n: f"I have read that topic{n} weighs {n} kilos or so")

    def tell(asked):
        found = Library().invoke(asked)
        for document in found:
            grader.invoke(f"What of the question is in this? {document.page_content} {asked}")
        return form.format(answering.invoke(f"{found[0].page_content}\n{asked}").text)

    RunnableLambda(tell).invoke(question(1), listening(heard))
    assert said(heard.only())[2] == texts(1)[:1]


def test_a_part_that_says_what_the_last_one_says_and_more_counts_as_well(heard):
    """Of the two the longer one is looked for first."""
    parts = [(1, lambda n: "The topic2 weighs 2 kilos. It is not topic1, is it?"), (2, answer)]

    def tell(_):
        found = [(joined(Library().invoke(question(n))), n, reply) for n, reply in parts]
        told = [Oracle(reply=reply).invoke(f"{context}\n{question(n)}").text for context, n, reply in found]
        return "\n".join(told)

    RunnableLambda(tell).invoke(BOTH, listening(heard))
    assert sorted(said(heard.only())[2]) == sorted(texts(1) + texts(2))


def test_hundreds_of_parts_from_a_long_context_cost_no_time_for_each_pair_of_them(heard):
    """Their prompts are long and nearly all the same."""
    chain = (
        PROMPT | Oracle(reply=lambda n: f"Part {n} is told by what is said of topic{n}") | StrOutputParser()
    )
    pad = "Nobody has asked about what is said here. " * 4_000

    def tell(asked):
        context = f"{joined(Library().invoke(asked))}\n{pad}"
        return "\n".join(chain.invoke({"context": context, "question": question(n)}) for n in range(300))

    begin = time.process_time()
    RunnableLambda(tell).invoke(question(1), listening(heard))
    assert heard.only().interaction.contexts
    assert time.process_time() - begin < 8
