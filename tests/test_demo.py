"""The demo, as its readers run it: offline, and with a model that answers and judges."""

import json
import sys

import pytest

from examples.handbook.__main__ import main
from examples.handbook.replay import load_prepared
from examples.handbook_llama_index.__main__ import main as main_with_llama_index
from tests.servers.bedrock_server import bedrock, says

__all__ = ["bedrock"]


@pytest.fixture
def demo(monkeypatch, tmp_path, capsys):
    def run(*arguments, main=main):
        page = tmp_path / "page.html"
        monkeypatch.setattr(sys, "argv", ["demo", "--html", str(page), *arguments])
        main()
        return capsys.readouterr().out, page.read_text(encoding="utf-8")

    return run


def test_the_demo_shows_every_answer_and_writes_its_page(demo):
    shown, page = demo()
    for prepared in load_prepared():
        assert prepared.id in shown
        assert prepared.id in page
    assert "14 days here, 30 days in the document" in shown
    assert "20 answers" in " ".join(shown.split())
    assert "precision 0.857, recall 0.600" in " ".join(shown.split()), "the README says so"
    assert "not judged" not in shown


def test_the_demo_with_llama_index_shows_the_same_answers(demo):
    """And its last words are those of the engine that was checked."""
    shown, page = demo(main=main_with_llama_index)
    for prepared in load_prepared():
        assert prepared.id in shown
        assert prepared.id in page
    assert "14 days here, 30 days in the document" in shown
    assert "20 answers" in " ".join(shown.split())
    assert "not judged" not in shown
    assert "Do not rely on it." in shown


def test_the_same_demo_is_answered_and_judged_by_a_model_on_bedrock(demo, bedrock):
    """Half of the requests come from the application, half from the judge, each about its own question."""

    def reply(body):
        if "Skerryvane" in body["system"][0]["text"]:
            return "Bags fly for 12345 EUR."
        return json.dumps(
            {
                "claims": [
                    {"id": 1, "support": "unsupported", "score": 0.9, "words": ["12345 EUR"], "reason": "no"}
                ]
            }
        )

    bedrock.always = says(reply)
    shown, page = demo("--model", "bedrock:anthropic.some-model")
    assert len(bedrock.requests) == 42
    assert "20 hallucinated" in " ".join(shown.split())
    assert page.count("12345 EUR") >= 20
