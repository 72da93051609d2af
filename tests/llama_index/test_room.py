"""The room's door: its names, and what opening it does not do."""

import json
import subprocess
import sys

import pytest

import groundwire.llama_index as room

SURFACE = [
    "AbstainedError",
    "Action",
    "Attach",
    "Capture",
    "Captured",
    "CheckedChatEngine",
    "CheckedQueryEngine",
    "Expand",
    "GroundwireCallbackHandler",
    "GroundwireHandler",
    "HallucinationError",
    "HallucinationEvaluator",
    "HallucinationResult",
    "NameClaims",
    "hide_judge",
    "show_judge",
]


def test_the_surface_is_exactly_this():
    assert room.__all__ == SURFACE
    assert dir(room) == SURFACE


@pytest.mark.parametrize("name", SURFACE)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(room, name).__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = room.nothing


def test_nothing_is_loaded_before_a_name_is_used():
    """Importing the room costs no framework; using it loads no other one's."""
    code = """
import json, sys
names = ["llama_index", "langchain_core", "langsmith"]
import groundwire.llama_index
before = [n for n in names if n in sys.modules]
groundwire.llama_index.GroundwireHandler
print(json.dumps([before, [n for n in names if n in sys.modules]]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=90
    )
    assert json.loads(done.stdout) == [[], ["llama_index"]]
