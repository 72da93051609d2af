"""``groundwire check --dry-run``: what judging would take, told without asking anybody."""

import json
from pathlib import Path

import pytest

from groundwire.cli.main import main
from tests.servers.bedrock_server import MODEL, bedrock

pytest.importorskip("langchain_aws")
__all__ = ["bedrock"]

TITAN = "amazon.titan-embed-text-v2:0"

ROWS = [
    {"question": "Fee?", "context": "The fee is 25 EUR", "answer": "The fee is 25 EUR"},
    {"question": "Fee?", "context": "The fee is 25 EUR", "answer": "The fee is 75 EUR"},
    {"question": "Fee?", "context": None, "answer": "The fee is 75 EUR"},
]
SETTINGS = {
    "detector": "judge",
    "judge": {"model": f"bedrock:{MODEL}", "prices": {MODEL: {"input": 250.0, "output": 1250.0}}},
}


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    Path("groundwire.json").write_text(json.dumps(SETTINGS))

    def run(*options):
        code = main(["check", "runs.jsonl", "--dry-run", *options])
        return code, capsys.readouterr().out

    return run


def test_it_tells_calls_and_tokens_and_asks_nobody(run, bedrock):
    code, out = run("--model", f"bedrock:{MODEL}")
    assert code == 0
    assert "3 answers would take at least:" in out
    assert "2 calls of the model" in out
    assert "unknown: give a price" in out
    assert "The method takes 1 call (more:" in out
    assert bedrock.requests == []


def test_with_a_price_it_tells_the_cost(run, bedrock):
    code, out = run("--config", "groundwire.json", "--json")
    told = json.loads(out)["dry_run"]
    assert code == 0
    assert told["calls"] == 2
    assert told["output_tokens"] == 600
    assert told["cost"] == pytest.approx((told["input_tokens"] * 250 + 600 * 1250) / 1_000_000)
    assert bedrock.requests == []


def test_a_detector_without_a_model_costs_nothing(run):
    _, out = run("--detector", "lexical", "--limit", "2")
    assert "2 answers would take at least:" in out
    assert "0 calls of the model" in out
    assert "cost" not in out


def test_a_cascade_takes_what_it_would_take_beside_the_judge_that_is_named(run):
    """Without one it asks nobody, and with one that only embeds neither."""
    answer = "It is a fee that nobody likes to pay at all."
    Path("runs.jsonl").write_text(json.dumps({"context": "The fee is 25 EUR for each.", "answer": answer}))
    Path("embeds.json").write_text(json.dumps({"judge": {"embeddings": f"bedrock:{TITAN}"}}))
    assert "0 calls of the model" in run("--detector", "cascade")[1]
    assert "0 calls of the model" in run("--detector", "cascade", "--config", "embeds.json")[1]
    assert "1 calls of the model" in run("--detector", "cascade", "--model", "bedrock:m")[1]


def test_what_only_embeds_takes_calls_of_that_model_alone(run):
    Path("embeds.json").write_text(json.dumps({"judge": {"embeddings": f"bedrock:{TITAN}"}}))
    _, out = run("--detector", "semantic", "--config", "embeds.json")
    assert "2 calls of the embedding model" in out
    assert "calls of the model" not in out


def test_it_needs_neither_credentials_nor_packages(run, monkeypatch):
    """No model is built, so what only a model would need is not asked for."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    code, out = run("--model", "bedrock:some.model-v1:0")
    assert code == 0
    assert "2 calls of the model" in out
    code, out = run("--model", "nobody:nothing")
    assert (code, "2 calls of the model" in out) == (0, True)


def test_it_tells_the_calls_that_follow_a_first_reply(run):
    _, out = run("--detector", "faithfulness", "--model", f"bedrock:{MODEL}")
    assert "2 calls of the model" in out
    assert "about 4 calls in all" in out
    _, out = run("--detector", "judge", "--model", f"bedrock:{MODEL}")
    assert "calls in all" not in out
