"""Calibration: a probability, which moves no answer across another, chosen by answers held out."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from groundwire.bench.metrics import ece
from groundwire.bench.tuning import calibrating
from groundwire.core.calibration import from_dict, to_dict
from tests.bench.tuning.drawn import rows

points = st.lists(
    st.tuples(st.integers(0, 1_000).map(lambda i: i / 1_000), st.booleans()), min_size=4, max_size=80
)


def arrays(drawn):
    figures, labels = (np.array(list(column)) for column in zip(*drawn, strict=True))
    assume(labels.any() and not labels.all())
    return figures.astype(float), labels


@given(points, st.sampled_from(["temperature", "platt", "isotonic"]))
def test_whatever_the_labels_a_higher_figure_is_a_higher_probability(drawn, kind):
    figures, labels = arrays(drawn)
    fitted = calibrating.fit(kind, figures, labels)
    if fitted is None:
        assert kind == "platt"
        return
    grid = np.linspace(0, 1, 101)
    probabilities = calibrating.applied(fitted, grid)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    # The outermost millionth of log-odds is cut off, where floats would run out.
    assert (np.diff(probabilities[1:-1]) > 0).all()


@given(points, st.sampled_from(["temperature", "platt", "isotonic"]))
def test_what_was_fitted_is_the_same_after_it_was_written_and_read(drawn, kind):
    fitted = calibrating.fit(kind, *arrays(drawn))
    assert fitted is None or from_dict(to_dict(fitted)) == fitted


def too_sure(rng, count):
    """Probabilities whose log-odds were tripled on the way."""
    odds = rng.normal(0, 1.2, count)
    labels = rng.random(count) < 1 / (1 + np.exp(-odds))
    return 1 / (1 + np.exp(-3 * odds)), labels


def test_a_temperature_is_found_again():
    figures, labels = too_sure(np.random.default_rng(0), 20_000)
    assert calibrating.fit("temperature", figures, labels).temperature == pytest.approx(3, rel=0.05)


def test_the_kind_is_chosen_that_fits_and_the_simpler_one_of_equals():
    rng = np.random.default_rng(1)
    groups = np.arange(2_000).astype(str)
    figures, labels = too_sure(rng, 2_000)
    assert calibrating.choose(calibrating.KINDS, figures, labels, groups, 0) == "temperature"
    honest = rng.random(2_000)
    assert calibrating.choose(calibrating.KINDS, honest, rng.random(2_000) < honest, groups, 0) == "none"
    bent = rng.random(2_000)
    stepped = rng.random(2_000) < np.where(bent < 0.3, 0.05, np.where(bent < 0.4, 0.9, 0.95))
    assert calibrating.choose(calibrating.KINDS, bent, stepped, groups, 0) == "isotonic"


def test_on_few_labels_no_curve_of_steps_is_fitted():
    figures, labels = too_sure(np.random.default_rng(2), 60)
    assert calibrating.choose(["isotonic"], figures, labels, np.arange(60).astype(str), 0) == "none"


def test_calibrated_scores_are_nearer_to_the_rates_on_answers_that_took_no_part():
    rng = np.random.default_rng(3)
    figures, labels = too_sure(rng, 1_000)
    fresh, truth = too_sure(rng, 3_000)
    before = ece(rows(fresh, truth).labelled(fresh))
    for kind in ("temperature", "platt", "isotonic"):
        calibrated = calibrating.applied(calibrating.fit(kind, figures, labels), fresh)
        assert ece(rows(fresh, truth).labelled(calibrated)) < before / 2, kind


@pytest.mark.parametrize("kind", ["temperature", "platt", "isotonic"])
def test_an_answer_of_weight_three_is_three_answers(kind):
    figures, labels = too_sure(np.random.default_rng(4), 60)
    weights = np.where(np.arange(60) % 4 == 0, 3, 1)
    weighed = calibrating.fit(kind, figures, labels, weights.astype(float))
    repeated = calibrating.fit(kind, np.repeat(figures, weights), np.repeat(labels, weights))
    grid = np.linspace(0, 1, 21)
    assert calibrating.applied(weighed, grid) == pytest.approx(calibrating.applied(repeated, grid), abs=1e-6)


@pytest.mark.parametrize("kind", ["temperature", "platt"])
def test_few_answers_without_a_mistake_make_no_score_surer_than_they_can_tell(kind):
    """Thirty of either kind: of thirty-two more, one may well be otherwise."""
    labels = np.arange(60) < 30
    fitted = calibrating.fit(kind, np.where(labels, 0.9, 0.1), labels)
    low, high = calibrating.applied(fitted, np.array([0.1, 0.9]))
    assert low == pytest.approx(1 / 32, abs=0.01)
    assert high == pytest.approx(31 / 32, abs=0.01)


def test_a_score_that_points_the_wrong_way_is_not_turned_round():
    figures = np.linspace(0, 1, 200)
    assert calibrating.fit("platt", figures, figures < 0.5) is None


def test_the_logistic_curve_is_scikit_learns():
    from sklearn.linear_model import LogisticRegression

    figures, labels = too_sure(np.random.default_rng(5), 400)
    smooth = np.where(labels, (labels.sum() + 1) / (labels.sum() + 2), 1 / ((~labels).sum() + 2))
    model = LogisticRegression(C=1e3, max_iter=5_000, tol=1e-10)
    model.fit(
        np.concatenate([figures, figures])[:, None],
        np.repeat([True, False], 400),
        sample_weight=np.concatenate([smooth, 1 - smooth]),
    )
    fitted = calibrating.fit("platt", figures, labels)
    assert fitted.slope == pytest.approx(model.coef_[0, 0], rel=1e-3)
    assert fitted.intercept == pytest.approx(model.intercept_[0], rel=1e-3)
