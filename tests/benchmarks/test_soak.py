"""The soak, for some seconds: what it finds wrong in a handler it finds here, and what is wrong it finds."""

import pytest

pytest.importorskip("langchain_core", reason="needs groundwire[langchain]")
pytest.importorskip("llama_index.core", reason="needs groundwire[llama-index]")

from dataclasses import replace
from uuid import uuid4

from benchmarks.soak import Findings, Soak, count
from benchmarks.soak_apps import FAILS, answer, question, texts
from groundwire import Interaction
from groundwire.host.record import Record
from groundwire.testing import FlagsWords


@pytest.mark.parametrize(("side", "runs"), [("langchain", 1000), ("llama_index", 400)])
def test_nothing_is_mixed_up_and_nothing_is_left(side, runs):
    """Runs that fail, are cancelled or given up, among others, through one handler."""
    found = Soak(side).run(runs=runs)
    assert found.problems() == []
    assert found.started.total() == runs
    assert sum(found.whole) > 0.7 * runs
    assert all(found.started[fate] for fate in (*FAILS, "is cancelled", "is given up"))
    assert found.outcomes["verdict"] >= sum(found.whole)
    assert found.outcomes["PARTIAL_ANSWER"]


def record(n, *, contexts=None, said=None, outcome=None):
    interaction = Interaction(
        question=question(n, "is whole"), contexts=contexts or texts(n), answer=said or answer(n)
    )
    from groundwire import Checker

    judged = outcome or Checker(FlagsWords(words=("invented",))).check(interaction)
    return Record(run_id=uuid4(), interaction=interaction, outcome=judged)


def found_of(*records):
    found = Findings(live=0, evicted=0, dropped=0, threads=1)
    for one in records:
        found.hear(one)
        count(found.whole, int(one.interaction.question.split("topic")[1].split(",")[0]))
    return found.problems()


def test_what_is_wrong_is_found():
    """Another call's documents, answer or verdict, one record too many, one too few, what is left."""
    assert found_of(record(1), record(3)) == []
    assert found_of(record(1, contexts=texts(2))) == ["1 records that hold another call's"]
    assert found_of(record(1, said=answer(2))) == ["1 records that hold another call's"]
    assert found_of(replace(record(1), outcome=record(3).outcome)) == ["1 records that hold another call's"]
    assert len(found_of(record(1), record(1))) == 2
    missing = Findings(live=2, evicted=1, dropped=4, threads=3, whole=bytearray([0, 1]))
    assert missing.problems() == [
        "1 whole answers without their one record",
        "2 runs left in the map",
        "1 runs given up for lack of room",
        "4 answers dropped",
        "2 threads left",
    ]
    grown = Findings(live=0, evicted=0, dropped=0, threads=1)
    grown.seconds = [{"megabytes": 100.0 + n} for n in range(100)]
    assert "memory grew" in grown.problems()[0]
