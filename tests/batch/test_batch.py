"""Batches on this machine: one row for each row, whatever happens in between."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from groundwire import ConfigurationError
from groundwire.batch import Batch, Local
from groundwire.batch.batch import PASSING
from groundwire.tables import TableError
from tests.batch import answers
from tests.batch.answers import jsonl, quick, row, slow

HERE = Local(processes=1)
TWO = Local(processes=2)
pytestmark = pytest.mark.timeout(300)  # processes that start on a busy machine


def run(source, out, engine=HERE, *, checker=quick, retry_errors=False, on_done=None, **options):
    sources = [str(one) for one in (source if isinstance(source, list) else [source])]
    with Batch(sources, str(out), checker=checker, **options) as job:
        return job.run(engine, retry_errors=retry_errors, on_done=on_done)


def written(out, ending="jsonl"):
    """Every row of every part, in the order of the parts' names."""
    rows = []
    for path in sorted(Path(out).glob(f"part-*.{ending}")):
        if ending == "parquet":
            rows += pq.read_table(path).to_pylist()
        elif ending == "csv":
            rows += csv.DictReader(path.read_text(encoding="utf-8").splitlines())
        else:
            rows += map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return rows


def parquet(path, rows, group=1000):
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=group)
    return path


@pytest.fixture
def table(tmp_path):
    return jsonl(tmp_path / "in.jsonl", map(row, range(95)))


@pytest.mark.parametrize("to", ["parquet", "jsonl", "csv"])
def test_each_row_has_one_row_in_order(tmp_path, to):
    """Of several files and formats, with the file and line that each stands in; a summary tells of all."""
    paths = [
        jsonl(tmp_path / "a.jsonl", map(row, range(25))),
        parquet(tmp_path / "b.parquet", [row(n) for n in range(25, 60)], group=20),
    ]
    summary = run(paths, tmp_path / "out", to=to, unit_rows=10)
    rows = written(tmp_path / "out", to)
    assert [one["id"] for one in rows] == [f"r{n}" for n in range(60)]
    assert [int(one["line"]) for one in rows] == [*range(1, 26), *range(1, 36)]
    assert {one["file"] for one in rows} == set(map(str, paths))
    assert summary.complete
    assert summary.stats.rows == 60
    assert summary.units == 3 + 4
    told = json.loads((tmp_path / "out" / "_groundwire" / "summary.json").read_text())
    assert told["rows"] == 60
    assert told["hallucinated"] == summary.stats.groups["hallucinated"] > 0
    assert sum(map(sum, told["scores"]["bins"])) == 60


def test_what_can_not_be_judged_has_a_row_that_says_why(tmp_path):
    """Rows that can't be read, that abstain or break the detector: none is clean, none is missing."""
    lines = [row(0), {**row(1), "answer": None}, {**row(2), "answer": "fail"}, {**row(3), "answer": "break"}]
    path = jsonl(tmp_path / "in.jsonl", lines)
    path.write_text(path.read_text() + "{not json\n" + json.dumps(row(5)) + "\n")
    summary = run(path, tmp_path / "out", to="parquet")
    rows = written(tmp_path / "out", "parquet")
    reasons = [None, "UNREADABLE_INPUT", "NO_CLAIMS", "MODEL_FAILED", "UNREADABLE_INPUT", None]
    assert [one["abstention"] for one in rows] == reasons
    for one in rows:
        judged = one["abstention"] is None
        assert (one["error"] is None, one["status"] == "checked", one["score"] is not None) == (judged,) * 3
        assert (one["hallucinated"] is not None) == judged
    assert "line 5: not JSON" in rows[4]["error"]
    assert "KeyError" in rows[3]["error"]
    assert summary.stats.abstentions == {"UNREADABLE_INPUT": 2, "NO_CLAIMS": 1, "MODEL_FAILED": 1}


def test_outcomes_of_an_array_tell_its_items_apart(tmp_path):
    """Even if it is all in one line."""
    source = tmp_path / "in.json"
    source.write_text(json.dumps([{**row(n), "id": None} for n in range(3)]))
    run(source, tmp_path / "out", to="jsonl")
    assert [(one["id"], one["line"]) for one in written(tmp_path / "out")] == [
        (f"{source}:{n}", n) for n in (1, 2, 3)
    ]


def test_parts_are_a_dataset_that_other_tools_read(tmp_path, table):
    """Nothing in the folder is in the way: pyarrow reads it as one table, with its types."""
    run(table, tmp_path / "out", to="parquet", unit_rows=10)
    read = pyarrow.dataset.dataset(str(tmp_path / "out")).to_table()
    assert read.num_rows == 95
    assert read.schema.field("hallucinated").type == pa.bool_()


def test_on_several_processes_it_is_the_same(tmp_path, table):
    """The parts are equal to the last byte, whoever made them."""
    run(table, tmp_path / "one", unit_rows=10)
    run(table, tmp_path / "two", TWO, unit_rows=10)
    parts = {path.name: path.read_bytes() for path in (tmp_path / "one").glob("part-*")}
    assert parts == {path.name: path.read_bytes() for path in (tmp_path / "two").glob("part-*")}


def test_what_is_done_is_not_done_again(tmp_path, table):
    """Resumed, a batch does what has no part; a part that is cut off, or another's, counts as none."""
    first = run(table, tmp_path / "out", to="parquet", unit_rows=10)
    parts = sorted((tmp_path / "out").glob("part-*"))
    stamps = {path: path.stat().st_mtime_ns for path in parts}
    parts[2].write_bytes(parts[2].read_bytes()[:-20])
    parts[4].write_bytes(parts[5].read_bytes())
    parts[6].unlink()
    again = run(table, tmp_path / "out", to="parquet")
    assert again.now.rows == 30
    assert again.stats.to_dict() | {"seconds": 0} == first.stats.to_dict() | {"seconds": 0}
    assert [one["id"] for one in written(tmp_path / "out", "parquet")] == [f"r{n}" for n in range(95)]
    touched = {path for path in parts if path.stat().st_mtime_ns != stamps[path]}
    assert touched == {parts[2], parts[4], parts[6]}


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_part_that_was_copied_by_half_is_done_again(tmp_path, table, form):
    """A copy that was broken off leaves its last file short, and what is beside the parts comes first."""
    run(table, tmp_path / "out", to=form, unit_rows=10)
    part = sorted((tmp_path / "out").glob("part-*"))[3]
    whole = part.read_bytes()
    for left in (b"", whole[:-40]):
        part.write_bytes(left)
        assert run(table, tmp_path / "out", to=form).now.rows == 10
        assert part.read_bytes() == whole


def test_another_input_or_checker_is_refused_until_told(tmp_path, table):
    """The message names what differs; --overwrite begins anew, and deletes nothing of anybody else's."""
    run(table, tmp_path / "out", unit_rows=10)
    with pytest.raises(ConfigurationError, match="its detector is by-answer, this run's slow"):
        run(table, tmp_path / "out", checker=slow)
    (tmp_path / "out" / "notes.txt").write_text("mine")
    table.write_text(table.read_text() + json.dumps(row(95)) + "\n")
    with pytest.raises(ConfigurationError, match=r"in\.jsonl' is changed"):
        run(table, tmp_path / "out")
    assert run(table, tmp_path / "out", unit_rows=50, overwrite=True).stats.rows == 96
    assert len(written(tmp_path / "out")) == 96
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_a_folder_with_other_things_in_it_is_refused(tmp_path, table):
    """Outcomes don't get mixed with what somebody keeps there."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match="not empty, and no batch was begun in it"):
        run(table, tmp_path / "out")
    with pytest.raises(ConfigurationError, match="is a file: name a folder"):
        run(table, table)


def test_two_runs_do_not_write_to_one_folder(tmp_path, table):
    """The second says who is there."""
    with (
        Batch([str(table)], str(tmp_path / "out"), checker=quick),
        pytest.raises(ConfigurationError, match="another run is writing to"),
    ):
        run(table, tmp_path / "out")


def test_a_folder_of_tables_is_read_without_what_lies_in_it(tmp_path):
    """Hidden files, other files and the outcomes themselves are no input; files without rows are named."""
    data = tmp_path / "data"
    (data / "deep").mkdir(parents=True)
    jsonl(data / "b.jsonl", [row(1)])
    jsonl(data / "deep" / "a.jsonl", [row(2)])
    (data / "empty.csv").write_text("context,answer\n")
    for other in ("_SUCCESS", ".hidden.jsonl", "readme.txt"):
        (data / other).write_text("nothing to judge")
    for _ in range(2):
        summary = run(data, data / "out")
        assert summary.stats.rows == 2
        assert summary.empty == (str(data / "empty.csv"),)
    with pytest.raises(TableError, match=r"no such file, nor a folder or pattern"):
        run(data / "*.parquet", tmp_path / "other")


def test_a_damaged_file_fails_its_units_and_no_others(tmp_path):
    """The run ends with everything that could be done, and names the file; once it reads well, it goes on."""
    good = jsonl(tmp_path / "a.jsonl", map(row, range(20)))
    bad = parquet(tmp_path / "b.parquet", [row(n) for n in range(20, 620)], group=300)
    whole = bad.read_bytes()
    at = pq.ParquetFile(bad).metadata.row_group(1).column(0).data_page_offset
    stamp = bad.stat()
    bad.write_bytes(whole[:at] + bytes(30) + whole[at + 30 :])
    os.utime(bad, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    summary = run([good, bad], tmp_path / "out", to="jsonl", unit_rows=300)
    assert not summary.complete
    (failure,) = summary.failures
    assert (failure.file, failure.line) == (str(bad), 301)
    assert "damaged" in failure.failure
    assert summary.stats.rows == 320
    bad.write_bytes(whole)
    os.utime(bad, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert run([good, bad], tmp_path / "out", to="jsonl").complete
    assert [one["id"] for one in written(tmp_path / "out")] == [f"r{n}" for n in range(620)]


def test_killed_again_and_again_it_ends_with_one_row_each(tmp_path):
    """SIGKILL to the whole process group, at three random moments; nothing is lost, nothing is twice."""
    path = jsonl(tmp_path / "in.jsonl", map(row, range(1500)))
    command = [
        sys.executable,
        "-m",
        "tests.batch.running",
        str(path),
        str(tmp_path / "out"),
        "slow",
        "local",
        "25",
    ]
    rng, kept = random.Random(7), 0
    beside = tmp_path / "out" / "_groundwire" / "parts"  # written last of all
    for _ in range(3):
        child = subprocess.Popen(command, start_new_session=True, cwd=Path(__file__).parents[2])
        wanted = kept + rng.randint(3, 9)
        until = time.monotonic() + 50
        while len(list(beside.glob("*"))) < wanted and time.monotonic() < until:
            time.sleep(0.01)
        os.killpg(child.pid, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        kept = len(list(beside.glob("part-*")))
        assert 0 < kept < 60
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2], timeout=60
    )
    assert done.stdout.split() == ["1500", str(1500 - 25 * kept), "True"]
    rows = written(tmp_path / "out")
    assert [one["id"] for one in rows] == [f"r{n}" for n in range(1500)]
    assert not list((tmp_path / "out").rglob(".groundwire-*"))


def test_workers_end_when_whoever_started_them_is_killed(tmp_path):
    """Killed alone, the parent leaves no process behind that would go on writing."""
    path = jsonl(tmp_path / "in.jsonl", map(row, range(3000)))
    command = [
        sys.executable,
        "-m",
        "tests.batch.running",
        str(path),
        str(tmp_path / "out"),
        "slow",
        "local",
        "50",
    ]
    child = subprocess.Popen(command, start_new_session=True, cwd=Path(__file__).parents[2])
    while not list((tmp_path / "out").glob("part-*")):
        time.sleep(0.02)
    child.kill()
    child.wait()
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            os.killpg(child.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGKILL)
    pytest.fail("a worker is still there")


def test_ctrl_c_keeps_what_is_done(tmp_path, table):
    """The parts stay, nothing half-written does, the summary says that it isn't all, and a run goes on."""

    def stop(done):
        if done.unit == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(table, tmp_path / "out", unit_rows=10, on_done=stop)
    told = json.loads((tmp_path / "out" / "_groundwire" / "summary.json").read_text())
    assert (told["complete"], told["rows"], told["stopped"]) == (False, 40, "it was interrupted")
    assert not list((tmp_path / "out").rglob(".groundwire-*"))
    assert run(table, tmp_path / "out").now.rows == 55


def test_a_unit_that_kills_its_process_fails_alone(tmp_path, monkeypatch):
    """The others are done, the message names it, and once its cause is gone the same command does it."""
    rows = [{**row(n), "answer": "die"} if n == 42 else row(n) for n in range(100)]
    path, switch = jsonl(tmp_path / "in.jsonl", rows), tmp_path / "switch"
    switch.touch()
    monkeypatch.setenv("DEADLY", str(switch))
    summary = run(path, tmp_path / "out", TWO, checker=answers.deadly, unit_rows=10)
    assert [one.unit for one in summary.failures] == [4]
    assert "its process died" in summary.failures[0].failure
    assert summary.stats.rows == 90
    switch.unlink()
    assert run(path, tmp_path / "out", TWO, checker=answers.deadly).complete
    assert [one["id"] for one in written(tmp_path / "out")] == [f"r{n}" for n in range(100)]


@pytest.mark.parametrize("to", ["parquet", "jsonl", "csv"])
def test_errors_are_judged_again_and_nothing_else(tmp_path, to):
    """Rows that a model failed on are asked for again; what was judged, and what can't be, stays as it is."""
    rows = [
        {**row(n), "label": "?" if n < 20 else 0, "answer": None if n == 5 else f"Bag {n}"} for n in range(30)
    ]
    path, broken = jsonl(tmp_path / "in.jsonl", rows), tmp_path / "broken"
    recipe = answers.Judged(asked=str(tmp_path / "asked"), broken=str(broken))
    run(path, tmp_path / "out", checker=recipe, to=to, unit_rows=10, on_done=lambda _: broken.touch())
    first = written(tmp_path / "out", to)
    abstained = Counter(one["abstention"] for one in first if one["abstention"])
    assert abstained.pop("UNREADABLE_INPUT") == 1
    assert set(abstained) == {"MODEL_FAILED", "UNAVAILABLE"}  # its breaker opens: no other detector judges
    assert abstained.total() == 20
    asked = len(recipe.lines())
    broken.unlink()
    assert run(path, tmp_path / "out", checker=recipe, to=to).now.rows == 0
    summary = run(path, tmp_path / "out", checker=recipe, to=to, retry_errors=True)
    again = written(tmp_path / "out", to)
    assert [one["id"] for one in again] == [one["id"] for one in first]
    assert again[:10] == first[:10]
    assert summary.stats.abstentions == {"UNREADABLE_INPUT": 1}
    assert summary.stats.calls == len(recipe.lines()) == asked + 20
    assert summary.stats.unlabelled == 20
    passing = {"MODEL_FAILED", "UNAVAILABLE", "TIMEOUT", "OVER_BUDGET", "UNREADABLE_REPLY", "NOT_SAMPLED"}
    assert set(PASSING) == passing


def test_a_script_without_its_guard_is_told_so(tmp_path, table):
    """Its processes can't begin, whatever they are given: no unit is said to have failed for it."""
    script = tmp_path / "script.py"
    script.write_text(
        "from groundwire.batch import Batch, Local\n"
        f"with Batch([{str(table)!r}], {str(tmp_path / 'out')!r}, checker='lexical', unit_rows=9) as job:\n"
        "    job.run(Local(processes=2))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'needs `if __name__ == "__main__":`' in done.stderr.splitlines()[-1]
    assert "no process could be started" in done.stderr.splitlines()[-1]
    assert "another run" not in done.stderr
    assert done.stderr.count("Traceback") <= 3


@pytest.mark.parametrize("to", ["parquet", "jsonl", "csv"])
def test_rows_are_kept_whatever_their_outcomes_size(tmp_path, to):
    """Where others of their unit are judged again: an outcome with all claims may outgrow a cell of CSV."""
    path, broken = jsonl(tmp_path / "in.jsonl", map(row, range(3))), tmp_path / "broken"
    broken.touch()
    recipe = answers.Wordy(str(broken))
    assert run(path, tmp_path / "out", checker=recipe, to=to, full=True).stats.abstentions
    broken.unlink()
    limit = csv.field_size_limit(131_072)  # as in a process that has read no CSV yet
    try:
        summary = run(path, tmp_path / "out", checker=recipe, to=to, full=True, retry_errors=True)
    finally:
        csv.field_size_limit(max(limit, csv.field_size_limit()))
    assert (summary.stats.rows, summary.stats.abstentions) == (3, {})
    assert len(written(tmp_path / "out", to)[0]["reason"]) == 200_000


def test_a_file_system_of_fsspec(tmp_path):
    """Read from it and written to it: parts, plan and summary, and gone on with."""
    memory = fsspec.filesystem("memory")
    memory.rm("/batch", recursive=True) if memory.exists("/batch") else None
    for name, numbers in (("a", range(15)), ("b", range(15, 40))):
        memory.pipe_file(
            f"/batch/in/{name}.jsonl", "".join(json.dumps(row(n)) + "\n" for n in numbers).encode()
        )
    parquet(tmp_path / "c.parquet", [row(n) for n in range(40, 60)])
    memory.put_file(str(tmp_path / "c.parquet"), "/batch/in/c.parquet")
    first = run("memory://batch/in", "memory://batch/out", unit_rows=10, to="parquet")
    assert first.complete
    assert first.stats.rows == 60
    parts = sorted(path for path in memory.ls("/batch/out", detail=False) if "part-" in path)
    memory.rm_file(parts[0])
    again = run("memory://batch/in/*", "memory://batch/out", to="parquet")
    assert again.now.rows == 10
    rows = []
    for part in sorted(path for path in memory.ls("/batch/out", detail=False) if "part-" in path):
        with memory.open(part) as stream:
            rows += pq.read_table(stream).to_pylist()
    assert [one["id"] for one in rows] == [f"r{n}" for n in range(60)]
    assert rows[0]["file"] == "memory:///batch/in/a.jsonl"


def test_a_part_of_a_file_system_of_fsspec_is_done_again_where_it_is_short(tmp_path, table):
    """As one of this machine is; the others are left as they are."""
    memory, out = fsspec.filesystem("memory"), f"memory://short{tmp_path}"
    run(table, out, to="jsonl", unit_rows=10)
    part = sorted(memory.glob(f"/short{tmp_path}/part-*"))[3]
    whole = memory.cat_file(part)
    memory.pipe_file(part, whole[:-40])
    assert [run(table, out, to="jsonl").now.rows for _ in range(2)] == [10, 0]
    assert memory.cat_file(part) == whole


def test_a_url_of_this_machine_s_files_is_a_path(tmp_path, table):
    """file:// needs no package, and is written to as atomically as a path."""
    assert run(f"file://{table}", f"file://{tmp_path}/out").stats.rows == 95
    assert len(written(tmp_path / "out")) == 95


def test_a_table_behind_a_server(tmp_path, table):
    """http:// is read as any URL is."""

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *given):
            super().__init__(*given, directory=str(tmp_path))

        def log_message(self, *given):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/in.jsonl"
        assert run(url, tmp_path / "out", unit_rows=200).stats.rows == 95
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    with pytest.raises(TableError, match=r"Cannot connect to host 127\.0\.0\.1"):  # not: no such file
        run(url, tmp_path / "other")


def test_what_a_recipe_may_be(tmp_path, table):
    """A name, settings, a settings file or a function; a checker itself doesn't travel, and that is said."""
    (tmp_path / "s.json").write_text('{"detector": "token"}')
    for number, checker in enumerate(("token", {"detector": "token"}, str(tmp_path / "s.json"))):
        run(table, tmp_path / str(number), checker=checker)
    assert written(tmp_path / "0") == written(tmp_path / "1") == written(tmp_path / "2")
    with pytest.raises(ConfigurationError, match="can't travel between processes"):
        run(table, tmp_path / "out", checker=quick())
    with pytest.raises(ConfigurationError, match="unknown detector 'nonesuch'"):
        run(table, tmp_path / "out", checker="nonesuch")


def test_the_whole_outcome_is_there_where_it_is_asked_for(tmp_path, table):
    """As JSON, the same everywhere else; a run without it does not go on with one that has it."""
    run(table, tmp_path / "out", checker="token", full=True, to="parquet")
    outcome = json.loads(written(tmp_path / "out", "parquet")[0]["outcome"])
    assert outcome["detector"]["name"] == "token"
    assert outcome["claims"]
    with pytest.raises(ConfigurationError, match="its full is true, this run's false"):
        run(table, tmp_path / "out", checker="token", to="parquet")


def test_no_cell_of_a_csv_part_is_a_formula(tmp_path):
    """Ids and messages come from the table, and parts are opened in spreadsheets."""
    path = jsonl(tmp_path / "in.jsonl", [{**row(0), "id": '=HYPERLINK("x")'}])
    run(path, tmp_path / "out", to="csv")
    assert written(tmp_path / "out", "csv")[0]["id"] == '\'=HYPERLINK("x")'
