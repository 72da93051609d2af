"""The judge as a backend: a reply for every request, in order, and a failed one as a value."""

import math
import random
import threading
import time

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda

from groundwire import AbstentionReason, Checker, ConfigurationError, Judge, Usage
from groundwire.core.budget import Budget, request_tokens
from groundwire.core.plan import Complete, Completed, Embed, Embedded, Failed
from groundwire.judge.breaker import Breaker
from groundwire.judge.failures import failed
from groundwire.judge.limits import Limits
from groundwire.judge.prices import Price


def ask(judge, *requests, timeout=None):
    return list(judge.perform(requests or [Complete(system="s", user="u")], timeout=timeout))


def prompt(i):
    return Complete(system="s", user=str(i))


def test_a_function_is_a_model():
    (reply,) = ask(Judge(lambda system, user: f"{system} then {user}"))
    assert reply == Completed(texts=("s then u",), usage=Usage(calls=1))


def test_replies_keep_the_order_of_their_requests():
    judge = Judge(lambda system, user: user, max_concurrency=4)
    replies = ask(judge, *[prompt(i) for i in range(40)])
    assert [reply.texts for reply in replies] == [(str(i),) for i in range(40)]


async def test_on_an_event_loop_replies_are_the_same():
    judge = Judge(lambda system, user: user, max_concurrency=4)
    requests = [prompt(i) for i in range(40)]
    assert list(await judge.aperform(requests, timeout=None)) == ask(judge, *requests)


def test_samples_are_calls_of_their_own():
    spoken = iter("abc")
    judge = Judge(lambda system, user: next(spoken), max_concurrency=1)
    (reply,) = ask(judge, Complete(system="s", user="u", samples=3))
    assert reply == Completed(texts=("a", "b", "c"), usage=Usage(calls=3))


def test_a_sample_that_fails_fails_its_request_and_no_other():
    spoken = iter(["a", None, "c", "d"])
    judge = Judge(lambda system, user: next(spoken), max_concurrency=1)
    first, second = ask(judge, Complete(system="s", user="u", samples=3), prompt(1))
    assert isinstance(first, Failed)
    assert first.detail == "TypeError: the model function returned NoneType, expected str"
    assert first.usage.calls == 3
    assert second.texts == ("d",)


def counted(text):
    usage = {"input_tokens": 31, "output_tokens": 4, "total_tokens": 35}
    return AIMessage(content=text, usage_metadata=usage)


@pytest.mark.parametrize(
    "bound",
    [
        lambda model: model,
        lambda model: model.bind(stop=["\n\n"]),
        lambda model: model.with_config(tags=["mine"]),
        lambda model: model.with_retry(stop_after_attempt=2),
        lambda model: model.with_fallbacks([FakeListChatModel(responses=["other"])]),
    ],
    ids=["plain", "bind", "with_config", "with_retry", "with_fallbacks"],
)
def test_a_langchain_model_is_a_model_whatever_is_bound_around_it(bound):
    model = bound(GenericFakeChatModel(messages=iter([counted("so")])))
    (reply,) = ask(Judge(model))
    assert reply == Completed(texts=("so",), usage=Usage(calls=1, input_tokens=31, output_tokens=4))


def test_a_chain_that_ends_in_text_is_a_model():
    (reply,) = ask(Judge(FakeListChatModel(responses=["so"]) | StrOutputParser()))
    assert reply == Completed(texts=("so",), usage=Usage(calls=1))


def test_content_in_blocks_is_read_without_its_thoughts():
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "s"},
        {"type": "text", "text": "o"},
    ]
    (reply,) = ask(Judge(GenericFakeChatModel(messages=iter([AIMessage(content=blocks)]))))
    assert reply.texts == ("so",)


def test_a_refusal_in_a_block_of_its_own_says_why_there_is_no_text():
    """As models behind OpenAI's Responses have it."""
    refusal = AIMessage(content=[{"type": "refusal", "refusal": "I can't."}])
    (reply,) = ask(Judge(GenericFakeChatModel(messages=iter([refusal]))))
    assert reply.texts == ("",)
    assert "withheld (refusal)" in reply.stopped[0]


def test_a_runnable_that_gives_neither_message_nor_text_has_failed():
    (reply,) = ask(Judge(RunnableLambda(lambda messages: 7)))
    assert reply.detail == "TypeError: the model returned int, expected a message or a str"


class ChatOllama(FakeListChatModel):
    """As langchain-ollama's: it counts the tokens that its server has read."""

    read: int
    num_ctx: int | None = None

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        usage = {"input_tokens": self.read, "output_tokens": 1, "total_tokens": self.read + 1}
        return ChatResult(generations=[ChatGeneration(message=AIMessage("so", usage_metadata=usage))])


@pytest.mark.parametrize("bound", [lambda model: model, lambda model: model.with_retry()])
def test_a_prompt_of_which_ollama_read_a_part_gets_no_reply_and_says_what_to_set(bound):
    judge = Judge(bound(ChatOllama(responses=[], read=2050)), breaker=Breaker(failures=1))
    long = Complete(system="s", user="The fee is 25 EUR. " * 1_500)
    for _ in range(2):
        (reply,) = judge.perform([long], timeout=None)
        assert reply.reason is AbstentionReason.MODEL_FAILED
        assert "the server has read 2050 tokens, a part" in reply.detail
        assert "parameters={'num_ctx': 10240}" in reply.detail


@pytest.mark.parametrize(
    ("read", "window"),
    [
        (4_098, None),  # half of 8,192, as a prompt above it is cut to
        (4_096, None),  # all of it, as older servers cut
        (5_002, 10_000),
        (8_000, 8_000),  # full: whatever more was sent has not been read
    ],
)
def test_as_many_tokens_as_a_cut_leaves_are_a_part(read, window):
    """The prompt has some 7,100 tokens by its length, and fewer letters than tell by themselves."""
    long = Complete(system="s", user="The fee is 25 EUR. " * 1_500)
    model = ChatOllama(responses=[], read=read, num_ctx=window)
    (reply,) = Judge(model).perform([long], timeout=None)
    assert f"the server has read {read} tokens, a part" in reply.detail


@pytest.mark.parametrize(
    ("read", "window"),
    [(0, None), (3_100, None), (9_000, None), (6_002, 12_000), (8_194, 16_384), (7_999, 8_000)],
)
def test_a_prompt_that_may_have_been_read_whole_gets_its_reply(read, window):
    long = Complete(system="s", user="The fee is 25 EUR. " * 1_500)
    (reply,) = Judge(ChatOllama(responses=[], read=read, num_ctx=window)).perform([long], timeout=None)
    assert reply.texts == ("so",)


@pytest.mark.parametrize(
    "error", [ValueError("no"), KeyboardInterrupt(), SystemExit(3), StopIteration("done")]
)
def test_whatever_a_model_raises_is_a_reply(error):
    def model(system, user):
        raise error

    (reply,) = ask(Judge(model))
    assert reply.reason is AbstentionReason.MODEL_FAILED
    assert reply.detail.startswith(type(error).__name__)
    assert reply.usage.calls == 1


def test_an_error_is_told_without_the_prompt_and_without_secrets():
    passage = "Passengers with a Flex fare may change their booking free of charge."

    def model(system, user):
        raise ValueError(
            f"400 for {{'messages': ['{user}']}} with api_key=sk-abcdef123456 at https://me:word@host/v1, "
            f"Authorization: Bearer abc.def.ghi, key AKIAABCDEFGHIJKLMNOP"
        )

    (reply,) = ask(Judge(model), Complete(system="s", user=passage))
    for hidden in ("Passengers", "free of charge", "abcdef123456", "me:word", "abc.def", "AKIA"):
        assert hidden not in reply.detail
    assert reply.detail.startswith("ValueError: 400 for {'messages': ['[…]']}")
    assert "host/v1" in reply.detail


def test_a_long_error_is_soon_compared_with_a_long_prompt():
    """A proxy's page of HTML, and a prompt of a megabyte: what fails must not hold up the application."""
    letters = random.Random(1)
    page, prompt = ("".join(letters.choices("abcdefghijklmnop ", k=n)) for n in (4_000, 3_000_000))
    began = time.process_time()
    failed(ValueError(page), model="m", said=["s", prompt])
    assert time.process_time() - began < 2.5


def test_a_long_error_is_shortened():
    def model(system, user):
        raise ValueError("x" * 10_000)

    (reply,) = ask(Judge(model))
    assert len(reply.detail) < 500


def test_a_model_that_never_replies_times_out_and_the_others_do_not():
    forever = threading.Event()
    judge = Judge(lambda system, user: user if user != "1" else str(forever.wait(20)), timeout=0.1)
    first, second, third = ask(judge, *[prompt(i) for i in range(3)])
    forever.set()
    assert (first.texts, third.texts) == (("0",), ("2",))
    assert second == Failed(
        reason=AbstentionReason.TIMEOUT,
        detail="the model did not reply within 0.1 seconds",
        usage=Usage(calls=1),
    )


def test_a_call_without_a_reply_costs_what_was_sent():
    """What it costs at least, so that one of them doesn't make the cost of all others unknown."""
    forever = threading.Event()

    def model(system, user):
        return str(forever.wait(20))

    (reply,) = ask(Judge(model, timeout=0.1, prices={Judge(model).model: Price(input=1_000_000)}))
    forever.set()
    assert reply.reason is AbstentionReason.TIMEOUT
    assert reply.usage.cost == request_tokens(Complete(system="s", user="u")) > 0


def test_the_time_of_the_whole_check_ends_a_call_too():
    forever = threading.Event()
    judge = Judge(lambda system, user: str(forever.wait(20)), timeout=20)
    (reply,) = ask(judge, timeout=0.05)
    forever.set()
    assert reply.reason is AbstentionReason.TIMEOUT
    assert reply.detail == "the time given to the whole check ran out before the model replied"


def test_embeddings_answer_what_asks_for_vectors():
    by_langchain = Judge(str.__add__, embeddings=DeterministicFakeEmbedding(size=4))
    (reply,) = ask(by_langchain, Embed(texts=("a", "b", "a")))
    assert isinstance(reply, Embedded)
    assert [len(vector) for vector in reply.vectors] == [4, 4, 4]
    assert reply.vectors[0] == reply.vectors[2] != reply.vectors[1]
    by_function = Judge(str.__add__, embeddings=lambda texts: [[len(text), 1] for text in texts])
    assert ask(by_function, Embed(texts=("a", "bb"))) == [
        Embedded(vectors=((1.0, 1.0), (2.0, 1.0)), usage=Usage(calls=1))
    ]


@pytest.mark.parametrize(
    ("vectors", "told"),
    [
        ([[1.0]], "1 vectors for 2 texts"),
        ([[1.0], [1.0, 2.0]], "different lengths"),
        ([[1.0], [math.nan]], "not a number"),
        (None, "TypeError"),
    ],
)
def test_vectors_that_can_not_be_used_have_failed(vectors, told):
    (reply,) = ask(Judge(str.__add__, embeddings=lambda texts: vectors), Embed(texts=("a", "b")))
    assert reply.reason is AbstentionReason.MODEL_FAILED
    assert told in reply.detail


def test_without_embeddings_a_request_for_vectors_says_how_to_give_them():
    (reply,) = ask(Judge(str.__add__), Embed(texts=("a",)))
    assert "Judge(model, embeddings=...)" in reply.detail


def test_a_judge_of_embeddings_alone_embeds_and_says_what_it_lacks():
    judge = Judge(embeddings=lambda texts: [[len(text), 1] for text in texts])
    reply, refused = ask(judge, Embed(texts=("a",)), Complete(system="s", user="u"))
    assert reply.vectors == ((1.0, 1.0),)
    assert refused.detail == "no language model was given to answer this: Judge(model)"
    assert (judge.model, judge.models, judge.completes, judge.embeds) == ("", frozenset(), False, True)
    assert repr(judge) == "Judge(embeddings=..., timeout=30)"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"models": {"second": str.__add__}}, "models: further ones stand beside the judge's own"),
        ({"parameters": {"temperature": 0}}, "parameters: there is no model to set them in"),
        ({"limits": Limits(budget=Budget(cost=1))}, "limits.budget: embeddings have no price"),
    ],
)
def test_what_only_a_language_model_has_a_use_for_is_a_mistake_without_one(given, told):
    with pytest.raises(ConfigurationError, match=told):
        Judge(embeddings=lambda texts: [], **given)


def test_a_judge_of_nothing_is_refused():
    with pytest.raises(ConfigurationError, match=r"embeddings=... alone, for detectors that only embed"):
        Judge()


class Client:
    def __repr__(self):
        return "Client(api_key='sk-secret')"


async def asynchronous(system, user):
    return ""


@pytest.mark.parametrize("wrong", [None, 7, Client(), FakeListChatModel, asynchronous])
def test_what_is_no_model_is_refused_with_what_is_one(wrong):
    with pytest.raises(ConfigurationError, match="expected a LangChain chat model") as caught:
        Judge(wrong)
    assert "sk-secret" not in str(caught.value)


def test_all_mistakes_are_named_at_once():
    with pytest.raises(ConfigurationError) as caught:
        Judge(
            7,
            embeddings=7,
            timeout=True,
            max_concurrency=True,
            structured="yes",
            models=["second"],
            parameters=["temperature"],
            prices={"m": 0.06},
            limits={"retries": 3},
            breaker=5,
            memory="memory.sqlite",
        )
    assert [problem.partition(":")[0] for problem in caught.value.problems] == [
        "timeout",
        "max_concurrency",
        "structured",
        "models",
        "parameters",
        "limits",
        "breaker",
        "memory",
        "prices",
        "model",
        "embeddings",
    ]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (lambda system, user: "", "expected a LangChain chat model or its string"),
        (FakeListChatModel(responses=[""]), "'FakeListChatModel' can't be held to the form of a reply"),
        (FakeListChatModel(responses=[""]).bind(stop=["."]), "is bound to .*; give the chat model itself"),
        (FakeListChatModel(responses=[""]).with_fallbacks([FakeListChatModel(responses=[""])]), "fallbacks"),
    ],
)
def test_a_model_that_can_not_be_held_to_a_form_is_refused(model, told):
    with pytest.raises(ConfigurationError, match=f"structured: .*{told}"):
        Judge(model, structured=True)


@pytest.mark.parametrize("name", ["", "bedrock:", "nonsense", "nobody:model"])
def test_a_name_that_names_no_model_is_refused_with_what_would(name):
    with pytest.raises(ConfigurationError, match="expected 'provider:model', such as 'bedrock:"):
        Judge(name)


def test_a_name_that_is_right_is_not_blamed_for_a_region_that_is_missing(monkeypatch):
    pytest.importorskip("langchain_aws")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(ConfigurationError, match="must specify a region") as caught:
        Judge("bedrock:amazon.nova-lite-v1:0")
    assert "provider:model" not in str(caught.value)


def test_a_judge_names_its_model_and_nothing_secret():
    assert repr(Judge(FakeListChatModel(responses=["sk-secret"]))) == (
        "Judge(model='FakeListChatModel', timeout=30)"
    )


def test_settings_name_a_model_by_its_string():
    with pytest.raises(ConfigurationError, match="names no model"):
        Checker.from_config({"detector": "judge", "judge": {"model": "bedrock:"}})
