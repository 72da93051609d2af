"""The fuzz targets on what was kept, and on some bytes that hypothesis chooses."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
KEPT = [(path.parent.name, path) for path in sorted(CORPUS.glob("*/*"))]


def test_every_target_has_seeds():
    assert {name for name, _ in KEPT} == set(TARGETS)


@pytest.mark.parametrize(("name", "path"), KEPT, ids=[f"{name}/{path.name}" for name, path in KEPT])
def test_what_was_kept_holds(name, path):
    TARGETS[name](path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.binary(max_size=400))
def test_what_is_promised_for_any_input_holds(name, data):
    TARGETS[name](data)
