"""Dress: what only dresses a text is left out of it."""

import pytest
from hypothesis import given

from groundwire.core.span import Span
from groundwire.text.dress import undressed
from tests.text.test_sentences import HOSTILE, RAW, growth


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**March** 5, *at* the __gate__, `5 EUR`", "March 5, at the gate, 5 EUR"),
        ("**Two *small* bags** (**free**)", "Two small bags (free)"),
        ("***Free***", "Free"),
        ("2 * 3 * 4, 2*3*4, snake_case_name, 5 EUR* a bag", None),
        ("**not closed\nnot opened**", None),
        ("don&#x27;t pay 5&nbsp;EUR &amp; go", "don't pay 5 EUR and go"),
        ("Food & Drink of Smith &amp; Sons, AT&T, 5 & 6", "Food and Drink of Smith and Sons, AT&T, 5 & 6"),
        ("5  EUR\ta\u00a0bag\n   - \u2003a pet", "5 EUR a bag\n   - a pet"),
        ("a re-\nfund, a well-\nKnown -\nfee", "a refund, a well-\nKnown -\nfee"),
        ("the \ufb01rst o\ufb03ce", "the first office"),
        ("> It is 5 EUR.\n>> Quoted.\n> 5 EUR", "It is 5 EUR.\nQuoted.\n> 5 EUR"),
        ("It rose in May.[12][3] Then[4], a[0] b", "It rose in May. Then, a b"),
        ('"hours":[12], x [3] [2019]', None),
        (
            "A 20 year - old paid $ 53, 193, 914, or 1. 5 million , to 23 , 768",
            "A 20 year - old paid $ 53,193,914, or 1.5 million , to 23,768",
        ),
        ("See pages 12, 134, 15, rooms 3, 50 and 1998. 12 people", None),
        ("It is 1.5 km, and rooms 3, 500 are free", None),
        ("It is $5$, $x + 2$ or \\(7\\), and 5\\% of it\\.", "It is 5, x + 2 or 7, and 5% of it."),
        ("$5 and $10, US$ 5, A$6/$7, C:\\new", None),
        ("AT&T; &bogus; a&b", None),
        ("caf\\u00e9, don\\u2019t \\ud83d\\ude00", "café, don’t 😀"),
        ("\\u0022 C:\\users \\ud83d", None),
        ("re\u00adfund \u200bof\ufeff", "refund of"),
    ],
)
def test_dress_is_left_out_and_words_stay(text, plain):
    """Emphasis, references and unseen characters say nothing; marks that are no such dress stay."""
    assert undressed(text).text == (text if plain is None else plain)


@given(RAW)
def test_any_span_of_a_plain_text_stood_somewhere(text):
    """Spans stay in order and inside the original."""
    plain = undressed(text)
    stood = [plain.stood(Span(i, i + 1)) for i in range(len(plain.text))]
    assert all(0 <= span.start < span.end <= len(text) for span in stood)
    assert stood == sorted(stood)


@pytest.mark.parametrize(
    "unit",
    [
        *HOSTILE,
        "**a ",
        "***a ",
        " *a",
        "__a ",
        "`a",
        "&",
        "&a",
        "\\u",
        "\u00ad",
        "$1",
        "\\(",
        "1, 234",
        "a-\n",
        "> ",
        " \t",
    ],
)
def test_time_grows_no_faster_than_the_text(unit):
    """No repeated mark makes reading quadratic."""
    assert growth(undressed, unit) < 3.2
