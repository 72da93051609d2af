"""No key or password is repeated: not in a repr, an error, an abstention, a log, a trace or a report."""

import json
import logging

import pytest

from groundwire import Abstention, Checker, ConfigurationError, Interaction, Judge, config
from groundwire.core.errors import GroundwireError
from groundwire.core.redaction import Redaction
from groundwire.monitor import Monitor
from groundwire.monitor.alerts import Webhook
from groundwire.report import Entry, page

SECRET = "SECRETvalue1234567890abcdef"
MESSAGES = (
    f"Authorization: Bearer {SECRET}",
    f"bearer {SECRET} was refused",
    f"api_key={SECRET}",
    f"{{'x-api-key': '{SECRET}'}}",
    f'"aws_secret_access_key": "{SECRET}"',
    f"aws_session_token={SECRET}",
    f"X-Amz-Security-Token={SECRET}&a=1",
    f"https://h/x?X-Amz-Signature={SECRET}",
    f"https://h/x?key={SECRET}",
    f"access_token={SECRET}",
    f"https://user:{SECRET}@h/x",
    f"Incorrect API key provided: {SECRET}",
    f"token {SECRET} has expired",
    f"sk-{SECRET}",
)


def told_by(make):
    """The repr of what is made, or the message that says why it can't be."""
    try:
        made = make()
    except GroundwireError as error:
        return str(error)
    told = repr(made)
    if hasattr(made, "close"):
        made.close()
    return told


@pytest.mark.parametrize("message", MESSAGES)
def test_no_failure_repeats_a_secret(message, caplog):
    def fails(system, user):
        raise ConnectionError(message)

    caplog.set_level(logging.DEBUG)
    interaction = Interaction(contexts="The fee is 25 EUR.", answer="It is free.")
    outcome = Checker("judge", judge=Judge(fails)).check(interaction)
    assert isinstance(outcome, Abstention)
    told = [json.dumps(outcome.to_dict()), repr(outcome), caplog.text]
    told.append(page.render([Entry(interaction=interaction, outcome=outcome)]))
    assert not any(SECRET in one for one in told)


@pytest.mark.parametrize(
    "given",
    [
        {"judge": {"model": "x", "parameters": {"aws_secret_access_key": SECRET}, "timeout": "soon"}},
        {"judge": SECRET},
        {"judge": {"model": "x", "api_key": SECRET}},
        {"judge": {"model": "x", "memory": {"mode": SECRET}}},
        {"judge": {"model": "x", "prices": {"m": SECRET}}},
        {"detector": {"name": "judge", "turns": SECRET}},
        {"detector": {"name": "judge", "canary": SECRET}},
        {"detector": {"name": "judge", "facts": SECRET}},
        {"on_abstention": SECRET},
        {"threshold": SECRET},
        {"levels": {"high": {"from": SECRET}}},
        {"max_characters": SECRET},
    ],
    ids=lambda given: json.dumps(given).replace(SECRET, "...")[:60],
)
def test_no_message_about_settings_repeats_a_value(given):
    with pytest.raises(ConfigurationError) as told:
        config.load(given).build_detector()
    assert SECRET not in str(told.value)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://u:{SECRET}@127.0.0.1:1/db",
        f"postgresql+psycopg://u@127.0.0.1:1/db?password={SECRET}",
        f"nosuch://u:{SECRET}@h/db",
        SECRET,
    ],
)
def test_no_database_repeats_its_password(url, caplog, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.DEBUG)
    assert SECRET not in told_by(lambda: Monitor(url))
    assert SECRET not in caplog.text


@pytest.mark.parametrize("url", [f"https://hooks/{SECRET}", f"hooks/{SECRET}", f"ftp://hooks/{SECRET}"])
def test_no_web_hook_repeats_its_address(url):
    assert SECRET not in told_by(lambda: Webhook(url=url))


def test_no_checker_or_judge_repeats_what_its_model_is_built_with():
    parameters = {"aws_access_key_id": "AKIA" + "X" * 16, "aws_secret_access_key": SECRET, "region_name": "x"}
    pytest.importorskip("langchain_aws")
    judge = Judge("bedrock:some-model", parameters=parameters)
    assert SECRET not in repr(judge) + repr(Checker("judge", judge=judge))


@pytest.mark.parametrize(
    "text", [f"aws_secret_access_key={SECRET}", f"api-key: {SECRET}", f"Bearer {SECRET}"]
)
def test_redaction_masks_keys(text):
    assert SECRET not in Redaction("keys")(text)
