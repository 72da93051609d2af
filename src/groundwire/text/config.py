"""Entries of files of settings, tables and signatures: names with the values that stand beside them.

YAML, JSON, TOML, INI, environment variables, tables with a column of defaults, and parameters of functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from groundwire.core.span import Span


class Entry(NamedTuple):
    """A ``name``, dotted where it is within others, and the place of its value.

    ``default`` says that the value is called the default there.
    """

    name: str
    span: Span
    said: Span
    default: bool


def entries(text: str) -> list[Entry]:
    """The entries of ``text``, in order."""
    found = [*_lines(text), *_objects(text), *_rows(text), *_signatures(text)]
    return sorted(found, key=lambda entry: entry.span.start)


def _lines(text: str) -> Iterator[Entry]:
    """Lines of a name, a colon or "=", and a value, within what they are indented below or sections."""
    above: list[tuple[int, str]] = []
    section, at = "", 0
    for raw in text.splitlines(keepends=True):
        start, at = at, at + len(raw)
        if heading := _SECTION.match(raw):
            section, above = heading["name"], []
            continue
        line = _LINE.match(raw)
        if line is None:
            above = above if raw.strip() else []
            continue
        depth = len(line["indent"]) + len(line["item"] or "")
        while above and above[-1][0] >= depth:
            above.pop()
        name = ".".join(
            [part for part in (section, *(name for _, name in above[-_DEEP:]), line["name"]) if part]
        )
        if line["value"] is None:
            above.append((depth, line["name"]))
        else:
            yield Entry(name, _at(line, "name", start), _at(line, "value", start), default=False)


def _at(match: re.Match[str], group: str, start: int) -> Span:
    return Span(*match.span(group)).shifted(start)


def _objects(text: str) -> Iterator[Entry]:
    """The members of JSON objects, within the names of those."""
    inside: list[str] = []
    name = ""
    for match in _MEMBER.finditer(text):
        if match["mark"] == "{":
            inside.append(name)
            name = ""
        elif match["mark"] == "}":
            del inside[-1:]
        elif match["value"] is None:
            name = match["name"]
        else:
            whole = ".".join([part for part in (*inside[-_DEEP:], match["name"]) if part])
            yield Entry(whole, Span(*match.span("name")), Span(*match.span("value")), default=False)


def _rows(text: str) -> Iterator[Entry]:
    """The rows of a table that has a column of names and one of values or defaults."""
    header: list[str] = []
    column, at = -1, 0
    for raw in text.splitlines(keepends=True):
        start, at = at, at + len(raw)
        if "|" not in raw:
            header = []
            continue
        cells = [Span(*cell.span()) for cell in _CELL.finditer(raw)]
        if not header:
            header = [cell.of(raw).strip().lower() for cell in cells]
            column = next((i for i, head in enumerate(header) if i and _VALUED.fullmatch(head)), -1)
            continue
        if column <= 0 or len(cells) != len(header):
            continue
        name, value = _IN_CELL.search(raw, *_ends(cells[0])), _IN_CELL.search(raw, *_ends(cells[column]))
        if name and value and _SIMPLE.fullmatch(name.group()):
            called = header[column].startswith("default")
            yield Entry(
                name.group(), Span(*name.span()).shifted(start), Span(*value.span()).shifted(start), called
            )


def _ends(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _signatures(text: str) -> Iterator[Entry]:
    """The parameters of functions and classes that have a value unless one is given."""
    for opened in _SIGNATURE.finditer(text):
        end = text.find(")", opened.end(), opened.end() + _LONGEST)
        for one in _PARAMETER.finditer(text, opened.end(), end if end >= 0 else opened.end()):
            name = f"{opened['name']}.{one['name']}"
            yield Entry(name, Span(*one.span("name")), Span(*one.span("value")), default=True)


_DEEP, _LONGEST = 8, 1_000
_SECTION = re.compile(r"[ \t]{0,8}\[{1,2}(?P<name>[A-Za-z][\w.-]{0,60})\]{1,2}[ \t]{0,8}\r?\n?\Z")
FIGURE = r"-?[$€£]?\d(?:[\w%/+-]|[.,:](?=\w)){0,40}"
"""A pattern of a figure as files of settings have it: "30s", "$25", "10:30"."""
_LITERAL = (
    rf"""(?:"[^"\n]{{0,80}}"|'[^'\n]{{0,80}}'|{FIGURE}"""
    r"|[A-Za-z][\w./+:-]{0,60}|\$\{[^{}\n]{0,80}\})"
)
_LINE = re.compile(
    rf"""(?P<indent>[ \t]{{0,40}})(?P<item>-[ ]{{1,3}})?(?:(?:export|ENV|set)[ ])?
    (?P<quote>["']?)(?P<name>[A-Za-z][\w.-]{{0,60}})(?P=quote)
    (?:[ ]{{0,40}}[:=][ ]{{0,40}}(?P<value>{_LITERAL})
        [ ]{{0,40}},?(?:[ \t]{{1,40}}[#;][^\n]{{0,200}})?\r?\n?\Z
      |[ ]?:[ ]{{0,8}}\r?\n?\Z)""",
    re.VERBOSE,
)
_MEMBER = re.compile(
    rf"""(?P<mark>[{{}}])|["'](?P<name>[A-Za-z][\w.-]{{0,60}})["']\s{{0,8}}:\s{{0,8}}(?P<value>{_LITERAL})?"""
)
_CELL = re.compile(r"[^|\n]+")
_IN_CELL = re.compile(r"[^\s|](?:[^|\n]*[^\s|])?")
_VALUED = re.compile(r"(?:default|value|current|initial)(?: (?:value|setting))?(?: \([^()]{1,20}\))?|set to")
_SIMPLE = re.compile(r"(?:--)?[A-Za-z][\w.-]{0,60}")
_SIGNATURE = re.compile(r"\b(?:def|class|function|func|fn|fun)\s{1,4}(?P<name>[A-Za-z_]\w{0,60})\(")
_PARAMETER = re.compile(
    rf"(?P<name>[A-Za-z_]\w{{0,60}})(?:\s{{0,4}}:\s{{0,4}}[^=,()\n]{{1,60}})?\s{{0,4}}=\s{{0,4}}(?P<value>{_LITERAL})"
)
