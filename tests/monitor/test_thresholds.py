"""What reviewers decided, as any threshold is reckoned from it: which answers count, and what they tell."""

import pytest

from groundwire import DetectorSpec
from groundwire.monitor import Filter, Sampling
from groundwire.monitor.thresholds import Basis
from tests.monitor.told import interaction, keep, verdict


def decide(store, keys, *, reviewer="ann", wrong=()):
    for key in keys:
        store.review(key, "disagree" if key in wrong else "agree", reviewer=reviewer)


def test_at_the_threshold_in_use_they_tell_what_the_figures_tell(store):
    """The same answers are counted as for recall: those that chance drew, and no others."""
    ids = keep(store, *[0.9, 0.7, 0.3, 0.1, 0.6, 0.2] * 10)
    decide(store, ids[:4])  # by hand, and not drawn: they count only once chance draws them
    drawn = store.next("ann", queue="random", limit=20)
    for n, kept in enumerate(drawn):
        store.review(kept.id, "disagree" if n % 4 == 0 else "agree", reviewer="ann")
    (told,) = store.thresholds()
    effect, figures = told.at(told.threshold), store.figures()
    assert told.basis is Basis.FAIR
    assert effect.recall == figures.quality.recall
    assert effect.flagged == figures.detection
    assert effect.hit + effect.missed + effect.false + effect.passed == len(told.scores)


def test_f1_lies_within_its_interval_and_is_that_of_precision_and_recall(store):
    ids = keep(store, *[0.9, 0.7, 0.6, 0.3, 0.1] * 4)
    decide(store, ids, wrong=[*ids[2::5], *ids[3:9:5]])
    (told,) = store.thresholds()
    effect = told.at(0.5)
    assert (effect.hit, effect.missed, effect.false, effect.passed) == (8, 2, 4, 6)
    p, r = effect.precision.value, effect.recall.value
    assert effect.f1.value == pytest.approx(2 * p * r / (p + r))
    assert effect.f1.low < effect.f1.value < effect.f1.high
    assert (told.at(0).recall.value, told.at(0.9001).precision, told.at(0.9).hit) == (1, None, 4)


def test_flagged_answers_alone_say_so(store):
    keep(store, *[0.9, 0.7, 0.3, 0.1] * 5)
    assert store.thresholds() == ()
    for kept in store.next("ann", queue="flagged", limit=6):
        store.review(kept.id, "agree", reviewer="ann")
    (told,) = store.thresholds()
    assert (told.basis, len(told.scores), min(told.scores) >= told.threshold) == (Basis.FLAGGED, 6, True)
    effect = told.at(told.threshold)
    assert (effect.precision.value, effect.recall, effect.f1) == (1, None, None)
    assert told.at(told.threshold - 0.01).precision is None


def test_answers_that_people_chose_say_so(store):
    ids = keep(store, *[0.9, 0.7, 0.3, 0.1] * 5)
    decide(store, ids[:7], wrong=ids[:1])
    (told,) = store.thresholds()
    assert (told.basis, len(told.scores), sum(told.hallucinated)) == (Basis.CHOSEN, 7, 3)


def test_all_that_chance_kept_is_fair_once_all_of_it_is_reviewed(store):
    decide(store, keep(store, 0.9, 0.7, 0.3, None))
    (told,) = store.thresholds()
    assert (told.basis, len(told.scores)) == (Basis.FAIR, 3)


def test_what_was_kept_for_being_flagged_is_no_fair_sample(opened):
    store = opened(sampling=Sampling(rate=0, flagged=True))
    *flagged, unsampled = keep(store, 0.9, 0.7, 0.3)
    decide(store, flagged)
    assert unsampled is None
    (told,) = store.thresholds()
    assert (told.basis, len(told.scores), len(told.judged)) == (Basis.FLAGGED, 2, 0)


def test_each_detector_has_its_own(store):
    other = DetectorSpec(name="other", version="2", parameters={})
    decide(store, keep(store, 0.9, 0.1, 0.2, route="/a"))
    decide(store, [store.keep(interaction(9, route="/b"), verdict(0.8, detector=other), durable=True)])
    assert [(one.detector, len(one.scores)) for one in store.thresholds()] == [("told", 3), ("other", 1)]
    assert [one.detector for one in store.thresholds(Filter(tags={"route": "/b"}))] == ["other"]


def test_the_latest_are_told_where_there_are_many(store):
    ids = keep(store, 0.1, 0.2, 0.9)
    decide(store, ids)
    (told,) = store.thresholds(most=2)
    assert (sorted(told.scores), told.clipped) == ([0.2, 0.9], True)
    assert not store.thresholds(most=3)[0].clipped


@pytest.mark.parametrize("opinions", [("agree", "disagree"), ("unsure",)])
def test_what_nobody_decided_tells_nothing(store, opinions):
    (key,) = keep(store, 0.9)
    for n, opinion in enumerate(opinions):
        store.review(key, opinion, reviewer=f"reviewer {n}")
    assert store.thresholds() == ()
