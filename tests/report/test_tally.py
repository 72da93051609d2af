"""Counts add up, and agreement with labels is what scikit-learn says it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

from groundwire.report import Group, Tally
from groundwire.report.tally import auroc
from tests.report.answers import no_context, plain, refund, unread


def tally_of(entries):
    tally = Tally()
    for entry in entries:
        tally.add(entry)
    return tally


def test_every_outcome_is_counted_once():
    """Hallucinated, to check, grounded and not judged together are all answers."""
    tally = tally_of([refund(), plain(0.5), plain(0.4), plain(0.1), unread(), no_context()])
    assert [tally[group] for group in Group] == [2, 1, 1, 2]
    assert tally.answers == 6
    assert tally.to_dict()["abstentions"] == {"NO_CONTEXT": 1, "UNREADABLE_INPUT": 1}


def test_nothing_labelled_has_no_agreement():
    """Without labels, or with labels only on what could not be judged, there is no figure."""
    assert tally_of([plain(0.5)]).agreement() is None
    assert tally_of([no_context(label=1)]).agreement() is None


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 1)), min_size=1, max_size=40))
def test_agreement_is_what_scikit_learn_says(pairs):
    """AUROC with ties, precision, recall and F1 at the threshold are the textbook figures, or none."""
    agreement = tally_of([plain(score / 10, label=label) for score, label in pairs]).agreement()
    scores = [score / 10 for score, _ in pairs]
    labels = [label for _, label in pairs]
    flagged = [int(score >= 0.5) for score in scores]
    assert agreement.answers == len(pairs)
    assert agreement.hallucinated == sum(labels)
    figures = {"precision": precision_score, "recall": recall_score, "f1": f1_score}
    means = {"precision": any(flagged), "recall": any(labels), "f1": any(labels)}
    for name, figure in figures.items():
        expected = pytest.approx(figure(labels, flagged, zero_division=0)) if means[name] else None
        assert getattr(agreement, name) == expected
    both = len(set(labels)) == 2
    assert agreement.auroc == (pytest.approx(roc_auc_score(labels, scores)) if both else None)


def test_auroc_ignores_how_scores_are_spread():
    """Only the order of the scores matters."""
    labels = np.array([True, False, True, False, False])
    scores = np.array([0.9, 0.2, 0.4, 0.4, 0.1])
    assert auroc(scores, labels) == pytest.approx(auroc(scores**3, labels)) == pytest.approx(5.5 / 6)


def test_a_labelled_answer_that_was_not_judged_is_told():
    """It takes no part in the figures, and is counted beside them."""
    agreement = tally_of([plain(0.9, label=1), no_context(label=1)]).agreement()
    assert (agreement.answers, agreement.not_judged) == (1, 1)
