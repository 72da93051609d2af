"""What a threshold does, where no answer has been labelled to tune it by.

    python -m benchmarks.thresholds [--data DIR] [--detector NAME] [--sample N]

Prints which share of wrong and of right answers is flagged from each threshold on: of RAGTruth's held-out
answers, each task weighing the same, and of held-out answers of our own, worded as large models word theirs.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import judged
from benchmarks.judged import Row
from groundwire.bench import metrics
from groundwire.bench.metrics import Labelled
from training import written

ROOT = Path(__file__).resolve().parents[1]
THRESHOLDS = (0.2, 0.3, 0.37, 0.5, 0.62, 0.7, 0.8)
ONE_IN = 10
"""Of so many answers of an application one is taken to be wrong."""


def main() -> None:
    """Judge and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--detector", default="embedded")
    parser.add_argument("--sample", type=int, metavar="N", help="at most N answers of each task or set")
    args = parser.parse_args()
    method = judged.detector(args.detector)
    for name, rows in sets(args.data, args.sample).items():
        data = judged.labelled(method.judge(rows), even=True)
        print(f"{name}: {len(data)} answers; of those flagged, wrong where one in {ONE_IN} answers is")
        for threshold in THRESHOLDS:
            wrong, right = flagged(data, threshold)
            print(
                f"  from {threshold:.2f} on: wrong {wrong:.2f}, right {right:.2f}; {precision(wrong, right)}"
            )


def sets(data: Path, sample: int | None) -> Mapping[str, Sequence[Row]]:
    """Answers that taught nothing, by where they come from."""
    of_models = [row for row in written.read(written.HELD_OUT) if written.is_of_models(row)]
    return {
        "RAGTruth": judged.held_out(data, sample),
        "answers worded as large models do": judged.sampled(of_models, sample),
    }


def flagged(data: Labelled, threshold: float) -> tuple[float, float]:
    """Which share of the wrong answers is flagged, and of the right ones."""
    flags = data.flags(threshold)
    return metrics.recall(flags), 1 - metrics.specificity(flags)


def precision(wrong: float, right: float) -> str:
    """Which share of what is flagged is wrong."""
    hits, alarms = wrong, (ONE_IN - 1) * right
    return f"{hits / (hits + alarms):.2f}" if hits + alarms else "nothing is flagged"


if __name__ == "__main__":
    main()
