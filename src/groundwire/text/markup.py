"""Markup in a text gives way to the layout that it stands for, and every word keeps its place."""

from __future__ import annotations

import re

from groundwire.core.span import Span
from groundwire.text.plain import UNSEEN


def laid_out(text: str) -> str:
    r"""``text`` with layout of the same length in place of HTML's tags and of escaped breaks.

    * What is a block of its own begins and ends a line; items, headings and cells get the mark that markdown
      has for them, words in bold are between "**", and what names a source ("<ref>") is between brackets.
    * Of links their address stays, and of pictures and tables what they say: it may be invented.
    * A tag is one of the names that HTML has, or that prompts wrap texts in ("<answer>", "<document>"), with
      attributes or none; "<5 mg", "<name>" and "<b and c>" are none.
    * Backslash and n are a break after a stop, and before another or an item: "C:\new" is none. In a JSON
      record they stay, since strings in it don't reach over lines.
    """
    if "\\n" in text and text.lstrip()[:1] not in ("{", "["):
        text = _BREAK.sub(" \n", text)
    return _TAG.sub(_instead, text) if "<" in text else text


def outside_tags(text: str, span: Span) -> Span:
    """``span`` without the tags that it begins or ends within."""
    first, last = _tag_around(text, span.start), _tag_around(text, span.end)
    start = first.end() if first else span.start
    end = last.start() if last else span.end
    return Span(start, end) if start < end else span


def _tag_around(text: str, at: int) -> re.Match[str] | None:
    """The tag that ``at`` is within."""
    begin = text.rfind("<", max(0, at - _LONGEST_TAG), at)
    tag = _TAG.match(text, begin) if begin >= 0 else None
    return tag if tag and tag.end() > at else None


def without_scripts(text: str) -> str:
    """``text`` with line breaks in place of HTML's scripts, styles and comments, which no page shows."""
    parts, at, missing = [], 0, set[str]()
    for begins in _UNSEEN_BEGINS.finditer(text) if "<" in text else ():
        name = begins["name"].lower()
        if begins.start() < at or name in missing:
            continue
        end = _UNSEEN_ENDS[name].search(text, begins.end())
        if end is None:
            missing.add(name)
            continue
        parts += [text[at : begins.start()], "\n" * (end.end() - begins.start())]
        at = end.end()
    return "".join([*parts, text[at:]])


def _instead(tag: re.Match[str]) -> str:
    if tag["name"] is None:
        return "\n" * len(tag.group())
    name, width = tag["name"].lower(), len(tag.group())
    if name in _AROUND:
        begins, ends = _AROUND[name]
        return ends.ljust(width, UNSEEN) if tag["closes"] else begins.rjust(width, UNSEEN)
    said = None if tag["closes"] else _SAID.search(tag.group())
    if said is not None:
        return f"{' ' * said.start()}{said.group()}".ljust(width)
    if name in _INLINE:
        return UNSEEN * width
    if name in _CELLS:
        return ("" if tag["closes"] else "|").ljust(width)
    return ("" if tag["closes"] else _MARKS.get(name, "")).rjust(width, "\n")


_BREAK = re.compile(r"(?:(?<=[.!?;,)\]\"'*”\s])|(?<=\\n))\\n|\\n(?=\\n|[*•#-]|\d{1,2}\.)|(?<=:)\\n(?![a-z])")
# Called so by HTML, or by prompts around what they hand over.
_AROUND = {**dict.fromkeys(["b", "strong"], ("**", "**")), **dict.fromkeys(["citation", "ref"], ("[", "]"))}
_INLINE = frozenset("a i em u s small mark font span code kbd abbr cite q time label".split())  # noqa: SIM905
_CELLS = frozenset(["td", "th"])
_MARKS = {"li": "- ", **{f"h{n}": "# " for n in range(1, 7)}}
_BLOCKS = """
    p br hr div ul ol dl dt dd table thead tbody tfoot caption tr pre blockquote figure figcaption img
    html head title body meta link main section article aside header footer nav button form center details
    summary answer final_answer response result output document documents document_content content context
    source passage excerpt chunk text
"""
_NAMES = "|".join(
    sorted({*_AROUND, *_INLINE, *_CELLS, *_MARKS, *_BLOCKS.split()}, key=lambda name: (-len(name), name))
)
_ATTRIBUTE = (
    r"""\s++[\w:-]{1,40}+\s*+=\s*+(?:"[^"<>]{0,2000}+"|'[^'<>]{0,2000}+'|[^\s"'<>=]{1,500}+)"""
    r"|\s++(?:hidden|disabled|open|checked|nowrap|reversed|async|defer)\b"
)
_TAG = re.compile(rf"<(?P<closes>/?)(?P<name>{_NAMES})(?>(?:{_ATTRIBUTE})*)\s*+/?>|<!--|-->", re.IGNORECASE)
_LONGEST_TAG = 2_000
# The values of href, alt, title and summary: a look behind is of one width.
_SAID = re.compile(
    r"""(?<=href=["'])(?:https?:|mailto:)[^"'\s]++(?=["'])|(?<=(?:alt|tle|ary)=["'])[^"']++""", re.IGNORECASE
)
_UNSEEN_BEGINS = re.compile(r"<(?P<name>!--|script(?=[\s>])|style(?=[\s>]))", re.IGNORECASE)
_UNSEEN_ENDS = {
    "!--": re.compile("-->"),
    "script": re.compile(r"</script\s*+>", re.IGNORECASE),
    "style": re.compile(r"</style\s*+>", re.IGNORECASE),
}
