"""Kept answers as tables for other programs. No cell can become a formula in a spreadsheet."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, TextIO

from groundwire.core import wire
from groundwire.core.cells import cell
from groundwire.monitor.answer import Kept
from groundwire.monitor.reviews import Feedback

COLUMNS = (
    "id",
    "at",
    "question",
    "answer",
    "contexts",
    "status",
    "score",
    "threshold",
    "hallucinated",
    "level",
    "abstention",
    "reason",
    "unsupported",
    "detector",
    "label",
    "reviewers",
    "tags",
)


class Form(StrEnum):
    """CSV is for spreadsheets; JSONL has everything, and is what ``groundwire check`` reads."""

    CSV = "csv"
    JSONL = "jsonl"


def write(rows: Iterable[tuple[Kept, Sequence[Feedback]]], stream: TextIO, form: Form) -> int:
    """Write rows as they come; how many there were."""
    return _write_csv(rows, stream) if form is Form.CSV else _write_jsonl(rows, stream)


def label(said: Sequence[Feedback]) -> int | None:
    """1 where most reviewers hold the answer to be hallucinated, 0 where most don't, else None."""
    lean = sum(1 if one.hallucinated else -1 for one in said if one.hallucinated is not None)
    return None if lean == 0 else int(lean > 0)


def _write_jsonl(rows: Iterable[tuple[Kept, Sequence[Feedback]]], stream: TextIO) -> int:
    count = 0
    for kept, said in rows:
        stream.write(json.dumps(_whole(kept, said), ensure_ascii=False, allow_nan=False) + "\n")
        count += 1
    return count


def _write_csv(rows: Iterable[tuple[Kept, Sequence[Feedback]]], stream: TextIO) -> int:
    writer, count = csv.writer(stream), 0
    writer.writerow(COLUMNS)
    for kept, said in rows:
        cells = _cells(kept, said)
        writer.writerow([cell(cells[name]) for name in COLUMNS])
        count += 1
    return count


def _whole(kept: Kept, said: Sequence[Feedback]) -> dict[str, Any]:
    seen = kept.interaction
    return {
        "id": kept.id,
        "at": kept.at.isoformat(),
        "question": seen and seen.question,
        "contexts": [
            {"text": p.text, "id": p.id, "metadata": wire.plain(p.metadata), "score": p.score}
            for p in (seen.contexts if seen else ())
        ],
        "answer": seen and seen.answer,
        "label": label(said),
        "hallucination": wire.encode(kept.outcome),
        "tags": [list(tag) for tag in kept.tags],
        "run_id": kept.run_id,
        "action": kept.action,
        "attempt": kept.attempt,
        "sampled": kept.sampled,
        "feedback": [
            {
                "reviewer": one.reviewer,
                "at": one.at.isoformat(),
                "opinion": str(one.opinion),
                "hallucinated": one.hallucinated,
                "kind": one.kind and str(one.kind),
                "spans": None if one.spans is None else [[span.start, span.end] for span in one.spans],
                "note": one.note,
                "source": one.source,
            }
            for one in said
        ],
    }


def _cells(kept: Kept, said: Sequence[Feedback]) -> Mapping[str, Any]:
    whole, outcome = _whole(kept, said), kept.outcome
    told = whole["hallucination"]
    return {
        **whole,
        **{name: told[name] for name in ("status", "score", "threshold", "hallucinated", "level", "reason")},
        "abstention": told["abstention"],
        "contexts": "\n\n".join(passage["text"] for passage in whole["contexts"]),
        "unsupported": " | ".join(_words(kept)),
        "detector": outcome.detector and outcome.detector.name,
        "reviewers": ", ".join(one.reviewer for one in said),
        "tags": ", ".join(f"{name}={value}" for name, value in kept.tags),
    }


def _words(kept: Kept) -> Iterator[str]:
    if kept.interaction is not None:
        for span in kept.outcome.spans:
            yield span.of(kept.interaction.answer)
