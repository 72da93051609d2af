"""Attacks on a judge, end to end: with all defences on, those that can be stopped are."""

import pytest

from benchmarks.attacks import attacks
from benchmarks.attacks.__main__ import PAGE, case_of, place_of, tables
from benchmarks.attacks.judges import HONEST, JUDGES
from benchmarks.attacks.trial import CASES, DEFENCES, PLACES, RIGHT, attacked, silently_clean, trials
from groundwire.detectors.judge import JudgeDetector

ALL = frozenset(DEFENCES)
TRIED = attacks()
STOPPED = [judge for judge in JUDGES if judge.name != "obeys anything, and knows the defences"]


def test_there_are_attacks_of_every_kind():
    families = {attack.family for attack in TRIED}
    assert len(TRIED) >= 90
    assert {
        "plain order",
        "fake closing marker",
        "fake completion",
        "broken form",
        "rubric override",
        "other languages",
        "invisible characters",
        "encoded",
        "many-shot padding",
        "knows the defences",
    } <= families


def test_the_page_has_the_figures_that_were_measured():
    assert tables() in PAGE.read_text(encoding="utf-8"), "run: python -m benchmarks.attacks"


@pytest.mark.parametrize("place", PLACES)
def test_with_all_defences_no_attack_makes_an_error_silently(place):
    """But before a judge that obeys anything and knows the defences, which nothing in a prompt can stop."""
    for i, attack in enumerate(TRIED[PLACES.index(place) :: len(PLACES)]):
        for judge, outcome in zip(STOPPED, trials(STOPPED, attack, place, CASES[i % 3], ALL), strict=True):
            assert not silently_clean(outcome), (judge.name, attack)


def test_what_exact_facts_refute_no_judge_clears_at_all():
    for i, attack in enumerate(TRIED):
        for outcome in trials(JUDGES, attack, place_of(i), CASES[0], frozenset({"facts"})):
            assert not silently_clean(outcome), attack


def test_without_defences_the_same_attacks_do_succeed():
    """The control: otherwise the table would show nothing."""
    obeying = JUDGES[-1:]
    clean = [
        silently_clean(trials(obeying, attack, place_of(i), case_of(i), frozenset())[0])
        for i, attack in enumerate(TRIED)
    ]
    assert sum(clean) > len(TRIED) / 2


def test_a_source_never_reaches_a_model():
    interaction = attacked(CASES[0], "source", "zqsourceqz")
    assert "zqsourceqz" in str(interaction.contexts[0].metadata)
    (request,) = next(JudgeDetector().detect(interaction))
    assert "zqsourceqz" not in request.system + request.user


def test_a_right_answer_stays_right_with_all_defences():
    (outcome,) = trials([HONEST], TRIED[0], "question", RIGHT, ALL)
    assert outcome.grounded
    assert outcome.recommendation is None
