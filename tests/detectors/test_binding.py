"""Which conflicts with the documents decide by themselves, and what unknown facts do to a score."""

from __future__ import annotations

import pytest

import groundwire as gw
from groundwire import Interaction, Support, Verdict
from groundwire.core.grading import Grading
from groundwire.detectors import lexical_model
from groundwire.detectors.cascade import exact
from groundwire.detectors.lexical import Lexical
from groundwire.detectors.lexical_features import look
from groundwire.text.claims import cut
from groundwire.text.overlap import Context

FERRY = """The ferry to Ulvoy takes 40 minutes and leaves every hour. A car costs 180 crowns, each
passenger 45. Bicycles travel free of charge. Dogs must be kept on a lead, and no dogs are allowed in the
lounge."""
CHECKER = gw.Checker(detector=Lexical())


def judged(answer: str, *contexts: str, question: str = "") -> Verdict:
    outcome = CHECKER.check(Interaction(question=question, contexts=contexts or (FERRY,), answer=answer))
    assert isinstance(outcome, Verdict)
    return outcome


def contradicted(verdict: Verdict) -> list[str]:
    return [claim.text for claim in verdict.claims if claim.support is Support.CONTRADICTED]


@pytest.mark.parametrize(
    "answer",
    [
        "The ferry to Ulvoy takes 50 minutes.",
        "The ferry to Ulvoy leaves every hour and takes 50 minutes.",
        "A car costs 190 crowns on the big ferry.",
    ],
)
def test_a_figure_in_another_s_place_decides(answer):
    """The words are the documents', but for the figure and perhaps a word."""
    assert contradicted(judged(answer)) == [answer]
    assert [claim.text for claim in exact.refuted(judged_of(answer), Grading())] == [answer]


def judged_of(answer: str) -> Interaction:
    return Interaction(contexts=(FERRY,), answer=answer)


@pytest.mark.parametrize(
    "answer",
    [
        # It states the document's figure, too, and another one beside it.
        "A car costs 180 crowns, and with three of us in it 315.",
        # Three figures: it reckons.
        "With a car at 180, four passengers and 3 bicycles you would pay 370 crowns one way.",
        # Hardly in the documents' words.
        "Budget roughly 800 crowns, should your family of four bring its car over and back again.",
    ],
)
def test_who_reckons_is_not_refuted(answer):
    assert not exact.refuted(judged_of(answer), Grading())


@pytest.mark.parametrize(
    ("question", "history"),
    [
        ("I have 2 years of service. How much leave do I have?", ()),
        ("How much leave do I have?", (gw.Turn(role=gw.Role.USER, text="I have 2 years of service."),)),
    ],
)
def test_a_figure_that_the_asker_has_told_is_refuted_by_none(question, history):
    """Now or in an earlier turn: for what exact facts refute nothing clears."""
    documents = (
        "After 1 year of service an employee has 20 days of leave. "
        "After 5 years an employee has 30 days of leave."
    )
    answer = "After 2 years of service you have 20 days of leave."
    given = Interaction(question=question, history=history, contexts=documents, answer=answer)
    assert not exact.refuted(given, Grading())
    assert exact.refuted(Interaction(contexts=documents, answer=answer), Grading())


def test_a_figure_that_the_claim_states_rightly_is_held_against_no_other():
    """Of two figures of one sentence, the claim has one; the other is held against the one that is left."""
    opening = "The shop opens at 9 a.m. and closes at 5 p.m."
    verdict = judged("The shop opens at 9:00 and closes at 19:00.", opening)
    (claim,) = verdict.claims
    assert claim.support is Support.CONTRADICTED
    assert "19:00 here, 5 p.m" in claim.reason


def test_a_not_decides_where_nothing_else_is_stated():
    alone = judged("Dogs are not to be kept on a lead.")
    among = judged("The ferry takes 40 minutes. It leaves every hour. Dogs are not kept on it.")
    assert len(contradicted(alone)) == 1
    assert contradicted(among) == []


def test_what_a_sentence_denies_is_contradicted_also_among_others():
    answer = "The ferry leaves every hour. Dogs are allowed in the lounge."
    assert len(contradicted(judged(answer))) == 1


def least(answer: str, score: float, more: int = 0) -> tuple[float, ...]:
    """Of the claims beside the ferry's text, with so many sentences more."""
    text = " ".join([FERRY, *(f"Harbour {i} lies behind the point of that name." for i in range(more))])
    return lexical_model.least(look(answer, list(cut(answer)), "", Context([text]), {}), score)


def test_an_unknown_figure_names_a_claim_and_flags_no_answer_by_itself():
    """Beside a longer text, the answer's own score is the most; beside a brief one it is a toss-up."""
    answer = "Lunch on board costs 90 EUR. The crossing takes 40 minutes."
    assert least(answer, 0.2, more=20) == (0.2, 0.0)
    assert least(answer, 0.2) == (0.5, 0.0)
    assert least(answer, 0.9, more=20) == least(answer, 0.9) == (0.75, 0.0)


def test_a_full_name_that_no_document_has_is_made_up():
    assert least("Complaints are heard by Marit Solberg in spring.", 0.2, more=20) == (0.6,)


def test_what_was_worked_out_once_is_known_from_then_on():
    question = "We're three with a car. What is it, and for our party of 12 with four cars?"
    answer = "Three passengers at 45 are 135 crowns. A car is 180. That is 315 crowns.\n\nSo take 315 along."
    verdict = judged(answer, question=question)
    assert not any("315" in span.of(answer) for span in verdict.spans)
