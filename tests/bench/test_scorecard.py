"""Score cards: what hands work out, what abstentions may hide, and the mean over sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as theirs

from groundwire import Usage
from groundwire.bench import curves, metrics
from groundwire.bench.intervals import Averaged, compare_flags, compare_scores, interval
from groundwire.bench.metrics import Flagged, Labelled
from groundwire.bench.scorecard import card, marked, scored
from groundwire.core.span import Span
from tests.bench.answers import said

SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.4, 0.5, 0.75, 0.9, 1.0])
ROWS = st.lists(st.tuples(st.integers(0, 1), SCORES, st.floats(0.25, 20)), min_size=4, max_size=40).filter(
    lambda rows: 0 < sum(label for label, *_ in rows) < len(rows)
)


def arrays(rows):
    labels, scores, weights = (np.array(column) for column in zip(*rows, strict=True))
    return Labelled(
        labels=labels.astype(int), scores=scores.astype(float), weights=weights, groups=np.arange(len(rows))
    )


@settings(max_examples=50)
@given(ROWS)
def test_measures_of_scores_are_scikit_learns(rows):
    """With any weights and any ties."""
    data = arrays(rows)
    asked = (data.labels, data.scores)
    weights = {"sample_weight": data.weights}
    assert metrics.auroc(data) == pytest.approx(theirs.roc_auc_score(*asked, **weights))
    assert metrics.average_precision(data) == pytest.approx(theirs.average_precision_score(*asked, **weights))
    assert metrics.brier(data) == pytest.approx(theirs.brier_score_loss(*asked, **weights))


@settings(max_examples=50)
@given(ROWS, SCORES)
def test_measures_of_flags_are_scikit_learns(rows, threshold):
    """Accuracy, balanced accuracy, precision, recall and F1 of what reaches a threshold."""
    data = arrays(rows)
    flags = data.flags(threshold)
    asked, weights = (data.labels, flags.flagged), {"sample_weight": data.weights}
    assert metrics.accuracy(flags) == pytest.approx(theirs.accuracy_score(*asked, **weights))
    assert metrics.balanced_accuracy(flags) == pytest.approx(
        theirs.balanced_accuracy_score(*asked, **weights)
    )
    assert metrics.recall(flags) == pytest.approx(theirs.recall_score(*asked, **weights))
    assert metrics.f1(flags) == pytest.approx(theirs.f1_score(*asked, **weights, zero_division=0))
    assert metrics.specificity(flags) == pytest.approx(theirs.recall_score(*asked, **weights, pos_label=0))
    if flags.flagged.any():
        assert metrics.precision(flags) == pytest.approx(theirs.precision_score(*asked, **weights))
    else:
        assert np.isnan(metrics.precision(flags))


@settings(max_examples=50)
@given(ROWS, st.floats(0.05, 1))
def test_precision_at_a_recall_is_on_scikit_learns_curve(rows, recall):
    """The best precision of the curve's points with at least that recall, and the other way about."""
    data = arrays(rows)
    precision, reached, _ = theirs.precision_recall_curve(
        data.labels, data.scores, sample_weight=data.weights
    )
    assert metrics.precision_at_recall(data, recall) == pytest.approx(
        precision[reached >= recall - 1e-12].max()
    )
    enough = reached[(precision >= recall - 1e-12) & (reached > 0)]
    assert metrics.recall_at_precision(data, recall) == pytest.approx(enough.max(initial=0))


@settings(max_examples=30)
@given(ROWS)
def test_curves_enclose_scikit_learns_areas(rows):
    """Drawn curves have the area of AUROC and of average precision: thinning leaves a short one as it is."""
    data = arrays(rows)
    points = curves.roc(data)
    across, up = (np.array(part) for part in zip(*points, strict=True))
    assert theirs.auc(across, up) == pytest.approx(metrics.auroc(data))
    across, up = (np.array(part) for part in zip(*curves.precision_recall(data), strict=True))
    assert theirs.auc(across, up) == pytest.approx(metrics.average_precision(data))
    cut = curves.sweep(data)[40]
    flagged = data.scores >= 0.4
    assert (cut.hit, cut.false) == (
        (flagged & (data.labels == 1)).sum(),
        (flagged & (data.labels == 0)).sum(),
    )


def test_one_score_for_all_answers_is_a_level_line_of_precision():
    """As flagging everything is: at no recall is it above a method that orders answers at all."""
    data = arrays([(label, 0.5, 1.0) for label in (1, 0, 0, 0)])
    assert curves.precision_recall(data) == [(0.0, 0.25), (1.0, 0.25)]


def test_words_are_measured_by_characters_and_by_sentences():
    """Two of four marked characters and two others are flagged: one half. One of two sentences is hit."""
    answer = "Abcd efgh. Ijkl mnop."
    one = said(0.9, answer=answer, spans=[Span(2, 4), Span(11, 13)])
    truth = (Span(0, 4),)
    one = type(one)(
        example=type(one.example)(
            id="x", interaction=one.example.interaction, label=True, spans=truth, group="g"
        ),
        outcome=one.outcome,
        seconds=0,
    )
    found = card({"set": [one, said(0.1, label=False, spans=())]}, rounds=20).figures
    assert [found[f"span_{name}"].value for name in ("precision", "recall", "f1")] == [0.5, 0.5, 0.5]
    assert [found[f"sentence_{name}"].value for name in ("precision", "recall")] == [0.5, 1.0]


def test_answers_that_nobody_marked_take_no_part_in_measures_of_words():
    """A hallucinated answer without marks says nothing about words, and a method that names none has none."""
    assert marked({"set": [said(0.9, spans=[Span(0, 3)])]}, metrics.characters) is None
    assert card({"set": [said(0.9), said(0.2, label=False)]}, rounds=5).figures["span_f1"] is None


def test_abstentions_are_counted_and_bounded_and_never_imputed():
    """Two of four judged, both rightly: AUROC 1. Were the others wrong, one pair of four were in order."""
    judged = [
        *(said(0.9), said(0.1, label=False)),
        *(said(0, why="TIMEOUT"), said(0, label=False, why="NO_CONTEXT")),
    ]
    found = card({"set": judged}, rounds=20)
    assert found.coverage == 0.5
    assert found.abstained == {"TIMEOUT": 1, "NO_CONTEXT": 1}
    assert found.figures["auroc"].value == 1
    low, high = found.bounds["auroc"]
    # Scores 0.9 and 0 of bad answers against 0.1 and 1 of good ones: 0.9 > 0.1 alone.
    assert (low, high) == (0.25, 1.0)
    assert found.bounds["f1"] == (0.5, 1.0)


def test_what_has_no_meaning_has_no_bounds():
    """Of reference answers alone, which are all grounded, neither AUROC nor F1 can be told, nor bounded."""
    one_sided = card({"set": [said(0.2, label=False), said(0, label=False, why="NO_CLAIMS")]}, rounds=5)
    assert (one_sided.coverage, one_sided.bounds) == (0.5, {})
    flagged = card({"set": [said(0.2), said(0, why="NO_CLAIMS")]}, rounds=5)
    assert flagged.bounds == {"f1": (0.0, pytest.approx(2 / 3))}


def test_several_sets_weigh_the_same():
    """One right set of two answers and one wrong of many: their mean, and not that of the answers."""
    right = [said(0.9), said(0.1, label=False)]
    wrong = [said(0.1) for _ in range(20)] + [said(0.9, label=False) for _ in range(20)]
    assert card({"a": right, "b": wrong}, rounds=20).figures["auroc"].value == 0.5


def test_a_mean_leaves_no_set_out_for_what_a_method_did_not_do():
    """Flagging nothing in one of two sets, it has no precision there, and so none over both."""
    right = [said(0.9), said(0.1, label=False)]
    silent = [said(0.2), said(0.1, label=False)]
    figures = card({"a": right, "b": silent}, rounds=5).figures
    assert figures["precision"] is None
    assert (figures["recall"].value, figures["f1"].value) == (0.5, 0.5)


def test_a_mean_leaves_a_set_out_for_its_labels_whatever_a_method_did():
    """Where all are grounded nothing can be ordered or found, with an alarm or without one."""
    right = [said(0.9), said(0.1, label=False)]
    for score in (0.1, 0.9):
        figures = card({"a": right, "b": [said(score, label=False)]}, rounds=5).figures
        found = [figures[name].value for name in ("auroc", "precision", "recall", "f1")]
        assert found == [1, 1, 1, 1]


def test_a_shortcut_is_turned_where_that_suits_it():
    """Upside down in one set and not in another, it is right in both."""
    up = [said(0.9), said(0.1, label=False)]
    down = [said(0.1), said(0.9, label=False)]
    data = scored({"up": up, "down": down}, either_way=True)
    assert Averaged(metrics.auroc)(data) == 1


def test_what_an_answer_took_is_told_as_it_was():
    """Means of calls, tokens and money; the middle of seconds. A price that is known for some is unknown."""
    used = [Usage(calls=2, input_tokens=100, output_tokens=10, cost=0.5), Usage(calls=1, input_tokens=50)]
    judged = [said(0.9, usage=used[0], seconds=1), said(0.2, label=False, usage=used[0], seconds=3)]
    spent = card({"set": judged}, rounds=5).spent
    assert (spent.calls, spent.tokens, spent.cost, spent.seconds_p50) == (2, 110, 0.5, 2)
    judged[1] = said(0.2, label=False, usage=used[1])
    assert card({"set": judged}, rounds=5).spent.cost is None


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Sixty sources of three answers that go together, 400 times: 95 % of intervals, give or take chance.

    Sampled as if answers did not go together, intervals would hold it 75 % of the time.
    """
    rng = np.random.default_rng(7)
    held = held_by_answers = 0
    for _ in range(400):
        rates = rng.beta(1.2, 1.2, 60)  # of each source; their mean is .5
        right = rng.random((60, 3)) < rates[:, None]
        data = Flagged(
            labels=np.ones(180, dtype=int),
            flagged=right.ravel(),
            weights=np.ones(180),
            groups=np.repeat(np.arange(60), 3),
        )
        low, high = interval(metrics.accuracy, data, rounds=150)
        held += low <= 0.5 <= high
        by_answer = Flagged(**{**vars(data), "groups": np.arange(180)})
        low, high = interval(metrics.accuracy, by_answer, rounds=150)
        held_by_answers += low <= 0.5 <= high
    assert 0.91 <= held / 400 <= 0.985
    assert held_by_answers / 400 < 0.9


def test_a_paired_test_finds_what_is_there_and_seldom_what_is_not():
    """Of 100 pairs of equally good methods few are told apart; a clear lead always is."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 80)
    beside = {"labels": labels, "weights": np.ones(80), "groups": np.arange(80) // 2}

    def scores(strength):
        return np.clip(0.5 + strength * (labels - 0.5) + rng.normal(0, 0.3, 80), 0, 1)

    told_apart = 0
    for _ in range(100):
        one, other = (Labelled(scores=scores(0.3), **beside) for _ in range(2))
        told_apart += compare_scores(metrics.auroc, one, other, rounds=60).p < 0.05
    assert told_apart <= 12
    strong, weak = Labelled(scores=scores(1.0), **beside), Labelled(scores=scores(0.0), **beside)
    found = compare_scores(metrics.auroc, strong, weak, rounds=100)
    assert found.p == pytest.approx(1 / 101)
    assert found.difference.low > 0
    assert compare_flags(metrics.f1, strong.flags(0.5), strong.flags(0.5), rounds=20).p == 1
