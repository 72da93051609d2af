"""``groundwire check``: what it prints, what it writes, and how it ends."""

import gzip
import io
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from groundwire import __version__, detectors
from groundwire.cli.main import main
from groundwire.core import wire
from tests.cli import driver

ROOT = Path(__file__).parents[2]
GROUNDED = {"question": "Fee?", "context": "The fee is 25 EUR", "answer": "The fee is 25 EUR", "label": 0}
INVENTED = {**GROUNDED, "question": "Price?", "answer": "The fee is 75 EUR", "label": 1}
NO_CONTEXT = {**GROUNDED, "context": None}
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@pytest.fixture(autouse=True)
def scripted(monkeypatch):
    monkeypatch.setattr(detectors, "_REGISTERED", dict(detectors._REGISTERED))
    driver.register()


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Write the rows to a file, check it, and give back the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(rows, *options, detector="novel-words", files=("runs.jsonl",)):
        text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
        Path("runs.jsonl").write_text(text, encoding="utf-8")
        code = main(["check", *files, "--detector", detector, *options])
        return code, *capsys.readouterr()

    return run


def process(*arguments, without="", stdin=None, **options):
    """The command in a process of its own, which lacks the packages ``without``."""
    return subprocess.run(
        [sys.executable, "-m", "tests.cli.driver", without, "check", "--detector", "novel-words", *arguments],
        cwd=ROOT, input=stdin, capture_output=True, timeout=60, check=False, **options,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([GROUNDED, GROUNDED], 0),
        ([GROUNDED, INVENTED], 1),
        ([GROUNDED, NO_CONTEXT], 3),
        ([INVENTED, NO_CONTEXT], 1),
        ([GROUNDED, {"context": "c"}], 3),
        ([], 2),
    ],
)
def test_the_exit_code_says_how_it_went(run, rows, code):
    """0 all grounded, 1 something hallucinated, 3 something not judged and nothing hallucinated, 2 no row."""
    assert run(rows)[0] == code


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--answer", "reply"], "no column is called 'reply' (--answer)"),
        (["--config", "missing.toml"], "settings file 'missing.toml'"),
        (["--html", "nowhere/report.html"], "there is no directory 'nowhere'"),
        (["--html", "."], "--html '.' is a directory"),
        (["--html", "/proc/report.html"], "nothing can be written in '/proc'"),
        (["--model", "fake"], "has nothing to answer"),
        (["--format", "parquet"], "not a Parquet file"),
    ],
)
def test_what_cannot_work_is_told_in_one_line_before_anything_is_judged(run, options, message):
    """Exit code 2, a message on stderr without a traceback, and nothing on stdout."""
    code, out, err = run([GROUNDED], *options)
    assert (code, out) == (2, "")
    assert err.startswith("groundwire: ")
    assert message in err
    assert "Traceback" not in err


def test_an_unknown_detector_names_the_known_ones(run):
    """The message lists what could have been meant."""
    code, _, err = run([GROUNDED], detector="lexicla")
    assert code == 2
    assert "unknown detector 'lexicla': did you mean 'lexical'? Expected one of" in err


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_opened_is_named(name, capsys):
    """A missing file and a directory are told by their name."""
    assert main(["check", name]) == 2
    assert capsys.readouterr().err.startswith(f"groundwire: {name}: ")


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such limit")
def test_there_may_be_more_files_than_a_process_may_open(tmp_path):
    """Each is opened when its turn comes; a pipe, which has only one turn, stays open."""
    names = [f"{n}.jsonl" for n in range(100)]
    for name in names:
        (tmp_path / name).write_text(json.dumps(GROUNDED) + "\n")
    few = 'ulimit -n 60 && exec "$@" /dev/fd/3 3< <(cat 0.jsonl)'
    done = subprocess.run(
        ["bash", "-c", few, "", sys.executable, "-m", "groundwire", "check", "--detector", "lexical",
         "--quiet", *names],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("101 answers")


@pytest.mark.parametrize("text", ["", "\n\n", "context,answer\n", "[]"])
def test_a_file_without_rows_beside_a_good_one_is_named(run, tmp_path, text):
    """What nobody judged must not read as clean: the code is 2, before anything is judged."""
    (tmp_path / "none.csv").write_text(text, encoding="utf-8")
    code, out, err = run([GROUNDED], files=["runs.jsonl", "none.csv"])
    assert (code, out) == (2, "")
    assert err == "groundwire: none.csv: nothing to check: it holds no row\n"


def test_a_file_that_is_emptied_before_its_turn_is_named(run, tmp_path):
    """Its rows, which were there when the run began, are judged by nobody."""
    (tmp_path / "later.jsonl").write_text(json.dumps(GROUNDED))
    code, out, err = run([GROUNDED] * 40, files=("runs.jsonl", "later.jsonl"), detector="emptying")
    assert code == 2
    assert "Stopped before the end" in out
    assert "later.jsonl: nothing to check: it holds no row" in err


@pytest.mark.parametrize(
    "options",
    [
        ["--limit", "0"],
        ["--limit", "9" * 23],
        ["--threshold", "2"],
        ["--threshold", "nan"],
        ["--json", "--jsonl"],
    ],
)
def test_options_that_make_no_sense_are_refused(options, capsys):
    """argparse says which option, and ends with 2."""
    with pytest.raises(SystemExit) as ended:
        main(["check", "x", *options])
    assert ended.value.code == 2
    assert options[0] in capsys.readouterr().err


def test_flagged_answers_are_shown_in_full_and_grounded_ones_in_a_line(run):
    """The reader's eye goes to what needs it; the summary follows."""
    _, out, _ = run([GROUNDED, INVENTED, NO_CONTEXT])
    assert "A The fee is ⟦75⟧ EUR" in out
    assert "A The fee is 25 EUR" in out  # of the answer that was not judged
    assert out.count("A The fee") == 2
    assert "NO_CONTEXT" in out
    assert "3 answers" in out
    assert "AUROC 1.000, F1 1.000" in out
    assert "answer from 'answer'" in out


def test_all_shows_grounded_answers_in_full_too(run):
    """--all leaves nothing out."""
    assert run([GROUNDED], "--all")[1].count("A The fee is 25 EUR") == 1
    assert "A The fee" not in run([GROUNDED])[1]


def test_quiet_prints_the_summary_alone(run):
    """Counts, and no row."""
    _, out, _ = run([GROUNDED, INVENTED], "--quiet")
    assert "2 answers" in out
    assert "fee" not in out.lower()


def test_json_lines_are_wire_dicts_with_their_place(run):
    """Each line decodes to an outcome, in the order of the rows, and says its file, line and label."""
    code, out, err = run([GROUNDED, INVENTED, "not an object", NO_CONTEXT], "--jsonl")
    results = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [result["row"]["line"] for result in results] == [1, 2, 3, 4]
    assert results[1]["row"] == {"file": "runs.jsonl", "line": 2, "label": 1}
    outcomes = [wire.decode(result) for result in results]
    assert [outcome.hallucinated for outcome in outcomes] == [False, True, None, None]
    assert results[2]["abstention"] == "UNREADABLE_INPUT"
    assert "line 3: a row must be a JSON object" in results[2]["reason"]
    assert results[1]["id"] == "runs.jsonl:2"
    assert "4 answers" in err


def test_json_is_one_object_with_results_and_summary(run):
    """The whole of stdout is JSON, also when no row is wanted."""
    whole = json.loads(run([GROUNDED, INVENTED], "--json")[1])
    assert whole["version"] == wire.VERSION
    assert [result["hallucinated"] for result in whole["results"]] == [False, True]
    assert (whole["summary"]["answers"], whole["summary"]["hallucinated"]) == (2, 1)
    assert whole["summary"]["labels"]["auroc"] == 1.0
    assert whole["summary"]["complete"] is True
    assert whole["summary"]["columns"]["runs.jsonl"]["answer"] == "answer"
    assert json.loads(run([GROUNDED], "--json", "--quiet")[1])["results"] == []


def test_the_page_is_written_and_its_path_told_on_stderr(run):
    """Stdout stays what it was."""
    code, out, err = run([INVENTED], "--html", "report.html", "--jsonl")
    assert code == 1
    assert len(out.splitlines()) == 1
    assert "report.html" in err
    assert "Price?" in Path("report.html").read_text(encoding="utf-8")


def test_a_threshold_moves_the_verdict_and_nothing_else(run):
    """At 1 only a score of 1 is hallucinated, and the threshold is told in the result."""
    result = json.loads(run([INVENTED], "--threshold", "0.25", "--jsonl")[1])
    assert (result["threshold"], result["score"]) == (0.25, 1.0)


def test_settings_from_a_file_are_used_and_options_win(run, tmp_path):
    """Labels come from the file; the threshold from the option; an abstention never ends the run."""
    (tmp_path / "settings.json").write_text(
        json.dumps({"threshold": 0.9, "on_abstention": "raise", "levels": {"high": {"label": "STOP"}}})
    )
    code, out, _ = run([NO_CONTEXT, INVENTED], "--config", "settings.json", "--threshold", "0.5", "--jsonl")
    first, second = map(json.loads, out.splitlines())
    assert code == 1
    assert first["abstention"] == "NO_CONTEXT"
    assert (second["label"], second["threshold"]) == ("STOP", 0.5)


def test_a_settings_file_that_the_application_would_refuse_is_refused(run, tmp_path):
    """Its monitor and its sinks too, though nothing is kept or told here."""
    (tmp_path / "settings.json").write_text(json.dumps({"monitor": {"url": "mysql://x"}, "sinks": ["x"]}))
    code, out, err = run([NO_CONTEXT], "--config", "settings.json")
    assert (code, out) == (2, "")
    assert "monitor: url names a database of kind 'mysql'" in err
    assert "sinks.0: unknown sink 'x'" in err


def test_each_of_several_mistakes_in_the_settings_has_a_line(run, tmp_path):
    """All at once, each with its place and what to write instead."""
    settings = {"threshhold": 0.5, "timeout": "3s", "on_abstention": "explode", "detector": "lexicl"}
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    code, out, err = run([GROUNDED], "--config", "settings.json")
    assert (code, out) == (2, "")
    heading, *mistakes = err.splitlines()
    assert len(mistakes) == 4
    assert heading == "groundwire: this can't work:"
    assert mistakes[:3] == [
        "  timeout: input should be a valid number, unable to parse string as a number, not '3s'",
        "  on_abstention: input should be 'return' or 'raise', not 'explode'",
        "  settings: unknown key 'threshhold'; did you mean 'threshold'?",
    ]
    assert mistakes[3].startswith("  unknown detector 'lexicl': did you mean 'lexical'?")


def test_the_columns_of_files_that_differ_in_them_are_told_of_each(run, tmp_path):
    """Whose answers are another column's must not be hidden by the first file."""
    other = {"context": "The fee is 25 EUR", "output": "The fee is 25 EUR"}
    for name in ("second.jsonl", "third.jsonl"):
        (tmp_path / name).write_text(json.dumps(other), encoding="utf-8")
    _, out, _ = run([GROUNDED], files=("runs.jsonl", "second.jsonl", "third.jsonl"))
    told = " ".join(out.partition("columns: ")[2].split())
    assert "answer from 'answer', label from 'label' (runs.jsonl); context from 'context'" in told
    assert told.endswith("answer from 'output' (second.jsonl)")


def test_limit_judges_the_first_rows_of_all_files(run):
    """Counting goes on from one file to the next."""
    _, out, _ = run([GROUNDED, GROUNDED], "--limit", "3", "--jsonl", files=["runs.jsonl"] * 2)
    assert [json.loads(line)["row"]["line"] for line in out.splitlines()] == [1, 2, 1]


def test_standard_input_is_read_in_any_format(monkeypatch, capsys):
    """- reads JSON lines, CSV and gzip alike."""
    lines = json.dumps(GROUNDED).encode()
    for data in (lines, gzip.compress(lines), b"context,answer\nThe fee is 25 EUR,fee\n"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert main(["check", "-", "--detector", "novel-words", "--jsonl", "-q"]) == 0
        assert json.loads(capsys.readouterr().out)["row"]["file"] == "stdin"
    assert main(["check", "-", "-"]) == 2


def test_ctrl_c_keeps_what_was_judged(run):
    """What is printed until then is complete and valid, says that it isn't all, and the code is 130."""
    rows = [GROUNDED, {**GROUNDED, "answer": "stop"}, GROUNDED]
    code, out, _ = run(rows, "--json", "--html", "report.html", detector="interrupted")
    whole = json.loads(out)
    assert code == 130
    assert len(whole["results"]) == 1
    assert whole["summary"]["complete"] is False
    assert "stopped before the end" in Path("report.html").read_text(encoding="utf-8")
    code, out, _ = run(rows, detector="interrupted")
    assert code == 130
    assert "Stopped before the end" in out


def test_ctrl_c_before_the_first_row_says_so_in_every_form(run):
    """Nothing was judged, and what is printed can be read all the same."""
    rows = [{**GROUNDED, "answer": "stop"}]
    code, out, _ = run(rows, "--json", "--html", "report.html", detector="interrupted")
    assert (code, json.loads(out)["results"]) == (130, [])
    assert json.loads(out)["summary"]["complete"] is False
    assert "stopped before the end" in Path("report.html").read_text(encoding="utf-8")
    code, out, _ = run(rows, detector="interrupted")
    assert code == 130
    assert "Stopped before the end" in out


def test_of_a_process_that_was_ended_every_line_that_was_judged_is_there():
    """As by ``timeout``, or for want of memory: what a model was paid for is not lost, and no line is cut."""
    rows = [GROUNDED, INVENTED, {**GROUNDED, "answer": "stop"}, GROUNDED]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    done = process("-", "--jsonl", "--detector", "terminated", stdin=text.encode(), env=BUFFERED)
    assert done.returncode == -signal.SIGTERM
    assert [json.loads(line)["hallucinated"] for line in done.stdout.splitlines()] == [False, True]


def test_a_damaged_file_keeps_what_was_judged(capsys, tmp_path, monkeypatch):
    """Rows before the damage are printed, the message names the file, and the code is 2."""
    monkeypatch.chdir(tmp_path)
    whole = "".join(json.dumps({**GROUNDED, "id": os.urandom(8).hex()}) + "\n" for _ in range(5_000)).encode()
    Path("cut.jsonl.gz").write_bytes(gzip.compress(whole)[:-2_000])
    code = main(["check", "cut.jsonl.gz", "--detector", "novel-words", "--json"])
    out, err = capsys.readouterr()
    assert code == 2
    assert "cut.jsonl.gz: the file is damaged or cut off" in err
    assert len(json.loads(out)["results"]) > 1_000
    assert json.loads(out)["summary"]["complete"] is False


@pytest.mark.parametrize(
    ("name", "end", "told"),
    [
        ("cut.json", ', {"context": "Gold', "line 1 is not JSON: Unterminated string"),
        ("cut.json", "", "the array is never closed: the file is cut off at line 1"),
        ("cut.csv", '\n"Gold', "a quote that opens in line 3 is never closed"),
    ],
)
def test_rows_before_the_place_where_a_file_breaks_off_are_judged(capsys, tmp_path, name, end, told):
    """All of them, and the code is 2: how many rows are missing nobody knows."""
    begin = "[" + json.dumps(GROUNDED) if name == "cut.json" else "context,answer\nGold.,Gold."
    (tmp_path / name).write_text(begin + end)
    code = main(["check", str(tmp_path / name), "--detector", "novel-words", "--json"])
    out, err = capsys.readouterr()
    assert code == 2
    assert f"{name}: {told}" in err
    assert len(json.loads(out)["results"]) == 1
    assert json.loads(out)["summary"]["complete"] is False


@pytest.mark.parametrize("form", [(), ("--json",), ("--jsonl",), ("-q",)])
def test_a_label_that_can_not_be_read_is_told_of(run, form):
    """The others count, and the rows are judged alike."""
    labelled = [(GROUNDED, "grounded"), (INVENTED, "hallucinated"), (GROUNDED, "maybe"), (INVENTED, 2)]
    code, out, err = run([{**row, "label": label} for row, label in labelled], *form)
    assert code == 1
    assert "runs.jsonl line 3: the label 'maybe' is none" in err
    assert "it and 1 more count as unlabelled" in err
    assert "maybe" not in out


def test_labels_of_one_kind_show_no_figure(run):
    """An F1 of nought would read as a failure."""
    _, out, _ = run([{**GROUNDED, "label": 0}], "-q")
    assert "AUROC and F1 need answers of both labels; 0 labelled hallucinated" in out
    assert "0.000" not in out
    _, out, _ = run([{**GROUNDED, "label": 0}], "--json", "--html", "one.html")
    figures = json.loads(out)["summary"]["labels"]
    assert [figures[name] for name in ("auroc", "precision", "recall", "f1")] == [None] * 4
    assert "AUROC and F1 need answers of both labels; 0 are labelled" in Path("one.html").read_text("utf-8")


def test_a_mistake_in_a_detector_is_no_hallucination(run):
    """Python would end with 1; the traceback is kept and the code is 2."""
    code, _, err = run([GROUNDED], detector="broken")
    assert code == 2
    assert "ZeroDivisionError" in err


def test_a_reader_that_goes_away_ends_the_run_quietly(tmp_path):
    """As with ``| head``: no traceback, and no code that would mean a verdict."""
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(INVENTED) + "\n" for _ in range(20_000)))
    for options in ([], ["--jsonl"]):
        command = [
            sys.executable,
            "-m",
            "tests.cli.driver",
            "",
            "check",
            str(path),
            "--detector",
            "novel-words",
        ]
        with subprocess.Popen(
            [*command, *options], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as running:
            running.stdout.readline()
            running.stdout.close()
            err = running.stderr.read()
        assert running.returncode == 141, err
        assert err == b""


@pytest.mark.parametrize("options", [[], ["-q"], ["--json"], ["--jsonl"]])
def test_a_full_disk_is_told_in_a_line_and_by_the_code(options):
    """What Python has not written yet makes no traceback, and no code of its own."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tests.cli.driver", "", "check", "-",
             "--detector", "novel-words", *options],
            cwd=ROOT, input=json.dumps(GROUNDED).encode(), stdout=full, stderr=subprocess.PIPE,
            timeout=60, env=BUFFERED, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[-1] == "groundwire: no space left on device"


@pytest.mark.parametrize(
    ("closed", "code", "told"),
    [
        (">&-", 1, b""),
        ("2>&-", 1, b""),
        ("<&-", 2, b"groundwire: stdin: nothing to check: it holds no row\n"),
    ],
)
def test_a_stream_that_is_closed_changes_no_verdict(tmp_path, closed, code, told):
    """As where a service starts the command."""
    (tmp_path / "runs.jsonl").write_text(json.dumps(INVENTED))
    table = "-" if closed.startswith("<") else tmp_path / "runs.jsonl"
    command = f"{sys.executable} -m tests.cli.driver '' check '{table}' --detector novel-words {closed}"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (code, told)


def test_a_base_install_is_enough():
    """Without jinja2, pyarrow and LangChain a table is judged; what needs them says what to install."""
    without = "jinja2,pyarrow,langchain,langchain_core,langsmith,yaml,sklearn"
    rows = json.dumps(GROUNDED).encode()
    assert process("-", without=without, stdin=rows).returncode == 0
    page = process("-", "--html", "x.html", without=without, stdin=rows)
    assert (page.returncode, page.stdout) == (2, b"")
    assert b"pip install 'groundwire[report]'" in page.stderr
    parquet = process("-", "--format", "parquet", without=without, stdin=b"PAR1")
    assert parquet.returncode == 2
    assert b"pip install 'groundwire[parquet]'" in parquet.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252"])
def test_any_text_is_printed_in_any_encoding(encoding):
    """Lone surrogates, wide and right-to-left characters don't crash; escapes don't reach the terminal."""
    row = '{"context": "c", "question": "\\ud800\\u001b[31m", "answer": "日本 שלום \\u202e x"}'
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    for options in ([], ["--json"], ["--jsonl"]):
        done = process("-", *options, stdin=row.encode(), env=environment)
        assert done.returncode == 1, done.stderr
        assert b"\x1b" not in done.stdout
        assert b"Traceback" not in done.stderr


def test_marks_of_our_own_are_ascii_where_nothing_else_can_be_shown():
    """No page of escapes where the locale is C; and no line of a pipe ends in blanks."""
    rows = "".join(
        json.dumps(row, ensure_ascii=False) + "\n" for row in (INVENTED, {**INVENTED, "question": "¿Qué?"})
    )
    ascii_only = process("-", stdin=rows.encode(), env={**os.environ, "PYTHONIOENCODING": "ascii"})
    told = ascii_only.stdout.decode("ascii")
    assert "A The fee is [75] EUR" in told
    assert told.count("\\x") == 2  # of the question, which has no other form
    assert "\\u" not in told
    assert "-" * 100 in told
    utf8 = process("-", stdin=rows.encode(), env={**os.environ, "PYTHONIOENCODING": "utf-8"}).stdout.decode()
    assert "The fee is ⟦75⟧ EUR" in utf8
    assert not [line for line in utf8.splitlines() if line.endswith(" ")]


def in_a_terminal(rows, *options, **environment):
    """What the command writes to stdout when that is a terminal."""
    leader, follower = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "tests.cli.driver",
        "",
        "check",
        "-",
        "--detector",
        "novel-words",
        *options,
    ]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=follower, stderr=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm-256color", **environment},
    ) as running:  # fmt: skip
        os.close(follower)
        running.stdin.write("".join(json.dumps(row) + "\n" for row in rows).encode())
        running.stdin.close()
        out = b""
        try:
            while more := os.read(leader, 65_536):
                out += more
        except OSError:  # Linux's way to say that the other end is closed
            pass
    os.close(leader)
    return out.decode()


def test_a_terminal_gets_colour_unless_told_otherwise():
    """Colour marks the words; with NO_COLOR brackets do."""
    coloured = in_a_terminal([INVENTED])
    assert "\x1b[1;4;31m75" in coloured
    assert "⟦" not in coloured
    plain = in_a_terminal([INVENTED], NO_COLOR="1")
    assert "31m" not in plain
    assert "⟦" in plain


def test_a_width_of_nought_hides_nothing():
    """As a program without a window may say."""
    done = process("-", stdin=json.dumps(INVENTED).encode(), env={**os.environ, "COLUMNS": "0"})
    assert "1 hallucinated" in done.stdout.decode()


def test_json_gives_a_terminal_nothing_to_obey():
    """Controls and bidirectional overrides are escapes, and the JSON says the same."""
    question = "\x9b31m \x7f \u202e fee \ufeff 日本"
    for option in ("--json", "--jsonl"):
        out = in_a_terminal([{**INVENTED, "question": question, "id": question}], option)
        assert not set("\x9b\x7f\u202e\ufeff") & set(out)
        assert "日本" in out
        whole = json.loads(out)
        assert whole.get("results", [whole])[0]["id"] == question


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["check", "x", "--contxt", "c"],
            "groundwire check: unrecognized arguments: --contxt c; did you mean --context?",
        ),
        (["check", "x", "--zzz"], "groundwire check: unrecognized arguments: --zzz\n"),
        (
            ["monitor", "list", "--limt=3"],
            "groundwire monitor list: unrecognized arguments: --limt=3; did you mean --limit?",
        ),
        (["chek", "x"], "groundwire: argument COMMAND: invalid choice: 'chek'"),
    ],
)
def test_an_option_that_a_command_lacks_is_told_by_that_command(arguments, told, capsys):
    """In a line, with what was perhaps meant, and where the others are listed."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    err = capsys.readouterr().err
    assert ended.value.code == 2
    assert err.startswith(told)
    assert err.splitlines()[-1] == f"All options: {told.partition(':')[0]} --help"


def test_no_command_at_all_shows_the_commands(capsys):
    """On stderr, with the code of what could not run."""
    assert main([]) == 2
    assert "judge a table of answers" in capsys.readouterr().err


def test_the_version_is_told(capsys):
    """--version prints it and ends well."""
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"groundwire {__version__}\n"


def test_the_help_tells_every_exit_code(capsys):
    """Whoever writes a pipeline finds them where they look first."""
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    out = capsys.readouterr().out
    for told in ("  0  ", "  1  ", "  2  ", "  3  ", "  130  ", "--html PATH", "examples:"):
        assert told in out


def test_a_page_never_takes_the_place_of_the_table(run):
    """Neither under its own name nor through a link."""
    Path("link.html").symlink_to("runs.jsonl")
    for page in ("runs.jsonl", "link.html"):
        code, _, err = run([GROUNDED], "--html", page)
        assert code == 2
        assert "is a file that is read: name another" in err
    assert json.loads(Path("runs.jsonl").read_text(encoding="utf-8")) == GROUNDED
