"""What is decided about an answer, given its outcome and the application's rules."""

import pytest

from groundwire import (
    AbstainedError,
    Abstention,
    AbstentionReason,
    Checker,
    ConfigurationError,
    Grading,
    Interaction,
    Level,
    Wording,
)
from groundwire.host.actions import UNCHECKED_WARNING, WITHHELD, Action, HallucinationError, Reactions, note
from tests.scripted import NovelWords

ASKED = Interaction(question="What does it cost?", contexts="It costs 5", answer="It costs nothing at all")
INVENTED = Checker(NovelWords()).check(ASKED)
GROUNDED = Checker(NovelWords()).check(Interaction(contexts="It costs 5", answer="It costs 5"))
UNJUDGED = Abstention(why=AbstentionReason.NO_CONTEXT)


def decide(outcome, *, attempt=1, **rules):
    return Reactions(**rules).decide(ASKED, outcome, attempt=attempt)


@pytest.mark.parametrize("action", list(Action))
def test_a_grounded_answer_is_left_alone(action):
    """Whatever is done about hallucinations, nothing is done about an answer that has none."""
    assert decide(GROUNDED, on_hallucination=action).action is Action.ANNOTATE


@pytest.mark.parametrize("action", list(Action))
def test_an_abstention_is_not_a_hallucination(action):
    """What could not be judged follows its own rule, which annotates unless told otherwise."""
    assert decide(UNJUDGED, on_hallucination=action).action is Action.ANNOTATE


def test_a_warning_is_the_levels():
    """Warning appends the words of the verdict's own level."""
    assert decide(INVENTED, on_hallucination="warn").text == INVENTED.wording.warning


def test_a_replacement_can_be_worded():
    """Replacing answers with the words given."""
    assert decide(INVENTED, on_hallucination="replace", replacement="Sorry.").text == "Sorry."


def test_a_replacement_is_the_levels_warning_if_left_out():
    """The warning is worded by the user's own settings already, in the user's own language."""
    assert decide(INVENTED, on_hallucination="replace").text == INVENTED.wording.warning


def test_a_replacement_is_never_blank_by_accident():
    """A level without a warning still leaves something to answer with."""
    silent = Grading(wording={Level.HIGH: Wording(label="", title="", warning="")})
    assert decide(INVENTED.regraded(silent), on_hallucination="replace").text == WITHHELD


def test_raising_carries_what_was_judged_and_how():
    """The error holds the interaction and the outcome, and its message quotes neither question nor answer."""
    error = decide(INVENTED, on_hallucination="raise").error
    assert isinstance(error, HallucinationError)
    assert (error.interaction, error.outcome) == (ASKED, INVENTED)
    assert "nothing" not in str(error)


def test_what_could_not_be_judged_can_be_refused():
    """A gate can be closed to everything that nobody judged."""
    assert isinstance(decide(UNJUDGED, on_abstention="raise").error, AbstainedError)
    assert decide(UNJUDGED, on_abstention="warn").text == UNCHECKED_WARNING
    assert decide(UNJUDGED, on_abstention="replace", replacement="Sorry.").text == "Sorry."


def test_retries_are_bounded():
    """After ``max_retries`` retries, what was to be done then is done."""
    rules = {"on_hallucination": "retry", "max_retries": 2, "after_retries": "replace"}
    assert [decide(INVENTED, attempt=n, **rules).action for n in (1, 2, 3)] == ["retry", "retry", "replace"]


@pytest.mark.parametrize(
    ("said", "action", "text"),
    [
        (None, "annotate", ""),
        (Action.WARN, "warn", INVENTED.wording.warning),
        ("retry", "retry", ""),
        ("Ask a colleague.", "replace", "Ask a colleague."),
        ("", "replace", ""),
    ],
)
def test_a_callable_decides(said, action, text):
    """It may name an action, answer with a text of its own, or leave the answer be."""
    decision = decide(INVENTED, on_hallucination=lambda interaction, outcome: said)
    assert (decision.action, decision.text) == (action, text)


def test_a_callable_sees_what_was_judged():
    """It is called with the interaction and the outcome."""
    seen = []
    decide(INVENTED, on_hallucination=lambda *both: seen.append(both))
    assert seen == [(ASKED, INVENTED)]


def test_a_callables_retries_are_bounded_too():
    """A callable that always says retry ends with what is done after retries."""
    assert decide(INVENTED, attempt=2, on_hallucination=lambda *_: "retry").action is Action.ANNOTATE


def test_a_callable_that_returns_nonsense_is_a_programming_error():
    """It is told what it may return."""
    with pytest.raises(TypeError, match=r"on_hallucination returned 7: expected an Action"):
        decide(INVENTED, on_hallucination=lambda *_: 7)


def test_an_abstention_can_not_be_retried():
    """There are no unsupported claims to name, so even a callable may not ask for it."""
    with pytest.raises(ValueError, match="can't be retried"):
        decide(UNJUDGED, on_abstention=lambda *_: "retry")


def test_every_mistake_is_named_at_once():
    """Rules that can't work are refused when they are made, all together."""

    async def later(interaction, outcome): ...

    with pytest.raises(ConfigurationError) as caught:
        Reactions(
            on_hallucination=later, on_abstention="retry", replacement=3, max_retries=0, after_retries="retry"
        )
    named = [problem.split()[0] for problem in caught.value.problems]
    assert named == ["on_hallucination", "on_abstention", "after_retries", "replacement", "max_retries"]


@pytest.mark.parametrize(
    ("rules", "gating"),
    [
        ({}, False),
        ({"on_hallucination": "warn", "on_abstention": "warn"}, False),
        ({"on_hallucination": "replace"}, True),
        ({"on_hallucination": "raise"}, True),
        ({"on_hallucination": "retry"}, True),
        ({"on_hallucination": lambda *_: None}, True),
        ({"on_abstention": "raise"}, True),
    ],
)
def test_rules_that_may_withhold_an_answer_gate(rules, gating):
    """Only rules that let every answer pass may let it pass before it is judged."""
    assert Reactions(**rules).gating is gating


def test_the_note_names_the_unsupported_claims():
    """Each stands on a line of its own, whatever it says."""
    odd = Interaction(contexts="a", answer='a\nb"c')
    assert '- "nothing"' in note(INVENTED).splitlines()
    assert len(note(Checker(NovelWords()).check(odd)).splitlines()) == 4


def test_the_note_has_something_to_say_without_claims():
    """A detector that judges only the whole answer still gets its retry."""
    assert "- all of it" in note(UNJUDGED)


def test_a_replacement_that_nothing_would_use_is_refused():
    """Its writer meant answers to be replaced, and they would have passed."""
    with pytest.raises(ConfigurationError, match="replacement is for answers that are replaced"):
        Reactions(on_hallucination="warn", replacement="Sorry.")
    for rules in ({"on_abstention": "replace"}, {"on_hallucination": "retry", "after_retries": "replace"}):
        assert Reactions(**rules, replacement="Sorry.").replacement == "Sorry."
