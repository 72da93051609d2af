"""LlamaIndex's models as judges: they answer, and nothing crosses between them and the application."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

pytest.importorskip("llama_index.core", reason="needs groundwire[llama-index]")

from llama_index.core import Settings
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    LLMMetadata,
    TextBlock,
    ThinkingBlock,
)
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from pydantic import BaseModel, Field

from groundwire import AbstentionReason, Checker, ConfigurationError, Interaction, Judge, Usage
from groundwire.core.plan import Complete, Completed, Embed
from groundwire.judge.adapters.llama_index import LlamaIndexChat
from groundwire.judge.breaker import Breaker
from groundwire.judge.isolation import JUDGING
from groundwire.judge.memory import Memory

ASK = Complete(system="You judge.", user="Is it so?")
SUPPORTED = json.dumps(
    {"claims": [{"id": 1, "support": "supported", "score": 0.1, "quote": "The fee is 25 EUR", "words": []}]}
)


class Scripted(CustomLLM):
    """Says one thing and notes what it was asked, and whether a judge was asking."""

    said: str = "a verdict"
    raw: dict = {}  # noqa: RUF012 - a field of pydantic's
    temperature: float = 0.5
    max_tokens: int = 100
    heard: list = Field(default_factory=list, exclude=True)  # no part of what handlers are told of a model
    judging: list = Field(default_factory=list, exclude=True)

    @property
    def metadata(self):
        return LLMMetadata(model_name="scripted", is_chat_model=True)

    @llm_chat_callback()
    def chat(self, messages, **kwargs):
        self.heard.append([(message.role.value, message.content) for message in messages])
        self.judging.append(JUDGING.get())
        blocks = [ThinkingBlock(content="hm"), TextBlock(text=self.said)]
        usage = {"usage": {"prompt_tokens": 31, "completion_tokens": 4}}
        return ChatResponse(message=ChatMessage(role="assistant", blocks=blocks), raw=usage | self.raw)

    def complete(self, prompt, formatted=False, **kwargs):
        raise AssertionError("a judge asks through chat")

    def stream_complete(self, prompt, formatted=False, **kwargs):
        raise AssertionError("a judge asks through chat")


def model(**fields):
    return Scripted(**fields)


def ask(judge, request=ASK):
    (reply,) = judge.perform([request], timeout=None)
    return reply


def test_a_reply_comes_back_with_its_tokens_and_without_its_thoughts():
    llm = model()
    assert ask(Judge(llm)) == Completed(
        texts=("a verdict",), usage=Usage(calls=1, input_tokens=31, output_tokens=4)
    )
    assert llm.heard == [[("system", "You judge."), ("user", "Is it so?")]]


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ({"stopReason": "max_tokens"}, "cut off (max_tokens)"),
        ({"choices": [SimpleNamespace(finish_reason="content_filter")]}, "withheld (content_filter)"),
        (
            {"choices": [SimpleNamespace(finish_reason="stop", message=SimpleNamespace(refusal="No."))]},
            "withheld (refusal)",
        ),
        (  # as the client of OpenAI's Responses has it
            {"status": "incomplete", "incomplete_details": SimpleNamespace(reason="max_output_tokens")},
            "cut off (max_output_tokens)",
        ),
    ],
)
def test_a_reply_that_was_stopped_says_by_what(raw, told):
    (why,) = ask(Judge(model(raw=raw))).stopped
    assert told in why


async def test_an_answer_is_judged_by_it_in_both_colours():
    checker = Checker("judge", judge=Judge(model(said=SUPPORTED)))
    interaction = Interaction(question="The fee?", contexts="The fee is 25 EUR.", answer="You pay 25 EUR.")
    assert checker.check(interaction).grounded
    assert (await checker.acheck(interaction)).grounded


def test_the_application_s_system_prompt_is_not_the_judge_s():
    llm = model(system_prompt="Talk like a pirate.")
    ask(Judge(llm))
    assert "pirate" not in str(llm.heard)


def test_its_parameters_are_set_in_a_copy():
    llm = model()
    chat = LlamaIndexChat(llm, {"temperature": 0.0, "max_tokens": 7})
    assert (chat._model.temperature, chat._model.max_tokens) == (0.0, 7)
    assert (llm.temperature, llm.max_tokens) == (0.5, 100)
    assert not chat.varies
    assert LlamaIndexChat(llm, {}).varies
    with pytest.raises(ConfigurationError, match="has no field 'temprature'"):
        Judge(llm, parameters={"temprature": 0})


def test_its_replies_are_remembered_at_temperature_zero_alone():
    llm = model()
    for temperature, calls in ((0.5, 2), (0.0, 3)):
        judge = Judge(llm, parameters={"temperature": temperature}, memory=Memory())
        ask(judge)
        ask(judge)
        assert len(llm.heard) == calls


class Extended(Scripted):
    temperature: float = 0.0
    additional_kwargs: dict = Field(default_factory=dict)


def test_what_a_model_sends_beside_its_fields_makes_it_another_one():
    memory, calls = Memory(), []
    for effort in ("low", "high", "high"):
        model = Extended(additional_kwargs={"reasoning": {"effort": effort}})
        calls.append(ask(Judge(model, memory=memory)).usage.calls)
    assert calls == [1, 1, 0]


def test_what_is_no_model_is_refused():
    with pytest.raises(ConfigurationError, match="expected an LLM"):
        Judge(MockEmbedding(embed_dim=3))


def test_embeddings_answer_what_asks_for_vectors():
    judge = Judge(model(), embeddings=MockEmbedding(embed_dim=3))
    reply = ask(judge, Embed(texts=("a", "b")))
    assert [len(vector) for vector in reply.vectors] == [3, 3]


class Failing(Scripted):
    def chat(self, messages, **kwargs):
        raise ConnectionResetError("gone")


def test_a_call_that_fails_is_told():
    reply = ask(Judge(Failing()))
    assert (reply.reason, reply.detail) == (AbstentionReason.MODEL_FAILED, "ConnectionResetError: gone")


class Fixed(BaseRetriever):
    """Asks the judge in the middle of the application's retrieval, the deepest place there is."""

    def __init__(self, judge, **kwargs):
        super().__init__(**kwargs)
        self.judge = judge

    def _retrieve(self, query_bundle):
        ask(self.judge)
        return [NodeWithScore(node=TextNode(text="The fee is 25 EUR."), score=1.0)]


@pytest.fixture
def settings():
    """Settings with a handler of the application's, as they are put back afterwards."""
    debug = LlamaDebugHandler(print_trace_on_end=False)
    before = Settings._callback_manager
    Settings.callback_manager = CallbackManager([debug])
    yield debug
    Settings._callback_manager = before


def told(debug):
    return [str(event.payload) for pair in debug.get_event_pairs(CBEventType.LLM) for event in pair]


def test_a_chat_engine_s_memory_and_handlers_hold_nothing_of_the_judge(settings):
    own, shared = model(said="application"), model(said="a verdict")
    memory = ChatMemoryBuffer.from_defaults(token_limit=4000, tokenizer_fn=str.split)
    engine = ContextChatEngine(
        retriever=Fixed(Judge(shared), callback_manager=Settings.callback_manager),
        llm=own,
        memory=memory,
        prefix_messages=[],
        callback_manager=Settings.callback_manager,
    )
    assert str(engine.chat("What is the fee?")) == "application"
    assert [message.content for message in memory.get_all()] == ["What is the fee?", "application"]
    assert (own.judging, shared.judging) == ([False], [True])
    assert "application" not in str(shared.heard)
    assert "You judge." not in str(own.heard)
    assert "a verdict" not in str(told(settings))


def test_a_model_that_both_use_remembers_nothing_of_the_other(settings):
    """An engine puts its own callback manager into the model it is given; the judge's copy keeps its own."""
    shared = model(callback_manager=CallbackManager([settings]))
    judge = Judge(shared)
    engine = SimpleChatEngine.from_defaults(
        llm=shared, memory=ChatMemoryBuffer.from_defaults(token_limit=4000, tokenizer_fn=str.split)
    )
    before = str(engine.chat("hello"))
    ask(judge)
    assert str(engine.chat("again")) == before
    assert shared.heard[1] == [("system", "You judge."), ("user", "Is it so?")]
    assert [content for _, content in shared.heard[2]] == ["hello", "a verdict", "again"]
    assert "You judge." not in str(told(settings))


def test_settings_are_neither_read_nor_changed(settings):
    manager = Settings.callback_manager
    ask(Judge(model()))
    assert Settings.callback_manager is manager
    assert Settings._llm is None


def test_the_judge_s_spans_stand_under_none_of_the_application():
    root, spy = get_dispatcher(), SimpleSpanHandler()
    root.add_span_handler(spy)
    llm = model()
    try:
        Fixed(Judge(llm)).retrieve("What is the fee?")
        llm.chat([ChatMessage(role="user", content="from the application")])
    finally:
        root.span_handlers[:] = [handler for handler in root.span_handlers if handler is not spy]
    parents = {span.id_.partition("-")[0]: span.parent_id for span in spy.completed_spans}
    assert parents["Scripted.chat"] is None
    assert parents["Fixed._retrieve"].startswith("Fixed.retrieve")


def test_the_spies_would_notice(settings):
    """The same model, asked by the application itself, is heard by its handlers."""
    shared = model(callback_manager=CallbackManager([settings]))
    shared.chat([ChatMessage(role="user", content="You judge.")])
    assert "You judge." in str(told(settings))


class RefusedError(Exception):
    status_code = 400


class Choosy(Scripted):
    """Behind a server that takes neither a temperature nor a system message."""

    temperature: float | None = None

    @llm_chat_callback()
    def chat(self, messages, **kwargs):
        roles = [message.role.value for message in messages]
        self.heard.append((self.temperature, roles))
        if self.temperature is not None:
            raise RefusedError("`temperature` is deprecated for this model.")
        if "system" in roles:
            raise RefusedError("This model doesn't support system messages.")
        return ChatResponse(message=ChatMessage(role="assistant", content=messages[0].content))


def test_what_a_server_refuses_is_left_out_at_once_and_from_then_on():
    llm = Choosy()
    judge = Judge(llm)
    request = Complete(system="You judge.", user="Is it so?", temperature=1.0, alternatives=1)
    assert [ask(judge, request).texts for _ in range(2)] == [("You judge.\n\nIs it so?",)] * 2
    both = ["system", "user"]
    assert llm.heard == [(1.0, both), (None, both), (None, ["user"]), (None, ["user"])]


def test_a_model_that_was_told_0_gives_no_samples_where_another_temperature_is_refused():
    reply = ask(Judge(Choosy(temperature=0.0)), Complete(system="s", user="u", temperature=1.0, samples=2))
    assert (reply.reason, "temperature" in reply.detail) == (AbstentionReason.MODEL_FAILED, True)


class Form(BaseModel):
    level: str


class Speaking(Scripted):
    """One that a structured model asks: by its own prompt, through ``chat``."""

    name_: str = "one"
    says: str = '{"level": "low"}'

    @property
    def metadata(self):
        return LLMMetadata(model_name=self.name_, is_chat_model=True)

    @llm_chat_callback()
    def chat(self, messages, **kwargs):
        self.heard.append((self.temperature, self.max_tokens, " ".join(m.content for m in messages)))
        return ChatResponse(message=ChatMessage(role="assistant", content=self.says))


def test_a_structured_model_asks_the_judge_s_own_copy_of_another():
    """No handler of the application's hears it, and it is asked as any other model is."""
    handler = LlamaDebugHandler(print_trace_on_end=False)
    llm = Speaking(system_prompt="Talk like a pirate.", callback_manager=CallbackManager([handler]))
    judge = Judge(llm.as_structured_llm(Form), parameters={"max_tokens": 7})
    assert ask(judge).texts == ('{"level":"low"}',)
    ask(judge, Complete(system="You judge.", user='Is {it} {"so": 1}?', temperature=0.9))
    assert [told[:2] for told in llm.heard] == [(0.5, 7), (0.9, 7)]
    assert 'Is {it} {"so": 1}?' in llm.heard[1][2]
    assert "pirate" not in str(llm.heard)
    assert handler.get_event_pairs(CBEventType.LLM) == []
    assert llm.max_tokens == 100


@pytest.mark.parametrize("says", ['{"level": 7}', "It is low.", '{"lev'])
def test_a_structured_reply_that_does_not_fit_is_a_reply_and_no_failure(says):
    judge = Judge(Speaking(says=says).as_structured_llm(Form), breaker=Breaker(failures=1))
    (why,) = ask(judge).stopped
    assert "doesn't fit the schema" in why
    assert judge.breakers["model"].failures_in_a_row == 0


def test_what_a_structured_model_fails_with_is_told_in_its_own_words():
    """LlamaIndex raises the same errors for a reply that it can't parse and a key that is missing."""

    class Keyless(Speaking):
        @llm_chat_callback()
        def chat(self, messages, **kwargs):
            raise ValueError(f"No API key was found for this: {messages[-1].content}")

    asked = (
        "Is it so that a second bag costs 25 EUR on each of the flights to Oslo, and 75 EUR on all others?"
    )
    (why,) = ask(Judge(Keyless().as_structured_llm(Form)), replace(ASK, user=asked)).stopped
    assert "ValueError: No API key was found" in why
    assert "flights to Oslo" not in why


def test_structured_models_around_different_models_are_different_models():
    memory = Memory()

    def calls(**fields):
        one = Judge(Speaking(**fields).as_structured_llm(Form), memory=memory)
        return ask(one).usage.calls

    assert calls(temperature=0.0) == 1
    assert calls(temperature=0.0) == 0
    assert calls(temperature=0.0, name_="other") == 1
    assert [calls(temperature=0.5) for _ in range(2)] == [1, 1]  # what varies is not remembered
