"""Calibration: non-decreasing maps from raw figures into [0, 1]."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.calibration import Isotonic, Platt, Temperature, from_dict, to_dict

raws = st.floats(-1e6, 1e6)


@st.composite
def isotonics(draw):
    xs = sorted(draw(st.lists(st.floats(-100, 100), min_size=1, max_size=8, unique=True)))
    ys = sorted(draw(st.lists(st.floats(0, 1), min_size=len(xs), max_size=len(xs))))
    return Isotonic(raws=tuple(xs), probabilities=tuple(ys))


platts = st.builds(Platt, slope=st.floats(0, 1e3), intercept=st.floats(-1e3, 1e3))
temperatures = st.builds(Temperature, temperature=st.floats(1e-3, 1e3))


@given(isotonics() | platts | temperatures, raws, raws)
def test_calibration_never_reverses_two_scores_and_stays_a_probability(calibration, one, other):
    low, high = sorted((one, other))
    assert 0 <= calibration(low) <= calibration(high) <= 1


@given(isotonics())
def test_isotonic_goes_through_its_points(calibration):
    for raw, probability in zip(calibration.raws, calibration.probabilities, strict=True):
        assert calibration(raw) == pytest.approx(probability)


def test_platt_is_the_logistic_function():
    assert Platt(slope=2, intercept=-1)(0.75) == pytest.approx(1 / (1 + math.exp(-0.5)))


@pytest.mark.parametrize(
    ("raws_", "probabilities", "message"),
    [
        ((), (), "at least one"),
        ((1.0,), (0.1, 0.2), "as many"),
        ((1.0, 1.0), (0.1, 0.2), "strictly increase"),
        ((1.0, 2.0), (0.3, 0.2), "never fall"),
        ((1.0,), (1.2,), r"\[0, 1\]"),
        ((0.0, math.nan), (0.1, 0.2), "finite"),
    ],
)
def test_a_broken_isotonic_calibration_is_refused(raws_, probabilities, message):
    with pytest.raises(ValueError, match=message):
        Isotonic(raws=raws_, probabilities=probabilities)


def test_a_reversing_platt_calibration_is_refused():
    with pytest.raises(ValueError, match="must not reverse"):
        Platt(slope=-1, intercept=0)


@pytest.mark.parametrize(("slope", "intercept"), [(math.nan, 0), (1, math.nan), (math.inf, 0)])
def test_a_platt_calibration_that_would_give_no_number_is_refused(slope, intercept):
    with pytest.raises(ValueError, match="finite numbers"):
        Platt(slope=slope, intercept=intercept)


def test_calibrations_are_read_from_plain_data():
    assert from_dict({"kind": "platt", "slope": 1, "intercept": 0}) == Platt(slope=1, intercept=0)
    read = from_dict({"kind": "isotonic", "raws": [0, 1], "probabilities": [0.1, 0.9]})
    assert read(0.5) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="unknown calibration kind 'spline'"):
        from_dict({"kind": "spline"})


@pytest.mark.parametrize(
    "calibration",
    [
        Platt(slope=2.5, intercept=-1.0),
        Temperature(temperature=1.7),
        Isotonic(raws=(0.0, 0.5, 1.0), probabilities=(0.1, 0.2, 0.9)),
    ],
)
def test_a_calibration_is_the_same_after_it_was_written_and_read(calibration):
    assert from_dict(json.loads(json.dumps(to_dict(calibration)))) == calibration


def test_a_temperature_divides_the_log_odds_and_leaves_one_half():
    halved = Temperature(temperature=2.0)
    assert halved(0.5) == pytest.approx(0.5)
    assert halved(0.9) == pytest.approx(0.75)
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="above 0"):
            Temperature(temperature=wrong)


def test_a_calibration_of_ones_own_has_no_form_on_disk():
    with pytest.raises(ValueError, match="no form on disk"):
        to_dict(abs)
    with pytest.raises(ValueError, match="can't be read"):
        from_dict({"kind": "platt", "slop": 1})
