"""Patterns that are put together: one or several of a kind, and what stands between."""

import re

import pytest

from groundwire.text.patterns import several

LISTED = re.compile(several("red|green|blue", "(?:,? and|,) ", 3))


@pytest.mark.parametrize("text", ["red", "red, green", "red and blue, green", "blue, and blue"])
def test_one_to_as_many_as_may_be_with_what_joins_them(text):
    assert LISTED.fullmatch(text)


@pytest.mark.parametrize("text", ["", ", red", "red green", "red, ", "redgreen", "red, red, red, red"])
def test_neither_more_nor_without_it(text):
    """The first has nothing before it, and every other has."""
    assert LISTED.fullmatch(text) is None


def test_what_may_be_read_in_two_ways_is_read_in_the_one_that_fits():
    """A first reading that is given up leaves nothing behind."""
    either = re.compile(several("a|a, b|b c", ", ", 2) + "!")
    assert all(either.fullmatch(text) for text in ("a, b!", "a, b c!", "a, b, b c!"))


def test_one_stands_in_it_once():
    """A long one takes long to compile."""
    assert several("a long pattern", ", ", 5).count("a long pattern") == 1
