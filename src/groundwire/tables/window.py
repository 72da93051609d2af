"""A text of many JSON values, decoded one after the other without holding more than one of them."""

from __future__ import annotations

import json
import re
from typing import Any, TextIO

from groundwire.tables.unpacked import HEAD

LARGEST = 1 << 26
"""Characters of one JSON value or cell of CSV, bytes of one JSON line: past it, what is damaged or made to be
large would fill the memory."""

_BETWEEN = re.compile(r"[ \t\r\n,]*")


class Window:
    """The part of a text that is being decoded. It grows only until one value fits."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._decoder = json.JSONDecoder()
        self._held, self._at = "", 0
        self.line = 1

    def next(self) -> str:
        """The next character that isn't white space or a comma; empty at the end."""
        while True:
            between = _BETWEEN.match(self._held, self._at)
            assert between is not None, "it may be empty"
            self.drop(between.end() - self._at)
            if self._at < len(self._held) or not self._grow(HEAD):
                return self._held[self._at : self._at + 1]

    def take(self) -> tuple[Any, str]:
        """The value that begins here, and its source. Raises ValueError when there is none."""
        size = HEAD
        while True:
            try:
                value, end = self._decoder.raw_decode(self._held, self._at)
            except json.JSONDecodeError:
                if len(self._held) - self._at > LARGEST or not self._grow(size):
                    raise
            else:
                if end < len(self._held) or not self._grow(size):
                    source = self._held[self._at : end]
                    self.drop(len(source))
                    return value, source
            size *= 2

    def drop(self, count: int) -> None:
        self.line += self._held.count("\n", self._at, self._at + count)
        self._at += count

    def _grow(self, size: int) -> bool:
        more = self._text.read(size)
        self._held, self._at = self._held[self._at :] + more, 0
        return bool(more)
