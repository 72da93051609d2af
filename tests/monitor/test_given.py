"""A monitor given to a checker, a handler, a wrapper or an agent keeps every outcome, once."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from langchain_core.tools import tool

from groundwire import (
    AbstainedError,
    Abstention,
    Checker,
    ConfigurationError,
    Interaction,
    OnAbstention,
    Policy,
)
from groundwire.langchain import GroundwireCallbackHandler, HallucinationMiddleware, with_hallucination_check
from tests.scripted import Broken, NovelWords

WRONG, RIGHT = "it costs 75", "it costs 25"


class Pages(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(page_content="it costs 25", id="fares")]


class Empty(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return []


def chain(*answers, retriever=None):
    prompt = ChatPromptTemplate.from_template("{context} {question}")
    parts = {"context": retriever or Pages(), "question": RunnablePassthrough()}
    return parts | prompt | FakeListChatModel(responses=list(answers)) | StrOutputParser()


def kept(store):
    assert store.flush(30)
    return list(store.rows())


@pytest.fixture
def store(opened):
    return opened()


def test_a_checker_keeps_in_every_colour(store):
    checker = Checker(NovelWords(), monitor=store)
    seen = [Interaction(contexts=RIGHT, answer=answer, id=answer) for answer in (WRONG, RIGHT)]
    checker.check(seen[0])
    asyncio.run(checker.acheck(seen[1]))
    list(checker.check_many(seen))
    assert [row.interaction for row in kept(store)] == [seen[0], seen[1], *seen]


def test_a_checker_that_raises_keeps_first(store):
    checker = Checker(NovelWords(), monitor=store, policy=Policy(on_abstention=OnAbstention.RAISE))
    with pytest.raises(AbstainedError):
        checker.check(Interaction(answer="a"))
    assert [row.outcome.why for row in kept(store)] == ["NO_CONTEXT"]


def test_a_handler_keeps_each_answer_once_with_its_labels(store):
    config = {"tags": ["beta"], "metadata": {"route": "/fares", "prompt_version": 3}}
    handler = GroundwireCallbackHandler(Checker(NovelWords()), monitor=store)
    chain(WRONG, RIGHT).batch(["a", "b"], config={**config, "callbacks": [handler]})
    handler.flush()
    rows = kept(store)
    assert sorted(row.outcome.hallucinated for row in rows) == [False, True]
    assert {row.run_id for row in rows} == {str(record.run_id) for record in handler.outcomes}
    assert all(dict(row.tags)["route"] == "/fares" for row in rows)
    assert all(("tag", "beta") in row.tags and ("prompt_version", "3") in row.tags for row in rows)
    assert all(dict(row.tags)["retriever"] == "pages" for row in rows)
    assert not any(value.startswith("seq:") for row in rows for _, value in row.tags)


def test_a_handler_takes_the_monitor_of_its_checker_and_keeps_nothing_twice(store):
    handler = GroundwireCallbackHandler(Checker(NovelWords(), monitor=store), monitor=store)
    chain(WRONG).invoke("a", config={"callbacks": [handler]})
    handler.flush()
    other = GroundwireCallbackHandler(Checker(NovelWords(), monitor=store))
    chain(WRONG).invoke("a", config={"callbacks": [other]})
    other.flush()
    assert len(kept(store)) == 2


def test_what_was_never_judged_is_kept_too(store):
    handler = GroundwireCallbackHandler(Checker(Broken()), monitor=store)
    for asked in (chain(WRONG, retriever=Empty()), chain(WRONG)):
        asked.invoke("a", config={"callbacks": [handler]})
        handler.flush()  # else either may be kept first
    assert [row.outcome.why for row in kept(store)] == ["NO_CONTEXT", "MODEL_FAILED"]


def test_a_wrapper_keeps_what_was_done_about_it(store):
    wrapped = with_hallucination_check(
        chain(WRONG), checker=Checker(NovelWords()), on_hallucination="warn", monitor=store
    )
    output = wrapped.invoke("a")
    list(wrapped.stream("a"))
    asyncio.run(wrapped.ainvoke("a"))
    rows = kept(store)
    assert [row.action for row in rows] == ["warn"] * 3
    assert store.get(output["hallucination"]["id"]).id == rows[0].id
    assert dict(rows[0].tags)["retriever"] == "pages"


def test_drafts_that_were_retried_are_kept_apart_from_what_was_given(store):
    wrapped = with_hallucination_check(
        chain(WRONG, RIGHT), checker=Checker(NovelWords(), monitor=store), on_hallucination="retry"
    )
    wrapped.invoke({"question": "a"})
    from groundwire.monitor import Filter

    assert store.flush(30)
    both = list(store.rows(Filter(drafts=True)))
    assert [(row.action, row.attempt, row.draft) for row in both] == [
        ("retry", 1, True),
        ("annotate", 2, False),
    ]
    assert store.figures().detection.count == 0


def test_a_wrapper_keeps_what_broke_and_what_was_refused(store):
    broken = with_hallucination_check(chain(WRONG), checker=Checker(Broken()), monitor=store)
    broken.invoke("a")
    empty = with_hallucination_check(
        chain(WRONG, retriever=Empty()), checker=Checker(NovelWords()), monitor=store
    )
    empty.invoke("a")
    refused = with_hallucination_check(
        chain(WRONG), checker=Checker(NovelWords()), on_hallucination="raise", monitor=store
    )
    with pytest.raises(Exception, match="not supported"):
        refused.invoke("a")
    rows = kept(store)
    assert [isinstance(row.outcome, Abstention) for row in rows] == [True, True, False]
    assert rows[2].action == "raise"


def test_an_agent_keeps_its_answers(store):
    @tool
    def search(query: str) -> str:
        """Search the fares."""
        return "it costs 25"

    class Model(FakeListChatModel):
        turns: int = 0

        def bind_tools(self, tools, **kwargs):
            return self

        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            from langchain_core.outputs import ChatGeneration, ChatResult

            self.turns += 1
            call = [{"name": "search", "args": {"query": "q"}, "id": "1"}] if self.turns == 1 else []
            message = AIMessage(content="" if call else WRONG, tool_calls=call)
            return ChatResult(generations=[ChatGeneration(message=message)])

    middleware = HallucinationMiddleware(checker=Checker(NovelWords()), monitor=store)
    agent = create_agent(Model(responses=[""]), [search], middleware=[middleware])
    agent.invoke({"messages": [("user", "what does it cost")]})
    (row,) = kept(store)
    assert (row.outcome.hallucinated, row.interaction.answer) == (True, WRONG)


def test_what_is_no_monitor_is_refused_early():
    for make in (
        lambda: Checker(monitor="sqlite:///a.db"),
        lambda: GroundwireCallbackHandler(monitor="sqlite:///a.db"),
        lambda: with_hallucination_check(chain(WRONG), monitor="sqlite:///a.db"),
        lambda: HallucinationMiddleware(monitor="sqlite:///a.db"),
    ):
        with pytest.raises(ConfigurationError, match="monitor must be a Monitor, not str"):
            make()
