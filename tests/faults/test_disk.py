"""Disks that are full, files that may not be written or hold nonsense: the answer is judged all the same."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from functools import cache
from importlib import resources
from pathlib import Path

import pytest

from groundwire import Checker, ConfigurationError, Judge
from groundwire.core.errors import EncoderError
from groundwire.core.plan import Complete, Embed
from groundwire.judge.memory import Memory
from groundwire.local.embedded import READER
from groundwire.local.encoder import WEIGHTS, Loaded
from groundwire.monitor import Monitor
from tests.faults.asked import FEE, RIGHT
from tests.faults.told import ROOT
from tests.scripted import NovelWords

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these disks are made as Unix makes them")


@cache
def mounts():
    """Whether a file system of our own can be had here."""
    if shutil.which("unshare") is None:
        return False
    tried = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


def on_a_full_disk(code, folder):
    """Run ``code`` where ``folder`` is a disk of 1 MB; or, if none can be had, where files stop growing."""
    command = [sys.executable, "-c", code, str(folder)]
    if mounts():
        script = 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"'
        command = ["unshare", "-rm", "sh", "-c", script, str(folder), *command]
    else:
        limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, 700_000))\n"
        command[2] = limit + code
    return finished(command)


def finished(command):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}"}
    done = subprocess.run(
        command, capture_output=True, check=False, text=True, cwd=ROOT, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


MONITORED = """
import json, sys, time
from groundwire import Checker
from groundwire.monitor import Monitor
from tests.faults.asked import FEE
from tests.scripted import NovelWords
monitor = Monitor(f"sqlite:///{sys.argv[1]}/answers.db", spool=sys.argv[1] + "/spool", timeout=1.0)
checker = Checker(NovelWords(), monitor=monitor)
started = time.monotonic()
outcomes = [checker.check(FEE) for _ in range(600)]
seconds = time.monotonic() - started
monitor.flush(3)
stats = monitor.stats
monitor.close(1)
print(json.dumps([sum(o.hallucinated for o in outcomes), seconds, stats.written, stats.dropped + stats.failed,
                  stats.queued + stats.spooled]))
"""


def test_a_full_disk_under_the_monitor_costs_what_it_says_and_no_verdict(tmp_path, told):
    """Database and spool share a disk that fills up: every answer is judged, and each row is counted."""
    (judged, seconds, written, lost, waiting), said = on_a_full_disk(MONITORED, tmp_path)
    assert judged == 600
    assert 0 < written < 600
    assert lost > 0
    assert written + lost + waiting == 600
    assert "outcomes are lost" in said
    told("disk full under the monitor", "monitor", "judged; what is lost is counted and told", seconds)


REMEMBERING = """
import json, sys, time
from groundwire import Judge
from groundwire.core.plan import Complete
from groundwire.judge.memory import Memory
from groundwire.judge.breaker import Breaker
judge = Judge(lambda s, u: u * 300, memory=Memory(sys.argv[1] + "/memory.sqlite"))
started = time.monotonic()
replies = [judge.perform([Complete(system="s", user=f"{n:0100d}")], timeout=None)[0] for n in range(100)]
seconds = time.monotonic() - started
(again,) = judge.perform([Complete(system="s", user=f"{0:0100d}")], timeout=None)
print(json.dumps([[getattr(r, "detail", "ok") for r in replies].count("ok"), seconds, again.usage.calls]))
"""


def test_a_full_disk_under_the_replies_costs_the_next_call_and_nothing_else(tmp_path, told):
    (replied, seconds, again), said = on_a_full_disk(REMEMBERING, tmp_path)
    assert replied == 100
    assert again == 0, "what was remembered before is still there"
    assert "memory can't be written" in said
    told("disk full under the judge's memory", "memory", "judged; the rest is not remembered", seconds)


READ_ONLY = """
import json, os, sys, time
folder = sys.argv[1]
from groundwire import Checker
from groundwire.monitor import Monitor
from tests.faults.asked import FEE
from tests.scripted import NovelWords
warm = Monitor(f"sqlite:///{folder}-warm.db")
Checker(NovelWords(), monitor=warm).check(FEE)
warm.close(10)
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
monitor = Monitor(f"sqlite:///{folder}/answers.db", spool=folder + "/nowhere/spool", timeout=1.0)
checker = Checker(NovelWords(), monitor=monitor)
started = time.monotonic()
outcomes = [checker.check(FEE) for _ in range(50)]
seconds = time.monotonic() - started
monitor.flush(2)
stats = monitor.stats
monitor.close(1)
print(json.dumps([sum(o.hallucinated for o in outcomes), seconds, stats.written, stats.dropped + stats.failed
                  + stats.queued + stats.spooled]))
"""


def test_a_database_that_may_not_be_written_costs_no_verdict(tmp_path, told):
    """Neither the database nor a spool may be written, by somebody who is not root."""
    folder = tmp_path / "kept"
    folder.mkdir()
    Monitor(f"sqlite:///{folder}/answers.db").close(10)
    for path in (folder / "answers.db", folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for parent in (tmp_path, *list(tmp_path.parents)[:3]):
        if parent.owner() == folder.owner() and parent != Path("/tmp"):
            parent.chmod(parent.stat().st_mode | 0o055)
    try:
        (judged, seconds, written, not_written), said = finished(
            [sys.executable, "-c", READ_ONLY, str(folder)]
        )
    finally:
        folder.chmod(0o755)
    assert (judged, written, not_written) == (50, 0, 50)
    assert "answers.db" in said
    told("monitor's database read-only", "monitor", "judged; what is lost is counted and told", seconds)


def test_a_damaged_database_is_told_and_what_comes_is_kept_beside_it(tmp_path, told, caplog):
    path = tmp_path / "answers.db"
    path.write_bytes(b"SQLite format 3\x00" + os.urandom(20_000))
    monitor = Monitor(f"sqlite:///{path}", spool=tmp_path / "spool")
    checker = Checker(NovelWords(), monitor=monitor)
    started = time.monotonic()
    assert all(checker.check(FEE).hallucinated for _ in range(5))
    seconds = time.monotonic() - started
    monitor.flush(1)
    monitor.close(1)
    kept = [line for file in (tmp_path / "spool").iterdir() for line in file.read_text().splitlines()]
    assert len(kept) == 5
    assert "outcomes are kept on disk until it can be opened" in caplog.text
    told("monitor's database damaged", "monitor", "judged; kept on disk beside it", seconds)


def test_damaged_weights_are_refused_by_name_and_nothing_is_judged_with_them(tmp_path, told, monkeypatch):
    for path in Path(str(resources.files("groundwire.local") / "data")).iterdir():
        shutil.copy(path, tmp_path)
    with (tmp_path / WEIGHTS).open("r+b") as file:
        file.seek(5_000_000)
        file.write(b"\x00\xff" * 64)
    monkeypatch.setattr(READER, "_loaded", Loaded(tmp_path))
    started = time.monotonic()
    with pytest.raises(EncoderError, match="is not the file that groundwire was released with"):
        Checker().check(FEE)
    told(
        "weights damaged",
        "embedded",
        "refused by name, before anything is judged",
        time.monotonic() - started,
    )


@pytest.mark.parametrize("junk", [b"", b"\x00\xff\x00", b"[1", b'{"a": 1}', b"[[1], 2]", b"null"])
def test_a_damaged_entry_of_the_memory_is_asked_for_again(tmp_path, told, junk):
    path = tmp_path / "memory.sqlite"
    asked = []
    judge = Judge(
        lambda s, u: asked.append(u) or RIGHT,
        embeddings=lambda texts: asked.append(texts) or [[1.0, 2.0]] * len(texts),
        memory=Memory(path),
    )
    requests = [Complete(system="s", user="u"), Embed(texts=("a", "b"))]
    first = judge.perform(requests, timeout=None)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE replies SET value = ?", (junk,))
    started = time.monotonic()
    again = judge.perform(requests, timeout=None)
    seconds = time.monotonic() - started
    assert [getattr(one, "texts", None) or one.vectors for one in again] == [(RIGHT,), first[1].vectors]
    assert len(asked) == 4
    told("an entry of the judge's memory damaged", "memory", "asked again", seconds)


def test_a_memory_s_file_that_is_damaged_costs_its_replies_or_is_refused_at_the_start(tmp_path, told):
    path = tmp_path / "memory.sqlite"
    judge = Judge(lambda s, u: RIGHT, memory=Memory(path))
    assert Checker("judge", judge=judge).check(FEE).hallucinated
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path.write_bytes(os.urandom(path.stat().st_size))
    started = time.monotonic()
    with pytest.raises(ConfigurationError, match=r"memory\.sqlite"):
        Memory(path)
    assert Checker("judge", judge=judge).check(FEE).hallucinated
    told(
        "the judge's memory damaged",
        "memory",
        "asked again; refused at the next start",
        time.monotonic() - started,
    )


BATCH = """
import json, sys
from pathlib import Path
from groundwire.batch import Batch, Local
from tests.batch.answers import Judged, jsonl, row
place = Path(sys.argv[1])
recipe = Judged(asked=str(place.parent / "asked"))
jsonl(place.parent / "in.jsonl", map(row, range(2_000)))
(place / "filler").write_bytes(b"x" * 850_000)
with Batch([str(place.parent / "in.jsonl")], str(place / "out"), checker=recipe, unit_rows=50,
           state=str(place.parent / "state")) as job:
    summary = job.run(Local(processes=1))
failures = [one.failure for one in summary.failures]
print(json.dumps([summary.done, failures, summary.stopped, len(recipe.lines())]))
"""


def test_a_full_disk_under_a_batch_ends_it(tmp_path):
    """No model is asked for outcomes that can't be kept, and what is blamed is the disk, not the table."""
    if not mounts():
        pytest.skip("no file system of our own can be had here")
    (tmp_path / "disk").mkdir()
    (done, failures, stopped, asked), _ = on_a_full_disk(BATCH, tmp_path / "disk")
    assert 0 < done < 39
    assert stopped == "outcomes can't be written: no space left on device"
    assert failures == [f"{tmp_path / 'in.jsonl'}: its {stopped}"]
    assert asked == (done + 1) * 50
