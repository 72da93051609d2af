"""Pieces of tables: read one by one they give the rows of the whole, each with its line, none twice."""

import csv
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.tables import Form, Format, TableError, form, read
from groundwire.tables.pieces import Piece, cut, read_piece
from groundwire.tables.records import records

cells = st.text(alphabet=st.sampled_from('ab,;"\n\r\té€'), max_size=6)
rows = st.lists(st.fixed_dictionaries({"context": cells, "answer": cells}), max_size=14)
sizes = st.integers(1, 5)


def pieced(content: bytes, size: int, kind: Format) -> list:
    what = form(io.BytesIO(content), name=f"t.{kind}")
    pieces = list(cut(io.BytesIO(content), what, rows=size))
    return [record for piece in pieces for record in read_piece(io.BytesIO(content), piece, what)]


def whole(content: bytes, kind: Format) -> list:
    return list(records(io.BytesIO(content), kind=kind))


@given(rows, sizes, st.sampled_from(["\n", "\n\n", "\r\n", " \n"]), st.booleans(), st.booleans())
def test_json_lines(table, size, end, mark, closed):
    """Blank lines, byte order marks and a last line without its end change nothing."""
    text = end.join([*(json.dumps(one, ensure_ascii=False) for one in table), "" if closed else "{broken"])
    content = (b"\xef\xbb\xbf" if mark else b"") + text.encode()
    assert pieced(content, size, Format.JSONL) == whole(content, Format.JSONL)


@given(rows, sizes, st.sampled_from([",", ";", "\t"]), st.sampled_from(["", "\n", "sep=;\n"]), st.booleans())
def test_csv(table, size, delimiter, above, mark):
    """Line ends inside cells, rows that are no CSV, lines above the header, and what a separator is."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=";" if above.startswith("sep") else delimiter)
    writer.writerow(["context", "answer"])
    for one in table:
        writer.writerow(one.values())
    content = (b"\xef\xbb\xbf" if mark else b"") + (above + stream.getvalue()).encode()
    assert pieced(content, size, Format.CSV) == whole(content, Format.CSV)


@given(st.lists(st.sampled_from(["a;c", ";", "", " ; ", "x"]), max_size=9), sizes)
def test_csv_with_empty_rows(table, size):
    """Rows of empty cells are none at the end of the file, and are rows elsewhere, wherever it is cut."""
    content = "\n".join([";", "answer;context", *table]).encode()
    assert pieced(content, size, Format.CSV) == whole(content, Format.CSV)


@given(st.binary(max_size=60).map(lambda tail: b"context,answer\nc,a\n" + tail), sizes)
def test_csv_of_any_bytes(content, size):
    """What is no CSV at all is as unreadable in pieces as in one."""
    try:
        expected = whole(content, Format.CSV)
    except TableError:
        return
    assert pieced(content, size, Format.CSV) == expected


@given(rows, sizes, sizes)
def test_parquet(table, size, group):
    """Row groups that are cut, or taken together."""
    stream = io.BytesIO()
    schema = pa.schema([("context", pa.string()), ("answer", pa.string())])
    pq.write_table(pa.Table.from_pylist(table, schema=schema), stream, row_group_size=group)
    assert pieced(stream.getvalue(), size, Format.PARQUET) == whole(stream.getvalue(), Format.PARQUET)


def test_parquet_is_read_by_the_columns_that_are_looked_under(tmp_path):
    """A column that nobody asks for costs nothing."""
    table = pa.Table.from_pylist([{"answer": "a", "outputs": {"text": "t"}, "pages": "x" * 1000}] * 3)
    pq.write_table(table, tmp_path / "t.parquet")
    names = {"answer": ("outputs.text",), "context": ("answer",)}
    with (tmp_path / "t.parquet").open("rb") as stream:
        (first, *_) = read_piece(stream, Piece(), Form(kind=Format.PARQUET, packed=False), columns=names)
    assert set(first.cells) == {"answer", "outputs"}


@pytest.mark.parametrize("packed", [gzip.compress, lambda text: text.decode().encode("utf-16")])
def test_what_is_packed_is_one_piece(packed):
    """It can't be read from its middle."""
    content = packed(b'{"context": "c", "answer": "a"}\n' * 5)
    what = form(io.BytesIO(content), name="t.jsonl")
    assert what == Form(kind=Format.JSONL, packed=True)
    assert list(cut(io.BytesIO(content), what, rows=2)) == [Piece()]
    assert len(list(read_piece(io.BytesIO(content), Piece(), what))) == 5


@pytest.mark.parametrize("size", [1, 2, 5])
def test_what_ends_a_table_is_told_by_its_line_in_the_file(size):
    """A quote that nobody closes is looked for where it stands, not where its piece has it."""
    content = b"context,answer\n" + b"c,a\n" * 4 + b'c,"a\n' + b"c,a\n" * 4
    with pytest.raises(TableError, match="a quote that opens in line 6 is never closed"):
        pieced(content, size, Format.CSV)


def test_a_file_that_shrank_is_told():
    """What was there when the work was planned must be there when it is done."""
    content = b'{"context": "c", "answer": "a"}\n' * 5
    what = Form(kind=Format.JSONL, packed=False)
    pieces = list(cut(io.BytesIO(content), what, rows=2))
    with pytest.raises(TableError, match="shorter than it was"):
        list(read_piece(io.BytesIO(content[:40]), pieces[1], what))


def test_the_names_that_rows_are_read_by_come_with_the_table():
    """A piece from the middle of a file is read by the columns of its beginning."""
    found = read(io.BytesIO(b"query,docs,response\nq,d,a\n"), name="t.csv")
    assert "response" in found.candidates["answer"]
