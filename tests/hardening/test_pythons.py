"""Every Python that is supported reads the package's regular expressions alike."""

import re
from pathlib import Path

import pytest

import groundwire
from groundwire.text.tokens import texts

SOURCES = sorted(Path(groundwire.__file__).parent.rglob("*.py"))
POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{+[\d,]+\}+)\+")


def test_no_group_is_repeated_possessively():
    """Before 3.11.5 it keeps what its last, failed repetition read; ``(?>(...)*)`` does not (gh-106052)."""
    found = [
        f"{path.name}:{number}: {line.strip()}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if POSSESSIVE_GROUP.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A320. It flies.", ["A320", "It", "flies"]),
        ("costs 25. 30 more", ["costs", "25", "30", "more"]),
        ("Meet at 14: we go", ["Meet", "at", "14", "we", "go"]),
        ("the U.S. and well- known", ["the", "U.S", "and", "well", "known"]),
    ],
)
def test_a_word_ends_before_what_only_begins_to_go_on(text, expected):
    assert texts(text) == expected
