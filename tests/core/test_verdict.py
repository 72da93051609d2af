"""Verdicts and abstentions: illegal ones can't be built, and none that is unknown reads as clean."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from groundwire import (
    Abstention,
    AbstentionReason,
    Claim,
    DetectorSpec,
    Evidence,
    Grading,
    Interaction,
    Kind,
    Level,
    Span,
    Support,
    Usage,
    Verdict,
    Wording,
)
from groundwire.core.grading import WORDING
from groundwire.core.verdict import Recommendation
from tests.core.strategies import abstentions, claims, gradings, outcomes, scores, verdicts

SPEC = DetectorSpec(name="scripted", version="1")


@pytest.mark.parametrize("score", [-0.1, 1.1, math.nan, math.inf, "0.5", None, True])
def test_a_score_outside_zero_to_one_is_refused(score):
    with pytest.raises(ValueError, match=r"score must be a number in \[0, 1\]"):
        Verdict(score=score, threshold=0.5, level=Level.LOW, detector=SPEC)


@given(scores, gradings())
def test_low_is_never_hallucinated_and_high_always_is(score, grading):
    verdict = Verdict.graded(score, grading, detector=SPEC)
    assert verdict.hallucinated == (score >= grading.threshold)
    assert not (verdict.level is Level.LOW and verdict.hallucinated)
    assert not (verdict.level is Level.HIGH and not verdict.hallucinated)


@given(scores, scores, gradings())
def test_a_worse_score_never_gets_a_milder_level(one, other, grading):
    order = list(Level)
    mild, severe = sorted((one, other))
    assert order.index(grading.level(mild)) <= order.index(grading.level(severe))


@given(scores)
def test_default_cuts_enclose_any_threshold(threshold):
    medium, high = Grading(threshold=threshold).cuts
    assert medium <= threshold <= high


def test_cuts_on_the_wrong_side_of_the_threshold_are_refused():
    with pytest.raises(ValueError, match="must enclose the threshold"):
        Grading(threshold=0.5, medium=0.6)


def test_a_verdict_can_not_hide_a_claim_that_nobody_could_verify():
    unverified = Claim(text="x", span=Span(0, 1), support=Support.UNVERIFIED)
    with pytest.raises(ValueError, match="abstain instead"):
        Verdict.graded(0.1, Grading(), detector=SPEC, claims=(unverified,))


@pytest.mark.parametrize(
    ("support", "score"), [(Support.UNVERIFIED, 0.2), (Support.SUPPORTED, None), (Support.SUPPORTED, 2.0)]
)
def test_a_claim_has_a_score_exactly_when_it_was_verified(support, score):
    with pytest.raises(ValueError, match="score"):
        Claim(text="x", span=Span(0, 1), support=support, score=score)


def test_unsupported_words_lie_inside_a_flagged_claim():
    with pytest.raises(ValueError, match="inside their claim"):
        Claim(text="x", span=Span(0, 1), support=Support.UNSUPPORTED, score=1, words=(Span(1, 2),))
    with pytest.raises(ValueError, match="has no unsupported words"):
        Claim(text="x", span=Span(0, 1), support=Support.SUPPORTED, score=0, words=(Span(0, 1),))


def test_a_flagged_claim_that_names_no_words_means_all_of_them():
    claim = Claim(text="abc", span=Span(2, 5), support=Support.CONTRADICTED, score=1)
    assert claim.words == (Span(2, 5),)


def test_evidence_quotes_the_passage_to_the_letter():
    interaction = Interaction(answer="a", contexts=["The fee is 25 EUR."])
    assert Evidence.cite(interaction, 0, Span(4, 7)).quote == "fee"
    with pytest.raises(ValueError, match="reaches past"):
        Evidence.cite(interaction, 0, Span(4, 99))
    with pytest.raises(ValueError, match="can't fill"):
        Evidence(passage=0, span=Span(0, 3), quote="four")


@given(verdicts())
def test_spans_are_the_words_of_the_flagged_claims_in_order(verdict):
    named = {i for c in verdict.claims for w in c.words for i in range(w.start, w.end)}
    assert {i for span in verdict.spans for i in range(span.start, span.end)} == named


@given(claims())
def test_only_flagged_claims_have_unsupported_words(claim):
    assert not claim.words or claim.support.flagged


@given(abstentions)
def test_an_abstention_is_never_a_number_and_never_grounded(abstention):
    assert abstention.score is abstention.hallucinated is abstention.level is None
    assert abstention.grounded is False
    assert abstention.why in abstention.reason


def test_an_outcome_is_printed_by_what_it_says():
    near = Verdict.graded(0.3699, Grading(threshold=0.37), detector=SPEC)
    assert str(near) == "YELLOW 0.3699: May not be fully supported"
    assert str(replace(near, reason="No document says so.")) == "YELLOW 0.3699: No document says so."
    nothing = Abstention(why=AbstentionReason.NO_CONTEXT, detail="nothing was retrieved")
    assert str(nothing) == "NOT JUDGED NO_CONTEXT: nothing was retrieved"


@given(outcomes)
def test_grounded_means_judged_and_not_hallucinated(outcome):
    assert outcome.grounded == (outcome.hallucinated is False)


def test_regrading_changes_the_reading_and_keeps_the_judgement():
    verdict = Verdict.graded(0.4, Grading(), detector=SPEC, reason="because")
    strict = Grading(threshold=0.3, wording={Level.MEDIUM: Wording(label="AMBER", title="t", warning="w")})
    again = verdict.regraded(strict)
    assert (again.score, again.reason) == (0.4, "because")
    assert again.hallucinated
    assert again.wording.label == "AMBER"


def test_words_of_a_level_that_stays_are_kept_unless_there_are_others():
    own = Wording(label="OWN", title="t", warning="w")
    verdict = Verdict.graded(0.4, Grading(wording={Level.MEDIUM: own}), detector=SPEC)
    assert verdict.regraded(Grading(threshold=0.35)).wording is own
    assert verdict.regraded(Grading(threshold=0.9)).wording == WORDING[Level.LOW]


@pytest.mark.parametrize(
    ("score", "threshold", "given", "expected"),
    [
        (0.3, 0.2, Recommendation.RETURN, Recommendation.RETRIEVE),
        (0.6, 0.8, Recommendation.RETRIEVE, Recommendation.RETURN),
        (0.6, 0.55, Recommendation.RETURN, Recommendation.RETURN),
        (0.3, 0.2, Recommendation.REVIEW, Recommendation.REVIEW),
        (0.3, 0.2, None, None),
    ],
)
def test_another_threshold_moves_the_recommendation_with_the_verdict(score, threshold, given, expected):
    """A flag of the reader's own is not to be returned; a detector's advice within its own flags stands."""
    verdict = Verdict.graded(score, Grading(), detector=SPEC, recommendation=given)
    assert verdict.regraded(Grading(threshold=threshold)).recommendation is expected


def _claim(support):
    scored = {"score": None if support is Support.UNVERIFIED else 0.9 if support.flagged else 0.1}
    return Claim(text="x", span=Span(0, 1), support=support, **scored)


@pytest.mark.parametrize(
    ("supports", "kind"),
    [
        ([], None),
        ([Support.SUPPORTED, Support.INFERRED], None),
        ([Support.UNSUPPORTED], Kind.CONTEXT_CONFLICTING),
        ([Support.CONTRADICTED, Support.UNVERIFIED], Kind.CONTEXT_CONFLICTING),
        ([Support.CONTRADICTED, Support.SUPPORTED], Kind.PARTIALLY_CORRECT),
        ([Support.INFERRED, Support.UNSUPPORTED], Kind.PARTIALLY_CORRECT),
    ],
)
def test_the_claims_tell_the_kind_unless_the_method_does(supports, kind):
    claims_ = tuple(map(_claim, supports))
    assert Verdict.graded(1.0, Grading(), detector=SPEC, claims=claims_).kind is kind
    told = Verdict.graded(1.0, Grading(), detector=SPEC, claims=claims_, kind=Kind.IRRELEVANT)
    assert told.kind is Kind.IRRELEVANT


def test_usage_adds_up_and_keeps_an_unknown_price_unknown():
    assert (Usage(calls=1, cost=None) + Usage(calls=2, cost=None)).cost is None
    total = Usage(calls=1, input_tokens=10, seconds=0.5, cost=0.0) + Usage(calls=2, cost=0.25)
    assert total == Usage(calls=3, input_tokens=10, seconds=0.5, cost=0.25)


def test_a_fingerprint_changes_with_any_parameter():
    base = DetectorSpec(name="a", version="1", parameters={"k": 1})
    changed = [
        DetectorSpec(name="b", version="1", parameters={"k": 1}),
        DetectorSpec(name="a", version="2", parameters={"k": 1}),
        DetectorSpec(name="a", version="1", parameters={"k": 2}),
    ]
    assert len({base.fingerprint, *(spec.fingerprint for spec in changed)}) == 4
    assert base.fingerprint == DetectorSpec(name="a", version="1", parameters={"k": 1}).fingerprint


def test_reasons_are_the_documented_ones():
    assert [str(reason) for reason in AbstentionReason] == [
        "NO_CONTEXT",
        "NO_CLAIMS",
        "UNREADABLE_INPUT",
        "UNREADABLE_REPLY",
        "MODEL_FAILED",
        "TIMEOUT",
        "UNAVAILABLE",
        "OVER_BUDGET",
        "NOT_SAMPLED",
        "PARTIAL_ANSWER",
    ]
    assert str(Abstention(why=AbstentionReason.TIMEOUT, detail="30 s").reason) == "TIMEOUT: 30 s"


@pytest.mark.parametrize(
    ("one", "other", "cost"),
    [
        (Usage(calls=1, cost=0.5), Usage(calls=1, cost=0.25), 0.75),
        (Usage(calls=1, cost=0.5), Usage(calls=1), None),
        (Usage(calls=1, cost=0.5), Usage(), 0.5),
        (Usage(), Usage(), None),
    ],
)
def test_a_cost_that_is_known_in_part_is_not_known(one, other, cost):
    assert (one + other).cost == (other + one).cost == cost


@given(outcomes)
def test_what_is_frozen_can_be_a_key(outcome):
    assert {outcome: 1}[outcome] == 1
    assert {Grading(wording=dict(WORDING)): 1}[Grading(wording=dict(WORDING))] == 1


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16, int])
def test_a_score_of_any_kind_of_number_is_kept_as_a_plain_one(kind):
    """What computes in another precision need not know how outcomes are written."""
    verdict = Verdict.graded(kind(1), Grading(threshold=kind(1)), detector=SPEC)
    claim = Claim(text="a", span=Span(0, 1), support=Support.UNSUPPORTED, score=kind(1))
    assert {type(one) for one in (verdict.score, verdict.threshold, claim.score)} == {float}
    assert verdict.hallucinated is True
