"""Labelled answers out of tables: under any column names, with marks and groups, and nothing left out."""

import gzip
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import InputError
from groundwire.bench.datasets import load
from groundwire.bench.examples import fingerprint, overlap, place, split
from groundwire.core.span import Span
from groundwire.tables import TableError
from tests.bench.answers import example


def written(tmp_path, rows, name="labelled.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


ROW = {"question": "q", "context": "The fee is 25 EUR.", "answer": "It is 75 EUR.", "label": 1}


def test_a_csv_with_the_usual_names(tmp_path):
    """Labels are numbers or words; spans may be JSON in a cell; an empty label is none."""
    path = tmp_path / "labelled.csv"
    path.write_text(
        "question,context,answer,label,spans,task\n"
        'q,c,It is 75.,hallucinated,"[[6, 8]]",fees\n'
        'q,c,It is 25.,0,"[]",fees\n'
        "q,c,Who knows.,,,times\n",
        encoding="utf-8",
    )
    bad, good, unknown = load(path)
    assert (bad.label, bad.spans, bad.task) == (True, (Span(6, 8),), "fees")
    assert (good.label, good.spans) == (False, ())
    assert (unknown.label, unknown.spans) == (None, None)
    assert bad.group == good.group, "the same document"


def test_spans_are_read_as_pandas_writes_them(tmp_path):
    """A column of lists, written by to_csv, is in Python's words and not in JSON's."""
    path = tmp_path / "labelled.csv"
    path.write_text(
        "context,answer,label,spans\n"
        "c,It is 75.,1,\"[{'start': 6, 'end': 8, 'text': '75', 'note': None}]\"\n"
        'c,It is 76.,1,"[(6, 8)]"\n'
    )
    assert [one.spans for one in load(path)] == [(Span(6, 8),), (Span(6, 8),)]
    floats = {"start": 6.0, "end": 8.0}  # numbers beside a null
    (one,) = load(written(tmp_path, [{"context": "c", "answer": "It is 75.", "label": 1, "spans": [floats]}]))
    assert one.spans == (Span(6, 8),)


def test_ragas_columns(tmp_path):
    """user_input, retrieved_contexts and response are known; the label's column is named."""
    row = {"user_input": "q", "retrieved_contexts": ["a", "b"], "response": "r", "human": "faithful"}
    (one,) = load(written(tmp_path, [row]), columns={"label": "human"})
    assert one.label is False
    assert [passage.text for passage in one.interaction.contexts] == ["a", "b"]


def test_named_columns_may_lie_in_nested_objects(tmp_path):
    """Group, model and marks wherever they are."""
    row = {
        "inputs": {"q": "q", "docs": ["c"]},
        "outputs": {"text": "Some answer."},
        "meta": {"doc": 7, "llm": "m", "bad": [{"start": 0, "end": 4}]},
    }
    columns = {"question": "inputs.q", "context": "inputs.docs", "answer": "outputs.text"}
    columns |= {"spans": "meta.bad", "group": "meta.doc", "model": "meta.llm"}
    (one,) = load(written(tmp_path, [row]), columns=columns)
    assert (one.group, one.model, one.spans) == ("7", "m", (Span(0, 4),))
    assert one.label is True, "marked words make a label where there is none"


def test_parquet_and_gzip_are_read_too(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    parquet.write_table(pa.Table.from_pylist([ROW]), tmp_path / "labelled.parquet")
    with gzip.open(tmp_path / "labelled.jsonl.gz", "wt") as file:
        file.write(json.dumps(ROW))
    for name in ("labelled.parquet", "labelled.jsonl.gz"):
        assert [one.label for one in load(tmp_path / name)] == [True]


def test_where_nobody_marked_words_there_are_no_marks(tmp_path):
    """Empty lists all over, or in a hallucinated answer, are no claim that nothing is wrong in it."""
    good = {**ROW, "label": 0, "spans": []}
    assert [one.spans for one in load(written(tmp_path, [{**ROW, "spans": []}, good]))] == [None, None]
    marked = {**ROW, "spans": [{"start": 0, "end": 2}]}
    found = load(written(tmp_path, [{**ROW, "spans": []}, good, marked]))
    assert [one.spans for one in found] == [None, (), (Span(0, 2),)]


@pytest.mark.parametrize("empty", ["", None, []])
def test_a_grounded_answer_beside_marked_ones_has_nothing_to_mark(tmp_path, empty):
    """Whether its cell is an empty list or just empty: what is marked in it is marked for nothing."""
    given = [{**ROW, "spans": [[0, 2]]}, {**ROW, "label": 0, "spans": empty}, {**ROW, "label": None}]
    assert [one.spans for one in load(written(tmp_path, given))] == [(Span(0, 2),), (), None]


@pytest.mark.parametrize("label", ["", None])
def test_an_empty_list_beside_an_empty_label_labels_nothing(tmp_path, label):
    """Tools for annotation export one for every answer that nobody has looked at."""
    given = [{**ROW, "spans": [[0, 2]]}, {**ROW, "label": 0}, {**ROW, "label": label, "spans": []}]
    found = load(written(tmp_path, given))
    assert [(one.label, one.spans) for one in found] == [(True, (Span(0, 2),)), (False, ()), (None, None)]


def test_a_column_of_spans_may_be_called_label(tmp_path):
    """As programs for marking words export it: then it is no column of labels."""
    marks = [{"start": 6, "end": 8, "text": "75", "labels": ["Hallucination"]}]
    given = [{**ROW, "answer": "It is 75.", "label": spans} for spans in (marks, [])]
    found = load(written(tmp_path, given), columns={"spans": "label"})
    assert [(one.label, one.spans) for one in found] == [(True, (Span(6, 8),)), (False, ())]


def test_without_a_column_of_labels_marks_alone_tell_them(tmp_path):
    """An empty list says that nothing is wrong, if anybody marked anything; no list says nothing."""
    row = {"context": "c", "answer": "It is 75."}
    given = [{**row, "spans": spans} for spans in ([[6, 8]], [], None)]
    found = load(written(tmp_path, given))
    assert [(one.label, one.spans) for one in found] == [(True, (Span(6, 8),)), (False, ()), (None, None)]
    assert [one.label for one in load(written(tmp_path, given[1:]))] == [None, None]


def test_a_spans_own_text_must_stand_there(tmp_path):
    """Offsets in bytes name other words; how the text is spaced does not matter."""
    row = {"context": "c", "answer": "Größe: 90\nEUR, nicht mehr.", "label": 1}
    told = {"start": 7, "end": 13, "text": " 90 EUR"}
    (one,) = load(written(tmp_path, [{**row, "spans": [told]}]))
    assert one.spans == (Span(7, 13),)
    assert load(written(tmp_path, [{**row, "spans": [{**told, "text": ""}]}])) == [one], (
        "an empty text says none"
    )
    with pytest.raises(TableError, match="offsets must count characters, and not bytes"):
        load(written(tmp_path, [{**row, "spans": [{**told, "start": 9, "end": 15}]}]))


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({**ROW, "label": "maybe"}, "the label 'maybe' is none"),
        ({**ROW, "spans": [[0, 99]]}, "reaches past an answer of 13 characters"),
        ({**ROW, "label": 0, "spans": [[0, 2]]}, "labelled grounded, and words of it are marked"),
        ({**ROW, "spans": "0-4"}, "the spans are no JSON"),
        ({**ROW, "spans": [{"from": 0}]}, "a span must be"),
        ({**ROW, "spans": [[4, 1]]}, "0 <= start <= end"),
        ({**ROW, "spans": [[0.5, 1]]}, "a pair of whole numbers"),
        ({**ROW, "spans": [[0, float("inf")]]}, "a pair of whole numbers"),
        ({**ROW, "answer": 5}, "answer must be a str"),
    ],
)
def test_a_row_that_cannot_be_measured_stops_all_and_is_named(tmp_path, row, told):
    """Its line, what is wrong, and what to do; nothing is left out silently."""
    with pytest.raises(TableError, match=r"1 rows can't be measured: line 2: ") as caught:
        load(written(tmp_path, [ROW, row]))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"verdict": "x"}, "no part of an example is called 'verdict'"),
        ({"task": "topic"}, r"no column is called 'topic' \(--columns task=COLUMN\)"),
        ({"answer": "reply"}, r"no column is called 'reply' \(--columns answer=COLUMN\)"),
    ],
)
def test_columns_that_are_not_there_are_told(tmp_path, columns, told):
    with pytest.raises(TableError, match=told):
        load(written(tmp_path, [ROW]), columns=columns)


def test_the_usual_names_are_found_however_they_are_written(tmp_path):
    """Case, blanks and hyphens tell no column apart: a group that is not read makes intervals too narrow."""
    row = {"Context": "c", "Answer": "It is 75.", "Label": "Fail", "Doc-ID": 7, "Task Type": "fees"}
    (one,) = load(written(tmp_path, [{**row, "SPANS": [[6, 8]], "Model": "m"}]))
    assert (one.label, one.group, one.task, one.model, one.spans) == (True, "7", "fees", "m", (Span(6, 8),))


def test_a_column_that_is_missing_is_named_as_the_commands_name_one(tmp_path):
    """Benchmarks and tunings have one option for all columns, and not one for each."""
    with pytest.raises(TableError, match=r"name it with --columns context=COLUMN"):
        load(written(tmp_path, [{"Kontext": "c", "answer": "a", "label": 1}]))


def test_an_empty_table_is_told(tmp_path):
    with pytest.raises(TableError, match="holds no row"):
        load(written(tmp_path, []))


def test_spans_past_the_answer_are_no_example():
    with pytest.raises(InputError, match="reaches past"):
        example(1, answer="short", spans=(Span(0, 9),))


def test_repeats_contradictions_and_leaks_are_told():
    """However it is spaced, the same answer counts once too often; a shared passage is a leak."""
    first = [example(1), example(2), example(3, label=False)]
    again = example(4, answer="Answer  1.", contexts="passage 1 says so.", label=False)
    again = type(again)(
        id="row-4",
        label=False,
        interaction=type(again.interaction)(
            question="question 1?", contexts="passage 1 says so.", answer="Answer  1."
        ),
    )
    found = overlap({"train": [*first, again], "test": [example(3), example(9)]})
    assert found.repeated["train"] == [("row-1", "row-4")]
    assert found.disagreeing["train"] == [("row-1", "row-4")]
    assert found.leaks == {("train", "test"): 1}
    assert len(found.lines()) == 3
    assert not overlap({"one": first})


def test_of_many_that_are_alike_a_few_are_named():
    """An answer that comes up a hundred times does not fill the report with its ids."""
    (line,) = overlap({"set": [example(1, group="one") for _ in range(100)]}).lines()
    assert line == (
        "set: answers that repeat an earlier one: 99, such as row-1 = row-1 = row-1 = row-1 and 96 more"
    )


def test_a_repeat_without_a_label_disagrees_with_nothing():
    found = overlap({"set": [example(1), example(1, label=None)]})
    assert not found.disagreeing["set"]
    assert found.repeated["set"]


def test_sources_that_share_a_passage_are_told():
    """They would be drawn and held out by themselves, though they may be one document."""
    partly = example(3, contexts=["Passage  1 says so.", "Another."])
    given = [example(1, group="a"), example(2), example(2), example(4, group="a"), partly]
    found = overlap({"set": given})
    assert found.parted["set"] == [{"a": "row-1", partly.group: "row-3"}]
    assert any("set: sources that share a passage with another: 2, such as" in line for line in found.lines())
    assert not overlap({"set": given[:-1]}).parted["set"]
    named = [replace(partly, group="b"), example(1, group="a")]
    assert not overlap({"set": named}).parted["set"], "retrieved for both, which have names of their own"
    (same,) = overlap({"set": [*named, replace(partly, group="c")]}).parted["set"]
    assert set(same) == {"b", "c"}


@given(st.lists(st.integers(0, 8), min_size=1, max_size=40), st.floats(0.1, 0.9))
def test_a_group_is_never_split(groups, held_out):
    """All answers about a source fall on one side, whatever else there is."""
    examples = [example(n, group=f"source {group}") for n, group in enumerate(groups)]
    fit, rest = split(examples, held_out=held_out, seed="x")
    assert {one.group for one in fit}.isdisjoint(one.group for one in rest)
    assert len(fit) + len(rest) == len(examples)
    more = split([*examples, example(99, group="another")], held_out=held_out, seed="x")
    assert fit == [one for one in more[0] if one.id != "row-99"]


def test_a_split_is_about_as_large_as_asked():
    places = [place(f"source {n}") for n in range(2_000)]
    assert sum(at >= 0.8 for at in places) / 2_000 == pytest.approx(0.2, abs=0.03)


def test_a_fingerprint_changes_with_labels_unless_they_are_left_out():
    one, other = [example(1)], [example(1, label=False)]
    assert fingerprint(one) != fingerprint(other)
    assert fingerprint(one, labels=False) == fingerprint(other, labels=False)
    assert fingerprint(one) == fingerprint([example(1)])
