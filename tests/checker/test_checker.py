"""Checker: one judgement by any road, read by the policy, never silently clean."""

import asyncio
import copy
import itertools
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from langchain_core.language_models import FakeListChatModel

import groundwire as gw
from groundwire import (
    Abstention,
    AbstentionReason,
    Checker,
    Claim,
    ConfigurationError,
    Grading,
    InputError,
    Interaction,
    Judge,
    Level,
    Policy,
    Span,
    Support,
    Verdict,
)
from groundwire.core.grading import WORDING
from groundwire.policy import AbstainedError, OnAbstention
from tests.scripted import LENIENT, Always, AsksModel, ByLength, NovelWords

GROUNDED = Interaction(contexts="the fee is 25 EUR", answer="the fee is 25 EUR", id="a")
INVENTED = Interaction(contexts="the fee is 25 EUR", answer="the fee is 75 EUR", id="b")
NO_CONTEXT = Interaction(answer="the fee is 75 EUR", id="c")


def timeless(outcome):
    return replace(outcome, usage=replace(outcome.usage, seconds=0.0))


def test_every_road_gives_the_same_outcome():
    checker = Checker(NovelWords())
    for interaction in (GROUNDED, INVENTED, NO_CONTEXT):
        outcomes = [
            checker.check(interaction),
            asyncio.run(checker.acheck(interaction)),
            *checker.check_many([interaction]),
            gw.check(interaction, checker=checker),
            asyncio.run(gw.acheck(interaction, checker=checker)),
            *gw.check_many([interaction], checker=checker),
        ]
        assert len({repr(timeless(outcome)) for outcome in outcomes}) == 1


def test_the_outcome_carries_the_interaction_s_id_and_its_detector_and_what_it_took():
    outcome = Checker(NovelWords()).check(INVENTED)
    assert outcome.id == "b"
    assert outcome.detector.name == "novel-words"
    assert outcome.usage.seconds > 0
    assert [span.of(INVENTED.answer) for span in outcome.spans] == ["75"]


def test_an_interaction_without_an_id_gets_one_of_its_own():
    checker = Checker(NovelWords())
    anonymous = Interaction(contexts="x", answer="x")
    ids = {checker.check(anonymous).id, checker.check(anonymous).id}
    assert len(ids) == 2
    assert None not in ids


def test_what_is_given_to_check_is_either_an_interaction_or_its_parts():
    checker = Checker(NovelWords())
    assert gw.check(contexts="x", answer="x", checker=checker).grounded
    assert checker.check(contexts="x", answer="x").grounded
    assert asyncio.run(checker.acheck(contexts="x", answer="x", question="?")).grounded
    with pytest.raises(TypeError, match="not both"):
        gw.check(GROUNDED, answer="x", checker=checker)
    with pytest.raises(TypeError, match="not both"):
        checker.check(GROUNDED, contexts="x")
    with pytest.raises(gw.InputError, match="no answer to judge was given"):
        gw.check(contexts="x", checker=checker)


def test_no_context_abstains_and_is_not_grounded():
    outcome = Checker(NovelWords()).check(NO_CONTEXT)
    assert outcome.why is AbstentionReason.NO_CONTEXT
    assert not outcome.grounded
    assert outcome.hallucinated is None


def test_a_policy_may_raise_where_nothing_could_be_judged():
    checker = Checker(NovelWords(), policy=Policy(on_abstention=OnAbstention.RAISE))
    assert checker.check(GROUNDED).grounded
    with pytest.raises(AbstainedError, match="NO_CONTEXT") as caught:
        checker.check(NO_CONTEXT)
    assert caught.value.abstention.id == "c"


def test_a_policy_s_grading_replaces_the_detector_s():
    outcome = Checker(AsksModel(), judge=ByLength()).check(Interaction(contexts="x", answer="y" * 60))
    assert (outcome.score, outcome.hallucinated) == (0.6, True)
    lenient = Checker(AsksModel(), judge=ByLength(), policy=Policy(grading=LENIENT))
    outcome = lenient.check(Interaction(contexts="x", answer="y" * 60))
    assert (outcome.score, outcome.hallucinated, outcome.threshold) == (0.6, False, 0.9)
    assert outcome.level is Level.MEDIUM


def test_switched_off_nothing_is_judged_and_that_is_said():
    checker = Checker(AsksModel(), judge=ByLength(), policy=Policy(enabled=False))
    for outcome in (
        checker.check(INVENTED),
        asyncio.run(checker.acheck(INVENTED)),
        *checker.check_many([INVENTED]),
    ):
        assert outcome.why is AbstentionReason.NOT_SAMPLED
        assert not outcome.grounded
    assert sum(checker.judge.batches) == 0


def test_a_detector_that_asks_a_model_needs_a_judge_at_once():
    with pytest.raises(ConfigurationError, match=r"pass judge=Judge\(model\)"):
        Checker(AsksModel())


def test_an_unknown_detector_is_refused_with_the_known_names():
    with pytest.raises(ConfigurationError, match=r'a model judges in Checker\("judge", judge=Judge'):
        Checker("openai:gpt-4o-mini")
    with pytest.raises(ConfigurationError, match=r"unknown detector 'lexicall'.*lexical"):
        Checker("lexicall")


def test_usage_counts_each_interaction_s_own_calls():
    outcomes = list(Checker(AsksModel(), judge=ByLength()).check_many([GROUNDED] * 5))
    assert [outcome.usage.calls for outcome in outcomes] == [1] * 5
    assert [outcome.usage.input_tokens for outcome in outcomes] == [7] * 5


def test_many_are_judged_in_order_and_their_requests_go_out_in_batches():
    judge = ByLength()
    interactions = [Interaction(contexts="x", answer="y" * n) for n in range(70)]
    outcomes = list(Checker(AsksModel(), judge=judge).check_many(interactions, batch=32))
    assert [outcome.score for outcome in outcomes] == [n / 100 for n in range(70)]
    assert judge.batches == [32, 32, 6]


@pytest.mark.parametrize("detector", [NovelWords(), AsksModel()])
def test_an_endless_source_is_read_only_as_outcomes_are_taken(detector):
    read = []

    def endless():
        for n in itertools.count():
            read.append(n)
            yield Interaction(contexts="x", answer="x")

    outcomes = Checker(detector, judge=ByLength()).check_many(endless(), batch=4)
    assert len(list(itertools.islice(outcomes, 10))) == 10
    assert len(read) <= 12


@pytest.mark.parametrize("detector", [NovelWords(), AsksModel()])
@pytest.mark.parametrize(
    ("last", "error"), [(OSError("the disk is gone"), OSError), ("no interaction", InputError)]
)
def test_what_was_read_before_a_source_failed_is_judged_first(detector, last, error):
    def source():
        for n in range(5):
            yield Interaction(contexts="x", answer="x", id=str(n))
        if isinstance(last, Exception):
            raise last
        yield last

    read = []
    with pytest.raises(error):
        read.extend(outcome.id for outcome in Checker(detector, judge=ByLength()).check_many(source()))
    assert read == ["0", "1", "2", "3", "4"]


def test_what_a_check_took_is_not_the_time_that_its_reader_takes(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr("groundwire.checker.time.perf_counter", lambda: float(next(clock)))
    seconds = []
    for outcome in Checker(AsksModel(), judge=ByLength()).check_many([GROUNDED] * 4):
        for _ in range(100):
            next(clock)  # a reader that takes its time
        seconds.append(outcome.usage.seconds)
    assert len(set(seconds)) == 1


def test_a_batch_of_none_is_refused():
    with pytest.raises(ValueError, match="batch must be at least 1"):
        Checker(NovelWords()).check_many([], batch=0)


def test_timeouts_reach_the_outcome():
    checker = Checker(AsksModel(), judge=ByLength(), policy=Policy(timeout=1e-9))
    assert checker.check(GROUNDED).why is AbstentionReason.TIMEOUT


def test_grading_is_a_parameter_of_every_detector():
    assert NovelWords(grading=Grading(threshold=0.2)).grading.threshold == 0.2


def test_a_stricter_reading_never_turns_an_unverified_claim_into_a_grounded_answer():
    flagged = Claim(text="ab", span=Span(0, 2), support=Support.UNSUPPORTED, score=0.8)
    unknown = Claim(text="cd", span=Span(3, 5), support=Support.UNVERIFIED)
    verdict = Verdict.graded(0.8, Grading(), detector=NovelWords().spec, claims=(flagged, unknown))
    interaction = Interaction(contexts="x", answer="ab cd")

    assert Checker(Always(outcome=verdict)).check(interaction).hallucinated
    lenient = Checker(Always(outcome=verdict), policy=Policy(grading=LENIENT))
    assert lenient.check(interaction).why is AbstentionReason.UNREADABLE_REPLY


@pytest.mark.parametrize("judge", [lambda c, x: c.check(x), lambda c, x: list(c.check_many([x]))])
def test_what_is_no_interaction_is_refused_with_what_to_build(judge):
    with pytest.raises(gw.InputError, match=r"not dict .*gw\.Interaction\(question="):
        judge(Checker(NovelWords()), {"answer": "x", "contexts": ["x"]})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Checker(NovelWords), "an instance, such as"),
        (lambda: Checker(AsksModel(), judge=lambda system, user: "0"), r"judge=Judge\(model\)"),
        (lambda: Policy(on_abstention="shout"), "'return' or 'raise', not 'shout'"),
        (lambda: Policy(timeout=0), "seconds above 0"),
        (lambda: Policy(grading=0.5), "must be a Grading, not float"),
    ],
)
def test_configuration_mistakes_are_heard_when_they_are_made(build, message):
    with pytest.raises(ConfigurationError, match=message):
        build()


@pytest.mark.parametrize(
    ("threshold", "told"),
    [
        (0.1, "All is supported. But at the threshold of 0.1, a score of 0.15 is flagged."),
        (0.2, "All is supported. But at the threshold of 0.2, a score of 0.15 is in doubt."),
        (0.4, "All is supported"),
    ],
)
def test_a_reason_that_another_threshold_would_belie_says_so(threshold, told):
    """A detector words its reason by its own threshold; what is flagged is not said to be fine."""
    verdict = Verdict.graded(0.15, Grading(), detector=NovelWords().spec, reason="All is supported")
    strict = Checker(Always(outcome=verdict), policy=Policy(grading=Grading(threshold=threshold)))
    assert strict.check(GROUNDED).reason == told


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Judge(lambda system, user: "?"), r'Checker\("judge", judge=Judge\(model\)\)'),
        (FakeListChatModel(responses=["?"]), r'Checker\("judge", judge=Judge\(model\)\)'),
        (NovelWords, "an instance, such as"),
    ],
)
def test_what_is_given_for_a_detector_and_is_none_is_told_with_what_was_meant(given, said):
    """A model alone, as if it were a detector, is what people try first."""
    with pytest.raises(ConfigurationError, match=f"detector must be a Detector.*{said}"):
        Checker(given)


@pytest.mark.parametrize("checker", ["lexical", {"detector": "lexical"}, NovelWords(), Checker])
def test_what_is_given_for_a_checker_and_is_none_is_told_with_what_makes_one(checker):
    """Of each of the three, before anything is judged; a name is what ``Checker`` itself takes."""
    message = r"checker must be a Checker, not .*: Checker\(detector, judge=...\) makes one"
    with pytest.raises(ConfigurationError, match=message):
        gw.check(NO_CONTEXT, checker=checker)
    with pytest.raises(ConfigurationError, match=message):
        asyncio.run(gw.acheck(NO_CONTEXT, checker=checker))
    with pytest.raises(ConfigurationError, match=message):
        gw.check_many([NO_CONTEXT], checker=checker)


def test_a_policy_takes_the_name_of_what_it_does():
    with pytest.raises(AbstainedError):
        Checker(NovelWords(), policy=Policy(on_abstention="raise")).check(NO_CONTEXT)


def test_what_was_judged_stands_in_no_error_s_message():
    abstention = Abstention(why=AbstentionReason.UNREADABLE_REPLY, detail="the patient is called Doe")
    assert "Doe" not in str(AbstainedError(abstention))


def test_no_more_go_out_together_than_the_judge_performs_at_once():
    judge = ByLength()
    judge.max_concurrency = 3
    list(Checker(AsksModel(), judge=judge).check_many([GROUNDED] * 7))
    assert judge.batches == [3, 3, 1]


def test_a_checker_made_from_the_parts_of_another_is_no_mistake(recwarn):
    """A checker without a judge still has what answers in its place, and hands it on."""
    first = Checker("lexical")
    Checker(first.detector, judge=first.judge)
    assert not recwarn.list


def test_all_that_does_not_fit_the_judge_is_named_at_once():
    judge = gw.Judge(embeddings=lambda texts: [[1.0] for _ in texts])
    with pytest.raises(gw.ConfigurationError) as caught:
        gw.Checker("stochastic", judge=judge, policy=gw.Policy(fallback="semantic"))
    model, fallback = caught.value.problems
    assert model.endswith("the judge has none: pass judge=Judge(model, embeddings=...)")
    assert fallback.startswith("fallback: the 'semantic' detector asks a model")


def test_a_judge_that_is_never_asked_is_told():
    """A detector that asks no model and a judge are a mistake of whoever gave both, but no failure."""
    with pytest.warns(UserWarning, match="'lexical' detector asks no model, so its judge is never used"):
        checker = Checker("lexical", judge=Judge(lambda system, user: ""))
    assert checker.check(Interaction(answer="It is 5 EUR.", contexts="It is 5 EUR.")).grounded


def test_copies_share_their_judge_and_pickling_says_what_to_do():
    """A second judge would have limits of its own, and spend twice what was allowed."""
    checker = Checker("judge", judge=Judge(lambda system, user: ""))
    assert copy.deepcopy(checker).judge is checker.judge
    assert copy.copy(checker).judge is checker.judge
    with pytest.raises(TypeError, match=r"Judge can't be pickled.*from_config"):
        pickle.dumps(checker)
    assert pickle.loads(pickle.dumps(Checker("lexical"))).detector == Checker("lexical").detector


@pytest.mark.parametrize("wrong", [{"threshold": 2}, {"threshold": 0.5, "medium": 0.7}, {"high": -1}])
def test_a_grading_that_cannot_work_is_a_configuration_error(wrong):
    with pytest.raises(ConfigurationError):
        Grading(**wrong)


def test_all_mistakes_of_a_grading_are_named_at_once():
    with pytest.raises(ConfigurationError, match=r"threshold must be.*high must be"):
        Grading(threshold=2, high=-1)


def test_an_answer_of_none_is_told_as_missing():
    with pytest.raises(InputError, match="answer is None: no answer to judge was given; expected a str"):
        Interaction(answer=None, contexts="x")


class Taken(ThreadPoolExecutor):
    """All of its threads are out, and none comes back."""

    def submit(self, *args, **kwargs):
        raise AssertionError("the event loop's own threads are its host's")


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
async def test_checks_take_no_thread_of_the_event_loop_s_own(detector):
    """Looking up an address needs one: with all of them judging, no connection would be made meanwhile."""
    asyncio.get_running_loop().set_default_executor(Taken())
    checker = Checker(detector)
    outcomes = await asyncio.gather(*(checker.acheck(INVENTED) for _ in range(8)))
    assert all(outcome.hallucinated for outcome in outcomes)


async def test_masking_does_not_hold_the_event_loop():
    """Of long passages it takes as long as judging them."""
    threads = set()

    def hook(text):
        threads.add(threading.current_thread())
        return text

    await Checker("lexical", policy=Policy(redact=hook)).acheck(INVENTED)
    assert threads
    assert threading.current_thread() not in threads


def test_an_interaction_has_its_own_history():
    turn = gw.Turn(role=gw.Role.USER, text="And for two?")
    with pytest.raises(TypeError, match="either an Interaction or question, contexts, answer and history"):
        gw.check(GROUNDED, history=[turn])


@pytest.mark.parametrize("returned", [None, 0.3, {"score": 0.3}])
def test_a_plan_that_returns_no_outcome_is_told_what_to_return(returned):
    with pytest.raises(TypeError, match=r"'always' detector returned .*: expected Verdict\.graded\("):
        Checker(Always(outcome=returned)).check(GROUNDED)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Policy(timeout="60"), "timeout must be seconds above 0, or None, not '60'"),
        (lambda: Policy(timeout=True), "timeout must be seconds above 0, or None, not True"),
        (lambda: Checker("lexical", policy={"timeout": 60}), "policy must be a Policy, not dict"),
        (
            lambda: Grading(wording={Level.HIGH: "Careful!"}),
            "wording must be a dict from levels to their words",
        ),
        (lambda: Grading(wording={"hihg": WORDING[Level.HIGH]}), "wording must be a dict from levels"),
    ],
)
def test_a_value_of_another_kind_is_a_configuration_error_at_once(build, message):
    with pytest.raises(ConfigurationError, match=message):
        build()


def test_no_sinks_are_no_sinks():
    assert Checker("lexical", sinks=None).check(GROUNDED).grounded
