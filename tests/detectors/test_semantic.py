"""The semantic detector: cosines checked by hand, one request for all texts, and what is not judged."""

import math

import pytest

from groundwire import (
    AbstentionReason,
    Checker,
    ConfigurationError,
    Interaction,
    Judge,
    Support,
    detectors,
)
from groundwire.core.aggregation import Fraction
from groundwire.core.plan import Embedded, Failed
from groundwire.detectors.semantic import Semantic
from groundwire.judge.breaker import Breaker
from groundwire.judge.drivers import arun, run
from tests.answering import Answering

CONTEXTS = ("Bags cost 25 EUR.", "Refunds take 14 days. Bags cost 25 EUR.")
ANSWER = "A bag is 25 EUR. Money is back in two weeks. Dogs fly."
INTERACTION = Interaction(contexts=CONTEXTS, answer=ANSWER)
VECTORS = {
    "Bags cost 25 EUR.": (1.0, 0.0, 0.0),
    "Refunds take 14 days.": (0.0, 2.0, 0.0),
    "A bag is 25 EUR.": (3.0, 0.0, 0.0),
    "Money is back in two weeks.": (0.0, 3.0, 4.0),
    "Dogs fly.": (-0.1, -0.1, 7.0),
    ANSWER: (1.0, 1.0, 1.0),
    "\n\n".join(CONTEXTS): (1.0, 1.0, 0.0),
}


def judged(interaction=INTERACTION, vectors=VECTORS, **parameters):
    backend = Answering(vectors=vectors)
    return run(Semantic(**parameters).detect(interaction), backend), backend


def test_a_claim_is_as_far_as_its_nearest_sentence():
    outcome, _ = judged()
    assert [claim.score for claim in outcome.claims] == pytest.approx([0.0, 1 - 0.6, 1.0])
    assert outcome.score == 1.0
    assert [claim.support for claim in outcome.claims][1:] == [Support.SUPPORTED, Support.UNSUPPORTED]
    assert [[(e.passage, e.quote) for e in c.evidence] for c in outcome.claims][:2] == [
        [(0, "Bags cost 25 EUR.")],
        [(1, "Refunds take 14 days.")],
    ]


def test_the_score_is_shared_between_the_whole_answer_and_its_claims():
    by_claims = (0.0 + 0.4 + 1.0) / 3
    whole = 1 - 2 / math.sqrt(6)
    assert judged(aggregation=Fraction())[0].score == pytest.approx(by_claims)
    assert judged(whole=1.0)[0].score == pytest.approx(whole)
    mixed = judged(aggregation=Fraction(), whole=0.25)[0]
    assert mixed.score == pytest.approx(0.25 * whole + 0.75 * by_claims)


def test_every_distinct_text_is_embedded_once_and_all_in_one_request():
    _, backend = judged()
    (texts,) = backend.embedded
    assert len(texts) == len(set(texts)) == 5
    _, backend = judged(whole=0.5)
    (texts,) = backend.embedded
    assert len(texts) == len(set(texts)) == 7
    assert backend.asked == []


async def test_on_an_event_loop_the_outcome_is_the_same():
    assert await arun(Semantic().detect(INTERACTION), Answering(vectors=VECTORS)) == judged()[0]


def test_the_length_of_vectors_does_not_count_not_even_a_huge_one():
    huge = {text: tuple(x * 1e300 for x in vector) for text, vector in VECTORS.items()}
    assert [c.score for c in judged(vectors=huge)[0].claims] == pytest.approx(
        [c.score for c in judged()[0].claims]
    )


def test_a_checker_whose_judge_has_no_embeddings_is_refused():
    with pytest.raises(ConfigurationError, match=r"the judge has none: pass judge=Judge\(embeddings="):
        Checker("semantic", judge=Judge(lambda system, user: ""))
    with pytest.raises(ConfigurationError, match=r"none was given: pass judge=Judge\(embeddings="):
        Checker("semantic")


def embedding(texts):
    return [VECTORS[text] for text in texts]


def test_embeddings_are_all_that_a_judge_has_to_have():
    outcome = Checker("semantic", judge=Judge(embeddings=embedding)).check(INTERACTION)
    assert outcome.score == 1.0
    assert outcome.usage.calls == 1
    assert detectors.get("semantic") is Semantic


def test_the_language_model_of_a_judge_that_has_one_is_never_asked():
    judge = Judge(lambda system, user: pytest.fail("asked"), embeddings=embedding)
    assert Checker("semantic", judge=judge).check(INTERACTION).score == 1.0


def test_a_checker_asks_for_as_many_answers_at_once_as_for_any_model():
    """Embeddings are awaited like every other reply of a judge: together, and within one timeout."""
    together = []

    class Batches(Answering):
        def perform(self, requests, *, timeout):
            together.append(len(requests))
            return super().perform(requests, timeout=timeout)

    outcomes = Checker("semantic", judge=Batches(vectors=VECTORS)).check_many([INTERACTION] * 3)
    assert [outcome.score for outcome in outcomes] == [1.0] * 3
    assert together == [3]


def test_while_the_embedding_model_is_away_the_fallback_judges():
    def away(texts):
        raise ConnectionError("no route")

    checker = Checker("semantic", judge=Judge(embeddings=away, breaker=Breaker(failures=1)))
    failed, degraded = checker.check(INTERACTION), checker.check(INTERACTION)
    assert (failed.why, failed.degraded) == (AbstentionReason.MODEL_FAILED, None)
    assert (degraded.detector.name, degraded.degraded.detector.name) == ("embedded", "semantic")
    assert "kept failing" in degraded.degraded.reason
    assert checker.judge.breakers.keys() == {"embeddings"}


@pytest.mark.parametrize("answer", ["", "  \n", "..."])
def test_an_answer_without_statements_is_not_judged(answer):
    outcome, backend = judged(Interaction(contexts=CONTEXTS, answer=answer))
    assert outcome.why is AbstentionReason.NO_CLAIMS
    assert backend.embedded == []


@pytest.mark.parametrize("contexts", [None, [], ["  "]])
def test_without_context_nothing_is_judged(contexts):
    outcome, backend = judged(Interaction(contexts=contexts, answer=ANSWER))
    assert outcome.why is AbstentionReason.NO_CONTEXT
    assert backend.embedded == []


@pytest.mark.parametrize("reason", [AbstentionReason.MODEL_FAILED, AbstentionReason.TIMEOUT])
def test_a_model_that_failed_is_an_abstention_with_its_reason(reason):
    outcome, _ = judged(vectors=Failed(reason=reason, detail="because"))
    assert (outcome.why, outcome.detail) == (reason, "because")


@pytest.mark.parametrize(
    "vectors",
    [((1.0,),), ((1.0,),) * 4 + ((1.0, 2.0),), ((),) * 5, ((math.nan,),) * 5],
    ids=["too few", "of different lengths", "empty", "no numbers"],
)
def test_vectors_that_can_not_be_compared_are_an_abstention(vectors):
    plan = Semantic().detect(INTERACTION)
    next(plan)
    with pytest.raises(StopIteration) as stop:
        plan.send([Embedded(vectors=vectors)])
    assert stop.value.value.why is AbstentionReason.MODEL_FAILED


def test_a_statement_the_model_has_no_vector_for_is_unverified_and_never_clean():
    unknown = VECTORS | {"A bag is 25 EUR.": (0.0, 0.0, 0.0)}
    outcome, _ = judged(vectors=unknown)
    assert outcome.claims[0].support is Support.UNVERIFIED
    assert outcome.hallucinated
    outcome, _ = judged(vectors=unknown | {"Dogs fly.": (1.0, 0.0, 0.0)})
    assert outcome.why is AbstentionReason.MODEL_FAILED
    assert "1 of 3 claims" in outcome.detail


@pytest.mark.parametrize("unknown", ["Bags cost 25 EUR.", ANSWER])
def test_nothing_known_on_one_side_is_an_abstention(unknown):
    vectors = dict.fromkeys(VECTORS, (1.0,)) | {unknown: (0.0,), "Refunds take 14 days.": (0.0,)}
    outcome, _ = judged(vectors=vectors, whole=0.5)
    assert outcome.why is AbstentionReason.MODEL_FAILED


def test_too_many_texts_are_over_budget_and_not_embedded():
    outcome, backend = judged(max_texts=4)
    assert outcome.why is AbstentionReason.OVER_BUDGET
    assert backend.embedded == []


def test_every_mistake_is_named():
    with pytest.raises(ConfigurationError) as caught:
        Semantic(aggregation="mean", whole=-1, max_texts=1)
    assert len(caught.value.problems) == 3
