"""What an answer says of itself claims nothing, and nothing with a fact in it is such."""

import pytest

from groundwire.text import claims
from groundwire.text.itself import is_of_itself

ITSELF = """
Here is what I found:
Below is the answer to your question, based on the sources.
I found the following information in the documents you provided:
Here's a concise answer:
Confidence: high
**Confidence:** 0.92
Confidence score: 8/10
Please note that this answer is based solely on the provided context.
This summary is for informational purposes only.
""".strip().splitlines()
STATED = """
As an AI, I cannot tell, but the fee is five euros.
As an AI, I can confirm that dogs are free.
The documents do not contain further details.
Here are the key points of the lease:
Here are 5 key points:
Confidence: the bank has regained it.
The answer is no.
This policy is for members only.
The results are positive.
""".strip().splitlines()


@pytest.mark.parametrize("sentence", ITSELF)
def test_what_is_of_the_answer_itself_is_no_claim(sentence):
    """Before a claim, behind one, or alone."""
    assert is_of_itself(sentence)
    assert claims.cut(sentence) == []
    assert [span.of(f"Bags are free.\n{sentence}") for span in claims.cut(f"Bags are free.\n{sentence}")] == [
        "Bags are free."
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "As an AI language model, I can only answer from the given documents.",
        "As an AI, I don't have access to current prices.",
    ],
)
def test_a_disclaimer_is_judged_where_it_stands_alone(sentence):
    """Then it declines to answer; beside a claim it says nothing."""
    assert [span.of(sentence) for span in claims.cut(sentence)] == [sentence]
    assert len(claims.cut(f"{sentence} Bags are free.")) == 1


@pytest.mark.parametrize("sentence", STATED)
def test_what_says_something_is_a_claim(sentence):
    assert not is_of_itself(sentence)
    assert [span.of(sentence) for span in claims.cut(sentence)] == [sentence]
