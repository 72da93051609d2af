"""Tables without bars: columns that blanks align, that commas, semicolons or tabs part, or HTML's cells.

They get bars in place of what parts their cells, so that a table is read in one way whatever it was written
in. Every character keeps its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


def barred(text: str) -> str:
    """``text`` with bars between the cells of tables that have none, of the same length.

    A table is at least two rows of one width below a head, each row with its values: figures, dashes or, in
    what commas and the like part, anything. Prose and code stay as they are.
    """
    text = _CELL_LINES.sub(_one_row, text) if "|" in text else text
    if _MAY_BE.search(text) is None:
        return text
    lines = text.split("\n")
    for first, last in _paragraphs(lines):
        found = _parted(lines[first:last]) or _aligned(lines[first:last])
        if found:
            lines[first:last] = found
    return "\n".join(lines)


def _one_row(lines: re.Match[str]) -> str:
    """The cells of HTML that stand on lines of their own, as one row."""
    return lines.group().replace("\n", " ")


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    first = 0
    for i, line in enumerate([*lines, ""]):
        if not line.strip():
            if i - first >= _LEAST:
                yield first, i
            first = i + 1


def _parted(lines: Sequence[str]) -> list[str] | None:
    """Lines of fields that one mark parts, as many in each."""
    for mark, often in _MARKS:
        counts = [len(_outside_quotes(line, mark)) for line in lines]
        start = 0 if counts[0] == counts[-1] else 1  # a title may stand above the head
        if counts[-1] < often or set(counts[start:]) != {counts[-1]} or len(lines) - start < _LEAST:
            continue
        if mark == "," and any(_PROSE.search(_QUOTED.sub("", line)) for line in lines[start:]):
            continue
        return [*lines[:start], *(_with_bars(line, mark) for line in lines[start:])]
    return None


def _outside_quotes(line: str, mark: str) -> list[int]:
    if mark not in line or '"' not in line:
        return [i for i, letter in enumerate(line) if letter == mark]
    return [found.start() for found in re.finditer(rf"{_QUOTED.pattern}|({mark})", line) if found[1]]


def _with_bars(line: str, mark: str) -> str:
    letters = list(line)
    for i in _outside_quotes(line, mark):
        letters[i] = "|"
    return "".join(letters)


def _aligned(lines: Sequence[str]) -> list[str] | None:
    """Lines of a label and values, as many in each, that wide gaps part, below a head of as many."""
    cells = [_GAP.split(line.rstrip()) for line in lines]
    widths = [len(row) if all(map(_VALUE.fullmatch, row[1:])) else 0 for row in cells]
    for head in range(len(lines) - 2):
        width = widths[head + 1]
        rows = [i for i in range(head + 1, len(lines)) if widths[i] == width]
        if width < _LEAST_CELLS or width != len(cells[head]) or len(rows) < _LEAST - 1:
            continue
        # A figure heads nothing, unless it is a year.
        heads = (_VALUE.fullmatch(cell) is None or _YEAR.fullmatch(cell) for cell in cells[head][1:])
        if "|" not in lines[head] and all(heads):
            return [_GAP.sub(_bar, line) if i == head or i in rows else line for i, line in enumerate(lines)]
    return None


def _bar(gap: re.Match[str]) -> str:
    width = len(gap.group())
    return f"{' ' * (width - 2)}| "


_LEAST, _LEAST_CELLS = 3, 2
_QUOTED = re.compile(r'"[^"]*+"')
_PROSE = re.compile(r", |  ")
_MARKS = (("\t", 1), (";", 2), (",", 2))
_MAY_BE = re.compile(r"[^\s]  +\S|\t|;\w|,\w")
_CELL_LINES = re.compile(r"^[ \t]*\|[^|\n]*+(?:\n[ \t]*\|[^|\n]*+)+$", re.MULTILINE)
_GAP = re.compile(r"(?<=\S) {2,}(?=\S)|^ {4,}(?=\S)")
_VALUE = re.compile(r"[-+−(]?(?:[$€£] ?)?\d[\d.,:%]*[)%]*|[-–—]|n/?a", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
