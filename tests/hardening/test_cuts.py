"""Nothing is cut to be judged. What is cut to be shown says so, and a verdict knows nothing of it."""

import json
import re

import pytest
from opentelemetry.sdk.trace import SpanLimits
from opentelemetry.trace import format_span_id

from groundwire import (
    AbstentionReason,
    Checker,
    Claim,
    Evidence,
    Grading,
    Interaction,
    Judge,
    Passage,
    Policy,
    Role,
    Span,
    Support,
    Turn,
    Verdict,
    detectors,
)
from groundwire.cli.main import main
from groundwire.core import wire
from groundwire.core.sink import Told
from groundwire.core.verdict import DetectorSpec
from groundwire.host.actions import note
from groundwire.report import Entry, page
from groundwire.report.notebook import card
from groundwire.testing import assert_grounded
from groundwire.tracing.otel import locate
from tests.tracing.test_otel import Telemetry

FEE = "The fee for a second bag is 25 EUR."
END = "zqendzq"  # behind everything that is long: it is there only where nothing was cut
FILLER = "The museum opens at nine and has a garden behind the house. "
LONG = FILLER * 1_000  # 60,000 characters


def verdict(claims=1, length=0):
    """A hallucinated answer of so many claims, each as long as that, with a quotation as long."""
    size = length + len(END)
    answer = "".join("x" * length + END for _ in range(claims))
    made = [
        Claim(
            text="x" * length + END,
            span=Span(n * size, (n + 1) * size),
            support=Support.CONTRADICTED,
            score=0.9,
            evidence=(Evidence(passage=0, span=Span(0, size), quote="y" * length + END),),
        )
        for n in range(claims)
    ]
    outcome = Verdict.graded(
        0.9, Grading(), claims=tuple(made), detector=DetectorSpec(name="x", version="1"), reason="so"
    )
    passage = Passage(text="y" * length + END, metadata={"note": "m" * length + END})
    return Interaction(question="q", contexts=[passage], answer=answer), outcome


# -- what is judged ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lexical", "embedded"])
def test_where_a_passage_says_it_changes_no_verdict(name):
    """At the beginning or behind 60,000 characters, of one text or of several: it is found all the same."""
    checker = Checker(name)
    for answer, grounded in ((FEE, True), ("The fee for a second bag is 75 EUR.", False)):
        outcomes = [
            checker.check(Interaction(question="The fee?", contexts=contexts, answer=answer))
            for contexts in (
                [f"{FEE} {LONG}"],
                [f"{LONG}{FEE} {LONG}"],
                [f"{LONG}{LONG}{FEE}"],
                [LONG, LONG, FEE],
            )
        ]
        assert {outcome.hallucinated for outcome in outcomes} == {not grounded}


@pytest.mark.parametrize("name", ["lexical", "embedded"])
def test_the_end_of_an_answer_is_judged_as_its_beginning_is(name):
    answer = FILLER * 100 + "The fee for a second bag is 75 EUR."
    outcome = Checker(name).check(Interaction(contexts=f"{FILLER * 100} {FEE}", answer=answer))
    assert outcome.hallucinated
    assert any(span.end > len(FILLER) * 100 for span in outcome.spans)


# Guardrails take no prompt, and 1,000 characters of a question: docs/detectors.md says so.
ASKS = [
    name
    for name in detectors.names()
    if getattr(detectors.get(name), "needs_model", False) is True and name != "bedrock_grounding"
]


@pytest.mark.parametrize("name", ASKS)
def test_a_text_that_begins_in_a_prompt_ends_there(name):
    """Question, passages, answer and turn: what a method shows a model at all, it shows whole."""
    asked = []

    def model(system, user):
        asked.append(user)
        return "{}"

    def text(part):
        return f"zqbegin{part} {FILLER * 50}{END}{part}."

    judge = Judge(model, embeddings=lambda texts: asked.extend(texts) or [[1.0, 0.0] for _ in texts])
    Checker(name, judge=judge).check(
        Interaction(
            question=text("question"),
            contexts=[text("first"), text("second")],
            answer=text("answer"),
            history=[Turn(role=Role.USER, text=text("turn"))],
        )
    )
    told = "".join(asked)
    begun = [part for part in ("question", "first", "second", "answer", "turn") if f"zqbegin{part}" in told]
    assert begun
    assert [part for part in begun if f"{END}{part}" not in told] == []


def test_those_are_the_methods_that_ask():
    assert {"judge", "self_eval", "g_eval", "faithfulness", "stochastic"} <= set(ASKS)


def test_what_is_too_large_is_no_verdict_on_its_beginning():
    """One character more than the limit: nothing is judged, and the detail says that nothing was cut."""
    whole = Interaction(contexts=FEE, answer=FEE)
    for most, why in ((2 * len(FEE), None), (2 * len(FEE) - 1, AbstentionReason.OVER_BUDGET)):
        outcome = Checker("lexical", policy=Policy(max_characters=most)).check(whole)
        assert getattr(outcome, "why", None) is why
    assert "nothing was cut" in outcome.detail


# -- what is kept and sent -----------------------------------------------------------------------------


def test_what_is_kept_of_a_verdict_is_all_of_it():
    _, outcome = verdict(claims=300, length=10_000)
    kept = json.loads(json.dumps(wire.encode(outcome)))
    assert wire.decode(kept) == outcome
    assert len(kept["claims"]) == 300
    assert kept["claims"][299]["evidence"][0]["quote"].endswith(END)


def test_a_backend_that_cuts_attributes_cuts_no_verdict():
    """OpenTelemetry may be told to keep so many characters: score, level and status are other attributes."""
    telemetry = Telemetry(span_limits=SpanLimits(max_attribute_length=16))
    sink = telemetry.sink(include_text=True, verdict_spans=True)
    with telemetry.tracer.start_as_current_span("query"):
        address = locate()
    interaction, outcome = verdict(claims=40, length=5_000)
    sink.send(Told(interaction=interaction, outcome=outcome), address)
    sink.flush(5)
    (event,) = telemetry.events
    assert format_span_id(event.span_id) == address.span_id
    told = [dict(event.attributes), *(dict(one.attributes) for one in telemetry.spans.get_finished_spans())]
    assert any(0.9 in attributes.values() for attributes in told)
    assert all("hallucinat" not in str(k) or v not in (0.0, False) for one in told for k, v in one.items())


# -- what is shown -------------------------------------------------------------------------------------


def test_a_notebook_marks_what_it_cuts():
    _, outcome = verdict(claims=20, length=5_000)
    shown = card(outcome)
    assert END not in shown
    assert "… and 8 more" in shown
    assert len(re.findall("y…</bdi>”", shown)) == 12
    assert len(re.findall("</bdi> …", shown)) == 12


def test_a_report_marks_what_it_cuts():
    interaction, outcome = verdict(claims=1, length=150_000)
    shown = page.render([Entry(interaction=interaction, outcome=outcome)])
    assert "m" * 500 + "…" in shown
    assert "m" * 501 not in shown
    assert re.search(r"50,0\d\d more", shown)
    many, outcome = verdict(claims=250, length=3)
    assert re.search(r"\b50 more", page.render([Entry(interaction=many, outcome=outcome)]))


def test_a_terminal_marks_what_it_cuts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    answer = "The fee for a second bag is 75 EUR. " * 200
    (tmp_path / "in.jsonl").write_text(json.dumps({"contexts": [FEE], "answer": answer}))
    assert main(["check", "in.jsonl", "--detector", "lexical"]) == 1
    shown = capsys.readouterr().out
    assert "more characters" in shown
    assert re.search(r"… .*more|… \d+", shown)


def test_a_failed_assertion_marks_what_it_cuts():
    with pytest.raises(AssertionError) as told:
        assert_grounded(
            Interaction(answer="The fee for a second bag is 75 EUR, " + "and so on, " * 100, contexts=FEE),
            checker=Checker("lexical"),
        )
    assert "…" in str(told.value)
    assert "and so on, " * 30 not in str(told.value)


def test_a_retry_says_how_many_it_does_not_name():
    _, outcome = verdict(claims=14, length=2)
    assert "- and 4 more" in note(outcome)
    assert "more" not in note(verdict(claims=10, length=2)[1]).split("- ")[-1]


def test_an_abstention_marks_what_it_cuts_of_a_reply_or_an_error():
    def fails(system, user):
        raise ConnectionError("z" * 5_000)

    interaction = Interaction(contexts=FEE, answer=FEE)
    for model in (fails, lambda system, user: "z" * 5_000):
        outcome = Checker("judge", judge=Judge(model)).check(interaction)
        assert outcome.score is None
        assert "…" in outcome.detail
        assert len(outcome.detail) < 1_000
