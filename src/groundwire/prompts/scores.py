"""Figures as models write them, on a scale that whoever asked has named: read right, or refused.

Nothing is clamped, rescaled by feel or picked from several: a figure that can be read in two ways is refused.
Where in a reply's JSON a figure stands is the business of ``replies``.
"""

from __future__ import annotations

import re
from typing import Any

_LONGEST = 60  # characters of a text that is a figure
_NUMBER = r"(?:[0-9]++(?:[.,][0-9]++)?|[.,][0-9]++)"
_FIGURE = (
    rf"(?P<figure>{_NUMBER})\.?"
    rf"(?:\s*(?P<percent>%|percent\b)|\s*(?:/|out\s+of\b)\s*(?P<whole>{_NUMBER}))?"
)
_LABEL = r"(?:score|rating|grade|confidence|certainty)"
_ALONE = re.compile(rf"(?:{_LABEL}\s*+(?:is\s*+)?[:=]?\s*+)?{_FIGURE}\s*\.?", re.IGNORECASE)
# What may follow a figure in prose. "0.7 - 0.9", "0.7 to 0.9", "0.7 (8/10)" and "0.7.1" are no one figure.
_FIRST = re.compile(
    rf"{_FIGURE}(?![\w%/]|[.,][0-9])(?!\s*(?:[-–—~±/%^(]\s*[0-9.,]|(?:to|or|and|out|percent|of)\b))",
    re.IGNORECASE,
)
_NUMERIC = re.compile(r"[-+−~≈<>≤≥]?\s*[.,]?[0-9]")
_DECORATION = "*_`#>\"' \t"


def read_score(value: Any, *, lowest: float = 0.0, highest: float = 1.0) -> float:
    """A figure on the scale from ``lowest`` to ``highest``, as it stands on that scale.

    ``value`` is a JSON number, or a text such as "0.7", "0,7", "Score: .3" or "4 out of 5". A share ("8 out
    of 10", "95.5 %") is a figure on the scale from 0 to 1; on any other only when it counts in that scale's
    own whole. ValueError for everything else; nothing out of range is brought into it.
    """
    score = _written(value, lowest, highest) if isinstance(value, str) else value
    if not isinstance(score, int | float) or isinstance(score, bool) or not lowest <= score <= highest:
        raise _refusal(value, lowest, highest)
    return float(score)


def score_in_prose(text: str, *, label: str = "score", lowest: float = 0.0, highest: float = 1.0) -> float:
    """The one figure that a text gives as its score.

    It is called so, by the word ``label`` ("Score: 0.7 because ..."), or it stands alone on the first or the
    last line. ValueError when there is none, or when there are two that differ.
    """
    named = re.compile(rf"\b{re.escape(label)}(?:\s+(?:is|of))?\s*[:=]?[\s*_`]*([^\n]*)", re.IGNORECASE)
    called = named.findall(text)
    if called:
        figures = [_first(said) for said in called if _NUMERIC.match(said)]
    else:
        lines = [bare for line in text.splitlines() if (bare := line.strip(_DECORATION))]
        figures = [line for line in (lines[0], lines[-1]) if _ALONE.fullmatch(line)] if lines else []
    read = {read_score(said, lowest=lowest, highest=highest) for said in figures}
    if len(read) != 1:
        raise _refusal(text, lowest, highest)
    return read.pop()


def _first(text: str) -> str:
    """The figure that a text begins with, if what follows leaves it one; else the text, which is none."""
    match = _FIRST.match(text)
    return match[0] if match else text


def _written(text: str, lowest: float, highest: float) -> float:
    match = _ALONE.fullmatch(text.strip()) if len(text) < _LONGEST else None
    if match is None:
        raise _refusal(text, lowest, highest)
    figure = _decimal(match["figure"])
    whole = 100.0 if match["percent"] else _decimal(match["whole"]) if match["whole"] else None
    if whole is None or whole == highest:
        return figure
    if (lowest, highest) != (0.0, 1.0) or whole == 0:
        raise _refusal(text, lowest, highest)
    return figure / whole


def _decimal(digits: str) -> float:
    # "1,000" is a thousand to some and one to others.
    if re.fullmatch(r"[1-9][0-9]*,[0-9]{3}", digits):
        raise ValueError(f"{digits!r} can be read in two ways")
    return float(digits.replace(",", "."))


def _refusal(value: Any, lowest: float, highest: float) -> ValueError:
    return ValueError(f"expected a number from {lowest:g} to {highest:g}, not {value!r:.60}")
