"""What applications test with: the assertion says what is wrong, and the detectors do as they are told."""

import pytest

import groundwire as gw
from examples.handbook.app import build
from examples.handbook.replay import load_prepared, replaying_model
from groundwire.langchain import HallucinationError, with_hallucination_check
from groundwire.testing import Abstains, FlagsWords, assert_grounded

PASSAGES = ["One bag of up to 8 kg is free.", "A second bag costs 25 EUR."]


def said(answer, contexts=PASSAGES):
    return gw.Interaction(question="What does a second bag cost?", contexts=contexts, answer=answer)


def test_a_grounded_answer_passes():
    assert_grounded(said("A second bag costs 25 EUR."))


def test_a_hallucinated_one_fails_with_its_words_and_what_the_passage_says():
    with pytest.raises(AssertionError) as failed:
        assert_grounded(said("One bag of up to 8 kg is free. A second bag costs 75 EUR."))
    told = str(failed.value)
    assert "not grounded" in told
    assert "75 EUR" in told
    assert "passage 2: “A second bag costs 25 EUR.”" in told
    assert "✗ One bag" not in told  # what is supported is nobody's worry here


def test_what_could_not_be_judged_fails_too():
    """An empty context must not let a test pass."""
    with pytest.raises(AssertionError, match=r"could not be judged: NO_CONTEXT"):
        assert_grounded(said("A second bag costs 25 EUR.", contexts=[]))


@pytest.mark.parametrize("form", [lambda outcome: outcome, lambda outcome: outcome.to_dict()])
def test_outcomes_and_their_dicts_are_taken_as_they_are(form):
    checker = gw.Checker(FlagsWords(words=("gold",)))
    assert_grounded(form(checker.check(said("A bag of silver."))))
    with pytest.raises(AssertionError, match="“gold”"):
        assert_grounded(form(checker.check(said("A bag of gold."))))
    with pytest.raises(AssertionError, match="could not be judged"):
        assert_grounded(form(gw.Checker(Abstains()).check(said("A bag of gold."))))


@pytest.mark.parametrize(
    "other", ["an answer", None, {}, {"version": 1}, 0.3, {"version": 99, "status": "checked"}]
)
def test_anything_else_is_an_error_and_not_a_passed_test(other):
    with pytest.raises(gw.InputError, match="expected an Interaction, an outcome, or the dict"):
        assert_grounded(other)


def test_the_name_of_a_detector_is_no_checker():
    """And says so, as everywhere else."""
    judged = gw.Interaction(contexts="It is 25 EUR.", answer="It is 25 EUR.")
    with pytest.raises(gw.ConfigurationError, match="checker must be a Checker, not str"):
        assert_grounded(judged, checker="lexical")


@pytest.mark.parametrize(
    ("other", "hint"),
    [
        ("It is 25 EUR.", r"pass gw\.Interaction\("),
        ({"question": "Fee?", "answer": "It is 25 EUR."}, r"pass gw\.Interaction\("),
        ({"answer": "x", "hallucination": {"version": 1}}, "pass what it holds under 'hallucination'"),
    ],
)
def test_what_was_probably_meant_is_said(other, hint):
    with pytest.raises(gw.InputError, match=hint):
        assert_grounded(other)


def test_a_message_can_not_move_the_terminal_that_shows_it():
    with pytest.raises(AssertionError) as failed:
        assert_grounded(said("A \x1b[2Jbag."), checker=gw.Checker(FlagsWords(words=("bag",))))
    assert "\x1b" not in str(failed.value)


def test_told_detectors_drive_what_an_application_does():
    """The reason they exist: each branch of an application, without waiting for a real hallucination."""
    chain, (question, answer) = build(replaying_model()), _answered()
    flags = gw.Checker(FlagsWords(words=(answer.split()[0],)))
    with pytest.raises(HallucinationError):
        with_hallucination_check(chain, checker=flags, on_hallucination="raise").invoke(question)
    unknown = with_hallucination_check(chain, checker=gw.Checker(Abstains())).invoke(question)
    assert unknown["hallucination"]["abstention"] == "MODEL_FAILED"


def _answered():
    one = next(iter(load_prepared()))
    return one.question, one.answer


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"words": ()}, "words"),
        ({"words": "gold"}, "words"),
        ({"words": (" ",)}, "words"),
        ({"words": (75,)}, "words"),
        ({"words": (word for word in ("a", "b"))}, "words"),
        ({"words": ("a",), "score": 0.1}, "score"),
    ],
)
def test_settings_that_could_never_flag_are_refused(settings, told):
    with pytest.raises(gw.ConfigurationError, match=told):
        FlagsWords(**settings)


@pytest.mark.parametrize("why", ["no context", None])
def test_an_abstention_without_a_reason_is_refused_when_it_is_made(why):
    with pytest.raises(gw.ConfigurationError, match="why: expected one of NO_CONTEXT"):
        Abstains(why=why)
