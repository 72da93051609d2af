"""Targets: how they are written, and that a threshold that is said to reach one does."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from groundwire.bench.tuning import Target, TuningError
from groundwire.bench.tuning.sweep import Sweep

answers = st.lists(
    st.tuples(st.integers(0, 20).map(lambda i: i / 20), st.booleans()), min_size=2, max_size=60
)


def arrays(drawn):
    figures, labels = (np.array(list(column)) for column in zip(*drawn, strict=True))
    assume(labels.any() and not labels.all())
    return figures.astype(float), labels


def at(threshold, figures, labels):
    """Precision, recall, false alarms and F1, counted one by one."""
    flagged = [f >= threshold for f in figures]
    hit = sum(1 for f, label in zip(flagged, labels, strict=True) if f and label)
    bad, count = sum(labels), sum(flagged)
    return {
        "precision": hit / count if count else None,
        "recall": hit / bad,
        "false_alarms": (count - hit) / (len(labels) - bad),
        "f1": 2 * hit / (count + bad),
    }


@given(answers, st.sampled_from(["precision", "recall"]), st.floats(0.05, 1))
def test_a_threshold_that_reaches_its_target_does_so_on_the_answers_it_was_fitted_to(drawn, measure, bound):
    figures, labels = arrays(drawn)
    target = Target.parse(f"{measure}>={bound:.3f}")
    sweep = Sweep.of(figures, labels)
    reached = at(target.best(sweep), figures, labels)[measure]
    if target.reached(sweep):
        assert reached >= target.bound - 1e-9
    else:
        assert all((at(t, figures, labels)[measure] or 0) < target.bound for t in [0, *figures])


@given(answers)
def test_no_threshold_at_all_has_a_higher_f1(drawn):
    figures, labels = arrays(drawn)
    best = at(Target.parse("f1").best(Sweep.of(figures, labels)), figures, labels)["f1"]
    assert best == pytest.approx(max(at(t, figures, labels)["f1"] for t in [0, *figures, 1]))


@given(answers, st.floats(0.05, 0.95))
def test_of_thresholds_that_keep_a_precision_the_one_that_finds_most_is_taken(drawn, bound):
    figures, labels = arrays(drawn)
    target = Target.parse(f"precision>={bound:.3f}")
    sweep = Sweep.of(figures, labels)
    assume(target.reached(sweep))
    kept = [one for t in figures if (one := at(t, figures, labels))["precision"] >= target.bound - 1e-9]
    assert at(target.best(sweep), figures, labels)["recall"] == pytest.approx(max(o["recall"] for o in kept))


@given(answers)
def test_a_threshold_lies_between_figures_so_that_rounding_moves_nothing_across_it(drawn):
    figures, labels = arrays(drawn)
    sweep = Sweep.of(figures, labels)
    for cut, flagged in zip(sweep.cuts, sweep.flagged, strict=True):
        assert (figures >= cut).sum() == (figures + 1e-12 >= cut).sum() == flagged


@pytest.mark.parametrize(
    "text",
    ["f1", "accuracy", "precision>=0.95", "recall>=0.9", "cost<=0.2 calls", "false_alarms<=0.05 with 0.95"],
)
def test_a_target_reads_as_it_is_written(text):
    assert str(Target.parse(text)) == text
    assert Target.parse(text.upper().replace("_", "-").replace(" ", "")) == Target.parse(text)


def test_a_promise_without_a_confidence_has_the_usual_one():
    assert str(Target.parse("misses ≤ 0.1")) == "misses<=0.1 with 0.95"
    assert Target.parse("misses<=0.1 with 90%").confidence == pytest.approx(0.9)


def test_a_share_may_be_a_percentage():
    assert Target.parse("precision >= 95%") == Target.parse("precision>=0.95")
    assert Target.parse("false_alarms<=5% with 95%") == Target.parse("false_alarms<=0.05 with 0.95")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("precison>=0.9", "unknown measure 'precison'; did you mean 'precision'"),
        ("speed", "unknown measure 'speed'; expected one of: f1"),
        ("precision", "expected precision>=..."),
        ("precision<=0.9", "expected precision>=..."),
        ("f1>=0.9", "expected f1 alone"),
        ("precision>=95", "expected a number from 0 to 1, not '95'"),
        ("precision>=950%", "expected a number from 0 to 1, not '950%'"),
        ("precision>=0.9 with 0.9", "only false_alarms and misses can be promised"),
        ("false_alarms<=0", "expected shares between 0 and 1"),
        ("false_alarms<=0.1 with 1", "expected shares between 0 and 1"),
        ("recall>=0.9 calls", "only cost is in calls"),
        ("f1 please", "can't be read|unknown measure"),
        ("", "unknown measure ''"),
    ],
)
def test_what_is_no_target_is_refused_with_what_was_meant(text, message):
    with pytest.raises(TuningError, match=message):
        Target.parse(text)
