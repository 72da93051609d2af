"""``groundwire batch``: its options, what it says, and how it ends."""

import contextlib
import gzip
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from groundwire import detectors
from groundwire.cli.main import main
from tests.batch.answers import jsonl, row
from tests.cli import driver
from tests.servers.bedrock_server import MODEL, bedrock, breaks, says

__all__ = ["bedrock"]
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.timeout(300)  # processes that start on a busy machine
FEE = {"question": "Fee?", "context": "The fee is 25 EUR", "answer": "The fee is 25 EUR"}
INVENTED = {**FEE, "answer": "The fee is 75 EUR"}


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(detectors, "_REGISTERED", dict(detectors._REGISTERED))
    driver.register()

    def run(rows, *options, detector="novel-words"):
        if rows is not None:
            jsonl(Path("in.jsonl"), rows)
        chosen = ["--detector", detector] if detector else []
        more = [option for option in options if option.startswith("cut.")]
        rest = [option for option in options if option not in more]
        code = main(["batch", *more, "in.jsonl", "out", "--processes", "1", *chosen, *rest])
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([FEE, FEE], 0),
        ([FEE, INVENTED], 1),
        ([FEE, {**FEE, "context": None}], 3),
        ([INVENTED, {**FEE, "context": None}], 1),
        ([FEE, {"context": "c"}], 3),
    ],
)
def test_the_exit_code_is_that_of_check(run, rows, code):
    """Clean, hallucinated, not all judged: the same codes, and the same again where nothing is left to do."""
    assert run(rows)[0] == code
    assert run(None)[0] == code


def test_what_asks_no_model_costs_nothing(run):
    """Nothing is said of prices where there is nothing to pay for."""
    code, out, _ = run([FEE, FEE], "--dry-run")
    assert code == 0
    assert out.strip() == "Judging 2 rows asks no model, and costs nothing.\nNothing was judged."


def test_a_gzip_that_is_cut_off_fails_alone(run):
    """The other file is judged, and the summary names the one that is not."""
    noise = [{**FEE, "context": os.urandom(400).hex()} for _ in range(200)]
    packed = gzip.compress("".join(json.dumps(row) + "\n" for row in noise).encode())
    Path("cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    jsonl(Path("in.jsonl"), [FEE])
    for processes in ("1", "2"):
        code, out, err = run(
            None, "cut.jsonl.gz", "--overwrite", "--processes", processes, detector="lexical"
        )
        assert code == 2
        assert "failed: cut.jsonl.gz: " in err
        assert out.startswith("1 rows: ")


def test_a_table_that_breaks_off_fails_alone(run):
    """It is no row that can't be read: a unit that is done would hide how much is missing."""
    Path("cut.json").write_text("[" + json.dumps(FEE) + ', {"context": "Go')
    Path("cut.csv").write_text('context,answer\nGold.,Gold.\n"Gold')
    jsonl(Path("in.jsonl"), [FEE])
    for name, told in (
        ("cut.json", "line 1 is not JSON: Unterminated string; nothing after it can be read"),
        ("cut.csv", "a quote that opens in line 3 is never closed; nothing after it can be read"),
    ):
        code, out, err = run(None, name, "--overwrite", detector="lexical")
        assert code == 2
        assert f"failed: {name}: {told}" in err
        assert out.startswith("1 rows: ")


def test_a_gzip_that_holds_nothing_to_begin_with_is_told_by_its_name(run):
    """In a sentence, before anything is judged."""
    Path("in.jsonl").write_bytes(gzip.compress(json.dumps(FEE).encode())[:-12])
    code, _, err = run(None)
    assert code == 2
    assert err.startswith("groundwire: in.jsonl: the file is damaged or cut off: ")


def test_what_is_no_table_is_told_by_its_name(run, capsys):
    """The file's, and the formats there are."""
    Path("in.jsonl").write_bytes(bytes(range(256)))
    code, _, err = run(None)
    assert code == 2
    assert "in.jsonl: the file is binary data" in err
    with pytest.raises(SystemExit):
        run(None, "--format", "xml")
    assert "expected one of jsonl, json, csv, tsv, parquet, not 'xml'" in capsys.readouterr().err


def test_what_a_label_must_be_is_told_as_its_column_is_read(run):
    """Under a name that asks whether the answer is grounded, 1 says that it is."""
    _, out, _ = run([{**FEE, "faithful": told} for told in (1, "maybe")], "--label", "faithful")
    assert "are null: 1 (under 'faithful', expected 1 or grounded, 0 or hallucinated)" in out


def test_labels_that_cannot_be_read_are_counted(run):
    """Null in the parts, as where none is given; the summary tells the two apart, now and later."""
    labels = ["hallucinated", "no", "", None, "maybe", 7]
    _, out, _ = run([{**FEE, "label": label} for label in labels], "--unit-rows", "5")
    assert "labels that can't be read, and are null: 2 (expected 1 or hallucinated, 0 or grounded)" in out
    assert "null: 2 (" in run(None)[1]
    assert "null in the parts: 2." in Path("out/_groundwire/summary.html").read_text(encoding="utf-8")
    parts = [json.loads(line) for part in sorted(Path("out").glob("part-*.jsonl")) for line in part.open()]
    assert [one["label"] for one in parts] == [1, 0, None, None, None, None]


def test_it_tells_counts_rates_and_where_everything_is(run):
    code, out, err = run([FEE, INVENTED, {**FEE, "context": None}])
    assert code == 1
    assert "3 rows: 1 hallucinated (50.0% [9.5%, 90.5%]), 0 to check, 1 grounded, 1 not judged" in out
    assert "not judged: NO_CONTEXT 1" in out
    assert "outcomes: out/part-*; summary: out/_groundwire/summary.html" in out
    assert err == ""
    page = Path("out/_groundwire/summary.html").read_text()
    assert "3 answers judged by novel-words" in page
    assert "NO_CONTEXT" in page
    assert "<script" not in page
    told = json.loads(run(None, "--json")[1])
    assert (told["rows"], told["complete"], told["this_run"]["rows"]) == (3, True, 0)


@contextlib.contextmanager
def files_of_no_more_than(size):
    resource = pytest.importorskip("resource", reason="Windows has no such limits")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_where_files_may_not_grow_no_further_unit_is_begun_and_no_summary_named(run):
    """The outcomes are blamed and not the table, and an earlier run's summary is not taken for this one's."""
    units = ("--unit-rows", "1", "--to", "jsonl")
    run([FEE] * 3, *units)
    for part in Path("out").glob("part-*"):
        part.unlink()
    with files_of_no_more_than(100):
        code, out, err = run(None, *units)
    assert code == 2
    assert err.splitlines() == [
        "failed: in.jsonl: its outcomes can't be written: file too large (unit 0, from line 1)",
        "Stopped: outcomes can't be written: file too large.",
    ]
    assert "0 of 3 units; this run: no unit was done" in out
    assert out.splitlines()[-1] == "outcomes: out/part-*; summary: none could be written"
    assert not list(Path("out/_groundwire").glob("summary.*"))
    assert run(None, *units)[0] == 0
    assert Path("out/_groundwire/summary.json").exists()


def test_no_page_is_promised_where_none_can_be_written(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for module in [name for name in sys.modules if name.startswith(("jinja2.", "groundwire.report.page"))]:
        monkeypatch.delitem(sys.modules, module)
    _, out, _ = run([FEE])
    assert "summary: out/_groundwire/summary.json (with groundwire[report] .html, too)" in out
    assert not Path("out/_groundwire/summary.html").exists()


def test_what_is_wrong_is_said_before_anything_is_done(run):
    """Options that don't fit, a folder of another run, a table without an answer."""
    assert "no column looks like the answer" in run([{"context": "c"}])[2]
    assert not Path("out").exists() or not list(Path("out").glob("part-*"))
    assert run([FEE])[0] == 0
    code, _, err = run(None, detector="always-wrong")
    assert (code, "unknown detector" in err) == (2, True)
    code, _, err = run(None, detector="token")
    assert (code, "--overwrite it to begin anew" in err) == (2, True)
    assert "--address is not for --engine local" in run(None, "--address", "auto")[2]
    assert "--max-calls, --max-tokens and --max-cost are for a model" in run(None, "--max-cost", "3")[2]
    assert run(None, "--overwrite", detector="token")[0] in (0, 1)


def test_a_page_is_safe_whatever_files_are_called(run, tmp_path):
    """A name of a file can't close the page's own markup."""
    name = "<img src=x onerror=alert(1)>.jsonl"
    jsonl(tmp_path / name, [FEE])
    assert main(["batch", name, "out", "--detector", "novel-words", "--processes", "1", "-q"]) == 0
    page = Path("out/_groundwire/summary.html").read_text()
    assert "<img" not in page
    assert "&lt;img" in page


def test_ctrl_c_in_a_terminal_keeps_what_is_done(tmp_path):
    """The bar shows rows; SIGINT ends it with 130, and nothing is left half-written."""
    path = jsonl(tmp_path / "in.jsonl", map(row, range(6000)))
    command = [sys.executable, "-m", "groundwire", "batch", str(path), str(tmp_path / "out")]
    command += ["--detector", "token", "--unit-rows", "100", "--processes", "2"]
    leader, follower = pty.openpty()
    child = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=follower,
        start_new_session=True,
        cwd=ROOT,
    )
    os.close(follower)
    shown = []
    reader = threading.Thread(target=_read, args=(leader, shown))
    reader.start()
    beside = tmp_path / "out" / "_groundwire" / "parts"  # written last of all: then a unit is done
    until = time.monotonic() + 60
    while not list(beside.glob("part-*")) and time.monotonic() < until:
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGINT)
    assert child.wait(60) == 130
    reader.join()
    os.close(leader)
    shown = b"".join(shown)
    assert re.search(rb"judged.*/6000", shown)
    assert b"units are done and kept; the same command goes on" in b" ".join(shown.split())
    assert not list((tmp_path / "out").rglob(".groundwire-*"))
    told = json.loads((tmp_path / "out" / "_groundwire" / "summary.json").read_text())
    assert 0 < told["rows"] < 6000


def _read(terminal, shown):
    """All that is written there: who writes would wait for it otherwise."""
    with contextlib.suppress(OSError):
        while data := os.read(terminal, 1 << 16):
            shown.append(data)


def test_a_model_is_paid_for_when_somebody_agreed(run, bedrock):
    """What it would take is told; --yes does it, within the budget, and no reply is bought twice."""
    pytest.importorskip("langchain_aws")
    bedrock.always = says(
        lambda body: json.dumps(
            {
                "claims": [
                    {
                        "id": 1,
                        "reason": "It says so.",
                        "support": "supported",
                        "score": 0.1,
                        "quote": "The fee is 25 EUR",
                        "words": [],
                    }
                ]
            }
        ),
        input_tokens=1000,
        output_tokens=500,
    )
    price = {MODEL: {"input": 1000.0, "output": 2000.0}}
    Path("judge.json").write_text(
        json.dumps({"detector": "judge", "judge": {"model": f"bedrock:{MODEL}", "prices": price}})
    )
    rows = [{**FEE, "id": f"r{n}", "question": f"Fee {n}?"} for n in range(12)]
    options = ("--config", "judge.json", "--unit-rows", "2")
    code, out, _ = run(rows, *options, "--dry-run", detector=None)
    assert code == 0
    assert "Judging 12 rows would take at least:" in out
    assert "12 calls of the model" in out
    assert "Nothing was asked." in out
    code, _, err = run(None, *options, detector=None)
    assert code == 2
    assert "To do it, give --yes" in err
    assert bedrock.requests == []
    code, out, err = run(None, *options, "--yes", "--max-cost", "9", detector=None)
    assert code == 3
    assert "the job's budget is reached: the limit of 9 in money is reached" in err
    # What is out when the limit is reached is paid for, too: two calls at once, of 2 in money each.
    assert 5 <= len(bedrock.requests) <= 6
    first = len(bedrock.requests)
    for part in Path("out").glob("part-*"):
        part.unlink()
    code, out, err = run(None, *options, "--yes", "--max-cost", "100", detector=None)
    assert (code, err) == (0, ""), out
    assert len(bedrock.requests) == 12
    assert f"{12 - first} calls of models" in out
    assert json.loads(Path("out/_groundwire/summary.json").read_text())["rows"] == 12


def test_judging_again_is_paid_for_when_somebody_agreed(run, bedrock):
    """Where all is done but for what the model failed on, no call is made that nobody was told of."""
    pytest.importorskip("langchain_aws")
    bedrock.always = breaks()
    Path("judge.json").write_text(json.dumps({"detector": "judge", "judge": {"model": f"bedrock:{MODEL}"}}))
    assert run([FEE] * 3, "--config", "judge.json", "--yes", detector=None)[0] == 3
    bedrock.requests.clear()
    code, _, err = run(None, "--config", "judge.json", "--retry-errors", detector=None)
    assert (code, bedrock.requests) == (2, [])
    assert "Judging 3 rows would take at least" in err
    assert "To do it, give --yes" in err


@pytest.mark.parametrize("option", ["--max-calls", "--max-tokens", "--max-cost"])
def test_a_budget_that_can_not_be_is_told_as_a_setting(run, option):
    """By its name, like every other mistake in settings."""
    code, _, err = run([FEE], "--model", f"bedrock:{MODEL}", option, "-3", detector=None)
    assert code == 2
    assert err.startswith(f"groundwire: judge.limits.budget.{option.removeprefix('--max-')}: ")


def test_the_page_tells_of_every_option_and_code(capsys):
    """docs/batch.md has the options of the command and no others, and its exit codes."""
    with pytest.raises(SystemExit):
        main(["batch", "--help"])
    help_text = capsys.readouterr().out
    page = (ROOT / "docs" / "batch.md").read_text(encoding="utf-8")
    option = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")
    assert set(option.findall(page)) == set(option.findall(help_text)) - {"--help"}
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == re.findall(
        r"^  (\d+) {2,}", help_text, re.MULTILINE
    )
