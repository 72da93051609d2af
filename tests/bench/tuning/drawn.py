"""Labelled answers drawn from distributions that are known, and a detector that says a score it reads."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from groundwire import AbstentionReason, Checker, Claim, Detector, Interaction, Span, Support, Verdict
from groundwire.bench.examples import Example
from groundwire.bench.runs import judge
from groundwire.bench.tuning.rows import Rows


@dataclass(frozen=True, kw_only=True)
class Told(Detector):
    """Reads its score, and those of claims, from an answer in JSON; "" is not judged."""

    name: ClassVar[str] = "told"
    version: ClassVar[str] = "1"

    tint: str = "plain"

    def detect(self, interaction: Interaction):
        yield from ()
        if not interaction.answer:
            return self.abstain(AbstentionReason.NO_CLAIMS, "nothing is told")
        told = json.loads(interaction.answer)
        claims = tuple(
            Claim(
                text=interaction.answer[i],
                span=Span(i, i + 1),
                support=Support.UNSUPPORTED if score >= 0.5 else Support.SUPPORTED,
                score=score,
            )
            for i, score in enumerate(told.get("claims", []))
        )
        return Verdict.graded(
            told["score"],
            self.grading,
            raw=told["score"],
            detector=self.spec,
            claims=claims,
            reason="As told.",
        )


def example(i, score, label, *, group=None, claims=()):
    answer = json.dumps({"score": score, "claims": list(claims)}) if score is not None else ""
    return Example(
        id=str(i),
        interaction=Interaction(contexts=f"Document {i if group is None else group}.", answer=answer),
        label=label,
        group=str(i) if group is None else group,
    )


def examples(count=300, *, apart=1.5, seed=0, a_group=1):
    """Answers whose scores part the labels by so many deviations, ``a_group`` of them to a source."""
    rng = np.random.default_rng(seed)
    labels = rng.random(count) < 0.4
    odds = rng.normal(0, 1, count) + np.where(labels, apart / 2, -apart / 2)
    scores = 1 / (1 + np.exp(-odds))
    return [
        example(i, float(scores[i]), bool(labels[i]), group=f"source {i // a_group}") for i in range(count)
    ]


def judged(given, detector=None):
    checker = Checker(detector or Told())
    return list(judge(given, checker)), checker


def rows(columns, labels, groups=None, names=None):
    columns = np.asarray(columns, dtype=float)
    columns = columns[:, None] if columns.ndim == 1 else columns
    labels = np.asarray(labels, dtype=bool)
    groups = np.arange(len(labels)) if groups is None else groups
    return Rows(
        names=names or ("own", *(f"rule {i}" for i in range(1, columns.shape[1]))),
        labels=labels,
        groups=np.asarray(groups).astype(str),
        columns=columns,
        scores=columns[:, 0],
        flagged=columns[:, 0] >= 0.5,
        calls=np.zeros(len(labels)),
        weights=np.ones(len(labels)),
    )
