"""What a model was told of, and what of a text a model has said."""

import json
import unicodedata

import pytest

from groundwire import Passage
from groundwire.host.seen import beside, has_part, told_of, unspoken

FOUND = [
    Passage(text="A second bag costs 25 EUR."),
    Passage(text="The ferry takes 90 minutes."),
    Passage(text=" ".join(f"word{i}" for i in range(200))),
    Passage(text="第二件行李二十五欧元。"),
]


@pytest.mark.parametrize(
    ("told", "asked", "expected"),
    [
        ("Context: 90 minutes by ferry. How long?", "How long?", True),
        ("What does a second bag cost?", "What does a second bag cost?", False),
        ("Context: none. What does it cost?", "What does it cost?", False),
        ("x" * 100_001, "", True),
        ("说明：第二件要付二十五欧元。", "", True),
        ("Context: " + " ".join(f"word{i}" for i in range(40, 50)), "", True),
    ],
)
def test_a_model_was_told_of_what_has_words_of_its_own_in_its_prompt(told, asked, expected):
    """Those of the question are in every prompt, and a very long one is not looked through."""
    assert told_of(FOUND, told, asked) is expected


@pytest.mark.parametrize(
    ("passage", "told", "asked"),
    [
        ("दूसरे बैग की कीमत पच्चीस यूरो है।", "कृपया एक कविता लिखिए", ""),
        ("দ্বিতীয় ব্যাগের দাম পঁচিশ ইউরো।", "You are helpful.", ""),
        (
            "第二件行李的费用是二十五欧元，可以在线支付。",
            "你是一个有用的助手。如果不知道，可以说不知道。",
            "行李多少钱？",
        ),
        ("กระเป๋าใบที่สองราคายี่สิบห้ายูโร", "You are helpful.", ""),
        (unicodedata.normalize("NFD", "Le bébé a été fêté à l'été."), "Bonjour", ""),
        ("A second bag costs 25 EUR.", "Write a title of one page.", ""),
    ],
)
def test_a_model_that_was_shown_nothing_was_told_of_nothing_in_any_script(passage, told, asked):
    """Whatever the words of its prompt: a few that are everywhere are no part of a document."""
    assert not told_of([Passage(text=passage)], told, asked)
    assert told_of([Passage(text=passage)], f"{told}\n{passage}", asked)
    assert told_of([Passage(text=passage)], json.dumps({"documents": [passage]}), asked)
    for nothing in ("", " ", "---", "N/A"):
        assert not told_of([Passage(text=passage), Passage(text=nothing)], told, asked)
        assert told_of([Passage(text=nothing)], told, asked)


TOLD = "The bag weighs one kilo and a half, and café owners carry it."


@pytest.mark.parametrize(
    ("told", "asked", "expected"),
    [
        ("Go on from: the bag *weighs* one kilo and a... What next?", "", True),
        (json.dumps({"so far": TOLD}), "", True),
        ("The bag weighs one kilo, I think, and a half.", "", False),
        (f"{TOLD} What next?", TOLD, False),
        ("", "", False),
    ],
)
def test_six_words_in_a_row_are_a_part_of_what_was_said(told, asked, expected):
    """However they are written, and unless the question has them too; all of it, where it is shorter."""
    assert has_part(told, TOLD, asked) is expected
    assert has_part("Well: it costs 5 EUR. What next?", "It costs 5 EUR.", asked)
    assert not has_part("It costs 9 EUR.", "It costs 5 EUR.", asked)


SAID = 'It costs 75 EUR, "all in", and is paid online.'
PAGE = "Second checked bag\n\nA second checked bag costs 25 EUR on all flights, and is paid at the desk."


@pytest.mark.parametrize(
    ("spoken", "text", "expected"),
    [
        ("yes", "No one knows the eyes of it.", "No one knows the eyes of it."),
        ("yes", "Yes", ""),
        ("It costs 75 EUR.", "The expert says: it costs 75 eur.", ""),
        (
            "第二件行李的费用是七十五欧元，需要提前在线支付。",
            "专家说：第二件行李的费用是七十五欧元，需要提前在线支付。",
            "",
        ),
        ("", "anything", "anything"),
        (SAID, json.dumps({"answer": SAID}), ""),
        (SAID, repr([SAID]), ""),
        ("* It costs 75 EUR,\n* and is paid online.", "It costs 75 EUR, and is paid online.", ""),
        (json.dumps({"draft": SAID, "sure": 0.9}), SAID, ""),
        ("第二件行李的费用是七十五欧元。", json.dumps({"answer": "第二件行李的费用是七十五欧元。"}), ""),
        # A query stands in what was found for it.
        ("second checked bag costs", PAGE, PAGE),
        ("Second checked bag", PAGE, PAGE.removeprefix("Second checked bag")),
        (SAID, f"{SAID}\n{PAGE}\n{PAGE}", f', " ", .\n{PAGE}\n{PAGE}'),
        ("It costs 75 EUR.", json.dumps({"answer": "It costs 75 EUR.", "page": PAGE}), None),
    ],
)
def test_what_a_model_said_is_no_evidence(spoken, text, expected):
    """However it is written; the rest of the text is, where it is more."""
    rest = beside(text, [spoken])
    assert "75 EUR" not in rest
    if expected is not None:
        assert " ".join(rest.split()) == " ".join(expected.split())


def test_texts_of_any_length_are_looked_through_quickly():
    """As long as what is sought stands there often, and as long as it nearly does."""
    assert not beside("a b c d " * 20_000, ["a b c d"])
    text = "a b c e " * 20_000
    assert beside(text, ["a b c d " * 10_000]) == text
    assert beside(text, [f"a b c d {i}" for i in range(400)]) == text


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("A second bag costs 25 EUR.", ""),
        ("Query: a second bag costs 25 EUR. Result: 7", "Query: . Result: 7"),
        ("The ferry takes 90 minutes.", "The ferry takes 90 minutes."),
    ],
)
def test_what_is_left_of_a_text_is_known_where_most_of_it_is_a_model_s(text, rest):
    """Of all the others it is what stands beside the model's words."""
    assert " ".join(unspoken(text, ["A second bag costs 25 EUR."]).split()) == rest
    assert beside(text, ["A second bag costs 25 EUR."]) == (rest if rest == text else "")
