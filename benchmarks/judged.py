"""Labelled answers, the methods that judge them, and what each said: the rows under every measure.

A method that abstains has said nothing: its answer keeps no score, is counted, and takes part in no measure
except the bounds, where it counts once as right and once as wrong.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groundwire import Checker, Interaction, Policy, Verdict
from groundwire.bench import metrics
from groundwire.core.span import Span
from groundwire.core.verdict import Outcome
from groundwire.text import tokens
from training.labelled_sets import TEST, contexts, part, ragtruth, read

Row = Mapping[str, Any]
PER_TASK = 900.0
"""Answers of each task in RAGTruth's own test split: what makes its mix."""
SETS = {"qags": True, "summeval": False, "dialfact_small": False, "q2_wow": False, "psiloqa_eval": True}
"""Sets that took no part in anything, and whether people marked words in them."""
CORRECTNESS = ("finqa_detect", "sac3_hotpot")
"""Sets labelled by whether the answer is the right one, which a faithful answer need not be."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What a method said of one answer.

    ``score`` is None where it abstained, and ``why`` says for what reason. ``flagged`` is None for a method
    without a threshold, ``spans`` for one that names no words.
    """

    row: Row
    score: float | None
    flagged: bool | None = None
    spans: tuple[Span, ...] | None = None
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Method:
    """Who judges. ``probability`` says that its scores claim to be some; ``either_way`` that they may as
    well be read upside down: a shortcut is granted the better direction."""

    name: str
    judge: Callable[[Sequence[Row]], list[Judged]]
    probability: bool = False
    either_way: bool = False


def held_out(data: Path, sample: int | None = None) -> list[Row]:
    """RAGTruth's answers to sources that nothing was fitted on."""
    rows = [row for row in ragtruth(data) if part(row) >= TEST]
    tasks = dict.fromkeys(row["task"] for row in rows)
    return [row for task in tasks for row in sampled([r for r in rows if r["task"] == task], sample)]


def eval_set(data: Path, name: str, sample: int | None = None) -> list[Row]:
    """The answers of a set that took part in nothing."""
    return sampled(read(data / "eval" / f"{name}.jsonl.gz"), sample)


def sampled(rows: Sequence[Row], sample: int | None) -> list[Row]:
    """At most ``sample`` rows, the same ones each time, in their order."""
    if sample is None or len(rows) <= sample:
        return list(rows)
    chosen = {row["id"] for row in sorted(rows, key=_drawn)[:sample]}
    return [row for row in rows if row["id"] in chosen]


def _drawn(row: Row) -> str:
    return hashlib.sha256(row["id"].encode()).hexdigest()


def detector(name: str) -> Method:
    """A registered detector as a checker runs it, without a deadline: how busy the machine is has no say."""
    checker = Checker(name, policy=Policy(timeout=None))

    def judge(rows: Sequence[Row]) -> list[Judged]:
        outcomes = checker.check_many([interaction(row) for row in rows])
        return [_judged(row, outcome) for row, outcome in zip(rows, outcomes, strict=True)]

    return Method(name=name, judge=judge, probability=True)


def interaction(row: Row) -> Interaction:
    """A row as a checker takes it."""
    return Interaction(question=row["question"], contexts=contexts(row), answer=row["answer"])


def _judged(row: Row, outcome: Outcome) -> Judged:
    if isinstance(outcome, Verdict):
        return Judged(row=row, score=outcome.score, flagged=outcome.hallucinated, spans=outcome.spans)
    return Judged(row=row, score=None, why=str(outcome.why))


def novel_words(row: Row) -> tuple[Span, ...]:
    """The answer's words that no passage has."""
    known = {tokens.fold(word) for text in contexts(row) for word in tokens.texts(text)}
    return tuple(word.span for word in tokens.words(row["answer"]) if tokens.fold(word.text) not in known)


def novel_share(row: Row) -> float:
    """The share of the answer's words that no passage has."""
    return len(novel_words(row)) / max(1, len(tokens.words(row["answer"])))


def length(row: Row) -> float:
    """The answer's length, on a scale that ends at 1,000 words."""
    return min(1.0, len(row["answer"].split()) / 1_000)


def _by_length(rows: Sequence[Row]) -> list[Judged]:
    return [Judged(row=row, score=length(row)) for row in rows]


def _by_novel_words(rows: Sequence[Row]) -> list[Judged]:
    return [Judged(row=row, score=novel_share(row), spans=novel_words(row)) for row in rows]


def _always(rows: Sequence[Row]) -> list[Judged]:
    return [Judged(row=row, score=1.0, flagged=True, spans=(Span(0, len(row["answer"])),)) for row in rows]


SHORTCUTS = (
    Method(name="answer length", judge=_by_length, either_way=True),
    Method(name="novel words", judge=_by_novel_words, either_way=True),
    Method(name="always flag", judge=_always),
)
"""What a detector has to beat before its numbers mean anything."""


def labelled(
    judged: Sequence[Judged], *, even: bool = True, of: Callable[[Judged], float | None] | None = None
) -> metrics.Labelled:
    """Labels and scores of the answers that were judged; ``even`` gives each task the same weight.

    ``of`` reads another figure than the score; answers for which it is None are left out.
    """
    read_score = of or _score
    known = [(one.row, score) for one in judged if (score := read_score(one)) is not None]
    rows = [row for row, _ in known]
    return metrics.Labelled(
        labels=np.array([row["label"] for row in rows], dtype=np.int64),
        scores=np.array([score for _, score in known], dtype=np.float64),
        **_sampled_by(rows, even=even),
    )


def _score(one: Judged) -> float | None:
    return one.score


def paired(first: Sequence[Judged], second: Sequence[Judged], *, even: bool = True) -> metrics.Paired:
    """The answers that both methods judged. Both lists are about the same rows, in the same order."""
    known = [
        (a.row, a.score, b.score)
        for a, b in zip(first, second, strict=True)
        if a.score is not None and b.score is not None
    ]
    rows = [row for row, _, _ in known]
    return metrics.Paired(
        labels=np.array([row["label"] for row in rows], dtype=np.int64),
        scores=np.array([score for _, score, _ in known], dtype=np.float64),
        others=np.array([score for _, _, score in known], dtype=np.float64),
        **_sampled_by(rows, even=even),
    )


def marked(judged: Sequence[Judged], *, even: bool = True) -> metrics.Marked | None:
    """Characters annotated and flagged in the answers that were judged; None where no words are named."""
    known = [(one.row, one.spans) for one in judged if one.score is not None and one.spans is not None]
    if not known:
        return None
    pairs = [(metrics.characters(annotated(row)), metrics.characters(spans)) for row, spans in known]
    return metrics.Marked(
        annotated=np.array([len(truth) for truth, _ in pairs], dtype=np.float64),
        flagged=np.array([len(said) for _, said in pairs], dtype=np.float64),
        both=np.array([len(truth & said) for truth, said in pairs], dtype=np.float64),
        **_sampled_by([row for row, _ in known], even=even),
    )


def annotated(row: Row) -> list[Span]:
    """The words that people marked as unsupported."""
    return [Span(span["start"], span["end"]) for span in row["spans"]]


def _sampled_by(rows: Sequence[Row], *, even: bool) -> dict[str, Any]:
    sizes = Counter(row["task"] for row in rows)
    return {
        "weights": np.array([PER_TASK / sizes[row["task"]] if even else 1.0 for row in rows]),
        "groups": np.array([str(row["meta"].get("source_id") or row["context"]) for row in rows]),
        "strata": np.array([row["task"] for row in rows]),
    }
