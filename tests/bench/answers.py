"""Made-up labelled answers, and checkers that judge them without a model."""

import random
from dataclasses import dataclass

from groundwire import Abstention, AbstentionReason, Checker, Interaction, Usage, Verdict
from groundwire.bench.examples import Example
from groundwire.bench.runs import Judged
from groundwire.core.claim import Claim, Support
from groundwire.core.detector import Detector
from groundwire.core.grading import Grading
from groundwire.core.span import Span


def example(number, *, label=True, spans=None, group="", task="", model="", answer=None, contexts=None):
    return Example(
        id=f"row-{number}",
        interaction=Interaction(
            question=f"Question {number}?",
            contexts=f"Passage {number} says so." if contexts is None else contexts,
            answer=answer or f"Answer {number}.",
        ),
        label=label,
        spans=spans,
        group=group,
        task=task,
        model=model,
    )


def said(score, *, label=True, seconds=0.0, threshold=0.5, why=None, usage=Usage(), spans=(), **beside):  # noqa: B008
    """What a method said of an answer: a verdict with this score and words, or an abstention."""
    one = example(said.number, label=label, **beside)
    said.number += 1
    spec = Checker("token").detector.spec
    answer = one.interaction.answer
    if why is not None:
        outcome = Abstention(why=AbstentionReason(why), detector=spec, usage=usage)
    else:
        claims = (
            Claim(
                text=answer,
                span=Span(0, len(answer)),
                support=Support.UNSUPPORTED,
                score=1.0,
                words=tuple(spans),
            ),
        )
        grading = Grading(threshold=threshold)
        outcome = Verdict.graded(score, grading, detector=spec, claims=claims if spans else (), usage=usage)
    return Judged(example=one, outcome=outcome, seconds=seconds)


said.number = 0


@dataclass(frozen=True, kw_only=True)
class Lottery(Detector):
    """A score that is drawn by the answer's own words: random, and always the same."""

    name = "lottery"
    version = "1"

    def detect(self, interaction):
        yield from ()
        score = random.Random(interaction.answer).random()
        return Verdict.graded(score, self.grading, detector=self.spec)
