"""``groundwire monitor``: what it prints, what it keeps, and what it says to mistakes."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from groundwire.cli.main import main
from groundwire.cli.monitor import _moment
from groundwire.monitor import Monitor
from tests.monitor.told import interaction, keep, verdict

PAGE = (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text(encoding="utf-8")


@pytest.fixture
def run(tmp_path, capsys):
    """Runs the command on a store of four answers; the code, stdout and stderr."""
    url = f"sqlite:///{tmp_path}/kept.db"
    with Monitor(url) as monitor:
        run.ids = keep(monitor, 0.9, 0.1, route="/a") + keep(monitor, 0.6, None, route="/b")

    def command(*arguments):
        code = main(["monitor", *arguments, "--db", url])
        said = capsys.readouterr()
        return code, said.out, said.err

    command.ids, command.url = run.ids, url
    return command


def test_the_figures_are_printed(run):
    code, out, err = run("--by", "route", "--every", "week")
    assert code == 0
    for told in ("4 answers kept", "2 hallucinated", "1 not judged", "NO_CONTEXT 1", "/a", "/b"):
        assert told in " ".join(out.split()), told
    assert "0 reviewed" in " ".join(out.split())
    assert err == ""


def test_a_database_that_can_not_be_opened_is_told_once_with_the_cause(capsys):
    """A command keeps nothing, and doesn't say so."""
    assert main(["monitor", "--db", "postgresql://nobody@127.0.0.1:9/nothing"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("can't be used now"), "kept on disk" in err) == ("", 1, False)
    assert "Connection refused" in err


def test_that_a_tag_has_more_values_than_are_told_is_told(run):
    assert run("--by", "route")[2] == ""
    with Monitor(run.url, drift=None) as monitor:
        for user in range(101):
            monitor.keep(interaction(user_id=user), verdict())
    _, out, err = run("--by", "user_id")
    assert "of user_id, the 100 most frequent values" in err
    assert len(re.findall(r"^\d+ +1 ", out, re.MULTILINE)) == 100


def test_a_tag_that_no_answer_has_is_told_with_those_that_there_are(run):
    _, out, err = run("--by", "rout")
    assert "No answer that chance chose has the tag rout." in out
    assert "--by counts by a tag: " in err
    assert "route" in err


def test_no_review_is_no_word_for_the_detector(run):
    """Where nobody has looked, it is not said that errors have nothing in common."""
    said = "No reviewer has decided about an answer yet"
    with Monitor(run.url, drift=None) as monitor:
        for opinion, unknown in (("unsure", True), ("agree", False)):
            monitor.review(run.ids[0], opinion, reviewer="ann")
            assert (said in run("--patterns")[1]) is unknown


def test_options_may_stand_before_and_after_what_is_done(run, tmp_path, capsys):
    url = f"sqlite:///{tmp_path}/kept.db"
    assert main(["monitor", "--db", url, "--tag", "route=/a", "list", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    _, out, _ = run("list", "--tag", "route=/b", "--limit", "1", "--json")
    assert [json.loads(line)["abstention"] for line in out.splitlines()] == ["NO_CONTEXT"]


def test_a_review_from_the_next_answer_to_the_figures(run):
    code, out, err = run("next", "--reviewer", "ann")
    assert code == 0
    key = re.search(r"review (\w{32})", err)[1]
    assert key in out
    options = ("--reviewer", "ann", "--note", "sure", "--span", "0:4", "--hallucinated")
    told = json.loads(run("show", key, "--json")[1])
    opinion = "disagree" if told["hallucination"]["hallucinated"] is False else "agree"
    code, _, err = run("review", key, opinion, *options)
    assert (code, "the answer is hallucinated" in err) == (0, True)
    assert "ann: " in run("show", key)[1]
    assert run("next", "--reviewer", "ann", "--queue", "newest")[1].count(key) == 0


def test_answers_are_exported_for_a_spreadsheet_and_for_programs(run):
    _, out, err = run("export", "--form", "csv")
    assert [row["score"] for row in csv.DictReader(io.StringIO(out))] == ["0.9", "0.1", "0.6", ""]
    assert "4 answers written" in err
    _, out, _ = run("export", "--tag", "route=/a")
    assert len([json.loads(line) for line in out.splitlines()]) == 2


def test_drafts_are_listed_and_exported_if_they_are_asked_for(run):
    with Monitor(run.url, drift=None) as monitor:
        monitor.keep(interaction(), verdict(), action="retry", durable=True)
    for command in (["export"], ["list", "--json"]):
        counts = [len(run(*command, *more)[1].splitlines()) for more in ([], ["--drafts"])]
        assert counts == [4, 5], command


def test_a_list_of_nothing_says_so(run):
    """A tag that is misspelled looks like one that nobody has."""
    for more in ([], ["--json"]):
        assert run("list", "--tag", "rout=/a", *more) == (0, "", "nothing is kept that meets this\n")


def test_what_is_exported_can_be_checked(run, tmp_path, capsys):
    table = tmp_path / "kept.jsonl"
    table.write_text(run("export", "--tag", "route=/a")[1], encoding="utf-8")
    assert main(["check", str(table), "--detector", "lexical", "-q"]) == 1
    assert "2 answers" in " ".join(capsys.readouterr().out.split())


def test_comparing_forgetting_pruning_and_migrating(run):
    code, out, _ = run("compare", "--before", "route=/a", "--after", "route=/b", "--json")
    assert (code, json.loads(out)["pairs"]) == (0, 1)
    assert "1 questions" in " ".join(run("compare", "--before", "route=/a", "--after", "route=/b")[1].split())
    assert "2 answers deleted" in run("forget", "route=/a")[2]
    assert "0 answers deleted" in run("prune", "--days", "1")[2]
    assert "up to date" in run("migrate")[2]
    assert "too few answers" in run("drift")[1]
    assert run("drift", "--rebase")[0] == 0


def test_a_reviewer_is_forgotten(run):
    run("review", run.ids[0], "agree", "--reviewer", "bob")
    assert "1 reviews deleted" in run("forget", "--reviewer", "bob")[2]
    for wrong in ([], ["route=/a", "--reviewer", "bob"]):
        with pytest.raises(SystemExit):
            run("forget", *wrong)


def test_a_tag_that_no_answer_has_is_told_and_not_only_that_nothing_was_deleted(run):
    """A name that was misspelt must not look like a person who is forgotten."""
    assert "no answer has a tag 'rout'; there are: route" in run("forget", "rout=/a")[2]
    assert run("forget", "route=/c")[2].strip() == "0 answers deleted"


def test_what_was_not_compared_is_not_told_as_no_drift(run):
    with Monitor(run.url, drift=None) as monitor:
        keep(monitor, *[0.1] * 500)
        assert "too few answers since the reference" in run("drift")[1]
        assert json.loads(run("drift", "--json")[1])["windows"] == 0
        keep(monitor, *[None] * 150)
        monitor.rebase()
        keep(monitor, *[None] * 700)
    out = run("drift")[1]
    assert "Nothing drifts." in out
    assert "Too few of the latest answers" in out


def test_the_exit_code_tells_what_drifts_now_and_not_what_once_did(run):
    """Else what runs every hour would call somebody for ever, until the reference is given up."""
    with Monitor(run.url, drift=None) as monitor:
        keep(monitor, *[0.1, 0.2] * 250, *[0.9] * 150)
        assert run("drift")[0] == 1
        keep(monitor, *[0.1, 0.2] * 75)
    code, out, _ = run("drift")
    assert (code, "Nothing drifts now" in out, "scores drift" in out) == (0, True, True)
    assert json.loads(run("drift", "--json")[1])["up"] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--db", "sqlite:///nowhere.db"], "nowhere.db: no such database"),
        (["show", "nothing"], "no answer with the id 'nothing'"),
        (["list", "--queue", "oldest"], "queue must be one of 'uncertain'"),
        (["prune"], "prune needs --days N"),
        (["prune", "--days", "1", "--tag", "route=/a"], "--tag: prune deletes the oldest answers"),
        (["forget", "route=/a", "--until", "2020-01-01"], "--until: forget deletes all that is kept"),
        (["--since", "7d", "forget", "route=/a"], "--since: forget deletes all that is kept"),
    ],
)
def test_mistakes_are_named(run, capsys, arguments, said):
    if "--db" in arguments:
        assert main(["monitor", *arguments]) == 2
        assert said in capsys.readouterr().err
        return
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--since", "soon"],
        ["--since", "999999w"],
        ["--tag", "route"],
        ["review", "x", "agree", "--span", "1"],
    ],
)
def test_options_that_can_not_be_read_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["monitor", *arguments])
    assert stopped.value.code == 2
    assert "expected" in capsys.readouterr().err


def test_the_page_tells_of_every_form_and_option(capsys):
    with pytest.raises(SystemExit):
        main(["monitor", "--help"])
    whole = capsys.readouterr().out
    forms = re.findall(r"^    ([a-z-]+) {2,}", whole, re.MULTILINE)
    assert len(forms) == 14
    options = set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", whole))
    for form in forms:
        assert f"`groundwire monitor {form}" in PAGE, form
        with pytest.raises(SystemExit):
            main(["monitor", form, "--help"])
        options |= set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", capsys.readouterr().out))
    assert options - {"--help"} <= set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", PAGE))


def test_a_date_begins_in_utc_wherever_one_is(monkeypatch):
    """As on the page, and as every time that is told."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert _moment("2026-11-01") == datetime(2026, 11, 1, tzinfo=UTC)
        assert _moment("2026-11-01T00:00+01:00") == datetime(2026, 10, 31, 23, tzinfo=UTC)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_tag_has_one_value(run):
    code, _, err = run("list", "--tag", "route=/a", "--tag", "route=/b")
    assert (code, "--tag gives 'route' two values" in err) == (2, True)


@pytest.mark.parametrize("arguments", [["export"], ["show", "ID", "--json"]])
def test_json_stays_json_where_a_terminal_knows_no_such_letters(tmp_path, arguments):
    """And one answer, which people look at, moves no cursor."""
    url = f"sqlite:///{tmp_path}/letters.db"
    question = "Où, 😀 \x9b31m\u202e?"
    with Monitor(url) as monitor:
        key = monitor.keep(interaction(question=question), verdict(), durable=True)
    told = [key if one == "ID" else one for one in arguments]
    command = [sys.executable, "-m", "groundwire", "monitor", *told, "--db", url]
    for encoding in ("ascii", "utf-8"):
        done = subprocess.run(
            command,
            check=True,
            timeout=60,
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": encoding},
        )
        assert json.loads(done.stdout)["question"] == question
        assert "show" not in told or "\x9b".encode() not in done.stdout
