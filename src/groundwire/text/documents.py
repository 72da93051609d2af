"""Passages that are documents written out as objects: ``page_content='...'``, ``{"text": "..."}``."""

from __future__ import annotations

import re

from groundwire.text.plain import UNSEEN


def laid_open(passage: str) -> str:
    r"""``passage`` with its documents' texts on lines of their own, and every word where it was.

    A text is a string of eight words or more that is called page_content, content, text or the like. Of what
    is around it marks and name give way to line breaks; other entries stay, for they may be what is asked
    about. Escapes in it are read. Records of short values are left alone.
    """
    if _NAME.search(passage) is None:
        return passage
    return _TEXT.sub(_laid_open, passage)


def _laid_open(found: re.Match[str]) -> str:
    string = found["string"]
    if len(string.split()) < _FEWEST:
        return found.group()
    before = len(found.group()) - len(string)
    return "\n" * (before + 1) + _ESCAPE.sub(_read, string[1:-1]) + "\n"


def _read(escape: re.Match[str]) -> str:
    return _ESCAPED[escape[1]].rjust(len(escape.group()), UNSEEN)


_FEWEST = 8
_NAMES = r"(?:page_content|content|text|body|chunk|passage|snippet|document|context)"
_NAME = re.compile(rf"\b{_NAMES}[\"']?\s{{0,4}}[:=]\s{{0,4}}[\"']")
_TEXT = re.compile(
    rf"""(?<![\w.])(?:\b{_NAMES}=|(?P<quote>["']){_NAMES}(?P=quote)\s{{0,4}}:\s{{0,4}})
         (?P<string>"(?>(?:[^"\\]++|\\.)*)"|'(?>(?:[^'\\]++|\\.)*)')""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(xa0|[nrt\"'/\\])")
_ESCAPED = {"n": "\n", "r": "\n", "t": " ", "xa0": "\u00a0", '"': '"', "'": "'", "/": "/", "\\": "\\"}
