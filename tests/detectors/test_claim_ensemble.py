"""The ensemble: several readings become one verdict, whoever fails, and it is told what that cost."""

import json
import tomllib
from dataclasses import replace

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.ensembles import green_tea
from groundwire import (
    AbstentionReason,
    Checker,
    ConfigurationError,
    Interaction,
    Judge,
    Support,
    Usage,
    Verdict,
    config,
)
from groundwire.core.aggregation import Fraction, WorstK
from groundwire.core.claim import Vote
from groundwire.core.plan import Completed, Embed, Embedded, Failed
from groundwire.core.verdict import Recommendation, Step
from groundwire.detectors import ClaimEnsemble, JudgeDetector
from groundwire.detectors import Embedded as EmbeddedDetector
from groundwire.detectors.ensemble.claim_reader import ClaimReader
from groundwire.detectors.ensemble.dynamic import Dynamic
from groundwire.detectors.ensemble.oracles import Oracle
from groundwire.detectors.ensemble.resolution import Confidence, Weighted, fit_votes
from groundwire.judge.drivers import run

TEA, CONTEXTS = green_tea.INTERACTION, [p.text for p in green_tea.INTERACTION.contexts]
METABOLISM = (
    "Green tea boosts metabolism.",
    "Green tea boosts metabolism",
    "supported",
    green_tea.METABOLISM,
)
BRAIN = ("Green tea enhances brain function.", "enhances brain function", "supported", green_tea.BRAIN)
CURE = ("Green tea can cure chronic diseases.", "can cure chronic diseases", "unsupported", "")
ALL = (METABOLISM, BRAIN, CURE)


def claim(claim, words, support, quote="", confidence=0.9):
    return {"claim": claim, "words": words, "support": support, "quote": quote, "confidence": confidence}


def reading(*claims):
    return {"claims": [claim(*one) for one in claims]}


def as_text(*readings):
    return json.dumps({"readings": list(readings)})


def saying(*one, **changes):
    """A claim with another support, quotation or confidence."""
    keys = ("claim", "words", "support", "quote", "confidence")
    told = dict(zip(keys, one, strict=False)) | changes
    return tuple(told[key] for key in keys if key in told)


class Models:
    """Replies by the name of the model that is asked: a text or Failed, or a list, one after the other."""

    def __init__(self, **replies):
        self.replies = {name: list(r) if isinstance(r, list) else r for name, r in replies.items()}
        self.asked = []
        self.batches = []

    def perform(self, requests, *, timeout):
        self.batches.append(len(requests))
        return [self._reply(request) for request in requests]

    async def aperform(self, requests, *, timeout):
        return self.perform(requests, timeout=timeout)

    def _reply(self, request):
        self.asked.append(request)
        if isinstance(request, Embed):
            return Embedded(vectors=tuple(self.replies["vectors"](text) for text in request.texts))
        reply = self.replies[request.model or "first"]
        if isinstance(reply, list):
            reply = reply.pop(0)
        if isinstance(reply, Failed | Completed):
            return reply
        usage = Usage(calls=1, input_tokens=900, output_tokens=80)
        return Completed(texts=(reply,) * request.samples, usage=usage)


def three(**options):
    """One reading by each of three models."""
    reader = ClaimReader(readings=1)
    names = ("", "second", "third")
    oracles = tuple(Oracle(detector=reader, model=name, name=name or "first") for name in names)
    return ClaimEnsemble(oracles=options.pop("oracles", oracles), **options)


def judged(detector, interaction=TEA, **replies):
    models = Models(**replies)
    return run(detector.detect(interaction), models), models


def told(outcome):
    return [(c.text or c.statement, str(c.support), len(c.votes)) for c in outcome.claims]


def test_the_worked_example_of_green_tea():
    """Three models, the last claim unsupported by two of them, with the exact words of the answer."""
    outcome = green_tea.build().check(TEA)
    assert outcome.hallucinated
    assert [(c.span.start, c.span.end, c.text, str(c.support)) for c in outcome.claims] == [
        (0, 27, "Green tea boosts metabolism", "supported"),
        (29, 52, "enhances brain function", "supported"),
        (58, 83, "can cure chronic diseases", "unsupported"),
    ]
    assert [round(c.disagreement, 2) for c in outcome.claims] == [0.0, 0.33, 0.33]
    assert outcome.spans == (outcome.claims[2].span,)
    assert outcome.score == pytest.approx(2 / 3)
    assert outcome.reason.endswith("“can cure chronic diseases”: unsupported by 2 of 3 votes.")
    assert outcome.claims[0].evidence[0].quote == green_tea.METABOLISM


def test_the_example_is_printed_as_its_readers_run_it(capsys):
    green_tea.main()
    out = capsys.readouterr().out
    assert "medium, score 0.67, 3 calls" in out
    assert " 58-83  unsupported  can cure chronic diseases" in out


def test_oracles_run_at_once():
    _, models = judged(
        three(), first=as_text(reading(*ALL)), second=as_text(reading(*ALL)), third=as_text(reading(*ALL))
    )
    assert models.batches == [3]


def test_three_readings_of_one_prompt_are_three_oracles_and_one_call():
    outcome, models = judged(
        ClaimEnsemble(), first=as_text(reading(*ALL), reading(*ALL), reading(METABOLISM, BRAIN))
    )
    assert len(models.asked) == 1
    assert "Make 3 readings" in models.asked[0].user
    assert told(outcome)[2] == ("can cure chronic diseases", "unsupported", 2)
    assert [v.oracle for v in outcome.claims[0].votes] == [
        "claim_reader/1",
        "claim_reader/2",
        "claim_reader/3",
    ]


def test_dissent_of_one_to_one_to_one_goes_to_the_most_severe():
    said = [
        as_text(reading(METABOLISM, BRAIN, saying(*CURE, support=s, quote=green_tea.BRAIN)))
        for s in ("supported", "unsupported", "contradicted")
    ]
    outcome, _ = judged(three(), first=said[0], second=said[1], third=said[2])
    assert outcome.claims[2].support is Support.CONTRADICTED
    assert outcome.claims[2].disagreement == pytest.approx(2 / 3)


def test_an_oracle_that_fails_is_left_out_and_told():
    late = Failed(reason=AbstentionReason.TIMEOUT, detail="30 seconds")
    outcome, _ = judged(three(), first=as_text(reading(*ALL)), second=late, third=as_text(reading(*ALL)))
    assert outcome.hallucinated
    assert [len(c.votes) for c in outcome.claims] == [2, 2, 2]
    assert outcome.reason.endswith("Only 2 of 3 opinions could be heard.")
    (report,) = [one for one in outcome.route.stages if one.step is Step.ABSTAINED]
    assert (report.stage, report.detail) == ("second", "TIMEOUT: 30 seconds")


def test_where_most_opinions_fail_a_person_should_look():
    """What one of three found grounded may be returned, and hardly anybody stands behind it."""
    late = Failed(reason=AbstentionReason.TIMEOUT, detail="30 seconds")
    good = as_text(reading(METABOLISM, BRAIN, saying(*CURE, support="inferred")))
    outcome, _ = judged(three(), first=good, second=late, third=late)
    assert (outcome.grounded, outcome.recommendation) == (True, Recommendation.REVIEW)
    outcome, _ = judged(three(), first=good, second=late, third=good)
    assert (outcome.grounded, outcome.recommendation) == (True, Recommendation.RETURN)


def test_with_fewer_opinions_than_the_quorum_nothing_is_judged():
    late = Failed(reason=AbstentionReason.TIMEOUT, detail="30 seconds")
    outcome, _ = judged(three(quorum=2), first=as_text(reading(*ALL)), second=late, third=late)
    assert outcome.why is AbstentionReason.TIMEOUT
    assert outcome.detail == "1 of 3 opinions could be heard: 30 seconds"
    assert outcome.recommendation is Recommendation.REVIEW


def test_a_quorum_that_the_allowed_calls_can_not_reach_judges_nothing():
    """Those who were not asked would have cost more: that is what is told."""
    ensemble = three(quorum=2, dynamic=Dynamic(calls=1))
    outcome, _ = judged(ensemble, first=as_text(reading(*ALL)), second=as_text(reading(*ALL)))
    assert outcome.why is AbstentionReason.OVER_BUDGET
    assert outcome.detail == "1 of 1 opinions could be heard, and the quorum is 2"


def test_a_quorum_of_more_than_there_are_is_refused():
    with pytest.raises(ConfigurationError, match="quorum: 4 opinions are needed, and 3 can be heard"):
        three(quorum=4)


def test_an_oracle_that_returns_half_its_claims_takes_no_part_in_the_others():
    outcome, _ = judged(
        three(),
        first=as_text(reading(*ALL)),
        second=as_text(reading(METABOLISM, BRAIN)),
        third=as_text(reading(*ALL)),
    )
    assert [(text, votes) for text, _, votes in told(outcome)] == [
        ("Green tea boosts metabolism", 3),
        ("enhances brain function", 3),
        ("can cure chronic diseases", 2),
    ]


def test_a_reading_that_is_missing_is_no_opinion():
    outcome, _ = judged(ClaimEnsemble(), first=as_text(reading(*ALL), reading(*ALL)))
    assert [one.step for one in outcome.route.stages] == [Step.HEARD, Step.HEARD, Step.ABSTAINED]
    assert outcome.reason.endswith("Only 2 of 3 opinions could be heard.")


TWO = Interaction(contexts=CONTEXTS, answer=f"{TEA.answer} It was first grown on the moon.")
MOON = ("It was first grown on the moon.", "It was first grown on the moon", "contradicted", "")


def test_sentences_that_no_reading_speaks_of_are_asked_for_once_more():
    detector = ClaimEnsemble(oracles=(ClaimReader(readings=1),))
    outcome, models = judged(
        detector, TWO, first=[as_text(reading(METABOLISM, BRAIN)), as_text(reading(MOON, CURE))]
    )
    assert '1: "Green tea boosts metabolism, enhances' not in models.asked[1].user
    assert '1: "It was first grown on the moon."' in models.asked[1].user
    assert ("It was first grown on the moon", "contradicted", 1) in told(outcome)


def test_a_sentence_that_nobody_speaks_of_is_never_grounded():
    """It is unverified, and the answer is not judged unless something else in it is flagged."""
    detector = ClaimEnsemble(oracles=(ClaimReader(readings=1),))
    outcome, _ = judged(
        detector, TWO, first=as_text(reading(METABOLISM, BRAIN, saying(*CURE, support="inferred")))
    )
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert outcome.detail == "1 of 4 claims got no vote that can be used"
    outcome, _ = judged(detector, TWO, first=as_text(reading(*ALL)))
    assert outcome.hallucinated
    assert told(outcome)[-1] == ("It was first grown on the moon.", "unverified", 0)


LOST = ("Green tea can cure chronic diseases.", "can cure chronic diseases")


@pytest.mark.parametrize(
    "lost",
    [
        claim(*LOST, "not supported"),
        claim(*LOST, "contradicted", quote=["it cures none"]),
        claim(LOST[0], [LOST[1]], "contradicted"),
    ],
)
def test_a_claim_that_can_not_be_read_may_be_a_flag_and_is_no_support(lost):
    """Also where the same reading has the other claims of its sentence, so that none is left out."""
    detector = ClaimEnsemble(oracles=(ClaimReader(readings=1),))
    rest = [claim(*METABOLISM), claim(*BRAIN)]
    outcome, _ = judged(detector, first=as_text({"claims": [*rest, lost]}))
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert outcome.detail == "1 of 3 claims got no vote that can be used"


def test_a_claim_that_one_reading_alone_has_in_a_form_that_can_not_be_read_is_the_others():
    lost = {"claims": [claim(*METABOLISM), claim(*BRAIN), claim(*LOST, "no")]}
    outcome, _ = judged(ClaimEnsemble(), first=as_text(lost, reading(*ALL), reading(*ALL)))
    assert told(outcome)[-1] == ("can cure chronic diseases", "unsupported", 3)
    assert outcome.claims[-1].reason == "unsupported by 2 of 2 votes."


def test_a_reading_that_does_not_tell_one_of_its_claims_is_asked_for_again():
    detector = ClaimEnsemble(oracles=(ClaimReader(readings=1),))
    torn = {"claims": [claim(*METABOLISM), claim(*BRAIN), {"support": "contradicted"}]}
    outcome, models = judged(detector, first=[as_text(torn), as_text(reading(*ALL))])
    assert len(models.asked) == 2
    assert outcome.hallucinated


def test_a_sentence_of_which_nothing_could_be_read_is_asked_for_once_more():
    detector = ClaimEnsemble(oracles=(ClaimReader(readings=1),))
    torn = {"claims": [*reading(*ALL)["claims"], claim(*MOON[:2], "no")]}
    outcome, models = judged(detector, TWO, first=[as_text(torn), as_text(reading(MOON))])
    assert '1: "It was first grown on the moon."' in models.asked[1].user
    assert told(outcome)[-1] == ("It was first grown on the moon", "contradicted", 1)


def test_a_confidence_that_can_not_be_read_is_not_told_and_leaves_the_vote():
    detector = ClaimEnsemble(oracles=(ClaimReader(readings=1),))
    outcome, _ = judged(
        detector, first=as_text(reading(METABOLISM, BRAIN, saying(*CURE, confidence="very high")))
    )
    assert told(outcome)[-1] == ("can cure chronic diseases", "unsupported", 1)
    assert outcome.claims[-1].votes[0].confidence is None


def test_an_oracle_that_answers_in_another_language_is_understood_by_the_words_it_copies():
    german = reading(
        (
            "Grüner Tee regt den Stoffwechsel an.",
            "Green tea boosts metabolism",
            "supported",
            green_tea.METABOLISM,
        ),
        ("Grüner Tee verbessert die Hirnfunktion.", "enhances brain function", "inferred", ""),
        ("Grüner Tee kann chronische Krankheiten heilen.", "can cure chronic diseases", "unsupported", ""),
    )
    outcome, _ = judged(
        three(), first=as_text(reading(*ALL)), second=as_text(german), third=as_text(reading(*ALL))
    )
    assert [votes for _, _, votes in told(outcome)] == [3, 3, 3]


def test_a_claim_that_matches_no_words_of_the_answer_is_kept_and_marked():
    nowhere = ("Grüner Tee heilt chronische Krankheiten.", "heilt Krankheiten", "unsupported", "")
    outcome, _ = judged(
        three(),
        first=as_text(reading(METABOLISM, BRAIN, saying(*CURE, support="inferred"))),
        second=as_text(reading(METABOLISM, BRAIN, nowhere)),
        third=as_text(reading(METABOLISM, BRAIN, saying(*CURE, support="inferred"))),
    )
    lost = outcome.claims[-1]
    assert (lost.located, lost.text, lost.statement) == (
        False,
        "",
        "Grüner Tee heilt chronische Krankheiten.",
    )
    assert lost.reason == "unsupported by 1 of 1 votes. It matches no words of the answer."
    assert "“Grüner Tee heilt chronische Krankheiten.”" in outcome.reason
    assert outcome.hallucinated
    assert outcome.to_dict()["claims"][-1]["statement"] == lost.statement
    assert all(claim.located for claim in outcome.claims[:-1])


def test_supported_is_believed_only_with_words_that_stand_in_a_passage():
    invented = saying(*CURE, support="supported", quote="tea cures all chronic diseases")
    outcome, _ = judged(
        three(), **dict.fromkeys(("first", "second", "third"), as_text(reading(METABOLISM, BRAIN, invented)))
    )
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    outcome, _ = judged(
        three(),
        first=as_text(reading(METABOLISM, BRAIN, invented)),
        second=as_text(reading(METABOLISM, BRAIN, invented)),
        third=as_text(reading(*ALL)),
    )
    cure = outcome.claims[2]
    assert (str(cure.support), cure.disagreement) == ("unsupported", 0.0)
    assert [str(v.support) for v in cure.votes] == ["unverified", "unverified", "unsupported"]


@pytest.mark.parametrize(
    ("inferred", "score", "support", "recommended"),
    [
        ("grounded", 0.0, "inferred", Recommendation.RETURN),
        ("review", 0.0, "inferred", Recommendation.REVIEW),
        ("ungrounded", 1.0, "unsupported", Recommendation.RETRIEVE),
    ],
)
def test_inferred_claims_count_as_is_chosen(inferred, score, support, recommended):
    said = as_text(reading(METABOLISM, BRAIN, saying(*CURE, support="inferred")))
    outcome, _ = judged(three(inferred=inferred), first=said, second=said, third=said)
    assert outcome.score == score
    assert (str(outcome.claims[2].support), outcome.claims[2].disagreement) == (support, 0.0)
    assert outcome.recommendation is recommended
    assert bool(outcome.spans) == (inferred == "ungrounded")


def test_disagreement_can_send_an_answer_to_review():
    said = [
        as_text(reading(METABOLISM, BRAIN, saying(*CURE, support=s)))
        for s in ("inferred", "inferred", "unsupported")
    ]
    outcome, _ = judged(three(disagreement=0.3), first=said[0], second=said[1], third=said[2])
    assert outcome.grounded
    assert outcome.recommendation is Recommendation.REVIEW
    outcome, _ = judged(three(disagreement=0.5), first=said[0], second=said[1], third=said[2])
    assert outcome.recommendation is Recommendation.RETURN


def test_conflicts_are_resolved_by_the_rule_that_is_given():
    said = {
        "first": as_text(reading(METABOLISM, BRAIN, saying(*CURE, support="inferred", confidence=0.4))),
        "second": as_text(reading(METABOLISM, BRAIN, saying(*CURE, support="inferred", confidence=0.4))),
        "third": as_text(reading(METABOLISM, BRAIN, saying(*CURE, support="contradicted", confidence=1.0))),
    }
    assert judged(three(), **said)[0].grounded
    assert judged(three(resolution=Confidence()), **said)[0].hallucinated
    weights = Weighted(reliabilities={"first": 0.5, "second": 0.5, "third": 0.95})
    assert judged(three(resolution=weights), **said)[0].hallucinated


def test_the_rule_from_claims_to_the_answer_is_a_parameter():
    said = dict.fromkeys(("first", "second", "third"), as_text(reading(*ALL)))
    assert judged(three(), **said)[0].score == 1.0
    assert judged(three(aggregation=Fraction()), **said)[0].score == pytest.approx(1 / 3)
    assert judged(three(aggregation=WorstK(k=2)), **said)[0].grounded is False


@given(random=st.randoms())
@settings(deadline=None, max_examples=25)
def test_the_order_of_oracles_and_of_their_claims_never_matters(random):
    replies = {
        "first": [METABOLISM, BRAIN, saying(*CURE, support="inferred")],
        "second": [saying(*METABOLISM, support="unsupported"), BRAIN, CURE],
        "third": [METABOLISM, saying(*BRAIN, support="contradicted"), CURE],
    }
    expected, _ = judged(three(), **{name: as_text(reading(*said)) for name, said in replies.items()})
    order = list(three().panel)
    random.shuffle(order)
    for said in replies.values():
        random.shuffle(said)
    found, _ = judged(
        three(oracles=tuple(order)), **{name: as_text(reading(*said)) for name, said in replies.items()}
    )
    assert (found.score, found.claims, found.reason) == (expected.score, expected.claims, expected.reason)


# What it costs


def test_what_readings_of_one_prompt_have_saved_is_in_the_usage():
    """Against a request for each reading, by the tokens that the provider counted for the one."""
    outcome = Checker(ClaimEnsemble(), judge=Models(first=as_text(*[reading(*ALL)] * 3))).check(TEA)
    usage = outcome.usage
    assert (usage.calls, usage.input_tokens) == (1, 900)
    assert 1.9 * 900 < usage.saved_tokens <= 2 * 900
    assert outcome.to_dict()["usage"]["saved_tokens"] == usage.saved_tokens


def test_separate_requests_save_nothing():
    said = dict.fromkeys(("first", "second", "third"), as_text(reading(*ALL)))
    outcome = Checker(three(), judge=Models(**said)).check(TEA)
    assert (outcome.usage.calls, outcome.usage.input_tokens, outcome.usage.saved_tokens) == (3, 2700, 0)


def test_samples_of_one_request_are_opinions_whose_input_is_paid_for_once():
    detector = ClaimEnsemble(oracles=(ClaimReader(readings=1, samples=4),))
    outcome, models = judged(detector, first=as_text(reading(*ALL)))
    assert (models.asked[0].samples, models.asked[0].temperature) == (4, 0.7)
    assert [len(c.votes) for c in outcome.claims] == [4, 4, 4]
    assert outcome.usage.saved_tokens == 3 * 900


LONG = Interaction(
    question="Tea?", contexts=[*CONTEXTS, "Tea is grown in many countries. " * 200], answer=TEA.answer
)


def test_with_caching_one_prompt_goes_ahead_and_what_all_begin_with_is_marked():
    oracles = tuple(Oracle(detector=ClaimReader(readings=i), name=f"r{i}") for i in (1, 2, 3))
    said = as_text(reading(*ALL), reading(*ALL), reading(*ALL))
    plain, models = judged(ClaimEnsemble(oracles=oracles), LONG, first=said)
    assert (models.batches, {one.prefix for one in models.asked}) == ([3], {0})
    cached, models = judged(ClaimEnsemble(oracles=oracles, caching=True), LONG, first=said)
    assert models.batches == [1, 2]
    (shared,) = {one.prefix for one in models.asked}
    assert "Tea is grown in many countries." in models.asked[0].user[:shared]
    assert len({one.user[:shared] for one in models.asked}) == 1
    assert cached.claims == plain.claims


def test_short_prompts_are_not_worth_keeping():
    oracles = tuple(Oracle(detector=ClaimReader(readings=i), name=f"r{i}") for i in (1, 2))
    tiny = Interaction(contexts=CONTEXTS, answer=TEA.answer)
    _, models = judged(
        ClaimEnsemble(oracles=oracles, caching=True), tiny, first=as_text(reading(*ALL), reading(*ALL))
    )
    assert models.batches == [2]


# Dynamic


SURE = as_text(reading(*(saying(*one, confidence=0.95) for one in ALL)))
UNSURE = as_text(reading(METABOLISM, BRAIN, saying(*CURE, confidence=0.5)))


def heard(outcome):
    return [one.stage for one in outcome.route.stages if one.step is Step.HEARD]


def test_an_easy_answer_ends_early_and_what_was_spared_is_told():
    outcome, models = judged(
        three(dynamic=Dynamic(sure=0.9)),
        first=as_text(reading(*((*one, 0.95) for one in ALL))),
        second=UNSURE,
        third=UNSURE,
    )
    assert heard(outcome) == ["first"]
    assert [one.step for one in outcome.route.stages[1:]] == [Step.SPARED, Step.SPARED]
    assert (outcome.route.spared.calls, outcome.route.spared.input_tokens > 500) == (2, True)
    assert len(models.asked) == 1


def test_oracles_are_added_while_they_could_turn_the_verdict():
    """One unsure vote can be turned by two; two of three can not be turned by the third."""
    unsure = as_text(reading(METABOLISM, BRAIN, (*CURE, 0.5)))
    outcome, _ = judged(three(dynamic=Dynamic()), first=unsure, second=unsure, third=unsure)
    assert heard(outcome) == ["first", "second"]


@pytest.mark.parametrize(
    ("first", "second", "third", "hallucinated"),
    [
        ("inferred", "unsupported", "inferred", False),
        ("inferred", "unsupported", "supported", True),
        ("supported", "unsupported", "supported", False),
    ],
)
def test_an_oracle_that_could_turn_the_verdict_by_any_label_is_asked(first, second, third, hallucinated):
    """So that an ensemble says the same whether it asks all at once or one after the other."""
    said = ("Green tea boosts metabolism.", "Green tea boosts metabolism")

    def one(support):
        return as_text(reading((*said, support, green_tea.METABOLISM, 0.5)))

    interaction = Interaction(contexts=CONTEXTS, answer=said[0])
    replies = {"first": one(first), "second": one(second), "third": one(third)}
    for dynamic in (Dynamic(), None):
        outcome, _ = judged(three(dynamic=dynamic), interaction, **replies)
        assert heard(outcome) == ["first", "second", "third"]
        assert outcome.hallucinated is hallucinated


@pytest.mark.parametrize(
    ("dynamic", "metadata", "expected"),
    [
        ({"longer_than": 10}, {}, 3),
        ({"longer_than": 10_000}, {}, 1),
        ({"domains": {"medical": 2}}, {"domain": "medical"}, 2),
        ({"domains": {"medical": 2}}, {"domain": "sports"}, 1),
        ({"first": 2}, {}, 2),
        ({"sure": 1.0, "calls": 1}, {}, 1),
    ],
)
def test_how_many_are_asked_goes_by_length_domain_and_budget(dynamic, metadata, expected):
    sure = as_text(reading(*((*one, 0.95) for one in ALL)))
    interaction = Interaction(
        question=TEA.question, contexts=TEA.contexts, answer=TEA.answer, metadata=metadata
    )
    detector = three(dynamic=dynamic)
    outcome, _ = judged(detector, interaction, first=sure, second=sure, third=sure)
    assert len(heard(outcome)) == expected


def test_who_is_silent_about_a_sentence_does_not_end_the_asking():
    sure = as_text(reading(*((*one, 0.95) for one in ALL)))
    outcome, _ = judged(
        three(dynamic=Dynamic()),
        TWO,
        first=[sure, sure],
        second=as_text(reading(*((*one, 0.95) for one in (*ALL, MOON)))),
        third=sure,
    )
    assert "second" in heard(outcome)


# Oracles of other kinds


def test_the_embedded_detector_can_be_an_oracle_beside_a_model():
    detector = ClaimEnsemble(oracles=(EmbeddedDetector(), ClaimReader(readings=2)))
    assert detector.needs_encoder
    said = as_text(reading(*ALL), reading(*ALL))
    checker = Checker(detector, judge=Judge(lambda system, user: said))
    outcome = checker.check(TEA)
    assert isinstance(outcome, Verdict)
    assert {vote.oracle for claim in outcome.claims for vote in claim.votes} == {
        "embedded",
        "claim_reader/1",
        "claim_reader/2",
    }


def test_offline_oracles_need_no_judge():
    outcome = Checker(ClaimEnsemble(oracles=("lexical", "embedded"))).check(
        Interaction(contexts="The fee is 25 EUR.", answer="The fee is 75 EUR.")
    )
    assert outcome.hallucinated
    assert [v.oracle for v in outcome.claims[0].votes] == ["embedded", "lexical"]
    assert outcome.usage.calls == 0


def test_a_cascade_as_an_oracle_has_its_judge_or_does_without(recwarn):
    """Its optional stages are those that the judge can answer, as where it stands alone."""
    detector = ClaimEnsemble(oracles=("cascade",))
    assert not detector.needs_model
    (alone,) = Checker(detector).detector.panel
    assert [one.name for one in alone.detector.line] == ["lexical", "embedded"]
    checker = Checker(detector, judge=Judge(lambda system, user: ""))
    (judged_too,) = checker.detector.panel
    assert [one.name for one in judged_too.detector.line] == ["lexical", "embedded", "judge"]
    assert checker.fallback is not None
    assert not recwarn.list


def test_claims_can_be_compared_by_embeddings():
    def vector(text):
        return (
            (1.0, 0.0)
            if "cure" in text or "remedy" in text
            else (0.0, 1.0)
            if "brain" in text
            else (1.0, 1.0)
        )

    remedy = ("It is a remedy for lasting illness.", "", "unsupported", "")
    said = {
        "first": as_text(reading(*ALL)),
        "second": as_text(reading(METABOLISM, BRAIN, remedy)),
        "third": as_text(reading(*ALL)),
    }
    apart, _ = judged(three(), **said)
    together, models = judged(three(similarity="embedding"), vectors=vector, **said)
    assert len(apart.claims) == 4
    assert [len(c.votes) for c in together.claims] == [3, 3, 3]
    assert isinstance(models.asked[-1], Embed)
    assert three(similarity="embedding").needs_embeddings


def test_a_judge_without_one_of_the_models_is_refused_when_the_checker_is_built():
    with pytest.raises(
        ConfigurationError, match="asks the model 'third', and the judge has none of that name"
    ):
        Checker(three(), judge=Judge(lambda s, u: "", models={"second": lambda s, u: ""}))


def test_too_many_claims_are_over_budget():
    outcome, _ = judged(
        ClaimEnsemble(max_claims=2), first=as_text(reading(*ALL), reading(*ALL), reading(*ALL))
    )
    assert outcome.why is AbstentionReason.OVER_BUDGET
    assert outcome.detail == "oracles made 9 claims, more than max_claims=2"


# Settings


YAML = """
detector:
  name: claim_ensemble
  oracles:
    - embedded
    - {name: claim_reader, readings: 2}
    - {detector: {name: judge, turns: 3}, model: second, name: strict}
  resolution: {by: weighted, reliabilities: {embedded: 0.7, claim_reader: 0.8, strict: 0.9}}
  aggregation: {kind: worst_k, k: 2}
  inferred: review
  dynamic: {first: 2, domains: {medical: 3}}
"""
TOML = """
[detector]
name = "claim_ensemble"
oracles = ["embedded", {name = "claim_reader", readings = 2},
    {detector = {name = "judge", turns = 3}, model = "second", name = "strict"}]
resolution = {by = "weighted", reliabilities = {embedded = 0.7, claim_reader = 0.8, strict = 0.9}}
aggregation = {kind = "worst_k", k = 2}
inferred = "review"
dynamic = {first = 2, domains = {medical = 3}}
"""


@pytest.mark.parametrize(
    "given_settings",
    [yaml.safe_load(YAML), tomllib.loads(TOML), json.loads(json.dumps(yaml.safe_load(YAML)))],
    ids=["yaml", "toml", "json"],
)
def test_nested_oracles_are_settings_in_every_format(given_settings):
    built = config.load(given_settings).build_detector()
    assert built == ClaimEnsemble(
        oracles=(
            EmbeddedDetector(),
            ClaimReader(readings=2),
            Oracle(detector=JudgeDetector(turns=3), model="second", name="strict"),
        ),
        resolution=Weighted(reliabilities={"embedded": 0.7, "claim_reader": 0.8, "strict": 0.9}),
        aggregation=WorstK(k=2),
        inferred="review",
        dynamic=Dynamic(first=2, domains={"medical": 3}),
    )
    assert built.models == {"second"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"oracles": []}, "an ensemble needs at least one"),
        ({"oracles": "embedded"}, "oracles: expected a list of them, not 'embedded'"),
        ({"oracles": ["nothing"]}, "unknown detector 'nothing'"),
        ({"oracles": ["level"]}, "judges the answer as a whole and gives no claims"),
        ({"oracles": ["lexical", "lexical"]}, "2 are named 'lexical'"),
        ({"oracles": [{"detector": "lexical", "modle": "x"}]}, "unknown key 'modle'; did you mean 'model'?"),
        ({"oracles": [{"name": "claim_reader", "readings": 0}]}, "readings must be at least 1, not 0"),
        ({"resolution": "most"}, "resolution: expected one of majority"),
        ({"resolution": "weighted"}, "'weighted' needs reliabilities"),
        (
            {"resolution": {"by": "weighted", "reliabilities": {"claim_raeder": 0.7, "claim_reader": 0.8}}},
            "reliabilities name 'claim_raeder', and no oracle is called so: there are claim_reader,",
        ),
        (
            {"resolution": fit_votes([[Vote(oracle="other", support=Support.SUPPORTED)]])},
            "the model knows other, and none of them is an oracle here",
        ),
        ({"aggregation": "any"}, "aggregation must be an Aggregation"),
        ({"inferred": "maybe"}, "inferred must be one of grounded, ungrounded, review, not 'maybe'"),
        ({"similarity": "cosine"}, "similarity must be one of lexical, embedding"),
        ({"alike": 1.5}, r"alike must be a number in \[0, 1\], not 1.5"),
        ({"quorum": 0}, "quorum must be at least 1"),
        ({"caching": "no"}, "caching must be true or false, not 'no'"),
        ({"dynamic": {"domains": ["medical"]}}, "domains must be a table .*, not a list"),
        ({"dynamic": {"frist": 2}}, "dynamic: unknown key 'frist'; did you mean 'first'?"),
        ({"dynamic": {"first": 0, "sure": 2, "calls": -1}}, "first must be a whole number from 1 on, not 0"),
    ],
)
def test_parameters_that_can_not_work_are_refused(parameters, message):
    with pytest.raises(ConfigurationError, match=message):
        ClaimEnsemble(**parameters)


def test_every_mistake_is_named_at_once():
    with pytest.raises(ConfigurationError) as caught:
        ClaimEnsemble(oracles=["nothing"], resolution="most", aggregation="any", quorum=0)
    assert len(caught.value.problems) == 4
    with pytest.raises(ConfigurationError) as caught:
        ClaimEnsemble(oracles=["nothing", {"detector": "g_eval"}, {"detector": "embedded", "nam": "x"}])
    assert [one.partition(" ")[0] for one in caught.value.problems] == ["unknown", "oracles:", "oracles:"]


def test_an_ensemble_keeps_its_oracles_when_it_is_changed():
    detector = three()
    assert replace(detector, quorum=2).panel == detector.panel
