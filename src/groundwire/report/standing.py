"""How a statement stands in its answer, as every view shows it: a word, a sign, and a name for its style.

A statement that is not flagged may be what leaves its answer in doubt: it is then not shown as supported.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from groundwire.core.claim import Claim, Support
from groundwire.core.grading import Grading, Level
from groundwire.core.verdict import Outcome, Verdict


class Standing(Enum):
    """A word and a sign; its name in lower case is that of its style."""

    SUPPORTED = ("supported", "✓")
    INFERRED = ("inferred", "≈")
    DOUBTED = ("in doubt", "!")
    UNSUPPORTED = ("unsupported", "✗")
    CONTRADICTED = ("contradicted", "✗")
    UNVERIFIED = ("unverified", "?")

    def __init__(self, word: str, sign: str) -> None:
        self.word = word
        self.sign = sign

    @property
    def style(self) -> str:
        return self.name.lower()

    @property
    def fine(self) -> bool:
        """Whether nobody has to look at it."""
        return self in (Standing.SUPPORTED, Standing.INFERRED)


_UNDOUBTED: Mapping[Support, Standing] = {support: Standing[support.name] for support in Support}


def standing(claim: Claim, outcome: Outcome) -> Standing:
    """How a claim of this outcome is shown."""
    return Standing.DOUBTED if _doubted(claim, outcome) else _UNDOUBTED[claim.support]


def _doubted(claim: Claim, outcome: Outcome) -> bool:
    if not isinstance(outcome, Verdict) or outcome.level is Level.LOW:
        return False
    if claim.score is None or not _UNDOUBTED[claim.support].fine:
        return False
    # A verdict keeps no cut points: MEDIUM begins where it does by default, or lower, if the answer is there.
    begins, _ = Grading(threshold=outcome.threshold).cuts
    return claim.score >= min(begins, outcome.score)
