"""The middleware: an agent's answer is judged against what its tools brought in the same turn."""

import asyncio
import json
from dataclasses import dataclass
from typing import Annotated

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
    ToolCallLimitMiddleware,
    hook_config,
    wrap_tool_call,
)
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import LLMChainExtractor
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel, FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnablePassthrough
from langchain_core.tools import InjectedToolCallId, create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel
from typing_extensions import TypedDict

from groundwire import AbstainedError, AbstentionReason, Checker, ConfigurationError, Policy, Verdict
from groundwire.core import wire
from groundwire.host.actions import HallucinationError
from groundwire.langchain import (
    GroundwireCallbackHandler,
    HallucinationMiddleware,
    with_hallucination_check,
)
from groundwire.langchain.delegated import Inside
from groundwire.testing import Abstains
from tests.langchain.apps import PROMPT
from tests.langchain.conftest import Heard, listening
from tests.langchain.wrapped_apps import CHECKER, Shelf
from tests.scripted import NovelWords

RIGHT, WRONG = "item3 costs 3euro", "item3 costs nothing"
SORRY = {"on_hallucination": "replace", "replacement": "Sorry, ask at the desk."}
ONCE = {"configurable": {"thread_id": "1"}}


class Script(FakeMessagesListChatModel):
    """A model that says its lines, then starts again; it may be bound to tools."""

    def bind_tools(self, tools, **kwargs):
        return self


@tool
def search(query: str) -> str:
    """Search the price list."""
    return "item3 costs 3euro"


@tool(response_format="content_and_artifact")
def fetch(query: str) -> tuple[str, list[Document]]:
    """Fetch from the price list."""
    return "1 document", [Document(page_content="item3 costs 3euro", id="d3", metadata={"page": 4})]


@tool
def cite(query: str) -> list:
    """Search the price list, for a model that cites."""
    text = [{"type": "text", "text": RIGHT}]
    return [{"type": "search_result", "title": "Prices", "source": "a.md", "content": text}]


@tool
def breaks(query: str) -> str:
    """Fail."""
    raise RuntimeError("item3 costs nothing")


def call(name="search", n=1) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": {"query": "item3"}, "id": f"call{n}"}])


def agent(*said, tools=(search,), checkpointer=None, **options):
    script = [AIMessage(line) if isinstance(line, str) else line for line in said]
    middleware = HallucinationMiddleware(**{"checker": CHECKER, **options})
    return create_agent(
        Script(responses=script), list(tools), middleware=[middleware], checkpointer=checkpointer
    )


def ask(agent, text="What does item3 cost?", **config):
    return agent.invoke({"messages": [HumanMessage(text)]}, **config)


def test_the_verdict_is_in_the_result_and_on_the_answer():
    """Whoever reads the state finds it, and so does whoever keeps only the message."""
    result = ask(agent(call(), WRONG))
    answer = result["messages"][-1]
    assert result["hallucination"]["hallucinated"] is True
    assert answer.response_metadata["hallucination"] == result["hallucination"]
    assert answer.content == WRONG
    assert [type(m) for m in result["messages"]] == [HumanMessage, AIMessage, ToolMessage, AIMessage]
    assert wire.decode(result["hallucination"]).spans[0].of(answer.text) == "nothing"


async def test_an_agent_on_an_event_loop_is_judged_alike():
    """The same in the other colour."""
    result = await agent(call(), WRONG).ainvoke({"messages": [HumanMessage("item3?")]})
    assert result["hallucination"]["hallucinated"] is True


@pytest.mark.parametrize(
    ("tools", "name"),
    [
        ([search], "search"),
        ([fetch], "fetch"),
        ([cite], "cite"),
        ([create_retriever_tool(Shelf(), "shelf", "Find items.")], "shelf"),
    ],
)
def test_whatever_a_tool_brought_is_the_context(tools, name):
    """A plain tool's text, a tool's documents, be it in blocks, and a retriever's."""
    assert ask(agent(call(name), RIGHT, tools=tools))["hallucination"]["hallucinated"] is False
    assert ask(agent(call(name), WRONG, tools=tools))["hallucination"]["hallucinated"] is True


def test_of_a_tool_s_documents_count_those_that_the_model_was_told():
    """Another middleware may have cut its message since."""

    @wrap_tool_call
    def cut(request, handler):
        message = handler(request)
        return message.model_copy(update={"content": message.text.partition("\n")[0]})

    @tool(response_format="content_and_artifact")
    def prices(query: str) -> tuple[str, list[Document]]:
        """Search the price list."""
        return f"{RIGHT}\nitem4 is free", [Document(RIGHT, id="d3"), Document("item4 is free", id="d4")]

    seen = []
    checking = HallucinationMiddleware(checker=CHECKER, on_hallucination=lambda i, o: seen.append(i))
    model = Script(responses=[call("prices"), AIMessage(WRONG)])
    ask(create_agent(model, [prices], middleware=[checking, cut]))
    assert [(passage.id, passage.text) for passage in seen[0].contexts] == [("d3", RIGHT)]


def expert(*, direct=False, config=None):
    """A tool that is a RAG chain of its own, whose model says what its document doesn't."""
    chain = (
        {"context": Shelf(), "question": RunnablePassthrough()}
        | PROMPT
        | Script(responses=[AIMessage(WRONG)])
    )

    @tool(return_direct=direct)
    def ask_expert(query: str) -> str:
        """Ask somebody who looks it up."""
        return chain.invoke(query, config).text

    return ask_expert


def assistant():
    """A tool that is an agent of its own, with a tool that is no retriever."""
    inner = create_agent(Script(responses=[call(n=2), AIMessage(WRONG)]), [search])

    @tool
    async def ask_assistant(query: str) -> str:
        """Ask somebody who has tools."""
        return (await inner.ainvoke({"messages": [HumanMessage(query)]}))["messages"][-1].text

    return ask_assistant


@pytest.mark.parametrize("config", [None, {"run_id": "request 7"}])
def test_what_a_model_in_a_tool_says_is_no_evidence(config):
    """A RAG chain as a tool: its documents are, and keep what is known of them, be its run's id a text."""
    seen, tools = [], [expert(config=config)]
    result = ask(agent(call("ask_expert"), WRONG, tools=tools, on_hallucination=lambda i, o: seen.append(i)))
    assert result["hallucination"]["hallucinated"] is True
    assert [(p.text, p.id) for p in seen[0].contexts] == [
        (d.page_content, d.id) for d in Shelf().invoke("item3")
    ]


async def test_what_an_agent_as_a_tool_says_is_no_evidence():
    """What its own tools told it is."""
    asked = {"messages": [HumanMessage("What does item3 cost?")]}
    wrong = await agent(call("ask_assistant"), WRONG, tools=[assistant()]).ainvoke(asked)
    assert wrong["hallucination"]["hallucinated"] is True
    right = await agent(call("ask_assistant"), RIGHT, tools=[assistant()]).ainvoke(asked)
    assert right["hallucination"]["hallucinated"] is False


class Told(BaseModel):
    """What a model fills in."""

    told: str


def by_heart(query):
    return Script(responses=[AIMessage(WRONG)]).invoke(query).text


@tool
def in_words(query: str) -> str:
    """Ask a model."""
    return "It says: " + by_heart(query)


@tool
def as_a_dict(query: str) -> dict:
    """Ask a model."""
    return {"answer": f'"{by_heart(query)}"', "sure": True}


@tool
def as_a_list(query: str) -> str:
    """Ask a model."""
    return "".join(f"- {word}\n" for word in by_heart(query).split())


@tool
def as_a_command(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Ask a model."""
    return Command(update={"messages": [ToolMessage(by_heart(query), tool_call_id=tool_call_id)]})


@tool
def as_a_list_of_messages(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> list:
    """Ask a model."""
    return [Command(update={}), ToolMessage(by_heart(query), tool_call_id=tool_call_id)]


@tool
def as_filled_in(query: str) -> str:
    """Ask a model."""
    calls = [{"name": "Told", "args": {"told": WRONG}, "id": "filled"}]
    model = Script(responses=[AIMessage("", tool_calls=calls)])
    return model.with_structured_output(Told).invoke(query).told


BY_HEART = [in_words, as_a_dict, as_a_list, as_a_command, as_a_list_of_messages, as_filled_in]


@pytest.mark.parametrize("asked", BY_HEART)
def test_a_tool_whose_model_speaks_by_heart_brings_nothing(asked):
    """Nobody knows what it said that from, in whatever form it comes."""
    heard = Heard()
    app = agent(call(asked.name), WRONG, tools=[asked])
    judged = ask(app, config={"callbacks": [heard]})["hallucination"]
    assert judged["abstention"] == "NO_CONTEXT"
    assert heard.only().problem is AbstentionReason.NO_CONTEXT


def test_a_query_that_a_model_wrote_is_no_reason_to_drop_what_was_found():
    """Its words stand in what was found for it."""

    @tool
    def search(query: str) -> str:
        """Ask a model what to look for."""
        written = Script(responses=[AIMessage("item3 costs 3euro")]).invoke(query).text
        return (
            f"All about this: {written}, as everybody knows who has been there and has seen the price list."
        )

    judged = ask(agent(call("search"), WRONG, tools=[search]))["hallucination"]
    assert judged["hallucinated"] is True


MADE_UP = "item3 costs nothing at all, and members are given a second one on top of it."


@tool
def think(thought: str) -> str:
    """Think."""
    return thought


@tool
def plan(steps: list[dict]) -> dict:
    """Plan."""
    return {"the plan": steps}


def notes():
    """Two tools, of which one returns what the other was given."""
    kept = []

    @tool
    def keep(note: str) -> str:
        """Keep a note."""
        kept.append(note)
        return f"The note is: {note}"

    @tool
    def recall() -> str:
        """Recall all notes."""
        return "".join(f"* {note}\n" for note in kept)

    return keep, recall


def files():
    """Two tools, of which one shows what the other has written, with the numbers of its lines."""
    kept = {}

    @tool
    def write_file(path: str, content: str) -> None:
        """Write a file."""
        kept[path] = content

    @tool
    def read_file(path: str) -> str:
        """Read a file."""
        return "\n".join(f"{n:6}\t{line}" for n, line in enumerate(kept[path].split("\n"), start=1))

    return write_file, read_file


FILE = f"# Notes\n\n- {MADE_UP}\n- Members pay less."
TO_ITSELF = {
    "a file": [("write_file", {"path": "a.md", "content": FILE}), ("read_file", {"path": "a.md"})],
    "a thought": [("think", {"thought": MADE_UP})],
    "a plan": [("plan", {"steps": [{"say": MADE_UP, "done": "no"}, {"say": "Bye.", "done": "no"}]})],
    "notes": [("keep", {"note": MADE_UP}), ("recall", {})],
}


@pytest.mark.parametrize("name", TO_ITSELF)
@pytest.mark.parametrize("searched", [True, False])
def test_what_a_model_tells_itself_by_a_tool_is_no_evidence(searched, name):
    """Be it kept by one tool, and returned by another; what was searched is."""
    calls = [("search", {"query": "item3"})] * searched + TO_ITSELF[name]
    script = [
        AIMessage("", tool_calls=[{"name": tool, "args": args, "id": f"call{n}"}])
        for n, (tool, args) in enumerate(calls)
    ]
    heard, seen = Heard(), []
    options = {
        "on_hallucination": lambda i, o: seen.append(i),
        "tools": [search, think, plan, *notes(), *files()],
    }
    judged = ask(agent(*script, MADE_UP, **options), config={"callbacks": [heard]})["hallucination"]
    if searched:
        assert judged["hallucinated"] is True
        assert [p.text for p in seen[0].contexts] == ["item3 costs 3euro"]
        assert [p.text for p in heard.only().interaction.contexts] == ["item3 costs 3euro"]
    else:
        assert judged["abstention"] == "NO_CONTEXT"
        assert heard.only().problem is AbstentionReason.NO_CONTEXT


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("item3 costs", "Found for item3 costs: item3 costs 3euro"),
        ("What does item3 cost in shops that sell it today?", "Found for ?: 3euro"),
    ],
)
def test_a_search_that_repeats_its_query_brings_the_rest(query, told):
    """A few words that stand in what was found for them stay there."""

    @tool
    def search(query: str) -> str:
        """Search."""
        return f"Found for {query}: {'item3 costs ' if len(query) < 20 else ''}3euro"

    heard, seen = Heard(), []
    asked = AIMessage("", tool_calls=[{"name": "search", "args": {"query": query}, "id": "1"}])
    options = {"on_hallucination": lambda i, o: seen.append(i), "tools": [search]}
    ask(agent(asked, WRONG, **options), config={"callbacks": [heard]})
    for interaction in (seen[0], heard.only().interaction):
        (passage,) = interaction.contexts
        assert " ".join(passage.text.split()) == told


@pytest.mark.parametrize("form", ["content", "content_and_artifact"])
def test_what_a_model_in_a_tool_s_retriever_made_up_is_no_evidence(form):
    """Be it handed on as a document; what it was told is."""
    extractor = LLMChainExtractor.from_llm(Script(responses=[AIMessage(MADE_UP)]))
    retriever = ContextualCompressionRetriever(base_retriever=Shelf(k=1), base_compressor=extractor)
    shelf = create_retriever_tool(retriever, "shelf", "Find items.", response_format=form)
    seen, heard = [], Heard()
    options = {"on_hallucination": lambda i, o: seen.append(i), "tools": [shelf]}
    ask(agent(call("shelf"), MADE_UP, **options), config={"callbacks": [heard]})
    for interaction in (seen[0], heard.only().interaction):
        assert [(p.id, p.text) for p in interaction.contexts] == [("item3", "item3 costs 3euro")]


def test_a_document_that_holds_all_of_a_query_stays_whole():
    """A retriever has found it; nobody has made it up for the query."""
    query = "item3 costs less than item4 and more than item2 does"
    document = Document(page_content=f"{query}: it costs 3euro", id="d3", metadata={"page": 4})
    seen, heard = [], Heard()

    class Found(Shelf):
        def _get_relevant_documents(self, query, *, run_manager):
            return [document]

    asked = AIMessage("", tool_calls=[{"name": "shelf", "args": {"query": query}, "id": "1"}])
    shelf = create_retriever_tool(Found(), "shelf", "Find items.", response_format="content_and_artifact")
    options = {"on_hallucination": lambda i, o: seen.append(i), "tools": [shelf]}
    ask(agent(asked, WRONG, **options), config={"callbacks": [heard]})
    for interaction in (seen[0], heard.only().interaction):
        assert [(p.id, p.text) for p in interaction.contexts] == [("d3", document.page_content)]


@pytest.mark.parametrize("messages", [("ai", "done"), {"role": "ai", "content": "done"}, "done"])
def test_a_command_s_message_in_a_form_of_its_own_stays_as_it_is(messages):
    """A tuple is one message, and no list of two."""
    call = Inside()
    with call:
        by_heart("what")
    command = Command(update={"messages": messages})
    assert call.noted(command, {"messages": []}).update == {"messages": messages}


@pytest.mark.parametrize("noted", ["x", {"a": 1}, [{"text": 7}], [{"id": "x"}], [None]])
def test_what_cant_be_read_of_what_was_noted_is_no_evidence(noted):
    """It was written by another version, or by somebody else; no run ends for it."""

    @tool
    def search(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> ToolMessage:
        """Find nothing new."""
        return ToolMessage(RIGHT, tool_call_id=tool_call_id, response_metadata={"groundwire_found": noted})

    judged = ask(agent(call("search"), RIGHT, tools=[search]))["hallucination"]
    assert judged["abstention"] == "NO_CONTEXT"


def test_what_was_found_in_a_tool_survives_a_checkpoint():
    """It stands on the tool's message, in a form that any checkpointer keeps."""
    kept = InMemorySaver()
    ask(agent(call("ask_expert"), WRONG, tools=[expert()], checkpointer=kept), config=ONCE)
    told = kept.get_tuple(ONCE).checkpoint["channel_values"]["messages"][2]
    assert [each["text"] for each in told.response_metadata["groundwire_found"]] == ["item3 costs 3euro"]


def test_a_tool_that_answers_the_user_itself_is_judged_by_what_it_found():
    """With ``return_direct`` no model speaks after it. No tool is its own evidence."""
    judged = ask(agent(call("ask_expert"), tools=[expert(direct=True)]))
    assert judged["messages"][-1].text == WRONG
    assert judged["hallucination"]["hallucinated"] is True
    assert judged["messages"][-1].response_metadata["hallucination"] == judged["hallucination"]
    plain = tool(return_direct=True)(search.func)
    assert ask(agent(call(), tools=[plain]))["hallucination"]["abstention"] == "NO_CONTEXT"


def test_documents_keep_what_is_known_of_them():
    """A tool that hands its documents over is judged by them, not by what it said of them."""
    seen = []
    ask(agent(call("fetch"), WRONG, tools=[fetch], on_hallucination=lambda i, o: seen.append(i)))
    (passage,) = seen[0].contexts
    assert (passage.text, passage.id, passage.metadata) == ("item3 costs 3euro", "d3", {"page": 4})


def test_documents_keep_the_headings_that_the_model_was_told():
    """A tool writes more than a document's text, and the model may answer from all of it."""

    @tool(response_format="content_and_artifact")
    def headed(query: str) -> tuple[str, list[Document]]:
        """Fetch from the price list."""
        found = Document(page_content=RIGHT, id="d3", metadata={"page": 4})
        return f"From the winter catalogue, page 4:\n{RIGHT}", [found]

    seen = []
    ask(agent(call("headed"), WRONG, tools=[headed], on_hallucination=lambda i, o: seen.append(i)))
    (passage,) = seen[0].contexts
    assert (passage.text, passage.id) == (f"From the winter catalogue, page 4:\n{RIGHT}", "d3")


def test_a_tool_that_failed_brought_nothing():
    """An error's text is no document, whatever it says."""
    failed = ToolMessage(WRONG, tool_call_id="call1", status="error")
    history = [HumanMessage("item3?"), call("breaks"), failed]
    result = agent(WRONG, tools=[breaks]).invoke({"messages": history})
    assert result["hallucination"]["abstention"] == "NO_CONTEXT"


@pytest.mark.parametrize("nothing", [None, [], {}, "[]", "None"], ids=repr)
def test_a_tool_that_found_nothing_brings_nothing(nothing, heard):
    """What Python and JSON write for it is no document, to a callback handler as well."""

    @tool
    def looks_up(query: str):
        """Look up."""
        return nothing

    checked = agent(call("looks_up"), WRONG, tools=[looks_up])
    assert ask(checked)["hallucination"]["abstention"] == "NO_CONTEXT"
    create_agent(Script(responses=[call("looks_up"), AIMessage(WRONG)]), [looks_up]).invoke(
        {"messages": [HumanMessage("item3?")]}, listening(heard)
    )
    assert heard.only().problem is AbstentionReason.NO_CONTEXT
    assert heard.only().interaction.contexts == ()


def test_without_tools_nothing_is_called_clean():
    """An answer from the model's own memory is an abstention that says so."""
    result = ask(agent("item3 costs 3euro"))
    assert result["hallucination"]["abstention"] == "NO_CONTEXT"
    assert "no tool" in result["hallucination"]["reason"]


def test_a_model_that_ends_without_a_word_is_said_not_to_be_judged():
    """There is nothing to judge."""
    result = ask(agent(call(), ""))
    assert result["hallucination"]["abstention"] == "NO_CLAIMS"
    assert "no text" in result["hallucination"]["reason"]


def test_each_turn_is_judged_by_itself():
    """A conversation that is kept holds one verdict on each answer, and each turn's state the latest."""
    app = agent(call(), WRONG, call(n=2), RIGHT, "I said so.", checkpointer=InMemorySaver())
    results = [ask(app, question, config=ONCE) for question in ("item3?", "Again?", "Sure?")]
    assert [result["hallucination"]["hallucinated"] for result in results] == [True, False, None]
    answers = [m for m in results[-1]["messages"] if isinstance(m, AIMessage) and m.content]
    assert [m.response_metadata["hallucination"]["hallucinated"] for m in answers] == [True, False, None]


def test_the_verdict_of_an_earlier_turn_does_not_stay_beside_an_answer_that_has_none_yet():
    """Neither in a pause nor after an answer that was refused."""
    review = HumanInTheLoopMiddleware(interrupt_on={"search": {"allowed_decisions": ["approve"]}})
    judging = HallucinationMiddleware(checker=CHECKER, on_hallucination="raise")
    lines = [AIMessage("Hello"), call(), AIMessage(WRONG)]
    app = create_agent(
        Script(responses=lines), [search], middleware=[judging, review], checkpointer=InMemorySaver()
    )
    assert ask(app, "Hi", config=ONCE)["hallucination"]["status"] == "abstained"
    assert ask(app, config=ONCE)["hallucination"] is None
    with pytest.raises(HallucinationError):
        app.invoke(Command(resume={"decisions": [{"type": "approve"}]}), ONCE)
    state = app.get_state(ONCE).values
    assert (state["messages"][-1].text, state["hallucination"]) == (WRONG, None)


def test_what_is_judged_knows_the_question_and_the_conversation():
    """The question is the last one asked; what came before is history."""
    seen = []
    options = {"on_hallucination": lambda i, o: seen.append(i), "checkpointer": InMemorySaver()}
    app = agent(call(), WRONG, call(n=2), WRONG, **options)
    ask(app, "item3?", config=ONCE)
    ask(app, "Really?", config=ONCE)
    assert [i.question for i in seen] == ["item3?", "Really?"]
    assert [turn.text for turn in seen[1].history] == ["item3?", "item3 costs 3euro", WRONG]


SUMMARY = "Here is a summary of the conversation to date:\n\nitem3 was asked for"


def summed_up(keep, *said):
    """What is judged of an agent whose conversation is summed up before its third model call."""
    seen = []
    model = FakeListChatModel(responses=["item3 was asked for"])
    summing = SummarizationMiddleware(model, trigger=("messages", 5), keep=("messages", keep))
    judging = HallucinationMiddleware(checker=CHECKER, on_hallucination=lambda i, o: seen.append(i))
    app = create_agent(
        Script(responses=list(said)),
        [search],
        middleware=[summing, judging],
        checkpointer=InMemorySaver(),
    )
    return app, seen


def test_a_summary_of_earlier_turns_is_history_and_no_question():
    """LangChain writes it in a human's place; the question is the one that the user asked."""
    app, seen = summed_up(3, call(), AIMessage(WRONG), call(n=2), AIMessage(WRONG))
    ask(app, "item3?", config=ONCE)
    ask(app, "Really?", config=ONCE)
    assert [i.question for i in seen] == ["item3?", "Really?"]
    assert seen[1].history[0].text == SUMMARY
    assert [passage.text for passage in seen[1].contexts] == ["item3 costs 3euro"]


def test_a_turn_that_is_summed_up_midway_is_judged_by_what_is_left_of_it():
    """Its question is gone, and the summary is none; that tells what came before."""
    app, seen = summed_up(2, call(), call(n=2), AIMessage(WRONG))
    ask(app, "item3?", config=ONCE)
    (judged,) = seen
    assert (judged.question, [turn.text for turn in judged.history]) == ("", [SUMMARY])
    assert [passage.text for passage in judged.contexts] == ["item3 costs 3euro"]


def test_two_hundred_turns_at_once_keep_their_verdicts():
    """The middleware keeps nothing between calls."""

    @tool
    def price(query: str) -> str:
        """Find a price."""
        return f"{query} costs {query[4:]}euro"

    class Clerk(Script):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            name = next(m for m in messages if m.type == "human").content
            said = AIMessage(f"{name} costs {name[4:] if int(name[4:]) % 2 else 1000}euro")
            if messages[-1].type == "human":
                said = AIMessage("", tool_calls=[{"name": "price", "args": {"query": name}, "id": "1"}])
            return ChatResult(generations=[ChatGeneration(message=said)])

    async def every():
        middleware = [HallucinationMiddleware(checker=CHECKER)]
        app = create_agent(Clerk(responses=[]), [price], middleware=middleware)
        return await asyncio.gather(
            *(app.ainvoke({"messages": [HumanMessage(f"item{n}")]}) for n in range(200))
        )

    flagged = [r["hallucination"]["hallucinated"] for r in asyncio.run(every())]
    assert flagged == [n % 2 == 0 for n in range(200)]


# -- what is done about it


@pytest.mark.parametrize(
    "options", [{"on_hallucination": "warn"}, {"checker": Checker(Abstains()), "on_abstention": "warn"}]
)
def test_a_warning_is_no_part_of_the_answer_that_a_callback_hears(options):
    """It is not the model's, and would be judged as an invention of its own."""
    with GroundwireCallbackHandler(CHECKER, mode="inline") as handler:
        result = agent(call(), WRONG, **options).invoke(
            {"messages": [HumanMessage("What is item3?")]}, config={"callbacks": [handler]}
        )
    assert result["messages"][-1].content.startswith(f"{WRONG}\n\nThis answer ")
    (record,) = handler.outcomes
    assert record.interaction.answer == WRONG


def test_a_warning_is_appended_to_the_message():
    """The verdict's offsets still hold."""
    result = ask(agent(call(), WRONG, on_hallucination="warn"))
    assert result["messages"][-1].content == f"{WRONG}\n\n{result['hallucination']['warning']}"


def test_an_answer_is_replaced_in_the_conversation():
    """What was withheld is not in the state that is handed back and kept."""
    app = agent(call(), WRONG, on_hallucination="replace", replacement="Sorry.")
    result = ask(app)
    assert result["messages"][-1].content == "Sorry."
    assert WRONG not in [m.content for m in result["messages"]]


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("installed", [False, True])
def test_a_callback_keeps_and_judges_the_answer_that_was_withheld(installed, structured):
    """What stands in its place is nobody's answer, and the record is of what the model said."""
    app, handler = agent(call(), WRONG, **SORRY), GroundwireCallbackHandler(CHECKER, mode="inline")
    if structured:
        app = filling(call(), filled(ToolStrategy, costs="nothing"), **SORRY)
    given = {"messages": [HumanMessage("What does item3 cost?")]}
    if installed:
        handler.install()
    try:
        result = app.invoke(given, config={"callbacks": [] if installed else [handler]})
    finally:
        handler.uninstall()
    (record,) = handler.outcomes
    assert result["messages"][-1].text == "Sorry, ask at the desk."
    assert "nothing" in record.interaction.answer
    assert record.outcome.hallucinated
    assert record.outcome.score == result["hallucination"]["score"]


def test_a_wrapper_around_an_agent_does_not_judge_what_its_middleware_answers_instead():
    """As around any other check: the words are no model's."""
    checked = with_hallucination_check(agent(call(), WRONG, **SORRY), checker=CHECKER)
    result = ask(checked)
    assert result["messages"][-1].text == "Sorry, ask at the desk."
    assert result["hallucination"]["abstention"] == "NO_CLAIMS"
    assert "withheld" in result["hallucination"]["reason"]


def test_what_a_model_says_after_an_agent_that_withheld_its_answer_is_its_own():
    """It may pass on just what it was told instead: the withheld words are not what it said."""
    inner = agent(call(), WRONG, **SORRY)

    @tool
    def clerk(query: str) -> str:
        """Ask the clerk."""
        return ask(inner, query)["messages"][-1].text

    outer = create_agent(Script(responses=[call("clerk"), AIMessage("Sorry, ask at the desk.")]), [clerk])
    with GroundwireCallbackHandler(CHECKER, mode="inline") as handler:
        ask(outer, config={"callbacks": [handler]})
    assert all(record.interaction.answer != WRONG for record in handler.outcomes[-1:])


# -- words that no model said


class Guard(AgentMiddleware):
    """Answers instead of the model, in the message's own place or behind it."""

    def __init__(self, *, in_place=False):
        super().__init__()
        self._in_place = in_place

    @hook_config(can_jump_to=["end"])
    def after_model(self, state, runtime):
        last = state["messages"][-1]
        if last.tool_calls:
            return None
        said = AIMessage("Our opening hours are 9 to 5.", id=last.id if self._in_place else None)
        return {"messages": [said], "jump_to": "end"}


class Failing(Script):
    """A model that can't be reached once it has called its tool."""

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        if messages[-1].type == "tool":
            raise ConnectionError("gone")
        return super()._generate(messages, stop, run_manager, **kwargs)


CANNED = {
    "a limit of model calls": (Script, ModelCallLimitMiddleware(run_limit=1, exit_behavior="end")),
    "a limit of tool calls": (Script, ToolCallLimitMiddleware(run_limit=1, exit_behavior="end")),
    "a guard rail": (Script, Guard()),
    "a guard rail in place": (Script, Guard(in_place=True)),
    "a failed model": (Failing, ModelRetryMiddleware(max_retries=0, on_failure="continue")),
}


def canned(name, *ours):
    kind, theirs = CANNED[name]
    last = call(n=2) if "tool calls" in name else AIMessage(WRONG)
    return create_agent(kind(responses=[call(), last]), [search], middleware=[*ours, theirs])


@pytest.mark.parametrize("name", CANNED)
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_words_that_no_model_said_are_not_judged_and_not_replaced(name, colour):
    """Those of a limit or a guard rail are no answer, and say nothing that could be hallucinated."""
    app = canned(name, HallucinationMiddleware(checker=CHECKER, **SORRY))
    given = {"messages": [HumanMessage("item3?")]}
    result = app.invoke(given) if colour == "sync" else asyncio.run(app.ainvoke(given))
    assert result["hallucination"]["abstention"] == "NO_CLAIMS"
    assert "no model was heard to say this" in result["hallucination"]["reason"]
    assert result["messages"][-1].text not in ("", WRONG, "Sorry, ask at the desk.")
    assert set(result) == {"messages", "hallucination"}


@pytest.mark.parametrize("name", CANNED)
def test_a_callback_and_a_wrapper_do_not_judge_words_that_no_model_said(name):
    """They hear what each model said, and this was none."""
    with GroundwireCallbackHandler(CHECKER, mode="inline") as handler:
        ask(canned(name), config={"callbacks": [handler]})
    result = ask(with_hallucination_check(canned(name), checker=CHECKER, **SORRY))
    assert [record.outcome.why for record in handler.outcomes] == [AbstentionReason.NO_CLAIMS]
    assert result["hallucination"]["abstention"] == "NO_CLAIMS"
    assert result["messages"][-1].text != "Sorry, ask at the desk."


def test_a_limit_that_ends_a_retry_is_not_judged():
    """The draft was rejected, and nothing that a model said came after it."""
    middleware = HallucinationMiddleware(checker=CHECKER, on_hallucination="retry", after_retries="replace")
    limit = ModelCallLimitMiddleware(run_limit=2, exit_behavior="end")
    app = create_agent(Script(responses=[call(), AIMessage(WRONG)]), [search], middleware=[middleware, limit])
    result = ask(app)
    assert result["hallucination"]["abstention"] == "NO_CLAIMS"
    assert "limit" in result["messages"][-1].text
    assert WRONG not in [message.text for message in result["messages"]]


@pytest.mark.parametrize(
    "made",
    [
        lambda said: said.replace("nothing", "[PRICE]"),
        lambda said: f"{said}\n\nSources: the price list of May 2026, page 4; prices without warranty.",
    ],
)
def test_what_the_application_makes_of_a_model_s_words_is_judged(made):
    """A redaction and a list of sources leave it the model's answer."""
    draft = "item3 costs nothing at all, says the list of all prices in the shop"

    class Editing(AgentMiddleware):
        def after_model(self, state, runtime):
            last = state["messages"][-1]
            return None if last.tool_calls else {"messages": [AIMessage(made(draft), id=last.id)]}

    ours = HallucinationMiddleware(checker=CHECKER)
    app = create_agent(Script(responses=[call(), AIMessage(draft)]), [search], middleware=[ours, Editing()])
    with GroundwireCallbackHandler(CHECKER, mode="inline") as handler:
        result = ask(app, config={"callbacks": [handler]})
    assert result["hallucination"]["status"] == "checked"
    assert [record.interaction.answer for record in handler.outcomes] == [made(draft)]
    assert isinstance(handler.outcomes[0].outcome, Verdict)


def test_an_answer_from_a_cache_is_judged():
    """No model is heard where a middleware answers from an earlier run, and the words are a model's."""

    class Cache(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            asked = request.messages[-1].type == "human"
            return handler(request) if asked else AIMessage(WRONG)

    ours = HallucinationMiddleware(checker=CHECKER)
    result = ask(create_agent(Script(responses=[call()]), [search], middleware=[ours, Cache()]))
    assert result["hallucination"]["hallucinated"] is True


def test_raising_leaves_the_agent():
    """The error says what was judged."""
    with pytest.raises(HallucinationError) as caught:
        ask(agent(call(), WRONG, on_hallucination="raise"))
    assert caught.value.interaction.answer == WRONG


def test_a_gate_can_fail_closed():
    """What nobody could judge is refused if asked."""
    with pytest.raises(AbstainedError):
        ask(agent(RIGHT, on_abstention="raise"))


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_retry_goes_back_to_the_model(colour):
    """It is told which words were not supported; the draft and the note do not stay in the conversation."""
    heard = []

    class Listening(Script):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            heard.append(messages)
            return super()._generate(messages, stop, run_manager, **kwargs)

    app = create_agent(
        Listening(responses=[call(), AIMessage(WRONG), AIMessage(RIGHT)]),
        [search],
        middleware=[HallucinationMiddleware(checker=CHECKER, on_hallucination="retry")],
    )
    given = {"messages": [HumanMessage("item3?")]}
    result = app.invoke(given) if colour == "sync" else asyncio.run(app.ainvoke(given))
    assert '- "nothing"' in heard[-1][-1].content
    assert heard[-1][-2].content == WRONG
    assert [m.content for m in result["messages"]] == ["item3?", "", "item3 costs 3euro", RIGHT]
    assert result["hallucination"]["hallucinated"] is False


def test_a_retry_may_search_again():
    """What later searches bring counts as well."""
    drafts = [call(), AIMessage(WRONG), call(n=2), AIMessage(RIGHT)]
    result = ask(agent(*drafts, on_hallucination="retry"))
    assert [type(m) for m in result["messages"]] == [HumanMessage, *[AIMessage, ToolMessage] * 2, AIMessage]
    assert result["hallucination"]["hallucinated"] is False


def test_retries_end_and_start_afresh_in_each_turn():
    """A model that never learns is asked again as often as was said, in every turn."""
    drafts = [call(), WRONG, "item3 is free", "item3 is gratis"]
    again = [call(n=2), WRONG, "item3 is free", "item3 is gratis"]
    options = {"on_hallucination": "retry", "max_retries": 2, "after_retries": "warn"}
    app = agent(*drafts, *again, checkpointer=InMemorySaver(), **options)
    for question in ("item3?", "Really?"):
        result = ask(app, question, config=ONCE)
        assert result["messages"][-1].content.startswith("item3 is gratis\n\nThis answer says things")
    assert [m.content for m in result["messages"] if m.type == "human"] == ["item3?", "Really?"]


def test_streams_of_updates_bring_the_verdict():
    """It comes as the update of the middleware's own node."""
    updates = list(agent(call(), WRONG).stream({"messages": [HumanMessage("?")]}, stream_mode="updates"))
    (update,) = updates[-1].values()
    assert update["hallucination"]["hallucinated"] is True


def test_a_checker_that_is_switched_off_says_so():
    """The state still says that nothing was judged."""
    off = Checker(NovelWords(), policy=Policy(enabled=False))
    assert ask(agent(call(), WRONG, checker=off))["hallucination"]["abstention"] == "NOT_SAMPLED"


def test_the_verdict_is_no_input():
    """A caller can't hand a verdict in: the schema of what goes in does not have it."""
    app = agent(call(), WRONG)
    assert "hallucination" not in app.get_input_jsonschema()["properties"]
    assert "hallucination" in app.get_output_jsonschema()["properties"]


def test_every_mistake_is_named_at_once():
    """A middleware that can't work is refused when it is made."""
    with pytest.raises(ConfigurationError) as caught:
        HallucinationMiddleware(on_hallucination="explode", max_retries=0, attach="auto")
    assert len(caught.value.problems) == 3


# -- structured responses


class Price(BaseModel):
    """A price."""

    costs: str


@dataclass
class PriceData:
    """A price."""

    costs: str


class PriceDict(TypedDict):
    """A price."""

    costs: str


class Free(BaseModel):
    """What is free."""

    item: int


PRICE_SCHEMA = {
    "title": "PriceSchema",
    "description": "A price.",
    "type": "object",
    "properties": {"costs": {"type": "string"}},
}
SCHEMAS = {"Price": Price, "PriceData": PriceData, "PriceDict": PriceDict, "PriceSchema": PRICE_SCHEMA}
STRATEGIES = [ToolStrategy, ProviderStrategy]


class Listening(Script):
    """A Script that keeps what it was given to read, and makes each message anew, as a provider does."""

    heard: list = []  # noqa: RUF012 - a pydantic field, copied for each instance

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.heard.append(messages)
        result = super()._generate(messages, stop, run_manager, **kwargs)
        said = result.generations[0].message.model_copy(update={"id": None})
        return ChatResult(generations=[ChatGeneration(message=said)])


def filled(strategy, name="Price", n=9, **fields):
    """A model's message that fills the form in, as the strategy wants it."""
    if strategy is ProviderStrategy:
        return AIMessage(json.dumps(fields))
    return AIMessage("", tool_calls=[{"name": name, "args": fields, "id": f"form{n}"}])


def filling(*said, schema=Price, strategy=ToolStrategy, tools=(search,), checkpointer=None, **options):
    return create_agent(
        Listening(responses=[AIMessage(one) if isinstance(one, str) else one for one in said]),
        list(tools),
        middleware=[HallucinationMiddleware(**{"checker": CHECKER, **options})],
        response_format=strategy(schema),
        checkpointer=checkpointer,
    )


def run(app, colour, text="What does item3 cost?", **config):
    given = {"messages": [HumanMessage(text)]}
    return app.invoke(given, **config) if colour == "sync" else asyncio.run(app.ainvoke(given, **config))


both_colours = pytest.mark.parametrize("colour", ["sync", "async"])
both_strategies = pytest.mark.parametrize("strategy", STRATEGIES)


@both_strategies
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_structured_response_is_judged_by_its_text(name, strategy):
    """The one in which it is handed over, as the callback reads it, whatever it was asked for in."""
    heard, seen = Heard(), []
    script = [call(), filled(strategy, name, costs="nothing")]
    options = {"schema": SCHEMAS[name], "on_hallucination": lambda i, o: seen.append(i)}
    result = ask(filling(*script, strategy=strategy, **options), config={"callbacks": [heard]})
    for interaction in (seen[0], heard.only().interaction):
        assert interaction.question == "What does item3 cost?"
        assert json.loads(interaction.answer) == {"costs": "nothing"}
        assert [passage.text for passage in interaction.contexts] == [RIGHT]
    assert seen[0].answer == heard.only().interaction.answer
    (span,) = wire.decode(result["hallucination"]).spans
    assert span.of(seen[0].answer) == "nothing"
    assert result["messages"][-1].response_metadata["hallucination"] == result["hallucination"]


@both_strategies
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_structured_response_that_is_supported_passes(name, strategy):
    """It is the object that the model gave, and there is nothing to act on."""
    script = [call(), filled(strategy, name, costs="3euro")]
    result = ask(filling(*script, schema=SCHEMAS[name], strategy=strategy, on_hallucination="raise"))
    made = {"Price": Price(costs="3euro"), "PriceData": PriceData("3euro")}
    assert result["structured_response"] == made.get(name, {"costs": "3euro"})
    assert result["hallucination"]["hallucinated"] is False


@both_strategies
def test_of_a_structured_response_with_an_answer_that_is_judged(strategy):
    """As of every state that holds one under a usual key; the rest says what the application makes of it."""

    class Reply(BaseModel):
        """A reply."""

        answer: str
        sure: bool

    heard, seen = Heard(), []
    script = [call(), filled(strategy, "Reply", answer=WRONG, sure=True)]
    options = {"schema": Reply, "strategy": strategy, "on_hallucination": lambda i, o: seen.append(i)}
    ask(filling(*script, **options), config={"callbacks": [heard]})
    assert [seen[0].answer, heard.only().interaction.answer] == [WRONG, WRONG]


def test_what_a_model_says_beside_filling_in_a_form_is_not_the_answer():
    """The form is: its words are what is handed over."""
    heard = Heard()
    form = filled(ToolStrategy, costs="nothing")
    form.content = "I have looked it up and shall now fill in the form."
    result = ask(filling(call(), form), config={"callbacks": [heard]})
    assert [claim["text"] for claim in result["hallucination"]["claims"]] == ["nothing"]
    assert heard.only().interaction.answer == '{"costs":"nothing"}'


def test_a_structured_response_is_not_its_own_evidence():
    """Nor is what the model was told of one that did not fit, or was not supported, whatever its form."""
    seen = []
    script = [
        filled(ToolStrategy, "Free", 1, item="item3 costs nothing"),
        filled(ToolStrategy, "Free", 2, item=3),
        filled(ToolStrategy, "Price", 3, costs="nothing, item3 is Free"),
    ]
    options = {"on_hallucination": lambda i, o: seen.append(i) or "retry", "after_retries": "annotate"}
    result = ask(filling(call(), *script, schema=Price | Free, **options))
    assert [interaction.answer for interaction in seen] == [
        '{"item":3}',
        '{"costs":"nothing, item3 is Free"}',
    ]
    assert [[p.text for p in interaction.contexts] for interaction in seen] == [[RIGHT], [RIGHT]]
    assert result["hallucination"]["hallucinated"] is True
    alone = ask(filling(filled(ToolStrategy, costs="nothing")))
    assert alone["hallucination"]["abstention"] == "NO_CONTEXT"


def test_what_was_searched_beside_a_structured_response_is_no_evidence_for_it():
    """The model had not read it when it answered."""
    form = filled(ToolStrategy, costs="3euro")
    form.tool_calls += call().tool_calls
    result = ask(filling(form))
    assert result["hallucination"]["abstention"] == "NO_CONTEXT"
    assert result["messages"][-2].response_metadata["hallucination"] == result["hallucination"]


def test_a_structured_response_of_an_earlier_turn_is_not_judged_again():
    """It stays in the state where a later turn ends before any model is asked, unless that is withheld."""

    class Guard(AgentMiddleware):
        @hook_config(can_jump_to=["end"])
        def before_model(self, state, runtime):
            if "rude" in state["messages"][-1].text:
                return {"jump_to": "end", "messages": [AIMessage("Please be polite.")]}
            return None

    options = {"checker": CHECKER, "on_abstention": "replace", "replacement": "Sorry."}
    for strategy in STRATEGIES:
        app = create_agent(
            Listening(responses=[call(), filled(strategy, costs="nothing")]),
            [search],
            middleware=[HallucinationMiddleware(**options), Guard()],
            response_format=strategy(PRICE_SCHEMA | {"title": "Price"}),
            checkpointer=InMemorySaver(),
        )
        ask(app, config=ONCE)
        result = ask(app, "A rude word", config=ONCE)
        assert result["hallucination"]["abstention"] == "NO_CONTEXT"
        assert result["messages"][-1].text == "Sorry."
        assert result["structured_response"] is None


@both_strategies
def test_the_same_structured_response_in_two_turns_is_two_answers(strategy):
    """That the state holds it already does not make the second an old one."""
    heard = Heard()
    script = [call(), filled(strategy, costs="nothing")] * 2
    app = filling(
        *script, strategy=strategy, schema=PRICE_SCHEMA | {"title": "Price"}, checkpointer=InMemorySaver()
    )
    for question in ("item3?", "Really?"):
        assert (
            ask(app, question, config={**ONCE, "callbacks": [heard]})["hallucination"]["hallucinated"] is True
        )
    assert [captured.interaction.answer for captured in heard.captured] == ['{"costs": "nothing"}'] * 2


@both_colours
@both_strategies
def test_a_warning_leaves_a_structured_response_as_it_is(strategy, colour):
    """An object can't carry it; the message that stands for it does, and so does the verdict."""
    script = [call(), filled(strategy, costs="nothing")]
    result = run(filling(*script, strategy=strategy, on_hallucination="warn"), colour)
    assert result["structured_response"] == Price(costs="nothing")
    assert result["messages"][-1].text.endswith(f"\n\n{result['hallucination']['warning']}")
    assert result["hallucination"]["hallucinated"] is True


@both_colours
@both_strategies
def test_a_structured_response_that_is_replaced_is_none(strategy, colour):
    """What was withheld is not in the state that is handed back and kept; nobody takes None for an answer."""
    script = [call(), filled(strategy, costs="nothing")]
    kept = InMemorySaver()
    options = {"on_hallucination": "replace", "replacement": "Sorry.", "checkpointer": kept}
    app = filling(*script, strategy=strategy, **options)
    result = run(app, colour, config=ONCE)
    assert result["structured_response"] is None
    assert [type(m) for m in result["messages"]] == [HumanMessage, AIMessage, ToolMessage, AIMessage]
    said = result["messages"][-1]
    assert (said.text, said.tool_calls) == ("Sorry.", [])
    assert said.response_metadata["hallucination"] == result["hallucination"]
    state = app.get_state(ONCE).values
    assert state["structured_response"] is None
    assert "nothing" not in repr([(m.content, getattr(m, "tool_calls", None)) for m in state["messages"]])


@both_colours
@both_strategies
def test_a_structured_response_can_be_refused(strategy, colour):
    """The error says what was judged; what nobody could judge is refused, too, if asked."""
    app = filling(call(), filled(strategy, costs="nothing"), strategy=strategy, on_hallucination="raise")
    with pytest.raises(HallucinationError) as caught:
        run(app, colour)
    assert json.loads(caught.value.interaction.answer) == {"costs": "nothing"}
    with pytest.raises(AbstainedError):
        run(filling(filled(strategy, costs="3euro"), strategy=strategy, on_abstention="raise"), colour)


@both_strategies
def test_a_structured_response_that_nobody_could_judge_can_be_replaced(strategy):
    """It is withheld like one that was judged."""
    options = {"on_abstention": "replace", "replacement": "Sorry."}
    result = ask(filling(filled(strategy, costs="3euro"), strategy=strategy, **options))
    assert (result["structured_response"], result["messages"][-1].text) == (None, "Sorry.")


@both_colours
@both_strategies
def test_a_retry_ends_in_a_fresh_structured_response(strategy, colour):
    """The draft, what stands for its form, and the note leave the conversation."""
    script = [call(), filled(strategy, costs="nothing", n=1), filled(strategy, costs="3euro", n=2)]
    app = filling(*script, strategy=strategy, on_hallucination="retry")
    result = run(app, colour)
    assert result["structured_response"] == Price(costs="3euro")
    assert result["hallucination"]["hallucinated"] is False
    kept = [HumanMessage, AIMessage, ToolMessage, AIMessage] + [ToolMessage] * (strategy is ToolStrategy)
    assert [type(m) for m in result["messages"]] == kept
    assert "nothing" not in repr([(m.content, getattr(m, "tool_calls", None)) for m in result["messages"]])


def test_a_retried_model_reads_its_draft_and_the_note():
    """The note comes after what stands for the form, so that no call of the model's is left unanswered."""
    model = Listening(
        responses=[call(), filled(ToolStrategy, costs="nothing"), filled(ToolStrategy, costs="3euro")]
    )
    checking = HallucinationMiddleware(checker=CHECKER, on_hallucination="retry")
    ask(create_agent(model, [search], middleware=[checking], response_format=Price))
    draft, form, note = model.heard[-1][-3:]
    assert draft.tool_calls[0]["id"] == form.tool_call_id
    assert '- "nothing"' in note.content


def test_a_retry_that_ends_without_a_structured_response_hands_no_rejected_one_over():
    """What the model says instead is judged."""
    app = filling(call(), filled(ToolStrategy, costs="nothing"), "I can not say.", on_hallucination="retry")
    result = ask(app)
    assert result.get("structured_response") is None
    assert result["messages"][-1].text == "I can not say."
    assert [claim["text"] for claim in result["hallucination"]["claims"]] == ["I", "can", "not", "say"]


@both_strategies
def test_retries_of_structured_responses_end(strategy):
    """After as many as were said, what is to be done after them is done."""
    drafts = [filled(strategy, costs=price, n=n) for n, price in enumerate(("nothing", "little", "less"))]
    options = {
        "on_hallucination": "retry",
        "max_retries": 2,
        "after_retries": "replace",
        "replacement": "Sorry.",
    }
    result = ask(filling(call(), *drafts, strategy=strategy, **options))
    assert result["structured_response"] is None
    assert [m.text for m in result["messages"]] == ["What does item3 cost?", "", RIGHT, "Sorry."]


def test_a_retried_tool_that_answers_itself_leaves_no_call_unanswered():
    """With ``return_direct`` the draft is the call and the tool's message, and both are taken out."""
    result = ask(agent(call("ask_expert"), RIGHT, tools=[expert(direct=True)], on_hallucination="retry"))
    assert [m.text for m in result["messages"]] == ["What does item3 cost?", RIGHT]
    assert result["hallucination"]["hallucinated"] is False
