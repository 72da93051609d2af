"""The examples, as their readers run them, against servers of ours."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import groundwire as gw
from examples.batch import handbook as in_batches
from examples.benchmarking import handbook as benchmarking
from examples.judges import answers, ollama_style, openai_style
from examples.judges import bedrock as on_bedrock
from examples.judges.answers import show
from examples.monitoring import handbook as monitoring_example
from examples.tuning import handbook as tuning_example
from groundwire import config
from tests.servers.bedrock_server import MODEL, bedrock, says, throttles

__all__ = ["bedrock"]


def verdict(user):
    """What a good judge says of the two answers, by what it is shown."""
    if "40 EUR" in re.search(r"<<<claims .*?>>>\n(.*?)\n<<<end", user, re.DOTALL)[1]:
        entry = {"support": "supported", "score": 0.02, "quote": "a second one 40 EUR", "words": []}
    else:
        quote = "Changes are free of charge until 24 hours before departure"
        entry = {"support": "contradicted", "score": 0.97, "quote": quote, "words": ["2 hours"]}
    return json.dumps({"claims": [{"id": 1, "reason": "It says so.", **entry}]})


class Server:
    """Replies to each POST with what ``answer`` makes of its body; the first is throttled."""

    def __init__(self, answer):
        self.requests = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, body, self.headers.get("Authorization")))
                status = 429 if len(outer.requests) == 1 else 200
                data = json.dumps(answer(verdict(body["messages"][1]["content"]))).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def server():
    started = []

    def start(answer):
        started.append(Server(answer))
        return started[0]

    yield start
    for one in started:
        one.close()


def told(capsys):
    out = capsys.readouterr().out
    assert re.search(r"^stated: low, score 0.02 \(\d calls\)$", out, re.MULTILINE)
    assert re.search(r"^invented: high, score 0.97 \(\d calls\)$", out, re.MULTILINE)
    return sum(map(int, re.findall(r"\((\d) calls\)", out)))


def test_a_model_behind_ollama_s_api(server, capsys):
    ollama = server(lambda text: {"message": {"role": "assistant", "content": text}, "done": True})
    show(ollama_style.build("some-model", ollama.url))
    assert told(capsys) == len(ollama.requests) == 3
    path, body, _ = ollama.requests[0]
    assert (path, body["model"], body["stream"]) == ("/api/chat", "some-model", False)
    assert body["options"] == {"temperature": 0, "num_ctx": 16_384}


def test_a_model_behind_an_api_in_openai_s_style(server, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    openai = server(lambda text: {"choices": [{"message": {"role": "assistant", "content": text}}]})
    show(openai_style.build("some-model", f"{openai.url}/v1"))
    assert told(capsys) == len(openai.requests) == 3
    path, body, authorization = openai.requests[0]
    assert (path, body["model"], authorization) == ("/v1/chat/completions", "some-model", "Bearer not-a-key")


def test_a_model_on_bedrock(bedrock, capsys):
    pytest.importorskip("langchain_aws")
    bedrock.script.append(throttles())
    bedrock.always = says(lambda body: verdict(body["messages"][0]["content"][0]["text"]))
    show(on_bedrock.build(MODEL, "eu-central-1"))
    assert told(capsys) == len(bedrock.requests) == 3


@pytest.mark.parametrize("example", [on_bedrock, ollama_style, openai_style])
def test_a_judge_without_a_model_says_how_to_name_one(example, monkeypatch):
    monkeypatch.setattr("sys.argv", ["example"])
    with pytest.raises(SystemExit, match=f"python -m {example.__name__} MODEL"):
        answers.main(example.build, example.__doc__)


def test_the_handbook_s_answers_are_compared(tmp_path, monkeypatch, capsys):
    """From the table somebody labelled to the report, whose first lines say that twenty answers are few."""
    monkeypatch.setattr("sys.argv", ["handbook", str(tmp_path)])
    benchmarking.main()
    assert "only 10 answers are hallucinated" in capsys.readouterr().out
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"labelled.csv", "outcomes", "report.html", "report.md", "report.json"}


def test_the_handbook_s_chain_is_read_by_what_was_tuned(tmp_path, monkeypatch, capsys):
    """From one table to a file, a checker and the chain's answers, and what few rows can't promise."""
    monkeypatch.setattr("sys.argv", ["handbook", str(tmp_path)])
    tuning_example.main()
    out = capsys.readouterr().out
    assert "only 10 sources have hallucinated answers" in out
    assert "of 20 answers flagged" in out
    assert gw.Checker.from_config(tmp_path / "tuned.json").policy.tuned.target == "recall>=0.8"


def test_the_handbook_s_production_is_reviewed_and_tuned_anew(tmp_path, monkeypatch, capsys):
    """From settings to reviews, a proposal beside them, and examples; what is in production stays."""
    monkeypatch.setattr("sys.argv", ["handbook", str(tmp_path)])
    monitoring_example.main()
    out = capsys.readouterr().out
    assert "by 20 reviews of 20 answers" in out
    assert "production.retuned.yaml is proposed" in out
    assert "only 10 sources have hallucinated answers" in out
    assert "tuned" not in (tmp_path / "production.yaml").read_text(encoding="utf-8")
    assert config.load(tmp_path / "production.retuned.yaml").tuned["target"] == "f1"
    assert len(json.loads((tmp_path / "examples.json").read_text(encoding="utf-8"))) == 4


def test_the_handbook_s_answers_are_a_batch_that_is_stopped_and_goes_on(tmp_path, monkeypatch, capsys):
    """Ctrl-C after the first unit keeps it; the second run does the rest, and there is one row each."""
    monkeypatch.setattr("sys.argv", ["handbook", str(tmp_path)])
    for _ in range(2):
        in_batches.main()
    out = capsys.readouterr().out
    assert out.count("stopped: 1 of 4 parts are done") == 2
    assert "this run: 15 rows; complete: True" in out
    page = re.search(r"20 answers, \d+ flagged; (.+)", out)[1]
    assert Path(page).is_file()
