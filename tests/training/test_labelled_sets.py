"""The split: a source teaches, is fitted on, or measures, and never two of these."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.labelled_sets import FIT, TEST, contexts, part


def answer(source_id, context="A bag costs 25 EUR.", **others):
    return {"meta": {"source_id": source_id}, "context": context, "answer": "Yes.", **others}


@given(st.text(min_size=1), st.text(), st.text())
def test_answers_to_one_source_fall_together(source, one, other):
    """Whatever else they say; otherwise what is tested on would have been learnt."""
    assert (
        part(answer(source, one)) == part(answer(source, other, question="Why?")) == part(answer(source, one))
    )


@given(st.text(min_size=1))
def test_without_a_source_the_context_is_one(context):
    """Absent, null and empty ids alike."""
    places = {
        part({"meta": meta, "context": context}) for meta in ({}, {"source_id": None}, {"source_id": ""})
    }
    assert places == {part(answer(context))}


def test_parts_are_as_large_as_they_are_named():
    """Sources spread evenly, so two thirds teach, a fifth measures and the rest is between."""
    places = [part(answer(str(i))) for i in range(5_000)]
    assert all(0 <= place < 1 for place in places)
    assert sum(place < FIT for place in places) / len(places) == pytest.approx(FIT, abs=0.03)
    assert sum(place >= TEST for place in places) / len(places) == pytest.approx(1 - TEST, abs=0.03)


def test_a_context_in_one_piece_is_one_passage():
    """And one that comes in passages stays so."""
    assert contexts(answer("1", "All.")) == ["All."]
    assert contexts(answer("1", "A. B.", contexts=["A.", "B."])) == ["A.", "B."]
