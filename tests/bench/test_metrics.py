"""The measures agree with what a hand works out, and with scikit-learn."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, roc_auc_score

from groundwire.bench import intervals, metrics
from groundwire.bench.metrics import Labelled, Marked, Paired
from groundwire.core.span import Span

# Few values, so that ties are frequent; scikit-learn holds scores closer than 1e-7 or so to be equal.
SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.4, 0.5, 0.75, 0.9, 1.0])
ANSWERS = st.lists(
    st.tuples(st.integers(0, 1), SCORES, st.floats(0.25, 20), st.integers(0, 4)), min_size=2, max_size=30
)


def labelled(labels, scores, weights=None, groups=None, strata=None):
    return Labelled(
        labels=np.array(labels),
        scores=np.array(scores, dtype=float),
        weights=np.ones(len(labels)) if weights is None else np.array(weights, dtype=float),
        groups=np.array([str(source) for source in groups or range(len(labels))]),
        strata=None if strata is None else np.array(strata),
    )


def drawn(answers):
    labels, scores, weights, groups = zip(*answers, strict=True)
    return labelled(labels, scores, weights, groups)


def marked(*counts, weights=None):
    annotated, flagged, both = np.array(counts, dtype=float).T
    return Marked(
        annotated=annotated,
        flagged=flagged,
        both=both,
        weights=np.ones(len(counts)) if weights is None else np.array(weights, dtype=float),
        groups=np.arange(len(counts)).astype(str),
    )


def test_auroc_counts_pairs_and_halves_ties():
    """Two bad ones against two good ones: three pairs in order, one tie."""
    assert metrics.auroc(labelled([1, 1, 0, 0], [0.9, 0.4, 0.4, 0.1])) == 3.5 / 4


def test_auroc_weighs_a_pair_by_both_of_its_answers():
    """The pair that is out of order weighs 1 x 3, the one in order 1 x 1."""
    assert metrics.auroc(labelled([1, 0, 0], [0.5, 0.2, 0.8], weights=[1, 1, 3])) == 1 / 4


def test_auroc_of_one_class_is_no_number():
    """Where all answers are alike there is nothing to order, and no figure is made up."""
    assert np.isnan(metrics.auroc(labelled([1, 1], [0.2, 0.4])))
    assert intervals.figure(metrics.auroc, labelled([1, 1], [0.2, 0.4])) is None


@settings(max_examples=30)
@given(ANSWERS)
def test_auroc_is_scikit_learns(answers):
    """With any weights and any ties."""
    data = drawn(answers)
    if 0 < data.labels.sum() < len(answers):
        theirs = roc_auc_score(data.labels, data.scores, sample_weight=data.weights)
        assert metrics.auroc(data) == pytest.approx(theirs)


@settings(max_examples=30)
@given(ANSWERS, SCORES)
def test_f1_is_scikit_learns(answers, threshold):
    """A score that equals the threshold is flagged. Of nothing to find there is no F1."""
    data = drawn(answers)
    theirs = f1_score(data.labels, data.scores >= threshold, sample_weight=data.weights, zero_division=0.0)
    there = (data.labels * data.weights).any()
    assert metrics.f1(data.flags(threshold)) == pytest.approx(theirs if there else math.nan, nan_ok=True)


@given(ANSWERS)
def test_the_best_f1_is_reached_at_its_cut_and_beaten_at_none(answers):
    """Whatever the cut, F1 stays at or below the best."""
    data = drawn(answers)
    best, cut = metrics.best_f1(data)
    if not (data.labels * data.weights).any():
        assert math.isnan(best)
        return
    assert metrics.f1(data.flags(cut)) == pytest.approx(best)
    assert all(metrics.f1(data.flags(other)) <= best + 1e-9 for other in np.linspace(0, 1, 11))


def test_calibration_error_is_the_weighted_gap_of_each_bin():
    """Two bins of ten: |.15 - .5| for two thirds of the weight, |.95 - 1| for a third."""
    data = labelled([0, 1, 1], [0.12, 0.18, 0.95], weights=[2, 2, 2])
    assert metrics.ece(data, bins=10) == pytest.approx(2 / 3 * 0.35 + 1 / 3 * 0.05)


def test_a_score_of_one_is_in_the_last_bin():
    """The last bin is closed; it would otherwise be a bin of its own."""
    (only,) = metrics.reliability(labelled([1, 0], [1.0, 0.95]), bins=15)
    assert (only.low, only.high, only.answers) == (14 / 15, 1.0, 2)
    assert (only.score, only.rate) == (pytest.approx(0.975), 0.5)


@given(ANSWERS)
def test_bins_hold_all_the_weight(answers):
    """No answer is left out of the reliability table."""
    bins = metrics.reliability(drawn(answers))
    assert sum(one.answers for one in bins) == len(answers)
    assert sum(one.share for one in bins) == pytest.approx(1)


def test_chance_alone_makes_a_calibration_error():
    """Exact scores show an error that falls as answers are added, and scores of 0 and 1 show none."""
    few, many = (labelled([0] * n, np.linspace(0, 1, n)) for n in (30, 3_000))
    assert metrics.chance_ece(few) > 3 * metrics.chance_ece(many) > 0
    assert metrics.chance_ece(labelled([0, 1], [0.0, 1.0])) == 0


def test_characters_count_once_however_often_they_are_marked():
    """Overlapping spans are one stretch; an empty one is nothing."""
    assert metrics.characters([Span(2, 4), Span(3, 6), Span(9, 9)]) == {2, 3, 4, 5}


def test_span_f1_takes_all_answers_together():
    """Precision 6 of 10, recall 6 of 14: not the mean of the answers' own."""
    assert metrics.span_f1(marked((10, 4, 4), (4, 6, 2))) == pytest.approx(2 * 6 / (14 + 10))


def test_span_f1_weighs_answers():
    """An answer that weighs twice is as good as two of it."""
    twice = marked((10, 4, 4), (4, 6, 2), (4, 6, 2))
    assert metrics.span_f1(marked((10, 4, 4), (4, 6, 2), weights=[1, 2])) == metrics.span_f1(twice)


@pytest.mark.parametrize("flagged", [0, 4])
def test_there_is_no_span_f1_of_nothing_to_find(flagged):
    """It is no success to flag nothing where nothing is marked, and no figure at all."""
    assert math.isnan(metrics.span_f1(marked((0, flagged, 0))))


def test_answers_to_one_source_are_drawn_together():
    """Whatever is drawn, a source comes with all of its answers."""
    data = labelled([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], groups="aabb")
    seen = {tuple(weights) for weights in intervals.resamples(data, rounds=50)}
    assert seen == {(2, 2, 0, 0), (1, 1, 1, 1), (0, 0, 2, 2)}


def test_strata_keep_their_number_of_groups():
    """However the groups fall, each stratum has as many as before, so that tasks weigh what they weighed."""
    data = labelled([0] * 6, range(6), strata=["qa", "qa", "qa", "qa", "summary", "summary"])
    assert {weights[:4].sum() for weights in intervals.resamples(data, rounds=50)} == {4}


def test_an_interval_is_the_middle_of_the_resamples():
    """The mean of ten groups, 0 to 9: about 4.5, give or take twice 2.87 over the root of ten."""
    data = labelled([0] * 10, range(10))
    low, high = intervals.interval(
        lambda sample: float(np.average(sample.scores, weights=sample.weights)), data, rounds=2_000
    )
    assert (low, high) == (pytest.approx(4.5 - 1.78, abs=0.15), pytest.approx(4.5 + 1.78, abs=0.15))


def test_an_interval_leaves_out_resamples_without_meaning():
    """A resample of one class has no AUROC, and spoils none of the others."""
    data = labelled([1, 0, 1, 0], [0.9, 0.1, 0.8, 0.2])
    assert intervals.interval(metrics.auroc, data) == (1.0, 1.0)


def test_a_lead_is_the_difference_on_the_same_answers():
    """One method orders all pairs rightly, the other half of them."""
    base = labelled([1, 0], [0.9, 0.1])
    paired = Paired(**{**vars(base), "others": np.array([0.5, 0.5])})
    assert intervals.lead(paired) == 0.5
    assert intervals.lead(replace(paired, scores=paired.others)) == 0
