"""Fit the lexical detector: from labelled answers to ``src/groundwire/detectors/data/lexical.json``.

    OMP_NUM_THREADS=1 python training/lexical.py [--data DIR] [--out FILE] [--below PART]

Deterministic: the same data and the same scikit-learn give the same file, byte for byte. Sources are
split by a hash of their id into a part to fit and a part to test; answers to one source never stand on two
sides. What each step makes of answers is told to the next, and calibrated, out of fold. ``--below`` fits on
fewer sources, so that others can be fitted on what the detector makes of those it doesn't know
(``training/embedded.py`` does). What was tried, with numbers, is in ``training/README.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from groundwire.bench.tuning.stacking import exported
from groundwire.core import calibration
from groundwire.detectors import lexical_features, lexical_model
from groundwire.detectors.lexical_seen import ANSWER_FEATURES, CLAIM_FEATURES
from groundwire.text import claims as claim_text
from groundwire.text import overlap

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import lines  # noqa: E402 - found from the repository's root
from groundwire.bench.metrics import Labelled  # noqa: E402
from training.labelled_sets import (  # noqa: E402
    RAGTRUTH,
    SEED,
    TEST,
    Raw,
    contexts,
    part,
    place,
    ragtruth,
    read,
)
from training.retrieved import Passages  # noqa: E402

Floats = NDArray[np.float64]

# Short answers of other makes, so that an answer of one sentence is not judged by RAGTruth's long ones.
BESIDES = {
    "expertqa": "MIT",
    "defacto": "MIT",
    "begin": "CC BY 4.0 and CDLA",
    "faithdial_audit": "MIT",
    "factcheckgpt_stance": "Apache-2.0",
}
PER_TASK = 900.0
PER_OTHER_SET = 150.0
LARGEST_SET = 1_500
# How many pieces of each RAGTruth answer are answers of their own, what they weigh, and how much more an
# unsupported one weighs: one sentence in eight is, and an answer of one sentence shall not profit from it.
PIECES, PIECES_WEIGHT, PIECES_UNSUPPORTED = 4, 0.6, 3.0
# What a RAGTruth answer weighs beside its own passages, and its copy beside a retriever's others.
OWN_SHARE, RETRIEVED_SHARE = 0.7, 0.3
# A stem missing from fewer claims has no weight of its own.
RAREST = 20
TELLING = [CLAIM_FEATURES.index("telling"), CLAIM_FEATURES.index("most_telling")]
FOLDS = 5

RISING = {
    "missing_words",
    "longest_gap",
    "numbers_missing",
    "numbers_differing",
    "names_missing",
    "negation_differs",
    "opposites",
    "telling",
    "most_telling",
    "bounds_differ",
    "entries_differing",
    "entries_open",
}
FALLING = {
    "spelled",
    "stemmed",
    "weighted",
    "best_sentence",
    "best_window",
    "best_passage",
    "pairs",
    "pairs_of_pairs",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One labelled answer as figures; ``part`` in [0, 1) says which side of the split it is on."""

    label: int
    task: str
    source: str
    part: float
    weight: float
    claims: Floats
    unsupported: NDArray[np.bool_]
    missing: tuple[tuple[str, ...], ...]
    settled: Floats
    least: float
    context: tuple[float, float]
    marked: bool
    """Whether each claim has a label of its own, so that pieces of the answer have one too."""


Weighed = tuple[Row, Floats]
"""An answer and the odds of its claims."""

One = TypeVar("One", Row, Weighed)
Model = TypeVar("Model")
Made = TypeVar("Made")


def main() -> None:
    """Fit, write and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=ROOT / "src/groundwire/detectors/data/lexical.json")
    parser.add_argument("--below", type=float, default=TEST, help="the sources to fit on")
    args = parser.parse_args()
    model = fit([*marked(args.data), *others(args.data)], list(retrieved(args.data, args.below)), args.below)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(model, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8")
    print(f"wrote {args.out.name} ({args.out.stat().st_size / 1000:.0f} kB)")


def marked(data: Path) -> Iterator[Row]:
    """RAGTruth's answers, each task weighing the same, as in its own test split."""
    for one, weight in weighed(data):
        row = look(one, weight)
        if row is not None:
            yield row


def retrieved(data: Path, below: float) -> Iterator[Row]:
    """A copy of each of RAGTruth's answers that are fitted on, beside passages of others as well."""
    fitting = [(one, weight) for one, weight in weighed(data) if part(one) < below]
    passages, rng = Passages([one for one, _ in fitting]), random.Random(5)
    for one, weight in fitting:
        row = look(passages.retrieved(one, rng), weight * RETRIEVED_SHARE)
        if row is not None:
            yield row


def weighed(data: Path) -> list[tuple[Raw, float]]:
    """RAGTruth's answers, and what each weighs."""
    raw = ragtruth(data)
    sizes = Counter(row["task"] for row in raw)
    return [(row, PER_TASK / sizes[row["task"]]) for row in raw]


def others(data: Path) -> Iterator[Row]:
    """Answers of other sets that can teach claims: supported ones, and those of one claim."""
    for name in BESIDES:
        raw = read(data / "train" / f"{name}.jsonl.gz")
        raw = sorted(raw, key=lambda row: hashlib.sha256(row["id"].encode()).hexdigest())[:LARGEST_SET]
        bad = sum(row["label"] for row in raw) / len(raw)
        for one in raw:
            share = 0.4 / bad if one["label"] else 0.6 / (1 - bad)
            row = look(one, PER_OTHER_SET / len(raw) * share)
            if row is not None and (not row.label or len(row.claims) == 1):
                yield row


def look(row: Mapping[str, Any], weight: float) -> Row | None:
    """An answer as figures; None when it makes no claim. Without marked spans the label is every claim's."""
    spans = claim_text.cut(row["answer"])
    if not spans:
        return None
    context = overlap.Context(contexts(row))
    seen = lexical_features.look(row["answer"], spans, row["question"] or "", context, {}).claims
    marked = row["dataset"] == "ragtruth"
    unsupported = [_marked(row, s.start, s.end) if marked else row["label"] for s in spans]
    source = str(row["meta"].get("source_id") or row["context"])
    return Row(
        label=row["label"],
        task=row["task"],
        source=source,
        part=place(source),
        weight=weight,
        claims=np.array([claim.features for claim in seen]),
        unsupported=np.array(unsupported, dtype=bool),
        missing=tuple(tuple(claim.worded.stems[i] for i in claim.missing) for claim in seen),
        settled=np.array([np.nan if claim.settled is None else claim.settled for claim in seen]),
        least=max(claim.least for claim in seen),
        context=lexical_features.context_features(context),
        marked=marked,
    )


def _marked(row: Mapping[str, Any], start: int, end: int) -> bool:
    """Whether a marked span reaches into the claim with a letter or digit."""
    return any(
        any(c.isalnum() for c in row["answer"][max(start, span["start"]) : min(end, span["end"])])
        for span in row["spans"]
    )


def fit(rows: Sequence[Row], copies: Sequence[Row], below: float) -> dict[str, Any]:
    """The model as JSON, of answers and their copies beside passages of others.

    Each step learns from the figures of the step before it out of fold.
    """
    own = [replace(row, weight=row.weight * OWN_SHARE) for row in rows if row.marked and row.part < below]
    fitting = [*own, *copies, *(row for row in rows if not row.marked)]
    testing = [row for row in rows if row.marked and row.part >= TEST]
    weights = fit_telling(fitting)
    fitting, testing = out_of_fold(fitting, fit_telling, tell), [tell(row, weights) for row in testing]
    of_claims = fit_claims(fitting)
    odds = out_of_fold(fitting, fit_claims, settle)
    fitted, unseen = list(zip(fitting, odds, strict=True)), [(row, settle(row, of_claims)) for row in testing]
    of_answers = fit_answers(fitted)
    raw = zip(out_of_fold(fitted, fit_answers, score), fitting, strict=True)
    calibrating = [(x, row) for x, row in raw if row.marked]
    curve = calibrate(calibrating)
    report("fitted on and their copies, out of fold", calibrating, curve)
    report("test", [(score(one, of_answers), one[0]) for one in unseen], curve)
    return {
        "version": "3",
        "provenance": {
            "data": [f"RAGTruth (Niu et al., 2024), MIT: {name}" for name in RAGTRUTH]
            + [f"{name}, {licence}" for name, licence in BESIDES.items()],
            "split": f"sha256('{SEED}:' + source id): fitted and, out of fold, calibrated below {below}",
            "scikit-learn": sklearn.__version__,
            "command": "python training/lexical.py",
        },
        "claims": export(of_claims, CLAIM_FEATURES),
        "answer": export(of_answers, lexical_model.pooled_names(CLAIM_FEATURES, ANSWER_FEATURES)),
        "calibration": curve,
        "telling": weights,
    }


def out_of_fold(
    rows: Sequence[One], fit: Callable[[Sequence[One]], Model], apply: Callable[[One, Model], Made]
) -> list[Made]:
    """What is made of each row by what was fitted on the other folds of sources."""
    place = [int(_row(one).part * 1_000) % FOLDS for one in rows]
    models = [fit([one for one, k in zip(rows, place, strict=True) if k != fold]) for fold in range(FOLDS)]
    return [apply(one, models[k]) for one, k in zip(rows, place, strict=True)]


def _row(one: Row | Weighed) -> Row:
    return one if isinstance(one, Row) else one[0]


def fit_telling(rows: Sequence[Row]) -> dict[str, float]:
    """What each word tells when it is missing: the log-odds of a logistic regression over missing stems."""
    seen = Counter(stem for row in rows for missing in row.missing for stem in set(missing))
    columns = {stem: i for i, stem in enumerate(sorted(s for s, n in seen.items() if n >= RAREST), 1)}
    entries = [
        (i, columns.get(stem, 0))
        for i, missing in enumerate(missing for row in rows for missing in row.missing)
        for stem in missing
    ]
    at = np.array(entries)
    labels = np.concatenate([row.unsupported for row in rows])
    weights = np.concatenate([np.full(len(row.claims), row.weight) for row in rows])
    table = csr_matrix((np.ones(len(at)), (at[:, 0], at[:, 1])), shape=(len(labels), len(columns) + 1))
    model = LogisticRegression(C=0.1, max_iter=500).fit(table, labels, sample_weight=2 * weights)
    told = {stem: round(float(model.coef_[0][i]), 3) for stem, i in columns.items()}
    return {"": round(float(model.coef_[0][0]), 3), **told}


def tell(row: Row, weights: Mapping[str, float]) -> Row:
    """The same answer, its two figures of ``telling`` filled in."""
    claims = row.claims.copy()
    claims[:, TELLING] = [lexical_features.telling(missing, weights) for missing in row.missing]
    return replace(row, claims=claims)


def fit_claims(rows: Sequence[Row]) -> HistGradientBoostingClassifier:
    """Trees that tell an unsupported claim; never less sure for one more missing word."""
    direction = [1 if name in RISING else -1 if name in FALLING else 0 for name in CLAIM_FEATURES]
    model = HistGradientBoostingClassifier(
        max_iter=150,
        learning_rate=0.05,
        max_leaf_nodes=10,
        min_samples_leaf=40,
        l2_regularization=5.0,
        max_features=0.4,
        monotonic_cst=direction,
        early_stopping=False,
        random_state=0,
    )
    weights = np.concatenate([np.full(len(row.claims), row.weight) for row in rows])
    labels = np.concatenate([row.unsupported for row in rows])
    return model.fit(np.vstack([row.claims for row in rows]), labels, sample_weight=weights)


def settle(row: Row, model: HistGradientBoostingClassifier) -> Floats:
    """The claims' odds, as the detector takes them."""
    odds: Floats = np.where(np.isnan(row.settled), model.predict_proba(row.claims)[:, 1], row.settled)
    return odds


def pool(row: Row, odds: Floats, piece: slice = slice(None)) -> list[float]:
    """The figures of an answer, or of a piece of it taken for an answer."""
    claims = row.claims[piece].tolist()
    answer = lexical_features.answer_features(claims, row.context)
    return lexical_model.pooled(odds[piece].tolist(), claims, answer)


def fit_answers(rows: Sequence[Weighed]) -> HistGradientBoostingClassifier:
    """Trees that tell an answer with any unsupported claim."""
    rng = np.random.default_rng(0)
    table, labels, weights = [], [], []
    for row, odds in rows:
        table.append(pool(row, odds))
        labels.append(row.label)
        weights.append(row.weight)
    for row, odds in rows:
        for _ in range(PIECES if row.marked else 0):
            size = min(len(row.claims), int(rng.integers(1, 4)))
            start = int(rng.integers(0, len(row.claims) - size + 1))
            bad = bool(row.unsupported[start : start + size].any())
            table.append(pool(row, odds, slice(start, start + size)))
            labels.append(bad)
            weights.append(row.weight * PIECES_WEIGHT / PIECES * (PIECES_UNSUPPORTED if bad else 1.0))
    model = HistGradientBoostingClassifier(
        max_iter=150,
        learning_rate=0.04,
        max_leaf_nodes=8,
        min_samples_leaf=30,
        l2_regularization=5.0,
        max_features=0.3,
        early_stopping=False,
        random_state=0,
    )
    return model.fit(np.array(table), np.array(labels), sample_weight=np.array(weights))


def score(weighed: Weighed, model: HistGradientBoostingClassifier) -> float:
    """The raw score of an answer, as the detector gives it."""
    row, odds = weighed
    if not np.isnan(row.settled).any():
        return float(row.settled.max())
    return float(model.predict_proba([pool(row, odds)])[0, 1])


def calibrate(scored: Sequence[tuple[float, Row]]) -> dict[str, Any]:
    """A temperature: steps, as an isotonic curve has them, would make equal what the trees tell apart."""
    odds = np.array([[math.log(x / (1 - x))] for x, _ in scored])
    labels = np.array([row.label for _, row in scored])
    weights = np.array([row.weight for _, row in scored])
    slope = LogisticRegression(C=1e6, fit_intercept=False).fit(odds, labels, sample_weight=weights).coef_
    return {"kind": "temperature", "temperature": round(1 / float(slope[0, 0]), 4)}


def export(model: HistGradientBoostingClassifier, features: Sequence[str]) -> dict[str, Any]:
    """scikit-learn's trees as plain lists, rounded; see ``lexical_model.Forest``."""
    data = exported(model)
    data["threshold"] = [float(f"{value:.9g}") for value in data["threshold"]]
    data["value"] = [float(f"{value:.6g}") for value in data["value"]]
    return {"features": list(features), **data}


def report(name: str, scored: Sequence[tuple[float, Row]], curve: Mapping[str, Any]) -> None:
    """Print how well calibrated scores tell answers."""
    to_probability = calibration.from_dict(curve)
    print(f"{name}\n{lines.HEADER}")
    for task in ("all", "qa", "data2txt", "summary"):
        chosen = [(to_probability(x), row) for x, row in scored if task in ("all", row.task)]
        labelled = Labelled(
            labels=np.array([row.label for _, row in chosen]),
            scores=np.array([max(x, row.least) for x, row in chosen]),
            weights=np.array([row.weight for _, row in chosen]),
            groups=np.array([row.source for _, row in chosen]),
        )
        print(lines.line(task, labelled))


if __name__ == "__main__":
    main()
