"""The wire format: one plain dict, safe for any store, that reads back as what it was."""

import copy
import functools
import json
import math
from decimal import Decimal
from enum import Enum
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import (
    Abstention,
    AbstentionReason,
    Claim,
    DetectorSpec,
    Evidence,
    Grading,
    Span,
    Support,
    Usage,
    Verdict,
)
from groundwire.core import wire
from groundwire.core.aggregation import WorstK
from groundwire.core.claim import Vote
from groundwire.core.plain import plain
from groundwire.core.verdict import Degraded, Route, StageReport, Step
from tests.core.strategies import abstentions, outcomes, verdicts

KEYS = [
    "version",
    "status",
    "score",
    "raw",
    "threshold",
    "hallucinated",
    "level",
    "label",
    "title",
    "warning",
    "kind",
    "reason",
    "abstention",
    "claims",
    "spans",
    "detector",
    "usage",
    "id",
    "recommendation",
    "route",
    "degraded",
]


@given(outcomes)
def test_an_outcome_survives_the_trip_through_json(outcome):
    assert wire.decode(json.loads(json.dumps(outcome.to_dict(), allow_nan=False))) == outcome


@given(outcomes)
def test_every_outcome_has_the_same_keys(outcome):
    assert list(outcome.to_dict()) == KEYS


@given(verdicts())
def test_a_verdict_is_told_as_checked_with_its_level_and_words(verdict):
    data = verdict.to_dict()
    assert data["status"] == "checked"
    assert data["hallucinated"] is verdict.hallucinated
    assert data["label"] == verdict.wording.label
    assert [claim["support"] for claim in data["claims"]] == [c.support.value for c in verdict.claims]


@given(abstentions)
def test_an_abstention_is_told_as_such_without_any_number(abstention):
    data = abstention.to_dict()
    assert data["status"] == "abstained"
    assert data["abstention"] == abstention.why
    assert data["score"] is data["hallucinated"] is data["level"] is data["label"] is None


def test_lone_surrogates_become_valid_text_of_the_same_length():
    text = "fee \ud83d 25"
    claim = Claim(text=text, span=Span(0, len(text)), support=Support.UNSUPPORTED, score=1.0)
    verdict = Verdict.graded(1.0, Grading(), detector=DetectorSpec(name="x", version="1"), claims=(claim,))
    sent = verdict.to_dict()["claims"][0]["text"]
    sent.encode("utf-8")
    assert len(sent) == len(text)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"version": 2}, "version 1, not 2"),
        ({}, "not None"),
        ({"version": 1, "status": "pending", "detector": None, "usage": {}}, "nothing to read yet"),
    ],
)
def test_what_is_no_finished_outcome_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        wire.decode(data)


class _Colour(Enum):
    RED = "red"


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text()
        | st.binary()
        | st.just(_Colour.RED),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner),
    )
)
def test_any_parameter_can_be_told_in_plain_json(value):
    told = json.dumps(plain(value), allow_nan=False)
    told.encode("utf-8")
    assert json.dumps(plain(json.loads(told)), allow_nan=False) == told


def test_a_detector_that_was_read_has_the_fingerprint_of_the_one_that_judged():
    parameters = {"aggregation": WorstK(k=3), "colour": _Colour.RED, "kinds": {2, 1}, "pair": (0.5, math.inf)}
    spec = DetectorSpec(name="a", version="1", parameters=parameters)
    outcome = Abstention(why=AbstentionReason.TIMEOUT, detail="", detector=spec)
    assert wire.decode(json.loads(json.dumps(wire.encode(outcome)))).detector.fingerprint == spec.fingerprint


def test_numbers_that_json_lacks_become_null():
    assert plain([math.nan, math.inf, 1.5]) == [None, None, 1.5]


def test_numbers_of_numpy_are_numbers():
    assert json.dumps(plain({"k": np.int64(3), "share": np.float32(0.5)})) == '{"k": 3, "share": 0.5}'


def test_a_number_too_long_to_be_read_again_is_told_as_text():
    assert int(plain(10**5_000), 16) == 10**5_000


@pytest.mark.parametrize(
    "raw",
    [math.nan, math.inf, np.float32(0.5), np.int64(1), Decimal("0.5"), pytest.param(10**5_000, id="long")],
)
def test_whatever_figure_a_detector_of_ones_own_has_its_verdict_can_be_written(raw):
    """A detector may count with numpy, and have an unbounded figure before calibration."""
    span, quote = Span(np.int64(0), np.int64(4)), Span(np.int64(1), np.int64(3))
    evidence = Evidence(passage=np.int64(0), span=quote, quote="ab")
    claim = Claim(text="abcd", span=span, support=Support.UNSUPPORTED, score=0.9, evidence=(evidence,))
    usage = Usage(calls=np.int64(2), cost=math.nan)
    spec = DetectorSpec(name="a", version="1")
    verdict = Verdict.graded(0.9, Grading(), detector=spec, raw=raw, claims=(claim,), usage=usage)
    told = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))
    assert told["spans"] == [{"start": 0, "end": 4}]
    assert told["usage"]["calls"] == 2
    assert wire.decode(told).score == 0.9


def test_a_parameter_that_is_a_value_of_ours_tells_its_kind():
    assert plain({"aggregation": WorstK(k=3)}) == {"aggregation": {"kind": "WorstK", "k": 3}}


def test_what_is_not_judged_yet_says_so_and_reads_as_nothing():
    """A pending outcome is neither clean nor hallucinated, and can't be taken for an outcome."""
    data = json.loads(json.dumps(wire.pending("a\ud800")))
    assert (data["status"], data["id"], data["hallucinated"]) == ("pending", "a\ufffd", None)
    assert data.keys() == wire.encode(Abstention(why=AbstentionReason.NO_CLAIMS)).keys()
    with pytest.raises(ValueError, match="'pending' has nothing to read yet"):
        wire.decode(data)


class Opaque:
    """A parameter that says nothing of itself."""


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (str.split, "builtins.str.split"),
        (Opaque, f"{__name__}.Opaque"),
        (Opaque(), f"{__name__}.Opaque"),
        (json.dumps, "json.dumps"),
        (Decimal("0.10"), "Decimal('0.10')"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
)
def test_a_value_is_told_without_the_place_in_memory_where_it_lies(value, told):
    """It is another in each process, and an outcome's fingerprint would be, too."""
    assert plain(value) == told


TOLD = wire.encode(
    Verdict.graded(
        0.9,
        Grading(),
        detector=DetectorSpec(name="scripted", version="1"),
        claims=(
            Claim(
                text="a",
                span=Span(0, 1),
                support=Support.UNSUPPORTED,
                score=0.9,
                evidence=(Evidence(passage=0, span=Span(0, 1), quote="a"),),
                votes=(Vote(oracle="one", support=Support.SUPPORTED, confidence=0.5),),
            ),
        ),
        route=Route(decided="one", stages=(StageReport(stage="one", step=Step.FLAGGED, score=0.9),)),
        degraded=Degraded(detector=DetectorSpec(name="other", version="1")),
    )
)


def places(value, so_far=()):
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*so_far, key)
        yield from places(value[key], (*so_far, key))


@pytest.mark.parametrize("place", [*places(TOLD)], ids=lambda place: ".".join(map(str, place)))
@pytest.mark.parametrize(
    "wrong", [None, True, -1, 2, 0.5, 10**400, math.inf, math.nan, "x", "", [], [1], {}, {"a": 1}], ids=repr
)
def test_what_is_read_can_be_written_again_or_is_refused(place, wrong):
    """Whoever reads what others wrote meets one error, there, and none where the outcome is shown."""
    told = copy.deepcopy(TOLD)
    *way, last = place
    functools.reduce(lambda part, key: part[key], way, told)[last] = wrong
    try:
        outcome = wire.decode(told)
    except ValueError:
        return
    json.dumps(outcome.to_dict(), allow_nan=False)
    assert hash(outcome) == hash(outcome)
