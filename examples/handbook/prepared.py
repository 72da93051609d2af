"""The questions that the demos ask, and the answers that they replay. No framework is needed to read them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

QUESTIONS = Path(__file__).parent / "questions.json"
PAGES = Path(__file__).parent / "pages"


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A question, the answer that is replayed to it, and what is wrong with that answer, if anything."""

    id: str
    question: str
    answer: str
    kind: str
    grounded: bool
    unsupported: tuple[str, ...]
    pages: tuple[str, ...]
    note: str


def load_prepared() -> list[Prepared]:
    """The prepared questions and answers, in the order they are asked."""
    rows = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    return [
        Prepared(**{**row, "unsupported": tuple(row["unsupported"]), "pages": tuple(row["pages"])})
        for row in rows
    ]
