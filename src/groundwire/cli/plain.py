"""What is printed for people, where the stream shows less than a terminal with UTF-8 does."""

from __future__ import annotations

import unicodedata
from typing import Any, TextIO

_MARKS = {
    "“": '"',
    "”": '"',
    "→": ">",
    "✗": "x",
    "✓": "+",
    "≈": "~",
    "⟦": "[",
    "⟧": "]",
    "…": "...",
    "–": "-",
}


class PlainStream:
    """A stream on which the marks of a report are ASCII where its encoding lacks them.

    Other characters that it lacks are left to the stream. No line ends in blanks unless it is a terminal's.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        if not self._stream.isatty():
            text = "\n".join(line.rstrip(" ") for line in text.split("\n"))
        return self._stream.write("".join(map(self._shown, text)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _shown(self, character: str) -> str:
        if character.isascii():
            return character
        try:
            character.encode(self._stream.encoding or "utf-8")
        except UnicodeEncodeError:
            return _MARKS.get(character) or _drawn(character)
        return character


def _drawn(character: str) -> str:
    name = unicodedata.name(character, "")
    return ("-" if "HORIZONTAL" in name else "|") if name.startswith("BOX DRAWINGS") else character
