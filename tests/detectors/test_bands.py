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
    scores = [[np.nan, 0.9, 0.0], [np.nan, 0.4, np.nan], [0.6, np.nan, np.nan], [0.9, 0.1, np.nan]]
    made = decide(scores, [Band(accept=0.4), Band(flag=0.8)])
    assert made.stage.tolist() == [1, -1, 0, -1]
    assert made.flagged.tolist() == [True, False, True, False]
    assert made.undecided.tolist() == [False, True, False, True]


def test_what_is_refuted_is_flagged_whatever_stages_say_and_costs_what_they_took():
    calls = [[0, 0], [1, 2], [1, 2]]
    made = decide(
        [[np.nan, np.nan], [0.1, 0.1], [0.5, 0.1]], [Band(accept=0.2)], calls=calls, refuted=[1, 1, 0]
    )
    assert made.flagged.tolist() == [True, True, False]
    assert not made.undecided.any()
    assert made.calls.tolist() == [0, 1, 3]


def test_what_a_stage_could_not_verify_it_never_accepts():
    unverified = [[1, 0], [0, 0], [1, 0], [0, 1]]
    scores = [[0.1, 0.1], [0.1, 0.1], [0.9, 0.1], [0.5, 0.4]]
    made = decide(scores, [Band(accept=0.2, flag=0.8)], unverified=unverified)
    assert made.stage.tolist() == [1, 0, 0, -1]
    assert made.undecided.tolist() == [False, False, False, True]
    found = fit_bands(scores * 5, [0, 0, 1, 0] * 5, range(20), Target(calls=0.5), unverified=unverified * 5)
    [band] = found.bands
    again = decide(scores * 5, [band], unverified=unverified * 5)
    assert again.calls.mean() == found.fitted.calls.value
    assert found.fitted.f1.value == 1


def useless_and_perfect(n=80):
    """A first stage that tells nothing, and a last one that is always right."""
    rng = np.random.default_rng(1)
    labels = (rng.random(n) < 0.4).astype(int)
    return np.stack([rng.random(n), np.where(labels, 0.9, 0.1)], axis=1), labels, np.arange(n)


def test_a_precision_is_kept_with_as_much_found_as_may_be():
    found = fit_bands(*useless_and_perfect(), Target(precision=0.9))
    assert found.reached
    assert found.fitted.recall.value == 1
    assert found.held_out.recall.value > 0.9


def test_a_recall_is_kept_with_as_few_false_alarms_as_may_be():
    found = fit_bands(*useless_and_perfect(), Target(recall=0.9))
    assert found.reached
    assert found.fitted.precision.value == 1
    assert found.held_out.precision.value > 0.9


def test_flagging_nothing_keeps_no_precision():
    labels = np.arange(40) % 2
    found = fit_bands(np.full((40, 2), 0.2), labels, np.arange(40), Target(precision=0.9), calls=[0, 0])
    assert not found.reached
    assert not found.met
    assert found.fitted.precision.value == 0.5
    nothing = fit_bands(np.full((40, 2), np.nan), labels, np.arange(40), Target(precision=0.9))
    assert np.isnan(nothing.fitted.precision.value)
    assert not nothing.reached


def test_calls_that_an_answer_does_not_take_are_not_paid_for():
    """Half of the answers are refuted at no cost, so the judge may see all others."""
    scores, labels, groups = useless_and_perfect()
    refuted = (labels == 1) & (groups % 2 == 0)
    scores[refuted] = np.nan
    calls = np.where(refuted[:, None], 0, [0, 1])
    found = fit_bands(scores, labels, groups, Target(calls=1 - refuted.mean()), calls=calls, refuted=refuted)
    assert found.fitted.f1.value == 1
    assert found.fitted.undecided == 0


def test_what_bands_are_held_out_from_always_has_both_labels():
    """Three sources are hallucinated; none of the rests of cross-validation is without one."""
    groups = np.arange(12)
    labels = (groups % 3 == 0) & (groups < 9)
    scores = np.stack([np.where(labels, 0.8, 0.2), np.full(12, np.nan)], axis=1)
    found = fit_bands(scores, labels, groups, Target(recall=0.9, calls=0), folds=3)
    assert found.held_out.recall.value == 1


def test_the_folds_may_be_given():
    scores, labels, groups = simulated(60)
    given = fit_bands(scores, labels, groups, Target(calls=0.3), folds=groups % 2, rounds=1)
    one = fit_bands(
        scores[groups % 2 == 0], labels[groups % 2 == 0], groups[groups % 2 == 0], Target(calls=0.3), rounds=1
    )
    held = groups % 2 == 1
    assert given.decisions.flagged[held].tolist() == decide(scores[held], one.bands).flagged.tolist()


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
        ({"labels": [0, 1]}, r"labels must be of shape \(4,\)"),
        ({"groups": ["a"]}, r"groups must be of shape \(4,\)"),
        ({"groups": ["a"] * 4}, "2 folds need as many groups, at least 2: there are 1"),
        ({"calls": [1]}, r"calls must be of shape \(2,\) or \(4, 2\), not \(1,\)"),
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


def test_no_end_of_a_band_lies_above_1():
    """Where the highest score would have to be accepted, it is handed on."""
    scores = [[np.nan, 1.0, 0.0], [np.nan, 0.5, 0.0], [0.9, 1.0, 1.0], [0.9, 1.0, 1.0]]
    found = fit_bands(scores, [0, 0, 1, 1], [0, 1, 2, 3], Target(calls=0.25), rounds=1, folds=2)
    assert found.fitted.f1.value == 1
    assert all(band.accept is None or band.accept <= 1 for band in found.bands)
