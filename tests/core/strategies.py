"""Hypothesis strategies for outcomes: any that can be built, no others."""

from hypothesis import strategies as st

from groundwire import (
    Abstention,
    AbstentionReason,
    Claim,
    DetectorSpec,
    Evidence,
    Grading,
    Kind,
    Span,
    Support,
    Usage,
    Verdict,
)
from groundwire.core.claim import Vote
from groundwire.core.verdict import Degraded, Recommendation, Route, StageReport, Step

# Lone surrogates are mapped to U+FFFD on the wire, so text that must round-trip has none.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
scores = st.floats(0, 1)


@st.composite
def spans_in(draw, text, min_size=0):
    start = draw(st.integers(0, len(text) - min_size))
    return Span(start, draw(st.integers(start + min_size, len(text))))


@st.composite
def evidence(draw):
    passage = draw(texts)
    span = draw(spans_in(passage))
    return Evidence(passage=draw(st.integers(0, 50)), span=span, quote=span.of(passage))


votes = st.builds(
    Vote, oracle=texts, support=st.sampled_from(Support), confidence=st.none() | st.floats(0, 1)
)


@st.composite
def claims(draw, supports=tuple(Support)):
    text = draw(texts)
    start = draw(st.integers(0, 1000))
    support = draw(st.sampled_from(supports))
    words = draw(st.lists(spans_in(text), max_size=3)) if support.flagged else []
    return Claim(
        text=text,
        span=Span(start, start + len(text)),
        support=support,
        score=None if support is Support.UNVERIFIED else draw(scores),
        evidence=tuple(draw(st.lists(evidence(), max_size=2))),
        words=tuple(word.shifted(start) for word in words),
        reason=draw(texts),
        statement=draw(texts),
        votes=tuple(draw(st.lists(votes, max_size=3))),
    )


@st.composite
def gradings(draw):
    medium, threshold, high = sorted(draw(st.tuples(scores, scores, scores)))
    return Grading(threshold=threshold, medium=medium, high=high)


specs = st.builds(
    DetectorSpec,
    name=texts,
    version=texts,
    parameters=st.dictionaries(texts, st.none() | st.booleans() | st.integers() | texts, max_size=3),
)
usages = st.builds(
    Usage,
    calls=st.integers(0, 9),
    input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**6),
    seconds=st.floats(0, 1e6),
    cost=st.none() | st.floats(0, 1e6),
    cached_tokens=st.integers(0, 10**6),
    saved_tokens=st.integers(0, 10**6),
)
routes = st.builds(
    Route,
    decided=texts,
    stages=st.lists(
        st.builds(
            StageReport,
            stage=texts,
            step=st.sampled_from(Step),
            score=st.none() | scores,
            detail=texts,
        ),
        max_size=2,
    ).map(tuple),
    spared=usages,
)
advice = {
    "recommendation": st.none() | st.sampled_from(Recommendation),
    "route": st.none() | routes,
}


@st.composite
def verdicts(draw):
    grading = draw(gradings())
    score = draw(scores)
    supports = tuple(Support) if score >= grading.threshold else tuple(set(Support) - {Support.UNVERIFIED})
    return Verdict.graded(
        score,
        grading,
        raw=draw(st.none() | st.floats(allow_nan=False, allow_infinity=False)),
        detector=draw(specs),
        claims=tuple(draw(st.lists(claims(supports=supports), max_size=3))),
        kind=draw(st.none() | st.sampled_from(Kind)),
        reason=draw(texts),
        usage=draw(usages),
        id=draw(st.none() | texts.filter(bool)),
        degraded=draw(st.none() | st.builds(Degraded, detector=specs, reason=texts)),
        **{name: draw(one) for name, one in advice.items()},
    )


abstentions = st.builds(
    Abstention,
    why=st.sampled_from(AbstentionReason),
    detail=texts,
    detector=st.none() | specs,
    usage=usages,
    id=st.none() | texts.filter(bool),
    **advice,
)
outcomes = verdicts() | abstentions
