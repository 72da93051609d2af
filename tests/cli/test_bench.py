"""``groundwire bench`` as it is typed: from a table to a comparison, and what it says when it can't."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from groundwire.cli.main import main
from tests.detectors.test_cascade import OPEN
from tests.servers.bedrock_server import MODEL, bedrock, denies, says

__all__ = ["bedrock"]


@pytest.fixture
def run(capsys):
    """Exit code, output and errors of a command."""

    def command(*arguments):
        code = main(list(map(str, arguments)))
        return code, *capsys.readouterr()

    return command


@pytest.fixture
def labelled(tmp_path):
    rows = [
        {
            "question": f"What is tariff {n}?",
            "contexts": [f"Tariff {n} costs {20 + n} EUR."],
            "answer": f"Tariff {n} costs {20 + n if n % 2 else 90 - n} EUR.",
            "label": (n + 1) % 2,
        }
        for n in range(12)
    ]
    path = tmp_path / "labelled.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_a_table_of_figures(run, labelled):
    """The detectors that were named, and the shortcuts beside them."""
    code, out, err = run("bench", labelled, "--detectors", "lexical,token")
    assert code == 0, err
    for name in ("lexical", "token", "answer length (shortcut)", "novel words (shortcut)", "always flag"):
        assert name in out
    assert "lexical orders answers best: AUROC 1.000" in out


def test_a_folder_of_reports_and_a_second_run_that_judges_nothing(run, labelled, tmp_path):
    """The page, Markdown, JSON and plots; outcomes are kept and read back."""
    folder = tmp_path / "out"
    code, _, err = run("bench", labelled, "--detectors", "lexical", "--out", folder, "--plots", "svg")
    assert code == 0, err
    names = {path.name for path in folder.iterdir()}
    assert names >= {"report.html", "report.md", "report.json", "time.svg", "labelled-roc.svg", "outcomes"}
    (record,) = (folder / "outcomes").iterdir()
    before = record.read_bytes()
    code, out, _ = run("bench", labelled, "--detectors", "lexical", "--out", folder, "--json")
    assert code == 0
    assert record.read_bytes() == before
    assert json.loads(out)["sets"]["labelled"]["answers"] == 12


def test_when_more_answers_are_labelled_only_those_are_judged(run, labelled, tmp_path):
    """What was kept is of all answers, whoever is labelled among them."""
    every = labelled.read_text("utf-8")
    first, *others = every.splitlines()
    labelled.write_text("\n".join([json.dumps({**json.loads(first), "label": None}), *others]), "utf-8")
    asked = ("bench", labelled, "--detectors", "lexical", "--out", tmp_path / "out", "-q")
    assert run(*asked)[0] == 0
    (record,) = (tmp_path / "out" / "outcomes").iterdir()
    before = record.read_bytes()
    labelled.write_text(every, "utf-8")
    code, _, err = run(*asked)
    assert code == 0, err
    assert record.read_bytes().startswith(before)
    added = record.read_bytes()[len(before) :].splitlines()
    assert len(added) == 1


def test_a_dry_run_asks_nothing(run, labelled, bedrock, tmp_path):
    """Calls, tokens and cost of the methods that ask a model; the others say that they don't."""
    pytest.importorskip("langchain_aws")
    prices = {MODEL: {"input": 250.0, "output": 1250.0}}
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"judge": {"model": f"bedrock:{MODEL}", "prices": prices}}))
    with labelled.open("a") as file:  # what has no label is not judged
        file.write('\n{"context": "c", "answer": "a", "label": null}')
    asked = ("bench", labelled, "--detectors", "lexical,judge", "--config", settings, "--dry-run")
    code, out, err = run(*asked)
    assert code == 0, err
    assert "lexical: asks no model" in out
    assert "judge: at least 12 calls for 12 answers" in out
    assert "cost: unknown" not in out
    assert json.loads(run(*asked, "--json")[1])["dry_run"]["judge"]["calls"] == 12
    assert not bedrock.requests


def test_a_dry_run_of_what_only_embeds_asks_for_no_price(run, labelled, tmp_path):
    settings = tmp_path / "embeds.json"
    settings.write_text(json.dumps({"judge": {"embeddings": "bedrock:amazon.titan-embed-text-v2:0"}}))
    code, out, err = run("bench", labelled, "--detectors", "semantic", "--config", settings, "--dry-run")
    assert code == 0, err
    assert "of embeddings for" in out
    assert "cost" not in out


def test_a_dry_run_needs_no_package_of_the_model(run, labelled, monkeypatch, tmp_path):
    """Nor a key: what a detector would ask is counted without the model that it would ask."""
    monkeypatch.setitem(sys.modules, "langchain_aws", None)
    settings = tmp_path / "own.json"
    settings.write_text(json.dumps({"detector": "judge", "judge": {"model": f"bedrock:{MODEL}"}}))
    for chosen in (("--checker", settings), ("--detectors", "judge", "--config", settings)):
        code, out, err = run("bench", labelled, *chosen, "--dry-run")
        assert code == 0, err
        assert "at least 12 calls for 12 answers" in out
    code, _, err = run("bench", labelled, "--checker", settings)
    assert code == 2
    assert "langchain-aws" in err


def test_replies_are_recorded_and_replayed_without_the_model(run, labelled, bedrock, tmp_path, monkeypatch):
    """The first run asks; the second has neither a model nor a key, and the same figures and calls."""
    pytest.importorskip("langchain_aws")
    bedrock.always = says('{"confidence": 2}')
    replies = tmp_path / "replies.jsonl"
    common = ("bench", labelled, "--detectors", "self_eval", "--replies", replies, "--json")
    code, out, err = run(*common, "--model", f"bedrock:{MODEL}")
    assert code == 0, err
    asked = len(bedrock.requests)
    own = tmp_path / "self_eval.json"
    own.write_text(json.dumps({"detector": "self_eval", "judge": {"model": f"bedrock:{MODEL}"}}))
    monkeypatch.setitem(sys.modules, "langchain_aws", None)
    code, again, err = run(*common, "--replay")
    assert code == 0, err
    whole = ("bench", labelled, "--checker", own, "--replies", replies, "--json", "--replay")
    third = run(*whole)[1]
    assert len(bedrock.requests) == asked > 0
    cards = [json.loads(text)["cards"]["labelled"]["self_eval"] for text in (out, again, third)]
    assert cards[0]["figures"] == cards[1]["figures"] == cards[2]["figures"]
    assert cards[0]["spent"]["calls"] == cards[1]["spent"]["calls"] == cards[2]["spent"]["calls"] >= 1
    assert cards[0]["coverage"] == 1


def test_checkers_of_one_model_share_its_replies(run, labelled, bedrock, tmp_path):
    """Another threshold asks for nothing again, in the same run either."""
    pytest.importorskip("langchain_aws")
    bedrock.always = says('{"confidence": 2}')
    chosen = []
    for name, threshold in (("strict", 0.2), ("lenient", 0.9)):
        settings = {"detector": "self_eval", "threshold": threshold, "judge": {"model": f"bedrock:{MODEL}"}}
        (tmp_path / f"{name}.json").write_text(json.dumps(settings))
        chosen += ["--checker", tmp_path / f"{name}.json"]
    code, out, err = run("bench", labelled, *chosen, "--replies", tmp_path / "r.jsonl", "--json")
    assert code == 0, err
    assert len(bedrock.requests) == 12
    cards = json.loads(out)["cards"]["labelled"]
    assert [cards[name]["figures"]["recall"]["value"] for name in ("strict", "lenient")] == [1, 0]


def test_one_file_of_replies_is_not_for_two_models(run, labelled, bedrock, tmp_path):
    """Neither to record nor to replay: one model's replies would be taken for the other's."""
    pytest.importorskip("langchain_aws")
    chosen = []
    for name in ("kind", "harsh"):
        settings = {"detector": "self_eval", "judge": {"model": f"bedrock:anthropic.{name}-v1:0"}}
        (tmp_path / f"{name}.json").write_text(json.dumps(settings))
        chosen += ["--checker", tmp_path / f"{name}.json"]
    for more in ((), ("--replay",)):
        code, _, err = run("bench", labelled, *chosen, "--replies", tmp_path / "r.jsonl", *more)
        assert code == 2
        assert "one file holds the replies of one model" in err
    assert not bedrock.requests


def test_blanks_between_names_mean_nothing(run, labelled):
    code, out, err = run("bench", labelled, "--detectors", "lexical, token", "--json")
    assert code == 0, err
    assert [one["name"] for one in json.loads(out)["methods"][:2]] == ["lexical", "token"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"detector": "token", "threshhold": 0.1}, "unknown key 'threshhold'; did you mean 'threshold'?"),
        ({"detector": "tokn"}, "unknown detector 'tokn': did you mean 'token'?"),
        ({"detector": "token", "threshold": 0.9, "levels": {"high": {"from": 0.1}}}, "must enclose"),
        ({"detector": "token", "fallback": "lexicl"}, "fallback: unknown detector 'lexicl'"),
        ({"detector": "judge"}, "asks a language model, and none is named: set judge.model in the file"),
    ],
)
def test_a_mistake_in_one_of_several_checkers_tells_in_which(run, labelled, tmp_path, wrong, told):
    """It may be any of the files."""
    files = [tmp_path / "right.json", tmp_path / "wrong.json"]
    for path, settings in zip(files, ({"detector": "token"}, wrong), strict=True):
        path.write_text(json.dumps(settings), encoding="utf-8")
    code, _, err = run("bench", labelled, "--checker", files[0], "--checker", files[1])
    assert code == 2
    assert f"--checker {files[1]}: " in err
    assert told in err


def test_whole_checkers_are_compared(run, labelled, tmp_path):
    """Each settings file is a contestant under its name, without the default detectors."""
    for name, threshold in (("strict", 0.2), ("lenient", 0.95)):
        settings = {"detector": "lexical", "threshold": threshold}
        (tmp_path / f"{name}.json").write_text(json.dumps(settings))
    files = [tmp_path / "strict.json", tmp_path / "lenient.json"]
    code, out, err = run("bench", labelled, "--checker", files[0], "--checker", files[1], "--json")
    assert code == 0, err
    told = json.loads(out)
    assert [one["name"] for one in told["methods"] if not one["shortcut"]] == ["strict", "lenient"]
    recalls = [
        told["cards"]["labelled"][name]["figures"]["recall"]["value"] for name in ("strict", "lenient")
    ]
    assert recalls[0] >= recalls[1]


def test_columns_are_named(run, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(
        "q,docs,reply,human\nq,The fee is 25 EUR.,It is 75 EUR.,1\nq,The fee is 25.,It is 25.,0\n"
    )
    columns = "question=q,context=docs,answer=reply,label=human"
    code, _, err = run("bench", path, "--columns", columns, "--detectors", "lexical")
    assert code == 0, err


def test_standard_input_is_a_set_like_any_other(run, labelled, monkeypatch):
    """The figures are those of the file, under the name of where they came from."""
    options = ("--detectors", "lexical", "--json")
    _, of_file, _ = run("bench", labelled, *options)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(labelled.read_bytes())))
    code, piped, err = run("bench", "-", *options)
    assert code == 0, err
    (one,), (other,) = (json.loads(out)["sets"].items() for out in (of_file, piped))
    assert (one[0], other[0]) == ("labelled", "stdin")
    assert {**one[1], "fingerprint": ""} == {**other[1], "fingerprint": ""}  # it is of the rows' names, too
    code, _, err = run("bench", "-", "--layout", "ragtruth")
    assert code == 2
    assert "read from files, not from -" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--detectors", "lexikal"), "unknown detector 'lexikal'"),
        (("--detectors", "judge"), "asks a language model, and none is named: --model"),
        (("--plots", "svg"), "--plots needs a folder"),
        (("--replay",), "name it with --replies FILE"),
        (("--replies", "nowhere/r.jsonl"), "there is no directory 'nowhere'"),
        (("--columns", "label"), "expected PART=COLUMN"),
        (("--columns", "verdict=x"), "no part of an example is called 'verdict'"),
        (("--detectors", "lexical,token,lexical"), "two contestants are called 'lexical'"),
        (("--layout", "squad"), "no layout is called 'squad'"),
        (("--layout", "drop"), "is no JSON"),
    ],
)
def test_what_cannot_be_run_is_told_and_exits_with_2(run, labelled, arguments, told):
    code, out, err = run("bench", labelled, *arguments)
    assert (code, out) == (2, "")
    assert told in err


def test_without_scikit_learn_it_says_so_before_anything_is_judged(labelled, tmp_path):
    """The extra is named, and no outcome was kept."""
    arguments = ["bench", str(labelled), "--detectors", "lexical", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.driver", "sklearn,sklearn.metrics", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install 'groundwire[bench]'" in done.stderr
    assert not (tmp_path / "out").exists()


def test_data_without_labels_is_told(run, tmp_path):
    path = tmp_path / "plain.jsonl"
    path.write_text(json.dumps({"context": "c", "answer": "a"}))
    code, _, err = run("bench", path, "--detectors", "lexical")
    assert code == 2
    assert "no answer has a label" in err
    assert "--columns label=COLUMN" in err


def test_a_detector_that_judged_nothing_is_told_by_the_exit_code(run, labelled, bedrock):
    """A table is printed and nothing is made up, but a pipeline must not take it for a measurement."""
    pytest.importorskip("langchain_aws")
    bedrock.always = denies()
    arguments = ("--detectors", "self_eval,lexical", "--model", f"bedrock:{MODEL}", "--limit", "4")
    code, out, _ = run("bench", labelled, *arguments)
    assert code == 3
    assert "Not all answers were judged: self_eval 0 of 4" in out
    assert run("bench", labelled, *arguments, "--json")[0] == 3


def test_two_files_of_one_name_are_told(run, labelled, tmp_path):
    other = tmp_path / "other" / "labelled.jsonl"
    other.parent.mkdir()
    other.write_bytes(Path(labelled).read_bytes())
    code, _, err = run("bench", labelled, other, "--detectors", "lexical")
    assert code == 2
    assert "two sets would be called 'labelled'" in err


def test_a_contestant_is_read_masked_and_limited_as_its_settings_say(run, labelled, tmp_path):
    for name, more in (("whole", {}), ("short", {"max_characters": 20}), ("masked", {"redact": ["emails"]})):
        (tmp_path / f"{name}.json").write_text(json.dumps({"detector": "lexical", **more}))
    names = [tmp_path / f"{name}.json" for name in ("whole", "short", "masked")]
    checkers = [part for name in names for part in ("--checker", name)]
    code, out, err = run("bench", labelled, *checkers, "--json")
    assert code == 3, f"{err}: short judged nothing"
    told = json.loads(out)
    coverage = {name: card["coverage"] for name, card in told["cards"]["labelled"].items()}
    assert (coverage["whole"], coverage["short"], coverage["masked"]) == (1, 0, 1)
    made_by = {one["name"]: one["made_by"] for one in told["methods"] if not one["shortcut"]}
    assert made_by["masked"]["redact"] == ["emails"]
    assert made_by["short"]["limits"][0] == 20


def test_a_cascade_with_a_judge_is_replayed_without_it(run, labelled, bedrock, tmp_path):
    """It can do without a model, and asks one where one is named; a dry run says so."""
    pytest.importorskip("langchain_aws")
    bedrock.always = says('{"confidence": 2}')
    settings = tmp_path / "judge.json"
    settings.write_text(json.dumps({"judge": {"model": f"bedrock:{MODEL}"}}))
    unsure = {
        "question": OPEN.question,
        "contexts": [one.text for one in OPEN.contexts],
        "answer": OPEN.answer,
    }
    with labelled.open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps({**unsure, "label": 0}))
    replies = tmp_path / "replies.jsonl"
    common = ("bench", labelled, "--detectors", "cascade", "--config", settings)
    code, out, err = run(*common, "--dry-run")
    assert code == 0, err
    assert "cascade: at least" in out
    code, _, err = run(*common, "--replies", replies, "--json")
    assert code == 0, err
    asked = len(bedrock.requests)
    assert asked > 0
    code, _, err = run(*common, "--replies", replies, "--replay", "--json")
    assert code == 0, err
    assert len(bedrock.requests) == asked
