"""Labelled answers in LangSmith, read through the real SDK from a server on this machine."""

from datetime import UTC, datetime
from types import SimpleNamespace as Named
from uuid import UUID, uuid4

import pytest

pytest.importorskip("langsmith")

from groundwire.bench.langsmith import from_dataset, from_project, load_named
from groundwire.cli.main import main
from groundwire.tables import TableError
from tests.servers.langsmith_server import langsmith_server, langsmith_tracing  # noqa: F401 - fixtures


def row(answer, **outputs):
    return {
        "inputs": {"question": "q", "context": ["The fee is 25 EUR."]},
        "outputs": {"answer": answer, **outputs},
        "metadata": {"task": "fees"},
    }


def test_a_dataset(langsmith_tracing):  # noqa: F811
    """Inputs, outputs and metadata are columns by their own names; ids are the examples'."""
    langsmith_tracing.add_dataset("handbook", [row("75 EUR.", label=1), row("25 EUR.", label="grounded")])
    bad, good = load_named("langsmith:dataset:handbook")
    assert (bad.label, good.label, bad.task) == (True, False, "fees")
    assert bad.interaction.contexts[0].text == "The fee is 25 EUR."
    assert UUID(bad.id)


def test_a_dataset_is_tuned_by_as_it_is_measured_on(langsmith_tracing, tmp_path):  # noqa: F811
    """Whatever bench reads, tune reads."""
    rows = [row(f"{n if n % 2 else n + 40} EUR.", label=n % 2, group=n) for n in range(20, 40)]
    langsmith_tracing.add_dataset("handbook", rows)
    for command in (["bench", "--detectors"], ["tune", "--out", str(tmp_path / "t.json"), "--detector"]):
        assert main([command[0], "langsmith:dataset:handbook", *command[1:], "token"]) == 0


def test_columns_of_a_dataset_may_be_named(langsmith_tracing):  # noqa: F811
    langsmith_tracing.add_dataset("handbook", [row("75 EUR.", verdict="fail")])
    (one,) = from_dataset("handbook", columns={"label": "outputs.verdict"})
    assert one.label is True


def annotated(server, answer, *feedback):
    from langsmith import Client

    client = Client()
    run = uuid4()
    client.create_run(
        id=run,
        name="chain",
        run_type="chain",
        inputs={"question": "q"},
        outputs={"answer": answer, "documents": [{"page_content": "The fee is 25 EUR."}]},
        project_name="airline",
    )
    client.flush()
    for key, score, source in feedback:
        client.create_feedback(run, key, score=score, feedback_source_type=source)
    return str(run)


def test_runs_that_people_annotated(langsmith_tracing):  # noqa: F811
    """A run's label is people's feedback under the key; what a model gave is none, and no label is no row."""
    bad = annotated(langsmith_tracing, "75 EUR.", ("hallucination", 1, "api"))
    annotated(langsmith_tracing, "25 EUR.", ("hallucination", 0.9, "model"))
    good = annotated(
        langsmith_tracing, "25 EUR.", ("hallucination", 0.9, "model"), ("hallucination", 0, "api")
    )
    found = load_named("langsmith:project:airline")
    assert {one.id: one.label for one in found} == {bad: True, good: False}
    assert found[0].interaction.contexts[0].text == "The fee is 25 EUR."
    with pytest.raises(TableError, match="no run with people's feedback under 'wrong'"):
        from_project("airline", feedback="wrong")


def test_a_thumb_under_correctness_says_that_the_answer_is_right(langsmith_tracing):  # noqa: F811
    """Of a key that asks whether the answer is grounded, 1 is no hallucination."""
    good = annotated(langsmith_tracing, "25 EUR.", ("correctness", 1, "api"))
    bad = annotated(langsmith_tracing, "75 EUR.", ("correctness", 0, "api"))
    found = load_named("langsmith:project:airline", columns={"label": "correctness"})
    assert {one.id: one.label for one in found} == {good: False, bad: True}


def test_of_several_labels_the_newest_counts():
    """People change their minds; in which order feedback is listed says nothing."""

    def said(score, *, created, modified=None):
        told = {"run_id": "run", "score": score, "value": None, "feedback_source": Named(type="app")}
        at = lambda hour: hour and datetime(2026, 1, 1, hour, tzinfo=UTC)  # noqa: E731
        return Named(created_at=at(created), modified_at=at(modified), **told)

    def project(*feedback):
        inputs = {"question": "q", "context": ["The fee is 25 EUR."]}
        run = Named(id="run", inputs=inputs, outputs={"answer": "75 EUR."}, extra={})
        return Named(list_runs=lambda **_: [run], list_feedback=lambda **_: list(feedback))

    old, new = said(0, created=9), said(1, created=12)
    mended = said(1, created=8, modified=13)
    for given in ((new, old), (old, new), (mended, old), (old, mended)):
        (one,) = from_project("airline", client=project(*given))
        assert one.label is True


@pytest.mark.parametrize("source", ["langsmith:dataset:nowhere", "langsmith:project:nowhere"])
def test_a_name_that_is_not_there_is_told(langsmith_tracing, source):  # noqa: F811
    with pytest.raises(TableError, match="'nowhere' can't be read from LangSmith"):
        load_named(source)


def test_another_kind_of_source_is_told():
    with pytest.raises(TableError, match="expected langsmith:dataset:NAME"):
        load_named("langsmith:handbook")
