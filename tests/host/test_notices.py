"""What checks have written into answers is told apart from what was answered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.host.actions import UNCHECKED_WARNING
from groundwire.host.notices import is_withheld, without

SENTENCES = st.lists(st.sampled_from(["It weighs 3 kilos.", "No.", "\n\n", "  "])).map(" ".join)


@pytest.mark.parametrize(
    ("text", "notices", "left"),
    [
        (f"It is blue.\n\n{UNCHECKED_WARNING}", [UNCHECKED_WARNING], "It is blue."),
        (f"Result: It is blue. {UNCHECKED_WARNING}", [UNCHECKED_WARNING], "Result: It is blue."),
        ("It is blue.\n\nNo.", ["No."], "It is blue."),
        ("No. It is blue.", ["No."], "No. It is blue."),
        ("It is blue.  ", ["No."], "It is blue.  "),
        (f"{UNCHECKED_WARNING} No.", ["No.", f"{UNCHECKED_WARNING} No."], ""),
        ("It is blue.", [""], "It is blue."),
    ],
)
def test_notices_are_taken_out(text, notices, left):
    """A statement wherever it stands, a few words where they are a paragraph; the rest stays as it is."""
    assert without(text, notices) == left
    assert is_withheld(text, notices) is (not left)


@given(SENTENCES, SENTENCES, st.sampled_from(["No.", UNCHECKED_WARNING, "It is blue. It is blue."]))
def test_offsets_into_what_is_left_still_hold(before, after, notice):
    """Each character that is left stands where it stood."""
    text = f"{before}\n\n{notice}\n\n{after}"
    left = without(text, [notice])
    assert all(mine in (" ", theirs) for mine, theirs in zip(left, text, strict=False))
    assert len(left) <= len(text)


def test_an_empty_answer_was_withheld_by_nobody():
    """It has a reason of its own."""
    assert not is_withheld("", ["No."])
    assert not is_withheld(" ", [])
