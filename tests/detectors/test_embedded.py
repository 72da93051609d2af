"""Which claims the embedded detector has read, and what becomes of those that it hasn't."""

from __future__ import annotations

import pytest

from groundwire import Interaction, Verdict
from groundwire.core.claim import Support
from groundwire.core.plan import Encode, ReadClaim, Reading, ReadWord
from groundwire.detectors import embedded_model, lexical_model
from groundwire.detectors.as_read import AsRead
from groundwire.detectors.embedded import Embedded, without_known
from groundwire.detectors.opening import Opened, opened
from groundwire.local.embedded import READER
from groundwire.text import tokens
from tests.detectors.told import verdict_of

NO = Reading(supported=0.1, unsupported=0.8, contradicted=0.1)

HANDBOOK = (
    "The library opens at 9:00 and closes at 17:00. Members may borrow five books. Late returns cost "
    "50 cents a day. The reading room has 40 seats. Dogs are not allowed inside. The café on the first "
    "floor sells soup, cake and coffee. A lost card is replaced for 5 EUR."
)


def steps(answer: str, *contexts: str) -> tuple[list[Encode], Verdict]:
    """What the encoder is asked for an answer, and the verdict."""
    plan = Embedded().detect(Interaction(question="", contexts=contexts, answer=answer))
    asked: list[Encode] = []
    try:
        requests = next(plan)
        while True:
            asked += requests
            requests = plan.send(READER.read(requests))
    except StopIteration as end:
        return asked, end.value


def test_nothing_is_read_where_words_settle_everything():
    """The answer copies the document; nobody has to load or ask an encoder for that."""
    asked, verdict = steps("Members may borrow five books. The reading room has 40 seats.", HANDBOOK)
    assert asked == []
    assert not verdict.hallucinated
    assert all(claim.evidence for claim in verdict.claims)


SAFE = (
    "The library closes at 17:00 and opens at 9:00. Five books members may borrow. A day costs 50 cents "
    "for late returns. The room for reading has 40 seats. Inside, dogs are not allowed. The first floor "
    "café sells cake, soup and coffee."
)


def test_beside_a_short_context_all_claims_are_read():
    """All of it is in sight, and that words were found there is no safety."""
    (request,), _ = steps(SAFE, HANDBOOK)
    assert request.claims == request.stated
    assert len(request.claims) == 6


def test_of_many_safe_claims_beside_a_long_context_the_most_suspicious_is_read():
    """And the rest is judged by words and facts, with their evidence as ever."""
    answer = SAFE
    context = HANDBOOK + " The cellar keeps maps of the harbour and of its quays." * 30
    first = opened(AsRead.of(Interaction(question="", contexts=(context,), answer=answer)), Embedded())
    assert isinstance(first, Opened)
    lexical = lexical_model.load().weigh(first.seen)
    safe = [i for i, odds in enumerate(lexical.odds) if odds < embedded_model._DOUBTED]
    asked, verdict = steps(answer, context)
    (request,) = asked
    assert len(request.stated) == len(verdict.claims) == 6
    assert 1 <= len(request.claims) < 6
    unread = [i for i, span in enumerate(request.stated) if span not in request.claims]
    assert set(unread) <= set(safe)
    worst = max(range(6), key=lambda i: lexical.odds[i])
    assert request.stated[worst] in request.claims
    for i in unread:
        assert verdict.claims[i].support in (Support.SUPPORTED, Support.INFERRED)
        assert verdict.claims[i].evidence


def test_of_an_answer_of_a_few_claims_beside_a_long_context_all_are_read():
    """The worst of a few readings tells something, and that of many little."""
    answer = ". ".join(SAFE.split(". ")[:3]) + "."
    context = HANDBOOK + " The cellar keeps maps of the harbour and of its quays." * 30
    (request,), _ = steps(answer, context)
    assert len(request.claims) == len(request.stated) == 3


def test_whatever_is_in_doubt_is_read():
    answer = "It has a pool on the roof. Concerts are held by candlelight. Poets live in the cellar."
    (request,), verdict = steps(answer, HANDBOOK)
    assert request.claims == request.stated
    assert verdict.hallucinated


def test_what_settled_itself_is_never_read_and_still_tells_its_words():
    """A bare figure that no document has stands as an error by itself."""
    answer = "42 million. It has a pool on the roof."
    (request,), verdict = steps(answer, HANDBOOK)
    assert [span.of(answer) for span in request.claims] == ["It has a pool on the roof."]
    assert [span.of(answer) for span in verdict.claims[0].words] == ["42 million"]


def test_what_the_documents_deny_in_the_same_words_is_flagged():
    """All other words stand in them, which is no evidence for the one that turns it round."""
    context = "The council rejected the plan to widen the harbour road. " + HANDBOOK
    answer = "The council adopted the plan to widen the harbour road."
    _, verdict = steps(answer, context)
    (claim,) = verdict.claims
    assert verdict.hallucinated
    assert claim.support is Support.CONTRADICTED
    assert [span.of(answer) for span in claim.words] == ["adopted"]
    assert not steps(answer.replace("adopted", "rejected"), context)[1].hallucinated


CARD = '{"name": "Casa Verde", "attributes": {"OutdoorSeating": true, "WiFi": "no", "casual": true}}'


@pytest.mark.parametrize(
    ("claim", "context", "restated"),
    [
        ("The ferry takes 90 minutes.", "The ferry takes 1.5 hours.", ["90 minutes"]),
        ("The ferry takes 1.5 hours.", "The ferry takes 1.5 hours, by day.", []),
        ("The ferry takes 80 minutes.", "The ferry takes 1.5 hours.", []),
        ("The ferry takes 1.5 hours.", "The ferry takes 1.5  Hours.", []),
        ("Two bags at 30 EUR each make 60 EUR in total.", "A bag of cement costs 30 EUR.", ["Two", "60 EUR"]),
        ("Casa Verde has outdoor seating.", CARD, ["outdoor seating"]),
        ("Casa Verde has no outdoor seating.", CARD, []),
    ],
)
def test_what_holds_in_another_form_is_left_to_those_who_reckon(claim, context, restated):
    """The encoder, which matches words, would hold it against the claim."""
    first = opened(AsRead.of(Interaction(question="", contexts=(context,), answer=claim)), Embedded())
    assert isinstance(first, Opened)
    (seen,) = first.seen.claims
    assert [span.of(claim) for span in seen.restated] == restated
    words = tuple(ReadWord(span=word.span, reading=NO) for word in tokens.words(claim))
    left = without_known(first.seen, {0: ReadClaim(reading=NO, words=words)})[0]
    assert [word.span for word in words if word not in left.words] == [
        word.span for word in words for span in seen.restated if word.span.overlaps(span)
    ]
    assert left.reading == NO


def test_places_are_those_of_the_answer():
    answer = "It is far. The ferry takes 90 minutes."
    first = opened(
        AsRead.of(Interaction(question="", contexts=("The ferry takes 1.5 hours.",), answer=answer)),
        Embedded(),
    )
    assert isinstance(first, Opened)
    assert [span.of(answer) for span in first.seen.claims[1].restated] == ["90 minutes"]


def test_an_invention_is_no_safer_beside_a_figure_that_holds_in_another_form():
    """And is never said to follow."""
    context = "The ferry to Texel takes 1.5 hours."
    known, converted = (
        steps(f"The ferry to Texel takes {figure} and serves champagne.", context)[1]
        for figure in ("1.5 hours", "90 minutes")
    )
    assert converted.score > known.score - 0.1
    assert converted.claims[0].support is not Support.INFERRED
    assert steps("The ferry to Texel takes 90 minutes.", context)[1].score < 0.1


def test_in_another_language_no_more_is_read_of_a_digest(monkeypatch):
    """What a digest is was learnt of English: elsewhere the most suspicious claim is read, and doubts."""
    monkeypatch.setattr(embedded_model, "to_read", lambda answer, lexical: pytest.fail("as in English"))
    context = "Die Firma wurde 1931 gegründet und hat heute 450 Beschäftigte in vier Städten. " * 30
    (request,), verdict = steps("Die Firma hat 450 Beschäftigte. Sie wurde 1931 gegründet.", context)
    assert request.claims
    assert verdict.claims


HARBOUR = (
    "Ostrand is the largest city of Velland, but Harrow Bay has been its capital since 1911. The harbour of "
    "Harrow Bay was dredged in 1978, and its lighthouse, which Ada Lindqvist had designed, was built by Karl "
    "Brenner a year later. It is forty metres high and can be seen from the far side of the sound. Tickets "
    "are sold at the kiosk by the pier; in summer visitors may climb the tower, but dogs must stay outside."
)


def about_the_harbour(question: str, answer: str, detector: str = "embedded") -> Verdict:
    return verdict_of(detector, (HARBOUR,), answer, question)


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("In which year was the harbour dredged?", "1978", "1911"),
        ("Who built the lighthouse?", "Karl Brenner", "Ada Lindqvist"),
        ("How high is the lighthouse?", "Forty metres", "A year"),
        ("Which city is the largest?", "Ostrand", "Harrow Bay"),
    ],
)
def test_a_few_words_that_stand_in_a_passage_are_read_as_the_answer_to_their_question(question, right, wrong):
    """That a passage has them is no safety: it may say them of something else."""
    good, bad = (about_the_harbour(question, answer) for answer in (right, wrong))
    assert bad.score > 1.3 * good.score
    assert not good.hallucinated
    assert about_the_harbour(question, wrong, "lexical").score < 0.1


@pytest.mark.parametrize(
    ("question", "invented"),
    [
        ("What is the capital of Velland?", "Melbourne"),
        ("Where are tickets sold?", "Online"),
        ("Where are tickets sold?", "At the post office only"),
        ("When may I climb the tower?", "In winter"),
    ],
)
def test_a_few_words_that_no_passage_has_are_flagged(question, invented):
    assert about_the_harbour(question, invented).hallucinated


def test_words_that_may_be_said_of_something_else_are_not_called_word_for_word():
    verdict = about_the_harbour("How high is the lighthouse?", "A year")
    (claim,) = verdict.claims
    assert not verdict.hallucinated
    assert "may say something else" in claim.reason
