"""What the wrapper does about an answer that is not supported, or that could not be judged."""

import dataclasses
import functools
import json
import operator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel, FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool
from pydantic import BaseModel

from groundwire import AbstainedError, Checker, ConfigurationError, OnAbstention, Policy
from groundwire.host.actions import UNCHECKED_WARNING, Action, HallucinationError
from groundwire.host.notices import WITHHELD
from groundwire.langchain import GroundwireCallbackHandler, with_hallucination_check
from groundwire.langchain.retry import Expand, NameClaims
from tests.langchain.wrapped_apps import (
    CHECKER,
    Scribe,
    Shelf,
    better_when_told,
    faithful,
    inventive,
    joined,
    odd_ones_invent,
    to_dict,
    to_message,
    to_text,
)
from tests.scripted import Broken, NovelWords


def checked(runnable, **options):
    return with_hallucination_check(runnable, **{"checker": CHECKER, **options})


def test_a_warning_is_appended_and_offsets_still_hold():
    """The answer stays in front, so each span still marks the words it was about."""
    result = checked(to_text(inventive), on_hallucination="warn").invoke("item3")
    verdict = result["hallucination"]
    assert result["answer"] == f"item3 costs nothing\n\n{verdict['warning']}"
    assert result["answer"][verdict["spans"][0]["start"] : verdict["spans"][0]["end"]] == "nothing"


@dataclasses.dataclass(frozen=True)
class Reply:
    answer: str


def test_a_dataclass_is_warned_and_replaced_in_its_own_field():
    """It comes back as what it was, in the envelope."""
    app = to_text(inventive) | Reply
    warned = checked(app, on_hallucination="warn").invoke("item3")
    assert warned["answer"] == Reply(f"item3 costs nothing\n\n{warned['hallucination']['warning']}")
    replaced = checked(app, on_hallucination="replace", replacement="Sorry.").invoke("item3")
    assert replaced["answer"] == Reply("Sorry.")


@pytest.mark.parametrize("streamed", [False, True])
def test_an_answer_that_can_not_be_warned_about_is_told_of_once(streamed, caplog):
    """The output stays as it is, and nobody is left to believe that it carries the warning."""
    app = checked(to_text(inventive) | (lambda text: {"reply": text}), on_hallucination="warn")
    for _ in range(2):
        result = list(app.stream("item3"))[-1] if streamed else app.invoke("item3")
    assert (result["reply"], result["hallucination"]["hallucinated"]) == ("item3 costs nothing", True)
    (told,) = caplog.messages
    assert "answer_key" in told


def test_wrappers_around_each_other_warn_once():
    """The inner one's warning is there already."""
    inner = checked(to_text(inventive) | (lambda text: {"answer": text}), on_hallucination="warn")
    result = checked(inner, on_hallucination="warn").invoke("item3")
    assert result["answer"].count(result["hallucination"]["warning"]) == 1


WITHHOLDING = [
    {"on_hallucination": "replace"},
    {"on_hallucination": "replace", "replacement": "No."},
    {"on_hallucination": lambda interaction, outcome: "Please ask at the desk."},
]
FORMS = {
    "a text": (to_text, "item3"),
    "a message": (to_message, "item3"),
    "a dict": (to_dict, {"question": "item3"}),
}


def ran(app, given, streamed):
    return functools.reduce(operator.add, app.stream(given)) if streamed else app.invoke(given)


def said(result):
    """The answer's own text, in however many envelopes."""
    while isinstance(result, dict):
        result = result["answer"]
    return getattr(result, "text", result)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("attach", ["auto", "none"])
@pytest.mark.parametrize("form", FORMS)
def test_the_warning_of_a_wrapper_inside_is_no_claim(form, attach, streamed):
    """The outer one judges what the runnable said, and can still do something about it."""
    build, given = FORMS[form]
    inner = checked(build(inventive), on_hallucination="warn", attach=attach)
    result = ran(checked(inner, on_hallucination="warn", attach="envelope"), given, streamed)
    assert [claim["text"] for claim in result["hallucination"]["claims"]] == ["nothing"]
    assert said(result) == f"item3 costs nothing\n\n{result['hallucination']['warning']}"
    replaced = checked(inner, on_hallucination="replace", replacement="Nope.", attach="envelope")
    assert said(ran(replaced, given, streamed)) == "Nope."


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("options", WITHHOLDING)
@pytest.mark.parametrize("form", FORMS)
def test_what_a_wrapper_inside_has_put_in_an_answers_place_is_not_judged(form, options, streamed):
    """Neither clean nor hallucinated: there is no answer, and the reason says why."""
    build, given = FORMS[form]
    outer = checked(checked(build(inventive), **options), attach="envelope")
    verdict = ran(outer, given, streamed)["hallucination"]
    assert (verdict["abstention"], verdict["reason"]) == ("NO_CLAIMS", WITHHELD)


@pytest.mark.parametrize("options", [{"on_hallucination": "warn"}, *WITHHOLDING])
def test_what_a_wrapper_in_a_tool_has_written_is_no_evidence(options):
    """Not for a handler either: what the tool's own model was told is."""

    class Empty(Shelf):
        def _get_relevant_documents(self, query, *, run_manager):
            return []

    @tool
    def look_up(query: str) -> str:
        """Look an item up."""
        return checked(to_text(inventive, retriever=Empty()), **settings(options)).invoke(query)

    def settings(given):
        doing = given["on_hallucination"]
        return {**given, "on_abstention": doing, "attach": "none"}

    app = (lambda query: f"{look_up.invoke(query)}\nitem3?") | Scribe(rule=inventive) | StrOutputParser()
    handler = GroundwireCallbackHandler(CHECKER, mode="inline")
    app.invoke("item3", config={"callbacks": [handler]})
    assert [one.text for record in handler.outcomes for one in record.interaction.contexts] == []


def test_a_grounded_answer_gets_no_warning():
    """Nothing is done about an answer that the documents support."""
    assert checked(to_text(), on_hallucination="warn").invoke("item3")["answer"] == "item3 costs 3euro"


@pytest.mark.parametrize("app", [to_text, to_message, to_dict])
def test_an_answer_can_be_replaced(app):
    """The caller gets the other text, and the verdict on what was withheld."""
    result = checked(app(inventive), on_hallucination="replace", replacement="Sorry.").invoke(
        {"question": "item3"} if app is to_dict else "item3"
    )
    verdict = (result.response_metadata if app is to_message else result)["hallucination"]
    assert (result.content if app is to_message else result["answer"]) == "Sorry."
    assert verdict["hallucinated"] is True


def test_an_answer_is_replaced_where_it_stands_and_not_what_was_asked_of():
    """A claim to be checked comes in under the key that most often holds the answer."""
    app = RunnablePassthrough.assign(response=lambda given: to_text(inventive).invoke(given["answer"]))
    given = {"answer": "item3 costs 9euro"}
    replaced = checked(app, on_hallucination="replace", replacement="Sorry.").invoke(given)
    assert (replaced["answer"], replaced["response"]) == ("item3 costs 9euro", "Sorry.")
    warned = checked(app, on_hallucination="warn")
    for result in (warned.invoke(given), functools.reduce(operator.add, warned.stream(given))):
        assert result["answer"] == "item3 costs 9euro"
        assert result["response"] == f"item3 costs nothing\n\n{result['hallucination']['warning']}"


@pytest.mark.parametrize("key", ["reply", "answer"])
def test_nothing_passes_for_an_answer_that_could_not_be_told_from_the_input(key):
    """Of an answer that can't be reached, the replacement is all that is left."""
    app = RunnablePassthrough.assign(**{key: (lambda given: given["text"]) | to_text(inventive) | str.title})
    result = checked(app, on_hallucination="replace", on_abstention="replace", replacement="Sorry.").invoke(
        {"text": "item3 costs 9euro"}
    )
    assert "Item3 Costs Nothing" not in str({**result, "hallucination": None})


def test_an_answer_in_blocks_is_warned_about_in_a_block_of_its_own():
    """Content that comes in blocks, as Bedrock's does, keeps them."""
    blocks = [{"type": "text", "text": "item3 costs "}, {"type": "text", "text": "nothing"}]
    app = to_dict() | (lambda x: {"context": x["context"], "answer": AIMessage(blocks)})
    answer = checked(app, on_hallucination="warn").invoke({"question": "item3"})["answer"]
    assert answer.content[:2] == blocks
    assert answer.content[2]["text"].startswith("\n\nThis answer says things")


def test_the_answer_of_a_conversation_is_its_last_message():
    """Warnings and replacements reach it there."""
    app = RunnableLambda(
        lambda _: {
            "messages": [HumanMessage("item3?"), AIMessage("item3 costs nothing")],
            "context": "item3 costs 3euro",
        }
    )
    result = checked(app, on_hallucination="replace", replacement="Sorry.").invoke("item3")
    assert [message.content for message in result["messages"]] == ["item3?", "Sorry."]


async def test_raising_carries_interaction_and_outcome():
    """The error is the same in both colours."""
    app = checked(to_text(inventive), on_hallucination=Action.RAISE)
    with pytest.raises(HallucinationError) as caught:
        app.invoke("item3")
    assert caught.value.interaction.answer == "item3 costs nothing"
    assert caught.value.outcome.hallucinated
    with pytest.raises(HallucinationError):
        await app.ainvoke("item3")


def test_a_gate_can_fail_closed():
    """What nobody could judge can be refused, replaced or marked."""
    model = FakeListChatModel(responses=["Paris"]) | StrOutputParser()
    with pytest.raises(AbstainedError):
        checked(model, on_abstention="raise").invoke("Capital?")
    replaced = checked(model, on_abstention="replace", replacement="Sorry.").invoke("Capital?")
    assert replaced["answer"] == "Sorry."
    warned = checked(model, on_abstention="warn").invoke("Capital?")
    assert warned["answer"] == f"Paris\n\n{UNCHECKED_WARNING}"


def test_what_is_withheld_is_gone_whatever_it_was():
    """An output in which no answer was found is withheld whole, where that was asked for."""
    options = {"on_abstention": "replace", "replacement": "Sorry."}
    result = checked(RunnableLambda(lambda _: {"verse": "item3 costs nothing"}), **options).invoke("item3")
    assert result["answer"] == "Sorry."
    assert list(result) == ["answer", "hallucination"]


def test_a_checker_that_raises_is_heard():
    """A policy that asks to raise holds for what the wrapper itself could not read."""
    strict = Checker(NovelWords(), policy=Policy(on_abstention=OnAbstention.RAISE))
    with pytest.raises(AbstainedError):
        checked(FakeListChatModel(responses=["Paris"]) | StrOutputParser(), checker=strict).invoke("Capital?")


def test_a_checker_that_is_switched_off_says_so():
    """Every output still says that it was not judged, whatever was in it."""
    off = Checker(NovelWords(), policy=Policy(enabled=False))
    for app in (to_text(inventive), FakeListChatModel(responses=["Paris"]) | StrOutputParser()):
        assert checked(app, checker=off).invoke("item3")["hallucination"]["abstention"] == "NOT_SAMPLED"


# -- retries


@pytest.mark.parametrize("given", ["item3", [HumanMessage("item3")]], ids=["text", "messages"])
def test_a_retry_names_the_claims_to_the_model(given):
    """The second answer is written knowing which words were not supported, and is the one returned."""
    as_text = RunnableLambda(lambda x: x if isinstance(x, str) else x[-1].content)
    model = Scribe(rule=better_when_told)
    result = checked(as_text | to_text(model=model), on_hallucination="retry").invoke(given)
    assert model.said == ["item3 costs nothing", "item3 costs 3euro"]
    assert result["answer"] == "item3 costs 3euro"
    assert result["hallucination"]["hallucinated"] is False


async def test_a_retry_leaves_the_question_as_it_was_asked():
    """The note is between us and the model: an echoed question, and the one judged, are the caller's."""
    asked = []

    def decide(interaction, outcome):
        asked.append(interaction.question)
        return "retry"

    app = checked(to_dict(inventive), on_hallucination=decide)
    for result in (app.invoke({"question": "item3?"}), await app.ainvoke({"question": "item3?"})):
        assert result["question"] == "item3?"
    assert asked == ["item3?"] * 4


def test_retries_end():
    """A model that never learns is asked as often as was said, and then something is done."""
    model = Scribe(rule=inventive)
    app = to_text(model=model)
    options = {"on_hallucination": "retry", "max_retries": 3}
    result = checked(app, **options, after_retries="replace", replacement="Sorry.").invoke("item3")
    assert len(model.said) == 4
    assert result["answer"] == "Sorry."
    with pytest.raises(HallucinationError):
        checked(app, **options, after_retries="raise").invoke("item3")


def test_a_grounded_answer_is_not_asked_for_again():
    """A retry costs a call; a supported answer costs none."""
    model = Scribe(rule=faithful)
    checked(to_text(model=model), on_hallucination="retry").invoke("item3")
    assert len(model.said) == 1


def test_a_retry_can_bring_more_documents():
    """Each retry doubles what the retriever brings, in a copy: the chain itself stays as it was."""
    shelf = Shelf(k=1)
    lasting = to_text(lambda prompt: "item3 lasts 3years", shelf)
    result = checked(lasting, on_hallucination="retry", retry=Expand()).invoke("item3")
    assert [k for _, k in shelf.asked] == [1, 2]
    assert result["hallucination"]["hallucinated"] is False
    assert shelf.k == 1


def test_a_retry_can_revise_the_input_itself():
    """A callable makes the next input from the last one and the outcome."""

    def revise(given, outcome):
        return f"{given} and item{len(outcome.claims) + 3}"

    app = to_text(odd_ones_invent, Shelf(k=4))
    result = checked(app, on_hallucination="retry", retry=revise).invoke("item3")
    assert result["answer"] == "item4 costs 4euro"


def test_an_input_without_a_question_can_not_be_asked_again(caplog):
    """The first answer stands, what was to be done after retries is done, and the log says why."""
    app = checked(
        (lambda x: f"item{x['number']}") | to_text(inventive), on_hallucination="retry", after_retries="warn"
    )
    result = app.invoke({"number": 3})
    assert result["answer"].startswith("item3 costs nothing\n\n")
    assert "question_key" in caplog.text


# -- mistakes


def test_every_mistake_is_named_at_once():
    """A wrapper that can't work is refused when it is made, with a hint for each mistake."""
    with pytest.raises(ConfigurationError) as caught:
        with_hallucination_check(
            "a chain",
            checker="lexical",
            on_halucination="raise",
            on_hallucination="explode",
            attach="everywhere",
            answer_key=7,
            retry=3,
        )
    named = [
        "did you mean 'on_hallucination'",
        "can be wrapped, not str",
        "answer_key",
        "'everywhere'",
        "checker must be a Checker, not str",
        "'explode'",
    ]
    assert len(caught.value.problems) == len([*named, "retry"])
    for part, problem in zip([*named, "retry must be"], caught.value.problems, strict=True):
        assert part in problem


def test_expanding_needs_a_retriever_in_sight():
    """One that only a function calls can't be reached, and that is said before anything runs."""
    shelf = Shelf()
    hidden = RunnableLambda(lambda q: joined(shelf.invoke(q))) | StrOutputParser()
    with pytest.raises(ConfigurationError, match="no retriever with search_kwargs"):
        checked(hidden, on_hallucination="retry", retry=Expand())


def test_a_retry_that_nobody_asks_for_is_a_mistake():
    """``retry`` without on_hallucination="retry" would silently do nothing."""
    with pytest.raises(ConfigurationError, match="nothing asks for it"):
        checked(to_text(), retry=NameClaims())


@pytest.mark.parametrize("way", ["invoke", "stream", "ainvoke"])
async def test_a_detector_that_breaks_costs_nobody_the_answer(way):
    """The chain has run and the answer is there: it comes back with an abstention beside it."""
    whole = checked(RunnableLambda(lambda _: {"answer": "A", "context": "C"}), checker=Checker(Broken()))
    if way == "stream":
        result = functools.reduce(operator.add, whole.stream("q"))
    else:
        result = await whole.ainvoke("q") if way == "ainvoke" else whole.invoke("q")
    assert result["answer"] == "A"
    assert result["hallucination"]["abstention"] == "MODEL_FAILED"


def test_a_replaced_answer_is_gone_from_everywhere_in_the_output():
    """A state may hold it twice: under another key, in a message, in a structured response."""
    bad = "The fee is 75 EUR."
    document = Document(page_content="The fee is 25 EUR.")
    state = {
        "answer": bad,
        "result": bad,
        "messages": [HumanMessage("Is it 75 EUR?"), AIMessage(f"So: {bad}")],
        "context": [document],
        "question": "Is it 75 EUR?",
    }
    whole = checked(
        RunnableLambda(lambda _: state),
        on_hallucination="replace",
        replacement="Withheld.",
        checker=Checker(NovelWords()),
    )
    result = whole.invoke("q")
    assert bad not in str({key: result[key] for key in ("answer", "result", "messages")})
    assert (result["answer"], result["result"], result["messages"][1].text) == ("Withheld.",) * 3
    assert result["context"] == [document]
    assert result["messages"][0] == state["messages"][0]


class _Unreadable(BaseModel):
    answer: Any = None

    @property
    def text(self):
        raise ZeroDivisionError

    def model_dump_json(self, **_):
        raise ZeroDivisionError


def test_an_output_that_can_not_be_read_is_returned_and_told():
    """The answer is there and paid for; that it could not be judged is said beside it."""
    strange = _Unreadable(answer=_Unreadable())
    result = checked(RunnableLambda(lambda _: strange)).invoke("q")
    assert result["answer"] is strange
    assert result["hallucination"]["abstention"] == "UNREADABLE_INPUT"


@pytest.mark.parametrize("retry", [None, Expand()])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_callback_around_a_retry_hears_one_answer_to_the_users_question(streamed, retry):
    """The draft that was given up is none, and the note to the model is no part of the question."""
    handler = GroundwireCallbackHandler(CHECKER, sinks=[])
    app = checked(to_text(better_when_told), on_hallucination="retry", retry=retry)
    config = {"callbacks": [handler]}
    if streamed:
        list(app.stream("item3", config=config))
    else:
        app.invoke("item3", config=config)
    handler.flush()
    (record,) = handler.outcomes
    assert record.interaction.question == "item3"


class Caller(FakeMessagesListChatModel):
    """A model that says its lines; it may be bound to tools."""

    def bind_tools(self, tools, **kwargs):
        return self


class Price(BaseModel):
    euro: int


def told_by_a_tool(call, **options):
    """An agent that ends with a tool's message."""

    @tool(return_direct=True)
    def look_up(query: str) -> str:
        """Answer from the price list."""
        return to_text(inventive).invoke(query)

    model = Caller(responses=[AIMessage("", tool_calls=[{"id": "1", **call}])])
    form = ToolStrategy(Price) if call["name"] == "Price" else None
    agent = checked(create_agent(model, [look_up], response_format=form), **options)
    return agent.invoke({"messages": [HumanMessage("item3")]})


def test_a_tool_that_answers_the_user_itself_can_be_warned_about():
    """Its message is the answer, and carries the warning."""
    result = told_by_a_tool({"name": "look_up", "args": {"query": "item3"}}, on_hallucination="warn")
    assert result["messages"][-1].text == f"item3 costs nothing\n\n{result['hallucination']['warning']}"


def test_a_tool_that_stands_in_for_a_schema_gives_no_answer():
    """The structured response is the answer, and not the message that confirms it."""
    seen = []
    told_by_a_tool({"name": "Price", "args": {"euro": 9}}, on_abstention=lambda i, o: seen.append(i.answer))
    assert seen == ['{"euro":9}']


def filled_in(strategy, form, **fields):
    """An agent that has looked something up and then fills a form in, in either way."""
    looked = AIMessage("", tool_calls=[{"id": "1", "name": "look_up", "args": {"query": "item3"}}])
    said = AIMessage(json.dumps(fields))
    if strategy is ToolStrategy:
        said = AIMessage("", tool_calls=[{"id": "2", "name": form.__name__, "args": fields}])
    tools = [tool(lambda query: "item3 costs 3euro", description="Look it up.")]
    tools[0].name = "look_up"
    agent = create_agent(Caller(responses=[looked, said]), tools, response_format=strategy(form))
    replaced = checked(agent, on_hallucination="replace", replacement="Sorry.")
    return replaced.invoke({"messages": [HumanMessage("item3?")]})


@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
def test_a_structured_response_that_is_replaced_is_not_handed_over(strategy):
    """One without room for a sentence is gone with all that it was made of; else its answer is."""
    assert set(filled_in(strategy, Price, euro=9)) == {"answer", "hallucination"}
    said = 'item3 is "quite free" — so they say'
    result = filled_in(strategy, Reply, answer=said)
    assert result["structured_response"] == Reply(answer="Sorry.")
    kept = repr([(m.content, getattr(m, "tool_calls", None)) for m in result["messages"]])
    assert "quite free" not in kept
    assert "item3 costs 3euro" in kept
