"""Batches on Ray: the same rows as on this machine, through processes that die, and limits that all share."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from groundwire import ConfigurationError
from groundwire.batch import Local, Ray, Scorer, StarvedError, on_ray
from tests.batch import answers
from tests.batch.answers import jsonl, quick, row
from tests.batch.test_batch import run, written

ray = pytest.importorskip("ray")
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.timeout(300)


def test_it_gives_what_the_local_engine_gives(cluster, tmp_path):
    """To the last byte; and what is done is not done again, whichever engine did it."""
    path = jsonl(tmp_path / "in.jsonl", map(row, range(95)))
    there = run(path, tmp_path / "ray", Ray(), unit_rows=10)
    assert there.complete
    run(path, tmp_path / "local", Local(processes=1), unit_rows=10)
    parts = {one.name: one.read_bytes() for one in (tmp_path / "ray").glob("part-*")}
    assert parts == {one.name: one.read_bytes() for one in (tmp_path / "local").glob("part-*")}
    (tmp_path / "ray" / "part-00000003.jsonl").unlink()
    assert run(path, tmp_path / "ray", Ray()).now.rows == 10


def test_a_process_that_dies_is_replaced(cluster, tmp_path):
    """Killed in the middle of a unit, its rows are judged by another process, each once."""
    path = jsonl(tmp_path / "in.jsonl", map(row, range(600)))
    killed, ended = threading.Event(), threading.Event()

    def kill_one():
        """Kill the first that is seen at work once a part is there: between two units none may be."""
        while not (killed.is_set() or ended.is_set()):
            begun = list((tmp_path / "out").glob("part-*"))
            for pid in at_work()[:1] if begun else ():
                os.kill(pid, signal.SIGKILL)
                killed.set()
            time.sleep(0.01)

    thread = threading.Thread(target=kill_one)
    thread.start()
    try:
        summary = run(path, tmp_path / "out", Ray(), checker=answers.slow, unit_rows=50)
    finally:
        ended.set()
        thread.join()
    assert killed.is_set()
    assert summary.complete
    assert [one["id"] for one in written(tmp_path / "out")] == [f"r{n}" for n in range(600)]


def test_a_unit_that_kills_every_process_fails_and_no_other(cluster, tmp_path):
    """Tried as often as was said, it is named, and the others are done."""
    switch = tmp_path / "switch"
    switch.touch()
    rows = [{**row(n), "answer": "die"} if n == 12 else row(n) for n in range(40)]
    path = jsonl(tmp_path / "in.jsonl", rows)
    recipe = answers.Dying(switch=str(switch))
    summary = run(path, tmp_path / "out", Ray(retries=1), checker=recipe, unit_rows=10)
    assert [one.unit for one in summary.failures] == [1]
    assert summary.stats.rows == 30
    switch.unlink()
    assert run(path, tmp_path / "out", Ray(), checker=recipe).complete


def test_limits_and_replies_are_shared_by_all_tasks(cluster, tmp_path):
    """No more calls in all than the budget has; what was replied is not asked again."""
    path = jsonl(tmp_path / "in.jsonl", map(row, range(60)))
    recipe = answers.Judged(asked=str(tmp_path / "asked"), calls=25)
    summary = run(path, tmp_path / "out", Ray(), checker=recipe, unit_rows=10)
    assert len(recipe.lines()) == 25
    assert summary.stats.calls == 25
    assert summary.stopped == "" or "the job's budget is reached" in summary.stopped
    more = answers.Judged(asked=str(tmp_path / "asked"), calls=100)
    for part in (tmp_path / "out").glob("part-*"):
        part.unlink()
    assert run(path, tmp_path / "out", Ray(), checker=more).complete
    asked = [line.split(" ", 1)[1] for line in recipe.lines()]
    assert sorted(asked) == sorted({f"Bag {n}" for n in range(60)})


def test_a_task_that_no_machine_has_room_for_is_refused(cluster, tmp_path):
    """Ray would wait for ever without a word."""
    path = jsonl(tmp_path / "in.jsonl", map(row, range(5)))
    with pytest.raises(ConfigurationError, match="takes 64 processors, and the largest machine"):
        run(path, tmp_path / "out", Ray(num_cpus=64))


def test_a_cluster_that_is_taken_is_told(cluster, tmp_path):
    """Where others hold every processor, the batch ends with what to do, and not never."""

    @ray.remote(num_cpus=3)
    class Greedy:
        def here(self):
            return True

    greedy = Greedy.remote()
    ray.get(greedy.here.remote())
    path = jsonl(tmp_path / "in.jsonl", map(row, range(5)))
    try:
        with pytest.raises(StarvedError, match=r"no task has begun for \d+ seconds: each takes 1 processors"):
            run(path, tmp_path / "out", Ray(patience=3))
    finally:
        ray.kill(greedy)
    assert run(path, tmp_path / "out", Ray()).complete


def test_a_unit_that_takes_its_time_is_waited_for(cluster, tmp_path):
    """It has begun, so nothing holds it up; and begun once, however often its process died."""
    with Ray().opened(str(tmp_path)) as desk:
        watch = on_ray._Watch(desk, patience=0.01)
        for _ in range(2):
            ray.get(desk.actor.begin.remote(7))
        time.sleep(0.02)
        watch.look(ray, 1.0)
        watch.finished()
        time.sleep(0.02)
        with pytest.raises(StarvedError, match="no task has begun"):
            watch.look(ray, 1.0)


def test_a_machine_that_starts_no_process_is_told(cluster, tmp_path, monkeypatch):
    """The process that counts may not start either: that isn't the fault of who holds the processors."""
    monkeypatch.setattr(on_ray, "_STARTS", 0.001)
    path = jsonl(tmp_path / "in.jsonl", map(row, range(5)))
    with pytest.raises(StarvedError, match="did not answer within 0 seconds, though it takes no processor"):
        run(path, tmp_path / "out", Ray())


def test_settings_that_fail_in_a_task_fail_as_themselves(cluster, tmp_path):
    """An error of ours arrives as it was raised, not wrapped by Ray."""
    path = jsonl(tmp_path / "in.jsonl", map(row, range(5)))
    with pytest.raises(ConfigurationError, match="not here"):
        run(path, tmp_path / "out", Ray(), checker=answers.OnlyIn(pid=os.getpid()))


def test_a_scorer_maps_a_ray_dataset(cluster):
    """As a class of actors, and as a function: the columns are there, and what failed has no score."""
    data = ray.data.from_items([row(n) for n in range(40)] + [{**row(40), "answer": "fail"}])
    for mapped in (
        data.map_batches(
            Scorer,
            fn_constructor_kwargs={"checker": quick},
            batch_format="pyarrow",
            concurrency=1,
            num_cpus=0.5,
        ),
        data.map_batches(Scorer(quick), batch_format="pandas"),
        data.map_batches(Scorer(quick), batch_format="numpy"),
    ):
        rows = {one["id"]: one for one in mapped.take_all()}
        assert len(rows) == 41
        assert rows["r40"]["hallucination_error"] == "NO_CLAIMS: it says nothing"
        assert rows["r40"]["hallucinated"] is None
        score = rows["r3"]["hallucination_score"]
        assert rows["r3"]["hallucinated"] == (score >= rows["r3"]["hallucination_threshold"])


def test_killed_with_all_its_processes_it_goes_on(cluster, tmp_path):
    """SIGKILL to the driver and to whatever judges for it, then again: one row each at the end."""
    path = jsonl(tmp_path / "in.jsonl", map(row, range(800)))
    command = [sys.executable, "-m", "tests.batch.running", str(path), str(tmp_path / "out"), "slow"]
    command += [cluster.get_runtime_context().gcs_address, "25"]
    parts = tmp_path / "out" / "_groundwire" / "parts"
    child = subprocess.Popen(command, start_new_session=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 100
    while len(list(parts.glob("*"))) < 4 and time.monotonic() < until:
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGKILL)
    for pid in at_work():
        with suppress(ProcessLookupError):  # it may have ended with its driver
            os.kill(pid, signal.SIGKILL)
    child.wait()
    assert 0 < len(list(parts.glob("*"))) < 32
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=120)
    total, now, complete = done.stdout.split()
    assert (total, complete) == ("800", "True")
    assert int(now) < 800
    assert [one["id"] for one in written(tmp_path / "out")] == [f"r{n}" for n in range(800)]


def at_work():
    """The processes that judge a unit."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes().startswith(b"ray::_work"):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def test_a_cluster_that_is_started_here_phones_nowhere(tmp_path, monkeypatch):
    """Usage statistics are off before Ray starts anything, and it listens to this machine alone."""
    seen = {}

    def started(**options):
        seen.update(options, usage=os.environ["RAY_USAGE_STATS_ENABLED"])
        raise ConnectionError

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", started)
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(ConnectionError), Ray().opened(str(tmp_path)):
        pass
    assert (seen["usage"], seen["include_dashboard"], seen["_node_ip_address"]) == ("0", False, "127.0.0.1")
