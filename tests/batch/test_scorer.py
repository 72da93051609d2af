"""A Scorer: the same kind of batch comes back, one row for each, whatever engine it is in."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from groundwire import InputError
from groundwire.batch import Scorer
from groundwire.batch.scorer import ADDED
from groundwire.tables import Columns, TableError
from tests.batch.answers import quick, row

ROWS = [
    row(0),
    {**row(1), "answer": "fail"},
    {**row(2), "answer": None},
    {**row(3), "answer": "break"},
    row(4),
]
REASONS = [None, "NO_CLAIMS", "UNREADABLE_INPUT", "MODEL_FAILED", None]


def check(columns):
    """That judged rows have a score and a verdict, and the others a reason, an error and neither."""
    assert [_none(one) for one in columns["hallucination_abstention"]] == REASONS
    for why, score, flagged, error in zip(
        REASONS,
        columns["hallucination_score"],
        columns["hallucinated"],
        columns["hallucination_error"],
        strict=True,
    ):
        assert (_none(score) is None, _none(flagged) is None, _none(error) is None) == (
            (False, False, True) if why is None else (True, True, False)
        )


def _none(value):
    return None if pd.isna(value) else value


def test_an_arrow_table_and_a_record_batch():
    table = pa.Table.from_pylist(ROWS)
    scorer = Scorer(quick)
    judged = scorer(table)
    assert isinstance(judged, pa.Table)
    assert judged.schema == scorer.schema(table.schema)
    assert judged.select(table.column_names) == table
    check(judged.to_pydict())
    batches = list(scorer.arrow_iter(table.to_batches(max_chunksize=2)))
    assert [type(one) for one in batches] == [pa.RecordBatch] * 3
    assert pa.Table.from_batches(batches).to_pydict() == judged.to_pydict()


def test_a_data_frame():
    """What was not judged is missing, and not false; the index stays."""
    frame = pd.DataFrame(ROWS, index=list("abcde"))
    judged = Scorer(quick)(frame)
    assert list(judged.index) == list("abcde")
    assert str(judged["hallucinated"].dtype) == "boolean"
    check({name: list(judged[name]) for name in judged})
    assert judged["hallucination_score"].mean() > 0


def test_a_dict_of_arrays():
    batch = {name: np.array([one[name] for one in ROWS], dtype=object) for name in ("id", "answer")}
    batch["contexts"] = np.array(["c"] * 5)
    judged = Scorer(quick)(batch)
    assert judged["hallucination_score"].dtype == float
    check(judged)


@pytest.mark.parametrize("kind", [pa.Table.from_pandas, lambda frame: frame])
def test_an_empty_batch_has_the_columns(kind):
    """Engines learn the columns from one; no model is loaded for it."""
    scorer = Scorer("embedded")
    judged = scorer(kind(pd.DataFrame({"context": pd.Series(dtype=str), "answer": pd.Series(dtype=str)})))
    names = list(judged.columns) if isinstance(judged, pd.DataFrame) else judged.column_names
    assert names[2:] == list(ADDED.values())
    assert scorer._loaded is None


def test_it_travels_without_its_model():
    """Pickled after use it is as small as before, and works where it arrives."""
    scorer = Scorer("token", columns=Columns(answer="said"))
    small = len(pickle.dumps(scorer))
    frame = pd.DataFrame([{"context": "The fee is 25 EUR.", "said": "The fee is 75 EUR."}])
    first = scorer(frame)
    assert len(pickle.dumps(scorer)) == small < 1000
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(scorer))(frame), first)


def test_what_it_can_not_take_is_told():
    """A batch without an answer, one that was judged already, and what is no batch."""
    with pytest.raises(TableError, match="no column looks like the answer"):
        Scorer(quick)(pd.DataFrame([{"context": "c"}]))
    with pytest.raises(InputError, match="has a column 'hallucination_status' already"):
        Scorer(quick)(Scorer(quick)(pd.DataFrame([row(0)])))
    with pytest.raises(InputError, match="must be a pyarrow Table, a pandas DataFrame or a dict"):
        Scorer(quick)([row(0)])
