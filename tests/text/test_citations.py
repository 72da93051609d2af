"""Citations: what only points to a source is told from what states something."""

import pytest

from groundwire.text import citations
from tests.text.test_sentences import HOSTILE, growth

FEES = citations.named(["data/fees.pdf", "Fees of the airline"])
DOGS = citations.named(["dogs.pdf"])


def left(answer, *sources):
    """What is left of an answer without its pointers."""
    for span in reversed(citations.find(answer, sources)):
        answer = answer[: span.start] + answer[span.end :]
    return answer


@pytest.mark.parametrize(
    "pointer",
    [
        " [1]", "[2, 3]", " [1][3]", " [1-3]", "[^1]", "[^note]", " [[1]](https://x.example/a)",
        "【1†source】", "【4:0†dogs.pdf】", "【3】", " ¹", "²", "¹,²", "<sup>1</sup>", " [doc1]",
        " [citation:1]", " [Source 2]", " (Document 1)", " (Document 1, p. 3)", " (see documents 1 and 2)",
        " (passages 1-3; page 4)", " (p. 12)", " [1, p. 3]", " [2, section 4.1]",
        " [chunk_id: 2]", " (doc_id=2)",
    ],
)  # fmt: skip
def test_numbers_of_sources_point_and_state_nothing(pointer):
    """Whatever the form that models and their prompts have for it."""
    assert left(f"Dogs travel free{pointer}. Cats pay.") == "Dogs travel free. Cats pay."


@pytest.mark.parametrize(
    "said",
    [
        "Dogs travel free (2019).", "a fee (75 EUR)", "items [sic]", "5 m² of 3 km²", "(3)", "【注意】",
        "(Section 4.2)", "[2019]", "Reference: a letter of the bank.", "Sources of energy differ.",
        "Documents: 2", "Passages: 3", "¹ Two dogs", "[2, 3 EUR]",
    ],
)  # fmt: skip
def test_what_states_something_is_no_pointer(said):
    """Years, prices, units, sections and words in brackets are part of what is said."""
    assert left(said, FEES, DOGS) == said


@pytest.mark.parametrize(
    ("answer", "rest"),
    [
        ("Dogs go free (Source: dogs.pdf).", "Dogs go free."),
        ("It is 75 EUR (fees.pdf, page 4).", "It is 75 EUR."),
        ("It is 75 EUR [Fees of the airline].", "It is 75 EUR."),
        ("As dogs.pdf says, dogs go free.", "As  says, dogs go free."),
        ("Free.\n\nSource: fees.pdf, page 3", "Free.\n\n"),
        ("Free.\n\n**Sources:**\n- fees.pdf\n- dogs.pdf\n\nBye.", "Free.\n\n\n\n\n\nBye."),
        ("Free.\n## References\n[1] Fees of the airline\n[2] A made up title", "Free.\n\n\n A made up title"),
        ("Free.\nSources: [1], [2]", "Free.\n"),
        ("Free.\n**Sources used:** Document 1, Document 2", "Free.\n"),
        ("Free.\nSource(s): fees.pdf\nRelevant passages: 1, 3", "Free.\n\n"),
        ("Free.¹\n\n¹ Source: fees.pdf, p. 3\n² Fees of the airline", "Free.\n\n\n"),
    ],
)
def test_a_name_points_where_a_passage_goes_by_it(answer, rest):
    """In brackets, in a list of sources, or as a file anywhere."""
    assert left(answer, FEES, DOGS) == rest


@pytest.mark.parametrize(
    "answer", ["Dogs go free (other.pdf).", "Free.\nSource: The Lancet", "(Dogs of the airline)"]
)
def test_a_source_that_was_made_up_is_a_statement(answer):
    """Nothing unknown is left out; nor is what two passages only have together."""
    assert left(answer, FEES, DOGS) == answer


@pytest.mark.parametrize(
    "unit", [*HOSTILE, "[1", "[1, ", "(a", "(doc ", "【a", "Sources:\n", "source ", "¹", "a.pdf"]
)
def test_time_grows_no_faster_than_the_text(unit):
    """No repeated mark makes the search quadratic."""
    assert growth(lambda text: citations.find(text, [FEES, DOGS]), unit) < 3.2
