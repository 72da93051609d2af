"""A monitor given to a LlamaIndex handler or checked engine keeps every outcome, once, with what was done."""

import pytest

from groundwire import Checker, ConfigurationError
from groundwire.llama_index import CheckedChatEngine, CheckedQueryEngine, GroundwireHandler
from groundwire.monitor import Filter
from tests.llama_index.apps import CHAT_APPS, Oracle, engine, question
from tests.scripted import NovelWords

WRONG = 3  # an odd number, whose answer is invented


def told(n):
    return f"topic{n} weighs nothing." if n % 2 else f"topic{n} weighs {n} kilos."


def kept(store):
    assert store.flush(30)
    return list(store.rows())


@pytest.fixture
def store(opened):
    return opened()


def test_a_handler_keeps_each_answer_once(store):
    with GroundwireHandler(Checker(NovelWords()), monitor=store).install() as handler:
        for n in (2, WRONG):
            engine(llm=Oracle(reply=told)).query(question(n))
    rows = kept(store)
    assert sorted(row.outcome.hallucinated for row in rows) == [False, True]
    assert {row.run_id for row in rows} == {str(record.run_id) for record in handler.outcomes}


@pytest.mark.parametrize("streaming", [False, True])
def test_a_checked_engine_keeps_what_was_done(store, streaming):
    inner = engine(llm=Oracle(reply=told), streaming=streaming)
    checked = CheckedQueryEngine(inner, checker=Checker(NovelWords(), monitor=store), on_hallucination="warn")
    str(checked.query(question(WRONG)))
    (row,) = kept(store)
    assert (row.outcome.hallucinated, row.action, row.attempt) == (True, "warn", 1)


def test_drafts_that_were_asked_for_again_are_kept_as_drafts(store):
    inner = engine(llm=Oracle(reply=told))
    CheckedQueryEngine(inner, checker=Checker(NovelWords()), monitor=store, on_hallucination="retry").query(
        question(WRONG)
    )
    assert len(kept(store)) == 1
    both = list(store.rows(Filter(drafts=True)))
    assert [(row.attempt, row.draft) for row in both] == [(1, True), (2, False)]
    assert both[0].action == "retry"
    assert store.figures().answers == 1


def test_a_checked_chat_keeps_its_answers(store):
    chat = CheckedChatEngine(CHAT_APPS["context"].build(), checker=Checker(NovelWords()), monitor=store)
    chat.chat(question(2))
    assert len(kept(store)) == 1


def test_what_can_not_keep_is_refused_with_the_other_mistakes():
    with pytest.raises(ConfigurationError) as refused:
        CheckedQueryEngine(engine(), monitor="sqlite:///a.db", attach="here")
    assert len(refused.value.problems) == 2
    with pytest.raises(ConfigurationError, match="monitor must be a Monitor"):
        GroundwireHandler(monitor="sqlite:///a.db")
