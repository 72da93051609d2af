"""One claim beside a short text: the RTE and SciTail parts of the NLI collection, which teach nothing.

    python -m benchmarks.short [--data DIR] [--sample N]

By these it was chosen what ``embedded`` weighs of what its encoder reads: they tell more of short answers
than RAGTruth does, and are not unseen (training/README.md).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import judged, lines
from training.labelled_sets import read

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("rte", "scitail")


def main() -> None:
    """Judge and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--sample", type=int, metavar="N", help="at most N claims of each part")
    args = parser.parse_args()
    raw = read(args.data / "train" / "nli.jsonl.gz")
    print(lines.HEADER, "flagged: wrong, right")
    for name in PARTS:
        rows = judged.sampled([row for row in raw if row["meta"]["subset"] == name], args.sample)
        for detector in ("lexical", "embedded"):
            said = judged.detector(detector).judge(rows)
            data = judged.labelled(said, even=False)
            flagged = judged.labelled(said, even=False, of=_flagged).scores
            wrong, right = (flagged[data.labels == label].mean() for label in (1, 0))
            print(lines.line(f"{name} {detector}", data), f"{wrong:.3f}, {right:.3f}")


def _flagged(one: judged.Judged) -> float | None:
    return None if one.flagged is None else float(one.flagged)


if __name__ == "__main__":
    main()
