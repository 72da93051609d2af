"""``groundwire tune`` as it is typed: from a table to a settings file, and what it says when it can't."""

import json
import re
import sys
from pathlib import Path

import pytest

from groundwire import Checker, Interaction
from groundwire.cli.main import main
from tests.servers.bedrock_server import MODEL, bedrock, says

__all__ = ["bedrock"]
PAGE = (Path(__file__).parents[2] / "docs" / "tuning.md").read_text(encoding="utf-8")


@pytest.fixture
def run(capsys):
    """Exit code, output and errors of a command."""

    def command(*arguments):
        code = main(["tune", *map(str, arguments)])
        return code, *capsys.readouterr()

    return command


def rows(count=40):
    """Tariffs; every second answer has the price wrong."""
    return [
        {
            "question": f"What is tariff {n}?",
            "context": f"Tariff {n} costs {20 + n} EUR. It began in {1990 + n}.",
            "answer": f"Tariff {n} costs {20 + n if n % 2 else 97 - n} EUR.",
            "label": (n + 1) % 2,
        }
        for n in range(count)
    ]


@pytest.fixture
def labelled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "labelled.jsonl", rows())


def raises(error):
    def stopped(*arguments, **options):
        raise error

    return stopped


def write(path, given):
    path.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    return path


def test_a_table_becomes_a_settings_file_that_checks(run, labelled, capsys):
    code, out, err = run(labelled, "--detector", "lexical", "--target", "recall>=0.9")
    assert code == 0, err
    assert "lexical tuned for recall>=0.9 on 40 answers about 40 sources, 20 of them hallucinated" in out
    for part in ("its own threshold", "precision", "calibration error", "without each part in turn"):
        assert part in out
    assert "Written: tuned.json" in out
    checker = Checker.from_config("tuned.json")
    assert checker.policy.tuned.target == "recall>=0.9"
    wrong = Interaction(contexts="Tariff 7 costs 27 EUR.", answer="Tariff 7 costs 72 EUR.")
    assert checker.check(wrong).hallucinated
    assert main(["check", str(labelled), "--config", "tuned.json", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["results"][0]["detector"]["parameters"]["tuned"] == checker.policy.tuned.fingerprint


def test_only_labelled_answers_are_judged(run, labelled, bedrock):
    """Others take no part in the tuning, and a model asked about them would cost for nothing."""
    pytest.importorskip("langchain_aws")
    bedrock.always = says(lambda body: json.dumps({"confidence": 1 + len(str(body)) % 5}))
    more = [{**row, "answer": f"{row['answer']} Again.", "label": None} for row in rows()]
    write(labelled, [*more, *rows()])
    code, _, err = run(labelled, "--detector", "self_eval", "--model", f"bedrock:{MODEL}")
    assert code == 0, err
    assert len(bedrock.requests) == 40
    assert "40 answers without a label are left out" in err


def test_a_judge_of_another_file_is_not_written_and_the_use_says_so(run, labelled, bedrock):
    """The file that names the judge names the tuning, too; the tuned one alone would ask no model."""
    pytest.importorskip("langchain_aws")
    bedrock.always = says(lambda body: json.dumps({"confidence": 1 + len(str(body)) % 5}))
    own = {"detector": "self_eval", "judge": {"model": f"bedrock:{MODEL}"}}
    Path("own.json").write_text(json.dumps(own))
    code, out, err = run(labelled, "--config", "own.json")
    assert code == 0, err
    assert "write tuned: tuned.json into own.json" in out
    Path("own.json").write_text(json.dumps({**own, "tuned": "tuned.json"}))
    assert Checker.from_config("own.json").policy.tuned is not None


def test_another_target_judges_nothing_again(run, labelled):
    assert run(labelled, "--detector", "lexical", "--outcomes", "kept", "-q")[0] == 0
    (record,) = Path("kept").iterdir()
    before = record.read_bytes()
    code, out, err = run(
        labelled, "--detector", "lexical", "--outcomes", "kept", "--target", "accuracy", "--json"
    )
    assert code == 0, err
    assert record.read_bytes() == before
    told = json.loads(out)
    assert told["tuned"]["target"] == "accuracy"
    assert told["tuned"]["labels"]["answers"] == 40
    assert told["after"]["accuracy"]["value"] == told["tuned"]["held_out"]["accuracy"]["value"]
    assert told["file"] == "tuned.json"


def test_when_more_answers_are_labelled_only_those_are_judged(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    everyone = rows()
    path = write(tmp_path / "some.jsonl", [{**row, "label": None} for row in everyone[:2]] + everyone[2:])
    assert run(path, "--detector", "lexical", "--outcomes", "kept", "-q")[0] == 0
    (record,) = Path("kept").iterdir()
    before = record.read_bytes()
    write(path, everyone)
    code, _, err = run(path, "--detector", "lexical", "--outcomes", "kept", "-q")
    assert code == 0, err
    assert record.read_bytes().startswith(before)
    added = record.read_bytes()[len(before) :].splitlines()
    assert len(added) == 2


def test_warnings_go_to_stderr_also_where_nothing_else_is_printed(run, labelled):
    code, out, err = run(labelled, "--detector", "lexical", "--target", "precision>=0.9", "-q")
    assert code == 0
    assert out == ""
    assert "only 20 sources have hallucinated answers" in err
    assert "36 sources with flagged answers at least" in err or "below the 0.9" in err


def test_several_detectors_are_stacked(run, labelled):
    code, out, err = run(
        labelled, "--detector", "lexical,token", "--combination", "logistic", "--out", "s.json"
    )
    if code == 2:
        assert "tune it by itself" in err
        return
    assert "combination of lexical, token" in out
    assert Checker.from_config("s.json").detector.name == "stacked"


def test_a_cascade_is_tuned_by_its_bands(run, labelled):
    settings = {"detector": {"name": "cascade", "stages": [{"detector": "lexical", "accept": 0.1}, "token"]}}
    Path("cascade.json").write_text(json.dumps(settings))
    code, out, err = run(labelled, "--config", "cascade.json", "--target", "cost<=0.5 calls")
    assert code == 0, err
    assert "stage token: decides the rest" in out
    assert "calls" in out
    assert Checker.from_config("tuned.json").detector.name == "cascade"


def test_a_model_is_asked_and_named_in_the_file(run, labelled, bedrock):
    pytest.importorskip("langchain_aws")
    bedrock.always = says('{"level": "high", "reason": "One. Two."}')
    code, _, err = run(labelled, "--detector", "level", "--model", f"bedrock:{MODEL}", "--limit", "12")
    assert code == 0, err
    assert len(bedrock.requests) == 12
    told = json.loads(Path("tuned.json").read_text())
    assert told["judge"] == {"model": f"bedrock:{MODEL}"}
    assert told["tuned"]["origin"]["model"] == MODEL
    assert Checker.from_config("tuned.json").judge.model == MODEL


def test_a_dry_run_tells_what_it_takes_and_asks_and_writes_nothing(run, labelled, bedrock):
    prices = {MODEL: {"input": 250.0, "output": 1250.0}}
    settings = {"judge": {"model": f"bedrock:{MODEL}", "prices": prices}}
    Path("own.json").write_text(json.dumps(settings))
    with labelled.open("a") as file:  # what has no label is not judged
        file.write('{"context": "c", "answer": "a", "label": null}\n')
    asked = (labelled, "--detector", "lexical,judge", "--config", "own.json", "--dry-run")
    code, out, err = run(*asked)
    assert code == 0, err
    assert "lexical: asks no model" in out
    assert "judge: at least 40 calls for 40 answers" in out
    assert "cost: unknown" not in out
    told = json.loads(run(*asked, "--json")[1])["dry_run"]
    assert told["judge"]["calls"] == 40
    assert told["judge"]["cost"] > 0
    assert not bedrock.requests
    assert not Path("tuned.json").exists()


def test_a_dry_run_of_a_cascade_tells_of_each_stage(run, labelled, monkeypatch):
    """Each judges every answer. No package of the model's is needed for that, and no key."""
    monkeypatch.setitem(sys.modules, "langchain_aws", None)
    model = ("--model", f"bedrock:{MODEL}")
    code, out, err = run(labelled, "--detector", "cascade", *model, "--dry-run")
    assert code == 0, err
    assert "lexical: asks no model" in out
    assert "judge: at least 40 calls for 40 answers" in out
    code, _, err = run(labelled, "--detector", "cascade", *model)
    assert code == 2
    assert "langchain-aws" in err


def test_a_dry_run_says_at_once_that_labels_are_not_enough(run, labelled):
    code, _, err = run(labelled, "--detector", "judge", "--target", "false_alarms<=0.01", "--dry-run")
    assert code == 2
    assert "it takes 299" in err


def test_replies_are_recorded_and_tuned_by_again_without_the_model(run, labelled, bedrock, monkeypatch):
    pytest.importorskip("langchain_aws")
    bedrock.always = says('{"level": "high", "reason": "One. Two."}')
    common = (labelled, "--detector", "level", "--limit", "12", "--replies", "replies.jsonl")
    code, first, err = run(*common, "--model", f"bedrock:{MODEL}")
    assert code == 0, err
    tuned = json.loads(Path("tuned.json").read_text())["tuned"]
    monkeypatch.setitem(sys.modules, "langchain_aws", None)
    code, again, err = run(*common, "--replay")
    assert code == 0, err
    assert len(bedrock.requests) == 12
    assert json.loads(Path("tuned.json").read_text())["tuned"] == tuned
    assert again == first.replace("--config tuned.json", "--config tuned.json --model MODEL")


def test_other_weights_are_tried_on_what_was_recorded(run, labelled, bedrock):
    """Seven calls an answer are paid for once, whatever is made of them."""
    pytest.importorskip("langchain_aws")

    def said(body):
        asked = body["messages"][0]["content"][0]["text"]
        if '"answers": [' in asked:
            return json.dumps({"answers": [{"id": i, "agrees": "yes"} for i in range(1, 6)]})
        return '{"reason": "r", "correct": "no", "certain": "yes"}'

    bedrock.always = says(said)
    common = (labelled, "--limit", "12", "--replies", "r.jsonl", "--json", "--calibration", "none")
    settings = {"detector": "trustworthiness", "judge": {"model": f"bedrock:{MODEL}"}}
    Path("first.json").write_text(json.dumps(settings))
    code, _, err = run(*common, "--config", "first.json")
    assert code == 0, err
    asked = len(bedrock.requests)
    settings["detector"] = {"name": "trustworthiness", "agreement": 0.2, "reflection": 0.8}
    Path("second.json").write_text(json.dumps(settings))
    code, out, err = run(*common, "--config", "second.json", "--replay")
    assert code == 0, err
    assert not json.loads(out)["not_judged"]
    assert len(bedrock.requests) == asked == 12 * 7


def test_what_was_not_recorded_is_not_judged_and_never_clean(run, labelled, bedrock):
    pytest.importorskip("langchain_aws")
    bedrock.always = says('{"level": "high", "reason": "One. Two."}')
    common = (labelled, "--detector", "level", "--replies", "replies.jsonl")
    assert run(*common, "--limit", "12", "--model", f"bedrock:{MODEL}")[0] == 0
    code, out, err = run(*common, "--replay", "--json")
    assert code == 0, err
    assert sum(json.loads(out)["not_judged"].values()) == 28


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--replay"], "name it with --replies FILE"),
        (["--replies", "r.jsonl"], "--replies has nothing to keep: 'lexical' asks no model"),
        (["--replies", "r.jsonl", "--replay"], "--replay has nothing to give: 'lexical' asks no model"),
        (["--replies", "nowhere/r.jsonl"], "--replies 'nowhere/r.jsonl': there is no directory 'nowhere'"),
        (["--detector", "level", "--replies", "r.jsonl", "--replay"], "there is no file 'r.jsonl'"),
        (["--target", "precison>=0.9"], "did you mean 'precision'?"),
        (["--target", "precision<=0.9"], "expected precision>="),
        (
            ["--target", "false_alarms<=0.01"],
            "20 sources with grounded answers can't promise that: it takes 299",
        ),
        (["--target", "cost<=0.2 calls"], "a cost is for a cascade"),
        (["--detector", "lexicl"], "unknown detector 'lexicl'"),
        (["--calibration", "beta"], "expected one of auto, none, temperature"),
        (["--aggregation", "mean"], "expected one of auto, own"),
        (["--out", "tuned.pickle"], "expected a name ending in .json or .yaml"),
        (["--out", "nowhere/tuned.json"], "there is no directory 'nowhere'"),
        (["--out", "/proc/tuned.json"], "nothing can be written in '/proc'"),
        (["--model", "bedrock:m"], "--model has nothing to answer: 'lexical' asks no model"),
        (["--columns", "label"], "--columns: expected PART=COLUMN"),
        (["--columns", "label=nothing"], "nothing"),
        (["--layout", "nothing"], "nothing"),
        (["--outcomes", "labelled.jsonl"], "--outcomes labelled.jsonl: it is a file, and a folder is needed"),
    ],
)
def test_options_that_can_not_work_end_with_2_and_what_would(run, labelled, options, message):
    code, _, err = run(labelled, *([] if "--detector" in options else ["--detector", "lexical"]), *options)
    assert code == 2
    assert message in err
    assert not Path("tuned.json").exists()


def test_replies_and_settings_are_not_written_to_one_file(run, labelled, bedrock):
    """Nor before there is one: what was paid for would be gone in the end."""
    judged = (labelled, "--detector", "level", "--model", f"bedrock:{MODEL}")
    code, _, err = run(*judged, "--replies", "new.json", "--out", "./new.json")
    assert code == 2
    assert "--out './new.json' is a file that is read: name another" in err
    assert not bedrock.requests


@pytest.mark.filterwarnings("error::UserWarning")
def test_a_run_that_is_stopped_tells_that_its_replies_were_kept(run, labelled, bedrock, monkeypatch):
    pytest.importorskip("langchain_aws")
    bedrock.always = says('{"level": "high", "reason": "One. Two."}')
    judged = (labelled, "--detector", "lexical,level", "--model", f"bedrock:{MODEL}", "--replies", "r.jsonl")
    monkeypatch.setattr("groundwire.bench.tuning.stack", raises(KeyboardInterrupt))
    assert run(*judged) == (
        130,
        "",
        "Stopped: the replies are in r.jsonl; the same command asks for none of them again.\n",
    )
    assert len(bedrock.requests) == 40


@pytest.mark.parametrize("out", ["labelled.json", "settings.json", "link.json"])
def test_what_is_read_is_not_written_over(run, labelled, out):
    """Neither the labels, also through a link, nor the settings: a judge in them would be gone."""
    labelled.rename("labelled.json")
    Path("link.json").symlink_to("labelled.json")
    Path("settings.json").write_text(json.dumps({"detector": "lexical"}))
    before = Path(out).read_bytes()
    code, _, err = run("labelled.json", "--config", "settings.json", "--out", out)
    assert code == 2
    assert f"--out {out!r} is a file that is read: name another" in err
    assert Path(out).read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": 1}, "all 40 answers are labelled hallucinated (1): a threshold parts two kinds"),
        ({"label": None}, "none of 40 answers has a label"),
        ({"label": "maybe"}, "maybe"),
        ({"group": "one"}, "about one source ('one'), so nothing can be held out"),
    ],
)
def test_labels_that_can_not_be_tuned_by_are_told_before_anything_is_judged(
    run, tmp_path, monkeypatch, change, message
):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "bad.jsonl", [{**row, **change} for row in rows()])
    code, _, err = run(path, "--detector", "lexical", "--outcomes", "kept")
    assert code == 2
    assert message in err
    assert not Path("kept").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": 0.3}, "it sets 'threshold', which is what is to be fitted"),
        ({"tuned": "t.json"}, "No such file"),
    ],
)
def test_settings_that_read_scores_already_are_refused(run, labelled, settings, message):
    Path("groundwire.json").write_text(json.dumps(settings))
    code, _, err = run(labelled, "--config", "groundwire.json")
    assert code == 2
    assert message in err


def test_the_page_tells_of_every_option_and_every_target(capsys):
    """docs/tuning.md has what the command has, and nothing else."""
    with pytest.raises(SystemExit):
        main(["tune", "--help"])
    option = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")
    told = capsys.readouterr().out
    table = PAGE[PAGE.index("## All options") :]
    assert set(option.findall(table)) - {"--config"} == set(option.findall(told)) - {"--help", "--config"}
    for target in (
        "f1",
        "balanced_accuracy",
        "precision>=",
        "recall>=",
        "cost<=",
        "false_alarms<=",
        "misses<=",
    ):
        assert target in PAGE
        assert target in told


def test_a_promise_without_held_out_figures_is_written_and_says_so(run, tmp_path, monkeypatch):
    """Of 62 sources all can promise it, and without a fifth of them the others can't."""
    monkeypatch.chdir(tmp_path)
    given = [
        {
            "context": f"Tariff {i} costs {20 + i} EUR.",
            "answer": f"Tariff {i} costs {20 + i + 9 * label} EUR.",
            "label": label,
            "group": str(i),
        }
        for i in range(62)
        for label in (0, 1)
    ]
    path = write(tmp_path / "some.jsonl", given)
    code, out, err = run(path, "--detector", "lexical", "--target", "false_alarms<=0.05 with 0.95")
    assert code == 0, err
    assert "there are no held-out figures" in err
    assert "recall 1.000 [0.942, 1.000] -" in " ".join(out.split())
    assert "Promise: " in out
    assert json.loads(Path("tuned.json").read_text("utf-8"))["tuned"]["held_out"] == {}
