"""A new file that another is just making: who opens it second waits for its turn."""

import sqlite3
import threading
from contextlib import closing

import pytest

from groundwire.batch.shared import Ledger
from groundwire.core.sqlite import write_ahead
from groundwire.judge.stores import InFile


@pytest.fixture
def taken(tmp_path):
    """A new file that another connection is writing to: SQLite refuses to turn the log on, at once."""
    path = tmp_path / "new.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield path, other


def _ledger(path):
    assert Ledger(path).spent().calls == 0


def _memory(path):
    assert len(InFile(path, 5, read_only=False)) == 0


@pytest.mark.parametrize("opened", [_ledger, _memory])
def test_who_comes_second_waits(taken, opened):
    """Workers that start together find one file; none of them fails for it."""
    path, other = taken
    soon = threading.Timer(0.3, other.execute, ["COMMIT"])
    soon.start()
    opened(path)
    soon.join()


def test_the_wait_ends(taken):
    """A file that stays locked is an error, not a process that hangs."""
    with (
        closing(sqlite3.connect(taken[0], timeout=0.05)) as connection,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        write_ahead(connection, busy=0.05)


def test_another_error_is_told_at_once(tmp_path):
    """Waiting mends no file that can't be written."""
    path = tmp_path / "new.sqlite"
    path.touch()
    with (
        closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        write_ahead(connection, busy=60.0)
