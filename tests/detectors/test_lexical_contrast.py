"""A claim beside the sentence most like it: opposites, states, roles, bounds, and a "no" that answers."""

from __future__ import annotations

import pytest

from groundwire import Checker, Interaction
from groundwire.core.claim import Claim, Support

MUSEUM = "The museum opens at 10:00 and closes at 18:00."
RELEASE = "Version 2.4 adds dark mode, fixes a crash, and removes support for Windows 7."
RETURNS = (
    "Returns are accepted within 30 days of delivery if the item is unused and in its original packaging."
)
LEAVE = "Staff have 25 days of leave. Up to 5 unused days may be carried over until 31 March."
SMOKING = "Smoking is prohibited in all rooms and on the balconies of the hotel."
WORKSPACE = "Only the account owner can delete a workspace. Administrators can invite users."
MENU = "Our vegan menu contains no dairy, but may contain traces of nuts."
POOL = "The pool is closed on Mondays. From Tuesday to Sunday it is open from 7:00 to 21:00."


DOGS = "Dogs travel in the cabin if they weigh less than 8 kg. Larger dogs travel in the hold."


def judge(answer: str, *contexts: str, question: str = "") -> Claim:
    outcome = Checker("lexical").check(Interaction(question=question, contexts=contexts, answer=answer))
    (claim,) = outcome.claims
    return claim


@pytest.mark.parametrize(
    ("answer", "context", "mine", "theirs"),
    [
        (
            "Registration ends on 1 May.",
            "Registration starts on 1 May and ends a month later.",
            "ends",
            "starts",
        ),
        ("Python 3.9 or older is required.", "Python 3.9 or newer is required.", "older", "newer"),
        ("Version 2.4 adds support for Windows 7.", RELEASE, "adds", "removes"),
        ("You can return used items within 30 days.", RETURNS, "used", "unused"),
        ("All unused days may be carried over.", LEAVE, "All", "Up to 5 unused"),
        ("Dogs over 8 kg travel in the cabin.", DOGS, "over", "less than 8 kg"),
        (
            "Orders below 50 EUR ship free.",
            "Orders over 50 EUR ship free of charge.",
            "below",
            "Orders over 50 EUR",
        ),
        ("Smoking is allowed on the balconies.", SMOKING, "allowed", "prohibited"),
        ("Revenue fell to $5 million.", "Revenue rose from $4 million to $5 million.", "fell", "rose"),
        (
            "The maximum order is 25 EUR.",
            "The minimum order is 25 EUR; delivery is free.",
            "maximum",
            "minimum",
        ),
        ("Administrators can delete a workspace.", WORKSPACE, "Administrators", "only the account owner"),
        ("The seller pays the notary.", "The buyer pays the notary and the tax.", "seller", "buyer"),
    ],
)
def test_an_opposite_contradicts(answer, context, mine, theirs):
    """However much more the sentence says, and where it has both words by what follows each."""
    claim = judge(answer, context)
    assert claim.support is Support.CONTRADICTED
    assert claim.reason == f"“{mine}” here, “{theirs}” in the document"


@pytest.mark.parametrize(
    ("answer", "contexts"),
    [
        ("The museum closes at 18:00.", [MUSEUM]),
        ("The museum opens at 10 and closes at six in the evening.", [MUSEUM]),
        ("Version 2.4 adds dark mode.", [RELEASE]),
        ("Version 2.4 removes support for Windows 7.", [RELEASE]),
        ("You can return unused items within 30 days.", [RETURNS]),
        ("Up to five unused days may be carried over.", [LEAVE]),
        ("Smoking is allowed on the terrace.", [SMOKING, "Smoking is permitted on the terrace."]),
        ("Smoking is not allowed on the balconies.", [SMOKING]),
        ("It is unclear when the trial ends.", ["It is not clear when the trial ends."]),
        ("Gold, unlike other metals, is yellow.", ["Like other metals gold shines, yet gold is yellow."]),
        ("The buyer pays the notary.", ["The buyer pays the notary, the seller pays the agent."]),
        ("The seller pays the agent.", ["The buyer pays the notary, the seller pays the agent."]),
    ],
)
def test_what_is_no_opposite_does_not(answer, contexts):
    """What follows the word itself, what a passage has a word for, and what is denied on both sides."""
    assert judge(answer, *contexts).support is not Support.CONTRADICTED


@pytest.mark.parametrize(
    "answer",
    [
        "No, the pool is closed on Mondays.",
        "no – the pool is closed on Mondays.",
        "The pool is closed on Mondays.",
    ],
)
def test_a_no_that_answers_denies_nothing_of_what_follows(answer):
    """The asker's guess is denied, and the rest stands in the document word for word."""
    claim = judge(answer, POOL, question="Is the pool open on Monday?")
    assert (claim.support, claim.reason) == (Support.SUPPORTED, "word for word in the document")


@pytest.mark.parametrize(
    ("answer", "contexts", "flagged"),
    [
        ("The vegan menu contains dairy.", [MENU], True),
        ("No, the vegan menu contains no dairy.", [MENU], False),
        (
            "You can return opened bags within 14 days.",
            ["Opened bags you can not return.", "Bags: 14 days."],
            False,
        ),
        (
            "You can return opened bags within two weeks.",
            ["Return within 14 days. Opened bags can't be returned."],
            True,
        ),
        ("If not, add more salt.", ["Taste it. Is it right? If not, add more salt."], False),
        ("Account owners can delete a workspace.", [WORKSPACE], False),
    ],
)
def test_a_clause_is_denied_or_said_by_itself(answer, contexts, flagged):
    """Whatever else its sentence says; what stands in another passage says nothing of it."""
    assert (judge(answer, *contexts).support is Support.CONTRADICTED) is flagged


def test_a_no_before_a_noun_does():
    """ "No dogs" is another matter."""
    claim = judge("No dogs are allowed on the terrace.", "Dogs are allowed on the terrace.")
    assert claim.support is Support.CONTRADICTED


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("Dogs under 8 kg travel in the cabin.", DOGS),
        ("Orders below 50 EUR don't ship free.", "Orders over 50 EUR ship free of charge."),
        ("Parcels over 20 kg are not accepted.", "We accept parcels of less than 20 kg."),
        ("Parcels of less than 20 kg are accepted.", "Parcels over 20 kg are refused."),
        ("Dogs over 8 kg travel in the hold.", f"{DOGS} Dogs over 8 kg travel in the hold, like cats."),
        ("Below 50 EUR or over 50 EUR, orders ship free.", "Orders over 50 EUR ship free of charge."),
        ("Visitors over 12 pay full price.", "Children under 12 pay half, everyone else pays full price."),
        ("Guests over 12 pay full price.", "Children under 12 pay half, older guests pay full price."),
    ],
)
def test_a_bound_is_not_held_against_what_denies_it_or_has_both(answer, context):
    """The other side of a limit is the same limit where one of the two denies."""
    assert judge(answer, context).support is not Support.CONTRADICTED


def test_a_denial_counts_where_the_sentence_names_both_sides():
    """What is said below a limit and denied above it."""
    text = "Dogs under 8 kg are allowed in the cabin; dogs over 8 kg are not allowed in the cabin."
    assert judge("Dogs over 8 kg are allowed in the cabin.", text).support is Support.CONTRADICTED
