"""Markup in a text gives way to the layout that it stands for, and every word keeps its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from groundwire.core.span import Span


def laid_out(text: str) -> str:
    r"""``text`` with layout of the same length in place of HTML's tags and of escaped breaks.

    * What is a block of its own begins and ends a line; items, headings and cells get the mark that markdown
      has for them, words in bold are between "**".
    * Of links their address stays: it may be invented. Scripts, styles and comments are left out whole.
    * A tag is one of the names that HTML has, or that prompts wrap texts in ("<answer>", "<document>");
      "<5 mg" and "<name>" are none.
    * Backslash and n are a break after a stop, and before another or an item: "C:\new" is none. In a JSON
      record they stay, since strings in it don't reach over lines.
    """
    if "\\n" in text and text.lstrip()[:1] not in ("{", "["):
        text = _BREAK.sub(" \n", text)
    if "<" not in text or _TAG.search(text) is None:
        return text
    parts, at = [], 0
    for span, put in _put(text):
        parts += [text[at : span.start], put]
        at = span.end
    return "".join([*parts, text[at:]])


def _put(text: str) -> Iterator[tuple[Span, str]]:
    """The stretches that give way, in order, and what stands in their place."""
    at = 0
    while match := _TAG.search(text, at):
        at = match.end()
        if match["unseen"]:
            end = _ENDS[match["unseen"].lower()].search(text, at)
            at = end.end() if end else len(text)
            yield Span(match.start(), at), "\n" * (at - match.start())
        else:
            yield Span(match.start(), at), _instead(match)


def _instead(tag: re.Match[str]) -> str:
    name, width = tag["name"].lower(), len(tag.group())
    if name in _BOLD:
        return "**".ljust(width, _UNSEEN) if tag["closes"] else "**".rjust(width, _UNSEEN)
    if name in _INLINE:
        address = None if tag["closes"] else _ADDRESS.search(tag.group())
        if address is None:
            return _UNSEEN * width
        return f"{' ' * address.start()}{address.group()}".ljust(width)
    if name in _CELLS:
        return ("" if tag["closes"] else "|").ljust(width)
    return ("" if tag["closes"] else _MARKS.get(name, "")).rjust(width, "\n")


_UNSEEN = "\u200b"  # which whoever reads the text leaves out
_BREAK = re.compile(r"(?:(?<=[.!?;,)\]\"'*”\s])|(?<=\\n))\\n|\\n(?=\\n|[*•#-]|\d{1,2}\.)|(?<=:)\\n(?![a-z])")
# Called so by HTML, or by prompts around what they hand over.
_BOLD = frozenset(["b", "strong"])
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
    sorted({*_BOLD, *_INLINE, *_CELLS, *_MARKS, *_BLOCKS.split()}, key=lambda name: (-len(name), name))
)
_TAG = re.compile(
    rf"""<(?: (?P<unseen>!--|script(?=[\s>])|style(?=[\s>]))
            | (?P<closes>/?)(?P<name>{_NAMES})(?=[\s/>])[^<>]{{0,2000}}>)""",
    re.VERBOSE | re.IGNORECASE,
)
_ENDS = {
    "!--": re.compile("-->"),
    "script": re.compile(r"</script\s*+>", re.IGNORECASE),
    "style": re.compile(r"</style\s*+>", re.IGNORECASE),
}
_ADDRESS = re.compile(r"""(?<=href=["'])(?:https?:|mailto:)[^"'\s]++(?=["'])""", re.IGNORECASE)
