"""Answers in conversations: follow-ups, what the asker told before, corrections, and much politeness."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import probes
from groundwire import Checker

FOLDER = Path(__file__).resolve().parents[1] / "probes" / "conversation"
# How many pairs each detector flags rightly at least, and wrongly at most; two of each to spare.
FLOORS = {
    ("choosing", "lexical"): (33, 30),
    ("choosing", "embedded"): (18, 11),
    ("held_out", "lexical"): (51, 48),
    ("held_out", "embedded"): (32, 14),
}
PAIRS = {"choosing": 36, "held_out": 60}


@pytest.mark.parametrize(("half", "detector"), FLOORS)
def test_right_answers_in_conversations_are_told_from_wrong_ones(half, detector):
    """Without what was said before, ``embedded`` flags 23 right ones of those held out."""
    rates = probes.Rates.of(probes.judge(Checker(detector), probes.pairs(FOLDER / f"{half}.toml")))
    caught, alarms = FLOORS[half, detector]
    assert rates.caught.of == PAIRS[half]
    assert rates.caught.hits >= caught
    assert rates.alarms.hits <= alarms
