"""Years of account, seasons, quarters and centuries, however they are written."""

from __future__ import annotations

import pytest

from groundwire.text import facts, overlap
from groundwire.text.facts import Kind, Status


def status(answer: str, context: str) -> Status:
    """The status of the answer's first fact."""
    return facts.check(facts.extract(answer)[0], facts.extract(context)).status


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("the FY2024/25 budget", ((2024, 0, 0), (2025, 0, 0))),
        ("the 2024/25 season", ((2024, 0, 0), (2025, 0, 0))),
        ("sales of FY24", ((2024, 0, 0),)),
        ("sales of FY 2024", ((2024, 0, 0),)),
    ],
)
def test_years_of_account_are_years(text, dates):
    (fact,) = facts.extract(text)
    assert (fact.kind, fact.dates) == (Kind.DATE, dates)


def test_other_slashes_part_codes():
    assert [fact.kind for fact in facts.extract("case 2024/30")] == [Kind.CODE]


@pytest.mark.parametrize(
    ("answer", "context", "expected"),
    [
        ("For 2024-25 it is £1.2m.", "The FY2024/25 budget is £1.2m.", Status.FOUND),
        ("Q3 was best.", "Sales were best in the third quarter.", Status.FOUND),
        ("The third quarter was best.", "Q3: best sales", Status.FOUND),
        ("He ran the first quarter mile.", "He ran 0.25 miles.", Status.FOUND),
        ("Das dritte: Q3", "im 3. Quartal", Status.FOUND),
        ("Q2 was best.", "Sales were best in the third quarter.", Status.ABSENT),
        ("Sales were best in the second quarter.", "Sales were best in the third quarter.", Status.DIFFERS),
        ("It is of the 18th century.", "It was built in 1743.", Status.FOUND),
        ("It is of the eighteenth century.", "It is of the 18th century.", Status.FOUND),
        ("It is of the 19th century.", "It was built in 1900.", Status.FOUND),
        ("It is of the 20th century.", "It was built in 1900.", Status.FOUND),
        ("It is of the 17th century.", "It was built in 1743.", Status.ABSENT),
        ("It was built in 1743.", "It is of the 18th century.", Status.ABSENT),
        ("It is of the 18th century.", "It has 18 windows.", Status.ABSENT),
    ],
)
def test_a_quarter_and_a_century_are_told_by_what_they_mean(answer, context, expected):
    """A year tells its century, and a century no year."""
    assert status(answer, context) is expected


@pytest.mark.parametrize(
    ("answer", "context", "expected"),
    [
        ("It costs $1,899.", '{"name": "Laptop", "price": 1899}', Status.FOUND),
        ("It weighs 1850 kg.", "| weight | 1850 |", Status.FOUND),
        ("It waits 1500 milliseconds.", "set_timeout(ms: int = 1500) -> None", Status.FOUND),
        ("It costs $1,899.", "It was founded in 1899.", Status.ABSENT),
        ("It costs $1,799.", '{"name": "Laptop", "price": 1899}', Status.ABSENT),
    ],
)
def test_four_digits_in_an_entry_may_count_something(answer, context, expected):
    """In a sentence they are a year."""
    assert status(answer, context) is expected


def test_four_digits_under_a_unit_are_no_year():
    """Those of the heads, and those under "Year", stay years."""
    table = "| Year | Price (EUR) |\n|---|---|\n| 2020 | 1899 |"
    found = [fact for row in overlap.prepare(table).figures for fact in row]
    assert [fact.values for fact in found if fact.unit] == [(1899.0,)]
