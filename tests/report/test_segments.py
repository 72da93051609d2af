"""Cutting texts into marked pieces loses and moves nothing."""

from hypothesis import given
from hypothesis import strategies as st

from groundwire import Span
from groundwire.report.segments import cut, stretches

spans = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda ends: Span(min(ends), max(ends)))
marks = st.lists(st.tuples(spans, st.integers(0, 5)), max_size=8)
texts = st.text(max_size=50)


@given(texts, marks)
def test_the_pieces_of_a_text_are_the_text(text, marks):
    """Joined in order, the segments give the text, whatever the marks, also those that reach past it."""
    assert "".join(segment.text for segment in cut(text, marks)) == text


@given(texts, marks)
def test_a_piece_carries_exactly_the_marks_that_cover_it(text, marks):
    """Every character is under the marks whose spans hold it, in the order given, and under no others."""
    for segment in cut(text, marks):
        assert segment.text == segment.span.of(text)
        for at in range(segment.span.start, segment.span.end):
            assert segment.marks == tuple(mark for span, mark in marks if span.start <= at < span.end)


@given(texts, marks, spans)
def test_cutting_a_part_keeps_the_offsets_of_the_whole(text, marks, part):
    """The segments within a part are that part, and still count from the start of the text."""
    part = Span(min(part.start, len(text)), min(part.end, len(text)))
    segments = list(cut(text, marks, within=part))
    assert "".join(segment.text for segment in segments) == part.of(text)
    assert all(segment.text == segment.span.of(text) for segment in segments)


@given(texts, marks, st.lists(st.integers(0, 60), max_size=5))
def test_a_text_is_cut_in_the_places_asked_for_too(text, marks, places):
    """No segment crosses such a place, and nothing else changes."""
    segments = list(cut(text, marks, at=places))
    assert "".join(segment.text for segment in segments) == text
    assert not any(segment.span.start < place < segment.span.end for segment in segments for place in places)


@given(st.text(alphabet="a|`~ \n\r\u2028", max_size=60))
def test_stretches_cover_a_text_without_gap(text):
    """Stretches follow each other from the first character to the last."""
    assert "".join(stretch.span.of(text) for stretch in stretches(text)) == text


def test_tables_and_code_keep_their_columns_and_prose_does_not():
    """A Markdown table and a fenced block are told from the prose around them."""
    text = "Prices:\n| Zone | Price |\n|---|---|\n| A | 50 |\nand code\n```\nif x:\n    y\n```\nend"
    kinds = [(stretch.span.of(text).split("\n")[0], stretch.columns) for stretch in stretches(text)]
    assert kinds == [
        ("Prices:", False),
        ("| Zone | Price |", True),
        ("and code", False),
        ("```", True),
        ("end", False),
    ]
