"""Held-out figures: of the procedure that was fitted, and no surer or worse than the answers are."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from groundwire.bench import metrics, tuning
from groundwire.bench.intervals import interval
from groundwire.bench.tuning import Target, measured
from groundwire.bench.tuning.procedure import Procedure
from groundwire.bench.tuning.rows import folds
from tests.bench.tuning.drawn import example, judged, rows

PROMISE = Target.parse("false_alarms<=0.05 with 0.95")


def uneven(rng, sources=12):
    """Sources of one to four answers, so that parts differ in how many are hallucinated."""
    groups = np.repeat(np.arange(sources), rng.integers(1, 5, sources))
    return rng.random(len(groups)) < 0.4, groups


def worth(data, target="f1", **options):
    procedure = Procedure(target=Target.parse(target), **options)
    parts = folds(data.labels, data.groups, least=3)
    return measured.worth(procedure, data, parts)


@pytest.mark.parametrize("seed", range(4))
def test_auroc_is_that_of_the_scores_where_all_parts_read_the_same_figure(seed):
    rng = np.random.default_rng(seed)
    labels, groups = uneven(rng)
    scores = np.round(np.where(labels, 0.35, 0.05) + 0.5 * rng.random(len(labels)), 3)
    data = rows(scores, labels, groups)
    true = pytest.approx(roc_auc_score(labels, scores))
    assert measured.as_they_are(data)["auroc"].value == true
    assert worth(data).figures["auroc"].value == true


def test_a_perfect_stack_has_a_perfect_auroc():
    """Combinations that were fitted apart are compared within a part, and parts by nothing."""
    rng = np.random.default_rng(5)
    labels, groups = uneven(rng, 24)
    columns = np.where(labels, 0.6, 0.05)[:, None] + 0.35 * rng.random((len(labels), 2))
    found = worth(rows(columns, labels, groups, names=("a", "b")), stack=("logistic",))
    assert found.figures["auroc"].value == 1


def test_a_promise_that_a_part_less_could_not_make_has_no_held_out_figures():
    """62 sources can promise it, and four fifths of them can't: another threshold is not measured for it."""
    given = [
        example(f"{i} {label}", 0.3 + 0.5 * label, label, group=str(i)) for i in range(62) for label in (0, 1)
    ]
    found = tuning.tune(*judged(given), target=str(PROMISE))
    assert found.tuned.promise
    assert (found.after, found.lead, found.cuts, found.tuned.held_out) == ({}, None, (), {})
    assert found.before["recall"].value == 1
    assert any("no held-out figures" in one and "it takes 59 at least" in one for one in found.tuned.warnings)


def test_a_promise_that_answers_break_where_sources_do_not_is_told():
    """A hundred sources with a grounded answer each, and three with sixty that score higher."""
    rng = np.random.default_rng(0)
    labels = np.repeat([False, False, True], [100, 180, 40])
    groups = np.concatenate([np.arange(100), np.repeat([100, 101, 102], 60), np.arange(40)])
    scores = np.where(labels, 0.45, np.where(groups < 100, 0.05, 0.5)) + 0.2 * rng.random(320)
    target = "false_alarms<=0.1 with 0.95"
    told = worth(rows(np.round(scores, 3), labels, groups), target).warnings
    assert any("above the 0.1 of the promise, which is of the mean over sources (0.0" in one for one in told)
    kept = labels | (groups < 100)
    assert not worth(rows(np.round(scores, 3), labels, groups).at(kept), target).warnings


def test_without_a_mistake_a_share_is_no_surer_than_so_many_sources_can_tell():
    """Of none among thirty, up to 11.6 % are such on others (Clopper and Pearson, 1934)."""
    labels = np.arange(60) < 30
    found = worth(rows(np.where(labels, 0.9, 0.1), labels))
    upper = stats.beta.ppf(0.975, 1, 30)
    assert found.figures["false_alarms"].high == pytest.approx(upper)
    for name in ("recall", "precision", "f1", "auroc"):
        assert found.figures[name].low == pytest.approx(1 - upper), name
    assert found.figures["accuracy"].low == pytest.approx(1 - stats.beta.ppf(0.975, 1, 60))


def test_a_calibration_error_has_no_interval():
    """Of scores that are exactly right, the middle of the resamples would lie above 0 and above the value."""
    rng = np.random.default_rng(6)
    scores = np.round(rng.random(240), 2)
    data = rows(scores, rng.random(240) < scores)
    told = measured.as_they_are(data)["calibration_error"]
    assert told.value == metrics.ece(data.labelled(scores))
    assert interval(metrics.ece, data.labelled(scores))[0] > told.value
    assert str(told) == f"{told.value:.3f}"


def test_how_many_labels_would_do_is_more_than_there_are():
    """A perfect recall on thirty sources does not show one of .9; on thirty-six it does."""
    for count in (30, 36):
        labels = np.arange(2 * count) < count
        told = " ".join(worth(rows(np.where(labels, 0.9, 0.1), labels), "recall>=0.9").warnings)
        if count < 36:
            assert "That takes 36 sources with hallucinated answers at least" in told
            assert "about 90 labelled answers (now 60)" in told
        else:
            assert not told
