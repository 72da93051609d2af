"""What the command line says when options don't fit speaks of options, and not of Python."""

import json
from pathlib import Path

import pytest

from groundwire.cli.main import main


@pytest.fixture
def said(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("runs.jsonl").write_text(
        json.dumps({"context": "The fee is 25 EUR", "answer": "It is 25 EUR"}) + "\n"
    )
    settings = {"detector": "semantic", "judge": {"model": "nobody:nothing"}}
    Path("groundwire.json").write_text(json.dumps(settings))
    settings = {"detector": "judge", "judge": {"embeddings": "nobody:nothing"}}
    Path("embeds.json").write_text(json.dumps(settings))

    def said(*options):
        assert main(["check", "runs.jsonl", *options]) == 2
        return capsys.readouterr().err

    return said


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ["--detector", "judge"],
            "none is named: --model bedrock:MODEL_ID, or a judge in the file of --config",
        ),
        (["--config", "groundwire.json"], "set judge.embeddings in the file of --config"),
        (
            ["--config", "embeds.json"],
            "the 'judge' detector asks a language model, and none is named: --model bedrock:MODEL_ID",
        ),
    ],
)
def test_a_missing_model_is_told_as_an_option(said, options, told):
    err = said(*options)
    assert told in err
    assert "judge=" not in err
    assert "Judge(" not in err
