"""The breaker: a model that keeps failing is left alone, something else judges meanwhile, and it is told."""

import asyncio
import json
import logging
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import (
    Abstention,
    AbstentionReason,
    Checker,
    ConfigurationError,
    Grading,
    Interaction,
    Judge,
    Level,
    Policy,
    Verdict,
    Wording,
)
from groundwire.core import wire
from groundwire.core.plan import Complete, Completed, Embed, Failed
from groundwire.core.verdict import Recommendation
from groundwire.detectors import Cascade, Lexical
from groundwire.judge.breaker import Breaker, BreakerStats, Circuit, Status
from groundwire.judge.limits import Limits
from groundwire.judge.memory import Memory
from groundwire.langchain import GroundwireCallbackHandler
from tests.judge.test_limits import Clock, StatusError, Unsteady
from tests.langchain.apps import lcel, question
from tests.scripted import Always, NovelWords
from tests.servers.bedrock_server import bedrock

__all__ = ["bedrock"]

ASK = Complete(system="s", user="u")
FEE = Interaction(question="The fee?", contexts="The fee is 25 EUR.", answer="The fee is 75 EUR.")
DOWN = StatusError(503)
DAY = 86_400.0


def fails(*_):
    raise DOWN


class Sometimes:
    """A model that fails at each x."""

    def __init__(self, way):
        self.way = iter(way)

    def __call__(self, system, user):
        if next(self.way) == "x":
            raise DOWN
        return "so"


def ask(judge, request=ASK, timeout=None):
    (reply,) = judge.perform([request], timeout=timeout)
    return reply


def reasons(judge, times, request=ASK):
    return [getattr(ask(judge, request), "reason", "replied") for _ in range(times)]


def test_after_failures_in_a_row_the_model_is_not_asked_any_more():
    model = Unsteady(*[DOWN] * 99)
    judge = Judge(model, breaker=Breaker(failures=3))
    assert reasons(judge, 5) == ["MODEL_FAILED"] * 3 + ["UNAVAILABLE"] * 2
    assert model.calls == 3
    refused = ask(judge)
    assert refused.detail == (
        "the model 'Unsteady' kept failing (last: StatusError); it is tried again in 30 s"
    )
    assert refused.usage.calls == 0
    assert judge.breakers == {
        "model": BreakerStats(status=Status.OPEN, opened=1, refused=3, failures_in_a_row=3)
    }


def test_a_reply_between_failures_begins_the_count_anew():
    judge = Judge(Sometimes("xx.xx."), breaker=Breaker(failures=3))
    assert "UNAVAILABLE" not in reasons(judge, 6)


def test_without_a_breaker_it_is_asked_every_time():
    model = Unsteady(*[DOWN] * 9)
    assert reasons(Judge(model, breaker=None), 9) == ["MODEL_FAILED"] * 9
    assert model.calls == 9


def test_the_retries_of_one_request_are_one_failure():
    model = Unsteady(*[DOWN] * 99)
    judge = Judge(model, breaker=Breaker(failures=2), limits=Limits(retries=3, backoff=0.0))
    assert reasons(judge, 3) == ["MODEL_FAILED", "MODEL_FAILED", "UNAVAILABLE"]
    assert model.calls == 8


def test_a_reply_too_long_to_be_read_is_a_reply():
    """Else whoever writes a document that has the model talk without end would have it left alone."""
    judge = Judge(lambda system, user: "x" * 1_000_001, breaker=Breaker(failures=2))
    assert reasons(judge, 4) == ["UNREADABLE_REPLY"] * 4


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_mistake_of_the_request_is_none_of_the_model_s(status):
    judge = Judge(Unsteady(*[StatusError(status)] * 9), breaker=Breaker(failures=2))
    assert reasons(judge, 9) == ["MODEL_FAILED"] * 9


@pytest.mark.parametrize("limit", [1, 8])
def test_a_model_that_hangs_is_left_alone_also_where_all_threads_hang(limit):
    """With one call at a time there are two threads in all; the third request already finds none."""
    gate = threading.Event()
    judge = Judge(lambda *_: gate.wait(20), timeout=0.02, max_concurrency=limit, breaker=Breaker(failures=4))
    try:
        assert reasons(judge, 6) == ["TIMEOUT"] * 4 + ["UNAVAILABLE"] * 2
    finally:
        gate.set()


def test_a_reply_that_comes_after_it_was_given_up_counts_for_nothing():
    others = set(threading.enumerate())
    gates = [threading.Event() for _ in range(2)]
    waiting = iter(gates)
    judge = Judge(lambda *_: str(next(waiting).wait(20)), timeout=0.02, breaker=Breaker(failures=2))
    assert reasons(judge, 2) == ["TIMEOUT"] * 2
    for gate in gates:
        gate.set()
    for thread in set(threading.enumerate()) - others:
        thread.join(20)
    assert reasons(judge, 1) == ["UNAVAILABLE"]


def test_a_call_that_waited_for_its_turn_until_the_end_tells_nothing_about_the_model():
    """As where hundreds of checks begin at once, and the time of all ends while eight are out."""
    gate = threading.Event()

    def model(*_):
        judge._calls.here().asked -= DAY
        return str(gate.wait(20))

    judge = Judge(model, breaker=Breaker(failures=1))
    assert [ask(judge, timeout=0.05).reason for _ in range(3)] == ["TIMEOUT"] * 3
    gate.set()
    assert ask(judge).texts == ("True",)


def test_a_model_that_has_no_reply_in_the_time_of_a_check_has_failed():
    gate = threading.Event()
    judge = Judge(lambda *_: gate.wait(20), breaker=Breaker(failures=1))
    assert [ask(judge, timeout=0.05).reason for _ in range(2)] == ["TIMEOUT", "UNAVAILABLE"]
    gate.set()


async def test_who_stops_waiting_tells_nothing_about_the_model():
    gate = threading.Event()
    judge = Judge(lambda *_: str(gate.wait(20)), breaker=Breaker(failures=1))
    task = asyncio.create_task(judge.aperform([ASK], timeout=None))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.set()
    assert (await judge.aperform([ASK], timeout=None))[0].texts == ("True",)


def test_each_model_has_its_own_and_what_is_remembered_needs_none():
    first = Sometimes(".xxxxxxxxx")
    judge = Judge(
        first,
        models={"second": lambda s, u: "fine"},
        embeddings=lambda texts: [[1.0]] * len(texts),
        breaker=Breaker(failures=1),
        memory=Memory(),
    )
    other = Complete(system="s", user="another")
    assert reasons(judge, 1) + reasons(judge, 2, other) == ["replied", "MODEL_FAILED", "UNAVAILABLE"]
    assert isinstance(ask(judge), Completed), "the remembered reply is still there"
    assert ask(judge, Complete(system="s", user="u", model="second")).texts == ("fine",)
    assert not isinstance(ask(judge, Embed(texts=("a",))), Failed)
    told = {what: one.status for what, one in judge.breakers.items()}
    assert told == {"model": "open", "models.second": "closed", "embeddings": "closed"}


# -- the circuit, by a clock of its own ----------------------------------------------------------------


def circuit(**breaker):
    clock = Clock()
    return Circuit(Breaker(**breaker), "m", clock=clock), clock


def failing(one, times):
    for _ in range(times):
        who = object()
        assert one.enter(who) == ""
        one.leave(who, failure="X")


def test_after_the_cooldown_one_request_decides():
    one, clock = circuit(failures=2, cooldown=10)
    failing(one, 2)
    assert one.enter("a")
    clock.now += 10
    assert one.enter("probe") == ""
    assert one.stats.status is Status.PROBING
    assert one.enter("b") == "the model 'm' kept failing (last: X); one request is trying it again"
    one.leave("probe", failure="Y")
    assert one.enter("c").endswith("(last: Y); it is tried again in 10 s")
    clock.now += 10
    assert one.enter("probe 2") == ""
    one.leave("probe 2", failure=None)
    assert one.stats == BreakerStats(status=Status.CLOSED, opened=1, refused=3)
    assert one.enter("d") == ""


def test_a_probe_that_nobody_waits_for_gives_its_turn_away():
    one, clock = circuit(failures=1, cooldown=10)
    failing(one, 1)
    clock.now += 10
    assert one.enter("probe") == ""
    one.forget("probe")
    assert one.enter("next") == ""
    one.leave("probe", failure=None)
    assert one.stats.status is Status.PROBING


def test_what_was_out_when_it_opened_neither_closes_it_nor_holds_it_open():
    one, clock = circuit(failures=2, cooldown=10)
    assert [one.enter(who) for who in "abcd"] == [""] * 4
    for who in "ab":
        one.leave(who, failure="X")
    clock.now += 9
    one.leave("c", failure=None)
    one.leave("d", failure="X")
    assert one.stats.status is Status.OPEN
    clock.now += 1
    assert one.enter("probe") == ""


def test_a_share_of_failures_opens_it_where_none_follow_each_other():
    one, _ = circuit(failures=99, rate=0.5, window=6)
    for i in range(6):
        assert one.enter(i) == ""
        one.leave(i, failure="X" if i % 2 else None)
    assert one.stats.status is Status.OPEN


@given(st.lists(st.sampled_from(["ask", "ok", "fail", "forget", "wait"]), max_size=60), st.integers(1, 3))
def test_whatever_happens_at_most_one_is_out_while_it_is_open_and_it_always_recovers(steps, failures):
    one, clock = circuit(failures=failures, cooldown=10)
    out = []
    for step in steps:
        before = one.stats.status
        if step == "ask":
            who = object()
            if one.enter(who) == "":
                assert before is not Status.PROBING
                out.append(who)
        elif step == "wait":
            clock.now += 4
        elif out:
            who = out.pop(0)
            if step == "forget":
                one.forget(who)
            else:
                one.leave(who, failure="X" if step == "fail" else None)
    for who in out:
        one.forget(who)
    clock.now += 10
    assert one.enter("last") == ""
    one.leave("last", failure=None)
    assert one.stats.status is Status.CLOSED


def test_many_threads_open_it_once_and_probe_with_one(caplog):
    calls = []
    down = threading.Event()

    def model(system, user):
        calls.append(user)
        if not down.is_set():
            raise DOWN
        return "fine"

    judge = Judge(model, max_concurrency=16, breaker=Breaker(failures=3, cooldown=DAY))
    with caplog.at_level(logging.WARNING), ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: ask(judge), range(200)))
        assert len(calls) <= 3 + 16
        assert judge.breakers["model"].opened == 1
        before, _ = len(calls), down.set()
        judge._models.circuits["model"]._opened_at -= DAY
        list(pool.map(lambda _: ask(judge), range(50)))
    assert judge.breakers["model"].status is Status.CLOSED
    assert len(calls) > before
    assert caplog.text.count("kept failing") == 1
    assert caplog.text.count("replies again") == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_finds_it_closed():
    one, _ = circuit(failures=1)
    failing(one, 1)
    child = os.fork()
    if child == 0:
        os._exit(0 if one.enter("x") == "" and one.stats.opened == 0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# -- what judges meanwhile -----------------------------------------------------------------------------


def checker(model=fails, detector="judge", failures=1, **policy):
    return Checker(detector, judge=Judge(model, breaker=Breaker(failures=failures)), policy=Policy(**policy))


def test_the_embedded_detector_judges_while_the_model_is_away_and_the_verdict_says_so():
    one = checker()
    first, second = one.check(FEE), one.check(FEE)
    assert (first.why, first.degraded) == (AbstentionReason.MODEL_FAILED, None)
    assert isinstance(second, Verdict)
    assert second.hallucinated
    assert second.detector.name == "embedded"
    assert second.degraded.detector == one.detector.spec
    assert "kept failing" in second.degraded.reason
    assert second.reason.endswith("Judged by 'embedded' in place of 'judge', whose model is unavailable.")
    told = json.loads(json.dumps(second.to_dict()))
    assert told["degraded"]["detector"]["name"] == "judge"
    assert wire.decode(told).degraded.reason == second.degraded.reason


async def test_on_an_event_loop_and_many_at_once_likewise():
    one = checker(fallback="lexical")
    await one.acheck(FEE)
    outcomes = await asyncio.gather(*(one.acheck(FEE) for _ in range(20)))
    assert {outcome.detector.name for outcome in outcomes} == {"lexical"}
    assert all(outcome.degraded for outcome in one.check_many([FEE] * 9))


def test_everything_that_shares_the_judge_shares_its_breaker():
    judge = Judge(fails, breaker=Breaker(failures=1))
    Checker("judge", judge=judge).check(FEE)
    assert Checker("level", judge=judge).check(FEE).degraded.detector.name == "level"


def test_it_abstains_where_nothing_is_to_stand_in():
    one = checker(fallback=None)
    assert [one.check(FEE).why for _ in range(2)] == ["MODEL_FAILED", "UNAVAILABLE"]


def test_what_the_fallback_can_not_judge_either_stays_an_abstention():
    why = Abstention(why=AbstentionReason.NO_CLAIMS, detail="nothing said")
    one = checker(fallback=Always(outcome=why))
    one.check(FEE)
    outcome = one.check(FEE)
    assert outcome.why is AbstentionReason.UNAVAILABLE
    assert outcome.detail.endswith("; 'always' could not judge in its place: NO_CLAIMS: nothing said")
    assert outcome.detector.name == "judge"


def test_a_fallback_that_can_not_be_loaded_is_an_abstention_too():
    class Unloadable(NovelWords):
        def load(self):
            raise ConfigurationError("its weights are gone")

    one = checker(fallback=Unloadable())
    one.check(FEE)
    assert "'novel-words' could not judge in its place: its weights are gone" in one.check(FEE).detail


def test_its_verdicts_are_read_by_its_own_threshold_in_the_policy_s_words():
    words = Wording(label="STOP", title="No", warning="Ask a person.")
    one = checker(fallback="lexical", grading=Grading(threshold=0.99, wording={Level.HIGH: words}))
    one.check(FEE)
    outcome = one.check(FEE)
    assert outcome.threshold == Lexical().grading.threshold
    assert (outcome.level, outcome.wording) == (Level.HIGH, words)


def test_a_cascade_s_way_is_kept_beside_the_verdict_of_what_stands_in():
    undecided = Cascade(stages=({"detector": "lexical", "accept": 0.0, "flag": 1.0}, "judge"), facts="off")
    one = checker(detector=undecided)
    one.check(Interaction(contexts="A cat sat.", answer="A dog sat."))
    outcome = one.check(Interaction(contexts="A cat sat.", answer="The cat sat."))
    assert outcome.degraded.detector.name == "cascade"
    assert [stage.step for stage in outcome.route.stages] == ["undecided", "abstained"]
    assert outcome.recommendation is Recommendation.REVIEW


def test_a_stage_that_was_not_sure_does_not_clear_the_answer_in_the_judge_s_place():
    """An unsure answer is what the judge was there for: it must not pass whenever the judge is away."""
    stages = ({"detector": "embedded", "name": "ours", "accept": 0.0, "flag": 1.0}, "judge")
    one = checker(detector=Cascade(stages=stages, facts="off"))
    unsure = Interaction(contexts="A cat sat.", answer="The cat sat.")
    assert Checker("embedded").check(unsure).grounded
    one.check(unsure)
    outcome = one.check(unsure)
    assert outcome.why is AbstentionReason.UNAVAILABLE
    assert outcome.recommendation is Recommendation.REVIEW
    assert outcome.detail.endswith("'embedded' could not judge in its place: it has, and was not sure")


def test_a_tuning_or_a_comparison_hears_no_other_detector():
    from groundwire.bench.examples import Example
    from groundwire.bench.runs import judge as judged

    examples = [Example(id=str(i), interaction=FEE, label=True) for i in range(3)]
    outcomes = [one.outcome for one in judged(examples, checker(), concurrency=1)]
    assert [outcome.why for outcome in outcomes] == ["MODEL_FAILED", "UNAVAILABLE", "UNAVAILABLE"]


def test_a_fallback_that_needs_a_model_itself_is_a_mistake():
    with pytest.raises(ConfigurationError, match="'level' detector asks a model"):
        checker(fallback="level")
    with pytest.raises(ConfigurationError, match="fallback must be a Detector"):
        Policy(fallback=7)
    Checker("lexical", policy=Policy(fallback="level"))  # nothing is ever unavailable to it


def test_an_application_hears_of_it_in_its_metadata_and_its_statistics():
    handler = GroundwireCallbackHandler(checker(fallback="lexical"), workers=1)
    for _ in range(3):
        lcel().invoke(question(1), config={"callbacks": [handler]})
    assert handler.flush(20)
    assert [record.outcome.degraded is not None for record in handler.outcomes] == [False, True, True]
    assert handler.stats.degraded == 2


def test_every_mistake_in_its_settings_is_named_at_once():
    with pytest.raises(ConfigurationError) as caught:
        Breaker(failures=0, window=True, rate=1.5, cooldown=-1)
    assert len(caught.value.problems) == 4
    with pytest.raises(ConfigurationError, match="breaker: expected a Breaker or None, not int"):
        Judge(fails, breaker=3)


@pytest.mark.parametrize("off", ["off", False])
def test_a_settings_file_has_all_of_it(bedrock, off):
    judge = {"model": "bedrock-guardrail:gr1:2", "parameters": {"region_name": "eu-central-1"}}
    given = {"detector": "bedrock_grounding", "judge": {**judge, "breaker": {"failures": 2, "cooldown": 5}}}
    one = Checker.from_config({**given, "fallback": "lexical"})
    assert one.judge._models.circuits["model"]._breaker == Breaker(failures=2, cooldown=5)
    assert one.policy.fallback == Lexical()
    one = Checker.from_config({**given, "judge": {**judge, "breaker": off}, "fallback": off})
    assert one.judge._models.circuits["model"]._breaker is None
    assert one.policy.fallback is None
