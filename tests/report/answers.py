"""Judged answers to report: one of each kind, with everything an outcome can hold."""

from groundwire import (
    Abstention,
    AbstentionReason,
    Claim,
    DetectorSpec,
    Grading,
    Interaction,
    Passage,
    Span,
    Support,
    Verdict,
)
from groundwire.core.claim import Evidence
from groundwire.report import Entry

SPEC = DetectorSpec(name="scripted", version="1")


def claim(interaction, words, support, *, quote=None, score=None, reason=""):
    """A claim of the answer's sentence that is ``words``, quoting ``quote`` of the first passage."""
    start = interaction.answer.index(words)
    evidence = ()
    if quote is not None:
        at = interaction.contexts[0].text.index(quote)
        evidence = (Evidence.cite(interaction, 0, Span(at, at + len(quote))),)
    return Claim(
        text=words,
        span=Span(start, start + len(words)),
        support=support,
        score=score,
        evidence=evidence,
        reason=reason,
    )


def refund(score=0.93, **fields):
    """A hallucinated answer: one sentence is contradicted and one supported, both with a quote."""
    interaction = Interaction(
        question="What is the fee?",
        contexts=[
            Passage(text="The fee is 25 EUR. Bags are free.", id="fees.md", metadata={"page": 7}, score=0.5),
            "Nothing to see here.",
        ],
        answer="The fee is 75 EUR. Bags are free.",
        id="refund-1",
    )
    claims = (
        claim(
            interaction,
            "The fee is 75 EUR.",
            Support.CONTRADICTED,
            quote="The fee is 25 EUR.",
            score=0.9,
            reason="another amount",
        ),
        claim(interaction, "Bags are free.", Support.SUPPORTED, quote="Bags are free.", score=0.1),
    )
    outcome = Verdict.graded(score, Grading(), detector=SPEC, claims=claims, reason="75 EUR is not 25 EUR")
    return Entry(interaction=interaction, outcome=outcome, **fields)


def plain(score, *, answer="Fine.", question="Is it fine?", **fields):
    """An answer with a score and no claims."""
    return Entry(
        interaction=Interaction(question=question, contexts="It is fine.", answer=answer),
        outcome=Verdict.graded(score, Grading(), detector=SPEC),
        **fields,
    )


def doubted(**fields):
    """An answer in doubt none of whose claims is flagged."""
    interaction = Interaction(contexts="Bags are free. Skis cost 40 EUR.", answer="Bags are free.")
    claims = (claim(interaction, "Bags are free.", Support.SUPPORTED, quote="Bags are free.", score=0.38),)
    reason = "1 of 1 statements may not be supported by the documents."
    outcome = Verdict.graded(0.38, Grading(), detector=SPEC, claims=claims, reason=reason)
    return Entry(interaction=interaction, outcome=outcome, **fields)


def unread(line=7):
    """A row that could not be read."""
    return Entry(
        interaction=None,
        outcome=Abstention(why=AbstentionReason.UNREADABLE_INPUT, detail=f"line {line}: not JSON"),
        name=f"runs.jsonl:{line}",
    )


def no_context(**fields):
    """An answer for which nothing was retrieved."""
    return Entry(
        interaction=Interaction(question="Who?", answer="Somebody."),
        outcome=Abstention(why=AbstentionReason.NO_CONTEXT),
        **fields,
    )
