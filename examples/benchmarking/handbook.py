"""From labelled answers to a comparison: ``python -m examples.benchmarking.handbook [FOLDER]``.

Writes the handbook's twenty prepared answers as a table, as somebody who reviewed them would have kept it,
compares the offline detectors on it and leaves a report in the folder. Needs
``pip install 'groundwire[bench,langchain]' bm25s``.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

from rich.console import Console

import groundwire as gw
from examples.handbook.app import PageRetriever, load_pages
from examples.handbook.replay import load_prepared
from groundwire.bench import datasets, page, report, table
from groundwire.bench.comparison import compare, contestant


def write_table(path: Path) -> Path:
    """The prepared answers with their passages, a label, and the words that are wrong in each."""
    retriever = PageRetriever(pages=load_pages())
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "question", "contexts", "answer", "label", "spans", "group", "task"])
        for one in load_prepared():
            passages = [document.page_content for document in retriever.invoke(one.question)]
            starts = [(one.answer.index(words), len(words)) for words in one.unsupported]
            spans = [{"start": start, "end": start + size} for start, size in starts]
            label = "grounded" if one.grounded else "hallucinated"
            beside = (json.dumps(spans), one.pages[0] if one.pages else one.id, one.kind)
            rows.writerow([one.id, one.question, json.dumps(passages), one.answer, label, *beside])
    return path


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "handbook-bench")
    folder.mkdir(parents=True, exist_ok=True)
    sets = {"handbook": datasets.load(write_table(folder / "labelled.csv"))}
    detectors = [contestant(name, gw.Checker(name)) for name in ("token", "lexical", "embedded")]
    told = report.told(compare(sets, detectors, records=folder / "outcomes"), title="The handbook's answers")
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 220)
    for part in table.terminal(told):
        console.print(part, soft_wrap=isinstance(part, str))
    print(f"Report: {page.write_all(folder, told)[0]}")


if __name__ == "__main__":
    main()
