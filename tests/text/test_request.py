"""Whether a text asks a question, or for what is given to be told over."""

from __future__ import annotations

import pytest

from groundwire.text import premise
from groundwire.text.request import is_question


@pytest.mark.parametrize(
    "text",
    [
        "What does a second bag cost?",
        "second bag cost",
        "Tell me about the opening hours.",
        "Explain how I can summarize a table in pandas",
        "Who wrote the summary of the 2019 report?",
        "Describe the refund policy",
        "Give me the price of a bag",
        "Can you write to me when the overview of fees is changed?",
        "How do I write a summary?",
        "Wie fasse ich Zellen zusammen?",
        "What headline inflation rate was reported in May?",
        "Is abstract art sold there?",
        "Resume tips?",
        "Summary judgment is granted when?",
        "Abstract submission deadline",
        "What are the key points of access?",
        "In short supply are which items?",
        "Can I get a summary of my account by post?",
        "What does the document say about refunds?",
        "Please resume my subscription",
        "Do I need an abstract for my submission?",
        "Do they publish a summary?",
        "Show me the description of product 12",
        "Wie kann ich Rechnungen zusammenfassen?",
        "Hoe kan ik cellen samenvatten?",
        "誰が要約してくれますか",
        "Prepare for how many minutes?",
        "Write in 10 minutes?",
        "Describe how JSON is parsed?",
        "Describe the JSON format of the API response",
    ],
)
def test_a_question_is_one_however_it_is_put(text):
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "Summarize the following news within 116 words:",
        "Please summarise this.",
        "Could you please sum up the article?",
        "Write an objective overview of this business, from the data alone.",
        "Give me a short summary of the minutes",
        "TL;DR",
        "Summary of the report",
        "Generate a brief, friendly description",
        "Fasse den Text kurz zusammen.",
        "Resume el texto en tres frases.",
        "and in short?",
        "Thanks! Now sum that up for me.",
        "What are the key points of the document?",
        "Key takeaways",
        "What is this article about?",
        "I need a summary of this report.",
        "In two sentences, summarize the article.",
        "Your job is to produce a final summary.",
        "One-sentence summary",
        "Describe this restaurant from its JSON data.",
        "Write meeting minutes",
        "Kannst du das zusammenfassen?",
        "Gib mir einen Überblick",
        "Pouvez-vous résumer le texte ?",
        "Hazme un resumen",
        "Fammi un riassunto",
        "Faça um resumo do documento",
        "Kun je dit samenvatten?",
        "この文書を要約してください",
        "https://example.com/minutes.pdf",
        "Summary as bullet points",
        "Brief summary using only the text below",
        "Summary and action items",
    ],
)
def test_no_question_is_one_for_a_text_that_tells_over_what_is_given(text):
    assert not is_question(text)


def test_of_a_conversation_what_was_said_last_counts():
    assert is_question(f"Summarize the article.{premise.TURN}\nWho is the mayor?")
    assert not is_question(f"Who is the mayor?{premise.TURN}\nSummarize the article.")


@pytest.mark.parametrize(
    "text",
    [
        "Outline the main arguments",
        "Outline the main arguments of the paper",
        "Translate this into German",
        "Please translate the text to French",
        "Turn the notes into an e-mail",
        "Make this shorter",
        "Translate this into German and keep it short",
        "Simplify this and make it short",
        "Übersetze den Text ins Englische",
    ],
)
def test_what_is_given_may_be_asked_for_in_other_words(text):
    assert not is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "Outline the steps to return a jacket",
        "Outline the main arguments for raising the fee",
        "Translate 5 miles to km",
        "Translate the text to French and tell me the fee",
        "Translate this and tell me what the fee is",
        "Put this into a list and tell me which fee applies",
        "Simplify this and explain who must pay",
        "Übersetzen Sie den Text ins Deutsche und nennen Sie den Preis",
        "Who translated the text into German?",
        "How do I translate the document?",
    ],
)
def test_the_same_words_may_ask_something(text):
    assert is_question(text)
