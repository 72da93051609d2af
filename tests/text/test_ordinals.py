"""Ordinals in words: where they are read, and that they are the ones in figures."""

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
        ("It is the 21st edition.", "This is the twenty-first edition.", Status.FOUND),
        ("It is the thirty-second edition.", "This is the 32nd edition.", Status.FOUND),
        ("It is the 22nd edition.", "This is the twenty-first edition.", Status.DIFFERS),
        ("It opens on 1 May 2024.", "It opens on the first of May 2024.", Status.FOUND),
        ("It opens on the 2nd of May.", "It opens on the first of May.", Status.DIFFERS),
        ("It is due on May 21, 2024.", "Due on May twenty-first, 2024.", Status.FOUND),
        ("Rent is due on the 15th.", "Rent is due on the fifteenth of each month.", Status.FOUND),
        ("There were 20 goals.", "The twenty second-half goals.", Status.FOUND),
    ],
)
def test_an_ordinal_in_words_is_the_one_in_figures(answer, context, expected):
    """In a date, of each month, and from twenty-first on; "the first" alone may number anything."""
    assert status(answer, context) is expected
