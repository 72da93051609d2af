"""Self-evaluation: thoughts, then a confidence from 1 to 5, and a score that falls with it."""

import pytest

from groundwire import AbstentionReason, Interaction
from groundwire.detectors.self_eval import SelfEval
from groundwire.judge.drivers import run
from tests.detectors.players import Player

ASKED = Interaction(question="The fee?", contexts=["The fee is 25 EUR."], answer="The fee is 75 EUR.")


def judged(*replies, interaction=ASKED, **parameters):
    player = Player(self_eval=list(replies))
    return run(SelfEval(**parameters).detect(interaction), player), player


@pytest.mark.parametrize(
    ("confidence", "score"), [(1, 1.0), (2, 0.75), (3, 0.5), (4, 0.25), (5, 0.0), ("4 out of 5", 0.25)]
)
def test_the_score_is_how_far_the_confidence_is_from_five(confidence, score):
    outcome, player = judged({"reasoning": "It\nsays 25.", "confidence": confidence})
    assert outcome.score == outcome.raw == score
    assert outcome.reason == f"Confidence {5 - 4 * score:g} of 5. It says 25."
    assert player.calls == 1


@pytest.mark.parametrize("confidence", [0, 6, "95 %", "8 out of 10", True, None, "4 or 5"])
def test_a_confidence_off_its_scale_is_asked_for_again_and_then_refused(confidence):
    wrong = {"reasoning": "r", "confidence": confidence}
    outcome, player = judged(wrong, wrong)
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert player.calls == 2
    outcome, _ = judged(wrong, {"confidence": 5})
    assert outcome.grounded


def test_thoughts_may_stand_before_the_form():
    outcome, _ = judged('The passage says 25, so:\n```json\n{"reasoning": "r", "confidence": 1}\n```')
    assert outcome.score == 1.0


def test_reviewed_examples_are_shown_before_the_answer_and_quoted():
    reviewed = {"contexts": ["Dogs fly free."], "answer": "Dogs pay.", "score": 1}
    _, player = judged({"confidence": 1}, examples=[reviewed])
    ((_, request),) = player.asked
    assert 0 < request.user.index("<<<example 1 answer ") < request.user.index("<<<answer ")
    assert "The reviewed score of example 1 is 1." in request.user
