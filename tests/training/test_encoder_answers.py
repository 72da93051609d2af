"""Rows of answers: what is labelled is what was marked, or what was changed."""

import json
import random

import pytest

from groundwire.text import claims as claim_text
from training.encoder_answers import as_marked, copied, corrupted, flipped_records, ragtruth
from training.encoder_rows import Label

PASSAGES = (
    "The Aurora leaves Port Linden at 7:30 on Monday. Tickets cost $12 in winter. "
    "Dogs are not allowed inside."
)
ANSWER = "The Aurora leaves Port Linden at 9:15 on Monday. Dogs are not allowed inside the cabin."
CONFLICT = {
    "start": ANSWER.index("9:15"),
    "end": ANSWER.index("9:15") + 4,
    "label": "Evident Conflict",
    "text": "9:15",
}
RECORD = {
    "name": "Moss Inn",
    "attributes": {"WiFi": "free", "OutdoorSeating": False},
    "review_info": ["Nice soup."],
}


def answer(text=ANSWER, context=PASSAGES, spans=(), task="summary"):
    return {
        "answer": text,
        "context": context,
        "question": None,
        "spans": list(spans),
        "task": task,
        "meta": {},
    }


def record_answer(text, *marked):
    spans = [
        {"start": text.index(m), "end": text.index(m) + len(m), "label": "Conflict", "text": m}
        for m in marked
    ]
    return answer(text, json.dumps(RECORD), spans, "data2txt")


def said(row, text):
    """The words of a row with their labels."""
    return {span.of(text): known for (_, span), known in zip(row.row.words, row.words, strict=True)}


def test_marked_words_are_labelled_and_no_others():
    """A conflict is a contradiction; the other statement of the answer is supported."""
    raw = answer(spans=[CONFLICT])
    wrong, right = as_marked(raw, claim_text.cut(ANSWER), 2.0)
    known = said(wrong, ANSWER)
    assert {word for word, label in known.items() if label != Label.SUPPORTED} <= {"9", ":", "15", "9:15"}
    assert (wrong.label, right.label) == (Label.CONTRADICTED, Label.SUPPORTED)
    assert set(right.words) == {Label.SUPPORTED}
    assert (wrong.weight, right.weight) == (3.0, 2.0)


def test_answers_are_kept_and_only_qa_is_thinned():
    """Every statement of a summary makes a row, whatever is drawn."""
    raw = answer(spans=[CONFLICT])
    for seed in range(20):
        assert len(list(ragtruth([raw], random.Random(seed)))) == 2
    asked = [list(ragtruth([{**raw, "task": "qa"}], random.Random(seed))) for seed in range(20)]
    assert {len(made) for made in asked} == {1, 2}
    assert all(made[0].label == Label.CONTRADICTED for made in asked)


@pytest.mark.parametrize("seed", range(10))
def test_only_supported_statements_are_corrupted(seed):
    """A changed row is about the second statement, and is unsupported where words of it are."""
    for made in corrupted([answer(spans=[CONFLICT])], random.Random(seed)):
        assert made.row.claim == 1
        assert made.label == max(made.words)


def test_corruptions_are_drawn():
    """So that the test above says something."""
    made = [row for seed in range(10) for row in corrupted([answer(spans=[CONFLICT])], random.Random(seed))]
    assert any(row.label for row in made)


def flipped(raw):
    return [row for seed in range(30) for row in flipped_records([raw], random.Random(seed))]


def test_a_right_statement_is_wrong_beside_another_record():
    """Only its words about the attribute: contradicted by another value, unsupported where there is none."""
    text = "Moss Inn has free WiFi for guests."
    made = flipped(record_answer(text))
    assert {row.label for row in made} == {Label.UNSUPPORTED, Label.CONTRADICTED}
    for row in made:
        wrong = {word for word, label in said(row, text).items() if label != Label.SUPPORTED}
        assert "WiFi" in wrong
        assert not wrong & {"Moss", "Inn", "guests"}


def test_a_wrong_statement_is_right_beside_another_record():
    """Its mark is gone with the value that it was wrong about."""
    made = flipped(record_answer("Moss Inn has outdoor seating in summer.", "outdoor seating"))
    assert made
    assert {label for row in made for label in (row.label, *row.words)} == {Label.SUPPORTED}


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("Moss Inn has free WiFi and sells boats.", ["sells boats"]),
        ("Moss Inn is an inn.", []),
        ("WiFi is free, and WiFi is fast.", []),
    ],
)
def test_statements_that_flipping_would_not_settle_are_left_out(text, marked):
    """One with another error, one about nothing in the record, and one that names it twice."""
    assert not flipped(record_answer(text, *marked))


def test_sentences_are_copied_once_and_never_out_of_records():
    """Two answers to one context don't make its sentences twice as frequent."""
    one = answer()
    once = list(copied([one], random.Random(0), 1.0))
    assert len(list(copied([one, one], random.Random(0), 1.0))) == len(once) > 0
    assert not list(copied([record_answer("Moss Inn is an inn.")], random.Random(0), 1.0))
    assert {Label.SUPPORTED} < {row.label for row in once}
