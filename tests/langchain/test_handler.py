"""The callback handler: it judges what it captures, and whatever happens, the application goes on."""

import copy
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import pytest
from langchain_core.runnables import RunnableLambda, RunnableParallel

from groundwire import (
    Abstention,
    AbstentionReason,
    Checker,
    ConfigurationError,
    Detector,
    Policy,
    Verdict,
)
from groundwire.core.errors import InputError
from groundwire.judge.isolation import JUDGING
from groundwire.langchain import GroundwireCallbackHandler, with_hallucination_check
from groundwire.policy import OnAbstention
from groundwire.tracing.langsmith import LangSmithSink, RunAddress
from tests.langchain.apps import PROMPT, Library, Oracle, RunnablePassthrough, answer, joined, lcel, question
from tests.scripted import ByLength, NovelWords


@dataclass(frozen=True, kw_only=True)
class Calls(Detector):
    """Judges by calling a function."""

    name: ClassVar[str] = "calls"
    version: ClassVar[str] = "1"
    function: Any

    def detect(self, interaction):
        yield from ()
        return self.function(interaction)


@dataclass(frozen=True, kw_only=True)
class AsksForever(Calls):
    """The same, as a detector that asks a model."""

    needs_model: ClassVar[bool] = True


CHECKER = Checker(NovelWords())


def calling(function, **policy):
    return Checker(Calls(function=function), policy=Policy(**policy))


def listening(*handlers, **config):
    return {"callbacks": list(handlers), **config}


def no_claims(interaction):
    return Abstention(why=AbstentionReason.NO_CLAIMS)


MODES = pytest.mark.parametrize("mode", ["background", "inline"])


@MODES
def test_each_answer_gets_its_outcome(mode):
    """A record holds the run, what was captured of it, and the verdict on it."""
    handler = GroundwireCallbackHandler(CHECKER, mode=mode)
    run_id = uuid4()
    lcel().invoke(question(1), listening(handler, run_id=run_id))
    assert handler.flush(30)
    (record,) = handler.outcomes
    assert record.run_id == run_id
    assert record.interaction.answer == answer(1)
    assert isinstance(record.outcome, Verdict)
    assert record.outcome.id == str(run_id)
    assert [claim.text for claim in record.outcome.claims] == ["The"]


@MODES
def test_the_callback_gets_every_record(mode):
    """on_outcome is told of each record, and what it raises stops none."""
    told = []

    def tell(record):
        told.append(record)
        raise ValueError

    handler = GroundwireCallbackHandler(CHECKER, tell, mode=mode)
    lcel().batch([question(n) for n in range(5)], listening(handler))
    assert handler.flush(30)
    assert sorted(r.interaction.answer for r in told) == sorted(answer(n) for n in range(5))
    assert handler.stats.judged == 5


def test_inline_outcomes_are_there_when_the_call_returns():
    """The mode inline needs no flush."""
    handler = GroundwireCallbackHandler(CHECKER, mode="inline")
    lcel().invoke(question(1), listening(handler))
    assert len(handler.outcomes) == 1


@MODES
def test_judging_sees_nothing_of_the_application(mode):
    """The judge runs in an empty context, marked as judging, without the application's callbacks."""
    seen = []

    def judge(interaction):
        seen.append(JUDGING.get())
        Oracle().invoke(question(9))
        return no_claims(interaction)

    handler = GroundwireCallbackHandler(calling(judge), mode=mode)
    handler.install()
    try:
        lcel().invoke(question(1), listening(handler))
        assert handler.flush(30)
    finally:
        handler.uninstall()
    assert seen == [True]
    assert [record.interaction.question for record in handler.outcomes] == [question(1)]


def _warnings(caplog):
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


@MODES
def test_a_judge_that_fails_leaves_an_abstention(mode, caplog):
    """A broken judge is MODEL_FAILED on the record; the application, and other answers, are unharmed."""

    def judge(interaction):
        raise RuntimeError("broken")

    handler = GroundwireCallbackHandler(calling(judge), mode=mode)
    assert lcel().invoke(question(1), listening(handler)) == answer(1)
    assert lcel().invoke(question(2), listening(handler)) == answer(2)
    assert handler.flush(30)
    assert [r.outcome.why for r in handler.outcomes] == [AbstentionReason.MODEL_FAILED] * 2
    assert "RuntimeError: broken" in handler.outcomes[0].outcome.detail
    assert len(_warnings(caplog)) == 1


def test_a_judge_that_hangs_leaves_an_abstention():
    """A judge whose model never comes back is a TIMEOUT on the record."""
    forever = threading.Event()
    detector = AsksForever(function=lambda interaction: forever.wait())
    checker = Checker(detector, judge=ByLength(), policy=Policy(timeout=0.01))
    handler = GroundwireCallbackHandler(checker)
    lcel().invoke(question(1), listening(handler))
    assert handler.flush(30)
    forever.set()
    (record,) = handler.outcomes
    assert record.outcome.why is AbstentionReason.TIMEOUT


def test_a_policy_that_raises_is_recorded():
    """Nobody is there to catch it in a callback: the abstention is kept instead."""
    handler = GroundwireCallbackHandler(calling(no_claims, on_abstention=OnAbstention.RAISE), mode="inline")
    lcel().invoke(question(1), listening(handler))
    assert handler.outcomes[0].outcome.why is AbstentionReason.NO_CLAIMS


def test_an_answer_without_context_is_recorded_and_told_loudly_once(caplog):
    """NO_CONTEXT is an abstention each time, and one warning that says what to do."""
    handler = GroundwireCallbackHandler(CHECKER)
    Oracle().batch([question(1), question(2)], listening(handler))
    assert handler.flush(30)
    assert [r.outcome.why for r in handler.outcomes] == [AbstentionReason.NO_CONTEXT] * 2
    (told,) = _warnings(caplog)
    assert "groundwire:context" in told


SDK = RunnableLambda(lambda given: answer(1))
"""A provider's own client: no event shows that a model answered."""


@pytest.mark.parametrize(
    "chain",
    [
        {"context": Library() | joined, "question": RunnablePassthrough()} | PROMPT | SDK,
        {"documents": Library()} | RunnablePassthrough.assign(answer=SDK),
        {"documents": Library()} | RunnablePassthrough.assign(reply=SDK),
    ],
    ids=["a text after a prompt", "a state with an answer", "under a key of its own"],
)
def test_an_answer_by_no_model_that_was_heard_is_told_loudly_once(chain, caplog):
    """Silence would be taken for a clean answer: the log says what to tag."""
    handler = GroundwireCallbackHandler(CHECKER, answer_key="reply")
    chain.batch([question(1), question(2)], listening(handler))
    assert handler.flush(30)
    assert handler.outcomes == []
    (told,) = _warnings(caplog)
    assert "groundwire:answer" in told


class Empty(Library):
    """Finds nothing."""

    def _get_relevant_documents(self, query, *, run_manager):
        return []


@pytest.mark.parametrize(
    "chain",
    [
        Library() | joined,
        {"context": Library() | joined, "question": RunnablePassthrough()} | PROMPT,
        {"context": Library() | joined, "question": RunnablePassthrough()}
        | PROMPT
        | (lambda filled: filled.to_string()),
        RunnableParallel(documents=Library(), question=RunnablePassthrough()),
        {"context": Library() | joined, "question": RunnablePassthrough()}
        | PROMPT
        | SDK.with_config(tags=["groundwire:answer"]),
        lcel(),
        {"documents": Empty()} | RunnablePassthrough.assign(answer=lambda _: "Nothing was found."),
    ],
    ids=[
        "a text of documents",
        "a prompt",
        "its text",
        "a state without an answer",
        "tagged",
        "a model",
        "nothing found",
    ],
)
def test_a_search_is_not_told_as_an_answer(chain, caplog):
    """What only looks documents up is no answer; one that was captured, or made of none, needs no word."""
    handler = GroundwireCallbackHandler(CHECKER)
    chain.invoke(question(1), listening(handler))
    assert handler.flush(30)
    assert _warnings(caplog) == []


def test_results_are_found_by_the_run_or_its_topmost_run():
    """result waits for a run that is being judged, and knows it by either id."""
    opened = threading.Event()

    def judge(interaction):
        opened.wait(30)
        return no_claims(interaction)

    handler = GroundwireCallbackHandler(calling(judge))
    root = uuid4()
    RunnableLambda(lambda asked: lcel().invoke(asked)).invoke(question(1), listening(handler, run_id=root))
    assert handler.result(root, timeout=0.01) is None
    opened.set()
    record = handler.result(root)
    assert record.run_id != root
    assert handler.result(record.run_id) is record
    assert handler.result(uuid4()) is None


def test_only_the_latest_records_are_kept():
    """keep bounds what stays in memory, by every way of asking."""
    handler = GroundwireCallbackHandler(CHECKER, mode="inline", keep=2)
    ids = [uuid4() for _ in range(4)]
    for n, run_id in enumerate(ids):
        lcel().invoke(question(n), listening(handler, run_id=run_id))
    assert [record.run_id for record in handler.outcomes] == ids[2:]
    assert [handler.result(run_id) is None for run_id in ids] == [True, True, False, False]


def test_what_finds_no_room_is_counted_and_recorded():
    """A full queue delays nobody: the answers beyond it are abstentions, and counted."""
    entered, opened = threading.Event(), threading.Event()

    def judge(interaction):
        entered.set()
        opened.wait(30)
        return no_claims(interaction)

    told = []
    handler = GroundwireCallbackHandler(calling(judge), told.append, workers=1, max_pending=2)
    for n in range(5):
        lcel().invoke(question(n), listening(handler))
    assert entered.wait(30)
    assert (handler.stats.captured, handler.stats.dropped, handler.stats.pending) == (5, 3, 2)
    assert [record.outcome.why for record in handler.outcomes] == [AbstentionReason.OVER_BUDGET] * 3
    assert told == handler.outcomes
    opened.set()
    assert handler.flush(30)
    assert len(told) == 5
    assert (handler.stats.judged, handler.stats.pending) == (2, 0)


def test_leaving_the_handler_waits_for_its_outcomes():
    """As a context manager it is flushed at the end."""
    with GroundwireCallbackHandler(CHECKER) as handler:
        lcel().batch([question(n) for n in range(5)], listening(handler))
    assert len(handler.outcomes) == 5


def test_an_installed_handler_hears_every_thread_until_it_is_uninstalled():
    """install needs no config anywhere; an explicit mention as well counts once."""
    handler = GroundwireCallbackHandler(CHECKER)
    handler.install()
    try:
        thread = threading.Thread(target=lcel().invoke, args=(question(1),))
        thread.start()
        thread.join()
        lcel().invoke(question(2), listening(handler))
        later = GroundwireCallbackHandler(CHECKER).install()
        lcel().invoke(question(3))
        handler.uninstall()
        lcel().invoke(question(4))
        later.uninstall()
    finally:
        handler.uninstall()
    lcel().invoke(question(5))
    assert handler.flush(30)
    assert later.flush(30)
    assert sorted(r.interaction.question for r in handler.outcomes) == [question(1), question(2)]
    assert sorted(r.interaction.question for r in later.outcomes) == [question(3), question(4)]


def test_the_handler_survives_copies():
    """Copied with a model, it stays the one whose outcomes are read."""
    handler = GroundwireCallbackHandler(CHECKER, mode="inline")
    assert copy.deepcopy(handler) is handler
    model = Oracle(callbacks=[handler]).model_copy(deep=True)
    ({"context": Library() | joined, "question": RunnablePassthrough()} | PROMPT | model).invoke(
        question(1), listening(handler)
    )
    assert len(handler.outcomes) == 1


def test_mistakes_are_named_at_once():
    """A handler that can't work is refused when it is built, every mistake in one message."""
    with pytest.raises(ConfigurationError) as caught:
        GroundwireCallbackHandler("lexical", 3, mode="later", workers=0, keep=-1)
    assert [problem.split()[0] for problem in caught.value.problems] == [
        "checker",
        "on_outcome",
        "mode",
        "workers",
        "keep",
    ]


async def later(told):
    """What nobody would await."""


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"on_outcome": later}, "on_outcome must be a plain callable, not the async"),
        ({"langsmith": "my-project"}, "LANGSMITH_PROJECT"),
        ({"langsmith": None}, "langsmith must be True, False or a LangSmithSink"),
        ({"langsmith": LangSmithSink}, "langsmith must be True, False or a LangSmithSink"),
        ({"question_key": ["q"]}, "question_key must be a str, not list"),
        ({"answer_key": 3, "max_runs": 0}, "answer_key must be a str, not int"),
    ],
)
def test_what_would_do_nothing_is_refused_at_once(options, named):
    """Not found out by its silence, or by an error when the handler is flushed."""
    with pytest.raises(ConfigurationError, match=named) as caught:
        GroundwireCallbackHandler(CHECKER, **options)
    assert len(caught.value.problems) == len(options)


def test_a_record_can_be_asked_for_by_the_text_of_an_id():
    """Ids travel as text, in an interaction for one; what is neither is refused."""
    run_id = uuid4()
    with GroundwireCallbackHandler(CHECKER, mode="inline") as handler:
        lcel().invoke(question(1), config={"callbacks": [handler], "run_id": run_id})
    (record,) = handler.outcomes
    assert handler.result(str(run_id)) is handler.result(record.interaction.id) is record
    assert handler.result(str(uuid4())) is None
    for wrong in (3, None):
        with pytest.raises(InputError, match="run_id must be a run's UUID"):
            handler.result(wrong)


class Mailbox:
    """A sink that keeps what it is sent."""

    def __init__(self):
        self.sent = []

    def send(self, address, outcome):
        self.sent.append((address, outcome))

    def flush(self, timeout=None):
        return True


def test_outcomes_of_traced_runs_are_sent_to_their_trace(monkeypatch):
    """Where LangSmith traces a run, its outcome is addressed to that run; elsewhere nothing is sent."""
    from langsmith import tracing_context

    mailbox = Mailbox()
    handler = GroundwireCallbackHandler(CHECKER, langsmith=mailbox, mode="inline")
    lcel().invoke(question(1), listening(handler))
    assert mailbox.sent == []

    def located(run_id, trace_id, started):
        return RunAddress(run_id=run_id, trace_id=trace_id, project="any", started=started, client=None)

    monkeypatch.setattr("groundwire.langchain.handler.locate", located)
    run_id = uuid4()
    with tracing_context(enabled=False):
        lcel().invoke(question(2), listening(handler, run_id=run_id))
    ((address, outcome),) = mailbox.sent
    assert (address.run_id, address.trace_id) == (run_id, run_id)
    assert outcome is handler.outcomes[-1].outcome


def ended(code, *, check):
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=check, env=environment
    )


def output_of(code):
    return ended(code, check=True).stdout.splitlines()


def test_a_script_that_ends_at_once_loses_no_outcome():
    """Without flush, what was captured is judged before the interpreter ends."""
    lines = output_of(
        """
import sys
from groundwire import Checker
from groundwire.langchain import GroundwireCallbackHandler
from tests.langchain.apps import lcel, question
from tests.scripted import NovelWords
handler = GroundwireCallbackHandler(
    Checker(NovelWords()), lambda record: sys.stdout.write(record.interaction.question + "\\n")
)
lcel().batch([question(n) for n in range(5)], {"callbacks": [handler]})
"""
    )
    assert sorted(lines) == [question(n) for n in range(5)]


@pytest.mark.skipif(sys.platform == "win32", reason="its processes are not ended by signals")
def test_a_server_that_is_told_to_stop_loses_no_outcome_where_its_lifespan_closes_the_handler():
    """As the page on LangChain shows it: uvicorn ends by the signal that it got, and waits for no thread."""
    code = """
import asyncio, signal, threading
from contextlib import asynccontextmanager
import uvicorn
from starlette.applications import Starlette
from groundwire import Checker, Judge
from groundwire.langchain import GroundwireCallbackHandler
from tests.langchain.apps import lcel, question
stopping = threading.Event()
def model(system, user):
    stopping.wait(30)
    return "no verdict"
def tell(record):
    print(record.interaction.question, record.outcome.why, flush=True)
handler = GroundwireCallbackHandler(Checker("judge", judge=Judge(model)), tell)
@asynccontextmanager
async def lifespan(app):
    await lcel().ainvoke(question(1), {"callbacks": [handler]})
    signal.raise_signal(signal.SIGTERM)
    yield
    stopping.set()
    await asyncio.to_thread(handler.close, 30)
uvicorn.run(Starlette(lifespan=lifespan), port=0, log_level="error")
"""
    done = ended(code, check=False)
    assert done.returncode == -signal.SIGTERM
    assert done.stdout.splitlines() == [f"{question(1)} UNREADABLE_REPLY"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_forked_child_judges_its_own_answers():
    """Servers that fork their workers after building the handler are judged in each worker."""
    lines = output_of(
        """
import os
from groundwire import Checker
from groundwire.langchain import GroundwireCallbackHandler
from tests.langchain.apps import lcel, question
from tests.scripted import NovelWords
handler = GroundwireCallbackHandler(Checker(NovelWords()))
lcel().invoke(question(1), {"callbacks": [handler]})
handler.flush()
child = os.fork()
if child == 0:
    lcel().invoke(question(2), {"callbacks": [handler]})
    assert handler.flush(20)
    print(handler.outcomes[-1].interaction.question, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    )
    assert lines == [question(2)]


async def test_the_event_loop_is_not_held_while_a_judge_thinks():
    """In the background mode an async chain returns before its judge does."""
    opened = threading.Event()

    def judge(interaction):
        opened.wait(30)
        return no_claims(interaction)

    handler = GroundwireCallbackHandler(calling(judge))
    assert await lcel().ainvoke(question(1), listening(handler)) == answer(1)
    assert handler.stats.pending == 1
    opened.set()
    assert handler.flush(30)


@pytest.mark.parametrize("mode", ["background", "inline"])
def test_a_closed_handler_judges_nothing_more_and_says_so(mode):
    """What comes after close is an abstention that names the reason."""
    handler = GroundwireCallbackHandler(calling(no_claims), mode=mode)
    assert handler.close(30)
    lcel().invoke(question(1), listening(handler))
    (record,) = handler.outcomes
    assert record.outcome.why is AbstentionReason.OVER_BUDGET
    assert "closed" in record.outcome.detail


def test_a_process_that_forks_right_after_its_first_answer_has_a_child_that_judges():
    """What the detector needs is loaded when the handler is made: no thread imports during the fork."""
    code = """
import os, sys
from groundwire.langchain import GroundwireCallbackHandler
from tests.langchain.apps import lcel, question
handler = GroundwireCallbackHandler()
lcel().invoke(question(1), {"callbacks": [handler]})
child = os.fork()
if child == 0:
    lcel().invoke(question(2), {"callbacks": [handler]})
    handler.flush(30)
    last = handler.outcomes[-1]
    os._exit(0 if last.interaction.question == question(2) and last.outcome.score is not None else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], timeout=60, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


TEXT_ID = "01a21ce3-dd18-700d-96b6-60ad6b1c0014"


@pytest.mark.parametrize("run_id", [TEXT_ID, "request 7"])
@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_a_run_s_id_may_be_text(run_id, way, caplog):
    """LangServe gives it as text in the config, and LangChain hands it on to all that listen."""
    handler = GroundwireCallbackHandler(Checker(NovelWords()), mode="inline")
    list(getattr(lcel(), way)(question(1), {"callbacks": [handler], "run_id": run_id}))
    (record,) = handler.outcomes
    assert (record.interaction.question, record.interaction.answer) == (question(1), answer(1))
    assert handler.result(run_id) is record
    checked = with_hallucination_check(lcel(), checker=Checker(NovelWords()))
    assert checked.invoke(question(1), {"run_id": run_id})["hallucination"]["status"] == "checked"
    assert not caplog.records
