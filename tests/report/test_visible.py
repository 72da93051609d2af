"""Untrusted text can't move a cursor, reorder a line or hide in one."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.report.visible import escaped, one_line, visible


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
        ("a\ufeffb", "a‹U+FEFF›b"),
        ("a\u00adb", "a‹U+00AD›b"),
        ("a\u3164b", "a‹U+3164›b"),
        ("a\U000e0101b", "a‹U+E0101›b"),
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


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=80), st.booleans())
def test_escaped_json_says_the_same_and_holds_nothing_unsafe(text, ascii_only):
    """Decoding gives the text back, while no character is left that a terminal would obey or not show."""
    shown = escaped(json.dumps(text, ensure_ascii=ascii_only))
    # Compared with what plain JSON gives: it reads a pair of lone surrogates as the character they spell.
    assert json.loads(shown) == json.loads(json.dumps(text))
    assert visible(shown) == shown


def test_only_what_is_unsafe_is_escaped():
    """Ordinary writing stays readable, and a character beyond 16 bits becomes a pair."""
    assert escaped('"日本 \x9b\x7f\u202e\U000e0101"') == '"日本 \\u009b\\u007f\\u202e\\udb40\\udd01"'
