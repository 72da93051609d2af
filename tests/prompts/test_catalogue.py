"""The catalogue: complete, versioned, and filled without reading what it is filled with."""

import hashlib
from importlib.resources import files
from string import Template

import pytest

from groundwire import prompts

RELEASED = {
    "claim_reader_v1.toml": "3c35ff4cf9f2f18d",
    "contradiction_v1.toml": "94bd185ec91b99b7",
    "faithfulness_statements_v1.toml": "6080e6e65516d405",
    "faithfulness_verdicts_v1.toml": "da17d680fbaf1a74",
    "frame_v1.toml": "a74d353c6bb767de",
    "g_eval_v1.toml": "7313a0fb7ba6fb80",
    "g_eval_criterion_v1.toml": "21d64384fed67ce4",
    "g_eval_kept_steps_v1.toml": "c2c572896c45ae6e",
    "g_eval_steps_v1.toml": "15fb69afb829b1ed",
    "judge_v1.toml": "96ff6e495aba517c",
    "level_v1.toml": "432c2d93583b1037",
    "level_alone_v1.toml": "8e1219fb76a2dd09",
    "self_eval_v1.toml": "f29953232e057711",
    "trustworthiness_agreement_v1.toml": "c59c88aee465de95",
    "trustworthiness_answer_v1.toml": "639aae005351dbff",
    "trustworthiness_reflection_v1.toml": "2ebb9e83495729c9",
}


def test_every_prompt_is_there_with_a_version():
    for name in prompts.names():
        prompt = prompts.get(name)
        assert prompt.name == name
        assert prompt.version
        assert prompt.user


def test_a_released_prompt_is_never_edited():
    """New words are a new file: stored verdicts name the version that made them."""
    for name, digest in RELEASED.items():
        text = (files("groundwire.prompts") / name).read_bytes()
        assert hashlib.sha256(text).hexdigest()[:16] == digest, f"make a new version of {name} instead"


def test_a_name_that_is_in_no_catalogue_is_refused():
    with pytest.raises(KeyError, match=r"expected one of .*judge"):
        prompts.get("nothing")


def test_what_fills_a_prompt_is_not_searched_for_names():
    prompt = prompts.get("judge")
    names = Template(prompt.user).get_identifiers()
    filled = prompt.fill(**dict.fromkeys(names, "$code costs $5 and ${claims}"))
    assert filled.count("$code costs $5 and ${claims}") == len(names)


def test_a_name_that_nothing_fills_is_an_error():
    with pytest.raises(KeyError):
        prompts.get("judge").fill(code="x")


def test_asked_again_it_says_why_first():
    prompt = prompts.get("judge")
    values = dict.fromkeys(Template(prompt.user).get_identifiers(), "")
    assert prompt.fill(again=True, **values) == prompt.again + "\n\n" + prompt.fill(**values)


@pytest.mark.parametrize("name", prompts.names())
def test_what_a_prompt_needs_it_shows_and_what_it_shows_may_be_filled(name):
    prompt = prompts.get(name)
    shown = {one for text in (prompt.system, prompt.user) for one in Template(text).get_identifiers()}
    assert shown <= set(prompt.names)
    assert set(prompt.needs) <= shown
    assert not Template(prompt.form + prompt.again).get_identifiers()


@pytest.mark.parametrize("name", [name for name in prompts.names() if prompts.get(name).form])
def test_the_form_of_a_reply_comes_last(name):
    prompt = prompts.get(name)
    filled = prompt.fill(again=True, **dict.fromkeys(prompt.names, "x"))
    assert filled.startswith(prompt.again)
    assert filled.endswith(prompt.form)
