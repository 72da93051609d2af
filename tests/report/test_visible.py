"""Untrusted text can't move a cursor, reorder a line or hide in one."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.report.visible import one_line, visible


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=80))
def test_nothing_unsafe_is_left(text):
    """No control character but tab and line feed, no bidirectional control and no surrogate remains."""
    shown = visible(text)
    for character in shown:
        assert character in "\t\n" or unicodedata.category(character) not in ("Cc", "Cs")
        assert unicodedata.bidirectional(character) not in (
            "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI",
        )  # fmt: skip
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("\x9b31m", "‹U+009B›31m"),
        ("a\u202eb", "a‹U+202E›b"),
        ("\x00\x7f", "␀␡"),
        ("half \ud800", "half \ufffd"),
        ("one\r\ntwo\rthree", "one\ntwo␍three"),
        ("a\U000e0041b", "a‹U+E0041›b"),
    ],
)
def test_what_is_unsafe_is_shown_as_a_symbol(text, shown):
    """A reader sees that something was there, rather than its effect."""
    assert visible(text) == shown


@pytest.mark.parametrize("text", ["日本語", "שלום", "نص", "👩‍👩‍👧", "می‌خواهم", "tab\tand\nline"])
def test_ordinary_writing_is_left_alone(text):
    """Every script, joined emoji, tabs and line feeds stay as they are."""
    assert visible(text) == text


def test_one_line_has_no_line_break():
    """White space of any kind collapses into single spaces."""
    assert one_line(" a\n\n b\t c ") == "a b c"
