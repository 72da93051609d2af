"""The whole procedure: sources stay whole, and what is measured pays for what was chosen."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from groundwire.bench import metrics
from groundwire.bench.tuning import Target, TuningError, calibrating
from groundwire.bench.tuning.procedure import Procedure, best_rule, levels
from groundwire.bench.tuning.rows import folds
from groundwire.bench.tuning.sweep import Sweep
from tests.bench.tuning.drawn import rows

ACCURACY, F1 = Target.parse("accuracy"), Target.parse("f1")


@given(
    st.lists(st.tuples(st.integers(0, 25), st.booleans()), min_size=10, max_size=120),
    st.integers(2, 6),
    st.integers(0, 9),
)
def test_parts_are_disjoint_whole_and_never_split_a_source(drawn, most, seed):
    groups, labels = (np.array(list(column)) for column in zip(*drawn, strict=True))
    try:
        parts = folds(labels, groups.astype(str), most=most, seed=seed)
    except TuningError:
        sides = [len(np.unique(groups[labels == label])) for label in (True, False)]
        assume(min(sides) < 2 or len(np.unique(groups)) < 8)
        return
    assert (np.sum(parts, axis=0) == 1).all()
    for part in parts:
        assert not set(groups[part]) & set(groups[~part])
        assert len(set(labels[~part])) == 2


def test_parts_have_about_the_same_labels():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 150, 600).astype(str)
    labels = rng.random(600) < 0.3
    rates = [labels[part].mean() for part in folds(labels, groups)]
    assert max(rates) - min(rates) < 0.06


@pytest.mark.parametrize(
    ("labels", "groups", "message"),
    [
        ([True] * 6, list("abcdef"), r"all 6 answers are labelled hallucinated \(1\)"),
        ([False] * 6, list("abcdef"), r"all 6 answers are labelled grounded \(0\)"),
        ([], [], "no labelled answer"),
        (
            [True, True, False, False],
            list("aabc"),
            r"all 2 hallucinated answers are about one source \('a'\)",
        ),
        ([True, False, True, False], list("abcd"), "all 2 hallucinated answers are about 2 sources"),
    ],
)
def test_labels_that_can_not_be_parted_are_refused_with_what_is_missing(labels, groups, message):
    with pytest.raises(TuningError, match=message):
        folds(np.array(labels, dtype=bool), np.array(groups, dtype=str), least=3)


def test_on_scores_that_know_nothing_the_held_out_figure_says_so():
    """The threshold looks better than chance on its own answers; on others it is not."""
    rng = np.random.default_rng(4)
    inside, outside = [], []
    for seed in range(20):
        data = rows(rng.random(60), rng.random(60) < 0.5)
        procedure = Procedure(target=ACCURACY, calibrations=("none",), seed=seed)
        reading = procedure.fit(data)
        inside.append(metrics.accuracy(data.marked(reading.figures(data) >= reading.cut)))
        parts = folds(data.labels, data.groups, seed=seed)
        outside.append(metrics.accuracy(data.marked(procedure.held_out(data, parts).flagged)))
    assert np.mean(inside) > 0.57
    assert 0.43 < np.mean(outside) < 0.53


def test_choosing_among_rules_that_know_nothing_gains_nothing_on_answers_held_out():
    """The best of six columns of noise looks good; measured around the choice, it does not."""
    rng = np.random.default_rng(6)
    outside = []
    for seed in range(6):
        data = rows(rng.random((120, 6)), rng.random(120) < 0.5)
        procedure = Procedure(target=ACCURACY, calibrations=("none",), seed=seed)
        outside.append(
            metrics.accuracy(
                data.marked(procedure.held_out(data, folds(data.labels, data.groups, seed=seed)).flagged)
            )
        )
    assert 0.4 < np.mean(outside) < 0.56


def test_another_rule_is_taken_only_where_it_is_better():
    rng = np.random.default_rng(8)
    labels = rng.random(400) < 0.4
    good = 1 / (1 + np.exp(-(rng.normal(0, 1, 400) + np.where(labels, 1.5, -1.5))))
    worse = 1 / (1 + np.exp(-(rng.normal(0, 1, 400) + np.where(labels, 0.3, -0.3))))
    as_good = np.clip(good + rng.normal(0, 0.01, 400), 0, 1)
    names = ("own", "other")
    pick = lambda *columns: Procedure(target=F1).fit(rows(np.column_stack(columns), labels, names=names)).rule  # noqa: E731
    assert pick(worse, good) == "other"
    assert pick(good, worse) == "own"
    assert pick(good, as_good) == "own"


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("target", ["recall>=0.9", "misses<=0.4 with 0.5", "false_alarms<=0.4 with 0.5"])
def test_rules_are_compared_also_where_a_resample_has_answers_of_one_kind_alone(target, few):
    """Of four answers of a kind among forty, one resample in fifty has none."""
    rng = np.random.default_rng(0)
    labels = (np.arange(40) < 4) == few
    columns = np.round(0.5 * labels[:, None] + 0.5 * rng.random((40, 2)), 3)
    assert best_rule(rows(columns, labels), Target.parse(target), seed=0) in ("own", "rule 1")


@given(
    st.lists(st.tuples(st.integers(0, 40).map(lambda i: i / 40), st.booleans()), min_size=20, max_size=120)
)
@settings(max_examples=40)
def test_low_answers_are_seldom_hallucinated_and_high_ones_mostly(drawn):
    figures, labels = (np.array(list(column)) for column in zip(*drawn, strict=True))
    assume(labels.any() and not labels.all())
    sweep = Sweep.of(figures.astype(float), labels)
    cut = F1.best(sweep)
    medium, high = levels(sweep, cut)
    assert medium <= cut <= high
    low, top = figures < medium, figures >= high
    assert not low.any() or (labels[low].mean() <= 0.1 + 1e-9 and low.sum() >= 10)
    assert not top.any() or (labels[top].mean() >= 0.9 - 1e-9 and top.sum() >= 10)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=30, max_size=90),
    st.sampled_from(["none", "temperature", "platt", "isotonic"]),
)
@settings(max_examples=40)
def test_calibrating_moves_no_answer_across_the_threshold_or_a_level(drawn, kind):
    figures, labels = (np.array(list(column)) for column in zip(*drawn, strict=True))
    assume(min(labels.sum(), (~labels).sum()) >= 3)
    data = rows(np.round(figures, 9), labels)
    reading = Procedure(target=F1, calibrations=(kind,)).fit(data)
    scores = reading.scores(data)
    assert ((scores >= reading.grading.threshold) == (data.columns[:, 0] >= reading.cut)).all()
    medium, high = reading.grading.cuts
    assert medium <= reading.grading.threshold <= high


def test_a_promise_rests_on_answers_that_nothing_was_chosen_by():
    """With several rules to choose from, those that the rule is chosen by are not those that are cut by."""
    rng = np.random.default_rng(9)
    data = rows(rng.random((300, 3)), rng.random(300) < 0.5)
    procedure = Procedure(target=Target.parse("false_alarms<=0.1 with 0.9"))
    choosing, cutting = procedure._parts(data)
    assert not set(choosing.groups) & set(cutting.groups)
    assert len(choosing) + len(cutting) == 300
    one = rows(data.columns[:, :1], data.labels)
    assert procedure._parts(one) == (one, one)


def test_no_rule_is_chosen_where_the_rest_could_promise_nothing():
    """The promise takes 59 sources. Of seventy, a third would leave too few, so all are cut by."""
    rng = np.random.default_rng(3)
    labels = np.arange(130) < 60
    scores = np.where(labels, 0.9, 0.1) + rng.uniform(0, 0.05, 130)
    data = rows(np.column_stack([scores, rng.random(130)]), labels)
    procedure = Procedure(target=Target.parse("false_alarms<=0.05 with 0.95"))
    reading = procedure.fit(procedure.affordable(data))
    assert reading.rule == "own"
    assert not (reading.figures(data) >= reading.cut)[~labels].any()


def test_where_no_answers_are_mostly_hallucinated_none_is_high_whatever_its_score():
    """A detector that says 0 or 1, and is right in three of five of those that it flags."""
    labels = np.tile([True, True, True, False, False, False, False, False], 15)
    figures = np.tile([1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0], 15)
    for kind in calibrating.KINDS:
        reading = Procedure(target=F1, calibrations=(kind,)).fit(rows(figures, labels))
        levels_ = {str(reading.grading.level(score)) for score in reading.scores(rows(figures, labels))}
        assert levels_ == {"low", "medium"}, kind


def test_a_calibration_that_was_not_fitted_is_not_named():
    """A logistic curve that would turn the score round is none."""
    labels = np.arange(60) % 3 == 0
    figures = np.where(labels, 0.2, 0.8) + np.linspace(0, 0.1, 60)
    reading = Procedure(target=F1, calibrations=("platt",)).fit(rows(figures, labels))
    assert (reading.kind, reading.calibration) == ("none", None)
