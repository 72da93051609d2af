"""Promises about answers to come: that they hold as often as they say, and what labels they take."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from groundwire.bench.tuning import Target, TuningError
from groundwire.bench.tuning.guarantee import binomial, guarantee, needed, p_value

SPLITS = 500


def alone(rng, sources):
    """One answer a source; grounded ones score evenly, so that 1 - threshold are its false alarms."""
    labels = rng.random(sources) < 0.4
    figures = np.where(labels, rng.beta(4, 2, sources), rng.random(sources))
    return figures, labels, np.arange(sources).astype(str)


def in_company(rng, sources):
    """One to four answers a source, which mostly score alike; each by itself scores evenly."""
    sizes = rng.integers(1, 5, sources)
    groups = np.repeat(np.arange(sources), sizes)
    own = rng.random(sources)[groups]
    figures = np.where(rng.random(len(groups)) < 0.8, own, rng.random(len(groups)))
    labels = np.zeros(len(groups), dtype=bool)
    return figures, labels, groups.astype(str)


@pytest.mark.parametrize("drawn", [alone, in_company])
@pytest.mark.parametrize(("bound", "confidence"), [(0.1, 0.9), (0.05, 0.8)])
def test_the_promise_is_broken_no_more_often_than_it_says(drawn, bound, confidence):
    """Over 500 simulated splits, by the true share of false alarms; and it isn't kept by flagging nothing."""
    target = Target.parse(f"false_alarms<={bound} with {confidence}")
    rng = np.random.default_rng(7)
    true = np.array([1 - guarantee(target, *drawn(rng, 200)).cut for _ in range(SPLITS)])
    broken = int((true > bound).sum())
    # More than this would come of an honest promise once in ten thousand times.
    assert broken <= stats.binom.ppf(0.9999, SPLITS, 1 - confidence)
    assert true.mean() > bound / 3


def test_without_a_bound_the_same_share_is_broken_half_of_the_time():
    """What the promise is worth: the threshold with that very share on the labels keeps it by luck."""
    target = Target.parse("false_alarms<=0.1 with 0.9")
    rng = np.random.default_rng(7)
    naive = []
    for _ in range(SPLITS):
        figures, labels, _ = alone(rng, 200)
        naive.append(1 - np.quantile(figures[~labels], 1 - target.bound))
    assert 0.3 < np.mean(np.array(naive) > target.bound) < 0.7


def test_misses_are_promised_as_false_alarms_are():
    target = Target.parse("misses<=0.1 with 0.9")
    rng = np.random.default_rng(3)
    broken = 0
    for _ in range(SPLITS):
        labels = rng.random(250) < 0.6
        figures = rng.random(250)  # a threshold misses the share of hallucinated answers that it is itself
        broken += guarantee(target, figures, labels, np.arange(250).astype(str)).cut > target.bound
    assert broken <= stats.binom.ppf(0.9999, SPLITS, 0.1)


@given(st.integers(1, 400), st.floats(0.001, 0.5), st.data())
def test_the_binomial_tail_is_scipys(of, chance, data):
    most = data.draw(st.integers(0, of))
    assert binomial(most, of, chance) == pytest.approx(stats.binom.cdf(most, of, chance), rel=1e-6, abs=1e-12)


@given(st.integers(0, 50), st.integers(50, 300), st.floats(0.02, 0.5), st.booleans())
def test_more_mistakes_never_make_a_share_surer(mistakes, sources, bound, exact):
    less, more = (p_value(m / sources, sources, bound, exact=exact) for m in (mistakes, mistakes + 1))
    assert less <= more + 1e-12


@pytest.mark.parametrize(
    ("bound", "confidence", "least"), [(0.05, 0.95, 59), (0.1, 0.95, 29), (0.01, 0.95, 299)]
)
def test_so_many_sources_are_needed_and_one_less_is_refused_with_that_number(bound, confidence, least):
    """The known figures for no mistake at all, such as 59 for one in twenty."""
    assert needed(bound, confidence) == least
    target = Target.parse(f"false_alarms<={bound} with {confidence}")
    for sources in (least - 1, least):
        figures = np.concatenate([np.linspace(0, 0.4, sources), [0.9, 0.95]])
        labels = np.array([False] * sources + [True, True])
        groups = np.arange(sources + 2).astype(str)
        if sources < least:
            with pytest.raises(TuningError, match=f"it takes {least} at least"):
                guarantee(target, figures, labels, groups)
        else:
            assert guarantee(target, figures, labels, groups).cut > 0.4


def test_answers_about_one_source_do_not_count_as_many():
    """A hundred answers to one source are one source: nothing can be promised by them."""
    with pytest.raises(TuningError, match="1 sources with grounded answers"):
        guarantee(
            Target.parse("false_alarms<=0.1 with 0.9"),
            np.linspace(0, 1, 101),
            np.arange(101) == 100,
            np.array(["one"] * 100 + ["other"]),
        )


@pytest.mark.parametrize("flip", [False, True])
def test_no_answer_is_given_away_that_costs_the_promise_nothing(flip):
    """Grounded answers score .1, hallucinated ones from .2 on: these can all be flagged; or in a mirror."""
    figures = np.concatenate([np.full(100, 0.1), np.linspace(0.2, 0.9, 100)])
    labels = np.arange(200) >= 100
    measure = "false_alarms"
    if flip:
        figures, labels, measure = 1 - figures, ~labels, "misses"
    target = Target.parse(f"{measure}<=0.05 with 0.95")
    found = guarantee(target, figures, labels, np.arange(200).astype(str))
    assert ((figures >= found.cut) == labels).all()
    assert found.share == 0


def test_where_grounded_answers_have_the_highest_score_nothing_can_be_promised():
    with pytest.raises(TuningError, match="the highest score there is"):
        guarantee(
            Target.parse("false_alarms<=0.1 with 0.9"),
            np.ones(80),
            np.arange(80) < 5,
            np.arange(80).astype(str),
        )
