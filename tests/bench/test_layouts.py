"""Datasets in their authors' layouts: made-up rows of the documented shape, read as the authors mean them."""

import json

import pytest

from groundwire.bench.datasets import load
from groundwire.bench.layouts import LAYOUTS
from groundwire.core.span import Span
from groundwire.tables import TableError


def lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def whole(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def parquet(path, rows):
    writer = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    path.parent.mkdir(parents=True, exist_ok=True)
    writer.write_table(pa.Table.from_pylist(rows), path)
    return path


def contexts(one):
    return [passage.text for passage in one.interaction.contexts]


def ragtruth(tmp_path):
    lines(
        tmp_path / "dataset" / "source_info.jsonl",
        [
            {
                "source_id": "1",
                "task_type": "QA",
                "source": "MARCO",
                "prompt": "...",
                "source_info": {
                    "question": "how long",
                    "passages": "passage 1:Two hours.\n\nStill the first.\n\npassage 2:Ten miles.\n\n",
                },
            },
            {"source_id": "2", "task_type": "Summary", "source": "CNN/DM", "source_info": "An article."},
            {"source_id": "3", "task_type": "Data2txt", "source": "Yelp", "source_info": {"name": "Sub"}},
        ],
    )
    mark = {"start": 3, "end": 8, "text": "three", "label_type": "Evident Conflict", "meta": ""}
    beside = {"temperature": 0.7, "quality": "good"}
    rows = [
        {"id": "10", "source_id": "1", "model": "gpt-4-0613", "labels": [mark], "split": "test", **beside},
        {"id": "11", "source_id": "2", "model": "llama", "labels": [], "split": "train", **beside},
        {"id": "12", "source_id": "3", "model": "llama", "labels": [], "split": "test", **beside},
    ]
    lines(
        tmp_path / "dataset" / "response.jsonl",
        [{**row, "response": "It three hours takes."} for row in rows],
    )
    return tmp_path


def test_ragtruth(tmp_path):
    """Marked words make the label; passages are told apart; records are JSON; a split can be chosen."""
    qa, summary, data = load(ragtruth(tmp_path), layout="ragtruth")
    assert (qa.label, qa.spans, qa.group, qa.task, qa.model) == (
        *(True, (Span(3, 8),), "1", "qa", "gpt-4-0613"),
    )
    assert contexts(qa) == ["passage 1:Two hours.\n\nStill the first.", "passage 2:Ten miles."]
    assert qa.interaction.question == "how long"
    assert (summary.label, summary.spans, contexts(summary)) == (False, (), ["An article."])
    assert json.loads(contexts(data)[0]) == {"name": "Sub"}
    test = load(tmp_path / "dataset" / "response.jsonl", layout="ragtruth:test")
    assert [one.id for one in test] == ["ragtruth-10", "ragtruth-12"]
    with pytest.raises(TableError, match="no example of the split 'dev'"):
        load(tmp_path, layout="ragtruth:dev")


def test_halueval(tmp_path):
    """Each row is a right and a wrong answer; general data has people's label and no context."""
    qa = {"knowledge": "k", "question": "q", "right_answer": "yes", "hallucinated_answer": "no"}
    right, wrong = load(lines(tmp_path / "qa_data.json", [qa]), layout="halueval")
    assert [(one.label, one.interaction.answer) for one in (right, wrong)] == [(False, "yes"), (True, "no")]
    assert right.group == wrong.group
    summary = {"document": "d", "right_summary": "r", "hallucinated_summary": "h"}
    assert [one.task for one in load(lines(tmp_path / "s.json", [summary]), layout="halueval")] == [
        *("summary", "summary"),
    ]
    told = {"ID": "1", "user_query": "u", "chatgpt_response": "c", "hallucination": "yes"}
    (general,) = load(lines(tmp_path / "general_data.json", [told]), layout="halueval")
    assert (general.label, general.interaction.contexts) == (True, ())


def test_halubench(tmp_path):
    row = {"id": "a", "passage": "p", "question": "q", "answer": "x", "label": "FAIL", "source_ds": "DROP"}
    path = parquet(tmp_path / "test.parquet", [row, {**row, "id": "b", "label": "PASS"}])
    fail, fine = load(path, layout="halubench")
    assert (fail.label, fine.label, fail.task) == (True, False, "DROP")


def test_faithbench(tmp_path):
    """The worst label of a sample counts; benign words are no hallucination, and no marks."""

    def sample(number, *labels):
        marks = [
            {"annot_id": at, "label": label, "summary_start": 4, "summary_end": 9, "note": ""}
            for at, label in enumerate(labels)
        ]
        return {
            "sample_id": number,
            "source": f"s{number}",
            "summary": "The great film.",
            "annotations": marks,
            "metadata": {"summarizer": "m"},
        }

    batch = {
        "samples": [
            sample(0, ["Unwanted", "Unwanted.Instrinsic"], ["Benign"]),
            sample(1, ["Benign"]),
            sample(2),
            sample(3, ["Questionable"]),
        ]
    }
    whole(tmp_path / "data_for_release" / "batch_10.json", batch)
    whole(tmp_path / "data_for_release" / "batch_2.json", {"samples": [sample(0)]})
    found = load(tmp_path, layout="faithbench")
    assert [one.label for one in found] == [False, True, False, False, True]
    assert [one.spans for one in found][1:3] == [(Span(4, 9),), ()]
    assert found[1].id == "faithbench-batch_10-0"
    assert found[1].model == "m"


def test_ragbench(tmp_path):
    """Unsupported sentences are found in the response, though keys differ by a stop; lost ones unmark it."""
    row = {
        "id": "1",
        "question": "q",
        "documents": ["d1", "d2"],
        "dataset_name": "covidqa_test",
        "response": "It is so. It is not.",
        "generation_model_name": "gpt-3.5-turbo-0125",
        "response_sentences": [["a.", "It is so."], ["b", "It is not."]],
        "unsupported_response_sentence_keys": ["b."],
        "adherence_score": False,
    }
    lost = {**row, "id": "2", "unsupported_response_sentence_keys": ["z"]}
    none = {**row, "id": "3", "unsupported_response_sentence_keys": []}
    path = parquet(tmp_path / "covidqa" / "test-00000-of-00001.parquet", [row, lost, none])
    one, other, unnamed = load(path.parent, layout="ragbench")
    assert (one.label, one.spans, one.task) == (True, (Span(10, 20),), "covidqa_test")
    assert contexts(one) == ["d1", "d2"]
    assert (other.label, other.spans) == (True, None)
    assert (unnamed.label, unnamed.spans) == (True, None), "nobody said which sentence it is"


def test_llm_aggrefact(tmp_path):
    """Its 1 is supported, which is no hallucination."""
    rows = [{"dataset": "RAGTruth", "doc": "d", "claim": "c", "label": label} for label in (1, 0)]
    assert [one.label for one in load(parquet(tmp_path / "t.parquet", rows), layout="llm-aggrefact")] == [
        *(False, True),
    ]


def test_financebench(tmp_path):
    """Models that were given the evidence are judged by people's label; a refusal has none."""
    row = {
        "financebench_id": "f1",
        "doc_name": "3M_2018_10K",
        "question_type": "metrics-generated",
        "question": "q",
        "answer": "$1577.00",
        "evidence": [{"evidence_text": "short", "evidence_text_full_page": "the page"}],
    }
    path = lines(tmp_path / "data" / "financebench_open_source.jsonl", [row])
    (reference,) = load(path, layout="financebench")
    assert (reference.label, contexts(reference), reference.group) == (False, ["the page"], "3M_2018_10K")
    told = [
        {
            "financebench_id": "f1",
            "model_name": "gpt-4",
            "eval_mode": mode,
            "question": "q",
            "gold_answer": 1577,
            "model_answer": "1,577",
            "label": label,
        }
        for mode, label in (
            ("oracle", "Correct Answer"),
            ("oracle", "Incorrect Answer"),
            ("oracle", "Refusal"),
            ("closedBook", "Correct Answer"),
        )
    ]
    lines(tmp_path / "results" / "gpt-4_oracle.jsonl", told)
    assert [one.label for one in load(tmp_path, layout="financebench")] == [False, True, None]


def test_sets_of_reference_answers(tmp_path):
    """PubMedQA, DROP and COVID-QA hold right answers alone: all are grounded, by document."""
    pubmed = {"12": {"QUESTION": "q", "CONTEXTS": ["a", "b"], "LONG_ANSWER": "l", "final_decision": "yes"}}
    (one,) = load(whole(tmp_path / "ori_pqal.json", pubmed), layout="pubmedqa")
    assert (one.label, one.interaction.answer, one.group, contexts(one)) == (False, "l", "12", ["a", "b"])

    def answer(**given):
        return {"number": "", "date": {"day": "", "month": "", "year": ""}, "spans": [], **given}

    pairs = [
        {"query_id": "1", "question": "q", "answer": answer(number="3")},
        {"query_id": "2", "question": "q", "answer": answer(spans=["Ann", "Bo"])},
        {
            "query_id": "3",
            "question": "q",
            "answer": answer(date={"day": "", "month": "May", "year": "1377"}),
        },
    ]
    drop = {"nfl_1": {"passage": "p", "qa_pairs": pairs}}
    found = load(whole(tmp_path / "drop.json", drop), layout="drop")
    assert [one.interaction.answer for one in found] == ["3", "Ann, Bo", "May 1377"]
    asked = {"id": 5, "question": "q", "answers": [{"text": "t", "answer_start": 0}], "is_impossible": False}
    none = {"id": 6, "question": "q", "answers": [], "is_impossible": True}
    covid = {"data": [{"paragraphs": [{"context": "c", "document_id": 9, "qas": [asked, none]}]}]}
    (one,) = load(whole(tmp_path / "covidQA.json", covid), layout="covid-qa")
    assert (one.id, one.group, one.label) == ("covidqa-5", "9", False)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_dataset_that_is_not_there_says_how_to_get_it(tmp_path, name):
    """Nothing is downloaded: the message names what to fetch, and its licence."""
    with pytest.raises(TableError) as caught:
        load(tmp_path / "nowhere", layout=name)
    assert LAYOUTS[name].get in str(caught.value)


@pytest.mark.parametrize("name", LAYOUTS)
def test_rows_of_another_layout_are_told(tmp_path, name):
    """A file of the wrong shape is an error that names the layout, and never an empty set."""
    lines(tmp_path / "source_info.jsonl", [{"source_id": "1"}])
    rows = [{"source_id": "1", "unknown": 1}]
    path = lines(tmp_path / "response.jsonl", rows)
    with pytest.raises(TableError):
        load(path, layout=name)


def test_unknown_layouts_and_needless_columns_are_told(tmp_path):
    with pytest.raises(TableError, match="no layout is called 'squad': expected one of ragtruth, "):
        load(tmp_path, layout="squad")
    with pytest.raises(TableError, match="leave out columns"):
        load(tmp_path, layout="drop", columns={"label": "x"})
    with pytest.raises(TableError, match="DROP tells no splits"):
        load(tmp_path, layout="drop:dev")
