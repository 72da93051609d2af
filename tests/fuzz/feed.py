"""Choices, numbers, texts and values from bytes: the same bytes always make the same."""

# fmt: off
_UNITS = (
    "The fee is 25 EUR. ", "A", "7", ".", " ", "\n", "\r\n", "- ", "| a | b |\n", "```\n", "**",
    '"', "“", "{", "}", "[1]", "e.g. ", "Dr. ", "12:30", "1,234.5", "%", "\u200b", "\u202e",
    "\ud800", "\x00", "😀", "é", "e\u0301", "。", "الرسوم ", "not ", "Ada Byron ", "2024-01-31",
    "<think>", "</think>", "&amp;", "=1+1", "\x1b[31m", "\U000e0041",
)
# fmt: on


class Feed:
    """Bytes, taken one after the other; zeros when there are none left."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def byte(self) -> int:
        if self._at >= len(self._data):
            return 0
        self._at += 1
        return self._data[self._at - 1]

    def one_of(self, choices):
        return choices[self.byte() % len(choices)]

    def rest(self) -> bytes:
        rest, self._at = self._data[self._at :], len(self._data)
        return rest

    def text(self, most: int = 24) -> str:
        """A text: pieces that mean something to somebody, or the bytes themselves."""
        count = self.byte() % (most + 1)
        if count % 3 == 2:
            raw = bytes(self.byte() for _ in range(count))
            return raw.decode("utf-8", "surrogateescape")
        return "".join(self.one_of(_UNITS) for _ in range(count))

    def value(self, depth: int = 3):
        """Any value that JSON has, and some that it hasn't."""
        kind = self.byte() % (9 if depth else 7)
        if kind == 7:
            return [self.value(depth - 1) for _ in range(self.byte() % 4)]
        if kind == 8:
            return {self.text(4): self.value(depth - 1) for _ in range(self.byte() % 4)}
        number = self.byte() - 128 if kind in (2, 3) else 0
        return (None, bool(self.byte() % 2), number, number / 7, self.text(), float("nan"), "")[kind]
