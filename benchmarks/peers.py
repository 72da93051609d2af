"""Other people's detectors on the same answers, where their package is installed and their weights are here.

Nothing is downloaded: a peer that can't run says why it was not measured.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.judged import Judged, Method, Row
from groundwire.core.span import Span
from training.labelled_sets import contexts

LETTUCEDETECT = "LettuceDetect"
LETTUCEDETECT_NOTE = (
    "LettuceDetect is trained on RAGTruth's train split, where the QA answers measured here come from: "
    "its figures on QA are of data it has seen. Its score is the highest probability of a token."
)


class NotMeasuredError(Exception):
    """A peer that can't run here, and what it lacks."""


def lettucedetect(weights: Path | None) -> Method:
    """LettuceDetect (Kovács and Recski, 2025) with weights in a local folder. Raises NotMeasuredError."""
    if weights is None:
        raise NotMeasuredError("weights not given: --lettucedetect PATH")
    if not weights.is_dir():
        raise NotMeasuredError(f"no folder of weights at {str(weights)!r}")
    # Its libraries ask the hub even about a local folder, unless told not to before they are imported.
    os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
    try:
        inference = import_module("lettucedetect.models.inference")
    except ImportError as error:
        raise NotMeasuredError(f"{error}: pip install lettucedetect") from error
    detector = inference.HallucinationDetector(method="transformer", model_path=str(weights))

    def judge(rows: Sequence[Row]) -> list[Judged]:
        return [_judged(detector, row) for row in rows]

    return Method(name=LETTUCEDETECT, judge=judge)


def _judged(detector: Any, row: Row) -> Judged:
    given = {"context": list(contexts(row)), "answer": row["answer"], "question": row["question"]}
    words = detector.predict(**given, output_format="tokens")
    spans = detector.predict(**given, output_format="spans")
    if not words:
        return Judged(row=row, score=None, why="no token of the answer was read")
    end = len(row["answer"])
    return Judged(
        row=row,
        score=max(word["prob"] for word in words),
        flagged=bool(spans),
        spans=tuple(Span(max(0, one["start"]), min(end, one["end"])) for one in spans),
    )
