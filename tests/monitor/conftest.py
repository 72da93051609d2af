"""Stores for the tests: a SQLite file, and a database of a PostgreSQL server where one is installed."""

import itertools

import pytest

from groundwire.monitor import Monitor
from tests.servers.postgres_server import PostgresServer, binaries

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def postgres():
    if binaries() is None:
        pytest.skip("no PostgreSQL server is installed: apt-get install postgresql")
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The URL of an empty store, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/answers.db"
    return request.getfixturevalue("postgres").fresh(f"test_{next(_NUMBERS)}")


@pytest.fixture
def opened(tmp_path):
    """Opens monitors that are closed when the test ends."""
    monitors = []

    def open_one(url=f"sqlite:///{tmp_path}/answers.db", **options):
        options.setdefault("spool", tmp_path / "spool")
        monitors.append(Monitor(url, **options))
        return monitors[-1]

    yield open_one
    for monitor in monitors:
        monitor.close(timeout=2)


@pytest.fixture
def store(url, opened):
    """An empty monitor on each kind of store."""
    return opened(url)
