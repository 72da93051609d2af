"""Which field of a form is its answer."""

import pytest

from groundwire.host.forms import own_answer

KEYS = ("answer", "text")


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ({"answer": "25 EUR."}, "25 EUR."),
        ({"answer": "25 EUR.", "sure": True, "unit": None, "notes": [], "hints": {"a": ""}}, "25 EUR."),
        ({"answer": "25 EUR.", "sources": ["a.md"], "confidence_score": 0.9, "source_pages": [3]}, "25 EUR."),
        ({"reasoning": "It says so.", "text": "25 EUR.", "follow_up_questions": ["And two?"]}, "25 EUR."),
        ({"answer": "25 EUR.", "price": 25}, None),
        ({"text": "25 EUR.", "answer": "75 EUR."}, None),
        ({"answer": "25 EUR.", "items": [{"id": 3, "name": "A bag"}]}, None),
        ({"answer": "25 EUR.", "items": [{"id": 3, "is_known": False}]}, "25 EUR."),
        ({"answer": ["25 EUR."], "sources": []}, None),
        ({"price": 25}, None),
    ],
)
def test_a_field_is_the_answer_where_the_others_state_nothing_of_their_own(form, answer):
    """They are empty, or tell where it comes from, how it came about, or how sure the model is."""
    assert own_answer(form, KEYS) == answer
