"""Agents that hand a conversation over to each other, and steps that look something up for later ones."""

import json
import time
from typing import Annotated, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import InjectedToolCallId, create_retriever_tool, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode
from langgraph.types import Command

from groundwire import AbstentionReason
from groundwire.langchain import HallucinationMiddleware
from tests.langchain.conftest import listening, said
from tests.langchain.test_supervisors import Script, calling
from tests.langchain.wrapped_apps import CHECKER, Scribe, Shelf, faithful, joined

ASKED, ANSWERED = "What do item3 and item4 cost?", "item3 costs 3euro, item4 costs 4euro"
FOUND = ["item3 costs 3euro", "item4 costs 4euro"]


ALL, LAST = slice(None), slice(-1, None)


def searching(name, *, retrieves):
    """A tool that searches the price list, with a retriever or by itself."""
    if retrieves:
        return create_retriever_tool(Shelf(), name, "Search the price list.")

    @tool(name)
    def look_up(query: str) -> str:
        """Search the price list."""
        return f"{query} costs {query[4:]}euro"

    return look_up


def handing_over(told):
    """A tool that hands the conversation over to the second agent, who is told such a part of it."""

    @tool
    def hand_over(
        state: Annotated[dict, InjectedState], tool_call_id: Annotated[str, InjectedToolCallId]
    ) -> Command:
        """Hand over."""
        note = ToolMessage("Successfully transferred to second", tool_call_id=tool_call_id)
        update = {"messages": [*state["messages"][told], note]}
        return Command(goto="second", graph=Command.PARENT, update=update)

    return hand_over


def swarm(*retrieve, told=ALL, searches=True, middleware=()):
    """Two agents: the first searches with its tool and hands over, the second searches and answers."""
    tools = [
        searching(name, retrieves=one) for name, one in zip(("look_up", "look_too"), retrieve, strict=True)
    ]
    begins = [calling("look_up", query="item3"), calling("hand_over")][0 if searches else 1 :]
    ends = [calling("look_too", query="item4"), AIMessage(ANSWERED)][0 if searches else 1 :]
    with_tools = {"first": [tools[0], handing_over(told)], "second": [tools[1]]}
    graph = StateGraph(MessagesState)
    for (name, own), lines in zip(with_tools.items(), (begins, ends), strict=True):
        graph.add_node(name, create_agent(Script(responses=lines), own, middleware=middleware))
    graph.add_edge(START, "first")
    return graph.compile()


def asked(graph, heard, given=None):
    graph.invoke(given or {"messages": [HumanMessage(ASKED)]}, listening(heard))
    return said(heard.only())


@pytest.mark.parametrize("second", [False, True], ids=["text", "retriever"])
@pytest.mark.parametrize("first", [False, True], ids=["text", "retriever"])
def test_what_an_agent_has_found_counts_for_the_one_that_it_hands_over_to(first, second, heard):
    """The answer is one, held against what both have found and the second was told."""
    assert asked(swarm(first, second), heard) == (None, ASKED, FOUND, ANSWERED)


@pytest.mark.parametrize("first", [False, True], ids=["text", "retriever"])
def test_what_the_second_agent_was_not_told_does_not_count(first, heard):
    """Nor is there a second record, of an answer that no model had given."""
    assert asked(swarm(first, True, told=LAST), heard) == (None, ASKED, FOUND[1:], ANSWERED)


def test_that_an_agent_has_handed_over_is_no_evidence(heard):
    """Nobody has searched."""
    problem = AbstentionReason.NO_CONTEXT
    assert asked(swarm(True, True, searches=False), heard) == (problem, ASKED, [], ANSWERED)


@pytest.mark.parametrize("searches", [False, True])
def test_a_middleware_keeps_what_was_found_before_an_agent_handed_over(searches):
    """The note that it has done so brings nothing, and takes nothing away from the messages around it."""
    judged = []
    checking = HallucinationMiddleware(checker=CHECKER, on_abstention=lambda i, _: judged.append(i))
    app = swarm(True, True, searches=searches, middleware=[checking])
    result = app.invoke({"messages": [HumanMessage(ASKED)]})
    if searches:
        verdict = result["messages"][-1].response_metadata["hallucination"]
        assert (verdict["status"], verdict["hallucinated"], judged) == ("checked", False, [])
    else:
        assert [interaction.contexts for interaction in judged] == [()]


def test_what_a_model_found_in_a_tool_takes_no_earlier_result_s_place():
    """The tool hands the whole conversation on, with its own message at the end."""

    @tool
    def delegate(
        query: str,
        state: Annotated[dict, InjectedState],
        tool_call_id: Annotated[str, InjectedToolCallId],
    ) -> Command:
        """Let somebody else find it."""
        found = (Shelf() | joined | Scribe(rule=faithful)).invoke(query).text
        note = ToolMessage(found, tool_call_id=tool_call_id)
        return Command(update={"messages": [*state["messages"], note]})

    judged = []
    checking = HallucinationMiddleware(checker=CHECKER, on_hallucination=lambda i, _: judged.append(i))
    lines = [calling("look_up", query="item3"), calling("delegate", query="item4"), AIMessage("a guess")]
    tools = [searching("look_up", retrieves=False), delegate]
    app = create_agent(Script(responses=lines), tools, middleware=[checking])
    app.invoke({"messages": [HumanMessage(ASKED)]})
    assert [passage.text for passage in judged[0].contexts] == FOUND


class Prices(TypedDict, total=False):
    """What steps have looked up."""

    question: str
    note: str
    answer: str


@pytest.mark.parametrize("in_prompt", [True, False])
def test_what_a_step_has_looked_up_counts_where_a_later_one_tells_it_to_its_model(in_prompt, heard):
    """A tool ran in one step of a graph, and a chain with a retriever answers in another."""
    template = "Record: {note}\n{context}\n{question}" if in_prompt else "{context}\n{question}"
    found = {
        "context": (lambda state: state["question"]) | Shelf() | joined,
        "question": lambda state: state["question"],
        "note": lambda state: state["note"],
    }
    chain = found | ChatPromptTemplate.from_template(template) | Scribe(rule=faithful) | StrOutputParser()
    record = searching("record", retrieves=False)
    graph = StateGraph(Prices)
    graph.add_node("look", lambda _: {"note": record.invoke({"query": "item9"})})
    graph.add_node("tell", lambda state: {"answer": chain.invoke(state)})
    graph.add_edge(START, "look")
    graph.add_edge("look", "tell")
    shown = ["item9 costs 9euro"] if in_prompt else []
    expected = (None, "And item3?", [FOUND[0], *shown], FOUND[0])
    assert asked(graph.compile(), heard, {"question": "And item3?"}) == expected


NOTES = '{"note": "By the list item9 is the dear one."}'


@pytest.mark.parametrize("graded", ["no", NOTES], ids=["thrown out", "noted"])
@pytest.mark.parametrize("retrieves", [False, True], ids=["text", "retriever"])
def test_what_a_grader_threw_out_of_a_conversation_is_no_evidence(graded, retrieves, heard):
    """An agent has searched twice, and the prompt that is answered by hand tells the second result alone.

    The first counts where it tells what a model has noted of it.
    """
    tools = [searching(name, retrieves=retrieves) for name in ("look_up", "look_too")]
    lines = [calling("look_up", query="item9"), calling("look_too", query="item3")]
    agent, grader = Script(responses=lines), Script(responses=[AIMessage(graded), AIMessage("yes")])
    note = json.loads(graded)["note"] if graded == NOTES else ""

    def grade(state):
        told = state["messages"][-1].text
        return "tell" if grader.invoke(f"Is it relevant? {told}").text == "yes" else "ask"

    def tell(state):
        told = state["messages"][-1].text
        return {"messages": [Scribe(rule=faithful).invoke(f"{note}\n{told}\n\nWhat does item3 cost?")]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", lambda state: {"messages": [agent.invoke(state["messages"])]})
    graph.add_node("search", ToolNode(tools))
    graph.add_node("tell", tell)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "search")
    graph.add_conditional_edges("search", grade, ["ask", "tell"])
    asking = {"messages": [HumanMessage("What does item3 cost?")]}
    found = ["item9 costs 9euro", FOUND[0]] if note else [FOUND[0]]
    assert asked(graph.compile(), heard, asking) == (None, "What does item3 cost?", found, FOUND[0])


@pytest.mark.parametrize("told", ["tell: item3 costs 3euro", "tell item3 is free"])
def test_a_fact_that_names_the_next_step_is_evidence(told, heard):
    """A tool may find a few words and say in the same Command who goes on."""

    @tool
    def look_up(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
        """Look up, and have it told."""
        return Command(goto="tell", update={"messages": [ToolMessage(told, tool_call_id=tool_call_id)]})

    agent = Script(responses=[calling("look_up", query="item3"), AIMessage("It is 3euro.")])
    graph = StateGraph(MessagesState)
    graph.add_node("ask", lambda state: {"messages": [agent.invoke(state["messages"])]})
    graph.add_node("search", ToolNode([look_up]))
    graph.add_node("tell", lambda state: {"messages": [agent.invoke(state["messages"])]})
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "search")
    given = {"messages": [HumanMessage("What does item3 cost?")]}
    assert asked(graph.compile(), heard, given) == (None, "What does item3 cost?", [told], "It is 3euro.")


def test_a_record_of_which_a_prompt_tells_only_a_field_is_evidence(heard):
    """Beside a text that stands there as it is; the rest of the record nobody needed."""
    fields = ["city", "station", "latitude", "longitude", "humidity", "pressure", "visibility", "observed"]

    @tool
    def weather(query: str) -> str:
        """Measure."""
        return json.dumps({**dict.fromkeys(fields, "unknown"), "celsius": 21.5})

    lines = [calling("weather", query="item9"), calling("look_up", query="item3")]
    agent = Script(responses=lines)

    def tell(state):
        record, price = [
            json.loads(m.text) if "{" in m.text else m.text for m in state["messages"] if m.type == "tool"
        ]
        prompt = f"It is {record['celsius']} degrees. {price}\n\nHow warm is it, and what does item3 cost?"
        return {"messages": [Scribe(rule=faithful).invoke(prompt)]}

    graph = StateGraph(MessagesState)
    tools = ToolNode([weather, searching("look_up", retrieves=False)])
    for n in (1, 2):
        graph.add_node(f"ask{n}", lambda state: {"messages": [agent.invoke(state["messages"])]})
        graph.add_node(f"search{n}", tools)
        graph.add_edge(f"ask{n}", f"search{n}")
    graph.add_node("tell", tell)
    graph.add_edge(START, "ask1")
    graph.add_edge("search1", "ask2")
    graph.add_edge("search2", "tell")
    given = {"messages": [HumanMessage("How warm is it, and what does item3 cost?")]}
    contexts = asked(graph.compile(), heard, given)[2]
    assert [("21.5" in text, text == FOUND[0]) for text in contexts] == [(True, False), (False, True)]


@pytest.mark.parametrize("answers", [False, True], ids=["retriever", "chain"])
def test_two_that_are_told_of_one_tool_have_what_it_found_both(answers, heard):
    """Not for one of them what a model in the tool has made of it."""
    made = (Shelf() | joined | Scribe(rule=lambda _: "They sell item9 at a price of nine euro in all")).invoke

    @tool
    def look_up(query: str) -> str:
        """Look it up, and tell of it."""
        return made(query).text

    template = ChatPromptTemplate.from_template("Record: {note}\n{context}\n{question}")
    look = look_up if answers else searching("look_up", retrieves=True)

    def writer(n):
        context = (lambda given: given["question"]) | Shelf() | joined
        tells = Scribe(rule=lambda _: f"Writer {n} says that item3 costs 3euro and item9 costs 9euro")
        return RunnablePassthrough.assign(context=context) | template | tells | StrOutputParser()

    def app(question, config):
        given = {"note": look.invoke({"query": "item9"}, config), "question": question}
        return [writer(n).invoke(given, config) for n in (1, 2)]

    RunnableLambda(app).invoke("And item3?", listening(heard))
    contexts = [[one.text for one in captured.interaction.contexts] for captured in heard.captured]
    assert contexts == [[FOUND[0], "item9 costs 9euro"]] * 2


def test_hundreds_of_tools_each_with_a_model_s_note_hold_nothing_up(heard):
    """Code looks each up, has a model note what it says, and another one answer from the notes."""
    many = 250
    told = " ".join(f"The value number {n} is well known to whoever asks for it." for n in range(12))
    model = Script(
        responses=[AIMessage(f"Note {n} tells of {n} things.") for n in range(many)] + [AIMessage("All.")]
    )

    @tool
    def look(name: str) -> str:
        """Look up."""
        return f"Record {name}. {told}"

    def app(question, config):
        records = [look.invoke({"name": f"r{n}"}, config) for n in range(many)]
        notes = [model.invoke(f"Note what is new: {record}", config).text for record in records]
        return model.invoke("\n".join([*notes, *records[:50], question]), config).text

    started = time.process_time()
    RunnableLambda(app).invoke("What is there?", listening(heard))
    assert len(heard.only().interaction.contexts) == many
    assert time.process_time() - started < 4.0
