"""One line of figures for one set of answers, as detectors are measured while they are made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks import judged
from benchmarks.judged import Judged
from groundwire.bench import intervals, metrics
from groundwire.bench.metrics import Labelled
from groundwire.detectors import Lexical

HEADER = f"{'':18} {'n':>5} {'bad':>4}  {'AUROC':20} {'F1':20} {'best F1':>8} {'at':>5} {'ECE':>6}"


def line(name: str, data: Labelled, threshold: float = Lexical().grading.threshold) -> str:
    """One row under HEADER; its first F1 is at the threshold."""
    best, cut = metrics.best_f1(data)
    shown = [
        str(intervals.figure(metrics.auroc, data) or ""),
        str(intervals.figure(metrics.f1, data.flags(threshold)) or ""),
    ]
    bad = float(np.average(data.labels, weights=data.weights))
    return (
        f"{name:18} {len(data):5} {bad:4.2f}  {shown[0]:20} {shown[1]:20} "
        f"{best:8.3f} {cut:5.2f} {metrics.ece(data):6.3f}"
    )


FLAGGED = "flagged: wrong, right"


def flagged(said: Sequence[Judged]) -> str:
    """Which share of the wrong answers was flagged, and of the right ones, under FLAGGED."""
    data = judged.labelled(said, even=False, of=_flagged)
    wrong, right = (data.scores[data.labels == label].mean() for label in (1, 0))
    return f"{wrong:.3f}, {right:.3f}"


def _flagged(one: Judged) -> float | None:
    return None if one.flagged is None else float(one.flagged)
