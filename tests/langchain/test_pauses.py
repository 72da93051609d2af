"""A human in the loop: a graph that pauses has not answered yet, and what it found before still counts."""

from typing import TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, SummarizationMiddleware
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel, FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool, tool
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import CachePolicy, Command, interrupt

from groundwire import AbstentionReason
from groundwire.langchain import with_hallucination_check
from tests.langchain.conftest import listening, said
from tests.langchain.wrapped_apps import CHECKER, Scribe, Shelf, faithful, joined

ASKED, ANSWER = "item3? Mail it to me.", "item3 costs 3euro"
ONCE = {"configurable": {"thread_id": "1"}}
APPROVED = Command(resume={"decisions": [{"type": "approve"}]})
GATES = [
    {},
    {"attach": "envelope"},
    {"on_abstention": "raise"},
    {"on_abstention": "replace", "on_hallucination": "replace"},
    {"on_hallucination": "retry"},
]


class Clerk(FakeMessagesListChatModel):
    """Says its lines; it may be bound to tools."""

    def bind_tools(self, tools, **kwargs):
        return self


@tool
def mail(text: str) -> str:
    """Send a mail."""
    return "The mail was sent."


@tool
def confirm(text: str) -> str:
    """Ask the user."""
    return f"The user said {interrupt(text)}."


shelf = create_retriever_tool(Shelf(), "shelf", "Find items.")


def calls(*named) -> AIMessage:
    made = [{"name": name, "args": {"query": "item3", "text": "done"}, "id": name} for name in named]
    return AIMessage("", tool_calls=made)


def mailing(answer=ANSWER, *, middleware=()):
    """Looks an item up, asks whether it may send a mail, and answers."""
    review = HumanInTheLoopMiddleware(interrupt_on={"mail": True})
    model = Clerk(responses=[calls("shelf"), calls("mail"), AIMessage(answer)])
    return create_agent(model, [shelf, mail], middleware=[review, *middleware], checkpointer=InMemorySaver())


def asked(text=ASKED):
    return {"messages": [HumanMessage(text)]}


def checked(app, **options):
    return with_hallucination_check(app, checker=CHECKER, **options)


# -- what the answer is held against


def test_what_tools_said_before_a_pause_is_evidence(heard):
    """Each of them once, in the order in which they were called."""
    app = mailing()
    app.invoke(asked(), listening(heard, **ONCE))
    assert heard.captured == []
    app.invoke(APPROVED, listening(heard, **ONCE))
    assert said(heard.only()) == (None, ASKED, [ANSWER, "The mail was sent."], ANSWER)


def test_a_pause_in_one_of_two_calls_keeps_what_the_other_brought(heard):
    """LangGraph keeps its result, and does not run it again."""
    model = Clerk(responses=[calls("shelf", "confirm"), AIMessage(ANSWER)])
    app = create_agent(model, [shelf, confirm], checkpointer=InMemorySaver())
    app.invoke(asked(), listening(heard, **ONCE))
    app.invoke(Command(resume="yes"), listening(heard, **ONCE))
    assert said(heard.only()) == (None, ASKED, [ANSWER, "The user said yes."], ANSWER)


def test_what_a_model_noted_before_a_pause_is_no_evidence(heard):
    """A tool that says its note back has found nothing."""

    @tool
    def note(text: str) -> str:
        """Keep a note."""
        return f"Noted: {text}"

    thought = "item3 costs 99euro and comes with a lamp, two chairs and a table of oak"
    noted = AIMessage("", tool_calls=[{"name": "note", "args": {"text": thought}, "id": "n"}])
    review = HumanInTheLoopMiddleware(interrupt_on={"mail": True})
    model = Clerk(responses=[noted, calls("mail"), AIMessage(thought)])
    app = create_agent(model, [note, mail], middleware=[review], checkpointer=InMemorySaver())
    app.invoke(asked(), listening(heard, **ONCE))
    app.invoke(APPROVED, listening(heard, **ONCE))
    assert said(heard.only()) == (None, ASKED, ["The mail was sent."], thought)


def test_evidence_of_an_earlier_turn_stays_there(heard):
    """What counts begins with the last thing the user said, before and after a pause alike."""
    lines = [calls("shelf"), AIMessage("Hello"), calls("mail"), AIMessage("Done")]
    review = HumanInTheLoopMiddleware(interrupt_on={"mail": True})
    app = create_agent(
        Clerk(responses=lines), [shelf, mail], middleware=[review], checkpointer=InMemorySaver()
    )
    app.invoke(asked("Hello"), listening(**ONCE))
    app.invoke(asked("Mail it"), listening(heard, **ONCE))
    app.invoke(APPROVED, listening(heard, **ONCE))
    assert said(heard.only()) == (None, "Mail it", ["The mail was sent."], "Done")


@pytest.mark.parametrize("by_model", [True, False])
def test_a_tool_that_a_node_runs_itself_is_evidence_once(by_model, heard):
    """Its message is the node's own, with an id that no event shows; a model's words in it are none."""
    model = Clerk(responses=[calls("shelf"), calls("ask"), AIMessage(ANSWER)])
    inner = Scribe(rule=lambda prompt: "item3 costs nothing")

    @tool
    def ask(query: str) -> str:
        """Ask."""
        return inner.invoke(query).text if by_model else "item3 is sold out"

    tools = {"shelf": shelf, "ask": ask}

    def act(state):
        (call,) = state["messages"][-1].tool_calls
        if call["name"] == "ask":
            interrupt("May I?")
        found = tools[call["name"]].invoke(call["args"])
        return {"messages": [ToolMessage(found, tool_call_id=call["id"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("act", act)
    builder.add_edge(START, "think")
    builder.add_conditional_edges("think", lambda s: "act" if s["messages"][-1].tool_calls else "__end__")
    builder.add_edge("act", "think")
    app = builder.compile(checkpointer=InMemorySaver())
    app.invoke(asked(), listening(heard, **ONCE))
    app.invoke(Command(resume=True), listening(heard, **ONCE))
    expected = [ANSWER] if by_model else [ANSWER, "item3 is sold out"]
    assert said(heard.only()) == (None, ASKED, expected, ANSWER)


def test_what_a_tool_said_outside_is_evidence(heard):
    """An application may run a tool itself, and hand its message in."""
    model = Clerk(responses=[calls("mail"), AIMessage(ANSWER)])
    given = [HumanMessage(ASKED), calls("shelf"), ToolMessage(ANSWER, tool_call_id="shelf")]
    create_agent(model, [mail]).invoke({"messages": given}, listening(heard))
    assert said(heard.only()) == (None, ASKED, [ANSWER, "The mail was sent."], ANSWER)


def test_a_summary_of_the_conversation_is_no_question(heard):
    """After a pause the state has nothing else in a human's place; what the tools brought since counts."""
    summing = SummarizationMiddleware(
        FakeListChatModel(responses=["item3 was asked for"]), trigger=("messages", 3), keep=("messages", 2)
    )
    app = mailing(middleware=[summing])
    app.invoke(asked(), listening(heard, **ONCE))
    app.invoke(APPROVED, listening(heard, **ONCE))
    problem, question, contexts, _ = said(heard.only())
    assert (problem, question, contexts) == (None, "", ["The mail was sent."])


class Looked(TypedDict, total=False):
    question: str
    documents: list
    answer: str


def told(asked, docs, rule=faithful):
    return Scribe(rule=rule).invoke(f"{joined(docs)}\n\n{asked}").text


def by_tasks():
    """Finds, asks a human, and answers, each in a task of its own."""

    @task
    def find(asked):
        return Shelf().invoke(asked)

    @task
    def tell(asked, docs):
        return told(asked, docs)

    @entrypoint(checkpointer=InMemorySaver())
    def flow(asked):
        docs = find(asked).result()
        interrupt("Go on?")
        return tell(asked, docs).result()

    return flow


def by_nodes():
    """The same in a graph."""
    builder = StateGraph(Looked)
    builder.add_node("find", lambda state: {"documents": Shelf().invoke(state["question"])})
    builder.add_node("wait", lambda state: interrupt("Go on?") and {})
    builder.add_node("tell", lambda state: {"answer": told(state["question"], state["documents"])})
    for one, other in [(START, "find"), ("find", "wait"), ("wait", "tell")]:
        builder.add_edge(one, other)
    return builder.compile(checkpointer=InMemorySaver())


def streaming(app, mode):
    return lambda given, config: list(app.stream(given, config, stream_mode=mode))


@pytest.mark.parametrize(
    ("call", "given"),
    [
        (by_tasks().invoke, "item3?"),
        (by_nodes().invoke, {"question": "item3?"}),
        (streaming(checked(by_nodes()), "values"), {"question": "item3?"}),
        (streaming(checked(by_nodes()), "updates"), {"question": "item3?"}),
    ],
    ids=["tasks", "nodes", "a checked stream of values", "of updates"],
)
def test_what_was_found_before_a_pause_is_known_by_the_step_that_answers(call, given, heard):
    """It is given the question and the documents, also where the output holds neither."""
    call(given, listening(**ONCE))
    call(Command(resume=True), listening(heard, **ONCE))
    assert said(heard.only()) == (None, "item3?", [ANSWER], ANSWER)


def test_what_a_task_has_kept_is_known_by_the_one_that_answers(heard):
    """Nobody searches the second time."""

    @task(cache_policy=CachePolicy())
    def find(asked):
        return Shelf().invoke(asked)

    @task
    def tell(asked, docs):
        return told(asked, docs)

    @entrypoint(cache=InMemoryCache())
    def flow(asked):
        return tell(asked, find(asked).result()).result()

    for _ in range(2):
        flow.invoke("item3?", listening(heard))
    assert [said(each) for each in heard.captured] == [(None, "item3?", [ANSWER], ANSWER)] * 2


@pytest.mark.parametrize("shown", [[], [Document("item4 costs 4euro")]])
def test_documents_that_a_step_was_given_and_did_not_tell_are_no_evidence(shown, heard):
    """Those that the model was told are, and what a model has written is not."""

    @task
    def write(asked):
        return [Document(Scribe(rule=lambda prompt: "item3 costs nothing at all").invoke(asked).text)]

    @task
    def tell(asked, docs, hidden):
        return told(asked, [*docs, *shown])

    @entrypoint()
    def flow(asked):
        written = write(asked).result()
        return tell(asked, [*written, *shown], [Document("item3 was built in Rome in 1907")]).result()

    flow.invoke("item3?", listening(heard))
    assert [p.text for p in heard.only().interaction.contexts] == [one.page_content for one in shown]


# -- the wrapper


@pytest.mark.parametrize("options", GATES)
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_paused_graph_passes_as_it_is(options, version):
    """It waits for a human: nothing is judged, raised, replaced or asked again."""
    result = checked(mailing(), **options).invoke(asked(), ONCE, version=version)
    paused = mailing().invoke(asked(), ONCE, version=version)
    assert type(result) is type(paused)
    state = result.value if version == "v2" else result
    assert state.keys() == (paused.value if version == "v2" else paused).keys()
    assert [m.text for m in state["messages"]] == [ASKED, "", ANSWER, ""]


@pytest.mark.parametrize("options", GATES)
async def test_a_paused_graph_passes_on_an_event_loop(options):
    """As above."""
    result = await checked(mailing(), **options).ainvoke(asked(), ONCE)
    assert set(result) == {"messages", "__interrupt__"}


def test_a_resumed_graph_is_judged_with_all_that_it_found():
    """A right answer is found right, and a wrong one is not."""
    results = []
    for answer in (ANSWER, "item3 costs nothing"):
        app = checked(mailing(answer))
        app.invoke(asked(), ONCE)
        results.append(app.invoke(APPROVED, ONCE)["hallucination"])
    assert [result["hallucinated"] for result in results] == [False, True]


def reviewed(answer):
    """An agent whose answer a human reads before it is given."""
    agent = create_agent(Clerk(responses=[calls("shelf"), AIMessage(answer)]), [shelf])
    builder = StateGraph(MessagesState)
    builder.add_node("agent", agent)
    builder.add_node("review", lambda state: interrupt("Right?") and {})
    builder.add_edge(START, "agent")
    builder.add_edge("agent", "review")
    return builder.compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize("resume", [Command(resume=True), None])
def test_an_answer_that_waited_for_a_human_is_judged_when_it_is_given(resume):
    """No model and no tool runs any more by then: question and evidence are those of the state."""
    judged = []
    app = checked(reviewed("item3 costs nothing"), on_hallucination=lambda i, o: judged.append(i))
    assert set(app.invoke(asked(), ONCE)) == {"messages", "__interrupt__"}
    if resume is None:
        app.bound.update_state(ONCE, {"messages": []}, as_node="review")
    assert app.invoke(resume, ONCE)["hallucination"]["hallucinated"] is True
    (interaction,) = judged
    assert interaction.question == ASKED
    assert [passage.text for passage in interaction.contexts] == [ANSWER]


@pytest.mark.parametrize("mode", ["values", "updates", "messages", ["updates", "messages"]])
async def test_the_stream_of_a_paused_graph_brings_no_verdict(mode):
    """Whether or not its parts show that it paused."""
    parts = list(mailing().stream(asked(), ONCE, stream_mode=mode))
    assert len(list(checked(mailing()).stream(asked(), ONCE, stream_mode=mode))) == len(parts)
    streamed = [part async for part in checked(mailing()).astream(asked(), ONCE, stream_mode=mode)]
    assert len(streamed) == len(parts)


async def test_the_stream_of_a_chain_that_ends_in_a_paused_graph_passes_whole():
    """Its last part is held back, and not kept back."""
    parts = list((RunnableLambda(asked) | mailing()).stream(ASKED, ONCE))
    streamed = list(checked(RunnableLambda(asked) | mailing()).stream(ASKED, ONCE))
    assert [part.keys() for part in streamed] == [part.keys() for part in parts]
    chain = checked(RunnableLambda(asked) | mailing())
    assert len([part async for part in chain.astream(ASKED, ONCE)]) == len(parts)


def test_a_gated_stream_of_a_paused_graph_is_its_state():
    """There is nothing to hold back for."""
    (state,) = checked(mailing(), on_abstention="raise").stream(asked(), ONCE)
    assert set(state) == {"messages", "__interrupt__"}


def test_a_graph_that_another_one_paused_inside_is_judged():
    """A node may run a graph with a memory of its own, which pauses; the outer one goes on and answers."""
    builder = StateGraph(MessagesState)
    inner = mailing()
    builder.add_node("ask", lambda state: inner.invoke(asked(), {"configurable": {"thread_id": "2"}}) and {})
    builder.add_node("say", lambda state: {"messages": [AIMessage("item3 costs nothing")]})
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "say")
    assert "hallucination" in checked(builder.compile()).invoke(asked())


def test_without_a_pause_an_answer_without_evidence_is_still_an_abstention():
    """Only what waits for a human is passed over."""
    result = checked(create_agent(Clerk(responses=[AIMessage(ANSWER)]), [mail])).invoke(asked())
    assert result["hallucination"]["abstention"] == AbstentionReason.NO_CONTEXT
