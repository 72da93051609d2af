"""The same answers in other dress, to passages in other dress, and beside others that were retrieved.

    python -m benchmarks.dressed [--data DIR] [--detector NAME] [--sample N]

RAGTruth's held-out answers are judged as they are and dressed, which changes nothing of what they say;
records in JSON are left as they are where passages are dressed. Passages beside an answer's own are those of
other sources: any of them, or those that share most with its own.
Printed is which share of the wrong and of the right ones is flagged, AUROC, and how far scores move on
average.
"""

from __future__ import annotations

import argparse
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks import judged
from benchmarks.judged import Judged
from groundwire.text import claims
from training.labelled_sets import contexts, is_record
from training.retrieved import BESIDE, Passages

ROOT = Path(__file__).resolve().parents[1]
NEW = "\n"
Dress = Callable[[str], str]


def after_claims(marker: str) -> Dress:
    """``marker`` at the end of each claim, before its stop."""

    def dress(answer: str) -> str:
        for span in reversed(claims.cut(answer)):
            end = span.end - (answer[span.end - 1] in ".!?")
            answer = answer[:end] + marker + answer[end:]
        return answer

    return dress


def statements(answer: str) -> list[str]:
    return [span.of(answer) for span in claims.cut(answer)]


def table(rows: Sequence[str]) -> str:
    cells = (f"| {i} | {' '.join(row.replace('|', '/').split())} |" for i, row in enumerate(rows, 1))
    return "\n".join(["| # | Point |", "|---|---|", *cells])


def pictures(answer: str) -> str:
    return "\n".join(f"✅ {one}" for one in statements(answer))


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
    "paragraphs in HTML": lambda text: f"<p>{'</p><p>'.join(statements(text))}</p>",
    "lists in HTML": lambda text: f"<ul><li>{'</li><li>'.join(statements(text))}</li></ul>",
    "breaks in HTML": lambda text: text.replace("\n", "<br>"),
    "bold in HTML": lambda text: re.sub(r"\b[A-Z][a-z]{3,}\b", r"<b>\g<0></b>", text),
    "Final Answer:": "Final Answer: {}".format,
    "TL;DR:": "TL;DR: {}".format,
    "a letter": "Hi there!\n\nThanks for reaching out.\n\n{}\n\nBest regards,\nThe Support Team".format,
    "an announcement": "Certainly. Below is the answer to your question, based on the sources.\n\n{}".format,
    "As an AI": "As an AI language model, I can only answer from the given documents. {}".format,
    "Confidence: high": "{}\n\nConfidence: high".format,
    "a question back": "{}\n\nWould you like me to go into more detail?".format,
    "a numbered table": lambda text: table(statements(text)),
    "numbered steps": lambda text: "\n".join(f"Step {i}: {one}" for i, one in enumerate(statements(text), 1)),
    "a fence": "```\n{}\n```".format,
    "figures as formulas": lambda text: re.sub(r"(?<![\w.,:$/])(\d+)(?![\w.,:%/])", r"$\1$", text),
    "breaks as escapes": lambda text: text.replace("\n", "\\n"),
    "(source: passage 1)": after_claims(" (source: passage 1)"),
    "unbreakable blanks": lambda text: text.replace(" ", "\u00a0"),
}
PASSAGES: Mapping[str, Dress] = {
    "references": html.escape,
    "emphasis": emphasised,
    "a page in HTML": lambda text: (
        "<html><head><style>p {color: red}</style></head><body>"
        f"<p>{text.replace(NEW, '</p><p>')}</p></body></html>"
    ),
    "bold in HTML": ANSWERS["bold in HTML"],
    "page_content=": lambda text: f"page_content={text!r} metadata={{'source': 'a.pdf', 'page': 2}}",
    "quoted lines": lambda text: "> " + text.replace("\n", "\n> "),
    "blanks and tabs": lambda text: text.replace(", ", ",\t").replace(" ", "  "),
    "divided words": lambda text: re.sub(r"\b([a-z]{4})([a-z]{4,})\b", r"\1-\n\2", text),
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
    print(f"{'':32} flagged: wrong, right   AUROC   scores move by")
    for name, dress in ANSWERS.items():
        dressed = [{**row, "answer": dress(row["answer"])} for row in rows]
        print(line(f"answers, {name}", method.judge(dressed), plain), flush=True)
    for name, dress in PASSAGES.items():
        dressed = [
            {**row, "contexts": [text if is_record(text) else dress(text) for text in contexts(row)]}
            for row in rows
        ]
        print(line(f"passages, {name}", method.judge(dressed), plain), flush=True)
    twice = [{**row, "contexts": contexts(row) * 2} for row in rows]
    print(line("passages, each twice", method.judge(twice), plain), flush=True)
    passages = Passages(rows)
    for more, alike in BESIDE:
        said = method.judge([passages.beside(row, more, alike=alike) for row in rows])
        print(line(f"{more} others{', alike' * alike}", said, plain), flush=True)


def line(name: str, said: Sequence[Judged], plain: Sequence[Judged]) -> str:
    """What became of dressed answers beside the plain ones; an abstention counts as not flagged."""
    labels = np.array([one.row["label"] for one in plain])
    flagged = np.array([bool(one.flagged) for one in said])
    moved = [
        abs(a.score - b.score)
        for a, b in zip(said, plain, strict=True)
        if a.score is not None and b.score is not None
    ]
    judged_too = np.array([one.score is not None for one in said])
    auroc = roc_auc_score(labels[judged_too], [one.score for one in said if one.score is not None])
    return (
        f"{name:32} {flagged[labels == 1].mean():14.3f}, {flagged[labels == 0].mean():.3f} "
        f"{auroc:7.3f} {np.mean(moved):16.3f}"
    )


if __name__ == "__main__":
    main()
