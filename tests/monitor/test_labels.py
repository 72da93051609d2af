"""What reviewers decided, and for how many answers of production each stands."""

import random

import pytest

from groundwire import InputError
from groundwire.monitor import Filter, Sampling
from tests.monitor.told import interaction, keep, verdict


def review(store, queue, limit):
    for row in store.next("ann", queue=queue, limit=limit):
        store.review(row.id, "agree", reviewer="ann")


@pytest.fixture
def kept(store):
    """Forty answers, ten of them flagged, of which chance draws always the same."""
    store._random = random.Random(2)
    keep(store, *[0.9 if n % 4 == 0 else 0.1 for n in range(40)])
    return store


def weights(store, **options):
    drawn = store.labels(**options).drawn
    return [
        sum(one.weight for one in drawn if one.kept.outcome.hallucinated is flag) for flag in (True, False)
    ]


def test_flagged_answers_weigh_as_much_as_production_has_of_them(kept):
    """However the queues are mixed, a quarter of all weight is flagged, as a quarter of all answers is."""
    review(kept, "random", 12)
    assert sum(weights(kept)) == 12
    assert kept.labels().basis == "answers drawn by chance"
    review(kept, "flagged", 5)
    flagged, others = weights(kept)
    assert flagged / (flagged + others) == pytest.approx(0.25)
    assert flagged + others == pytest.approx(len(kept.labels().drawn))
    assert sum(weights(kept, alike=True)) == 12
    review(kept, "random", 40)
    assert weights(kept) == [10, 30]  # all of them


def test_what_could_not_be_judged_gives_no_weight_to_what_could(store):
    """Nobody decides what it is, and it is not one of the answers that were not flagged."""
    store._random = random.Random(2)
    keep(store, *[0.9, 0.1, 0.1, 0.1, None, None] * 10)
    review(store, "random", 24)
    review(store, "flagged", 5)
    flagged, others = weights(store)
    assert flagged / (flagged + others) == pytest.approx(0.25)


def test_what_was_not_drawn_has_no_weight_and_the_reason_is_told(kept):
    (row,) = kept.next("ann", queue="uncertain")
    kept.review(row.id, "agree", reviewer="ann")
    found = kept.labels()
    assert ([one.weight for one in found.labels], found.drawn) == ([None], ())
    assert "no answer of the random sample was reviewed" in found.basis
    assert "depends on the outcome" in kept.labels(Filter(hallucinated=True)).basis
    kept.review(row.id, "unsure", reviewer="ann")
    assert (kept.labels().labels, kept.labels().undecided) == ((), 1)


def test_a_hand_out_counts_once_all_of_it_is_reviewed(kept):
    for row in kept.next("ann", queue="random", limit=10)[:9]:
        kept.review(row.id, "agree", reviewer="ann")
    assert kept.labels().drawn == ()


def test_what_was_kept_for_being_flagged_stands_for_nothing_else(opened):
    store = opened(sampling=Sampling(rate=0.0, flagged=True))
    (key,) = keep(store, 0.9)
    store.review(key, "agree", reviewer="ann")
    assert "Sampling(rate=...)" in store.labels().basis


def test_a_tag_is_put_on_a_kept_answer_once(store):
    key = store.keep(interaction(), verdict())
    for _ in range(2):
        store.tag(key, "queue", "to review")
    assert ("queue", "to review") in store.get(key).tags
    assert store.count(Filter(tags={"queue": "to review"})) == 1
    for bad, name in (("nothing", "queue"), (key, "")):
        with pytest.raises(InputError):
            store.tag(bad, name, 1)
