"""The real Bedrock client against a server of ours: what comes back, and what is told when nothing does."""

import functools
import json
import operator
import time
from dataclasses import replace

import pytest
from langchain.chat_models import init_chat_model
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.exceptions import OutputParserException
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from groundwire import (
    Abstention,
    AbstentionReason,
    Checker,
    ConfigurationError,
    Interaction,
    Judge,
    Kind,
    Support,
    Usage,
    detectors,
)
from groundwire.core.budget import Budget
from groundwire.core.plan import Complete, Completed, Embed, Failed, Ground
from groundwire.detectors.bedrock_grounding import BedrockGrounding
from groundwire.detectors.cascade.cascade import Cascade
from groundwire.detectors.cascade.stages import Stage
from groundwire.judge.breaker import Breaker
from groundwire.judge.limits import Limits
from groundwire.judge.memory import Memory
from groundwire.judge.prices import Price
from groundwire.langchain.models import from_string
from tests.servers.bedrock_server import (
    MODEL,
    babbles,
    bedrock,
    breaks,
    breaks_off,
    denies,
    embeds,
    grounds,
    hangs,
    refuses,
    resets,
    says,
    streams,
    throttles,
    trickles,
)

pytest.importorskip("langchain_aws")
__all__ = ["bedrock"]

ASK = Complete(system="You judge.", user="Is it so?")
SUPPORTED = json.dumps(
    {"claims": [{"id": 1, "support": "supported", "score": 0.1, "quote": "The fee is 25 EUR", "words": []}]}
)
INTERACTION = Interaction(question="The fee?", contexts="The fee is 25 EUR.", answer="You pay 25 EUR.")


def judge(**options):
    options.setdefault("timeout", 10.0)
    return Judge(from_string(f"bedrock:{MODEL}", max_retries=0), **options)


def ask(judge):
    (reply,) = judge.perform([ASK], timeout=None)
    return reply


def test_a_reply_comes_back_with_its_tokens(bedrock):
    bedrock.script.append(says("It is.", input_tokens=123, output_tokens=45))
    assert ask(judge()) == Completed(
        texts=("It is.",), usage=Usage(calls=1, input_tokens=123, output_tokens=45)
    )
    ((model, body),) = bedrock.requests
    assert model == MODEL
    assert body["system"] == [{"text": "You judge."}]
    assert body["messages"] == [{"role": "user", "content": [{"text": "Is it so?"}]}]


def test_thinking_is_no_part_of_a_reply(bedrock):
    thinking = {"reasoningContent": {"reasoningText": {"text": "Let me see.", "signature": "s"}}}
    bedrock.script.append(says([thinking, {"text": "It "}, {"text": "is."}]))
    assert ask(judge()).texts == ("It is.",)


def test_an_answer_is_judged_by_the_model_that_a_string_names(bedrock):
    bedrock.always = says(SUPPORTED)
    outcome = Checker("judge", judge=Judge(f"bedrock:{MODEL}")).check(INTERACTION)
    assert outcome.grounded
    assert outcome.claims[0].evidence[0].quote == "The fee is 25 EUR"
    assert (outcome.usage.calls, outcome.usage.input_tokens, outcome.usage.output_tokens) == (1, 11, 7)


async def test_the_same_on_an_event_loop(bedrock):
    bedrock.always = says(SUPPORTED)
    outcome = await Checker("judge", judge=judge()).acheck(INTERACTION)
    assert outcome.grounded


def test_access_denied_names_the_permission_and_the_model(bedrock):
    bedrock.always = denies()
    reply = ask(judge())
    assert reply.reason is AbstentionReason.MODEL_FAILED
    assert "AccessDeniedException" in reply.detail
    assert "permission bedrock:InvokeModel" in reply.detail
    assert repr(MODEL) in reply.detail


@pytest.mark.parametrize(
    ("act", "options", "permission"),
    [
        (denies("bedrock:ApplyGuardrail"), {}, "bedrock:ApplyGuardrail"),
        (denies("bedrock:InvokeModel"), {"streaming": True}, "bedrock:InvokeModel"),
        (
            refuses(403, "AccessDeniedException", "You don't have access to the model."),
            {"streaming": True},
            "bedrock:InvokeModelWithResponseStream",
        ),
    ],
)
def test_access_denied_names_the_permission_that_is_missing(bedrock, act, options, permission):
    """A model with a guardrail needs one more, and one that streams another one."""
    bedrock.always = act
    reply = ask(Judge(from_string(f"bedrock:{MODEL}", max_retries=0, **options)))
    assert f"the credentials need the permission {permission} for" in reply.detail


def test_throttling_is_retried_by_the_client_as_it_was_told(bedrock):
    bedrock.script += [throttles(), says("It is.")]
    patient = Judge(from_string(f"bedrock:{MODEL}", max_retries=3), timeout=20.0)
    assert ask(patient).texts == ("It is.",)
    assert len(bedrock.requests) == 2


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (throttles(), "Too many requests"),
        (breaks(), "ServiceUnavailable"),
        (resets, "Connection"),
        (babbles, "Error"),
    ],
    ids=["throttled", "unavailable", "reset", "garbage"],
)
def test_a_call_that_fails_is_told_and_not_retried_by_the_judge(bedrock, act, told):
    bedrock.always = act
    reply = ask(judge())
    assert isinstance(reply, Failed)
    assert reply.reason is AbstentionReason.MODEL_FAILED
    assert told in reply.detail
    assert len(bedrock.requests) == 1
    outcome = Checker("judge", judge=judge()).check(INTERACTION)
    assert isinstance(outcome, Abstention)
    assert outcome.why is AbstentionReason.MODEL_FAILED


@pytest.mark.parametrize("act", [hangs, trickles], ids=["hangs", "trickles"])
def test_a_reply_that_never_ends_is_given_up_in_time(bedrock, act):
    bedrock.always = act
    reply = ask(judge(timeout=0.3))
    assert reply.reason is AbstentionReason.TIMEOUT
    assert reply.detail == "the model did not reply within 0.3 seconds"
    assert reply.usage.calls == 1


def test_a_verdict_that_a_cut_off_reply_quotes_is_none(bedrock):
    """The answer may hold one, and a model that reasons about it may get no further."""
    bedrock.always = says(f"The answer itself says {SUPPORTED}, which I don't follow. It", stop="max_tokens")
    outcome = Checker("judge", judge=judge()).check(INTERACTION)
    assert (outcome.why, outcome.usage.calls) == (AbstentionReason.UNREADABLE_REPLY, 2)
    assert "cut off (max_tokens)" in outcome.detail


def test_a_cut_off_reply_is_never_a_verdict(bedrock):
    bedrock.always = says(SUPPORTED[:-2], stop="max_tokens")
    outcome = Checker("judge", judge=judge()).check(INTERACTION)
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert "the reply was cut off (max_tokens): the model needs a higher max_tokens" in outcome.detail
    assert len(bedrock.requests) == 2


@pytest.mark.parametrize(
    ("content", "stop", "told"),
    [
        ([{"reasoningContent": {"reasoningText": {"text": "Let me see"}}}], "max_tokens", "cut off"),
        ([], "max_tokens", "cut off (max_tokens): the model needs a higher max_tokens"),
        ([], "model_context_window_exceeded", "the model's window is full"),
        ([], "content_filtered", "withheld (content_filtered)"),
        ("Blocked by policy.", "guardrail_intervened", "withheld (guardrail_intervened)"),
    ],
)
def test_a_reply_that_was_stopped_says_by_what(bedrock, content, stop, told):
    """Its text often says nothing: thinking may take all the tokens that there are."""
    bedrock.always = says(content, stop=stop)
    outcome = Checker("judge", judge=judge()).check(INTERACTION)
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert told in outcome.detail


def test_a_reply_that_was_stopped_is_not_remembered(bedrock):
    """Who raises the limit, or mends the guardrail, asks the same again."""
    bedrock.script.append(says("Blocked by policy.", stop="guardrail_intervened"))
    bedrock.always = says("it is so")
    remembering = judge(memory=Memory())
    assert [ask(remembering).texts for _ in range(3)] == [("Blocked by policy.",), *[("it is so",)] * 2]
    assert len(bedrock.requests) == 2


@pytest.mark.parametrize("method", ["stochastic", "trustworthiness"])
def test_a_new_answer_that_was_cut_off_is_compared_with_nothing(bedrock, method):
    """What it had not come to yet would count against the answer that is judged."""
    bedrock.always = says("You pay", stop="max_tokens")
    options = {"comparison": "n-gram"} if method == "stochastic" else {}
    outcome = Checker(detectors.get(method)(**options), judge=judge()).check(INTERACTION)
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert "cut off (max_tokens)" in outcome.detail


def test_no_region_is_a_mistake_in_the_settings(bedrock, monkeypatch):
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(ConfigurationError, match=r"(?i)region"):
        from_string(f"bedrock:{MODEL}")


@pytest.mark.parametrize(
    "message",
    [
        "This model doesn't support system messages. Try again without system messages.",
        "System role not supported",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
        "Conversation roles must alternate user/assistant/user/assistant/...",
    ],
)
def test_what_a_system_message_says_stands_before_the_rest_where_none_is_taken(bedrock, message):
    bedrock.script.append(refuses(400, "ValidationException", message))
    one = judge()
    assert [ask(one).texts for _ in range(2)] == [("scripted",)] * 2
    sent = [(body.get("system") or None, body["messages"][0]["content"]) for _, body in bedrock.requests]
    together = (None, [{"text": "You judge.\n\nIs it so?"}])
    assert sent == [([{"text": "You judge."}], [{"text": "Is it so?"}]), together, together]


def test_another_mistake_of_the_request_leaves_its_system_message(bedrock):
    bedrock.script.append(refuses(400, "ValidationException", "The system had an input that is too long."))
    assert isinstance(ask(judge()), Failed)
    assert len(bedrock.requests) == 1


def test_an_arn_says_what_has_to_be_set_beside_it(bedrock):
    profile = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123"
    with pytest.raises(ConfigurationError, match=r"parameters=\{'provider': 'anthropic'\}") as caught:
        Judge(f"bedrock:{profile}")
    assert "provider:model" not in str(caught.value)
    with pytest.raises(ConfigurationError, match=r"parameters=\{'base_model_id': 'MODEL_ID'"):
        Judge(f"bedrock:{profile}", parameters={"provider": "anthropic"})
    one = Judge(f"bedrock:{profile}", parameters={"provider": "anthropic", "base_model_id": MODEL})
    assert ask(one).texts == ("scripted",)


TITAN = "amazon.titan-embed-text-v2:0"
VERDICT = {"title": "Verdict", "type": "object", "properties": {"score": {"type": "number"}}}


def test_a_model_that_streams_is_read_whole(bedrock):
    bedrock.always = streams("It ", "is", ".")
    model = from_string(f"bedrock:{MODEL}")
    streaming = RunnableLambda(lambda messages: functools.reduce(operator.add, model.stream(messages)))
    assert ask(Judge(streaming)) == Completed(
        texts=("It is.",), usage=Usage(calls=1, input_tokens=11, output_tokens=7)
    )
    assert bedrock.actions == ["converse-stream"]


@pytest.mark.parametrize("include_raw", [False, True])
def test_structured_output_is_read_as_its_json(bedrock, include_raw):
    called = {"toolUse": {"toolUseId": "t", "name": "Verdict", "input": {"score": 0.25}}}
    bedrock.always = says([called], stop="tool_use")
    model = from_string(f"bedrock:{MODEL}").with_structured_output(VERDICT, include_raw=include_raw)
    reply = ask(Judge(model))
    assert json.loads(reply.texts[0]) == {"score": 0.25}
    assert reply.usage.input_tokens == (11 if include_raw else 0)
    ((_, body),) = bedrock.requests
    assert body["toolConfig"]["toolChoice"] == {"tool": {"name": "Verdict"}}


def test_structured_output_that_was_cut_off_is_never_a_verdict(bedrock):
    """What the parser makes of a half-written call may look whole."""
    called = {"toolUse": {"toolUseId": "t", "name": "Verdict", "input": json.loads(SUPPORTED)}}
    bedrock.always = says([called], stop="max_tokens")
    model = from_string(f"bedrock:{MODEL}").with_structured_output(VERDICT, include_raw=True)
    outcome = Checker("judge", judge=Judge(model)).check(INTERACTION)
    assert outcome.why == AbstentionReason.UNREADABLE_REPLY
    assert "higher max_tokens" in outcome.detail


def calls(name, given):
    return {"toolUse": {"toolUseId": "t", "name": name, "input": given}}


def held(**options):
    """A judge that is held to the form of its replies."""
    return judge(structured=True, **options)


def test_a_judge_may_be_held_to_the_form_of_its_replies(bedrock):
    bedrock.always = says([{"text": "Let me check."}, calls("reply", json.loads(SUPPORTED))], stop="tool_use")
    outcome = Checker("judge", judge=held()).check(INTERACTION)
    assert (outcome.grounded, outcome.usage) == (
        True,
        replace(outcome.usage, calls=1, input_tokens=11, output_tokens=7),
    )
    ((_, body),) = bedrock.requests
    (tool,) = body["toolConfig"]["tools"]
    assert body["toolConfig"]["toolChoice"] == {"tool": {"name": "reply"}}
    entry = tool["toolSpec"]["inputSchema"]["json"]["properties"]["claims"]["items"]
    assert list(entry["properties"]) == ["id", "support", "quote", "words", "reason", "score"]
    assert entry["properties"]["support"]["enum"] == ["supported", "inferred", "unsupported", "contradicted"]


@pytest.mark.parametrize(
    "reply",
    [
        says(SUPPORTED),
        says(f"Here it is:\n```json\n{SUPPORTED}\n```"),
        says([calls("reply", {"claims": json.loads(SUPPORTED)["claims"], "note": "x"})], stop="tool_use"),
    ],
)
def test_a_model_that_keeps_to_no_form_is_read_as_any_other(bedrock, reply):
    bedrock.always = reply
    outcome = Checker("judge", judge=held()).check(INTERACTION)
    assert (outcome.grounded, outcome.usage.calls) == (True, 1)


@pytest.mark.parametrize(
    "reply",
    [
        says([calls("reply", {})], stop="tool_use"),
        says([calls("reply", {"claims": []})], stop="tool_use"),
        says([calls("reply", json.loads(SUPPORTED))], stop="max_tokens"),
        says([calls("reply", json.loads(SUPPORTED.replace("0.1", "70")))], stop="tool_use"),
        says("I can't help with that."),
    ],
)
def test_a_form_that_can_not_be_read_is_asked_for_in_words(bedrock, reply):
    """Once more, without the form, which may have been what went wrong. Never is it a verdict."""
    bedrock.script += [reply, says(SUPPORTED)]
    outcome = Checker("judge", judge=held()).check(INTERACTION)
    assert (outcome.grounded, outcome.usage.calls, outcome.usage.input_tokens) == (True, 2, 22)
    assert ["toolConfig" in body for _, body in bedrock.requests] == [True, False]
    bedrock.always = reply
    assert Checker("judge", judge=held()).check(INTERACTION).why == AbstentionReason.UNREADABLE_REPLY


@pytest.mark.filterwarnings("ignore:.*relies on forced tool calling:UserWarning")
@pytest.mark.parametrize(("said", "calls"), [(SUPPORTED, 1), ("Let me think.", 2)])
def test_what_a_thinking_model_says_in_words_is_read_and_paid_for(bedrock, said, calls):
    """No tool can be forced upon it, and its client raises an error where it calls none."""
    bedrock.script += [says(said), says(SUPPORTED)]
    thinks = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    name = "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    model = from_string(name, additional_model_request_fields=thinks, max_tokens=4096)
    outcome = Checker("judge", judge=Judge(model, structured=True)).check(INTERACTION)
    assert outcome.grounded
    assert (outcome.usage.calls, outcome.usage.input_tokens) == (calls, 11 * calls)


@pytest.mark.parametrize("word", ["malformed_tool_use", "malformed_model_output"])
def test_a_reply_that_its_provider_calls_broken_is_no_verdict(bedrock, word):
    """Of a broken call there may be a part that looks whole."""
    bedrock.script += [says([calls("reply", json.loads(SUPPORTED))], stop=word), says(SUPPORTED)]
    outcome = Checker("judge", judge=held()).check(INTERACTION)
    assert (outcome.grounded, outcome.usage.calls) == (True, 2)
    bedrock.always = says(SUPPORTED, stop=word)
    outcome = Checker("judge", judge=judge()).check(INTERACTION)
    assert outcome.why == AbstentionReason.UNREADABLE_REPLY
    assert f"the reply was broken ({word})" in outcome.detail


def test_a_server_that_refuses_forms_is_asked_in_words_from_then_on(bedrock, caplog):
    bedrock.always = says(SUPPORTED)
    bedrock.script.append(refuses(400, "ValidationException", "This model doesn't support tool use."))
    checker = Checker("judge", judge=held())
    assert [checker.check(INTERACTION).grounded for _ in range(2)] == [True, True]
    assert ["toolConfig" in body for _, body in bedrock.requests] == [True, False, False]
    assert "asked in words alone from now on" in caplog.text


def test_a_form_does_not_hide_what_is_wrong_with_a_request(bedrock):
    wrong = refuses(400, "ValidationException", "Input is too long for requested model.")
    bedrock.script += [wrong, wrong, says([calls("reply", json.loads(SUPPORTED))], stop="tool_use")]
    checker = Checker("judge", judge=held())
    assert checker.check(INTERACTION).why == AbstentionReason.MODEL_FAILED
    assert checker.check(INTERACTION).grounded
    assert ["toolConfig" in body for _, body in bedrock.requests] == [True, False, True]


def test_a_model_s_handlers_hear_nothing_of_a_judge_that_is_held_to_a_form(bedrock):
    """Nor do those of the chain in which it is asked."""
    heard = []

    class Handler(BaseCallbackHandler):
        def on_chat_model_start(self, serialized, messages, **more):
            heard.append(messages)

        def on_chain_start(self, serialized, inputs, **more):
            heard.append(inputs)

    bedrock.always = says([calls("reply", json.loads(SUPPORTED))], stop="tool_use")
    model = from_string(f"bedrock:{MODEL}", callbacks=[Handler()])
    checker = Checker("judge", judge=Judge(model, structured=True))
    asking = RunnableLambda(lambda _: checker.check(INTERACTION).grounded)
    assert asking.invoke("q", config={"callbacks": [Handler()]}) is True
    assert heard == ["q"]


def test_settings_may_hold_a_judge_to_a_form(bedrock):
    bedrock.always = says([calls("reply", json.loads(SUPPORTED))], stop="tool_use")
    settings = {"detector": "judge", "judge": {"model": f"bedrock:{MODEL}", "structured": True}}
    assert Checker.from_config(settings).check(INTERACTION).grounded
    assert "toolConfig" in bedrock.requests[0][1]


def test_replies_in_a_form_and_in_words_are_remembered_apart(bedrock):
    memory = Memory()
    bedrock.script += [says([calls("reply", json.loads(SUPPORTED))], stop="tool_use"), says(SUPPORTED)]
    for one in (held(memory=memory), judge(memory=memory), held(memory=memory)):
        assert Checker("judge", judge=one).check(INTERACTION).grounded
    assert len(bedrock.requests) == 2
    assert held().parameters != judge().parameters


def test_structured_output_that_could_not_be_parsed_is_told_as_it_was_said(bedrock):
    bedrock.always = says("I can't say.")
    model = from_string(f"bedrock:{MODEL}").with_structured_output(VERDICT, include_raw=True)
    assert ask(Judge(model)).texts == ("I can't say.",)
    called = {"toolUse": {"toolUseId": "t", "name": "Verdict", "input": {"score": "much"}}}
    bedrock.always = says([called], stop="tool_use")
    model = from_string(f"bedrock:{MODEL}").with_structured_output(Verdict, include_raw=True)
    assert ask(Judge(model)).texts == ('{"score": "much"}',)


class Verdict(BaseModel):
    score: float


def test_structured_output_that_does_not_fit_is_asked_for_again_and_is_no_failure(bedrock):
    """LangChain raises for such a reply, or returns nothing, where the raw message is not asked for."""
    called = {"toolUse": {"toolUseId": "t", "name": "Verdict", "input": {"score": "much"}}}
    model = from_string(f"bedrock:{MODEL}").with_structured_output(Verdict)
    for reply in (says([called], stop="tool_use"), says("I can't say.")):
        bedrock.always = reply
        one = Judge(model, breaker=Breaker(failures=1))
        outcome = Checker("judge", judge=one).check(INTERACTION)
        assert (outcome.why, outcome.usage.calls) == (AbstentionReason.UNREADABLE_REPLY, 2)
        assert "doesn't fit the schema" in outcome.detail
        assert one.breakers["model"].opened == 0


class ModelRefusalError(Exception):
    """As langchain-core's since 1.7.5."""


class OpenAIRefusalError(ModelRefusalError):
    """As langchain-openai raises it for structured output that a model refuses."""


class LengthFinishReasonError(Exception):
    """As OpenAI's client raises it for structured output that was cut off."""


def test_what_a_provider_refuses_or_cuts_off_is_a_reply_whose_end_is_told(bedrock):
    raised = (
        (OutputParserException("not JSON", llm_output="It is so."), "It is so.", None),
        (OpenAIRefusalError("no"), "", "withheld (refusal)"),
        (LengthFinishReasonError("cut"), "", "cut off (length)"),
    )
    for error, text, told in raised:

        def parse(message, error=error):
            raise error

        one = Judge(from_string(f"bedrock:{MODEL}") | parse, breaker=Breaker(failures=1))
        reply = ask(one)
        assert reply.texts == (text,)
        assert [told in why for why in reply.stopped] == ([True] if told else [])
        assert one.breakers["model"].opened == 0


def test_a_reply_that_calls_a_tool_is_what_it_was_called_with(bedrock):
    """A model that has the form as its tool often says a word before it calls it."""
    called = {"toolUse": {"toolUseId": "t", "name": "Verdict", "input": json.loads(SUPPORTED)}}
    bedrock.always = says([{"text": "Let me check."}, called], stop="tool_use")
    model = from_string(f"bedrock:{MODEL}").bind_tools([VERDICT], tool_choice="Verdict")
    outcome = Checker("judge", judge=Judge(model)).check(INTERACTION)
    assert (outcome.grounded, outcome.usage.calls) == (True, 1)


def test_what_a_tool_is_called_with_is_read_as_a_whole(bedrock):
    """Also where it quotes, from what is judged, how thoughts end."""
    quoting = json.loads(SUPPORTED)
    quoting["claims"][0]["reason"] = "It also says </think>."
    called = {"toolUse": {"toolUseId": "t", "name": "Verdict", "input": quoting}}
    bedrock.always = says([{"text": "Let me check."}, called], stop="tool_use")
    model = from_string(f"bedrock:{MODEL}").bind_tools([VERDICT], tool_choice="Verdict")
    outcome = Checker("judge", judge=Judge(model)).check(INTERACTION)
    assert (outcome.grounded, outcome.usage.calls) == (True, 1)


def test_parameters_reach_the_service_and_a_request_s_temperature_wins(bedrock):
    parameters = {"temperature": 0.0, "max_tokens": 99, "top_p": 0.5, "stop_sequences": ["END"]}
    judge = Judge(f"bedrock:{MODEL}", parameters=parameters)
    ask(judge)
    judge.perform([Complete(system="s", user="u", temperature=0.8)], timeout=None)
    told = [body["inferenceConfig"] for _, body in bedrock.requests]
    assert told[0] == {"temperature": 0.0, "maxTokens": 99, "topP": 0.5, "stopSequences": ["END"]}
    assert [one["temperature"] for one in told] == [0.0, 0.8]


class Hears(BaseCallbackHandler):
    def __init__(self):
        self.heard = []

    def on_chat_model_start(self, serialized, messages, **kwargs):
        self.heard.append(messages)


@pytest.mark.parametrize("around", [lambda model: model, lambda model: model.with_retry()])
def test_a_model_whose_fields_a_call_may_choose_is_the_judge_s_own_copy_too(bedrock, around):
    """As ``init_chat_model(configurable_fields=...)`` makes it: a model of its own for each call."""
    handler, memory = Hears(), Memory()

    def configurable(model, **fields):
        name = f"bedrock_converse:{model}"
        chat = init_chat_model(name, configurable_fields="any", callbacks=[handler], cache=True, **fields)
        return Judge(around(chat), parameters={"max_tokens": 99}, memory=memory)

    one = configurable(MODEL, temperature=0)
    assert (one.model, ask(one).texts) == (MODEL, ("scripted",))
    one.perform([Complete(system="s", user="u", temperature=0.8)], timeout=None)
    told = [body["inferenceConfig"] for _, body in bedrock.requests]
    assert told == [{"temperature": 0, "maxTokens": 99}, {"temperature": 0.8, "maxTokens": 99}]
    assert ask(configurable(MODEL, temperature=0)).usage.calls == 0  # remembered
    assert ask(configurable("amazon.nova-pro-v1:0", temperature=0)).usage.calls == 1
    assert handler.heard == []


def test_a_model_of_which_each_call_has_to_choose_all_is_refused():
    with pytest.raises(ConfigurationError, match="name one there"):
        Judge(init_chat_model())


def test_a_guardrail_is_passed_through(bedrock):
    guardrail = {"guardrailIdentifier": "gr1", "guardrailVersion": "1"}
    ask(Judge(f"bedrock:{MODEL}", parameters={"guardrails": guardrail}))
    assert bedrock.requests[0][1]["guardrailConfig"] == guardrail


def test_region_and_endpoint_are_options(bedrock, monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME")
    parameters = {"region_name": "us-west-2", "base_url": bedrock.url}
    assert ask(Judge(f"bedrock:{MODEL}", parameters=parameters)).texts == ("scripted",)


def test_what_the_client_of_a_model_was_built_with_is_not_set_in_a_copy(bedrock):
    """It would change nothing, and documents would go where the copy does not say."""
    built = from_string(f"bedrock:{MODEL}")
    with pytest.raises(ConfigurationError) as caught:
        Judge(built.with_retry(), parameters={"region_name": "us-east-1", "max_retries": 0, "max_tokens": 9})
    assert [problem.partition(" is what")[0] for problem in caught.value.problems] == [
        "parameters: 'max_retries'",
        "parameters: 'region_name'",
    ]
    Judge(f"bedrock:{MODEL}", parameters={"region_name": "us-east-1", "max_retries": 0})


def test_titan_embeds_each_text(bedrock):
    bedrock.always = embeds()
    judge = Judge(f"bedrock:{MODEL}", embeddings=f"bedrock:{TITAN}")
    (reply,) = judge.perform([Embed(texts=("a", "bb"))], timeout=None)
    assert reply.vectors == ((1.0, 1.0, 1.0), (2.0, 1.0, 1.0))
    assert {model for model, _ in bedrock.requests} == {TITAN}


def test_all_other_models_are_reached_as_the_judge_s_own_is(bedrock, monkeypatch):
    """Or documents would leave the region that was named."""
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.delenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    bedrock.always = embeds()
    parameters = {"region_name": "eu-central-1", "base_url": bedrock.url, "temperature": 0}
    further = {"second": "bedrock:amazon.nova-lite-v1:0"}
    judge = Judge(f"bedrock:{MODEL}", embeddings=f"bedrock:{TITAN}", models=further, parameters=parameters)
    (reply,) = judge.perform([Embed(texts=("a",))], timeout=None)
    assert reply.vectors == ((1.0, 1.0, 1.0),)
    bedrock.always = says("It is.")
    (reply,) = judge.perform([Complete(system="s", user="u", model="second")], timeout=None)
    assert reply.texts == ("It is.",)
    assert bedrock.requests[-1][0] == "amazon.nova-lite-v1:0"
    assert "temperature" not in bedrock.requests[-1][1]["inferenceConfig"], "only how it is reached is shared"
    assert judge._models.embedding._embedder._function.__self__.region_name == "eu-central-1"


def test_embeddings_alone_are_reached_as_their_parameters_say(bedrock, monkeypatch):
    """By the names that the settings of a Bedrock model have for region and endpoint, or by their own."""
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.delenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    bedrock.always = embeds()
    for name in ("base_url", "endpoint_url"):
        parameters = {"region_name": "eu-central-1", name: bedrock.url}
        judge = Judge(embeddings=f"bedrock:{TITAN}", parameters=parameters)
        (reply,) = judge.perform([Embed(texts=("a",))], timeout=None)
        assert reply.vectors == ((1.0, 1.0, 1.0),)
    with pytest.raises(ConfigurationError, match=r"embeddings 'bedrock:.*temperature: Extra inputs"):
        Judge(embeddings=f"bedrock:{TITAN}", parameters={**parameters, "temperature": 0})


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (refuses(400, "ValidationException", "The provided model identifier is invalid."), "not enabled"),
        (refuses(404, "ResourceNotFoundException", "Model use case details"), "not enabled"),
        (refuses(400, "ValidationException", "temperature is too high"), "temperature is too high"),
    ],
    ids=["unknown", "not enabled", "another mistake"],
)
def test_a_model_that_is_not_there_for_this_account_says_what_to_do(bedrock, act, told):
    bedrock.always = act
    reply = ask(judge())
    assert told in reply.detail
    assert ("Bedrock console" in reply.detail) == (told == "not enabled")


def test_embeddings_denied_name_the_permission(bedrock):
    bedrock.always = denies()
    judge = Judge(f"bedrock:{MODEL}", embeddings=f"bedrock:{TITAN}")
    (reply,) = judge.perform([Embed(texts=("a",))], timeout=None)
    assert f"permission bedrock:InvokeModel for {TITAN!r}" in reply.detail


def test_the_judge_tries_again_where_the_client_was_told_not_to(bedrock):
    bedrock.script += [throttles(), breaks(), says("It is.")]
    limits = Limits(retries=2, backoff=0.01)
    reply = ask(judge(limits=limits))
    assert (reply.texts, reply.usage.calls) == (("It is.",), 3)
    bedrock.script += [denies()]
    assert ask(judge(limits=limits)).usage.calls == 1


@pytest.mark.parametrize(
    "error", ["throttlingException", "serviceUnavailableException", "internalServerException"]
)
def test_the_judge_tries_again_where_a_stream_broke_off(bedrock, error):
    bedrock.script.append(breaks_off(error))
    bedrock.always = streams("it is so")
    model = from_string(f"bedrock:{MODEL}", max_retries=0, streaming=True)
    reply = ask(Judge(model, limits=Limits(retries=1, backoff=0.001)))
    assert (reply.texts, reply.usage.calls) == (("it is so",), 2)


def test_a_mistake_that_a_stream_tells_is_none_of_the_model_s(bedrock):
    bedrock.always = breaks_off("validationException", "Input is too long for requested model.")
    one = Judge(from_string(f"bedrock:{MODEL}", max_retries=0, streaming=True), limits=Limits(retries=1))
    assert ask(one).usage.calls == 1
    assert one.breakers["model"].failures_in_a_row == 0


def test_the_judge_comes_back_when_the_server_says(bedrock):
    """Heard through the real client; what is too far ahead is not waited for."""
    bedrock.script += [throttles(after="1"), says("It is.")]
    limits = Limits(retries=2, backoff=0.001)
    began = time.monotonic()
    assert ask(judge(limits=limits)).texts == ("It is.",)
    assert time.monotonic() - began >= 1
    bedrock.script += [throttles(after="3600"), says("It is.")]
    reply = ask(judge(limits=limits))
    assert (reply.reason, reply.usage.calls) == (AbstentionReason.MODEL_FAILED, 1)
    assert "left alone for 3600 seconds" in reply.detail


GUARDRAIL = "bedrock-guardrail:gr1:2"


def grounding(**parameters):
    return Checker(BedrockGrounding(**parameters), judge=Judge(GUARDRAIL))


def test_a_guardrail_s_grounding_is_a_score(bedrock):
    bedrock.script += [grounds(0.95, 0.9), grounds(0.2, 0.9, action="GUARDRAIL_INTERVENED")]
    clean, invented = (grounding().check(INTERACTION) for _ in range(2))
    assert (clean.grounded, clean.score, clean.kind) == (True, pytest.approx(0.05), None)
    assert (invented.hallucinated, invented.score) == (True, pytest.approx(0.8))
    assert invented.kind is Kind.CONTEXT_CONFLICTING
    assert invented.reason == "Grounding confidence 0.20, relevance 0.90."
    guardrail, body = bedrock.requests[0]
    assert (guardrail, body["source"], body["outputScope"]) == ("gr1", "OUTPUT", "FULL")
    told = [(one["text"]["qualifiers"], one["text"]["text"]) for one in body["content"]]
    assert told == [
        (["grounding_source"], "The fee is 25 EUR."),
        (["query"], "The fee?"),
        (["guard_content"], "You pay 25 EUR."),
    ]


async def test_a_guardrail_is_asked_the_same_on_an_event_loop(bedrock):
    bedrock.always = grounds(0.1)
    assert (await grounding().acheck(INTERACTION)).score == pytest.approx(0.9)


def test_an_answer_off_its_question_is_told_apart_when_asked_for(bedrock):
    bedrock.always = grounds(0.9, 0.2)
    assert grounding().check(INTERACTION).grounded
    off = grounding(relevance=0.5).check(INTERACTION)
    assert (off.hallucinated, off.kind, off.score) == (True, Kind.IRRELEVANT, pytest.approx(0.8))


@pytest.mark.parametrize(
    ("question", "why", "told"),
    [
        ("", AbstentionReason.UNREADABLE_INPUT, "there is no question"),
        ("The fee?", AbstentionReason.MODEL_FAILED, "switch its relevance check on"),
    ],
)
def test_a_relevance_that_is_wanted_and_not_told_clears_nothing(bedrock, question, why, told):
    asked = Interaction(question=question, contexts="The fee is 25 EUR.", answer="You pay 25 EUR.")
    bedrock.always = grounds(0.95)
    outcome = grounding(relevance=0.5).check(asked)
    assert (outcome.why, outcome.score) == (why, None)
    assert told in outcome.detail
    assert grounding().check(asked).grounded
    bedrock.always = grounds(0.2)
    assert grounding(relevance=0.5).check(asked).kind is Kind.CONTEXT_CONFLICTING


def test_a_long_answer_goes_in_parts_and_the_worst_decides(bedrock):
    answer = " ".join(f"Sentence number {i} states another small fact." for i in range(200))
    bedrock.always = lambda http, body: grounds(
        0.1 if "number 199 " in body["content"][-1]["text"]["text"] else 0.9
    )(http, body)
    outcome = grounding().check(Interaction(answer=answer, contexts="c"))
    assert outcome.score == pytest.approx(0.9)
    assert [claim.support for claim in outcome.claims] == [Support.SUPPORTED, Support.UNSUPPORTED]
    assert all(claim.span.of(answer) == claim.text for claim in outcome.claims)
    assert all(len(body["content"][-1]["text"]["text"]) <= 5_000 for _, body in bedrock.requests)


@pytest.mark.parametrize(
    ("contexts", "answer", "why"),
    [
        (None, "You pay 25 EUR.", AbstentionReason.NO_CONTEXT),
        ("c", "...", AbstentionReason.NO_CLAIMS),
        ("c" * 100_001, "You pay 25 EUR.", AbstentionReason.OVER_BUDGET),
        ("c", "```python\n" + "x = 1\n" * 1_000 + "```", AbstentionReason.OVER_BUDGET),
    ],
)
def test_what_the_service_can_not_take_is_not_sent(bedrock, contexts, answer, why):
    assert grounding().check(Interaction(answer=answer, contexts=contexts)).why is why
    assert bedrock.requests == []


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (denies("bedrock:ApplyGuardrail"), "permission bedrock:ApplyGuardrail"),
        (grounds(None), "must be switched on"),
        (grounds(1.5), "must be switched on"),
        (babbles, "Error"),
        (refuses(404, "ResourceNotFoundException", "no such guardrail"), "no such guardrail"),
    ],
    ids=["denied", "no policy", "out of range", "garbage", "unknown"],
)
def test_a_guardrail_that_gives_no_score_gives_no_verdict(bedrock, act, told):
    bedrock.always = act
    outcome = grounding().check(INTERACTION)
    assert outcome.why is AbstentionReason.MODEL_FAILED
    assert told in outcome.detail


def test_a_relevance_that_is_no_score_is_a_mistake_in_the_settings():
    with pytest.raises(ConfigurationError, match=r"relevance must be a number in \[0, 1\], not 2"):
        BedrockGrounding(relevance=2)


def test_a_guardrail_and_a_language_model_do_not_stand_in_for_each_other(bedrock):
    asked = Checker(BedrockGrounding(), judge=judge()).check(INTERACTION)
    assert "needs Judge('bedrock-guardrail:" in asked.detail
    asked = Checker("judge", judge=Judge(GUARDRAIL)).check(INTERACTION)
    assert "needs a language model" in asked.detail
    assert bedrock.requests == []


def test_a_guardrail_is_asked_beside_a_model_by_its_name(bedrock):
    """So that a cascade can ask the one first, and the other for what is left."""
    bedrock.always = grounds(0.5, 0.9)
    stages = (
        Stage(detector=BedrockGrounding(), model="guard", accept=0.1, flag=0.9),
        Stage(detector="judge", accept=0.1, flag=0.9),
    )
    prices = {MODEL: Price(input=1), "gr1:2": Price(input=1_000_000)}
    limits = Limits(budget=Budget(cost=100))
    both = judge(models={"guard": GUARDRAIL}, prices=prices, limits=limits)
    outcome = Checker(Cascade(stages=stages), judge=both).check(INTERACTION)
    assert outcome.route.stages[0].score == 0.5
    assert bedrock.actions == ["apply", "converse"]
    assert both.perform([Ground(sources=("s" * 400,), query="", text="t", model="guard")] * 2, timeout=None)
    (refused,) = both.perform([Complete(system="", user="u")], timeout=None)
    assert refused.reason is AbstentionReason.OVER_BUDGET, "what a guardrail costs is part of a budget"


@pytest.mark.parametrize("name", ["", "gr1", "gr1:", ":1", "gr1:latest"])
def test_a_name_of_no_guardrail_is_refused(name):
    with pytest.raises(ConfigurationError, match="expected 'bedrock-guardrail:GUARDRAIL_ID:VERSION'"):
        Judge(f"bedrock-guardrail:{name}")
