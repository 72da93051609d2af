"""What holds whatever a judge says: exact facts, a second detector that raises doubts, a canary."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import AbstentionReason, Checker, ConfigurationError, Interaction, Judge, Support, config
from groundwire.core.verdict import Recommendation
from groundwire.detectors import Lexical
from groundwire.detectors.canary import canary
from groundwire.detectors.judge import JudgeDetector
from groundwire.testing import Abstains, FlagsWords

WRONG = Interaction(
    contexts="The fee is 25 EUR. Dogs travel free.", answer="The fee is 75 EUR. Dogs travel free."
)
SWAPPED = Interaction(contexts="Ada hired Bob.", answer="Bob hired Ada.")


def listed(user):
    block = re.findall(r"<<<claims \w+>>>\n(.*?)\n<<<end claims", user, re.DOTALL)[-1]
    return {int(i): json.loads(text) for i, text in (line.split(": ", 1) for line in block.splitlines())}


class Clears:
    """A judge that calls every claim inferred, but those that it is to flag; ``asked`` is what it saw."""

    def __init__(self, flags=lambda text: False, leaves_out=lambda text: False):
        self._flags, self._leaves_out, self.asked = flags, leaves_out, []

    def __call__(self, system, user):
        self.asked.append(listed(user))
        return json.dumps(
            {
                "claims": [
                    {"id": i, "score": 0.9, "support": "unsupported"}
                    if self._flags(text)
                    else {"id": i, "score": 0.1, "support": "inferred"}
                    for i, text in self.asked[-1].items()
                    if not self._leaves_out(text)
                ]
            }
        )


def judged(interaction, model=None, **parameters):
    model = model or Clears()
    return Checker(JudgeDetector(**parameters), judge=Judge(model)).check(interaction), model


def test_no_judge_clears_what_an_exact_fact_refutes():
    outcome, model = judged(WRONG)
    assert model.asked
    assert outcome.hallucinated
    assert [claim.support for claim in outcome.claims] == [Support.CONTRADICTED, Support.INFERRED]
    assert outcome.claims[0].evidence[0].quote == "The fee is 25 EUR."
    assert "75 EUR" in outcome.reason


def test_facts_can_decide_alone_or_be_left_out():
    outcome, model = judged(WRONG, facts="decide")
    assert outcome.hallucinated
    assert not model.asked
    assert judged(WRONG, facts="off")[0].grounded


def test_a_doubt_is_said_and_the_score_stays():
    outcome, _ = judged(SWAPPED, cross_check=FlagsWords(words=("hired",)))
    assert outcome.grounded
    assert outcome.score == pytest.approx(0.1)
    assert outcome.recommendation is Recommendation.REVIEW
    assert "strongly disagrees" in outcome.reason
    assert judged(SWAPPED)[0].recommendation is None


def test_only_what_is_grounded_can_be_doubted():
    outcome, _ = judged(SWAPPED, Clears(flags=lambda text: True), cross_check=FlagsWords(words=("hired",)))
    assert outcome.hallucinated
    assert outcome.recommendation is None


def test_a_second_opinion_that_could_not_be_had_is_told():
    outcome, _ = judged(SWAPPED, cross_check=Abstains(why=AbstentionReason.TIMEOUT))
    assert outcome.grounded
    assert "could not be asked for a second opinion: TIMEOUT" in outcome.reason


def test_a_judge_that_clears_the_canary_is_not_believed():
    outcome, model = judged(SWAPPED, canary=True)
    assert len(model.asked) == 2
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert "that no passage states" in outcome.detail


def test_a_judge_that_leaves_the_canary_out_is_not_believed():
    outcome, _ = judged(SWAPPED, Clears(leaves_out=lambda text: text != SWAPPED.answer), canary=True)
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert "put in to try it" in outcome.detail


def test_a_judge_that_flags_the_canary_is_believed_and_the_canary_is_no_claim():
    outcome, model = judged(SWAPPED, Clears(flags=lambda text: text != SWAPPED.answer), canary=True)
    assert outcome.grounded
    assert [claim.text for claim in outcome.claims] == [SWAPPED.answer]
    assert len(model.asked[0]) == 2
    assert len(model.asked) == 1


def test_each_call_has_the_canary():
    answer = " ".join(f"Bag {i} is heavy." for i in range(6))
    interaction = Interaction(contexts="Bags are heavy.", answer=answer)
    outcome, model = judged(
        interaction, Clears(flags=lambda text: "Bag" not in text), canary=True, claims_per_call=2
    )
    assert [len(asked) for asked in model.asked] == [3, 3, 3]
    assert len(outcome.claims) == 6


@given(st.lists(st.text(), min_size=1, max_size=3), st.text(), st.integers(1, 50))
def test_the_canary_stands_in_no_text_and_is_always_the_same(contexts, answer, claims):
    one = Interaction(contexts=contexts, answer=answer)
    made = canary(one, claims=claims)
    assert made == canary(one, claims=claims)
    assert 1 <= made.place <= claims + 1
    place = max(re.findall(r"[A-Z]\w+", made.text), key=len)
    assert place not in answer


def test_a_text_that_names_the_canary_gets_another():
    said = canary(SWAPPED, claims=1).text
    forged = Interaction(contexts=f"Ada hired Bob. {said}", answer=SWAPPED.answer)
    assert canary(forged, claims=1).text != said


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"facts": "maybe"}, "facts must be one of decide, bind, off"),
        ({"canary": "yes"}, "canary must be true or false"),
        ({"cross_check": "nothing"}, "cross_check: unknown detector 'nothing'"),
        ({"cross_check": "judge"}, "must ask no model"),
        ({"cross_check": "cascade"}, "must ask no model"),
        ({"doubt": 2}, "doubt must be a number in [0, 1]"),
    ],
)
def test_what_cannot_work_is_named(wrong, told):
    with pytest.raises(ConfigurationError, match=re.escape(told)):
        JudgeDetector(**wrong)


def test_settings_have_them():
    given = {"name": "judge", "cross_check": "embedded", "canary": True, "facts": "decide"}
    detector = config.load({"detector": given}).build_detector()
    assert detector == JudgeDetector(cross_check="embedded", canary=True, facts="decide")
    assert detector.needs_encoder
    # What YAML makes of a bare "off", which is how the message and the documentation spell it.
    assert config.load({"detector": {"name": "judge", "facts": False}}).build_detector().facts == "off"
    assert JudgeDetector(cross_check="lexical").second == Lexical()
    assert not JudgeDetector(cross_check="lexical").needs_encoder
