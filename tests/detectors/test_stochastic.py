"""The stochastic detector: three ways of comparing, each checked by an independent computation."""

import json
import math
import re
from collections import Counter
from statistics import pstdev

import pytest

from groundwire import AbstentionReason, Checker, ConfigurationError, Interaction, Judge, Support, detectors
from groundwire.core.aggregation import AnyUnsupported, Fraction
from groundwire.core.example import Example
from groundwire.core.plan import Failed
from groundwire.detectors.stochastic import Stochastic
from groundwire.judge.drivers import arun, run
from tests.answering import Answering

INTERACTION = Interaction(
    question="What does a bag cost?",
    contexts="A first checked bag costs 25 EUR.",
    answer="A bag costs 25 EUR. Dogs fly free.",
)
AGAIN = ["A bag is 25 EUR.", "A bag is 25 EUR. Dogs pay.", "<think>Cats?</think>No idea."]
VECTORS = {
    "A bag costs 25 EUR.": (1.0, 0.0, 0.0),
    "Dogs fly free.": (0.0, 1.0, 0.0),
    "A bag is 25 EUR.": (4.0, 3.0, 0.0),
    "Dogs pay.": (0.0, 3.0, 4.0),
    "No idea.": (0.0, -1.0, 1.0),
}


def judged(*replies, interaction=INTERACTION, vectors=VECTORS, **parameters):
    backend = Answering(*replies, vectors=vectors)
    outcome = run(Stochastic(samples=3, **parameters).detect(interaction), backend)
    assert backend.replies == []
    return outcome, backend


def verdicts(*said):
    return json.dumps({"statements": [{"id": i, "verdict": word} for i, word in enumerate(said, 1)]})


def scores(outcome):
    return [claim.score for claim in outcome.claims]


def test_by_embeddings_a_claim_is_as_far_as_the_nearest_sentence_of_each_new_answer():
    outcome, _ = judged(AGAIN)
    bag = [1 - 4 / 5, 1 - 4 / 5, 1 - 0.0]
    dogs = [1 - 3 / 5, 1 - 3 / 5, 1.0]
    assert scores(outcome) == pytest.approx([sum(bag) / 3, sum(dogs) / 3])
    assert outcome.score == pytest.approx(sum(dogs) / 3)
    assert outcome.reason == (
        f"{outcome.score:.2f} against it over 3 new answers, with a spread of "
        f"{(pstdev(bag) + pstdev(dogs)) / 2:.2f}."
    )
    assert f"a spread of {pstdev(dogs):.2f}" in outcome.claims[1].reason
    assert [claim.support for claim in outcome.claims] == [Support.SUPPORTED, Support.UNSUPPORTED]
    assert [span.of(INTERACTION.answer) for span in outcome.spans] == ["Dogs fly free."]


def test_the_question_is_answered_again_from_the_same_passages_at_a_temperature():
    _, backend = judged(AGAIN, temperature=0.7)
    (request,) = backend.asked
    assert (request.samples, request.temperature) == (3, 0.7)
    assert "What does a bag cost?" in request.user
    assert "A first checked bag costs 25 EUR." in request.user
    assert "Dogs fly free" not in request.user


def test_every_distinct_sentence_is_embedded_once_and_all_in_one_request():
    _, backend = judged(AGAIN)
    (texts,) = backend.embedded
    assert sorted(texts) == sorted(VECTORS)


def test_by_ngrams_the_surprise_is_that_of_a_smoothed_unigram_model_between_its_two_ends():
    """The probabilities themselves, as the source has them, and not the closed form of the code."""
    outcome, backend = judged(AGAIN, comparison="n-gram", aggregation=Fraction())
    assert backend.embedded == []
    said = ["bag cost 25 eur dog fli free", "bag 25 eur", "bag 25 eur dog pay", "no idea"]
    counts = Counter(word for text in said for word in text.split())
    size = sum(counts.values()) + len(counts)

    def surprise(times):
        return -math.log((times + 1) / size)

    def on_the_line(words):
        mean = sum(surprise(counts[word]) for word in words.split()) / len(words.split())
        return (mean - surprise(4)) / (surprise(1) - surprise(4))

    assert scores(outcome) == pytest.approx([on_the_line("bag cost 25 eur"), on_the_line("dog fli free")])
    assert outcome.score == pytest.approx(sum(scores(outcome)) / 2)


def test_by_ngrams_what_all_say_scores_0_and_what_nobody_says_scores_1():
    answer = "Bags cost 25 EUR. Dogs fly free."
    interaction = Interaction(question="?", contexts="x", answer=answer)
    outcome, _ = judged(["Bags cost 25 EUR."] * 3, interaction=interaction, comparison="n-gram")
    assert scores(outcome) == pytest.approx([0.0, 1.0])


def test_by_contradiction_agreement_silence_and_contradiction_count_0_a_half_and_1():
    outcome, backend = judged(
        AGAIN,
        verdicts("agrees", "silent"),
        verdicts("Agrees", "contradicts"),
        verdicts("silent", "silent"),
        comparison="contradiction",
    )
    assert scores(outcome) == pytest.approx([0.5 / 3, (0.5 + 1 + 0.5) / 3])
    assert backend.embedded == []
    assert sum(request.samples for request in backend.asked) == 3 + 3
    assert "<think>" not in backend.asked[3].user


def test_equal_new_answers_are_compared_once_and_weigh_as_often_as_they_came():
    outcome, backend = judged(
        ["Yes.", "Yes.", "No."],
        verdicts("agrees", "contradicts"),
        verdicts("contradicts", "agrees"),
        comparison="contradiction",
    )
    assert scores(outcome) == pytest.approx([1 / 3, 2 / 3])
    assert len(backend.asked) == 3


def test_new_answers_that_are_all_the_same_are_told():
    outcome, _ = judged(["A bag is 25 EUR."] * 3)
    assert "temperature" in outcome.reason
    assert "temperature" not in judged(AGAIN)[0].reason


def test_the_reason_gives_the_score_that_the_outcome_has():
    """By whatever rule the claims make one score."""
    for aggregation in (AnyUnsupported(), Fraction()):
        outcome, _ = judged(
            ["Yes.", "Yes.", "No."],
            verdicts("agrees", "contradicts"),
            verdicts("contradicts", "agrees"),
            comparison="contradiction",
            aggregation=aggregation,
        )
        assert outcome.reason.startswith(f"{outcome.score:.2f} against it over 3 new answers")


def test_only_what_a_reply_left_out_is_asked_again():
    outcome, backend = judged(
        ["Yes.", "Yes.", "Yes."],
        verdicts("agrees"),
        json.dumps({"statements": [{"id": 2, "verdict": "silent"}]}),
        comparison="contradiction",
    )
    assert scores(outcome) == [0.0, 0.5]
    assert re.findall(r"^(\d): ", backend.asked[2].user, re.MULTILINE) == ["2"]


def test_many_claims_take_several_calls_for_each_new_answer():
    answer = "\n".join(f"- Rule {i} holds." for i in range(1, 42))
    interaction = Interaction(question="Which rules?", contexts="Rules.", answer=answer)
    last = json.dumps({"statements": [{"id": 41, "verdict": "contradicts"}]})
    replies = (["Yes."] * 3, verdicts(*["agrees"] * 40), last)
    outcome, backend = judged(*replies, interaction=interaction, comparison="contradiction")
    assert scores(outcome) == [0.0] * 40 + [1.0]
    assert len(backend.asked) == 3


def test_a_claim_nobody_compared_is_unverified_and_never_clean():
    replies = (["Yes.", "Yes.", "Yes."], verdicts("agrees"), "what?")
    outcome, _ = judged(*replies, comparison="contradiction")
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert "1 of 2 claims" in outcome.detail
    outcome, _ = judged(replies[0], verdicts("contradicts"), "what?", comparison="contradiction")
    assert outcome.hallucinated
    assert outcome.claims[1].support is Support.UNVERIFIED


@pytest.mark.parametrize("lost", [Failed(reason=AbstentionReason.MODEL_FAILED, detail="503"), "no JSON"])
def test_comparisons_that_are_missing_clear_nothing(lost):
    """Those that were made may all agree, and those that were not would have contradicted."""
    again = ["It is 25.", "It is 26.", "It is 27."]
    repeated = [lost] * (1 if isinstance(lost, Failed) else 2)
    outcome, _ = judged(
        again,
        verdicts("agrees", "agrees"),
        verdicts("agrees", "agrees"),
        *repeated,
        comparison="contradiction",
    )
    assert outcome.score is None
    assert outcome.detail.startswith("all 2 claims could not be compared with all new answers: ")
    outcome, _ = judged(
        again,
        verdicts("contradicts", "agrees"),
        verdicts("contradicts", "agrees"),
        *repeated,
        comparison="contradiction",
    )
    assert outcome.hallucinated
    assert outcome.reason.startswith("1.00 against it over 2 new answers")


def test_a_sentence_without_a_vector_is_unverified_and_never_clean():
    unknown = dict.fromkeys(VECTORS, (1.0,)) | {"Dogs fly free.": (0.0,)}
    outcome, _ = judged(AGAIN, vectors=unknown)
    assert outcome.why is AbstentionReason.MODEL_FAILED
    unknown = dict.fromkeys(VECTORS, (0.0,)) | {"Dogs fly free.": (1.0,)}
    assert judged(AGAIN, vectors=unknown)[0].why is AbstentionReason.MODEL_FAILED


def test_empty_new_answers_are_left_out_down_to_two():
    outcome, _ = judged(["", "A bag is 25 EUR.", "A bag is 25 EUR."])
    assert "2 new answers" in outcome.reason
    outcome, backend = judged(["", "", "Dogs pay."], AGAIN)
    assert len(backend.asked) == 2
    assert outcome == judged(AGAIN)[0]
    outcome, _ = judged(["", "", ""], ["", " ", "A bag."])
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY


@pytest.mark.parametrize("reason", [AbstentionReason.MODEL_FAILED, AbstentionReason.TIMEOUT])
def test_a_model_that_failed_is_an_abstention_with_its_reason(reason):
    failed = Failed(reason=reason, detail="because")
    assert judged(failed)[0].why is reason
    assert judged(AGAIN, vectors=failed)[0].why is reason
    outcome, _ = judged(["Yes."] * 3, failed, comparison="contradiction")
    assert outcome.why is reason
    assert "because" in outcome.detail


@pytest.mark.parametrize(
    ("interaction", "why"),
    [
        (Interaction(question="?", contexts="Bags.", answer="..."), AbstentionReason.NO_CLAIMS),
        (Interaction(question="?", contexts=" ", answer="Bags."), AbstentionReason.NO_CONTEXT),
        (Interaction(question=" ", contexts="Bags.", answer="Bags."), AbstentionReason.UNREADABLE_INPUT),
    ],
)
def test_what_can_not_be_answered_again_is_not_judged_and_nobody_asked(interaction, why):
    outcome, backend = judged(interaction=interaction)
    assert outcome.why is why
    assert backend.asked == []


def test_answers_without_words_or_with_too_many_claims_are_not_judged():
    wordless = Interaction(question="?", contexts="Bags.", answer="It is.")
    assert judged(interaction=wordless, comparison="n-gram")[0].why is AbstentionReason.NO_CLAIMS
    assert judged(max_claims=1)[0].why is AbstentionReason.OVER_BUDGET


async def test_on_an_event_loop_the_outcome_is_the_same():
    plan = Stochastic(samples=3).detect(INTERACTION)
    assert await arun(plan, Answering(AGAIN, vectors=VECTORS)) == judged(AGAIN)[0]


def test_embeddings_are_needed_by_their_own_comparison_alone():
    judge = Judge(lambda system, user: "")
    with pytest.raises(ConfigurationError, match="embeddings"):
        Checker("stochastic", judge=judge)
    assert Checker(Stochastic(comparison="n-gram"), judge=judge).detector.name == "stochastic"
    assert detectors.get("stochastic") is Stochastic


def test_every_mistake_is_named():
    with pytest.raises(ConfigurationError) as caught:
        Stochastic(
            comparison="nli",
            samples=1,
            temperature=0,
            aggregation="mean",
            max_claims=0,
            examples=[Example(interaction=INTERACTION, score=1.0)],
        )
    assert len(caught.value.problems) == 6
