"""Fit what the embedded detector puts on top of its encoder: ``src/groundwire/detectors/data/embedded.json``.

    python -m training.embedded --data DIR

Reads RAGTruth's answers to sources that neither the encoder nor the lexical detector was fitted on, with the
encoder that ships, and fits logistic regressions of claims, of answers and of words, and the cut for words.
Sources of the test part are looked at only to print what came out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from groundwire.core.plan import Encode, Encoded, ReadClaim
from groundwire.core.span import Span
from groundwire.detectors import embedded_model, lexical_features, lexical_model
from groundwire.detectors.embedded import Embedded
from groundwire.detectors.embedded_model import (
    ANSWER_FIGURES,
    CLAIM_FIGURES,
    WORD_FIGURES,
    answer_figures,
    claim_figures,
    word_figures,
)
from groundwire.local.embedded import READER
from groundwire.text import claims as claim_text
from groundwire.text import overlap
from training.labelled_sets import FIT, RAGTRUTH, SEED, TEST, contexts, part
from training.labelled_sets import read as read_set

ROOT = Path(__file__).resolve().parents[1]
PER_TASK = 900.0
AT_ONCE = 16

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One labelled answer, looked at and read."""

    raw: Mapping[str, Any]
    part: float
    weight: float
    seen: lexical_features.Answer
    lexical: lexical_model.Weighed
    read: tuple[ReadClaim, ...]
    unsupported: tuple[bool, ...]

    @property
    def settled(self) -> bool:
        return all(claim.settled is not None for claim in self.seen.claims)


def main() -> None:
    """Fit, write and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=ROOT / "src/groundwire/detectors/data/embedded.json")
    args = parser.parse_args()
    raw = [row for name in RAGTRUTH for row in read_set(args.data / "train" / f"{name}.jsonl.gz")]
    rows = read([row for row in raw if part(row) >= FIT])
    fitting = [row for row in rows if row.part < TEST]
    model = fit(fitting)
    args.out.write_text(json.dumps(model, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    embedded_model.load.cache_clear()
    report("fitted on", fitting, model)
    report("test", [row for row in rows if row.part >= TEST], model)


def read(raw: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Look at every answer, and have it read, some at once."""
    rows: list[Row] = []
    sizes = {task: sum(r["task"] == task for r in raw) for task in {r["task"] for r in raw}}
    telling = lexical_model.load().telling
    for start in range(0, len(raw), AT_ONCE):
        some = [row for row in raw[start : start + AT_ONCE] if claim_text.cut(row["answer"])]
        requests = [
            Encode(
                answer=row["answer"],
                claims=tuple(claim_text.cut(row["answer"])),
                passages=tuple(contexts(row)),
                question=row["question"],
            )
            for row in some
        ]
        for row, request, reply in zip(some, requests, READER.read(requests), strict=True):
            assert isinstance(reply, Encoded), reply
            seen = lexical_features.look(
                row["answer"],
                request.claims,
                row["question"] or "",
                overlap.Context(request.passages),
                telling,
            )
            marks = [Span(s["start"], s["end"]) for s in row["spans"]]
            rows.append(
                Row(
                    raw=row,
                    part=part(row),
                    weight=PER_TASK / sizes[row["task"]],
                    seen=seen,
                    lexical=lexical_model.load().weigh(seen),
                    read=reply.claims,
                    unsupported=tuple(
                        any(m.start < c.end and c.start < m.end for m in marks) for c in request.claims
                    ),
                )
            )
        print(f"\r{start + len(some)} of {len(raw)} answers read", end="", flush=True)
    print()
    return rows


def fit(rows: Sequence[Row]) -> dict[str, Any]:
    """The weights as JSON."""
    of_claims = logistic(CLAIM_FIGURES, *claims_table(rows))
    of_answers = logistic(ANSWER_FIGURES, *answers_table(rows))
    of_words = logistic(WORD_FIGURES, *words_table(rows))
    model = {"claim": of_claims, "answer": of_answers, "word": of_words, "sure": 0.5}
    return {
        "version": "2",
        "provenance": {
            "data": "RAGTruth (Niu et al., 2024), MIT",
            "split": f"sha256('{SEED}:' + source id) from {FIT} to {TEST}",
            "command": "python -m training.embedded",
        },
        **model,
        "sure": best_cut(rows, stack(model)),
    }


def claims_table(rows: Sequence[Row]) -> tuple[list[tuple[float, ...]], list[bool], list[float]]:
    """Figures, labels and weights of all claims that need weighing."""
    table, labels, weights = [], [], []
    for row in rows:
        for seen, odds, claim, bad in zip(
            row.seen.claims, row.lexical.odds, row.read, row.unsupported, strict=True
        ):
            if seen.settled is None:
                table.append(claim_figures(odds, claim))
                labels.append(bad)
                weights.append(row.weight)
    return table, labels, weights


def answers_table(rows: Sequence[Row]) -> tuple[list[tuple[float, ...]], list[bool], list[float]]:
    """Figures, labels and weights of all answers that need weighing."""
    weighed = [row for row in rows if not row.settled]
    return (
        [answer_figures(row.lexical.raw, row.read) for row in weighed],
        [bool(row.raw["label"]) for row in weighed],
        [row.weight for row in weighed],
    )


def words_table(rows: Sequence[Row]) -> tuple[list[tuple[float, ...]], list[bool], list[float]]:
    """Figures, labels and weights of all words."""
    table, labels, weights = [], [], []
    for row in rows:
        marked = characters(Span(s["start"], s["end"]) for s in row.raw["spans"])
        for odds, claim in zip(row.lexical.odds, row.read, strict=True):
            table += word_figures(odds, claim)
            labels += [not marked.isdisjoint(range(w.span.start, w.span.end)) for w in claim.words]
            weights += [row.weight] * len(claim.words)
    return table, labels, weights


def logistic(
    names: Sequence[str],
    table: Sequence[Sequence[float]],
    labels: Sequence[bool],
    weights: Sequence[float],
) -> dict[str, Any]:
    """A logistic regression as JSON."""
    model = LogisticRegression(C=1.0, max_iter=1000).fit(np.array(table), labels, sample_weight=weights)
    return {
        "figures": list(names),
        "weights": [round(float(w), 4) for w in model.coef_[0]],
        "bias": round(float(model.intercept_[0]), 4),
    }


def stack(model: Mapping[str, Any]) -> embedded_model.Stack:
    """The fitted weights as the detector reads them."""
    return embedded_model.Stack.read({"version": "", **model})


def best_cut(rows: Sequence[Row], model: embedded_model.Stack) -> float:
    """The cut for words with the best F1 of characters."""
    cuts = [round(0.02 * i, 2) for i in range(3, 31)]
    return max(cuts, key=lambda cut: span_f1(rows, replace(model, sure=cut)))


def span_f1(rows: Sequence[Row], model: embedded_model.Stack) -> float:
    """F1 of the characters named unsupported, tasks weighing the same."""
    both = named = marked = 0.0
    for row in rows:
        mine = characters(unsupported(row, model))
        theirs = characters(Span(s["start"], s["end"]) for s in row.raw["spans"])
        both += row.weight * len(mine & theirs)
        named += row.weight * len(mine)
        marked += row.weight * len(theirs)
    return 2 * both / max(1.0, named + marked)


def characters(spans: Iterable[Span]) -> set[int]:
    return {at for span in spans for at in range(span.start, span.end)}


def unsupported(row: Row, model: embedded_model.Stack) -> list[Span]:
    """The words that a verdict on the answer would name, but for exact facts."""
    scores = model.weigh(row.seen, row.lexical, row.read).scores()
    return [
        span
        for claim, odds, score in zip(row.read, row.lexical.odds, scores, strict=True)
        if score >= Embedded().grading.threshold
        for span in embedded_model.unsupported_words(claim, model.words(odds, claim), model.sure)
    ]


def report(name: str, rows: Sequence[Row], model: Mapping[str, Any]) -> None:
    """What the stack makes of answers, beside each of its parts alone."""
    fitted = stack(model)
    labels = np.array([row.raw["label"] for row in rows])
    tasks = np.array([row.raw["task"] for row in rows])
    weights = np.array([1 / (tasks == task).sum() for task in tasks])
    ways: dict[str, Callable[[Row], float]] = {
        "embedded": lambda row: fitted.weigh(row.seen, row.lexical, row.read).raw,
        "lexical": lambda row: row.lexical.raw,
        "encoder, worst claim": lambda row: max(1 - claim.reading.supported for claim in row.read),
    }
    print(f"{name}: {len(rows)} answers")
    for way, score in ways.items():
        scores = np.array([score(row) for row in rows])
        of_tasks = "  ".join(
            f"{task} {roc_auc_score(labels[tasks == task], scores[tasks == task]):.3f}"
            for task in sorted(set(tasks))
        )
        cuts = {cut: f1(labels, scores >= cut, weights) for cut in np.unique(scores.round(2))}
        best = max(cuts, key=cuts.__getitem__)
        print(
            f"  {way}: AUROC {roc_auc_score(labels, scores, sample_weight=weights):.3f}  {of_tasks}  "
            f"F1 {cuts[best]:.3f} at {best:.2f}"
        )
    print(f"  F1 of characters {span_f1(rows, fitted):.3f} at {fitted.sure}")


def f1(labels: NDArray[np.int64], flagged: NDArray[np.bool_], weights: Floats) -> float:
    hits = weights[flagged & (labels == 1)].sum()
    return float(2 * hits / (weights[flagged].sum() + weights[labels == 1].sum()))


if __name__ == "__main__":
    main()
