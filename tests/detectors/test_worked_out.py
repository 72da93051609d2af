"""Answers with figures that were worked out: right ones pass with their sources, wrong ones are told why."""

from __future__ import annotations

from pathlib import Path

import pytest

import groundwire as gw
from benchmarks import probes
from groundwire import Checker
from groundwire.core.claim import Support

FOLDER = Path(__file__).resolve().parents[1] / "probes" / "worked_out"
# How many of 30 pairs the default detector flags rightly at least, and wrongly at most; one of each to spare.
FLOORS = {"choosing": (22, 2), "held_out": (27, 4)}


def check(answer: str, context: str, detector: str = "lexical") -> gw.Verdict:
    outcome = Checker(detector).check(gw.Interaction(question="", contexts=[context], answer=answer))
    assert isinstance(outcome, gw.Verdict)
    return outcome


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
def test_a_figure_that_follows_is_inferred_from_its_sources(detector):
    """The claim is inferred, its reason shows the step, and its evidence has the figures' characters."""
    context = "The hall seats 400. By Friday 265 tickets had been sold."
    (claim,) = check("There are 135 tickets left for the hall.", context, detector).claims
    assert claim.support is Support.INFERRED
    assert claim.reason == "worked out from the documents' figures: 400 − 265 = 135"
    assert {"400", "265"} <= {evidence.quote for evidence in claim.evidence}
    for evidence in claim.evidence:
        assert context[evidence.span.start : evidence.span.end] == evidence.quote


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
def test_what_an_answer_comes_to_at_once_may_be_worked_out_below(detector):
    """The answer first, then how it comes about."""
    context = "A night costs 36 EUR. Guests stay for up to five nights."
    verdict = check(
        "You pay **108 EUR**.\n\nA night costs 36 EUR, and 3 × 36 EUR = 108 EUR.", context, detector
    )
    assert not verdict.hallucinated
    assert verdict.claims[0].support is Support.INFERRED
    assert check(
        "You pay **118 EUR**.\n\nA night costs 36 EUR, and 3 × 36 EUR = 108 EUR.", context
    ).hallucinated


@pytest.mark.parametrize("order", ["{list}\n\n{total}", "{total}\n\n{list}"])
@pytest.mark.parametrize(("total", "right"), [("2,976.00", True), ("2,967.00", False)])
def test_a_list_is_added_up_above_or_below_it(order, total, right):
    """By the last figure of each item."""
    rows = ["Chairs: 12, 135.00 EUR each, 1,620.00 EUR", "Lamps: 8, 89.50 EUR each, 716.00 EUR"]
    rows = [*rows, "Delivery: 640.00 EUR"]
    context, items = "\n".join(rows), "\n".join(f"- {row}" for row in rows)
    answer = order.format(list=items, total=f"Together that comes to {total} EUR.")
    assert check(answer, context).hallucinated is not right


def test_a_factor_may_be_said_in_words_and_in_digits():
    """The one bears out the other where the claim works something out with it."""
    answer = "In 30 hours there are two full periods of 12 hours, so 2 × 40 EUR = 80 EUR."
    (claim,) = check(answer, "You get 40 EUR for each full 12 hours. This flight was 30 hours late.").claims
    assert "not in the documents: “2”" not in claim.reason


@pytest.mark.parametrize(
    ("answer", "context", "reason"),
    [
        (
            "The lake path is 5 km (4 miles) long.",
            "The lake path is 5 km long and suits prams.",
            "4 miles here, 5 km in the document: that is 3.1 miles",
        ),
        (
            "The vaccine is stored at 39 °F.",
            "The vaccine is stored at 0 °C. It keeps for a week.",
            "39 °F here, 0 °C in the document: that is 32 °F",
        ),
    ],
)
def test_a_wrong_conversion_is_told_with_the_right_one(answer, context, reason):
    """Who converted wrongly contradicts the documents, and reads what would have been right."""
    verdict = check(answer, context)
    assert verdict.hallucinated
    assert [(claim.support, claim.reason) for claim in verdict.claims] == [(Support.CONTRADICTED, reason)]


def test_a_wrong_sum_stays_flagged():
    """What doesn't add up is no more supported than before."""
    context = "A bag of cement costs 30 EUR. Delivery within the town is free."
    assert not check("Two bags at 30 EUR each make 60 EUR in total.", context).hallucinated
    wrong = check("Two bags at 30 EUR each make 70 EUR in total.", context)
    assert wrong.hallucinated
    assert "70 EUR" in [span.of("Two bags at 30 EUR each make 70 EUR in total.") for span in wrong.spans]


@pytest.mark.parametrize("half", FLOORS)
def test_the_default_detector_keeps_to_what_was_measured(half):
    """On the pairs that the rules were chosen by, and on those that were held out."""
    rates = probes.Rates.of(probes.judge(Checker(), probes.pairs(FOLDER / f"{half}.toml")))
    caught, alarms = FLOORS[half]
    assert rates.caught.of == 30
    assert rates.caught.hits >= caught
    assert rates.alarms.hits <= alarms


@pytest.mark.parametrize(
    ("context", "right", "wrong", "figure"),
    [
        (
            "The workshop runs from Monday to Thursday.",
            "The workshop lasts four days, Monday to Thursday.",
            "The workshop lasts five days, Monday to Thursday.",
            "five days",
        ),
        (
            "Delivery from Monday to Friday takes three days.",
            "Delivery takes three days.",
            "Delivery takes five days.",
            "five days",
        ),
        (
            "The festival takes place from 12 August 2025 to 15 August 2025.",
            "The festival takes place for four days, from August 12 to August 15, 2025.",
            "The festival takes place for four days, from August 11 to August 15, 2025.",
            "August 11",
        ),
        (
            "Marie Berger was born in 1964. She won the prize in 1999.",
            "She was 35 years old when she won the prize in 1999.",
            "She was 45 years old when she won the prize in 1999.",
            "45 years",
        ),
        (
            "The shares were issued in 1985. In 2020 they traded at 40.",
            "In 2020, after the issue in 1985, they traded at 40.",
            "In 2020, after the issue in 1985, they traded at 35.",
            "35",
        ),
    ],
)
def test_days_and_ages_are_counted_from_what_the_documents_say(context, right, wrong, figure):
    """Days of the week, a birth elsewhere, and no date from days that were counted to another."""
    assert not check(right, context).hallucinated
    verdict = check(wrong, context)
    assert verdict.hallucinated
    assert [word.of(wrong) for claim in verdict.claims for word in claim.words] == [figure]


def test_a_part_of_a_list_is_no_sum_of_it():
    document = "Apples cost 3 EUR. Pears cost 5 EUR. Plums cost 9 EUR."
    whole, part = (
        gw.Checker("lexical").check(
            gw.Interaction(contexts=[document], answer=f"{document} The total is {total} EUR.")
        )
        for total in (17, 14)
    )
    assert whole.score < 0.2
    assert part.hallucinated
