"""What a claim takes from two things said side by side, and a way that it turns round."""

from __future__ import annotations

import pytest

from groundwire import Checker, Interaction
from groundwire.core.claim import Claim, Support

TEAMS = "Anna leads the sales team; Boris leads support."
SALES = "Sales fell by 8% in Germany but rose by 5% in France."
CITY = "In 2022 the city had 412,000 inhabitants, in 2012 it was 389,000."
LIGHTS = "The red light means the tank is empty. The green light means the filter is blocked."
FLIGHT = "The flight from Oslo to Rome leaves at 14:05 and arrives at 17:20."
CARDS = "We accept Visa, Mastercard and PayPal. We do not accept cheques."


def judge(answer: str, context: str) -> Claim:
    outcome = Checker("lexical").check(Interaction(contexts=[context], answer=answer))
    (claim,) = outcome.claims
    return claim


@pytest.mark.parametrize(
    ("answer", "context", "reason", "quote"),
    [
        ("Anna leads support.", TEAMS, "“Anna” here, “Boris” in the document", TEAMS),
        ("Sales rose by 5% in Germany.", SALES, "“Germany” here, “France” in the document", SALES),
        (
            "In 2012 the city had 412,000 inhabitants.",
            CITY,
            "“412,000” here, “389,000” in the document",
            CITY,
        ),
        (
            "The green light means the tank is empty.",
            LIGHTS,
            "“tank” here, “filter” in the document",
            "The green light means the filter is blocked.",
        ),
        (
            "The flight from Rome to Oslo leaves at 14:05.",
            FLIGHT,
            "“Rome” here, “Oslo” in the document",
            FLIGHT,
        ),
        (
            "We accept Visa, Mastercard and cheques.",
            CARDS,
            "denied in the document, but not here: “cheques”",
            "We do not accept cheques.",
        ),
    ],
)
def test_what_is_said_of_the_other_contradicts(answer, context, reason, quote):
    """The reason names both, and the evidence is the sentence that says otherwise."""
    claim = judge(answer, context)
    assert (claim.support, claim.reason) == (Support.CONTRADICTED, reason)
    assert [evidence.quote for evidence in claim.evidence] == [quote]


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("Boris leads support.", TEAMS),
        ("Boris leads the support team.", TEAMS),
        ("Anna leads sales and Boris leads support.", TEAMS),
        ("Sales rose by 5% in France.", SALES),
        ("In 2012 the city had 389,000 inhabitants.", CITY),
        ("The red light means the tank is empty.", LIGHTS),
        ("The flight from Oslo to Rome arrives at 17:20.", FLIGHT),
        (
            "The flight from Rome to Oslo leaves at 9:00.",
            f"{FLIGHT} The flight from Rome to Oslo leaves at 9:00.",
        ),
        ("Dr. Lee speaks English.", "Dr. Lee specialises in knee surgery and speaks fluent English."),
        ("The train reaches Bergen.", "The train leaves Oslo at 9 and reaches Bergen at 16."),
        ("We accept Visa.", CARDS),
        ("Dogs are allowed on the terrace.", "Dogs are not allowed. On the terrace dogs are allowed."),
    ],
)
def test_what_is_said_of_the_same_does_not(answer, context):
    """Both at once, what is meant of both though the first alone says it, and what is affirmed after all."""
    assert judge(answer, context).support is not Support.CONTRADICTED
