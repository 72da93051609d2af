"""Answers for the tests of the review page, as a detector judges them."""

from groundwire import (
    Abstention,
    AbstentionReason,
    Claim,
    DetectorSpec,
    Evidence,
    Grading,
    Interaction,
    Passage,
    Span,
    Support,
    Verdict,
)

SPEC = DetectorSpec(name="shown", version="1")
ANSWER = "A second bag costs 75 EUR 🧳. You may bring 👩‍🚀 gear of up to 8 kg. Bags are free."
FILLER = "\n".join(f"Line {n} says nothing of bags." for n in range(60))
PASSAGES = (
    Passage(text=f"{FILLER}\nA second bag costs 25 EUR.\n{FILLER}", id="bags.md", score=0.5),
    Passage(text="Cabin bags are free.", id="cabin.md", metadata={"page": 3}),
)


def claim(answer, words, support, *, evidence=(), score=0.9, marked=None):
    start = answer.index(words)
    at = None if marked is None else answer.index(marked)
    return Claim(
        text=words,
        span=Span(start, start + len(words)),
        support=support,
        score=score,
        evidence=evidence,
        words=() if at is None else (Span(at, at + len(marked)),),
        reason="another amount" if support.flagged else "",
    )


def quote(passages, number, words):
    at = passages[number].text.index(words)
    return Evidence(passage=number, span=Span(at, at + len(words)), quote=words)


def bags(**metadata):
    """A hallucinated answer with emoji before and after what is marked; one claim's quote is far down."""
    interaction = Interaction(
        question="What does a second bag cost?", contexts=PASSAGES, answer=ANSWER, metadata=metadata
    )
    claims = (
        claim(
            ANSWER,
            "A second bag costs 75 EUR 🧳.",
            Support.CONTRADICTED,
            evidence=(quote(PASSAGES, 0, "A second bag costs 25 EUR."),),
            marked="75 EUR",
        ),
        claim(
            ANSWER, "You may bring 👩‍🚀 gear of up to 8 kg.", Support.UNSUPPORTED, score=0.6, marked="8 kg"
        ),
        claim(
            ANSWER,
            "Bags are free.",
            Support.SUPPORTED,
            evidence=(quote(PASSAGES, 1, "Cabin bags are free."),),
            score=0.1,
        ),
    )
    verdict = Verdict.graded(0.9, Grading(), detector=SPEC, claims=claims, reason="75 EUR is not 25 EUR")
    return interaction, verdict


def plain(score=0.1, *, answer="Fine.", question="Is it fine?", detector=SPEC, **metadata):
    interaction = Interaction(question=question, contexts="It is fine.", answer=answer, metadata=metadata)
    return interaction, Verdict.graded(score, Grading(), detector=detector)


def unjudged(why=AbstentionReason.NO_CONTEXT, detail="nothing was retrieved"):
    return Interaction(question="Who?", answer="Somebody."), Abstention(why=why, detail=detail)


def unread():
    return None, Abstention(why=AbstentionReason.UNREADABLE_INPUT, detail="line 7: not JSON")


def keep(store, *judged):
    """Keep outcomes; their ids, once they are committed. The first is the oldest."""
    ids = [store.keep(interaction, outcome) for interaction, outcome in judged]
    assert store.flush(30)
    return ids
