"""Which lines of a text belong together: lists, tables, headings, soft wraps and JSON records.

The marks of plain text and markdown are named here once, for sentences and for claims. Stops inside a
line are no business of this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple


class Line(NamedTuple):
    """One line: ``text`` is its characters without outer whitespace, of which ``start`` is the first."""

    text: str
    start: int


# Arrows, ticks, stars and other pictures.
_PICTURE = "[\u2190-\u21ff\u2500-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
MARKER = re.compile(
    rf"""(?:(?: [-*+•‣◦▪●■–—·]                                    # a bullet
            | {_PICTURE}{{1,3}}\ufe0f? | \d\ufe0f?\u20e3           # ✅  ⚠️  1️⃣
            | \(?(?: \d{{1,3}} | [ivx]{{1,4}} | [a-z] ) [.)]      # 1.  (2)  iv.  a)
            | \(?[A-Z]\)                                          # A)  but not the initial of a name
            | [Ss]tep\ \d{{1,2}}[.:)]                               # Step 3:
           ) \s++ (?>(?:\[[ xX]\]\s++)?)                          # with the box of a task
         | (?: \d{{1,2}}[、．] | [（(]?[一二三四五六七八九十]{{1,2}}[、）)] | ・ ) \s*+
        ) (?=\S)
    """,
    re.VERBOSE,
)
"""What stands before the words of a list item, with the space after it."""

HEADING = re.compile(r"#{1,6}(?:\s++|$)")
FENCE = re.compile(r"(?:```|~~~)")
RULE = re.compile(r"(?=.*[-=_*|])[-=_*|:+\s]+")
"""A line of dashes: a rule, the underline of a heading, or what separates a table's header from its rows."""

NUMBERED_DAY = re.compile(
    r"\d{1,2}\.\s++(?:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)[a-zä]*+\b", re.IGNORECASE
)
"""A German date, "3. Mai", which begins like a numbered item."""


def lines(text: str) -> Iterator[Line]:
    """Every line of ``text``, blank ones with an empty text."""
    at = 0
    for raw in text.splitlines(keepends=True):
        content = raw.strip()
        yield Line(content, at + len(raw) - len(raw.lstrip()) if content else at)
        at += len(raw)


def blocks(text: str, *, longest: int) -> Iterator[tuple[int, int]]:
    """Stretches of ``text`` that no sentence reaches out of, in order, covering all but whitespace.

    A JSON record is cut at its commas; an object or list in it of at most ``longest`` characters, with its
    key, stays whole.
    """
    for paragraph in _paragraphs(text):
        end = paragraph[-1].start + len(paragraph[-1].text)
        breaks = [paragraph[0].start, *_breaks(text, paragraph, end, longest), end]
        yield from pairwise(breaks)


def _paragraphs(text: str) -> Iterator[list[Line]]:
    paragraph: list[Line] = []
    for line in lines(text):
        if line.text:
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def _breaks(text: str, paragraph: list[Line], end: int, longest: int) -> Iterator[int]:
    width = max(len(line.text) for line in paragraph)
    covered = 0
    for before, line in pairwise([None, *paragraph]):
        assert line is not None
        if line.start < covered:
            continue
        if before is not None and _stands_apart(before.text, line.text, width):
            yield line.start
        record = _RECORD.match(text, line.start, end)
        if record:
            members, covered = _members(text, record.end(), end, longest)
            yield from members
            yield covered


def _stands_apart(before: str, line: str, width: int) -> bool:
    """Whether the break between two lines is more than a soft wrap in a paragraph ``width`` wide."""
    if _OPENS.match(line) or (MARKER.match(line) and not NUMBERED_DAY.match(line)):
        return True
    if _CLOSES.search(before) or HEADING.match(before) or FENCE.match(before) or RULE.fullmatch(before):
        return True
    if _CELLS in line or _CELLS in before or (_NAMED.match(line) and _NAMED.match(before)):
        return True
    if line[0].islower():
        return False
    if _KEYED.match(line) and _KEYED.match(before):
        return True
    # Where text was wrapped, the next line's first word did not fit on the line before.
    fits = len(before) + 1 + len(line.split(None, 1)[0]) <= width
    return fits or not _WRAPPED[0] <= width <= _WRAPPED[1]


def _members(text: str, start: int, end: int, longest: int) -> tuple[list[int], int]:
    """Where the members of the record at ``start`` end, and where the record does."""
    breaks: list[int] = []
    opened: list[tuple[int, int]] = []  # where the member began, and how many breaks there were
    member = start
    for match in _JSON.finditer(text, start, end):
        mark = match.group()
        if mark in "[{":
            opened.append((member, len(breaks)))
            member = match.end()
        elif mark == ",":
            breaks.append(match.end())
            member = match.end()
        elif mark in "]}" and opened:
            member, before = opened.pop()
            if match.end() - member <= longest:
                del breaks[before:]
            if not opened:
                return breaks, match.end()
    return breaks, end


# What only the start of a line that stands on its own looks like: heading, quote, row, fence, JSON.
_OPENS = re.compile(
    r"""\#{1,6}\s | > | \| | ``` | ~~~ | [\]}{] | \["? | ["'][^"']{1,60}+["']\s*+:""", re.VERBOSE
)
_CLOSES = re.compile(r"[:：|]\Z|\A(\*\*|__).*\1\Z")
_CELLS = "|"
_KEYED = re.compile(r"[^\W\d_][^:.!?\n]{0,40}+:\s")
_NAMED = re.compile(r"[^\W\d_][\w.-]{0,40}+:\s")  # of settings, "min_size: 3", in small letters too
_WRAPPED = (30, 200)  # in characters: narrower lines are addresses or verse, wider ones are whole paragraphs

_RECORD = re.compile(r"(?:[^\"'{\[\n]{0,80}[:=]\s*+)?(?=[{\[]\s*+(?:[{\[]\s*+){0,3}[\"'])")
# A string may lack its end: that it always matches keeps the scan linear.
_JSON = re.compile(r"\"(?>(?:[^\"\\]++|\\.)*)\\?\"?|'(?>(?:[^'\\]++|\\.)*)\\?'?|[\[\]{},]", re.DOTALL)
