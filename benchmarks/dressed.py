"""The same answers in other dress: with markers of sources, emphasis or thinking, and passages as of a page.

    python -m benchmarks.dressed [--data DIR] [--detector NAME] [--sample N]

RAGTruth's held-out answers are judged as they are and dressed, which changes nothing of what they say.
Printed is which share of the wrong and of the right ones is flagged, and how far scores move on average.
"""

from __future__ import annotations

import argparse
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks import judged
from benchmarks.judged import Judged
from groundwire.text import claims
from training.labelled_sets import contexts

ROOT = Path(__file__).resolve().parents[1]
Dress = Callable[[str], str]


def after_claims(marker: str) -> Dress:
    """``marker`` at the end of each claim, before its stop."""

    def dress(answer: str) -> str:
        for span in reversed(claims.cut(answer)):
            end = span.end - (answer[span.end - 1] in ".!?")
            answer = answer[:end] + marker + answer[end:]
        return answer

    return dress


def pictures(answer: str) -> str:
    return "\n".join(f"✅ {span.of(answer)}" for span in claims.cut(answer))


def emphasised(text: str) -> str:
    return re.sub(r"\b[A-Z][a-z]{3,}\b", r"**\g<0>**", text)


ANSWERS: Mapping[str, Dress] = {
    "as they are": str,
    "[1]": after_claims(" [1]"),
    "[1][3]": after_claims(" [1][3]"),
    "[doc2]": after_claims(" [doc2]"),
    "(Document 1, p. 3)": after_claims(" (Document 1, p. 3)"),
    "【4:0†source】": after_claims("【4:0†source】"),
    "a list of sources": "{}\n\nSources: [1], [2]".format,
    "emphasis": emphasised,
    "pictures": pictures,
    "thinking": "<think>The user wants to know this, and 12 things more.</think>\n\n{}".format,
    "JSON": lambda text: json.dumps({"answer": text, "confidence": 0.92, "sources": [1, 2]}),
    "references": html.escape,
}
PASSAGES: Mapping[str, Dress] = {
    "references": html.escape,
    "emphasis": emphasised,
    "soft hyphens": lambda text: re.sub(r"\b([a-z]{4})([a-z]{4,})\b", "\\1\u00ad\\2", text),
}


def main() -> None:
    """Judge and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--detector", default="embedded", help="a registered name")
    parser.add_argument("--sample", type=int, default=60, metavar="N", help="at most N answers of each task")
    args = parser.parse_args()
    rows = judged.held_out(args.data, args.sample)
    method = judged.detector(args.detector)
    plain = method.judge(rows)
    print(f"{'':32} flagged: wrong, right   scores move by")
    for name, dress in ANSWERS.items():
        dressed = [{**row, "answer": dress(row["answer"])} for row in rows]
        print(line(f"answers, {name}", method.judge(dressed), plain), flush=True)
    for name, dress in PASSAGES.items():
        dressed = [{**row, "contexts": [dress(text) for text in contexts(row)]} for row in rows]
        print(line(f"passages, {name}", method.judge(dressed), plain), flush=True)


def line(name: str, said: Sequence[Judged], plain: Sequence[Judged]) -> str:
    """What became of dressed answers beside the plain ones; an abstention counts as not flagged."""
    labels = np.array([one.row["label"] for one in plain])
    flagged = np.array([bool(one.flagged) for one in said])
    moved = [
        abs(a.score - b.score)
        for a, b in zip(said, plain, strict=True)
        if a.score is not None and b.score is not None
    ]
    return (
        f"{name:32} {flagged[labels == 1].mean():14.3f}, {flagged[labels == 0].mean():.3f} "
        f"{np.mean(moved):16.3f}"
    )


if __name__ == "__main__":
    main()
