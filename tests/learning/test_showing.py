"""Reviewed answers as a judge's examples: few, both kinds, as they are kept, and never the answer itself."""

import json
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

import groundwire as gw
from groundwire import Checker, ConfigurationError, InputError, Interaction, config
from groundwire.bench.examples import Example as Labelled
from groundwire.bench.runs import judge
from groundwire.core.example import Example, Examples
from groundwire.learning import reviewed_examples, save_examples
from groundwire.monitor import Monitor, Redaction
from tests.monitor.told import verdict


def keep(monitor, n, *, wrong, flagged, note="", spans=None, answer=None):
    seen = Interaction(
        question=f"What does bag {n} cost?",
        contexts=f"Bag {n} costs {n} EUR. Write to ann@example.com.",
        answer=answer or f"Bag {n} costs {n + 50 * wrong} EUR.",
    )
    key = monitor.keep(seen, verdict(0.9 if flagged else 0.1), durable=True)
    opinion = "agree" if wrong is flagged else "disagree"
    monitor.review(key, opinion, reviewer="ann", note=note, spans=spans)
    return key


def test_a_choice_is_of_both_kinds_and_corrections_come_first(monitor):
    keep(monitor, 1, wrong=True, flagged=True)
    missed = keep(monitor, 2, wrong=True, flagged=False, note="the page says 2")
    keep(monitor, 3, wrong=False, flagged=False)
    alarm = keep(monitor, 4, wrong=False, flagged=True)
    keep(monitor, 5, wrong=True, flagged=True, answer="x" * 9000)
    found = list(reviewed_examples(monitor, limit=2))
    assert [one.interaction.question for one in found] == [
        monitor.get(key).interaction.question for key in (missed, alarm)
    ]
    assert [(one.score, one.reason) for one in found] == [(1.0, "the page says 2"), (0.0, "")]
    whole = reviewed_examples(monitor)
    assert [one.score for one in whole] == [1.0, 0.0, 1.0, 0.0]  # none too long, and both kinds in turn


def test_answers_may_be_named_and_marked_words_are_the_reason(monitor):
    key = keep(monitor, 1, wrong=True, flagged=True, spans=[(12, 14)])
    (one,) = reviewed_examples(monitor, ids=[key])
    assert one.reason == "unsupported: 51"
    for ids, said in (([key, key], "at most 1 are shown"), (["nothing"], "no answer with the id")):
        with pytest.raises(InputError, match=said):
            reviewed_examples(monitor, ids=ids, limit=1)
    undecided = monitor.keep(Interaction(contexts="A.", answer="B."), verdict(0.9), durable=True)
    with pytest.raises(InputError, match="reviewers have not decided"):
        reviewed_examples(monitor, ids=[undecided])


def test_nothing_reviewed_is_no_example(monitor):
    with pytest.raises(InputError, match="no answer is reviewed that could be shown"):
        reviewed_examples(monitor)
    with pytest.raises(InputError, match="from 1 to 50"):
        reviewed_examples(monitor, limit=0)


@pytest.fixture
def shown(tmp_path):
    """A file of two examples, of a store that masks."""
    path = tmp_path / "examples.json"
    with Monitor(f"sqlite:///{tmp_path}/kept.db", redact=Redaction("emails")) as monitor:
        keep(monitor, 1, wrong=True, flagged=True, note="ask bob@example.com")
        keep(monitor, 2, wrong=False, flagged=True)
        save_examples(reviewed_examples(monitor), path)
    return path


def test_the_file_is_masked_private_new_and_read_by_settings(shown):
    assert "@example.com" not in shown.read_text(encoding="utf-8")
    assert stat.S_IMODE(shown.stat().st_mode) == 0o600
    with pytest.raises(ConfigurationError, match="is there already"):
        save_examples(Examples(), shown)
    settings = {"detector": {"name": "self_eval", "examples": str(shown)}}
    assert [one.score for one in load(settings).examples] == [1.0, 0.0]
    with pytest.raises(ConfigurationError, match=r"nothing\.json"):
        load({"detector": {"name": "self_eval", "examples": "nothing.json"}})
    shown.chmod(0o600)
    shown.write_text("[", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="is no JSON"):
        load(settings)


def load(settings):
    return config.load(settings).build_detector()


def asked(detector, interaction):
    """What a judge is sent about an interaction."""
    sent = []

    def model(system, user):
        sent.append(user)
        return "{}"

    Checker(detector, judge=gw.Judge(model)).check(interaction)
    return sent[0]


@pytest.mark.parametrize("name", ["judge", "self_eval", "contradiction"])
def test_no_judge_is_shown_the_answer_that_it_judges(name, shown):
    """The other example is shown alone; both are where another answer is judged."""
    rows = json.loads(shown.read_text(encoding="utf-8"))
    detector = gw.detectors.get(name)(examples=rows)
    for own, other in (rows, rows[::-1]):
        sent = asked(detector, Interaction(**asking(own)))
        assert "example 1 answer" in sent
        assert "example 2" not in sent
        assert other["answer"] in sent
    assert "example 2 answer" in asked(detector, Interaction(contexts="Else.", answer="It is so."))


def test_an_answer_is_known_again_where_its_example_is_masked(shown):
    first, second = json.loads(shown.read_text(encoding="utf-8"))
    hidden = {**first, "answer": "█" * len(first["answer"])}
    sent = asked(gw.detectors.get("judge")(examples=[hidden, second]), Interaction(**asking(first)))
    assert "example 1 answer" in sent
    assert "example 2" not in sent


def asking(row):
    return {name: row[name] for name in ("question", "contexts", "answer")}


@given(st.text(max_size=8), st.text(max_size=8), st.sets(st.integers(0, 7)))
def test_an_answer_is_known_again_behind_any_mask(question, answer, hidden):
    masked = "".join("█" if i in hidden else c for i, c in enumerate(answer))
    one = Example(interaction=Interaction(question=question, contexts="c", answer=masked), score=1.0)
    if answer.strip() and masked.strip() == masked and answer.strip() == answer:
        assert len(Examples([one]).without(question, answer)) == 0
    assert len(Examples([one]).without(question, answer + "x?")) == 1


def test_what_a_judge_was_shown_is_no_measure_of_it(shown):
    """Neither these answers, nor others from the same passages: a benchmark and a tuning refuse them."""
    detector = gw.detectors.get("self_eval")(examples=json.loads(shown.read_text(encoding="utf-8")))
    checker = Checker(detector, judge=gw.Judge(lambda system, user: "{}"))
    (row, _) = json.loads(shown.read_text(encoding="utf-8"))
    leaked = Labelled(
        id="row 7", interaction=Interaction(contexts=row["contexts"], answer="Other."), label=True
    )
    with pytest.raises(ConfigurationError, match=r"1 of the answers are from passages .* such as row 7"):
        judge([leaked], checker)
    clean = Labelled(id="1", interaction=Interaction(contexts="Else.", answer="Other."), label=True)
    assert len(list(judge([clean], checker))) == 1
