"""Answers about tables: the cell that a figure is said of, units above it, and which way figures go."""

from __future__ import annotations

import random

import pytest

from groundwire import Verdict
from tests.detectors.told import PROBES, reasons, require_told_apart, verdict_of
from tests.hardening.growth import growth

FOLDER = PROBES / "tables"
# How many of 40 pairs each detector flags rightly at least, and wrongly at most; one of each to spare.
FLOORS = {
    ("choosing", "lexical"): (34, 33),
    ("choosing", "embedded"): (17, 5),
    ("held_out", "lexical"): (23, 15),
    ("held_out", "embedded"): (19, 7),
}
DETECTORS = ["lexical", "embedded"]
REVENUE = "| Region | 2022 | 2023 |\n|---|---|---|\n| North | 120 | 145 |\n| South | 98 | 87 |"
IN_BARS, IN_COMMAS, IN_TABS, IN_COLUMNS, IN_HTML = (
    REVENUE,
    "region,2022,2023\nNorth,120,145\nSouth,98,87",
    "Region\t2022\t2023\nNorth\t120\t145\nSouth\t98\t87",
    "Region         2022     2023\nNorth           120      145\nSouth            98       87",
    (
        "<table><tr><th>Region</th><th>2022</th><th>2023</th></tr>\n<tr>\n<td>North</td>\n<td>120</td>\n"
        "<td>145</td>\n</tr>\n<tr><td>South</td><td>98</td><td>87</td></tr></table>"
    ),
)


def check(detector: str, document: str, answer: str, question: str = "") -> Verdict:
    return verdict_of(detector, [document], answer, question)


@pytest.mark.parametrize(("half", "detector"), FLOORS)
def test_answers_about_tables_are_told_from_wrong_ones(half, detector):
    require_told_apart(FOLDER / f"{half}.toml", detector, FLOORS[half, detector])


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("document", [IN_BARS, IN_COMMAS, IN_TABS, IN_COLUMNS, IN_HTML])
def test_a_figure_is_held_against_the_cell_that_it_is_said_of(detector, document):
    """Whatever the table is written in: the row is its evidence."""
    verdict = check(detector, document, "In 2023, North's revenue was 120.")
    assert reasons(verdict) == ["120 here, 145 in the document"]
    (evidence,) = verdict.claims[0].evidence
    assert "North" in evidence.quote
    assert "South" not in evidence.quote
    assert not check(detector, document, "In 2023, North's revenue was 145.").hallucinated


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("North's revenue rose from 98 in 2022 to 145 in 2023.", "98 here, 120 in the document"),
        ("North had 145 in 2023 and South 98.", "98 here, 87 in the document"),
        ("South was at 120 in 2022.", "120 here, 98 in the document"),
        ("In 2023:\n\n- North: 120\n- South: 87", "120 here, 145 in the document"),
        ("South's revenue rose from 98 to 87.", "“rose” here, but 87 is less than 98"),
        ("South's revenue rose in 2023.", "“rose” here, but 87 is less than 98"),
        (
            "South had the highest revenue in 2023.",
            "“highest” here, but 145 for North, 87 for South",
        ),
    ],
)
def test_what_a_table_has_otherwise(answer, reason):
    assert reasons(check("lexical", REVENUE, answer)) == [reason]


@pytest.mark.parametrize(
    "answer",
    [
        "North's revenue in 2023 was 145, up from 120.",
        "North's revenue rose from 120 in 2022 to 145 in 2023.",
        "South fell from 98 to 87, while North rose to 145.",
        "In 2023, North had 145 and South 87.",
        "North rose by 25 to 145 in 2023.",
        "South came to 87 in 2023, against 145 in the North.",
        "In 2023 South was down on the 98 of the year before.",
        "North had the highest revenue in 2023.",
        "South's lowest revenue was that of 2023, its highest that of 2022.",
        "In 2022, North was well above South's 98.",
        "Together, North and South came to 232 in 2023.",
    ],
)
def test_what_is_right_or_not_clear_differs_from_no_cell(answer):
    """What is compared with, a difference, a sum, and what another row or column has."""
    flagged = reasons(check("lexical", REVENUE, answer))
    assert not any(" here, " in reason for reason in flagged)


def test_two_tables_with_the_same_rows_bear_out_either():
    document = f"Revenue\n\n{REVENUE}\n\nStaff\n\n{REVENUE.replace('145', '12').replace('120', '15')}"
    for right in ("North had 145 in 2023.", "North had a staff of 12 in 2023.", "North fell from 15 to 12."):
        assert not any(" here, " in reason for reason in reasons(check("lexical", document, right)))
    assert reasons(check("lexical", document, "North had 120 in 2023.")) == ["120 here, 145 in the document"]


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        (
            (
                "Key figures\n\n| | 2022 | 2023 |\n|---|---|---|\n| Net sales (EUR m) | 84.2 | 96.5 |\n"
                "| Margin (%) | 31.2 | 29.8 |"
            ),
            "Net sales were EUR 96.5 million in 2023, at a margin of 29.8%.",
        ),
        (
            "Output, GWh\n\n          2022     2023\nHydro    2,760    3,295\nWind     1,705    2,010",
            "Hydro and wind together came to 5,305 GWh in 2023.",
        ),
        (
            (
                "Cash flows (in thousands of US dollars)\n\nYear    FY24    FY23\nDividends  1,200  1,100\n"
                "Equipment  18,240  22,715"
            ),
            "Equipment took $18.2 million in FY24, down from $22.7 million in FY23.",
        ),
        (
            (
                "| Parameter | Min | Max | Unit |\n|---|---|---|---|\n| Supply voltage | 10 | 32 | V |\n"
                "| Response time | 2 | 4 | ms |"
            ),
            "The response time is 4 ms at most.",
        ),
    ],
)
def test_units_stand_in_heads_rows_captions_and_columns_of_their_own(document, answer):
    assert not any("not in the documents" in r for r in reasons(check("embedded", document, answer)))


def test_a_long_table_said_over_again_takes_linear_time():
    chance = random.Random(1)

    def table(rows):
        figures = [(chance.randint(100, 99_999), chance.randint(100, 99_999)) for _ in range(rows)]
        lines = [f"| Place{i} | {first} | {second} |" for i, (first, second) in enumerate(figures)]
        return "| Region | 2022 | 2023 |\n|---|---|---|\n" + "\n".join(lines)

    said = table(400)
    assert not check("lexical", said, said).hallucinated
    assert growth(lambda text: check("lexical", text, text), table, (50, 400)) < 4


PLANS = (
    "| | Starter | Team | Business |\n|---|---|---|---|\n| SSO | – | – | yes |\n| Guests | – | yes | yes |"
)


@pytest.mark.parametrize("detector", DETECTORS)
def test_a_dash_where_other_cells_say_yes_is_a_no(detector):
    verdict = check(detector, PLANS, "Both Team and Business offer SSO.")
    assert reasons(verdict) == ["“offer” here, but “–” for Team and SSO in the document"]


@pytest.mark.parametrize(
    "answer",
    [
        "Team and Business include guests.",
        "Only the Business plan offers SSO.",
        "Team includes guests, but not SSO.",
        "The Starter plan has neither SSO nor guests.",
    ],
)
def test_what_cells_of_yes_and_no_bear_out(answer):
    assert not any(
        "in the document" in r and " here, " in r for r in reasons(check("lexical", PLANS, answer))
    )


REGIONS = (
    "Revenue by region (EUR million)\n\n| Region | 2021 | 2022 | 2023 |\n|---|---|---|---|\n"
    "| North | 120 | 132 | 145 |\n| South | 98 | 104 | 87 |\n| East | 61 | 58 | 66 |"
)
FLIGHTS = (
    "| From | To | Departs | Price |\n|---|---|---|---|\n| Oslo | Bergen | 07:10 | €79 |\n"
    "| Oslo | Bergen | 16:40 | €112 |\n| Oslo | Bodø | 09:20 | €139 |\n| Bergen | Oslo | 18:30 | €95 |"
)
LOANS = (
    "Loan costs\n\n| Amount | 12 months | 24 months | 36 months |\n|---|---|---|---|\n"
    "| €5,000 | €430 | €223 | €154 |\n| €10,000 | €858 | €445 | €307 |\n| €20,000 | €1,714 | €888 | €613 |"
)
STAFF = (
    "| Year | Revenue (€m) | Costs (€m) | Result (€m) | Staff |\n|---|---|---|---|---|\n"
    "| 2021 | 40.2 | 42.0 | -1.8 | 210 |\n"
    "| 2022 | 45.5 | 44.1 | 1.4 | 225 |\n| 2023 | 51.3 | 46.8 | 4.5 | 240 |"
)


@pytest.mark.parametrize(
    ("document", "question", "answer"),
    [
        (REGIONS, "How did East do in 2023?", "East grew by about 14% in 2023 to 66 million."),
        (STAFF, "Staff?", "Staff grew by 15 people a year, from 210 in 2021 to 240 in 2023."),
        (FLIGHTS, "Cheapest to Bergen?", "The cheapest flight to Bergen costs €79 and leaves Oslo at 07:10."),
        (
            LOANS,
            "Total for 20,000 over 12 months?",
            "€20,000 over 12 months costs €1,714 a month, €20,568 in all.",
        ),
    ],
    ids=["a figure with its unit is one", "words count where a figure lacks", "from and to", "a rate"],
)
def test_what_follows_from_cells_is_not_flagged(document, question, answer):
    assert not reasons(check("embedded", document, answer, question))


HEAD = "| Zone | Online | Airport |\n|---|---|---|\n"
FIRST_BAG = f"## First bag\n\n{HEAD}| A | €30 | €45 |\n| B | €40 | €60 |\n| C | €65 | €90 |"
EXTRA_BAG = f"## Extra bag\n\n{HEAD}| A | €50 | €70 |\n| B | €65 | €90 |\n| C | €100 | €140 |"


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("document", [f"{FIRST_BAG}\n\n{EXTRA_BAG}", f"{EXTRA_BAG}\n\n{FIRST_BAG}"])
def test_of_tables_with_the_same_rows_any_may_bear_a_row_out(detector, document):
    answer = EXTRA_BAG.replace("## Extra bag", "Prices for an extra bag:")
    assert not check(detector, document, answer, "What does an extra bag cost?").hallucinated
