"""Figures of several items, each given to its own or to another's, and opening hours by weekday."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import probes
from groundwire import Checker

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
