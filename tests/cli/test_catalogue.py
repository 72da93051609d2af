"""The commands that tell what methods there are, and what they say to their models."""

import json
import re
from pathlib import Path

import pytest

from groundwire import detectors, prompts
from groundwire.cli.main import main
from groundwire.detectors.catalogue import METHODS, methods

PAGE = (Path(__file__).parents[2] / "docs" / "detectors.md").read_text(encoding="utf-8")


@pytest.fixture
def said(capsys):
    def run(*argv, code=0):
        assert main(argv) == code
        captured = capsys.readouterr()
        return captured.out if code == 0 else captured.err

    return run


def test_every_registered_method_is_listed_with_what_it_takes(said):
    out = said("detectors")
    assert re.findall(r"^(\w+)$", out, re.MULTILINE) == [n for n in METHODS if n in detectors.names()]
    assert "faithfulness\n  A model takes the answer apart" in out
    assert out.count("  Asks ") == out.count("  Sees: ") == out.count("  Source: ") == len(detectors.names())


def test_the_list_is_also_there_as_json(said):
    listed = json.loads(said("detectors", "--json"))
    assert {one["name"] for one in listed} == set(detectors.names())
    (one,) = (one for one in listed if one["name"] == "contradiction")
    assert one["kinds"] == ["context-conflicting"]


@pytest.mark.parametrize("name", sorted(name for name in detectors.names() if METHODS[name].prompts))
def test_every_word_of_every_method_is_shown(said, name):
    out = said("prompts", name)
    for used in METHODS[name].prompts:
        prompt = prompts.get(used)
        assert f"=== {used}, version {prompt.version} ===" in out
        assert all(text in out for text in (prompt.system, prompt.user, prompt.form, prompt.again))


def test_one_prompt_can_be_shown_by_its_name(said):
    assert said("prompts", "frame").startswith("=== frame, version 1 ===\n\n--- user ---\nThe code of this")


def test_without_a_name_the_names_are_told(said):
    assert re.findall(r"^\w+", said("prompts"), re.MULTILINE) == list(prompts.names())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("levle", "no method and no prompt is named 'levle'; did you mean 'level'?"),
        ("lexical", "the 'lexical' detector says nothing to a model"),
        ("zzz", "expected one of answer_relevancy, "),
    ],
)
def test_a_name_that_says_nothing_is_refused_with_a_hint(said, name, message):
    assert message in said("prompts", name, code=2)


def test_the_page_that_helps_to_choose_has_the_same_table_and_every_method():
    rows = [
        f"| `{one.name}` | {one.asks} | {one.cost} | {one.locates} | {', '.join(one.kinds)} |"
        for one in methods(detectors.names())
    ]
    assert re.findall(r"^\| `.*", PAGE, re.MULTILINE) == rows
    assert set(re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE)) == set(detectors.names())
