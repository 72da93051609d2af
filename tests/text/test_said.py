"""What is said of an answer keeps its place, and what is only around it is blank."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.text.said import said
from tests.text.test_sentences import HOSTILE, RAW, growth

PLAIN = "Dogs travel free of charge."


def words(answer):
    return " ".join(said(answer).split())


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (f"<think>Is it 5 EUR?</think>\n{PLAIN}", PLAIN),
        (f"Is it 5 EUR?</think>\n{PLAIN}", PLAIN),
        ("<think>Is it 5 EUR?", ""),
        (json.dumps({"answer": PLAIN}), PLAIN),
        (json.dumps({"answer": f'{PLAIN}\nCats "pay".'}), f'{PLAIN} Cats "pay ".'),
        (json.dumps({"result": {"answer": PLAIN, "notes": [PLAIN, PLAIN]}}, indent=2), " ".join([PLAIN] * 3)),
        (f'```json\n{{"answer": "{PLAIN}"}}\n```', PLAIN),
        (json.dumps({"answer": PLAIN, "confidence": 0.92, "relevance_score": 3, "sources": ["1", 2]}), PLAIN),
        (json.dumps({"answer": PLAIN, "certainty": "very high", "citations": []}), PLAIN),
        (json.dumps({"answer": PLAIN, "found": True, "language": "en", "page": 3, "chunk_id": 7}), PLAIN),
        (json.dumps({"answer": PLAIN, "follow_up_questions": ["Do cats pay?", "Why?"]}), PLAIN),
        (f"{PLAIN}<|eot_id|>", PLAIN),
        (f"{PLAIN} [/INST]", PLAIN),
    ],
)
def test_only_what_is_said_is_left(answer, left):
    """Thinking, names of members with sentences, marks, and what an answer says of itself are blank."""
    assert words(answer) == left


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (
            json.dumps({"answer": PLAIN, "fee": "75 EUR", "bags": 2, "dogs": True}),
            '"fee": "75 EUR" "bags": 2 "dogs": true',
        ),
        (json.dumps({"answer": PLAIN, "sources": ["The Lancet"]}), '"The Lancet"'),
        (
            json.dumps({"answer": PLAIN, "next": ["Cats pay"], "language": "Dutch"}),
            '"Cats pay" "language": "Dutch"',
        ),
        (json.dumps({"answer": PLAIN, "confidence": "It was measured in May."}), "It was measured in May."),
    ],
)
def test_what_else_is_stated_stays(answer, kept):
    """Figures and names beside the sentence are looked up; nothing that states something is left out."""
    assert words(answer) == f"{PLAIN} {kept}"


@pytest.mark.parametrize(
    "answer",
    [PLAIN, '{"fare": "40 euros"}', '{"answer": "Dogs travel', f'["{PLAIN}"]', f'{PLAIN} {{"a": 1}}', ""],
)
def test_records_fragments_and_prose_are_left_alone(answer):
    """Only a whole object that holds a sentence is an answer in a wrapping."""
    assert said(answer) == answer


@given(RAW | st.dictionaries(RAW, RAW | st.integers() | st.lists(RAW), max_size=5).map(json.dumps))
def test_everything_keeps_its_place(answer):
    """Whatever the answer, each character is blank, or stands where it stood."""
    left = said(answer)
    assert len(left) == len(answer)
    pairs = zip(left, answer, strict=True)
    changed = [i for i, (mine, theirs) in enumerate(pairs) if not (mine.isspace() or mine == theirs)]
    assert all(answer[i - 1] == "\\" and left[i] in '"/' for i in changed)


@pytest.mark.parametrize("unit", [*HOSTILE, "{", '{"a":', "}", '"}', '{"', "\\n", "[1,", '"sources": [1,'])
def test_time_grows_no_faster_than_the_text(unit):
    """No repeated mark makes reading quadratic."""
    assert growth(lambda text: said('{"a": "' + text + '"}'), unit) < 3.2
    assert growth(lambda text: said("{" + text + "}"), unit) < 3.2
