"""Shortcuts: what can be told of an answer without understanding it. A detector has to beat them.

They are measured beside every detector. On many sets, longer answers or unknown words go with hallucination,
and a method that only counts these looks better than it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from groundwire.core.claim import Claim, Support
from groundwire.core.detector import Detector
from groundwire.core.grading import Grading
from groundwire.core.interaction import Interaction
from groundwire.core.plan import Plan
from groundwire.core.span import Span
from groundwire.core.verdict import Outcome, Verdict
from groundwire.text import tokens

_LONGEST = 1_000  # words, where the scale of lengths ends


@dataclass(frozen=True, kw_only=True)
class AnswerLength(Detector):
    """The number of words, on a scale that ends at 1,000. It names no words and judges every answer."""

    name = "answer length"
    version = "1"
    grading: Grading = Grading(threshold=0.1)

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        """The plan, which asks nothing."""
        yield from ()
        score = min(1.0, len(interaction.answer.split()) / _LONGEST)
        return Verdict.graded(score, self.grading, detector=self.spec)


@dataclass(frozen=True, kw_only=True)
class NovelWords(Detector):
    """The share of the answer's words that no passage has; it names these words, and judges every answer."""

    name = "novel words"
    version = "1"

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        """The plan, which asks nothing."""
        yield from ()
        known = {tokens.fold(word) for one in interaction.contexts for word in tokens.texts(one.text)}
        words = tokens.words(interaction.answer)
        novel = tuple(word.span for word in words if tokens.fold(word.text) not in known)
        score = len(novel) / max(1, len(words))
        claims = (_claim(interaction.answer, novel),) if novel else ()
        return Verdict.graded(score, self.grading, detector=self.spec, claims=claims)


@dataclass(frozen=True, kw_only=True)
class AlwaysFlag(Detector):
    """Every answer is called hallucinated, all of its words. Its F1 is what no detector may be below."""

    name = "always flag"
    version = "1"

    def detect(self, interaction: Interaction) -> Plan[Outcome]:
        """The plan, which asks nothing."""
        yield from ()
        whole = _claim(interaction.answer, (Span(0, len(interaction.answer)),))
        return Verdict.graded(1.0, self.grading, detector=self.spec, claims=(whole,))


def _claim(answer: str, words: tuple[Span, ...]) -> Claim:
    return Claim(text=answer, span=Span(0, len(answer)), support=Support.UNSUPPORTED, score=1.0, words=words)
