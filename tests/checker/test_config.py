"""Settings: every format reads the same, and all mistakes are named at once."""

import json
import urllib.request

import pytest
from langchain_core.language_models import FakeListChatModel
from pydantic import ValidationError

from groundwire import Checker, ConfigurationError, Interaction, Judge, Level
from groundwire.config import load
from groundwire.config.section import Section
from groundwire.core.budget import Budget
from groundwire.judge.memory import MemoryMode
from groundwire.judge.prices import Price
from groundwire.langchain import GroundwireCallbackHandler, with_hallucination_check
from groundwire.policy import OnAbstention
from tests.servers.bedrock_server import bedrock, embeds

__all__ = ["bedrock"]

SETTINGS = {
    "detector": "lexical",
    "timeout": 5,
    "on_abstention": "raise",
    "threshold": 0.4,
    "levels": {
        "medium": {"from": 0.2, "label": "AMBER", "title": "Please check", "warning": "Check this."},
        "high": {"from": 0.8, "label": "STOP"},
    },
}

YAML = """
detector: lexical
timeout: 5
on_abstention: raise
threshold: 0.4
levels:
  medium: {from: 0.2, label: AMBER, title: Please check, warning: Check this.}
  high: {from: 0.8, label: STOP}
"""

TOML = """
detector = "lexical"
timeout = 5
on_abstention = "raise"
threshold = 0.4
[levels.medium]
from = 0.2
label = "AMBER"
title = "Please check"
warning = "Check this."
[levels.high]
from = 0.8
label = "STOP"
"""


@pytest.fixture(params=["dict", "json", "toml", "yaml"])
def source(request, tmp_path):
    texts = {"json": json.dumps(SETTINGS), "toml": TOML, "yaml": YAML}
    if request.param == "dict":
        return SETTINGS
    path = tmp_path / f"groundwire.{request.param}"
    path.write_text(texts[request.param])
    return path


def test_the_same_settings_in_every_format_build_the_same_checker(source):
    policy = Checker.from_config(source).policy
    assert policy.timeout == 5
    assert policy.on_abstention is OnAbstention.RAISE
    assert policy.grading.threshold == 0.4
    assert policy.grading.cuts == (0.2, 0.8)
    assert policy.grading.words(Level.MEDIUM).label == "AMBER"
    assert policy.grading.words(Level.HIGH).label == "STOP"


def test_words_that_are_left_out_keep_their_default():
    checker = Checker.from_config({"levels": {"high": {"label": "STOP"}}})
    words = checker.policy.grading.words(Level.HIGH)
    assert words.label == "STOP"
    assert words.title == "Not supported by the documents"
    assert checker.policy.grading.threshold == checker.detector.grading.threshold


def test_empty_settings_are_the_default_checker():
    checker = Checker.from_config({})
    assert checker.detector.name == "embedded"
    assert checker.policy.grading is None


def test_replaced_words_reach_the_outcome():
    checker = Checker.from_config({"levels": {"high": {"label": "STOP", "warning": "Ask a human."}}})
    outcome = checker.check(
        Interaction(contexts="The fee is 25 EUR per bag.", answer="Dragons guard the moon for 9000 years.")
    )
    assert outcome.to_dict()["label"] == "STOP"
    assert outcome.to_dict()["warning"] == "Ask a human."


def test_every_mistake_is_named_at_once_with_a_hint():
    with pytest.raises(ConfigurationError) as caught:
        Checker.from_config(
            {"detectr": "lexical", "threshold": 1.5, "levels": {"medium": {"form": 0.2}}, "timeout": -1}
        )
    assert len(caught.value.problems) == 4
    message = str(caught.value)
    assert "unknown key 'detectr'; did you mean 'detector'?" in message
    assert "levels.medium: unknown key 'form'; did you mean 'from'?" in message
    assert "threshold: input should be less than or equal to 1, not 1.5" in message
    assert "timeout: input should be greater than 0, not -1" in message


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"detector": {"parameter": 1}}, "needs a 'name'"),
        ({"detector": {"name": "lexical", "treshold": 1}}, "detector: unknown key 'treshold'"),
        ({"detector": "nothing"}, "unknown detector 'nothing'"),
        ({"detector": "judge"}, "asks a language model, and none was given"),
        ({"detector": {"name": "judge", "grading": {"threshold": 0.4}}}, "use 'threshold' and 'levels'"),
        (
            {"detector": {"name": "judge", "aggregation": "any"}},
            "detector: aggregation must be an Aggregation",
        ),
        (
            {"detector": {"name": "judge", "claims_per_call": 2.5}},
            "detector: claims_per_call must be a whole",
        ),
        ({"detector": {"name": ["judge"]}}, "detector.name: expected a text, not a list"),
        ({"levels": {"low": {"from": 0.1}}}, "always begins at 0"),
        ({"levels": {"high": 0.3}}, "levels.high: expected a table of from, label, title, warning, not 0.3"),
        ({"threshold": 0.5, "levels": {"high": {"from": 0.3}}}, "must enclose the threshold"),
    ],
)
def test_settings_that_can_not_work_are_refused(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        Checker.from_config(settings)


def test_mistakes_of_every_part_are_named_together():
    parts = {
        "detector": {"name": "lexical", "flag": 1},
        "fallback": "nobody",
        "redact": ["names"],
        "sinks": ["nowhere"],
        "judge": {"model": "no model"},
        "levels": {"low": {"from": 0.1}},
    }
    with pytest.raises(ConfigurationError) as caught:
        Checker.from_config(parts)
    said = [one.partition(":")[0] for one in caught.value.problems]
    assert said[:-2] == ["detector", "levels.low.from", "redact", "fallback"]
    assert said[-2:] == ["model 'no model' can't be set up", "sinks.0"]
    with pytest.raises(ConfigurationError) as caught:
        Checker.from_config({**parts, "threshold": 2})
    said = [one.partition(":")[0] for one in caught.value.problems]
    assert said == ["threshold", "detector", "redact", "fallback", "sinks.0"]


def test_what_no_setting_can_be_is_told_once():
    with pytest.raises(ConfigurationError) as caught:
        Checker.from_config({"detector": 5, "fallback": ["lexical"], "redact": "keys", "sinks": [5]})
    assert caught.value.problems == (
        "detector: expected a name or a table, not 5",
        "redact: expected a list, not 'keys'",
        "fallback: expected a name or a table, not a list",
        "sinks.0: expected a name or a table, not 5",
    )


@pytest.mark.parametrize(("name", "text"), [("a.json", '{"threshold": 0.3}'), ("a.toml", "threshold = 0.3")])
def test_a_file_may_begin_with_the_mark_of_an_editor(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert Checker.from_config(tmp_path / name).policy.grading.threshold == 0.3


def test_mistakes_of_the_detector_and_of_the_levels_are_named_together():
    with pytest.raises(ConfigurationError) as caught:
        Checker.from_config(
            {
                "detector": {"name": "judge", "turn": 3, "grading": {}, "max_claims": 0},
                "threshold": 0.5,
                "levels": {"high": {"from": 0.3}},
            }
        )
    assert len(caught.value.problems) == 4
    assert "must enclose the threshold" in caught.value.problems[-1]


SECRET = "sk-live-0123456789abcdef"


@pytest.mark.parametrize(
    "settings",
    [
        {"timeout": {"api_key": SECRET}},
        {"timeout": SECRET},
        {"on_abstention": SECRET},
        {"judge": {"api_key": SECRET}},
        {"judge": SECRET},
        {"judge": {"model": {"api_key": SECRET}}},
        {"detector": [SECRET]},
        {"detector": {"name": {"api_key": SECRET}}},
        {"detector": {"name": "judge", "aggregation": SECRET, "turns": SECRET}},
    ],
)
def test_no_message_repeats_what_may_be_a_key(settings):
    with pytest.raises(ConfigurationError) as caught:
        Checker.from_config(settings)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "build",
    [
        GroundwireCallbackHandler,
        lambda wrong: GroundwireCallbackHandler(on_outcome=wrong),
        with_hallucination_check,
        lambda wrong: with_hallucination_check(wrong, checker=wrong),
        lambda wrong: with_hallucination_check(wrong, question_key=wrong),
    ],
)
def test_what_was_passed_by_mistake_is_named_by_its_type(build):
    with pytest.raises(ConfigurationError, match="not dict") as caught:
        build({"api_key": SECRET})
    assert SECRET not in str(caught.value)


def test_a_yaml_file_that_can_not_be_read_is_not_quoted(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(f"timeout: 5\njudge: api_key: {SECRET}\n")
    with pytest.raises(ConfigurationError, match="in line 2") as caught:
        Checker.from_config(path)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.ini", "", "expected a name ending in .yaml, .toml or .json"),
        ("a.json", "{", "can't be read"),
        ("a.toml", "= 3", "can't be read"),
        ("a.yaml", "a: [", "can't be read"),
        ("a.yaml", "- 1", "expected keys and values at the top"),
    ],
)
def test_a_file_that_is_no_settings_file_is_refused_by_name(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=message) as caught:
        Checker.from_config(path)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "threshold: 0.2\ntimeout: 9\nthreshold: 0.9\n", "stands twice, in line 1 and in line 3"),
        ("a.yaml", "levels:\n  high: {from: 0.2, 'from': 0.9}\n", "'from' stands twice, in line 2"),
        ("a.json", '{"threshold": 0.2, "threshold": 0.9}', "'threshold' stands twice"),
        ("a.json", '{"levels": {"high": {}, "high": {"from": 0.9}}}', "'high' stands twice"),
        ("a.toml", "threshold = 0.2\nthreshold = 0.9\n", "can't be read"),
    ],
)
def test_a_key_that_stands_twice_is_refused(tmp_path, name, text, message):
    """Nobody can tell which is meant."""
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        Checker.from_config(tmp_path / name)


def test_what_yaml_merges_may_be_set_again(tmp_path):
    (tmp_path / "a.yaml").write_text(
        "detector: lexical\nlevels:\n  medium: &one {from: 0.3, label: AMBER}\n"
        "  high: &two {<<: *one, from: 0.7}\n  low: {<<: *two, from: null}\nthreshold: 0.5\n"
    )
    levels = load(tmp_path / "a.yaml").levels
    assert [one.from_ for one in (levels.low, levels.medium, levels.high)] == [None, 0.3, 0.7]
    assert levels.low.label == "AMBER"


_NUMBERS = ("threshold", "timeout", "max_characters", "levels.high.from", "budget.cost", "judge.timeout")
_NUMBERS += ("judge.limits.retries", "judge.breaker.failures", "judge.memory.size", "judge.prices.m.input")
_NUMBERS += ("monitor.sampling.rate", "monitor.retention.days", "monitor.timeout", "monitor.drift.window")


@pytest.mark.parametrize("place", _NUMBERS)
def test_yes_is_no_number(place):
    """It would be 1: a threshold that nothing reaches, a timeout that nothing meets."""
    settings = True
    for key in reversed(place.split(".")):
        settings = {key: settings}
    with pytest.raises(ConfigurationError) as caught:
        load(settings)
    assert caught.value.problems == (f"{place}: expected a number, not True",)


def test_no_setting_that_is_a_number_takes_yes():
    """So that none is left out of the above."""
    for section in Section.__subclasses__():
        with pytest.raises(ValidationError) as caught:
            section.model_validate(
                {field.alias or name: True for name, field in section.model_fields.items()}
            )
        refused = {error["loc"][0] for error in caught.value.errors()}
        for name, field in section.model_fields.items():
            number = any(kind in str(field.annotation) for kind in ("float", "int"))
            assert not number or (field.alias or name) in refused, (section, name)


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(ConfigurationError, match="No such file"):
        Checker.from_config(tmp_path / "absent.toml")


JUDGE = """
detector: judge
budget: {calls: 4}
judge:
  model: bedrock:amazon.nova-lite-v1:0
  parameters: {region_name: eu-central-1, temperature: 0, max_tokens: 900}
  timeout: 12
  max_concurrency: 3
  limits: {retries: 2, requests_per_minute: 60, tokens_per_minute: 9000, budget: {cost: 2}, period: 3600}
  prices: {"amazon.nova-lite-v1:0": {input: 0.06, output: 0.24}}
  memory: {mode: on, size: 50}
"""


def test_a_judge_and_all_it_may_take_are_settings(tmp_path, bedrock):
    pytest.importorskip("langchain_aws")
    path = tmp_path / "groundwire.yaml"
    path.write_text(JUDGE)
    checker = Checker.from_config(path)
    judge = checker.judge
    assert checker.policy.budget == Budget(calls=4)
    assert (judge.model, judge.timeout, judge.max_concurrency) == ("amazon.nova-lite-v1:0", 12, 3)
    assert (judge.limits.retries, judge.limits.requests_per_minute, judge.limits.period) == (2, 60, 3600)
    assert judge.limits.budget == Budget(cost=2)
    assert judge.priced == {"": Price(input=0.06, output=0.24)}
    assert judge.memory.mode is MemoryMode.ON  # YAML reads a bare "on" as True


def test_embeddings_alone_are_a_judge_for_what_only_embeds(bedrock):
    pytest.importorskip("langchain_aws")
    bedrock.always = embeds()
    settings = {"detector": "semantic", "judge": {"embeddings": "bedrock:amazon.titan-embed-text-v2:0"}}
    outcome = Checker.from_config(settings).check(Interaction(contexts="The fee is 25.", answer="It is 25."))
    assert outcome.usage.calls == len(bedrock.requests) - 1 == 1


def test_what_a_detector_asks_and_the_judge_lacks_is_named_with_every_other_mistake():
    """Without building the judge, which might fail for reasons of its own."""
    stages = [{"detector": "judge", "model": "second", "flag": 0.9}, "answer_relevancy"]
    settings = {
        "detector": {"name": "cascade", "stages": stages},
        "judge": {"embeddings": "nobody:nothing"},
        "fallback": "nobody",
        "sinks": ["nobody"],
    }
    with pytest.raises(ConfigurationError) as caught:
        Checker.from_config(settings)
    for told in (
        "the 'cascade' detector asks a language model, and the judge has none",
        "the 'cascade' detector asks the model 'second', and the judge has none of that name",
        "embeddings 'nobody:nothing'",
        "fallback: unknown detector 'nobody'",
        "sinks",
    ):
        assert sum(told in one for one in caught.value.problems) == 1, told


def test_every_mistake_in_a_judge_is_named_with_a_hint():
    with pytest.raises(ConfigurationError) as caught:
        Checker.from_config(
            {
                "detector": "judge",
                "judge": {
                    "model": "bedrock:m",
                    "limits": {"retry": 3, "requests_per_minute": 0},
                    "memory": {"mode": "sometimes"},
                    "prices": {"m": {"output": 1}},
                    "max_concurrency": 0,
                },
            }
        )
    message = str(caught.value)
    assert len(caught.value.problems) == 5
    assert "judge.limits: unknown key 'retry'; did you mean 'retries'?" in message
    assert "judge.prices.m.input" in message


@pytest.mark.parametrize("parameters", [{"api_key": SECRET}, {"region_name": {"key": SECRET}}])
def test_parameters_that_may_hold_keys_are_never_repeated(parameters):
    with pytest.raises(ConfigurationError) as caught:
        Checker.from_config({"detector": "judge", "judge": {"model": "nobody:m", "parameters": parameters}})
    assert SECRET not in str(caught.value)


def test_sinks_are_named_in_settings_and_told():
    """By a name, or by a name with options; a port that is served is served once."""
    pytest.importorskip("prometheus_client", reason="needs groundwire[prometheus]")
    pytest.importorskip("langfuse", reason="needs groundwire[langfuse]")
    given = {
        "detector": "lexical",
        "sinks": ["opentelemetry", {"prometheus": {"port": 0}}, {"langfuse": {"include_text": True}}],
    }
    checker, again = Checker.from_config(given), Checker.from_config(given)
    names = [sink.name for sink in checker.sinks.all]
    assert names == ["opentelemetry", "prometheus", "langfuse"]
    metrics = checker.sinks.all[1]
    assert again.sinks.all[1] is metrics
    assert metrics.port
    checker.check(Interaction(contexts="A bag costs 25 EUR.", answer="A bag costs 75 EUR."))
    url = f"http://127.0.0.1:{metrics.port}/metrics"
    with urllib.request.urlopen(url, timeout=10) as answer:
        text = answer.read().decode()
    assert 'groundwire_verdicts_total{detector="lexical",verdict="hallucinated"}' in text
    metrics.close()


@pytest.mark.parametrize(
    ("sinks", "said"),
    [
        (["promtheus"], "sinks.0: unknown sink 'promtheus'; expected one of prometheus"),
        ([{"prometheus": {"prot": 1}}], "sinks.0: unknown option 'prot' of prometheus; expected one of port"),
        ([{"prometheus": {"port": "x"}}], "sinks.0: port must be"),
        (["mlflow", {"phoenix": {}, "mlflow": {}}], "sinks.1: expected one name"),
        ([{"langfuse": {"include_text": 1}}, "nothing"], "sinks.0: include_text must be bool"),
        ([{"langfuse": {"include_text": 1}}, "nothing"], "sinks.1: unknown sink 'nothing'"),
        ([{"opentelemetry_metrics": {"a": 1}}], "there is none to set here"),
        (["prometheus", {"prometheus": {"port": 0}}], "sinks.1: prometheus stands here twice"),
        ([{"prometheus": {"address": "0.0.0.0"}}], "sinks.0: address says who may ask at a port"),
    ],
)
def test_mistakes_in_sinks_are_named(sinks, said):
    """All at once, each with its place and what was expected."""
    with pytest.raises(ConfigurationError) as error:
        Checker.from_config({"detector": "lexical", "sinks": sinks})
    assert said in str(error.value)


MONITORED = """
detector: lexical
redact: [emails, {pattern: "EMP-\\\\d+"}]
monitor:
  url: sqlite:///FOLDER/kept.db
  tags: {application: handbook}
  sampling: {rate: 0.5, flagged: true, levels: [high]}
  retention: {days: 9}
  redact: [cards]
  drift: false
  alerts: [log, {webhook: "http://127.0.0.1:9/hook"}]
"""


def test_a_monitor_and_what_is_masked_are_settings(tmp_path):
    """What is judged is masked by the one, what is kept by both."""
    path = tmp_path / "settings.yaml"
    path.write_text(MONITORED.replace("FOLDER", str(tmp_path)), encoding="utf-8")
    checker = Checker.from_config(path)
    outcome = checker.check(
        Interaction(contexts="A bag costs 25 EUR.", answer="A bag costs 75 EUR, says a@example.com, EMP-77.")
    )
    assert outcome.hallucinated
    with checker.monitor as monitor:
        assert monitor.flush(30)
        (row,) = monitor.rows()
    assert row.interaction.answer == "A bag costs 75 EUR, says █████████████, ██████."
    assert dict(row.tags)["application"] == "handbook"
    assert monitor._sampling.flagged
    assert (monitor._retention.days, monitor._drift) == (9, None)
    assert monitor._redact is not None


def test_a_url_alone_is_a_monitor(tmp_path):
    with Checker.from_config({"monitor": f"sqlite:///{tmp_path}/kept.db"}).monitor as monitor:
        assert monitor.count() == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"redact": ["phones"]}, "redact: Redaction takes 'keys', 'emails', 'cards'"),
        ({"redact": [{"pattern": "("}]}, "redact: '(' is no regular expression"),
        ({"monitor": {"uri": "sqlite:///x.db"}}, "monitor: unknown key 'uri'; did you mean 'url'?"),
        ({"monitor": {"sampling": {"share": 1}}}, "monitor.sampling: unknown key 'share'"),
        ({"monitor": {"drift": {"window": 1}}}, "window must be a whole number from"),
        ({"monitor": "mysql://x"}, "url names a database of kind 'mysql'"),
    ],
)
def test_a_monitor_that_can_not_work_is_refused(settings, message):
    with pytest.raises(ConfigurationError) as refused:
        Checker.from_config(settings)
    assert message in str(refused.value)


def test_mistakes_of_the_monitor_are_named_with_their_places_and_with_all_others():
    settings = {
        "fallback": "nobody",
        "judge": {},
        "sinks": ["nowhere"],
        "monitor": {
            "url": "mysql://x",
            "sampling": {"levels": ["hihg"], "rate": 5},
            "retention": {"days": -3},
            "drift": {"window": 1},
            "redact": ["phones"],
            "alerts": ["log", {"webhook": "nowhere"}],
        },
    }
    with pytest.raises(ConfigurationError) as caught:
        Checker.from_config(settings)
    assert [" ".join(one.split()[:2]) for one in caught.value.problems] == [
        "fallback: unknown",
        "judge: needs",
        "sinks.0: unknown",
        "monitor.sampling: rate",
        "monitor.sampling: levels",
        "monitor.retention: days",
        "monitor.drift: window",
        "monitor.redact: Redaction",
        "monitor.alerts.1: a",
        "monitor: url",
    ]


@pytest.mark.parametrize(
    ("settings", "problems"),
    [
        ({"monitor": {"alerts": ["slack"]}}, ["monitor.alerts.0: expected 'log' or a table, not 'slack'"]),
        (
            {"monitor": {"alerts": [{"webhok": "x"}]}},
            [
                "monitor.alerts.0.webhook: field required",
                "monitor.alerts.0: unknown key 'webhok'; did you mean 'webhook'?",
            ],
        ),
        ({"monitor": {"drift": 5}}, ["monitor.drift: expected a table or false, not 5"]),
        (
            {"monitor": {"drift": {"windo": 5}}},
            ["monitor.drift: unknown key 'windo'; did you mean 'window'?"],
        ),
        ({"monitor": {"timeout": -1}}, ["monitor.timeout: input should be greater than 0, not -1"]),
        (
            {"redact": [{"patern": "x"}]},
            ["redact.0.pattern: field required", "redact.0: unknown key 'patern'; did you mean 'pattern'?"],
        ),
    ],
)
def test_a_mistake_is_named_once_and_by_the_place_that_the_file_has(settings, problems):
    """Where several kinds of value fit, too."""
    with pytest.raises(ConfigurationError) as caught:
        load(settings)
    assert list(caught.value.problems) == problems


def test_a_judge_of_ones_own_stands_in_for_the_one_that_is_named():
    """Whose package need not be there."""
    own = Judge(FakeListChatModel(responses=["{}"]))
    checker = Checker.from_config({"detector": "judge", "judge": {"model": "nowhere:m"}}, judge=own)
    assert checker.judge is own
