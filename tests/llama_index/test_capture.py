"""What is captured of real LlamaIndex applications: each answer once, with what belongs to it and no more."""

import asyncio
import gc
import inspect
import json
import threading
import time

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.instrumentation.dispatcher import instrument_tags
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import FactExtractionMemoryBlock, Memory
from llama_index.core.objects import ObjectIndex
from llama_index.core.program.function_program import get_function_tool
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import (
    CustomQueryEngine,
    RetrieverQueryEngine,
    RetryQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import RecursiveRetriever
from llama_index.core.schema import (
    ImageNode,
    IndexNode,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool, ToolMetadata, function_tool
from llama_index.core.tools.types import BaseToolAsyncAdapter
from llama_index.core.workflow import (
    Context,
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StopEvent,
    Workflow,
    step,
)
from llama_index.core.workflow.errors import WorkflowCancelledByUser
from llama_index_instrumentation import get_dispatcher
from pydantic import BaseModel

from groundwire import AbstentionReason, Role
from groundwire.judge.isolation import isolated
from groundwire.llama_index import Capture, CheckedQueryEngine, HallucinationEvaluator, values
from groundwire.llama_index.spans import SKIP
from tests.llama_index.apps import (
    AGENT_APPS,
    CHAT_APPS,
    FLOW_APPS,
    QUERY_APPS,
    ByHand,
    Fetched,
    First,
    Library,
    Oracle,
    Reply,
    Rewords,
    Steps,
    Structured,
    answer,
    as_tool,
    engine,
    look_up,
    memory,
    nodes,
    question,
    router,
    searching,
    simple_chat,
    sub_questions,
    texts,
    told,
    topic,
)
from tests.llama_index.test_query_engine import Breaks


def is_of(captured, app, n):
    """Whether a capture holds just what an application's answer about topic ``n`` has to hold."""
    seen = captured.interaction
    assert seen.question == app.question(n)
    assert [passage.text for passage in seen.contexts] == app.contexts(n)
    assert seen.answer == (app.claimed or app.answer)(n)
    assert seen.id == str(captured.run_id)
    assert captured.problem is None, captured.detail
    return True


def whole(stream):
    return "".join(stream.response_gen)


async def awhole(stream):
    return "".join([token async for token in stream.async_response_gen()])


QUERIES = {
    "query": lambda app, asked: app.build().query(asked),
    "aquery": lambda app, asked: asyncio.run(app.build().aquery(asked)),
    "a thread": lambda app, asked: asyncio.run(asyncio.to_thread(app.build().query, asked)),
}


@pytest.mark.parametrize("name", QUERY_APPS)
@pytest.mark.parametrize("way", QUERIES)
def test_every_query_engine_is_captured_once(name, way, heard):
    """All response modes, routers, sub-questions, custom engines; sync, async, in threads."""
    QUERIES[way](QUERY_APPS[name], question(7))
    assert is_of(heard.only(), QUERY_APPS[name], 7)
    assert heard.live_spans == 0


@pytest.mark.parametrize("name", [name for name, app in QUERY_APPS.items() if app.streams])
@pytest.mark.parametrize("way", ["stream", "astream", "str", "get_response"])
def test_every_query_stream_is_captured_when_it_is_read(name, way, heard):
    """Nothing is captured before its last token, and nothing of its words is lost to its reader."""
    app = QUERY_APPS[name]

    async def run():
        response = await app.build(streaming=True).aquery(question(7))
        assert heard.captured == []
        return await awhole(response)

    if way == "astream":
        assert asyncio.run(run()) == answer(7)
    else:
        response = app.build(streaming=True).query(question(7))
        assert heard.captured == []
        read = {"stream": whole, "str": str, "get_response": lambda r: r.get_response().response}[way]
        assert read(response) == answer(7)
    assert is_of(heard.only(), app, 7)


CHATS = {
    "chat": lambda engine, asked: engine.chat(asked),
    "achat": lambda engine, asked: asyncio.run(engine.achat(asked)),
    "stream_chat": lambda engine, asked: whole(engine.stream_chat(asked)),
    "astream_chat": lambda engine, asked: asyncio.run(_astream(engine, asked)),
}


async def _astream(engine, asked):
    return await awhole(await engine.astream_chat(asked))


def settled(heard):
    """Once the threads that write chat streams to memory have ended."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(10) if "write" in repr(getattr(thread, "_args", "")) else None
    return heard.only()


@pytest.mark.parametrize("name", CHAT_APPS)
@pytest.mark.parametrize("way", CHATS)
def test_every_chat_mode_is_captured_with_the_users_own_question(name, way, heard):
    """Not the condensed one; and the earlier turns, as far as the model was shown them, are its history."""
    CHATS[way](CHAT_APPS[name].build(), question(7))
    captured = settled(heard)
    assert is_of(captured, CHAT_APPS[name], 7)
    assert [(turn.role, turn.text) for turn in captured.interaction.history] == [
        (Role.USER, "Hello, topic0!"),
        (Role.ASSISTANT, "Hello."),
    ]


@pytest.mark.parametrize("way", CHATS)
def test_a_chat_without_nodes_has_no_context(way, heard):
    """An answer out of the model's own head is told as such, not as clean."""
    CHATS[way](simple_chat(), question(7))
    captured = settled(heard)
    assert captured.problem is AbstentionReason.NO_CONTEXT
    assert captured.interaction.answer == answer(7)
    assert len(captured.interaction.history) == 2


def test_a_history_that_is_given_counts(heard):
    """chat_history= of the call takes the memory's place."""
    given = [ChatMessage(role="user", content="topic5?"), ChatMessage(role="assistant", content="Yes.")]
    CHAT_APPS["condense question"].build().chat(question(7), chat_history=given)
    assert [turn.text for turn in heard.only().interaction.history] == ["topic5?", "Yes."]


class Remembers(Oracle):
    """Notes down what was said, for a memory."""

    def _message(self, messages, tools=()):
        return ChatMessage(role="assistant", content="<facts><fact>topic5 is old.</fact></facts>")


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_model_of_the_memory_takes_no_history_away(streaming, heard):
    """It is told of earlier turns once the question was put, or the answer given."""
    block = FactExtractionMemoryBlock(name="facts", llm=Remembers())
    kept = Memory.from_defaults(
        token_limit=24, chat_history_token_ratio=0.5, token_flush_size=5, memory_blocks=[block]
    )
    given = [ChatMessage(role="user", content="topic5?"), ChatMessage(role="assistant", content="Yes.")]
    await kept.aput_messages(given)
    chat = ContextChatEngine.from_defaults(Library(), llm=Oracle(), memory=kept)
    if streaming:
        response = await chat.astream_chat(question(7))
        assert [token async for token in response.async_response_gen()]
    else:
        await chat.achat(question(7))
    assert block.facts == ["topic5 is old."]
    assert [turn.text for turn in heard.only().interaction.history] == ["topic5?", "Yes."]


def runs_in_its_context():
    return "copy_context" in inspect.getsource(function_tool)


@pytest.mark.parametrize("name", AGENT_APPS)
async def test_every_agent_is_captured_once(name, heard):
    """The agent's own question and answer, with the documents and not a tool's retelling of them."""
    if name == "agent with an engine in a function" and not runs_in_its_context():
        pytest.skip("this core runs plain functions outside of the agent's context")
    await AGENT_APPS[name].build().run(user_msg=question(7))
    assert is_of(heard.only(), AGENT_APPS[name], 7)


async def test_an_agent_is_asked_by_a_message_or_the_last_of_a_conversation(heard):
    """Both are the question; what came before is its history."""
    await searching().run(user_msg=ChatMessage(role="user", content=question(7)))
    said = [ChatMessage(role="user", content="Hello."), ChatMessage(role="assistant", content="Yes?")]
    await searching().run(chat_history=[*said, ChatMessage(role="user", content=question(8))])
    first, second = heard.captured
    assert first.interaction.question == question(7)
    assert second.interaction.question == question(8)
    assert [turn.text for turn in second.interaction.history] == ["Hello.", "Yes?"]


async def test_a_tool_that_fails_brings_nothing(heard):
    """An error message is no evidence."""

    def broken(input: str) -> str:  # noqa: A002 - the argument's name is what the model is told
        """Look up."""
        raise ValueError(f"topic{topic(input)} is not here")

    await searching(FunctionTool.from_defaults(broken)).run(user_msg=question(7))
    assert heard.only().problem is AbstentionReason.NO_CONTEXT


async def in_words(input: str) -> str:  # noqa: A002 - the argument's name is what the model is told
    """Ask a model."""
    return "It says: " + str(await Oracle().acomplete(input))


async def as_a_dict(input: str) -> dict:  # noqa: A002 - as above
    """Ask a model."""
    return {"answer": f'"{await Oracle().acomplete(input)}"', "sure": True}


async def streamed(input: str) -> str:  # noqa: A002 - as above
    """Ask a model."""
    return [part.text async for part in await Oracle().astream_complete(input)][-1]


async def chatted(input: str) -> str:  # noqa: A002 - as above
    """Ask a model."""
    message = ChatMessage(role="user", content=input)
    return "".join([part.delta async for part in await Oracle().astream_chat([message])])


@pytest.mark.parametrize("asked", [in_words, as_a_dict, streamed, chatted])
async def test_what_a_model_says_in_a_tool_is_no_evidence_in_any_form(asked, heard):
    """Be it written as a structure, or streamed: then nobody has heard what it said."""
    await searching(FunctionTool.from_defaults(async_fn=asked)).run(user_msg=question(7))
    assert heard.only().problem is AbstentionReason.NO_CONTEXT


MADE_UP = "The topic7 weighs 99 kilos, and whoever is a member may carry two of them."

DRAFT = MADE_UP.replace("99 kilos", "5 kilos")


class Script(Oracle):
    """Makes the calls that it was given, one after the other, and then says what it has made up."""

    calls: list = []  # noqa: RUF012 - a pydantic field, copied for each instance

    def _message(self, messages, tools=()):
        if not self.calls:
            return ChatMessage(role="assistant", content=MADE_UP)
        name, arguments = self.calls.pop(0)
        call = {"id": str(len(self.calls)), "name": name, "input": arguments}
        return ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [call]})

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **kwargs):
        calls = response.message.additional_kwargs.get("tool_calls", [])
        return [ToolSelection(tool_id=c["id"], tool_name=c["name"], tool_kwargs=c["input"]) for c in calls]


def calling(*calls, tools):
    return FunctionAgent(name="clerk", tools=list(tools), llm=Script(calls=list(calls)))


def notes():
    """Tools that hand back what they were given, at once or one by way of the other."""
    kept = []

    def think(thought: str) -> str:
        """Think."""
        return thought

    def keep(note: str) -> dict:
        """Keep a note."""
        kept.append(note)
        return {"kept": note}

    def recall() -> str:
        """Recall all notes."""
        return "".join(f"* {note}\n" for note in kept)

    def edit(old: str, new: str) -> str:
        """Edit the latest note."""
        kept[-1] = kept[-1].replace(old, new)
        return "Note saved."

    return [FunctionTool.from_defaults(tool) for tool in (think, keep, recall, edit)]


@pytest.mark.parametrize("searched", [True, False])
@pytest.mark.parametrize(
    "calls",
    [
        [("think", {"thought": MADE_UP})],
        [("keep", {"note": MADE_UP}), ("recall", {})],
        [("keep", {"note": DRAFT}), ("edit", {"old": "5 kilos", "new": "99 kilos"}), ("recall", {})],
    ],
    ids=["a thought", "notes", "an edited note"],
)
async def test_what_a_model_tells_itself_by_a_tool_is_no_evidence(calls, searched, heard):
    """Be it kept by one tool, and returned by another; what was searched is."""
    first = [("look_up", {"input": "topic7"})] * searched
    tools = [FunctionTool.from_defaults(look_up), *notes()]
    await calling(*first, *calls, tools=tools).run(user_msg=question(7))
    assert heard.only().interaction.answer == MADE_UP
    found = [look_up("topic7")] if searched else []
    assert [passage.text for passage in heard.only().interaction.contexts] == found
    assert heard.only().problem is (None if searched else AbstentionReason.NO_CONTEXT)


@pytest.mark.parametrize("asked", ["a model", "an engine"])
async def test_what_a_model_said_in_an_earlier_tool_is_no_evidence_when_another_recalls_it(asked, heard):
    """As where agents share notes; a document that says the same is."""
    kept = []

    async def study(input: str) -> str:  # noqa: A002 - as above
        """Study a topic, and keep what came of it."""
        invents = Oracle(reply=lambda n: f"It weighs {n}99 kilos.")
        if asked == "an engine":
            kept.append(str(await engine(llm=invents).aquery(input)))
        else:
            await Library().aretrieve(input)
            kept.append(str(await invents.acomplete(input)))
        return "Done."

    def recall() -> dict:
        """Recall what was kept."""
        return {"notes": kept}

    def read() -> str:
        """Read another document."""
        return f"From a book: {texts(7)[0]}"

    calls = [("study", {"input": question(7)}), ("recall", {}), ("read", {})]
    tools = [FunctionTool.from_defaults(async_fn=study), *map(FunctionTool.from_defaults, (recall, read))]
    await calling(*calls, tools=tools).run(user_msg=question(7))
    shown = [passage.text for passage in heard.only().interaction.contexts]
    assert (kept, shown) == (["It weighs 799 kilos."], [*told(7), read()])


class Load(BaseModel):
    kilos: int
    load: str


class FillsAtTheEnd(Script):
    """Fills a form at the end, by a call of it."""

    def _message(self, messages, tools=()):
        if tools and tools[0].metadata.name == "Load":
            self.calls.append(("Load", {"kilos": 99, "load": "topic7"}))
        return super()._message(messages, tools)


@pytest.mark.parametrize("searched", [True, False])
async def test_a_form_that_an_agent_fills_at_its_end_is_no_evidence_for_itself(searched, heard):
    """LlamaIndex has the model call it as a tool, which returns it; it may be of a few words."""
    calls = [("look_up", {"input": "topic7"})] * searched
    tools = [FunctionTool.from_defaults(look_up)]
    agent = FunctionAgent(
        name="clerk", description="d", tools=tools, llm=FillsAtTheEnd(calls=calls), output_cls=Load
    )
    await agent.run(user_msg=question(7))
    assert json.loads(heard.only().interaction.answer) == {"kilos": 99, "load": "topic7"}
    found = [look_up("topic7")] if searched else []
    assert [passage.text for passage in heard.only().interaction.contexts] == found
    assert heard.only().problem is (None if searched else AbstentionReason.NO_CONTEXT)


async def test_a_form_by_which_an_agent_hands_in_its_answer_is_no_evidence(heard):
    """As one of its tools, where that is the only one that it calls."""
    calls = [("Load", {"kilos": 99, "load": "topic7"})]
    await calling(*calls, tools=[get_function_tool(Load)]).run(user_msg=question(7))
    assert heard.only().problem is AbstentionReason.NO_CONTEXT


@pytest.mark.parametrize("schema", [Load, None])
async def test_a_form_that_a_tool_completes_is_evidence(schema, heard):
    """It was given some of its fields, and looked the others up."""

    def weigh(load: str) -> Load:
        """Weigh a load."""
        return Load(load=load, kilos=topic(load))

    tools = [FunctionTool.from_defaults(look_up), FunctionTool.from_defaults(weigh, fn_schema=schema)]
    calls = [("look_up", {"input": "topic7"}), ("weigh", {"load": "topic7"})]
    await calling(*calls, tools=tools).run(user_msg=question(7))
    found = [look_up("topic7"), "kilos=7 load='topic7'"]
    assert [passage.text for passage in heard.only().interaction.contexts] == found


async def test_a_search_that_repeats_its_query_brings_the_rest(heard):
    """A few words that stand in what was found for them stay there."""

    def search(query: str) -> str:
        """Search."""
        return f"{query}: topic7 weighs 7 kilos."

    query = "How much does topic7 weigh where people have weighed it?"
    calls = [("search", {"query": query}), ("search", {"query": "topic7 weighs 7"})]
    await calling(*calls, tools=[FunctionTool.from_defaults(search)]).run(user_msg=question(7))
    assert [" ".join(passage.text.split()) for passage in heard.only().interaction.contexts] == [
        "?: topic7 weighs 7 kilos.",
        "topic7 weighs 7: topic7 weighs 7 kilos.",
    ]


@pytest.mark.parametrize("kind", [FunctionTool, BaseToolAsyncAdapter, QueryEngineTool])
async def test_a_tool_that_answers_the_user_itself_is_no_evidence(kind, heard):
    """``return_direct``: what it found is, and there may be nothing."""
    if kind is QueryEngineTool:
        tool = as_tool(return_direct=True)
    else:
        tool = FunctionTool.from_defaults(look_up, return_direct=True)
        tool = tool if kind is FunctionTool else kind(tool)
    await searching(tool).run(user_msg=question(7))
    if kind is QueryEngineTool:
        assert is_of(heard.only(), AGENT_APPS["agent with an engine"], 7)
    else:
        assert heard.only().interaction.answer == look_up("topic7")
        assert heard.only().problem is AbstentionReason.NO_CONTEXT


async def test_what_others_brought_is_evidence_for_a_tool_that_answers_the_user_itself(heard):
    """Its answer is held against what was looked up before."""

    def tell(said: str) -> str:
        """Tell the user."""
        return said

    tools = [FunctionTool.from_defaults(look_up), FunctionTool.from_defaults(tell, return_direct=True)]
    calls = [("look_up", {"input": "topic7"}), ("tell", {"said": "It weighs 9 kilos."})]
    await calling(*calls, tools=tools).run(user_msg=question(7))
    assert heard.only().interaction.answer == "It weighs 9 kilos."
    assert [passage.text for passage in heard.only().interaction.contexts] == [look_up("topic7")]


@pytest.mark.parametrize("together", [False, True])
async def test_the_tools_that_an_agent_looks_up_are_no_evidence(together, heard):
    """Their descriptions tell it how to search; nobody has found them for the question."""
    index = ObjectIndex.from_objects([FunctionTool.from_defaults(look_up)], index_cls=VectorStoreIndex)
    agent = FunctionAgent(
        name="clerk", description="Answers.", tool_retriever=index.as_retriever(), llm=Script(calls=[])
    )
    app = AgentWorkflow(agents=[agent], root_agent="clerk") if together else agent
    await app.run(user_msg=question(7))
    assert heard.only().problem is AbstentionReason.NO_CONTEXT
    assert heard.only().interaction.contexts == ()
    agent.llm.calls.append(("look_up", {"input": "topic7"}))
    await app.run(user_msg=question(7))
    assert [passage.text for passage in heard.captured[1].interaction.contexts] == [look_up("topic7")]


@pytest.mark.parametrize("asked", ["A title for: ", "Is this rude? ", "condense"])
def test_an_answer_is_held_against_what_its_model_was_told(asked, heard):
    """Whatever a model is asked of the answer afterwards, or was asked of the nodes before."""

    class Helped(CustomQueryEngine):
        def custom_query(self, query_str):
            shown = "\n".join(node.node.get_content() for node in Library().retrieve(query_str))
            if asked == "condense":
                notes = Oracle(reply=lambda n: f"Notes on topic{n}: kilos, of which it has {n}.")
                shown = str(notes.complete(f"From this: {shown}\n{query_str}"))
            said = str(Oracle().complete(f"From this: {shown}\n{query_str}"))
            if asked != "condense":
                Oracle(reply=lambda n: "Weights").complete(f"{asked}{said}")
            return f"{said} [1]"

    Helped().query(question(7))
    assert [passage.text for passage in heard.only().interaction.contexts] == told(7)


def test_a_streamed_answer_is_not_taken_for_that_of_a_model_before_it(heard):
    """Nobody knows what a stream said, and a rewritten question is like its answer."""

    class Streamed(CustomQueryEngine):
        def custom_query(self, query_str):
            asked = str(Oracle(reply=lambda n: f"{answer(n)} Is that so?").complete(query_str))
            shown = "\n".join(node.node.get_content() for node in Library().retrieve(asked))
            return [part.text for part in Oracle().stream_complete(f"From this: {shown}\n{asked}")][-1]

    Streamed().query(question(7))
    assert [passage.text for passage in heard.only().interaction.contexts] == told(7)


async def test_what_a_model_says_in_a_tool_is_no_evidence(heard):
    """Be it called at once or as an agent; what an inner agent's own tool says is."""

    async def by_heart(input: str) -> str:  # noqa: A002 - the argument's name is what the model is told
        """Ask a model."""
        return "It says: " + str(await Oracle().acomplete(input))

    async def inner(input: str) -> str:  # noqa: A002 - as above
        """Ask an agent."""
        return str(await searching(FunctionTool.from_defaults(look_up)).run(user_msg=input))

    await searching(FunctionTool.from_defaults(async_fn=by_heart)).run(user_msg=question(7))
    await searching(FunctionTool.from_defaults(async_fn=inner)).run(user_msg=question(8))
    first, second = heard.captured
    assert first.problem is AbstentionReason.NO_CONTEXT
    assert [passage.text for passage in second.interaction.contexts] == [look_up(question(8))]


@pytest.mark.parametrize("rewrites", [False, True])
async def test_a_workflow_that_keeps_its_question_itself_is_asked_what_it_looked_up_first(rewrites, heard):
    """As one that is made for each question; a query that the model is not told of may be anything."""

    class Holds(Workflow):
        @step
        async def tell(self, ev: StartEvent) -> StopEvent:
            found = await Library().aretrieve("topic7 kilos" if rewrites else question(7))
            found += await Library().aretrieve("topic7 colour")
            prompt = "\n".join([*(node.node.get_content() for node in found), question(7)])
            return StopEvent(result=str(await Oracle().acomplete(prompt)))

    await Holds(timeout=20).run()
    assert heard.only().interaction.question == ("" if rewrites else question(7))


class Named(StartEvent):
    request: str
    most: int = 3


@pytest.mark.parametrize(
    "given",
    [
        {"request": question(7)},
        {"request": question(7), "user": "Jane Roe, of the office", "id": "7"},
        {"request": "Tell me about it.", "question": question(7)},
        {"start_event": Named(request=question(7))},
        {"start_event": StartEvent(request=question(7))},
    ],
    ids=["its only text", "the one a model was told", "a usual name", "an event of its own", "a plain event"],
)
async def test_a_workflow_is_asked_by_a_usual_name_or_by_the_text_that_its_model_is_told(given, heard):
    """Whatever its start event calls it."""

    class Requested(Workflow):
        @step
        async def tell(
            self, ev: Named if isinstance(given.get("start_event"), Named) else StartEvent
        ) -> StopEvent:
            found = await Library().aretrieve(question(7))
            return StopEvent(result=str(await Oracle().acomplete(f"{found[0].text}\n{question(7)}")))

    await Requested(timeout=20).run(**given)
    assert heard.only().interaction.question == question(7)


@pytest.mark.parametrize(
    ("given", "turns"),
    [
        ([{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Yes?"}], 2),
        ("user: Hello.\nassistant: Yes?", 2),
        ([("Hello.", "Yes?"), None, {"role": []}], 0),
    ],
    ids=["dicts", "a text", "pairs"],
)
async def test_a_workflow_may_be_given_its_history_in_any_form(given, turns, heard):
    """What can't be read costs the history, and never the answer."""
    await FLOW_APPS["workflow by hand"].build(timeout=20).run(query=question(7), chat_history=given)
    assert is_of(heard.only(), FLOW_APPS["workflow by hand"], 7)
    assert [turn.text for turn in heard.only().interaction.history] == ["Hello.", "Yes?"][:turns]


@pytest.mark.parametrize("name", FLOW_APPS)
async def test_plain_workflows_are_captured(name, heard):
    """By the engine inside where there is one, else by what was retrieved and what came out."""
    await FLOW_APPS[name].build(timeout=20).run(query=question(7))
    assert is_of(heard.only(), FLOW_APPS[name], 7)


async def test_a_workflow_that_answers_nothing_is_no_answer(heard):
    """One may search to other ends, and return no text."""

    class Counts(Workflow):
        @step
        async def count(self, ev: StartEvent) -> StopEvent:
            await Oracle().acomplete(ev.query)
            return StopEvent(result={"found": len(await Library().aretrieve(ev.query))})

    class Finds(Workflow):
        @step
        async def find(self, ev: StartEvent) -> StopEvent:
            return StopEvent(result=(await Library().aretrieve(ev.query))[0].node.text)

    await Counts(timeout=20).run(query=question(7))
    await Finds(timeout=20).run(query=question(7))
    assert heard.captured == []


def test_an_engine_that_serves_a_retriever_is_no_answer(heard):
    """What it says becomes a node, and no user has asked it."""

    class Asks(Library):
        def _retrieve(self, query_bundle):
            text = str(engine().query(query_bundle))
            return [NodeWithScore(node=TextNode(text=text), score=1.0)]

    Asks().retrieve(question(7))
    assert heard.captured == []


def by_objects(inner):
    """A retriever whose index holds an engine."""
    return VectorStoreIndex(objects=[IndexNode(text="All topics", index_id="all", obj=inner)]).as_retriever()


def by_names(inner):
    """A retriever that goes from an index to an engine."""
    index = VectorStoreIndex([IndexNode(text="All topics", index_id="all")])
    return RecursiveRetriever("index", {"index": index.as_retriever()}, query_engine_dict={"all": inner})


@pytest.mark.parametrize("recursive", [by_objects, by_names])
@pytest.mark.parametrize("inner", [engine, lambda: engine(streaming=True)], ids=["whole", "streaming"])
@pytest.mark.parametrize(
    "asked",
    [
        lambda retriever: engine(retriever=retriever).query(question(7)),
        lambda retriever: CheckedQueryEngine(engine(retriever=retriever)).query(question(7)),
        lambda retriever: TransformQueryEngine(engine(retriever=retriever), Rewords()).query(question(7)),
    ],
    ids=["engine", "checked", "inside another"],
)
def test_what_an_engine_in_a_retriever_says_is_no_evidence(recursive, inner, asked, heard):
    """Its answer comes as a node; the nodes that it was answered from are the evidence."""
    asked(recursive(inner()))
    assert [passage.text for passage in heard.only().interaction.contexts] == told(7)


async def test_what_an_engine_in_a_tool_s_retriever_says_is_no_evidence(heard):
    """Nor where an agent is told of it."""
    tool = RetrieverTool.from_defaults(by_names(engine()), name="library", description="All topics.")
    await searching(tool).run(question(7))
    assert [passage.text for passage in heard.only().interaction.contexts] == told(7)


def test_what_a_model_in_a_retriever_writes_is_no_evidence(heard):
    """It may have made the node up; what was found for it is the evidence."""

    class Condenses(Library):
        def _retrieve(self, query_bundle):
            found = Library().retrieve(query_bundle)
            said = Oracle().complete("\n".join(node.text for node in found)).text
            return [NodeWithScore(node=TextNode(text=said), score=1.0)]

    engine(retriever=Condenses()).query(question(7))
    assert [passage.text for passage in heard.only().interaction.contexts] == told(7)


def test_a_query_that_a_model_in_a_retriever_writes_makes_up_no_node(heard):
    """What was found for it is evidence, whatever words they share."""

    class Rewrites(Library):
        def _retrieve(self, query_bundle):
            query = Oracle(reply=lambda n: texts(n)[0]).complete(query_bundle.query_str).text
            return nodes(topic(query))[1:]

    engine(retriever=Rewrites()).query(question(7))
    assert [passage.text for passage in heard.only().interaction.contexts] == told(7)[1:]


def test_what_an_engine_in_a_retriever_computes_stays(heard):
    """No model has said it, and nothing else is known of it."""

    class Counts(CustomQueryEngine):
        def custom_query(self, query_str):
            return Response("There are 3 things to say about topic7.")

    engine(retriever=by_objects(Counts())).query(question(7))
    (passage,) = heard.only().interaction.contexts
    assert passage.text == "There are 3 things to say about topic7."


def chatted_back(said):
    return ChatResponse(message=ChatMessage(role="assistant", content=said))


@pytest.mark.parametrize(
    "form",
    [
        lambda said: ("title", said),
        lambda said: [said],
        lambda said: {"reply": said},
        lambda said: {"a": {"b": said}},
        lambda said: {"response": chatted_back(said), "sources": []},
        lambda said: {"reply": [CompletionResponse(text=said)]},
        lambda said: {"result": "success", "reply": said},
        lambda said: {"output": "The report has been written.", "body": {"text": said}},
    ],
    ids=[
        "a pair",
        "a list",
        "a key of its own",
        "nested",
        "a response under a usual key",
        "under another",
        "beside a word",
        "beside a sentence",
    ],
)
async def test_a_workflow_may_return_its_answer_in_any_form(form, heard):
    """What its model said and stands there is the answer."""

    class Shaped(Steps):
        @step
        async def tell(self, ev: Fetched) -> StopEvent:
            shown = "\n".join(node.node.get_content() for node in ev.found)
            return StopEvent(result=form(str(await Oracle().acomplete(f"From this: {shown}\n{ev.asked}"))))

    await Shaped(timeout=20).run(query=question(7))
    assert is_of(heard.only(), FLOW_APPS["workflow by hand"], 7)


@pytest.mark.parametrize(
    ("made", "stated"),
    [
        (lambda said: {"result": f"So: {said.upper()} Good luck!", "raw": said}, None),
        (lambda said: {"result": "7 kilos", "raw": said}, "7 kilos"),
        (lambda said: {"answer": "More than 6, less than 8.", "raw": said}, "More than 6, less than 8."),
        (lambda said: {"result": "Seven of them.", "one": said, "two": f"topic7? {said}"}, "Seven of them."),
    ],
    ids=["edited", "a part", "named the answer", "one of two"],
)
async def test_what_a_workflow_makes_of_its_models_words_stays_its_answer(made, stated, heard):
    """The words themselves may be returned beside it."""

    class Edits(Steps):
        @step
        async def tell(self, ev: Fetched) -> StopEvent:
            shown = "\n".join(node.node.get_content() for node in ev.found)
            await Oracle(reply=lambda n: f"topic{n}? {answer(n)}").acomplete(f"{shown}\n{ev.asked}")
            return StopEvent(result=made(str(await Oracle().acomplete(f"{shown}\n{ev.asked}"))))

    await Edits(timeout=20).run(query=question(7))
    assert heard.only().interaction.answer == (stated or f"So: {answer(7).upper()} Good luck!")


async def test_a_query_that_a_model_has_written_is_not_the_answer_beside_it(heard):
    """It was told of no document."""

    class Rewrites(Workflow):
        @step
        async def tell(self, ev: StartEvent) -> StopEvent:
            query = str(await Oracle(reply=lambda n: f"How heavy is topic{n}?").acomplete(ev.query))
            found = await Library().aretrieve(query)
            await Oracle().acomplete(found[0].node.get_content())
            return StopEvent(result={"result": "Seven.", "query": query})

    await Rewrites(timeout=20).run(query=question(7))
    assert heard.only().interaction.answer == "Seven."


class Loaded(BaseModel):
    answer: str
    kilos: int


@pytest.mark.parametrize(
    ("form", "shape", "stated"),
    [
        (Load(kilos=99, load="topic7"), lambda form: form, {"kilos": 99, "load": "topic7"}),
        (Load(kilos=99, load="topic7"), lambda form: form.model_dump(), {"kilos": 99, "load": "topic7"}),
        (
            Load(kilos=99, load="topic7"),
            lambda form: {"load": form, "sources": ["7.md"]},
            {"kilos": 99, "load": "topic7"},
        ),
        (Loaded(answer="See there.", kilos=99), lambda form: form, {"answer": "See there.", "kilos": 99}),
    ],
    ids=["as it is", "as a dict", "under a key", "with an answer beside others"],
)
async def test_a_workflow_may_return_a_form_that_its_model_has_filled(form, shape, stated, heard):
    """It is judged as a whole, as an engine's is."""

    class Says(Oracle):
        @get_dispatcher().span
        async def astructured_predict(self, output_cls, prompt, **prompt_args):
            return form

    class Formed(Steps):
        @step
        async def tell(self, ev: Fetched) -> StopEvent:
            shown = "\n".join(node.node.get_content() for node in ev.found)
            prompt = PromptTemplate("From this: {shown}\n{asked}")
            said = await Says().astructured_predict(type(form), prompt, shown=shown, asked=ev.asked)
            return StopEvent(result=shape(said))

    await Formed(timeout=20).run(query=question(7))
    seen = heard.only().interaction
    assert (json.loads(seen.answer), seen.question) == (stated, question(7))
    assert [passage.text for passage in seen.contexts] == told(7)


async def test_a_workflow_that_reads_its_model_s_stream_may_return_the_last_response(heard):
    """Under a usual key; its text is that of the whole stream."""

    class Reads(Steps):
        @step
        async def tell(self, ev: Fetched) -> StopEvent:
            shown = "\n".join(node.node.get_content() for node in ev.found)
            messages = [ChatMessage(role="user", content=f"From this: {shown}\n{ev.asked}")]
            async for last in await Oracle().astream_chat(messages):
                response = last
            return StopEvent(result={"response": response})

    await Reads(timeout=20).run(query=question(7))
    assert is_of(heard.only(), FLOW_APPS["workflow by hand"], 7)


async def test_a_stream_that_a_workflow_returns_is_left_to_its_reader(heard, caplog):
    """Whatever can be gone through only once is not gone through; that nothing is judged is told."""

    class Streams(Steps):
        @step
        async def tell(self, ev: Fetched) -> StopEvent:
            said = str(await Oracle().acomplete(f"From this: {ev.found[0].node.text}\n{ev.asked}"))
            return StopEvent(result=iter(said.split()))

    result = await Streams(timeout=20).run(query=question(7))
    assert list(result) == answer(7).split()
    assert heard.captured == []
    (told_once,) = caplog.messages
    assert "a model streamed its answer" in told_once


async def test_what_a_workflow_made_of_a_stream_is_told_of_where_it_is_not_read(heard, caplog):
    """Under no usual key, nothing tells that it is what the model said."""

    class Shaped(Steps):
        @step
        async def tell(self, ev: Fetched) -> StopEvent:
            said = [part async for part in await Oracle().astream_complete(f"From {ev.found}: {ev.asked}")]
            return StopEvent(result={"reply": said[-1].text})

    await Shaped(timeout=20).run(query=question(7))
    assert heard.captured == []
    (told_once,) = caplog.messages
    assert "return its text as the result" in told_once


async def test_two_texts_of_models_under_no_usual_key_are_no_answer(heard):
    """An answer and a title: nothing tells which is which."""

    class Both(Steps):
        @step
        async def tell(self, ev: Fetched) -> StopEvent:
            shown = "\n".join(node.node.get_content() for node in ev.found)
            said = str(await Oracle().acomplete(f"From this: {shown}\n{ev.asked}"))
            title = str(await Oracle(reply=lambda n: f"On topic{n}").acomplete(f"A title for: {said}"))
            return StopEvent(result={"reply": said, "title": title})

    await Both(timeout=20).run(query=question(7))
    assert heard.only().problem is AbstentionReason.NO_CLAIMS


@pytest.mark.parametrize("shown", ["none", "in other words"])
def test_nodes_that_stand_in_a_prompt_in_no_words_were_not_seen(shown, heard):
    """An engine that throws out all that was found answers by heart."""

    class Sifts(CustomQueryEngine):
        def custom_query(self, query_str):
            found = Library().retrieve(query_str)
            words = [" ".join(reversed(node.node.get_content().split())) for node in found]
            prompt = "\n".join(words if shown != "none" else [])
            return str(Oracle().complete(f"From this: {prompt}\n{query_str}"))

    Sifts().query(question(7))
    problem = AbstentionReason.NO_CONTEXT if shown == "none" else None
    assert (heard.only().problem, len(heard.only().interaction.contexts)) == (problem, 0 if problem else 3)


async def test_a_workflow_whose_model_is_not_heard_says_so_once(heard, caplog):
    """A provider's own client answers it; one that only searches, or counts, is nothing to tell of."""

    class Elsewhere(Workflow):
        @step
        async def tell(self, ev: StartEvent) -> StopEvent:
            found = await Library().aretrieve(ev.query)
            only = {"search": found[0].node.text, "count": {"found": len(found)}}
            return StopEvent(result=only.get(ev.mode, "Seven kilos, and blue."))

    for mode in ("search", "count"):
        await Elsewhere(timeout=20).run(query=question(7), mode=mode)
    assert caplog.messages == []
    for _ in range(2):
        await Elsewhere(timeout=20).run(query=question(7), mode="answer")
    (told_once,) = caplog.messages
    assert "no model was heard" in told_once
    assert heard.captured == []


@pytest.mark.parametrize("last", ["text", "keyed", "beside a status"])
async def test_what_a_workflow_s_model_makes_of_engines_answers_is_told_of(last, heard, caplog):
    """The engines' answers are judged, and nobody is to take that for a verdict on the last one."""

    class Combines(Workflow):
        @step
        async def combine(self, ev: StartEvent) -> StopEvent:
            parts = [str(await engine().aquery(f"{part} {ev.query}")) for part in ("First:", "Then:")]
            if ev.last == "joined":
                return StopEvent(result=" ".join(parts))
            said = str(await Oracle(reply=lambda n: f"All of topic{n}.").acomplete("\n".join(parts)))
            return StopEvent(result=forms[ev.last](said, parts[0]))

    forms = {
        "text": lambda said, _: said,
        "keyed": lambda said, _: {"answer": said},
        "beside a status": lambda said, _: {"result": "ok", "reply": said},
        "as a title": lambda said, first: {"result": first, "title": said},
    }
    await Combines(timeout=20).run(query=question(7), last="joined")
    await Combines(timeout=20).run(query=question(7), last="as a title")
    assert "what was made of them" not in caplog.text
    await Combines(timeout=20).run(query=question(7), last=last)
    await Combines(timeout=20).run(query=question(7), last=last)
    assert len(heard.captured) == 8
    assert caplog.text.count("what was made of them") == 1


@pytest.mark.parametrize("made", [True, False])
async def test_what_a_workflow_s_model_streams_of_engines_answers_is_told_of(made, heard, caplog):
    """As agents do that are workflows of one's own; engines' answers beside a stream are none of its."""

    class Streams(Workflow):
        @step
        async def stream(self, ev: StartEvent) -> StopEvent:
            parts = [str(await engine().aquery(f"{part} {ev.query}")) for part in ("First:", "Then:")]
            said = await Oracle(reply=lambda n: f"All of topic{n}.").astream_complete(ev.query)
            last = [one async for one in said][-1]
            return StopEvent(result={"response": last if made else " ".join(parts)})

    await Streams(timeout=20).run(query=question(7))
    assert len(heard.captured) == 2
    assert ("what was made of them" in caplog.text) is made


async def test_a_workflow_s_answer_that_can_t_be_read_is_told_of(heard, caplog):
    """One that code has edited, under no usual key; a list of what was found is nothing to tell of."""

    class Edits(Steps):
        @step
        async def tell(self, ev: Fetched) -> StopEvent:
            shown = "\n".join(node.node.get_content() for node in ev.found)
            said = str(await Oracle().acomplete(f"From this: {shown}\n{ev.asked}"))
            reply = {"reply": f"Dear guest, {said}"} if "Dear" in ev.asked else {"number": len(said)}
            return StopEvent(result={**reply, "sources": [node.node.get_content() for node in ev.found]})

    await Edits(timeout=20).run(query=question(7))
    assert caplog.messages == []
    for _ in range(2):
        await Edits(timeout=20).run(query=f"Dear all! {question(7)}")
    (told_once,) = caplog.messages
    assert 'under a key such as "answer"' in told_once
    assert heard.captured == []


@pytest.mark.parametrize("streams", [False, True])
async def test_an_answer_that_a_workflow_tells_by_events_alone_is_told_of(streams, heard, caplog):
    """It returns nothing, as one does that a server listens to."""

    class Token(Event):
        text: str

    class Tells(Steps):
        @step
        async def tell(self, ctx: Context, ev: Fetched) -> StopEvent:
            prompt = "\n".join([*(node.node.get_content() for node in ev.found), ev.asked])
            if streams:
                async for one in await Oracle().astream_complete(prompt):
                    ctx.write_event_to_stream(Token(text=one.delta))
            else:
                ctx.write_event_to_stream(Token(text=str(await Oracle().acomplete(prompt))))
            return StopEvent()

    for _ in range(2):
        await Tells(timeout=20).run(query=question(7))
    (told_once,) = caplog.messages
    assert "returned nothing that the model said" in told_once
    assert heard.captured == []


async def test_a_workflow_that_looks_and_asks_no_model_of_it_is_nothing_to_tell_of(heard, caplog):
    class Looks(Steps):
        @step
        async def tell(self, ev: Fetched) -> StopEvent:
            await Oracle().acomplete("What is topic0?")
            return StopEvent()

    await Looks(timeout=20).run(query=question(7))
    assert caplog.messages == []
    assert heard.captured == []


async def test_an_answer_after_a_pause_that_was_saved_is_told_of(heard, caplog):
    """Its documents were retrieved by another run, perhaps in another process. In one run they are known."""

    class Confirms(Workflow):
        @step
        async def fetch(self, ctx: Context, ev: StartEvent) -> InputRequiredEvent:
            found = await Library().aretrieve(ev.query)
            await ctx.store.set("shown", f"From this: {found[0].node.get_content()}\n{ev.query}")
            return InputRequiredEvent()

        @step
        async def tell(self, ctx: Context, ev: HumanResponseEvent) -> StopEvent:
            return StopEvent(result=str(await Oracle().acomplete(await ctx.store.get("shown"))))

    async def paused(app):
        running = app.run(query=question(7))
        async for event in running.stream_events():
            if isinstance(event, InputRequiredEvent):
                return running
        return None

    at_once = await paused(Confirms())
    at_once.ctx.send_event(HumanResponseEvent())
    await at_once
    assert heard.only().interaction.answer == answer(7)
    assert "saved Context" not in caplog.text
    before = await paused(Confirms())
    saved = before.ctx.to_dict()
    await before.cancel_run()
    for _ in range(2):
        later = Confirms()
        goes_on = later.run(ctx=Context.from_dict(later, saved))
        goes_on.ctx.send_event(HumanResponseEvent())
        assert await goes_on == answer(7)
    assert heard.only()
    assert caplog.text.count("saved Context") == 1


async def test_a_workflow_that_retrieves_nothing_is_no_answer(heard):
    """Most workflows are not about retrieval at all."""

    class Adds(Workflow):
        @step
        async def add(self, ev: StartEvent) -> StopEvent:
            return StopEvent(result=str(await Oracle().acomplete(ev.query)))

    await Adds(timeout=20).run(query=question(7))
    assert heard.captured == []


def test_a_synthesizer_alone_is_captured(heard):
    """The last part of a pipeline that is built by hand."""
    get_response_synthesizer(llm=Oracle()).synthesize(question(7), nodes(7))
    assert is_of(heard.only(), QUERY_APPS["compact"], 7)


def test_a_structured_answer_is_read_from_its_answer_field(heard):
    """Not as JSON, in which the words stand at other places."""
    engine(llm=Structured(), output_cls=Reply).query(question(7))
    assert heard.only().interaction.answer == answer(7)


def test_an_engine_of_ones_own_may_call_its_question_otherwise(heard):
    """As one does that overrides the public method of LlamaIndex's."""

    class Notes(RetrieverQueryEngine):
        def query(self, question):
            return super().query(question)

    class Talks(ContextChatEngine):
        def chat(self, text, chat_history=None):
            return super().chat(text, chat_history)

    Notes(Library()).query(question(7))
    Talks.from_defaults(Library(), llm=Oracle()).chat(question(8))
    assert [captured.interaction.question for captured in heard.captured] == [question(7), question(8)]


def test_only_the_outermost_answer_is_captured(heard):
    """Attempts, parts and selections inside are steps on the way."""
    RetryQueryEngine(router(0, 1), HallucinationEvaluator(), max_retries=1).query(question(7))
    assert topic(heard.only().interaction.question) == 7


def test_what_a_model_wrote_is_no_evidence(heard):
    """The answers to sub-questions come as nodes, and are left out; documents that look alike are not."""
    sub_questions().query(question(7))
    assert not any("Response:" in passage.text for passage in heard.only().interaction.contexts)
    faq = TextNode(text="Sub question: a\nResponse: b")
    kept = [
        NodeWithScore(node=faq, score=0.5),
        NodeWithScore(
            node=TextNode(
                text=faq.text, relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id="page")}
            )
        ),
    ]
    assert values.nodes(Response("b", source_nodes=[NodeWithScore(node=faq), *kept])) == kept


def test_a_node_found_twice_counts_once(heard):
    """A router of several engines brings the same nodes from each."""
    response = router(0, 1).query(question(7))
    assert len(response.source_nodes) == 6
    assert [passage.text for passage in heard.only().interaction.contexts] == told(7)


class Asks(CustomQueryEngine):
    """Asks an engine about each topic, and has a synthesizer tell of what they said, as nodes."""

    def custom_query(self, query_str):
        said = [str(engine().query(question(n))) for n in (7, 8)]
        return get_response_synthesizer(llm=Oracle()).synthesize(query_str, as_nodes(said))


class AsksInSteps(Workflow):
    """The same as a workflow, whose synthesizer is the outermost that answers."""

    @step
    async def ask(self, ev: StartEvent) -> StopEvent:
        said = [str(await engine().aquery(question(n))) for n in (7, 8)]
        synthesizer = get_response_synthesizer(llm=Oracle())
        return StopEvent(result=await synthesizer.asynthesize(ev.query, as_nodes(said)))


def as_nodes(said):
    return [NodeWithScore(node=TextNode(text=f"One says: {text}"), score=1.0) for text in said]


@pytest.mark.parametrize("form", ["engine", "workflow"])
async def test_engines_answers_that_are_made_nodes_stand_for_what_they_were_answered_from(form, heard):
    """They are a model's words, whoever wraps them."""
    if form == "engine":
        Asks().query(question(7))
    else:
        await AsksInSteps(timeout=20).run(query=question(7))
    last = heard.captured[-1]
    assert [passage.text for passage in last.interaction.contexts] == [*told(7), *told(8)]


@pytest.mark.parametrize("first", ["an engine", "a retriever"])
def test_a_document_that_says_what_an_engine_has_said_is_evidence(first, heard):
    """Whoever found it: it has more to say, or another source."""
    chunk = f"{texts(8)[0]} {answer(7)}"

    class Finds(Library):
        def _retrieve(self, query_bundle):
            return [NodeWithScore(node=TextNode(text=chunk))]

    class Compares(CustomQueryEngine):
        def custom_query(self, query_str):
            engine().query(query_str)
            if first == "a retriever":
                return engine(retriever=Finds()).query(query_str)
            document = NodeWithScore(node=TextNode(text=chunk, metadata={"source": "elsewhere"}))
            return get_response_synthesizer(llm=Oracle()).synthesize(query_str, [document])

    Compares().query(question(7))
    (passage,) = heard.only().interaction.contexts
    assert passage.text.endswith(chunk)


@pytest.mark.parametrize("is_told", [True, False])
def test_what_an_answer_was_made_of_that_the_next_engine_is_told_is_evidence(is_told, heard):
    """As of tables, and then of texts; an answer that nobody passes on is none."""

    class Hops(CustomQueryEngine):
        def custom_query(self, query_str):
            first = str(engine().query(question(8)))
            return engine().query(f"Known: {first} {query_str}" if is_told else query_str)

    Hops().query(question(7))
    assert heard.only().interaction.question == question(7)
    found = told(7) + (told(8) if is_told else [])
    assert [passage.text for passage in heard.only().interaction.contexts] == found


def test_passages_keep_where_they_come_from(heard):
    """Id, metadata and score are the node's own."""
    engine().query(question(7))
    passage = heard.only().interaction.contexts[1]
    assert (passage.id, passage.metadata, passage.score) == ("7-1", {"source": "7.md"}, 0.9)


def test_no_nodes_found_is_no_context(heard):
    """The engine answers "Empty Response", which nobody calls hallucinated or clean."""

    class Empty(Library):
        def _retrieve(self, query_bundle):
            return []

    engine(retriever=Empty()).query(question(7))
    assert heard.only().problem is AbstentionReason.NO_CONTEXT


def test_images_alone_are_no_context(heard):
    """The model was given some; the reason does not say that it was given nothing."""

    class Gallery(Library):
        def _retrieve(self, query_bundle):
            return [NodeWithScore(node=ImageNode(image_url="http://127.0.0.1/7.png"), score=1)]

    engine(retriever=Gallery()).query(question(7))
    assert heard.only().problem is AbstentionReason.NO_CONTEXT
    assert "images" in heard.only().detail


def test_an_engine_that_fails_leaves_nothing(heard):
    """There is no answer to judge, and nothing is left open."""

    def fail(n):
        raise ConnectionError("the model is not there")

    with pytest.raises(ConnectionError):
        engine(llm=Oracle(reply=fail)).query(question(7))
    assert heard.captured == []
    assert heard.live_spans == 0


# -- streams that are not read to their end


def test_a_stream_that_is_given_up_is_a_partial_answer(heard):
    """As soon as its reader lets go of it, without waiting for the garbage collector."""
    gc.disable()
    try:
        response = engine(streaming=True).query(question(7))
        next(response.response_gen)
        del response
    finally:
        gc.enable()
    assert heard.only().problem is AbstentionReason.PARTIAL_ANSWER
    assert heard.only().interaction.answer == "The "


async def test_an_asynchronous_stream_that_is_given_up_is_a_partial_answer(heard):
    """Also when the task that reads it is cancelled."""
    response = await engine(streaming=True).aquery(question(7))
    tokens = response.response_gen
    await anext(tokens)
    await tokens.aclose()
    started = asyncio.Event()
    response = await engine(streaming=True).aquery(question(8))

    async def read():
        async for _ in response.async_response_gen():
            started.set()
            await asyncio.sleep(30)

    task = asyncio.create_task(read())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await response.response_gen.aclose()
    assert [captured.problem for captured in heard.captured] == [AbstentionReason.PARTIAL_ANSWER] * 2


async def test_an_agent_that_is_cancelled_is_a_partial_answer(heard):
    """It ends with nothing, which is no answer that states nothing."""
    called = asyncio.Event()

    async def look(input: str) -> str:  # noqa: A002 - the argument's name is what the model is told
        """Look for a long time."""
        called.set()
        await asyncio.sleep(30)

    running = searching(FunctionTool.from_defaults(async_fn=look)).run(user_msg=question(7))
    await called.wait()
    await running.cancel_run()
    with pytest.raises(WorkflowCancelledByUser):
        await running
    assert heard.only().problem is AbstentionReason.PARTIAL_ANSWER


def test_a_stream_that_is_never_read_is_nothing(heard):
    """No token was asked for: the model was never called."""
    response = engine(streaming=True).query(question(7))
    del response
    assert heard.captured == []


def test_a_stream_can_be_read_late_and_elsewhere(heard):
    """In another thread and context, after other queries."""
    responses = [engine(streaming=True).query(question(n)) for n in range(5)]
    for response in reversed(responses):
        thread = threading.Thread(target=whole, args=(response,))
        thread.start()
        thread.join()
    assert [topic(c.interaction.question) for c in heard.captured] == [4, 3, 2, 1, 0]
    assert all(is_of(c, QUERY_APPS["compact"], topic(c.interaction.question)) for c in heard.captured)


def ending_with_none():
    return StreamingResponse(iter(["It ", "weighs.", None]), source_nodes=nodes(7))


async def aending_with_none():
    for token in ending_with_none().response_gen:
        yield token


class OwnStream(CustomQueryEngine):
    """Returns a provider's own stream."""

    def custom_query(self, query_str):
        return ending_with_none()

    async def acustom_query(self, query_str):
        return AsyncStreamingResponse(aending_with_none(), source_nodes=nodes(7))


@pytest.mark.parametrize("checked", [False, True])
async def test_a_stream_may_hold_what_is_no_text(checked, heard):
    """Its reader gets it, as without us; the texts are the answer."""
    app = CheckedQueryEngine(OwnStream()) if checked else OwnStream()
    assert list(app.query(question(7)).response_gen) == ["It ", "weighs.", None]
    tokens = (await app.aquery(question(7))).response_gen
    assert [token async for token in tokens] == ["It ", "weighs.", None]
    assert [captured.interaction.answer for captured in heard.captured] == ["It weighs."] * 2


def test_an_error_in_a_stream_is_its_readers(heard):
    """It passes untouched, and there is no answer to judge."""
    response = engine(llm=Breaks(), streaming=True).query(question(7))
    with pytest.raises(ConnectionError, match="went away"):
        whole(response)
    assert heard.captured == []


def test_an_abandoned_chat_stream_is_complete_all_the_same(heard):
    """Its writer reads it to the end for the memory, whoever listens."""
    others = set(threading.enumerate())
    response = CHAT_APPS["context"].build().stream_chat(question(7))
    next(response.response_gen)
    for thread in set(threading.enumerate()) - others:
        thread.join(5)
    assert is_of(heard.only(), CHAT_APPS["context"], 7)


def test_a_chat_stream_whose_writer_begins_as_its_engine_ends_is_heard(heard, monkeypatch):
    """When the engine's span has ended and its stream isn't followed yet, as on a busy machine."""
    begin, write, end = (
        threading.Event(),
        StreamingAgentChatResponse.write_response_to_history,
        Capture._ended,
    )

    def late(response, *args, **kwargs):
        assert begin.wait(5)
        return write(response, *args, **kwargs)

    def between(capture, part, result):
        if isinstance(result, StreamingAgentChatResponse):
            begin.set()
            result.write_response_to_history_thread.join(5)
        end(capture, part, result)

    monkeypatch.setattr(StreamingAgentChatResponse, "write_response_to_history", late)
    monkeypatch.setattr(Capture, "_ended", between)
    response = CHAT_APPS["context"].build().stream_chat(question(7))
    assert whole(response)
    assert is_of(heard.only(), CHAT_APPS["context"], 7)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_chat_stream_that_fails_at_once_leaves_nothing_open(heard, monkeypatch):
    """A model may refuse before its engine's span has ended; there is no answer to wait for."""
    end = Capture._ended

    def between(capture, part, result):
        if isinstance(result, StreamingAgentChatResponse):
            result.write_response_to_history_thread.join(5)
        end(capture, part, result)

    monkeypatch.setattr(Capture, "_ended", between)
    response = ContextChatEngine.from_defaults(Library(), llm=Breaks()).stream_chat(question(7))
    with pytest.raises(ConnectionError):
        whole(response)
    assert (heard.live_spans, heard.captured) == (0, [])


async def test_a_chat_stream_whose_task_is_cancelled_is_a_partial_answer(heard):
    """As when an event loop ends before its answer does."""
    gate = asyncio.Event()

    class Hangs(Oracle):
        async def astream_chat(self, messages, **kwargs):
            async def stream():
                yield next(self._streamed(ChatMessage(role="assistant", content="The rest")))
                await gate.wait()

            return stream()

    engine = ContextChatEngine.from_defaults(Library(), llm=Hangs(), memory=memory())
    response = await engine.astream_chat(question(7))
    assert await anext(response.async_response_gen()) == "The "
    task = response.awrite_response_to_history_task
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert heard.only().problem is AbstentionReason.PARTIAL_ANSWER
    assert heard.only().interaction.answer == "The "


# -- what is not looked at


def test_what_is_tagged_to_be_skipped_is_skipped(heard):
    """For queries that are no user's: evaluators, warm-ups, tests."""
    with instrument_tags({SKIP: True}):
        engine().query(question(7))
    assert heard.captured == []


def test_what_a_judge_asks_is_not_captured(heard):
    """A judge that is made of LlamaIndex itself starts no judging of its own."""
    isolated(lambda: engine().query(question(7)))
    assert heard.captured == []


async def test_calls_that_run_at_once_do_not_mix(heard):
    """Twenty in one event loop, twenty in threads."""
    app = QUERY_APPS["compact"]
    await asyncio.gather(
        *(app.build().aquery(question(n)) for n in range(20)),
        *(asyncio.to_thread(app.build().query, question(n)) for n in range(20, 40)),
    )
    assert sorted(topic(c.interaction.question) for c in heard.captured) == list(range(40))
    assert all(is_of(c, app, topic(c.interaction.question)) for c in heard.captured)


def test_what_is_open_is_bounded(dispatcher):
    """Chat streams that nobody ends, and spans that never do, can't fill the memory."""
    capture = Capture(lambda _: None, max_spans=3)
    for n in range(10):
        capture.begin(f"A.b-{n}", None, {}, None)
    assert capture.live_spans == 3
    assert capture.evicted_spans == 7
    with pytest.raises(ValueError, match="max_spans"):
        Capture(lambda _: None, max_spans=0)


def test_a_capture_that_fails_costs_nothing_but_itself(dispatcher, caplog):
    """LlamaIndex would swallow the error in silence: it is logged, once a kind, without the text."""

    def fail(captured):
        raise KeyError("secret words")

    capture = Capture(fail)
    dispatcher.span_handlers.insert(0, capture.span_handler)
    assert str(engine().query(question(7))) == answer(7)
    assert str(engine().query(question(8))) == answer(8)
    warnings = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert warnings == ["an answer could not be captured (KeyError)"]


def test_ids_are_those_of_the_spans(heard):
    """The topmost span around an answer is its trace."""
    outer = QueryEngineTool(engine(), ToolMetadata(name="shelf", description="Topics."))
    outer.call(question(7))
    captured = heard.only()
    assert captured.run_id != captured.trace_id
    engine().query(question(8))
    assert heard.captured[1].run_id == heard.captured[1].trace_id


def test_a_prompt_of_ones_own_says_which_nodes_the_model_saw(heard):
    """Of three that were found, the one that stands in the prompt."""
    ByHand(retriever=Library(), llm=Oracle()).query(question(7))
    assert [passage.id for passage in heard.only().interaction.contexts] == ["7-0"]


async def test_what_follows_a_workflow_that_failed_is_captured(heard):
    """A failed run takes what it found with it."""

    class Fails(Steps):
        @step
        async def fetch(self, ev: StartEvent) -> StopEvent:
            await Library().aretrieve(ev.query)
            raise ConnectionError("gone")

        tell = None

    with pytest.raises(ConnectionError):
        await Fails(timeout=20).run(query=question(7))
    assert heard.captured == []
    await engine().aquery(question(8))
    assert is_of(heard.only(), QUERY_APPS["compact"], 8)


# -- prompts that an application fills by itself


class Splits(CustomQueryEngine):
    """Asks a model about each node, and joins what it said."""

    def custom_query(self, query_str):
        found = [node.get_content() for node in Library().retrieve(query_str)]
        said = (Oracle(reply=lambda _, n=n: n).complete(f"{n}\n{query_str}") for n in found)
        return "\n".join(map(str, said))


class SplitsInSteps(Workflow):
    """The same as a workflow, at once."""

    @step
    async def ask(self, ev: StartEvent) -> StopEvent:
        found = [node.get_content() for node in await Library().aretrieve(ev.query)]
        calls = (Oracle(reply=lambda _, n=n: n).acomplete(f"{n}\n{ev.query}") for n in found)
        return StopEvent(result="\n".join(map(str, await asyncio.gather(*calls))))


class Accumulates(CustomQueryEngine):
    """Returns the text of an answer for each node."""

    def custom_query(self, query_str):
        synthesizer = get_response_synthesizer(llm=Oracle(), response_mode="accumulate")
        return str(synthesizer.synthesize(query_str, Library().retrieve(query_str)))


@pytest.mark.parametrize("app", [Splits, SplitsInSteps, Accumulates])
async def test_an_answer_that_is_put_together_of_several_is_held_against_what_each_was_told(app, heard):
    """One model call for each document, whose words code has joined."""
    if issubclass(app, Workflow):
        await app(timeout=20).run(query=question(7))
    else:
        app().query(question(7))
    assert [passage.text for passage in heard.only().interaction.contexts] == told(7)


def test_nodes_that_are_shown_in_other_words_count_beside_one_that_is_shown_as_it_is(heard):
    """Line breaks are evened out for a prompt; one that is not shown counts no more than before."""
    found = [
        "topic7 weighs 7 kilos.",
        "It was built of iron\nin the year 1007.",
        "Members carry\ntwo of them.",
    ]

    class Lines(Library):
        def _retrieve(self, query_bundle):
            return [NodeWithScore(node=TextNode(text=text, id_=text[:5])) for text in found]

    class Flattens(CustomQueryEngine):
        def custom_query(self, query_str):
            lines = [" ".join(node.node.get_content().split()) for node in Lines().retrieve(query_str)[:2]]
            return str(Oracle().complete("\n".join(f"- {line}" for line in lines) + f"\n{query_str}"))

    Flattens().query(question(7))
    assert [passage.text for passage in heard.only().interaction.contexts] == found[:2]


class Prefers(First):
    """Lets the first node pass that says something of what is asked."""

    def _postprocess_nodes(self, nodes, query_bundle=None):
        return [node for node in nodes if query_bundle.query_str in node.node.get_content()][:1]


@pytest.mark.parametrize("together", [False, True])
def test_what_one_search_has_kept_another_one_s_re_ranking_leaves(together, heard):
    """Each part of a question is searched by itself, and the same nodes are found for it."""

    class Parts(CustomQueryEngine):
        def custom_query(self, query_str):
            parts, kept = ("weighs", "built"), []
            searches = [Library().retrieve(query_str) for _ in parts] if together else [None, None]
            for part, search in zip(parts, searches, strict=True):
                found = search or Library().retrieve(query_str)
                kept += Prefers().postprocess_nodes(found, query_str=part)
            shown = "\n".join(node.node.get_content() for node in kept)
            return str(Oracle().complete(f"From this: {shown}\n{query_str}"))

    Parts().query(question(7))
    assert [passage.text for passage in heard.only().interaction.contexts] == told(7)[:2]


class Drops(First):
    """Lets all but the first node pass."""

    def _postprocess_nodes(self, nodes, query_bundle=None):
        return nodes[1:]


async def test_of_two_re_rankings_one_after_the_other_the_last_one_counts(heard):
    """What the first had kept and the second has not, an agent has not seen."""

    def look(input: str) -> list:  # noqa: A002 - the argument's name is what the model is told
        """Look a topic up."""
        found = Drops().postprocess_nodes(Library().retrieve(input))
        found = Prefers().postprocess_nodes(found, query_str="built")
        return [node.node.get_content() for node in found]

    if not runs_in_its_context():
        pytest.skip("this core runs plain functions outside of the agent's context")
    await searching(FunctionTool.from_defaults(look)).run(user_msg=question(7))
    assert [passage.id for passage in heard.only().interaction.contexts if passage.id] == ["7-1"]


# -- forms


class Facts(BaseModel):
    text: str
    weight: int


class Sourced(BaseModel):
    answer: str
    sources: list[str] = ["7.md"]
    confidence: float = 0.9
    notes: list[str] = []


class Fills(Oracle):
    """Fills a form with what is given."""

    form: dict = {}  # noqa: RUF012 - a pydantic field, copied for each instance

    def structured_predict(self, output_cls, prompt, llm_kwargs=None, **prompt_args):
        return output_cls(**self.form)


def test_a_form_that_states_something_beside_a_text_is_judged_as_a_whole(heard):
    """A field that happens to be called so is not all that it says."""
    form = {"text": answer(7), "weight": 99}
    engine(llm=Fills(form=form), output_cls=Facts).query(question(7))
    assert heard.only().interaction.answer == json.dumps(form)


def test_what_only_tells_of_a_form_s_answer_is_no_part_of_it(heard):
    """Where it comes from, and how sure the model is; a note is."""
    engine(llm=Fills(form={"answer": answer(7)}), output_cls=Sourced).query(question(7))
    engine(llm=Fills(form={"answer": answer(7), "notes": ["Heavy."]}), output_cls=Sourced).query(question(7))
    alone, noted = heard.captured
    assert alone.interaction.answer == answer(7)
    assert json.loads(noted.interaction.answer)["notes"] == ["Heavy."]


def test_the_headings_of_an_answer_s_parts_are_blanked_in_time_that_grows_with_it():
    """However many a model writes in their manner; the first has to begin the answer."""
    part = "\n---------------------\nResponse {}: yes".format
    assert values.unheaded("Response 1: no" + part(2) + part(4)) == (
        f"{' ' * 12}no\n{' ' * 21}\n{' ' * 12}yes{part(4)}"
    )
    assert values.unheaded(f"See{part(1)}") == f"See{part(1)}"
    started = time.process_time()
    assert "Response" not in values.unheaded("Response 1: no" + "".join(map(part, range(2, 4_000))))
    assert time.process_time() - started < 1.0
