"""Checkers that read by a tuning: from files, from Python, and what they refuse."""

import json
import resource

import pytest

from groundwire import Checker, ConfigurationError, Grading, Interaction, Judge, Level, Policy, config
from groundwire.core.aggregation import Fraction
from groundwire.core.calibration import Platt
from groundwire.core.example import Example, Examples
from groundwire.core.tuned import Figure, Labels, Tuned
from groundwire.detectors import JudgeDetector, Lexical, TokenOverlap
from groundwire.judge.memory import Memory
from groundwire.tuned import origin_of
from groundwire.tuned_file import from_dict, save, settings_of, to_dict

LABELS = Labels(fingerprint="f" * 16, answers=200, hallucinated=80, groups=150)
INTERACTION = Interaction(contexts="The bag costs 25 EUR.", answer="The bag costs 75 EUR.")


def tuned(detector=None, judge=None, **fields):
    return Tuned(
        origin=origin_of(detector or Lexical(), judge),
        grading=Grading(threshold=0.7, medium=0.3, high=0.9),
        target="precision>=0.9",
        labels=LABELS,
        **{"calibration": Platt(slope=3.0, intercept=-1.0), **fields},
    )


@pytest.fixture
def file(tmp_path):
    """A file as groundwire tune writes it."""
    path = tmp_path / "tuned.json"
    save(tuned(), path, beside={"detector": "lexical"})
    return path


def test_the_file_alone_is_enough_for_a_checker(file):
    checker = Checker.from_config(file)
    assert checker.detector == Lexical()
    assert checker.policy.tuned == tuned()
    own = Checker("lexical").check(INTERACTION)
    read = checker.check(INTERACTION)
    assert read.score == Platt(slope=3.0, intercept=-1.0)(own.score)
    assert (read.raw, read.threshold) == (own.score, 0.7)
    assert read.detector.parameters["tuned"] == tuned().fingerprint


@pytest.mark.parametrize("detector", [{}, {"detector": "lexical"}, {"detector": {"name": "lexical"}}])
def test_settings_name_the_file_beside_them_and_add_words_of_their_own(file, detector):
    settings = file.parent / "groundwire.json"
    levels = {"high": {"label": "STOP"}}
    settings.write_text(json.dumps({**detector, "tuned": "tuned.json", "timeout": 5, "levels": levels}))
    checker = Checker.from_config(settings)
    assert checker.detector == Lexical()
    assert checker.policy.timeout == 5
    assert checker.policy.tuned.grading.words(Level.HIGH).label == "STOP"
    assert checker.policy.tuned.grading.threshold == 0.7
    assert checker.check(INTERACTION).wording.label in ("STOP", "YELLOW")


def test_a_yaml_file_is_written_and_read(tmp_path):
    pytest.importorskip("yaml")
    save(tuned(), tmp_path / "tuned.yaml", beside={"detector": "lexical"})
    assert Checker.from_config(tmp_path / "tuned.yaml").policy.tuned == tuned()


def test_where_a_disk_is_full_the_tuning_that_was_there_stays(tmp_path):
    """An application that starts from it finds no empty file; the message names what could not be written."""
    place, link = tmp_path / "tuned.json", tmp_path / "link.json"
    place.write_text("what was there")
    place.chmod(0o640)
    link.symlink_to(place)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(OSError, match=r"link\.json"):
            save(tuned(), link, beside={"detector": "lexical"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert place.read_text() == "what was there"
    save(tuned(), link, beside={"detector": "lexical"})
    assert link.is_symlink()
    assert place.stat().st_mode & 0o777 == 0o640
    assert Checker.from_config(place).policy.tuned == tuned()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link.json", "tuned.json"]


def test_settings_may_hold_the_tuning_itself():
    checker = Checker.from_config({"detector": "lexical", "tuned": to_dict(tuned(aggregation=Fraction()))})
    assert checker.policy.tuned.aggregation == Fraction()


def test_a_checker_of_another_detector_is_refused_and_told_what_differs(file):
    with pytest.raises(ConfigurationError) as caught:
        Checker.from_config({"detector": "token", "tuned": str(file)})
    assert "tuned: detector 'lexical' then, 'token' now" in caught.value.problems
    assert "run groundwire tune again, or remove 'tuned'" in str(caught.value)


def test_everything_that_makes_other_scores_is_told_at_once():
    judge = Judge(lambda system, user: "{}")
    made = tuned(JudgeDetector(claims_per_call=10), judge)
    with pytest.raises(ConfigurationError) as caught:
        Checker(JudgeDetector(turns=2), judge=Judge(print), policy=Policy(tuned=made))
    told = " ".join(caught.value.problems)
    assert "parameter 'claims_per_call' 10 then, 40 now" in told
    assert "parameter 'turns' 6 then, 2 now" in told
    assert "model '" in told
    assert Checker(JudgeDetector(claims_per_call=10), judge=judge, policy=Policy(tuned=made))


def test_a_prompt_of_another_version_is_refused():
    judge = Judge(print)
    made = tuned(JudgeDetector(), judge)
    old = from_dict(
        _forged({**to_dict(made), "origin": {**to_dict(made)["origin"], "prompts": {"judge": "0"}}})
    )
    with pytest.raises(ConfigurationError, match="prompt 'judge' '0' then, '1' now"):
        Checker(JudgeDetector(), judge=judge, policy=Policy(tuned=old))


def _forged(data):
    """The same with the fingerprint that it should have, as an older groundwire would have written it."""
    try:
        from_dict(data)
    except ConfigurationError as error:
        return {**data, "fingerprint": str(error).split("fingerprint is ")[1][:16]}
    return data


def test_what_a_judge_remembers_or_how_long_it_waits_makes_no_difference():
    made = tuned(JudgeDetector(), Judge(print))
    judge = Judge(print, memory=Memory(), timeout=3)
    assert Checker(JudgeDetector(), judge=judge, policy=Policy(tuned=made))


def test_a_detector_with_cuts_of_its_own_is_another_one():
    with pytest.raises(ConfigurationError, match="the detector's own cuts"):
        Checker(Lexical(grading=Grading(threshold=0.1)), policy=Policy(tuned=tuned()))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": 0.5}, "threshold: the tuning has set it; remove it, or 'tuned'"),
        ({"levels": {"high": {"from": 0.9}}}, "levels.high.from: the tuning has set it"),
        ({"detector": {"name": "lexical", "turns": 2}}, "unknown key 'turns'"),
    ],
)
def test_what_the_tuning_has_set_is_not_set_once_more(file, settings, message):
    with pytest.raises(ConfigurationError, match=message):
        Checker.from_config({"tuned": str(file), **settings})


def test_a_policy_has_one_reading():
    with pytest.raises(ConfigurationError, match="grading and tuned both set the threshold"):
        Policy(tuned=tuned(), grading=Grading())
    with pytest.raises(ConfigurationError, match="tuned must be a Tuned, not dict"):
        Policy(tuned={})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": 0.6}, "changed after it was fitted: its fingerprint is"),
        ({"medium": 0.1}, "changed after it was fitted"),
        ({"calibration": None}, "changed after it was fitted"),
        ({"calibration": {"kind": "spline"}}, "unknown calibration kind 'spline'"),
        ({"aggregation": {"kind": "mean"}}, "unknown aggregation rule 'mean'"),
        ({"threshold": 2.0}, "threshold must be a number in"),
        ({"threshold": 0.95}, "must enclose the threshold"),
        ({"version": 2}, "tuned.version: input should be less than or equal to 1"),
        ({"origin": {}}, "tuned.origin.detector: field required"),
        ({"pickle": "x"}, "tuned.pickle: extra inputs are not permitted"),
    ],
)
def test_a_file_that_was_changed_or_is_none_is_refused(change, message):
    with pytest.raises(ConfigurationError, match=message):
        from_dict({**to_dict(tuned()), **change})


def test_words_and_figures_may_be_changed_by_hand_and_decide_nothing():
    held_out = {"f1": Figure(value=0.7, low=0.6, high=0.8)}
    told = {**to_dict(tuned(held_out=held_out)), "warnings": ["read this"]}
    assert from_dict(told).held_out == held_out
    assert from_dict(told).fingerprint == tuned().fingerprint


def test_a_file_without_a_tuning_is_told_apart(tmp_path):
    (tmp_path / "a.json").write_text('{"threshold": 0.5}')
    with pytest.raises(
        ConfigurationError, match=r"a.json' holds no tuning: expected a file that groundwire tune"
    ):
        Checker.from_config({"tuned": str(tmp_path / "a.json")})
    with pytest.raises(ConfigurationError, match="No such file"):
        Checker.from_config({"tuned": str(tmp_path / "absent.json")})
    with pytest.raises(ConfigurationError, match=r"written as .json or .yaml"):
        save(tuned(), tmp_path / "a.pickle", beside={})


@pytest.mark.parametrize(
    "detector",
    [
        "lexical",
        {"name": "judge", "claims_per_call": 12, "aggregation": "fraction"},
        {"name": "encoder", "model": "a/b", "aggregation": {"kind": "worst_k", "k": 3}},
        {"name": "cascade", "stages": [{"detector": "lexical", "accept": 0.1}, "token"], "facts": "off"},
        {
            "name": "claim_ensemble",
            "oracles": ["embedded", {"detector": {"name": "claim_reader", "readings": 2}, "model": "second"}],
            "resolution": {"by": "weighted", "reliabilities": {"embedded": 0.7}},
            "aggregation": {"kind": "fitted", "weights": [1, 0, 0, 0, 0], "bias": -0.5},
            "dynamic": {"domains": {"medical": 2}},
        },
        {"name": "claim_ensemble", "oracles": ["lexical"], "resolution": "confidence"},
    ],
)
def test_a_detector_is_named_in_settings_as_it_was_built(detector):
    built = _built(detector)
    assert _built(json.loads(json.dumps(settings_of(built)))) == built


def _built(detector):
    return config.load({"detector": detector}).build_detector()


def test_parameters_that_settings_have_no_form_for_are_told():
    shown = Examples([Example(interaction=INTERACTION, score=1.0)])
    with pytest.raises(ConfigurationError, match="have no form in settings"):
        settings_of(JudgeDetector(examples=shown))
    with pytest.raises(ConfigurationError, match="have no form in settings"):
        settings_of(TokenOverlap(tokenizer=str.split))
