"""Trustworthiness: its combination by worked examples, and what each part of it asks."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import AbstentionReason, ConfigurationError, Interaction
from groundwire.core.plan import Completed, Failed, Token
from groundwire.detectors.trustworthiness import Trustworthiness, combined, probability
from groundwire.judge.drivers import run
from tests.detectors.players import Player

ASKED = Interaction(question="The fee?", contexts=["The fee is 25 EUR."], answer="The fee is 75 EUR.")
SURE = {"reason": "It fits.", "correct": "yes", "certain": "yes"}
SPLIT = {"reason": "Half.", "correct": "Yes", "certain": "unsure"}
ANSWERS = Completed(texts=("25 EUR.", "75 EUR.", "25.", "It is 25.", "Ask."))


def agreeing(*words):
    return {"answers": [{"id": i, "agrees": word} for i, word in enumerate(words, 1)]}


def judged(reflection=SURE, answers=ANSWERS, *agreements, interaction=ASKED, **parameters):
    player = Player(
        trustworthiness_reflection=reflection if isinstance(reflection, list) else [reflection],
        trustworthiness_answer=answers if isinstance(answers, list) else [answers],
        trustworthiness_agreement=list(agreements),
    )
    return run(Trustworthiness(**parameters).detect(interaction), player), player


def test_the_worked_example_with_the_default_weights():
    """Reflection (1 + 1/2) / 2 = 0.75, agreement (1 + 0 + 1 + 1 + 1/2) / 5 = 0.7, in a mean of 3 to 7."""
    outcome, player = judged(SPLIT, ANSWERS, agreeing("yes", "no", "yes", "yes", "unsure"))
    assert outcome.score == pytest.approx(1 - (0.7 * 0.7 + 0.3 * 0.75))
    assert outcome.reason == "Reflection 0.75, agreement 0.70 of 5 resampled answers. Half."
    assert player.calls == 5 + 2


def test_token_probabilities_join_in_where_the_model_tells_them():
    """Tokens of 1/2 and 1/8 have a geometric mean of 1/4."""
    tokens = ((Token(text="25", logprob=math.log(0.5)), Token(text="!", logprob=math.log(0.125))),)
    answers = Completed(texts=("25!",), tokens=tokens)
    outcome, player = judged(SURE, answers, agreeing("yes"), samples=1)
    assert outcome.score == pytest.approx(1 - (0.7 + 0.3 + 0.3 * 0.25) / 1.3)
    assert "token probability 0.25" in outcome.reason
    assert player.named("trustworthiness_answer")[0].alternatives == 1
    outcome, player = judged(SURE, answers, agreeing("yes"), samples=1, probability=0)
    assert outcome.score == 0.0
    assert player.named("trustworthiness_answer")[0].alternatives == 0


@given(st.lists(st.tuples(st.floats(0.01, 10), st.floats(0, 1)), min_size=1))
def test_what_is_combined_lies_between_its_parts_and_ignores_their_order(parts):
    values = [value for _, value in parts]
    assert min(values) - 1e-9 <= combined(parts) <= max(values) + 1e-9
    assert combined(parts[::-1]) == pytest.approx(combined(parts))


def test_without_tokens_there_is_no_probability():
    assert probability(()) is None
    assert probability(((),)) is None


def test_the_answer_that_is_judged_is_not_shown_when_the_question_is_answered_again():
    _, player = judged(SURE, ANSWERS, agreeing(*["yes"] * 5))
    (again,) = player.named("trustworthiness_answer")
    assert (again.samples, again.temperature) == (5, 1.0)
    assert "75 EUR" not in again.user
    (compared,) = player.named("trustworthiness_agreement")
    assert "<<<answer " in compared.user
    assert "<<<other answer 5 " in compared.user
    assert "<<<passage" not in compared.user


def test_an_answer_without_a_verdict_is_asked_for_again_and_then_not_guessed():
    short = agreeing("yes", "yes", "yes", "yes")
    outcome, player = judged(SURE, ANSWERS, short, {"answers": [{"id": 5, "agrees": "no"}]})
    assert outcome.score == pytest.approx(0.7 * 0.2)
    assert "<<<other answer 4 " not in player.named("trustworthiness_agreement")[1].user
    outcome, _ = judged(SURE, ANSWERS, short, "{}")
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert "1 of 5 resampled answers got no usable verdict" in outcome.detail


def test_a_part_that_fails_is_an_abstention_with_its_reason():
    late = Failed(reason=AbstentionReason.TIMEOUT, detail="late")
    assert judged(late)[0].why is AbstentionReason.TIMEOUT
    assert judged(SURE, late)[0].why is AbstentionReason.TIMEOUT
    assert judged(["no", "no"])[0].why is AbstentionReason.UNREADABLE_REPLY
    blank = Completed(texts=("25 EUR.", " ", "x", "x", "x"))
    assert judged(SURE, [blank, blank])[0].why is AbstentionReason.UNREADABLE_REPLY


def test_without_a_question_there_is_none_to_answer_again():
    outcome, player = judged(interaction=Interaction(contexts=["A."], answer="A is so."))
    assert outcome.why is AbstentionReason.UNREADABLE_INPUT
    assert player.calls == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"samples": 0},
        {"temperature": 0},
        {"temperature": math.inf},
        {"agreement": -1},
        {"reflection": "much"},
        {"probability": True},
        {"agreement": 0, "reflection": 0},
    ],
)
def test_parameters_that_can_not_work_are_refused(wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        Trustworthiness(**wrong)
