"""Several models behind one judge, several replies to one input, and prompts that providers keep."""

import asyncio
import json

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from groundwire import AbstentionReason, Checker, ConfigurationError, Judge, Usage, Verdict
from groundwire.core.budget import Budget, counted
from groundwire.core.plan import Complete, Completed, Failed
from groundwire.detectors import ClaimEnsemble
from groundwire.detectors.ensemble.claim_reader import ClaimReader
from groundwire.judge.limits import Limits
from groundwire.judge.memory import Memory
from groundwire.judge.prices import Price
from tests.detectors.test_claim_ensemble import ALL, LONG, TEA, as_text, reading
from tests.servers.bedrock_server import MODEL, bedrock, says

__all__ = ["bedrock"]


class Many(BaseChatModel):
    """A model that gives ``n`` replies to one input, which it counts once with each, as OpenAI's do."""

    n: int = 1
    reply: str = "hello"
    seen: list = []  # noqa: RUF012 - a field of pydantic's

    @property
    def _llm_type(self):
        return "many"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.seen.append((self.n, messages))
        usage = {"input_tokens": 100, "output_tokens": 7 * self.n, "total_tokens": 100 + 7 * self.n}
        texts = [f"{self.reply} {i}" if self.reply == "hello" else self.reply for i in range(self.n)]
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage(text, usage_metadata=usage)) for text in texts]
        )


def asked(judge, **fields):
    (reply,) = judge.perform([Complete(system="s", user="u", **fields)], timeout=None)
    return reply


def test_samples_are_one_request_where_the_model_takes_their_number():
    model = Many()
    reply = asked(Judge(model), samples=3)
    assert reply.texts == ("hello 0", "hello 1", "hello 2")
    assert [n for n, _ in model.seen] == [3]
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 100, 21)


class Streaming(Many):
    """A model that was told to stream, and reads parts of all its replies as those of one, as OpenAI's do."""

    streaming: bool = False

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        self.seen.append((self.n, "streamed"))
        for word in self.reply.split():
            for i in range(self.n):
                yield ChatGenerationChunk(message=AIMessageChunk(f"{word} {i} "))


def test_samples_of_a_model_that_streams_are_not_woven_into_one():
    model = Streaming(seen=[], streaming=True)
    assert asked(Judge(model), samples=3).texts == ("hello 0", "hello 1", "hello 2")
    assert asked(Judge(model)).texts == ("hello 0 ",)
    assert [n for n, how in model.seen if how == "streamed"] == [1]


def test_samples_are_requests_of_their_own_elsewhere():
    reply = asked(Judge(lambda system, user: "hello"), samples=3)
    assert (reply.texts, reply.usage.calls) == (("hello",) * 3, 3)
    bound = asked(Judge(Many().with_retry()), samples=3)
    assert (len(bound.texts), bound.usage.calls, bound.usage.input_tokens) == (3, 3, 300)


class RefusedError(Exception):
    status_code = 400


class Behind(Many):
    """A model whose client has the fields ``n`` and ``logprobs``, before a server that has not."""

    temperature: float | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    refuses: tuple[str, ...] = ()
    gives: int = 99

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        if (self.logprobs and "logprobs" in self.refuses) or (self.n > 1 and "n" in self.refuses):
            self.seen.append((self.n, self.logprobs))
            raise RefusedError("not with this model")
        result = super()._generate(messages, stop, run_manager, **kwargs)
        self.seen[-1] = (self.n, self.logprobs)
        return ChatResult(generations=result.generations[: self.gives])


WARM = {"temperature": 1.0, "samples": 3}


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_samples_that_a_server_passed_over_are_asked_for_one_by_one(loop):
    """And from then on so are all: the server has no place for their number."""
    model = Behind(seen=[], gives=1)
    judge = Judge(model)
    request = Complete(system="s", user="u", **WARM)
    if loop:
        (reply,) = asyncio.run(judge.aperform([request], timeout=None))
    else:
        (reply,) = judge.perform([request], timeout=None)
    assert (len(reply.texts), reply.usage.calls) == (3, 3)
    assert len(asked(judge, **WARM).texts) == 3
    assert [n for n, _ in model.seen] == [3, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("refuses", "sent"),
    [
        (("logprobs",), [(3, True), (3, None), (3, None)]),
        (("n",), [(3, None), *[(1, None)] * 6]),
        (("logprobs", "n"), [(3, True), (3, None), *[(1, None)] * 6]),
    ],
)
def test_what_a_server_refuses_is_left_out_at_once_and_from_then_on(refuses, sent):
    model = Behind(seen=[], refuses=refuses)
    judge = Judge(model)
    told = 1 if "logprobs" in refuses else 0
    for _ in range(2):
        assert len(asked(judge, alternatives=told, **WARM).texts) == 3
    assert model.seen == sent


class NoTemperatureError(Exception):
    status_code = 400


class Reasoning(Behind):
    """A model behind a server that takes no temperature, as those of many models that reason."""

    sent: list

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.sent.append(self.temperature)
        if self.temperature is not None:
            raise NoTemperatureError("Unsupported parameter: 'temperature' is not supported with this model.")
        return super()._generate(messages, stop, run_manager, **kwargs)


def test_a_temperature_that_is_refused_is_left_out_from_then_on():
    """With the log probabilities and the number of samples that such servers refuse as well."""
    model = Reasoning(seen=[], sent=[], refuses=("logprobs", "n"))
    judge = Judge(model)
    for _ in range(2):
        assert len(asked(judge, alternatives=1, **WARM).texts) == 3
    assert model.sent == [1.0, *[None] * 8]


@pytest.mark.parametrize("method", ["g_eval", "trustworthiness", "stochastic"])
def test_methods_that_ask_for_samples_judge_by_a_model_that_takes_no_temperature(method):
    reply = json.dumps(
        {"reason": "r", "score": 5, "correct": "yes", "certain": "yes", "answers": ANSWERS, "steps": ["s"]}
    )
    judge = Judge(
        Reasoning(seen=[], sent=[], reply=reply, refuses=("logprobs",)),
        embeddings=lambda texts: [[1.0, 2.0]] * len(texts),
    )
    assert isinstance(Checker(method, judge=judge).check(TEA), Verdict)


def test_a_model_that_was_told_0_gives_no_samples_where_another_temperature_is_refused():
    """All of them would be the same, which passes for being sure."""
    reply = asked(Judge(Reasoning(seen=[], sent=[], temperature=0)), **WARM)
    assert (reply.reason, "temperature" in reply.detail) == (AbstentionReason.MODEL_FAILED, True)


class Echoing(Behind):
    """Behind a server that repeats all that it was sent where it refuses a part of it."""

    asked: list

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.asked.append(([message.type for message in messages], self.temperature, self.logprobs))
        if self.logprobs:
            sent = [{"role": message.type, "content": message.content} for message in messages]
            raise RefusedError(f"logprobs: extra inputs are not permitted; input: {sent}")
        return super()._generate(messages, stop, run_manager, **kwargs)


def test_what_an_error_repeats_of_the_request_is_not_what_is_refused():
    model = Echoing(seen=[], asked=[])
    judge = Judge(model)
    user = "The system prompt, and the temperature of the lake, are set by the system message of the harbour."
    for _ in range(2):
        judge.perform(
            [Complete(system="You judge.", user=user, alternatives=1, temperature=1.0)], timeout=None
        )
    without = (["system", "human"], 1.0, None)
    assert model.asked == [(["system", "human"], 1.0, True), without, without]


class Templated(Behind):
    """Behind llama.cpp's server, which tells with a status of 500 what its template refuses."""

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.seen.append([message.type for message in messages])
        if len(messages) > 1:
            error = RefusedError("While executing CallExpression: Jinja Exception: System role not supported")
            error.status_code = 500
            raise error
        return ChatResult(generations=[ChatGeneration(message=AIMessage("it is"))])


def test_a_system_message_that_a_template_refuses_stands_before_the_rest():
    model = Templated(seen=[])
    judge = Judge(model)
    assert [asked(judge).texts for _ in range(2)] == [("it is",)] * 2
    assert model.seen == [["system", "human"], ["human"], ["human"]]


class Unreachable(Behind):
    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.seen.append("asked")
        raise ConnectionError("no route")


def test_a_failure_that_is_no_refusal_is_not_tried_with_less():
    model = Unreachable(seen=[])
    reply = asked(Judge(model), alternatives=1, **WARM)
    assert reply.reason is AbstentionReason.MODEL_FAILED
    assert model.seen == ["asked"]


@pytest.mark.parametrize(("method", "calls"), [("g_eval", 2), ("trustworthiness", 3)])
def test_methods_that_weigh_probabilities_do_without_them_where_they_are_refused(method, calls):
    """One call more for the score by samples, and none for what was refused."""
    reply = json.dumps(
        {"reason": "r", "score": 5, "correct": "yes", "certain": "yes", "answers": ANSWERS, "steps": ["s"]}
    )
    judge = Judge(Behind(seen=[], reply=reply, refuses=("logprobs",)))
    outcome = Checker(method, judge=judge).check(TEA)
    assert (outcome.score, outcome.usage.calls) == (0.0, calls)


ANSWERS = [{"id": i, "agrees": "yes"} for i in range(1, 6)]


def test_a_model_keeps_its_own_number_where_one_reply_is_asked_for():
    model = Many()
    assert asked(Judge(model)).texts == ("hello 0",)
    assert model.n == 1


def test_the_saving_of_samples_is_measured_in_the_verdict():
    text = as_text(reading(*ALL))
    detector = ClaimEnsemble(oracles=(ClaimReader(readings=1, samples=3),))
    once = Checker(detector, judge=Judge(Many(reply=text))).check(TEA).usage
    each = Checker(detector, judge=Judge(Many(reply=text).with_retry())).check(TEA).usage
    assert (once.calls, once.input_tokens, once.saved_tokens) == (1, 100, 200)
    assert (each.calls, each.input_tokens, each.saved_tokens) == (3, 300, 0)


@pytest.mark.parametrize(("calls", "tokens"), [(1, 10), (3, 30)])
def test_uncounted_tokens_are_estimated_for_each_call_that_was_made(calls, tokens):
    request = Complete(system="", user="y" * 40, samples=3)
    reply = Completed(texts=("x" * 40,) * 3, usage=Usage(calls=calls))
    assert counted(request, reply).input_tokens == tokens
    assert counted(request, reply).output_tokens == 30


def test_a_request_goes_to_the_model_of_its_name():
    judge = Judge(lambda s, u: "own", models={"second": lambda s, u: "other"})
    assert judge.models == {"second"}
    replies = judge.perform(
        [Complete(system="", user=""), Complete(system="", user="", model="second")], timeout=None
    )
    assert [reply.texts for reply in replies] == [("own",), ("other",)]


def test_a_model_that_the_judge_has_not_is_a_failed_request():
    reply = asked(Judge(lambda s, u: "own"), model="second")
    assert isinstance(reply, Failed)
    assert reply.reason is AbstentionReason.MODEL_FAILED
    assert "no model named 'second'" in reply.detail


def test_models_have_their_own_prices_and_memory():
    first, second = Many(reply="a"), Many(reply="b")
    judge = Judge(first, models={"second": second}, prices={"Many": Price(input=10.0)}, memory=Memory())
    assert asked(judge).usage.cost == pytest.approx(0.001)
    assert asked(judge, model="second").texts == ("b",)
    assert asked(judge).usage.calls == 0
    assert (len(first.seen), len(second.seen)) == (1, 1)


def test_every_model_needs_a_price_for_a_budget_in_money():
    with pytest.raises(ConfigurationError) as caught:
        Judge(
            Many(),
            models={"": Many(), "second": lambda s, u: "x", "third": 3},
            limits=Limits(budget=Budget(cost=1)),
        )
    told = str(caught.value)
    assert "a further model needs a name" in told
    assert "needs a price for the model 'Many'" in told
    assert "an object of type 'int' can't judge" in told


def test_bedrock_is_told_where_the_shared_beginning_of_a_prompt_ends(bedrock):
    pytest.importorskip("langchain_aws")
    bedrock.always = says(as_text(*[reading(*ALL)] * 2), input_tokens=1500)
    judge = Judge(f"bedrock:{MODEL}", parameters={"region_name": "eu-central-1"})
    oracles = [{"detector": {"name": "claim_reader", "readings": n}, "name": f"r{n}"} for n in (1, 2)]
    outcome = Checker(ClaimEnsemble(oracles=oracles, caching=True), judge=judge).check(LONG)
    assert outcome.hallucinated
    first, second = (
        [next(iter(part)) for part in body["messages"][0]["content"]] for body in bodies(bedrock)
    )
    assert first == second == ["text", "cachePoint", "text"]
    kept = {body["messages"][0]["content"][0]["text"] for body in bodies(bedrock)}
    assert len(kept) == 1
    assert bodies(bedrock)[0]["messages"][0]["content"][1] == {"cachePoint": {"type": "default"}}


def bodies(server):
    return [body for _, body in server.requests]


def test_what_bedrock_read_from_its_cache_is_in_the_usage(bedrock):
    pytest.importorskip("langchain_aws")

    def act(http, body):
        usage = {"inputTokens": 40, "outputTokens": 5, "totalTokens": 1045, "cacheReadInputTokens": 1000}
        message = {"role": "assistant", "content": [{"text": "hello"}]}
        http.answer(
            200,
            {
                "output": {"message": message},
                "stopReason": "end_turn",
                "usage": usage,
                "metrics": {"latencyMs": 1},
            },
        )

    bedrock.always = act
    judge = Judge(f"bedrock:{MODEL}", parameters={"region_name": "eu-central-1"})
    usage = asked(judge, prefix=1).usage
    assert (usage.input_tokens, usage.cached_tokens) == (1040, 1000)
