"""Faithfulness: every sentence comes to statements, every statement to a verdict, none is lost on the way."""

import json
import re

import pytest

from groundwire import AbstentionReason, ConfigurationError, Grading, Interaction, Kind, Support
from groundwire.core.aggregation import AnyUnsupported
from groundwire.core.plan import Failed
from groundwire.detectors.faithfulness import Faithfulness
from groundwire.judge.drivers import run
from tests.detectors.players import Player

ANSWER = "A bag costs 25 EUR and weighs up to 8 kg. Dogs fly free."
ASKED = Interaction(question="And bags?", contexts=["Cats.", "A bag costs 25 EUR. Dogs pay."], answer=ANSWER)

APART = [
    {"id": 1, "statements": ["A bag costs 25 EUR.", "A bag weighs up to 8 kg."]},
    {"id": 2, "statements": ["Dogs fly free of charge."]},
]
PRICE = {"id": 1, "verdict": "supported", "quote": "A bag costs 25 EUR"}
WEIGHT = {"id": 2, "verdict": "unsupported", "reason": "Nothing on weight."}
DOGS = {"id": 3, "verdict": "contradicted", "quote": "Dogs pay", "reason": "They pay."}
ALL = [PRICE, WEIGHT, DOGS]


def listed(request, label):
    block = re.search(rf"<<<{label} [0-9a-f]{{12}}>>>\n(.*?)\n<<<end", request.user, re.DOTALL)[1]
    return {int(line.split(": ")[0]): json.loads(line.split(": ", 1)[1]) for line in block.split("\n")}


def judged(apart=APART, *verdicts, interaction=ASKED, **parameters):
    told = [{"statements": one} if isinstance(one, list) else one for one in verdicts or [ALL]]
    apart = apart if isinstance(apart, tuple) else (apart,)
    player = Player(
        faithfulness_statements=[{"sentences": one} if isinstance(one, list) else one for one in apart],
        faithfulness_verdicts=told,
    )
    return run(Faithfulness(**parameters).detect(interaction), player), player


def test_the_worked_example_of_two_statements_in_three_unsupported():
    outcome, player = judged()
    assert outcome.score == outcome.raw == pytest.approx(2 / 3)
    assert outcome.kind is Kind.PARTIALLY_CORRECT
    assert player.calls == 2
    assert outcome.reason == (
        "Not supported: 2 of 3 statements. “A bag weighs up to 8 kg.”: Nothing on weight."
    )
    assert [(c.text, c.support, c.score) for c in outcome.claims] == [
        ("A bag costs 25 EUR and weighs up to 8 kg.", Support.SUPPORTED, 0.0),
        ("A bag costs 25 EUR and weighs up to 8 kg.", Support.UNSUPPORTED, 1.0),
        ("Dogs fly free.", Support.CONTRADICTED, 1.0),
    ]
    assert [(e.passage, e.quote) for c in outcome.claims for e in c.evidence] == [
        (1, "A bag costs 25 EUR"),
        (1, "Dogs pay"),
    ]


def test_any_unsupported_statement_is_enough_by_default_and_the_fraction_can_be_asked_for():
    supported = PRICE | {"id": 2}, PRICE | {"id": 3}
    one_of_three = [WEIGHT | {"id": 1}, *supported]
    outcome, _ = judged(APART, one_of_three)
    assert outcome.score == pytest.approx(1 / 3)
    assert outcome.hallucinated
    assert judged(APART, one_of_three, grading=Grading(threshold=0.5))[0].grounded
    assert judged(APART, one_of_three, aggregation=AnyUnsupported())[0].score == 1.0
    assert judged(APART, [PRICE, *supported])[0].grounded


def test_the_statements_are_what_is_verified_by_the_passages_alone():
    _, player = judged()
    (request,) = player.named("faithfulness_verdicts")
    assert listed(request, "statements") == {
        1: "A bag costs 25 EUR.",
        2: "A bag weighs up to 8 kg.",
        3: "Dogs fly free of charge.",
    }
    assert "<<<passage 2 " in request.user
    assert "Dogs fly free.\n" not in request.user


@pytest.mark.parametrize(
    "apart",
    [
        (APART[:1], "{}"),
        ([APART[0], APART[1] | {"statements": []}],),
        ([APART[0], APART[1], APART[1]], [APART[0]]),
    ],
    ids=["left out", "no statement", "twice"],
)
def test_a_sentence_that_comes_to_no_statement_stands_for_itself(apart):
    outcome, player = judged(apart)
    assert listed(player.named("faithfulness_verdicts")[0], "statements")[3] == "Dogs fly free."
    assert outcome.score == pytest.approx(2 / 3)


def test_a_sentence_that_was_left_out_is_asked_for_once_more():
    outcome, player = judged((APART[:1], APART[1:]))
    assert listed(player.named("faithfulness_statements")[1], "sentences") == {2: "Dogs fly free."}
    assert outcome == judged()[0]


def test_as_many_verdicts_as_statements_those_missing_asked_for_again():
    outcome, player = judged(APART, [PRICE, DOGS, DOGS | {"id": 9}], [WEIGHT])
    assert list(listed(player.named("faithfulness_verdicts")[1], "statements")) == [2]
    assert outcome == judged()[0]


def test_a_statement_that_stays_unverified_is_never_grounded():
    outcome, _ = judged(APART, [PRICE, PRICE | {"id": 2}], "{}")
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert "1 of 3 statements got no usable verdict" in outcome.detail
    outcome, _ = judged(APART, [PRICE, WEIGHT], "{}")
    assert outcome.hallucinated
    assert [claim.support for claim in outcome.claims][2] is Support.UNVERIFIED


def test_an_answer_that_can_not_be_taken_apart_is_not_judged():
    outcome, player = judged(("I can't.", "I won't."))
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert outcome.detail.startswith("the answer could not be taken apart: ")
    assert player.named("faithfulness_verdicts") == []
    outcome, _ = judged((Failed(reason=AbstentionReason.TIMEOUT, detail="late"),))
    assert outcome.why is AbstentionReason.TIMEOUT


def test_too_many_statements_are_over_budget():
    flood = [{"id": 1, "statements": ["x"] * 9}, APART[1]]
    outcome, _ = judged(flood, max_statements=9)
    assert outcome.why is AbstentionReason.OVER_BUDGET
    assert outcome.detail == "the answer makes 10 statements, more than max_statements=9"
    outcome, player = judged(max_statements=1)
    assert outcome.why is AbstentionReason.OVER_BUDGET
    assert player.calls == 0


def test_parameters_that_can_not_work_are_named_at_once():
    with pytest.raises(ConfigurationError) as caught:
        Faithfulness(aggregation="any", per_call=0, turns=-1, grading=None, examples=[{}])
    assert len(caught.value.problems) == 5
