"""A statement and its corruption: alike but for what is marked, and the passages against the corruption."""

import random

import pytest

from training import encoder_contrasts
from training.encoder_rows import Label

PASSAGES = (
    "The Aurora leaves Port Linden for Stone Bay at 7:30 on Monday. Tickets cost $12 in winter. "
    "Captain Ruth Aldous, who was born in Norway, has steered her since 2014."
)
STATEMENTS = [
    "The Aurora leaves Port Linden for Stone Bay at 7:30.",
    "Tickets for the ferry cost $12 during the whole winter.",
    "In 2014 Captain Ruth Aldous began to steer the Aurora.",
]


def answer(text, context=PASSAGES, spans=()):
    return {
        "answer": text,
        "context": context,
        "question": None,
        "spans": list(spans),
        "task": "summary",
        "meta": {},
    }


@pytest.mark.parametrize("seed", range(12))
def test_a_statement_comes_with_its_corruption(seed):
    """Two by two and named so, the right one first, of one weight; only the wrong one has marked words."""
    answers = [answer(text) for text in STATEMENTS]
    made = list(encoder_contrasts.of_statements(answers, random.Random(seed)))
    assert len(made) in {1, 2, 3}
    for right, wrong in made:
        assert right.label == Label.SUPPORTED
        assert wrong.label > Label.SUPPORTED
        assert set(right.words) == {Label.SUPPORTED}
        assert set(wrong.words) > {Label.SUPPORTED}
        assert right.weight == wrong.weight
        assert right.pair == wrong.pair is not None


@pytest.mark.parametrize("seed", range(12))
def test_what_annotators_marked_is_not_taken_for_right(seed):
    """Neither as it is nor as something to corrupt."""
    text = " ".join(STATEMENTS)
    marked = {"start": text.index("$12"), "end": text.index("$12") + 3, "label": "Evident Conflict"}
    made = list(encoder_contrasts.of_answers([answer(text, spans=[marked])], random.Random(seed)))
    assert len(made) in {1, 2}
    for right, wrong in made:
        assert right.label == Label.SUPPORTED
        assert wrong.label > Label.SUPPORTED
        assert "Tickets" not in [span.of(text) for _, span in right.row.words]


@pytest.mark.parametrize(
    ("sentence", "short"),
    [
        # Known flaw: a comma stays. Mending it would change the rows that were trained on.
        ("The boat, an old whaler, was sold to a yard in Norway.", "The boat, was sold to a yard in Norway."),
        ("The crew left the harbour early because the wind had turned.", "The crew left the harbour early."),
        ("The Aurora (built in 1961) has room for forty people.", "The Aurora has room for forty people."),
        ("She slept, while it rained on deck.", "She slept, while it rained on deck."),
    ],
)
def test_a_shortened_sentence_still_holds(sentence, short):
    """Asides and what hangs on its end go, unless hardly anything would be left."""
    assert encoder_contrasts.shortened(sentence) == short


def test_no_word_is_taken_for_a_name_by_its_capital():
    """Names change places; the word that begins a sentence stays."""
    sentence = "Her captain left Port Linden on a cold day for Stone Bay."
    exchanged = {way.__name__: way for way, _ in encoder_contrasts.AMONG}["_roles"]
    made = [exchanged(sentence, PASSAGES, random.Random(seed)) for seed in range(40)]
    assert {changed.text for changed in made if changed} == {
        "Her captain left Stone Bay on a cold day for Port Linden."
    }


def test_passages_are_quoted_once_and_records_never():
    """Answers to one context are to one context, and a record has no sentences."""
    record = '{"name": "Moss Inn in Port Linden has 40 rooms and a view of the bay"}'
    told = [answer("x"), answer("y"), answer("z", record)]
    made = list(encoder_contrasts.of_passages(told, random.Random(3)))
    assert len(made) == 1
    assert not list(encoder_contrasts.of_passages(told[2:], random.Random(3)))


@pytest.mark.parametrize("seed", range(6))
def test_a_window_is_what_stands_beside_a_sentence(seed):
    """Its neighbours alone are evidence, whatever else the context says; a record has none."""
    far = " ".join(f"On day {i} the weather at the lighthouse was calm and clear." for i in range(1, 40))
    told = [answer("x", f"{PASSAGES} {far}"), answer("y", '{"name": "Moss Inn in Port Linden has 40 rooms"}')]
    made = list(encoder_contrasts.of_windows(told, 1.0, random.Random(seed)))
    assert len(made) > 20
    for right, wrong in made:
        assert right.label == Label.SUPPORTED
        assert wrong.label > Label.SUPPORTED
        assert max(shown.span.end for shown in right.row.shown) < 400
