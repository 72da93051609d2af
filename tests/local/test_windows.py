"""Windows: nothing of the passages is lost, nothing is too long, and neighbours stay together."""

from hypothesis import given
from hypothesis import strategies as st

from groundwire import Span
from groundwire.local.windows import nearest, windows

words = st.sampled_from(
    ["One", "bag", "costs.", "Two", "bags", "are", "free!", "longerwordthanthat", "\n\n", "x" * 30]
)
passages = st.lists(st.lists(words, max_size=40).map(" ".join), min_size=1, max_size=4)
rooms = st.integers(8, 40)


def measure(texts):
    """Four characters to a token."""
    return [len(text) // 4 + 1 for text in texts]


@given(passages, rooms, st.integers(0, 8), st.booleans())
def test_every_character_that_is_no_space_is_in_a_window(texts, room, overlap, apart):
    seen = {
        (piece.source, at)
        for window in windows(texts, measure, room=room, overlap=overlap, apart=apart)
        for piece in window.pieces
        for at in range(piece.span.start, piece.span.end)
    }
    assert {(i, at) for i, text in enumerate(texts) for at, c in enumerate(text) if not c.isspace()} <= seen


@given(passages, rooms, st.integers(0, 8), st.booleans())
def test_the_pieces_of_a_window_have_room_in_it(texts, room, overlap, apart):
    for window in windows(texts, measure, room=room, overlap=overlap, apart=apart):
        assert sum(piece.size for piece in window.pieces) <= room


@given(passages, rooms)
def test_windows_apart_hold_words_of_one_passage_each(texts, room):
    for window in windows(texts, measure, room=room, apart=True):
        assert len({piece.source for piece in window.pieces}) == 1


def test_what_fits_is_one_window_word_for_word():
    texts = ["One bag costs 5 EUR.  Two cost 9 EUR.", "Skis are free."]
    (window,) = windows(texts, measure, room=100)
    assert window.text == "One bag costs 5 EUR.  Two cost 9 EUR.\n\nSkis are free."


def test_a_window_begins_with_the_end_of_the_one_before():
    texts = ["One bag is free. Two cost 9 EUR. Skis are free. Dogs are not."]
    first, second, *_ = windows(texts, measure, room=12, overlap=6)
    assert second.pieces[0] == first.pieces[-1]


def test_the_halves_of_a_window_are_the_window():
    texts = ["One bag is free. Two cost 9 EUR. Skis are free."]
    (window,) = windows(texts, measure, room=100)
    left, right = window.halves(texts)
    assert left.pieces + right.pieces == window.pieces
    assert left.halves(texts) == (left,)


def test_the_nearest_sentences_share_most_words_with_the_claim_and_add_to_each_other():
    texts = [
        "Skis are free. A second bag costs 25 EUR. A bag costs EUR. Children pay half.",
        "Dogs travel free.",
    ]
    (window,) = windows(texts, measure, room=100)
    found = list(nearest("A second bag costs 25 EUR, children pay half.", window, texts))
    assert [span.of(texts[i]) for i, span in found] == ["A second bag costs 25 EUR.", "Children pay half."]
    assert list(nearest("Cats sleep.", window, texts)) == []
    assert all(isinstance(span, Span) for _, span in found)
