"""Where batches read and write: each file once, under whatever name; nothing deleted that is not theirs."""

import errno
import json
import os
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from groundwire import ConfigurationError
from groundwire.batch import Batch, Local, Scorer
from groundwire.batch.folders import STATE, LocalFolder, RemoteFolder
from groundwire.batch.job import FileDesk, Job
from groundwire.batch.local import _Pool
from groundwire.batch.parts import BESIDE, Parts
from groundwire.batch.places import find
from groundwire.batch.shared import Ledger
from groundwire.batch.stats import Stats
from groundwire.batch.work import Task
from groundwire.core.cells import cell
from groundwire.tables import Format, TableError
from groundwire.tables.record import Unheld
from tests.batch.answers import jsonl, quick, row

pytestmark = pytest.mark.timeout(300)
ODD = ["a b", "a#b", "a%20b", "a%b", "a[1]", "a?b", "a*b", "ü", "a\nb", "-a", "{a}", "~a", "a=b", "$HOME"]


def run(source, out, **options):
    sources = [str(one) for one in (source if isinstance(source, list) else [source])]
    with Batch(sources, str(out), checker=quick, **options) as job:
        return job.run(Local(processes=1))


def rows(out):
    return [json.loads(line) for path in sorted(Path(out).glob("part-*")) for line in path.open()]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("kind", ["path", "file URL", "URL"])
def test_a_name_is_a_name_before_it_is_a_pattern(name, kind, tmp_path, monkeypatch):
    """A file is read as it is called, and no other with it, though its name could mean others."""
    monkeypatch.chdir(tmp_path)
    store = fsspec.filesystem("memory")
    for one in ("aXb", "a1", "aab", name):
        jsonl(tmp_path / f"{one}.jsonl", [{**row(1), "id": one}])
        store.pipe(f"/odd{tmp_path}/{one}.jsonl", (tmp_path / f"{one}.jsonl").read_bytes())
    given = {"path": "", "file URL": f"file://{tmp_path}/", "URL": f"memory://odd{tmp_path}/"}[kind]
    assert run(f"{given}{name}.jsonl", "out").stats.rows == 1
    assert [one["id"] for one in rows("out")] == [name]


@pytest.mark.parametrize("name", ["pipe.jsonl", "-"])
def test_a_pipe_is_refused_before_it_is_waited_for(name, tmp_path, monkeypatch):
    """It would be read to tell its form, and then again, by others, for ever."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.jsonl")
    with pytest.raises(TableError, match=f"{name}: a pipe is read only once"):
        find([name])


def test_a_file_is_judged_once_however_it_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "in.jsonl", map(row, range(3)))
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.jsonl").symlink_to("in.jsonl")
    names = [
        "in.jsonl",
        str(tmp_path / "in.jsonl"),
        "sub/../in.jsonl",
        "./in.jsonl",
        f"file://{tmp_path}/in.jsonl",
    ]
    assert [one.name for one in find([*names, "*.jsonl", "."])] == ["in.jsonl"]
    fsspec.filesystem("memory").pipe(f"/once{tmp_path}/x.jsonl", b"{}")
    urls = [
        f"memory://once{tmp_path}/x.jsonl",
        f"memory:///once{tmp_path}/x.jsonl",
        f"memory://once{tmp_path}",
    ]
    assert len(find(urls)) == 1


def test_addresses_that_only_a_secret_tells_apart_are_refused(tmp_path):
    """Their rows could not be told apart when the batch is gone on with."""
    store = fsspec.filesystem("memory")
    for n in (1, 2):
        store.pipe(f"/two{tmp_path}/x.jsonl?token=abcdefgh{n}", b"{}")
    urls = [f"memory://two{tmp_path}/x.jsonl?token=abcdefgh{n}" for n in (1, 2)]
    assert len(find(urls[:1])) == 1
    with pytest.raises(TableError, match="2 addresses differ in nothing that is kept"):
        find(urls)


@pytest.mark.parametrize("slashes", ["memory://", "memory:///"])
def test_outcomes_beside_their_input_are_no_input(slashes, tmp_path):
    """However a URL is spelled: a folder that is gone on with does not find its own parts."""
    place = f"{slashes}beside{tmp_path}"
    fsspec.filesystem("memory").pipe(f"/beside{tmp_path}/x.jsonl", json.dumps(row(1)).encode())
    assert run(place, f"{place}/judged").now.rows == 1
    assert run(place, f"{place}/judged").now.rows == 0
    with pytest.raises(TableError, match="all of it lies in"):
        find([f"{place}/judged"], outside=f"{place}/judged")


def test_nothing_of_anybody_else_is_deleted(tmp_path):
    """Overwriting and sweeping take what a batch wrote, by its exact name, from where it writes."""
    table = jsonl(tmp_path / "in.jsonl", map(row, range(3)))
    out = tmp_path / "out"
    theirs = [
        "part-00000-1f2e.snappy.parquet", "part-list.txt", ".groundwire-notes", ".groundwire-" + "g" * 32,
        "deep/.groundwire-" + "0" * 32, "deep/part-00000000.jsonl", "_groundwire/x/.groundwire-" + "1" * 32,
    ]  # fmt: skip
    for name in theirs:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("theirs")
    for place in ("", STATE, BESIDE):  # what a killed run leaves
        (out / place).mkdir(parents=True, exist_ok=True)
        (out / place / f".groundwire-{'a' * 32}").write_text("ours")
    run(table, out, overwrite=True)
    run(table, out, overwrite=True, unit_rows=1)
    assert [name for name in theirs if (out / name).read_text() != "theirs"] == []
    assert sorted(path.name for path in out.glob("part-0000000*")) == [
        f"part-0000000{n}.jsonl" for n in range(3)
    ]
    assert not list(out.rglob(f".groundwire-{'a' * 32}"))


def test_what_a_killed_run_left_elsewhere_is_deleted(tmp_path):
    store, place = fsspec.filesystem("memory"), f"left{tmp_path}"
    for name in ("", f"{STATE}/", f"{BESIDE}/"):
        store.pipe(f"/{place}/{name}.groundwire-{'a' * 32}", b"")
        store.pipe(f"/{place}/{name}.groundwire-mine", b"")
    RemoteFolder(f"memory://{place}").sweep("", STATE, BESIDE)
    assert {path.rpartition("/")[2] for path in store.find(f"/{place}")} == {".groundwire-mine"}


@pytest.mark.parametrize("form", [Format.CSV, Format.JSONL])
def test_a_part_is_never_told_by_what_was_said_of_the_one_before(form, tmp_path, monkeypatch):
    """Killed between a new part and what is told of it, the unit counts as not done."""
    parts = Parts(LocalFolder(str(tmp_path)), form=form, fingerprint="f", full=False)
    parts.write(0, [], lambda: Stats(rows=7))
    assert parts.done([0])[0].rows == 7
    monkeypatch.setattr(LocalFolder, "write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        parts.write(0, [], lambda: Stats(rows=8))
    assert parts.done([0]) == {}


def test_a_process_that_dies_while_nobody_looks_costs_no_unit(tmp_path):
    """It may die between two looks: the pool then takes nothing more, and what was out is given out again."""
    table = jsonl(tmp_path / "in.jsonl", map(row, range(8)))
    with Batch([str(table)], str(tmp_path / "out"), checker=quick, unit_rows=2) as batch:
        tasks = [Task(unit=unit, input=batch.plan.inputs[0]) for unit in batch.plan.units]
        pool = _Pool(Job(recipe=quick, parts=batch.parts, desk=FileDesk(folder=str(tmp_path)), key="k"), 2)
        pool._submit(tasks[0])
        for process in list(pool._pool._processes.values()):
            process.kill()
        until = time.monotonic() + 60
        while not pool._pool._broken:
            assert time.monotonic() < until
            time.sleep(0.01)
        with pytest.raises(BrokenProcessPool):
            pool._pool.submit(print)
        done = list(pool.run(iter(tasks[1:])))
    assert sorted(one.unit for one in done if one.stats) == [0, 1, 2, 3]


def unheld():
    """Columns with a value each that Python can't hold: text that is no UTF-8, times beyond its own."""
    offsets = pa.py_buffer(b"".join(n.to_bytes(4, "little") for n in range(4)))
    return {
        "text": pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"a\xffc")]),
        "time": pa.array([1 << 62, 2, 3], pa.timestamp("us")),
        "day": pa.array([1 << 30, 2, 3], pa.date32()),
        "while": pa.array([1 << 62, 2, 3], pa.duration("s")),
    }


@pytest.mark.parametrize("kind", unheld())
@pytest.mark.parametrize("column", ["answer", "question", "contexts", "other"])
def test_a_cell_that_can_not_be_held_is_its_row_s_alone(kind, column, tmp_path):
    """The row says why, the others are judged, and a column that nobody asked for matters to none."""
    if column == "contexts" and kind != "text":
        pytest.skip("a column of times is no context in any row")
    values = {"question": ["q"] * 3, "contexts": ["Bag 1 costs 1 EUR."] * 3, "answer": ["a", "b", "c"]}
    pq.write_table(pa.table({**values, column: unheld()[kind]}), tmp_path / "in.parquet")
    summary = run(tmp_path / "in.parquet", tmp_path / "out", to="jsonl")
    assert summary.stats.rows == 3
    read = [one["abstention"] for one in rows(tmp_path / "out")]
    if column == "other":
        assert read == [None] * 3
    elif kind == "text":
        assert read == [None, "UNREADABLE_INPUT", None]
        assert "utf-8" in rows(tmp_path / "out")[1]["error"]
    else:
        assert read == ["UNREADABLE_INPUT"] * 3
    scored = Scorer(quick)(pq.read_table(tmp_path / "in.parquet"))
    assert scored.column("hallucination_abstention").to_pylist() == read


def test_two_columns_of_one_name_are_refused(tmp_path):
    """In Parquet and in a batch of an engine, as in CSV: the last would win without a word."""
    names = ["question", "answer", "answer", "context"]
    table = pa.Table.from_arrays([pa.array([name + str(n)]) for n, name in enumerate(names)], names=names)
    pq.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(TableError, match="two columns have one name, 'answer'"):
        run(tmp_path / "in.parquet", tmp_path / "out")
    for given in (table, table.to_pandas()):
        with pytest.raises(TableError, match="two columns have one name, 'answer'"):
            Scorer("lexical")(given)


def test_an_unheld_cell_is_shown_by_its_reason():
    assert cell(Unheld("no UTF-8")) == "(no UTF-8)"


@pytest.mark.parametrize("kind", ["garbage", "a folder", "NUL"])
def test_a_ledger_that_can_not_be_read_is_told_and_not_taken_for_an_empty_one(kind, tmp_path):
    path = tmp_path / ("a\0b" if kind == "NUL" else "spent.sqlite")
    if kind == "garbage":
        path.write_bytes(b"garbage" * 1000)
    elif kind == "a folder":
        path.mkdir()
    with pytest.raises(ConfigurationError, match="what the job has spent"):
        Ledger(path)


def test_a_ledger_that_goes_bad_is_an_error_that_stores_have_too(tmp_path):
    ledger = Ledger(tmp_path / "spent.sqlite")
    ledger._connection.execute("DROP TABLE spent")
    with pytest.raises(OSError, match="spent"):
        ledger.spent()


@pytest.mark.parametrize("to", ["parquet", "jsonl", "csv"])
def test_a_file_whose_name_is_no_text_is_judged(to, tmp_path):
    """Old Linux files are called in other encodings than UTF-8. It is gone on with, too."""
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jsonl")
    try:
        jsonl(Path(path), [row(1)])
    except OSError:
        pytest.skip("this file system has no such names")
    assert [run(path, tmp_path / "out", to=to).now.rows for _ in range(2)] == [1, 0]


def test_nothing_in_a_folder_is_left_out_without_a_word(tmp_path, monkeypatch):
    """A link to another folder or to nowhere, a folder that can't be read, a table that can't be unpacked."""
    data = tmp_path / "data"
    (data / "inner").mkdir(parents=True)
    (data / "_passed_over").symlink_to(tmp_path)
    for place in (data, data / "inner", tmp_path / "outer"):
        place.mkdir(exist_ok=True)
        jsonl(place / "in.jsonl", [row(1)])
    (data / "same").symlink_to("inner")
    (data / "same.jsonl").symlink_to("in.jsonl")
    assert [Path(one.name).name for one in find([str(data)])] == ["in.jsonl", "in.jsonl"]
    for name, target, told in (
        ("link", tmp_path / "outer", "link: this link leads out of"),
        ("link.jsonl", "gone", "link.jsonl: this link leads nowhere"),
    ):
        (data / name).symlink_to(target)
        with pytest.raises(TableError, match=told):
            find([str(data)])
        (data / name).unlink()
    (data / "inner" / "x.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd....")
    with pytest.raises(TableError, match=r"x\.jsonl\.zst: the file is packed with zstd: unpack it"):
        run(data, tmp_path / "out")
    opened, closed = os.scandir, ["lost+found"]

    def scandir(path):
        if Path(path).name in closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path)

    monkeypatch.setattr(os, "scandir", scandir)
    (data / "inner" / "x.jsonl.zst").unlink()
    (data / "lost+found").mkdir()
    assert len(find([str(data)])) == 2, "whoever has a disk may not read that folder, and misses nothing"
    closed.append("inner")
    with pytest.raises(TableError, match=r"inner: this folder can't be read: Permission denied"):
        find([str(data)])
