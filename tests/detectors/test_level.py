"""Levels: what is graded by, what it is read as, and what own words can and can't change."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import (
    AbstentionReason,
    Checker,
    ConfigurationError,
    Grading,
    Interaction,
    Judge,
    Kind,
    Level,
    Policy,
    Role,
    Turn,
    config,
)
from groundwire.core.plain import plain
from groundwire.detectors.level import SCORES, LevelDetector
from groundwire.judge.drivers import run
from tests.detectors.players import Player

ASKED = Interaction(
    question="The fee?",
    contexts=["The fee is 25 EUR.", " "],
    answer="The fee is 75 EUR.",
    history=[Turn(role=Role.USER, text="Hello there.")],
)
ALONE = Interaction(question="The fee?", answer="Dogs are nice.")
REASON = "It says 75 EUR. The documents say 25 EUR."


def graded(level="high", interaction=ASKED, **parameters):
    form = {"level": level, "reason": REASON}
    player = Player(level=form, level_alone=form)
    return run(LevelDetector(**parameters).detect(interaction), player), player


@pytest.mark.parametrize(
    ("level", "hallucinated", "kind"),
    [
        ("low", False, None),
        ("medium", True, Kind.PARTIALLY_CORRECT),
        ("high", True, Kind.CONTEXT_CONFLICTING),
        (" HIGH. ", True, Kind.CONTEXT_CONFLICTING),
    ],
)
def test_the_models_level_is_the_verdicts_with_its_reason(level, hallucinated, kind):
    outcome, player = graded(level)
    assert outcome.level == level.strip(" .").lower()
    assert outcome.hallucinated is hallucinated
    assert outcome.kind is kind
    assert outcome.reason == REASON
    assert player.calls == 1


def test_with_references_all_four_texts_are_shown_and_quoted():
    _, player = graded()
    (request,) = player.named("level")
    shown = re.findall(r"^<<<(?!end)(.+) [0-9a-f]{12}>>>\n(.*)", request.user, re.MULTILINE)
    assert shown == [
        ("earlier turn by the user", "Hello there."),
        ("question", "The fee?"),
        ("passage 1", "The fee is 25 EUR."),
        ("answer", "The fee is 75 EUR."),
    ]


@pytest.mark.parametrize("word", ["plot", "chart", "could have added", "know yourself", "true in the world"])
def test_what_is_not_graded_is_said(word):
    _, player = graded()
    assert word in " ".join(player.named("level")[0].system.split())


@pytest.mark.parametrize("level", list(Level))
def test_without_references_it_is_graded_whether_the_answer_answers(level):
    outcome, player = graded(level.value, interaction=ALONE)
    assert len(player.named("level_alone")) == 1
    assert outcome.level is level
    assert outcome.kind is (None if level is Level.LOW else Kind.IRRELEVANT)


def test_without_references_nobody_is_told_that_documents_support_the_answer():
    """Not by the detector's words, and not after a checker has read the verdict by its own threshold."""
    outcome, _ = graded("low", interaction=ALONE)
    assert outcome.wording.title == "Answers the question; no documents to check it by"
    assert outcome.reason.startswith("There were no documents to check by")
    settings = config.load({"levels": {"medium": {"label": "AMBER"}}})
    assert outcome.regraded(settings.build_grading(LevelDetector().grading)).wording == outcome.wording


def test_without_references_it_can_be_told_to_abstain():
    outcome, player = graded(interaction=ALONE, alone=False)
    assert outcome.why is AbstentionReason.NO_CONTEXT
    assert player.calls == 0


def test_without_references_and_question_there_is_nothing_to_grade_by():
    outcome, player = graded(interaction=Interaction(answer="Dogs are nice."))
    assert outcome.why is AbstentionReason.NO_CONTEXT
    assert player.calls == 0


@pytest.mark.parametrize(
    "reply",
    [
        "high",
        "The level is high.",
        {"level": "severe", "reason": "r"},
        {"level": "low"},
        {"level": "low", "reason": " "},
    ],
)
def test_a_level_without_its_form_is_refused(reply):
    player = Player(level=reply)
    outcome = run(LevelDetector().detect(ASKED), player)
    assert outcome.why is AbstentionReason.UNREADABLE_REPLY
    assert player.calls == 2


OWN = {
    "system": "Grade $output_text by $contexts_text. It costs $$5.",
    "user": "Asked: $input_text\nBefore: $history_messages_text",
}


def own_words(**parts):
    detector = LevelDetector(prompts={"level": parts})
    return next(detector.detect(ASKED))[0]


def test_own_words_take_the_place_of_ours_and_keep_texts_quoted():
    request = own_words(**OWN)
    code = re.search(r"\AThe code of this message is ([0-9a-f]{12})\.", request.user)[1]
    assert request.system == (
        f"Grade <<<answer {code}>>>\nThe fee is 75 EUR.\n<<<end answer {code}>>> by "
        f"<<<passage 1 {code}>>>\nThe fee is 25 EUR.\n<<<end passage 1 {code}>>>. It costs $5."
    )
    assert f"Asked: <<<question {code}>>>\nThe fee?\n<<<end question {code}>>>" in request.user
    assert '{"level": "low, medium or high", "reason": "..."}' in request.user


def test_a_part_that_is_not_replaced_stays():
    request = own_words(system="Grade by support alone.")
    assert request.system == "Grade by support alone."
    assert "What the user asked:" in request.user


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"level": {"system": "$answer"}},
            r"prompts\.level\.system: unknown placeholder \$answer; .*\$output_text",
        ),
        ({"level": {"user": "costs $5"}}, r"prompts\.level\.user: a '\$' that begins no name; write '\$\$'"),
        ({"level": {"user": "$input_text"}}, r"prompts\.level: neither text shows \$output_text"),
        ({"level": {"usr": "x"}}, r"prompts\.level\.usr: expected one of system, user"),
        ({"level": {"user": 7}}, r"prompts\.level\.user: expected a text, not int"),
        ({"level": "x"}, r"prompts\.level: expected 'system' and 'user'"),
        ({"levl": {"user": "x"}}, r"prompts\.levl: .* did you mean 'level'\?"),
        (
            {"self_eval": {"system": "x"}},
            r"prompts\.self_eval: this method does not use it; .* level, level_alone",
        ),
        ("level", "prompts: expected names and texts, not str"),
    ],
)
def test_own_words_that_can_not_work_are_refused_early(given, message):
    with pytest.raises(ConfigurationError, match=message):
        LevelDetector(prompts=given)


def test_a_verdict_tells_own_words_by_their_fingerprint_alone():
    told = plain(LevelDetector(prompts={"level": OWN}).spec.parameters)["prompts"]
    assert re.fullmatch(r"OwnWords\(level; [0-9a-f]{16}\)", told)
    assert LevelDetector(prompts={"level": OWN}) == LevelDetector(prompts={"level": dict(OWN)})


SETTINGS = """
enabled = true
judge = { model = "bedrock:some.model", timeout = 5, parameters = { temperature = 0 } }

[detector]
name = "level"

[detector.prompts.level]
system = "Grade by the references."
user = "$history_messages_text $input_text $contexts_text $output_text"

[detector.prompts.level_alone]
system = "Grade by the question."
user = "$input_text $output_text"

[levels]
low = { label = "OK", title = "Fine", warning = "none" }
medium = { label = "CHECK" }
high = { label = "STOP", title = "Not ours", warning = "Do not send." }
"""


def test_model_prompts_and_words_are_set_in_a_settings_file(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text(SETTINGS, encoding="utf-8")
    settings = config.load(path)
    detector = settings.build_detector()
    grading = settings.build_grading(detector.grading)
    assert settings.judge.parameters == {"temperature": 0}
    assert next(detector.detect(ASKED))[0].system == "Grade by the references."
    assert next(detector.detect(ALONE))[0].system == "Grade by the question."

    def reply(system, user):
        return '{"level": "high", "reason": "One. Two."}'

    outcome = Checker(detector, judge=Judge(reply), policy=Policy(grading=grading)).check(ASKED)
    assert (outcome.wording.label, outcome.wording.title) == ("STOP", "Not ours")
    assert grading.words(Level.MEDIUM).title == "May not be fully supported"


@given(st.floats(0.17, 0.83))
def test_by_any_threshold_but_the_outermost_the_level_is_read_as_the_model_gave_it(threshold):
    grading = Grading(threshold=threshold)
    assert [grading.level(SCORES[level]) for level in Level] == list(Level)
