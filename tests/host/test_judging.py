"""Judging for a host: whatever a detector does, the application's answer goes on its way."""

import asyncio
import copy
import pickle

import pytest

from groundwire import (
    AbstainedError,
    Abstention,
    AbstentionReason,
    Checker,
    ConfigurationError,
    Interaction,
    MissingExtraError,
    Policy,
)
from groundwire.host.actions import HallucinationError
from groundwire.host.judging import ajudged, judged
from groundwire.policy import OnAbstention
from tests.scripted import Broken, NovelWords

INTERACTION = Interaction(contexts="a", answer="b", id="x")


def both_colours(checker):
    return judged(checker, INTERACTION), asyncio.run(ajudged(checker, INTERACTION))


def test_a_detector_that_raises_abstains_in_both_colours():
    for outcome in both_colours(Checker(Broken())):
        assert outcome.why is AbstentionReason.MODEL_FAILED
        assert outcome.detail == "KeyError: 'a bug'"
        assert (outcome.id, outcome.detector.name) == ("x", "broken")


def test_a_policy_that_raises_on_abstention_is_heard():
    checker = Checker(Broken(), policy=Policy(on_abstention=OnAbstention.RAISE))
    with pytest.raises(AbstainedError, match="MODEL_FAILED"):
        judged(checker, INTERACTION)
    with pytest.raises(AbstainedError, match="MODEL_FAILED"):
        asyncio.run(ajudged(checker, INTERACTION))


def test_a_detector_that_works_is_left_alone():
    assert all(outcome.hallucinated for outcome in both_colours(Checker(NovelWords())))


def test_who_calls_the_checker_sees_the_bug():
    with pytest.raises(KeyError, match="a bug"):
        Checker(Broken()).check(INTERACTION)


@pytest.mark.parametrize(
    "error",
    [
        HallucinationError(INTERACTION, Checker(NovelWords()).check(INTERACTION)),
        AbstainedError(Abstention(why=AbstentionReason.TIMEOUT)),
        ConfigurationError("one mistake", "another"),
        MissingExtraError("a table", package="pyarrow", extra="batch"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_travel_between_processes_whole(error):
    for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)
