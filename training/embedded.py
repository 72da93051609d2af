"""Fit what the embedded detector puts on top of its encoder: ``src/groundwire/detectors/data/embedded.json``.

    python training/lexical.py --data DIR --below 0.66 --out training/work/lexical-below.json
    python -m training.embedded --data DIR --halves DIR DIR

Reads answers that are not known by heart, RAGTruth's, our own and part of SciTail, and fits logistic
regressions of claims, of answers and of words, and the cut for words. ``halves`` are folders of two encoders,
each of which was taught one half of some of these answers, and reads the other; what none was taught, the
encoder that ships reads, which is their mean. What words and facts say of these answers must not be known by
heart either: it comes from a lexical detector that was fitted without them.
Sources of the test part are looked at only to print what came out, with the lexical detector that ships.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.judged import interaction
from groundwire.core.plan import Encoded, ReadClaim
from groundwire.core.span import Span
from groundwire.detectors import embedded_model, lexical_features, lexical_model
from groundwire.detectors.embedded import Embedded, asked, without_known
from groundwire.detectors.embedded_model import (
    ANSWER_FIGURES,
    ASKED_ANSWER_FIGURES,
    ASKED_CLAIM_FIGURES,
    BRIEF_FIGURES,
    CLAIM_FIGURES,
    DIGEST_FIGURES,
    WORD_FIGURES,
    answer_figures,
    brief_figures,
    claim_figures,
    digest_figures,
    word_figures,
)
from groundwire.detectors.lexical_seen import A_FEW, Answer
from groundwire.local.embedded import READER, EmbeddedReader
from groundwire.local.encoder import Loaded
from groundwire.text import claims as claim_text
from groundwire.text import overlap
from training import labelled_sets, written
from training.encoder_parts import teaches
from training.labelled_sets import FIT, SEED, TEST, Raw, contexts, half, is_between, part, ragtruth

ROOT = Path(__file__).resolve().parents[1]
PER_TASK = 900.0
SHORT: Mapping[str, float] = {
    "written": 400.0,
    "asked": 400.0,
    "scitail": 400.0,
    "of models": 1_200.0,
    "digests": 600.0,
}
"""What other answers of each make weigh beside RAGTruth's three tasks."""
SHORT_WRONG = 0.25
"""Of their weight, the wrong ones have as much: half of them are wrong, and of people's answers fewer."""
BRIEF_WRONG = 0.1
"""Of the weight of brief answers, what wrong ones have, and as much again those that are invented."""
SCITAIL = 500
AT_ONCE = 16

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One labelled answer, looked at and read."""

    raw: Mapping[str, Any]
    weight: float
    seen: Answer
    lexical: lexical_model.Weighed
    read: Mapping[int, ReadClaim]
    unsupported: tuple[bool, ...]


def main() -> None:
    """Fit, write and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--lexical", type=Path, default=ROOT / "training" / "work" / "lexical-below.json")
    parser.add_argument(
        "--halves",
        type=Path,
        nargs=2,
        required=True,
        metavar="DIR",
        help="encoders taught half 0, and half 1",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "src/groundwire/detectors/data/embedded.json")
    args = parser.parse_args()
    raw = ragtruth(args.data)
    if not args.lexical.exists():
        parser.error(
            f"no {args.lexical}: make it with training/lexical.py --below {FIT} --out {args.lexical}"
        )
    below = lexical_model.Fitted.read(json.loads(args.lexical.read_text(encoding="utf-8")))
    halves = [EmbeddedReader(loaded=Loaded(folder)) for folder in args.halves]
    fitting = read([row for row in raw if is_between(row)], below, halves)
    others = short(args.data)
    short_ones = [row for rows in others.values() for row in evened(read(rows, below, halves))]
    model = fit(fitting, short_ones, read(list(invented(others["asked"])), below, halves))
    args.out.write_text(json.dumps(model, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    embedded_model.load.cache_clear()
    report("fitted on", fitting, model)
    report("test", read([row for row in raw if part(row) >= TEST], lexical_model.load()), model)


def short(data: Path) -> dict[str, list[Raw]]:
    """Answers of our own that their reader was not taught, by how they are worded, and claims of SciTail."""
    ours = [row for row in written.read() if not teaches(row) and not written.is_close(row)]
    claims = [row for row in labelled_sets.read(data / "train" / "nli.jsonl.gz") if _is_scitail(row)]
    made: dict[str, list[Raw]] = {"written": [], "of models": [], "digests": []}
    made["asked"] = [{**row, "dataset": "asked"} for row in chain(*written.asked()) if not teaches(row)]
    for row in ours:
        digest = written.is_late(row) and row["task"] in written.TASKS.values()
        kind = "of models" if written.is_of_models(row) else "digests" if digest else "written"
        made[kind].append({**row, "dataset": kind})
    return {**made, "scitail": [{**_whole(row), "dataset": "scitail"} for row in claims[:SCITAIL]]}


def invented(asked_ones: Sequence[Raw]) -> Iterator[Raw]:
    """Questions that are answered rightly in a few words, with such an answer to another document's."""
    few = [raw for raw in asked_ones if not raw["label"] and len(raw["answer"].split()) <= A_FEW]
    for i, raw in enumerate(few):
        others = chain(few[i:], few[:i])
        answer = next(other["answer"] for other in others if other["meta"] != raw["meta"])
        yield _whole({**raw, "answer": answer, "label": 1})


def _is_scitail(row: Raw) -> bool:
    return bool(row["meta"]["subset"] == "scitail")


def _whole(row: Raw) -> Raw:
    """A claim that is marked as a whole where it doesn't follow."""
    spans = [{"start": 0, "end": len(row["answer"]), "label": ""}] if row["label"] else []
    return {**row, "spans": spans}


def evened(rows: Sequence[Row]) -> list[Row]:
    """Answers of one make, weighed as ``SHORT`` and ``SHORT_WRONG`` say."""
    labels = [row.raw["label"] for row in rows]
    shares = {1: SHORT_WRONG / sum(labels), 0: (1 - SHORT_WRONG) / (len(labels) - sum(labels))}
    return [
        replace(row, weight=SHORT[row.raw["dataset"]] * shares[label])
        for row, label in zip(rows, labels, strict=True)
    ]


def read(raw: Sequence[Raw], model: lexical_model.Fitted, halves: Sequence[EmbeddedReader] = ()) -> list[Row]:
    """Look at every answer, and have what the detector would have read of it read, some at once."""
    sizes = {task: sum(r["task"] == task for r in raw) for task in {r["task"] for r in raw}}
    rows = [look(row, PER_TASK / sizes[row["task"]], model) for row in raw if claim_text.cut(row["answer"])]
    done: list[Row] = []
    for reader, theirs in by_reader(rows, halves):
        for start in range(0, len(theirs), AT_ONCE):
            done += read_by(reader, theirs[start : start + AT_ONCE])
            print(f"\r{len(done)} of {len(rows)} answers read", end="", flush=True)
    print()
    return done


def by_reader(
    rows: Sequence[Row], halves: Sequence[EmbeddedReader]
) -> Iterator[tuple[EmbeddedReader, Sequence[Row]]]:
    """Who reads which answers: what one of ``halves`` was taught, the other; all else, the one that ships."""
    taught = [taught_half(row.raw) if halves else None for row in rows]
    for number, reader in ((None, READER), *enumerate(reversed(halves))):
        yield reader, [row for row, one in zip(rows, taught, strict=True) if one == number]


def taught_half(raw: Raw) -> int | None:
    """The half that an answer was taught in stages 14 and 15, if it was."""
    if raw["dataset"] == "ragtruth":
        chose = is_between(raw)
    else:
        chose = raw["dataset"] != "scitail" and written.is_late(raw)
    return half(raw) if chose else None


def read_by(reader: EmbeddedReader, rows: Sequence[Row]) -> Iterator[Row]:
    """The answers with what the detector would have read of them."""
    numbers = [embedded_model.to_read(row.seen, row.lexical) for row in rows]
    replies = reader.read(
        [asked(interaction(row.raw), row.seen, which) for row, which in zip(rows, numbers, strict=True)]
    )
    for row, which, reply in zip(rows, numbers, replies, strict=True):
        assert isinstance(reply, Encoded), reply
        claims = dict(zip(which, reply.claims, strict=True))
        yield replace(row, read=without_known(row.seen, claims))


def look(raw: Mapping[str, Any], weight: float, model: lexical_model.Fitted) -> Row:
    """An answer that nobody has read yet."""
    claims = claim_text.cut(raw["answer"])
    context = overlap.Context(contexts(raw))
    seen = lexical_features.look(raw["answer"], claims, raw["question"] or "", context, model.telling)
    marks = [Span(s["start"], s["end"]) for s in raw["spans"]]
    unsupported = tuple(any(mark.overlaps(claim) for mark in marks) for claim in claims)
    return Row(
        raw=raw,
        weight=weight,
        seen=seen,
        lexical=model.weigh(seen),
        read={},
        unsupported=unsupported,
    )


def fit(rows: Sequence[Row], short_ones: Sequence[Row], made_up: Sequence[Row]) -> dict[str, Any]:
    """The weights as JSON: of answers to a question, of all as texts that answer none, and of words.

    Brief answers have a regression of their own, to which what is ``made_up`` comes, and so have digests, to
    which our own ones come.
    """
    every = [*rows, *short_ones]
    asked_ones = [row for row in every if row.seen.asked and not embedded_model.is_brief(row.seen)]
    unasked = [_unasked(row) for row in every]
    others = [_suspected(row) for row in unasked if row.raw["dataset"] != "digests"]
    digests = [
        row
        for row in unasked
        if embedded_model.is_digest(row.seen, row.lexical) and row.raw["dataset"] != "of models"
    ]
    model = {
        "asked": {
            "claim": logistic(ASKED_CLAIM_FIGURES, *claims_table(asked_ones)),
            "answer": logistic(ASKED_ANSWER_FIGURES, *answers_table(asked_ones, _as_answer)),
        },
        "unasked": {
            "claim": logistic(CLAIM_FIGURES, *claims_table(others)),
            "answer": logistic(ANSWER_FIGURES, *answers_table(others, _as_answer)),
        },
        "digest": logistic(DIGEST_FIGURES, *answers_table(digests, _as_digest)),
        "brief": logistic(BRIEF_FIGURES, *answers_table(_brief(every, made_up), _as_brief)),
        "word": logistic(WORD_FIGURES, *words_table([*rows, *_marked(short_ones)])),
        "sure": 0.5,
    }
    return {
        "version": "15",
        "provenance": {
            "data": "RAGTruth (Niu et al., 2024), MIT; SciTail (Khot et al., 2018), Apache-2.0; our own",
            "split": f"sha256('{SEED}:' + source id) from {FIT} to {TEST}",
            "command": "python -m training.embedded --halves stage15-0 stage15-1",
        },
        **model,
        "sure": best_cut([*rows, *_marked(short_ones)], stack(model)),
    }


def _brief(rows: Sequence[Row], made_up: Sequence[Row]) -> list[Row]:
    """The brief answers, weighed as ``BRIEF_WRONG`` says."""
    right = [row for row in rows if not row.raw["label"]]
    wrong = [row for row in rows if row.raw["label"]]
    weighed: list[Row] = []
    for share, some in ((1 - 2 * BRIEF_WRONG, right), (BRIEF_WRONG, made_up), (BRIEF_WRONG, wrong)):
        brief = [row for row in some if embedded_model.is_brief(row.seen)]
        weighed += [replace(row, weight=SHORT["asked"] * share / len(brief)) for row in brief]
    return weighed


def _unasked(row: Row) -> Row:
    """A row as if it answered no question."""
    return replace(row, seen=replace(row.seen, asked=False))


def _suspected(row: Row) -> Row:
    """A row of which what words suspect was read, as of other texts than digests."""
    numbers = embedded_model.suspected(row.seen, row.lexical)
    return replace(row, read={i: claim for i, claim in row.read.items() if i in numbers})


def _marked(rows: Iterable[Row]) -> list[Row]:
    """Those whose wrong words are marked, and not the whole; digests of our own have few marked words."""
    return [row for row in rows if row.raw["dataset"] not in ("scitail", "digests")]


def claims_table(rows: Sequence[Row]) -> tuple[list[tuple[float, ...]], list[bool], list[float]]:
    """Figures, labels and weights of all claims that were read."""
    table, labels, weights = [], [], []
    for row in rows:
        for i, claim in row.read.items():
            table.append(claim_figures(row.lexical.odds[i], claim, row.seen))
            labels.append(row.unsupported[i])
            weights.append(row.weight)
    return table, labels, weights


def answers_table(
    rows: Sequence[Row], figures: Callable[[Row], tuple[float, ...]]
) -> tuple[list[tuple[float, ...]], list[bool], list[float]]:
    """Figures, labels and weights of all answers of which something was read."""
    weighed = [row for row in rows if row.read]
    return (
        [figures(row) for row in weighed],
        [bool(row.raw["label"]) for row in weighed],
        [row.weight for row in weighed],
    )


def _as_answer(row: Row) -> tuple[float, ...]:
    return answer_figures(row.lexical, row.read.values(), row.seen)


def _as_digest(row: Row) -> tuple[float, ...]:
    return digest_figures(row.lexical, row.read, row.seen)


def _as_brief(row: Row) -> tuple[float, ...]:
    return brief_figures(row.lexical, row.read, row.seen)


def words_table(rows: Sequence[Row]) -> tuple[list[tuple[float, ...]], list[bool], list[float]]:
    """Figures, labels and weights of the words of all claims that were read."""
    table, labels, weights = [], [], []
    for row in rows:
        marked = characters(Span(s["start"], s["end"]) for s in row.raw["spans"])
        for i, claim in row.read.items():
            table += word_figures(row.lexical.odds[i], claim)
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
    cuts = [round(0.01 * i, 2) for i in range(6, 61)]
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
    scores = model.weigh(row.lexical, row.seen, row.read).scores()
    return [
        span
        for i, claim in row.read.items()
        if scores[i] >= Embedded().grading.threshold
        for span in embedded_model.unsupported_words(
            claim, model.words(row.lexical.odds[i], claim), model.sure
        )
    ]


def report(name: str, rows: Sequence[Row], model: Mapping[str, Any]) -> None:
    """What the stack makes of answers, beside each of its parts alone."""
    fitted = stack(model)
    labels = np.array([row.raw["label"] for row in rows])
    tasks = np.array([row.raw["task"] for row in rows])
    weights = np.array([1 / (tasks == task).sum() for task in tasks])
    ways: dict[str, Callable[[Row], float]] = {
        "embedded": lambda row: max(fitted.weigh(row.lexical, row.seen, row.read).scores()),
        "lexical": lambda row: row.lexical.raw,
        "encoder, worst claim": lambda row: max(
            (1 - c.reading.supported for c in row.read.values()), default=0.0
        ),
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
