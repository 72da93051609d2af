"""G-Eval: its weighting by worked examples, where its steps come from, what it does without probabilities."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import AbstentionReason, ConfigurationError, Interaction, prompts
from groundwire.core.plan import Completed, Failed, Token
from groundwire.detectors.g_eval import GEval, weighted_score
from groundwire.judge.drivers import run
from tests.detectors.players import Player

ASKED = Interaction(question="The fee?", contexts=["The fee is 25 EUR."], answer="The fee is 75 EUR.")
STEPS = ["Read it.", "Score it."]


def form(score, reason="because"):
    return json.dumps({"reason": reason, "score": score})


def spelled(score, likely, *, before="", after=""):
    """A reply of a model that tells its tokens: the score's has ``likely`` probabilities by spelling."""
    head, tail = form("?").split('"?"')
    chosen = f"{before}{score}{after}"
    alternatives = tuple((text, math.log(p)) for text, p in likely.items())
    own = likely.get(chosen, 1e-9)
    head = head.removesuffix(before)
    tokens = (
        Token(text=head, logprob=0.0),
        Token(text=chosen, logprob=math.log(own), alternatives=alternatives),
    )
    tokens += (Token(text=tail.removeprefix(after), logprob=0.0),)
    return Completed(texts=("".join(token.text for token in tokens),), tokens=(tokens,))


def judged(*replies, steps=(), **parameters):
    player = Player(g_eval=list(replies), g_eval_steps=list(steps))
    return run(GEval(**parameters).detect(ASKED), player), player


def test_the_score_is_the_mean_of_the_scores_by_their_probabilities():
    """0.6 x 4 + 0.3 x 5 + 0.1 x 1 = 4.0, and (5 - 4) / 4 = 0.25."""
    outcome, player = judged(spelled(4, {"4": 0.6, "5": 0.3, "1": 0.1}))
    assert outcome.score == pytest.approx(0.25)
    assert outcome.reason == "4.00 of 5, weighted by the model's probabilities. because"
    assert player.calls == 1


def test_what_is_no_score_takes_no_part_and_the_rest_is_made_whole():
    """0.4 of 5 and 0.2 of 2 make two thirds and one third: 4.0."""
    likely = {"5": 0.4, "2": 0.2, "9": 0.2, "five": 0.1, "0": 0.05, "4.5": 0.05}
    assert judged(spelled(5, likely))[0].score == pytest.approx(0.25)


def test_spellings_of_one_score_are_added_up():
    """A blank belongs to the token in some vocabularies: 0.3 + 0.3 of 5 and 0.2 of 1 is 4.0."""
    likely = {" 5": 0.3, "5": 0.3, " 1": 0.2}
    assert judged(spelled(5, likely, before=" "))[0].score == pytest.approx(0.25)


@given(st.dictionaries(st.integers(1, 5), st.floats(0.01, 0.2), min_size=1))
def test_the_weighted_score_is_that_of_an_independent_computation(likely):
    chosen = min(likely)
    reply = spelled(chosen, {str(score): p for score, p in likely.items()})
    expected = sum(s * p for s, p in likely.items()) / sum(likely.values())
    assert weighted_score(reply.tokens[0], chosen) == pytest.approx(expected)


def test_a_score_that_stands_before_the_reason_is_weighted_too():
    """Many models put it there, above all those that fill in a schema of their own."""
    head = Token(text='{"score": ', logprob=0.0)
    likely = tuple((text, math.log(p)) for text, p in {"4": 0.6, "5": 0.3, "1": 0.1}.items())
    score = Token(text="4", logprob=math.log(0.6), alternatives=likely)
    tail = Token(text=', "reason": "because"}', logprob=0.0)
    reply = Completed(texts=('{"score": 4, "reason": "because"}',), tokens=((head, score, tail),))
    outcome, player = judged(reply)
    assert (outcome.score, player.calls) == (pytest.approx(0.25), 1)


@pytest.mark.parametrize("written", ["4.5", "4,5", "45"])
def test_a_figure_that_begins_with_a_score_is_none(written):
    token = Token(text="4", logprob=0.0, alternatives=(("4", 0.0),))
    text = Token(text=f"{written[1:]}, ", logprob=0.0)
    assert weighted_score((Token(text='"score": ', logprob=0.0), token, text), 4.0) is None


def test_a_score_in_the_reason_is_not_taken_for_the_score():
    text = form(2, reason='they say "score": 5')
    tokens = tuple(Token(text=c, logprob=0.0, alternatives=((c, 0.0),)) for c in text)
    assert weighted_score(tokens, 2.0) == pytest.approx(2.0)
    assert weighted_score(tokens, 4.0) is None
    assert weighted_score((), 4.0) is None


def test_the_probability_of_the_score_alone_says_nothing_of_the_others():
    tokens = tuple(Token(text=c, logprob=-0.1) for c in form(4))
    outcome, player = judged(Completed(texts=(form(4),), tokens=(tokens,)), Completed(texts=(form(4),) * 4))
    assert "the mean of 5 replies" in outcome.reason
    assert player.calls == 5


def test_without_probabilities_the_mean_of_samples_counts():
    more = Completed(texts=(form(5), form("4 out of 5"), form(5), form(1)))
    outcome, player = judged(form(5), more)
    assert outcome.score == pytest.approx((5 - 4.0) / 4)
    assert player.calls == 5
    assert [request.samples for _, request in player.asked] == [1, 4]
    assert all(request.temperature == 1.0 for _, request in player.asked)


def test_samples_that_can_not_be_read_take_no_part_and_must_be_the_lesser_half():
    some = Completed(texts=(form(1), form(3), "no", ""))
    outcome, _ = judged(form(5), some)
    assert outcome.score == pytest.approx(0.5)
    assert "the mean of 3 replies" in outcome.reason
    outcome, _ = judged(form(5), Completed(texts=("no", "", "{}", form(3))))
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert outcome.detail == "only 2 of 5 replies could be read"


def test_one_sample_is_one_call():
    outcome, player = judged(form(2), samples=1)
    assert outcome.score == 0.75
    assert player.calls == 1


def test_the_kept_steps_are_used_for_the_kept_criterion():
    _, player = judged(form(5), samples=1)
    (request,) = player.named("g_eval")
    assert prompts.get("g_eval_criterion").user in request.user
    assert "\n1. Read the question" in request.user
    assert player.named("g_eval_steps") == []


def test_a_criterion_without_steps_has_them_written_and_always_asks_the_same():
    """The request knows nothing of the answer, so that a judge's memory makes it one request for all."""
    detector = GEval(criterion="Politeness: it is polite.", samples=1)
    players = [Player(g_eval=form(5), g_eval_steps={"steps": STEPS}) for _ in range(2)]
    other = Interaction(contexts=["Something else."], answer="Thanks, I say.")
    for player, interaction in zip(players, (ASKED, other), strict=True):
        assert run(detector.detect(interaction), player).grounded
        assert "1. Read it.\n2. Score it." in player.named("g_eval")[0].user
    assert players[0].named("g_eval_steps") == players[1].named("g_eval_steps")


def test_prepared_writes_the_steps_once_and_keeps_them():
    detector = GEval(criterion="Politeness: it is polite.", samples=1)
    prepared = run(detector.prepared(), Player(g_eval_steps={"steps": STEPS}))
    assert prepared == GEval(criterion="Politeness: it is polite.", samples=1, steps=tuple(STEPS))
    player = Player(g_eval=form(5))
    assert run(prepared.detect(ASKED), player).detector.parameters["steps"] == tuple(STEPS)
    assert player.calls == 1


def test_steps_that_can_not_be_written_are_an_abstention():
    outcome, _ = judged(steps=["no", {"steps": []}], criterion="Politeness.")
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert outcome.detail.startswith("the steps could not be written: ")
    failed = run(GEval(criterion="x").prepared(), Player(g_eval_steps=["no", ""]))
    assert isinstance(failed, Failed)


def test_more_samples_that_fail_are_an_abstention():
    late = Failed(reason=AbstentionReason.TIMEOUT, detail="late")
    assert judged(form(5), late)[0].why is AbstentionReason.TIMEOUT


@pytest.mark.parametrize(
    "wrong", [{"steps": "Read it."}, {"steps": [" "]}, {"steps": [7]}, {"criterion": 7}, {"samples": 0}]
)
def test_parameters_that_can_not_work_are_refused(wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        GEval(**wrong)
