"""Engines that a workflow's tools ask: steps of its answer where a model gives one, else answers."""

import asyncio
import json

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.tools import FunctionTool
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

from groundwire import Checker
from groundwire.llama_index import CheckedQueryEngine, GroundwireHandler
from tests.llama_index.apps import (
    Library,
    Oracle,
    answer,
    as_tool,
    ask_inside,
    engine,
    in_a_function,
    question,
    searching,
    told,
)
from tests.llama_index.conftest import Heard


class Turn(Event):
    messages: list


class Token(Event):
    delta: str


class OnesOwnAgent(Workflow):
    """A loop of a model and its tools, as LlamaIndex's documentation shows one."""

    def __init__(self, tool, *, streams=False):
        super().__init__(timeout=20)
        self.tool, self.streams = tool, streams

    @step
    async def begin(self, ev: StartEvent) -> Turn:
        return Turn(messages=[*Oracle()._prepare_chat_with_tools([], ev.input)["messages"]])

    @step
    async def think(self, ctx: Context, ev: Turn) -> Turn | StopEvent:
        model = Oracle()
        if self.streams:
            async for reply in await model.astream_chat_with_tools([self.tool], chat_history=ev.messages):
                ctx.write_event_to_stream(Token(delta=reply.delta or ""))
        else:
            reply = await model.achat_with_tools([self.tool], chat_history=ev.messages)
        calls = model.get_tool_calls_from_response(reply, error_on_no_tool_call=False)
        if not calls:
            return StopEvent(result={"response": reply, "sources": []})
        messages = [*ev.messages, reply.message]
        for call in calls:
            output = await self.tool.acall(**call.tool_kwargs)
            messages.append(type(reply.message)(role="tool", content=output.content))
        return Turn(messages=messages)


async def agent_inside(input: str) -> str:  # noqa: A002 - the argument's name is what the model is told
    """Ask an agent, and hand on what it says."""
    return str(await searching().run(user_msg=input))


IN_A_FUNCTION = "engine in a function"
TOOLS = {
    "engine": as_tool,
    "checked engine": lambda: as_tool(CheckedQueryEngine(engine())),
    IN_A_FUNCTION: lambda: FunctionTool.from_defaults(ask_inside),
    "agent in a function": lambda: FunctionTool.from_defaults(async_fn=agent_inside),
    "retriever's stream": lambda: as_tool(engine(streaming=True)),
}


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=in_a_function) if name == IN_A_FUNCTION else name for name in TOOLS]
)
async def test_an_agent_of_one_s_own_is_judged_as_any_other(name, streams, heard, caplog):
    """By its own last words, the user's question, and what its tools found; not by what they asked."""
    await OnesOwnAgent(TOOLS[name](), streams=streams).run(input=question(7))
    captured = heard.only()
    assert captured.interaction.question == question(7)
    assert captured.interaction.answer == answer(7)
    assert [passage.text for passage in captured.interaction.contexts] == told(7)
    assert not caplog.records
    assert heard.live_spans == 0


async def test_many_agents_of_one_s_own_do_not_mix(heard):
    agent = OnesOwnAgent(as_tool())
    await asyncio.gather(*(agent.run(input=question(n)) for n in range(20)))
    for captured in heard.captured:
        n = int(captured.interaction.question.removeprefix("What about topic").removesuffix("?"))
        assert [passage.text for passage in captured.interaction.contexts] == told(n)
    assert len(heard.captured) == 20


class Ends(Workflow):
    """Asks two engines by way of their tool, and ends in some way."""

    def __init__(self, end):
        super().__init__(timeout=20)
        self.end = end

    @step
    async def ask(self, ev: StartEvent) -> StopEvent:
        said = [(await as_tool().acall(f"Look up topic{n}.")).content for n in ev.numbers]
        return StopEvent(result=self.end(said))


ENDS = {
    "rows": lambda said: [{"row": i, "value": one} for i, one in enumerate(said)],
    "a status": lambda said: {"result": f"{len(said)} cells were filled in."},
    "nothing": lambda said: None,
    "an error": lambda said: said[9],
}


@pytest.mark.parametrize("end", ENDS)
async def test_where_a_workflow_gives_no_answer_its_engines_do(end, heard):
    """As a workflow that fills a table in, a cell at a time."""
    try:
        await Ends(ENDS[end]).run(numbers=[7, 8])
    except IndexError:
        assert end == "an error"
    assert [one.interaction.answer for one in heard.captured] == [answer(7), answer(8)]
    assert [one.interaction.question for one in heard.captured] == ["Look up topic7.", "Look up topic8."]


async def test_a_workflow_that_hands_on_an_engine_s_words_answers_with_them(heard):
    """The question is the user's."""
    await Ends(lambda said: said[0]).run(numbers=[7], query=question(7))
    captured = heard.only()
    assert (captured.interaction.question, captured.interaction.answer) == (question(7), answer(7))
    assert [passage.text for passage in captured.interaction.contexts] == told(7)


def at_length(n):
    """An answer to whose sentences not every document is like."""
    return f'Bags of "topic{n}" are light.\n\nThey are old – and of a fine colour.'


@pytest.mark.parametrize(
    "told_as",
    [
        str,
        json.dumps,
        repr,
        lambda said: json.dumps({"shelf": said}, ensure_ascii=False),
        lambda said: " ".join(said.split()),
    ],
)
async def test_however_a_tool_s_words_are_told_all_behind_them_is_shown(told_as, heard):
    """None of the documents stands there itself."""

    class Hands(Workflow):
        @step
        async def tell(self, ev: StartEvent) -> StopEvent:
            found = await as_tool(engine(llm=Oracle(reply=at_length))).acall(ev.query)
            said = await Oracle().acomplete(f"{told_as(found.content)}\n{ev.query}")
            return StopEvent(result=str(said))

    await Hands(timeout=20).run(query=question(7))
    assert [passage.text for passage in heard.only().interaction.contexts] == told(7)


async def test_what_an_engine_tells_its_own_model_is_no_question_to_the_workflow(heard):
    """Not where the workflow's own model is given a bare text, and nothing names what the user asked."""

    class Completes(Workflow):
        @step
        async def tell(self, ev: StartEvent) -> StopEvent:
            found = await as_tool().acall(question(ev.number))
            return StopEvent(result=str(await Oracle().acomplete(found.content)))

    await Completes(timeout=20).run(number=7)
    captured = heard.only()
    assert (captured.interaction.question, captured.interaction.answer) == ("", answer(7))


async def test_a_short_answer_is_one_where_it_is_called_so(heard, caplog):
    """A grade is as short."""

    class Says(Workflow):
        @step
        async def tell(self, ev: StartEvent) -> StopEvent:
            found = await as_tool().acall(ev.query)
            asked = [ChatMessage(role="user", content=f"{found.content}\n{ev.query}")]
            reply = await Oracle(reply=lambda n: f"{n} kilos.").achat(asked)
            return StopEvent(result={"answer": str(reply.message.content)})

    await Says(timeout=20).run(query=question(7))
    captured = heard.only()
    assert (captured.interaction.question, captured.interaction.answer) == (question(7), "7 kilos.")
    assert [passage.text for passage in captured.interaction.contexts] == told(7)
    assert not caplog.records


class Session(Workflow):
    """Answers what somebody asks, till there is nothing more."""

    @step
    async def begin(self, ev: StartEvent) -> InputRequiredEvent:
        return InputRequiredEvent()

    @step
    async def turn(self, ev: HumanResponseEvent) -> InputRequiredEvent | StopEvent:
        if not ev.response:
            return StopEvent(result="Goodbye.")
        return InputRequiredEvent(prefix=(await as_tool().acall(ev.response)).content)


async def test_in_a_session_each_turn_is_an_answer_before_the_next(heard):
    """It may go on for days, and its end be none that anybody sees."""
    session, asked = Session(timeout=20).run(), iter([question(7), question(8), ""])
    before = []
    async for event in session.stream_events():
        if isinstance(event, InputRequiredEvent):
            before.append(len(heard.captured))
            session.ctx.send_event(HumanResponseEvent(response=next(asked)))
    await session
    assert before == [0, 1, 2]
    assert [one.interaction.question for one in heard.captured] == [question(7), question(8)]


async def test_what_a_workflow_s_tools_have_asked_is_judged_when_a_handler_is_closed(dispatcher):
    """Its end comes too late."""
    handler = GroundwireHandler(Checker("lexical")).install(dispatcher)

    def closes(said):
        assert handler.close(10)
        return [record.interaction.answer for record in handler.outcomes]

    judged = await Ends(closes).run(numbers=[7, 8])
    assert sorted(judged) == [answer(7), answer(8)]
    assert handler.stats.dropped == 0


class GoesOn(Workflow):
    """Asks again and again, and then something of whoever waits for it."""

    @step
    async def ask(self, ev: StartEvent) -> StopEvent:
        for n in range(250):
            await as_tool().acall(f"Look up topic{n}.")
        return StopEvent(result=ev.at_last())


async def test_of_many_steps_the_oldest_are_answers_before_the_end(heard):
    """A workflow may go on for days: nothing piles up, and nothing is lost."""
    before = await GoesOn(timeout=60).run(at_last=lambda: [len(heard.captured)])
    asked = [one.interaction.question for one in heard.captured]
    assert asked == [f"Look up topic{n}." for n in range(250)]
    assert before == [50]


class Late(Library):
    """Lets others ask meanwhile."""

    async def _aretrieve(self, query_bundle):
        await asyncio.sleep(0)
        return self._retrieve(query_bundle)


class Nests(Workflow):
    """Asks an engine by way of its tool, and then opens so many spans that it is given up itself."""

    @step
    async def ask(self, ev: StartEvent) -> StopEvent:
        await as_tool().acall("Look up topic7.")
        await asyncio.gather(*(engine(retriever=Late()).aquery(question(8)) for _ in range(20)))
        return StopEvent(result=None)


async def test_of_a_workflow_that_is_given_up_no_step_is_lost(dispatcher):
    """As where too much is open at a time."""
    heard = Heard(max_spans=30)
    dispatcher.span_handlers.insert(0, heard.span_handler)
    await Nests(timeout=20).run()
    assert heard.evicted_spans
    assert heard.captured[0].interaction.question == "Look up topic7."
