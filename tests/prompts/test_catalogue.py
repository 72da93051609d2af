"""The catalogue: complete, versioned, and filled without reading what it is filled with."""

import hashlib
from importlib.resources import files
from string import Template

import pytest

from groundwire import prompts

RELEASED = {"judge_v1.toml": "96ff6e495aba517c"}


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
    with pytest.raises(KeyError, match="expected one of .*judge"):
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
