"""What is run instead of what was run: more documents, or a question with a note."""

import pytest
from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableBranch, RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from groundwire import ConfigurationError, Interaction
from groundwire.langchain import with_hallucination_check
from groundwire.langchain.retry import Expand, NameClaims, restored
from tests.langchain.wrapped_apps import CHECKER, Shelf, inventive, to_text

INVENTED = CHECKER.check(Interaction(contexts="It costs 5", answer="It costs nothing"))


def store(n=20):
    documents = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
    documents.add_documents([Document(page_content=f"page {i}") for i in range(n)])
    return documents


def found(runnable, retry, times=1) -> int:
    """How many documents a runnable that ends in documents finds after some retries."""
    for _ in range(times):
        runnable, _ = retry.again(runnable, "q", INVENTED)
    return len(runnable.invoke("q"))


RETRIEVERS = {
    "a vector store's": lambda: store().as_retriever(),
    "one that says how many": lambda: store().as_retriever(search_kwargs={"k": 4}),
    "in a sequence": lambda: RunnableLambda(str) | store().as_retriever() | RunnableLambda(list),
    "with a configuration": lambda: store().as_retriever().with_config(tags=["mine"]),
    "with retries": lambda: RunnableLambda(str) | store().as_retriever().with_retry(),
    "with fallbacks": lambda: store().as_retriever().with_fallbacks([RunnableLambda(lambda _: [])]),
    "in a branch": lambda: RunnableBranch((lambda _: True, store().as_retriever()), RunnableLambda(str)),
    "assigned": lambda: RunnablePassthrough.assign(d=RunnableLambda(str) | store().as_retriever()).pick("d"),
}


@pytest.mark.parametrize("name", RETRIEVERS)
def test_more_documents_are_found_wherever_the_retriever_stands(name):
    """Every form of chain that LangChain lets one see into is searched, and copied."""
    app, given = RETRIEVERS[name](), "q"
    if name == "assigned":
        given, app = {"q": "q"}, RETRIEVERS[name]()
    again, _ = Expand().again(app, given, INVENTED)
    assert len(again.invoke(given)) == 8
    assert len(app.invoke(given)) == 4


def test_each_retry_finds_more():
    """The factor is applied to what the last attempt had."""
    assert [found(store().as_retriever(), Expand(factor=2), times=n) for n in (1, 2)] == [8, 16]


def test_the_number_can_be_given():
    """``search_kwargs`` are put over the retriever's own, which stay otherwise."""
    assert found(store().as_retriever(search_kwargs={"k": 1}), Expand(search_kwargs={"k": 7})) == 7
    assert found(Shelf(), Expand(search_kwargs={"k": 2})) == 0
    again, _ = Expand(search_kwargs={"k": 7}).again(
        store().as_retriever(search_kwargs={"k": 1, "filter": None}), "q", INVENTED
    )
    assert again.search_kwargs == {"k": 7, "filter": None}


def test_a_search_for_variety_looks_further_too():
    """MMR picks ``k`` out of ``fetch_k``: both grow."""
    retriever = store().as_retriever(search_type="mmr", search_kwargs={"k": 4, "fetch_k": 6})
    again, _ = Expand().again(retriever, "q", INVENTED)
    assert again.search_kwargs == {"k": 8, "fetch_k": 12}


def test_retrievers_inside_retrievers_are_reached():
    """An ensemble has no number of its own: its members' grow."""
    both = EnsembleRetriever(retrievers=[store().as_retriever(), Shelf(k=3)], weights=[0.5, 0.5])
    again, _ = Expand().again(both, "q", INVENTED)
    assert again.retrievers[0].search_kwargs == {"k": 8}
    assert again.retrievers[1].k == 6
    assert both.retrievers[1].k == 3


def test_a_retriever_without_a_number_is_not_expandable():
    """It is said before anything runs, with what can be done instead."""

    class Fixed(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return []

    with pytest.raises(ConfigurationError, match=r"NameClaims\(\)"):
        with_hallucination_check(Fixed(), checker=CHECKER, on_hallucination="retry", retry=Expand())


@pytest.mark.parametrize("factor", [1, 0, 2.5, "2"])
def test_a_factor_must_ask_for_more(factor):
    """Asking for as many as before would be the same run again."""
    with pytest.raises(ConfigurationError, match="factor"):
        with_hallucination_check(
            to_text(inventive), checker=CHECKER, on_hallucination="retry", retry=Expand(factor=factor)
        )


@pytest.mark.parametrize("wrong", ["k", 8, [("k", 8)]])
def test_what_to_search_with_must_be_a_dict(wrong):
    """The mistake itself is named, and not the chain."""
    with pytest.raises(ConfigurationError, match="Expand's search_kwargs must be a dict"):
        with_hallucination_check(
            to_text(inventive), checker=CHECKER, on_hallucination="retry", retry=Expand(search_kwargs=wrong)
        )


def test_a_callable_that_makes_no_next_input_is_told_so():
    """The chain is not asked with nothing, which would fail somewhere inside it."""
    app = with_hallucination_check(
        to_text(inventive), checker=CHECKER, on_hallucination="retry", retry=lambda given, outcome: None
    )
    with pytest.raises(TypeError, match="the callable for retry returned None: expected the next input"):
        app.invoke("item3")


def test_an_async_callable_for_retry_is_refused():
    """Nobody would await the next input."""

    async def later(given, outcome):
        return given

    with pytest.raises(ConfigurationError, match="retry must be a plain callable, not the async"):
        with_hallucination_check(to_text(inventive), checker=CHECKER, on_hallucination="retry", retry=later)


def revised(given, **options):
    _, asked = NameClaims(**options).again(RunnablePassthrough(), given, INVENTED)
    return asked


def test_the_note_follows_the_question():
    """Whatever form the question has, it comes first, as it was."""
    for asked in (
        revised("Why?"),
        revised(HumanMessage("Why?")).content,
        revised([AIMessage("Hello"), HumanMessage("Why?")])[-1].content,
        revised({"question": "Why?", "language": "en"})["question"],
        revised({"messages": [HumanMessage("Why?")]})["messages"][-1].content,
        revised({"ask": "Why?", "input": "no"}, question_key="ask")["ask"],
    ):
        assert asked.startswith("Why?\n\n")
        assert '- "nothing"' in asked


def test_a_conversation_that_ends_with_an_answer_gets_a_message_more():
    """The note never goes into what the model itself said."""
    conversation = [HumanMessage("Why?"), AIMessage("Because.")]
    asked = revised(conversation)
    assert asked[:2] == conversation
    assert isinstance(asked[2], HumanMessage)


def test_what_was_given_is_not_changed_in_place():
    """The caller's own input stays as it was."""
    given = {"messages": [HumanMessage("Why?")]}
    revised(given)
    assert given == {"messages": [HumanMessage("Why?")]}


@pytest.mark.parametrize("given", [7, None, [], [1], {"number": 7}, {"question": 7}])
def test_an_input_without_a_question_can_not_be_asked_again(given):
    """There is no way to try again, and that is what is said."""
    assert NameClaims().again(RunnablePassthrough(), given, INVENTED) is None


def test_an_echo_of_the_note_is_taken_back():
    """Inputs that the output repeats are the caller's; what the chain made is the chain's."""
    given, asked = {"q": "Why?", "n": 1}, {"q": "Why? note", "n": 1}
    assert restored({"q": asked["q"], "n": 1, "answer": "a"}, given, asked) == {
        "q": "Why?",
        "n": 1,
        "answer": "a",
    }
    assert restored({"q": "other"}, given, asked) == {"q": "other"}
    assert restored("text", given, asked) == "text"
