"""Labels, examples and runs to LangSmith and back: the real SDK against a server on this machine."""

import uuid
from datetime import UTC, datetime

import pytest

pytest.importorskip("langsmith")

from langsmith import Client

from groundwire import ConfigurationError
from groundwire.bench.langsmith import from_dataset
from groundwire.learning import ExchangeError, plan_push, pull
from groundwire.monitor import Filter, Redaction
from tests.monitor.told import abstention, interaction, verdict


@pytest.fixture
def client(langsmith_tracing):
    return Client()


@pytest.fixture
def kept(monitor, client):
    """Four answers of runs that LangSmith has, one of a run that it has not, one of another host's run."""
    runs = [uuid.uuid4() for _ in range(5)]
    for run in runs[:4]:
        now = datetime.now(UTC)
        client.create_run(
            "chain", {"q": "?"}, "chain", id=run, trace_id=run, start_time=now, end_time=now,
            dotted_order=f"{now:%Y%m%dT%H%M%S%fZ}{run}",
        )  # fmt: skip
    client.flush()
    scores = (0.9, 0.1, 0.55, None, 0.6)
    told = [
        monitor.keep(interaction(n), verdict(s) if s is not None else abstention(), run_id=run)
        for n, (s, run) in enumerate(zip(scores, runs, strict=True))
    ]
    monitor.keep(interaction(9), verdict(0.9), run_id="Engine.query-12")
    monitor.flush()
    return list(zip(told, runs, strict=True))


# -- pulling ------------------------------------------------------------------------------------------------


def test_what_people_said_becomes_a_review_of_the_run_s_answer(monitor, client, kept, langsmith_tracing):
    """Scores, words and comments, of the page and of an annotation queue alike; what models said is not."""
    (first, run), (second, run2), (third, run3), (fourth, run4), _ = kept
    say = langsmith_tracing.say
    say(run, "hallucination_human", score=1, comment="it is 25")
    say(run, "hallucination", score=0.2, source="model")
    say(run2, "hallucination", value="hallucinated", name="bob")
    say(run3, "hallucination_human", score=0, source="auto_eval")
    say(run3, "helpfulness", score=1)
    say(run4, "hallucination_human", score=0.0, correction={"answer": "25 EUR"})
    done = pull(monitor)
    assert (done.runs, done.found, done.new, done.unchanged) == (5, 3, 3, 0)
    assert done.unread == {"answers without a run in LangSmith": 1}
    (said,) = monitor.feedback(first)
    assert (said.reviewer, said.opinion, said.hallucinated) == ("langsmith:ann", "agree", True)
    assert (said.note, said.source) == ("it is 25", "langsmith")
    assert [one.opinion for one in monitor.feedback(second)] == ["disagree"]
    assert monitor.feedback(third) == ()
    (said,) = monitor.feedback(fourth)
    assert (said.hallucinated, said.note) == (False, '{"answer": "25 EUR"}')


def test_a_thumb_under_correctness_says_that_the_answer_is_right(monitor, kept, langsmith_tracing):
    """Of a key that asks whether the answer is grounded, 1 is no hallucination."""
    (first, run), (second, run2), *_ = kept
    langsmith_tracing.say(run, "correctness", score=1)
    langsmith_tracing.say(run2, "correctness", value="no")
    assert pull(monitor, keys=["correctness"]).new == 2
    said = [monitor.feedback(key)[0].hallucinated for key in (first, second)]
    assert said == [False, True]


def test_pulling_again_changes_nothing_and_a_second_thought_replaces(monitor, kept, langsmith_tracing):
    key, run = kept[0]
    langsmith_tracing.say(run, "hallucination_human", score=1)
    assert pull(monitor, dry_run=True).new == 1
    assert monitor.feedback(key) == ()
    assert [pull(monitor).new for _ in range(2)] == [1, 0]
    langsmith_tracing.say(run, "hallucination_human", score=0, modified_at="2026-02-01T00:00:00+00:00")
    assert pull(monitor).new == 1
    assert [one.hallucinated for one in monitor.feedback(key)] == [False]
    monitor.review(key, "agree", reviewer="ann")
    assert pull(monitor).unchanged == 1
    assert len(monitor.feedback(key)) == 2  # nobody of ours is replaced by somebody of theirs


def test_a_comment_that_was_changed_is_read_again(monitor, kept, langsmith_tracing):
    """Also where it is as long as before; a masked one is the same as far as can be told."""
    key, run = kept[0]
    langsmith_tracing.say(run, "hallucination_human", score=1, comment="page 3")
    assert pull(monitor).new == 1
    langsmith_tracing.say(
        run, "hallucination_human", score=1, comment="page 4", modified_at="2026-02-01T00:00:00+00:00"
    )
    assert pull(monitor).new == 1
    assert [one.note for one in monitor.feedback(key)] == ["page 4"]
    monitor.review(key, "agree", reviewer="langsmith:ann", note="page █", source="langsmith")
    assert pull(monitor).unchanged == 1


def test_what_says_neither_is_counted_and_not_guessed(monitor, kept, langsmith_tracing):
    for told in ({"score": 7}, {"value": "perhaps"}, {"comment": "well"}):
        langsmith_tracing.say(kept[0][1], "hallucination_human", name=str(told), **told)
    done = pull(monitor)
    assert done.unread["feedback that says neither hallucinated nor grounded"] == 3
    assert done.new == 0


def test_a_refusal_of_langsmith_is_an_error_that_says_so(monitor, kept, langsmith_tracing):
    langsmith_tracing.fail("/feedback", 401)
    with pytest.raises(ExchangeError, match="feedback could not be exchanged"):
        pull(monitor)


# -- pushing ------------------------------------------------------------------------------------------------


def reviewed(monitor, kept):
    monitor.review(kept[0][0], "agree", reviewer="ann", note="ask ann@example.com")
    monitor.review(kept[1][0], "disagree", reviewer="ann")
    monitor.review(kept[4][0], "agree", reviewer="ann")


def test_labels_become_feedback_once_and_cheaply(monitor, kept, langsmith_tracing):
    """A deterministic id, its project, no longer retention, no note; what has changed is changed there."""
    reviewed(monitor, kept)
    plan = plan_push(monitor, labels=True, project="airline")
    assert " ".join(plan.lines()) == (
        "3 labels as feedback 'hallucination_human' on runs of the project 'airline', without notes. "
        "The traces' retention is not extended"
    )
    assert langsmith_tracing.feedback == []  # a plan sends nothing
    sent = plan.send()
    assert (sent.labels, sent.unchanged, sent.missing) == (2, 0, 1)
    (first,) = langsmith_tracing.feedback_on(kept[0][1])
    assert (first["key"], first["score"], first["value"]) == ("hallucination_human", 1, "hallucinated")
    assert first["extend_trace_retention"] is False
    assert first["session_id"] == str(langsmith_tracing.project_id("airline"))
    assert first["trace_id"] == str(kept[0][1])
    assert first.get("comment") is None
    again = plan_push(monitor, labels=True, project="airline").send()
    assert (again.labels, again.unchanged, len(langsmith_tracing.feedback)) == (0, 2, 2)
    monitor.review(kept[0][0], "disagree", reviewer="ann")
    assert plan_push(monitor, labels=True, project="airline").send().labels == 1
    (first,) = langsmith_tracing.feedback_on(kept[0][1])
    assert (first["score"], first["value"]) == (0, "grounded")


def test_what_was_pushed_is_not_pulled_and_what_was_pulled_is_not_pushed(monitor, kept, langsmith_tracing):
    reviewed(monitor, kept)
    langsmith_tracing.say(kept[2][1], "hallucination_human", score=0)
    assert pull(monitor).new == 1
    plan_push(monitor, labels=True, project="airline").send()
    assert langsmith_tracing.feedback_on(kept[2][1])[0]["feedback_source"]["type"] == "app"
    assert pull(monitor).new == 0
    assert [len(monitor.feedback(key)) for key, _ in kept] == [1, 1, 1, 0, 1]


def test_decided_answers_become_examples_that_a_benchmark_reads(monitor, client, kept, langsmith_tracing):
    reviewed(monitor, kept)
    redact = Redaction("emails")
    assert plan_push(monitor, dataset="reviewed", redact=redact).send(client).examples == 3
    assert plan_push(monitor, dataset="reviewed", redact=redact).send(client).unchanged == 3
    monitor.review(kept[1][0], "agree", reviewer="ann")
    sent = plan_push(monitor, dataset="reviewed").send(client)
    assert (sent.examples, sent.unchanged) == (1, 2)
    assert len(langsmith_tracing.datasets["reviewed"]) == 3
    read = from_dataset("reviewed", client=client)
    assert sorted(one.label for one in read) == [False, True, True]
    assert {one.interaction.contexts[0].text for one in read} == {"A bag costs 25 EUR."}


def test_texts_and_notes_go_masked(monitor, kept, langsmith_tracing):
    key = monitor.keep(interaction(7, answer="Write to bob@example.com."), verdict(), durable=True)
    monitor.review(key, "agree", reviewer="ann")
    reviewed(monitor, kept)
    plan_push(
        monitor, dataset="d", labels=True, notes=True, project="airline", redact=Redaction("emails")
    ).send()
    sent = f"{langsmith_tracing.datasets} {langsmith_tracing.feedback}"
    assert "@example.com" not in sent
    assert "ask ███" in sent


def test_the_most_uncertain_runs_go_to_a_queue_once(monitor, kept, langsmith_tracing):
    """Nearest to the threshold first, no reviewed one, and none a second time; runs elsewhere are missing."""
    plan = plan_push(monitor, queue="to review", order="uncertain", limit=2, project="airline")
    assert [one.id for one in plan.queued] == [kept[2][0], kept[4][0]]
    assert "longer, dearer period" in next(plan.lines())
    sent = plan.send()
    assert (sent.runs, sent.missing) == (1, 1)
    assert langsmith_tracing.queues == {"to review": [str(kept[2][1])]}
    assert monitor.count(Filter(tags={"langsmith_queue": "to review"})) == 1
    monitor.review(kept[0][0], "agree", reviewer="ann")
    plan_push(monitor, queue="to review", order="newest", project="airline").send()
    assert langsmith_tracing.queues["to review"] == [str(kept[i][1]) for i in (2, 3, 1)]


def test_nothing_is_pushed_by_mistake(monitor, kept, langsmith_tracing):
    with pytest.raises(ConfigurationError, match="name a dataset, a queue, or ask for labels"):
        plan_push(monitor)
    reviewed(monitor, kept)
    with pytest.raises(ExchangeError, match="the project 'elsewhere'"):
        plan_push(monitor, labels=True, project="elsewhere").send()
