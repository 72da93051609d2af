"""Units of computing and science, units in the names of settings, and what is below zero."""

from __future__ import annotations

import pytest

from groundwire.text import facts, overlap
from groundwire.text.facts import Kind, Status


def status(answer: str, context: str) -> Status:
    """The status of the answer's first fact."""
    return facts.check(facts.extract(answer)[0], facts.extract(context)).status


@pytest.mark.parametrize(
    ("answer", "context", "expected"),
    [
        ("The latency is 250 ms.", "latency: 0.25 s", Status.FOUND),
        ("The timeout is 30 ms.", "The timeout is 30 s.", Status.DIFFERS),
        ("Its clock runs at 3200 MHz.", "Its clock runs at 3.2 GHz.", Status.FOUND),
        ("Its clock runs at 3.4 GHz.", "Its clock runs at 3.2 GHz.", Status.DIFFERS),
        ("Files may have 10 MB.", "The largest file has 10,485,760 bytes.", Status.FOUND),
        ("Take 0.5 mg a day.", "Take 500 mcg a day.", Status.FOUND),
        ("Take 500 mg a day.", "Take 500 mcg a day.", Status.DIFFERS),
        ("The tank holds 5,000 litres.", "The tank holds 5 m³.", Status.FOUND),
    ],
)
def test_units_of_computing_and_science_are_converted(answer, context, expected):
    """A thousandth of a second is none, and a wrong unit is no right figure."""
    assert status(answer, context) is expected


@pytest.mark.parametrize(
    ("answer", "context", "expected"),
    [
        ("The timeout is 5 seconds.", '{"retries": 3, "timeout_ms": 5000}', Status.FOUND),
        ("The timeout is 5000 seconds.", 'The timeout is set: "timeout_ms": 5000', Status.DIFFERS),
        ("It waits for half a minute.", "maxWaitSeconds=30", Status.FOUND),
        ("It is kept for one day.", "ttl_seconds = 86400", Status.FOUND),
        ("Uploads may have 20 MB.", "max-size-mb: 20", Status.FOUND),
        ("It costs 12 EUR.", '"price_eur": 12.00', Status.FOUND),
        ("It takes 3 to 5 days.", "delivery_days: 3-5", Status.FOUND),
        ("It costs 75 EUR.", '{"eur": 75}', Status.FOUND),
        ("The fee is 25 EUR.", '{"fee": {"eur": 75}}', Status.DIFFERS),
        ("The weight is 20 kg.", "weight: {kg: 25}", Status.DIFFERS),
        ("He was active from 1990 to 2005.", "active_years: 1990-2005", Status.FOUND),
        ("The contract is for 3 years.", "term_years: 3", Status.FOUND),
    ],
)
def test_the_name_of_a_setting_tells_its_unit(answer, context, expected):
    assert status(answer, context) is expected


@pytest.mark.parametrize("text", ["items: 5", "params = 3", "price_min: 10", "start_hour: 9", "ms: 5"])
def test_other_names_tell_none(text):
    (fact,) = facts.extract(text)
    assert fact.kind is Kind.NUMBER


def test_degrees_below_zero_are_negative():
    assert [f.values for f in facts.extract("at 12 degrees below zero, not 12 degrees")] == [
        (-12.0,),
        (12.0,),
    ]


@pytest.mark.parametrize("corner", ["EUR m", "in EUR million", "€m", "(in € millions)", "m EUR"])
def test_the_first_head_of_a_table_tells_what_all_of_it_is_in(corner):
    """Where a column has no unit of its own; the words of other tables are none."""
    table = f"| {corner} | 2023 | 2024 |\n|---|---|---|\n| Income | 41 | 53 |"
    found = [fact for row in overlap.prepare(table).figures for fact in row]
    assert [f.values for f in found if f.unit == "EUR"] == [(41e6,), (53e6,)]
    named = table.replace(corner, "Sales")
    assert not [fact for row in overlap.prepare(named).figures for fact in row if fact.unit]


@pytest.mark.parametrize(
    ("answer", "context", "expected"),
    [
        ("The timeout is 5 minutes.", "timeout: 5m", Status.FOUND),
        ("The timeout is 300 seconds.", "timeout: 5m", Status.FOUND),
        ("The timeout is 10 minutes by default.", "timeout is 5m by default", Status.DIFFERS),
        ("Bodies may have 1 MB.", "client_body_limit 1m;", Status.FOUND),
        ("Bodies may have 16 KB.", "client_body_limit 16k;", Status.FOUND),
        ("Executors have 14 GB.", "spark.executor.memory 14g", Status.FOUND),
        ("Logs are kept for 90 days.", "retention: 90d", Status.FOUND),
        ("Logs are kept for 30 days.", "retention: 90d", Status.ABSENT),
        ("A retention of 90d.", "Logs are kept for 90 days.", Status.FOUND),
        ("It weighs 14 kg.", "spark.executor.memory 14g", Status.ABSENT),
        ("He ran for 5 minutes.", "He ran 5 miles.", Status.ABSENT),
    ],
)
def test_a_unit_of_one_letter_is_what_the_answer_spells_out(answer, context, expected):
    """The "5m" of a setting are minutes or megabytes, and nobody but who reads it knows which."""
    assert status(answer, context) is expected


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("It requests 512Mi of memory.", "data", 512.0),
        ("It is limited to 1Gi.", "data", 1000.0),
        ("They ran 5mi.", "length", 8046.72),
        ("The link has 5 Gbit/s.", "bits", 5000.0),
        ("The link has 5000 Mbps.", "bits", 5000.0),
        ("The drive reads 5 GB/s.", "data", 5000.0),
    ],
)
def test_bits_and_the_units_of_a_cluster_are_read(text, unit, value):
    """A capital tells mebibytes from miles, and no bit is a byte."""
    (fact,) = facts.extract(text)
    assert (fact.unit, fact.values[0]) == (unit, pytest.approx(value))


def test_a_range_may_say_that_its_end_is_above_zero():
    (fact,) = facts.extract("It works from -40 °C to +125 °C.")
    assert (fact.values, fact.highs) == ((-40.0,), (125.0,))


def test_the_v_of_a_version_is_part_of_it_and_tells_nothing():
    (fact,) = facts.extract("It came with v5.1.0.")
    assert fact.text == "v5.1.0"
    assert status("It came with v5.1.0.", "New in 5.1.0: it came.") is Status.FOUND
    assert facts.extract("It came with rev5.1.0.")[0].text != "v5.1.0"
