"""What dresses an answer changes no verdict, and every place in it is one of the answer as it was given."""

import pytest

import groundwire as gw
from groundwire.core.claim import Support
from groundwire.core.verdict import AbstentionReason
from groundwire.detectors.as_read import AsRead

FEES = gw.Passage(
    text="Fees: a second bag costs 75 EUR, and it is paid at the counter or online before 5 March.",
    metadata={"source": "docs/fees.pdf"},
)
DOGS = gw.Passage(text="Dogs travel free of charge. You must book them by phone.", metadata={"title": "Pets"})
RIGHT = "A second bag costs 75 EUR. Dogs travel free of charge."
WRONG = "A second bag costs 95 EUR. Dogs travel free of charge."
DRESSED = [
    "{0} [1]. {1} [2].",
    "{0} [1][2]. {1}【4:0†source】.",
    "{0}. [1] {1}. [2]",
    "{0} (Document 1, p. 3). {1} (Pets).",
    "{0} (Source: fees.pdf). {1} [doc2].",
    "**{0}**. *{1}*.",
    "✅ {0}.\n✅ {1}.",
    "<think>The user asks for fees. Is it 40 EUR?</think>\n\n{0}. {1}.",
    "The user asks for fees. Is it 40 EUR?</think>\n{0}. {1}.",
    "{0}. {1}.\n\nSources:\n- fees.pdf, page 3\n- Pets",
    "{0}. {1}.\n\nSources: [1], [2]",
    '{{"answer": "{0}. {1}.", "confidence": 0.92, "sources": [1, 2]}}',
    '```json\n{{"answer": "{0}.\\n- {1}.",\n "certainty": "high", "sources": ["fees.pdf"]}}\n```',
    "<p>{0}.</p>\n<ul><li>{1}.</li></ul>",
    "{0}.<br>{1}.",
    "<b>{0}</b>. <i>{1}</i>.",
    "Final Answer: {0}. {1}.",
    "Thought: I know it now, it is 40 EUR.\nFinal Answer: {0}. {1}.",
    "**Answer:** {0}. {1}.",
    "TL;DR: {0}. {1}.",
    "Dear Ms. Smith,\n\n{0}. {1}.\n\nBest regards,\nThe Acme Support Team",
    "Sure! Here is what I found:\n\n{0}. {1}.\n\nConfidence: high",
    "As an AI language model, I can only answer from the given documents. {0}. {1}.",
    "{0}. {1}.\n\nWould you like me to go into more detail?",
    "Please note that this answer is based solely on the provided context. {0}. {1}.",
    "{0}.\u00a0{1}.",
    "```\n{0}. {1}.\n```",
    "| # | Point |\n|---|---|\n| 1 | {0}. |\n| 2 | {1}. |",
    "Step 1: {0}.\nStep 2: {1}.",
    "{0}.<sup>1</sup> {1}.\u00b2",
    "{0} (source: passage 1). {1} (sources: 1, 2).",
    "{0}.[^1] {1}.\n\n[^1]: Document 1",
    "{0} <ref>1</ref>. {1}<citation>Pets</citation>.",
    "{0} [1, p. 3]. {1} (doc_id=2).",
    "{0}.\u00b9 {1}.\u00b2\n\n\u00b9 Source: fees.pdf, p. 3\n\u00b2 Pets",
    "**1. Bags**\n{0}.\n\n**2. Dogs**\n{1}.",
    "{0}. {1}.<|im_end|>",
    "{0}\\. {1}\\.",
    "{0}.\\n\\n{1}.",
]
PASSAGES = [
    "<html><body><p>{}</p><script>var fee = 95;</script></body></html>",
    "> {}",
    'page_content="{}" metadata={{"page": 2}}',
    '{{"text": "{}", "page": 2}}',
    "{} [12]",
]


def judged(detector, answer):
    return gw.Checker(detector).check(gw.Interaction(question="", contexts=[FEES, DOGS], answer=answer))


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
@pytest.mark.parametrize("dress", DRESSED)
@pytest.mark.parametrize("answer", [RIGHT, WRONG])
def test_dress_changes_no_verdict(detector, dress, answer):
    """Markers of sources, emphasis, pictures, thinking and lists of sources state nothing."""
    plain = judged(detector, answer)
    dressed = judged(detector, dress.format(*answer.rstrip(".").split(". ")))
    assert dressed.score == pytest.approx(plain.score)
    assert [claim.support for claim in dressed.claims] == [claim.support for claim in plain.claims]


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
def test_metadata_whose_names_are_no_texts_is_survived(detector):
    """The columns of a table may go by numbers, and so does what a loader makes of them."""
    numbered = gw.Passage(text=FEES.text, metadata={0: "Fees", ("a", 1): "b", None: "c"})
    plain = gw.Passage(text=FEES.text)
    checker = gw.Checker(detector)
    judged_by = (checker.check(gw.Interaction(contexts=[one], answer=WRONG)) for one in (numbered, plain))
    with_names, without = (outcome.score for outcome in judged_by)
    assert with_names == pytest.approx(without)


@pytest.mark.parametrize("dress", DRESSED)
def test_places_are_those_of_the_answer_as_it_was_given(dress):
    """Claims, words and quotes slice back to the texts that were given."""
    answer = dress.format(*WRONG.rstrip(".").split(". "))
    verdict = judged("embedded", answer)
    first, second = verdict.claims
    assert all(claim.text == claim.span.of(answer) for claim in verdict.claims)
    assert "A second bag costs 95 EUR" in first.text
    assert "Dogs travel" in second.text
    assert [word.of(answer) for word in first.words] == ["95 EUR"]
    assert "75 EUR" in first.evidence[0].quote


def test_a_passage_is_quoted_as_it_was_given():
    """Also where it is dressed itself."""
    text = "Notes.\n\nA se\u00adcond bag costs **75&nbsp;EUR** &amp; is paid online."
    verdict = gw.check(contexts=[text], answer=WRONG.split(". ", maxsplit=1)[0] + ".")
    (claim,) = verdict.claims
    assert claim.support is Support.CONTRADICTED
    (evidence,) = claim.evidence
    assert evidence.quote == evidence.span.of(text) == text[8:]


@pytest.mark.parametrize("answer", ["[1]", "<think>It costs 75 EUR.</think>", "Sources:\n- fees.pdf"])
def test_an_answer_that_only_points_or_thinks_states_nothing(answer):
    """It is an abstention, and never clean."""
    assert judged("embedded", answer).why is AbstentionReason.NO_CLAIMS


def test_a_source_that_no_passage_goes_by_is_looked_up_as_said():
    """An invented reference is not hidden by its brackets."""
    assert (
        judged("embedded", f"{RIGHT[:-1]} (Lancet Oncology).").score > judged("embedded", RIGHT).score + 0.2
    )


@pytest.mark.parametrize("dress", PASSAGES)
@pytest.mark.parametrize("answer", [RIGHT, WRONG])
def test_a_passages_dress_changes_no_verdict(dress, answer):
    """As pages, mails and frameworks have it; and quotes slice back to what was given."""
    texts = [dress.format(passage.text) for passage in (FEES, DOGS)]
    plain, dressed = judged("embedded", answer), gw.check(contexts=texts, answer=answer)
    assert [claim.support for claim in dressed.claims] == [claim.support for claim in plain.claims]
    assert dressed.score == pytest.approx(plain.score, abs=0.1)
    for claim in dressed.claims:
        for evidence in claim.evidence:
            assert evidence.quote == evidence.span.of(texts[evidence.passage])


@pytest.mark.parametrize(
    ("page", "quote"),
    [
        ("<ul><li>First bus: 05:12</li><li>Last bus: 00:47</li></ul>", "First bus: 05:12"),
        ('<p>Fares rise.</p><h2 class="x">The first bus: 05:12</h2>', "The first bus: 05:12"),
        ("<p>The first bus is at <b>05:12</b>.</p><p>Fares rise.</p>", "The first bus is at <b>05:12</b>."),
    ],
)
def test_a_quote_begins_and_ends_within_no_tag(page, quote):
    interaction = gw.Interaction(contexts=[page], answer="The first bus is at 06:12.")
    (claim,) = gw.Checker("lexical").check(interaction).claims
    assert [one.quote for one in claim.evidence] == [quote]


def test_a_passage_said_twice_is_read_once():
    """A retriever that returns a chunk twice changes nothing, and the first of them is quoted."""
    once = gw.check(contexts=[FEES.text, DOGS.text], answer=WRONG)
    twice = gw.check(contexts=[FEES.text, DOGS.text, FEES.text, f" {DOGS.text}\n"], answer=WRONG)
    assert twice.claims == once.claims
    assert twice.score == once.score


def test_an_interaction_without_any_dress_is_read_as_it_is():
    interaction = gw.Interaction(question="Fees?", contexts=[FEES, DOGS], answer=RIGHT, id="1")
    read = AsRead.of(interaction)
    assert read.interaction == interaction
    assert all(mine == given for mine, given in read.places.items())


@pytest.mark.parametrize(
    ("passage", "wrong"),
    [
        (
            "Use the tag to load code. The refund takes 30 days.",
            "Use the <script> tag. The refund takes 90 days.",
        ),
        ("The refund takes 30 days.", "It is free. <!-- The refund takes 90 days. -->"),
        ("The refund takes 30 days.", 'It is free. <img src="a.png" alt="The refund takes 90 days.">'),
        (
            "It was founded in 2010 - 40 employees work there.",
            "It was founded in 2010 - 25 employees work there.",
        ),
        ("The study has 20 patients. The confidence level was 95%.", "Confidence level: 99%"),
        ("Contact us for a quote. Our plant is in Canada.", "The plant is in Mexico."),
    ],
)
def test_what_states_something_is_no_dress(passage, wrong):
    """An error in a comment, an attribute, beside a tag's name or a year, is an error."""
    assert (
        gw.Checker("lexical")
        .check(gw.Interaction(question="", contexts=[passage], answer=wrong))
        .hallucinated
    )


@pytest.mark.parametrize(
    ("passage", "right"),
    [
        ("They were given doses of 100, 200, 300 mg.", "They were given a dose of 200 mg."),
        ("On May 5, 200 people came to the hall.", "200 people came to the hall on May 5."),
        ("It opens on May 3. 5 percent of buyers came back.", "5 percent of buyers came back."),
        ("The phone has a five-\nyear warranty.", "The phone has a five-year warranty."),
        ("Costs: $.50 for adults, children pay 20$ a day.", "Children pay $20 a day."),
    ],
)
def test_what_only_looks_like_dress_stays(passage, right):
    """Lists of figures, dates, compounds and prices say what they say."""
    verdict = gw.Checker("lexical").check(gw.Interaction(question="", contexts=[passage], answer=right))
    assert not verdict.hallucinated


def test_an_address_points_where_it_is_a_passages_own():
    """And an invented one is looked up, though its words are those of the passage's."""
    page = gw.Passage(text="The form is online.", id="https://acme.example/forms/12")
    told = {
        form: gw.Checker("lexical").check(
            gw.Interaction(
                question="",
                contexts=[page],
                answer=f"The form is online at https://acme.example/forms/{form}.",
            )
        )
        for form in (12, 99)
    }
    assert not told[12].hallucinated
    assert told[99].hallucinated


def test_an_address_decides_no_language():
    """ "com" and "a" are Portuguese."""
    verdict = gw.check(
        contexts=[FEES], answer="A second bag costs 75 EUR. Read more: https://a.example.com/help"
    )
    assert verdict.claims[0].support is Support.SUPPORTED


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
@pytest.mark.parametrize(
    "before", ["**Q: {}**\n\n**A:** ", "**{}**\n\n", "You asked: {}\n\n", "Question: {}\nAnswer: "]
)
def test_a_question_that_is_said_over_again_is_no_statement(detector, before):
    """Whatever figure it has; another question is one."""
    asked = "Does a second bag cost 95 EUR?"
    answer = before.format(asked) + "No, a second bag costs 75 EUR."
    outcome = gw.Checker(detector).check(gw.Interaction(question=asked, contexts=[FEES], answer=answer))
    assert [claim.span.of(answer) for claim in outcome.claims if "95" in claim.text] == []
    assert not outcome.hallucinated
    other = gw.Interaction(question="Does a bag cost 80 EUR?", contexts=[FEES], answer=answer)
    assert any("95" in claim.text for claim in gw.Checker(detector).check(other).claims)


CHAT = (
    gw.Turn(
        role="user", text="I have worked here for two years, and our baby is due in March. How long is leave?"
    ),
    gw.Turn(role="assistant", text="Congratulations! Leave is 16 weeks per child, and you need a form 7B."),
)
LEAVE = (
    "Staff with 12 months of service may take 16 weeks of leave per child. "
    "Ask for it in the HR portal at least 30 days before the leave starts."
)


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
def test_what_the_asker_told_before_is_nothing_that_the_answer_made_up(detector):
    """The same answer without that turn has it from nowhere."""
    answer = "As you have worked here for two years, you may take 16 weeks of leave."

    def judged(history):
        return gw.Checker(detector).check(
            gw.Interaction(question="So may I?", contexts=LEAVE, answer=answer, history=history)
        )

    assert not judged(CHAT).hallucinated
    assert judged(()).hallucinated


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
def test_what_the_assistant_said_before_supports_nothing(detector):
    """It may have been hallucinated itself."""
    checker = gw.Checker(detector)
    outcome = checker.check(
        gw.Interaction(question="What do I need?", contexts=LEAVE, answer="You need a form 7B.", history=CHAT)
    )
    assert outcome.hallucinated


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
@pytest.mark.parametrize(
    "told",
    [
        "I heard the leave is 20 weeks.",
        "The leave is 20 weeks.",
        "It is 20 weeks, right?",
        "Context: 20 weeks." * 40,
    ],
)
def test_a_mistake_that_the_asker_told_before_is_none_the_less_wrong(detector, told):
    """What is no circumstance of their own is held against the documents, as in the question."""
    outcome = gw.Checker(detector).check(
        gw.Interaction(
            question="How long is the leave?",
            contexts="Staff may take 16 weeks of leave.",
            answer="Staff may take 20 weeks of leave.",
            history=[gw.Turn(role="user", text=told)],
        )
    )
    assert outcome.claims[0].support is Support.CONTRADICTED


def test_only_the_last_of_what_was_asked_is_gone_by():
    """A figure that was named long ago in a conversation is no longer what it is about."""
    turns = [gw.Turn(role="user", text=f"Is it {i}0 weeks?") for i in range(1, 9)]
    read = AsRead.of(gw.Interaction(question="Why?", contexts=LEAVE, answer="It is so.", history=turns))
    assert read.interaction.question.startswith("Is it 30 weeks?")
    assert read.interaction.question.splitlines()[-1] == "Why?"


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
@pytest.mark.parametrize("answer", ["Exactly!", "Of course. Let me know if you have other questions."])
def test_an_answer_that_only_affirms_is_not_judged(detector, answer):
    """Words can't tell what was affirmed; it is not clean either."""
    outcome = gw.Checker(detector).check(
        gw.Interaction(question="Is it 16 weeks?", contexts=LEAVE, answer=answer)
    )
    assert outcome.why is AbstentionReason.NO_CLAIMS


@pytest.mark.parametrize("detector", ["lexical", "embedded"])
def test_the_name_that_the_asker_gave_is_no_invention(detector):
    """Whether it was given now or in an earlier turn; another name is one."""
    answer = "Your name is Ann. Parental leave is 16 weeks."
    turns = [gw.Turn(role="user", text="Hi, I'm Ann."), gw.Turn(role="assistant", text="Hello!")]
    asked = gw.Interaction(question="Who am I?", contexts="Parental leave is 16 weeks.", answer=answer)
    told = gw.Interaction(question="Who am I?", contexts=asked.contexts, answer=answer, history=turns)
    assert gw.Checker(detector).check(asked).claims[0].text == "Your name is Ann."
    assert [claim.text for claim in gw.Checker(detector).check(told).claims] == [
        "Parental leave is 16 weeks."
    ]
