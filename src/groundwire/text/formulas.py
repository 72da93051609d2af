r"""LaTeX in a text, as models write formulas: what is only marks, and what the rest says in plain signs.

Nothing is reckoned here. A backslash alone tells no formula: "C:\times" is a folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from groundwire.core.span import Span
from groundwire.text.plain import Edit


def edits(text: str) -> Iterator[Edit]:
    r"""What is left out or written otherwise, where there is a formula.

    * Its marks: "$...$", "$$...$$", "\(...\)", "\[...\]".
    * Commands that only set words: "\text{mg}" is "mg", "\boxed{42}" is "42".
    * "\frac{1}{2}" is "1/2", "\times" is "×", "\le" is "≤"; "\," and the like are blanks.
    """
    for pattern in _MARKS:
        for match in pattern.finditer(text):
            yield from (Edit(Span(*match.span(group))) for group in range(1, pattern.groups + 1))
    if "\\" not in text or _FORMULA.search(text) is None:
        return
    for match in _SET.finditer(text):
        end = _closing(text, match.end())
        if end is not None:
            yield Edit(Span(*match.span()))
            yield Edit(Span(end, end + 1))
    for match in _FRACTION.finditer(text):
        yield from (Edit(Span(*match.span(name)), put) for name, put in _OF_FRACTION)
    for match in _SIGN.finditer(text):
        yield Edit(Span(*match.span()), _SIGNS.get(match.group().strip("\\^{}"), " "))


def _closing(text: str, at: int) -> int | None:
    """Where the brace closes that was opened before ``at``."""
    opened = 1
    for brace in _BRACE.finditer(text, at, at + _LONGEST):
        opened += 1 if brace.group() == "{" else -1
        if not opened:
            return brace.start()
    return None


_LONGEST = 300  # characters of what a command is about
_BRACE = re.compile(r"(?<!\\)[{}]")
# What is left out are the groups.
_MARKS = (
    # As Pandoc reads it: no blank beside the marks on the inner side, and no digit after them. What begins
    # with a figure has commands, or nothing but figures: it may be a price.
    re.compile(
        r"(?<![\w$\\])(\$)(?:\d[\d.,+*/=^%() -]{0,80}|\d[^$\n\\]{0,80}\\[A-Za-z,;: %][^$\n]{0,200}"
        r"|[^\s\d$.,][^$\n]{0,200})(?<=[^\s$\\])(\$)(?![\d$])"
    ),
    re.compile(r"(?<![\w$\\])(\$\$)[^$]{1,500}(\$\$)(?!\$)"),
    re.compile(r"(\\\()[^\n]{1,200}?(\\\))"),
    # An escaped bracket of markdown's has neither an equation nor a command in it.
    re.compile(r"(\\\[)(?=[^\]]{0,200}(?:=|\\[A-Za-z]))(?:(?!\\[\[\]]).){1,300}(\\\])", re.DOTALL),
)
_FORMULA = re.compile(r"\\[(\[]|\$[^$\n]{0,200}\\[A-Za-z,;]|\\(?:text|frac|boxed|mathrm|mathbf)\{")
_SET = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt)?|math(?:rm|bf|it|sf)|boxed|fbox|mbox|operatorname|underline|emph)\{"
)
_FRACTION = re.compile(r"(?P<opens>\\[dt]?frac\{)[^{}\n]{1,80}(?P<between>\}\{)[^{}\n]{1,80}(?P<closes>\})")
_OF_FRACTION = (("opens", ""), ("between", "/"), ("closes", ""))
_SIGNS = {
    "times": "×",
    "cdot": "·",
    "div": "÷",
    "pm": "±",
    "approx": "≈",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "ne": "≠",
    "neq": "≠",
    "to": "→",
    "rightarrow": "→",
    "Rightarrow": "→",
    "circ": "°",
    "degree": "°",
    "mu": "µ",
    "euro": "€",
    "dots": "…",
    "ldots": "…",
    "left": "",
    "right": "",
    "displaystyle": "",
}
_SIGN = re.compile(
    rf"\^\{{\\circ\}}|\^?\\circ(?![A-Za-z])|\\(?:{'|'.join(_SIGNS)}|q?quad)(?![A-Za-z])|\\[,;:]|\\ (?=\S)"
)
