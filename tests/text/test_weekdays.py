"""Which days of the week a figure is said of."""

import pytest

from groundwire.text import facts
from groundwire.text.facts import Status

WEEK, SAT, SUN = [0, 1, 2, 3, 4], [5], [6]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Mon-Fri 9:00-17:00, Sat 10:00-14:00", [WEEK, SAT]),
        ("9:00-17:00 Monday to Friday, 10:00-14:00 Saturday", [WEEK, SAT]),
        ("from 9 am to 5 pm on weekdays and from 10 am to 2 pm on Saturday", [WEEK, SAT]),
        ("On Monday it opens at 9:00 and closes at 17:00; on Saturday at 10:00", [[0], [0], SAT]),
        ("Monday from 9:00 to 17:00 and Saturday from 10:00 to 14:00", [[0], SAT]),
        ("It closes at 20:00, with early closures at 16:00 on Saturdays", [[], SAT]),
        ("Mo-Fr 9:00, Sa 10:00, So: 11:00", [WEEK, SAT, SUN]),
        ("lunes a viernes 9:00, sábado 10:00", [WEEK, SAT]),
        ('{"Monday": "9:00-17:00", "Saturday": "10:00-14:00"}', [[0], SAT]),
        ("Fri-Mon at 9:00", [[0, 4, 5, 6]]),
        ("9:00-17:00, Monday to Friday, and 10:00-14:00, Saturday", [WEEK, SAT]),
        ("12:00-17:00, with longer hours on Friday", [[]]),
        ("£12 from Monday to Friday and £16 from Saturday to Sunday", [WEEK, SAT + SUN]),
        ("The sun rises at 6:00. So do we. Do 3 rounds", [[], []]),
    ],
)
def test_a_figure_has_the_days_that_stand_nearest(text, days):
    assert [sorted(fact.days) for fact in facts.extract(text)] == days


HOURS = "Opening hours: Monday-Friday 9:00-17:00, Saturday 10:00-14:00."


@pytest.mark.parametrize(
    ("answer", "status", "nearest"),
    [
        ("On Saturday we are open from 10:00 to 14:00.", Status.FOUND, "10:00-14:00"),
        ("On Saturday we open at 9:00.", Status.DIFFERS, "10:00-14:00"),
        ("On Saturday we are open from 10:00 to 15:00.", Status.DIFFERS, "10:00-14:00"),
        ("On Tuesday we open at 10:00.", Status.DIFFERS, "9:00-17:00"),
        ("We open at 9:00.", Status.FOUND, "9:00-17:00"),
    ],
)
def test_a_time_is_compared_with_the_one_of_the_same_day(answer, status, nearest):
    """Saturday's hours with Saturday's, whichever others the passage lists."""
    checked = facts.check(facts.extract(answer)[0], facts.extract(HOURS))
    assert checked.status is status
    assert checked.nearest.text == nearest
