"""Tables of answers are read row by row, and what can't be read is named by its line."""

import bz2
import csv
import gzip
import io
import itertools
import json
import lzma
import pprint
import threading
import warnings
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.tables import Columns, Format, TableError, delimited, form, pieces, read, records

ROW = {"question": "Fee?", "context": ["It is 25 EUR.", "Bags are free."], "answer": "25 EUR.", "label": 0}
TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)


def table(data, *, name="", columns=None, kind=None):
    data = data.encode() if isinstance(data, str) else data
    return read(io.BytesIO(data), name=name, columns=columns, kind=kind)


def rows(data, **options):
    return list(table(data, **options).rows)


def lines(*objects):
    return "\n".join(json.dumps(one) for one in objects)


def as_csv(header, *cells, delimiter=","):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows([header, *cells])
    return out.getvalue()


def as_parquet(*objects):
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(objects)), out)
    return out.getvalue()


def one_row(delimiter=",", listed=json.dumps):
    return as_csv(list(ROW), ["Fee?", listed(ROW["context"]), "25 EUR.", "0"], delimiter=delimiter).encode()


TABLES = {
    "runs.jsonl": lines(ROW).encode(),
    "runs.ndjson": b"\xef\xbb\xbf" + lines(ROW).encode() + b"\r\n",
    "array.json": json.dumps([ROW]).encode(),
    "indented.json": json.dumps([ROW], indent=2).encode(),
    "object.json": json.dumps(ROW, indent=2).encode(),
    "lines.json": lines(ROW).encode(),
    "runs.csv": one_row(),
    "excel.csv": b"\xef\xbb\xbf" + one_row(),
    "semicolons.csv": one_row(";"),
    "pandas.csv": one_row(listed=repr),
    "runs.tsv": one_row("\t"),
    "runs.parquet": as_parquet(ROW),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("zipped", [False, True])
def test_every_format_gives_the_same_interaction(name, zipped):
    """JSON lines, JSON, CSV, TSV and Parquet, plain or gzip'd, hold one and the same row."""
    data = gzip.compress(TABLES[name]) if zipped else TABLES[name]
    (row,) = rows(data, name=name + (".gz" if zipped else ""))
    assert row.problem == ""
    assert row.interaction.question == "Fee?"
    assert [passage.text for passage in row.interaction.contexts] == ROW["context"]
    assert row.interaction.answer == "25 EUR."
    assert row.label == 0


@pytest.mark.parametrize("name", TABLES)
def test_a_stream_without_a_name_is_recognised_by_its_content(name):
    """Standard input says nothing of its format; the first bytes do. Only tabs need no telling apart."""
    (row,) = rows(TABLES[name])
    assert row.interaction.answer == "25 EUR."


def test_the_format_can_be_named():
    """A name that misleads is overruled."""
    (row,) = rows(TABLES["runs.jsonl"], name="runs.csv", kind=Format.JSONL)
    assert row.interaction.answer == "25 EUR."


@pytest.mark.parametrize(
    ("question", "context", "answer"),
    [
        ("question", "contexts", "answer"),
        ("user_input", "retrieved_contexts", "response"),
        ("input", "retrieval_context", "actual_output"),
        ("Query", "Source Documents", "Generation"),
        ("userInput", "sourceDocuments", "modelAnswer"),
        ("prompt", "passages", "prediction"),
    ],
)
def test_the_usual_column_names_are_found(question, context, answer):
    """Also with other case, blanks and hyphens, or in camel case; and the table says which it took."""
    found = table(lines({question: "Q", context: "C", answer: "A"}))
    (row,) = found.rows
    assert (row.interaction.question, row.interaction.answer) == ("Q", "A")
    assert row.interaction.contexts[0].text == "C"
    assert found.columns == {"question": question, "context": context, "answer": answer}


def test_what_was_retrieved_and_generated_comes_before_what_a_test_set_holds_to_be_right():
    """DeepEval keeps ``context`` beside ``retrieval_context``, others an ``answer`` beside the model's."""
    case = {
        "input": "Q",
        "context": ["ideal"],
        "retrieval_context": ["C"],
        "answer": "right",
        "actual_output": "A",
    }
    (row,) = rows(lines(case))
    assert ([passage.text for passage in row.interaction.contexts], row.interaction.answer) == (["C"], "A")
    camel = {
        "input": "Q",
        "context": ["ideal"],
        "retrievalContext": ["C"],
        "answer": "right",
        "actualOutput": "A",
    }
    (row,) = rows(lines(camel))
    assert ([passage.text for passage in row.interaction.contexts], row.interaction.answer) == (["C"], "A")
    (row,) = rows(lines({"context": "C", "answer": "right", "Generated Answer": "A"}))
    assert row.interaction.answer == "A"


def test_columns_can_be_named_also_inside_objects():
    """A name with dots leads into nested objects, and overrules what would have been found."""
    run = {"answer": "not this", "inputs": {"q": "Q"}, "outputs": {"text": "A", "docs": ["C"]}}
    columns = Columns(question="inputs.q", context="outputs.docs", answer="outputs.text")
    (row,) = rows(lines(run), columns=columns)
    assert (row.interaction.question, row.interaction.answer) == ("Q", "A")
    assert row.interaction.contexts[0].text == "C"


def test_columns_can_be_named_inside_objects_that_a_cell_holds_as_json():
    """In CSV exports of traces, inputs and outputs are JSON in a cell each."""
    run = [{"question": "Q"}, {"answer": "A", "documents": [{"page_content": "C"}, {"page_content": "D"}]}]
    columns = Columns(question="inputs.question", context="outputs.documents", answer="outputs.answer")
    data = as_csv(["inputs", "outputs"], [json.dumps(part) for part in run], ["{", "{broken}"])
    told, broken = rows(data, columns=columns)
    assert (told.interaction.question, told.interaction.answer) == ("Q", "A")
    assert [passage.text for passage in told.interaction.contexts] == ["C", "D"]
    assert "the row has no answer" in broken.problem
    with pytest.raises(TableError, match="'outputs' has 'answer', 'documents'"):
        table(data, columns=replace(columns, context="outputs.docs"))


@pytest.mark.parametrize("orient", ["columns", "list"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_frame_that_was_written_by_columns_is_refused_with_what_to_do(orient, count):
    """pandas does so unless it is told otherwise; as one row that can't be read it would puzzle anybody."""
    frame = pd.DataFrame([{"question": "Q", "contexts": ["C", "D"], "answer": "A"}] * count)
    written = json.dumps(frame.to_dict("list")) if orient == "list" else frame.to_json(orient=orient)
    with pytest.raises(TableError, match=r"^runs\.json: .*orient='records', lines=True"):
        table(written, name="runs.json")


def test_missing_columns_are_all_named_with_what_there_is():
    """The error names each column that is missing, its flag, and the columns of the file."""
    with pytest.raises(TableError) as caught:
        table(lines({"foo": 1, "answer": "a"}), name="runs.jsonl", columns=Columns(question="asked"))
    message = str(caught.value)
    assert message.startswith("runs.jsonl: ")
    assert "no column is called 'asked' (--question)" in message
    assert "name it with --context" in message
    assert "'foo', 'answer'" in message
    assert "--answer" not in message


def test_where_a_table_has_two_context_columns_the_first_with_a_value_is_taken():
    """A null in the better column doesn't hide the other."""
    first, second = rows(
        lines(
            {"context": "one text", "contexts": None, "answer": "a"},
            {"context": "one text", "contexts": ["several", "texts"], "answer": "a"},
        )
    )
    assert [passage.text for passage in first.interaction.contexts] == ["one text"]
    assert [passage.text for passage in second.interaction.contexts] == ["several", "texts"]


def test_a_score_that_no_float_holds_is_none():
    """It stands beside the text, which is judged all the same."""
    listed = [{"text": "c", "score": 10**400}, {"text": "d", "score": 2}]
    (row,) = rows(lines({**ROW, "context": listed}))
    assert [passage.score for passage in row.interaction.contexts] == [None, 2.0]


def test_a_context_may_be_objects_with_text_metadata_and_score():
    """LangChain's and LlamaIndex's field names are understood; other fields are kept as metadata."""
    context = [
        {"page_content": "one", "metadata": {"source": "a.md"}, "id": 5},
        {"text": "two", "score": 0.5, "page": 3},
        {"content": "three"},
        "four",
    ]
    (row,) = rows(lines({"context": context, "answer": "a"}))
    one, two, three, four = row.interaction.contexts
    assert (one.text, one.id, one.metadata) == ("one", "5", {"source": "a.md"})
    assert (two.text, two.score, two.metadata) == ("two", 0.5, {"page": 3})
    assert (three.text, four.text) == ("three", "four")


@pytest.mark.parametrize("text", ['[{"a": 1}]', "[see 1]", "[1, 2]", "[", "[" * 5_000 + "]" * 5_000])
def test_a_cell_that_only_looks_like_a_list_is_a_text(text):
    """Data in brackets is one passage, unchanged."""
    (row,) = rows(as_csv(["context", "answer"], [text, "a"]))
    assert [passage.text for passage in row.interaction.contexts] == [text]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("xx", "not JSON: Expecting value at column 1"),
        ('{"answer": "a"', "not JSON"),
        ("[1]", "a row must be a JSON object, not list"),
        ('{"context": "c"}', "the row has no answer"),
        ('{"context": "c", "answer": null}', "answer is None: no answer to judge was given"),
        ('{"context": "c", "answer": 42}', "answer must be a str, not int 42"),
        ('{"context": 5, "answer": "a"}', "contexts must be a str"),
        ('{"context": ["c", 5], "answer": "a"}', "contexts[1] must be a str, not int 5"),
        ('{"context": ["c", null], "answer": "a"}', "contexts[1] is None: no text was given"),
        ('{"context": [{"url": "u"}], "answer": "a"}', "contexts[0] has no text"),
        (
            '{"context": [{"text": null, "page": 1}], "answer": "a"}',
            "contexts[0] has no text: 'text' must be a str, not NoneType None",
        ),
        ('{"question": 1, "context": "c", "answer": "a"}', "question must be a str, not int 1"),
        (b'{"context": "c", "answer": "\xff"}', "not UTF-8: byte 0xff at position 29"),
        ("[" * 100_000, "not JSON"),
        ('{"context": ' + "9" * 5_000 + "}", "not JSON"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_by_its_line_and_the_rest_is_read(row, problem):
    """One bad line costs one row: the problem says what was wrong, in the file's own place."""
    good = lines(ROW).encode()
    row = row.encode() if isinstance(row, str) else row
    first, second, third = rows(b"\n".join([good, b"", row, good]), name="runs.jsonl")
    assert problem in second.problem
    assert second.interaction is None
    assert (first.line, second.line, third.line) == (1, 3, 4)
    assert second.id == "runs.jsonl:3"
    assert first.interaction.answer == third.interaction.answer == "25 EUR."


def test_bad_rows_of_a_delimited_table_are_named_and_the_rest_is_read():
    """Too few cells, stray quotes, other encodings; lines are counted through cells that span several."""
    data = b'context,answer\n"c\nd",a\nc\n"x"y,a\nc,\xe9\n\nc,last\n'
    good, short, quoted, latin, last = rows(data, name="runs.csv")
    assert (good.line, good.interaction.contexts[0].text) == (2, "c\nd")
    assert (short.line, short.problem) == (4, "1 cell, where the header has 2")
    assert quoted.line == 5
    assert "not CSV" in quoted.problem
    assert (latin.line, latin.problem[:9]) == (6, "not UTF-8")
    assert (last.line, last.interaction.answer) == (8, "last")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (
            '[{"context": "c", "answer": "a"},\n{"context": },\n{"answer": "b"}]',
            "line 2 is not JSON: Expecting value; nothing after it can be read",
        ),
        ('[{"context": "c", "answer": "a"}\n', "the array is never closed: the file is cut off at line 2"),
        ('[{"context": "c", "answer": "a"}]\n{}', "line 2 has more after the end of the array"),
        (
            'context,answer\nc,a\n"c,a\nc,a\nc,a\n',
            "a quote that opens in line 3 is never closed; nothing after it can be read",
        ),
    ],
)
def test_where_nothing_more_can_be_read_the_file_is_at_fault_and_no_row(data, problem):
    """What came before is judged. How many rows are lost is not known, so they can't count as one."""
    found = iter(table(data, name="runs").rows)
    assert next(found).interaction.answer == "a"
    with pytest.raises(TableError, match=f"^runs: {problem}"):
        next(found)


def test_parquet_holds_lists_objects_and_bytes():
    """Lists and structs are contexts; bytes are refused by name."""
    objects = as_parquet({"answer": "a", "documents": [{"text": "one", "id": "1"}]})
    assert rows(objects)[0].interaction.contexts[0].id == "1"
    binary = rows(as_parquet({"answer": b"a", "documents": "c"}))[0]
    assert "answer must be a str, not bytes" in binary.problem


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"PK\x03\x04\x14\x00", "an Excel workbook, .* save the sheet as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Excel workbook"),
        (bz2.compress(lines(ROW).encode()), "packed with bzip2: unpack it"),
        (lzma.compress(lines(ROW).encode()), "packed with xz: unpack it"),
        (bytes(range(256)), "binary data, and no table: expected JSON lines"),
    ],
)
@pytest.mark.parametrize("name", ["x", "x.csv", "x.jsonl"])
def test_a_file_that_is_no_text_is_refused_as_what_it_is(data, what, name):
    """In a sentence, and not as a thousand rows that can't be read."""
    with pytest.raises(TableError, match=rf"^{name}: the file is {what}"):
        table(data, name=name)
    with pytest.raises(TableError, match=what):
        form(io.BytesIO(data), name=name)


def test_a_row_of_zeros_in_a_log_costs_that_row():
    """As a log that was cut while it was written begins: what follows is read."""
    zeros, good = rows(b"\0" * 9_000 + b"\n" + lines(ROW).encode(), name="x.jsonl")
    assert zeros.interaction is None
    assert good.interaction is not None


@pytest.mark.parametrize("data", [b"PAR1 and then nothing", gzip.compress(lines(ROW).encode() * 999)[:-20]])
def test_a_damaged_file_is_an_error(data):
    """A file that is cut off or no table never ends as if it were complete."""
    with pytest.raises(TableError, match=r"x\.bin: (not a Parquet|the file is damaged)"):
        list(table(data, name="x.bin").rows)


def test_rows_before_the_damage_are_read():
    """The rows that a damaged file still holds come first, then the error."""
    whole = b"".join(lines({**ROW, "id": f"{i:05}"}).encode() + b"\n" for i in range(20_000))
    found = table(gzip.compress(whole)[:-1_000], name="x.jsonl.gz").rows
    read_rows = []
    with pytest.raises(TableError):
        read_rows.extend(found)
    assert len(read_rows) > 10_000
    assert read_rows[-1].interaction is not None or read_rows[-1].problem


def test_of_gzip_that_is_cut_off_every_row_is_read():
    """Also of a file so small that one look takes all of it."""
    whole = gzip.compress(b"".join(lines({**ROW, "id": str(i)}).encode() + b"\n" for i in range(30)))
    found = table(whole[:-8], name="x.jsonl.gz").rows  # without its checksum
    read_rows = []
    with pytest.raises(TableError, match="damaged or cut off"):
        read_rows.extend(found)
    assert [row.id for row in read_rows] == [str(i) for i in range(30)]


def test_two_columns_of_one_name_are_refused():
    """Nobody can say which of them is meant."""
    with pytest.raises(TableError, match="two columns have one name, 'answer'"):
        table("answer,answer,context\na,b,c\n")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"[]", b"context,answer\n"])
def test_an_empty_table_has_no_rows(data):
    """The table says so before it is read; it is for the caller to say whether that is a mistake."""
    assert table(data).empty
    assert rows(data) == []


@pytest.mark.parametrize("data", [lines(ROW), "xx,answer,context\nonly one cell\n"])
def test_a_table_with_a_row_is_not_empty(data):
    """A row that can't be read is a row."""
    assert not table(data).empty


@pytest.mark.parametrize("name", ["", "runs.csv"])
@pytest.mark.parametrize("above", ["\n", "\r\n \r\n", "sep=;\n", "SEP=;\r\n\n", ";;;;\n", "sep=;\n; ;\n"])
def test_what_stands_above_the_header_is_skipped(name, above):
    """Blank lines and Excel's separator are no header, and the lines after them count on."""
    data = above + "answer;context\n25,5 EUR, in all, or so.;It is 25,5 EUR.\nx\n"
    good, bad = rows(data, name=name)
    assert good.interaction.answer == "25,5 EUR, in all, or so."
    assert (good.line, bad.line) == (above.count("\n") + 2, above.count("\n") + 3)


def test_columns_without_a_name_and_empty_rows_at_the_end_are_none():
    """Excel saves them where a cell was once used, and leaves out the end of some rows."""
    first, second = rows(";;;;\nanswer;context;label;;\na;c;1;;\nb;d;0\n;;;;\n;;;;\n", name="runs.csv")
    assert (first.line, first.interaction.answer, first.label) == (3, "a", 1)
    assert dict(first.cells) == {"answer": "a", "context": "c", "label": "1"}
    assert (second.line, second.interaction.answer, second.label) == (4, "b", 0)
    assert table("answer,context\n,\n,\n", name="runs.csv").empty


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_the_header_once_more_is_no_answer(mark):
    """Files that were joined: "answer" is what "context" says as little as any other word."""
    one = "question,context,answer\nFee?,It is 25 EUR.,25 EUR.\n"
    first, header, second = rows(f"{one}{mark}{one}", name="runs.csv")
    assert (first.problem, second.problem) == ("", "")
    assert header.problem == "the header once more, as where files were joined: no row"


def test_an_empty_row_that_another_follows_is_a_row():
    """An application that gave nothing is told of, in its place."""
    first, nothing, short, last = rows("answer,context\na,c\n,\n \nb,d\n", name="runs.csv")
    assert [row.line for row in (first, nothing, short, last)] == [2, 3, 4, 5]
    assert (nothing.interaction.answer, short.problem) == ("", "1 cell, where the header has 2")


def test_the_index_of_a_frame_is_a_column():
    """pandas writes it without a name."""
    (row,) = rows(",answer,context\n7,a,c\n", name="runs.csv", columns=Columns(id=""))
    assert row.id == "7"


def test_the_separator_that_excel_names_wins():
    """It is believed even where another one would look likelier."""
    (row,) = rows("sep=|\nanswer|context|a,b,c,d\nyes, it is|c|x\n")
    assert row.interaction.answer == "yes, it is"


@pytest.mark.parametrize("header", ['answer,"context"x', 'answer,"context'])
def test_a_header_with_a_stray_quote_is_an_error(header):
    """The message names the file and the line."""
    with pytest.raises(TableError, match=r"runs\.csv: the header in line 2 is not CSV"):
        table(f"\n{header}\na,c\n", name="runs.csv")


@pytest.mark.parametrize("name", ["runs.jsonl", "runs.ndjson.gz", "runs.JSON"])
@pytest.mark.parametrize("line", ["answer,context", '"answer', "xx"])
def test_json_lines_begin_with_a_bad_line_and_stay_json_lines(name, line):
    """By its name the first line is a row that can't be read, and no header."""
    bad, good = rows(f"{line}\n{lines(ROW)}\n", name=name)
    assert (bad.line, bad.problem[:8]) == (1, "not JSON")
    assert good.interaction.answer == "25 EUR."


def test_what_follows_an_array_does_not_vanish_silently():
    """A first line in brackets makes a file an array, and of JSON lines with such a line the rest is told."""
    found = iter(table("[1]\n" + lines(ROW), name="runs.jsonl").rows)
    assert "not int" in next(found).problem
    with pytest.raises(TableError, match="line 2 has more after the end of the array"):
        next(found)


@pytest.mark.parametrize("answer", ["", None])
def test_an_empty_answer_is_not_replaced_by_another_column(answer):
    """What another column holds is not what the application answered."""
    (row,) = rows(lines({"context": "c", "answer": answer, "result": "c"}))
    assert row.interaction is None if answer is None else row.interaction.answer == ""


@pytest.mark.parametrize("kind", ["context", "question"])
def test_an_empty_text_is_a_value(kind):
    """Only null leads on to a column of another usual name."""
    row = {"context": "c", "question": "q", "answer": "a", "query": "not this", "docs": "not this"}
    interaction = rows(lines({**row, kind: ""}))[0].interaction
    assert "not this" not in (interaction.question, interaction.contexts and interaction.contexts[0].text)


@pytest.mark.parametrize("question", [None, float("nan")])
def test_a_question_that_is_null_is_no_question(question):
    """pandas keeps a null as NaN; either way the row is judged without one."""
    for data in (lines({**ROW, "question": question}), as_parquet({**ROW, "question": question})):
        (row,) = rows(data)
        assert row.problem == ""
        assert row.interaction.question == ""


@pytest.mark.parametrize("name", ["runs.jsonl", "indented.json", "runs.csv", "runs.tsv"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_a_byte_order_mark_is_decoded(name, encoding):
    """Excel saves its Unicode text so; the rows are the same, whatever the characters."""
    text = TABLES[name].decode().replace("25 EUR.", "25 € 😀.")
    (row,) = rows(("\ufeff" + text).encode(encoding), name=name)
    assert row.interaction.answer == "25 € 😀."


def test_a_long_table_in_utf_16_is_read_to_its_end():
    """Nothing is lost between one buffer and the next."""
    data = "\n".join(json.dumps({**ROW, "answer": "😀ä" * 999}, ensure_ascii=False) for _ in range(99))
    found = rows(data.encode("utf-16"))
    assert len(found) == 99
    assert all(row.interaction.answer == "😀ä" * 999 for row in found)


def test_damaged_utf_16_is_an_error():
    """An odd byte at the end is told with the file's name."""
    with pytest.raises(TableError, match=r"runs\.jsonl: the file begins as UTF-16"):
        list(table((lines(ROW) + "\n").encode("utf-16") + b"x", name="runs.jsonl").rows)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        *((0, 0), (1, 1), (True, 1), (False, 0), (1.0, 1), ("1", 1), ("true", 1), ("Hallucinated ", 1)),
        *(("grounded", 0), ("", None), (None, None), ("maybe", None), (2, None)),
        *(("Y", 1), ("f", 0), ("Not hallucinated", 0), ("no hallucination", 0), ("not_supported", 1)),
        *(("non-hallucinated", 0), ("ungrounded", 1), ("Passed", 0), ("incorrect", 1)),
    ],
)
def test_labels_are_nought_and_one_or_words_for_them(value, label):
    """Whatever is none of these is no label, and the row says so."""
    (row,) = rows(lines({**ROW, "label": value}))
    assert row.label == label
    assert bool(row.unlabelled) == (value in ("maybe", 2))


@pytest.mark.parametrize(
    ("column", "of_yes"),
    [
        *(("faithful", 0), ("is_supported", 0), ("isCorrect", 0), ("Grounded?", 0), ("meta.correctness", 0)),
        *(("faithfulness_label", 0), ("hallucinated", 1), ("unsupported", 1), ("not_grounded", 1)),
        *(("human", 1), ("correctness_human", 0), ("is_correct_rater2", 0), ("Supported by context?", 0)),
        *(("Faithful (0 = hallucinated)", 0), ("Faithful yes/no", 0), ("Yes/No: faithful", 0)),
        *(("label (1=hallucinated, 0=faithful)", 1), ("Hallucinated yes/no", 1), ("Ja/nein", 1)),
        *(("no_hallucination", 0), ("hallucination_free", 0), ("hallucinationCheckPassed", 0)),
        *(("faithfulness_violation", 1), ("not_fully_supported", 1), ("is_hallucination_correct", 1)),
        *(("no_rag_faithful", 0), ("no_rag_hallucinated", 1), ("hallucination_check_failed", 1)),
        *(("correct.score", 0), ("hallucinated.score", 1), ("in_correct", 1)),
        *(("factuality_concerns", 1), ("groundedness_flagged", 1), ("no_contradictions", 0)),
    ],
)
def test_a_yes_says_what_its_column_asks(column, of_yes):
    """Who asks whether answers are faithful means so by yes; a word of its own means the same anywhere."""
    row = {key: value for key, value in ROW.items() if key != "label"}
    outer, _, inner = column.partition(".")
    for value, label in (("yes", of_yes), ("0", 1 - of_yes), ("hallucinated", 1), ("supported", 0)):
        given = {**row, outer: {inner: value} if inner else value}
        (found,) = rows(lines(given), columns=Columns(label=column))
        assert found.label == label


def test_a_label_that_is_none_is_told_with_what_its_column_takes():
    given = {**ROW, "faithful": "maybe"}
    (found,) = rows(lines(given), columns=Columns(label="faithful"))
    assert found.unlabelled.endswith("under 'faithful', expected 1 or grounded, 0 or hallucinated")


def test_a_row_is_called_by_its_id_or_by_its_place():
    """An id column names the row on every output; else the file and the line do."""
    first, second = rows(lines({**ROW, "id": 17}, ROW), name="runs.jsonl")
    assert (first.id, first.interaction.id) == ("17", "17")
    assert second.id == "runs.jsonl:2"


NESTED = {"inputs": {"context": "c", "q": {"text": "q"}}, "outputs": {"answer": "a"}, "kept": None}


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ({"context": "inputs.contxt"}, "'inputs.contxt' (--context): 'inputs' has 'context', 'q'"),
        ({"question": "inputs.q.txt"}, "'inputs.q.txt' (--question): 'inputs.q' has 'text'"),
        ({"label": "outputs.labl"}, "'outputs.labl' (--label): 'outputs' has 'answer'"),
        ({"id": "outputs.answer.id"}, "'outputs.answer.id' (--id): 'outputs.answer' has no object"),
    ],
)
@pytest.mark.parametrize("data", [lines(NESTED), json.dumps([{}, NESTED]), as_parquet(NESTED)])
def test_a_nested_column_that_no_row_has_is_refused_with_what_is_there(named, problem, data):
    """Its answers would all be without a context, or its labels left out in silence."""
    right = {"context": "inputs.context", "answer": "outputs.answer"}
    with pytest.raises(TableError) as caught:
        table(data, columns=Columns(**{**right, **named}))
    assert problem in str(caught.value)


def test_a_nested_column_is_one_that_some_row_has_or_that_is_null_so_far():
    columns = Columns(context="inputs.context", answer="outputs.answer", label="outputs.label", id="kept.id")
    first, second = rows(lines(NESTED, {**NESTED, "outputs": {"answer": "b", "label": 1}}), columns=columns)
    assert (first.label, second.label) == (None, 1)
    assert first.interaction.contexts[0].text == "c"


@pytest.mark.parametrize("indent", [None, 2])
def test_the_items_of_an_array_are_called_by_their_number(indent):
    """An array may be all in one line, which would be the line of each."""
    found = rows(json.dumps([ROW, 5, ROW], indent=indent), name="runs.json")
    assert [(row.id, row.line) for row in found] == [
        ("runs.json:1", 1),
        ("runs.json:2", 2),
        ("runs.json:3", 3),
    ]
    assert found[1].unreadable().detail == "row 2: a row must be a JSON object, not int"


def test_an_id_that_is_no_text_is_kept():
    """pandas makes whole numbers floats where one of them is missing; other kinds are as they are shown."""
    numbers, other = [17.0, None, 1.5], [Decimal("7.0"), None, Decimal("8.5")]
    for held, expected in ((numbers, ["17", "runs:2", "1.5"]), (other, ["7.0", "runs:2", "8.5"])):
        data = as_parquet(*({**ROW, "id": one} for one in held))
        assert [row.id for row in rows(data, name="runs", kind=Format.PARQUET)] == expected
    said = lines(*({**ROW, "id": one} for one in (*numbers, ["a"], {}, "")))
    assert [row.id for row in rows(said, name="runs")] == [
        "17",
        "runs:2",
        "1.5",
        "runs:4",
        "runs:5",
        "runs:6",
    ]


@pytest.fixture
def small(monkeypatch):
    """The largest line, value and cell, as small as a test needs."""
    before = csv.field_size_limit(1000)
    monkeypatch.setattr(records, "LARGEST", 1000)
    monkeypatch.setattr(delimited, "LARGEST", 1000)
    yield
    csv.field_size_limit(before)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("size", [1001, 2002, 5000])
def test_a_line_that_is_too_long_is_not_held(size):
    """It is its row's problem, and the lines behind it are read."""
    read = rows("\n".join([lines(ROW), "x" * size, lines(ROW)]), kind=Format.JSONL)
    assert [bool(row.problem) for row in read] == [False, True, False]
    assert read[1].problem == "a line of more than 1,000 bytes, which is not read"
    assert [row.line for row in read] == [1, 2, 3]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("rest", "problem"),
    [
        ('"' + "c\n" * 600, "a cell that begins in line 3 has more than 1,000 characters"),
        ("c" * 1200, "line 3 has more than 1,000 characters; nothing from there on is read"),
    ],
)
def test_csv_that_would_fill_the_memory_is_read_no_further(rest, problem):
    """Past a quote that is never closed nobody knows where the next row begins; pieces tell the same."""
    data = f"context,answer\nc,a\n{rest}\nc,b\n".encode()
    found = iter(table(data, name="runs.csv").rows)
    assert next(found).interaction.answer == "a"
    with pytest.raises(TableError, match=f"^runs.csv: {problem}"):
        next(found)
    what = form(io.BytesIO(data), name="runs.csv")
    first, second = pieces.cut(io.BytesIO(data), what, rows=1)
    assert len(list(pieces.read_piece(io.BytesIO(data), first, what))) == 1
    with pytest.raises(TableError, match="1,000 characters"):
        list(pieces.read_piece(io.BytesIO(data), second, what))


def test_rows_are_read_as_they_are_asked_for():
    """A stream without end can be read: nothing waits for its last row."""

    class Endless(io.RawIOBase):
        def __init__(self):
            self.given = 0

        def readable(self):
            return True

        def readinto(self, buffer):
            line = lines(ROW).encode() + b"\n"
            data = (line * (len(buffer) // len(line))) or line[: len(buffer)]
            buffer[: len(data)] = data
            self.given += len(data)
            return len(data)

    source = Endless()
    taken = list(itertools.islice(read(source).rows, 1_000))
    assert len(taken) == 1_000
    assert source.given < 1_000_000


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=5))
def test_texts_survive_json_lines_and_json(cells):
    """Question, context and answer come back as they were written, in order."""
    objects = [{"question": q, "context": [c], "answer": a} for q, c, a in cells]
    for data in (lines(*objects), json.dumps(objects), json.dumps(objects, indent=1, ensure_ascii=False)):
        found = [
            (r.interaction.question, r.interaction.contexts[0].text, r.interaction.answer) for r in rows(data)
        ]
        assert found == cells


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_texts_survive_csv(cells):
    """Commas, quotes and line breaks inside cells come back as they were written."""
    found = rows(as_csv(["context", "answer"], *[(f"c{c}", f"a{a}") for c, a in cells]), name="runs.csv")
    assert [(r.interaction.contexts[0].text, r.interaction.answer) for r in found] == [
        (f"c{c}", f"a{a}") for c, a in cells
    ]


@pytest.mark.parametrize(
    "cell",
    [
        "['The fee is 1' '50 EUR is the deposit.']",
        "['The fee is 1'\n '50 EUR is the deposit.']",
        "['The fee is 1', '50 EUR is the deposit.']",
        ' ["The fee is 1", "50 EUR is the deposit."] ',
    ],
)
def test_passages_that_numpy_or_pandas_spelled_out_stay_apart(cell):
    file = io.StringIO()
    csv.writer(file).writerows([("answer", "contexts"), ("The fee is 150 EUR.", cell)])
    (row,) = rows(file.getvalue(), kind=Format.CSV)
    assert [passage.text for passage in row.interaction.contexts] == [
        "The fee is 1",
        "50 EUR is the deposit.",
    ]


def test_long_passages_that_were_wrapped_stay_whole():
    """As pprint writes a list, in pieces of a line each."""
    texts = ["The fee is 25 EUR for each bag that is checked in. " * 3, "Bags are free."]
    file = io.StringIO()
    csv.writer(file).writerows([("answer", "contexts"), ("25 EUR.", pprint.pformat(texts))])
    (row,) = rows(file.getvalue(), kind=Format.CSV)
    assert [passage.text for passage in row.interaction.contexts] == texts


FEES = [{"text": "It's 25\xa0EUR.\nBags:", "metadata": {"page": 75}}, {"text": "none", "metadata": {}}]


@pytest.mark.parametrize(
    "cell",
    [
        repr([{**fee, "score": np.float32(0.75)} for fee in FEES]),
        repr([{**fee, "score": float("nan"), "vector": np.array([0.75, 1.0])} for fee in FEES]),
        repr([{**fee, "score": float("-inf"), "when": pd.NaT} for fee in FEES]),
        json.dumps([{**fee, "score": float("-inf")} for fee in FEES]),
        repr([{**fee, "score": None} for fee in FEES]).replace("None", "NaN"),
        str(np.array(FEES, dtype=object)),
        str(tuple(fee["text"] for fee in FEES)),
        "".join(f"{{'document.content': {fee['text']!r}, 'document.score': 0.75}}\n " for fee in FEES).join(
            "[]"
        ),
        "["
        + ", ".join(f"Document(metadata={{'page': 75}}, page_content={fee['text']!r})" for fee in FEES)
        + "]",
        "["
        + "\n ".join(f"Document(id='7', metadata={{}}, page_content={fee['text']!r})" for fee in FEES)
        + "]",
        "["
        + ", ".join(
            f"(Document(metadata={{}}, page_content={fee['text']!r}), np.float32(0.75))" for fee in FEES
        )
        + "]",
        "["
        + ", ".join(
            f"NodeWithScore(node=TextNode(id_='8', text={fee['text']!r}), score=0.75)" for fee in FEES
        )
        + "]",
        json.dumps([{"node": fee, "score": 0.75} for fee in FEES]),
        json.dumps([{"lc": 1, "id": ["langchain", "Document"], "kwargs": fee} for fee in FEES]),
        json.dumps([{"document": {"content": fee["text"]}} for fee in FEES]),
        json.dumps([{"content": {"text": fee["text"], "type": "TEXT"}, "score": 0.75} for fee in FEES]),
    ],
)
def test_passages_that_a_program_printed_are_their_texts_alone(cell):
    """What is printed around them, such as a page's number, supports no answer."""
    (row,) = rows(as_csv(["answer", "contexts"], ["75 EUR.", cell]), kind=Format.CSV)
    assert [passage.text for passage in row.interaction.contexts] == [fee["text"] for fee in FEES]


@pytest.mark.parametrize(
    "cell",
    ["['It is 25 EUR.', None]", "[None 'It is 25 EUR.']", "[nan]", "[NaN, 'It is 25 EUR.']", "[null, NaN]"],
)
def test_a_null_among_printed_passages_is_told(cell):
    """As it is where lists are lists; its print is no text that was retrieved."""
    (row,) = rows(as_csv(["answer", "contexts"], ["25 EUR.", cell]), kind=Format.CSV)
    assert row.interaction is None
    assert "is None: no text was given" in row.problem


@pytest.mark.parametrize(
    "cell",
    [
        "[Note (see 'fees')]",
        "('A text in brackets.')",
        "(The fee is 25 EUR.)",
        "[1, None]",
        "[{'fee': 25} {'fee': 30}]",
        "[<Document 1>]",
        "[{[1]: 'text'}]",
        "[Document(metadata={}, page_content=fees)]",
        "[" * 9999 + "]",
    ],
)
def test_what_is_no_print_of_passages_is_a_text(cell):
    (row,) = rows(as_csv(["answer", "context"], ["25 EUR.", cell]), kind=Format.CSV)
    assert [passage.text for passage in row.interaction.contexts] == [cell]


@pytest.mark.parametrize("listed", [r"['It is \d.']", r"['It is \d.' 'So \d.']", r"['It is \d.', 'So \d.']"])
def test_a_stray_backslash_in_a_list_warns_nobody(listed):
    """Python's own opinion of it would be shown, or, as an error, make a text of the list."""
    with warnings.catch_warnings(action="error"):
        (row,) = rows(as_csv(["answer", "context"], ["25 EUR.", listed]), name="a.csv")
    assert row.interaction.contexts[0].text == r"It is \d."


def test_lists_that_are_read_in_threads_leave_a_process_its_warnings():
    """What is shown of them is one list of all threads."""
    shown = list(warnings.filters)
    table = as_csv(["answer", "context"], *[["25 EUR.", r"['It is \d.']"]] * 500)
    threads = [threading.Thread(target=rows, args=(table,), kwargs={"name": "a.csv"}) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(warnings.filters) == shown
