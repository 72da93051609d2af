"""Nothing that was acknowledged is lost, and what waits is written in its order."""

import json
import logging
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from groundwire import Checker, DetectorSpec
from groundwire.monitor import Durability, Monitor, StoreError
from groundwire.monitor.database import _LOCK
from tests.monitor.told import interaction, keep, verdict
from tests.scripted import NovelWords
from tests.servers.postgres_server import PostgresServer

ROOT = Path(__file__).parents[2]
KILLS = 20


def test_what_was_acknowledged_survives_any_kill(tmp_path, opened):
    """SIGKILL at 20 random moments: every acknowledged id is a whole row, and the database is sound."""
    url = f"sqlite:///{tmp_path}/answers.db"
    said = subprocess.run(
        [sys.executable, "-m", "tests.monitor.writing", url, str(KILLS)],
        capture_output=True,
        check=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}"},
    )
    acknowledged = said.stdout.split()
    assert len(acknowledged) >= KILLS
    store = opened(url)
    kept = {row.id: row for row in store.rows()}
    assert [key for key in acknowledged if key not in kept] == []
    assert all(row.outcome.claims for row in kept.values())
    with sqlite3.connect(tmp_path / "answers.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        halves = "SELECT count(*) FROM answers WHERE id NOT IN (SELECT answer_id FROM bodies)"
        assert connection.execute(halves).fetchone() == (0,)


def test_a_database_that_is_away_costs_nothing_but_time(postgres, opened, caplog):
    """Kept before, while and after the server was down, from several threads: all there, in order."""
    store = opened(postgres.fresh("away"))
    before = keep(store, 0.9, 0.1)
    postgres.stop()
    try:
        during = [store.keep(interaction(n), verdict()) for n in range(700)]
        deadline = time.monotonic() + 30
        while store.stats.spooled < 700 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert store.stats.spooled == 700
        with pytest.raises(StoreError, match="can't be used now"):
            store.count()
    finally:
        postgres.start()
    after = [store.keep(interaction(n), verdict()) for n in range(10)]
    assert store.flush(60)
    assert [row.id for row in store.rows()] == before + during + after
    assert (store.stats.written, store.stats.spooled, store.stats.dropped, store.stats.failed) == (
        712,
        0,
        0,
        0,
    )
    assert caplog.text.count("outcomes are kept on disk") == 1


def left_on_disk(folder, opened):
    """A database's address, and the ids of what was kept for it on disk: it was locked until the end."""
    url = f"sqlite:///{folder}/answers.db"
    store = opened(url, timeout=0.2)
    with sqlite3.connect(folder / "answers.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        told = [store.keep(interaction(n), verdict()) for n in range(20)]
        assert not store.close(timeout=1)
        other.execute("ROLLBACK")
    return url, told


def test_what_a_process_left_on_disk_the_next_one_writes(tmp_path, opened):
    """Its database locked, a process ends; what it had kept is in the next one's database, in order."""
    url, told = left_on_disk(tmp_path, opened)
    assert list((tmp_path / "spool").iterdir())
    later = opened(url)
    told += keep(later, 0.9)
    assert sorted(row.id for row in later.rows()) == sorted(told)
    assert [path for path in (tmp_path / "spool").iterdir() if path.stat().st_size] == []


def test_what_a_process_left_on_disk_is_there_for_who_only_reads(tmp_path, opened):
    url, told = left_on_disk(tmp_path, opened)
    reader = opened(url, drift=None)
    assert reader.flush(20)
    assert [row.id for row in reader.rows()] == told


def test_a_line_cut_off_by_a_kill_is_left_out(tmp_path, opened):
    spool = tmp_path / "spool"
    spool.mkdir()
    (spool / "1-aa.jsonl").write_text('[{"id": "cut', encoding="utf-8")
    store = opened()
    (key,) = keep(store, 0.9)
    assert [row.id for row in store.rows()] == [key]


def test_waiting_for_a_commit_ends_in_an_error_and_the_row_is_written_later(tmp_path, opened):
    store = opened(timeout=0.3)
    with sqlite3.connect(tmp_path / "answers.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"not committed within 0\.3 seconds"):
            store.keep(interaction(), verdict(), durable=True)
        other.execute("ROLLBACK")
    assert store.flush(30)
    assert store.count() == 1


def test_what_finds_no_room_is_counted_and_told_once(tmp_path, opened, caplog):
    store = opened(timeout=0.1, capacity=5, spool_megabytes=0.001)
    with sqlite3.connect(tmp_path / "answers.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        for n in range(300):
            store.keep(interaction(n), verdict())
        deadline = time.monotonic() + 20
        while store.stats.queued and time.monotonic() < deadline:
            time.sleep(0.02)
        other.execute("ROLLBACK")
    assert store.flush(30)
    stats = store.stats
    assert stats.written + stats.dropped + stats.failed == 300
    assert stats.dropped + stats.failed > 250
    assert store.count() == stats.written
    assert caplog.text.count("outcomes are lost") == 1


@pytest.mark.parametrize(
    ("size", "told"), [(0.0001, "spool has all that spool_megabytes allows"), (1, "the disk takes nothing")]
)
def test_why_what_waits_on_disk_found_no_room_is_told(tmp_path, opened, caplog, size, told):
    """A limit of one's own is raised; a disk that is full is emptied."""
    store = opened(timeout=0.1, spool_megabytes=size)
    if size == 1:
        (tmp_path / "spool").write_text("in the way of the folder")
    with sqlite3.connect(tmp_path / "answers.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        store.keep(interaction(), verdict())
        store.flush(20)
        other.execute("ROLLBACK")
    assert told in caplog.text
    assert store.stats.failed == 1


def test_one_that_can_not_be_encoded_costs_no_other(store, caplog):
    class Unreadable:
        def __repr__(self):
            raise ValueError("no")

    store.keep(interaction(), verdict())
    store.keep(
        interaction(), verdict(detector=DetectorSpec(name="x", version="1", parameters={"a": Unreadable()}))
    )
    store.keep(interaction(), verdict())
    assert store.flush(30)
    assert (store.stats.written, store.stats.failed) == (2, 1)
    assert store.count() == 2


def rows_kept_by(code, folder):
    """How many rows a process that ran this code with a database's address has left there."""
    subprocess.run(
        [sys.executable, "-c", code, f"sqlite:///{folder}/answers.db"],
        check=True,
        timeout=60,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}"},
    )
    with sqlite3.connect(folder / "answers.db") as connection:
        return connection.execute("SELECT count(*) FROM answers").fetchone()[0]


def test_an_exit_of_the_interpreter_writes_what_waits(tmp_path):
    code = """
import sys
from groundwire.monitor import Monitor
from tests.monitor.told import interaction, verdict
store = Monitor(sys.argv[1])
for n in range(300):
    store.keep(interaction(n), verdict())
"""
    assert rows_kept_by(code, tmp_path) == 300


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_keeps_its_own_and_nothing_twice(url, opened):
    store = opened(url)
    keep(store, 0.9)
    for n in range(50):
        store.keep(interaction(n), verdict(), run_id="parent")
    child = os.fork()
    if child == 0:
        done = 1
        try:
            for n in range(50):
                store.keep(interaction(n), verdict(), run_id="child")
            done = 0 if store.flush(20) else 1
        finally:
            os._exit(done)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert store.flush(20)
    runs = [row.run_id for row in store.rows()]
    assert (len(runs), runs.count("parent"), runs.count("child")) == (101, 50, 50)


def test_power_durability_asks_for_a_sync_of_every_commit(opened):
    for durability, synchronous in ((Durability.PROCESS, 1), (Durability.POWER, 2)):
        store = opened(durability=durability)
        with store._database.reading() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == synchronous
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_a_keeper_that_fails_harms_nobody(caplog):
    class Broken:
        def keep(self, *_, **__):
            raise OSError("full")

    outcome = Checker(NovelWords(), monitor=Broken()).check(interaction())
    assert outcome.hallucinated
    assert "could not be kept (OSError)" in caplog.text


def test_an_application_starts_without_its_monitors_database(tmp_path, opened, caplog):
    with caplog.at_level(logging.WARNING):
        store = opened("postgresql://nobody@127.0.0.1:9/nothing")
    assert "outcomes are kept on disk until it can be opened" in caplog.text
    for n in range(3):
        store.keep(interaction(n), verdict())
    assert not store.close(timeout=3)
    rows = [line for path in (tmp_path / "spool").iterdir() for line in path.read_text().splitlines()]
    assert len({json.loads(row)[0]["id"] for row in rows}) == 3


def test_an_application_starts_while_another_process_is_at_the_tables(opened, postgres, caplog):
    """Such as one that brings a large database up to date, which may take minutes."""
    url = postgres.fresh("migrating")
    opened(url).close()
    engine = sa.create_engine(
        url.replace("postgresql:", "postgresql+psycopg:"),
        connect_args={
            "options": "-c idle_in_transaction_session_timeout=20s"
        },  # so that nobody waits for ever
        poolclass=sa.NullPool,
    )
    with engine.connect() as other, caplog.at_level(logging.WARNING):
        other.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        store = opened(url, timeout=0.2)
        store.keep(interaction(), verdict())
    assert "lock timeout: outcomes are kept on disk until it can be opened" in caplog.text
    assert store.flush(30)
    assert store.count() == 1


def test_64_threads_that_keep_at_once_lose_nothing(store):
    def tell():
        for n in range(20):
            store.keep(interaction(n), verdict(), durable=n % 10 == 0)

    threads = [threading.Thread(target=tell) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.flush(60)
    assert store.count() == 64 * 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_worker_of_multiprocessing_writes_what_waits_before_it_ends(tmp_path):
    """Also what its last threads hand over: what is judged in the background comes after its finalizers."""
    code = """
import multiprocessing
import sys
import time

from groundwire.host.background import Background
from groundwire.monitor import Monitor
from tests.monitor.told import interaction, verdict

store = Monitor(sys.argv[1], drift=None)


def work():
    store.keep(interaction(0), verdict())
    judging = Background(workers=1)
    for n in range(1, 5):
        judging.submit(lambda: time.sleep(0.05), lambda _, n=n: store.keep(interaction(n), verdict()))


workers = [multiprocessing.get_context("fork").Process(target=work) for _ in range(2)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
"""
    assert rows_kept_by(code, tmp_path) == 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_worker_of_celery_writes_what_waits_before_it_ends(tmp_path):
    """Also what is still judged: the operating system ends the process, and no thread of it goes on."""
    code = """
import os
import sys
import time

from groundwire.host.background import Background
from groundwire.monitor import Monitor
from tests.celery import worker_ends
from tests.monitor.told import interaction, verdict

store = Monitor(sys.argv[1], drift=None)
for _ in range(2):
    if not os.fork():
        store.keep(interaction(0), verdict())
        judging = Background(workers=1)
        for n in range(1, 5):
            judging.submit(lambda: time.sleep(0.05), lambda _, n=n: store.keep(interaction(n), verdict()))
        worker_ends()
        os._exit(0)
for _ in range(2):
    os.wait()
"""
    assert rows_kept_by(code, tmp_path) == 10


def test_a_file_that_was_removed_takes_no_rows_with_it(tmp_path, opened):
    store = opened()
    keep(store, 0.9)
    for path in tmp_path.glob("answers.db*"):
        path.unlink()
    store.keep(interaction(), verdict(), durable=True)
    with sqlite3.connect(tmp_path / "answers.db") as connection:
        assert connection.execute("SELECT count(*) FROM answers").fetchone() == (1,)


def test_a_server_that_only_reads_for_a_while_loses_nothing(postgres, opened):
    """As after a failover: rows wait on disk until somebody takes writes again."""
    url = postgres.fresh("standby")
    store = opened(url)
    before = keep(store, 0.9)
    with _administrator(url) as run:
        run("ALTER DATABASE standby SET default_transaction_read_only = on")
        run(_END_OTHERS)
        during = [store.keep(interaction(n), verdict()) for n in range(3)]
        assert not store.flush(0.5)
        assert store.stats.failed == store.stats.dropped == 0
        run("SET default_transaction_read_only = off")
        run("ALTER DATABASE standby SET default_transaction_read_only = off")
    assert store.flush(20)
    assert [row.id for row in store.rows()] == before + during


def test_what_waits_for_a_lock_of_another_session_waits_on_disk(postgres, opened):
    url = postgres.fresh("locked")
    store = opened(url, timeout=0.2, capacity=100)
    before = keep(store, 0.9)
    with _administrator(url) as run:
        run("BEGIN")
        run("LOCK TABLE answers IN ACCESS EXCLUSIVE MODE")
        during = []
        for n in range(300):
            while store.stats.queued > 50:
                time.sleep(0.01)
            during.append(store.keep(interaction(n), verdict()))
        run("ROLLBACK")
    assert store.flush(20)
    assert [row.id for row in store.rows()] == before + during


def test_what_a_server_can_never_hold_keeps_nothing_else_waiting(postgres, opened):
    store = opened(postgres.fresh("limits"))
    chance = random.Random(7)
    store.keep(interaction(), verdict(), run_id="".join(chance.choices("0123456789abcdefghij", k=9000)))
    later = keep(store, 0.9, 0.1)
    assert [row.id for row in store.rows()] == later
    assert store.stats.failed == 1


def test_what_a_role_without_rights_keeps_waits_on_disk(postgres, opened, caplog):
    """As of PostgreSQL 15: who may connect may make no tables, until somebody grants it."""
    url = postgres.fresh("unopened")
    with _administrator(url) as run:
        run("CREATE ROLE app LOGIN")
        store = opened(url.replace("groundwire@", "app@"), timeout=0.3)
        assert "permission denied for schema public: outcomes are kept on disk" in caplog.text
        told = [store.keep(interaction(n), verdict()) for n in range(20)]
        with pytest.raises(StoreError, match="it is written once that is over"):
            store.keep(interaction(), verdict(), durable=True)
        assert not store.flush(0.5)
        assert store.stats.failed == store.stats.dropped == 0
        run("GRANT ALL ON SCHEMA public TO app")
    assert store.flush(20)
    assert [row.id for row in store.rows()][:20] == told
    assert (store.stats.written, store.stats.failed) == (21, 0)


def test_a_right_that_is_taken_away_for_a_while_loses_nothing(postgres, opened):
    url = postgres.fresh("revoked")
    keep(opened(url), 0.9)
    with _administrator(url) as run:
        run("CREATE ROLE seer LOGIN")
        run("GRANT SELECT ON ALL TABLES IN SCHEMA public TO seer")
        store = opened(url.replace("groundwire@", "seer@"), drift=None)
        store.keep(interaction(), verdict())
        assert not store.flush(0.5)
        run("GRANT ALL ON ALL TABLES IN SCHEMA public TO seer")
    assert store.flush(20)
    assert (store.count(), store.stats.failed) == (2, 0)


def test_a_database_that_was_emptied_gets_its_tables_again(postgres, opened):
    """As one that is made anew beneath an application that goes on."""
    url = postgres.fresh("emptied")
    store = opened(url)
    keep(store, 0.9)
    with _administrator(url) as run:
        run("DROP SCHEMA public CASCADE")
        run("CREATE SCHEMA public")
    (key,) = keep(store, 0.1)
    assert [row.id for row in store.rows()] == [key]


@pytest.fixture
def two_servers(postgres):
    other = PostgresServer()
    yield postgres.fresh("twins"), other.fresh("twins"), postgres
    other.remove()


def test_what_waits_for_one_database_is_never_written_into_another(
    two_servers, tmp_path, monkeypatch, opened
):
    """Production and staging of one name on one host, whose processes begin in the same folder."""
    production, staging, server = two_servers
    monkeypatch.chdir(tmp_path)
    Monitor(production).close()
    server.stop()
    try:
        store = opened(production, spool=None)
        for n in range(3):
            store.keep(interaction(n), verdict())
        assert not store.close(timeout=2)
        other = opened(staging, spool=None)
        keep(other, 0.9)
        assert other.count() == 1
    finally:
        server.start()
    later = opened(production, spool=None)
    assert later.flush(20)
    assert later.count() == 3


def test_outcomes_of_some_database_of_that_name_are_told_and_left_where_they_are(
    postgres, tmp_path, monkeypatch, opened, caplog
):
    """A folder that is named for the host and the database alone may be another one's."""
    url = postgres.fresh("unknown")
    monkeypatch.chdir(tmp_path)
    old = tmp_path / "groundwire-127-0-0-1-unknown.spool"
    old.mkdir()
    (old / "1-aa.jsonl").write_text("[]\n", encoding="utf-8")
    store = opened(url, spool=None)
    assert f"{old} holds outcomes of this database, or of another one" in caplog.text
    keep(store, 0.9)
    assert store.count() == 1
    assert (old / "1-aa.jsonl").read_text(encoding="utf-8") == "[]\n"


_END_OTHERS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND datname = current_database()
"""


@contextmanager
def _administrator(url):
    """Runs statements in a session beside the monitor's."""
    engine = sa.create_engine(
        url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool
    )
    with engine.connect() as connection:
        yield connection.exec_driver_sql
