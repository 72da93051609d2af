"""Dawid and Skene's model: it finds out who is right, from votes alone, and never depends on their order."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.dawid_skene import DawidSkene, fit

LABELS = 3


def simulated(accuracies, items=3_000, *, labels=LABELS, seed=0, silent=0.0):
    """True labels, and the votes of judges who are right so often, their errors spread evenly."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(labels, size=items, p=[0.6, *[0.4 / (labels - 1)] * (labels - 1)])
    votes = np.empty((items, len(accuracies)), dtype=np.int64)
    for j, accuracy in enumerate(accuracies):
        wrong = (truth + rng.integers(1, labels, size=items)) % labels
        votes[:, j] = np.where(rng.random(items) < accuracy, truth, wrong)
    votes[rng.random(votes.shape) < silent] = -1
    return truth, votes


def right(model, truth, votes):
    return float(np.mean(model.posterior(votes).argmax(axis=1) == truth))


@pytest.mark.parametrize("silent", [0.0, 0.3])
def test_it_recovers_how_reliable_each_judge_is_without_a_label(silent):
    accuracies = (0.95, 0.8, 0.7, 0.55, 0.4)
    _, votes = simulated(accuracies, silent=silent)
    model = fit(votes, labels=LABELS)
    assert model.converged
    assert model.reliability == pytest.approx(accuracies, abs=0.05)
    assert model.prior == pytest.approx((0.6, 0.2, 0.2), abs=0.05)


def test_it_is_right_more_often_than_a_majority_of_unequal_judges():
    truth, votes = simulated((0.95, 0.55, 0.55, 0.5, 0.5))
    majority = np.stack([(votes == label).sum(axis=1) for label in range(LABELS)]).argmax(axis=0)
    assert right(fit(votes, labels=LABELS), truth, votes) > np.mean(majority == truth) + 0.05


def test_reviewed_labels_tell_what_agreement_alone_can_not():
    """Judges that copy one another outvote a better one, unless most of it is reviewed."""
    truth, votes = simulated((0.9, 0.4), items=2_000)
    votes = votes[:, [0, 1, 1, 1]]
    known = np.where(np.arange(len(truth)) < 1_900, truth, -1).tolist()
    blind, told = fit(votes, labels=LABELS), fit(votes, labels=LABELS, known=known)
    assert blind.reliability[0] < blind.reliability[1]
    assert told.reliability[0] == pytest.approx(0.9, abs=0.05)
    assert told.reliability[1] == pytest.approx(0.4, abs=0.05)


@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_the_order_of_judges_and_items_never_matters(data):
    size = data.draw(st.tuples(st.integers(2, 12), st.integers(1, 4)))
    votes = np.array(
        data.draw(
            st.lists(st.lists(st.integers(-1, 2), min_size=size[1], max_size=size[1]), min_size=size[0])
        )
    )
    judges = data.draw(st.permutations(range(size[1])))
    items = data.draw(st.permutations(range(len(votes))))
    one, other = fit(votes, labels=LABELS), fit(votes[items][:, judges], labels=LABELS)
    assert np.array(other.reliability) == pytest.approx(np.array(one.reliability)[judges], abs=1e-6)
    assert other.posterior(votes[items][:, judges]) == pytest.approx(one.posterior(votes)[items], abs=1e-6)


def test_who_said_nothing_changes_nothing():
    """Where nobody voted, what is left is how common each label is."""
    _, votes = simulated((0.9, 0.8))
    model = fit(votes, labels=LABELS)
    assert model.posterior([[-1, -1]])[0] == pytest.approx(model.prior)
    assert model.posterior([[0, -1]]).sum() == pytest.approx(1)


def test_it_survives_the_trip_through_json():
    _, votes = simulated((0.9, 0.8), items=50)
    model = fit(votes, labels=LABELS)
    again = DawidSkene.from_dict(json.loads(json.dumps(model.to_dict())))
    assert again.posterior(votes) == pytest.approx(model.posterior(votes))


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        ([0, 1], "a table of items by judges"),
        ([[0, 3]], "from 0 to 2"),
        ([[0, -2]], "from 0 to 2"),
        ([[0.5, 1.0]], "whole numbers"),
        (np.empty((0, 2), dtype=int), "nothing to fit"),
    ],
)
def test_votes_that_are_none_are_refused(votes, message):
    with pytest.raises(ValueError, match=message):
        fit(votes, labels=LABELS)


def test_reviewed_labels_of_another_number_are_refused():
    with pytest.raises(ValueError, match="one for each of 2 items"):
        fit([[0], [1]], labels=LABELS, known=[0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"prior": (0.5, 0.4), "confusion": (((0.5, 0.5), (0.5, 0.5)),)},
        {"prior": (0.5, 0.5), "confusion": (((1.0, 0.0), (0.5, 0.5)),)},
        {"prior": (0.5, 0.5), "confusion": (((0.5, 0.5),),)},
    ],
)
def test_a_model_that_is_no_probability_is_refused(wrong):
    with pytest.raises(ValueError, match=r"prior|sum to 1"):
        DawidSkene(**wrong)


def test_a_model_refuses_votes_of_other_judges():
    _, votes = simulated((0.9, 0.8), items=20)
    with pytest.raises(ValueError, match="2 judges"):
        fit(votes, labels=LABELS).posterior([[0, 0, 0]])
