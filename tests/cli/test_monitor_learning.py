"""The forms of ``groundwire monitor`` that learn from reviews: what they print, write, send, and refuse."""

import json
import uuid

import pytest

from groundwire import Checker, Interaction
from groundwire.cli.main import main
from groundwire.monitor import Monitor
from tests.monitor.told import interaction, keep, verdict
from tests.servers.langsmith_server import langsmith_server, langsmith_tracing

__all__ = ["langsmith_server", "langsmith_tracing"]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """Sixty answers about bags, all reviewed, of the lexical detector with far too high a threshold."""
    url = f"sqlite:///{tmp_path_factory.mktemp('kept')}/kept.db"
    checker = Checker.from_config({"detector": "lexical", "threshold": 0.99})
    with Monitor(url, drift=None) as monitor:
        for i in range(60):
            wrong = i % 3 == 0
            seen = Interaction(
                contexts=f"Bag {i} costs {20 + i} EUR. A seat is free.",
                answer=f"Bag {i} costs {20 + i + 70 * wrong} EUR.",
            )
            key = monitor.keep(seen, checker.check(seen), durable=True)
            monitor.review(key, "unsure", reviewer="ann", hallucinated=wrong)
    return url


@pytest.fixture
def run(url, capsys, tmp_path, monkeypatch):
    """Runs the command; the code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "production.yaml").write_text("detector: lexical\nthreshold: 0.99\n", encoding="utf-8")

    def command(*arguments, db=url):
        code = main(["monitor", *arguments, "--db", db])
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


def test_a_better_configuration_is_written_and_put_in_place_when_told(run, tmp_path):
    production = tmp_path / "production.yaml"
    before = production.read_text(encoding="utf-8")
    code, out, err = run("retune", "--config", "production.yaml")
    assert code == 0, err
    for told in (
        "lexical retuned for f1 on 60 of 60 reviewed answers about 60 sources, 20 of them hallucinated",
        "in production",
        "Better than production on held-out answers.",
        "Sample: all answers kept by chance.",
        '-  "threshold": 0.99',
        "Written: production.retuned.yaml.",
    ):
        assert told in out, told
    assert "production.yaml is as it was" in err
    assert production.read_text(encoding="utf-8") == before
    code, out, err = run("retune", "--config", "production.yaml", "--apply", "--json")
    assert code == 0, err
    assert json.loads(out)["file"] == "production.retuned-2.yaml"
    assert "applied: production.yaml is the new one now" in err
    assert (tmp_path / "production.before.yaml").read_text(encoding="utf-8") == before
    assert Checker.from_config(production).policy.tuned.target == "f1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["retune", "--apply"], "--apply needs --config"),
        (
            ["retune", "--config", "production.yaml", "--out", "x.json", "--apply"],
            "replaced by a .json",
        ),
        (["retune", "--config", "production.yaml", "--detector", "token"], "--config names production's"),
        (["retune", "--detector", "judge"], "the 'judge' detector asks a model: --config FILE names it"),
        (["retune", "--stack", "judge"], "asks a language model, and none was given"),
        (["retune", "--target", "f2"], "unknown measure 'f2'"),
        (["retune", "--tag", "route=/none"], "no answer is reviewed that meets this"),
        (["examples", "--limit", "0"], "limit must be a whole number from 1"),
        (["examples", "nothing"], "no answer with the id 'nothing'"),
        (["push-langsmith"], "nothing is to be pushed"),
        (["push-langsmith", "--labels", "--redact", "phones"], "Redaction takes 'keys'"),
        (
            ["push-langsmith", "--queue", "q", "--order", "oldest", "--dry-run"],
            "order must be one of",
        ),
    ],
)
def test_mistakes_are_named_before_anything_is_written(run, tmp_path, arguments, said):
    code, out, err = run(*arguments)
    assert (code, out) == (2, ""), err
    assert said in err
    assert [path.name for path in tmp_path.iterdir()] == ["production.yaml"]


def test_examples_are_written_for_a_judge(run, tmp_path):
    code, _, err = run("examples", "--limit", "3", "--out", "shown.json")
    assert code == 0
    assert "3 examples written to shown.json, 2 of them hallucinated" in err
    shown = json.loads((tmp_path / "shown.json").read_text(encoding="utf-8"))
    assert [one["score"] for one in shown] == [1.0, 0.0, 1.0]


def test_what_goes_to_langsmith_is_told_first_and_comes_back_never(run, tmp_path, langsmith_tracing):
    from langsmith import Client

    client, run_id = Client(), uuid.uuid4()
    client.create_run("chain", {"q": "?"}, "chain", id=run_id, project_name="airline")
    client.flush()
    db = f"sqlite:///{tmp_path}/traced.db"
    with Monitor(db, drift=None) as monitor:
        key = monitor.keep(interaction(), verdict(), run_id=run_id, durable=True)
        monitor.keep(interaction(1), verdict(0.52), durable=True)
        monitor.review(key, "agree", reviewer="ann")
    options = ("--labels", "--dataset", "reviewed", "--project", "airline")
    code, _, err = run("push-langsmith", *options, "--dry-run", db=db)
    assert code == 0
    assert "would go: 1 examples to the dataset 'reviewed'" in err
    assert langsmith_tracing.datasets == {}
    code, _, err = run("push-langsmith", *options, db=db)
    assert "goes: 1 labels as feedback 'hallucination_human'" in err
    assert "sent: 1 examples, 0 runs, 1 labels; 0 were there already" in err
    assert len(langsmith_tracing.feedback_on(run_id)) == 1
    langsmith_tracing.say(run_id, "hallucination_human", score=0, name="bob")
    code, out, _ = run("pull-langsmith", "--json", db=db)
    assert json.loads(out)["new"] == 1
    assert "0 kept, 1 there already" in run("pull-langsmith", db=db)[2]


def test_several_detectors_want_a_word_which_is_in_production(run, tmp_path):
    db = f"sqlite:///{tmp_path}/two.db"
    with Monitor(db, drift=None) as monitor:
        (key,) = keep(monitor, 0.9)
        seen = Interaction(contexts="A.", answer="A bag costs 25 EUR.")
        other = monitor.keep(seen, Checker("token").check(seen), durable=True)
        for one in (key, other):
            monitor.review(one, "agree", reviewer="ann", hallucinated=None)
    code, _, err = run("retune", db=db)
    assert code == 2
    assert "several detectors judged the reviewed answers: told (1), token (1)" in err
