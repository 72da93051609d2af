"""A dry run: what the plans ask for is counted, and nothing is sent."""

import pytest

from groundwire import Interaction, detectors
from groundwire.core.budget import estimated_tokens
from groundwire.core.plan import Complete, Embed
from groundwire.judge.dry_run import estimate
from groundwire.judge.prices import Price
from tests.scripted import AsksModel

ANSWERS = [Interaction(answer="a" * 400, contexts="c"), Interaction(answer="b" * 40, contexts="c")]


def test_calls_and_tokens_are_those_of_the_requests():
    counted = estimate(AsksModel(), ANSWERS, reply_tokens=50)
    asked = 2 * estimated_tokens("score it") + 100 + 10
    assert (counted.answers, counted.calls, counted.input_tokens, counted.output_tokens) == (2, 2, asked, 100)
    assert counted.cost is None


def test_a_price_makes_it_money():
    counted = estimate(AsksModel(), ANSWERS, prices={"": Price(input=10, output=20)}, reply_tokens=50)
    assert counted.cost == pytest.approx((counted.input_tokens * 10 + 100 * 20) / 1_000_000)


def test_an_answer_with_nothing_to_judge_costs_nothing():
    detector = detectors.get("judge")()
    assert estimate(detector, [Interaction(answer="It is 5 EUR.", contexts=None)]).calls == 0
    assert estimate(detector, [Interaction(answer="It is 5 EUR.", contexts="It is 5 EUR.")]).calls == 1


def test_a_detector_that_asks_no_model_costs_nothing():
    counted = estimate(detectors.get("lexical")(), ANSWERS)
    assert (counted.answers, counted.calls, counted.input_tokens) == (2, 0, 0)


class Embedding(AsksModel):
    def detect(self, interaction):
        (first,) = yield [Embed(texts=("abcd", "efgh"))]
        yield [Complete(system="", user="u", samples=len(first.vectors))]


def test_embeddings_are_counted_apart_and_samples_each():
    counted = estimate(Embedding(), ANSWERS[:1])
    assert (counted.embedding_calls, counted.embedding_tokens, counted.calls) == (1, 2, 2)
    counted = estimate(detectors.get("semantic")(), [Interaction(answer="It is 5 EUR.", contexts="It is.")])
    assert (counted.asking, counted.embedding_calls, counted.calls) == (1, 1, 0)


def test_a_grounding_service_is_asked_like_any_model():
    counted = estimate(detectors.get("bedrock_grounding")(), [Interaction(answer="It is.", contexts="So.")])
    assert (counted.asking, counted.calls) == (1, 1)


class AsksAnother(AsksModel):
    def detect(self, interaction):
        yield [Complete(system="", user="abcd", model="large")]


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        ({"": Price(input=1), "large": Price(input=1_000_000)}, 1.0),
        ({"": Price(input=1)}, None),
        ({"large": Price(input=0)}, 0.0),
    ],
)
def test_a_call_costs_what_the_model_that_it_goes_to_costs(prices, cost):
    assert estimate(AsksAnother(), ANSWERS[:1], prices=prices).cost == cost
