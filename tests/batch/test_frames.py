"""A Scorer in other people's engines gives the outcomes that it gives by itself: one row for each row.

Spark is not among what the tests install (400 MB and a Java); where it is there, its recipe is tried.
"""

import sys

import pandas as pd
import pytest

from groundwire.batch import Scorer

ROWS = 40


@pytest.fixture
def frame():
    """Half of the answers contradict their document; one row has no answer."""
    rows = [
        {
            "id": f"r{n:02}",
            "context": "A second bag costs 25 EUR.",
            "answer": f"A second bag costs {25 if n % 2 else 75} EUR.",
        }
        for n in range(ROWS)
    ]
    return pd.DataFrame([*rows, {"id": "r99", "context": "A bag.", "answer": None}])


def same(found, wanted):
    """The rows of both, in the order of their ids, have the same outcomes."""
    told = [one.sort_values("id").reset_index(drop=True) for one in (found, wanted)]
    for name in ("id", "hallucination_status", "hallucination_score", "hallucination_abstention"):
        assert [_known(value) for value in told[0][name]] == [_known(value) for value in told[1][name]], name
    assert [_spans(value) for value in told[0]["hallucination_spans"]] == [
        _spans(value) for value in told[1]["hallucination_spans"]
    ]


def _known(value):
    return None if pd.isna(value) else value


def _spans(value):
    """Engines hold a span as a dict or as a row of theirs."""
    return [(one["start"], one["end"]) for one in value] if hasattr(value, "__len__") else None


def test_dask(frame):
    dask = pytest.importorskip("dask.dataframe")
    scorer = Scorer("lexical")
    parts = dask.from_pandas(frame, npartitions=4)
    scored = parts.map_partitions(scorer, meta=scorer(parts.head(0)))
    same(scored.compute(scheduler="synchronous"), scorer(frame))


@pytest.mark.timeout(180)
def test_spark(frame, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    built = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for name in ("spark.driver.bindAddress", "spark.driver.host"):
        built = built.config(name, "127.0.0.1")
    spark, scorer = built.getOrCreate(), Scorer("lexical")
    try:
        whole = spark.createDataFrame(frame.astype(object).where(frame.notna(), None)).repartition(3)
        schema = from_arrow_schema(scorer.schema(to_arrow_schema(whole.schema)))
        same(whole.mapInArrow(scorer.arrow_iter, schema).toPandas(), scorer(frame))
    finally:
        spark.stop()
