"""Pieces: the ids are BERT's, the characters are the text's."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.local import pieces
from tests.text.test_sentences import RAW, growth

pieces.load()  # now, and not on the clock of the first test

# What BERT's own tokenizer says, by bert-base-uncased's published vocabulary.
KNOWN = [
    ("hello", [7592]),
    ("world", [2088]),
    ("The", [1996]),
    ("embeddings", [7861, 8270, 4667, 2015]),
    ("unaffable", [14477, 20961, 3468]),
    ("Café", [7668]),
    ("don't", [2123, 1005, 1056]),
    ("2019", [10476]),
    (",", [1010]),
]


@pytest.mark.parametrize(("word", "expected"), KNOWN)
def test_a_word_has_the_ids_that_bert_gives_it(word, expected):
    assert list(pieces.ids(word)) == expected


@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12), min_size=1, max_size=8))
def test_the_pieces_of_a_word_spell_it(words):
    """The pieces joined are the word, and all but the first go on from the one before."""
    names = {i: piece for piece, i in pieces.load().items()}
    for word in words:
        spelt = [names[i] for i in pieces.ids(word)]
        assert not spelt[0].startswith("##")
        assert all(piece.startswith("##") for piece in spelt[1:])
        assert "".join(piece.removeprefix("##") for piece in spelt) == word


@given(st.text("abcdefghij", min_size=1, max_size=10))
def test_each_piece_is_the_longest_that_fits(word):
    vocabulary, names = pieces.load(), {i: piece for piece, i in pieces.load().items()}
    at = 0
    for piece in (names[i] for i in pieces.ids(word)):
        end = at + len(piece.removeprefix("##"))
        prefix = "##" if at else ""
        assert all(prefix + word[at:longer] not in vocabulary for longer in range(end + 1, len(word) + 1))
        at = end


@given(RAW)
def test_words_and_marks_slice_back_in_order(text):
    found = pieces.read(text)
    assert [token.start for token in found] == sorted(token.start for token in found)
    for token in found:
        assert token.text is None or token.text == text[token.start : token.end]
        assert token.ids


def test_the_keys_of_a_record_are_read_as_the_words_that_they_are_made_of():
    """A record's "outdoorSeating" is what an answer calls outdoor seating, and its braces are nothing."""
    text = json.dumps({"OutdoorSeating": True, "businessParking": {"garage": False}})
    assert [token.text for token in pieces.read(text) if token.text] == [
        "Outdoor",
        "Seating",
        "true",
        "business",
        "Parking",
        "garage",
        "false",
    ]


def test_a_word_without_a_spelling_is_unknown_and_nothing_is_padding():
    assert pieces.ids("\u16a0\u16b1") == (pieces.UNKNOWN,)
    assert pieces.ids("x" * 101) == (pieces.UNKNOWN,)
    assert pieces.ids("\u0301") == (pieces.UNKNOWN,)


def test_a_word_without_end_is_cut_short():
    assert len(pieces.ids("-".join(["word"] * 500))) < 56


@pytest.mark.parametrize("unit", ["a", "aB", "Ab", "a-", ", ", "\u0301", "漢", "\ud800"])
def test_time_grows_no_faster_than_the_text(unit):
    assert growth(pieces.read, unit, size=20_000) < 3.2
