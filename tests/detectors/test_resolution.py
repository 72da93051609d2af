"""Votes on one claim: laws that every rule keeps, and what each rule says."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import ConfigurationError, Support
from groundwire.core.claim import LABELS, Vote
from groundwire.core.dawid_skene import DawidSkene
from groundwire.detectors.ensemble.resolution import (
    GROUNDED,
    Bayesian,
    Confidence,
    Majority,
    Weighted,
    fit_votes,
    read_resolution,
)

SUP, INF, UNS, CON = LABELS
NAMES = [f"o{i}" for i in range(7)]


def spread(accuracy):
    """Who is right so often, and else says each of the others as often."""
    return tuple(tuple(accuracy if i == j else (1 - accuracy) / 3 for j in range(4)) for i in range(4))


BAYES = Bayesian(
    model=DawidSkene(prior=(0.25,) * 4, confusion=tuple(spread(0.5 + i / 20) for i in range(7))),
    oracles=tuple(NAMES),
)
RULES = [
    Majority(),
    Confidence(),
    Weighted(reliabilities={"o0": 0.9, "o1": 0.6, "o2": 0.3, "o3": 0.1}),
    BAYES,
]
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.by)
supports = st.sampled_from(LABELS)
sides = st.sampled_from([GROUNDED, GROUNDED - {INF}])


@st.composite
def ballots(draw, least=1):
    said = draw(st.lists(st.tuples(supports, st.none() | st.floats(0, 1)), min_size=least, max_size=6))
    return [Vote(oracle=NAMES[i], support=s, confidence=c) for i, (s, c) in enumerate(said)]


def votes(*said, **options):
    return [Vote(oracle=NAMES[i], support=one, **options) for i, one in enumerate(said)]


@each_rule
@given(given_votes=ballots(), grounded=sides, random=st.randoms())
def test_the_order_of_votes_never_matters(rule, given_votes, grounded, random):
    shuffled = list(given_votes)
    random.shuffle(shuffled)
    assert rule(shuffled, grounded) == rule(given_votes, grounded)


@each_rule
@given(given_votes=ballots(), grounded=sides, sure=st.none() | st.floats(0, 1))
def test_adding_agreement_never_flips_a_label(rule, given_votes, grounded, sure):
    """For Dawid and Skene's model, where an oracle's errors are spread evenly over the other labels."""
    before = rule(given_votes, grounded)
    more = Vote(oracle=NAMES[6], support=before.support, confidence=sure)
    assert rule([*given_votes, more], grounded).support is before.support


@each_rule
@given(given_votes=ballots(), grounded=sides)
def test_the_score_is_a_half_or_more_exactly_where_the_claim_is_not_grounded(rule, given_votes, grounded):
    decided = rule(given_votes, grounded)
    assert 0 <= decided.score <= 1
    assert (decided.score >= 0.5) == (decided.support not in grounded)


@given(given_votes=ballots(), right=st.floats(0, 1), grounded=sides)
def test_the_weights_of_equal_oracles_give_the_majority(given_votes, right, grounded):
    equal = Weighted(reliabilities=dict.fromkeys(NAMES, right))
    assert equal(given_votes, grounded).support is Majority()(given_votes, grounded).support


@given(given_votes=ballots(), sure=st.floats(0.01, 1), grounded=sides)
def test_votes_that_are_equally_sure_give_the_majority(given_votes, sure, grounded):
    same = [Vote(oracle=v.oracle, support=v.support, confidence=sure) for v in given_votes]
    assert Confidence()(same, grounded).support is Majority()(same, grounded).support


@given(given_votes=ballots())
def test_a_support_that_more_than_half_voted_for_has_the_majority(given_votes):
    for label in LABELS:
        if 2 * sum(vote.support is label for vote in given_votes) > len(given_votes):
            assert Majority()(given_votes, GROUNDED).support is label


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ((SUP, UNS, CON), CON),
        ((SUP, INF, UNS), UNS),
        ((SUP, INF, CON), CON),
        ((INF, UNS, CON), CON),
    ],
)
def test_dissent_of_one_to_one_to_one_goes_to_the_most_severe(order, said, expected):
    assert Majority()(votes(*(said[i] for i in order)), GROUNDED).support is expected


@pytest.mark.parametrize(
    ("said", "expected", "score"),
    [
        ((SUP, SUP, UNS), SUP, 1 / 3),
        ((UNS, UNS, INF), UNS, 2 / 3),
        ((SUP, UNS), UNS, 0.5),
        ((SUP, INF), INF, 0.0),
        (
            (SUP, SUP, SUP, UNS, UNS, CON, CON),
            CON,
            4 / 7,
        ),  # four of seven flag it: that they don't agree why clears nobody
        ((SUP, SUP, INF, INF, UNS, UNS, UNS), UNS, 0.6),  # no support has more votes
        ((CON,), CON, 1.0),
    ],
)
def test_what_majorities_say(said, expected, score):
    decided = Majority()(votes(*said), GROUNDED)
    assert (decided.support, decided.score) == (expected, pytest.approx(score))


def test_inferred_counts_as_grounded_or_not_as_is_chosen():
    said = votes(INF, INF, SUP)
    assert Majority()(said, GROUNDED).score == 0
    assert Majority()(said, GROUNDED - {INF}).score == pytest.approx(2 / 3)


def test_one_reliable_oracle_outweighs_two_that_guess():
    rule = Weighted(reliabilities={"o0": 0.95, "o1": 0.4, "o2": 0.4})
    assert rule(votes(UNS, SUP, SUP), GROUNDED).support is UNS
    assert Majority()(votes(UNS, SUP, SUP), GROUNDED).support is SUP


def test_who_is_right_no_more_often_than_a_guess_counts_nothing():
    rule = Weighted(reliabilities={"o0": 0.5, "o1": 0.25, "o2": 0.1})
    assert rule(votes(SUP, CON, CON), GROUNDED).support is SUP


def test_a_reader_s_reliability_is_that_of_its_readings():
    rule = Weighted(reliabilities={"reader": 0.9, "other": 0.5})
    said = [Vote(oracle=f"reader/{i}", support=one) for i, one in enumerate((SUP, SUP))]
    assert rule.weight(said[0]) == rule.weight(Vote(oracle="reader", support=SUP))
    assert rule.weight(said[0]) > rule.weight(Vote(oracle="nobody", support=SUP))


def test_the_sure_outweigh_the_unsure():
    said = [
        Vote(oracle="o0", support=SUP, confidence=0.3),
        Vote(oracle="o1", support=SUP, confidence=0.3),
        Vote(oracle="o2", support=CON, confidence=0.9),
    ]
    assert Confidence()(said, GROUNDED).support is CON


def test_a_model_that_was_fitted_on_votes_believes_who_was_right():
    """Two oracles nod everything through, one tells: agreement where it matters gives that away."""
    past = [votes(SUP, SUP, SUP)] * 60 + [votes(UNS, UNS, UNS)] * 6 + [votes(SUP, SUP, SUP)] * 30
    past += [
        [Vote(oracle="o0", support=UNS), Vote(oracle="o1", support=UNS), Vote(oracle="o2", support=SUP)]
    ] * 40
    known = [None] * 96 + [UNS] * 20 + [None] * 20
    rule = fit_votes(past, known=known)
    assert rule.oracles == ("o0", "o1", "o2")
    assert rule.model.reliability[0] > rule.model.reliability[2]
    assert rule(votes(UNS, SUP, SUP), GROUNDED).score > Majority()(votes(UNS, SUP, SUP), GROUNDED).score


def test_votes_of_strangers_alone_are_a_majority():
    said = [Vote(oracle="stranger", support=UNS)]
    assert BAYES(said, GROUNDED) == Majority()(said, GROUNDED)


def test_votes_are_read_from_the_wire_as_well():
    voted = [[Vote(oracle="a", support=SUP), Vote(oracle="b", support=one)] for one in (SUP, UNS, CON, SUP)]
    told = [
        [{"oracle": vote.oracle, "support": str(vote.support), "confidence": None} for vote in votes]
        for votes in voted
    ]
    assert fit_votes(told) == fit_votes(voted)


def test_nothing_is_fitted_without_a_vote():
    with pytest.raises(ValueError, match="no claim has a vote"):
        fit_votes([[], []])


def test_rules_are_read_from_settings():
    assert read_resolution("majority") == Majority()
    assert read_resolution({"by": "weighted", "reliabilities": {"a": 0.8}}) == Weighted(
        reliabilities={"a": 0.8}
    )
    plain = {"by": "dawid_skene", "oracles": NAMES, **BAYES.model.to_dict()}
    with pytest.raises(ConfigurationError, match="has no 'confusion'"):
        read_resolution(plain)
    assert read_resolution({"by": "dawid_skene", "oracles": NAMES, "model": BAYES.model.to_dict()}) == BAYES


@pytest.mark.parametrize(
    ("given_rule", "message"),
    [
        ("most", "expected one of majority, confidence, weighted, dawid_skene, or 'by' one, not 'most'"),
        (["majority"], "not list"),
        ({"by": "majority", "weights": {}}, "'majority' has no 'weights'; expected one of nothing"),
        ({"by": ["majority"]}, "expected one of majority"),
        ({"by": "weighted", "reliabilities": ["a"]}, "reliabilities must be a table of shares by oracle"),
        ({"by": "weighted", "reliabilities": {"a": 1.5}}, r"must be a number in \[0, 1\], not 1.5"),
        ({"by": "dawid_skene", "oracles": ["a"]}, "model"),
        ({"by": "dawid_skene", "oracles": ["a"], "model": {"prior": [1]}}, "confusion"),
        ({"by": "dawid_skene", "oracles": ["a"], "model": BAYES.model.to_dict()}, "7 oracles and 4 labels"),
    ],
)
def test_rules_that_can_not_work_are_refused(given_rule, message):
    with pytest.raises(ConfigurationError, match=message):
        read_resolution(given_rule)


def test_a_vote_that_can_not_be_used_has_no_severity():
    assert Support.UNVERIFIED.severity < min(label.severity for label in LABELS)
