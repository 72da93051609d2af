"""The encoder detector: its plan with scripted replies, and a checker with a tiny model."""

import pytest

import groundwire as gw
from groundwire import (
    AbstentionReason,
    ConfigurationError,
    Grading,
    Interaction,
    Level,
    Span,
    Support,
)
from groundwire.core.aggregation import Fraction
from groundwire.core.plan import Encode, Encoded, EncoderSetup, Failed, ReadClaim, Reading, ReadWord
from groundwire.detectors.encoder import EncoderDetector

BAGS = "You may bring one bag of up to 8 kg. A second bag costs 25 EUR."
ANSWER = "A second bag costs 75 EUR. One bag is free."
FIRST, SECOND = Span(0, 26), Span(27, 43)
TELLING = {"LABEL_0": "supported", "LABEL_1": "unsupported"}


def reading(supported, contradicted=0.0):
    return Reading(supported=supported, unsupported=1 - supported - contradicted, contradicted=contradicted)


def judged(*claims, **parameters):
    """The outcome on ANSWER of an encoder that reads ``claims``, and what it was asked."""
    plan = EncoderDetector(model="m", **parameters).detect(Interaction(contexts=BAGS, answer=ANSWER))
    (request,) = next(plan)
    with pytest.raises(StopIteration) as stop:
        plan.send([Encoded(claims=claims)])
    return stop.value.value, request


def test_it_asks_for_all_claims_at_once_with_everything_it_was_given():
    interaction = Interaction(question="How much?", contexts=[BAGS, "Skis are free."], answer=ANSWER)
    detector = EncoderDetector(
        model="m", labels=TELLING, max_length=256, prompt="{question} {passages}", device="cuda"
    )
    assert next(detector.detect(interaction)) == [
        Encode(
            answer=ANSWER,
            claims=(FIRST, SECOND),
            passages=(BAGS, "Skis are free."),
            question="How much?",
            model="m",
            setup=EncoderSetup(
                labels=tuple(TELLING.items()), max_length=256, prompt="{question} {passages}", device="cuda"
            ),
        )
    ]


def test_a_claim_is_as_hallucinated_as_it_is_not_supported_and_the_worst_decides():
    outcome, _ = judged(ReadClaim(reading=reading(0.1)), ReadClaim(reading=reading(0.8)))
    assert [claim.score for claim in outcome.claims] == [0.9, pytest.approx(0.2)]
    assert [claim.support for claim in outcome.claims] == [Support.UNSUPPORTED, Support.SUPPORTED]
    assert outcome.score == outcome.raw == 0.9
    assert outcome.hallucinated
    assert outcome.reason == "Not supported: 1 of 2 claims."


def test_a_claim_is_contradicted_where_that_is_likelier_than_no_support():
    outcome, _ = judged(ReadClaim(reading=reading(0.1, 0.7)), ReadClaim(reading=reading(0.3, 0.3)))
    assert [claim.support for claim in outcome.claims] == [Support.CONTRADICTED, Support.UNSUPPORTED]


def test_the_words_that_reach_the_threshold_are_flagged_and_neighbours_are_one():
    words = [(0, 1, 0.9), (2, 8, 0.4), (9, 12, 0.3), (13, 18, 0.8), (19, 21, 0.1)]
    read = ReadClaim(
        reading=reading(0.1),
        words=tuple(ReadWord(span=Span(start, end), reading=reading(s)) for start, end, s in words),
    )
    outcome, _ = judged(read, ReadClaim(reading=reading(0.9)))
    assert outcome.spans == (Span(2, 12), Span(19, 21))


def test_a_flagged_claim_of_which_no_words_are_known_is_flagged_whole():
    outcome, _ = judged(ReadClaim(reading=reading(0.1)), ReadClaim(reading=reading(0.9)))
    assert outcome.spans == (FIRST,)


def test_what_was_read_is_evidence_where_it_supports_or_contradicts():
    evidence = ((0, Span(37, 63)),)
    claims = [
        ReadClaim(reading=reading(0.1, 0.8), evidence=evidence),
        ReadClaim(reading=reading(0.9), evidence=evidence),
    ]
    outcome, _ = judged(*claims)
    quotes = [[one.quote for one in claim.evidence] for claim in outcome.claims]
    assert quotes == [["A second bag costs 25 EUR."]] * 2
    outcome, _ = judged(ReadClaim(reading=reading(0.1), evidence=evidence), claims[1])
    assert outcome.claims[0].evidence == ()


def test_grading_and_aggregation_are_the_users():
    outcome, _ = judged(
        ReadClaim(reading=reading(0.1)),
        ReadClaim(reading=reading(0.8)),
        aggregation=Fraction(),
        grading=Grading(threshold=0.6),
    )
    assert outcome.score == pytest.approx(0.55)
    assert not outcome.hallucinated
    assert outcome.level is Level.MEDIUM


def test_a_failed_request_is_an_abstention_with_its_reason():
    plan = EncoderDetector(model="m").detect(Interaction(contexts=BAGS, answer=ANSWER))
    next(plan)
    with pytest.raises(StopIteration) as stop:
        plan.send([Failed(reason=AbstentionReason.TIMEOUT, detail="too late")])
    assert stop.value.value.why is AbstentionReason.TIMEOUT
    assert stop.value.value.detail == "too late"
    assert stop.value.value.detector.name == "encoder"


@pytest.mark.parametrize(
    ("contexts", "answer", "why"),
    [
        (None, ANSWER, AbstentionReason.NO_CONTEXT),
        ([" "], ANSWER, AbstentionReason.NO_CONTEXT),
        (BAGS, "…", AbstentionReason.NO_CLAIMS),
    ],
)
def test_what_can_not_be_judged_is_an_abstention_and_nothing_is_asked(contexts, answer, why):
    plan = EncoderDetector(model="m").detect(Interaction(contexts=contexts, answer=answer))
    with pytest.raises(StopIteration) as stop:
        next(plan)
    assert stop.value.value.why is why


def test_every_parameter_that_can_not_work_is_named_at_once():
    with pytest.raises(ConfigurationError) as refused:
        EncoderDetector(
            labels={"LABEL_0": "good"},
            max_length=True,
            prompt="no place for passages",
            device="",
            aggregation=max,
            grading=0.5,
        )
    named = [problem.partition(" ")[0] for problem in refused.value.problems]
    assert named == ["model", "labels", "max_length", "prompt", "device", "grading", "aggregation"]


@pytest.mark.parametrize("model", ["", " ", None, 5])
def test_a_model_has_to_be_named(model):
    with pytest.raises(ConfigurationError, match="model must be a folder that holds a model, or an id"):
        EncoderDetector(model=model)


def test_by_its_name_alone_the_error_says_that_it_needs_a_model():
    with pytest.raises(ConfigurationError, match="model must be a folder"):
        gw.Checker("encoder")


def test_it_is_built_from_settings_and_named_in_outcomes():
    settings = {"detector": {"name": "encoder", "model": "owner/model", "labels": TELLING}}
    detector = gw.Checker.from_config(settings).detector
    assert detector == EncoderDetector(model="owner/model", labels=TELLING)
    assert detector.spec.parameters["model"] == "owner/model"
    assert detector.spec.fingerprint != EncoderDetector(model="owner/other", labels=TELLING).spec.fingerprint


def test_labels_changed_by_their_owner_afterwards_change_nothing_here():
    labels = dict(TELLING)
    detector = EncoderDetector(model="m", labels=labels)
    labels.clear()
    assert detector.labels == TELLING


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.local import tiny_models

    words = tiny_models.tokenizer([BAGS, ANSWER])
    model = tiny_models.looks_words_up("BertForTokenClassification", words, list(TELLING), found=0, missing=1)
    return tiny_models.save(tmp_path, model, words)


def test_a_checker_judges_with_a_model_from_a_folder(folder):
    detector = EncoderDetector(model=folder, labels=TELLING)
    detector.load()
    checker = gw.Checker(detector)
    contexts = [BAGS + " One bag is free."]
    outcome = checker.check(Interaction(contexts=contexts, answer=ANSWER))
    assert [span.of(ANSWER) for span in outcome.spans] == ["75"]
    assert outcome.claims[1].evidence[0].quote == "One bag is free."
    many = checker.check_many(
        [Interaction(contexts=contexts, answer=answer) for answer in (ANSWER, contexts[0], ANSWER)]
    )
    assert [one.hallucinated for one in many] == [True, False, True]


def test_labels_that_nobody_explains_are_refused_before_the_first_answer(folder):
    with pytest.raises(ConfigurationError, match="does not say what 'LABEL_0', 'LABEL_1' means"):
        EncoderDetector(model=folder).load()
