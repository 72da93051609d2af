"""Verdicts on LangSmith runs: the real SDK and real chains against a server on this machine."""

import logging
import os
import socket
import subprocess
import sys
import textwrap
import threading
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

import langsmith
import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.context import tracing_v2_enabled
from urllib3 import Retry

from groundwire import Abstention, AbstentionReason, Checker, Detector, Interaction
from groundwire.tracing.langsmith import LangSmithSink, annotate_current_run, flat_metadata, locate
from groundwire.tracing.outbox import Outbox
from tests.scripted import NovelWords
from tests.servers.langsmith_server import forget_settings, serving
from tests.tracing.conftest import BAGS, answer_to, arrive, every_mode


class Observer(BaseCallbackHandler):
    """The smallest handler that can use the sink: judges the topmost run it sees as that run ends."""

    run_inline = True
    raise_error = True

    def __init__(self, sink, checker):
        self.sink, self.checker = sink, checker
        self.seen, self.addresses = {}, {}

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **kwargs):
        top = self.seen[parent_run_id][0] if parent_run_id in self.seen else run_id
        self.seen[run_id] = (top, datetime.now(UTC))

    def on_chain_end(self, outputs, *, run_id, parent_run_id=None, **kwargs):
        top, started = self.seen[run_id]
        if run_id != top:
            return
        address = self.addresses[run_id] = locate(run_id, top, started)
        if address is not None:
            self.sink.send(address, judge(outputs, self.checker))


def judge(answer, checker=None):
    number = answer.split()[1]
    facts = f"bag {number} costs {number} euros"
    return (checker or Checker(NovelWords())).check(Interaction(answer=answer, contexts=facts))


@dataclass(frozen=True, kw_only=True)
class Unsure(Detector):
    """Never judges anything."""

    name: ClassVar[str] = "unsure"
    version: ClassVar[str] = "1"

    def detect(self, interaction):
        yield from ()
        return Abstention(why=AbstentionReason.MODEL_FAILED, detail=f"no idea about {interaction.answer}")


@pytest.fixture
def sink():
    return LangSmithSink()


@pytest.fixture
def observer(sink):
    return Observer(sink, Checker(NovelWords()))


# --- the judged run -------------------------------------------------------------------------------


@every_mode
def test_each_run_gets_its_own_verdict(run, chain, sink, observer, langsmith_tracing):
    """Eight runs at once: each carries the verdict on its own answer, with its trace and project ids."""
    assert run(chain, BAGS, {"callbacks": [observer]}) == [answer_to(bag) for bag in BAGS]
    arrive(sink)
    assert sink.counts.delivered == len(langsmith_tracing.feedback) == 8
    assert len(langsmith_tracing.roots) == 8
    for root in langsmith_tracing.roots:
        (feedback,) = langsmith_tracing.feedback_on(root["id"])
        number = int(root["inputs"]["input"].split()[1])
        assert feedback["key"] == "hallucination"
        assert (feedback["score"], feedback["value"]) == ((1.0, "high") if number % 2 else (0.0, "low"))
        assert feedback["trace_id"] == root["trace_id"] == root["id"]
        assert feedback["session_id"] == str(langsmith_tracing.project_id("airline"))
        assert feedback["feedback_source"]["type"] == "model"


@every_mode
def test_a_chain_inside_a_traceable_is_addressed_by_the_outer_trace(
    run, chain, sink, observer, langsmith_tracing
):
    """The verdict goes to the chain's run, with the trace id of the function around it."""

    @langsmith.traceable(project_name="front desk")
    def desk(question):
        return run(chain, [question], {"callbacks": [observer]})

    desk("bag 1")
    arrive(sink)
    (root,) = langsmith_tracing.roots
    (feedback,) = langsmith_tracing.feedback
    assert langsmith_tracing.run(feedback["run_id"])["name"] == "airline desk"
    assert feedback["trace_id"] == root["id"] != feedback["run_id"]
    assert feedback["session_id"] == str(langsmith_tracing.project_id("front desk"))


@every_mode
def test_the_project_of_a_tracing_context_is_followed(run, chain, sink, observer, langsmith_tracing):
    """``tracing_context(project_name=...)`` moves the verdict with the run."""
    with langsmith.tracing_context(project_name="night desk"):
        run(chain, ["bag 1"], {"callbacks": [observer]})
    arrive(sink)
    (feedback,) = langsmith_tracing.feedback
    assert feedback["session_id"] == str(langsmith_tracing.project_id("night desk"))


def test_the_client_of_the_run_is_used(chain, sink, observer, langsmith_tracing):
    """A verdict goes to the server that its run was sent to, by the client that sent it."""
    with serving() as elsewhere:
        client = langsmith.Client(api_url=elsewhere.url, api_key="another")
        with langsmith.tracing_context(client=client):
            chain.invoke("bag 1", {"callbacks": [observer]})
        with tracing_v2_enabled(project_name="older style", client=client):
            chain.invoke("bag 2", {"callbacks": [observer]})
        arrive(sink)
        sessions = {feedback["session_id"] for feedback in elsewhere.feedback}
        assert sessions == {str(elsewhere.project_id(name)) for name in ("airline", "older style")}
        assert langsmith_tracing.feedback == []
        client.cleanup()


def test_a_client_given_to_the_sink_wins(chain, langsmith_tracing):
    """The sink's own client, with its own limits and headers, is used instead of the run's."""
    asked = []

    class Counting(langsmith.Client):
        def create_feedback(self, *args, **kwargs):
            asked.append(kwargs["key"])
            return super().create_feedback(*args, **kwargs)

    client = Counting(api_url=langsmith_tracing.url, api_key="another")
    sink = LangSmithSink(client)
    chain.invoke("bag 1", {"callbacks": [Observer(sink, Checker(NovelWords()))]})
    chain.invoke("bag 2", {"callbacks": [Observer(sink, Checker(NovelWords()))]})
    langsmith.run_trees._CLIENT.flush(timeout=10)
    arrive(sink)
    assert "hallucination" in asked
    assert len(langsmith_tracing.feedback) == 2
    client.cleanup()


def test_the_project_is_looked_up_once(chain, sink, observer, langsmith_tracing):
    """However many verdicts go to a project, its id is asked for once it is known."""
    chain.invoke("bag 0", {"callbacks": [observer]})
    arrive(sink)
    asked = langsmith_tracing.asked("GET", "/sessions")
    chain.batch(BAGS, {"callbacks": [observer]})
    langsmith.run_trees._CLIENT.flush(timeout=10)
    arrive(sink)
    assert len(langsmith_tracing.feedback) == 9
    assert langsmith_tracing.asked("GET", "/sessions") == asked


# --- tracing is off -------------------------------------------------------------------------------


@pytest.mark.parametrize("enabled", [False, "local"])
@every_mode
def test_nothing_is_located_where_tracing_is_off(run, enabled, chain, observer, langsmith_tracing):
    """Runs that LangSmith is not sent have no address, whatever the environment says."""
    with langsmith.tracing_context(enabled=enabled):
        run(chain, BAGS[:2], {"callbacks": [observer]})
    assert list(observer.addresses.values()) == [None, None]


def test_an_explicit_no_outweighs_an_explicit_tracer(chain, observer, langsmith_tracing):
    """``tracing_context(enabled=False)`` inside ``tracing_v2_enabled()`` sends neither run nor verdict."""
    with tracing_v2_enabled(), langsmith.tracing_context(enabled=False):
        chain.invoke("bag 1", {"callbacks": [observer]})
    arrive(observer.sink)
    assert list(observer.addresses.values()) == [None]
    assert langsmith_tracing.runs == []


def test_a_run_that_goes_to_an_agent_has_no_project_to_send_to(langsmith_tracing):
    """Feedback needs a project's id; where the run names an agent instead, there is no address."""
    run_id = uuid.uuid4()
    with langsmith.tracing_context(address=langsmith.agent_address("desk", "production")):
        assert locate(run_id, run_id, datetime.now(UTC)) is None


@every_mode
def test_without_tracing_nothing_is_sent_and_no_socket_opened(
    run, chain, observer, langsmith_tracing, monkeypatch
):
    """A host that does not trace never hears of LangSmith."""
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    forget_settings()
    connected = []
    monkeypatch.setattr(socket.socket, "connect", lambda self, address: connected.append(address))
    run(chain, BAGS, {"callbacks": [observer]})
    arrive(observer.sink)
    assert set(observer.addresses.values()) == {None}
    assert connected == []
    assert langsmith_tracing.requests == []


def test_runs_that_are_not_sampled_get_no_feedback(chain, sink, observer, langsmith_tracing, monkeypatch):
    """LangSmith's own sampling decides for the run and its verdict alike."""
    monkeypatch.setenv("LANGSMITH_TRACING_SAMPLING_RATE", "0")
    forget_settings()
    chain.invoke("bag 1", {"callbacks": [observer]})
    arrive(sink)
    assert list(observer.addresses.values()) == [None]
    assert langsmith_tracing.runs == langsmith_tracing.feedback == []


def test_importing_the_room_imports_no_tracing_library():
    """langsmith is loaded by those who trace, not by those who import."""
    code = (
        "import sys, groundwire.tracing.langsmith;"
        "print({'langsmith', 'requests', 'langchain_core'} & set(sys.modules))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"


# --- what the feedback says -----------------------------------------------------------------------


def test_an_abstention_has_no_score_and_says_why(chain, sink, langsmith_tracing):
    """What could not be judged is visible as such: a reason for a value, never a number."""
    chain.invoke("bag 1", {"callbacks": [Observer(sink, Checker(Unsure()))]})
    arrive(sink)
    (feedback,) = langsmith_tracing.feedback
    assert feedback.get("score") is None
    assert feedback["value"] == "MODEL_FAILED"
    metadata = feedback["feedback_source"]["metadata"]
    assert metadata["hallucination_status"] == "abstained"
    assert metadata["hallucination_abstention"] == "MODEL_FAILED"
    assert "hallucination_score" not in metadata


@pytest.mark.parametrize("detector", [NovelWords(), Unsure()], ids=["verdict", "abstention"])
def test_no_text_of_the_answer_leaves_with_the_verdict(detector, chain, sink, langsmith_tracing, monkeypatch):
    """Where outputs are hidden, the feedback does not bring the answer back."""
    monkeypatch.setenv("LANGSMITH_HIDE_OUTPUTS", "true")
    forget_settings()
    chain.invoke("bag 1", {"callbacks": [Observer(sink, Checker(detector))]})
    arrive(sink)
    (feedback,) = langsmith_tracing.feedback
    (root,) = langsmith_tracing.roots
    assert "INVENTED" not in str(root.get("outputs"))
    assert "INVENTED" not in str(feedback)
    assert "euros" not in str(feedback)
    assert detector.name in feedback["comment"]


@pytest.mark.parametrize("detector", [NovelWords(), Unsure()], ids=["verdict", "abstention"])
def test_text_is_in_the_comment_when_asked_for(detector, chain, langsmith_tracing):
    """``include_text`` tells a reader of the trace what is unsupported, or what stood in the way."""
    sink = LangSmithSink(include_text=True)
    chain.invoke("bag 1", {"callbacks": [Observer(sink, Checker(detector))]})
    arrive(sink)
    assert "INVENTED" in langsmith_tracing.feedback[0]["comment"]


def test_the_same_verdict_sent_again_replaces_itself(chain, sink, observer, langsmith_tracing):
    """A run has one feedback for each detector that judged it, however often it is sent."""
    chain.invoke("bag 1", {"callbacks": [observer]})
    ((run_id, address),) = observer.addresses.items()
    sink.send(address, judge(answer_to("bag 1")))
    sink.send(address, judge(answer_to("bag 1"), Checker(Unsure())))
    arrive(sink)
    assert sorted(item["value"] for item in langsmith_tracing.feedback_on(run_id)) == ["MODEL_FAILED", "high"]
    assert sink.counts.delivered == 3


@pytest.mark.parametrize("extend", [False, True])
def test_judged_traces_are_not_kept_longer_unless_asked(extend, chain, langsmith_tracing):
    """Feedback does not move a trace to the dearer retention by itself."""
    sink = LangSmithSink(extend_retention=extend)
    chain.invoke("bag 1", {"callbacks": [Observer(sink, Checker(NovelWords()))]})
    arrive(sink)
    (feedback,) = langsmith_tracing.feedback
    assert feedback.get("extend_trace_retention", True) is extend


# --- the server misbehaves ------------------------------------------------------------------------


def test_a_verdict_that_overtakes_its_run_waits_for_it(chain, sink, observer, langsmith_tracing):
    """The server knows the run later than the verdict is ready, and still gets both."""
    langsmith_tracing.fail("/feedback", 404, times=2)
    chain.invoke("bag 1", {"callbacks": [observer]})
    arrive(sink)
    assert len(langsmith_tracing.feedback) == 1
    assert sink.counts.failed == 0


def test_a_run_that_still_waits_in_this_process_is_sent_first(chain, langsmith_tracing):
    """A verdict that comes too early makes its client send what it holds, and is then taken."""
    flushed = []

    class Noting(langsmith.Client):
        def flush(self, timeout=None):
            flushed.append(timeout)
            super().flush(timeout)

    sink = LangSmithSink()
    langsmith_tracing.fail("/feedback", 404, times=1)
    client = Noting(api_url=langsmith_tracing.url, api_key="another")
    with langsmith.tracing_context(client=client):
        chain.invoke("bag 1", {"callbacks": [Observer(sink, Checker(NovelWords()))]})
    arrive(sink)
    assert flushed
    assert None not in flushed
    assert len(langsmith_tracing.feedback) == 1
    client.cleanup()


def test_a_project_made_anew_is_looked_up_again(chain, sink, observer, langsmith_tracing):
    """When the known project is gone, its name is asked for its new id."""
    chain.invoke("bag 0", {"callbacks": [observer]})
    arrive(sink)
    langsmith_tracing.recreate("airline")
    chain.invoke("bag 1", {"callbacks": [observer]})
    arrive(sink)
    assert langsmith_tracing.feedback[-1]["session_id"] == str(langsmith_tracing.project_id("airline"))
    assert len(langsmith_tracing.feedback) == 2


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_server_that_has_no_room_is_asked_again(status, chain, langsmith_tracing):
    """Overload delays a verdict and does not lose it."""
    hasty = langsmith.Client(api_url=langsmith_tracing.url, api_key="another", retry_config=Retry(total=0))
    sink = LangSmithSink(hasty)
    langsmith_tracing.fail("/feedback", status, times=1)
    chain.invoke("bag 1", {"callbacks": [Observer(sink, Checker(NovelWords()))]})
    langsmith.run_trees._CLIENT.flush(timeout=10)
    arrive(sink)
    assert len(langsmith_tracing.feedback) == 1
    assert sink.counts.failed == 0
    hasty.cleanup()


@pytest.mark.parametrize("status", [400, 401, 403, 422])
def test_a_refusal_is_counted_and_told_once(status, chain, observer, langsmith_tracing, caplog):
    """Verdicts the server will never take are counted; the log tells the status once and no answer's text."""
    sink = observer.sink
    langsmith_tracing.fail("/feedback", status)
    with caplog.at_level(logging.INFO):
        chain.batch(BAGS, {"callbacks": [observer]})
        arrive(sink)
    assert sink.counts.failed == 8
    assert langsmith_tracing.feedback == []
    (told,) = [record for record in caplog.records if "eedback" in record.getMessage()]
    assert str(status) in told.getMessage()
    assert "INVENTED" not in caplog.text


def test_feedback_that_is_there_already_counts_as_delivered(chain, sink, observer, langsmith_tracing):
    """A conflict means that this very verdict arrived before."""
    langsmith_tracing.fail("/feedback", 409)
    chain.invoke("bag 1", {"callbacks": [observer]})
    arrive(sink)
    assert (sink.counts.delivered, sink.counts.failed) == (1, 0)


def test_a_server_that_hangs_costs_the_host_nothing(chain, sink, observer, langsmith_tracing):
    """Sending does not wait, flushing waits as long as it is told, and nothing is lost."""
    langsmith_tracing.open.clear()
    started = time.perf_counter()
    chain.batch(BAGS, {"callbacks": [observer]})
    assert not sink.flush(0.2)
    assert time.perf_counter() - started < 2
    assert sink.counts.pending == 8
    langsmith_tracing.open.set()
    arrive(sink)
    assert len(langsmith_tracing.feedback) == 8


def test_a_server_that_is_down_costs_the_host_nothing(chain, observer, sink, langsmith_server, caplog):
    """No connection at all: the chain answers as ever; what was lost is counted, and told once."""
    down = langsmith.Client(
        api_url=langsmith_server.url, api_key="none", retry_config=Retry(total=0), auto_batch_tracing=False
    )
    langsmith_server.close()
    sink._outbox = Outbox(sink._deliver, what="LangSmith feedback", waits=(0.0, 0.0))
    with (
        caplog.at_level(logging.WARNING, "groundwire"),
        langsmith.tracing_context(enabled=True, client=down),
    ):
        assert chain.batch(BAGS, {"callbacks": [observer]}) == [answer_to(bag) for bag in BAGS]
        assert sink.flush(10)
    assert sink.counts.failed == 8
    (told,) = [record for record in caplog.records if record.name.startswith("groundwire")]
    assert "LangSmithConnectionError" in told.getMessage()


@pytest.mark.parametrize(
    "handler", ["Observer(LangSmithSink(), checker)", "GroundwireCallbackHandler(checker)"]
)
def test_verdicts_on_their_way_survive_a_normal_exit(handler, langsmith_server):
    """A script that ends right after its chain leaves runs and verdicts on the server."""
    script = textwrap.dedent(
        f"""
        from groundwire import Checker
        from groundwire.langchain import GroundwireCallbackHandler
        from groundwire.tracing.langsmith import LangSmithSink
        from tests.scripted import NovelWords
        from tests.tracing.conftest import BAGS, airline_desk
        from tests.tracing.test_langsmith import Observer

        checker = Checker(NovelWords())
        airline_desk().batch(BAGS, {{"callbacks": [{handler}]}})
        """
    )
    environment = os.environ | langsmith_server.environment("airline")
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, timeout=60)
    assert len(langsmith_server.feedback) == 8
    for feedback in langsmith_server.feedback:
        judged = langsmith_server.run(feedback["run_id"])
        assert feedback["score"] == float("INVENTED" in str(judged["outputs"]))


def test_a_distant_server_is_sent_several_at_a_time(chain, sink, observer, langsmith_tracing, monkeypatch):
    """What a hundred answers bring does not take a hundred journeys one after the other."""
    together, answer = threading.Barrier(4, timeout=10), langsmith_tracing.answer

    def slow(method, target, *rest):
        if target == "/feedback":
            together.wait()
        return answer(method, target, *rest)

    chain.batch(BAGS, {"callbacks": [observer]})
    langsmith.run_trees._CLIENT.flush(timeout=10)
    monkeypatch.setattr(langsmith_tracing, "answer", slow)
    arrive(sink)
    assert sink.counts.delivered == len(langsmith_tracing.feedback) == 8


def test_sending_is_in_no_trace(chain, langsmith_tracing):
    """OpenTelemetry's instrumentations are asked to leave it alone."""
    context = pytest.importorskip("opentelemetry.context", reason="needs the OpenTelemetry API")
    suppressed = []

    class Client(langsmith.Client):
        def request_with_retries(self, method, path, *args, **kwargs):
            if path == "/feedback":
                suppressed.append(context.get_value(context._SUPPRESS_INSTRUMENTATION_KEY))
            return super().request_with_retries(method, path, *args, **kwargs)

    client = Client(api_url=langsmith_tracing.url, api_key="another")
    sink = LangSmithSink(client)
    chain.invoke("bag 1", {"callbacks": [Observer(sink, Checker(NovelWords()))]})
    langsmith.run_trees._CLIENT.flush(timeout=10)
    arrive(sink)
    assert suppressed == [True]
    client.cleanup()


# --- a wrapper's own run --------------------------------------------------------------------------


def annotated(outcome):
    """A step that judges inside its own run, as a wrapper does."""

    def step(answer):
        annotate_current_run(outcome(answer), action="annotate")
        return answer

    return RunnableLambda(step).with_config(run_name="check")


@every_mode
def test_a_wrappers_run_shows_the_verdict(run, chain, sink, langsmith_tracing):
    """Flat metadata and the tag are on the run that judged, and on no other."""
    run(chain | annotated(judge), BAGS, {})
    arrive(sink)
    checks = [run for run in langsmith_tracing.runs if run["name"] == "check"]
    assert len(checks) == 8
    for check in checks:
        flagged = "INVENTED" in check["inputs"]["input"]
        metadata = check["extra"]["metadata"]
        assert metadata["hallucination_status"] == "checked"
        assert metadata["hallucination_score"] == float(flagged)
        assert metadata["hallucination_level"] == ("high" if flagged else "low")
        assert metadata["hallucination_threshold"] == 0.5
        assert metadata["hallucination_detector"] == "novel-words 1"
        assert metadata["hallucination_action"] == "annotate"
        assert ("hallucination" in check["tags"]) is flagged
    for other in langsmith_tracing.runs:
        if other["name"] != "check":
            assert "hallucination" not in other.get("tags", [])
            assert "hallucination_score" not in other["extra"].get("metadata", {})


def test_a_wrappers_run_shows_an_abstention(chain, sink, langsmith_tracing):
    """What could not be judged is neither flagged nor clean on the run."""
    (chain | annotated(lambda answer: judge(answer, Checker(Unsure())))).invoke("bag 1")
    arrive(sink)
    (check,) = [run for run in langsmith_tracing.runs if run["name"] == "check"]
    metadata = check["extra"]["metadata"]
    assert metadata["hallucination_status"] == "abstained"
    assert metadata["hallucination_abstention"] == "MODEL_FAILED"
    assert "hallucination_score" not in metadata
    assert "hallucination" not in check["tags"]


def test_annotating_outside_of_any_run_does_nothing(langsmith_tracing):
    """No run, or a run nobody traces, is not an error."""
    annotate_current_run(judge(answer_to("bag 1")))
    with langsmith.tracing_context(enabled=False):
        annotated(judge).invoke(answer_to("bag 1"))
    assert langsmith_tracing.requests == []


def test_flat_metadata_holds_scalars_and_no_text():
    """Metadata is filterable: one scalar a key, none of them from the answer."""
    flat = flat_metadata(judge(answer_to("bag 1")))
    assert all(isinstance(value, str | float) for value in flat.values())
    assert "INVENTED" not in str(flat)


def test_locating_a_run_outside_of_any_context_is_harmless(monkeypatch):
    """Where LangSmith can't be read, there is no address, and nobody hears about it."""
    monkeypatch.setitem(sys.modules, "langsmith.run_helpers", None)
    run_id = uuid.uuid4()
    assert locate(run_id, run_id, datetime.now(UTC)) is None
    annotate_current_run(judge(answer_to("bag 1")))
