"""A host's threads wait for the interpreter no longer than a turn while a detector computes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import groundwire as gw
from groundwire.core import turns


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What has been slept, in the order of it; nobody has had a turn yet."""
    seconds: list[float] = []
    monkeypatch.setattr(turns, "sleep", seconds.append)
    monkeypatch.setattr(turns, "_TURNS", threading.local())
    return seconds


@contextmanager
def a_host() -> Iterator[None]:
    over = threading.Event()
    host = threading.Thread(target=over.wait)
    host.start()
    try:
        yield
    finally:
        over.set()
        host.join()


def test_whoever_is_alone_sleeps_for_nobody(slept: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    turns.give_way()
    assert slept == []


def test_a_turn_is_had_before_the_next_is_given(slept: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr(turns, "perf_counter", lambda: now[0])
    with a_host():
        turns.give_way()
        now[0] += turns._TURN / 2
        turns.give_way()
        assert slept == [0]
        now[0] += turns._TURN
        turns.give_way()
    assert slept == [0, 0]


@pytest.mark.parametrize("name", ["lexical", "embedded"])
def test_a_detector_gives_way_for_each_claim(
    name: str, slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_TURN", 0.0)
    claims = [f"Hall {n} has {n + 20} seats and opens at {n + 5} am." for n in range(2, 6)]
    with a_host():
        gw.Checker(name).check(gw.Interaction(contexts=[" ".join(claims)], answer=" ".join(claims)))
    assert len(slept) >= len(claims)
