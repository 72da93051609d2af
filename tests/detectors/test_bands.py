"""Bands: fitted for a target, measured on groups that took no part, and decided as the cascade does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.detectors.cascade.bands import Band, Target, decide, fit_bands


def simulated(n=600, *, seed=0, wrong=0.05):
    """Two stages that tell something, and a judge that is wrong about one answer in twenty."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < 0.4).astype(int)

    def stage(telling):
        return 1 / (1 + np.exp(-(telling * (2 * labels - 1) + rng.normal(size=n))))

    judge = np.where(rng.random(n) < wrong, 1 - labels, labels)
    return np.stack([stage(0.7), stage(1.0), judge], axis=1), labels, np.arange(n) // 3


def f1(labels, flagged):
    hit = (flagged & (labels == 1)).sum()
    return 2 * hit / (flagged.sum() + (labels == 1).sum())


def test_without_bands_everything_reaches_the_last_stage():
    scores, labels, _ = simulated()
    made = decide(scores, [Band(), Band()])
    assert (made.stage == 2).all()
    assert (made.flagged == (scores[:, 2] >= 0.5)).all()
    assert made.calls.tolist() == [1.0] * len(labels)


def test_each_stage_decides_outside_of_its_band():
    scores = [[0.1, 0.9, 1.0], [0.5, 0.9, 0.0], [0.5, 0.5, 1.0], [0.95, 0.0, 0.0]]
    made = decide(scores, [Band(accept=0.2, flag=0.9), Band(flag=0.8)])
    assert made.stage.tolist() == [0, 1, 2, 0]
    assert made.flagged.tolist() == [False, True, True, True]
    assert made.calls.tolist() == [0, 0, 1, 0]


def test_what_a_stage_could_not_judge_goes_on_and_in_the_end_is_undecided():
    made = decide([[np.nan, 0.9, 0.0], [np.nan, 0.5, np.nan]], [Band(accept=0.4), Band(flag=0.8)])
    assert made.stage.tolist() == [1, -1]
    assert made.flagged.tolist() == [True, False]


@pytest.mark.parametrize("budget", [0.1, 0.3, 0.6])
def test_a_budget_of_calls_is_kept_and_spent_well(budget):
    """With more calls F1 grows, and within them it beats sending answers to the judge by lot."""
    scores, labels, groups = simulated()
    found = fit_bands(scores, labels, groups, Target(calls=budget))
    assert found.fitted.calls.value <= budget
    assert found.held_out.calls.value == pytest.approx(budget, abs=0.1)
    lot = np.random.default_rng(1).random(len(labels)) < budget
    by_lot = np.where(lot, scores[:, 2] >= 0.5, scores[:, 1] >= 0.5)
    assert found.held_out.f1.value > f1(labels, by_lot)
    assert found.held_out.f1.low <= found.held_out.f1.value <= found.held_out.f1.high


def test_more_calls_never_fit_worse():
    scores, labels, groups = simulated()
    fitted = [
        fit_bands(scores, labels, groups, Target(calls=b), rounds=1).fitted.f1.value for b in (0, 0.2, 0.5, 1)
    ]
    assert fitted == sorted(fitted)


def test_precision_and_recall_are_met_with_as_few_calls_as_may_be():
    scores, labels, groups = simulated()
    target = Target(precision=0.85, recall=0.85)
    found = fit_bands(scores, labels, groups, target)
    assert found.fitted.precision.value >= 0.85
    assert found.fitted.recall.value >= 0.85
    assert found.fitted.calls.value < 0.6
    strict = fit_bands(scores, labels, groups, Target(precision=0.92, recall=0.92))
    assert strict.fitted.calls.value > found.fitted.calls.value


def test_a_target_out_of_reach_is_said_to_be_missed():
    scores, labels, groups = simulated(wrong=0.3)
    found = fit_bands(scores, labels, groups, Target(precision=0.99, recall=0.99))
    assert not found.met


def test_people_in_place_of_a_judge_are_labels_as_scores():
    scores, labels, groups = simulated()
    scores[:, 2] = labels
    found = fit_bands(scores, labels, groups, Target(precision=0.9, recall=0.9))
    assert found.fitted.precision.value >= 0.9
    assert 0 < found.fitted.calls.value < 1


def test_held_out_figures_come_from_groups_that_took_no_part():
    """Scores that only tell which answer it is fit well, and are worth nothing on other groups."""
    rng = np.random.default_rng(0)
    scores = np.stack([rng.random(200), np.full(200, np.nan)], axis=1)
    labels = rng.integers(0, 2, 200)
    found = fit_bands(scores, labels, np.arange(200), Target(f1=0.9), folds=4)
    assert not found.met
    assert found.held_out.f1.value < 0.75


@given(data=st.data())
@settings(deadline=None, max_examples=25)
def test_the_order_of_answers_never_matters(data):
    scores, labels, groups = simulated(60, seed=data.draw(st.integers(0, 5)))
    order = np.array(data.draw(st.permutations(range(60))))
    target = Target(calls=0.3)
    one = fit_bands(scores, labels, groups, target, rounds=1, folds=2)
    other = fit_bands(scores[order], labels[order], groups[order], target, rounds=1, folds=2)
    assert one.bands == other.bands
    assert one.held_out.f1.value == pytest.approx(other.held_out.f1.value)


@given(bands=st.tuples(*[st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted)] * 2))
@settings(deadline=None, max_examples=50)
def test_every_answer_is_decided_once_and_a_wider_band_asks_more(bands):
    scores, _, _ = simulated(80)
    made = decide(scores, [Band(accept=a, flag=f) for a, f in bands])
    assert ((made.stage >= 0) & (made.stage <= 2)).all()
    wider = decide(scores, [Band(accept=a * 0.9, flag=min(1.0, f * 1.1)) for a, f in bands])
    assert (wider.calls >= made.calls).all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": [0.1, 0.2]}, "a table of answers by stages, not of shape"),
        ({"scores": [[1.5, 0.2]] * 4}, r"must be in \[0, 1\], or NaN"),
        ({"labels": [0, 1, 2, 0]}, "labels must be 0 or 1"),
        ({"labels": [0, 1]}, "labels must have 4 entries"),
        ({"groups": ["a"]}, "groups must have 4 entries"),
        ({"groups": ["a"] * 4}, "2 folds need as many groups, at least 2: there are 1"),
        ({"calls": [1]}, "calls must have 2 entries"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changed, message):
    arrays = {"scores": [[0.1, 0.2]] * 4, "labels": [0, 1, 0, 1], "groups": ["a", "b", "c", "d"]} | changed
    with pytest.raises(ValueError, match=message):
        fit_bands(**arrays, target=Target(f1=0.5), folds=2)


@pytest.mark.parametrize(
    ("target", "message"),
    [({}, "needs a precision"), ({"recall": 1.5}, "recall must be"), ({"calls": -1}, "calls must be")],
)
def test_targets_that_can_not_be_met_by_anything_are_refused(target, message):
    with pytest.raises(ValueError, match=message):
        Target(**target)


def test_as_many_bands_as_stages_but_the_last():
    with pytest.raises(ValueError, match="3 stages have 2 bands, not 1"):
        decide([[0.1, 0.2, 0.3]], [Band()])


@pytest.mark.parametrize(
    ("seed", "flag", "accept", "second"), [(0, 0.869, 0.457, 0.653), (9, 0.661, 0.548, 0.774)]
)
def test_an_early_stage_does_not_use_up_the_mistakes_that_a_target_allows_for(seed, flag, accept, second):
    """Bands are known that meet the target with so few answers left to people."""
    scores, labels, groups = simulated(300, seed=seed)
    scores[:, 0], scores[:, 2] = np.maximum(scores[:, 0], 0.5), labels
    known = decide(scores, [Band(flag=flag), Band(accept=accept, flag=second)])
    assert (labels[known.flagged] == 1).mean() >= 0.9
    assert known.flagged[labels == 1].mean() >= 0.9
    found = fit_bands(scores, labels, groups, Target(precision=0.9, recall=0.9), rounds=1)
    assert found.fitted.calls.value <= known.calls.mean() + 0.005


def test_a_stage_may_accept_all_that_reaches_it():
    """Also where that is one answer."""
    scores = [[0.2, 0.0], [0.9, 1.0], [0.9, 1.0], [0.9, 1.0]]
    found = fit_bands(scores, [0, 1, 1, 1], ["a", "b", "c", "d"], Target(calls=0.0), rounds=1, folds=2)
    assert found.fitted.calls.value == 0
    assert found.fitted.f1.value == 1
