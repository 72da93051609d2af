"""One claim beside a short text: the RTE and SciTail parts of the NLI collection.

    python -m benchmarks.short [--data DIR] [--sample N]

They teach the encoder nothing. By these it was chosen what ``embedded`` weighs of what its encoder reads:
they tell more of short answers than RAGTruth does, and are not unseen (training/README.md). The claims of
SciTail that weights were fitted to are left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import judged, lines
from groundwire.detectors import Embedded, Lexical
from training.embedded import SCITAIL
from training.labelled_sets import read

ROOT = Path(__file__).resolve().parents[1]
PARTS = {"rte": 0, "scitail": SCITAIL}
"""And the claims of each that something was fitted to, which come first."""


def main() -> None:
    """Judge and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--sample", type=int, metavar="N", help="at most N claims of each part")
    args = parser.parse_args()
    raw = read(args.data / "train" / "nli.jsonl.gz")
    print(lines.HEADER, lines.FLAGGED)
    for name, fitted in PARTS.items():
        of_part = [row for row in raw if row["meta"]["subset"] == name]
        rows = judged.sampled(of_part[fitted:], args.sample)
        for detector in (Lexical(), Embedded()):
            said = judged.detector(detector.name).judge(rows)
            data, threshold = judged.labelled(said, even=False), detector.grading.threshold
            print(lines.line(f"{name} {detector.name}", data, threshold), lines.flagged(said))


if __name__ == "__main__":
    main()
