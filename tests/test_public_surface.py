"""The public surface: what it is, and what importing it does not do."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import groundwire

SURFACE = [
    "AbstainedError",
    "Abstention",
    "AbstentionReason",
    "Checker",
    "Claim",
    "ConfigurationError",
    "Detector",
    "DetectorSpec",
    "Evidence",
    "Grading",
    "GroundwireError",
    "InputError",
    "Interaction",
    "Judge",
    "Kind",
    "Level",
    "MissingExtraError",
    "OnAbstention",
    "Outcome",
    "Passage",
    "Policy",
    "Role",
    "Span",
    "Support",
    "Turn",
    "Usage",
    "Verdict",
    "Wording",
    "__version__",
    "acheck",
    "check",
    "check_many",
    "detectors",
]


def test_the_surface_is_exactly_this():
    assert groundwire.__all__ == SURFACE
    assert dir(groundwire) == SURFACE


@pytest.mark.parametrize("name", SURFACE)
def test_every_public_name_is_there_and_documented(name):
    value = getattr(groundwire, name)
    assert name in ("__version__", "Outcome") or value.__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = groundwire.nothing


def in_fresh_interpreter(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def test_importing_loads_no_framework_opens_no_socket_and_reads_no_environment():
    seen = in_fresh_interpreter(
        """
import json, os, socket, sys
class Watched(type(os.environ)):
    reads = []
    def __getitem__(self, key):
        self.reads.append(key)
        return super().__getitem__(key)
def refuse(*args, **kwargs):
    raise AssertionError("a socket was opened at import")
env = os.environ
os.environ = Watched(env._data, env.encodekey, env.decodekey, env.encodevalue, env.decodevalue)
socket.socket = refuse
before = set(sys.modules)
import groundwire
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps({"loaded": sorted(loaded), "read": Watched.reads}))
"""
    )
    assert seen["read"] == []
    frameworks = {
        "langchain",
        "langchain_core",
        "langsmith",
        "llama_index",
        "numpy",
        "pydantic",
        "nltk",
        "boto3",
    }
    assert frameworks.isdisjoint(seen["loaded"])


def test_judging_with_the_default_checker_loads_no_framework():
    """Nor what reads settings and replies, which would take longer than all the rest."""
    seen = in_fresh_interpreter(
        """
import json, sys
import groundwire as gw
outcome = gw.check(contexts="The fee is 25 EUR.", answer="The fee is 75 EUR.")
names = ["langchain_core", "langchain", "langsmith", "llama_index", "boto3", "jinja2", "pyarrow", "sklearn"]
names += ["pydantic"]
print(json.dumps({"loaded": [n for n in names if n in sys.modules], "hallucinated": outcome.hallucinated}))
"""
    )
    assert seen == {"loaded": [], "hallucinated": True}


@pytest.mark.parametrize("module", [groundwire, groundwire.detectors], ids=lambda module: module.__name__)
def test_type_checkers_know_the_same_names_as_those_who_run_it(module):
    """They read the imports that nobody runs: by these a typing error is found, and a keyword known."""
    known = [
        alias.asname
        for block in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name)
        for line in block.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    ]
    registered = {groundwire.detectors.get(name).__name__ for name in groundwire.detectors.names()}
    assert set(known) == (registered if module is groundwire.detectors else set(SURFACE) - {"__version__"})
    assert all(getattr(module, name).__name__ == name for name in set(known) - {"Outcome", "detectors"})
