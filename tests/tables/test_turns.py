"""Conversations in tables are read in the forms that chat applications log them in."""

import io
import json

import pytest

from groundwire import Turn
from groundwire.core.errors import InputError
from groundwire.tables import Columns, read
from groundwire.tables.turns import turns

SAID = (Turn(role="user", text="Hi, any bags?"), Turn(role="assistant", text="One bag is free."))
FORMS = [
    [{"role": "user", "content": "Hi, any bags?"}, {"role": "assistant", "content": "One bag is free."}],
    [{"type": "human", "content": "Hi, any bags?"}, {"type": "ai", "content": "One bag is free."}],
    [{"speaker": "User", "text": "Hi, any bags?"}, {"speaker": "Agent", "text": "One bag is free."}],
    [{"from": "human", "value": "Hi, any bags?"}, {"from": "gpt", "value": "One bag is free."}],
    [["Hi, any bags?", "One bag is free."]],
    [
        {"type": "human", "data": {"content": "Hi, any bags?", "type": "human"}},
        {"type": "ai", "data": {"content": "One bag is free.", "type": "ai"}},
    ],
    [
        {"lc": 1, "type": "constructor", "kwargs": {"content": "Hi, any bags?", "type": "human"}},
        {"lc": 1, "type": "constructor", "kwargs": {"content": "One bag is free.", "type": "ai"}},
    ],
    [
        {"role": "user", "content": [{"type": "text", "text": "Hi, any bags?"}, {"type": "image_url"}]},
        {"role": "assistant", "content": [{"text": "One bag is free."}]},
    ],
]


@pytest.mark.parametrize("form", FORMS)
def test_messages_of_all_makes_are_turns(form):
    """As lists, and spelled out in a cell of a CSV file, as JSON or by pandas."""
    for given in (form, json.dumps(form), str(form)):
        assert turns(given, where="history") == SAID


@pytest.mark.parametrize("nothing", [None, "", "  ", [], "[]"])
def test_no_messages_are_no_turns(nothing):
    assert turns(nothing, where="history") == ()


def test_a_call_of_tools_says_nothing():
    (turn,) = turns([{"role": "assistant", "content": None, "tool_calls": [{}]}], where="history")
    assert turn.text == ""


def test_an_answer_that_is_not_there_yet_is_no_turn():
    """As chat widgets keep the pair whose second half is still to come."""
    assert turns([["Hi?", None]], where="history") == (Turn(role="user", text="Hi?"),)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("they talked about bags", "history must be a list of messages"),
        (3, "history must be a list of messages"),
        ({"role": "user"}, "history must be a list of messages"),
        ([{"role": "user", "content": "a"}, "b"], r"history\[1\] must be a message"),
        ([["a", "b", "c"]], r"history\[0\] must be a message"),
        ([{"content": "a"}], r"history\[0\] doesn't tell who spoke"),
        ([{"role": "narrator", "content": "a"}], r"history\[0\] has a role that is none"),
        ([{"role": "user"}], r"history\[0\] has no text"),
    ],
)
def test_what_is_no_conversation_is_named(given, problem):
    with pytest.raises(InputError, match=problem):
        turns(given, where="history")


ASKED = {"question": "And a second?", "context": "A second bag costs 25 EUR.", "answer": "25 EUR."}


def judged_row(*, columns=None, **cells):
    data = json.dumps(ASKED | cells).encode()
    (row,) = read(io.BytesIO(data), name="chat.jsonl", columns=columns).rows
    return row


@pytest.mark.parametrize("name", ["history", "chat_history", "Conversation History"])
def test_the_history_of_a_row_is_found(name):
    row = judged_row(**{name: FORMS[0]})
    assert row.interaction.history == SAID
    assert row.interaction.question == "And a second?"


def test_the_history_of_a_row_can_be_named():
    row = judged_row(columns=Columns(history="inputs.earlier"), inputs={"earlier": FORMS[0]})
    assert row.interaction.history == SAID


def test_a_conversation_in_the_place_of_the_question_ends_with_it():
    """As traces of chat applications have their input; what follows the question is not before it."""
    said = [*FORMS[0], {"role": "user", "content": "And a second?"}, {"role": "tool", "content": "fees.md"}]
    for given in (said, json.dumps(said)):
        row = judged_row(question=given)
        assert (row.interaction.question, row.interaction.history) == ("And a second?", SAID)


def test_what_only_looks_like_a_history_is_none():
    """A patient's, say. Where it was named it is an error."""
    for other in ("no allergies", ["no allergies"], {"allergies": 0}, 3, [[1, 2, 3]]):
        assert judged_row(history=other).interaction.history == ()
    named = judged_row(history="no allergies", columns=Columns(history="history"))
    assert named.interaction is None
    assert "history must be a list of messages" in named.problem


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"history": [{"role": "user"}]}, "history[0] has no text"),
        (
            {"question": [{"role": "assistant", "content": "Hi"}]},
            "no message of the conversation is the user's",
        ),
        ({"question": ["Hi"]}, "question[0] must be a message"),
    ],
)
def test_a_row_whose_conversation_cannot_be_read_is_not_judged(cells, problem):
    row = judged_row(**cells)
    assert row.interaction is None
    assert problem in row.problem
