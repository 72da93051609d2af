"""Where a comma parts two values, and where it is a mark within a number; thousands of several locales."""

from __future__ import annotations

import pytest

from groundwire.text import facts, figures
from groundwire.text.facts import Kind
from tests.text.test_sentences import growth


def read(text: str) -> list[str]:
    return [fact.text for fact in facts.extract(text)]


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("M8,1200,34", ["M8", "1200", "34"]),
        ("Net income,41200,53100", ["41200", "53100"]),
        ("Item,2023,2024", ["2023", "2024"]),
        ("2010,81200,94650", ["2010", "81200", "94650"]),
        ("2024-01-05,120,340", ["2024-01-05", "120", "340"]),
        ("Basic,9,10.5", ["9", "10.5"]),
        ("[2019,2020,2021]", ["2019", "2020", "2021"]),
        ("bolts: M8,1200 here", ["M8", "1200"]),
        ('"Desk, large",12,34', ["12", "34"]),
    ],
)
def test_commas_part_the_values_of_a_row(text, figures):
    assert read(text) == figures


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("€1,200,000/month", (1.2e6,)),
        ("EUR1,200,000", (1.2e6,)),
        ("1,200.50", (1200.5,)),
        ("12,5 %", (12.5,)),
        ("1.234.567 Einwohner", (1_234_567.0,)),
        ("1.234,56", (1234.56,)),
        ("₹2,00,000", (2e5,)),
        ("1,50,00,000 people", (1.5e7,)),
        ("a 2,500,000-strong crowd", (2.5e6,)),
    ],
)
def test_marks_within_a_number_stay(text, values):
    """Thousands are parted by commas, dots or, in India, after lakhs; a decimal comma stands once."""
    (fact,) = [fact for fact in facts.extract(text) if not fact.soft]
    assert fact.values == values


@pytest.mark.parametrize("text", ["192.168.100.200", "v1.234.567", "10.0.190", "1.2.3"])
def test_addresses_and_versions_are_no_thousands(text):
    (fact,) = facts.extract(text)
    assert (fact.kind, fact.text) == (Kind.CODE, text)


def test_the_name_after_a_number_is_none_of_its_units():
    """There are neither metres nor millions in "1200 M8 bolts"."""
    assert [(f.kind, f.text) for f in facts.extract("1200 M8 bolts")] == [
        (Kind.NUMBER, "1200"),
        (Kind.CODE, "M8"),
    ]
    assert read("5 m2 of felt") == ["5 m2"]


@pytest.mark.parametrize("unit", ["12,", "1,", "M8,1200,", "1.234.567.", "1,00,000,"])
def test_time_grows_no_faster_than_the_text(unit):
    """Many values on a line are no number that begins at each of them."""
    assert growth(figures.find, unit) < 3.2
