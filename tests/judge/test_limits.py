"""Limits: what is tried again and what is not, how fast, for how much, and what is told at the end of it."""

import threading
import time
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.utils import format_datetime
from types import SimpleNamespace
from urllib.error import HTTPError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import (
    Abstention,
    AbstentionReason,
    Checker,
    ConfigurationError,
    Interaction,
    Judge,
    Policy,
    Usage,
)
from groundwire.core.budget import Budget, estimated_tokens, within
from groundwire.core.plan import Complete, Completed, Embed, Embedded, Failed
from groundwire.judge.breaker import Breaker
from groundwire.judge.drivers import run
from groundwire.judge.failures import wait_asked
from groundwire.judge.limits import Allowance, Limits, Pace
from groundwire.judge.prices import Price
from tests.scripted import AsksModel

ASK = Complete(system="s", user="u")


class StatusError(Exception):
    """What HTTP clients raise: it tells the status."""

    def __init__(self, status):
        super().__init__(f"status {status}")
        self.status_code = status


class Unsteady:
    """A model that fails as it is told, and then replies."""

    def __init__(self, *failures):
        self.failures = list(failures)
        self.calls = 0

    def __call__(self, system, user):
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        return "so"


def ask(judge, *requests, timeout=None):
    return list(judge.perform(requests or [ASK], timeout=timeout))


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_throttling_and_a_broken_server_are_tried_again(status):
    model = Unsteady(StatusError(status), StatusError(status))
    (reply,) = ask(Judge(model, limits=Limits(retries=2, backoff=0.001)))
    assert reply == Completed(texts=("so",), usage=Usage(calls=3))


@pytest.mark.parametrize(
    "failure",
    [
        StatusError(400),
        StatusError(401),
        StatusError(403),
        StatusError(404),
        StatusError(422),
        ConnectionResetError(),
        ValueError("429"),
    ],
)
def test_no_other_failure_is_tried_again(failure):
    model = Unsteady(failure)
    (reply,) = ask(Judge(model, limits=Limits(retries=2, backoff=0.001)))
    assert reply.reason is AbstentionReason.MODEL_FAILED
    assert model.calls == reply.usage.calls == 1


def test_a_failure_behind_a_library_s_own_error_is_found():
    def model(system, user):
        raise RuntimeError("the call failed") from StatusError(503)

    (reply,) = ask(Judge(model, limits=Limits(retries=1, backoff=0.001)))
    assert reply.usage.calls == 2


def test_after_the_last_attempt_the_failure_says_how_many_there_were():
    model = Unsteady(*[StatusError(503)] * 9)
    (reply,) = ask(Judge(model, limits=Limits(retries=3, backoff=0.001)))
    assert reply.detail == "StatusError: status 503 (after 4 attempts)"
    assert model.calls == 4


def test_nothing_is_tried_again_when_nobody_could_wait_for_it():
    model = Unsteady(*[StatusError(503)] * 9)
    (reply,) = ask(Judge(model, limits=Limits(retries=9, backoff=60)), timeout=0.5)
    assert reply.reason in (AbstentionReason.MODEL_FAILED, AbstentionReason.TIMEOUT)
    assert model.calls < 9


class ProviderError(StatusError):
    """As OpenAI's and Anthropic's clients raise it, with the response and its headers."""

    def __init__(self, after, status=429):
        super().__init__(status)
        self.response = SimpleNamespace(status_code=status, headers={"Retry-After": after})


def from_urllib(after):
    headers = Message()
    headers["Retry-After"] = after
    return HTTPError("http://127.0.0.1", 429, "Too many requests", headers, None)


def from_botocore(after):
    pytest.importorskip("botocore")
    from botocore.exceptions import ClientError

    told = {"HTTPStatusCode": 429, "HTTPHeaders": {"retry-after": after}}
    content = {"Error": {"Code": "ThrottlingException"}, "ResponseMetadata": told}
    return ClientError(content, "Converse")


def behind_another(after):
    error = RuntimeError("the call failed")
    error.__cause__ = ProviderError(after)
    return error


CLIENTS = pytest.mark.parametrize("error", [ProviderError, from_urllib, from_botocore, behind_another])


def in_seconds(seconds):
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@CLIENTS
def test_a_server_may_say_how_long_to_wait(error):
    """In seconds, or by a date; what is neither, or has passed, says nothing."""
    assert wait_asked(error("7")) == 7
    assert wait_asked(error(in_seconds(40))) == pytest.approx(40, abs=2)
    assert wait_asked(error(in_seconds(40).replace("GMT", "-0000"))) == pytest.approx(40, abs=2)
    for nothing in ("", "soon", "-7", "nan", "Mon, 99 Nov 2026 25:00:00 GMT", in_seconds(-40), "٣"):
        assert wait_asked(error(nothing)) == 0
    assert wait_asked(StatusError(429)) == 0


@pytest.mark.parametrize(
    "bad", [None, {}, {"ResponseMetadata": {}}, {"ResponseMetadata": {"HTTPHeaders": 3}}]
)
def test_a_response_of_any_form_is_no_reason_to_fail(bad):
    """An error of a client that nobody has heard of may hold anything."""
    error = StatusError(429)
    error.response = bad
    error.headers = ["Retry-After"]
    assert wait_asked(error) == 0


@CLIENTS
@pytest.mark.parametrize("after", ["3600", "9" * 400, in_seconds(7200)])
def test_who_is_told_to_come_back_much_later_does_not_wait(error, after):
    """Nobody hangs for an hour, also without any deadline: the call has failed, and says why."""
    model = Unsteady(*[error(after)] * 9)
    judge = Judge(model, limits=Limits(retries=5, backoff=0.001), breaker=Breaker(failures=1))
    (reply,) = ask(judge)
    assert (reply.reason, model.calls) == (AbstentionReason.MODEL_FAILED, 1)
    assert "the server asks to be left alone for" in reply.detail
    assert ask(judge)[0].reason is AbstentionReason.UNAVAILABLE


@CLIENTS
def test_who_has_no_time_to_wait_so_long_does_not(error):
    """The check's own deadline comes first; what went wrong is told at once."""
    model = Unsteady(error("40"))
    (reply,) = ask(Judge(model, limits=Limits(retries=5, backoff=0.001)), timeout=20)
    assert (reply.reason, model.calls) == (AbstentionReason.MODEL_FAILED, 1)


@CLIENTS
def test_who_is_told_when_to_come_back_does_then(error):
    """And not before, however short its own waits are."""
    model = Unsteady(error("0.3"))
    began = time.monotonic()
    (reply,) = ask(Judge(model, limits=Limits(retries=1, backoff=0.001)))
    assert (reply.texts, model.calls) == (("so",), 2)
    assert time.monotonic() - began >= 0.3


@given(st.integers(2, 40), st.floats(0, 60), st.floats(0, 60))
def test_waits_are_no_shorter_than_asked_and_bounded(attempt, backoff, asked):
    """However long the own wait is, nobody waits for more than a minute."""
    wait = Limits(retries=1, backoff=backoff).wait_before(attempt, asked=asked)
    assert asked <= wait <= 60


@given(st.integers(2, 40), st.floats(0, 60))
def test_waits_are_random_bounded_and_never_negative(attempt, backoff):
    wait = Limits(retries=1, backoff=backoff).wait_before(attempt)
    assert 0 <= wait <= min(60, backoff * 2 ** (attempt - 2))


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@given(st.integers(1, 20), st.lists(st.tuples(st.integers(1, 20), st.floats(0, 30)), min_size=1, max_size=60))
def test_no_minute_holds_more_than_its_share(limit, asked):
    """The law of a pace: of what was let through within any 60 seconds, the sum is within the limit."""
    clock = Clock()
    pace = Pace(limit, clock=clock)
    gone = []
    for amount, later in asked:
        clock.now += later
        gone.append((clock.now + pace.take(min(amount, limit)), min(amount, limit)))
    assert [at for at, _ in gone] == sorted(at for at, _ in gone)
    for start, _ in gone:
        assert sum(amount for at, amount in gone if start <= at < start + 59.999) <= limit


def test_more_than_a_minute_s_worth_goes_alone_and_does_not_wait_for_ever():
    clock = Clock()
    pace = Pace(10, clock=clock)
    assert pace.take(50) == 0
    assert pace.take(1) == 60


@given(st.integers(1, 9), st.lists(st.tuples(st.integers(1, 9), st.floats(0, 40), st.floats(0, 90))))
def test_who_can_t_wait_for_a_turn_takes_none(limit, asked):
    """The waits of those who can are as if the others had never asked."""
    clock = Clock()
    asking, alone = Pace(limit, clock=clock), Pace(limit, clock=clock)
    for amount, later, patience in asked:
        clock.now += later
        wait = asking.take(amount, within=patience)
        if wait < patience:
            assert wait == alone.take(amount)


def test_calls_that_were_not_made_hold_back_none_that_come_after_them():
    """A burst beyond the rate costs the burst its turns, and nobody else."""
    model = Unsteady()
    judge = Judge(model, limits=Limits(requests_per_minute=30, tokens_per_minute=100_000))
    replies = ask(judge, *[Complete(system="s", user=str(i)) for i in range(90)], timeout=1.0)
    missed = [reply for reply in replies if isinstance(reply, Failed)]
    assert len(missed) == 60
    assert {reply.reason for reply in missed} == {AbstentionReason.TIMEOUT}
    assert judge._attempts._requests.take() <= 60


def test_a_call_that_has_no_turn_in_time_takes_no_tokens_either():
    judge = Judge(Unsteady(), limits=Limits(requests_per_minute=2, tokens_per_minute=1_000))
    said = "word " * 100
    ask(judge, *[Complete(system="s", user=f"{i} {said}") for i in range(12)], timeout=1.0)
    assert judge._attempts._tokens.take(400) == 0


def test_without_a_limit_nothing_waits():
    assert {Pace(None).take(10**9) for _ in range(9)} == {0.0}


def test_a_call_that_waits_for_its_turn_is_not_timed_meanwhile_but_its_check_is():
    judge = Judge(Unsteady(), timeout=20, limits=Limits(requests_per_minute=1))
    first, second = ask(judge, ASK, Complete(system="s", user="v"), timeout=0.5)
    assert {type(first), type(second)} == {Completed, Failed}
    refused = next(reply for reply in (first, second) if isinstance(reply, Failed))
    assert refused.reason is AbstentionReason.TIMEOUT
    assert refused.usage.calls == 0


def test_a_budget_is_renewed_with_its_period():
    clock = Clock()
    allowance = Allowance(Budget(calls=2), period=3600, clock=clock)
    assert [allowance.claim() for _ in range(3)] == [
        "",
        "",
        "it needs 1 call, and has 2 in all, 2 of them made",
    ]
    clock.now += 3599
    assert allowance.claim()
    clock.now += 1
    assert not allowance.claim()


@pytest.mark.parametrize(
    ("budget", "spent", "told"),
    [
        (Budget(tokens=100), Usage(input_tokens=60, output_tokens=40), "the limit of 100 tokens is reached"),
        (Budget(cost=0.5), Usage(cost=0.5), "the limit of 0.5 in money is reached"),
        (Budget(calls=1), Usage(), "it needs 1 call, and has 1 in all, 1 of them made"),
        (Budget(calls=0), Usage(), "it needs 1 call, and has 0 in all"),
    ],
)
def test_a_budget_says_which_limit_is_reached(budget, spent, told):
    allowance = Allowance(budget, period=60)
    allowance.claim()
    allowance.settle(spent)
    assert allowance.claim() == told


def test_over_its_period_s_budget_a_judge_asks_nothing_and_says_so():
    model = Unsteady()
    judge = Judge(model, limits=Limits(budget=Budget(calls=1)))
    ask(judge)
    outcome = Checker(AsksModel(), judge=judge).check(Interaction(answer="a", contexts="c"))
    assert isinstance(outcome, Abstention)
    assert outcome.why is AbstentionReason.OVER_BUDGET
    assert outcome.detail == (
        "the budget of the judge's period has no room: it needs 1 call, and has 1 in all, 1 of them made"
    )
    assert model.calls == 1


def test_each_retry_is_a_call_of_the_budget():
    model = Unsteady(*[StatusError(503)] * 9)
    (reply,) = ask(Judge(model, limits=Limits(retries=5, backoff=0.001, budget=Budget(calls=2))))
    assert reply.reason is AbstentionReason.OVER_BUDGET
    assert reply.usage.calls == model.calls == 2


def test_tokens_that_a_model_does_not_count_are_estimated_for_its_budget():
    judge = Judge(lambda system, user: "y" * 40, limits=Limits(budget=Budget(tokens=20)))
    texts = [reply.texts for reply in (ask(judge) + ask(judge)) if isinstance(reply, Completed)]
    assert texts == [("y" * 40,)] * 2
    (third,) = ask(judge)
    assert third.detail.endswith("the limit of 20 tokens is reached")


def test_a_budget_in_money_needs_a_price():
    with pytest.raises(ConfigurationError, match="needs a price for the model"):
        Judge(Unsteady(), limits=Limits(budget=Budget(cost=1)))


def scripted(*replies):
    """A backend that gives each request the next of its replies and notes what it was asked."""

    class Scripted:
        def __init__(self):
            self.asked = []

        def perform(self, requests, *, timeout):
            self.asked.append(list(requests))
            return [next(left) for _ in requests]

    left = iter(replies)
    return Scripted()


def said(**usage):
    return Completed(texts=("t",), usage=Usage(calls=1, **usage))


def asks(*batches):
    replies = []
    for batch in batches:
        replies.append(tuple((yield batch)))  # noqa: PERF401 - a comprehension can't yield
    return replies


def test_within_a_budget_requests_keep_their_order_and_the_rest_fail():
    backend = scripted(said(), Embedded(vectors=((1.0,),), usage=Usage(calls=1)))
    three = [ASK, Complete(system="s", user="u", samples=5), Embed(texts=("a",))]
    (replies,) = run(within(asks(three), Budget(calls=2)), backend)
    assert [type(reply) for reply in replies] == [Completed, Failed, Embedded]
    assert replies[1].detail == "the budget of this check has no room: it needs 6 calls, and has 2 in all"
    assert backend.asked == [[three[0], three[2]]]


@pytest.mark.parametrize(
    ("budget", "usage"),
    [
        (Budget(tokens=10), {"input_tokens": 10}),
        (Budget(cost=0.1), {"input_tokens": 1, "cost": 0.1}),
        (Budget(cost=9), {"input_tokens": 1}),
    ],
    ids=["tokens", "money", "no price"],
)
def test_once_a_check_has_spent_its_budget_nothing_more_is_asked(budget, usage):
    backend = scripted(said(**usage))
    first, second = run(within(asks([ASK], [ASK]), budget), backend)
    assert isinstance(first[0], Completed)
    assert second[0].reason is AbstentionReason.OVER_BUDGET
    assert len(backend.asked) == 1


@given(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=4), max_size=5), st.integers(0, 12))
def test_a_check_never_makes_more_calls_than_its_budget(batches, calls):
    made = []

    class Counting:
        def perform(self, requests, *, timeout):
            made.extend(request.samples for request in requests)
            return [Completed(texts=("t",) * r.samples, usage=Usage(calls=r.samples)) for r in requests]

    asked = [[Complete(system="s", user="u", samples=n) for n in batch] for batch in batches]
    replies = run(within(asks(*asked), Budget(calls=calls)), Counting())
    assert sum(made) <= calls
    assert [len(batch) for batch in replies] == [len(batch) for batch in batches]


def test_a_policy_s_budget_is_each_check_s():
    model = Unsteady()
    checker = Checker(AsksModel(), judge=Judge(model), policy=Policy(budget=Budget(calls=0)))
    outcome = checker.check(Interaction(answer="a", contexts="c"))
    assert outcome.why is AbstentionReason.OVER_BUDGET
    assert model.calls == 0


def test_a_verdict_s_usage_tells_its_cost():
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    counted = AIMessage(
        content="0.2", usage_metadata={"input_tokens": 3000, "output_tokens": 1000, "total_tokens": 4000}
    )
    judge = Judge(
        GenericFakeChatModel(messages=iter([counted])),
        prices={"GenericFakeChatModel": Price(input=2.0, output=10.0)},
    )
    outcome = Checker(AsksModel(), judge=judge).check(Interaction(answer="a", contexts="c"))
    assert outcome.usage.cost == pytest.approx(0.016)


def test_where_tokens_or_prices_are_not_known_there_is_no_cost():
    (priced,) = ask(Judge(Unsteady(), prices={"Unsteady": Price(input=2.0)}))
    (unpriced,) = ask(Judge(Unsteady()))
    assert priced.usage.cost is unpriced.usage.cost is None


@given(st.text(), st.text())
def test_estimates_grow_with_their_text(one, other):
    assert (
        estimated_tokens(one)
        <= estimated_tokens(one + other)
        <= estimated_tokens(one) + estimated_tokens(other)
    )


def test_every_mistake_is_named_at_once():
    with pytest.raises(ConfigurationError) as caught:
        Limits(retries=-1, backoff=100, requests_per_minute=0, tokens_per_minute=True, budget=7, period=0)
    assert len(caught.value.problems) == 6
    with pytest.raises(ConfigurationError) as caught:
        Budget(calls=-1, tokens="many", cost=float("nan"))
    assert len(caught.value.problems) == 3


def test_a_budget_holds_for_all_threads_together():
    model = Unsteady()
    judge = Judge(model, limits=Limits(budget=Budget(calls=5)))
    threads = [threading.Thread(target=ask, args=(judge, ASK, ASK, ASK)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.calls == 5
