"""Functions that LangSmith traces inside of chains: LangChain's callbacks never hear of them."""

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_core.tracers.langchain import LangChainTracer
from langsmith import trace, traceable

from groundwire import Checker
from groundwire.langchain import GroundwireCallbackHandler, with_hallucination_check
from tests.scripted import NovelWords
from tests.servers.langsmith_server import forget_settings
from tests.tracing.conftest import BAGS, Desk, Handbook, arrive, every_mode

CHECKER = Checker(NovelWords())


@traceable(run_type="retriever")
def find(question):
    return Handbook().invoke(question)


@traceable
def answer(question, documents):
    with trace("asking"):
        told = "\n".join(document.page_content for document in documents)
        return Desk().invoke(f"{told}\n{question}").text


def desk():
    return RunnableLambda(lambda question: answer(question, find(question)), name="traced desk")


@every_mode
def test_what_traced_functions_find_and_say_is_the_chains_around_them(run, langsmith_tracing):
    """Else the model's run would stand alone, without a document, and its answer not be judged."""
    handler = GroundwireCallbackHandler(CHECKER)
    run(desk(), BAGS, {"callbacks": [handler]})
    arrive(handler)
    assert sorted(record.outcome.score for record in handler.outcomes) == [0.0] * 4 + [1.0] * 4
    told = {feedback["run_id"]: feedback["score"] for feedback in langsmith_tracing.feedback}
    assert told == {root["id"]: float("INVENTED" in str(root["outputs"])) for root in langsmith_tracing.roots}


@every_mode
def test_a_wrapper_judges_by_what_traced_functions_find(run, langsmith_tracing):
    """As it does where LangSmith traces nothing."""
    checked = with_hallucination_check(desk(), checker=CHECKER)
    run(checked, BAGS[:2], {})
    arrive()
    told = [root["outputs"]["hallucination"]["score"] for root in langsmith_tracing.roots]
    assert sorted(told) == [0.0, 1.0]


@every_mode
@pytest.mark.parametrize("traced", ["false", "true"])
def test_a_tracer_given_to_the_run_is_followed_into_traced_functions(
    traced, *, run, langsmith_tracing, monkeypatch
):
    """The verdict goes to the project of that tracer, where the run is."""
    monkeypatch.setenv("LANGSMITH_TRACING", traced)
    forget_settings()
    tracer, handler = LangChainTracer(project_name="own"), GroundwireCallbackHandler(CHECKER)
    run(desk(), BAGS[:2], {"callbacks": [handler, tracer]})
    arrive(handler)
    assert sorted(feedback["score"] for feedback in langsmith_tracing.feedback) == [0.0, 1.0]
    for feedback in langsmith_tracing.feedback:
        assert feedback["session_id"] == str(langsmith_tracing.project_id("own"))
        assert "parent_run_id" not in langsmith_tracing.run(feedback["run_id"])


@tool
def search(query: str) -> str:
    """Look a bag up."""
    return f"{query} costs 1 euros"


class Passes(AgentMiddleware):
    """LangChain traces each of its steps as such a function."""

    def wrap_model_call(self, request, handler):
        return handler(request)


class Asks(FakeMessagesListChatModel):
    """Searches, and then answers."""

    def bind_tools(self, tools, **_):
        return self


def test_an_agent_with_a_middleware_is_judged_on_its_own_run(langsmith_tracing):
    """Not on that of its model, which a middleware's step is around."""
    call = {"name": "search", "args": {"query": "bag 1"}, "id": "1"}
    model = Asks(responses=[AIMessage("", tool_calls=[call]), AIMessage("bag 1 costs INVENTED euros")])
    handler = GroundwireCallbackHandler(CHECKER)
    agent = create_agent(model, [search], middleware=[Passes()])
    agent.invoke({"messages": [("user", "What does bag 1 cost?")]}, {"callbacks": [handler]})
    arrive(handler)
    (root,), (feedback,) = langsmith_tracing.roots, langsmith_tracing.feedback
    assert (feedback["run_id"], feedback["score"]) == (root["id"], 1.0)
