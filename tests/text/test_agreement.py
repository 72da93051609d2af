"""When two exact facts say the same, and when one would stand in the other's place."""

from __future__ import annotations

import pytest

from groundwire.text import facts
from groundwire.text.facts import Status


def status(answer: str, context: str) -> Status:
    """The status of the answer's first fact."""
    return facts.check(facts.extract(answer)[0], facts.extract(context)).status


@pytest.mark.parametrize(
    ("answer", "context", "expected"),
    [
        ("The deposit is 50 pounds.", "A deposit of £50 is charged.", Status.FOUND),
        ("The deposit is £50.", "A deposit of 50 pounds is charged.", Status.FOUND),
        ("It costs 10 to 15 pounds.", "It costs £10 to £15.", Status.FOUND),
        ("It cost 1.5 million pounds.", "It cost £1.5 million.", Status.FOUND),
        ("The deposit is 60 pounds.", "A deposit of £50 is charged.", Status.DIFFERS),
        ("It weighs 60 pounds.", "It weighs 50 pounds.", Status.DIFFERS),
        ("It weighs 20 pounds.", "It weighs 50 pounds and costs £20.", Status.DIFFERS),
        ("It weighs 50 pounds and costs 20 pounds.", "It weighs 50 pounds and costs £20.", Status.FOUND),
        ("The deposit is 50 lbs.", "A deposit of £50 is charged.", Status.DIFFERS),
    ],
)
def test_pounds_are_money_beside_money(answer, context, expected):
    """ "50 pounds" says what "£50" says; "50 lbs" doesn't."""
    assert status(answer, context) is expected


@pytest.mark.parametrize(
    ("answer", "context", "expected"),
    [
        ("The drive takes 2 hours 45 minutes.", "The drive takes 2 hours 30 minutes.", Status.DIFFERS),
        ("The drive takes 2 hours 45 minutes.", "The drive takes 2 hours.", Status.DIFFERS),
        ("He is 5 feet 10 inches tall.", "He is 5 feet 11 inches tall.", Status.DIFFERS),
        ("The drive takes 2 hours 45 minutes.", "The drive takes 165 minutes.", Status.FOUND),
        ("The drive takes 2 hours.", "The drive takes 2 hours 30 minutes.", Status.FOUND),
        ("It takes 1 hour, 20 minutes of which are rest.", "It takes 1 hour. Rest 20 minutes.", Status.FOUND),
        (
            "It takes 1 hour, 30 minutes of which are rest.",
            "It takes 1 hour. Rest 20 minutes.",
            Status.ABSENT,
        ),
        ("The drive takes 2 hours 45 minutes.", "There are 2 routes.", Status.ABSENT),
    ],
)
def test_a_time_in_two_units_is_told_by_both(answer, context, expected):
    """That the hours agree bears no minutes out; both parts may stand apart."""
    assert status(answer, context) is expected


@pytest.mark.parametrize(
    ("answer", "context", "expected"),
    [
        ("It is open 8:00 to 18:00.", "Open 8:00-12:00 and 14:00-18:00.", Status.FOUND),
        ("They cost 10 to 30 EUR.", "They cost 10-20 EUR, or 20-30 EUR with a meal.", Status.FOUND),
        ("It weighs between 5 and 10 kg.", "It weighs 5 kg or 10 kg.", Status.FOUND),
        ("On Saturday it is open 9:00 to 20:00.", "Mon-Fri 8:00-20:00, Sat 9:00-18:00", Status.ABSENT),
        ("They weigh 10 to 20 kg.", "Some are 5-10 kg, others 20-30 kg.", Status.ABSENT),
    ],
)
def test_a_range_from_two_ends_has_each_where_it_was(answer, context, expected):
    """What one range ends with begins no other, and hours are not put together from other days."""
    assert status(answer, context) is expected
