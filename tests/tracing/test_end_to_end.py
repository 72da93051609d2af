"""What a user of the wrapper or the callback sees in LangSmith, through everything in between."""

from contextlib import nullcontext
from contextvars import copy_context

import langsmith
import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.tracers.langchain import LangChainTracer

from groundwire import Checker, Judge
from groundwire.host.actions import HallucinationError
from groundwire.langchain import GroundwireCallbackHandler, with_hallucination_check
from tests.scripted import AsksModel, NovelWords
from tests.servers.langsmith_server import forget_settings
from tests.tracing.conftest import BAGS, arrive, every_mode, invoke


@pytest.fixture
def checked(chain):
    return with_hallucination_check(chain, checker=Checker(NovelWords()))


@pytest.fixture
def handler():
    return GroundwireCallbackHandler(Checker(NovelWords()))


@every_mode
def test_the_callbacks_verdict_lands_on_the_run_it_judged(run, chain, handler, langsmith_tracing):
    """Eight of eight: each answer's own verdict, on its own run, with trace and project ids."""
    run(chain, BAGS, {"callbacks": [handler]})
    arrive(handler)
    assert len(langsmith_tracing.feedback) == len(langsmith_tracing.roots) == 8
    for record in handler.outcomes:
        (feedback,) = langsmith_tracing.feedback_on(record.run_id)
        judged = langsmith_tracing.run(record.run_id)
        flagged = "INVENTED" in str(judged["outputs"])
        assert record.interaction.answer in str(judged["outputs"])
        assert (feedback["score"], feedback["value"]) == ((1.0, "high") if flagged else (0.0, "low"))
        assert feedback["trace_id"] == judged["trace_id"]
        assert feedback["session_id"] == str(langsmith_tracing.project_id("airline"))
        assert "INVENTED" not in str(feedback)


@every_mode
def test_the_callback_inside_a_traceable_names_the_outer_trace(run, chain, handler, langsmith_tracing):
    """What the handler can't see, the function around the chain, still owns the trace."""
    langsmith.traceable(lambda: run(chain, ["bag 1"], {"callbacks": [handler]}), name="outer")()
    arrive(handler)
    (root,) = langsmith_tracing.roots
    (feedback,) = langsmith_tracing.feedback
    assert root["name"] == "outer"
    assert feedback["trace_id"] == root["id"] != feedback["run_id"]


def test_two_chains_in_one_run_get_a_verdict_each(chain, handler, langsmith_tracing):
    """Parallel branches are judged apart: the feedback is on the branch, its trace is the whole."""
    both = RunnableParallel(first=chain, second=RunnableLambda(lambda _: "bag 2") | chain)
    both.invoke("bag 1", {"callbacks": [handler]})
    arrive(handler)
    (root,) = langsmith_tracing.roots
    assert sorted(feedback["score"] for feedback in langsmith_tracing.feedback) == [0.0, 1.0]
    for feedback in langsmith_tracing.feedback:
        assert feedback["trace_id"] == root["id"] != feedback["run_id"]
        flagged = "INVENTED" in str(langsmith_tracing.run(feedback["run_id"])["outputs"])
        assert feedback["score"] == float(flagged)


@every_mode
@pytest.mark.parametrize(
    ("place", "traced"), [("before it", "false"), ("after it", "true"), ("installed", "true")]
)
def test_a_tracer_given_to_the_run_is_followed(
    place, traced, *, run, chain, handler, langsmith_tracing, monkeypatch
):
    """The verdict goes where that tracer sends the run, whatever the environment says of tracing."""
    monkeypatch.setenv("LANGSMITH_TRACING", traced)
    forget_settings()
    tracer = LangChainTracer(project_name="own")
    callbacks = {"before it": [handler, tracer], "after it": [tracer, handler], "installed": [tracer]}
    if place == "installed":
        handler.install()
    try:
        run(chain, BAGS[:2], {"callbacks": callbacks[place]})
    finally:
        handler.uninstall()
    arrive(handler)
    assert sorted(feedback["score"] for feedback in langsmith_tracing.feedback) == [0.0, 1.0]
    for feedback in langsmith_tracing.feedback:
        assert feedback["session_id"] == str(langsmith_tracing.project_id("own"))
        judged = langsmith_tracing.run(feedback["run_id"])
        assert feedback["trace_id"] == judged["trace_id"]
        assert feedback["score"] == float("INVENTED" in str(judged["outputs"]))


def read_elsewhere(stream):
    """Read each part in a context of its own, as web frameworks read a generator."""
    here = copy_context()
    while here.copy().run(next, stream, None) is not None:
        pass


def test_a_stream_that_is_read_in_another_context_keeps_its_project(chain, handler, langsmith_tracing):
    """What the context said when the run began counts: at its end it may be another's."""
    with langsmith.tracing_context(project_name="night desk"):
        stream = chain.stream("bag 1", {"callbacks": [handler]})
        next(stream)
    read_elsewhere(stream)
    arrive(handler)
    (feedback,) = langsmith_tracing.feedback
    assert feedback["session_id"] == str(langsmith_tracing.project_id("night desk"))


def test_a_stream_that_is_read_after_its_function_keeps_its_trace(chain, handler, langsmith_tracing):
    """The trace that the run began in is named, though its outermost run has ended before it."""

    streams = []

    @langsmith.traceable(name="outer")
    def begin():
        streams.append(chain.stream("bag 1", {"callbacks": [handler]}))
        next(streams[0])

    begin()
    read_elsewhere(streams[0])
    arrive(handler)
    (feedback,) = langsmith_tracing.feedback
    assert feedback["trace_id"] == langsmith_tracing.run(feedback["run_id"])["trace_id"] != feedback["run_id"]


@pytest.mark.parametrize(
    ("replicas", "project"),
    [
        ([{"project_name": "airline"}, {"project_name": "copy"}], "airline"),
        ([{"project_name": "copy"}, {"project_name": "first", "primary": True}], "first"),
        ([{"project_name": "copy"}, {"project_name": "another copy"}], None),
        ([{"project_name": "airline", "api_key": "another"}], None),
    ],
)
def test_of_replicas_the_one_with_the_runs_own_id_is_told(
    replicas, project, chain, handler, langsmith_tracing
):
    """Copies have other ids, and other accounts are not ours: where there is no more, nothing is sent."""
    with langsmith.tracing_context(replicas=replicas):
        chain.invoke("bag 1", {"callbacks": [handler]})
    arrive(handler)
    told = [feedback["session_id"] for feedback in langsmith_tracing.feedback]
    assert told == ([] if project is None else [str(langsmith_tracing.project_id(project))])
    assert not langsmith_tracing.asked("POST", "/feedback") or project is not None


@every_mode
def test_the_callback_sends_nothing_where_tracing_is_off(run, chain, handler, langsmith_tracing):
    """The host does not trace, so its verdicts stay with it."""
    with langsmith.tracing_context(enabled=False):
        run(chain, BAGS, {"callbacks": [handler]})
    arrive(handler)
    assert len(handler.outcomes) == 8
    assert langsmith_tracing.requests == []


@every_mode
def test_the_wrappers_own_run_holds_the_verdict(run, checked, langsmith_tracing):
    """Outputs, flat metadata and the tag of the wrapper's run tell the verdict on its own answer."""
    run(checked, BAGS, {})
    arrive()
    assert len(langsmith_tracing.roots) == 8
    for root in langsmith_tracing.roots:
        flagged = "INVENTED" in str(root["outputs"])
        verdict = find_verdict(root["outputs"])
        metadata = root["extra"]["metadata"]
        assert verdict["hallucinated"] is flagged
        assert metadata["hallucination_score"] == verdict["score"]
        assert metadata["hallucination_level"] == verdict["level"]
        assert metadata["hallucination_status"] == verdict["status"] == "checked"
        assert metadata["hallucination_action"] == "annotate"
        assert ("hallucination" in root["tags"]) is flagged
    assert sum("hallucination" in root["tags"] for root in langsmith_tracing.roots) == 4


@every_mode
def test_what_the_wrapper_runs_is_traced_below_it_and_untouched(run, checked, langsmith_tracing):
    """The chain's own runs are children of the wrapper's, without verdict, tag or a trace of the check."""
    run(checked, ["bag 1"], {})
    arrive()
    (root,) = langsmith_tracing.roots
    below = [run for run in langsmith_tracing.runs if run is not root and run["id"] != root["id"]]
    assert {"airline desk", "Handbook", "Desk"} <= {run["name"] for run in below}
    for run_below in below:
        assert run_below["trace_id"] == root["id"]
        assert "hallucination" not in run_below.get("tags", [])
        assert "hallucination_score" not in run_below["extra"].get("metadata", {})


@pytest.mark.parametrize("action", ["raise", "replace"])
def test_an_answer_that_is_not_given_is_still_told_on_the_trace(action, chain, langsmith_tracing):
    """Gating an answer hides it from the user, not from the people who run the application."""
    gated = with_hallucination_check(chain, checker=Checker(NovelWords()), on_hallucination=action)
    with pytest.raises(HallucinationError) if action == "raise" else nullcontext():
        gated.invoke("bag 1")
    arrive()
    (root,) = langsmith_tracing.roots
    assert root["extra"]["metadata"]["hallucination_score"] == 1.0
    assert root["extra"]["metadata"]["hallucination_action"] == action
    assert "hallucination" in root["tags"]


def test_hidden_outputs_stay_hidden(checked, langsmith_tracing, monkeypatch):
    """With LANGSMITH_HIDE_OUTPUTS the run still shows the verdict, and no word of the answer."""
    monkeypatch.setenv("LANGSMITH_HIDE_OUTPUTS", "true")
    monkeypatch.setenv("LANGSMITH_HIDE_INPUTS", "true")
    forget_settings()
    invoke(checked, ["bag 1"], {})
    arrive()
    assert langsmith_tracing.roots[0]["extra"]["metadata"]["hallucination_score"] == 1.0
    assert "INVENTED" not in str(langsmith_tracing.runs)


def test_the_wrapper_sends_nothing_where_tracing_is_off(checked, langsmith_tracing):
    """Checked answers of a host that does not trace stay with the host."""
    with langsmith.tracing_context(enabled=False):
        invoke(checked, BAGS, {})
    arrive()
    assert langsmith_tracing.requests == []


@pytest.mark.parametrize("project", [None, "judging"])
def test_what_a_judge_says_is_not_in_the_applications_trace(project, chain, langsmith_tracing):
    """A judge's calls are traced nowhere, or each by itself in the project that was named for them."""
    judge = Judge(FakeListChatModel(responses=["1.0"]), trace_project=project)
    judged = with_hallucination_check(chain, checker=Checker(AsksModel(), judge=judge))
    judged.invoke("bag 1")
    arrive()
    mine = [run for run in langsmith_tracing.runs if run["session_name"] == "airline"]
    theirs = [run for run in langsmith_tracing.runs if run["session_name"] != "airline"]
    (root,) = [run for run in mine if not run.get("parent_run_id")]
    assert root["extra"]["metadata"]["hallucination_score"] == 1.0
    assert not any("score it" in str(run["inputs"]) for run in mine)
    assert [(run["session_name"], run.get("parent_run_id")) for run in theirs] == (
        [("judging", None)] if project else []
    )
    assert all("score it" in str(run["inputs"]) for run in theirs)


def find_verdict(outputs):
    """The one verdict in a run's outputs, however LangSmith has wrapped the wrapper's dict."""
    if isinstance(outputs, dict):
        if "hallucination" in outputs:
            return outputs["hallucination"]
        (found,) = filter(None, map(find_verdict, outputs.values()))
        return found
    return None
