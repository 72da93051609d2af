"""Outcomes for the tests of the monitor, as a detector gives them."""

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
    Usage,
    Verdict,
)

DETECTOR = DetectorSpec(name="told", version="1", parameters={"a": 1})


def interaction(n=0, *, answer="A bag costs 75 EUR.", question=None, **metadata):
    return Interaction(
        question=f"What does bag {n} cost?" if question is None else question,
        contexts=[Passage(text="A bag costs 25 EUR.", id="bags", metadata={"page": 3}, score=0.5)],
        answer=answer,
        metadata=metadata,
    )


def verdict(score=0.9, *, detector=DETECTOR, seconds=0.01, cost=None, **fields):
    claims = ()
    if score >= 0.5:
        claims = (
            Claim(
                text="A bag costs 75 EUR.",
                span=Span(0, 19),
                support=Support.CONTRADICTED,
                score=score,
                words=(Span(12, 18),),
                evidence=(Evidence(passage=0, span=Span(12, 18), quote="25 EUR"),),
            ),
        )
    return Verdict.graded(
        score,
        Grading(threshold=0.5),
        detector=detector,
        claims=claims,
        usage=Usage(calls=1, input_tokens=10, output_tokens=5, seconds=seconds, cost=cost),
        **fields,
    )


def abstention(why=AbstentionReason.NO_CONTEXT):
    return Abstention(why=why, detail="nothing there", detector=DETECTOR)


def keep(store, *scores, **metadata):
    """Keep one outcome a score, None for an abstention; their ids, once they are committed."""
    ids = [
        store.keep(interaction(n, **metadata), abstention() if score is None else verdict(score))
        for n, score in enumerate(scores)
    ]
    assert store.flush(30)
    return ids
