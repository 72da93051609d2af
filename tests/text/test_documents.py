"""Documents that were written out as objects are read as documents."""

import json

import pytest
from hypothesis import given

from groundwire.text.documents import laid_open
from groundwire.text.dress import undressed
from tests.text.test_sentences import HOSTILE, RAW, growth

TEXT = "The fee is 5 EUR a bag, and it doesn't rise before May."


@pytest.mark.parametrize(
    "passage",
    [
        f'page_content="{TEXT}" metadata={{"page": 2}}',
        repr([{"page_content": TEXT, "metadata": {"page": 2}}]),
        json.dumps({"metadata": {"page": 2}, "text": TEXT}),
        f'[Document(metadata={{"page": 2}}, page_content="{TEXT}")]',
        f"TextNode(id_='7', metadata={{'page': 2}}, text=\"{TEXT}\")",
    ],
)
def test_a_documents_text_stands_on_lines_of_its_own(passage):
    """Whoever wrote it out; and other entries stay."""
    out = laid_open(passage)
    assert TEXT in [line.strip() for line in out.splitlines()]
    assert "page_content" not in out
    assert '"page": 2' in out.replace("'", '"')


def test_escapes_in_it_are_read():
    """A break in the text is one again, and quotation marks lose their backslash."""
    out = laid_open(f"page_content={TEXT + chr(10) + 'Ask for ' + chr(34) + 'the 5' + chr(34)!r}")
    assert [line.strip() for line in undressed(out).text.splitlines()][-2:] == [TEXT, 'Ask for "the 5"']


@pytest.mark.parametrize(
    "passage",
    [
        '{"text": "5 EUR", "fee": 5}',
        f'{{"review_text": "{TEXT}"}}',
        f"Our text: {TEXT}",
        TEXT,
        "",
        f'{{"text": "{TEXT}',
    ],
)
def test_records_and_prose_are_left_alone(passage):
    assert laid_open(passage) == passage


@given(RAW)
def test_every_word_keeps_its_place(text):
    assert len(laid_open(f'{{"text": "{text}"}}')) == len(f'{{"text": "{text}"}}')


@pytest.mark.parametrize("unit", [*HOSTILE, 'text="', "text='\\", '"text": '])
def test_time_is_linear(unit):
    assert growth(laid_open, unit) < 3
