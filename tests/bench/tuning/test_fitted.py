"""From judged examples to a file and back: what a checker reads by it is what was measured."""

import json
from dataclasses import replace

import numpy as np
import pytest

from groundwire import Checker, ConfigurationError, Interaction, Judge, Policy
from groundwire.bench import tuning
from groundwire.bench.examples import Example
from groundwire.bench.runs import judge
from groundwire.bench.tuning import TuningError
from groundwire.core.tuned import Figure
from groundwire.detectors import Cascade, Lexical, Stacked, TokenOverlap
from groundwire.detectors.cascade.stages import Facts, Stage
from groundwire.tuned_file import from_dict, settings_of, to_dict
from tests.bench.tuning.drawn import Told, example, examples, judged


@pytest.fixture(scope="module")
def found():
    return tuning.tune(*judged(examples(400)), target="precision>=0.8")


def flagged(read):
    return [outcome.hallucinated for outcome in read]


def test_the_threshold_keeps_its_target_on_the_labels_and_is_what_a_checker_reads_by(found):
    given = examples(400)
    checker = Checker(Told(), policy=Policy(tuned=found.tuned))
    said = flagged(checker.check(one.interaction) for one in given)
    labels = np.array([one.label for one in given])
    assert labels[said].mean() >= 0.8
    raw = np.array([one.outcome.score for one in judged(given)[0]])
    assert said == (raw >= found.reading.cut).tolist()


def test_it_is_the_same_after_it_was_written_and_read(found):
    assert from_dict(json.loads(json.dumps(to_dict(found.tuned), allow_nan=False))) == found.tuned


def test_before_and_after_are_measured_on_the_same_answers(found):
    assert set(found.before) == set(found.after) >= {"precision", "recall", "f1", "brier", "auroc"}
    assert found.tuned.held_out["recall"] == Figure(
        value=found.after["recall"].value, low=found.after["recall"].low, high=found.after["recall"].high
    )
    assert found.lead.answers == found.tuned.labels.answers == 400
    assert len(found.cuts) == 5


def test_where_nothing_is_surely_hallucinated_none_is_high_in_the_file_either():
    """Three in five of those that score 1 are hallucinated."""
    given = [example(i, float(i % 8 < 5), i % 8 < 3) for i in range(120)]
    tuned = from_dict(json.loads(json.dumps(to_dict(tuning.tune(*judged(given), calibration="none").tuned))))
    assert {str(tuned.read(one.outcome).level) for one in judged(given)[0]} == {"low", "medium"}


def test_a_higher_precision_is_bought_with_recall():
    lenient, strict = (tuning.tune(*judged(examples(400)), target=f"precision>={p}") for p in (0.6, 0.9))
    assert strict.tuned.grading.threshold > lenient.tuned.grading.threshold
    assert strict.after["recall"].value < lenient.after["recall"].value
    assert strict.after["precision"].value > lenient.after["precision"].value


def test_scores_that_are_too_sure_are_calibrated_on_answers_held_out():
    rng = np.random.default_rng(0)
    odds = rng.normal(0, 1.2, 800)
    labels = rng.random(800) < 1 / (1 + np.exp(-odds))
    given = [
        example(i, float(1 / (1 + np.exp(-3 * odd))), bool(label))
        for i, (odd, label) in enumerate(zip(odds, labels, strict=True))
    ]
    tuned = tuning.tune(*judged(given))
    assert tuned.reading.kind != "none"
    assert tuned.after["brier"].high < tuned.before["brier"].low
    assert tuned.after["calibration_error"].value < tuned.before["calibration_error"].value


@pytest.mark.parametrize(
    ("kind", "given", "why"),
    [
        ("isotonic", examples(60), "takes 50 answers of each label"),
        ("platt", [replace(one, label=not one.label) for one in examples(60)], "hardly rise with the labels"),
    ],
)
def test_a_calibration_that_was_asked_for_and_is_not_there_is_told(kind, given, why):
    tuned = tuning.tune(*judged(given), calibration=kind).tuned
    assert tuned.calibration is None
    assert [why in one for one in tuned.warnings if f"no calibration was fitted, though {kind!r}" in one] == [
        True
    ]
    assert not any("was asked for" in one for one in tuning.tune(*judged(given)).tuned.warnings)


def test_the_rule_from_claims_is_chosen_where_it_is_better():
    """The detector says its worst claim; what tells is how many are bad."""
    rng = np.random.default_rng(1)
    given = []
    for i in range(300):
        label = bool(rng.random() < 0.4)
        claims = (rng.random(8) < (0.55 if label else 0.2)).astype(float) * 0.8 + 0.1
        claims[0] = 0.9
        given.append(example(i, 0.9, label, claims=claims.tolist()))
    tuned = tuning.tune(*judged(given))
    assert tuned.reading.rule in ("fraction", "length_weighted")
    assert tuned.read.startswith("its claims by")
    checker = Checker(Told(), policy=Policy(tuned=tuned.tuned))
    outcome = checker.check(given[0].interaction)
    assert outcome.raw == pytest.approx(tuned.tuned.aggregation(outcome.claims))
    kept = tuning.tune(*judged(given), aggregation="own", target="recall>=0.9")
    assert kept.tuned.aggregation is None


def test_answers_that_could_not_be_judged_take_no_part_and_are_told():
    given = [*examples(200), *(example(f"mute {i}", None, True) for i in range(20))]
    tuned = tuning.tune(*judged(given))
    assert tuned.tuned.labels.answers == 200
    assert tuned.tuned.labels.not_judged == 20
    assert tuned.not_judged == {"NO_CLAIMS": 20}
    assert any("20 of 220 labelled answers could not be judged" in one for one in tuned.tuned.warnings)


def test_answers_without_a_label_take_no_part():
    given = [*examples(200), example("nobody knows", 0.5, None)]
    assert tuning.tune(*judged(given)).tuned.labels.answers == 200


def test_on_few_labels_it_says_how_many_would_do():
    tuned = tuning.tune(*judged(examples(60, apart=3, seed=2)), target="precision>=0.9")
    told = " ".join(tuned.tuned.warnings)
    assert "sources have hallucinated answers: the intervals are rough" in told
    assert "36 sources with flagged answers at least" in told
    assert "labelled answers (now 60)" in told


def test_where_flagging_everything_does_as_well_it_says_so():
    tuned = tuning.tune(*judged(examples(300, apart=0.05, seed=4)), target="f1")
    assert any("flagging every answer has f1" in one for one in tuned.tuned.warnings)


def test_labels_that_are_too_few_for_a_stack_s_promise_are_refused_before_anything_is_judged():
    """A third of them choose the combination; one detector can be tuned by all."""
    given = [example(i, 0.5, i < 60) for i in range(130)]
    target = tuning.Target.parse("false_alarms<=0.05 with 0.95")
    tuning.require_labels(given, target)
    with pytest.raises(TuningError, match="too few for a stack"):
        tuning.require_labels(given, target, stack=True)


def test_labels_the_wrong_way_round_are_suspected():
    given = [replace(one, label=not one.label) for one in examples(200)]
    told = " ".join(tuning.tune(*judged(given)).tuned.warnings)
    assert "Are the labels the wrong way round? 1 is hallucinated, 0 grounded" in told


def test_sources_that_share_a_passage_are_told():
    """Held out, such an answer is judged by a tuning that has seen its document."""
    given = [replace(one, group=f"{one.group} {n}") for one in examples(60) for n in range(3)]
    told = " ".join(tuning.tune(*judged(given)).tuned.warnings)
    assert "sources that share a passage with another: 180, such as" in told
    assert "share a passage" not in " ".join(tuning.tune(*judged(examples(60))).tuned.warnings)


def test_answers_that_are_labelled_both_ways_are_told():
    given = examples(60)
    told = " ".join(
        tuning.tune(*judged([*given, replace(given[0], label=not given[0].label)])).tuned.warnings
    )
    assert "repeated answers that are labelled both ways: 1, such as" in told
    assert "both ways" not in " ".join(tuning.tune(*judged(given)).tuned.warnings)


def test_a_promise_is_kept_in_words_and_told_with_its_condition():
    tuned = tuning.tune(*judged(examples(400)), target="false_alarms<=0.1 with 0.9")
    assert "at most 0.1 of the grounded answers are flagged" in tuned.tuned.promise
    assert "if answers to come are like those" in tuned.tuned.promise
    assert tuned.after["false_alarms"].value < 0.1


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (examples(100), {"target": "precision>=1"}, "no threshold reaches|no number of labels"),
        (examples(100), {"target": "false_alarms<=0.01"}, "it takes 299 at least"),
        (examples(100), {"target": "cost<=1 calls"}, "makes the same calls whatever its threshold"),
        (examples(100), {"calibration": "beta"}, "expected one of auto, none, temperature, platt, isotonic"),
        (examples(100), {"aggregation": "mean"}, "expected one of auto, own, any_unsupported"),
        (examples(100), {"aggregation": "fraction"}, "no claims with scores"),
        (examples(100, a_group=100), {}, "are about one source"),
        ([example(i, 0.5, True) for i in range(9)], {}, "all 9 answers are labelled hallucinated"),
        ([example(i, None, i % 2 == 0) for i in range(9)], {}, "all 9 with a label abstained"),
        ([example(i, 0.5, None) for i in range(9)], {}, "no labelled answer"),
    ],
)
def test_labels_and_options_that_can_not_work_are_refused_with_what_would(given, options, message):
    said, checker = judged(given)
    if options.get("target") == "precision>=1":
        said = [one for one in said if one.example.label or one.outcome.score < 0.99]
        said += judged([example("top", 1.0, False)])[0]
    with pytest.raises(TuningError, match=message):
        tuning.tune(said, checker, **options)


def test_what_another_detector_said_is_refused():
    said, _ = judged(examples(60))
    with pytest.raises(TuningError, match="with other parameters or in another version"):
        tuning.tune(said, Checker(Told(tint="other")))
    with pytest.raises(TuningError, match="judged by 'told'"):
        tuning.tune(said, Checker("lexical"))


def test_a_checker_that_reads_scores_its_own_way_already_is_refused(found):
    with pytest.raises(ConfigurationError, match="neither 'grading' nor 'tuned'"):
        tuning.tune(judged(examples(60))[0], Checker(Told(), policy=Policy(tuned=found.tuned)))


def pairs(count=240):
    """The same answers by two detectors, of which each sees half."""
    rng = np.random.default_rng(3)
    signs = rng.normal(0, 1, (count, 2))
    labels = rng.random(count) < 1 / (1 + np.exp(-2.5 * signs.sum(axis=1)))
    shown = 1 / (1 + np.exp(-2 * signs))
    return [[example(i, float(shown[i, m]), bool(labels[i])) for i in range(count)] for m in range(2)]


def stacked(target="f1", **options):
    """Both halves; an example's answer tells the detector its score, so each detector gets its own."""
    one, other = (judged(given, Told(tint=str(m))) for m, given in enumerate(pairs()))
    return tuning.stack([one[0], other[0]], [one[1], other[1]], target=target, **options)


def test_a_stack_is_better_than_its_first_member_on_answers_held_out():
    tuned = stacked()
    assert isinstance(tuned.detector, Stacked)
    assert tuned.after["auroc"].low > tuned.before["auroc"].value
    assert tuned.read == "logistic combination of told, told"
    assert tuned.tuned.origin.parameters["members"][0]["parameters"]["tint"] == "0"


def test_a_member_without_use_is_left_out_and_one_alone_is_no_stack():
    useful, checker = judged(examples(300), Told(tint="good"))
    noise = [example(one.example.id, 1 - one.outcome.score, one.example.label) for one in useful]
    against, other = judged(noise, Told(tint="bad"))
    with pytest.raises(TuningError, match="only 'told' is of use on your labels: tune it by itself"):
        tuning.stack([useful, against], [checker, other], combination="logistic")


def test_an_answer_that_one_member_could_not_judge_takes_no_part_in_a_stack():
    one, other = pairs()
    mute = [example(str(i), None, given.label) if i < 15 else given for i, given in enumerate(other)]
    first, second = judged(one, Told(tint="0")), judged(mute, Told(tint="1"))
    tuned = tuning.stack([first[0], second[0]], [first[1], second[1]])
    assert tuned.tuned.labels.answers == 225
    assert tuned.not_judged == {"NO_CLAIMS": 15}


def fares(i):
    """An answer that gives the bag's price as the document does, or, every third, one euro more."""
    wrong = i % 3 == 0
    return Example(
        id=str(i),
        interaction=Interaction(
            contexts=f"A bag costs {i} EUR. Dogs pay {i + 7} EUR.", answer=f"A bag costs {i + wrong} EUR."
        ),
        label=wrong,
    )


def test_a_stack_is_written_and_read_and_judges_as_it_was_measured(tmp_path):
    given = [fares(i) for i in range(90)]
    checkers = [Checker(Lexical()), Checker(TokenOverlap())]
    tuned = tuning.stack([list(judge(given, one)) for one in checkers], checkers)
    tuned.save(tmp_path / "stack.json")
    checker = Checker.from_config(tmp_path / "stack.json")
    assert checker.detector == tuned.detector
    for one in given[:12]:
        outcome = checker.check(one.interaction)
        assert outcome.hallucinated == (outcome.raw >= tuned.reading.cut) == one.label


def staged(scores, labels):
    """A cascade of two stages, and what each says of every answer; the second costs a call."""
    cascade = Cascade(
        stages=(
            Stage(detector=Told(tint="cheap"), accept=0.1, flag=0.9, name="cheap"),
            Stage(detector=Told(tint="dear"), name="dear"),
        ),
        facts=Facts.OFF,
    )
    checker = Checker(cascade)
    said = []
    for m, stage in enumerate(tuning.stages(checker)):
        given = [example(i, float(scores[i][m]), bool(label)) for i, label in enumerate(labels)]
        judged_ = list(judge(given, stage))
        said.append([_costing(one, m) for one in judged_])
    return said, checker


def _costing(one, calls):
    usage = replace(one.outcome.usage, calls=calls)
    return replace(one, outcome=replace(one.outcome, usage=usage))


def two_stages(count=400):
    rng = np.random.default_rng(5)
    truth = rng.normal(0, 1, count)
    labels = truth > 0.3
    cheap = 1 / (1 + np.exp(-(truth - 0.3) * 2 - rng.normal(0, 1.2, count)))
    dear = np.where(rng.random(count) < 0.95, labels, ~labels) * 0.8 + 0.1
    return np.column_stack([cheap, dear]), labels


def test_bands_keep_a_budget_of_calls_on_answers_held_out_and_reach_more_than_the_cheap_stage():
    scores, labels = two_stages()
    found_ = tuning.tune_cascade(*staged(scores, labels), target="cost<=0.3 calls")
    assert found_.after["calls"].value <= 0.33
    alone = tuning.tune_cascade(*staged(scores, labels), target="cost<=0 calls")
    assert alone.after["calls"].value == 0
    assert found_.after["f1"].value > alone.after["f1"].value + 0.03
    dear = tuning.tune_cascade(*staged(scores, labels), target="f1")
    assert dear.after["calls"].value > 0.3


def test_a_cascade_with_fitted_bands_is_written_and_read(tmp_path):
    scores, labels = two_stages(200)
    tuned = tuning.tune_cascade(*staged(scores, labels), target="cost<=0.3 calls")
    assert tuned.read == "the bands of its stages"
    checker = Checker(tuned.detector, policy=Policy(tuned=tuned.tuned))
    outcome = checker.check(example(0, 0.5, True).interaction)
    assert outcome.route.decided in ("cheap", "dear")
    lexical = Cascade(stages=(Stage(detector=Lexical(), accept=0.2, flag=0.85), "token"))
    settings = settings_of(lexical)
    assert Checker.from_config({"detector": json.loads(json.dumps(settings))}).detector == lexical


@pytest.mark.parametrize("target", ["accuracy", "false_alarms<=0.1 with 0.9"])
def test_what_bands_are_not_fitted_for_is_refused(target):
    scores, labels = two_stages(120)
    with pytest.raises(TuningError, match="bands are fitted for f1, precision"):
        tuning.tune_cascade(*staged(scores, labels), target=target)


def test_what_is_no_cascade_has_no_bands():
    with pytest.raises(TuningError, match="only a cascade has bands"):
        tuning.stages(Checker("lexical"))
    with pytest.raises(TuningError, match="of one stage has no bands"):
        tuning.stages(Checker(Cascade(stages=("lexical",))))


def telling(system, user):
    """A model that grades by the score that stands in the answer."""
    grade = "high" if "score 0.9" in user else "low"
    return json.dumps({"level": grade, "reason": "One. Two."})


def other_model(system, user):
    return json.dumps({"level": "low", "reason": "One. Two."})


def test_with_a_judge_the_model_and_its_prompts_are_part_of_what_a_tuning_was_made_with():
    given = [
        Example(
            id=one.id,
            interaction=Interaction(
                question="?",
                contexts="It is so.",
                answer=f"It is so: score {0.9 if one.label and i % 5 else 0.1}.",
            ),
            label=one.label,
            group=one.id,
        )
        for i, one in enumerate(examples(90))
    ]
    checker = Checker("level", judge=Judge(telling))
    tuned = tuning.tune(judge(given, checker), checker).tuned
    assert tuned.origin.prompts["level"] == "1"
    assert Checker("level", judge=Judge(telling), policy=Policy(tuned=tuned)).check(given[0].interaction)
    with pytest.raises(ConfigurationError, match=r"model '.*telling' then, '.*other_model' now"):
        Checker("level", judge=Judge(other_model), policy=Policy(tuned=tuned))
