"""A secret in each place that may hold one, and everything that comes out searched for it.

``SECRET`` stands beside what tells that it is one: a name, a scheme, an address. A key of no known form and
with nothing beside it can't be told from any other word.
"""

import json
import logging
import os
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import fsspec
import pytest
from langchain_core.language_models import FakeListChatModel
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import SecretStr
from sqlalchemy import create_engine, text

import groundwire
from groundwire import Abstention, Checker, ConfigurationError, Detector, Interaction, Judge, config
from groundwire.batch import Batch, Local
from groundwire.cli.main import main
from groundwire.core.secrets import without_secrets
from groundwire.core.sink import Sink
from groundwire.detectors import Cascade, ClaimEnsemble
from groundwire.langchain import GroundwireCallbackHandler
from groundwire.monitor import Monitor
from groundwire.report import Entry, page
from groundwire.review.app import create_app
from groundwire.tables import TableError
from groundwire.tracing.langsmith import LangSmithSink, RunAddress
from groundwire.tracing.otel import OpenTelemetrySink, locate
from groundwire.tracing.told import flat_metadata
from tests.batch.answers import ByAnswer, jsonl, row
from tests.tracing.conftest import airline_desk

SECRET = "SECRETvalue1234567890abcdef"
ECHO = f"Incorrect API key provided: {SECRET}. See https://user:{SECRET}@host/keys?api_key={SECRET}"
ANSWER = Interaction(question="The fee?", contexts="The fee is 25 EUR.", answer="It is free.", id="one")


@pytest.fixture(autouse=True)
def debugging(caplog):
    """Everything that the package's loggers say is searched, too."""
    caplog.set_level(logging.DEBUG, logger="groundwire")
    yield
    said = "".join(one.getMessage() + str(one.exc_text or "") for one in caplog.get_records("call"))
    assert SECRET not in said
    assert SECRET not in caplog.text


@dataclass(frozen=True, kw_only=True)
class Fails(Detector):
    """Breaks with a key in its words, and in those of what led to it."""

    name: ClassVar[str] = "fails"
    version: ClassVar[str] = "1"

    def detect(self, interaction):
        yield from ()
        raise RuntimeError(ECHO) from ConnectionError(f"Authorization: Bearer {SECRET}")


def echoing(system, user):
    raise ConnectionError(ECHO)


def failing() -> Checker:
    return Checker(Fails())


def asking() -> Checker:
    return Checker("judge", judge=Judge(echoing))


@dataclass(frozen=True, kw_only=True)
class Keyed(Detector):
    """A detector of somebody's own, with a key for a service of their own."""

    name: ClassVar[str] = "keyed"
    version: ClassVar[str] = "1"
    api_key: str = field(repr=False, default=SECRET)

    def detect(self, interaction):
        yield from ()
        return self.abstain(groundwire.AbstentionReason.NO_CLAIMS, "nothing")


def files(folder) -> str:
    """The text of every file below, databases among them."""
    return "".join(
        path.read_bytes().decode("latin-1") for path in sorted(Path(folder).rglob("*")) if path.is_file()
    )


def outlets(checker, place) -> str:
    """Everything that an outcome comes out of."""
    monitor = Monitor(f"sqlite:///{place / 'kept.db'}")
    spans, logs = InMemorySpanExporter(), InMemoryLogRecordExporter()
    traced, logged = TracerProvider(), LoggerProvider()
    traced.add_span_processor(SimpleSpanProcessor(spans))
    logged.add_log_record_processor(SimpleLogRecordProcessor(logs))
    sink = OpenTelemetrySink(
        logger_provider=logged, tracer_provider=traced, verdict_spans=True, include_text=True
    )
    told = []
    watched = Checker(checker.detector, judge=_judge(checker), monitor=monitor, sinks=[sink])
    handler = GroundwireCallbackHandler(watched, on_outcome=lambda record: told.append(repr(record)))
    with traced.get_tracer("test").start_as_current_span("query"):
        airline_desk().invoke("bag 1", {"callbacks": [handler]})
        assert locate() is not None
    handler.flush()
    told += [repr(handler.outcomes), repr(handler.stats), repr(handler)]
    assert handler.outcomes, "nothing was judged"
    outcome = handler.outcomes[0].outcome
    assert isinstance(outcome, Abstention)
    monitor.flush()
    told.append(repr(monitor) + repr(monitor.stats))
    told += [json.dumps(outcome.to_dict()), repr(outcome), str(outcome), json.dumps(flat_metadata(outcome))]
    told.append(page.render([Entry(interaction=ANSWER, outcome=outcome)]))
    told += [one.to_json() for one in spans.get_finished_spans()]
    told += [
        repr((data.log_record.body, dict(data.log_record.attributes or {})))
        for data in logs.get_finished_logs()
    ]
    told.append(langsmith_told(outcome))
    monitor.close()
    engine = create_engine(f"sqlite:///{place / 'kept.db'}")
    with engine.connect() as connection:
        names = [name for (name,) in connection.execute(text("SELECT name FROM sqlite_master"))]
        assert "answers" in names, names
    engine.dispose()
    return "".join(told) + files(place)


def _judge(checker):
    return checker.judge if isinstance(checker.judge, Judge) else None


def langsmith_told(outcome) -> str:
    """What LangSmith would be sent as feedback."""
    sent = []

    class Client:
        def __getattr__(self, name):
            return lambda *args, **given: sent.append((name, args, given)) or type("P", (), {"id": uuid4()})()

    client = Client()
    address = RunAddress(
        run_id=uuid4(), trace_id=uuid4(), project="p", started=datetime.now(UTC), client=client
    )
    sink = LangSmithSink(client, include_text=True)
    sink.send(address, outcome)
    assert sink.flush(10)
    assert any(name == "create_feedback" for name, _, _ in sent), sent
    return repr([(name, given) for name, _, given in sent]) + repr(sink) + repr(address)


@pytest.mark.parametrize("make", [asking, failing])
def test_what_a_provider_or_a_detector_echoes_comes_out_nowhere(make, tmp_path):
    """Verdict, handler, monitor, report, spans, events, feedback, logs at DEBUG."""
    told = outlets(make(), tmp_path)
    assert "[secret]" in told, "the error itself was to be told"
    assert SECRET not in told


@pytest.mark.parametrize("make", [asking, failing])
def test_a_batch_repeats_none(make, tmp_path, monkeypatch, capsys):
    """Parts, summaries, plan and replies; each form of parts, with the whole outcome."""
    table = jsonl(tmp_path / "in.jsonl", [row(0)])
    for to in ("jsonl", "csv", "parquet"):
        with Batch([str(table)], str(tmp_path / to), checker=make, to=to, full=True) as job:
            summary = job.run(Local(processes=1))
        assert summary.stats.abstentions == {"MODEL_FAILED": 1}
        assert SECRET not in repr(summary) + repr(job.plan) + repr(job.parts)
    assert SECRET not in files(tmp_path)


def test_an_address_is_kept_and_told_without_what_opens_it(tmp_path, capsys):
    """A password or a signature in a URL: in columns, plan, summaries, messages; and it is gone on with."""
    store = fsspec.filesystem("memory")
    for n, name in enumerate((f"user:{SECRET}@host/a.jsonl", f"host/b.jsonl?X-Amz-Signature={SECRET}")):
        store.pipe(f"/{name}", json.dumps(row(n)).encode())
        url, out = f"memory://{name}", str(tmp_path / f"out{n}")
        with Batch([url], out, checker=lambda: Checker(ByAnswer())) as job:
            assert job.run(Local(processes=1)).stats.rows == 1
            assert SECRET not in repr(job.plan) + repr(job.left)
        with Batch([url], out, checker=lambda: Checker(ByAnswer())) as job:
            assert not job.left
        next(Path(out).glob("part-*")).unlink()
        assert main(["batch", url, out, "--detector", "lexical"]) == 2  # made by another detector
        with Batch([url], out, checker=lambda: Checker(ByAnswer())) as job:
            assert job.run(Local(processes=1)).now.rows == 1, "the address that opens it is this run's"
        assert main(["batch", f"{url}.nowhere", out]) == 2
        told = ["batch", url, f"memory://u:{SECRET}@h/out{n}", "--detector", "lexical", "--processes", "1"]
        assert main(told) in (0, 1, 3)
    said = capsys.readouterr()
    assert "[secret]" in said.err
    assert SECRET not in said.out + said.err + files(tmp_path)


@pytest.mark.parametrize("url", [f"nosuch://u:{SECRET}@host/a.csv", f"memory://u:{SECRET}@host/none.csv"])
def test_an_address_that_leads_nowhere_is_told_without_it(url, tmp_path):
    with (
        pytest.raises((ConfigurationError, TableError)) as told,
        Batch([url], str(tmp_path), checker="lexical"),
    ):
        pass
    assert SECRET not in str(told.value)
    assert told.value.__cause__ is None


class Chat(FakeListChatModel):
    """A chat model with a key, held as LangChain's own hold theirs."""

    api_key: SecretStr = SecretStr(SECRET)


def with_settings(settings):
    loaded = config.load(settings)
    return lambda: repr(loaded) + str(loaded)


HOLDERS = {
    "settings of a judge": with_settings({"judge": {"model": "x", "parameters": {"api_key": SECRET}}}),
    "settings of a monitor": with_settings({"monitor": {"url": f"postgresql://u:{SECRET}@h/db"}}),
    "a monitor's short form": with_settings({"monitor": f"postgresql://u:{SECRET}@h/db"}),
    "settings of a web hook": with_settings({"monitor": {"alerts": [{"webhook": f"https://h/{SECRET}"}]}}),
    "a LangChain model": lambda: repr(Judge(Chat(responses=["x"]))),
    "a function that was given a key": lambda: repr(
        Judge(
            partial(lambda key, system, user: "", f"sk-{SECRET}"),
            embeddings=partial(lambda key, texts: [[1.0]], SECRET),
        )
    ),
    "the identity of its embeddings": lambda: (
        Judge(lambda s, u: "", embeddings=partial(lambda key, texts: [[1.0]], SECRET)).embedding_model
    ),
    "a detector's field that is kept out of its repr": lambda: (
        json.dumps(Checker(Keyed()).check(ANSWER).to_dict()) + repr(Keyed()) + repr(Checker(Keyed()))
    ),
    "the same of a detector that others are made of": lambda: "".join(
        json.dumps(Checker(whole).check(ANSWER).to_dict()) + repr(whole)
        for whole in (Cascade(stages=(Keyed(),)), ClaimEnsemble(oracles=("lexical", Keyed())))
    ),
}


@pytest.mark.parametrize("told", HOLDERS.values(), ids=HOLDERS.keys())
def test_what_holds_a_secret_does_not_show_it(told):
    assert SECRET not in told()


def test_the_environment_is_told_nowhere(monkeypatch, tmp_path):
    """Keys in the environment reach neither a repr nor a file."""
    for name in ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "LANGSMITH_API_KEY", "GROUNDWIRE_REVIEW_TOKEN"):
        monkeypatch.setenv(name, SECRET)
    assert os.environ["OPENAI_API_KEY"] == SECRET
    assert SECRET not in outlets(asking(), tmp_path)


def test_the_token_of_the_review_page_is_in_no_repr(tmp_path):
    monitor = Monitor(f"sqlite:///{tmp_path / 'kept.db'}")
    app = create_app(monitor, token=SECRET)
    try:
        assert SECRET not in repr(app) + repr(vars(app)) + repr(app.user_middleware) + repr(vars(app.state))
    finally:
        monitor.close()


def test_sinks_and_keepers_that_fail_repeat_none():
    """Their errors are logged at DEBUG; the fixture reads what was."""

    class Broken(Sink):
        def send(self, told, where):
            raise ConnectionError(ECHO)

    class Keeps:
        def keep(self, interaction, outcome, **about):
            raise ConnectionError(ECHO)

        def flush(self, timeout=None):
            return True

        def close(self):
            pass

    Checker("lexical", sinks=[Broken()], monitor=Keeps()).check(ANSWER)


def test_what_tells_a_secret_may_stand_in_the_prompt():
    """What was said to the model is taken out of an error after its secrets are, and not before."""

    def echoes(system, user):
        raise ConnectionError(f"The handbook says: Incorrect API key provided: {SECRET}")

    about = Interaction(contexts="The handbook says: Incorrect API key provided: see the desk.", answer="So.")
    outcome = Checker("judge", judge=Judge(echoes)).check(about)
    assert SECRET not in outcome.detail


@pytest.mark.parametrize(
    "told",
    [
        "AIza" + SECRET,
        "hf_" + SECRET,
        f"https://h/x?sv=1&sig={SECRET}&se=2",
        f"Authorization: Basic {SECRET}",
        f"postgresql://u:{SECRET}@h/db",
        f"AccountKey={SECRET};",
        f"pwd={SECRET}",
    ],
)
def test_secrets_are_told_by_their_form_or_their_name(told):
    assert SECRET not in without_secrets(told)


@pytest.mark.parametrize(
    "told", ["a token of 12 words", "see https://host/a?b=1", "the key is under the mat"]
)
def test_other_words_are_left(told):
    assert without_secrets(told) == told


def test_no_log_repeats_an_error_as_it_is():
    """``exc_info`` and ``exception`` would: whatever an error and its causes say."""
    repeats = re.compile(r"exc_info=|_log\.exception\(", re.IGNORECASE)
    for path in Path(groundwire.__file__).parent.rglob("*.py"):
        assert not repeats.search(path.read_text(encoding="utf-8")), f"{path}: log core.secrets.Traced"
