"""Scripted detectors and backends: exact outcomes for tests of everything around detection."""

import re
from dataclasses import dataclass
from typing import ClassVar

from groundwire import (
    Abstention,
    AbstentionReason,
    Claim,
    Detector,
    Grading,
    Interaction,
    Outcome,
    Span,
    Support,
    Usage,
    Verdict,
)
from groundwire.core.plan import Complete, Completed, Failed


@dataclass(frozen=True, kw_only=True)
class NovelWords(Detector):
    """Flags each word of the answer that stands nowhere in the contexts."""

    name: ClassVar[str] = "novel-words"
    version: ClassVar[str] = "1"

    def detect(self, interaction: Interaction):
        yield from ()
        if not interaction.has_context:
            return Abstention(why=AbstentionReason.NO_CONTEXT)
        known = {word for passage in interaction.contexts for word in re.findall(r"\w+", passage.text)}
        novel = [m for m in re.finditer(r"\w+", interaction.answer) if m[0] not in known]
        claims = tuple(
            Claim(text=m[0], span=Span(*m.span()), support=Support.UNSUPPORTED, score=1.0) for m in novel
        )
        return Verdict.graded(float(bool(novel)), self.grading, detector=self.spec, claims=claims)


@dataclass(frozen=True, kw_only=True)
class Always(Detector):
    """Gives the one outcome it was built with."""

    name: ClassVar[str] = "always"
    version: ClassVar[str] = "1"

    outcome: Outcome

    def detect(self, interaction: Interaction):
        yield from ()
        return self.outcome


@dataclass(frozen=True, kw_only=True)
class Broken(Detector):
    """Raises, whatever it is given."""

    name: ClassVar[str] = "broken"
    version: ClassVar[str] = "1"

    def detect(self, interaction: Interaction):
        yield from ()
        raise KeyError("a bug")


@dataclass(frozen=True, kw_only=True)
class AsksModel(Detector):
    """Asks for the score as plain text; whatever can't be read is an abstention."""

    name: ClassVar[str] = "asks-model"
    version: ClassVar[str] = "1"
    needs_model: ClassVar[bool] = True

    def detect(self, interaction: Interaction):
        (reply,) = yield [Complete(system="score it", user=interaction.answer)]
        if isinstance(reply, Failed):
            return Abstention(why=reply.reason, detail=reply.detail)
        return Verdict.graded(float(reply.texts[0]), self.grading, detector=self.spec)


class ByLength:
    """A backend whose score is a hundredth of the length of what it is asked."""

    def __init__(self):
        self.batches = []

    def perform(self, requests, *, timeout):
        self.batches.append(len(requests))
        return [
            Completed(texts=(str(len(request.user) / 100),), usage=Usage(calls=1, input_tokens=7))
            for request in requests
        ]

    async def aperform(self, requests, *, timeout):
        return self.perform(requests, timeout=timeout)


LENIENT = Grading(threshold=0.9)
