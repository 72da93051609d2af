"""Figures are what counting by hand gives, on both kinds of store, and say how sure they are."""

import datetime as dt
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from groundwire import ConfigurationError
from groundwire.monitor import Filter, Sampling
from groundwire.monitor.answer import Heard, Ids, Row, microseconds, row
from groundwire.monitor.sampling import Why
from groundwire.monitor.schema import answers
from groundwire.monitor.statistics import fisher, flipped, mcnemar, rate, stability
from tests.monitor.told import abstention, interaction, keep, verdict


def test_the_figures_are_what_was_kept(store):
    keep(store, 0.9, 0.6, 0.45, 0.1, None, cost=None)
    store.keep(interaction(), verdict(0.1, seconds=1.0, cost=0.5), durable=True)
    told = store.figures()
    assert (told.answers, told.sampled) == (6, 6)
    assert (told.detection.count, told.detection.of) == (2, 5)
    assert (told.abstained.count, told.abstained.of) == (1, 6)
    assert told.levels == {"high": 1, "medium": 2, "low": 2}
    assert told.abstentions == {"NO_CONTEXT": 1}
    assert told.kinds == {"context-conflicting": 2}
    assert (sum(told.scores), told.scores[18], told.scores[2]) == (5, 1, 2)
    assert (told.calls, told.tokens, told.cost, told.priced) == (5, 75, 0.5, 1)
    assert (told.median, told.p95 > 0.5) == (0.01, True)


def test_an_empty_store_has_figures_too(store):
    told = store.figures()
    assert (told.answers, told.detection, told.median, told.first) == (0, None, None, None)
    assert store.over_time() == store.by("route") == store.patterns() == ()


def test_rates_are_those_of_the_sample_and_not_of_what_was_kept_besides(opened):
    store = opened(sampling=Sampling(rate=0.2, flagged=True))
    store._random = random.Random(1)
    keep(store, *[0.9, 0.1, 0.1, 0.1] * 150)
    told = store.figures()
    assert told.answers > told.sampled
    assert told.detection.low < 0.25 < told.detection.high
    assert told.detection.of == told.sampled


def move(store, key, at):
    with store._database.writing() as connection:
        connection.execute(answers.update().where(answers.c.id == key).values(at=microseconds(at)))


def test_figures_over_time_begin_where_their_period_does(store):
    ids = keep(store, 0.9, 0.1, 0.9, 0.9)
    times = [
        dt.datetime(2026, 11, 1, 23, 59, tzinfo=dt.UTC),  # a Sunday
        dt.datetime(2026, 11, 2, 0, 0, tzinfo=dt.UTC),
        dt.datetime(2026, 11, 8, 23, 59, tzinfo=dt.UTC),
        dt.datetime(1969, 12, 31, 5, 0, tzinfo=dt.UTC),
    ]
    for key, at in zip(ids, times, strict=True):
        move(store, key, at)
    weeks = store.over_time(Filter(since=dt.datetime(2000, 1, 1, tzinfo=dt.UTC)), every="week")
    assert [(week.name, week.answers) for week in weeks] == [("2026-10-26", 1), ("2026-11-02", 2)]
    days = store.over_time(Filter(since=dt.datetime(2000, 1, 1, tzinfo=dt.UTC)), every="day")
    assert [day.name for day in days] == ["2026-11-01", "2026-11-02", "2026-11-08"]
    hours = store.over_time(Filter(since=times[1], until=times[2]), every="hour")
    assert [hour.name for hour in hours] == ["2026-11-02 00:00"]
    with pytest.raises(ConfigurationError, match="every must be one of"):
        store.over_time(every="year")


def test_figures_by_a_tag_count_each_of_its_values(store):
    keep(store, 0.9, 0.1, None, route="/a")
    keep(store, 0.9, route="/b")
    a, b = store.by("route")
    assert (a.name, a.answers, a.detection.count, a.detection.of, a.abstained.count) == ("/a", 3, 1, 2, 1)
    assert (b.name, b.answers) == ("/b", 1)
    assert [group.name for group in store.by("detector")] == ["told"]
    assert [group.name for group in store.by("route", Filter(tags={"route": "/b"}, reviewed=False))] == ["/b"]
    assert store.tags() == {"route": 2}


def test_before_and_after_are_compared_on_the_same_questions(store):
    keep(store, *[0.9] * 10, 0.1, prompt="1")
    keep(store, *[0.2] * 8, *[0.9] * 2, 0.1, 0.9, prompt="2")
    told = store.compare(Filter(tags={"prompt": "1"}), Filter(tags={"prompt": "2"}))
    assert (told.pairs, told.better, told.worse) == (11, 8, 0)
    assert told.p == pytest.approx(2 / 2**8)
    assert told.score < 0
    assert told.score_p < 0.05
    nothing = store.compare(Filter(tags={"prompt": "1"}), Filter(tags={"prompt": "3"}))
    assert (nothing.pairs, nothing.before, nothing.p) == (0, None, None)


def test_what_was_kept_for_being_flagged_is_not_compared(opened):
    """One in ten is flagged on either side; among all that is kept it is more."""
    store = opened(sampling=Sampling(rate=0.5, flagged=True))
    sampled = {}
    for prompt in ("1", "2"):
        ids = [store.keep(interaction(n, prompt=prompt), verdict(0.1 if n % 10 else 0.9)) for n in range(200)]
        assert store.flush(30)
        sampled[prompt] = {n for n, key in enumerate(ids) if key and store.get(key).sampled}
    told = store.compare(Filter(tags={"prompt": "1"}), Filter(tags={"prompt": "2"}))
    both = sampled["1"] & sampled["2"]
    assert (told.pairs, told.before.count) == (len(both), sum(n % 10 == 0 for n in both))


def test_answers_without_a_question_are_not_answers_to_the_same_one(store):
    keep(store, *[0.9] * 5, question="", prompt="1")
    keep(store, *[0.1] * 5, question=" ", prompt="2")
    assert store.compare(Filter(tags={"prompt": "1"}), Filter(tags={"prompt": "2"})).pairs == 0


@given(of=st.integers(1, 2000), share=st.floats(0, 1))
def test_an_interval_holds_its_share_and_is_that_of_wilson(of, share):
    count = round(of * share)
    told = rate(count, of)
    other = stats.binomtest(count, of).proportion_ci(method="wilson")
    assert 0 <= told.low <= told.value <= told.high <= 1
    assert (told.low, told.high) == pytest.approx((other.low, other.high), abs=1e-9)
    assert rate(0, 0) is None


@given(st.lists(st.integers(0, 60), min_size=4, max_size=4))
def test_fishers_test_is_scipys(cells):
    a, b, c, d = cells
    assert fisher(a, b, c, d) == pytest.approx(stats.fisher_exact([[a, b], [c, d]]).pvalue, abs=1e-6)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (3, 9), (20, 5)])
def test_mcnemars_test_is_the_exact_binomial_one(first, second):
    expected = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(expected)


def test_a_stability_index_tells_moved_from_still():
    rng = np.random.default_rng(1)
    first = rng.random(2000)
    assert stability(first, rng.random(2000)) < 0.05
    assert stability(first, rng.random(2000) * 0.5) > 0.25
    assert np.isfinite(stability(np.zeros(50), np.ones(50)))


@pytest.mark.parametrize(("before", "now"), [(0.1, 0.9), (0.9, 0.1)])
def test_a_stability_index_sees_what_leaves_a_score_that_most_share(before, now):
    """As scores of a judge that grades in steps: most are 0."""
    reference = np.array([before] * 95 + [0.5] * 5)
    assert stability(reference, np.full(50, before)) < 0.1
    assert stability(reference, np.full(50, now)) > 1


def test_flipped_signs_find_a_change_and_none():
    rng = np.random.default_rng(1)
    assert flipped(rng.normal(0.5, 1, 200)) < 0.01
    assert flipped(rng.normal(0, 1, 200)) > 0.01
    assert flipped(np.zeros(5)) == 1


def fill(store, count):
    """Put so many answers into a store, without the time that it takes to encode each."""
    told = [verdict(score) for score in np.linspace(0, 1, 101)] + [abstention()] * 2
    ids = Ids()
    rows = [
        row(
            Heard(
                id="",
                at=0,
                interaction=interaction(n, route=f"/{n % 7}"),
                outcome=outcome,
                why=Why.SAMPLE,
                chance=0,
                run_id=None,
                action=None,
                attempt=1,
                draft=False,
            ),
            None,
            {},
        )
        for n, outcome in enumerate(told)
    ]
    chance = random.Random(0)
    for start in range(0, count, 1000):
        batch = []
        for n in range(start, min(count, start + 1000)):
            one, (key, at) = rows[n * 37 % len(rows)], ids()
            head = {**one.answer, "id": key, "at": at, "chance": chance.random()}
            batch.append(Row(answer=head, body={**one.body, "answer_id": key}, tags=one.tags))
        store._writer._insert(batch)


def test_a_queue_of_many_answers_comes_page_by_page_each_once(opened):
    """From the first page to the last, by filters too, and the figures count the same."""
    store = opened(drift=None)
    fill(store, 2_000)
    for queue in ("newest", "uncertain"):
        seen, after = [], None
        while True:
            page = store.page(queue=queue, after=after, limit=300)
            seen += [line.id for line in page.lines]
            if (after := page.after) is None:
                break
        assert len(seen) == len(set(seen))
        assert queue != "newest" or len(seen) == 2_000
    assert store.figures().answers == 2_000
    assert sum(group.answers for group in store.by("route")) == 2_000
    found = store.page(Filter(text="bag 7 "), queue="newest").lines
    assert found
    assert all("bag 7 " in f"{line.question} {line.answer}" for line in found)


def test_precision_is_not_that_of_a_level_alone(opened):
    """All of one level and little of another are no sample of what is flagged."""
    store, truth = opened(sampling=Sampling(rate=0.1, levels=("high",))), {}
    store._random = random.Random(1)
    chance = random.Random(2)
    for n in range(1200):
        high = n % 2
        key = store.keep(interaction(n), verdict(0.9 if high else 0.6))
        truth[key] = chance.random() < (0.9 if high else 0.3)
    assert store.flush(30)
    for kept in store.next("r", queue="flagged", limit=1200):
        store.review(kept.id, "agree" if truth[kept.id] else "disagree", reviewer="r")
    told = store.figures().quality
    assert told.precision.low < 0.6 < told.precision.high
    assert told.precision.of == store.figures().sampled
    (found,) = store.thresholds()
    assert len(found.scores) == told.precision.of


def test_what_is_kept_for_its_level_alone_has_no_precision(opened):
    store = opened(sampling=Sampling(rate=0, levels=("high",)))
    for key in keep(store, 0.9, 0.9):
        store.review(key, "agree", reviewer="r")
    told = store.figures().quality
    assert (told.precision, "kept by a rule or for its level" in told.precision_basis) == (None, True)


def test_seconds_are_those_of_the_sample(opened):
    """What is kept for being flagged may take longer to judge than the rest."""
    store = opened(sampling=Sampling(rate=0, flagged=True))
    store.keep(interaction(), verdict(0.9, seconds=9.0), durable=True)
    assert store.figures().median is None
    store._sampling = Sampling()
    store.keep(interaction(), verdict(0.1, seconds=0.5), durable=True)
    assert (store.figures().median, store.figures().p95) == (0.5, 0.5)


def test_a_tag_goes_before_what_every_answer_has_of_that_name(store):
    keep(store, 0.9, 0.1, kind="faq")
    keep(store, 0.1, kind="chat")
    assert [(group.name, group.answers) for group in store.by("kind")] == [("faq", 2), ("chat", 1)]
    assert [group.name for group in store.by("detector")] == ["told"]
