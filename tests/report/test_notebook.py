"""What a notebook shows of an outcome."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

import groundwire as gw
from groundwire.report.notebook import card
from tests.report.answers import doubted, plain, refund, unread
from tests.report.test_page import PAYLOADS, hostile

TAGS = {"div", "span", "b", "bdi", "code", "mark", "br"}
ATTRIBUTES = {"style", "title"}


class Read(HTMLParser):
    """Notes the tags, attributes and words of a card, and that each tag is closed."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.styles, self.text, self.open = set(), set(), [], "", []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.styles += [value for name, value in attrs if name == "style"]
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_a_verdict_shows_its_words_and_what_the_documents_say():
    """Level, score, each statement with its unsupported words marked, the reason and the quote."""
    outcome = gw.check(contexts="A second bag costs 25 EUR.", answer="It is free. A second bag costs 75 EUR.")
    html = outcome._repr_html_()
    shown = Read(html)
    for word in (
        "RED",
        f"{outcome.score:.2f}",
        "75 EUR here, 25 EUR in the document",
        "A second bag costs 25 EUR.",
    ):
        assert word in shown.text
    assert "75 EUR</mark>" in html


def test_of_many_statements_the_unsupported_ones_are_shown():
    """They may be the last of twenty; those before them keep their order, and the rest are counted."""
    bags = [f"Bag {i} weighs {i} kg." for i in range(1, 20)]
    outcome = gw.check(contexts=" ".join(bags), answer="\n".join([*bags, "Lions fly to Venus."]))
    html = outcome._repr_html_()
    assert "Lions fly to Venus" in Read(html).text
    assert "<mark" in html
    assert "… and 8 more" in Read(html).text


def test_a_statement_in_doubt_has_a_sign_of_its_own():
    html = card(doubted().outcome)
    assert "<span title='in doubt' style='position:absolute;left:0'>!</span>" in html
    assert "✓" not in html


def test_statements_and_quotes_run_in_their_own_direction():
    """A full stop of Hebrew words stands at their left, also where the page is English."""
    outcome = gw.check(contexts="המחיר הוא 25 שקל.", answer="המחיר הוא 75 שקל.")
    html = outcome._repr_html_()
    assert "<bdi>המחיר הוא <mark" in html
    assert "“<bdi>המחיר הוא 25 שקל.</bdi>”" in html


def test_an_abstention_shows_why_and_no_score():
    outcome = gw.check(contexts=[], answer="Nobody knows.")
    shown = Read(outcome._repr_html_())
    assert "NOT JUDGED" in shown.text
    assert "NO_CONTEXT" in shown.text
    assert "score" not in shown.text


@pytest.mark.parametrize(
    "entry", [refund(), plain(0.1), plain(0.5), unread()], ids=lambda entry: entry.shown_name
)
def test_a_card_is_one_line_of_inline_styles_alone(entry):
    """No script, style sheet, link or image, and nothing that only one colour of page can show."""
    html = card(entry.outcome)
    shown = Read(html)
    assert "\n" not in html
    assert shown.tags <= TAGS
    assert shown.attributes <= ATTRIBUTES
    assert not any("url(" in style for style in shown.styles)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_becomes_markup(payload):
    """Whatever stands in a claim, quote, reason or detail, the card has the tags of an honest one."""
    for entry in hostile(payload):
        shown = Read(card(entry.outcome))
        assert shown.tags <= TAGS
        assert shown.attributes <= ATTRIBUTES


@given(st.text(max_size=60), st.text(max_size=60))
def test_every_detail_reads_as_it_was_written(why, quote):
    """A reader sees the characters of a text, however they look like HTML; invisible ones as symbols."""
    text = f"<b>{why}&amp;{quote}</b>"
    shown = Read(card(gw.Abstention(why=gw.AbstentionReason.MODEL_FAILED, detail=text)))
    assert "<b>" in shown.text
    assert "&amp;" in shown.text


def test_the_same_answer_gives_the_same_card():
    """What it took in seconds, and its id, are not shown."""
    one, other = (gw.check(contexts="A bag costs 25 EUR.", answer="It costs 75 EUR.") for _ in range(2))
    assert one.usage.seconds != other.usage.seconds
    assert card(one) == card(other)
