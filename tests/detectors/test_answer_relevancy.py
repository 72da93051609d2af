"""Answer relevancy: cosines checked by hand, answers that evade, and what is not judged."""

import json
import math

import pytest

from groundwire import AbstentionReason, Checker, ConfigurationError, Interaction, Judge, Kind, detectors
from groundwire.core.plan import Failed
from groundwire.detectors.answer_relevancy import AnswerRelevancy
from groundwire.judge.drivers import arun, run
from tests.answering import Answering

INTERACTION = Interaction(question="What does a bag cost?", answer="A first bag costs 25 EUR.")
QUESTIONS = ["How much is a bag?", "What is the fee?", "Do dogs fly?"]
VECTORS = {
    INTERACTION.question: (1.0, 0.0),
    QUESTIONS[0]: (2.0, 0.0),
    QUESTIONS[1]: (3.0, 4.0),
    QUESTIONS[2]: (0.0, 1.0),
}


def written(*questions, noncommittal=False):
    return json.dumps({"noncommittal": noncommittal, "questions": questions})


def judged(*replies, interaction=INTERACTION, vectors=VECTORS, **parameters):
    backend = Answering(*replies, vectors=vectors)
    outcome = run(AnswerRelevancy(**parameters).detect(interaction), backend)
    assert backend.replies == []
    return outcome, backend


def test_the_score_is_one_minus_the_mean_cosine_to_the_question():
    outcome, backend = judged(written(*QUESTIONS))
    assert outcome.score == pytest.approx(1 - (1.0 + 0.6 + 0.0) / 3)
    assert "How much is a bag?" in outcome.reason
    assert len(backend.asked) == 1
    assert backend.embedded == [(INTERACTION.question, *QUESTIONS)]
    assert outcome.claims == ()


def test_an_irrelevant_answer_is_of_that_kind():
    outcome, _ = judged(written(QUESTIONS[2]), questions=1)
    assert outcome.score == 1.0
    assert outcome.kind is Kind.IRRELEVANT
    assert judged(written(QUESTIONS[0]), questions=1)[0].kind is None


def test_cosines_below_zero_are_no_more_than_irrelevant():
    outcome, _ = judged(written("?"), questions=1, vectors={INTERACTION.question: (1.0,), "?": (-1.0,)})
    assert outcome.score == 1.0


def test_equal_questions_are_embedded_once_and_weigh_as_often_as_they_came():
    outcome, backend = judged(written(QUESTIONS[0], QUESTIONS[0], QUESTIONS[2]))
    assert outcome.score == pytest.approx(1 / 3)
    assert backend.embedded == [(INTERACTION.question, QUESTIONS[0], QUESTIONS[2])]


def test_the_model_is_not_shown_the_question_it_has_to_find():
    _, backend = judged(written(*QUESTIONS))
    assert INTERACTION.question not in backend.asked[0].user
    assert INTERACTION.answer in backend.asked[0].user
    assert "How many questions to write: 3." in backend.asked[0].user


def test_questions_beyond_those_asked_for_change_nothing():
    assert judged(written(*QUESTIONS, "Why?"))[0] == judged(written(*QUESTIONS))[0]


def test_a_noncommittal_answer_is_irrelevant_or_not_judged():
    outcome, backend = judged(written(noncommittal=True))
    assert (outcome.score, outcome.kind) == (1.0, Kind.IRRELEVANT)
    assert backend.embedded == []
    outcome, _ = judged(written(*QUESTIONS, noncommittal=True), noncommittal="abstain")
    assert outcome.why is AbstentionReason.NO_CLAIMS


def test_an_answer_that_declines_is_noncommittal_without_a_call():
    declined = Interaction(question="The fee?", answer="I can't find that in the documents.")
    outcome, backend = judged(interaction=declined)
    assert outcome.score == 1.0
    assert backend.asked == []


def test_too_few_questions_are_asked_for_once_more():
    outcome, backend = judged(written(*QUESTIONS[:2]), written(*QUESTIONS))
    assert outcome == judged(written(*QUESTIONS))[0]
    assert len(backend.asked) == 2
    outcome, _ = judged(written(), written(*QUESTIONS[:2]))
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY


@pytest.mark.parametrize("garbage", ["", "What does it cost?", '{"noncommittal": "no", "questions": ["a"]}'])
def test_two_unreadable_replies_are_an_abstention(garbage):
    outcome, _ = judged(garbage, garbage)
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY


@pytest.mark.parametrize("reason", [AbstentionReason.MODEL_FAILED, AbstentionReason.TIMEOUT])
def test_a_model_that_failed_is_an_abstention_with_its_reason(reason):
    failed = Failed(reason=reason, detail="because")
    assert judged(failed)[0].why is reason
    assert judged(written(*QUESTIONS), vectors=failed)[0].why is reason


def test_a_question_without_a_vector_is_an_abstention():
    outcome, _ = judged(written(*QUESTIONS), vectors=VECTORS | {QUESTIONS[2]: (0.0, 0.0)})
    assert outcome.why is AbstentionReason.MODEL_FAILED


def test_without_an_answer_or_a_question_nothing_is_judged_and_nobody_asked():
    outcome, _ = judged(interaction=Interaction(question="The fee?", answer=" "))
    assert outcome.why is AbstentionReason.NO_CLAIMS
    outcome, _ = judged(interaction=Interaction(answer="25 EUR."))
    assert outcome.why is AbstentionReason.UNREADABLE_INPUT


async def test_on_an_event_loop_the_outcome_is_the_same():
    backend = Answering(written(*QUESTIONS), vectors=VECTORS)
    assert await arun(AnswerRelevancy().detect(INTERACTION), backend) == judged(written(*QUESTIONS))[0]


def test_a_judge_without_embeddings_is_refused():
    with pytest.raises(ConfigurationError, match="embeddings"):
        Checker("answer_relevancy", judge=Judge(lambda system, user: ""))
    assert detectors.get("answer_relevancy") is AnswerRelevancy


def test_every_mistake_is_named():
    with pytest.raises(ConfigurationError) as caught:
        AnswerRelevancy(questions=0, noncommittal="zero", turns=-1)
    assert len(caught.value.problems) == 3


def test_the_cosine_ignores_length():
    vectors = {INTERACTION.question: (1.0, 1.0), "a": (5.0, 0.0)}
    outcome, _ = judged(written("a"), questions=1, vectors=vectors)
    assert outcome.score == pytest.approx(1 - 1 / math.sqrt(2))
