"""What stands for words that nobody shall read."""

from __future__ import annotations

import pytest

from groundwire.text import placeholders


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to <NAME> at [REDACTED_EMAIL].", ["<NAME>", "[REDACTED_EMAIL]"]),
        ("The token of [PERSON_1] (***) is valid.", ["[PERSON_1]", " (***)"]),
        ("card **** **** **** 3920 and j***@example.com", ["**** **** **** 3920", "j***@example.com"]),
        (
            "X-Api-Key: <YOUR_API_KEY> or <your-token> or {{deploy_key}}",
            ["<YOUR_API_KEY>", "<your-token>", "{{deploy_key}}"],
        ),
        ("<PHONE_NUMBER> <US_SSN> [IP ADDRESS 2]", ["<PHONE_NUMBER>", "<US_SSN>", "[IP ADDRESS 2]"]),
    ],
)
def test_placeholders_are_found(text, expected):
    assert [span.of(text) for span in placeholders.find(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "***bold*** and **b**",
        "[NASA] said so",
        "List<ID> and <T>",
        "see [1] and [EMAIL](mailto:a@b.c)",
        "[Date] of [State]",
        "size XXL",
    ],
)
def test_words_that_say_something_stay(text):
    assert placeholders.find(text) == []
