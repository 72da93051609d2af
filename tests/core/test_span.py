"""Spans: half-open ranges of characters."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import Span
from groundwire.core.span import touching, union

spans = st.builds(lambda a, n: Span(a, a + n), st.integers(0, 60), st.integers(0, 20))


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (4, 3)])
def test_a_span_out_of_order_can_not_be_built(start, end):
    with pytest.raises(ValueError, match="0 <= start <= end"):
        Span(start, end)


def test_a_span_slices_its_words_and_refuses_to_reach_past_the_text():
    assert Span(4, 7).of("the fee is") == "fee"
    with pytest.raises(ValueError, match="reaches past"):
        Span(4, 70).of("the fee is")


@given(st.lists(spans))
def test_the_union_covers_exactly_the_same_characters_in_disjoint_ordered_spans(given_spans):
    joined = union(given_spans)
    covered = {i for span in given_spans for i in range(span.start, span.end)}
    assert {i for span in joined for i in range(span.start, span.end)} == covered
    assert all(a.end < b.start for a, b in itertools.pairwise(joined))
    assert all(len(span) for span in joined)


@given(st.lists(spans), st.randoms())
def test_the_union_ignores_order(given_spans, random):
    shuffled = list(given_spans)
    random.shuffle(shuffled)
    assert union(shuffled) == union(given_spans)


@given(st.lists(spans), st.lists(spans))
def test_those_that_touch_share_a_character_with_one_of_the_others(some, others):
    some, others = ([span for span in both if len(span)] for both in (some, others))
    assert touching(some, others) == [span for span in some if any(map(span.overlaps, others))]
