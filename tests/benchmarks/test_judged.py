"""What methods say of answers becomes figures, and what they don't say is never made up."""

import json
from dataclasses import asdict

import pytest

from benchmarks import judged, quality
from benchmarks.judged import Judged, Method
from groundwire.core.span import Span

METHOD = Method(name="scripted", judge=lambda rows: [], probability=True)


def row(name, label, *, task="qa", source=None, spans=(), answer="The fee is 75 euros."):
    return {
        "id": name,
        "dataset": "own",
        "task": task,
        "question": None,
        "context": "The fee is 25 euros.",
        "answer": answer,
        "label": label,
        "spans": [{"start": start, "end": end, "label": "conflict", "text": ""} for start, end in spans],
        "meta": {"source_id": source or name},
    }


def said(name, label, score, **of_row):
    if score is None:
        return Judged(row=row(name, label, **of_row), score=None, why="NO_CLAIMS")
    return Judged(row=row(name, label, **of_row), score=score, flagged=score >= 0.5, spans=(Span(11, 13),))


def test_each_task_weighs_the_same():
    """Three answers of one task and one of another: each task sums up to its 900."""
    data = judged.labelled([said(str(i), 0, 0.1, task="qa" if i else "summary") for i in range(4)])
    assert list(data.weights) == [900, 300, 300, 300]


def test_an_abstention_has_no_score_and_is_counted():
    """It takes part in no measure, and the share that was judged says so."""
    card = quality.card(
        METHOD, [said("a", 1, 0.9), said("b", 0, 0.2), said("c", 1, None)], even=True, spans=False
    )
    assert (card.answers, card.coverage, dict(card.abstained)) == (3, pytest.approx(2 / 3), {"NO_CLAIMS": 1})
    assert (card.auroc.value, card.f1.value) == (1.0, 1.0)


def test_figures_go_into_the_record():
    """A card with abstentions is JSON."""
    card = quality.card(METHOD, [said("a", 1, 0.9), said("b", 0, None)], even=True, spans=True)
    assert json.loads(json.dumps(card, default=asdict))["abstained"] == {"NO_CLAIMS": 1}


def test_bounds_count_abstentions_as_wrong_and_as_right():
    """Of two bad answers one was found; the other one is then missed, or found too."""
    card = quality.card(
        METHOD, [said("a", 1, 0.9), said("b", 0, 0.2), said("c", 1, None)], even=True, spans=False
    )
    assert card.f1_bounds == (pytest.approx(2 / 3), 1.0)
    assert card.auroc_bounds == (pytest.approx(1 / 2), 1.0)


def test_without_abstentions_there_are_no_bounds():
    """What was measured in full needs none."""
    card = quality.card(METHOD, [said("a", 1, 0.9), said("b", 0, 0.2)], even=True, spans=False)
    assert card.auroc_bounds is None
    assert card.f1_bounds is None


def test_a_method_that_judged_nothing_has_no_figures():
    """All abstained: coverage 0, and not one number."""
    card = quality.card(METHOD, [said("a", 1, None), said("b", 0, None)], even=True, spans=True)
    assert card.coverage == 0
    assert (card.auroc, card.f1, card.best_f1, card.span_f1, card.ece) == (None,) * 5


def test_a_shortcut_is_read_in_its_better_direction():
    """Bad answers are the short ones here: length tells them apart all the same."""
    rows = [row("a", 1, answer="75 euros."), row("b", 0, answer="It is 25 euros, and has long been so.")]
    length, _, always = judged.SHORTCUTS
    assert quality.card(length, length.judge(rows), even=True, spans=False).auroc.value == 1.0
    card = quality.card(always, always.judge(rows), even=True, spans=False)
    assert (card.auroc.value, card.f1.value) == (0.5, pytest.approx(2 / 3))


def test_novel_words_are_marked_where_they_stand():
    """Only the word that no passage has."""
    assert judged.novel_words(row("a", 1)) == (Span(11, 13),)
    assert judged.novel_share(row("a", 1)) == 1 / 5


def test_spans_are_compared_by_characters():
    """Of four marked characters two were flagged, and nothing else."""
    data = judged.marked([said("a", 1, 0.9, spans=[(11, 15)])])
    assert (data.annotated[0], data.flagged[0], data.both[0]) == (4, 2, 2)


def test_a_pair_needs_both_verdicts():
    """An answer on which one of two methods abstained is in no comparison of them."""
    first = [said("a", 1, 0.9), said("b", 0, None), said("c", 0, 0.2)]
    second = [said("a", 1, 0.4), said("b", 0, 0.3), said("c", 0, 0.6)]
    data = judged.paired(first, second)
    assert list(data.scores) == [0.9, 0.2]
    assert list(data.others) == [0.4, 0.6]


def test_a_sample_is_the_same_each_time_and_keeps_its_order():
    """Whatever the order of the rows, the same ones are drawn."""
    rows = [row(str(i), 0) for i in range(20)]
    few = judged.sampled(rows, 5)
    assert [one["id"] for one in few] == sorted((one["id"] for one in few), key=int)
    assert {one["id"] for one in judged.sampled(rows[::-1], 5)} == {one["id"] for one in few}
    assert judged.sampled(rows, None) == rows


def test_found_by_label_counts_stretches_and_their_characters():
    """One stretch touched in half, one missed."""
    (found,) = quality.found_by_label(
        [said("a", 1, 0.9, spans=[(11, 15)]), said("b", 1, 0.9, spans=[(0, 4)])]
    )
    assert (found.label, found.marked, found.touched, found.characters) == ("conflict", 2, 0.5, 2 / 8)


def test_a_detector_is_found_by_its_name_and_judges_rows():
    """The lexical detector refutes the wrong figure, and abstains where there is nothing to judge."""
    verdict, nothing = judged.detector("lexical").judge([row("a", 1), {**row("b", 0), "answer": "..."}])
    assert verdict.flagged
    assert any(span.of("The fee is 75 euros.") == "75 euros" for span in verdict.spans)
    assert (nothing.score, nothing.flagged, nothing.why) == (None, None, "NO_CLAIMS")
