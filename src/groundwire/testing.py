"""For the tests of applications: assert that an answer is grounded, and detectors that do as they are told.

Nothing here judges by itself; a detector that only its words make right is for tests alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from groundwire.checker import Checker, check
from groundwire.core import wire
from groundwire.core.claim import Claim, Support
from groundwire.core.detector import Detector
from groundwire.core.errors import ConfigurationError, InputError
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Plan
from groundwire.core.score import check_score
from groundwire.core.span import Span, union
from groundwire.core.verdict import Abstention, AbstentionReason, Outcome, Verdict
from groundwire.report.visible import marked, one_line

__all__ = ["Abstains", "FlagsWords", "assert_grounded"]

_LONGEST = 240


def assert_grounded(
    judged: Interaction | Outcome | Mapping[str, Any], *, checker: Checker | None = None
) -> None:
    """Fail unless the answer is grounded. What could not be judged fails as well: it is not known to be.

    ``judged`` is an interaction, which ``checker`` judges (the default one if left out), an outcome, or the
    dict that a checked chain puts on its output. Raises AssertionError that says which statements are not
    supported, why, and what the passages say; InputError for anything else.
    """
    # Left out of tracebacks by pytest: the test that called is what its reader looks for.
    __tracebackhide__ = True
    outcome = _outcome(judged, checker)
    if not outcome.grounded:
        raise AssertionError(_told(outcome))


def _outcome(judged: Interaction | Outcome | Mapping[str, Any], checker: Checker | None) -> Outcome:
    if isinstance(judged, Interaction):
        return check(judged, checker=checker)
    if isinstance(judged, Verdict | Abstention):
        return judged
    try:
        return wire.decode(judged)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"expected an Interaction, an outcome, or the dict under 'hallucination', not "
            f"{type(judged).__name__} {judged!r:.60}: {_meant(judged) or error}"
        ) from error


def _meant(judged: object) -> str:
    """What whoever handed over something near it probably wanted to. Empty where nobody knows."""
    if isinstance(judged, Mapping) and "hallucination" in judged:
        return "pass what it holds under 'hallucination'"
    if isinstance(judged, str) or (isinstance(judged, Mapping) and "answer" in judged):
        return "pass gw.Interaction(question=..., contexts=..., answer=...)"
    return ""


def _told(outcome: Outcome) -> str:
    if isinstance(outcome, Abstention):
        return f"the answer could not be judged: {one_line(outcome.reason)}"
    by = outcome.detector.name
    lines = [
        f"the answer is not grounded: {by} gives it {outcome.score:.2f}, from {outcome.threshold:g} on it is"
    ]
    lines += [line for claim in outcome.claims if claim.support.flagged for line in _claim(claim)]
    if len(lines) == 1 and outcome.reason:
        lines.append(f"  {_short(outcome.reason)}")
    return "\n".join(lines)


def _claim(claim: Claim) -> list[str]:
    words = ", ".join(f"“{_short(_words(claim, word))}”" for word in claim.words if word != claim.span)
    lines = [f"  ✗ {_short(claim.text)}"]
    lines += [f"    {claim.support}: {words}"] if words else [f"    {claim.support}"]
    if claim.reason:
        lines.append(f"    {_short(claim.reason)}")
    lines += [f"    passage {e.passage + 1}: “{_short(e.quote)}”" for e in claim.evidence]
    return lines


def _words(claim: Claim, word: Span) -> str:
    return claim.text[word.start - claim.span.start : word.end - claim.span.start]


def _short(text: str) -> str:
    return marked(one_line(text), _LONGEST)


@dataclass(frozen=True, kw_only=True)
class FlagsWords(Detector):
    """Flags these words wherever an answer says them, in any case; every other answer is grounded.

    For tests of what an application does on a hallucination. ``score`` in [0, 1] is what a flagged answer
    gets. Raises ConfigurationError for empty words, and for a score below the threshold.
    """

    name: ClassVar[str] = "flags-words"
    version: ClassVar[str] = "1"

    words: tuple[str, ...]
    score: float = 1.0

    def __post_init__(self) -> None:
        check_score("score", self.score)
        wanted = self.words if isinstance(self.words, tuple | list | set | frozenset) else ()
        if not wanted or not all(isinstance(word, str) and word.strip() for word in wanted):
            raise ConfigurationError(f"words: expected a tuple of words to flag, not {self.words!r}")
        if self.score < self.grading.threshold:
            raise ConfigurationError(
                f"score: {self.score:g} is below the threshold, {self.grading.threshold:g}"
            )

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        """Look for the words; nothing is asked of any model."""
        yield from ()
        wanted = re.compile("|".join(map(re.escape, self.words)), re.IGNORECASE)
        found = union(Span(*match.span()) for match in wanted.finditer(interaction.answer))
        whole = Span(0, len(interaction.answer))
        claim = Claim(
            text=interaction.answer,
            span=whole,
            support=Support.UNSUPPORTED if found else Support.SUPPORTED,
            score=self.score if found else 0.0,
            words=found,
        )
        score = self.score if found else 0.0
        return Verdict.graded(score, self.grading, claims=(claim,), detector=self.spec)


@dataclass(frozen=True, kw_only=True)
class Abstains(Detector):
    """Can't judge any answer. For tests of what an application does where nothing is known.

    Raises ConfigurationError for a ``why`` that is no reason.
    """

    name: ClassVar[str] = "abstains"
    version: ClassVar[str] = "1"

    why: AbstentionReason = AbstentionReason.MODEL_FAILED
    detail: str = "as the test asked"

    def __post_init__(self) -> None:
        if self.why not in list(AbstentionReason):
            raise ConfigurationError(f"why: expected one of {', '.join(AbstentionReason)}, not {self.why!r}")

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        """Abstain; nothing is asked of any model."""
        del interaction
        yield from ()
        return self.abstain(AbstentionReason(self.why), self.detail)
