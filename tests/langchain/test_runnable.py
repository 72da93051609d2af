"""The wrapper: every way of running a runnable judges it, and the verdict belongs to its own answer."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_classic.chains import create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel, FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import PydanticOutputParser, StrOutputParser
from langchain_core.runnables import (
    ConfigurableField,
    Runnable,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import create_retriever_tool
from langchain_core.tracers.context import collect_runs
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel

from groundwire.core import wire
from groundwire.host.actions import HallucinationError
from groundwire.langchain import (
    GroundwireCallbackHandler,
    RunnableWithHallucinationCheck,
    interaction,
    with_hallucination_check,
)
from tests.langchain import apps
from tests.langchain.wrapped_apps import (
    CHECKER,
    PROMPT,
    Scribe,
    Shelf,
    faithful,
    inventive,
    joined,
    odd_ones_invent,
    to_dict,
    to_message,
    to_text,
)


def checked(runnable, **options):
    return with_hallucination_check(runnable, checker=options.pop("checker", CHECKER), **options)


def flagged(result) -> list[str]:
    return [claim["text"] for claim in result["hallucination"]["claims"]]


def is_right(result, number: int) -> bool:
    """Whether a result of ``odd_ones_invent`` carries the verdict on its own answer and document."""
    if f"item{number} " not in result["answer"]:
        return False
    return flagged(result) == (["nothing"] if number % 2 else [])


# -- outputs


def test_text_comes_in_an_envelope():
    """Text can carry nothing, so answer and verdict come side by side."""
    result = checked(to_text(inventive)).invoke("What does item3 cost?")
    assert result["answer"] == "item3 costs nothing"
    assert flagged(result) == ["nothing"]


def test_a_message_carries_the_verdict_in_its_response_metadata():
    """The message stays a message, with what it said and what it knew."""
    result = checked(to_message(inventive)).invoke("What does item3 cost?")
    assert isinstance(result, AIMessage)
    assert result.content == "item3 costs nothing"
    assert result.response_metadata["hallucination"]["hallucinated"] is True


def test_a_dict_gets_one_more_key():
    """All that was in it stays."""
    result = checked(to_dict()).invoke({"question": "What does item3 cost?"})
    assert list(result) == ["question", "context", "answer", "hallucination"]
    assert result["hallucination"]["hallucinated"] is False


def test_what_was_returned_is_not_changed_in_place():
    """A runnable may hand out an object that it keeps."""
    kept = {"answer": "item3 costs nothing", "context": "item3 costs 3euro"}
    result = checked(RunnableLambda(lambda _: kept)).invoke("item3")
    assert flagged(result) == ["nothing"]
    assert list(kept) == ["answer", "context"]


class Reply(BaseModel):
    answer: str
    sources: list[str] = []


class RoomyReply(Reply):
    hallucination: dict[str, Any] | None = None


def test_a_model_that_declares_the_field_gets_it_filled():
    """A pydantic model with a field ``hallucination`` stays what it is."""
    reply = RunnableLambda(lambda answer: RoomyReply(answer=answer))
    result = checked(to_text(inventive) | reply).invoke("item3")
    assert isinstance(result, RoomyReply)
    assert result.hallucination["spans"] == [{"start": 12, "end": 19}]


def test_any_other_model_comes_in_an_envelope():
    """A pydantic model without that field can't be given one."""
    reply = RunnableLambda(lambda answer: Reply(answer=answer))
    result = checked(to_text(inventive) | reply).invoke("item3")
    assert result["answer"] == Reply(answer="item3 costs nothing")
    assert flagged(result) == ["nothing"]


def test_an_answer_in_a_form_that_comes_with_the_reply_is_replaced_in_both():
    """What LangChain returns where the raw message is asked for as well."""

    class Form(BaseModel):
        """An answer."""

        answer: str

    class Filling(FakeMessagesListChatModel):
        def bind_tools(self, tools, **kwargs):
            return self

    call = {"name": "Form", "args": {"answer": "item3 costs nothing"}, "id": "1"}
    model = Filling(responses=[AIMessage("", tool_calls=[call])])
    app = to_message(model=model.with_structured_output(Form, include_raw=True))
    result = checked(app, on_hallucination="replace").invoke("item3?")
    assert flagged(result) == ["nothing"]
    assert set(result) == {"raw", "parsed", "parsing_error", "hallucination"}
    assert "nothing" not in str((result["raw"], result["parsed"]))


def test_the_verdict_is_the_wire_form_and_nothing_else():
    """It reads back as the outcome that it was."""
    result = checked(to_text(inventive)).invoke("item3")
    data = json.loads(json.dumps(result["hallucination"]))
    assert wire.encode(wire.decode(data)) == result["hallucination"]


def test_the_answer_judged_is_the_one_returned():
    """Steps after the model change the answer; the offsets fit what the caller gets."""
    shouted = to_text(inventive) | (lambda text: f"Well: {text}")
    result = checked(shouted).invoke("item3")
    words = [result["answer"][span["start"] : span["end"]] for span in result["hallucination"]["spans"]]
    assert words == ["Well", "nothing"]


@pytest.mark.parametrize(("app", "given"), [(to_text, "item3"), (to_message, "item3")])
def test_attach_none_keeps_the_type(app, given):
    """The verdict is then on the trace alone."""
    bare, result = app().invoke(given), checked(app(), attach="none").invoke(given)
    assert type(result) is type(bare)
    assert str(getattr(result, "text", result)) == "item3 costs 3euro"
    assert "hallucination" not in getattr(result, "response_metadata", {})


def test_attach_envelope_keeps_the_output_whole():
    """Whatever is returned stands untouched under ``answer``."""
    result = checked(to_dict(), attach="envelope").invoke({"question": "item3"})
    assert list(result) == ["answer", "hallucination"]
    assert list(result["answer"]) == ["question", "context", "answer"]


# -- what is judged


def test_without_documents_nothing_is_called_clean():
    """A chain that retrieves nothing ends in an abstention that says so."""
    result = checked(FakeListChatModel(responses=["Paris"]) | StrOutputParser()).invoke("Capital of France?")
    assert result["hallucination"]["status"] == "abstained"
    assert result["hallucination"]["abstention"] == "NO_CONTEXT"
    assert result["hallucination"]["reason"]


def test_an_output_without_an_answer_is_not_judged():
    """The reason names the option that helps."""
    result = checked(RunnableLambda(lambda _: {"verse": ["a", "b"]})).invoke("item3")
    assert result["hallucination"]["abstention"] == "NO_CLAIMS"
    assert "answer_key" in result["hallucination"]["reason"]


@pytest.mark.parametrize(
    "echoed",
    [{"text": "item3 costs 3euro"}, {"messages": [HumanMessage("?"), AIMessage("item3 costs 3euro")]}],
)
def test_what_the_input_held_is_not_judged_for_the_answer(echoed):
    """A chain that hands its input on, and answers under a key of its own."""
    app = RunnablePassthrough.assign(reply=(lambda _: "item3") | to_text(inventive))
    result = checked(app).invoke(echoed)
    assert flagged(result) == ["nothing"]


@pytest.mark.parametrize("more", [{}, {"title": FakeListChatModel(responses=["A fine title"])}])
def test_documents_under_a_usual_key_are_not_judged_for_the_answer(more):
    """The answer stands under a key that nobody knows; beside other words of models it can't be told."""
    told = {name: (lambda x: x["question"]) | model | StrOutputParser() for name, model in more.items()}
    prompt = (lambda x: {**x, "context": x["text"]}) | PROMPT
    app = RunnablePassthrough.assign(text=(lambda x: x["question"]) | Shelf() | joined).assign(
        summary=prompt | Scribe(rule=inventive) | StrOutputParser(), **told
    )
    result = checked(app).invoke({"question": "item3"})
    if more:
        assert result["hallucination"]["abstention"] == "NO_CLAIMS"
    else:
        assert flagged(result) == ["nothing"]


def test_an_answer_that_is_given_is_judged_where_models_only_help_to_find_documents():
    """A check of facts: a model writes what is looked up, and nobody answers."""
    query = (lambda x: x["question"]) | FakeListChatModel(responses=["topic1 weight"]) | StrOutputParser()
    app = RunnablePassthrough.assign(documents=query | apps.Library())
    result = checked(app).invoke({"question": apps.question(1), "answer": apps.answer(1)})
    assert result["hallucination"]["status"] == "checked"


def test_keys_can_be_named():
    """Where question, documents and answer stand under names of the application's own."""
    seen = []
    app = RunnableLambda(lambda x: {"reply": f"{x['ask']} costs nothing", "hits": ["item3 costs 3euro"]})
    result = checked(
        app,
        question_key="ask",
        context_key="hits",
        answer_key="reply",
        on_hallucination=lambda interaction, outcome: seen.append(interaction),
    ).invoke({"ask": "item3"})
    assert flagged(result) == ["nothing"]
    (interaction,) = seen
    assert (interaction.question, interaction.answer) == ("item3", "item3 costs nothing")


def test_a_model_that_langchain_can_not_see_is_judged_all_the_same():
    """The retriever was seen and the answer is in the output: what wrote it does not matter."""
    app = Shelf() | joined | (lambda context: f"{context} or nothing")
    assert flagged(checked(app).invoke("item3")) == ["or", "nothing"]


def test_two_apps_in_one_are_held_against_all_their_documents():
    """What answers from several retrievals may say what any of them says."""
    apps = RunnableParallel(a=(lambda _: "item3") | to_text(), b=(lambda _: "item4") | to_text(inventive))
    result = checked(apps | (lambda both: f"{both['a']} and {both['b']}")).invoke("both?")
    assert flagged(result) == ["and", "nothing"]


def test_what_the_model_did_not_see_supports_nothing():
    """Documents that were found and then cut from the prompt are in the output, and are no context."""
    shown = (lambda given: {**given, "context": joined(given["context"][:1])}) | PROMPT
    answer = shown | Scribe(rule=lambda _: "item3 lasts 3years") | StrOutputParser()
    app = RunnablePassthrough.assign(context=(lambda given: given["question"]) | Shelf(k=2)).assign(
        answer=answer
    )
    assert flagged(checked(app).invoke({"question": "item3"})) == ["lasts", "3years"]


def test_documents_that_are_returned_and_were_not_shown_support_nothing():
    """A state may keep what a grader has thrown out: the model answered by heart."""
    shown = (
        RunnablePassthrough.assign(context=lambda given: "")
        | PROMPT
        | Scribe(rule=faithful)
        | StrOutputParser()
    )
    app = RunnablePassthrough.assign(documents=(lambda given: given["question"]) | Shelf())
    result = checked(app | RunnablePassthrough.assign(answer=shown)).invoke({"question": "item3"})
    assert result["documents"]
    assert result["hallucination"]["abstention"] == "NO_CONTEXT"


class Remembering(MessagesState, total=False):
    documents: list


def turns(direct, find=lambda asked: Shelf().invoke(asked), **options):
    """The results of two turns of a graph, the first of which looks item3 up, as the second need not."""

    def tell(state):
        asked = state["messages"][-1].text
        prompt = PROMPT.format(context=joined(state["documents"]), question=asked)
        return {"messages": [Scribe(rule=faithful).invoke(prompt)]}

    def way(state):
        return "find" if len(state["messages"]) == 1 else "direct"

    builder = StateGraph(Remembering)
    builder.add_node("find", lambda state: {"documents": find(state["messages"][-1].text)})
    builder.add_node("tell", tell)
    builder.add_node("direct", direct)
    builder.add_conditional_edges(START, way, ["find", "direct"])
    builder.add_edge("find", "tell")
    app = checked(builder.compile(checkpointer=InMemorySaver()), **options)
    config = {"configurable": {"thread_id": "1"}}
    return [app.invoke({"messages": [HumanMessage(asked)]}, config) for asked in ("item3?", "Is item3 old?")]


def canned(text):
    return lambda state: {"messages": [AIMessage(text)]}


def by_heart(state):
    return {"messages": [Scribe(rule=faithful).invoke(state["messages"])]}


@pytest.mark.parametrize("direct", [canned("We have sent you a mail"), by_heart])
def test_documents_of_an_earlier_turn_support_nothing(direct):
    """A graph remembers them, and nobody was told of them in this one: nothing is judged or replaced."""
    first, second = turns(direct, on_hallucination="replace")
    assert first["hallucination"]["hallucinated"] is False
    assert second["documents"]
    assert second["hallucination"]["abstention"] == "NO_CONTEXT"
    assert second["messages"][-1].text in ("We have sent you a mail", "item3 costs 3euro")


def test_documents_that_are_found_once_more_are_of_this_turn():
    """By a search and a model that LangChain does not see."""
    found = [Document("item3 costs 3euro")]

    def direct(state):
        return {"documents": [Document("item3 costs 3euro")], "messages": [AIMessage("item3 costs nothing")]}

    _, second = turns(direct, find=lambda asked: found)
    assert second["hallucination"]["hallucinated"] is True


def test_documents_that_no_model_was_told_do_not_support_its_words():
    """A search that LangChain does not see has found them; the model spoke by heart."""

    def app(asked):
        return {
            "documents": [Document("item3 costs 3euro")],
            "answer": Scribe(rule=faithful).invoke(asked).text,
        }

    result = checked(RunnableLambda(app)).invoke("What about item3?")
    assert result["hallucination"]["abstention"] == "NO_CONTEXT"


def test_a_retrieval_chain_of_langchains_own_is_judged():
    """``create_retrieval_chain`` returns documents and answer; both are used, and all of it stays."""
    stuffed = create_stuff_documents_chain(Scribe(rule=inventive), PROMPT)
    chain = (lambda given: {**given, "question": given["input"]}) | create_retrieval_chain(Shelf(), stuffed)
    result = checked(chain).invoke({"input": "item3?"})
    assert flagged(result) == ["nothing"]
    assert {"input", "context", "answer"} < result.keys()


def test_an_agent_can_be_wrapped():
    """The answer is its last message, the documents what its tools brought."""

    class Clerk(FakeMessagesListChatModel):
        def bind_tools(self, tools, **kwargs):
            return self

    call = {"name": "shelf", "args": {"query": "item3"}, "id": "1"}
    model = Clerk(responses=[AIMessage("", tool_calls=[call]), AIMessage("item3 costs nothing")])
    agent = create_agent(model, [create_retriever_tool(Shelf(), "shelf", "Find items.")])
    result = checked(agent, on_hallucination="warn").invoke({"messages": [HumanMessage("item3?")]})
    assert flagged(result) == ["nothing"]
    assert result["messages"][-1].content.startswith("item3 costs nothing\n\nThis answer says")


def test_a_block_around_the_call_does_not_hide_it():
    """A block of separate calls has an end of its own; the wrapped call inside it is judged at its own."""
    with interaction(question="something else"):
        result = checked(to_text(inventive)).invoke("item3")
    assert flagged(result) == ["nothing"]


def test_the_wrapped_error_passes_untouched():
    """A runnable that fails fails as it would alone."""
    error = KeyError("mine")

    def fail(_):
        raise error

    with pytest.raises(KeyError) as caught:
        checked(Shelf() | fail).invoke("item3")
    assert caught.value is error


# -- every way of running


def ways() -> dict[str, Any]:
    """Each way of running one input of a runnable, to its whole output."""

    def added(chunks):
        total = None
        for chunk in chunks:
            total = chunk if total is None else total + chunk
        return total

    async def aadded(chunks):
        return added([chunk async for chunk in chunks])

    async def aiter_(value):
        yield value

    async def last_event(runnable, given):
        events = [event async for event in runnable.astream_events(given, version="v2")]
        return events[-1]["data"]["output"]

    async def first(results):
        return (await anext(results))[1]

    return {
        "invoke": lambda r, x: r.invoke(x),
        "ainvoke": lambda r, x: asyncio.run(r.ainvoke(x)),
        "batch": lambda r, x: r.batch([x])[0],
        "abatch": lambda r, x: asyncio.run(r.abatch([x]))[0],
        "batch_as_completed": lambda r, x: next(r.batch_as_completed([x]))[1],
        "abatch_as_completed": lambda r, x: asyncio.run(first(r.abatch_as_completed([x]))),
        "stream": lambda r, x: added(r.stream(x)),
        "astream": lambda r, x: asyncio.run(aadded(r.astream(x))),
        "transform": lambda r, x: added(r.transform(iter([x]))),
        "atransform": lambda r, x: asyncio.run(aadded(r.atransform(aiter_(x)))),
        "astream_events": lambda r, x: asyncio.run(last_event(r, x)),
        "with_config": lambda r, x: r.with_config(tags=["mine"]).invoke(x),
        "with_config batch": lambda r, x: r.with_config(tags=["mine"]).batch([x])[0],
        "with_config stream": lambda r, x: added(r.with_config(tags=["mine"]).stream(x)),
        "with_retry": lambda r, x: r.with_retry().invoke(x),
        "with_fallbacks": lambda r, x: r.with_fallbacks([RunnableLambda(lambda _: "lost")]).invoke(x),
        "as a fallback": lambda r, x: RunnableLambda(lambda _: 1 / 0).with_fallbacks([r]).invoke(x),
        "piped from": lambda r, x: (r | RunnablePassthrough()).invoke(x),
        "piped into": lambda r, x: (RunnablePassthrough() | r).invoke(x),
        "piped stream": lambda r, x: added((RunnablePassthrough() | r | RunnablePassthrough()).stream(x)),
        "map": lambda r, x: r.map().invoke([x])[0],
        "in parallel": lambda r, x: RunnableParallel(one=r).invoke(x)["one"],
        "bind": lambda r, x: r.bind().invoke(x),
        "pick": lambda r, x: r.pick(["answer", "hallucination"]).invoke(x),
        "assign": lambda r, x: r.assign(more=lambda _: 1).invoke(x),
    }


@pytest.mark.parametrize("way", ways())
@pytest.mark.parametrize("action", ["annotate", "retry"])
def test_every_way_of_running_judges(way, action):
    """However it is run, the output carries the verdict on its answer, whether or not it was held back."""
    app = checked(to_text(odd_ones_invent), on_hallucination=action)
    for number in (2, 3):
        assert is_right(ways()[way](app, f"What does item{number} cost?"), number)


def with_history(runnable, sessions, **keys):
    with pytest.warns(DeprecationWarning, match="RunnableWithMessageHistory"):
        return RunnableWithMessageHistory(
            runnable, lambda session_id: sessions.setdefault(session_id, InMemoryChatMessageHistory()), **keys
        )


SESSION = {"configurable": {"session_id": "1"}}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("outside", [True, False])
def test_message_history_works_inside_and_outside(outside):
    """The conversation is stored once, with the answer that was given, and the verdict is on that answer."""
    sessions = {}
    last = RunnableLambda(lambda given: given[-1].content)
    app, keys = last | to_message(odd_ones_invent), {}
    if outside:
        talk = checked(with_history(app, sessions, **keys))
        assert [spec.id for spec in talk.config_specs] == ["session_id"]
    else:
        talk = with_history(checked(app), sessions, **keys)
    for number in (2, 3):
        answer = talk.invoke([HumanMessage(f"item{number}")], config=SESSION)
        assert answer.response_metadata["hallucination"]["hallucinated"] is bool(number % 2)
    assert [message.content for message in sessions["1"].messages] == [
        "item2",
        "item2 costs 2euro",
        "item3",
        "item3 costs nothing",
    ]


def test_a_batch_keeps_each_verdict_with_its_own_answer():
    """Twenty at once, with limited concurrency, in the order of the inputs."""
    results = checked(to_text(odd_ones_invent)).batch(
        [f"item{n}" for n in range(20)], config={"max_concurrency": 4}
    )
    assert all(is_right(result, n) for n, result in enumerate(results))


def test_a_batch_can_return_exceptions():
    """One that fails takes none of the others with it."""
    app = checked(to_text(odd_ones_invent), on_hallucination="raise")
    results = app.batch(["item2", "item3", "item4"], return_exceptions=True)
    assert [isinstance(result, HallucinationError) for result in results] == [False, True, False]


def test_one_wrapper_serves_many_threads():
    """Twenty threads with a batch of ten and a stream each: every verdict is its own answer's."""
    app = checked(to_text(odd_ones_invent))

    def work(thread):
        numbers = range(thread * 10, thread * 10 + 10)
        batch = app.batch([f"item{n}" for n in numbers], config={"max_concurrency": 2})
        stream = ways()["stream"](app, f"item{thread}")
        return all(map(is_right, batch, numbers)) and is_right(stream, thread)

    with ThreadPoolExecutor(20) as pool:
        assert all(pool.map(work, range(20)))


async def test_two_hundred_at_once_keep_their_verdicts():
    """All are in flight together when the first one answers."""
    waiting, everybody = [], asyncio.Event()

    async def wait(text):
        waiting.append(text)
        if len(waiting) == 200:
            everybody.set()
        await everybody.wait()
        return text

    app = checked(to_text(odd_ones_invent) | RunnableLambda(lambda x: x, afunc=wait))
    results = await asyncio.gather(*(app.ainvoke(f"item{n}") for n in range(200)))
    assert all(is_right(result, n) for n, result in enumerate(results))


def test_the_wrappers_own_run_holds_the_verdict():
    """Its run in a trace ends with the verdict in its outputs, and the wrapped runs lie inside."""
    with collect_runs() as collected:
        checked(to_dict(inventive)).invoke({"question": "item3"})
    (run,) = collected.traced_runs
    assert run.outputs["hallucination"]["hallucinated"] is True
    assert run.name.startswith("HallucinationCheck<")
    assert len(run.child_runs) == 1


def test_a_callback_on_a_wrapped_chain_judges_it_as_ever():
    """Both look at the same answer, each once."""
    handler = GroundwireCallbackHandler(checker=CHECKER, mode="inline")
    result = checked(to_text(inventive)).invoke("item3", config={"callbacks": [handler]})
    (record,) = handler.outcomes
    assert [claim.text for claim in record.outcome.claims] == flagged(result) == ["nothing"]


# -- what it looks like


def test_it_looks_like_what_it_wraps():
    """Types, configuration and graph are those of the wrapped runnable."""
    inner = to_dict().with_types(input_type=dict)
    outer = checked(inner)
    assert outer.InputType is inner.InputType
    assert outer.get_input_schema() is inner.get_input_schema()
    assert outer.config_specs == inner.config_specs
    assert len(outer.get_graph().nodes) == len(inner.get_graph().nodes)


def test_the_output_schema_tells_of_the_verdict():
    """A dict's schema gains the key; text's becomes the envelope; a message's stays."""
    inner = to_dict()
    fields = set(inner.get_output_schema().model_fields) | {"hallucination"}
    assert set(checked(inner).get_output_schema().model_fields) == fields
    text = checked(to_text())
    assert set(text.get_output_schema().model_fields) == {"answer", "hallucination"}
    assert text.get_output_jsonschema()["properties"]["answer"] == {"title": "Answer", "type": "string"}
    assert text.OutputType == dict[str, Any]
    message = to_message()
    assert checked(message).get_output_schema() is message.get_output_schema()
    assert checked(to_text(), attach="none").OutputType is str
    assert checked(message, attach="envelope").OutputType == dict[str, Any]


@pytest.mark.parametrize(
    ("model", "names"),
    [(RoomyReply, {"answer", "sources", "hallucination"}), (Reply, {"answer", "hallucination"})],
)
def test_the_output_schema_of_a_model(model, names):
    """A model with the field is its own schema; one without stands in an envelope."""
    app = checked(PydanticOutputParser(pydantic_object=model))
    assert set(app.get_output_schema().model_fields) == names
    assert (app.OutputType is model) is (model is RoomyReply)


def test_options_can_be_configurable():
    """LangChain rebuilds such a runnable from its fields at each call."""
    app = checked(to_text(inventive)).configurable_fields(attach=ConfigurableField(id="attach"))
    assert app.invoke("item3", config={"configurable": {"attach": "none"}}) == "item3 costs nothing"
    assert flagged(app.invoke("item3")) == ["nothing"]


def test_the_class_and_the_function_are_the_same():
    """The function is only the shorter name."""
    assert isinstance(checked(to_text()), RunnableWithHallucinationCheck)
    assert isinstance(checked(to_text()), Runnable)
