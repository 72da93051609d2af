"""What is kept is what was told, on SQLite and on PostgreSQL alike."""

import datetime as dt
import io
import json
import os
import re
import socket
import sqlite3
import stat
import sys
import threading
import traceback
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundwire import (
    Abstention,
    AbstentionReason,
    ConfigurationError,
    InputError,
    Interaction,
    MissingExtraError,
    Policy,
    Role,
    Turn,
)
from groundwire.checker import Checker
from groundwire.core.redaction import MASK
from groundwire.core.verdict import Degraded, Route, StageReport, Step
from groundwire.monitor import Filter, Monitor, Redaction, Retention, Sampling, StoreError
from groundwire.monitor.answer import Row
from groundwire.monitor.database import Database, Durability
from groundwire.monitor.retention import shrink
from groundwire.monitor.sampling import Why
from groundwire.monitor.schema import answers
from groundwire.monitor.spool import Spool
from tests.core.strategies import verdicts
from tests.monitor.told import DETECTOR, abstention, interaction, keep, verdict
from tests.scripted import AsksModel, NovelWords


def test_what_is_read_back_is_what_was_kept(store):
    run = uuid4()
    for outcome in (verdict(), abstention()):
        told = interaction(route="/fares", model="m-1", tags=["a", "b"])
        key = store.keep(told, outcome, run_id=run, action="warn", attempt=2, durable=True)
        kept = store.get(key)
        assert (kept.interaction, kept.outcome) == (told, outcome)
        assert (kept.run_id, kept.action, kept.attempt, kept.draft) == (str(run), "warn", 2, False)
        assert kept.tags == (("model", "m-1"), ("route", "/fares"), ("tag", "a"), ("tag", "b"))
        assert abs((dt.datetime.now(dt.UTC) - kept.at).total_seconds()) < 60
        assert kept.sampled


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=[])), outcome=verdicts())
def test_whatever_can_be_judged_can_be_kept(store, text, outcome):
    """Null characters and lone surrogates, which no database takes, too; no length changes."""
    seen = Interaction(question=text, contexts=[text, text], answer=text, metadata={"any": text, text: 1})
    key = store.keep(seen, outcome, durable=True)
    kept = store.get(key)
    assert len(kept.interaction.answer) == len(kept.interaction.contexts[1].text) == len(text)
    assert kept.outcome.score == outcome.score
    assert kept.outcome.spans == outcome.spans


@pytest.mark.parametrize("given", [("A bag costs 75 EUR.", verdict()), (verdict(), interaction())])
def test_what_is_no_answer_with_its_outcome_is_refused_and_not_lost(store, given):
    """Handed over in the wrong order, nothing could be written of them."""
    names = " and ".join(type(one).__name__ for one in given)
    with pytest.raises(InputError, match=f"keep takes an Interaction, .*, not {names}"):
        store.keep(*given)
    assert store.stats.failed == 0


def test_an_answer_that_could_not_be_read_is_kept_as_such(store):
    key = store.keep(None, abstention(), durable=True)
    assert store.get(key).interaction is None


def test_an_answer_is_found_by_the_ids_that_an_application_knows(store):
    run = uuid4()  # as LangChain gives it
    key = store.keep(interaction(), verdict(id="outcome-7"), run_id=run)
    assert (
        store.get("outcome-7").id == store.get(str(run)).id == store.get(run).id == store.get(key).id == key
    )
    with pytest.raises(InputError, match="no answer with the id 'elsewhere'"):
        store.get("elsewhere")


def test_no_id_is_no_answers(opened):
    """A thumb for an answer that was not sampled is nobody else's, least of all that of one without a run."""
    store = opened(sampling=Sampling(rate=0.0, flagged=True))
    (flagged, left_out) = keep(store, 0.9, 0.1)
    assert left_out is None
    for ask in (store.get, store.feedback, lambda key: store.review(key, "disagree", reviewer="a customer")):
        with pytest.raises(InputError, match="not by None: what was not sampled, or dropped, has none"):
            ask(left_out)
    assert store.feedback(flagged) == ()


def test_rows_come_in_the_order_in_which_they_were_told_from_many_threads(store):
    def tell(n):
        for i in range(50):
            store.keep(interaction(n), verdict(), run_id=f"{n}-{i}")

    threads = [threading.Thread(target=tell, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.flush(30)
    runs = [kept.run_id for kept in store.rows()]
    assert len(runs) == 400
    for n in range(8):
        assert [run for run in runs if run.startswith(f"{n}-")] == [f"{n}-{i}" for i in range(50)]


def test_pages_together_are_every_row_once_in_every_order(store):
    keep(store, 0.9, 0.1, None, 0.55, 0.45, 0.9, 0.2, *[0.7] * 20)
    for queue, members in (("newest", 27), ("uncertain", 26), ("random", 27), ("flagged", 23)):
        seen, after = [], None
        while True:
            page = store.page(queue=queue, limit=4, after=after)
            seen += [line.id for line in page.lines]
            after = page.after
            if after is None:
                break
        assert len(seen) == len(set(seen)) == members, queue
    margins = [abs(line.score - line.threshold) for line in store.page(queue="uncertain", limit=50).lines]
    assert margins == sorted(margins)
    with pytest.raises(InputError, match="no page begins after 'nonsense'"):
        store.page(after="nonsense")
    with pytest.raises(InputError, match="queue must be one of"):
        store.page(queue="oldest")


def test_answers_about_whose_words_detectors_differ_have_a_queue(store):
    keep(store, 0.9, 0.1)  # different questions
    for score, detector in ((0.9, DETECTOR), (0.2, replace(DETECTOR, name="other"))):
        store.keep(interaction(question="the same"), verdict(score, detector=detector))
    store.flush()
    assert {line.question for line in store.page(queue="disagreeing").lines} == {"the same"}


def test_filters_find_what_they_say(store):
    keep(store, 0.9, 0.1, None, route="/a")
    keep(store, 0.6, question="100% of the Fee_s?", route="/b")
    store.keep(interaction(), verdict(0.9), action="retry", durable=True)

    def count(**wanted):
        return store.count(Filter(**wanted))

    assert count() == 4
    assert count(drafts=True) == 5
    assert count(tags={"route": "/a"}) == 3
    assert count(tags={"route": "/a"}, hallucinated=True) == 1
    assert count(judged=False) == count(abstention="NO_CONTEXT") == 1
    assert count(levels=("high",)) == 1
    assert count(score=(0.55, 0.65)) == 1
    assert count(detector="told") == 4
    assert count(text="100% OF the fee_s") == 1
    assert count(text="%") == 1
    assert count(since=dt.datetime.now(dt.UTC) - dt.timedelta(minutes=1)) == 4
    assert count(until=dt.datetime.now(dt.UTC) - dt.timedelta(minutes=1)) == 0
    assert count(reviewed=False) == 4
    assert [line.score for line in store.page(Filter(text="100%", tags={"route": "/b"})).lines] == [0.6]


def test_a_filter_takes_nothing_for_something_else():
    """Such as "no" for a yes: the figures of the others would be told."""
    wrong = {
        "since": "yesterday",
        "hallucinated": "no",
        "reviewed": 0,
        "detector": DETECTOR,
        "tags": ["route=/a"],
        "score": 0.5,
        "levels": ("red",),
    }
    with pytest.raises(ConfigurationError) as caught:
        Filter(**wrong)
    assert [name for name in wrong if name not in str(caught.value) and name != "levels"] == []
    assert "levels must be some of 'low', 'medium', 'high', not ('red',)" in str(caught.value)


@pytest.mark.parametrize("levels", [5, None, (None,)])
def test_what_are_no_levels_is_named(levels):
    with pytest.raises(ConfigurationError, match="levels must be some of 'low', 'medium', 'high', not"):
        Filter(levels=levels)


def test_the_first_and_the_last_moment_that_python_knows_are_moments(store):
    """As whoever wants no bound writes them."""
    keep(store, 0.9)
    first, last = dt.datetime.min, dt.datetime.max  # noqa: DTZ901 - as people write them
    assert store.count(Filter(since=first, until=last)) == 1
    assert store.count(Filter(until=first)) == 0


def test_a_limit_of_any_size_is_a_limit(store):
    """``sys.maxsize`` means all, and one more is beyond what a database can count."""
    keep(store, 0.9, 0.1)
    assert len(store.page(limit=sys.maxsize).lines) == 2
    assert store.left("ann", most=10**30) == 2


@pytest.mark.parametrize("score", [(None, 0.5), ("low", "high"), ("0.1", 1), (0.5,), (1, 0), {0.1: 1}])
def test_a_filter_s_score_is_two_numbers(score):
    with pytest.raises(ConfigurationError, match="score must be a lowest and a highest"):
        Filter(score=score)


def test_sampling_keeps_what_it_names_and_marks_what_chance_chose(opened):
    kinds = Sampling(rate=0.0, flagged=True, abstentions=True, rule=lambda seen, _: "x" in seen.question)
    store = opened(sampling=kinds)
    keep(store, 0.9, 0.1, None)
    store.keep(interaction(question="x"), verdict(0.1))
    store.flush()
    assert [kept.outcome.score for kept in store.rows()] == [0.9, None, 0.1]
    assert not any(kept.sampled for kept in store.rows())
    assert store.figures().detection is None
    assert "no answer was kept by chance" in store.figures().quality.recall_basis


@pytest.mark.parametrize("rate", [0.0, 0.25, 1.0])
def test_a_rate_keeps_that_share(rate):
    chances = [i / 1000 for i in range(1000)]
    whys = [Sampling(rate=rate).why(chance, interaction(), verdict(0.1)) for chance in chances]
    assert whys.count(Why.SAMPLE) == 1000 * rate


def test_a_rule_that_fails_keeps_the_outcome(caplog):
    def broken(seen, outcome):
        raise KeyError

    assert Sampling(rate=0, rule=broken).why(0.5, None, verdict()) is Why.RULE
    assert "the sampling rule failed (KeyError)" in caplog.text


def test_what_is_masked_is_nowhere_in_the_store(tmp_path, opened):
    """Not in any file of it: texts, quotations, metadata, notes, why a stage failed. Spans still hold."""
    secret = "ann@example.com"
    store = opened(redact=Redaction("emails", "cards", "keys"))
    seen = Interaction(
        question=f"Who is {secret}?",
        contexts=f"Write to {secret}.",
        answer=f"Ask {secret}!",
        metadata={"who": secret, "deep": [{"er": secret}]},
    )
    outcome = Checker(NovelWords()).check(seen)
    unread = StageReport(stage="first", step=Step.ABSTAINED, detail=f"no JSON: {secret}")
    outcome = replace(
        outcome,
        route=Route(decided="second", stages=(unread,)),
        degraded=Degraded(detector=outcome.detector, reason=f"refused {secret}"),
    )
    neither = Abstention(why=AbstentionReason.TIMEOUT, detail=secret, route=outcome.route)
    store.keep(seen, neither, durable=True)
    key = store.keep(seen, outcome, durable=True)
    store.review(key, "agree", reviewer="r", note=f"told by {secret}")
    kept = store.get(key)
    assert kept.interaction.answer == f"Ask {MASK * len(secret)}!"
    assert kept.outcome.spans == outcome.spans
    assert all(claim.text == claim.span.of(kept.interaction.answer) for claim in kept.outcome.claims)
    assert store.feedback(key)[0].note == f"told by {MASK * len(secret)}"
    store.close()
    assert all(
        secret.encode() not in path.read_bytes() for path in Path(tmp_path).rglob("*") if path.is_file()
    )


def test_a_policy_masks_what_a_model_is_asked():
    asked = []

    class Model:
        max_concurrency = 1

        def perform(self, requests, timeout=None):
            asked.extend(requests)
            raise RuntimeError

    seen = Interaction(contexts="a", answer="Ask ann@example.com.")
    checker = Checker(AsksModel(), judge=Model(), policy=Policy(redact=Redaction("emails")))
    with pytest.raises(RuntimeError):
        checker.check(seen)
    assert "ann@" not in repr(asked)
    assert asked


def test_the_database_is_its_owners_alone(tmp_path, opened):
    store = opened()
    keep(store, 0.9)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("answers.db*")}
    assert len(modes) > 1
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize(
    ("made", "told"),
    [("a table", "is no SQLite database"), ("a database", r"has tables of something else \(users\)")],
)
def test_a_file_of_something_else_is_refused_and_left_as_it_is(made, told, tmp_path):
    path = tmp_path / "mine.db"
    if made == "a table":
        path.write_text("question,answer\nFee?,25 EUR\n", encoding="utf-8")
    else:
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE users (name TEXT)")
    path.chmod(0o664)
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match=told):
        Monitor(url=f"sqlite:///{path}")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (before, 0o664)
    assert [one.name for one in tmp_path.iterdir()] == ["mine.db"]


def test_a_person_is_forgotten(tmp_path, opened, url):
    store = opened(url)
    keep(store, 0.9, 0.2, user_id="ann", answer="Ann's own words.")
    (other,) = keep(store, 0.9, user_id="bob")
    store.review(store.page().lines[-1].id, "agree", reviewer="r", note="Ann's own note")
    assert store.forget("user_id", "ann") == 2
    assert [kept.id for kept in store.rows()] == [other]
    assert store.forget("user_id", "ann") == 0
    store.close()
    for path in tmp_path.glob("answers.db*"):
        assert b"Ann's own" not in path.read_bytes()


@pytest.mark.parametrize("redact", [None, Redaction("emails")], ids=["as they are", "masked"])
@pytest.mark.parametrize(
    "user", [UUID("0db89bfb-6c01-4548-86ec-a8ecb3283509"), np.int64(7)], ids=["uuid", "numpy"]
)
def test_a_person_is_forgotten_whose_id_is_no_text(opened, user, redact):
    """As databases and tables give it: nothing would be deleted, and nobody told."""
    store = opened(redact=redact)
    keep(store, 0.9, user_id=user)
    assert store.count(Filter(tags={"user_id": user})) == 1
    assert store.forget("user_id", str(user)) == 1


def test_a_person_is_forgotten_whose_tag_found_no_room(store):
    """An answer has 32 tags; what else is among its metadata tells whose it is all the same."""
    many = {f"name {n}": n for n in range(40)}
    for user in (7, 8):
        store.keep(interaction(**many, user_id=user), verdict())
    assert store.forget("user_id", 7) == 1
    assert [row.interaction.metadata["user_id"] for row in store.rows()] == [8]


def test_a_person_is_forgotten_whose_tag_has_a_long_name(store):
    """A name is looked up as it is kept: cut."""
    for user in ("ann", "bob"):
        store.keep(interaction(**{"user" * 40: user}), verdict())
    assert store.forget("user" * 40, "ann") == 1
    assert store.count(Filter(tags={"user" * 40: "bob"})) == 1


def test_all_that_is_kept_of_a_person_is_exported(store):
    """What was said before, the metadata, and answers that nobody was given: as much as is forgotten."""
    seen = replace(
        interaction(user_id="ann", profile={"born": 1980}),
        history=(Turn(role=Role.USER, text="I am Ann."),),
        id="request 7",
    )
    for action in (None, "retry"):
        store.keep(seen, verdict(), action=action)
    store.keep(None, abstention(), durable=True)
    stream = io.StringIO()
    assert store.export(stream, Filter(tags={"user_id": "ann"}, drafts=True)) == 2
    told, draft = map(json.loads, stream.getvalue().splitlines())
    assert told["history"] == [{"role": "user", "text": "I am Ann."}]
    assert (told["metadata"], told["interaction_id"]) == (dict(seen.metadata), "request 7")
    assert (told["draft"], draft["draft"]) == (False, True)
    assert store.export(stream) == 2
    unread = json.loads(stream.getvalue().splitlines()[-1])
    assert (unread["answer"], unread["contexts"], unread["history"], unread["metadata"]) == (None, [], [], {})
    assert store.forget("user_id", "ann") == 2


def test_what_a_process_left_on_disk_is_forgotten_too(tmp_path, opened):
    """It ended while the database was locked; what it had kept would come back with the next answer."""
    url = f"sqlite:///{tmp_path}/answers.db"
    opened(url).count()
    with closing(sqlite3.connect(tmp_path / "answers.db", isolation_level=None)) as lock:
        lock.execute("BEGIN IMMEDIATE")
        store = opened(url, timeout=0.1)
        store.keep(interaction(user_id="ann"), verdict())
        store.close(timeout=0.3)
    assert list((tmp_path / "spool").glob("*.jsonl"))
    store = opened(url)
    assert store.forget("user_id", "ann") == 1
    assert not list((tmp_path / "spool").glob("*.jsonl"))
    keep(store, 0.1)
    assert store.count() == 1


def test_nobody_is_forgotten_while_another_process_may_still_write(tmp_path, opened):
    store = opened(timeout=0.2)
    keep(store, 0.9, user_id="ann")
    other = Spool(tmp_path / "spool", limit=10_000)
    other.append([Row(answer={"id": "a"}, body={}, tags=())])
    with pytest.raises(StoreError, match="in another process"):
        store.forget("user_id", "ann")
    other.close()


def test_who_is_masked_can_not_be_told_from_another(url, opened):
    """Nothing says "0 answers deleted" of a person whose answers are there."""
    store = opened(url, redact=Redaction("emails"))
    keep(store, 0.9, user_id="ann@example.com")
    keep(store, 0.9, user_id="bob")
    with pytest.raises(InputError, match=f"1 more have a masked value of 'user_id'.*forget '{MASK * 15}'"):
        opened(url).forget("user_id", "ann@example.com")
    assert store.forget("user_id", "other@example.com") == 0
    assert store.forget("user_id", MASK * 15) == 1
    assert store.count() == 1


def test_what_is_too_old_or_too_much_goes_the_oldest_first(url, opened):
    store = opened(url, retention=Retention(days=1))
    keep(store, 0.9, 0.1)
    assert store.prune() == 0
    ids = keep(store, *[0.3] * 30)
    gone = store.prune(Retention(megabytes=0.01))
    left = [kept.id for kept in store.rows()]
    assert 0 < gone < 32
    assert left == ids[-len(left) :]
    old = opened(url, retention=Retention(days=1e-9))
    assert old.prune() == len(left)
    assert store.count() == 0


def test_what_is_deleted_gives_its_room_back_to_the_disk(tmp_path, opened):
    store = opened()
    keep(store, *[0.1] * 2000, user_id="ann", answer="A bag costs 75 EUR." * 100)
    keep(store, *[0.1] * 20, user_id="bob")
    before = sum(path.stat().st_size for path in tmp_path.glob("answers.db*"))
    assert store.forget("user_id", "ann") == 2000
    assert sum(path.stat().st_size for path in tmp_path.glob("answers.db*")) < before / 10
    assert store.count() == 20


def test_room_that_can_not_be_given_back_now_is_an_error_of_the_store(tmp_path, opened):
    """As where another process is at it, or the disk is full."""
    store = opened(timeout=0.2)
    keep(store, *[0.1] * 50, answer="A bag costs 75 EUR." * 100)
    with store._database.writing() as connection:
        connection.execute(sa.delete(answers))
    with closing(sqlite3.connect(tmp_path / "answers.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="can't be used now: database is locked"):
            shrink(store._database)


def test_a_process_that_does_not_live_for_long_prunes_too(url, opened):
    """As a worker that is replaced every few minutes, or a job that keeps a handful of answers a day."""
    keep(opened(url), 0.9, 0.1)
    store = opened(url, retention=Retention(days=1e-9))
    keep(store, 0.3)
    store.close()
    assert opened(url).count() == 0


def test_deleting_and_writing_take_turns(url, opened, monkeypatch):
    """Where a retention is new there may be millions to delete, and what is told meanwhile has some room."""
    keep(opened(url), *[0.1] * 5)
    monkeypatch.setattr("groundwire.monitor.retention._AT_ONCE", 1)
    monkeypatch.setattr("groundwire.monitor.monitor._PRUNE_FOR", 0.0)
    store = opened(url, retention=Retention(days=1e-9))
    keep(store, 0.9)
    assert store.count() == 5  # one came, and one went
    keep(store, 0.9)
    assert store.count() == 5
    assert store.prune() == 5


def test_a_newer_schema_is_refused(url, opened):
    store = opened(url)
    with store._database.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(ConfigurationError, match="made by a newer groundwire"):
        Monitor(url)


def test_many_that_open_an_empty_database_at_once_all_find_it_ready(url):
    monitors, errors = [], []

    def open_one():
        try:
            monitors.append(Monitor(url))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=open_one) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert [monitor.count() for monitor in monitors] == [0] * 6
    for monitor in monitors:
        monitor.close()


def test_migrations_make_exactly_the_tables_that_the_code_knows(url, opened):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from groundwire.monitor.schema import metadata

    store = opened(url)
    with store._database.reading() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
    assert differences == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"url": "mysql://x/y"}, "kind 'mysql'"),
        ({"url": "nonsense"}, "url is no database's"),
        ({"url": "sqlite://"}, "in memory"),
        ({"tags": ["a"]}, "tags must be a dict"),
        ({"sampling": 0.5}, "sampling must be a Sampling, not float"),
        ({"redact": "emails"}, "redact must be callable"),
        ({"durability": "never"}, "durability must be"),
        ({"capacity": 0, "timeout": -1}, "capacity must be a number above 0.*timeout must be"),
        ({"spool_megabytes": float("inf")}, "spool_megabytes must be a number above 0"),
        ({"alerts": ["pager"]}, "an alert must be callable"),
        ({"alerts": print}, r"alerts must be a list of callables, such as \[log_alert\], not <built-in"),
        ({"alerts": None}, "alerts must be a list of callables"),
    ],
)
def test_mistakes_are_named_early(options, said):
    with pytest.raises(ConfigurationError, match=said):
        Monitor(**options)


def test_who_lacks_the_driver_is_told_the_extra_that_brings_it(monkeypatch):
    """The extra ``monitor`` has none for PostgreSQL."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'groundwire[postgres]'")):
        Monitor("postgresql://user@127.0.0.1/answers")


def test_who_has_sqlalchemy_alone_is_told_the_extra_that_brings_the_rest(monkeypatch, tmp_path):
    """LlamaIndex brings SQLAlchemy, and not what makes the tables."""
    monkeypatch.setitem(sys.modules, "alembic", None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'groundwire[monitor]'")):
        Monitor(f"sqlite:///{tmp_path / 'answers.db'}")


def test_a_form_of_export_that_there_is_not_is_named(store):
    for export in (lambda: store.export(io.StringIO(), form="xls"), lambda: store.exported(form="xls")):
        with pytest.raises(InputError, match="form must be one of 'csv', 'jsonl', not 'xls'"):
            export()


def test_exports_hold_no_formula_and_are_read_again(store):
    key = store.keep(interaction(answer="=HYPERLINK(1)", question="-2+3"), verdict(0.1), durable=True)
    store.review(key, "disagree", reviewer="@ann", note="+")
    table = io.StringIO()
    assert store.export(table, form="csv") == 1
    cells = table.getvalue().splitlines()[1].split(",")
    assert not any(cell.lstrip('" ').startswith(("=", "+", "-", "@")) for cell in cells)
    lines = io.StringIO()
    store.export(lines, form="jsonl")
    row = json.loads(lines.getvalue())
    assert (row["answer"], row["label"], row["hallucination"]["score"]) == ("=HYPERLINK(1)", 1, 0.1)


@pytest.mark.parametrize("days", [float("nan"), float("inf"), 0, True, "7"])
def test_a_retention_is_a_number(days):
    with pytest.raises(ConfigurationError, match="days must be a number above 0"):
        Retention(days=days)


def test_a_text_is_found_in_whatever_case(opened):
    """Also beyond ASCII, of which SQLite by itself knows nothing."""
    store = opened()
    store.keep(interaction(answer="Äpfel kosten ÜBERALL Geld. ПРИВЕТ, Straße."), verdict(), durable=True)
    store.keep(None, abstention(), durable=True)
    for text in ("äpfel", "überall", "привет", "STRASSE", "kosten ü"):
        assert store.count(Filter(text=text)) == 1, text
    assert store.count(Filter(text="birnen")) == 0


def test_what_no_database_can_hold_is_replaced_or_named(store):
    """A note may have any characters; what can't be a name is an error that says so, on either kind."""
    (key,) = keep(store, 0.9)
    said = store.review(key, "agree", reviewer="r", note="a\0b\ud800c")
    assert said.note == store.feedback(key)[0].note == "a␀b\ufffdc"
    for wrong in ({"source": "s" * 41}, {"reviewer": "a\0"}, {"reviewer": "r" * 201}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))} must be a name of 1 to"):
            store.review(key, "agree", **{"reviewer": "r", **wrong})
    with pytest.raises(InputError, match=r"is kept|can't hold or look up"):
        store.get("\0")


def test_no_error_repeats_what_people_wrote(opened):
    """A host logs what is raised, with what led to it."""
    store, secret = opened(), "secret words"[::-1]
    (key,) = keep(store, 0.9)
    with store._database.writing() as connection:
        refused = "CREATE TRIGGER refused BEFORE INSERT ON feedback BEGIN SELECT RAISE(ABORT, 'full'); END"
        connection.exec_driver_sql(refused)
    with pytest.raises(StoreError) as raised:
        store.review(key, "agree", reviewer="r", note=secret)
    assert secret not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize(
    ("pattern", "wrong", "told"),
    [
        ("/causes$", "/typo", 'database "typo" does not exist'),
        ("groundwire", "nobody", 'role "nobody" does not exist'),
        (r":\d+/", ":9/", "Connection refused"),
        (r"127\.0\.0\.1", "no-such-host.invalid", "failed to resolve host 'no-such-host.invalid'"),
    ],
)
def test_why_a_server_can_not_be_used_is_said(causes, pattern, wrong, told):
    """And no password with it."""
    url = re.sub(pattern, wrong, causes).replace("@", ":pass%40word@")
    database = Database(url, durability=Durability.PROCESS, busy=1.0)
    with pytest.raises(StoreError, match=f"can't be used now: .*{told}") as raised:
        database.ready()
    assert "word" not in str(raised.value)
    database.close()


@pytest.fixture(scope="module")
def causes(postgres):
    return postgres.fresh("causes")


def test_why_a_file_can_not_be_used_is_said(opened):
    store = opened(timeout=0.05)
    (key,) = keep(store, 0.9)
    locked = pytest.raises(StoreError, match="can't be used now: database is locked")
    with store._database.writing(), locked:
        store.review(key, "agree", reviewer="r")
    with store._database.writing() as connection:  # whose limit is as good as a disk that is full
        connection.exec_driver_sql("PRAGMA max_page_count=1")
    with pytest.raises(StoreError, match="can't be used now: database or disk is full"):
        store.review(key, "agree", reviewer="r", note="n" * 100_000)


def test_a_file_that_the_system_refuses_is_an_error_of_the_store(tmp_path, opened, caplog):
    """As on a disk that is read-only, or without a right: whoever shows a store's errors shows this one."""
    (tmp_path / "file").touch()
    store = opened(f"sqlite:///{tmp_path}/file/answers.db")
    assert "outcomes are kept on disk until it can be opened" in caplog.text
    with pytest.raises(StoreError, match=r"answers\.db can't be used now: (File exists|Not a directory)"):
        store.count()


def test_the_end_of_a_password_is_never_taken_for_a_host():
    with pytest.raises(ConfigurationError, match="written %40 there") as raised:
        Monitor("postgresql://ann:pass@word@127.0.0.1/kept")
    assert "word@" not in str(raised.value)


def targets(*urls):
    databases = [Database(url, durability=Durability.PROCESS, busy=1.0) for url in urls]
    return len({database.target for database in databases})


def test_a_database_is_told_from_every_other_one(monkeypatch):
    """By whatever chooses its tables; neither a password nor what is said of the connection does."""
    one = "postgresql://ann@h/kept"
    others = ("ann@h:5433/kept", "bob@h/kept", "ann@h/other", "ann@h.kept/", "ann@/kept?host=/run/a")
    schema = one + "?options=-csearch_path%3Dstaging"
    assert targets(one, schema, *(f"postgresql://{other}" for other in others)) == 7
    same = ("ann:secret@h:5432/kept", "ann@/kept?host=h", "ann@h/kept?password=x&sslmode=require")
    assert targets(one, *(f"postgresql://{other}" for other in same)) == 1
    before = Database("postgresql:///kept", durability=Durability.PROCESS, busy=1.0).target
    monkeypatch.setenv("PGHOST", "elsewhere")
    assert Database("postgresql:///kept", durability=Durability.PROCESS, busy=1.0).target != before


def test_too_many_readers_are_told_as_such(opened):
    store = opened()
    assert store.count() == 0
    pool = store._database.engine.pool
    pool._timeout = 0.05
    held = [pool.connect() for _ in range(pool.size() + pool._max_overflow)]
    with pytest.raises(StoreError, match="can't be used now: TimeoutError"):
        store.count()
    for one in held:
        one.close()


def test_what_is_read_together_is_of_one_moment(store):
    """Else figures that are reckoned from two questions may not agree, such as less than none waiting."""
    keep(store, 0.9)
    with store._database.reading() as connection:
        counted = sa.select(sa.func.count()).select_from(answers)
        assert connection.execute(counted).scalar_one() == 1
        keep(store, 0.1)
        assert connection.execute(counted).scalar_one() == 1
    assert store.count() == 2


def test_a_reader_holds_one_connection_at_a_time(opened):
    """Readers that each hold one and want another would wait for each other."""
    store = opened()
    (key,) = keep(store, 0.9)
    store.review(key, "agree", reviewer="r")
    pool = store._database.engine.pool
    pool._timeout = 0.05
    held = [pool.connect() for _ in range(pool.size() + pool._max_overflow - 1)]
    assert len(store.feedback(key)) == 1
    assert store.review(key, "unsure", reviewer="r").hallucinated is None
    for one in held:
        one.close()


def test_no_statement_is_left_prepared_on_a_server(opened, postgres):
    """PgBouncer gives each transaction another of its connections, where such a statement is not known."""
    store = opened(postgres.fresh("pooled"), drift=None)
    keep(store, 0.9, 0.1)  # psycopg prepares a statement of which it is given several rows at once
    with store._database.writing() as connection:  # what only reads is rolled back, and that forgets them
        prepared = sa.text("SELECT statement FROM pg_prepared_statements")
        assert connection.execute(prepared).scalars().all() == []


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="this system has no such limits")
@pytest.mark.parametrize(("options", "most"), [("", 10_000), ("?tcp_user_timeout=60000", 60_000)])
def test_a_server_that_is_silent_is_given_up(postgres, options, most):
    """Else whoever writes waits as long as the system does, and what is told meanwhile is in memory alone."""
    database = Database(postgres.url + options, durability=Durability.PROCESS, busy=1.0)
    with database.reading() as connection:
        descriptor = connection.connection.driver_connection.fileno()
        with socket.socket(fileno=os.dup(descriptor)) as wire:
            assert wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == most
            assert wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 10
    database.close()
