"""Quotations: found word for word, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.text.quotes import Quotable
from groundwire.text.tokens import STOP_WORDS, fold, words

PASSAGE = (
    "The fee is €25.50 per bag;\n  from 1 May it's 1,200 “points”. Refunds take 14 days. | Gold | 3 bags |"
)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("The fee is €25.50 per bag;", ["The fee is €25.50 per bag;"]),
        ("€25.50", ["€25.50"]),
        ("the FEE is 25.50 per bag", ["The fee is €25.50 per bag"]),
        ("per bag from 1 May", ["per bag;\n  from 1 May"]),
        ("it’s 1,200 'points'.", ["it's 1,200 “points"]),
        ("Gold: 3 bags", ["Gold | 3 bags"]),
        ("The fee is ... 14 days.", ["The fee is", "14 days."]),
        ("Refunds take […] Gold", ["Refunds take", "Gold"]),
        ("5.50", []),
        ("The fee is 25", []),
        ("2 days", []),
        ("4 days", []),
        ("Refunds take 14 weeks", []),
        ("The fee is ... 15 days.", []),
        ("the", []),
        ("is ... per", []),
        ("€", []),
        ("", []),
        (" … ", []),
    ],
)
def test_a_quotation_is_found_where_its_words_stand(quote, found):
    assert [span.of(PASSAGE) for span in Quotable(PASSAGE).find(quote)] == found


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("料金は25ユーロです", ["料金は25ユーロです"]),
        ("払い戻しは14日", ["払い戻しは14日"]),
        ("戻しは14", ["戻しは14"]),
        ("払い戻しは15日", []),
        ("4日かかります", []),
        ("5ユーロ", []),
        ("5キロ", []),
        ("1.5キロ", ["1.5キロ"]),
    ],
)
def test_text_without_spaces_can_be_quoted_from_any_place_but_a_figure_s_middle(quote, found):
    text = "料金は25ユーロです。払い戻しは14日かかります。1.5キロまで。"
    assert [span.of(text) for span in Quotable(text).find(quote)] == found


@given(st.text(), st.data())
def test_every_run_of_words_of_a_text_is_found_in_it_and_says_the_same(text, data):
    all_words = words(text)
    if not all_words:
        return
    first = data.draw(st.integers(0, len(all_words) - 1))
    last = data.draw(st.integers(first, len(all_words) - 1))
    quote = text[all_words[first].start : max(word.end for word in all_words[first : last + 1])]
    said = [fold(word.text) for word in words(quote)]
    if "…" in quote or "..." in quote or all(word in STOP_WORDS for word in said):
        return
    if said != [fold(word.text) for word in all_words[first : last + 1]]:
        return  # cut out of its surroundings, it is other words
    (span,) = Quotable(text).find(quote)
    assert [fold(word.text) for word in words(span.of(text))] == said


@given(st.text(), st.text())
def test_what_is_found_lies_in_the_text(text, quote):
    assert all(span.end <= len(text) and len(span) for span in Quotable(text).find(quote))
