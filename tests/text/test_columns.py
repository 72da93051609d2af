"""Tables without bars get them; prose, code and lists of numbers stay as they are."""

from __future__ import annotations

import pytest

from groundwire.text.columns import barred
from groundwire.text.grid import grids


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b,c\nx,1,2\ny,3,4", ["a|b|c", "x|1|2", "y|3|4"]),
        ('a,b,c\n"x, y",1,2\nz,3,4', ["a|b|c", '"x, y"|1|2', "z|3|4"]),
        ("a;b;c\nx;1;2\ny;3;4", ["a|b|c", "x|1|2", "y|3|4"]),
        ("A  2022  2023\nx   1,5   2,5\ny   3,5   4,5", ["A| 2022| 2023", "x | 1,5 | 2,5", "y | 3,5 | 4,5"]),
        ("| a\n| b\n| c", ["| a | b | c"]),
    ],
)
def test_what_parts_cells_becomes_a_bar(text, rows):
    found = barred(text)
    assert len(found) == len(text)
    assert found.split("\n") == rows


@pytest.mark.parametrize(
    "text",
    [
        "One, two, three.\nFour, five, six.\nSeven, eight, nine.",
        "Total assets  132,950  167,410\n",
        "if x:\n    f(a, b)\n    g(c, d)\n",
        "He came.  She went.\nThey stayed.  It rained.\nAll slept.  Nobody woke.",
        "first line\n\nsecond line",
    ],
)
def test_what_is_no_table_stays(text):
    assert barred(text) == text


def said(text: str) -> list[tuple[list[str], list[list[str]]]]:
    return [
        ([head.of(text) for head in grid.heads], [[cell.of(text) for cell in row] for row in grid.rows])
        for grid in grids(text)
    ]


def test_a_table_is_read_as_cells():
    text = "Output\n\n| Year | North |\n|---|---|\n| 2022 | 12 |\n| 2023 | |\n\nA note."
    assert said(text) == [(["Year", "North"], [["2022", "12"], ["2023", ""]])]
    assert [grid.title.of(text) for grid in grids(text)] == ["Output"]


def test_two_tables_follow_one_another():
    text = "| A | B |\n|---|---|\n| x | 1 |\n\n| C | D |\n|---|---|\n| y | 2 |"
    assert [heads for heads, _ in said(text)] == [["A", "B"], ["C", "D"]]


def test_rows_without_a_head_are_no_table():
    assert not said("| x | 1 |\n| y | 2 |")
