"""Making untrusted text safe to show: nothing in it may move a cursor, reorder a line or hide itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Control characters but tab and line feed; bidirectional overrides and isolates; line separators; lone
# surrogates; soft hyphens, fillers and byte order marks, which show nothing; the tag characters and the
# variation selectors that spell hidden text. Joiners stay: emoji and Indic scripts need them.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff"
    "\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef]"
)
_REPLACED = re.compile(rf"\r\n|{_UNSAFE.pattern}")


def visible(text: str) -> str:
    """The same text with each unsafe character replaced by a symbol or by its number, as in ‹U+202E›."""
    return _UNSAFE.sub(_symbol, text.replace("\r\n", "\n")) if _UNSAFE.search(text) else text


def unsafe_places(text: str) -> Iterator[int]:
    """Where each character begins and ends that ``visible`` replaces; CR LF counts as one."""
    for match in _REPLACED.finditer(text):
        yield from match.span()


def escaped(json: str) -> str:
    """JSON that says the same, with each unsafe character written as its escape."""
    return _UNSAFE.sub(_escape, json)


def one_line(text: str) -> str:
    """The text in one line, its white space collapsed."""
    return " ".join(visible(text).split())


def clipped(text: str, limit: int) -> tuple[str, int]:
    """At most ``limit`` characters from the start, and how many were left out."""
    return text[:limit], max(0, len(text) - limit)


def marked(text: str, limit: int) -> str:
    """At most ``limit`` characters from the start, with "…" behind them where there are more."""
    kept, left_out = clipped(text, limit)
    return f"{kept}…" if left_out else kept


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True))


def _symbol(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\N{SYMBOL FOR DELETE}"
    if 0xD800 <= code <= 0xDFFF:
        return "\N{REPLACEMENT CHARACTER}"
    return f"‹U+{code:04X}›"
