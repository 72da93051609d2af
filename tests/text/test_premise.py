"""Which of a question's own figures it asks about, and which are the asker's circumstances."""

import pytest

from groundwire.text import facts
from groundwire.text.premise import at_issue


@pytest.mark.parametrize(
    "question",
    [
        "Does a second bag cost 75 EUR?",
        "I have read that a second bag costs 75 EUR. Where do I pay for it?",
        "I was told by the desk that it costs 75 EUR on all routes. Who pays?",
        "People say it costs 75 EUR. Who pays?",
    ],
)
def test_what_is_asked_or_was_heard_is_at_issue(question):
    assert [at_issue(fact) for fact in facts.extract(question)] == [True]


@pytest.mark.parametrize(
    "question",
    [
        "My bag weighs 32 kg. Is a surcharge due?",
        "The airline said that my bag weighs 32 kg. Is a surcharge due?",
        "My contract says that my notice period is 3 months. Can I leave in June?",
        "I was told that my fine is 350 EUR. Where do I pay it?",
        "I said that I earn 3,000 EUR. Do I get a loan?",
        "I have read 40 pages. May I return the book?",
        "The display says there are 12 errors. What now?",
    ],
)
def test_a_circumstance_of_the_asker_s_own_is_not(question):
    assert [at_issue(fact) for fact in facts.extract(question)] == [False]
