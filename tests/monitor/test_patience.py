"""A PostgreSQL server that has stopped is given up; one that is busy is not."""

import time

import pytest
import sqlalchemy as sa

from groundwire.monitor import StoreError, database
from tests.monitor.told import interaction, keep, verdict


@pytest.fixture
def hasty(monkeypatch):
    """A silent server is given up after half a second."""
    monkeypatch.setattr(database, "_STOPPED", 0.2)
    return {"timeout": 0.3}


def test_what_is_kept_while_a_server_has_stopped_waits_on_disk(postgres, opened, hasty):
    """In memory it would be lost with the process, and nobody would be told."""
    store = opened(f"{postgres.fresh('stopped')}?connect_timeout=2", **hasty)
    before = keep(store, 0.9)
    with postgres.halted():
        during = [store.keep(interaction(n), verdict()) for n in range(3)]
        deadline = time.monotonic() + 30
        while store.stats.spooled < len(during) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert store.stats.spooled == len(during)
        with pytest.raises(StoreError, match="can't be used now"):
            store.count()
    assert store.flush(20)
    assert [row.id for row in store.rows()] == before + during


def test_a_server_may_take_its_time_for_what_is_read_and_changed(postgres, opened, hasty):
    """Of millions of answers, figures and a deletion take longer than any insert."""
    store = opened(postgres.fresh("busy"), **hasty)
    for transaction in (store._database.reading, store._database.writing):
        with transaction() as connection:
            assert connection.execute(sa.text("SELECT 1 FROM pg_sleep(1)")).scalar() == 1


def test_a_server_that_says_nothing_is_named_as_such(postgres, opened, hasty):
    store = opened(postgres.fresh("silent"), **hasty)
    with (
        pytest.raises(StoreError, match=r"the server said nothing for 0\.5 seconds"),
        store._database._told(),
        store._database.transaction() as connection,
    ):
        connection.execute(sa.text("SELECT pg_sleep(60)"))
    assert store.count() == 0
