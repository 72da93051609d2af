"""The handlers: they judge what is captured, and whatever happens, the application goes on."""

import asyncio
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import pytest
from llama_index.core.callbacks import CallbackManager
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler

from groundwire import (
    Abstention,
    AbstentionReason,
    Checker,
    ConfigurationError,
    Detector,
    Judge,
    Verdict,
)
from groundwire.judge.isolation import JUDGING
from groundwire.llama_index import (
    GroundwireCallbackHandler,
    GroundwireHandler,
    hide_judge,
    show_judge,
)
from tests.llama_index.apps import (
    CHAT_APPS,
    Library,
    Oracle,
    answer,
    engine,
    memory,
    question,
    router,
    searching,
    sub_questions,
    told,
    topic,
)
from tests.scripted import AsksModel, NovelWords


@dataclass(frozen=True, kw_only=True)
class Calls(Detector):
    """Judges by calling a function."""

    name: ClassVar[str] = "calls"
    version: ClassVar[str] = "1"
    function: Any

    def detect(self, interaction):
        yield from ()
        return self.function(interaction)


CHECKER = Checker(NovelWords())


def calling(function):
    return Checker(Calls(function=function))


def no_claims(interaction):
    return Abstention(why=AbstentionReason.NO_CLAIMS)


MODES = pytest.mark.parametrize("mode", ["background", "inline"])


@pytest.fixture
def installed():
    handlers = []

    def install(*arguments, **options):
        handlers.append(GroundwireHandler(*arguments, **options).install())
        return handlers[-1]

    yield install
    for handler in handlers:
        handler.uninstall()


@MODES
def test_each_answer_gets_its_outcome(mode, installed):
    """A record holds the run, what was captured of it, and the verdict on it."""
    handler = installed(CHECKER, mode=mode)
    response = engine().query(question(1))
    record = handler.result(response, timeout=30)
    assert handler.outcomes == [record]
    assert record.interaction.answer == answer(1)
    assert isinstance(record.outcome, Verdict)
    assert record.outcome.id == str(record.run_id)
    assert [claim.text for claim in record.outcome.claims] == ["The"]


async def test_responses_of_every_kind_are_known(installed):
    """Of query engines, chats, agents, streams; equal ones are told apart, and foreign ones unknown."""
    handler = installed(CHECKER)
    first, second = await engine().aquery(question(1)), await engine().aquery(question(1))
    assert first == second
    chat = await CHAT_APPS["context"].build().achat(question(2))
    agent = await searching().run(user_msg=question(3))
    stream = await engine(streaming=True).aquery(question(4))
    assert handler.result(stream, timeout=0.01) is None
    async for _ in stream.async_response_gen():
        pass
    assert handler.flush(30)
    records = [handler.result(one) for one in (first, second, chat, agent, stream)]
    assert [topic(record.interaction.question) for record in records] == [1, 1, 2, 3, 4]
    assert len({record.run_id for record in records}) == 5
    assert handler.result(records[0].run_id) is records[0]
    assert handler.result("a text") is None
    assert handler.result(uuid4()) is None


@MODES
def test_the_callback_gets_every_record(mode, installed):
    """on_outcome is told of each record, and what it raises stops none."""
    told_of = []

    def tell(record):
        told_of.append(record)
        raise ValueError

    handler = installed(CHECKER, tell, mode=mode)
    for n in range(5):
        engine().query(question(n))
    assert handler.flush(30)
    assert sorted(r.interaction.answer for r in told_of) == [answer(n) for n in range(5)]
    assert handler.stats.judged == 5


def test_the_response_is_left_as_it_is(installed):
    """A handler observes: its verdicts are in its records."""
    bare = engine().query(question(1))
    installed(CHECKER, mode="inline")
    heard = engine().query(question(1))
    assert heard == bare
    assert vars(heard) == vars(bare)


def test_an_answer_without_context_is_recorded_and_told_loudly_once(installed, caplog):
    """NO_CONTEXT is an abstention each time, and one warning that says what to do."""
    handler = installed(CHECKER)

    class Empty(Library):
        def _retrieve(self, query_bundle):
            return []

    for n in range(2):
        engine(retriever=Empty()).query(question(n))
    assert handler.flush(30)
    assert [r.outcome.why for r in handler.outcomes] == [AbstentionReason.NO_CONTEXT] * 2
    assert [r.name for r in caplog.records if "judge the answer" in r.message] == ["groundwire.host.observer"]


def test_installing_twice_is_installing_once(installed, dispatcher):
    """And handlers that look alike are not taken for each other when one of them leaves."""
    theirs, also_theirs = SimpleSpanHandler(), SimpleSpanHandler()
    dispatcher.add_span_handler(theirs)
    handler = installed(CHECKER, mode="inline").install()
    other = installed(CHECKER, mode="inline")
    dispatcher.add_span_handler(also_theirs)
    engine().query(question(1))
    assert len(handler.outcomes) == len(other.outcomes) == 1
    handler.uninstall()
    handler.uninstall()
    engine().query(question(2))
    assert len(handler.outcomes) == 1
    assert len(other.outcomes) == 2
    kept = [h for h in dispatcher.span_handlers if h is theirs or h is also_theirs]
    assert len(kept) == 2


def test_a_second_handler_that_judges_alike_is_told_of(installed, caplog):
    """A cell that is run again installs its handler again, and each answer is paid for twice."""
    first = installed(CHECKER)
    installed(Checker("lexical")).install()
    assert caplog.messages == []
    second = installed(Checker(NovelWords()))
    (told,) = caplog.messages
    assert told.startswith("2 handlers that judge by the same detector are installed")
    first.uninstall()
    second.uninstall()
    installed(CHECKER)
    installed(calling(no_claims), mode="inline")
    assert len(caplog.messages) == 1


def test_handlers_of_judges_with_other_models_are_told_apart(installed, caplog):
    """Two models are compared on purpose."""

    def first(system, user):
        return ""

    def second(system, user):
        return ""

    for model in (first, second):
        installed(Checker("judge", judge=Judge(model)))
    assert caplog.messages == []


def test_leaving_the_handler_waits_and_uninstalls():
    """As a context manager it is flushed at the end, and hears nothing after it."""
    with GroundwireHandler(CHECKER).install() as handler:
        for n in range(5):
            engine().query(question(n))
    engine().query(question(6))
    assert len(handler.outcomes) == 5


async def test_a_chat_stream_that_is_read_after_the_handler_has_left_is_judged():
    """It was begun before, and its reader may take time; nothing stays open."""
    chat = ContextChatEngine.from_defaults(Library(), llm=Oracle(), memory=memory())
    with GroundwireHandler(CHECKER).install() as handler:
        response = await chat.astream_chat(question(3))
    assert "".join([token async for token in response.async_response_gen()]) == answer(3)
    assert handler.flush(30)
    assert [record.interaction.answer for record in handler.outcomes] == [answer(3)]
    assert handler.live_spans == 0


async def test_what_goes_on_while_a_handler_leaves_is_heard_to_its_end(dispatcher):
    """And nothing that begins later, until it is installed again."""
    asked, go = asyncio.Event(), asyncio.Event()

    class Waits(Library):
        async def _aretrieve(self, query_bundle):
            asked.set()
            await go.wait()
            return self._retrieve(query_bundle)

    handler = GroundwireHandler(CHECKER, mode="inline").install()
    running = asyncio.create_task(engine(retriever=Waits()).aquery(question(1)))
    await asked.wait()
    handler.uninstall()
    await engine().aquery(question(2))
    go.set()
    await running
    assert [topic(record.interaction.question) for record in handler.outcomes] == [1]
    assert handler.live_spans == 0
    await engine().aquery(question(3))
    assert len(handler.outcomes) == 1
    with handler.install():
        await engine().aquery(question(4))
    assert [topic(record.interaction.question) for record in handler.outcomes] == [1, 4]


@pytest.mark.parametrize("given", ["my_package", 3])
def test_what_is_no_dispatcher_can_t_be_installed_on(given):
    """Whoever passes a name is told how to get its dispatcher."""
    with pytest.raises(ConfigurationError, match=r"takes a dispatcher, .*get_dispatcher\(['\"]my_package"):
        GroundwireHandler(CHECKER).install(given)


def test_mistakes_are_named_at_once():
    """A handler that can't work is refused when it is built, every mistake in one message."""
    for kind in (GroundwireHandler, GroundwireCallbackHandler):
        with pytest.raises(ConfigurationError) as caught:
            kind("lexical", 3, mode="later", workers=0, keep=-1, max_spans=0)
        named = [problem.split()[0] for problem in caught.value.problems]
        assert named == ["checker", "on_outcome", "mode", "workers", "keep", "max_spans"]


async def test_the_event_loop_is_not_held_while_a_judge_thinks(installed):
    """In the background mode an async query returns before its judge does."""
    opened = threading.Event()

    def judge(interaction):
        opened.wait(30)
        return no_claims(interaction)

    handler = installed(calling(judge))
    assert str(await engine().aquery(question(1))) == answer(1)
    assert handler.stats.pending == 1
    opened.set()
    assert await asyncio.to_thread(handler.flush, 30)


def test_a_script_that_ends_at_once_loses_no_outcome():
    """Without flush, what was captured is judged before the interpreter ends."""
    code = """
import sys
from groundwire import Checker
from groundwire.llama_index import GroundwireHandler
from tests.llama_index.apps import engine, question
from tests.scripted import NovelWords
tell = lambda record: sys.stdout.write(record.interaction.question + "\\n")
GroundwireHandler(Checker(NovelWords()), tell).install()
for n in range(5):
    engine().query(question(n))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)) + f":{Path.cwd()}"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=90, check=True, env=environment
    )
    assert sorted(done.stdout.splitlines()) == [question(n) for n in range(5)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_forked_child_judges_its_own_answers():
    """Servers that fork their workers after installing the handler are judged in each worker."""
    code = """
import os
from groundwire import Checker
from groundwire.llama_index import GroundwireHandler
from tests.llama_index.apps import engine, question
from tests.scripted import NovelWords
handler = GroundwireHandler(Checker(NovelWords())).install()
engine().query(question(1))
handler.flush()
child = os.fork()
if child == 0:
    engine().query(question(2))
    assert handler.flush(20)
    print(handler.outcomes[-1].interaction.question, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)) + f":{Path.cwd()}"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=90, check=True, env=environment
    )
    assert done.stdout.splitlines() == [question(2)]


# -- the judge is apart from what it judges


class Scores(Oracle):
    """A judge that finds everything right, and notes whether it was marked as judging."""

    seen: list = []  # noqa: RUF012 - a pydantic field, copied for each instance

    def chat(self, messages, **kwargs):
        self.seen.append(JUDGING.get())
        return super().chat(messages, **kwargs)

    def _message(self, messages, tools=()):
        from llama_index.core.base.llms.types import ChatMessage

        return ChatMessage(role="assistant", content="0.0")


@MODES
def test_a_llama_index_model_judges_without_being_judged(mode, installed, dispatcher, settings):
    """It starts no judging of its own, stands in no span of the user's, and leaves Settings as they were."""
    spans = SimpleSpanHandler()
    dispatcher.add_span_handler(spans)
    model = Scores()
    before = dict(vars(settings))
    handler = installed(Checker(AsksModel(), judge=Judge(model)), mode=mode)
    response = engine().query(question(1))
    assert handler.result(response, 30).outcome.score == 0.0
    assert model.seen == [True]
    assert len(handler.outcomes) == 1
    judged = [span for span in spans.completed_spans if "Scores" in span.id_]
    assert judged
    assert all(span.parent_id is None or span.parent_id.startswith("Scores") for span in judged)
    assert vars(settings) == before


def test_a_judge_can_be_hidden_from_every_other_handler(installed, dispatcher):
    """hide_judge lets no handler hear of it, also none that is added later, until show_judge."""
    hide_judge()
    hide_judge()
    spans = SimpleSpanHandler()
    dispatcher.add_span_handler(spans)
    handler = installed(Checker(AsksModel(), judge=Judge(Scores())), mode="inline")
    engine().query(question(1))
    assert handler.outcomes[0].outcome.score == 0.0
    assert not any("Scores" in span.id_ for span in spans.completed_spans)
    assert any("RetrieverQueryEngine" in span.id_ for span in spans.completed_spans)
    show_judge()
    engine().query(question(2))
    assert any("Scores" in span.id_ for span in spans.completed_spans)


# -- the older callbacks


def managed(**options):
    handler = GroundwireCallbackHandler(CHECKER, mode="inline", **options)
    return handler, CallbackManager([handler])


def only(handler):
    (record,) = handler.outcomes
    return record


@pytest.mark.parametrize("mode", ["compact", "refine", "tree_summarize", "simple_summarize"])
@pytest.mark.parametrize("way", ["query", "aquery", "stream"])
def test_a_callback_manager_can_have_one_too(mode, way):
    """The same records from callbacks, streams included, for engines that are given the manager."""
    handler, manager = managed()
    asked = engine(mode, streaming=way == "stream", callback_manager=manager)
    response = asyncio.run(asked.aquery(question(7))) if way == "aquery" else asked.query(question(7))
    assert str(response) == answer(7)
    record = only(handler)
    assert record.interaction.question == question(7)
    assert [passage.text for passage in record.interaction.contexts] == told(7)
    assert record.interaction.answer == answer(7)
    assert handler.result(response) is record
    assert handler.live_spans == 0


def test_nested_queries_are_one_answer_to_callbacks(settings):
    """Of a router or of sub-questions, the outermost query."""
    handler, settings.callback_manager = managed()
    router(0, 1).query(question(7))
    sub_questions().query(question(8))
    assert [topic(record.interaction.question) for record in handler.outcomes] == [7, 8]
    assert handler.outcomes[0].interaction.question == question(7)


@pytest.mark.parametrize("way", ["chat", "stream_chat"])
def test_a_chat_engine_is_judged_by_what_it_synthesizes(way):
    """Callbacks tell of no chat, but of the synthesis in it, with the user's message."""
    handler, manager = managed()
    chat = ContextChatEngine(
        retriever=Library(),
        llm=Oracle(),
        memory=memory(),
        prefix_messages=[],
        callback_manager=manager,
    )
    response = getattr(chat, way)(question(7))
    if way == "stream_chat":
        "".join(response.response_gen)
    record = only(handler)
    assert record.interaction.question == question(7)
    assert record.interaction.answer == answer(7)
    assert [passage.text for passage in record.interaction.contexts] == told(7)


def test_an_engine_that_fails_leaves_nothing_with_callbacks(settings):
    """Nothing is recorded, and nothing stays open."""

    def fail(n):
        raise ConnectionError("gone")

    handler, settings.callback_manager = managed()
    with pytest.raises(ConnectionError):
        engine(llm=Oracle(reply=fail)).query(question(7))
    assert (handler.outcomes, handler.live_spans) == ([], 0)
