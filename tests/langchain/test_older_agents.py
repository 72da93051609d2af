"""LangChain's ``AgentExecutor`` and LangGraph's prebuilt agent.

The first tells its model, and its users, what no tool or model has said. The second has its model fill in a
form once it has answered.
"""

from typing import NotRequired

import pytest
from langchain.agents import create_agent
from langchain_classic.agents import AgentExecutor, create_react_agent, create_tool_calling_agent
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import create_react_agent as prebuilt_agent
from pydantic import BaseModel

from groundwire import AbstentionReason
from groundwire.host.notices import UNSAID
from groundwire.langchain import with_hallucination_check
from tests.langchain.apps import Oracle, question
from tests.langchain.conftest import listening
from tests.langchain.test_supervisors import Script, calling
from tests.langchain.wrapped_apps import CHECKER, Scribe

REACT = PromptTemplate.from_template("{tools} {tool_names}\nQuestion: {input}\nThought:{agent_scratchpad}")
CHAT = ChatPromptTemplate.from_messages([("human", "{input}"), MessagesPlaceholder("agent_scratchpad")])
MADE_UP = "A second bag costs 99 EUR."
LOOKS_UP = "I look it up.\nAction: fees\nAction Input: second bag"
ENDS = f"I know it now.\nFinal Answer: {MADE_UP}"


@tool
def fees(of: str) -> str:
    """Tells a fee."""
    return "A second bag costs 25 EUR."


def reacting(*replies, **options):
    """An agent whose model gives one reply after the other, by how often it was answered."""
    model = Scribe(rule=lambda prompt: replies[min(prompt.count("Observation:"), len(replies) - 1)])
    return AgentExecutor(agent=create_react_agent(model, [fees], REACT), tools=[fees], **options)


def contexts(captured):
    return [passage.text for passage in captured.interaction.contexts]


@pytest.mark.parametrize("told", [True, "Keep to the format.", str])
def test_what_is_said_of_a_reply_that_was_not_understood_is_no_evidence(told, heard):
    """It may quote the model's own words, which would then be found in what it was told."""
    agent = reacting(MADE_UP, ENDS, handle_parsing_errors=told)
    agent.invoke({"input": "What does a second bag cost?"}, listening(heard))
    assert (heard.only().problem, heard.only().interaction.answer) == (AbstentionReason.NO_CONTEXT, MADE_UP)


@pytest.mark.parametrize("told", [True, str])
def test_what_a_tool_said_after_such_a_reply_is_the_evidence(told, heard):
    """A complaint takes nothing away from what is found later."""
    agent = reacting(MADE_UP, LOOKS_UP, ENDS, handle_parsing_errors=told)
    agent.invoke({"input": "What does a second bag cost?"}, listening(heard))
    assert (heard.only().problem, contexts(heard.only())) == (None, ["A second bag costs 25 EUR."])


def test_what_is_said_of_a_tool_that_is_not_there_is_no_evidence(heard):
    """Be it told in words, or as a message of that tool's."""
    call = {"name": "prices", "args": {"of": MADE_UP}, "id": "1"}
    calling = create_tool_calling_agent(Oracle(call=call, reply=lambda _: MADE_UP), [fees], CHAT)
    agents = [
        reacting(f"I look it up.\nAction: prices\nAction Input: {MADE_UP}", ENDS),
        AgentExecutor(agent=calling, tools=[fees]),
    ]
    for agent in agents:
        agent.invoke({"input": question(1)}, listening(heard))
    assert [(one.problem, contexts(one)) for one in heard.captured] == [(AbstentionReason.NO_CONTEXT, [])] * 2


def test_what_an_agent_says_at_its_limit_is_no_answer(heard):
    """No model has said it, and nothing in it can be looked up; the wrapper withholds nothing for it."""
    agent = reacting(LOOKS_UP, max_iterations=1)
    agent.invoke({"input": "What does a second bag cost?"}, listening(heard))
    captured = heard.only()
    assert (captured.problem, captured.detail) == (AbstentionReason.NO_CLAIMS, UNSAID)
    checked = with_hallucination_check(agent, checker=CHECKER, on_hallucination="replace")
    result = checked.invoke({"input": "What does a second bag cost?"})
    assert result["hallucination"]["abstention"] == AbstentionReason.NO_CLAIMS
    assert result["output"] == captured.interaction.answer


class Priced(BaseModel):
    """A form with an answer of its own."""

    answer: str
    currency: str = "EUR"


class Fee(BaseModel):
    """A form without one."""

    eur: int


def filling_in(form, **options):
    """An agent whose model answers in words, and is then asked to fill in a form."""
    filled = Script(responses=[calling(type(form).__name__, **form.model_dump())])

    class Filling(Script):
        def with_structured_output(self, schema, **kwargs):
            return filled | (lambda message: schema(**message.tool_calls[0]["args"]))

    model = Filling(responses=[calling("fees", of="second bag"), AIMessage("It costs 25 EUR.")])
    return prebuilt_agent(model, [fees], response_format=type(form), **options)


ASKING = {"messages": [("human", "What does a second bag cost?")]}
FORMS = {MADE_UP: Priced(answer=MADE_UP), '{"eur":99}': Fee(eur=99)}


@pytest.mark.filterwarnings("ignore:create_react_agent")
@pytest.mark.parametrize("answer", FORMS)
def test_a_form_that_is_filled_in_after_the_last_words_is_the_answer(answer, heard):
    """Whoever asks for a form reads it, and not what the model had said before."""
    filling_in(FORMS[answer]).invoke(ASKING, listening(heard))
    assert (heard.only().problem, heard.only().interaction.answer) == (None, answer)
    assert contexts(heard.only()) == ["A second bag costs 25 EUR."]
    checked = with_hallucination_check(filling_in(FORMS[answer]), checker=CHECKER).invoke(ASKING)
    assert checked["hallucination"]["hallucinated"]


class Forms(MessagesState):
    """What agents that fill in forms share with one another."""

    structured_response: NotRequired[BaseModel]


@pytest.mark.filterwarnings("ignore:create_react_agent")
@pytest.mark.parametrize(("last", "answer"), [("words", "It costs 25 EUR."), ("form", '{"eur":25}')])
def test_what_is_said_after_a_form_is_the_answer(last, answer, heard):
    """A form on the way, as one that says who is to answer, is what another model was told."""
    agents = {
        "words": create_agent(Script(responses=[AIMessage("It costs 25 EUR.")]), []),
        "form": filling_in(Fee(eur=25)),
    }
    graph = StateGraph(Forms)
    graph.add_sequence([("first", filling_in(Fee(eur=99))), ("last", agents[last])])
    graph.add_edge(START, "first")
    graph.compile().invoke(ASKING, listening(heard))
    assert heard.only().interaction.answer == answer


@pytest.mark.filterwarnings("ignore:create_react_agent")
def test_a_withheld_form_is_gone():
    """What takes its place stands in its own field."""
    checked = with_hallucination_check(
        filling_in(FORMS[MADE_UP]), checker=CHECKER, on_hallucination="replace", replacement="Ask us."
    )
    assert checked.invoke(ASKING)["structured_response"].answer == "Ask us."


@pytest.mark.filterwarnings("ignore:create_react_agent")
def test_a_form_of_an_earlier_turn_is_no_answer(heard):
    """Another agent goes on with the same state, and answers in words."""
    saver, thread = InMemorySaver(), {"configurable": {"thread_id": "1"}}
    filling_in(FORMS[MADE_UP], checkpointer=saver).invoke(ASKING, thread)
    model = Script(responses=[calling("fees", of="second bag"), AIMessage("It costs 25 EUR.")])
    agent = create_agent(model, [fees], checkpointer=saver)
    assert "structured_response" in agent.invoke(ASKING, listening(heard, **thread))
    assert heard.only().interaction.answer == "It costs 25 EUR."
