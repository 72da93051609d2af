"""What the tests of faults share: one server that fails as its models are named, and one table."""

import pytest

from tests.faults.clients import Faulty
from tests.faults.told import Told


@pytest.fixture(scope="session")
def told():
    """Takes a row a fault, and writes them all when the last test is over."""
    told = Told()
    yield told
    if told.rows:
        told.write()


@pytest.fixture(scope="session")
def faulty():
    """Bedrock's runtime, which acts towards each model by its name."""
    server = Faulty()
    yield server
    server.close()


@pytest.fixture
def keys(faulty, monkeypatch):
    """An environment in which boto3 finds the server, with keys that are none."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in faulty.environment().items():
        monkeypatch.setenv(name, value)
