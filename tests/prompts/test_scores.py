"""Scores in whole replies: on the scale that was named, read right or refused."""

import json
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from groundwire.prompts.forms import UseEntry
from groundwire.prompts.replies import (
    Entry,
    UnreadableError,
    on_scale,
    read_entries,
    read_object,
    read_score,
    score_reply,
)

UNIT, STARS, TENTHS, HUNDREDTHS = (0, 1), (1, 5), (0, 10), (0, 100)


@pytest.mark.parametrize(
    ("said", "scale", "score"),
    [
        ("4", STARS, 4.0),
        (4, STARS, 4.0),
        ("4 out of 5", STARS, 4.0),
        ("4/5", STARS, 4.0),
        ("3,5", STARS, 3.5),
        ("8 out of 10", TENTHS, 8.0),
        ("95.5 %", HUNDREDTHS, 95.5),
        ("95.5", HUNDREDTHS, 95.5),
        ("8 out of 10", UNIT, 0.8),
        ("8 out of 10", STARS, None),
        ("8 out of 10", HUNDREDTHS, None),
        ("80 %", STARS, None),
        ("80 %", TENTHS, None),
        ("0", STARS, None),
        ("6", STARS, None),
        ("6 out of 5", STARS, None),
        ("0.8", TENTHS, 0.8),
    ],
)
def test_a_figure_stands_on_the_scale_that_was_named(said, scale, score):
    """A share of another whole is refused: converting it would guess what the model meant."""
    lowest, highest = scale
    if score is None:
        with pytest.raises(ValueError, match="expected a number from"):
            read_score(said, lowest=lowest, highest=highest)
    else:
        assert read_score(said, lowest=lowest, highest=highest) == pytest.approx(score)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("0.7", 0.7),
        ("Score: .3", 0.3),
        ("score = 0,7", 0.7),
        ("**Score:** 95.5 %", 0.955),
        ("The score is 0.7 because the passages say so.", 0.7),
        ("I would give it a score of 8 out of 10.", 0.8),
        ("Score: 0.7\nThe answer names 2 of 3 fees.", 0.7),
        ("0.7\n\nThe passages give the fee, though not the date (12 May).", 0.7),
        ("The passages give 25 EUR.\n\n0.1", 0.1),
        ("The score runs from 0 to 1.\nScore: 0.7", 0.7),
        ("Score: 0.7. I am sure: the score is 0.7.", 0.7),
        ('{"score": 0.7}', 0.7),
        ('{"score": "8 out of 10", "reason": "r"}', 0.8),
        ('```json\n{"score": 0.7}\n```\nI hope this helps! My score out of 10 is 7.', 0.7),
        ("```\n0.7\n```", 0.7),
        ("<think>Score: 0.2? No: 0.9.</think>Score: 0.7", 0.7),
        ('<thinking>{"score": 0.2}</thinking>\n{"score": 0.7}', 0.7),
        ("It may be 0.9.</think>0.7", 0.7),
        ('Twice: {"score": 0.7} and {"score": 0.7}', 0.7),
        ("", None),
        ("none", None),
        ("high", None),
        ("Score: high", None),
        ("Score: 0.2 - 0.4", None),
        ("Score: 0.2 to 0.4", None),
        ("Score: 0.2 or 0.4", None),
        ("Score: between 0.2 and 0.4", None),
        ("Score: -0.2", None),
        ("Score: 1.2.3", None),
        ("Score: 1e-2", None),
        ("Score: 8", None),
        ("Score: 0.7 (9/10)", None),
        ("Score: ~0.7", None),
        ("Score: <0.7", None),
        ("Score: 7/10/2026", None),
        ("Score: 0.2\nScore: 0.8", None),
        ("Score: 0.2\nFinal score: 0.8", None),
        ("0.2\nbut rather\n0.8", None),
        ("The fee is 0.7 EUR and the passages say so.", None),
        ("I can't judge this: 0.7 is named in no passage.", None),
        ('{"score": 0.7} no, {"score": 0.8}', None),
        ('{"score": 8}', None),
        ('{"score": null}', None),
        ('{"score": [0.7]}', None),
        ('{"scores": 0.7}', None),
        ('{"score": 0.7', None),
        ('"score": 0.7', None),
        ('{"reason": "Score: 0.7", ', None),
        ("<think>Score: 0.7", None),
    ],
)
def test_a_whole_reply_is_read_right_or_refused(reply, score):
    if score is None:
        with pytest.raises(UnreadableError):
            score_reply(reply)
    else:
        assert score_reply(reply) == pytest.approx(score)


def test_another_key_and_another_scale_are_read_the_same_way():
    for reply in ("Confidence: 4", '{"confidence": "4/5"}', "My confidence is 4 out of 5, all told.", "4"):
        assert score_reply(reply, key="confidence", lowest=1, highest=5) == 4.0


written = st.floats(0, 1).map(lambda x: f"{x:.4f}")


@given(
    written,
    st.sampled_from(["{}", "Score: {}", "Score: {}\nThat is all.", '{{"score": {}}}', "```\n{}\n```"]),
)
def test_every_form_of_a_reply_says_the_same(figure, form):
    assert score_reply(form.format(figure)) == float(figure)
    if "{{" not in form:
        assert score_reply(form.format(figure.replace(".", ","))) == float(figure)


@given(written, written)
def test_two_scores_are_a_score_only_if_they_agree(one, other):
    for form in ("Score: {}\nScore: {}", '{{"score": {}}} {{"score": {}}}', "{}\n\n{}"):
        if float(one) == float(other):
            assert score_reply(form.format(one, other)) == float(one)
        else:
            with pytest.raises(UnreadableError):
                score_reply(form.format(one, other))


@given(st.text() | st.text('{}":0123456789.,%/ outf-escore\n*'), st.sampled_from([UNIT, STARS, HUNDREDTHS]))
def test_any_reply_is_on_its_scale_or_refused(text, scale):
    lowest, highest = scale
    try:
        score = score_reply(text, lowest=lowest, highest=highest)
    except UnreadableError:
        return
    assert lowest <= score <= highest


class Opinion(BaseModel):
    confidence: Annotated[float, on_scale(1, 5)]
    reason: str = ""


class Note(Entry):
    agrees: bool


def test_an_object_is_found_by_what_it_needs():
    text = 'As {"agreed"}: {"confidence": "4 out of 5", "reason": "so"} {"other": 1}'
    assert read_object(text, Opinion) == Opinion(confidence=4, reason="so")


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"reason": "so"}',
        '{"confidence": 6}',
        '{"confidence": 9} {"confidence": 4}',
        '{"confidence": 4} {"confidence": 5}',
        '[{"confidence": 4}]',
    ],
)
def test_an_object_that_is_not_one_or_not_of_its_kind_is_unreadable(text):
    """Also where the other of two can't be read: what it meant to say may have been the verdict."""
    with pytest.raises(UnreadableError):
        read_object(text, Opinion)


@pytest.mark.parametrize(
    ("id_", "read"),
    [
        *((1, [1]), ("1", [1]), (" #1", [1]), ("Passage 1", [1]), ("statement #1", [1]), ("sentence 1", [1])),
        *(("other answer 1", [1]), ("answer1", [1]), ("claim 1", [1])),
        *(("one", []), ("1.0", []), ("passage 1, 2", []), ("page 1", []), ("", []), (1.5, [])),
    ],
)
def test_an_id_may_be_a_text_as_the_prompts_name_what_it_numbers(id_, read):
    text = json.dumps({"notes": [{"id": id_, "agrees": True}]})
    assert list(read_entries(text, Note, key="notes")) == read


def test_numbers_of_statements_may_be_texts_as_ids_may():
    passages = [{"id": "passage 1", "statements": ["1", 2, "statement 3"]}, {"id": 2, "statements": None}]
    read = read_entries(json.dumps({"passages": passages}), UseEntry, key="passages")
    assert {i: one.statements for i, one in read.items()} == {1: [1, 2, 3], 2: []}


def test_entries_are_read_by_their_ids_and_doubtful_ones_left_out():
    entries = [
        {"id": 1, "agrees": True},
        {"id": "claim 2", "agrees": False},
        {"id": 3, "agrees": "perhaps"},
        {"id": 4, "agrees": True},
        {"id": 4, "agrees": "no"},
    ]
    read = read_entries(json.dumps({"notes": entries}), Note, key="notes")
    assert {i: note.agrees for i, note in read.items()} == {1: True, 2: False}
