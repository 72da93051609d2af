"""Rows on disk: what does not fit is refused whole, and what was read is not read again."""

from contextlib import contextmanager

import pytest

from groundwire.monitor.answer import Row
from groundwire.monitor.spool import Spool

resource = pytest.importorskip("resource", reason="this system has no limits of files")


def rows(start, end):
    return [Row(answer={"id": f"{n:04}"}, body={"answer": "a" * 100}, tags=()) for n in range(start, end)]


def ids(batch):
    return [row.answer["id"] for row in batch]


@contextmanager
def files_of_at_most(size):
    """As if the disk were full then. Only a spool may write inside."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_refuses_a_batch_whole_and_takes_the_next_once_it_has_room(tmp_path):
    spool = Spool(tmp_path, limit=1_000_000)
    assert spool.append(rows(0, 2)) == 2
    with files_of_at_most(400):
        with pytest.raises(OSError, match="too large"):
            spool.append(rows(2, 8))
        assert spool.rows == 2
    assert spool.append(rows(8, 9)) == 1
    assert [ids(batch) for batch in spool.batches()] == [["0000", "0001", "0008"]]
    assert spool.empty


def test_a_spool_is_closed_while_the_disk_is_full(tmp_path):
    spool = Spool(tmp_path, limit=1_000_000)
    with files_of_at_most(100):
        with pytest.raises(OSError, match="too large"):
            spool.append(rows(0, 2))
        spool.close()


def test_nothing_to_put_aside_leaves_no_file(tmp_path):
    spool = Spool(tmp_path / "spool", limit=1_000_000)
    assert spool.append([]) == 0
    assert not (tmp_path / "spool").exists()


def test_what_was_written_is_not_read_again_when_the_database_goes_away_meanwhile(tmp_path):
    spool = Spool(tmp_path, limit=1_000_000)
    spool.append(rows(0, 1200))
    batches = spool.batches()
    assert ids(next(batches))[0] == "0000"
    assert ids(next(batches))[0] == "0500"  # with which the first is forgotten
    batches.close()
    assert spool.rows == 700
    spool.append(rows(1200, 1300))
    assert [one for batch in spool.batches() for one in ids(batch)] == ids(rows(500, 1300))
    assert not list(tmp_path.iterdir())


def test_another_process_reads_all_that_one_has_left(tmp_path):
    spool = Spool(tmp_path, limit=1_000_000)
    spool.append(rows(0, 600))
    batches = spool.batches()
    next(batches)
    next(batches)
    batches.close()
    spool.close()
    heir = Spool(tmp_path, limit=1_000_000)
    heir.adopt()
    assert sum(map(len, heir.batches())) == 600
