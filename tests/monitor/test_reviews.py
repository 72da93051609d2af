"""What people say is kept, handed out fairly, and reckoned with honestly."""

import random
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from groundwire import ConfigurationError, InputError, Passage, Span
from groundwire.monitor import Basis, Filter, Opinion, Queue, Sampling
from groundwire.monitor.statistics import kappa
from tests.monitor.told import DETECTOR, abstention, interaction, keep, verdict


def test_a_review_is_kept_and_a_second_thought_replaces_it(store):
    (key,) = keep(store, 0.9)
    store.review(key, "agree", reviewer="ann", note="sure")
    said = store.review(
        key, Opinion.DISAGREE, reviewer="ann", spans=[Span(0, 1), (3, 6)], kind="irrelevant", note="or not"
    )
    assert store.feedback(key) == (said,)
    assert (said.hallucinated, said.spans, said.kind) == (False, (Span(0, 1), Span(3, 6)), "irrelevant")


def test_of_an_abstention_only_the_reviewer_knows_the_truth(store):
    (key,) = keep(store, None)
    assert store.review(key, "agree", reviewer="ann").hallucinated is None
    assert store.review(key, "disagree", reviewer="ann", hallucinated=True).hallucinated is True


@pytest.mark.parametrize(
    ("opinion", "options", "said"),
    [
        ("maybe", {}, "opinion must be one of 'agree', 'disagree', 'unsure', not 'maybe'"),
        ("agree", {"reviewer": ""}, "reviewer must be a name"),
        ("agree", {"hallucinated": False}, "says hallucinated=True, and False was given"),
        ("agree", {"spans": [(0, 99)]}, "inside the answer of 19 characters, not 0 to 99"),
        ("agree", {"kind": "odd"}, "kind must be one of"),
        ("unsure", {"hallucinated": "no"}, "hallucinated must be True, False or None, not 'no'"),
        ("agree", {"spans": "0:5"}, "spans must be a list of spans, not '0:5'"),
        ("agree", {"spans": (0, 5)}, r"a span must be a Span or \(start, end\) in characters, not 0"),
        ("agree", {"spans": [(0.5, 5)]}, "a span must be a Span or"),
        ("agree", {"spans": [{"start": 0, "end": 5}]}, "a span must be a Span or"),
        ("agree", {"note": 5}, "note must be a text, not 5"),
    ],
)
def test_a_wrong_review_is_refused(store, opinion, options, said):
    (key,) = keep(store, 0.9)
    with pytest.raises(InputError, match=said):
        store.review(key, opinion, **{"reviewer": "ann", **options})
    assert store.feedback(key) == ()


@pytest.mark.parametrize("yes", [True, 1, np.True_, np.int64(1)])
def test_labels_of_a_table_and_a_note_that_nobody_wrote_are_kept_as_what_they_mean(store, yes):
    """As an application hands them on; a note of None was kept as the word."""
    (key,) = keep(store, 0.9)
    said = store.review(key, "agree", reviewer="ann", hallucinated=yes, spans=[(np.int64(0), 5)], note=None)
    assert (said.hallucinated, said.spans, said.note) == (True, (Span(0, 5),), "")
    assert store.feedback(key) == (said,)


def test_blind_reviewers_see_others_only_after_their_own_word(store):
    (key,) = keep(store, 0.9)
    store.review(key, "agree", reviewer="ann")
    assert store.feedback(key, seen_by="bob", blind=True) == ()
    store.review(key, "disagree", reviewer="bob")
    assert [said.reviewer for said in store.feedback(key, seen_by="bob", blind=True)] == ["ann", "bob"]


@pytest.mark.parametrize("name", [None, "", "r" * 201])
def test_nobody_is_given_answers_under_what_is_no_name(store, name):
    """They would be reserved for whom nobody can review as."""
    keep(store, 0.9)
    with pytest.raises(InputError, match="reviewer must be a name of 1 to 200 characters"):
        store.next(name)
    assert len(store.next("ann")) == 1


def test_nobody_is_given_what_another_is_at(store):
    keep(store, *[0.9] * 6)
    ann, bob = store.next("ann", limit=3), store.next("bob", limit=3)
    assert {row.id for row in ann} | {row.id for row in bob} == {row.id for row in store.rows()}
    assert [row.id for row in store.next("ann", limit=3)] == [row.id for row in ann]
    assert store.next("cy") == []
    store.review(ann[0].id, "agree", reviewer="ann")
    assert store.next("cy") == []  # reviewed is done
    assert [row.id for row in store.next("cy", reviewers=2)] != []


def test_a_reservation_ends(store):
    keep(store, 0.9)
    assert store.next("ann", reserve=0.001)
    assert [row.id for row in store.next("bob")] == [row.id for row in store.rows()]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e300, "600", timedelta(minutes=10)])
def test_a_reservation_is_for_some_time(store, seconds):
    """One that had ended before it began would give the same answer to two people."""
    keep(store, 0.9)
    with pytest.raises(InputError, match="reserve must be a number of seconds above 0 and below a billion"):
        store.next("ann", reserve=seconds)


def test_an_id_that_is_passed_over_may_stand_alone(store):
    (key,) = keep(store, 0.9)
    assert store.next("ann", without=key) == []


def test_a_random_queue_takes_no_filter_that_looks_at_outcomes(store):
    keep(store, 0.9, 0.1, route="/a")
    assert len(store.next("ann", limit=9, wanted=Filter(tags={"route": "/a"}))) == 2
    with pytest.raises(ConfigurationError, match="draws a fair sample"):
        store.next("ann", wanted=Filter(hallucinated=True))


@pytest.mark.parametrize("seed", range(3))
def test_kappa_is_what_scikit_learn_reckons(seed):
    chance = random.Random(seed)
    first = [chance.random() < 0.4 for _ in range(60)]
    second = [one if chance.random() < 0.7 else not one for one in first]
    assert kappa(first, second) == pytest.approx(cohen_kappa_score(first, second))


def test_kappa_is_unknown_where_chance_alone_would_agree():
    assert kappa([True, True], [True, True]) is None
    assert kappa([], []) is None


def test_agreement_is_told_of_each_two_reviewers(store):
    ids = keep(store, 0.9, 0.1, 0.8, 0.2)
    for key, bobs in zip(ids, ("agree", "agree", "disagree", "unsure"), strict=True):
        store.review(key, "agree", reviewer="ann")
        store.review(key, bobs, reviewer="bob")
    (one,) = store.agreement()
    assert (one.first, one.second, one.answers, one.agreed) == ("ann", "bob", 3, 2)


def test_an_even_split_decides_nothing(store):
    (key,) = keep(store, 0.9)
    store.review(key, "agree", reviewer="ann")
    store.review(key, "disagree", reviewer="bob")
    quality = store.figures().quality
    assert (quality.reviewed, quality.undecided, quality.precision) == (1, 1, None)
    assert quality.precision_basis == "no decision among the 1 reviewed of all flagged answers"
    assert quality.recall_basis == "no decision among the 1 reviewed of all answers kept by chance"
    store.review(key, "agree", reviewer="cy")
    assert store.figures().quality.precision.value == 1


def truth_of(row):
    """A population in which the detector's flags are right 3 times in 4, and it finds half of all."""
    number = int(row.interaction.question.split()[3])
    return number % 4 != 0 if row.outcome.hallucinated else number % 3 == 0


def review(store, rows):
    for row in rows:
        agrees = truth_of(row) == row.outcome.hallucinated
        store.review(row.id, "agree" if agrees else "disagree", reviewer="ann")


def test_recall_is_refused_without_a_random_sample(store):
    keep(store, 0.9, 0.1, 0.2)
    quality = store.figures().quality
    assert quality.precision is None
    assert (quality.recall, quality.recall_basis.split(":")[0]) == (
        None,
        "no answer of the random sample was reviewed",
    )
    review(store, store.next("ann", queue="uncertain"))
    assert store.figures().quality.recall is None
    assert "depends on the outcome" in store.figures(Filter(levels=("low",))).quality.recall_basis


def test_reviews_of_other_queues_do_not_bend_what_the_random_one_tells(opened):
    """However many flagged answers people review besides, intervals of the drawn sample hold the truth."""
    store = opened()
    store._random = chance = random.Random(3)
    keep(store, *[0.9 if chance.random() < 0.3 else 0.1 for _ in range(300)])
    rows = list(store.rows())
    real = [row for row in rows if truth_of(row)]
    recall = sum(row.outcome.hallucinated for row in real) / len(real)
    flagged = [row for row in rows if row.outcome.hallucinated]
    precision = sum(map(truth_of, flagged)) / len(flagged)
    review(store, flagged[: len(flagged) * 3 // 4])
    while store.count(Filter(reviewed=True)) < 170:
        review(store, store.next("ann", limit=30))
    store.next("bob", limit=40)  # drawn, and not reviewed yet
    quality = store.figures().quality
    assert quality.recall_basis == "answers drawn by chance"
    assert quality.recall.low <= recall <= quality.recall.high
    assert quality.recall.of < len(real)
    assert quality.precision.low <= precision <= quality.precision.high
    for who in ("ann", "bob"):
        review(store, store.next(who, limit=900))
    whole = store.figures().quality
    assert whole.recall.value == pytest.approx(recall)
    assert whole.precision.value == pytest.approx(precision)
    assert whole.recall_basis == "all answers kept by chance"


def test_what_could_not_be_judged_keeps_no_hand_out_waiting(store):
    """It enters no figure, whether anybody says something of it or not."""
    keep(store, *[None] * 4, *[0.9, 0.1] * 8)
    for row in store.next("ann", limit=12):
        if row.outcome.hallucinated is not None:
            store.review(row.id, "agree", reviewer="ann")
    quality = store.figures().quality
    assert (quality.waiting, quality.recall.value) == (0, 1)
    assert quality.recall_basis == "answers drawn by chance"


def test_to_ask_for_reviewed_answers_makes_no_sample_of_those_that_people_chose(store):
    """All of these are reviewed, and not all that is flagged."""
    for key in keep(store, *[0.9] * 9)[:3]:
        store.review(key, "agree", reviewer="ann")
    reviewed = Filter(reviewed=True)
    assert "people chose" in store.figures(reviewed).quality.precision_basis
    assert store.figures(reviewed).quality == store.figures().quality
    assert [told.basis for told in store.thresholds(reviewed)] == [Basis.CHOSEN]
    assert store.labels(reviewed).basis == store.labels().basis
    assert store.figures(Filter(reviewed=False)).quality.reviewed == 0


def test_what_a_rule_kept_does_not_enter_precision(opened):
    store = opened(sampling=Sampling(rate=0.0, rule=lambda *_: True))
    (key,) = keep(store, 0.9)
    store.review(key, "agree", reviewer="ann")
    assert "kept by a rule" in store.figures().quality.precision_basis


def test_errors_that_have_something_in_common_are_named(opened):
    store = opened()
    for n in range(120):
        wrong = n % 3 == 0
        seen = interaction(
            n, question="luggage size" if wrong else "fare of a seat", route="/b" if wrong else "/a"
        )
        key = store.keep(seen, verdict(0.9), durable=True)
        store.review(key, "disagree" if wrong and n % 2 else "agree", reviewer="ann")
    found = {one.name: one for one in store.patterns()}
    assert found["route /b"].here.value == 0.5
    assert found["route /b"].elsewhere.value == 0
    assert found["route /b"].p < 1e-6
    assert all(store.get(key).interaction for one in found.values() for key in one.examples)
    topics = [name for name in found if name.startswith("topic")]
    assert any("luggage" in name for name in topics)


def test_errors_without_a_pattern_name_none(opened):
    store = opened()
    chance = random.Random(5)
    for n in range(80):
        key = store.keep(interaction(n, route=f"/{n % 4}"), verdict(0.9), durable=True)
        store.review(key, "disagree" if chance.random() < 0.3 else "agree", reviewer="ann")
    assert [one for one in store.patterns() if one.p < 0.05] == []


def test_what_is_put_off_is_passed_over(store):
    """The rest follows in its order, and drawing by chance goes on behind it."""
    keep(store, 0.9, 0.1, 0.2)
    first, second, third = (row.id for row in store.next("ann", limit=3))
    assert [row.id for row in store.next("ann", limit=3, without=[first])] == [second, third]
    assert store.next("ann", without=[first, second, third]) == []


def test_how_many_are_left_is_what_would_be_handed_out(store):
    """For each reviewer, as others review and reserve, and no further than one wants to count."""
    keep(store, *[0.9] * 4, *[0.1] * 3)
    assert [store.left("ann", queue=queue) for queue in Queue] == [7, 4, 7, 7, 0]
    (reserved,) = store.next("bob", queue="flagged")
    assert (store.left("ann", queue="flagged"), store.left("bob", queue="flagged")) == (3, 4)
    store.review(reserved.id, "agree", reviewer="bob")
    assert (store.left("ann", queue="flagged"), store.left("bob", queue="flagged")) == (3, 3)
    assert store.left("ann", queue="flagged", reviewers=2) == 4
    assert store.left("ann", wanted=Filter(hallucinated=False), queue="newest") == 3
    assert store.left("ann", queue="newest", most=2) == 2
    for queue in Queue:
        assert len(store.next("ann", queue=queue, limit=100)) == store.left("ann", queue=queue)


def test_a_review_can_be_taken_back(store):
    """The answer is then reviewed by nobody, and handed out again."""
    (key,) = keep(store, 0.9)
    assert store.retract(key, "ann") is False
    store.review(key, "agree", reviewer="ann")
    store.review(key, "agree", reviewer="bob")
    assert store.next("ann") == []
    assert store.retract(key, "ann") is True
    assert [said.reviewer for said in store.feedback(key)] == ["bob"]
    assert [row.id for row in store.next("ann", reviewers=2)] == [key]


def test_a_reviewer_is_forgotten(tmp_path, opened, url):
    """What others said stays, and so do the answers."""
    store = opened(url)
    ids = keep(store, 0.9, 0.1)
    for key in ids:
        store.review(key, "agree", reviewer="Bob Bobson", note="Bob's own note")
    store.review(ids[0], "agree", reviewer="ann")
    store.next("Bob Bobson", queue="newest", reviewers=9)
    assert store.forget_reviewer("Bob Bobson") == 2
    assert [len(store.feedback(key)) for key in ids] == [1, 0]
    assert store.forget_reviewer("Bob Bobson") == 0
    store.close()
    for path in tmp_path.glob("answers.db*"):
        assert b"Bob" not in path.read_bytes()


def test_a_reservation_can_be_given_up(store):
    (key,) = keep(store, 0.9)
    store.next("ann")
    store.release(key, "bob")  # not bob's to give
    assert store.next("bob") == []
    store.release(key, "ann")
    assert [row.id for row in store.next("bob")] == [key]


def test_a_twin_that_another_detector_sees_otherwise_is_disagreed_about(store):
    """However many agree, and whatever could not be judged."""
    asked, other = interaction(1), replace(DETECTOR, parameters={"a": 2})
    agreed = [store.keep(interaction(2), verdict(score)) for score in (0.9, 0.8)]
    differ = [store.keep(asked, verdict(score)) for score in (0.9, 0.95)]
    differ.append(store.keep(asked, verdict(0.1, detector=other)))
    store.keep(asked, abstention())
    assert store.flush(30)
    assert {line.id for line in store.page(queue="disagreeing").lines} == set(differ)
    assert set(agreed).isdisjoint(differ)


def test_a_detector_that_sees_other_passages_does_not_disagree_with_itself(store):
    for text, score in (("A bag costs 25 EUR.", 0.9), ("A bag costs 75 EUR.", 0.1)):
        store.keep(replace(interaction(1), contexts=(Passage(text=text),)), verdict(score))
    assert store.flush(30)
    assert store.page(queue="disagreeing").lines == ()


def test_what_was_drawn_from_a_part_tells_nothing_of_the_rest(store):
    """On one route the detector finds all, on the other nothing: a reviewer of the first knows half."""
    keep(store, *[0.9] * 4, route="/found")
    keep(store, *[0.1] * 4, route="/missed")
    found = Filter(tags={"route": "/found"})
    for row in store.next("ann", queue="random", wanted=found, limit=4):
        store.review(row.id, "agree", reviewer="ann")
    assert store.figures().quality.recall is None
    for row in store.next("ann", queue="random", limit=8):
        store.review(row.id, "disagree", reviewer="ann")
    assert store.figures().quality.recall.value == 0.5
