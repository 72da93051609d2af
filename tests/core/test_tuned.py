"""A tuning: how a verdict is read by it, and that it tells whose scores it reads."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from groundwire import Abstention, AbstentionReason, Grading, Support, Verdict
from groundwire.core import aggregation
from groundwire.core.aggregation import AnyUnsupported, Fraction, LengthWeighted, WorstK
from groundwire.core.calibration import Isotonic, Platt, Temperature
from groundwire.core.tuned import Labels, Origin, Tuned
from tests.core.strategies import gradings, scores, verdicts

ORIGIN = Origin(
    detector="judge",
    version="1",
    parameters={"claims_per_call": 40, "turns": 6},
    cuts=(0.3, 0.5, 0.7),
    prompts={"judge": "1"},
    model="m",
)
LABELS = Labels(fingerprint="0" * 16, answers=100, hallucinated=40, groups=50)
calibrations = st.one_of(
    st.none(),
    st.builds(Platt, slope=st.floats(0.1, 20), intercept=st.floats(-10, 10)),
    st.builds(Temperature, temperature=st.floats(0.3, 10)),
    st.just(Isotonic(raws=(0.0, 0.4, 1.0), probabilities=(0.1, 0.3, 0.9))),
)


def tuned(**fields):
    return Tuned(origin=ORIGIN, target="f1", labels=LABELS, **{"grading": Grading(), **fields})


@given(verdicts(), calibrations, gradings())
def test_a_verdict_is_flagged_exactly_from_the_threshold_on(verdict, calibration, grading):
    one = tuned(grading=grading, calibration=calibration)
    expected = verdict.score if calibration is None else calibration(verdict.score)
    read = one.read(verdict)
    if isinstance(read, Abstention):
        assert any(claim.support is Support.UNVERIFIED for claim in verdict.claims)
        assert expected < grading.threshold
        return
    assert read.score == expected
    assert read.threshold == grading.threshold
    assert read.hallucinated == (expected >= grading.threshold)
    assert read.level == grading.level(expected)
    assert read.claims == verdict.claims


@given(verdicts(), verdicts(), calibrations, gradings())
def test_of_two_verdicts_the_higher_score_stays_the_higher(one, other, calibration, grading):
    reading = tuned(grading=grading, calibration=calibration)
    assume(one.score <= other.score)
    low, high = reading.read(one), reading.read(other)
    if isinstance(low, Verdict) and isinstance(high, Verdict):
        assert low.score <= high.score


@given(verdicts(), st.sampled_from([AnyUnsupported(), Fraction(), LengthWeighted(), WorstK(k=2)]))
def test_a_rule_reads_the_claims_and_abstains_where_none_has_a_score(verdict, rule):
    read = tuned(aggregation=rule).read(verdict)
    expected = rule(verdict.claims)
    if expected is None:
        assert read.why is AbstentionReason.NO_CLAIMS
    elif isinstance(read, Verdict):
        assert read.score == read.raw == expected


@given(verdicts(), gradings())
def test_a_reading_tells_what_it_is_and_where_it_decides_otherwise(verdict, grading):
    one = tuned(grading=grading)
    read = one.read(verdict)
    assert read.detector.parameters["tuned"] == one.fingerprint
    assert read.detector.name == verdict.detector.name
    if isinstance(read, Verdict):
        assert ("its tuning" in read.reason) >= (read.hallucinated is not verdict.hallucinated)
        assert read.raw == verdict.raw


@given(scores, scores)
def test_the_fingerprint_changes_with_whatever_decides(one, other):
    first = tuned(grading=Grading(threshold=one))
    assert first.fingerprint == replace(first, warnings=("other words",), target="recall>=0.9").fingerprint
    assert (first.fingerprint == tuned(grading=Grading(threshold=other)).fingerprint) == (one == other)
    assert first.fingerprint != replace(first, calibration=Temperature(temperature=2.0)).fingerprint
    assert first.fingerprint != replace(first, aggregation=Fraction()).fingerprint
    assert first.fingerprint != replace(first, origin=replace(ORIGIN, model="n")).fingerprint


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({}, []),
        ({"detector": "level"}, ["detector 'judge' then, 'level' now"]),
        ({"version": "2"}, ["version '1' then, '2' now"]),
        (
            {"parameters": {"claims_per_call": 20, "turns": 6}},
            ["parameter 'claims_per_call' 40 then, 20 now"],
        ),
        (
            {"parameters": {"turns": 6, "more": 1}},
            ["parameter 'claims_per_call' 40 then, absent now", "parameter 'more' absent then, 1 now"],
        ),
        ({"prompts": {"judge": "2"}}, ["prompt 'judge' '1' then, '2' now"]),
        ({"model": "n"}, ["model 'm' then, 'n' now"]),
        ({"embeddings": "abc"}, ["embedding model '' then, 'abc' now"]),
        ({"parts": {"lexical": "2"}}, ["version of the part 'lexical' absent then, '2' now"]),
        ({"cuts": (0.2, 0.4, 0.6)}, ["the detector's own cuts [0.3, 0.5, 0.7] then, [0.2, 0.4, 0.6] now"]),
    ],
)
def test_all_that_differs_is_told(now, told):
    assert ORIGIN.differences(replace(ORIGIN, **now)) == told


@pytest.mark.parametrize("rule", [AnyUnsupported(), Fraction(), LengthWeighted(), WorstK(k=3)])
def test_a_rule_is_the_same_after_it_was_written_and_read(rule):
    assert aggregation.from_dict(aggregation.to_dict(rule)) == rule


@pytest.mark.parametrize(
    ("given_", "message"),
    [({"kind": "mean"}, "unknown aggregation rule 'mean'"), ({"kind": "fraction", "k": 2}, "can't be read")],
)
def test_what_is_no_rule_is_refused(given_, message):
    with pytest.raises(ValueError, match=message):
        aggregation.from_dict(given_)


def test_a_further_model_that_was_exchanged_is_told_and_tunings_without_one_keep_their_fingerprint():
    one, other = (replace(ORIGIN, models={"second": name}) for name in ("m2", "m3"))
    assert one.differences(other) == ["further model 'second' 'm2' then, 'm3' now"]
    assert tuned().fingerprint == "08668bbc6b9df3f9"
    assert replace(tuned(), origin=one).fingerprint != replace(tuned(), origin=other).fingerprint
