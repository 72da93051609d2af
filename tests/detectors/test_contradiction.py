"""Contradiction: one verdict a passage, and the share of those that contradict."""

import json

import pytest

from groundwire import AbstentionReason, Grading, Interaction, Kind, Support
from groundwire.core.plan import Failed
from groundwire.detectors.contradiction import Contradiction
from groundwire.judge.drivers import run
from tests.detectors.players import Player

CONTEXTS = [
    "A bag costs 25 EUR.",
    " ",
    "Bags cost 75 EUR since May.",
    "Dogs fly\u200b free of charge.",
    "Cats.",
]
ASKED = Interaction(question="The fee?", contexts=CONTEXTS, answer="A bag costs 25 EUR. Dogs pay.")

AGREES = {"id": 1, "verdict": "agrees", "quote": "costs 25 EUR"}
AGAINST = {"id": 3, "verdict": "contradicts", "quote": "Bags cost 75 EUR", "words": ["25 EUR", "a plane"]}
DOGS = {"id": 4, "verdict": "Contradicts", "quote": "dogs fly free", "words": ["Dogs pay"]}
CATS = {"id": 5, "verdict": "unrelated"}


def judged(*entries, interaction=ASKED, **parameters):
    replies = [one if isinstance(one, str | Failed) else {"passages": one} for one in entries]
    player = Player(contradiction=replies)
    return run(Contradiction(**parameters).detect(interaction), player), player


def test_the_score_is_the_share_of_passages_that_contradict():
    outcome, player = judged([AGREES, AGAINST, DOGS, CATS])
    assert outcome.score == outcome.raw == 0.5
    assert outcome.reason == "Contradicted by 2 of 4 passages: 3, 4."
    assert outcome.kind is Kind.CONTEXT_CONFLICTING
    assert player.calls == 1


def test_one_contradiction_among_many_is_enough_by_default_and_need_not_be():
    agree = [AGREES | {"id": i} for i in range(1, 400)]
    many = Interaction(contexts=["A bag costs 25 EUR."] * 400, answer="A bag costs 25 EUR.")
    entries = [*agree, AGAINST | {"id": 400}]
    outcome, _ = judged(entries, interaction=many, passages_per_call=400)
    assert outcome.score == 1 / 400
    assert outcome.hallucinated
    outcome, _ = judged(entries, interaction=many, passages_per_call=400, grading=Grading(threshold=0.5))
    assert outcome.grounded


def test_evidence_and_words_have_their_exact_places():
    outcome, _ = judged([AGREES, AGAINST, DOGS, CATS])
    (claim,) = outcome.claims
    assert claim.support is Support.CONTRADICTED
    assert claim.text == ASKED.answer
    assert [(e.passage, e.quote) for e in claim.evidence] == [
        (2, "Bags cost 75 EUR"),
        (3, "Dogs fly\u200b free"),
    ]
    assert [span.of(ASKED.answer) for span in outcome.spans] == ["25 EUR", "Dogs pay"]


def test_a_quotation_that_stands_nowhere_is_no_evidence():
    outcome, _ = judged([AGREES, AGAINST | {"quote": "Bags cost 99 EUR"}, CATS, CATS | {"id": 4}])
    assert outcome.claims[0].evidence == ()
    assert outcome.hallucinated


def test_agreement_alone_is_grounded_without_claims():
    outcome, _ = judged([AGREES, CATS, AGREES | {"id": 3}, CATS | {"id": 4}])
    assert outcome.grounded
    assert outcome.claims == ()
    assert outcome.kind is None


def test_passages_that_all_speak_of_something_else_tell_nothing():
    outcome, _ = judged([CATS | {"id": i} for i in (1, 3, 4, 5)])
    assert outcome.why is AbstentionReason.NO_CONTEXT


@pytest.mark.parametrize(
    "first",
    [
        [AGREES, AGAINST, CATS],
        [AGREES, AGAINST, DOGS, DOGS, CATS],
        [AGREES, AGAINST, DOGS | {"verdict": "no"}, CATS],
    ],
    ids=["short", "twice", "another word"],
)
def test_only_what_is_missing_is_asked_again(first):
    outcome, player = judged(first, [DOGS])
    again = player.named("contradiction")[1].user
    assert "<<<passage 4 " in again
    assert "<<<passage 1 " not in again
    assert outcome == judged([AGREES, AGAINST, DOGS, CATS])[0]


def test_what_stays_missing_counts_as_nothing_and_never_as_agreement():
    outcome, _ = judged([AGREES, CATS], json.dumps({"passages": [CATS | {"id": 3}]}))
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert "1 of 4 passages got no usable verdict" in outcome.detail
    outcome, _ = judged([AGREES, AGAINST], "{}")
    assert outcome.hallucinated
    assert outcome.score == 0.25


def test_many_passages_take_several_calls_at_once():
    late = Failed(reason=AbstentionReason.TIMEOUT, detail="late")
    outcome, player = judged([AGREES, AGAINST], [DOGS, CATS], passages_per_call=2)
    assert outcome.score == 0.5
    assert player.calls == 2
    outcome, _ = judged([AGREES, AGREES | {"id": 3}], late, passages_per_call=2)
    assert outcome.why is AbstentionReason.TIMEOUT
