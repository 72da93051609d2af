"""One quantity in two units: right within what its digits say, and never further off."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from groundwire.text import conversion, facts
from groundwire.text.fact import Fact
from groundwire.text.units import UNITS

# Units that are converted into one another, each with one from the other system.
CROSSED = [
    ("km", "miles"),
    ("cm", "inches"),
    ("metres", "feet"),
    ("kg", "lbs"),
    ("g", "oz"),
    ("litres", "gallons"),
    ("hectares", "acres"),
]


def one(text: str) -> Fact:
    (fact,) = facts.extract(text)
    return fact


def status(answer: str, context: str) -> facts.Status:
    return facts.check(one(answer), facts.extract(context)).status


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        ("5 km", "3.1 miles", "3.2 miles"),
        ("5 km", "3 miles", "4 miles"),
        ("0 °C", "32 °F", "33 °F"),
        ("350 °F", "175 °C", "185 °C"),
        ("200 °C", "400 °F", "425 °F"),
        ("minus 10 degrees Celsius", "14 degrees Fahrenheit", "24 degrees Fahrenheit"),
        ("1 lb", "450 g", "400 g"),
        ("2 hectares", "20,000 square metres", "2,000 square metres"),
        ("750 watt-hours", "0.75 kWh", "7.5 kWh"),
        ("2 TB", "2,048 GB", "2,100 GB"),
        ("an hour and a half", "90 minutes", "95 minutes"),
        ("three quarters of an hour", "45 minutes", "40 minutes"),
        ("a year and a half", "18 months", "15 months"),
        ("1.609 km", "1,609 m", "1,690 m"),
        ("1,5 km", "1.500 m", "1.600 m"),
        ("10 to 20 kg", "22 to 44 lbs", "22 to 54 lbs"),
    ],
)
def test_a_conversion_is_found_and_a_wrong_one_is_not(source, right, wrong):
    """The same quantity in another unit is the same fact; one that is off by more than rounding isn't."""
    assert status(right, f"it is {source}") is facts.Status.FOUND
    assert status(wrong, f"it is {source}") is not facts.Status.FOUND


@given(st.sampled_from(CROSSED), st.integers(1, 9_999), st.integers(0, 3), st.booleans())
def test_there_and_back(units, tenths, places, flipped):
    """What is written to some decimals in the other unit says the same as what it was converted from."""
    one_unit, other = units[::-1] if flipped else units
    value = tenths / 10
    converted = value * UNITS[one_unit].factor / UNITS[other].factor
    assume(converted >= 10.0**-places)
    source, written = one(f"{value:.1f} {one_unit}"), one(f"{converted:.{places}f} {other}")
    # Of one digit, at most a twelfth is rounding: "1 kg" for "3 lbs" is none.
    assume(abs(float(f"{converted:.{places}f}") - converted) <= 0.08 * float(f"{converted:.{places}f}"))
    assert conversion.converts(written, source)


@given(st.sampled_from(CROSSED), st.integers(1, 9_999), st.integers(0, 3), st.floats(0.03, 3), st.booleans())
def test_wrong_by_more_than_rounding_is_no_conversion(units, tenths, places, share, low):
    """Off by more than half a unit of its last digit and by more than 3 %, a figure is never the same."""
    one_unit, other = units
    value = tenths / 10
    right = value * UNITS[one_unit].factor / UNITS[other].factor
    said = f"{right * (1 - share) if low else right * (1 + share):.{places}f}"
    wrong = float(said)
    assume(wrong > 0)
    assume(abs(wrong - right) > 0.5 * 10.0**-places + 1e-6 and abs(wrong - right) > 0.031 * wrong)
    assert not conversion.converts(one(f"{said} {other}"), one(f"{value:.1f} {one_unit}"))


@given(st.integers(-80, 400))
def test_degrees_there_and_back(celsius):
    """A temperature rounded to a whole degree says the same in either unit, five degrees off it doesn't."""
    said = one(f"{celsius} °C")
    fahrenheit = round(celsius * 9 / 5 + 32)
    assert conversion.converts(one(f"{fahrenheit} °F"), said)
    wrong = fahrenheit + 11 if (fahrenheit + 11) % 5 else fahrenheit + 12
    assert not conversion.converts(one(f"{wrong} °F"), said)


@given(st.sampled_from(sorted(UNITS)), st.sampled_from(sorted(UNITS)), st.integers(2, 500))
def test_only_measures_of_one_quantity_are_converted(a, b, number):
    """Kilometres are never kilogrammes, and money is never changed."""
    found, others = facts.extract(f"{number} {a}"), facts.extract(f"{number} {b}")
    assume(len(found) == len(others) == 1)
    if conversion.converts(found[0], others[0]):
        assert found[0].unit == others[0].unit
        assert found[0].measure != others[0].measure
        assert found[0].kind is facts.Kind.MEASURE


@pytest.mark.parametrize(
    ("source", "said", "instead"),
    [
        ("5 km", "4 miles", "3.1"),
        ("0 °C", "39 °F", "32"),
        ("2 hours", "100 minutes", "120"),
        ("2,000 metres", "5,562 ft", "6,562"),
        ("5 km", "4 kg", ""),
        ("5 km", "4 km", ""),
        ("5 EUR", "4 USD", ""),
    ],
)
def test_what_would_have_been_right_can_be_told(source, said, instead):
    """The documents' figure in the unit of the claim; nothing where the two can't be compared."""
    assert conversion.restated(one(source), one(said)) == instead
