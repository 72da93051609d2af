"""The fitted aggregation: a rule like the others, learnt from labelled answers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.aggregation import AnyUnsupported, Fraction
from groundwire.core.fitted_aggregation import FIGURES, Fitted, fit

RULE = Fitted(weights=(2.0, 0.5, 1.0, 0.0, 1.5), bias=-2.0)
scored = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 50)), min_size=1, max_size=8)


@given(answer=scored, random=st.randoms())
def test_the_order_of_claims_never_matters(answer, random):
    shuffled = list(answer)
    random.shuffle(shuffled)
    assert RULE.combine(shuffled) == RULE.combine(answer)


@given(answer=scored, at=st.integers(0, 7), worse=st.floats(0, 1))
def test_a_worse_claim_never_makes_a_better_answer(answer, at, worse):
    i = at % len(answer)
    changed = [*answer[:i], (max(worse, answer[i][0]), answer[i][1]), *answer[i + 1 :]]
    assert RULE.combine(changed) >= RULE.combine(answer) - 1e-12


def test_it_learns_which_rule_the_labels_follow():
    """Answers labelled by their worst claim are told apart better than by the mean, and vice versa."""
    rng = np.random.default_rng(0)
    answers = [[(float(s), 10) for s in rng.random(rng.integers(2, 9)) ** 2] for _ in range(600)]
    for rule, other in ((AnyUnsupported(), Fraction()), (Fraction(), AnyUnsupported())):
        values = np.array([rule.combine(one) for one in answers])
        labels = (values > np.median(values)).astype(int).tolist()
        fitted = fit(answers, labels)
        right = np.mean(
            [(fitted.combine(one) >= 0.5) == label for one, label in zip(answers, labels, strict=True)]
        )
        others = np.array([other.combine(one) for one in answers])
        assert right > np.mean((others > np.median(others)) == np.array(labels))


def test_what_can_not_be_fitted_is_refused():
    with pytest.raises(ValueError, match="as many labels"):
        fit([[(0.1, 3)]], [])
    with pytest.raises(ValueError, match="as many labels, and a scored claim each"):
        fit([[]], [1])
    with pytest.raises(ValueError, match="all labels are alike"):
        fit([[(0.1, 3)], [(0.2, 3)]], [1, 1])


@pytest.mark.parametrize("bias", ["0.3", math.nan, None, True])
def test_a_bias_that_is_no_number_is_refused(bias):
    with pytest.raises(ValueError, match="a number for its bias"):
        Fitted(weights=(1,) * len(FIGURES), bias=bias)


def test_a_negative_weight_is_refused():
    with pytest.raises(ValueError, match=f"{len(FIGURES)} weights from 0 on"):
        Fitted(weights=(1, 1, 1, 1, -1), bias=0)
