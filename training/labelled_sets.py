"""Labelled answers as they lie on disk, and which of them may teach what.

Sources are split by a hash of their id. Below ``FIT`` they teach the encoder, from ``TEST`` on they only
measure, those between fit what is stacked on the encoder; last, each ``half`` of them teaches one of two
encoders, and what is stacked is fitted on what the other says. The lexical detector is fitted below ``TEST``.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SEED = "lexical-1"
FIT, TEST = 0.66, 0.8
RAGTRUTH = ("ragtruth_qa", "ragtruth_data2txt_summary")

Raw = Mapping[str, Any]


def read(path: Path) -> list[dict[str, Any]]:
    """The answers of one set: a file of JSON lines, packed with gzip."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def ragtruth(data: Path) -> list[dict[str, Any]]:
    """The answers of RAGTruth, of all its tasks."""
    return [row for name in RAGTRUTH for row in read(data / "train" / f"{name}.jsonl.gz")]


def place(source: str) -> float:
    """Where a source falls in [0, 1)."""
    return int(hashlib.sha256(f"{SEED}:{source}".encode()).hexdigest()[:12], 16) / 16**12


def part(raw: Raw) -> float:
    """Where an answer's source falls in [0, 1); all answers to a source fall together."""
    return place(str(raw["meta"].get("source_id") or raw["context"]))


def is_between(raw: Raw) -> bool:
    """Whether an answer's source is none of those that teach at first, nor of those that measure."""
    return FIT <= part(raw) < TEST


def half(raw: Raw) -> int:
    """Which of two halves an answer's source falls in, 0 or 1, wherever its part is."""
    return int(part(raw) * 1e9) % 2


def is_record(text: str) -> bool:
    """Whether a passage or context is a record in JSON, and no prose."""
    return text.lstrip().startswith("{")


def contexts(raw: Raw) -> list[str]:
    """The passages; a context that comes in one piece is one."""
    return raw.get("contexts") or [raw["context"]]
