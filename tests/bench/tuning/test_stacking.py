"""Stacking: plain numbers that say what scikit-learn's model says, and never fall where a score rises."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.bench.metrics import auroc
from groundwire.bench.tuning import TuningError, stacking
from groundwire.detectors import combination
from tests.bench.tuning.drawn import rows

CLOSE = 1e-6


def two_halves(rng, count):
    """Each of two detectors sees one of two signs of a hallucination, and a third knows nothing."""
    signs = rng.normal(0, 1, (count, 2))
    labels = rng.random(count) < 1 / (1 + np.exp(-(2 * signs.sum(axis=1) - 0.5)))
    odds = np.column_stack([signs * 1.5, rng.normal(0, 1, count)])
    return 1 / (1 + np.exp(-odds)), labels


@pytest.fixture(scope="module")
def fitted():
    columns, labels = two_halves(np.random.default_rng(0), 900)
    return {kind: stacking.fit(kind, columns, labels) for kind in stacking.KINDS}


def test_trees_as_plain_numbers_say_what_the_fitted_model_says():
    from sklearn.ensemble import HistGradientBoostingClassifier

    columns, labels = two_halves(np.random.default_rng(1), 600)
    model = HistGradientBoostingClassifier(max_iter=25, max_leaf_nodes=6, random_state=0).fit(columns, labels)
    lists = {k: tuple(v) if isinstance(v, list) else v for k, v in stacking.exported(model).items()}
    plain = combination.Trees(members=3, **lists)
    assert stacking.applied(plain, columns) == pytest.approx(model.predict_proba(columns)[:, 1], abs=CLOSE)


@pytest.mark.parametrize("kind", stacking.KINDS)
@given(scores=st.lists(st.floats(0, 1), min_size=3, max_size=3), i=st.integers(0, 2), more=st.floats(0, 1))
def test_a_member_that_scores_higher_never_lowers_the_whole(fitted, kind, scores, i, more):
    higher = [*scores[:i], max(scores[i], more), *scores[i + 1 :]]
    low, high = fitted[kind](scores), fitted[kind](higher)
    assert 0 <= low <= high + 1e-12 <= 1 + 1e-12


@pytest.mark.parametrize("kind", stacking.KINDS)
def test_what_was_fitted_is_the_same_after_it_was_written_and_read(fitted, kind):
    one = fitted[kind]
    again = combination.from_dict(json.loads(json.dumps(one.to_dict())))
    assert again == one
    assert again.fingerprint == one.fingerprint
    assert again([0.2, 0.7, 0.4]) == one([0.2, 0.7, 0.4])


@pytest.mark.parametrize("kind", stacking.KINDS)
def test_two_that_see_different_things_are_better_together_on_answers_that_took_no_part(fitted, kind):
    columns, labels = two_halves(np.random.default_rng(5), 1_500)
    data = rows(columns, labels)
    alone = max(auroc(data.labelled(column)) for column in columns.T)
    assert auroc(data.labelled(stacking.applied(fitted[kind], columns))) > alone + 0.05


def test_one_that_counts_against_what_it_says_has_no_weight():
    columns, labels = two_halves(np.random.default_rng(2), 600)
    columns[:, 2] = 1 - columns[:, 0]
    weights = stacking.logistic(columns, labels).weights
    assert weights[2] == 0
    assert min(weights[:2]) > 0


def test_where_none_is_of_use_nothing_is_fitted():
    figures = np.linspace(0.05, 0.95, 100)
    with pytest.raises(TuningError, match="higher than grounded"):
        stacking.logistic(np.column_stack([figures, figures]), figures < 0.5)


def test_the_simpler_is_chosen_where_trees_see_no_more():
    columns, labels = two_halves(np.random.default_rng(3), 800)
    kind, said = stacking.choose(stacking.KINDS, columns, labels, np.arange(800).astype(str), 0)
    assert kind == "logistic"
    assert said.shape == (800,)


def test_trees_are_chosen_where_a_straight_line_can_not_follow():
    """Hallucinated where neither score is low, as no weighing of log-odds has it."""
    rng = np.random.default_rng(4)
    columns = rng.random((1_500, 2))
    labels = (columns.min(axis=1) > 0.45) & (rng.random(1_500) < 0.95)
    kind, _ = stacking.choose(stacking.KINDS, columns, labels, np.arange(1_500).astype(str), 0)
    assert kind == "trees"


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"kind": "forest"}, "expected 'logistic' or 'trees'"),
        ({"kind": "logistic", "weights": [1.0, -0.1], "bias": 0.0}, "a weight from 0 on"),
        ({"kind": "logistic", "weights": [], "bias": 0.0}, "a weight from 0 on"),
        ({"kind": "logistic", "weights": [1.0], "bias": float("nan")}, "bias must be a number"),
        ({"kind": "logistic", "weight": [1.0]}, "can't be read"),
        (
            {
                "kind": "trees",
                "members": 1,
                "roots": [0],
                "feature": [3],
                "threshold": [0.5],
                "left": [0],
                "right": [0],
                "value": [0.0],
                "depth": 0,
                "base": 0.0,
            },
            "beyond its 1",
        ),
        (
            {
                "kind": "trees",
                "members": 1,
                "roots": [9],
                "feature": [0],
                "threshold": [0.5],
                "left": [0],
                "right": [0],
                "value": [0.0],
                "depth": 0,
                "base": 0.0,
            },
            "lie within them",
        ),
    ],
)
def test_numbers_that_are_no_combination_are_refused(given_, message):
    with pytest.raises(ValueError, match=message):
        combination.from_dict(given_)
