"""Context utilization: average precision checked by hand, evidence in its place, and what is not judged."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from groundwire import AbstentionReason, ConfigurationError, Interaction, Level, Support, detectors
from groundwire.core.plan import Failed
from groundwire.detectors.context_utilization import ContextUtilization, average_precision
from groundwire.judge.drivers import arun, run
from tests.answering import Answering

CONTEXTS = ["Cats.", "A bag costs\u200b 25 EUR.", " ", "Dogs pay 50 EUR.", "Fish."]
INTERACTION = Interaction(
    question="The fees?", contexts=CONTEXTS, answer="A bag costs 25 EUR. Dogs pay 50. Birds fly."
)
NONE = {1: [], 2: [], 4: [], 5: []}


def used(by_passage, **quotes):
    entries = [
        {"id": i, "statements": ids, "quote": quotes.get(f"p{i}", "")} for i, ids in by_passage.items()
    ]
    return json.dumps({"passages": entries})


def judged(*replies, interaction=INTERACTION, **parameters):
    backend = Answering(*replies)
    outcome = run(ContextUtilization(**parameters).detect(interaction), backend)
    assert backend.replies == []
    return outcome, backend


def test_the_score_is_what_is_drawn_from_passages_times_how_early_they_rank():
    """Passages 2 and 4 stand second and third of the four that are not blank: (1/2 + 2/3) / 2."""
    outcome, backend = judged(used(NONE | {2: [1], 4: [2, 1]}))
    assert outcome.score == outcome.raw == pytest.approx(1 - 2 / 3 * (1 / 2 + 2 / 3) / 2)
    assert outcome.reason.startswith("2 of 3 claims draw on 2 of 4 passages")
    assert len(backend.asked) == 1


def test_when_every_claim_is_served_the_score_is_one_minus_the_average_precision():
    outcome, _ = judged(used(NONE | {1: [1, 2, 3]}))
    assert outcome.score == 0.0
    outcome, _ = judged(used(NONE | {5: [1, 2, 3]}))
    assert outcome.score == pytest.approx(1 - 1 / 4)
    assert outcome.grounded
    assert outcome.level is Level.MEDIUM
    assert "documents" in outcome.wording.title


def test_an_answer_that_draws_on_nothing_is_flagged():
    outcome, _ = judged(used(NONE))
    assert outcome.score == 1.0
    assert outcome.hallucinated
    assert len(outcome.spans) == 3


def test_a_claim_has_the_quotations_of_the_passages_that_served_it():
    reply = used(NONE | {2: [1], 4: [1, 2]}, p2="a bag costs 25 eur", p4="Dogs are free")
    outcome, _ = judged(reply)
    assert [claim.support for claim in outcome.claims] == [
        Support.SUPPORTED,
        Support.SUPPORTED,
        Support.UNSUPPORTED,
    ]
    assert [(e.passage, e.quote) for e in outcome.claims[0].evidence] == [(1, "A bag costs\u200b 25 EUR")]
    assert outcome.claims[1].evidence == ()
    assert outcome.claims[0].reason == "drawn from passage 2, 4"


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_average_precision_is_that_of_scikit_learn(useful):
    expected = average_precision_score(useful, [-rank for rank in range(len(useful))]) if any(useful) else 0.0
    assert average_precision(useful) == pytest.approx(expected)


@given(st.lists(st.booleans(), min_size=2, max_size=12), st.data())
def test_a_useful_passage_that_moves_forward_never_lowers_the_figure(useful, data):
    i = data.draw(st.integers(1, len(useful) - 1))
    moved = [*useful[: i - 1], useful[i], useful[i - 1], *useful[i + 1 :]]
    if useful[i] and not useful[i - 1]:
        assert average_precision(moved) > average_precision(useful)


@pytest.mark.parametrize(
    "first",
    [
        {1: [], 2: [1], 4: []},
        NONE | {2: [1], 5: [4]},
        NONE | {2: [1], 5: "1"},
    ],
    ids=["left out", "no such statement", "no list"],
)
def test_only_passages_without_a_usable_entry_are_asked_again(first):
    outcome, backend = judged(used(first), used({5: []}))
    assert outcome == judged(used(NONE | {2: [1]}))[0]
    assert "<<<passage 5 " in backend.asked[1].user
    assert "<<<passage 2 " not in backend.asked[1].user


@pytest.mark.parametrize("garbage", ["", "Passages 2 and 4.", '{"passages": []}'])
def test_two_unreadable_replies_are_an_abstention(garbage):
    outcome, _ = judged(garbage, garbage)
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert "4 of 4 passages" in outcome.detail


@pytest.mark.parametrize("reason", [AbstentionReason.MODEL_FAILED, AbstentionReason.TIMEOUT])
def test_a_model_that_failed_is_an_abstention_with_its_reason(reason):
    assert judged(Failed(reason=reason, detail="because"))[0].why is reason


def test_many_passages_take_several_calls_at_once():
    outcome, backend = judged(used({1: [], 2: [1]}), used({4: [2], 5: []}), passages_per_call=2)
    assert len(backend.asked) == 2
    assert outcome.score == judged(used(NONE | {2: [1], 4: [2]}))[0].score


@pytest.mark.parametrize(
    ("interaction", "why"),
    [
        (Interaction(contexts="Bags.", answer="..."), AbstentionReason.NO_CLAIMS),
        (Interaction(contexts=" ", answer="Bags."), AbstentionReason.NO_CONTEXT),
        (Interaction(contexts="Bags.", answer="The passages do not say."), AbstentionReason.NO_CLAIMS),
    ],
)
def test_what_can_draw_on_nothing_is_not_judged_and_nobody_asked(interaction, why):
    outcome, backend = judged(interaction=interaction)
    assert outcome.why is why
    assert backend.asked == []


def test_too_many_claims_are_over_budget():
    assert judged(max_claims=2)[0].why is AbstentionReason.OVER_BUDGET


async def test_on_an_event_loop_the_outcome_is_the_same():
    reply = used(NONE | {2: [1]})
    assert await arun(ContextUtilization().detect(INTERACTION), Answering(reply)) == judged(reply)[0]


def test_every_mistake_is_named():
    assert detectors.get("context_utilization") is ContextUtilization
    with pytest.raises(ConfigurationError) as caught:
        ContextUtilization(passages_per_call=0, max_claims="many", prompts={"judge": {"user": "$claims"}})
    assert len(caught.value.problems) >= 3
