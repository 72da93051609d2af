"""Offers of more words claim nothing, and nothing that a document could promise is such an offer."""

import pytest

from groundwire.text import claims
from groundwire.text.offers import is_offer
from tests.text.test_sentences import HOSTILE, growth

OFFERED = """
I can explain any of these steps in more detail.
I'd be happy to walk you through it step by step.
If you'd like, I can summarize this for you.
Happy to share a code example if that's useful.
If you share your code, I can help you debug it.
I can also help you prepare your application, if you like.
Let me know if you want me to expand on any of these points.
Let me check that for you.
I need a bit more information to help you.
Please share your order number so I can look into it.
I can help you with your application.
Let me take a quick look.
I can put this into a short e-mail for you.
Please give me more details about your situation.
I can share more examples, if you like.
Let me know if you'd like help drafting the notice.
""".strip().splitlines()
STATED = """
I can explain how to get your refund.
I'd be happy to refund you.
I can give you a code.
I can give you a discount.
I can fill out the form for you.
I can do this for you.
Happy to share a code example that uses the rotateKeys() method.
Happy to help with your refund of 90 EUR!
We can explain it for a fee.
Let me check your voucher.
I need your passport.
Please provide your order number.
Please give your manager a letter.
I can give you a form.
I can provide you with a letter.
I'll share your details.
I can give you the next version.
I can share the full version.
I can write your application.
I can write another application for you.
I can take your application.
I can take this over.
I'll put your question to them.
I'll put you through.
I can write to them for you.
I can find another plan for you.
I can prepare your application.
I can answer any question at any time.
I can translate this into any language.
I can explain it over e-mail.
If you need it, I can provide it.
Please send your details.
Please provide information about your situation.
""".strip().splitlines()


@pytest.mark.parametrize("sentence", OFFERED)
def test_an_offer_of_more_words_is_no_claim(sentence):
    """Beside a claim, it leaves the claim alone."""
    assert is_offer(sentence)
    assert [span.of(f"Bags are free.\n{sentence}") for span in claims.cut(f"Bags are free.\n{sentence}")] == [
        "Bags are free."
    ]


@pytest.mark.parametrize("sentence", STATED)
def test_what_offers_a_thing_is_a_claim(sentence):
    assert not is_offer(sentence)
    assert [span.of(sentence) for span in claims.cut(sentence)] == [sentence]


@pytest.mark.parametrize("piece", HOSTILE)
def test_it_takes_no_longer_than_the_text_is(piece):
    """No repeated words make it quadratic."""
    assert growth(is_offer, piece) < 3.2
