"""Agents under a supervisor: the answer of each is passed on in a human's place, under its name."""

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Send
from pydantic import BaseModel

from groundwire.core.interaction import Role
from groundwire.langchain import HallucinationMiddleware
from tests.langchain.conftest import Heard
from tests.langchain.wrapped_apps import CHECKER, Shelf

ASKED, FOUND = "What does item3 cost?", "item3 costs 3euro"
RESEARCHED, WRITTEN, SUMMED_UP = "By the list item3 costs 3euro.", "In short, it is free.", "So it is free."
ONCE = {"configurable": {"thread_id": "1"}}
SHELF = create_retriever_tool(Shelf(), "look_up", "Find items.")


class Route(BaseModel):
    """Who goes on."""

    to: str


class Script(FakeMessagesListChatModel):
    """A model that says its lines, then starts again, each message anew; it may be bound to tools."""

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, *given, **kwargs):
        result = super()._generate(*given, **kwargs)
        said = result.generations[0].message
        result.generations[0].message = said.model_copy(update={"id": None})
        return result


@tool
def look_up(query: str) -> str:
    """Search the price list."""
    return FOUND


def calling(name, **args):
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"{name}-1"}])


def supervised(*, search=look_up, sums_up=True, named=True, judged=None):
    """A supervisor with a researcher, who searches, and a writer, who doesn't."""
    routes = [calling("Route", to=to) for to in ("researcher", "writer", "nobody")]
    router = Script(responses=routes).with_structured_output(Route)
    final = Script(responses=[AIMessage(SUMMED_UP)])
    checking = HallucinationMiddleware(checker=CHECKER, on_abstention=lambda i, o: judged.append(i))
    watching = {"middleware": [] if judged is None else [checking]}
    searching = Script(responses=[calling("look_up", query="item3"), AIMessage(RESEARCHED)])
    workers = {
        "researcher": create_agent(searching, [search], **watching),
        "writer": create_agent(Script(responses=[AIMessage(WRITTEN)]), [search], **watching),
    }

    def supervise(state):
        to = router.invoke([("system", "Who goes on?"), *state["messages"]]).to
        if to in workers:
            return Command(goto=to)
        summary = [final.invoke([("system", "Sum it up."), *state["messages"]])] if sums_up else []
        return Command(goto=END, update={"messages": summary})

    def working(name):
        def work(state):
            said = workers[name].invoke({"messages": state["messages"]})["messages"][-1].text
            return Command(
                goto="supervise", update={"messages": [HumanMessage(said, name=name if named else None)]}
            )

        return work

    graph = StateGraph(MessagesState)
    graph.add_node("supervise", supervise)
    for name in workers:
        graph.add_node(name, working(name))
    graph.add_edge(START, "supervise")
    return graph.compile(checkpointer=InMemorySaver())


def ask(graph, *questions):
    heard = Heard()
    for question in questions:
        graph.invoke({"messages": [HumanMessage(question)]}, config={**ONCE, "callbacks": [heard]})
    return [captured.interaction for captured in heard.captured]


@pytest.mark.parametrize("search", [look_up, SHELF])
@pytest.mark.parametrize("sums_up", [True, False])
def test_what_a_worker_said_is_neither_the_question_nor_evidence(sums_up, search):
    """It is an answer, and the last one where nobody sums up."""
    (captured,) = ask(supervised(search=search, sums_up=sums_up), ASKED)
    assert captured.question == ASKED
    assert captured.answer == (SUMMED_UP if sums_up else WRITTEN)
    assert [passage.text for passage in captured.contexts] == [FOUND]
    assert captured.history == ()


def test_a_worker_without_a_name_answers_too():
    """A model said it in this very run."""
    (captured,) = ask(supervised(sums_up=False, named=False), ASKED)
    assert (captured.question, captured.answer) == (ASKED, WRITTEN)


def test_what_workers_said_in_earlier_turns_is_no_user_s():
    """The history has it as what the application said."""
    _, captured = ask(supervised(), ASKED, "And item4?")
    assert captured.question == "And item4?"
    told = [(turn.role, turn.text) for turn in captured.history]
    said = [(Role.ASSISTANT, text) for text in (RESEARCHED, WRITTEN, SUMMED_UP)]
    assert told == [(Role.USER, ASKED), *said]


def test_a_worker_is_judged_by_the_user_s_question():
    """Not by what another worker has said, which is no evidence for it either."""
    judged = []
    ask(supervised(judged=judged), ASKED)
    (written,) = judged  # the other has a document
    assert (written.question, written.answer) == (ASKED, WRITTEN)
    assert (written.contexts, written.history) == ((), ())


@pytest.mark.parametrize(
    "before",
    [
        [],
        [HumanMessage("Hello.", name="Ann")],
        [HumanMessage("Hello."), AIMessage("Hello to you.")],
        [
            HumanMessage("item4?"),
            calling("look_up", query="item4"),
            ToolMessage("x", tool_call_id="look_up-1"),
        ],
    ],
)
def test_a_user_who_has_a_name_asks_questions(before):
    """Where everybody has one, and where what came before has been answered."""
    judged = []
    checking = HallucinationMiddleware(checker=CHECKER, on_abstention=lambda i, o: judged.append(i))
    app = create_agent(Script(responses=[AIMessage(WRITTEN)]), [look_up], middleware=[checking])
    app.invoke({"messages": [*before, HumanMessage(ASKED, name="Bob")]})
    assert judged[0].question == ASKED


def test_a_task_that_an_agent_has_written_is_no_question():
    """What the user asked before it is no earlier turn either, and what was said before that is one."""

    @tool
    def delegate(task: str) -> Command:
        """Let the researcher do it."""
        told = {"messages": [HumanMessage(task)]}
        return Command(goto=[Send("researcher", told)], graph=Command.PARENT)

    handing_on = calling("delegate", task="Find the price of item3.")
    supervising = Script(responses=[handing_on, AIMessage(SUMMED_UP)])
    searching = Script(responses=[calling("look_up", query="item3"), AIMessage(RESEARCHED)])
    graph = StateGraph(MessagesState)
    graph.add_node("supervisor", create_agent(supervising, [delegate]), destinations=("researcher",))
    graph.add_node("researcher", create_agent(searching, [look_up]))
    graph.add_edge(START, "supervisor")
    graph.add_edge("researcher", "supervisor")
    first, second = ask(graph.compile(checkpointer=InMemorySaver()), ASKED, "And now?")
    assert (first.question, first.answer, first.history) == (ASKED, SUMMED_UP, ())
    assert [passage.text for passage in first.contexts] == [FOUND]
    assert (second.question, second.history[0].text) == ("And now?", ASKED)
