"""Whatever is written into a question, a passage, an answer or a turn, no method passes it on as instruction.

The model here obeys all that stands as instruction before it. How far a real one obeys what it was told to be
material can't be shown here.
"""

from pathlib import Path

import pytest

from tests.judge.attacks import NAIVE, PLACES, attacks, methods, naively, obeyed, table

PAGE = Path(__file__).parents[2] / "docs" / "judge.md"
ALL = attacks()


def test_there_are_enough_of_them_and_no_two_are_the_same():
    assert len(ALL) >= 60
    assert len({attack.written() for attack in ALL}) == len(ALL)


@pytest.mark.parametrize("name", methods())
def test_nothing_reaches_the_model_as_instruction(name):
    for attack in ALL:
        model = obeyed(name, attack)
        assert model.asked or attack.form == "padding"  # too long an answer is not judged at all
        assert model.obeyed == set(), attack
        assert model.hidden == set(), attack


def test_the_model_would_obey_where_texts_are_pasted_into_a_prompt():
    """The control: the same texts, the same model, no quotation."""
    assert all(naively(attack).obeyed == set(PLACES) for attack in ALL)
    assert any(naively(attack).hidden for attack in ALL)


def test_the_table_in_the_documentation_is_the_one_measured():
    assert table() in PAGE.read_text(encoding="utf-8")
    assert NAIVE in table()
