"""Figures of several items, each given to its own or to another's, and opening hours by weekday."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import probes
from groundwire import Checker, Interaction

FOLDER = Path(__file__).resolve().parents[1] / "probes" / "items"
# How many of 15 pairs each detector flags rightly at least, and wrongly at most; one to spare.
FLOORS = {
    ("choosing", "lexical"): (14, 6),
    ("choosing", "embedded"): (14, 2),
    ("held_out", "lexical"): (11, 3),
    ("held_out", "embedded"): (12, 3),
}


@pytest.mark.parametrize(("half", "detector"), FLOORS)
def test_each_item_has_its_own_figure(half, detector):
    """On the pairs that showed a mistake, and on those that were held out."""
    rates = probes.Rates.of(probes.judge(Checker(detector), probes.pairs(FOLDER / f"{half}.toml")))
    caught, alarms = FLOORS[half, detector]
    assert rates.caught.of == 15
    assert rates.caught.hits >= caught
    assert rates.alarms.hits <= alarms


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
@pytest.mark.parametrize(
    ("table", "right", "wrong", "reason"),
    [
        (
            "| Level | Vacation (days) | Bonus |\n|---|---|---|\n| Junior | 25 | 5 |\n| Senior | 30 | 10 |",
            "Seniors get 30 vacation days.",
            "Seniors get 25 vacation days.",
            "25 here, 30 in the document",
        ),
        (
            "| Group | Fee (EUR) |\n|---|---|\n| Adults | 12 |\n| Children | 6 |",
            "The fee for children is 6 EUR.",
            "The fee for children is 12 EUR.",
            "12 EUR here, 6 in the document",
        ),
    ],
)
def test_a_row_under_a_unit_has_its_own_figure(detector, table, right, wrong, reason):
    """The figure of another row is told, also where the unit stands above its column."""
    checker = Checker(detector)
    verdicts = [checker.check(Interaction(question="", contexts=[table], answer=a)) for a in (right, wrong)]
    assert [verdict.hallucinated for verdict in verdicts] == [False, True]
    assert [claim.reason for claim in verdicts[1].claims] == [reason]
