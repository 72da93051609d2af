"""Short questions to everyday documents: opening hours, prices, rules and who does what."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import probes
from groundwire import Checker

FOLDER = Path(__file__).resolve().parents[1] / "probes" / "everyday"
# How many of 30 pairs each detector flags rightly at least, and wrongly at most; one of each to spare.
FLOORS = {
    ("choosing", "lexical"): (18, 7),
    ("choosing", "embedded"): (20, 1),
    ("held_out", "lexical"): (17, 4),
    ("held_out", "embedded"): (21, 3),
}


@pytest.mark.parametrize(("half", "detector"), FLOORS)
def test_everyday_answers_are_told_from_wrong_ones(half, detector):
    """On the pairs that showed what the rules missed, and on those that were written after them."""
    rates = probes.Rates.of(probes.judge(Checker(detector), probes.pairs(FOLDER / f"{half}.toml")))
    caught, alarms = FLOORS[half, detector]
    assert rates.caught.of == 30
    assert rates.caught.hits >= caught
    assert rates.alarms.hits <= alarms
