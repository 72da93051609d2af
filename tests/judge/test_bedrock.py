"""The real Bedrock client against a server of ours: what comes back, and what is told when nothing does."""

import json

import pytest

from groundwire import Abstention, AbstentionReason, Checker, ConfigurationError, Interaction, Judge, Usage
from groundwire.core.plan import Complete, Completed, Failed
from groundwire.langchain.models import from_string
from tests.servers.bedrock_server import (
    MODEL,
    babbles,
    bedrock,
    breaks,
    denies,
    hangs,
    resets,
    says,
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


def test_a_cut_off_reply_is_never_a_verdict(bedrock):
    bedrock.always = says(SUPPORTED[:-2], stop="max_tokens")
    outcome = Checker("judge", judge=judge()).check(INTERACTION)
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert len(bedrock.requests) == 2


def test_no_region_is_a_mistake_in_the_settings(bedrock, monkeypatch):
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(ConfigurationError, match=r"(?i)region"):
        from_string(f"bedrock:{MODEL}")
