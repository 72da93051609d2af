"""Nothing crosses between the application and the judge that it asks, in either direction.

A spying model tells what reaches it; a spying application tells what reaches it. The application asks the
judge from inside a runnable inside a graph's node, the deepest place an application has.
"""

import asyncio
import os
import subprocess
import sys
from contextvars import ContextVar
from typing import Any, TypedDict

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.globals import get_llm_cache, set_llm_cache
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.config import ensure_config
from langchain_core.runnables.history import RunnableWithMessageHistory
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langsmith.run_helpers import get_current_run_tree

from groundwire import AbstentionReason, ConfigurationError, Judge
from groundwire.core.plan import Complete
from groundwire.judge.isolation import JUDGING, isolated
from groundwire.judge.memory import Memory
from groundwire.prompts.forms import LevelForm
from groundwire.prompts.schemas import object_schema
from tests.servers.langsmith_server import langsmith_server, langsmith_tracing

__all__ = ["langsmith_server", "langsmith_tracing"]

SPOKEN = "a verdict"
ASK = Complete(system="You judge.", user="Is it so?")
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="none")
CONFIG = {
    "tags": ["application"],
    "metadata": {"user": "user-one"},
    "configurable": {"session_id": "session-one", "thread_id": "thread-one"},
}
LEFT_BEHIND: ContextVar[str] = ContextVar("left_behind", default="nothing")


class SpyingModel(BaseChatModel):
    """Says a verdict, streaming it, and notes everything of the surroundings that it can see."""

    seen: list[dict[str, Any]]

    @property
    def _llm_type(self):
        return "spying"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.look(run_manager)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=SPOKEN))])

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        self.look(run_manager)
        for word in SPOKEN.split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))

    def look(self, run_manager):
        LEFT_BEHIND.set("by the judge")
        config = ensure_config()
        managers = [manager for manager in (config["callbacks"], run_manager) if manager is not None]
        self.seen.append(
            {
                "handlers": {type(handler).__name__ for manager in managers for handler in manager.handlers},
                "parents": {manager.parent_run_id for manager in managers},
                "tags": {tag for manager in managers for tag in manager.tags},
                "metadata": [manager.metadata for manager in managers],
                "configurable": config.get("configurable"),
                "trace": get_current_run_tree(),
                "request": REQUEST_ID.get(),
                "judging": JUDGING.get(),
            }
        )


class Tuned(SpyingModel):
    """Has parameters, and notes those that it was asked with."""

    temperature: float | None = None
    stop: list[str] | None = None

    def look(self, run_manager):
        super().look(run_manager)
        self.seen[-1]["tuned"] = (self.temperature, self.stop)


NOTHING = {
    "trace": None,
    "request": "none",
    "judging": True,
}


class SpyingHandler(BaseCallbackHandler):
    """Notes the messages and the tokens of every model it hears, and the runs of every chain."""

    run_inline = True

    def __init__(self):
        self.heard = []
        self.runs = set()

    def on_chain_start(self, serialized, inputs, *, run_id, **kwargs):
        self.runs.add(run_id)

    def on_chat_model_start(self, serialized, messages, *, tags=None, metadata=None, **kwargs):
        self.heard += [message.content for batch in messages for message in batch]

    def on_llm_new_token(self, token, **kwargs):
        self.heard.append(token)

    def on_llm_end(self, response, **kwargs):
        self.heard.append(response.generations[0][0].text)


class State(TypedDict, total=False):
    question: str
    answer: str


def application(ask, aask):
    """A graph whose one node runs a runnable that answers with its own model, and then asks the judge."""
    own_model = FakeListChatModel(responses=["application"])

    def answer(question):
        said = own_model.invoke(question).content
        ask()
        return said

    async def aanswer(question):
        said = (await own_model.ainvoke(question)).content
        await aask()
        return said

    runnable = RunnableLambda(answer, afunc=aanswer)

    def node(state):
        return {"answer": runnable.invoke(state["question"])}

    async def anode(state):
        return {"answer": await runnable.ainvoke(state["question"])}

    graph = StateGraph(State)
    graph.add_node("generate", RunnableLambda(node, afunc=anode))
    graph.add_edge(START, "generate")
    graph.add_edge("generate", END)
    return graph.compile()


def stream(app, config, *, loop):
    """The messages that the application's user is shown while it runs."""

    async def collect():
        return [m.content async for m, _ in app.astream({"question": "q"}, config, stream_mode="messages")]

    if loop:
        return asyncio.run(collect())
    return [m.content for m, _ in app.stream({"question": "q"}, config, stream_mode="messages")]


def graph_of(model):
    """A judge that is a graph itself."""
    graph = StateGraph(dict)
    graph.add_node("speak", lambda state: {"said": model.invoke(state["messages"])})
    graph.add_edge(START, "speak")
    graph.add_edge("speak", END)
    return (
        RunnableLambda(lambda messages: {"messages": messages})
        | graph.compile()
        | (lambda state: state["said"])
    )


BOUND = {
    "plain": lambda model: model,
    "with_config": lambda model: model.with_config(run_name="mine"),
    "bind": lambda model: model.bind(stop=["\n"]),
    "with_retry": lambda model: model.with_retry(),
    "with_fallbacks": lambda model: model.with_fallbacks([FakeListChatModel(responses=["other"])]),
    "nested": lambda model: model.bind(stop=["\n"]).with_config(run_name="mine").with_retry(),
    "graph": graph_of,
}


@pytest.fixture(params=["threads", "loop"])
def loop(request):
    return request.param == "loop"


@pytest.fixture
def spies():
    return SpyingModel(seen=[]), SpyingHandler()


@pytest.mark.parametrize("bound", BOUND)
def test_nothing_crosses(spies, loop, bound):
    model, handler = spies
    judge = Judge(BOUND[bound](model))
    replies, afterwards = [], []

    def ask():
        replies.extend(judge.perform([ASK], timeout=None))
        afterwards.append((JUDGING.get(), LEFT_BEHIND.get()))

    async def aask():
        replies.extend(await judge.aperform([ASK], timeout=None))
        afterwards.append((JUDGING.get(), LEFT_BEHIND.get()))

    REQUEST_ID.set("r1")
    shown = stream(application(ask, aask), CONFIG | {"callbacks": [handler]}, loop=loop)
    assert "".join(shown) == "application"
    assert not any("judge" in heard or SPOKEN in heard for heard in handler.heard)
    assert "application" in handler.heard
    assert [reply.texts for reply in replies] == [(SPOKEN,)]
    assert afterwards == [(False, "nothing")]
    (seen,) = model.seen
    assert {key: seen[key] for key in NOTHING} == NOTHING
    assert seen["parents"].isdisjoint(handler.runs)
    assert "groundwire:judge" in seen["tags"] or bound == "graph"  # a graph tags its own steps
    for told in ("application", "user-one", "session-one", "thread-one", "SpyingHandler"):
        assert told not in str(seen)


def test_the_spies_would_notice(spies, loop):
    """The same application, asking the model itself: all of it crosses."""
    model, handler = spies

    async def aask():
        return await model.ainvoke("Is it so?")

    config = CONFIG | {"callbacks": [handler]}
    shown = stream(application(lambda: model.invoke("Is it so?"), aask), config, loop=loop)
    assert "".join(shown) == "applicationaverdict"
    assert "Is it so?" in handler.heard
    (seen,) = model.seen
    assert "SpyingHandler" in seen["handlers"]
    assert not seen["parents"].isdisjoint(handler.runs)
    assert "application" in seen["tags"]
    assert seen["configurable"]["session_id"] == "session-one"
    assert "user-one" in str(seen["metadata"])
    assert not seen["judging"]


def test_a_handler_on_the_model_itself_hears_the_application_and_not_the_judge(spies):
    _, handler = spies
    shared = FakeListChatModel(responses=["said"], callbacks=[handler], verbose=True)
    judge = Judge(shared.with_config(callbacks=[handler]).with_retry())
    (reply,) = judge.perform([ASK], timeout=None)
    assert reply.texts == ("said",)
    assert handler.heard == []
    shared.invoke("hello")
    assert handler.heard[0] == "hello"
    assert shared.callbacks == [handler]


@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")
def test_the_application_s_chat_history_holds_nothing_of_the_judge(spies):
    model, _ = spies
    sessions = {}
    replies = []

    def history(session_id):
        return sessions.setdefault(session_id, InMemoryChatMessageHistory())

    def answer(messages):
        replies.extend(judge.perform([ASK], timeout=None))
        return AIMessage(content="answer")

    # A judge that remembers, too: called in the application's context it would write into the session.
    judge = Judge(RunnableWithMessageHistory(model, history))
    app = RunnableWithMessageHistory(RunnableLambda(answer), history)
    app.invoke([HumanMessage("q")], config={"configurable": {"session_id": "s1"}})
    assert [message.content for message in sessions["s1"].messages] == ["q", "answer"]
    assert list(sessions) == ["s1"]
    assert replies[0].reason is AbstentionReason.MODEL_FAILED, replies
    assert "session_id" in replies[0].detail


def remembering(ask, saver):
    """A graph that keeps its conversation in a checkpointer, and asks the judge in its one node."""

    def respond(state):
        ask()
        return {"messages": [AIMessage(content="answer")]}

    graph = StateGraph(MessagesState)
    graph.add_node("respond", respond)
    graph.add_edge(START, "respond")
    graph.add_edge("respond", END)
    return graph.compile(checkpointer=saver)


def judging_graph(model):
    """A judge that is a graph with messages of its own, and would keep them where it finds a checkpointer."""
    graph = StateGraph(MessagesState)
    graph.add_node("speak", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_edge(START, "speak")
    graph.add_edge("speak", END)
    return (
        RunnableLambda(lambda messages: {"messages": messages})
        | graph.compile()
        | (lambda state: state["messages"][-1])
    )


def kept(saver):
    """Everything that a checkpointer holds, of every thread and every graph inside it."""
    return [
        str(message.content)
        for one in saver.list(None)
        for message in one.checkpoint["channel_values"].get("messages", [])
    ]


def test_the_application_s_checkpoints_hold_nothing_of_the_judge(spies):
    model, _ = spies
    saver = InMemorySaver()
    judge = Judge(judging_graph(model))
    replies = []
    app = remembering(lambda: replies.extend(judge.perform([ASK], timeout=None)), saver)
    config = {"configurable": {"thread_id": "t1"}}
    for question in ("first", "second"):
        shown = app.stream({"messages": [HumanMessage(question)]}, config, stream_mode="messages")
        assert "".join(chunk.content for chunk, _ in shown) == "answer"
    state = app.get_state(config).values["messages"]
    assert [message.content for message in state] == ["first", "answer", "second", "answer"]
    assert set(kept(saver)) == {"first", "answer", "second"}
    assert [reply.texts for reply in replies] == [(SPOKEN,), (SPOKEN,)]
    assert "t1" not in str(model.seen)


def test_a_judge_with_checkpoints_of_its_own_finds_no_thread_of_the_application(spies):
    """Nothing tells it a thread, so it refuses: silence would be another conversation's memory."""
    model, _ = spies
    mine, theirs = InMemorySaver(), InMemorySaver()
    graph = StateGraph(MessagesState)
    graph.add_node("speak", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_edge(START, "speak")
    graph.add_edge("speak", END)
    judge = Judge(RunnableLambda(lambda said: {"messages": said}) | graph.compile(checkpointer=mine))
    replies = []
    app = remembering(lambda: replies.extend(judge.perform([ASK], timeout=None)), theirs)
    app.invoke({"messages": [HumanMessage("q")]}, {"configurable": {"thread_id": "t1"}})
    assert replies[0].reason is AbstentionReason.MODEL_FAILED
    assert kept(mine) == []
    assert set(kept(theirs)) == {"q", "answer"}


def test_its_parameters_are_set_in_a_copy_of_the_model(spies):
    shared = Tuned(seen=[], temperature=0.9)
    judge = Judge(
        shared.bind(tool_choice="none").with_retry(), parameters={"temperature": 0.0, "stop": ["END"]}
    )
    judge.perform([ASK, Complete(system="s", user="u", temperature=0.4)], timeout=None)
    assert sorted(seen["tuned"] for seen in shared.seen) == [(0.0, ["END"]), (0.4, ["END"])]
    assert (shared.temperature, shared.stop) == (0.9, None)


class Calling(Tuned):
    """Replies by calling the one tool that it was given, as models with structured output do."""

    model_name: str = "acme-1"

    def bind_tools(self, tools, **kwargs):
        return self.bind(tools=tools)

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.look(run_manager)
        call = {"name": "Verdict", "args": {"score": 0.5, "said": len(self.seen)}, "id": "1"}
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content="", tool_calls=[call]))])


VERDICT = {"title": "Verdict", "type": "object", "properties": {"score": {"type": "number"}}}


@pytest.mark.parametrize("include_raw", [False, True])
def test_a_model_within_structured_output_is_the_judge_s_own_copy_too(include_raw):
    """No handler of the application hears it, and it has the judge's parameters and each request's own."""
    handler, cache = SpyingHandler(), InMemoryCache()
    shared = Calling(seen=[], temperature=0.9, callbacks=[handler])
    structured = shared.with_structured_output(VERDICT, include_raw=include_raw)
    judge = Judge(structured, parameters={"stop": ["END"]}, memory=Memory(), max_concurrency=1)
    set_llm_cache(cache)
    try:
        warm = Complete(system="s", user="u", temperature=0.4)
        replies = judge.perform([ASK, ASK, warm], timeout=None)
    finally:
        set_llm_cache(None)
    assert len({reply.texts for reply in replies}) == 3  # neither the cache nor the memory has any
    assert [seen["tuned"] for seen in shared.seen] == [(0.9, ["END"])] * 2 + [(0.4, ["END"])]
    assert (handler.heard, cache._cache) == ([], {})
    assert judge.model == "acme-1"


def test_a_parameter_that_the_model_does_not_have_is_refused_by_name():
    with pytest.raises(ConfigurationError, match="has no field 'temprature'"):
        Judge(FakeListChatModel(responses=["a"]).with_retry(), parameters={"temprature": 0})
    with pytest.raises(ConfigurationError, match="a function has none"):
        Judge(lambda system, user: "", parameters={"temperature": 0})


@pytest.mark.parametrize("cache", [None, True], ids=["unsaid", "asked for"])
def test_samples_are_not_each_other_from_the_application_s_cache(cache):
    model = FakeListChatModel(responses=["a", "b", "c"], cache=cache)
    set_llm_cache(InMemoryCache())
    try:
        judge = Judge(model.with_retry(), max_concurrency=1)
        (reply,) = judge.perform([Complete(system="s", user="u", samples=3)], timeout=None)
        assert reply.texts == ("a", "b", "c")
        assert get_llm_cache()._cache == {}
    finally:
        set_llm_cache(None)


def test_a_cache_that_the_model_was_given_stays_its_own():
    cache = InMemoryCache()
    judge = Judge(FakeListChatModel(responses=["a", "b"], cache=cache))
    first, second = judge.perform([ASK], timeout=None) + judge.perform([ASK], timeout=None)
    assert first.texts == second.texts == ("a",)
    assert len(cache._cache) == 1


def test_samples_are_not_from_a_cache_that_the_model_was_given_either():
    """Or what a model invents would look like what it says every time."""
    model = FakeListChatModel(responses=["a", "b", "c"], cache=InMemoryCache())
    judge = Judge(model, max_concurrency=1)
    (reply,) = judge.perform([Complete(system="s", user="u", samples=3)], timeout=None)
    assert reply.texts == ("a", "b", "c")


def test_every_call_begins_in_a_context_of_its_own():
    REQUEST_ID.set("r1")

    def look():
        before = (REQUEST_ID.get(), JUDGING.get())
        REQUEST_ID.set("changed")
        return before

    assert isolated(look) == isolated(look) == ("none", True)
    assert (REQUEST_ID.get(), JUDGING.get()) == ("r1", False)


def traced(judge, *, loop, request=ASK):
    def ask():
        return judge.perform([request], timeout=None)

    async def aask():
        return await judge.aperform([request], timeout=None)

    stream(application(ask, aask), {"run_name": "desk"}, loop=loop)
    from langchain_core.tracers.langchain import wait_for_all_tracers

    wait_for_all_tracers()


def test_a_judge_leaves_no_trace(langsmith_tracing, spies, loop):
    model, _ = spies
    traced(Judge(model), loop=loop)
    assert {run["session_name"] for run in langsmith_tracing.runs} == {"airline"}
    assert SPOKEN not in str(langsmith_tracing.runs)
    assert "application" in str(langsmith_tracing.runs)


def test_a_plain_function_s_own_langchain_calls_leave_none_either(langsmith_tracing, spies, loop):
    model, _ = spies
    traced(Judge(lambda system, user: model.invoke(user).content), loop=loop)
    assert SPOKEN not in str(langsmith_tracing.runs)
    assert model.seen[0]["parents"] == {None}


def test_a_judge_is_traced_to_a_project_of_its_own_when_one_is_named(langsmith_tracing, spies, loop):
    model, _ = spies
    traced(Judge(model, trace_project="judges"), loop=loop)
    (run,) = [run for run in langsmith_tracing.runs if run["session_name"] == "judges"]
    assert run.get("parent_run_id") is None
    assert run["trace_id"] == run["id"]
    assert "groundwire:judge" in run["tags"]
    assert SPOKEN in str(run["outputs"])
    assert SPOKEN not in str([one for one in langsmith_tracing.runs if one["session_name"] == "airline"])


class FormedModel(SpyingModel):
    """One that can be held to a form."""

    def bind_tools(self, tools, **kwargs):
        return self.bind()


@pytest.mark.parametrize("project", [None, "judges"])
def test_a_judge_that_is_held_to_a_form_is_traced_no_other_way(langsmith_tracing, loop, project):
    judge = Judge(FormedModel(seen=[]), structured=True, trace_project=project)
    form = Complete(system="You judge.", user="Is it so?", schema=object_schema(LevelForm))
    traced(judge, loop=loop, request=form)
    own = [run for run in langsmith_tracing.runs if run["session_name"] == "judges"]
    assert len({run["trace_id"] for run in own}) == (project is not None)
    assert SPOKEN not in str([one for one in langsmith_tracing.runs if one not in own])


def test_a_function_that_loads_langsmith_in_its_first_call_leaves_no_trace(langsmith_server):
    """Nothing has imported langsmith when the judge is built; its own code does, while it answers."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            """
from groundwire import Judge
from groundwire.core.plan import Complete
def model(system, user):
    from langsmith import traceable
    return traceable(lambda text: "a verdict", name="lazy")(user)
print(Judge(model).perform([Complete(system="", user="")], timeout=None)[0].texts)
from langsmith import traceable
from langsmith.run_trees import get_cached_client
traceable(lambda: "an answer", name="application")()
get_cached_client().flush()
""",
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | langsmith_server.environment("airline"),
    )
    assert (done.returncode, done.stdout) == (0, "('a verdict',)\n"), done.stderr
    assert [run["name"] for run in langsmith_server.runs] == ["application"]
