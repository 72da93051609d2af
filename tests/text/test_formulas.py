"""LaTeX in an answer or a passage says what its plain signs say."""

import pytest

import groundwire as gw
from groundwire.text import claims
from groundwire.text.dress import undressed
from tests.text.test_sentences import HOSTILE, growth


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"$$\text{Fee} = 45\ \text{EUR (online)}$$", "Fee = 45 EUR (online)"),
        (r"It is $60\ \text{EUR}$.", "It is 60 EUR."),
        (r"$3 \times 400\,\text{mg} = 1200\,\text{mg}$", "3 × 400 mg = 1200 mg"),
        (r"\[ x = \frac{5}{2} \]", " x = 5/2 "),
        (r"The answer is \(\boxed{2.5}\).", "The answer is 2.5."),
        (r"\boxed{\textbf{5 EUR}}", "5 EUR"),
        (r"$20^{\circ}\text{C} \le t$, about $12\%$", "20°C ≤ t, about 12%"),
        ("$5$, \\(5\\)", "5, 5"),
    ],
)
def test_formulas_are_written_in_plain_signs(text, plain):
    """Marks around a formula and commands that only set words are left out."""
    assert undressed(text).text == plain


@pytest.mark.parametrize(
    "text",
    [
        r"C:\times\text and C:\le", r"\\server\share\to", "It costs $5 and $6, or $7.", "a \\text",
    ],
)  # fmt: skip
def test_what_is_no_formula_stays(text):
    """Folders and prices."""
    assert undressed(text).text == text


def test_brackets_of_markdown_that_are_escaped_are_brackets():
    r"""Where neither an equation nor a command is in them: "\[1\]"."""
    assert undressed(r"a \[link\] and \[1\]").text == "a [link] and [1]"


def test_marks_on_lines_of_their_own_are_no_part_of_a_statement():
    """Nor a statement."""
    answer = "$$\n45 EUR\n$$\nwhere cats pay less.\n\\[\nx = 5\n\\]"
    assert [claim.of(answer) for claim in claims.cut(answer)] == ["45 EUR", "where cats pay less.", "x = 5"]


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
@pytest.mark.parametrize(("figure", "flagged"), [("75", False), ("95", True)])
def test_a_formula_is_judged_by_what_it_says(detector, figure, flagged):
    r"""Not by "text" and "times", and "$75" in it is no price in dollars."""
    interaction = gw.Interaction(
        question="What does a second bag cost?",
        contexts=["A second bag costs 75 EUR, and a third one costs 90 EUR."],
        answer=rf"A second bag costs ${figure}\,\text{{EUR}}$.",
    )
    assert gw.Checker(detector).check(interaction).hallucinated is flagged


@pytest.mark.parametrize("unit", [*HOSTILE, "$", "\\text{", "\\frac{", "$$", "\\[", "\\[=", "{", "$1\\ "])
def test_time_grows_no_faster_than_the_text(unit):
    """No repeated mark makes reading quadratic."""
    assert growth(undressed, unit) < 3.2
