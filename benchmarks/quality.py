"""How well methods judge: their figures on one set of answers, and the answers on which they fail worst.

Everything returned is a value that prints and goes into the record; how it is laid out lives elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks import judged as rows_of
from benchmarks.judged import Judged, Method, Row
from groundwire.bench import intervals, metrics
from groundwire.bench.metrics import Bin, Labelled
from groundwire.core.tuned import Figure
from groundwire.text import language, tokens
from training.labelled_sets import contexts


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a method reached on one set of answers; None stands for what has no meaning for it.

    ``auroc_bounds`` and ``f1_bounds`` are the measure if all abstentions had been wrong, and all right.
    ``chance_ece`` is the calibration error of scores that are exactly right, with as many answers.
    """

    answers: int
    bad: float
    coverage: float
    abstained: Mapping[str, int]
    auroc: Figure | None
    f1: Figure | None
    best_f1: Figure | None
    best_cut: float | None
    span_f1: Figure | None
    ece: float | None
    chance_ece: float | None
    auroc_bounds: tuple[float, float] | None
    f1_bounds: tuple[float, float] | None
    reliability: Sequence[Bin]


def card(method: Method, judged: Sequence[Judged], *, even: bool, spans: bool) -> Card:
    """The figures of ``method`` on these answers. ``spans`` says that people marked words in them."""
    data = rows_of.labelled(judged, even=even)
    if method.either_way and metrics.auroc(data) < 0.5:
        data = replace(data, scores=1 - data.scores)
    graded = rows_of.labelled(judged, even=even, of=_flag)
    words = rows_of.marked(judged, even=even) if spans else None
    whole = rows_of.labelled(judged, even=even, of=_label)
    known = len(data.labels) > 0
    calibrated = method.probability and known
    return Card(
        answers=len(judged),
        bad=float(np.average(whole.labels, weights=whole.weights)),
        coverage=len(data.labels) / len(judged),
        abstained=dict(Counter(one.why for one in judged if one.score is None)),
        auroc=intervals.figure(metrics.auroc, data),
        f1=intervals.figure(_f1_of_flags, graded),
        best_f1=intervals.figure(lambda drawn: metrics.best_f1(drawn)[0], data),
        best_cut=metrics.best_f1(data)[1] if known else None,
        span_f1=intervals.figure(metrics.span_f1, words) if words else None,
        ece=metrics.ece(data) if calibrated else None,
        chance_ece=metrics.chance_ece(data) if calibrated else None,
        auroc_bounds=_bounds(judged, metrics.auroc, _score, even=even),
        f1_bounds=_bounds(judged, _f1_of_flags, _flag, even=even),
        reliability=metrics.reliability(data) if calibrated else (),
    )


def leads(first: Sequence[Judged], second: Sequence[Judged], *, even: bool) -> Figure | None:
    """By how much the first one's AUROC is higher, on the answers that both judged."""
    return intervals.figure(intervals.lead, rows_of.paired(first, second, even=even))


def _flag(one: Judged) -> float | None:
    return None if one.flagged is None else float(one.flagged)


def _label(one: Judged) -> float:
    return float(one.row["label"])


def _score(one: Judged) -> float | None:
    return one.score


def _f1_of_flags(data: Labelled) -> float:
    return metrics.f1(data.flags(0.5))


def _bounds(
    judged: Sequence[Judged],
    measure: Callable[[Labelled], float],
    of: Callable[[Judged], float | None],
    *,
    even: bool,
) -> tuple[float, float] | None:
    """The measure if all abstentions had been wrong, and if all had been right; None if there are none."""
    if all(one.score is not None for one in judged):
        return None

    def known(one: Judged) -> float | None:
        return of(one) if one.score is not None else float(one.row["label"])

    right = rows_of.labelled(judged, even=even, of=known)
    if len(right.labels) < len(judged):
        return None
    unjudged = np.array([one.score is None for one in judged])
    wrong = replace(right, scores=np.where(unjudged, 1 - right.labels, right.scores))
    return measure(wrong), measure(right)


@dataclass(frozen=True, kw_only=True)
class Found:
    """Of the stretches that people marked with one label: how many, how many any flagged word touches, and
    the share of their characters that is flagged."""

    label: str
    marked: int
    touched: float
    characters: float


def found_by_label(judged: Sequence[Judged]) -> list[Found]:
    """What of each kind of marked stretch was found, most frequent kind first."""
    seen: dict[str, list[tuple[int, int]]] = {}
    for one in judged:
        if one.score is None or one.spans is None:
            continue
        flagged = metrics.characters(one.spans)
        for span in one.row["spans"]:
            hit = sum(at in flagged for at in range(span["start"], span["end"]))
            seen.setdefault(span["label"], []).append((hit, span["end"] - span["start"]))
    return [
        Found(
            label=label,
            marked=len(pairs),
            touched=sum(hit > 0 for hit, _ in pairs) / len(pairs),
            characters=sum(hit for hit, _ in pairs) / max(1, sum(size for _, size in pairs)),
        )
        for label, pairs in sorted(seen.items(), key=lambda item: -len(item[1]))
    ]


def _is_arithmetic(row: Row) -> bool:
    """A figure of the answer that no passage has: it was worked out, or made up."""
    known = {number for text in contexts(row) for number in _NUMBER.findall(text)}
    return row["dataset"] == "finqa_detect" and any(n not in known for n in _NUMBER.findall(row["answer"]))


def _is_foreign(row: Row) -> bool:
    guessed = language.guess(tokens.fold(word) for word in tokens.texts(row["answer"]))
    return guessed not in (None, "English")


_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
KINDS: Mapping[str, Callable[[Row], bool]] = {
    "arithmetic (figures that no passage has)": _is_arithmetic,
    "long reasoning (questions over several documents)": lambda row: row["dataset"] == "sac3_hotpot",
    "records to text": lambda row: row["task"] == "data2txt",
    "long answers (over 150 words)": lambda row: len(row["answer"].split()) > 150,
    "long contexts (over 600 words)": lambda row: sum(len(text.split()) for text in contexts(row)) > 600,
    "summaries close to their text": lambda row: row["dataset"] == "qags",
    "conversation": lambda row: row["task"] == "dialogue",
    "other languages": _is_foreign,
}
"""What tends to go wrong, as a question about a row."""


@dataclass(frozen=True, kw_only=True)
class Weakness:
    """How a method does on one kind of answer, and its worst misses there: those it was surest of."""

    kind: str
    answers: int
    bad: int
    abstained: int
    auroc: Figure | None
    caught: float | None
    alarms: float | None
    missed: Sequence[Judged]
    alarmed: Sequence[Judged]


def weaknesses(judged: Sequence[Judged], worst: int = 1) -> list[Weakness]:
    """Each kind of answer with the worst misses; a kind that no row is of is still listed, as empty."""
    return [
        _weakness(kind, [one for one in judged if is_of(one.row)], worst) for kind, is_of in KINDS.items()
    ]


def _weakness(kind: str, judged: Sequence[Judged], worst: int) -> Weakness:
    known = sorted((one for one in judged if one.score is not None), key=lambda one: one.score or 0.0)
    bad = [one for one in known if one.row["label"]]
    good = [one for one in known if not one.row["label"]]
    return Weakness(
        kind=kind,
        answers=len(judged),
        bad=sum(one.row["label"] for one in judged),
        abstained=len(judged) - len(known),
        auroc=intervals.figure(metrics.auroc, rows_of.labelled(known, even=False)),
        caught=_share_flagged(bad),
        alarms=_share_flagged(good),
        missed=[one for one in bad if not one.flagged][:worst],
        alarmed=[one for one in reversed(good) if one.flagged][:worst],
    )


def _share_flagged(judged: Sequence[Judged]) -> float | None:
    return sum(bool(one.flagged) for one in judged) / len(judged) if judged else None
