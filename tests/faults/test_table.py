"""The tables of faults that people read: what they say is what the tests of this folder have just found."""

import pytest

from tests.faults.told import (
    PAGE,
    SHORT,
    Told,
    outcome,
    put,
    read,
    shown,
    summary,
    table,
    tables,
    without_times,
)


def row(fault, *outcomes, seconds=1.0):
    return {
        "fault": fault,
        "outcomes": {f"client {i}": what for i, what in enumerate(outcomes)},
        "seconds": seconds,
        "deadline": None,
        "note": "",
    }


@pytest.fixture
def rows():
    """A row for every fault that the summary has."""
    return {fault: row(fault, "judged") for faults in SHORT.values() for fault in faults}


def test_a_table_tells_each_client_apart_only_where_they_differ(rows):
    assert outcome(row("x", "judged", "judged")) == "judged"
    assert outcome(row("x", "judged", "late")) == "client 0: judged; client 1: late"
    made = tables(rows)
    assert len(made["table"].splitlines()) == len(rows) + 2
    assert len(made["summary"].splitlines()) == len(SHORT) + 2 <= 12


def test_times_may_differ_and_outcomes_may_not(rows):
    made = tables(rows)
    page = put("Before\n<!-- table of faults, by python -m tests.faults -->\nold\n<!-- end -->\nafter", made)
    assert (page[:6], page[-5:]) == ("Before", "after")
    assert shown(page) == {"table": made["table"]}
    for changed in rows.values():
        changed["seconds"] = 9.0
    assert without_times(tables(rows)["table"]) == without_times(shown(page)["table"])
    rows["status 500"]["outcomes"]["client 0"] = "clean"
    assert without_times(tables(rows)["table"]) != without_times(shown(page)["table"])


def test_rows_of_a_partial_run_join_those_of_others(tmp_path):
    path = tmp_path / "reports" / "robustness.json"
    for fault in ("a", "b"):
        told = Told()
        told(fault, "x", "judged", 0.111)
        told.write(path)
    assert list(read(path)) == ["a", "b"]


def test_the_page_says_what_the_tests_have_found(told):
    """Whatever ran in this session is compared; where all did, it may have nothing that no test found."""
    page = shown(PAGE.read_text(encoding="utf-8"))
    in_page, ran = (set(without_times(one)[2:]) for one in (page["table"], table(told.rows)))
    assert not ran - in_page, "`make robustness` writes the tables anew"
    if len(told.rows) >= len(in_page):
        assert ran == in_page
        assert without_times(summary(told.rows)) == without_times(page["summary"])
