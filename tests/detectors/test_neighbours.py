"""Answers about one of several siblings, or that compare them: two plans, two hotels, two years."""

from __future__ import annotations

import re
from itertools import permutations

import pytest

from groundwire import Support, Verdict
from tests.detectors.told import PROBES, reasons, require_told_apart, verdict_of

FOLDER = PROBES / "neighbours"
# How many of 40 pairs each detector flags rightly at least, and wrongly at most; one of each to spare.
FLOORS = {
    ("choosing", "lexical"): (28, 16),
    ("choosing", "embedded"): (24, 5),
    ("held_out", "lexical"): (16, 8),
    ("held_out", "embedded"): (21, 4),
}
OURS = re.compile(r" is said of “.*” in the document, not of “| here, .* in the document\Z")

SMALL = (
    "## Fernline: Sprout plan\nThe Sprout plan costs £9 a month on a 30-day rolling basis. It includes 8 GB "
    "of data, unlimited texts and 500 minutes of calls. Roaming in 31 countries is charged at £2.20 a day. "
    "If the light on your router blinks, write to the repair desk with your postcode."
)
LARGE = (
    "## Fernline: Canopy plan\nThe Canopy plan costs £21 a month with a 12-month minimum term. It includes "
    "60 GB of data and unlimited calls and texts. Roaming in 31 countries is included for 25 days a year. "
    "Leaving early costs £6 for each month that is left."
)
YEARS = (
    "Harbour Trust, annual report 2022. Members: 410. Income £88,000, spending £91,000. Staff: 6.",
    "Harbour Trust, annual report 2023. Members: 455. Income £97,000, spending £90,500. Staff: 7.",
)


def check(documents: tuple[str, ...], answer: str, question: str = "", detector: str = "lexical") -> Verdict:
    return verdict_of(detector, documents, answer, question)


@pytest.mark.parametrize(("half", "detector"), FLOORS)
def test_answers_about_siblings_are_told_from_wrong_ones(half, detector):
    """On the pairs that showed what the rules missed, and on another author's."""
    require_told_apart(FOLDER / f"{half}.toml", detector, FLOORS[half, detector])


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
@pytest.mark.parametrize(
    ("documents", "question", "answer", "reason"),
    [
        ((SMALL, LARGE), "", "The Canopy plan costs £9.", "£9 here, £21 in the document"),
        (
            (SMALL, LARGE),
            "",
            "On Canopy, roaming is charged at £2.20 a day, whereas the Sprout plan charges nothing for it.",
            "£2.20 is said of “Sprout plan” in the document, not of “Canopy plan”",
        ),
        (YEARS, "", "In 2023 the trust had 410 members.", "410 here, 455 in the document"),
        (
            YEARS,
            "What was the income in 2023?",
            "Income was £88,000.",
            "£88,000 here, £97,000 in the document",
        ),
        (
            (SMALL, LARGE),
            "",
            "Sprout and Canopy both come with 60 GB of data.",
            "60 GB here, 8 GB in the document",
        ),
        (
            (SMALL, LARGE),
            "",
            "With Canopy, if the light on your router blinks, write to the repair desk with your postcode.",
            "this is said of “Sprout plan” in the document, not of “Canopy plan”",
        ),
        (
            (SMALL, LARGE),
            "",
            "Canopy is the larger plan. It includes 500 minutes of calls.",
            "500 minutes is said of “Sprout plan” in the document, not of “Canopy plan”",
        ),
        ((f"{SMALL}\n\n{LARGE}",), "", "The Canopy plan costs £9.", "£9 here, £21 in the document"),
    ],
)
def test_what_is_said_of_a_sibling_is_not_said_of_the_one_named(
    detector, documents, question, answer, reason
):
    """Nor of both; the siblings may be passages, or sections of one."""
    assert reason in reasons(check(documents, answer, question, detector))


def test_what_a_sibling_lacks_is_unsupported_and_what_it_has_otherwise_contradicts():
    """The evidence is what is said of the one named, or else where what is borrowed stands."""
    (claim,) = check((SMALL, LARGE), "The Canopy plan costs £9.").claims
    assert claim.support is Support.CONTRADICTED
    assert claim.evidence[0].quote.startswith("The Canopy plan costs £21")
    (claim,) = check((SMALL, LARGE), "Roaming with Canopy is charged at £2.20 a day.").claims
    assert claim.support is Support.UNSUPPORTED
    assert "£2.20" in claim.evidence[0].quote


@pytest.mark.parametrize(
    "answer",
    [
        "Canopy is dearer than Sprout, at £21.",
        "Sprout and Canopy cost £9 and £21 a month.",
        "Compared with Sprout, £21 is a lot for Canopy.",
        "Unlike Canopy with its 12-month term, Sprout rolls on a 30-day basis.",
        "Canopy doesn't charge £2.20 a day for roaming.",
        "With Canopy you pay £12 more than the £9 for Sprout.",
        "Both include roaming in 31 countries, at £2.20 a day with Sprout, for 25 days a year with Canopy.",
        "Both plans include unlimited texts, but only Sprout counts minutes of calls: 500.",
        "Going from 8 GB to 60 GB means moving to Canopy.",
        "If 8 GB is too little for you, take Canopy.",
        "Canopy suits you if you need more than 8 GB.",
        "Choose Canopy: at £9 the cheaper plan has only 500 minutes.",
        "Canopy costs £21. The other one is £9.",
        "Sprout has less than Canopy, which includes both 60 GB of data and unlimited calls.",
    ],
)
def test_whoever_compares_states_the_figures_of_others(answer):
    assert not any(map(OURS.search, reasons(check((SMALL, LARGE), answer))))


@pytest.mark.parametrize(
    "answer",
    [
        "In 2023 income rose from £88,000 to £97,000.",
        "Income was £97,000 in 2023, up from £88,000 in 2022.",
        "By 2023 members had grown to 455, 45 more than the 410 of the year before.",
        "In 2023, staff went up to 7 from 6.",
        "Spending fell to £90,500 in 2023 (2022: £91,000).",
    ],
)
def test_a_year_is_held_against_another(answer):
    assert not any(map(OURS.search, reasons(check(YEARS, answer))))


@pytest.mark.parametrize(
    "documents",
    [
        (SMALL, LARGE, "Fernline price list. All plans: connection fee £30, second card £4."),
        (SMALL, LARGE.replace("Leaving", "The connection fee is £30 and a second card is £4. Leaving")),
        (SMALL, LARGE, "## Fernline: Sprout plan, fees\nThe Canopy plan, too, has a second card for £4."),
    ],
)
def test_what_others_may_say_of_it_is_not_a_siblings_alone(documents):
    """A text about all of them, its own, and a sibling's that names it."""
    assert not any(map(OURS.search, reasons(check(documents, "With Canopy, a second card is £4."))))


@pytest.mark.parametrize(
    "documents",
    [
        (
            "## Installing Quarry\nQuarry needs 2 GB of memory. Run the installer and restart your machine.",
            "## Limits\nA project holds at most 400 files. Larger files are cut after 90 MB.",
        ),
        (
            "Marta Olsen founded the brewery in Hallvik with her brother and a loan.",
            "In 1987 the brewery moved to a hall by the harbour, and it has 12 kettles today.",
        ),
    ],
)
def test_parts_of_one_subject_are_no_siblings(documents):
    """Chapters of a manual, the next part of an article."""
    answers = (
        "Quarry cuts files after 90 MB.",
        "Marta Olsen's brewery moved in 1987 and has 12 kettles.",
    )
    for answer in answers:
        assert not any(map(OURS.search, reasons(check(documents, answer))))


def test_what_a_sibling_mentions_may_be_said_to_be_missing():
    """It is no mention that the claim overlooks."""
    answer = "The Canopy page doesn't mention the router."
    assert not any("is mentioned" in reason for reason in reasons(check((SMALL, LARGE), answer)))
    answer = "The Sprout page doesn't mention the router."
    assert any("is mentioned" in reason for reason in reasons(check((SMALL, LARGE), answer)))


def test_the_order_of_the_passages_decides_nothing():
    third = LARGE.replace("Canopy", "Grove").replace("£21", "£9").replace("60", "90")
    told = {
        tuple((claim.score, claim.reason) for claim in check(order, "The Canopy plan costs £9.").claims)
        for order in permutations((SMALL, LARGE, third))
    }
    assert len(told) == 1


BASIC = (
    "# Basic plan\n\nThe Basic plan costs 9 EUR a month. Support answers by e-mail within two working days. "
    "Invoices are sent on the first of each month."
)
PRO = (
    "# Pro plan\n\nThe Pro plan costs 29 EUR a month. A support engineer can be called around the clock. "
    "Invoices are sent on the first of each month."
)
REFUNDS = "# Billing and refunds\n\nInvoices are paid by card. Refunds are made within 14 days to the card."
CALLED = "a support engineer can be called around the clock."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What support does Basic have?", f"With the Basic plan, {CALLED}"),
        ("What support comes with the Basic plan?", "A support engineer can be called around the clock."),
        ("What is the Basic plan?", "The Basic plan costs 9 EUR a month. It has a support engineer to call."),
    ],
)
def test_what_a_sibling_has_alone_does_not_bear_out_a_claim(question, answer):
    for documents in permutations((BASIC, PRO)):
        verdict = check(documents, answer, question, "embedded")
        claim = verdict.claims[-1]
        assert verdict.hallucinated
        assert claim.support is Support.UNSUPPORTED
        assert claim.reason == "this is said of “Pro plan” in the document, not of “Basic plan”"
        assert claim.evidence[0].quote == "A support engineer can be called around the clock."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What support does Pro have?", f"With the Pro plan, {CALLED}"),
        ("When are invoices sent?", "With the Basic plan, invoices are sent on the first of each month."),
        ("Compare the plans.", f"Basic costs 9 EUR a month; with Pro, {CALLED}"),
        ("How fast are refunds for Basic?", "Refunds for Basic are made within 14 days to the card."),
    ],
)
def test_a_claim_is_borne_out_by_what_its_own_subject_has(question, answer):
    for documents in permutations((BASIC, PRO, REFUNDS)):
        assert not check(documents, answer, question, "embedded").hallucinated


def test_what_a_claim_sets_off_its_subject_from_is_not_what_it_is_about():
    answer = "By e-mail, within two working days; unlike Pro, nobody can be called."
    assert not [
        reason
        for reason in reasons(check((BASIC, PRO), answer, "What support does Basic have?"))
        if OURS.search(reason)
    ]


def test_a_passage_about_no_sibling_bears_out_a_claim_about_one():
    general = (
        "All plans are billed yearly. A support engineer can be called around the clock with every plan."
    )
    verdict = check((BASIC, PRO, general), f"With the Basic plan, {CALLED}", detector="embedded")
    assert not verdict.hallucinated


STARTER = (
    "# Starter plan\nThe Starter plan costs €12 per user per month. It includes 10 GB of storage, 3 projects "
    "and email support. Guests are not included."
)
TEAM = (
    "# Team plan\nThe Team plan costs €25 per user per month. It includes 100 GB of storage, unlimited "
    "projects and chat support. Up to 5 guests are included."
)
ENTERPRISE = (
    "# Enterprise plan\nThe Enterprise plan is priced on request. It includes 1 TB of storage, unlimited "
    "projects, a phone hotline and single sign-on. Guests are unlimited."
)
TERMS = (
    "# Common terms for all plans\nAll plans can be cancelled with 14 days' notice. Support answers within "
    "24 hours on weekdays. Data is kept in Frankfurt. VAT of 19% is added. A yearly payment saves 15%."
)
RETURNS = (
    "# Returns\nYou can return unworn items within 30 days of delivery. Refunds reach your card in 5 to 7 "
    "working days. Return postage costs €4.90."
)
NORWAY = (
    "# Shipping to Norway\nParcels to Norway take 6 to 9 working days and cost €14.50. Orders above €120 "
    "ship free. Duty is paid on delivery."
)
IBUPROFEN = (
    "## Ibuprofen 400\nAdults take 1 tablet up to 3 times a day, at most 1,200 mg. Leave 6 hours between "
    "doses. Not for children under 12. Take it with food."
)
PARACETAMOL = (
    "## Paracetamol 500\nAdults take 1 to 2 tablets up to 4 times a day, at most 4,000 mg. Leave 4 hours "
    "between doses. It may be taken without food."
)
LEASE = (
    "Lease 2021 between Oak Estates and Mr. Lindqvist\nRent: £1,150 a month. Deposit: £1,725. Term: 24 "
    "months from 1 March 2021."
)
AMENDMENT = (
    "Amendment 2023 to the lease between Oak Estates and Mr. Lindqvist\nRent: £1,220 a month from 1 March "
    "2023. The term is extended by 24 months. All else stays as it was."
)


@pytest.mark.parametrize(
    ("documents", "question", "answer"),
    [
        (
            (TERMS, STARTER, TEAM, ENTERPRISE),
            "Cost for 10 users on Team?",
            "For 10 users, the Team plan costs €250 a month before VAT.",
        ),
        (
            (STARTER, TEAM),
            "Does Starter include guests?",
            "No, Starter has none. The next plan up includes up to 5 guests, for €25 per user per month.",
        ),
        (
            (RETURNS, NORWAY),
            "When is a parcel from Norway refunded?",
            "Refunds for orders from Norway reach your card in 5 to 7 working days.",
        ),
        (
            (IBUPROFEN, PARACETAMOL),
            "Which needs longer gaps?",
            "Ibuprofen: 6 hours between doses, compared with 4 hours for paracetamol.",
        ),
        (
            (LEASE, AMENDMENT),
            "How large is the deposit after the amendment?",
            "The amendment of 2023 leaves the deposit as it was: £1,725.",
        ),
    ],
    ids=["the asker's own figure", "the next one", "a topic in another form", "two figures", "carried over"],
)
@pytest.mark.parametrize("detector", ["lexical", "embedded"])
def test_what_one_of_siblings_shares_with_the_other_is_not_the_others_alone(
    documents, question, answer, detector
):
    assert not [
        reason for reason in reasons(check(documents, answer, question, detector)) if OURS.search(reason)
    ]
