"""Documents of our own, and what was said of them with its wrong words marked: ``written/*.txt``.

A file is a list of sets: a title, a document, the question that was asked, if one was, and answers.

    ### title
    the document, of as many lines as it has
    ? the question
    > an answer of one line, all of which the document supports
    > one with {{words that the document speaks against}} and [[words that it says nothing about]]

A backslash and an "n" stand for a line's end within an answer. Raises ValueError, with the file and the set,
for what can't be read so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from training.labelled_sets import Raw

HERE = Path(__file__).resolve().parent / "written"
HELD_OUT = HERE / "held_out"
"""What teaches nothing and chooses nothing: it measures."""

TASKS = {"records": "data2txt", "news": "summary"}
"""By how a file's name begins; all others answer questions, or state something without one."""

_CLOSE = 50

_SET = re.compile(r"^### ", re.MULTILINE)
_MARKED = re.compile(r"\{\{(?P<conflict>.+?)\}\}|\[\[(?P<baseless>.+?)\]\]")
_UNCLOSED = re.compile(r"\{\{|\}\}|\[\[|\]\]")


def read(folder: Path = HERE) -> list[Raw]:
    """All answers, in the order of the files; those to one document share their source's id."""
    return list(chain.from_iterable(_of_file(path) for path in sorted(folder.glob("*.txt"))))


def is_close(raw: Raw) -> bool:
    """Whether an answer is one of the first, of which the wrong ones keep nearer to the document's words.

    They are in files numbered below 50; in later ones nearness tells little.
    """
    return int(raw["meta"]["source_id"].split("-")[1]) < _CLOSE


def is_of_models(raw: Raw) -> bool:
    """Whether an answer is worded as a large model words its own: at length, freely, to the one who asks."""
    return str(raw["meta"]["source_id"]).startswith("answers-")


def _of_file(path: Path) -> Iterator[Raw]:
    before, *sets = _SET.split(path.read_text(encoding="utf-8"))
    if before.strip():
        raise ValueError(f"{path.name}: {before.strip()[:40]!r} stands before the first set")
    for number, text in enumerate(sets):
        try:
            yield from _of_set(text, source=f"{path.stem}-{number}", kind=path.stem.partition("-")[0])
        except ValueError as error:
            raise ValueError(f"{path.name}, set {number}: {error}") from error


def _of_set(text: str, source: str, kind: str) -> Iterator[Raw]:
    title, *lines = text.splitlines()
    document = [line for line in lines if not line.startswith(("? ", "> "))]
    questions = [line[2:].strip() for line in lines if line.startswith("? ")]
    answers = [line[2:].strip() for line in lines if line.startswith("> ")]
    context = "\n".join(document).strip()
    if not context or not answers or len(questions) > 1:
        raise ValueError(f"{title!r} needs a document, answers, and one question at most")
    question = questions[0] if questions else None
    for i, marked in enumerate(answers):
        answer, spans = _unmarked(marked)
        yield {
            "id": f"{source}-{i}",
            "dataset": "written",
            "task": TASKS.get(kind, "qa" if question else "claim"),
            "question": question,
            "context": context,
            "answer": answer,
            "label": int(bool(spans)),
            "spans": spans,
            "meta": {"source_id": source},
        }


def _unmarked(marked: str) -> tuple[str, list[dict[str, object]]]:
    """The answer as it was given, and where its marks are."""
    marked = marked.replace("\\n", "\n")
    answer, spans, at = "", [], 0
    for mark in _MARKED.finditer(marked):
        answer += marked[at : mark.start()]
        words = mark["conflict"] or mark["baseless"]
        label = "Conflict" if mark["conflict"] else "Baseless"
        spans.append({"start": len(answer), "end": len(answer) + len(words), "label": label, "text": words})
        answer += words
        at = mark.end()
    answer += marked[at:]
    if left := _UNCLOSED.search(answer):
        raise ValueError(f"{left[0]!r} is not closed, or not opened, in {marked[:60]!r}")
    return answer, spans
