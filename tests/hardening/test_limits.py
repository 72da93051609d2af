"""What is larger than a limit is an abstention that names the limit; nothing is judged in part."""

import json

import pytest

from groundwire import AbstentionReason, Checker, ConfigurationError, Interaction, Judge, Policy, Role, Turn
from groundwire.detectors import get

FEE = "The fee is 25 EUR."


@pytest.mark.parametrize(
    "given",
    [
        {"answer": "The fee is 25 EUR. " * 10, "contexts": FEE},
        {"answer": FEE, "contexts": [FEE] * 10},
        {"answer": FEE, "contexts": FEE, "question": "x" * 100},
        {"answer": FEE, "contexts": FEE, "history": [Turn(role=Role.USER, text="x" * 100)]},
    ],
    ids=["answer", "contexts", "question", "history"],
)
def test_all_texts_count(given):
    interaction = Interaction(**given)
    outcome = Checker("lexical", policy=Policy(max_characters=100)).check(interaction)
    assert outcome.why is AbstentionReason.OVER_BUDGET
    assert "more than max_characters=100: nothing was cut" in outcome.detail
    assert Checker("lexical").check(interaction).grounded


def test_passages_count():
    outcome = Checker("lexical", policy=Policy(max_passages=2)).check(
        Interaction(contexts=[FEE] * 3, answer=FEE)
    )
    assert outcome.why is AbstentionReason.OVER_BUDGET
    assert "3 passages, more than max_passages=2" in outcome.detail


def test_a_model_is_not_asked_about_what_is_too_large():
    asked = []
    judge = Judge(lambda system, user: asked.append(user) or "")
    policy = Policy(max_characters=10)
    outcomes = list(
        Checker("judge", judge=judge, policy=policy).check_many([Interaction(contexts=FEE, answer=FEE)] * 3)
    )
    assert [one.why for one in outcomes] == [AbstentionReason.OVER_BUDGET] * 3
    assert not asked


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("judge", "max_claims"),
        ("stochastic", "max_claims"),
        ("context_utilization", "max_claims"),
        ("faithfulness", "max_statements"),
    ],
)
def test_claims_count(name, parameter):
    answer = " ".join(f"Bag {i} is heavy." for i in range(5))
    judge = Judge(lambda system, user: "", embeddings=lambda texts: [[1.0, 0.0] for _ in texts])
    outcome = Checker(get(name)(**{parameter: 3}), judge=judge).check(
        Interaction(question="q", contexts=FEE, answer=answer)
    )
    assert outcome.why is AbstentionReason.OVER_BUDGET
    assert f"more than {parameter}=3" in outcome.detail


def test_a_reply_without_end_is_not_read():
    entries = [{"id": 1, "support": "inferred", "score": 0.1, "reason": "x" * 210_000}]
    outcome = Checker("judge", judge=Judge(lambda system, user: json.dumps({"claims": entries}))).check(
        Interaction(contexts=FEE, answer=FEE)
    )
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert len(outcome.detail) < 1_000


@pytest.mark.parametrize("wrong", [0, -1, True, "many", 1.5])
@pytest.mark.parametrize("name", ["max_characters", "max_passages"])
def test_a_limit_that_is_none_is_refused(name, wrong):
    with pytest.raises(ConfigurationError, match=name):
        Policy(**{name: wrong})


def test_settings_have_the_limits():
    checker = Checker.from_config({"detector": "lexical", "max_characters": 50, "max_passages": None})
    assert checker.policy.max_characters == 50
    assert checker.policy.max_passages is None
