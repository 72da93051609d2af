"""The cascade: each stage decides what it is sure of, what facts refute stays so, and the way is told."""

import json
import tomllib
from dataclasses import replace

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from groundwire import (
    Abstention,
    AbstentionReason,
    Checker,
    Claim,
    ConfigurationError,
    Grading,
    Interaction,
    Judge,
    Policy,
    Span,
    Support,
    Usage,
    Verdict,
    config,
)
from groundwire.core.verdict import DetectorSpec, Recommendation, Step
from groundwire.detectors import Cascade, Embedded, JudgeDetector, Lexical, Semantic
from groundwire.detectors.cascade.stages import Facts, Stage, rescaled
from groundwire.judge.drivers import NoBackend, run
from groundwire.judge.dry_run import estimate
from tests.scripted import Always, AsksModel, ByLength

PASSAGES = ["You may bring one bag of up to 8 kg. A second bag costs 25 EUR.", "Dogs travel for 50 EUR."]
WRONG = Interaction(question="A second bag?", contexts=PASSAGES, answer="A second bag costs 75 EUR.")
RIGHT = Interaction(question="A second bag?", contexts=PASSAGES, answer="A second bag costs 25 EUR.")
OPEN = Interaction(
    question="Pets?",
    contexts=PASSAGES,
    answer="Dogs may ride along.",
)


def verdict(score, *, threshold=0.5, support=None):
    claim = Claim(
        text=OPEN.answer,
        span=Span(0, len(OPEN.answer)),
        support=support or (Support.UNSUPPORTED if score >= threshold else Support.SUPPORTED),
        score=score,
    )
    spec = DetectorSpec(name="always", version="1")
    return Verdict.graded(score, Grading(threshold=threshold), raw=score, claims=(claim,), detector=spec)


def stage(score, name, **fields):
    outcome = (
        score if isinstance(score, Abstention) else verdict(score, threshold=fields.pop("threshold", 0.5))
    )
    return Stage(detector=Always(outcome=outcome), name=name, **fields)


def judged(*stages, interaction=OPEN, **parameters):
    return run(Cascade(stages=stages, **parameters).detect(interaction), NoBackend())


def way(outcome):
    return [(one.stage, str(one.step)) for one in outcome.route.stages]


FAILED = Abstention(why=AbstentionReason.TIMEOUT, detail="30 seconds")
LAST = stage(0.9, "last")


@pytest.mark.parametrize(
    ("score", "decided", "step"),
    [
        (0.05, "first", "accepted"),
        (0.1, "last", "undecided"),
        (0.79, "last", "undecided"),
        (0.8, "first", "flagged"),
    ],
)
def test_a_stage_decides_outside_of_its_band_and_hands_on_the_rest(score, decided, step):
    outcome = judged(stage(score, "first", accept=0.1, flag=0.8), LAST)
    assert outcome.route.decided == decided
    assert way(outcome)[0] == ("first", step)
    assert outcome.hallucinated == (decided == "last" or step == "flagged")
    assert outcome.raw == (score if decided == "first" else 0.9)


def test_stages_stand_in_any_order():
    cheap, dear = Stage(detector=Lexical(), accept=0.1, flag=0.9), Stage(detector=Embedded())
    assert [one.name for one in Cascade(stages=(cheap, dear)).line] == ["lexical", "embedded"]
    turned = Cascade(stages=(Stage(detector=Embedded(), flag=0.9), Stage(detector=Lexical())))
    assert Checker(turned).check(RIGHT).grounded


def test_the_default_has_exact_facts_decide_before_anything_else():
    outcome = Checker("cascade").check(WRONG)
    assert outcome.route.decided == "facts"
    assert way(outcome) == [("facts", "flagged"), ("lexical", "spared"), ("embedded", "spared")]
    assert outcome.reason == "The documents say otherwise: 75 EUR here, 25 EUR in the document."
    assert outcome.claims[0].evidence[0].quote == "A second bag costs 25 EUR."
    assert outcome.recommendation is Recommendation.RETRIEVE


def test_without_a_judge_what_nobody_is_sure_of_is_recommended_for_review():
    outcome = Checker("cascade").check(OPEN)
    assert way(outcome) == [("lexical", "undecided"), ("embedded", "undecided")]
    assert outcome.route.decided == "embedded"
    assert outcome.recommendation is Recommendation.REVIEW
    assert outcome.reason.endswith("No stage was sure; the score is that of 'embedded'.")
    assert outcome.to_dict()["recommendation"] == "review"


def model(support, score):
    reply = {
        "claims": [{"id": 1, "support": support, "score": score, "words": ["Pets"], "quote": "Dogs travel"}]
    }
    return lambda system, user: json.dumps(reply)


def test_with_a_judge_it_is_asked_for_what_is_left_and_for_nothing_else():
    checker = Checker("cascade", judge=Judge(model("unsupported", 0.9)))
    assert checker.detector.needs_model
    easy, hard = checker.check(RIGHT), checker.check(OPEN)
    assert (easy.usage.calls, easy.route.spared.calls) == (0, 1)
    assert easy.route.spared.input_tokens > 900
    assert (hard.usage.calls, hard.route.decided, hard.route.spared.calls) == (1, "judge", 0)
    assert hard.hallucinated


def test_a_judge_that_fails_leaves_an_unsure_answer_unjudged():
    """The score below the threshold is not taken for grounded because of a failure."""

    def broken(system, user):
        raise RuntimeError("no model")

    detector = Cascade(stages=(stage(0.3, "first", accept=0.1, flag=0.8), Stage(detector=JudgeDetector())))
    outcome = Checker(detector, judge=Judge(broken)).check(OPEN)
    assert outcome.why is AbstentionReason.MODEL_FAILED
    assert outcome.recommendation is Recommendation.REVIEW
    assert outcome.detail.startswith("'first' was not sure (0.30), and no later stage could judge: ")
    assert way(outcome)[-1] == ("judge", "abstained")


def test_a_later_stage_that_fails_does_not_clear_an_answer_that_looked_bad():
    outcome = judged(stage(0.7, "first", accept=0.1, flag=0.9), stage(FAILED, "last"))
    assert outcome.hallucinated
    assert outcome.recommendation is Recommendation.REVIEW
    assert "A later stage could not judge: TIMEOUT." in outcome.reason


def test_an_early_stage_that_abstains_hands_on():
    outcome = judged(stage(FAILED, "first", flag=0.5), stage(0.2, "last"))
    assert outcome.grounded
    assert way(outcome) == [("first", "abstained"), ("last", "accepted")]
    assert outcome.route.stages[0].detail == "TIMEOUT: 30 seconds"


def test_where_no_stage_could_judge_the_answer_is_not_judged():
    outcome = judged(stage(FAILED, "first", flag=0.5), stage(FAILED, "last"))
    assert (outcome.why, outcome.detail) == (AbstentionReason.TIMEOUT, "30 seconds")


REFUTED = Interaction(contexts=PASSAGES, answer="Pets of passengers are welcome. A second bag costs 75 EUR.")


@pytest.mark.parametrize("score", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("accept", [None, 0.5])
def test_what_an_exact_check_refuted_no_later_stage_can_clear(score, accept):
    stages = (stage(score, "judge", accept=accept, flag=accept and 0.6),)
    outcome = judged(*stages, interaction=REFUTED, facts="bind")
    assert outcome.hallucinated
    contradicted = [claim for claim in outcome.claims if claim.support is Support.CONTRADICTED]
    assert [claim.text for claim in contradicted] == ["A second bag costs 75 EUR."]
    assert contradicted[0].evidence[0].quote == "A second bag costs 25 EUR."


def test_a_stage_that_calls_refuted_words_supported_is_overruled_in_the_claims():
    cleared = Claim(
        text="A second bag costs 75 EUR.", span=Span(32, 58), support=Support.SUPPORTED, score=0.05
    )
    said = Verdict.graded(0.05, Grading(), detector=DetectorSpec(name="x", version="1"), claims=(cleared,))
    outcome = judged(Stage(detector=Always(outcome=said)), interaction=REFUTED, facts=Facts.BIND)
    assert [str(claim.support) for claim in outcome.claims] == ["contradicted"]
    assert outcome.reason.startswith("The documents say otherwise: 75 EUR here")
    assert judged(Stage(detector=Always(outcome=said)), interaction=REFUTED, facts="off").grounded


def test_where_facts_overrule_a_stage_they_have_decided():
    sure, unsure = stage(0.05, "sure", accept=0.1, flag=0.9), stage(0.3, "unsure", accept=0.1, flag=0.9)
    outcome = judged(sure, LAST, interaction=REFUTED, facts="bind")
    assert (outcome.route.decided, outcome.raw) == ("facts", outcome.score)
    assert way(outcome) == [("facts", "flagged"), ("sure", "accepted"), ("last", "spared")]
    outcome = judged(unsure, interaction=REFUTED, facts="bind")
    assert outcome.route.decided == "facts"
    assert outcome.reason.endswith("25 EUR in the document. No stage was sure.")
    outcome = judged(stage(0.99, "worse"), interaction=REFUTED, facts="bind")
    assert (outcome.route.decided, outcome.raw) == ("worse", 0.99)


def test_what_a_stage_flags_beside_a_refuted_figure_stays_flagged():
    answer = "A second green bag costs 75 EUR."
    interaction = Interaction(contexts=PASSAGES, answer=answer)

    def spans(*claims):
        spec = DetectorSpec(name="x", version="1")
        said = Verdict.graded(0.9, Grading(), detector=spec, claims=claims)
        outcome = judged(Stage(detector=Always(outcome=said)), interaction=interaction, facts="bind")
        assert Support.CONTRADICTED in {claim.support for claim in outcome.claims}
        return [span.of(answer) for span in outcome.spans]

    green = Span(9, 14)
    narrow = Claim(text="green", span=green, support=Support.UNSUPPORTED, score=0.9)
    whole = Claim(
        text=answer, span=Span(0, len(answer)), support=Support.UNSUPPORTED, score=0.9, words=(green,)
    )
    assert spans(narrow) == spans(whole) == ["green", "75 EUR"]


def test_a_claim_that_stands_nowhere_comes_last_also_beside_facts():
    nowhere = Claim(text="", span=Span(0, 0), support=Support.SUPPORTED, score=0.05, statement="Penguins.")
    said = Verdict.graded(0.05, Grading(), detector=DetectorSpec(name="x", version="1"), claims=(nowhere,))
    outcome = judged(Stage(detector=Always(outcome=said)), interaction=REFUTED, facts="bind")
    assert [claim.located for claim in outcome.claims] == [True, False]


def test_a_stage_that_is_sure_and_asks_for_review_gets_it():
    """As an ensemble does where most of its oracles failed, or disagree."""
    said = replace(verdict(0.05), recommendation=Recommendation.REVIEW)
    outcome = judged(Stage(detector=Always(outcome=said)))
    assert (outcome.grounded, outcome.recommendation) == (True, Recommendation.REVIEW)


def test_what_all_stages_have_saved_is_in_the_usage():
    first, last = (replace(verdict(0.5), usage=Usage(saved_tokens=n)) for n in (100, 20))
    stages = Stage(detector=Always(outcome=first), accept=0.1), Stage(detector=Always(outcome=last), name="b")
    assert judged(*stages).usage.saved_tokens == 120
    failing = stages[0], Stage(detector=Always(outcome=FAILED), name="b", accept=0.1)
    assert judged(*failing, grading=Grading(threshold=0.9)).usage.saved_tokens == 100


def test_what_facts_refute_is_flagged_also_where_no_stage_can_judge():
    outcome = judged(stage(FAILED, "last"), interaction=REFUTED, facts="bind")
    assert outcome.hallucinated
    assert outcome.route.decided == "facts"
    assert way(outcome) == [("facts", "flagged"), ("last", "abstained")]
    assert [claim.text for claim in outcome.claims] == ["A second bag costs 75 EUR."]


def test_an_answer_with_an_unverified_claim_is_never_accepted():
    lost = Claim(text="Pets", span=Span(0, 4), support=Support.UNVERIFIED)
    bad = Claim(text="welcome", span=Span(23, 30), support=Support.UNSUPPORTED, score=0.5)
    spec = DetectorSpec(name="x", version="1")
    said = Verdict.graded(0.5, Grading(), detector=spec, claims=(lost, bad))
    outcome = judged(Stage(detector=Always(outcome=said), accept=0.8, flag=0.9))
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert outcome.detail.endswith("1 of 2 claims got no usable verdict")


def test_the_kind_is_that_of_the_claims_on_every_scale():
    assert str(judged(stage(0.9, "judge", threshold=0.5)).kind) == "context-conflicting"


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (0.1, "return"),
        (0.45, "review"),
        (0.55, "review"),
        (0.6, "return"),
        (0.8, "retrieve"),
        (1.0, "retrieve"),
    ],
)
def test_actions_go_by_score(score, expected):
    only = Stage(detector=Always(outcome=verdict(score)), name="only")
    outcome = judged(only, grading=Grading(threshold=0.5), review=(0.4, 0.6), retrieve=0.75)
    assert str(outcome.recommendation) == expected


def test_scores_of_all_stages_are_on_one_scale():
    """Each stage's own cut becomes the threshold: .45 is below a judge's, and above an encoder's."""
    assert judged(stage(0.45, "judge", threshold=0.5)).grounded
    flagged = judged(stage(0.45, "encoder", threshold=0.37))
    assert flagged.hallucinated
    assert (flagged.score, flagged.threshold, flagged.raw) == (0.45, 0.37, 0.45)


@given(scores=st.tuples(st.floats(0, 1), st.floats(0, 1)), old=st.floats(0, 1), new=st.floats(0, 1))
@example(scores=(1.0, 0.75), old=1.0, new=5e-324)
def test_rescaling_keeps_the_order_and_the_side_of_the_threshold(scores, old, new):
    low, high = sorted(scores)
    assert 0 <= rescaled(low, old, new) <= rescaled(high, old, new) + 1e-12 <= 1 + 1e-9
    if new > 0 and old - low > 1e-9:
        assert rescaled(low, old, new) < new
    assert high < old or rescaled(high, old, new) >= new


@given(
    score=st.floats(0, 1),
    band=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    threshold=st.floats(0, 1),
)
def test_what_a_stage_accepts_is_grounded_and_what_it_flags_is_not(score, band, threshold):
    accept, flag = band
    outcome = judged(stage(score, "one", accept=accept, flag=flag, threshold=threshold))
    (report,) = outcome.route.stages
    if report.step is Step.ACCEPTED:
        assert outcome.grounded
    if report.step is Step.FLAGGED:
        assert outcome.hallucinated
    assert (outcome.recommendation is Recommendation.REVIEW) == (report.step is Step.UNDECIDED)


def test_a_threshold_of_the_policy_reads_the_final_score():
    checker = Checker("cascade", policy=Policy(grading=Grading(threshold=0.01)))
    assert checker.check(RIGHT).hallucinated


def test_optional_stages_are_those_that_the_judge_can_answer():
    semantic = Stage(detector=Semantic(), optional=True, name="semantic")
    asks = Stage(detector=AsksModel(), optional=True, name="asks")
    detector = Cascade(stages=(Stage(detector=Lexical(), flag=0.9), semantic))
    assert [one.name for one in detector.beside(None).line] == ["lexical"]
    assert [one.name for one in detector.beside(Judge(lambda s, u: "")).line] == ["lexical"]
    embeds = Judge(lambda s, u: "", embeddings=lambda texts: [[1.0] for _ in texts])
    assert [one.name for one in detector.beside(embeds).line] == ["lexical", "semantic"]
    alone = Judge(embeddings=lambda texts: [[1.0] for _ in texts])
    assert [one.name for one in detector.beside(alone).line] == ["lexical", "semantic"]
    assert [one.name for one in Cascade().beside(alone).line] == ["lexical", "embedded"]
    with pytest.raises(ConfigurationError, match="has no stage left without a judge"):
        Checker(Cascade(stages=(asks,)))


def test_a_required_judge_is_asked_for_when_the_checker_is_built():
    with pytest.raises(ConfigurationError, match="asks a language model, and none was given"):
        Checker(Cascade(stages=(Stage(detector=JudgeDetector()),)))


def test_stages_can_ask_different_models():
    first = Stage(detector=AsksModel(), accept=0.2, flag=0.9)
    second = Stage(detector=AsksModel(), model="strong")
    judge = Judge(lambda s, u: "0.5", models={"strong": lambda s, u: "0.95"})
    outcome = Checker(Cascade(stages=(first, second)), judge=judge).check(OPEN)
    assert (outcome.route.decided, outcome.raw) == ("asks-model@strong", 0.95)
    assert outcome.usage.calls == 2


def test_answers_in_one_batch_go_their_own_ways():
    checker = Checker(
        Cascade(stages=(Stage(detector=Lexical(), accept=0.1, flag=0.8), Stage(detector=AsksModel()))),
        judge=ByLength(),
    )
    outcomes = list(checker.check_many([RIGHT, OPEN, WRONG, RIGHT]))
    assert [one.route.decided for one in outcomes] == ["lexical", "asks-model", "facts", "lexical"]


def test_a_dry_run_counts_only_what_would_reach_the_judge():
    checker = Checker("cascade", judge=Judge(model("unsupported", 0.9)))
    told = estimate(checker.detector, [RIGHT, WRONG, OPEN, RIGHT])
    assert (told.answers, told.calls) == (4, 1)


YAML = """
detector:
  name: cascade
  facts: bind
  retrieve: 0.8
  review: [0.35, 0.5]
  stages:
    - {detector: lexical, accept: 0.05, flag: 0.9}
    - {detector: {name: claim_ensemble, oracles: [lexical, embedded]}, accept: 0.2, flag: 0.8}
    - {detector: {name: judge, turns: 2}, model: strong, optional: true}
"""
TOML = """
[detector]
name = "cascade"
facts = "bind"
retrieve = 0.8
review = [0.35, 0.5]
[[detector.stages]]
detector = "lexical"
accept = 0.05
flag = 0.9
[[detector.stages]]
detector = {name = "claim_ensemble", oracles = ["lexical", "embedded"]}
accept = 0.2
flag = 0.8
[[detector.stages]]
detector = {name = "judge", turns = 2}
model = "strong"
optional = true
"""


@pytest.mark.parametrize(
    "given_settings",
    [yaml.safe_load(YAML), tomllib.loads(TOML), json.loads(json.dumps(yaml.safe_load(YAML)))],
    ids=["yaml", "toml", "json"],
)
def test_nested_stages_are_settings_in_every_format(given_settings):
    built = config.load(given_settings).build_detector()
    assert (built.facts, built.retrieve, built.review) == (Facts.BIND, 0.8, (0.35, 0.5))
    assert [(one.name, one.accept, one.flag) for one in built.line] == [
        ("lexical", 0.05, 0.9),
        ("claim_ensemble", 0.2, 0.8),
        ("judge@strong", None, None),
    ]
    assert [one.name for one in built.line[1].detector.panel] == ["lexical", "embedded"]
    assert built.models == {"strong"}
    assert Checker.from_config({"detector": {"name": "cascade"}}).check(WRONG).hallucinated


def test_a_bare_off_in_yaml_is_off():
    assert Cascade(**yaml.safe_load("facts: off")).facts is Facts.OFF


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"stages": []}, "a cascade needs at least one"),
        ({"stages": "lexical"}, "stages: expected a list of them"),
        ({"stages": ["nothing"]}, "unknown detector 'nothing'"),
        ({"stages": ["lexical", "embedded"]}, "stage 'lexical': it has neither accept nor flag"),
        (
            {"stages": [{"detector": "lexical", "flag": 0.5}, {"detector": "lexical"}]},
            "two are named 'lexical'",
        ),
        ({"stages": [{"detector": "lexical", "flagg": 0.5}]}, "unknown key 'flagg'; did you mean 'flag'?"),
        ({"stages": [{"detector": "lexical", "flag": 1.5}]}, r"flag must be a number in \[0, 1\], not 1.5"),
        ({"stages": [{"detector": "lexical", "accept": 0.9, "flag": 0.1}]}, "accept must not be above flag"),
        ({"stages": [{"detector": "lexical", "name": "facts"}]}, "'facts' is the check of exact facts"),
        ({"stages": [{"detector": "lexical", "optional": "no"}]}, "optional must be true or false, not 'no'"),
        ({"facts": "never"}, "facts must be one of decide, bind, off, not 'never'"),
        ({"retrieve": 2}, "retrieve must be a number"),
        ({"review": 0.5}, "review: expected two scores"),
        ({"review": [0.6, 0.4]}, "review needs a lower score and a higher one"),
    ],
)
def test_parameters_that_can_not_work_are_refused(parameters, message):
    with pytest.raises(ConfigurationError, match=message):
        Cascade(**parameters)
