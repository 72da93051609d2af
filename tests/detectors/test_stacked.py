"""The stacked detector: several plans side by side, one fitted score, and no score that nobody gave."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from groundwire import AbstentionReason, Checker, ConfigurationError, Detector, Grading, Interaction, Judge
from groundwire.detectors import Stacked
from groundwire.detectors.cascade.cascade import Cascade
from groundwire.detectors.cascade.stages import Stage
from groundwire.detectors.combination import Logistic, Trees
from groundwire.judge.drivers import run
from tests.scripted import AsksModel, ByLength, NovelWords

EVEN = Logistic(weights=(1.0, 1.0), bias=0.0)
INTERACTION = Interaction(contexts="the bag costs 25 EUR", answer="the bag costs 75 EUR")


@dataclass(frozen=True, kw_only=True)
class Mute(Detector):
    """Judges nothing."""

    name: ClassVar[str] = "mute"
    version: ClassVar[str] = "1"

    why: AbstentionReason = AbstentionReason.TIMEOUT

    def detect(self, interaction: Interaction):
        yield from ()
        return self.abstain(self.why, "it says nothing")


def test_its_score_is_what_was_fitted_makes_of_its_members_scores():
    stack = Stacked(members=(NovelWords(), AsksModel()), combination=Logistic(weights=(0.5, 2.0), bias=-0.3))
    outcome = run(stack.detect(INTERACTION), ByLength())
    # NovelWords is sure (log-odds of .99), the model says a hundredth of 20 characters.
    assert outcome.score == pytest.approx(stack.combination([1.0, 0.2]))
    assert outcome.raw == outcome.score
    assert "novel-words 1.00, asks-model 0.20" in outcome.reason


def test_words_are_those_of_the_first_member_that_marks_any():
    stack = Stacked(members=(AsksModel(), NovelWords()), combination=EVEN)
    outcome = run(stack.detect(INTERACTION), ByLength())
    assert [span.of(INTERACTION.answer) for span in outcome.spans] == ["75"]


def test_what_its_members_ask_goes_out_together():
    model = ByLength()
    run(Stacked(members=(AsksModel(), AsksModel()), combination=EVEN).detect(INTERACTION), model)
    assert model.batches == [2]


@pytest.mark.parametrize("members", [(Mute(), NovelWords()), (NovelWords(), Mute())])
def test_where_a_member_abstains_the_stack_does_with_its_reason(members):
    """Never a made-up score in its place: the combination means nothing without it."""
    outcome = run(Stacked(members=members, combination=EVEN).detect(INTERACTION), ByLength())
    assert outcome.why is AbstentionReason.TIMEOUT
    assert outcome.detail == "mute: it says nothing"
    assert outcome.detector.name == "stacked"


def test_it_needs_what_any_of_its_members_needs():
    assert Stacked(members=(NovelWords(), AsksModel()), combination=EVEN).needs_model
    offline = Stacked(members=("lexical", "token"), combination=EVEN)
    assert not offline.needs_model
    assert not offline.needs_encoder
    assert Stacked(members=("lexical", "embedded"), combination=EVEN).needs_encoder
    assert Stacked(members=("lexical", "semantic"), combination=EVEN).needs_embeddings
    with pytest.raises(ConfigurationError, match="asks a language model, and none was given"):
        Checker(Stacked(members=("lexical", "judge"), combination=EVEN))


def test_a_checker_judges_by_it_with_a_judge():
    def embed(texts):
        return [[1.0, float("75" in text)] for text in texts]

    judge = Judge(lambda system, user: "0.9", embeddings=embed)
    outcome = Checker(Stacked(members=("lexical", "semantic"), combination=EVEN), judge=judge).check(
        INTERACTION
    )
    assert outcome.hallucinated
    assert outcome.usage.calls >= 1


@pytest.mark.filterwarnings("error")
def test_a_cascade_in_it_works_as_it_would_alone_with_a_judge_and_without_one():
    stack = Stacked(members=("lexical", "cascade"), combination=EVEN)
    unsure = Interaction(
        contexts="The fee is 25 EUR for each.", answer="It is a fee that nobody likes at all."
    )
    without = Checker(stack)
    assert not without.detector.needs_model
    assert without.check(unsure).usage.calls == 0
    asked = Checker(stack, judge=Judge(lambda system, user: "nothing"))
    assert asked.detector.needs_model
    assert asked.check(unsure).usage.calls > 0


def test_a_further_model_that_its_members_ask_has_to_be_there():
    second = Cascade(stages=(Stage(detector=AsksModel(), model="second"),))
    stack = Stacked(members=("lexical", second), combination=EVEN)
    with pytest.raises(ConfigurationError, match="asks the model 'second', and the judge has none"):
        Checker(stack, judge=Judge(lambda system, user: ""))


def test_its_spec_tells_members_and_combination_apart_without_carrying_every_number():
    node = {"feature": (0,), "threshold": (0.5,), "left": (0,), "right": (0,), "value": (0.3,), "roots": (0,)}
    stack = Stacked(members=("lexical", "token"), combination=Trees(members=2, depth=0, base=0.1, **node))
    assert [one["name"] for one in stack.spec.parameters["members"]] == ["lexical", "token"]
    assert "value" not in repr(stack.spec.parameters["combination"])
    other = replace(stack, combination=Trees(members=2, depth=0, base=0.2, **node))
    assert stack.spec.fingerprint != other.spec.fingerprint


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"members": ["lexical"], "combination": EVEN}, "at least two detectors, not 1"),
        ({"members": "lexical", "combination": EVEN}, "expected a list of detectors, not str"),
        (
            {"members": ["lexical", "nothing"], "combination": EVEN},
            r"members\[1\]: unknown detector 'nothing'",
        ),
        ({"members": ["lexical", {"treshold": 1}], "combination": EVEN}, r"members\[1\]: .*needs a 'name'"),
        ({"members": ["lexical", "token"], "combination": None}, "expected what groundwire tune has fitted"),
        (
            {"members": ["lexical", "token", "level"], "combination": EVEN},
            "fitted for 2 members, and there are 3",
        ),
        (
            {"members": ["lexical", "token"], "combination": {"kind": "mean"}},
            "expected 'logistic' or 'trees'",
        ),
    ],
)
def test_a_stack_that_can_not_work_is_refused_with_what_is_wrong(parameters, message):
    with pytest.raises(ConfigurationError, match=message):
        Stacked(**parameters)


def test_a_grounded_answer_with_a_claim_nobody_verified_is_not_judged():
    """The one claim that was judged is fine, the other is not: silence is no support."""

    def half(system, user):
        return (
            '{"claims": [{"id": 1, "support": "supported", "score": 0.0, "quote": "the bag costs 25 EUR"}]}'
        )

    interaction = Interaction(
        question="?",
        contexts="the bag costs 25 EUR. Dogs pay 50 EUR.",
        answer="The bag costs 25 EUR. Dogs pay 50 EUR.",
    )
    stack = Stacked(
        members=("judge", "lexical"), combination=Logistic(weights=(1.0, 1.0), bias=-3.0), grading=Grading()
    )
    outcome = Checker(stack, judge=Judge(half)).check(interaction)
    assert outcome.score is None
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
