"""Aggregation: laws that every rule keeps, and what each rule says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import Claim, Span, Support
from groundwire.core.aggregation import AnyUnsupported, Fraction, LengthWeighted, WorstK
from tests.core.strategies import claims, scores

RULES = [AnyUnsupported(), Fraction(), LengthWeighted(), WorstK(k=1), WorstK(k=3)]
each_rule = pytest.mark.parametrize("rule", RULES, ids=repr)


def claim(score, length=4):
    return Claim(text="x" * length, span=Span(0, length), support=Support.UNSUPPORTED, score=score)


@each_rule
@given(given_claims=st.lists(claims()), random=st.randoms())
def test_the_order_of_claims_never_matters(rule, given_claims, random):
    shuffled = list(given_claims)
    random.shuffle(shuffled)
    assert rule(shuffled) == rule(given_claims)


@each_rule
@given(given_claims=st.lists(claims(), min_size=1))
def test_the_result_lies_between_the_best_and_the_worst_claim(rule, given_claims):
    found = [c.score for c in given_claims if c.score is not None]
    result = rule(given_claims)
    if not found:
        assert result is None
    else:
        assert min(found) - 1e-12 <= result <= max(found) + 1e-12


@each_rule
@given(values=st.lists(scores, min_size=1), worse=scores, at=st.integers(0, 9))
def test_a_worse_claim_never_makes_a_better_answer(rule, values, worse, at):
    before = [claim(value) for value in values]
    i = at % len(values)
    after = [*before[:i], claim(max(values[i], worse)), *before[i + 1 :]]
    assert rule(after) >= rule(before) - 1e-12


def test_each_rule_says_what_its_name_says():
    given_claims = [claim(1.0, length=1), claim(0.0, length=3), claim(0.5, length=4)]
    assert AnyUnsupported()(given_claims) == 1.0
    assert Fraction()(given_claims) == 0.5
    assert LengthWeighted()(given_claims) == pytest.approx(3 / 8)
    assert WorstK(k=2)(given_claims) == 0.75


def test_unverified_claims_take_no_part():
    unknown = Claim(text="x", span=Span(0, 1), support=Support.UNVERIFIED)
    assert Fraction()([unknown, claim(0.4)]) == 0.4
    assert AnyUnsupported()([unknown]) is None


@pytest.mark.parametrize(
    ("k", "message"), [(0, "k >= 1"), (2.5, "a whole number k, not 2.5"), ("2", "not '2'"), (True, "True")]
)
def test_worst_k_needs_a_whole_number_from_one_on(k, message):
    with pytest.raises(ValueError, match=message):
        WorstK(k=k)
