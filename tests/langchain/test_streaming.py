"""Streams through the wrapper pass as they come, end with the verdict, and add up to what invoke returns."""

import asyncio
import logging
import threading
from typing import TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import JsonOutputParser
from langchain_core.runnables import RunnableGenerator, RunnableLambda
from langchain_core.tracers.context import collect_runs
from langgraph.graph import END, START, StateGraph
from pydantic import create_model

from groundwire import AbstentionReason, Checker, Judge, Policy
from groundwire.host.actions import HallucinationError
from groundwire.langchain import GroundwireCallbackHandler, with_hallucination_check
from groundwire.sinks import Sink
from tests.langchain.wrapped_apps import (
    CHECKER,
    Scribe,
    Shelf,
    faithful,
    inventive,
    joined,
    to_dict,
    to_message,
    to_text,
)


def checked(runnable, **options):
    return with_hallucination_check(runnable, checker=CHECKER, **options)


def total(chunks):
    whole = None
    for chunk in chunks:
        whole = chunk if whole is None else whole + chunk
    return whole


def same(one, other) -> bool:
    """Whether two outputs are the same but for what each run and each check has of its own."""
    return _plain(one) == _plain(other)


def _plain(output):
    if isinstance(output, AIMessage):
        return output.content, _plain(output.response_metadata)["hallucination"]
    own = {"id", "usage"}
    return {k: _plain(v) if k == "hallucination" else v for k, v in output.items() if k not in own}


async def gathered(stream) -> list:
    return [chunk async for chunk in stream]


# -- passing through

CASES = [(to_text, "item3"), (to_message, "item3"), (to_dict, {"question": "item3"})]


@pytest.mark.parametrize("options", [{}, {"on_hallucination": "warn"}, {"on_hallucination": "replace"}])
@pytest.mark.parametrize(("app", "given"), CASES)
def test_chunks_add_up_to_what_invoke_returns(app, given, options):
    """In both colours, whether the stream passes through or is held back."""
    whole = checked(app(inventive), **options)
    assert same(total(whole.stream(given)), whole.invoke(given))
    assert same(total(asyncio.run(gathered(whole.astream(given)))), whole.invoke(given))


@pytest.mark.parametrize(("app", "given"), CASES)
def test_the_trace_records_the_whole_stream(app, given):
    """What the wrapper's own run ends with is the sum, verdict and all."""
    with collect_runs() as collected:
        list(checked(app(inventive)).stream(given))
    (run,) = collected.traced_runs
    recorded = run.outputs.get("output", run.outputs)
    assert "hallucination" in getattr(recorded, "response_metadata", recorded)


def test_tokens_pass_before_the_answer_is_whole():
    """The first word is out while the model still has more to say."""
    model = Scribe(rule=inventive)
    stream = checked(to_message(model=model)).stream("item3")
    assert next(stream).content == "item3 "
    assert model.said == []
    list(stream)
    assert model.said == ["item3 costs nothing"]


def test_the_last_message_chunk_brings_the_verdict_and_no_words():
    """It has the id of the message it ends."""
    *words, last = checked(to_message(inventive)).stream("item3")
    assert all(isinstance(chunk, AIMessageChunk) for chunk in [*words, last])
    assert "".join(chunk.content for chunk in words) == "item3 costs nothing"
    assert (last.content, last.id) == ("", words[0].id)
    assert last.response_metadata["hallucination"]["hallucinated"] is True


def test_text_is_in_its_envelope_from_the_first_chunk_on():
    """A stream does not change its type midway."""
    chunks = list(checked(to_text(inventive)).stream("item3"))
    assert all(isinstance(chunk, dict) for chunk in chunks)
    assert [list(chunk) for chunk in chunks[:-1]] == [["answer"]] * (len(chunks) - 1)
    assert list(chunks[-1]) == ["hallucination"]


def test_attach_none_adds_nothing():
    """The stream is the wrapped one's, chunk by chunk."""
    app = to_text(inventive)
    assert list(checked(app, attach="none").stream("item3")) == list(app.stream("item3"))


def test_a_warning_is_streamed_before_the_verdict():
    """A reader of the stream sees it after the answer."""
    *words, warning, verdict = checked(to_text(inventive), on_hallucination="warn").stream("item3")
    assert "".join(chunk["answer"] for chunk in words) == "item3 costs nothing"
    assert warning["answer"] == f"\n\n{verdict['hallucination']['warning']}"


def test_a_streamed_answer_in_blocks_is_warned_about_in_a_block():
    """Content that comes in blocks, as Bedrock's does, adds up to blocks."""
    block = {"type": "text", "text": "item3 costs nothing", "index": 0}

    def blocks(chunks):
        Shelf().invoke("".join(chunks))
        yield AIMessageChunk([block])

    answer = total(checked(RunnableGenerator(blocks), on_hallucination="warn").stream("item3"))
    assert [part["type"] for part in answer.content] == ["text", "text"]
    assert answer.text.startswith("item3 costs nothing\n\nThis answer says things")


def test_attach_none_still_warns():
    """What is done about a hallucination does not depend on where the verdict goes."""
    text = "".join(checked(to_text(inventive), attach="none", on_hallucination="warn").stream("item3"))
    assert text.startswith("item3 costs nothing\n\nThis answer says things")


def test_a_single_dict_is_one_chunk_with_its_verdict():
    """A plain dict can't be added to, so it waits for its verdict and comes out once."""
    app = RunnableLambda(lambda _: {"answer": "item3 costs nothing", "context": "item3 costs 3euro"})
    (chunk,) = checked(app).stream("item3")
    assert chunk["hallucination"]["hallucinated"] is True
    assert chunk["answer"] == "item3 costs nothing"


def test_growing_dicts_end_with_the_verdict_on_the_last():
    """A JSON parser's chunks each replace the one before: all pass, and the last one is judged."""
    model = Scribe(rule=lambda _: '{"answer": "item3 costs nothing", "context": "item3 costs 3euro"}')
    app = checked(model | JsonOutputParser())
    *growing, last = app.stream("item3")
    assert len(growing) > 1
    assert not any("hallucination" in chunk for chunk in growing)
    assert same(last, app.invoke("item3"))


def test_a_stream_of_anything_else_is_enveloped_alike():
    """Objects that can carry nothing are each put in the envelope that the last one needs."""

    def pairs(chunks):
        yield (1,)
        yield (1, 2)

    chunks = checked(RunnableGenerator(pairs)).stream("item3")
    assert [list(chunk) for chunk in chunks] == [["answer"], ["answer", "hallucination"]]


def test_an_empty_stream_is_not_called_clean():
    """Nothing was answered, and that is what the verdict says."""

    def silent(chunks):
        yield from ()

    (chunk,) = checked(RunnableGenerator(silent)).stream("item3")
    assert chunk["hallucination"]["abstention"] == "NO_CLAIMS"


def test_input_may_come_in_pieces():
    """``transform`` adds up its input as every runnable does, and the question is the whole of it."""
    asked = []
    app = checked(to_text(inventive), on_hallucination=lambda i, o: asked.append(i.question))
    total(app.transform(iter(["What does ", "item3 cost?"])))
    passing = checked(to_text(inventive))
    chunks = list(passing.transform(iter(["What does ", "item3 cost?"])))
    assert asked == ["What does item3 cost?"]
    assert chunks[-1]["hallucination"]["hallucinated"] is True


def test_an_abandoned_stream_is_not_judged():
    """A reader who walks away leaves nothing to judge, and hears of nothing."""
    judged = []
    app = with_hallucination_check(to_text(inventive), checker=_Noting(judged))
    stream = app.stream("item3")
    next(stream)
    stream.close()
    assert judged == []


async def test_an_abandoned_async_stream_is_not_judged():
    """The same for a reader on an event loop."""
    judged = []
    stream = with_hallucination_check(to_text(inventive), checker=_Noting(judged)).astream("item3")
    await anext(stream)
    await stream.aclose()
    assert judged == []


class _Telling(Sink):
    def __init__(self, heard=lambda: None):
        self.told = []
        self.heard = heard

    def send(self, told, where):
        self.told.append((told.outcome.why, told.interaction.question, told.interaction.has_context))
        self.heard()


@pytest.mark.parametrize("leave", ["close", "collect"])
def test_sinks_and_monitors_hear_of_an_abandoned_stream(leave):
    """Part of an answer was given and could not be judged: whoever counts answers counts it."""
    sink = _Telling()
    stream = checked(to_text(inventive), sinks=[sink]).stream("item3")
    next(stream)
    if leave == "close":
        stream.close()
    del stream
    assert sink.told == [(AbstentionReason.PARTIAL_ANSWER, "item3", True)]


def test_an_abandoned_stream_that_would_not_be_checked_is_told_as_such():
    """As a stream is that was read to its end."""
    sink, policy = _Telling(), Policy(enabled=False)
    app = with_hallucination_check(
        to_text(inventive), checker=Checker("lexical", policy=policy), sinks=[sink]
    )
    list(app.stream("item3"))
    stream = app.stream("item3")
    next(stream)
    stream.close()
    assert [why for why, *_ in sink.told] == [AbstentionReason.NOT_SAMPLED] * 2


@pytest.mark.parametrize("leave", ["return", "cancel"])
async def test_sinks_and_monitors_hear_of_an_abandoned_async_stream(leave):
    """As where a web client goes away, and the task that reads for it returns or is cancelled."""
    began, heard = asyncio.Event(), asyncio.Event()
    sink = _Telling(heard.set)

    async def read():
        async for _ in checked(to_text(inventive), sinks=[sink]).astream("item3"):
            began.set()
            if leave == "return":
                return
            await asyncio.Event().wait()

    task = asyncio.create_task(read())
    await began.wait()
    if leave == "cancel":
        task.cancel()
    async with asyncio.timeout(20):
        await heard.wait()
    assert sink.told == [(AbstentionReason.PARTIAL_ANSWER, "item3", True)]


async def test_sinks_and_monitors_hear_of_a_stream_whose_reader_goes_while_it_is_judged():
    """All of the answer was given, and no verdict will come."""
    asked, gate, sink = threading.Event(), threading.Event(), _Telling()

    def model(system, user):
        asked.set()
        gate.wait(30)
        return ""

    app = with_hallucination_check(
        to_text(inventive), checker=Checker("judge", judge=Judge(model)), sinks=[sink]
    )
    task = asyncio.create_task(gathered(app.astream("item3")))
    assert await asyncio.to_thread(asked.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.set()
    assert sink.told == [(AbstentionReason.PARTIAL_ANSWER, "item3", True)]


async def test_a_stream_that_is_given_up_before_a_model_was_asked_is_no_answer():
    """Nobody was told anything."""
    sink, searching = _Telling(), asyncio.Event()

    async def search(question):
        searching.set()
        await asyncio.Event().wait()

    app = checked(RunnableLambda(search) | to_text(inventive), sinks=[sink])
    task = asyncio.create_task(gathered(app.astream("item3")))
    await searching.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sink.told == []


def test_a_stream_that_fails_fails_as_it_would_alone():
    """What came before the error has passed; no verdict follows."""

    def breaks(chunks):
        yield "item3 "
        raise ConnectionError("gone")

    stream = checked(RunnableGenerator(breaks)).stream("item3")
    assert next(stream) == {"answer": "item3 "}
    with pytest.raises(ConnectionError, match="gone"):
        next(stream)


@pytest.mark.parametrize(("app", "given"), CASES)
def test_a_wrapper_in_a_wrapper_leaves_one_verdict(app, given):
    """The outer one's: two verdicts on one answer would not add up."""
    twice = checked(checked(app(inventive)))
    assert same(total(twice.stream(given)), twice.invoke(given))


# -- held back


@pytest.mark.parametrize("action", ["replace", "raise", "retry"])
def test_no_word_of_a_gated_stream_passes_before_the_verdict(action):
    """What may yet be replaced, refused or redone comes in one piece, or not at all."""
    app = checked(to_text(inventive), on_hallucination=action)
    if action == "raise":
        with pytest.raises(HallucinationError):
            next(app.stream("item3"))
    else:
        (chunk,) = app.stream("item3")
        assert "hallucination" in chunk


def test_a_gated_message_is_a_chunk_all_the_same():
    """Whoever adds chunks up need not know."""
    (chunk,) = checked(to_message(faithful), on_hallucination="raise").stream("item3")
    assert isinstance(chunk, AIMessageChunk)
    assert (chunk + AIMessageChunk("!")).content == "item3 costs 3euro!"


def test_holding_back_is_said_once(caplog):
    """The log tells why a stream does not stream."""
    caplog.set_level(logging.INFO, logger="groundwire")
    app = checked(to_text(), on_hallucination="raise")
    for _ in range(3):
        list(app.stream("item3"))
    assert caplog.text.count("held back until the whole answer is judged") == 1


# -- graphs


class State(TypedDict, total=False):
    question: str
    documents: list[Document]
    answer: str
    thanks: str


def graph(rule, *, seen=True):
    """Retrieves, generates and says goodbye; the model is one that LangChain can see, or not."""
    shelf, model = Shelf(), Scribe(rule=rule)
    answer = (lambda prompt: model.invoke(prompt).content) if seen else rule
    builder = StateGraph(State)
    builder.add_node("retrieve", lambda s: {"documents": shelf.invoke(s["question"])})
    builder.add_node(
        "generate",
        lambda s: {"answer": answer(f"{joined(s['documents'])}\n{s['question']}")},
    )
    builder.add_node("close", lambda s: {"thanks": "bye"})
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "generate")
    builder.add_edge("generate", "close")
    builder.add_edge("close", END)
    return builder.compile()


@pytest.mark.parametrize("mode", ["values", "updates"])
@pytest.mark.parametrize("seen", [True, False])
def test_a_graphs_parts_pass_untouched(mode, seen):
    """They never add up to an answer; the verdict, on the graph's own final state, comes as one more part."""
    app = graph(inventive, seen=seen)
    *parts, verdict = checked(app).stream({"question": "item3"}, stream_mode=mode)
    assert parts == list(app.stream({"question": "item3"}, stream_mode=mode))
    assert [claim["text"] for claim in verdict["hallucination"]["claims"]] == ["nothing"]


def test_a_graphs_messages_end_with_a_message():
    """In a stream of messages the verdict is on a last, empty one."""
    *_, (message, _) = checked(graph(inventive)).stream({"question": "item3"}, stream_mode="messages")
    assert message.content == ""
    assert message.response_metadata["hallucination"]["hallucinated"] is True


async def test_a_graph_in_several_modes_ends_with_one_more():
    """Among (mode, part) pairs the verdict is a mode of its own."""
    stream = checked(graph(inventive)).astream({"question": "item3"}, stream_mode=["updates", "values"])
    mode, verdict = (await gathered(stream))[-1]
    assert (mode, verdict["hallucinated"]) == ("hallucination", True)


def nested(rule):
    """A graph whose one node is another graph."""
    builder = StateGraph(State)
    builder.add_node("inner", graph(rule))
    builder.add_edge(START, "inner")
    builder.add_edge("inner", END)
    return builder.compile()


def last_of(app, mode, subgraphs):
    """The last part of a stream as (namespace, mode, data), taken apart as LangGraph says that it is made."""
    *_, part = app.stream(ASKED, stream_mode=mode, subgraphs=subgraphs)
    namespace, part = (part[0], part[1:]) if subgraphs else ((), part)
    if isinstance(mode, list):
        return (namespace, *part)
    return (namespace, mode, *part) if subgraphs else (namespace, mode, part)


MODES = ["updates", "values", "messages", ["updates"], ["messages", "values"]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("subgraphs", [False, True])
def test_a_graph_s_verdict_comes_in_the_form_of_its_parts(mode, subgraphs):
    """A loop that takes each part apart, as it was asked for, takes the last one apart as well."""
    namespace, kind, data = last_of(checked(nested(inventive)), mode, subgraphs)
    if mode == "messages":
        message, _ = data
        data = message.response_metadata
    verdict = data if isinstance(mode, list) else data["hallucination"]
    assert (namespace, kind) == ((), "hallucination" if isinstance(mode, list) else mode)
    assert verdict["hallucinated"] is True


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("subgraphs", [False, True])
def test_a_gated_graph_s_state_comes_in_the_form_that_was_asked_for(mode, subgraphs):
    """Among several modes it is a part of the mode that has states; of messages it is the answer."""
    app = checked(nested(inventive), on_hallucination="replace", replacement="Sorry.")
    namespace, kind, state = last_of(app, mode, subgraphs)
    assert (namespace, kind) == ((), "values" if isinstance(mode, list) else mode)
    if mode == "messages":
        message, _ = state
        assert (message.content, message.response_metadata["hallucination"]["hallucinated"]) == (
            "Sorry.",
            True,
        )
    else:
        assert (state["answer"], state["thanks"]) == ("Sorry.", "bye")


def test_a_gated_graph_streams_its_final_state():
    """There is only the end to tell."""
    app = checked(graph(inventive), on_hallucination="replace", replacement="Sorry.")
    (state,) = app.stream({"question": "item3"}, stream_mode="updates")
    assert (state["answer"], state["thanks"]) == ("Sorry.", "bye")


# -- graphs that are asked for typed parts, with version="v2"

V2 = {"version": "v2"}
ASKED = {"question": "item3"}


@pytest.mark.parametrize("colour", ["sync", "async"])
@pytest.mark.parametrize("action", ["annotate", "warn", "replace", "retry"])
def test_a_graph_s_output_stays_one_with_the_verdict_in_its_value(action, colour):
    """Whoever reads ``value`` finds the whole state there, with what was done about the answer."""
    app = checked(graph(inventive), on_hallucination=action)
    result = app.invoke(ASKED, **V2) if colour == "sync" else asyncio.run(app.ainvoke(ASKED, **V2))
    plain = graph(inventive).invoke(ASKED, **V2)
    assert type(result) is type(plain)
    assert result.interrupts == ()
    assert result.value.keys() == {*plain.value, "hallucination"}
    assert (result.value["question"], result.value["thanks"]) == ("item3", "bye")
    verdict, answer = result.value["hallucination"], plain.value["answer"]
    changed = {"warn": f"{answer}\n\n{verdict['warning']}", "replace": verdict["warning"]}
    assert result.value["answer"] == changed.get(action, answer)
    assert verdict["hallucinated"] is True


def test_a_state_of_a_graph_that_has_no_room_for_a_verdict_is_put_beside_it():
    """As outside of a graph's output: the state itself is under ``answer``."""
    state = create_model("Said", question=(str, ...), documents=(list, []), answer=(str, ""))
    builder = StateGraph(state)
    builder.add_node("retrieve", lambda s: {"documents": Shelf().invoke(s.question)})
    model = Scribe(rule=inventive)
    builder.add_node("say", lambda s: {"answer": model.invoke(f"{joined(s.documents)}\n{s.question}").text})
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "say")
    result = checked(builder.compile(), on_hallucination="replace").invoke(ASKED, **V2)
    assert isinstance(result.value["answer"], state)
    assert result.value["answer"].answer == result.value["hallucination"]["warning"]


@pytest.mark.parametrize("mode", ["values", "updates", "custom", "tasks", "debug", ["updates", "messages"]])
@pytest.mark.parametrize("subgraphs", [False, True])
def test_typed_parts_end_with_one_that_says_that_it_is_the_verdict(mode, subgraphs):
    """A loop that looks at each part's type goes on, and one that knows the verdict's finds it."""
    options = {"stream_mode": mode, "subgraphs": subgraphs, **V2}
    *parts, last = checked(graph(inventive)).stream(ASKED, **options)
    assert [part["type"] for part in parts] == [
        part["type"] for part in graph(inventive).stream(ASKED, **options)
    ]
    assert (last["type"], last["ns"]) == ("hallucination", ())
    assert last["data"]["hallucinated"] is True


async def test_typed_messages_end_with_a_message():
    """As in a stream of messages without types."""
    stream = checked(graph(inventive)).astream(ASKED, stream_mode="messages", **V2)
    parts = await gathered(stream)
    message, _ = parts[-1]["data"]
    assert {part["type"] for part in parts} == {"messages"}
    assert message.response_metadata["hallucination"]["hallucinated"] is True


def test_a_gated_graph_streams_its_final_state_as_a_typed_part():
    """Whatever mode was asked for, there is only the end to tell."""
    app = checked(graph(inventive), on_hallucination="replace", replacement="Sorry.")
    (part,) = app.stream(ASKED, stream_mode="updates", **V2)
    assert (part["type"], part["ns"], part["interrupts"]) == ("values", (), ())
    assert (part["data"]["answer"], part["data"]["thanks"]) == ("Sorry.", "bye")
    assert part["data"]["hallucination"]["hallucinated"] is True


def test_a_graph_s_typed_output_in_a_chain_is_read_like_its_state():
    """A step of one's own that calls the graph hands on what it returns."""
    inner = RunnableLambda(lambda text: graph(inventive).invoke({"question": text}, **V2))
    with GroundwireCallbackHandler(CHECKER, mode="inline") as handler:
        result = checked(inner).invoke("item3", config={"callbacks": [handler]})
    (record,) = handler.outcomes
    assert record.interaction.answer == result.value["answer"]
    assert result.value["hallucination"]["hallucinated"] is True


class _Noting(type(CHECKER)):
    """A checker that notes what it was asked to judge."""

    def __init__(self, judged):
        super().__init__(CHECKER.detector)
        self.judged = judged

    def check(self, interaction):
        self.judged.append(interaction)
        return super().check(interaction)

    async def acheck(self, interaction):
        self.judged.append(interaction)
        return await super().acheck(interaction)
