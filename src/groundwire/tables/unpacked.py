"""The bytes of a file out of what they are packed in: gzip, and UTF-16 where Windows programs wrote it."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from typing import Any, BinaryIO

from groundwire.tables.errors import TableError

HEAD = 1 << 16  # bytes, or characters, that are read at once


def unpacked(stream: BinaryIO) -> tuple[io.BufferedReader, bool]:
    """The stream outside of gzip and UTF-16, and whether it was inside. Both are told by its first bytes.

    Reading it raises TableError where what it is packed in is damaged or cut off.
    """
    given = stream if isinstance(stream, io.BufferedReader) else _buffered(stream)
    whole = _buffered(_FromGzip(given)) if given.peek(2)[:2] == b"\x1f\x8b" else given
    if whole.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        whole = _buffered(_FromUtf16(whole))
    return whole, whole is not given


class _FromGzip(io.RawIOBase):
    """What is inside gzip."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._file = gzip.GzipFile(fileobj=stream)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read1(len(buffer))
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise TableError(f"the file is damaged or cut off: {error}") from error
        buffer[: len(data)] = data
        return len(data)


class _FromUtf16(io.RawIOBase):
    """The UTF-8 of a UTF-16 stream: what Windows programs save as "Unicode"."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._text = io.TextIOWrapper(stream, encoding="utf-16", newline="")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._text.read(len(buffer) // 4).encode("utf-8")  # four bytes a character at most
        except UnicodeDecodeError as error:
            raise TableError(f"the file begins as UTF-16 and goes on as something else: {error}") from error
        buffer[: len(data)] = data
        return len(data)


def _buffered(stream: Any) -> io.BufferedReader:
    return io.BufferedReader(stream, buffer_size=HEAD)
