"""What a model was told of, and what is only passed on."""

import pytest

from groundwire import Passage
from groundwire.host.seen import passes_on, told_of

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
    ("said", "text", "expected"),
    [
        ("yes", "No one knows the eyes of it.", False),
        ("yes", "Yes", True),
        ("It costs 75 EUR.", "The expert says: it costs 75 eur.", True),
        (
            "第二件行李的费用是七十五欧元，需要提前在线支付。",
            "专家说：第二件行李的费用是七十五欧元，需要提前在线支付。",
            True,
        ),
        ("", "anything", False),
    ],
)
def test_a_text_passes_on_what_can_t_stand_in_it_by_chance(said, text, expected):
    """A word or two can."""
    assert passes_on(said, text) is expected
