"""Kept answers as tables for other programs. No cell can become a formula in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, TextIO

from groundwire.core import wire
from groundwire.core.cells import cell
from groundwire.core.interaction import Interaction
from groundwire.monitor.answer import Kept, rest
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
    count = -1 if form is Form.CSV else 0  # its first piece is the header
    for piece in pieces(rows, form):
        stream.write(piece)
        count += 1
    return count


def pieces(rows: Iterable[tuple[Kept, Sequence[Feedback]]], form: Form) -> Iterator[str]:
    """A table, a row at a time; of CSV, the header first."""
    if form is Form.CSV:
        yield _csv(COLUMNS)
    for kept, said in rows:
        if form is Form.CSV:
            cells = _cells(kept, said)
            yield _csv([cell(cells[name]) for name in COLUMNS])
        else:
            yield json.dumps(_whole(kept, said), ensure_ascii=False, allow_nan=False) + "\n"


def label(said: Sequence[Feedback]) -> int | None:
    """1 where most reviewers hold the answer to be hallucinated, 0 where most don't, else None."""
    lean = sum(1 if one.hallucinated else -1 for one in said if one.hallucinated is not None)
    return None if lean == 0 else int(lean > 0)


def _csv(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def _whole(kept: Kept, said: Sequence[Feedback]) -> dict[str, Any]:
    seen = kept.interaction
    more = rest(seen or Interaction(answer=""))
    return {
        "id": kept.id,
        "at": kept.at.isoformat(),
        "question": seen and seen.question,
        "answer": seen and seen.answer,
        "interaction_id": more["id"],
        **{name: more[name] for name in ("contexts", "history", "metadata")},
        "label": label(said),
        "hallucination": wire.encode(kept.outcome),
        "tags": [list(tag) for tag in kept.tags],
        "run_id": kept.run_id,
        "action": kept.action,
        "attempt": kept.attempt,
        "draft": kept.draft,
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
