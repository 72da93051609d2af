"""Answers of our own to documents of our own, with nothing but the meaning to tell right from wrong.

    python -m benchmarks.written [--sample N]

They teach nothing and choose nothing (``training/written/held_out``). ``close`` are sets whose wrong answers
keep nearer to the documents' words than the right ones do, ``even`` those where neither does. Answers ``as
large models do`` are worded freely, of up to six sentences, with one or two things wrong in the wrong ones,
beside a brief context or a longer one; ``matched`` are pairs of a right and a wrong one of a sentence or two,
about the same fact, by what is wrong. ``long`` are summaries of long documents, overviews of long records and
answers in conversations, as large models word them; the matched ones among them are pairs of a statement or
two. ``asked`` are pairs of answers to several questions of one document: rules for a case, siblings, tables
and records, short answers, later turns, longer answers in conversations (``talks``). What shortcuts tell
stands with them: whoever writes has his ways.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from benchmarks import judged, lines, quality
from benchmarks.judged import Row
from groundwire.detectors import Embedded, Lexical
from training import written


def main() -> None:
    """Judge and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, metavar="N", help="at most N answers of each part")
    args = parser.parse_args()
    print(lines.HEADER, lines.FLAGGED)
    for name, rows in parts().items():
        for detector in (Lexical(), Embedded()):
            said = judged.detector(detector.name).judge(judged.sampled(rows, args.sample))
            data, threshold = judged.labelled(said, even=False), detector.grading.threshold
            print(lines.line(f"{name} {detector.name}", data, threshold), lines.flagged(said))
        for shortcut in judged.SHORTCUTS:
            if shortcut.either_way:
                told = quality.card(shortcut, shortcut.judge(rows), even=False, spans=False).auroc
                print(f"  {shortcut.name}: AUROC {told}")


def parts() -> Mapping[str, Sequence[Row]]:
    """Statements, whole answers and overviews of records, of either make."""
    made: dict[str, list[Row]] = {}
    for row in written.read(written.HELD_OUT):
        made.setdefault(_part(row), []).append(row)
    for right, wrong in written.pairs(written.HELD_OUT):
        kind = "contradicted" if wrong["spans"][0]["label"] == "Conflict" else "added"
        about = "long, matched" if written.is_late(right) else "matched"
        made.setdefault(f"{about}, {kind}", []).extend((right, wrong))
    for right, wrong in written.asked(written.HELD_OUT / written.ASKED.name):
        made.setdefault(f"asked, {written.kind(right)}", []).extend((right, wrong))
    return dict(sorted(made.items()))


def _part(row: Row) -> str:
    if written.is_late(row):
        return f"long, {_LONG[row['task']]}"
    if written.is_of_models(row):
        return _of_models(row)
    return f"{_form(row)}, {'close' if written.is_close(row) else 'even'}"


_LONG = {"summary": "summaries", "data2txt": "records", "qa": "conversations"}


def _of_models(row: Row) -> str:
    beside = "longer" if len(row["context"].split()) > _BRIEF else "brief"
    return f"as large models do, {beside}"


def _form(row: Row) -> str:
    if row["context"].startswith("{"):
        return "records"
    return "answers" if len(row["answer"].split()) > _STATEMENT else "short"


_BRIEF = 300
"""In words: shorter contexts are all in sight, or nearly."""

_STATEMENT = 30
"""In words: what is longer has several statements."""


if __name__ == "__main__":
    main()
