"""Documents of our own, and what was said of them with its wrong words marked: ``written/*.txt``.

A file is a list of sets: a title, a document, the question that was asked, if one was, and answers.

    ### title
    the document, of as many lines as it has
    ? the question
    > an answer of one line, all of which the document supports
    > one with {{words that the document speaks against}} and [[words that it says nothing about]]

A backslash and an "n" stand for a line's end within an answer. ``matched-X.txt`` has more answers to the
sets of ``X.txt``: the titles, in the same order, and pairs of a right and a wrong answer, which only their
passages tell apart. In ``asked/`` a document has several questions, each with pairs of such answers after it,
and a line of ``=====`` between its passages. Raises ValueError, with the file and the set, for what can't be
read so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from training.labelled_sets import Raw

HERE = Path(__file__).resolve().parent / "written"
HELD_OUT = HERE / "held_out"
"""What teaches nothing and chooses nothing: it measures."""

ASKED = HERE / "asked"
"""Documents with several questions, named by what is asked: rules, siblings, tables and more."""

TASKS = {"records": "data2txt", "news": "summary"}
"""By how a file's name begins; all others answer questions, or state something without one."""

MATCHED = "matched-"

_CLOSE = 50
_LATE, _NOT_LATE = ("news", "records", "chats"), 100

_SET = re.compile(r"^### ", re.MULTILINE)
_QUESTION = re.compile(r"^\? ", re.MULTILINE)
_BETWEEN_PASSAGES = "\n=====\n"
_MARKED = re.compile(r"\{\{(?P<conflict>.+?)\}\}|\[\[(?P<baseless>.+?)\]\]")
_UNCLOSED = re.compile(r"\{\{|\}\}|\[\[|\]\]")


def read(folder: Path = HERE) -> list[Raw]:
    """All answers but the matched ones, in the order of the files.

    Those to one document share their source's id.
    """
    files = (path for path in sorted(folder.glob("*.txt")) if not path.stem.startswith(MATCHED))
    return list(chain.from_iterable(map(_of_file, files)))


def matched(folder: Path = HERE) -> list[Raw]:
    """The matched answers: each right one, and the wrong one that goes with it after it.

    Their source's id is that of the answers that were there before.
    """
    return list(chain.from_iterable(map(_matched, sorted(folder.glob(f"{MATCHED}*.txt")))))


def pairs(folder: Path = HERE) -> list[tuple[Raw, Raw]]:
    """The matched answers, each right one with its wrong one."""
    return _in_pairs(matched(folder))


def asked(folder: Path = ASKED) -> list[tuple[Raw, Raw]]:
    """The answers to several questions of a document, each right one with its wrong one."""
    return _in_pairs(list(chain.from_iterable(map(_asked, sorted(folder.glob("*.txt"))))))


def _in_pairs(rows: Sequence[Raw]) -> list[tuple[Raw, Raw]]:
    return list(zip(rows[::2], rows[1::2], strict=True))


def is_close(raw: Raw) -> bool:
    """Whether an answer is one of the first, of which the wrong ones keep nearer to the document's words.

    They are in files numbered below 50; in later ones nearness tells little.
    """
    return _file_of(raw)[1] < _CLOSE


def is_of_models(raw: Raw) -> bool:
    """Whether an answer is worded as a large model words its own: at length, freely, to the one who asks."""
    return str(raw["meta"]["source_id"]).startswith("answers-")


def is_late(raw: Raw) -> bool:
    """Whether an answer came after stage 13: each half teaches one encoder of stage 14.

    These are summaries of long documents, overviews of long records and answers of long conversations; all
    but the matched ones choose as well.
    """
    of_kind, number = _file_of(raw)
    return of_kind in _LATE and number > _NOT_LATE


def is_talk(raw: Raw) -> bool:
    """Whether an answer is one of several statements, mostly in a conversation, that stage 15 teaches."""
    return kind(raw) == "talks"


def kind(raw: Raw) -> str:
    """The kind of an answer's set, which its file is named by."""
    return _file_of(raw)[0]


def _file_of(raw: Raw) -> tuple[str, int]:
    """The kind and the number of the file that an answer's set stands in."""
    named, number, *_ = str(raw["meta"]["source_id"]).split("-")
    return named, int(number)


@dataclass(frozen=True, kw_only=True)
class _Set:
    """A set as it is written: its lines by what they begin with."""

    title: str
    document: str
    questions: Sequence[str]
    answers: Sequence[str]

    @classmethod
    def read_each(cls, text: str) -> Iterator[_Set]:
        """A set for each of the questions."""
        document, *asked = _QUESTION.split(text)
        return (cls.read(f"{document}? {one}") for one in asked)

    @classmethod
    def read(cls, text: str) -> _Set:
        title, *lines = text.splitlines()
        return cls(
            title=title,
            document="\n".join(line for line in lines if not line.startswith(("? ", "> "))).strip(),
            questions=[line[2:].strip() for line in lines if line.startswith("? ")],
            answers=[line[2:].strip() for line in lines if line.startswith("> ")],
        )


def _texts(path: Path) -> list[str]:
    """The sets of a file as they are written."""
    before, *sets = _SET.split(path.read_text(encoding="utf-8"))
    if before.strip():
        raise ValueError(f"{path.name}: {before.strip()[:40]!r} stands before the first set")
    return sets


def _each_set(path: Path, made: Callable[[int, str], Iterator[Raw]]) -> Iterator[Raw]:
    """What is made of the text of each set of a file, by its number; errors say where."""
    for number, text in enumerate(_texts(path)):
        try:
            yield from made(number, text)
        except ValueError as error:
            raise ValueError(f"{path.name}, set {number}: {error}") from error


def _of_file(path: Path) -> Iterator[Raw]:
    def made(number: int, text: str) -> Iterator[Raw]:
        one = _Set.read(text)
        if not one.document or not one.answers or len(one.questions) > 1:
            raise ValueError(f"{one.title!r} needs a document, answers, and one question at most")
        source = f"{path.stem}-{number}"
        return _answers(one, one.answers, source, source)

    return _each_set(path, made)


def _matched(path: Path) -> Iterator[Raw]:
    answered = path.with_name(path.name.removeprefix(MATCHED))
    if not answered.exists():
        raise ValueError(f"{path.name}: there is no {answered.name} that it could match")
    sets = list(map(_Set.read, _texts(answered)))

    def made(number: int, text: str) -> Iterator[Raw]:
        one = _Set.read(text)
        if number >= len(sets) or one.title != sets[number].title:
            raise ValueError(f"{one.title!r} is not the title of that set of {answered.name}")
        found = list(
            _answers(sets[number], one.answers, f"{answered.stem}-{number}", f"{path.stem}-{number}")
        )
        if one.document or one.questions or not _in_turn(found):
            raise ValueError(f"{one.title!r} needs right and wrong answers in turn, and nothing else")
        return iter(found)

    return _each_set(path, made)


def _asked(path: Path) -> Iterator[Raw]:
    def made(number: int, text: str) -> Iterator[Raw]:
        sets = list(_Set.read_each(text))
        documents = {one.document for one in sets}
        if len(documents) != 1 or not all(map(_is_passage, _passages(*documents))):
            raise ValueError("needs a document, then questions, and nothing but answers after each")
        source = f"{path.stem}-{number}"
        for i, one in enumerate(sets):
            found = list(_answers(one, one.answers, source, f"{source}-{i}"))
            if not _in_turn(found):
                raise ValueError(f"{one.questions[0]!r} needs right and wrong answers in turn")
            yield from found

    return _each_set(path, made)


def _passages(document: str) -> list[str]:
    return document.split(_BETWEEN_PASSAGES)


def _is_passage(text: str) -> bool:
    return bool(text.strip()) and _BETWEEN_PASSAGES.strip() not in text.splitlines()


def _in_turn(found: Sequence[Raw]) -> bool:
    """Whether there are answers, the right and the wrong ones in turn."""
    return bool(found) and [raw["label"] for raw in found] == [0, 1] * (len(found) // 2)


def _answers(to: _Set, lines: Sequence[str], source: str, name: str) -> Iterator[Raw]:
    """The answers of these lines to the document and the question of a set."""
    question = to.questions[0] if to.questions else None
    named = source.partition("-")[0]
    passages = _passages(to.document)
    for i, marked in enumerate(lines):
        answer, spans = _unmarked(marked)
        yield {
            "id": f"{name}-{i}",
            "dataset": "written",
            "task": TASKS.get(named, "qa" if question else "claim"),
            "question": question,
            "context": "\n\n".join(passages),
            "contexts": passages,
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
