"""Markup gives way to layout of the same length, and what only looks like it stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.text.markup import laid_out, without_scripts
from tests.text.test_sentences import HOSTILE, RAW, growth


def lines(text):
    return [line.strip() for line in laid_out(text).replace("\u200b", "").splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<p>Dogs travel free.</p><p class='x'>Cats pay.</p>", ["Dogs travel free.", "Cats pay."]),
        ("<ul><li>One bag</li><li>Two bags</li></ul>", ["- One bag", "- Two bags"]),
        ("One bag.<br>Two bags.<BR/>", ["One bag.", "Two bags."]),
        ("<h2>Fees</h2>5 EUR", ["# Fees", "5 EUR"]),
        ("<table><tr><td>Bag</td><td>5 EUR</td></tr></table>", ["|   Bag     |   5 EUR"]),
        ("<answer>5 EUR</answer>", ["5 EUR"]),
        ("<b>5 EUR</b> a <i>bag</i>", ["**5 EUR** a bag"]),
        ("<script>var fee = 7;</script>5<!-- 7 -->", ["<script>var fee = 7;</script>5", "7"]),
        ('<img src="a.png" alt="A bag">\n<table summary="Fees">', ["A bag", "Fees"]),
        (
            "See <a class='x' href='https://a.example/fees'>here</a>",
            ["See                    https://a.example/fees  here"],
        ),
        ("Fees:\\n\\n- one bag.\\n- two", ["Fees:", "- one bag.", "- two"]),
        ("<5 EUR, a < b > c, <name>, <preface>, <b and c>, C:\\new\\notes", None),
        ('{"review": "Good.\\nVery."}', None),
    ],
)
def test_markup_gives_way_to_layout(text, left):
    """Blocks, items, headings and cells are lines; addresses stay; scripts, styles and comments are gone."""
    assert lines(text) == ([text] if left is None else left)


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("<script>var fee = 7;</script>5<!-- <p>7</p> -->", ["5"]),
        ("<style>p {}</style><p>5</p>", ["<p>5</p>"]),
        ("Use the <script> tag. <!-- It is 5.", ["Use the <script> tag. <!-- It is 5."]),
    ],
)
def test_a_page_shows_no_scripts_and_what_only_mentions_one_stays(page, shown):
    out = without_scripts(page)
    assert len(out) == len(page)
    assert [line.strip() for line in out.splitlines() if line.strip()] == shown


@given(st.one_of(RAW, st.text(alphabet="<>/bpli -!\\n#\"'=\n", max_size=60)))
def test_every_word_keeps_its_place(text):
    """The length stays, and what isn't replaced by layout is the same character."""
    out = laid_out(text)
    assert len(out) == len(text)
    assert all(a == b or b in " \n|*-#\u200b" for a, b in zip(text, out, strict=True))


@pytest.mark.parametrize("unit", [*HOSTILE, "<script>", "<!--", "<p ", "<a href='https://", "\\n"])
def test_time_is_linear(unit):
    assert growth(laid_out, unit) < 3
    assert growth(without_scripts, unit) < 3
